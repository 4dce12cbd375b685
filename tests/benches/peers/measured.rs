//! [`Measured`]: result of one engine for a scene, once.

use sdf::{Model, Pose, World};
use serde_json::Value;

/// Simulated time per step \[s\].
pub(crate) const STEP_SIZE_S: f64 = 0.001;

/// Result of one engine for a scene, once.
pub(crate) struct Measured {
    /// Time that all steps took \[s\].
    pub(crate) seconds: f64,
    /// Positions of the origins of the models that move, in the end, in the order of the world
    /// \[m\].
    pub(crate) positions: Vec<[f64; 3]>,
    /// Version, settings and threads, as far as they are worth knowing.
    pub(crate) details: Value,
    /// Digest of the last step, where there are digests.
    pub(crate) digest: Option<String>,
}

impl Measured {
    /// Returns the heights of the models \[m\].
    pub(crate) fn heights(&self) -> Vec<f64> {
        self.positions.iter().map(|position| position[2]).collect()
    }

    /// Returns the median of the ways that models went, seen from above \[m\].
    pub(crate) fn way(&self, world: &World) -> f64 {
        let begin = moving(world).map(|model| model.pose.position);
        let ways = begin.zip(&self.positions).map(|(begin, end)| {
            let [x, y] = [0, 1].map(|axis| end[axis] - begin[axis]);
            x.hypot(y)
        });
        let mut ways: Vec<f64> = ways.collect();
        ways.sort_by(f64::total_cmp);
        ways[ways.len() / 2]
    }
}

/// Returns the models that move, in the order of the world.
pub(crate) fn moving(world: &World) -> impl Iterator<Item = &Model> + Clone {
    world.models.iter().filter(|model| !model.is_static)
}

/// Returns where a model's origin is when its canonical link is at a pose, world frame \[m\].
pub(crate) fn model_position(model: &Model, link: &Pose) -> [f64; 3] {
    let origin = model.links[model.canonical_link].pose.inverse();
    link.then(&origin.then(&model.pose)).position
}
