//! Pictures of scenes, drawn by a GPU: a second [`render::Renderer`].
//!
//! A [`Gpu`] is a device, shared by all [`GpuPainter`]s of a process. They show what
//! [`render::Painter`] shows, but not to the same bits: which samples an edge covers, and the last
//! bits of light, are those of the device. Meshes, textures and pipelines stay on it; only places
//! of items and lights travel. Where the device fails, the processor draws.

mod device;
mod numbers;
mod painter;
mod passes;
mod pipelines;
mod prepared;
mod shadows;
mod targets;
mod textures;

pub use device::{Gpu, OpenGpuError};
pub use painter::GpuPainter;
