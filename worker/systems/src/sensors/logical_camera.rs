//! `logical_camera`: which models have their origins in the frustum of a camera that looks along x.
//! Source: SDFormat, `logical_camera.sdf`; gz-sensors, `LogicalCameraSensor.cc`.

use messages::Header;
use messages::sensor::{LogicalCameraImage, LogicalCameraModel};

use super::mount::Mount;
use super::sensor_system::{Made, SensorModel};
use super::vector::pose_message;
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

struct LogicalCamera {
    topic: String,
    frustum: Frustum,
}

/// The volume that it sees.
#[derive(Clone, Copy)]
struct Frustum {
    /// \[m\]
    near: f64,
    /// \[m\]
    far: f64,
    /// The angle across \[rad\].
    horizontal_fov: f64,
    /// Width over height.
    aspect_ratio: f64,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/logical_camera");
    let content = &plan.sensor.content;
    let frustum = Frustum {
        near: parameters::positive(content, "logical_camera/near", 0.0)?,
        far: parameters::positive(content, "logical_camera/far", 1.0)?,
        horizontal_fov: parameters::positive(content, "logical_camera/horizontal_fov", 1.0)?,
        aspect_ratio: parameters::positive(content, "logical_camera/aspect_ratio", 1.0)?,
    };
    let angle = frustum.horizontal_fov;
    if angle >= std::f64::consts::PI || frustum.aspect_ratio == 0.0 {
        let reason = "<horizontal_fov> must be less than half a turn, <aspect_ratio> more than 0";
        return Err(ConfigureError(reason.to_owned()));
    }
    Ok(Made {
        publications: vec![TopicSpec::of::<LogicalCameraImage>(&topic)],
        sensor_model: Box::new(LogicalCamera { topic, frustum }),
    })
}

impl Frustum {
    /// Tells whether a place is in it \[m\].
    fn has(&self, [x, y, z]: [f64; 3]) -> bool {
        let across = x * libm::tan(self.horizontal_fov / 2.0);
        let up = across / self.aspect_ratio;
        x >= self.near && x <= self.far && y.abs() <= across && z.abs() <= up
    }
}

impl SensorModel for LogicalCamera {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let pose = mount.pose(context);
        let view = pose.inverse();
        let mut model: Vec<LogicalCameraModel> = Vec::new();
        let models = &context.world().models;
        let movers = context.cell.movers().into_iter();
        let moving = movers.map(|present| (present.model, present.pose));
        let fixed = context.cell.statics();
        let fixed = fixed.map(|index| (index, models[index].pose));
        for (index, place) in fixed.chain(moving) {
            let seen = view.then(&place);
            if self.frustum.has(seen.position) {
                model.push(LogicalCameraModel {
                    name: models[index].name.clone(),
                    pose: pose_message(&seen),
                });
            }
        }
        model.sort_by(|one, other| one.name.cmp(&other.name));
        let message = LogicalCameraImage {
            header,
            pose: pose_message(&pose),
            near_clip: self.frustum.near,
            far_clip: self.frustum.far,
            horizontal_fov: self.frustum.horizontal_fov,
            aspect_ratio: self.frustum.aspect_ratio,
            model,
        };
        context.publish(&self.topic, &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frustum_is_as_wide_as_its_angle_and_as_high_as_its_ratio() {
        let frustum = Frustum {
            near: 1.0,
            far: 10.0,
            horizontal_fov: std::f64::consts::FRAC_PI_2,
            aspect_ratio: 2.0,
        };
        assert!(frustum.has([5.0, 4.99, 2.49]));
        assert!(!frustum.has([5.0, 5.01, 0.0]));
        assert!(!frustum.has([5.0, 0.0, -2.51]));
        assert!(!frustum.has([0.9, 0.0, 0.0]));
        assert!(!frustum.has([10.1, 0.0, 0.0]));
        assert!(!frustum.has([-5.0, 0.0, 0.0]));
    }
}
