//! [`Measured`]: what one engine made of a scene once.

use sdf::{Model, Pose};
use serde_json::Value;

/// Simulated time per step \[s\].
pub(crate) const STEP_SIZE_S: f64 = 0.001;

/// What one engine made of a scene once.
pub(crate) struct Measured {
    /// How long all steps took \[s\].
    pub(crate) seconds: f64,
    /// Heights of the models that move, in the end \[m\].
    pub(crate) heights: Vec<f64>,
    /// Version, settings and threads, as far as they are worth knowing.
    pub(crate) details: Value,
    /// Digest of the last step, where there are digests.
    pub(crate) digest: Option<String>,
}

/// Returns the height of a model's origin when its canonical link is at a pose, world frame \[m\].
pub(crate) fn model_height(model: &Model, link: &Pose) -> f64 {
    let origin = model.links[model.canonical_link].pose.inverse();
    link.then(&origin.then(&model.pose)).position[2]
}
