//! Pictures of scenes, drawn by the processor alone, to the same bits on any machine.
//!
//! A [`Stage`] holds what is drawn of a world; [`Stage::picture`] draws it as a [`Camera`] sees it:
//! a depth buffer finds the triangle of each sample, which is then lit by all lights, with shadows
//! of the first one that is far away. One thread, no function whose last bit a machine decides.

mod camera;
mod light;
mod lit;
mod painter;
mod pixels;
mod raster;
mod shadow;
mod shape;
mod stage;
mod texture;
mod vector;
mod view;

pub use camera::{Camera, Intrinsics};
pub use painter::{NO_VISUAL, Painter, Seen};
pub use stage::{Pose, Poses, Stage};
pub use view::{PlaceLink, View};
