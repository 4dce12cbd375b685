//! [`Motion`]: a script by which a model moves, whoever draws it and wherever.

use mesh::{Moment, Skeleton};
use sdf::Script;
use serde::{Deserialize, Serialize};

use crate::scene::{Link, Model, Pose, World};

/// A script by which a model moves: where it is follows from the time alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// Pose that the script is relative to, world frame.
    pub origin: Pose,
    /// The script.
    pub script: Script,
    /// Names of the animations of limbs that go on with the distance covered, and not with time.
    pub by_distance: Vec<String>,
    /// Factor of the lengths of the mesh that limbs move.
    pub scale: f64,
}

impl Motion {
    /// Returns where the origin of its model is at an elapsed simulated time \[s\], world frame.
    pub fn place(&self, elapsed_s: f64) -> Pose {
        let origin = sdf::Pose {
            position: std::array::from_fn(|axis| self.origin[axis]),
            orientation_xyzw: std::array::from_fn(|part| self.origin[3 + part]),
        };
        let place = origin.then(&self.script.place(elapsed_s));
        let mut numbers = [0.0; 7];
        numbers[..3].copy_from_slice(&place.position);
        numbers[3..].copy_from_slice(&place.orientation_xyzw);
        numbers
    }

    /// Returns the moment of the animation of its limbs at an elapsed simulated time \[s\]; `None`
    /// at rest.
    ///
    /// The animation is that of the script's part, or else that of the skin's own file. Along a
    /// path the root of the limbs stays at the origin of the model. Source: gz-sim, `SceneManager`.
    pub fn limbs(&self, skeleton: &Skeleton, elapsed_s: f64) -> Option<Moment> {
        let progress = self.script.progress(elapsed_s);
        let named = progress.trajectory.map(|own| own.animation.as_str());
        let find = |name: &str| skeleton.clips.iter().position(|clip| clip.name == name);
        let clip = named.and_then(find).or_else(|| find(""))?;
        let own = &skeleton.clips[clip];
        let by_distance = self.by_distance.contains(&own.name) && progress.distance > 0.0;
        let by_distance = by_distance
            .then(|| own.time_at_x(skeleton.root, progress.distance / self.scale))
            .flatten();
        let by_time = || {
            let length_s = own.length_s();
            if length_s > 0.0 && progress.time_s > length_s {
                libm::fmod(progress.time_s, length_s)
            } else {
                progress.time_s
            }
        };
        Some(Moment {
            clip,
            time_s: by_distance.unwrap_or_else(by_time),
            holds_root: progress.trajectory.is_some(),
        })
    }
}

impl World {
    /// Returns the links of models that go by scripts, and where they are at an elapsed simulated
    /// time \[s\], world frame.
    pub fn scripted_links(&self, elapsed_s: f64) -> impl Iterator<Item = (&Model, &Link, Pose)> {
        self.models.iter().flat_map(move |model| {
            let motion = model.motion.iter();
            // The links of such a model are where it is.
            let places = motion.map(move |motion| motion.place(elapsed_s));
            places.flat_map(move |place| model.links.iter().map(move |link| (model, link, place)))
        })
    }
}
