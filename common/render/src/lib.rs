//! Pictures of scenes, drawn by the processor alone, to the same bits on any machine.
//!
//! A [`Stage`] holds what is drawn of a world; [`Stage::picture`] draws it as a [`Camera`] sees it:
//! a depth buffer finds the triangle of each sample, which is then lit by all lights, with the
//! shadows of those that cast them. One thread, no function whose last bit a machine decides.
//! [`Renderer`] is what draws views; a [`Frame`] is what others than [`Painter`] need of one.

mod camera;
mod frame;
mod lanes;
mod light;
mod limbs;
mod lit;
mod painter;
mod pixels;
mod raster;
mod region;
mod renderer;
mod shadow;
mod shape;
mod sky;
mod stage;
mod texture;
mod vector;
mod view;

pub use camera::{Camera, Intrinsics, Lens};
pub use frame::{Caster, Frame, FrameItem, FrameShadow, Rows};
pub use light::{Lamp, Reach};
pub use lit::{AMBIENT_PART, Highlight, LAMP_PART, LEAN_MIN, Layers, Look};
pub use painter::Painter;
pub use region::{LAMP_SHADOW_LIFT, LAMP_SHADOW_NEAR, LAMP_SHADOW_SIZE, Region, SHADOW_SIZE};
pub use renderer::{NO_VISUAL, Renderer, Seen};
pub use shape::Surface;
pub use stage::{HORIZON, Pose, Poses, Stage, ZENITH};
pub use texture::Texture;
pub use view::{PlaceLink, View};
