//! [`RendererKind`]: the device that draws what cameras see.

use serde::{Deserialize, Serialize};

/// Device that draws what cameras see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RendererKind {
    /// The processor: to the same bits on any machine.
    #[default]
    Cpu,
    /// A GPU: faster, and not to the same bits.
    Gpu,
    /// A GPU on each host that has one, and the processor on others.
    Auto,
}
