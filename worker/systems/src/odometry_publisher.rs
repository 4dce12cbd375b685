//! `OdometryPublisher`: where a model really is and how fast, with noise if asked for.
//!
//! Source: gz-sim, `odometry_publisher/OdometryPublisher.hh`.

use messages::geometry::{Pose, PoseV};
use messages::motion::{
    FloatV, Odometry, OdometryWithCovariance, PoseWithCovariance, Twist, TwistWithCovariance,
};
use protocol::Publisher;
use serde::{Deserialize, Serialize};

use super::joint_state_publisher::pose_message;
use super::schedule::Schedule;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};
use crate::random::Draw;

/// Number of speeds that the mean is taken of.
const WINDOW: usize = 10;

struct OdometryPublisher {
    frames: [String; 2],
    /// Pose of the base in the model.
    offset: sdf::Pose,
    is_flat: bool,
    /// The deviation of the noise of velocities \[m/s and rad/s\].
    deviation: f64,
    odometry: String,
    covariance: String,
    tf: String,
    schedule: Schedule,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Position and orientation after the last step.
    last: Option<([f64; 3], [f64; 4])>,
    /// The last velocities, base frame \[m/s\].
    velocities: Vec<[f64; 3]>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let path = configuration.model_path();
    let name = &configuration.model()?.name;
    let text = |parameter: &str, default: String| {
        let text = configuration.text(parameter);
        text.unwrap_or(default)
    };
    let topic = |parameter: &str, last: &str| {
        configuration.topic(&text(parameter, format!("/model/{path}/{last}")))
    };
    let is_flat = match configuration.number("dimensions", 2.0)? {
        2.0 => true,
        3.0 => false,
        other => {
            return Err(ConfigureError(format!(
                "<dimensions> is 2 or 3, not {other}"
            )));
        }
    };
    let deviation = configuration.number("gaussian_noise", 0.0)?;
    if deviation < 0.0 {
        return Err(ConfigureError(format!(
            "<gaussian_noise> is no deviation: {deviation}"
        )));
    }
    let position = configuration.vector("xyz_offset", [0.0; 3])?;
    let rpy = configuration.vector("rpy_offset", [0.0; 3])?;
    let system = OdometryPublisher {
        frames: [
            text("odom_frame", format!("{name}/odom")),
            text("robot_base_frame", format!("{name}/base_footprint")),
        ],
        offset: sdf::Pose::from_xyz_rpy(position, rpy),
        is_flat,
        deviation,
        odometry: topic("odom_topic", "odometry"),
        covariance: topic("odom_covariance_topic", "odometry_with_covariance"),
        tf: topic("tf_topic", "pose"),
        schedule: Schedule::read(configuration, "odom_publish_frequency", 50.0)?,
        state: State::default(),
    };
    let publications = vec![
        TopicSpec::of::<Odometry>(system.odometry.as_str()),
        TopicSpec::of::<OdometryWithCovariance>(system.covariance.as_str()),
        TopicSpec::of::<PoseV>(system.tf.as_str()),
    ];
    Ok(Configured {
        system: Box::new(system),
        subscriptions: Vec::new(),
        publications,
    })
}

impl OdometryPublisher {
    /// Takes note of where the base is now; returns its velocity and its angular velocity, base
    /// frame \[m/s, rad/s\].
    fn observe(&mut self, base: &sdf::Pose, step_size_s: f64) -> Option<[[f64; 3]; 2]> {
        let now = (base.position, base.orientation_xyzw);
        let (position, orientation_xyzw) = self.state.last.replace(now)?;
        let last = sdf::Pose {
            position,
            orientation_xyzw,
        };
        let heading = sdf::Pose {
            position: [0.0; 3],
            orientation_xyzw: if self.is_flat {
                heading_of(base.orientation_xyzw)
            } else {
                base.orientation_xyzw
            },
        };
        let way = [0, 1, 2].map(|axis| (base.position[axis] - position[axis]) / step_size_s);
        self.state.velocities.push(heading.inverse().rotate(way));
        if self.state.velocities.len() > WINDOW {
            self.state.velocities.remove(0);
        }
        let count = self.state.velocities.len() as f64;
        let recent = &self.state.velocities;
        let mean = |axis: usize| recent.iter().map(|one| one[axis]).sum::<f64>() / count;
        let mut linear = [0, 1, 2].map(mean);
        let turn = last.inverse().then(base).orientation_xyzw;
        let mut angular = rotation_vector(turn).map(|part| part / step_size_s);
        if self.is_flat {
            linear[2] = 0.0;
            [angular[0], angular[1]] = [0.0; 2];
        }
        Some([linear, angular])
    }

    fn noise(&self, context: &Context<'_>) -> [[f64; 3]; 2] {
        let Publisher::Model { model, part } = context.publisher else {
            return [[0.0; 3]; 2];
        };
        let model = u64::from(model.world) << 32 | u64::from(model.model);
        let time = &context.time;
        let mut draw = Draw::new(time.seed, model, u64::from(part), time.elapsed.0);
        [[(); 3]; 2].map(|part| part.map(|()| self.deviation * draw.gaussian()))
    }

    fn publish(&self, base: &sdf::Pose, velocity: [[f64; 3]; 2], context: &mut Context<'_>) {
        let topics = [&self.odometry, &self.covariance, &self.tf];
        if !topics.into_iter().any(|topic| context.is_wanted(topic)) {
            return;
        }
        let [odometry, child] = &self.frames;
        let header = context.header().with("frame_id", odometry);
        let header = header.with("child_frame_id", child);
        let mut pose = pose_message(base);
        if self.is_flat {
            pose.position.z = 0.0;
        }
        let twist = Twist {
            linear: velocity[0].into(),
            angular: velocity[1].into(),
            ..Twist::default()
        };
        let message = Odometry {
            header: header.clone(),
            pose: pose.clone(),
            twist: twist.clone(),
        };
        context.publish(&self.odometry, &message);
        let variance = (self.deviation * self.deviation) as f32;
        let diagonal = |index: usize| {
            if index.is_multiple_of(7) {
                variance
            } else {
                0.0
            }
        };
        let covariance = FloatV {
            data: (0..36).map(diagonal).collect(),
            ..FloatV::default()
        };
        let message = OdometryWithCovariance {
            header: header.clone(),
            pose_with_covariance: PoseWithCovariance {
                pose: pose.clone(),
                covariance: covariance.clone(),
            },
            twist_with_covariance: TwistWithCovariance {
                header: messages::Header::default(),
                twist,
                covariance,
            },
        };
        context.publish(&self.covariance, &message);
        let stamped = Pose {
            header: header.clone(),
            ..pose
        };
        let tf = PoseV {
            header,
            pose: vec![stamped],
        };
        context.publish(&self.tf, &tf);
    }
}

impl System for OdometryPublisher {
    fn after_step(&mut self, context: &mut Context<'_>) {
        let base = context.cell.model_pose(context.model).then(&self.offset);
        let Some(mut velocity) = self.observe(&base, context.time.step_size_s) else {
            return;
        };
        if !self.schedule.is_due(&context.time) {
            return;
        }
        if self.deviation > 0.0 {
            let noise = self.noise(context);
            for (part, noise) in velocity.iter_mut().zip(noise) {
                for (number, noise) in part.iter_mut().zip(noise) {
                    *number += noise;
                }
            }
        }
        self.publish(&base, velocity, context);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

/// Returns the turn about z alone that has the same heading.
fn heading_of([x, y, z, w]: [f64; 4]) -> [f64; 4] {
    let yaw = libm::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z));
    let (sine, cosine) = libm::sincos(0.5 * yaw);
    [0.0, 0.0, sine, cosine]
}

/// Returns the axis of a turn times its angle \[rad\], of a unit quaternion.
fn rotation_vector(xyzw: [f64; 4]) -> [f64; 3] {
    let [x, y, z, w] = xyzw;
    let sine = (x * x + y * y + z * z).sqrt();
    if sine == 0.0 {
        return [0.0; 3];
    }
    // The shorter way round: a quaternion and its negative are the same turn.
    let angle = 2.0 * libm::atan2(sine * w.signum(), w.abs());
    [x, y, z].map(|part| part * angle / sine)
}
