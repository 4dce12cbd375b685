//! `AckermannSteering`: a car whose front wheels are turned goes where a twist says.
//!
//! With `steering_only` it only turns them, by an angle. Source: gz-sim,
//! `ackermann_steering/AckermannSteering.hh`.

use messages::motion::Twist;
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::drive_base::{Asked, DriveBase, Reckoning, joints, length};
use super::joint_command::{JointCommand, Quantity};
use super::pid::{Pid, PidState};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The turn below which a car goes straight \[rad/s\].
const STRAIGHT: f64 = 1e-3;

/// Gazebo's defaults of gains and limits.
const PID: Pid = Pid {
    gains: [1.0, 0.0, 0.0],
    integral: [0.0, 0.0],
    command: [-1000.0, 1000.0],
    offset: 0.0,
};

struct AckermannSteering {
    base: DriveBase,
    /// The joints that turn the front wheels, left first.
    steering: [Vec<usize>; 2],
    /// The joints of driven wheels, left first; none when it only steers.
    wheels: Option<[Vec<usize>; 2]>,
    /// Source of the angle if it only steers.
    angle: Option<JointCommand>,
    sizes: Sizes,
    pid: Pid,
    state: State,
}

struct Sizes {
    /// Between wheels left and right \[m\].
    wheel_separation: f64,
    /// Between the pivots of the front wheels \[m\].
    kingpin_width: f64,
    /// Between front and back wheels \[m\].
    wheel_base: f64,
    /// \[m\]
    wheel_radius: f64,
    /// \[rad\]
    steering_limit: f64,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    asked: Asked,
    /// \[rad\]
    angle: f64,
    reckoning: Reckoning,
    /// Angle by which the first wheel on either side had turned \[rad\].
    turned: Option<[f64; 2]>,
    pids: [PidState; 2],
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let uses_actuators = configuration.flag("use_actuator_msg", false)?;
    let only_steers = configuration.flag("steering_only", false)? || uses_actuators;
    let path = configuration.model_path();
    let base = DriveBase::read(configuration, !only_steers)?;
    let (angle, wheels, subscriptions) = if only_steers {
        let angle = JointCommand::read(configuration, "steer_angle", Quantity::Position)?;
        let subscriptions = vec![angle.spec.clone()];
        (Some(angle), None, subscriptions)
    } else {
        let of_model = |part: &str| format!("/model/{path}/{part}");
        let sub_topic = configuration.text("sub_topic").map(|part| of_model(&part));
        let topic = configuration.text("topic").or(sub_topic);
        let topic = topic.unwrap_or_else(|| of_model("cmd_vel"));
        let wheels = [
            joints(configuration, "left_joint")?,
            joints(configuration, "right_joint")?,
        ];
        let subscriptions = vec![TopicSpec::of::<Twist>(configuration.topic(&topic))];
        (None, Some(wheels), subscriptions)
    };
    let publications = base.publications();
    let system = AckermannSteering {
        base,
        steering: [
            joints(configuration, "left_steering_joint")?,
            joints(configuration, "right_steering_joint")?,
        ],
        wheels,
        angle,
        sizes: Sizes::read(configuration)?,
        pid: Pid::read(configuration, "steer_", PID)?,
        state: State::default(),
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions,
        publications,
    })
}

impl Sizes {
    fn read(configuration: &Configuration<'_>) -> Result<Self, ConfigureError> {
        let sizes = Self {
            wheel_separation: length(configuration, "wheel_separation", 1.0)?,
            kingpin_width: length(configuration, "kingpin_width", 0.8)?,
            wheel_base: length(configuration, "wheel_base", 1.0)?,
            wheel_radius: length(configuration, "wheel_radius", 0.2)?,
            steering_limit: length(configuration, "steering_limit", 0.5)?,
        };
        if sizes.steering_limit < std::f64::consts::FRAC_PI_2 {
            Ok(sizes)
        } else {
            let limit = sizes.steering_limit;
            Err(ConfigureError(format!(
                "<steering_limit> must be below a quarter of a turn, not {limit} rad"
            )))
        }
    }

    /// Returns the curvature of the way of the back axle's middle \[1/m\], no greater than what the
    /// steering allows.
    fn curvature(&self, ahead: f64, turning: f64) -> f64 {
        let most = libm::sin(self.steering_limit) / self.wheel_base;
        if turning.abs() < STRAIGHT {
            0.0
        } else {
            (turning / ahead).clamp(-most, most)
        }
    }

    /// Returns the angles of the front wheels for a curvature, left first \[rad\].
    fn angles(&self, curvature: f64, width: f64) -> [f64; 2] {
        let way = self.wheel_base * curvature;
        [-0.5, 0.5].map(|side| libm::atan2(way, 1.0 + side * width * curvature))
    }
}

impl AckermannSteering {
    /// Turns the front wheels towards angles \[rad\].
    fn steer(&mut self, angles: [f64; 2], context: &mut Context<'_>) {
        for (side, angle) in angles.into_iter().enumerate() {
            let joints = &self.steering[side];
            let now = context.cell.joint_position(context.model, joints[0], 0);
            let state = &mut self.state.pids[side];
            let step_size_s = context.time.step_size_s;
            let rate = self.pid.update(state, now - angle, step_size_s);
            for joint in joints {
                context.cell.drive_joint(context.model, *joint, 0, rate);
            }
        }
    }
}

impl System for AckermannSteering {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Some(angle) = &self.angle {
            if let Some(angle) = angle.number(message) {
                let limit = self.sizes.steering_limit;
                self.state.angle = angle.clamp(-limit, limit);
            }
        } else if let Ok(twist) = messages::decode::<Twist>(&message.body) {
            self.state.asked.take(&twist);
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let Some(wheels) = &self.wheels else {
            let curvature = libm::tan(self.state.angle) / self.sizes.wheel_base;
            let width = self.sizes.wheel_separation;
            let angles = self.sizes.angles(curvature, width);
            self.steer(angles, context);
            return;
        };
        let step_size_s = context.time.step_size_s;
        let [ahead, _, turning] = self.base.limit(&mut self.state.asked, step_size_s);
        let curvature = self.sizes.curvature(ahead, turning);
        let swing = 0.5 * self.sizes.wheel_separation * curvature;
        for (joints, share) in wheels.iter().zip([1.0 - swing, 1.0 + swing]) {
            let rate = ahead * share / self.sizes.wheel_radius;
            for joint in joints {
                context.cell.drive_joint(context.model, *joint, 0, rate);
            }
        }
        let angles = self.sizes.angles(curvature, self.sizes.kingpin_width);
        self.steer(angles, context);
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        let Some(wheels) = &self.wheels else {
            return;
        };
        let first = |joints: &Vec<usize>| context.cell.joint_position(context.model, joints[0], 0);
        let turned = wheels.each_ref().map(first);
        let [left, right] = self.steering.each_ref().map(first);
        let before = self.state.turned.replace(turned).unwrap_or(turned);
        let ways = [0, 1].map(|side| (turned[side] - before[side]) * self.sizes.wheel_radius);
        let way = 0.5 * (ways[0] + ways[1]);
        let turn = way * libm::tan(0.5 * (left + right)) / self.sizes.wheel_base;
        let reckoning = &mut self.state.reckoning;
        reckoning.advance([way, 0.0, turn], context.time.step_size_s);
        self.base.publish(reckoning, context);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}
