//! [`DriveBase`]: what systems share that drive a robot's wheels by `cmd_vel`.
//!
//! Names of topics and frames, limits of what is asked for, and odometry with its messages.
//! Sources: gz-sim, `diff_drive/DiffDrive.hh`, `mecanum_drive/MecanumDrive.hh`; gz-math,
//! `DiffDriveOdometry.hh`.

use std::collections::VecDeque;

use messages::geometry::{Pose, PoseV, Quaternion};
use messages::motion::{Odometry, Twist};
use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
use super::speed_limiter::{LimitedSpeed, SpeedLimiter};
use super::{Configuration, ConfigureError, Context, TopicSpec};

/// Number of speeds in the running mean of odometry.
const WINDOW: usize = 10;

/// Common parts of systems that drive a robot.
pub(super) struct DriveBase {
    limiters: [SpeedLimiter; 2],
    odometry: Option<OdometryTopics>,
}

struct OdometryTopics {
    odometry: String,
    tf: String,
    frames: [String; 2],
    schedule: Schedule,
}

/// Commanded speeds of a robot: ahead \[m/s\], to the left \[m/s\] and turning \[rad/s\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    ahead: LimitedSpeed,
    left: LimitedSpeed,
    turning: LimitedSpeed,
}

/// Dead reckoning of a robot from the turns of its wheels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Reckoning {
    /// \[m\]
    pub(super) position: [f64; 2],
    /// \[rad\]
    pub(super) heading: f64,
    /// The last speeds ahead, to the left \[m/s\] and turning \[rad/s\].
    speeds: VecDeque<[f64; 3]>,
}

impl DriveBase {
    /// Reads limits, topics and frames; without `odometry` there are only limits.
    pub(super) fn read(
        configuration: &Configuration<'_>,
        has_odometry: bool,
    ) -> Result<Self, ConfigureError> {
        let limiters = [
            SpeedLimiter::read(configuration, "linear")?,
            SpeedLimiter::read(configuration, "angular")?,
        ];
        let model = configuration.model()?;
        let link = model.links.get(model.canonical_link);
        let link = link.map_or("", |link| link.name.as_str());
        let topics = OdometryTopics::read(configuration, link)?;
        Ok(Self {
            limiters,
            odometry: has_odometry.then_some(topics),
        })
    }

    /// The same for a vehicle with tracks: limits are elements of their own, and the name of the
    /// link that moves is given.
    pub(super) fn read_for_tracks(
        configuration: &Configuration<'_>,
        link: &str,
    ) -> Result<Self, ConfigureError> {
        Ok(Self {
            limiters: [
                SpeedLimiter::read_element(configuration, "linear_velocity")?,
                SpeedLimiter::read_element(configuration, "angular_velocity")?,
            ],
            odometry: Some(OdometryTopics::read(configuration, link)?),
        })
    }

    /// Returns what it publishes.
    pub(super) fn publications(&self) -> Vec<TopicSpec> {
        let topics = self.odometry.iter();
        let specs = topics.flat_map(|topics| {
            [
                TopicSpec::of::<Odometry>(topics.odometry.as_str()),
                TopicSpec::of::<PoseV>(topics.tf.as_str()),
            ]
        });
        specs.collect()
    }

    /// Returns the speeds ahead, to the left and turning of a step of a size \[s\].
    pub(super) fn limit(&self, asked: &mut Asked, step_size_s: f64) -> [f64; 3] {
        let [linear, angular] = &self.limiters;
        [
            linear.limit(&mut asked.ahead, step_size_s),
            linear.limit(&mut asked.left, step_size_s),
            angular.limit(&mut asked.turning, step_size_s),
        ]
    }

    /// Publishes where the robot thinks it is, when it is due.
    pub(super) fn publish(&self, reckoning: &Reckoning, context: &mut Context<'_>) {
        let Some(topics) = &self.odometry else {
            return;
        };
        let is_heard = || context.is_wanted(&topics.odometry) || context.is_wanted(&topics.tf);
        if !topics.schedule.is_due(&context.time) || !is_heard() {
            return;
        }
        let header = context.header();
        let header = header.with("frame_id", &topics.frames[0]);
        let header = header.with("child_frame_id", &topics.frames[1]);
        let [x, y] = reckoning.position;
        let (sine, cosine) = libm::sincos(0.5 * reckoning.heading);
        let pose = Pose {
            header: header.clone(),
            position: [x, y, 0.0].into(),
            orientation: Quaternion::from_xyzw([0.0, 0.0, sine, cosine]),
            ..Pose::default()
        };
        let [ahead, left, turning] = reckoning.speed();
        let odometry = Odometry {
            header: header.clone(),
            pose: Pose {
                header: messages::Header::default(),
                ..pose.clone()
            },
            twist: Twist {
                linear: [ahead, left, 0.0].into(),
                angular: [0.0, 0.0, turning].into(),
                ..Twist::default()
            },
        };
        context.publish(&topics.odometry, &odometry);
        let tf = PoseV {
            header,
            pose: vec![pose],
        };
        context.publish(&topics.tf, &tf);
    }
}

impl OdometryTopics {
    /// Reads topics and frames; that of the robot is of a link unless it is given.
    fn read(configuration: &Configuration<'_>, link: &str) -> Result<Self, ConfigureError> {
        let path = configuration.model_path();
        let topic = |parameter: &str, default: &str| {
            let text = configuration.text(parameter);
            let text = text.unwrap_or_else(|| format!("/model/{path}/{default}"));
            configuration.topic(&text)
        };
        let name = &configuration.model()?.name;
        let frame = |parameter: &str, default: &str| {
            let text = configuration.text(parameter);
            text.unwrap_or_else(|| format!("{name}/{default}"))
        };
        Ok(Self {
            odometry: topic("odom_topic", "odometry"),
            tf: topic("tf_topic", "tf"),
            frames: [frame("frame_id", "odom"), frame("child_frame_id", link)],
            schedule: Schedule::read(configuration, "odom_publish_frequency", 50.0)?,
        })
    }
}

impl Asked {
    /// Takes what a twist asks for, ahead, to the left and turning.
    pub(super) fn take(&mut self, twist: &Twist) {
        let asked = [twist.linear.x, twist.linear.y, twist.angular.z];
        if asked.iter().all(|speed| speed.is_finite()) {
            [self.ahead.target, self.left.target, self.turning.target] = asked;
        }
    }

    /// Asks for nothing but to stand.
    pub(super) fn stop(&mut self) {
        [self.ahead.target, self.left.target, self.turning.target] = [0.0; 3];
    }
}

impl Reckoning {
    /// Goes on along an arc: ways ahead and to the left \[m\] and a turn \[rad\] in a time \[s\].
    pub(super) fn advance(&mut self, way: [f64; 3], time_s: f64) {
        let [ahead, left, turn] = way;
        // Turning at a constant rate: the way is the chord, from half of the turn on.
        let (sine, cosine) = libm::sincos(self.heading + 0.5 * turn);
        let half = 0.5 * turn;
        let chord = if half.abs() < 1e-6 {
            1.0
        } else {
            libm::sin(half) / half
        };
        self.position[0] += chord * (ahead * cosine - left * sine);
        self.position[1] += chord * (ahead * sine + left * cosine);
        self.heading += turn;
        self.speeds.push_back(way.map(|part| part / time_s));
        if self.speeds.len() > WINDOW {
            self.speeds.pop_front();
        }
    }

    /// Returns the mean of the last speeds.
    fn speed(&self) -> [f64; 3] {
        let count = self.speeds.len().max(1) as f64;
        let sum = |axis: usize| self.speeds.iter().map(|speed| speed[axis]).sum::<f64>();
        [0, 1, 2].map(|axis| sum(axis) / count)
    }
}

/// Reads the joints that a parameter names; at least one of them must be there.
pub(super) fn joints(
    configuration: &Configuration<'_>,
    parameter: &str,
) -> Result<Vec<usize>, ConfigureError> {
    let names = configuration.texts(parameter);
    if names.is_empty() {
        return Err(ConfigureError(format!("<{parameter}> is missing")));
    }
    configuration.found(&names, |name| joint(configuration, name))
}

/// Returns the index of a joint that moves along or about one axis.
///
/// # Errors
/// Fails if the model has no such joint, or it has no axis.
pub(super) fn joint(
    configuration: &Configuration<'_>,
    name: &str,
) -> Result<usize, ConfigureError> {
    axis(configuration, name, 0).map(|(joint, _)| joint)
}

/// Returns the index of a joint, with an axis that it has.
///
/// # Errors
/// Fails if the model has no such joint, or that has no such axis.
pub(super) fn axis(
    configuration: &Configuration<'_>,
    name: &str,
    axis: usize,
) -> Result<(usize, usize), ConfigureError> {
    let joint = configuration.joint(name)?;
    let kind = &configuration.model()?.joints[joint].kind;
    let count = match kind {
        sdf::JointKind::Gearbox { .. } => 0,
        kind => kind.axes().len(),
    };
    if axis < count {
        Ok((joint, axis))
    } else {
        Err(ConfigureError(format!(
            "joint {name:?} has no axis {axis} that could be driven"
        )))
    }
}

/// Reads a length that must be above 0 \[m\].
pub(super) fn length(
    configuration: &Configuration<'_>,
    name: &str,
    default: f64,
) -> Result<f64, ConfigureError> {
    let length = configuration.number(name, default)?;
    if length > 0.0 {
        Ok(length)
    } else {
        Err(ConfigureError(format!(
            "<{name}> must be above 0, not {length}"
        )))
    }
}

/// Reads a whole number.
pub(super) fn count(
    configuration: &Configuration<'_>,
    name: &str,
) -> Result<Option<usize>, ConfigureError> {
    let Some(text) = configuration.text(name) else {
        return Ok(None);
    };
    let parsed = text
        .parse()
        .map_err(|_| ConfigureError(format!("<{name}> is no whole number from 0 on: {text:?}")));
    parsed.map(Some)
}
