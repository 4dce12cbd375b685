//! Renderers of cameras: the processor's or, in a build with the feature `gpu`, those of a GPU.

use protocol::report::{GpuDeviceReport, GpuReport};
use protocol::{Chain, RendererKind};
use systems::MakeRenderer;

/// True if this build has renderers of a GPU.
pub const IS_BUILT: bool = cfg!(feature = "gpu");

/// Reason why nothing draws as the settings say.
#[derive(Debug, thiserror::Error)]
pub enum RendererError {
    /// This build has no renderers of a GPU.
    #[error(
        "this worker was built without renderers of a GPU: build it with `cargo build --release \
         --features worker/gpu -p worker -p orchestrator`, or draw by the processor (--renderer \
         cpu)"
    )]
    NotBuilt,
    /// There is no GPU that draws.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Open(#[from] render_gpu::OpenGpuError),
}

/// Checks that this build has renderers of a kind.
///
/// # Errors
/// Fails if it has none.
pub fn check(kind: RendererKind) -> Result<(), RendererError> {
    match kind {
        RendererKind::Gpu if !IS_BUILT => Err(RendererError::NotBuilt),
        RendererKind::Cpu | RendererKind::Gpu => Ok(()),
    }
}

/// Returns the maker of renderers of a kind, which share a device; none for the processor's.
///
/// # Errors
/// Fails if this build has none, or there is no device that draws.
pub fn of_kind(kind: RendererKind) -> Result<Option<MakeRenderer>, RendererError> {
    match kind {
        RendererKind::Cpu => Ok(None),
        RendererKind::Gpu => on_gpu().map(Some),
    }
}

/// Returns on which GPU cameras would be drawn, or why on none.
pub fn report() -> GpuReport {
    match device() {
        Ok(device) => GpuReport {
            is_built: IS_BUILT,
            device: Some(device),
            problem: None,
        },
        Err(error) => GpuReport {
            is_built: IS_BUILT,
            device: None,
            problem: Some(Chain(&error).to_string()),
        },
    }
}

#[cfg(feature = "gpu")]
fn device() -> Result<GpuDeviceReport, RendererError> {
    let gpu = render_gpu::Gpu::open()?;
    Ok(GpuDeviceReport {
        name: gpu.name().to_owned(),
        driver: gpu.driver().to_owned(),
        backend: gpu.backend(),
        is_software: gpu.is_software(),
    })
}

#[cfg(not(feature = "gpu"))]
fn device() -> Result<GpuDeviceReport, RendererError> {
    Err(RendererError::NotBuilt)
}

#[cfg(feature = "gpu")]
fn on_gpu() -> Result<MakeRenderer, RendererError> {
    let gpu = render_gpu::Gpu::open()?;
    if gpu.is_software() {
        tracing::warn!(
            "cameras are drawn by {}, slower than by this program itself: --renderer cpu",
            gpu.name()
        );
    } else {
        tracing::info!("cameras are drawn by {}", gpu.name());
    }
    Ok(std::sync::Arc::new(move || gpu.renderer()))
}

#[cfg(not(feature = "gpu"))]
fn on_gpu() -> Result<MakeRenderer, RendererError> {
    Err(RendererError::NotBuilt)
}
