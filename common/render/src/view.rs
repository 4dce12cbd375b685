//! [`View`]: what is drawn of a stage, from where, and how.

use crate::camera::Camera;
use crate::stage::{Pose, Stage};

/// Rule that says where a link is, world frame: by the index of its model in the world, its number
/// and its pose at the start. `None` if it is not to be seen.
pub type PlaceLink<'a> = dyn Fn(usize, u32, &Pose) -> Option<Pose> + 'a;

/// View of a stage.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Stage that is seen.
    pub stage: &'a Stage,
    /// Places of links. A painter is told the same of models that never move each time.
    pub place: &'a PlaceLink<'a>,
    /// Camera from which it is seen.
    pub camera: &'a Camera,
    /// Columns and rows of the picture.
    pub size: [usize; 2],
    /// Samples along each edge of a pixel, from which its edges are smooth: 1 or 2.
    pub samples: usize,
    /// Bits of the visuals that are seen.
    pub visibility_mask: u32,
    /// True if surfaces are seen from behind, whatever their material says.
    pub sees_backs: bool,
    /// True if a world without lights is lit from the camera.
    pub has_headlight: bool,
}
