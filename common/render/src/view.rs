//! [`View`]: what is drawn of a stage, from where, and how.

use crate::camera::Camera;
use crate::lit::Look;
use crate::stage::{Item, Pose, Stage};

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
    /// Elapsed simulated time, by which limbs of actors move \[s\].
    pub elapsed_s: f64,
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

impl View<'_> {
    /// Returns where the items of its stage are, world frame; none for those that are not there,
    /// and none at all for a camera that is nowhere.
    pub(crate) fn poses(&self) -> impl Iterator<Item = Option<Pose>> {
        let items = self.stage.items.iter();
        let sees = self.camera.is_somewhere();
        items.map(move |item| item.pose_in(self.place).filter(|_| sees))
    }

    /// Tells whether an item that is somewhere may be seen.
    pub(crate) fn may_see(&self, item: &Item, pose: &Pose) -> bool {
        if item.traits.visibility_flags & self.visibility_mask == 0 {
            return false;
        }
        let (center, radius) = item.ball_at(pose);
        let size = self.size.map(|edge| edge * self.samples);
        self.camera.may_see(self.camera.seen(center), radius, size)
    }

    /// Tells whether what has a look is not seen from behind.
    pub(crate) fn hides_back(&self, look: &Look) -> bool {
        !self.sees_backs && !look.has_back
    }
}
