//! Renderers of cameras: the processor's or, in a build with the feature `gpu`, those of a GPU.

use protocol::report::{GpuDeviceReport, GpuReport};
use protocol::{Chain, RendererKind};
use systems::MakeRenderer;

/// True if this build has renderers of a GPU.
pub const IS_BUILT: bool = cfg!(feature = "gpu");

/// GPU that draws for the sensors of a process.
pub struct SharedGpu {
    /// Its name, as its driver says it.
    pub name: String,
    /// Maker of the renderers of sensors, which share it.
    pub make_renderer: MakeRenderer,
}

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
        _ => Ok(()),
    }
}

/// Opens the GPU of renderers of a kind; none where the processor draws.
///
/// # Errors
/// Fails if a GPU is asked for, and this build has no renderers of one or no device draws.
pub fn of_kind(kind: RendererKind) -> Result<Option<SharedGpu>, RendererError> {
    match kind {
        RendererKind::Cpu => Ok(None),
        RendererKind::Gpu => open_gpu().map(Some),
        RendererKind::Auto => Ok(find_gpu()),
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

/// Opens the fastest device, also one that is slower than this program itself.
#[cfg(feature = "gpu")]
fn open_gpu() -> Result<SharedGpu, RendererError> {
    let gpu = render_gpu::Gpu::open()?;
    if gpu.is_software() {
        tracing::warn!(
            "cameras are drawn by {}, slower than by this program itself: --renderer cpu",
            gpu.name()
        );
    } else {
        tracing::info!("cameras are drawn by {}", gpu.name());
    }
    Ok(shared(gpu))
}

#[cfg(not(feature = "gpu"))]
fn open_gpu() -> Result<SharedGpu, RendererError> {
    Err(RendererError::NotBuilt)
}

/// Opens the fastest device, if one is faster than this program itself.
#[cfg(feature = "gpu")]
fn find_gpu() -> Option<SharedGpu> {
    match render_gpu::Gpu::open() {
        Ok(gpu) if gpu.is_software() => {
            let name = gpu.name();
            tracing::info!("cameras are drawn by the processor: {name} is one, too, and slower");
            None
        }
        Ok(gpu) => {
            tracing::info!("cameras are drawn by {}", gpu.name());
            Some(shared(gpu))
        }
        Err(error) => {
            tracing::info!("cameras are drawn by the processor: {}", Chain(&error));
            None
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn find_gpu() -> Option<SharedGpu> {
    tracing::info!("cameras are drawn by the processor: this build has no renderers of a GPU");
    None
}

#[cfg(feature = "gpu")]
fn shared(gpu: std::sync::Arc<render_gpu::Gpu>) -> SharedGpu {
    SharedGpu {
        name: gpu.name().to_owned(),
        make_renderer: std::sync::Arc::new(move || gpu.renderer()),
    }
}
