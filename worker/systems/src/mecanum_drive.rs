//! `MecanumDrive`: a robot on four wheels with slanted rollers goes any way that a twist says.
//!
//! Source: gz-sim, `mecanum_drive/MecanumDrive.hh`. The sideways force is that of friction with a
//! direction of its own on each wheel (`fdir1`), which the world must give them.

use messages::motion::Twist;
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::drive_base::{Asked, DriveBase, Reckoning, joints, length};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// Signs of each wheel's turn for motion to the left and for turning: front left, front right, back
/// left, back right.
const SIGNS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]];

struct MecanumDrive {
    base: DriveBase,
    /// The joints of the wheels, in the order of [`SIGNS`].
    joints: [Vec<usize>; 4],
    /// Half of the distances between wheels across and along, together \[m\].
    reach: f64,
    /// \[m\]
    wheel_radius: f64,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    asked: Asked,
    reckoning: Reckoning,
    /// Angle by which the first wheel of each place had turned \[rad\].
    turned: Option<[f64; 4]>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let path = configuration.model_path();
    let topic = configuration.text("topic");
    let topic = topic.unwrap_or_else(|| format!("/model/{path}/cmd_vel"));
    let base = DriveBase::read(configuration, true)?;
    let publications = base.publications();
    let across = length(configuration, "wheel_separation", 1.0)?;
    let along = length(configuration, "wheelbase", 1.0)?;
    let system = MecanumDrive {
        base,
        joints: [
            joints(configuration, "front_left_joint")?,
            joints(configuration, "front_right_joint")?,
            joints(configuration, "back_left_joint")?,
            joints(configuration, "back_right_joint")?,
        ],
        reach: 0.5 * (across + along),
        wheel_radius: length(configuration, "wheel_radius", 0.2)?,
        state: State::default(),
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions: vec![TopicSpec::of::<Twist>(configuration.topic(&topic))],
        publications,
    })
}

impl System for MecanumDrive {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Ok(twist) = messages::decode::<Twist>(&message.body) {
            self.state.asked.take(&twist);
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let step_size_s = context.time.step_size_s;
        let [ahead, left, turning] = self.base.limit(&mut self.state.asked, step_size_s);
        for (joints, [sideways, swing]) in self.joints.iter().zip(SIGNS) {
            let speed = ahead + sideways * left + swing * turning * self.reach;
            for joint in joints {
                let rate = speed / self.wheel_radius;
                context.cell.drive_joint(context.model, *joint, 0, rate);
            }
        }
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        let turned = self
            .joints
            .each_ref()
            .map(|joints| context.cell.joint_position(context.model, joints[0], 0));
        let before = self.state.turned.replace(turned).unwrap_or(turned);
        let mut way = [0.0; 3];
        for (wheel, [sideways, swing]) in SIGNS.into_iter().enumerate() {
            let share = 0.25 * (turned[wheel] - before[wheel]) * self.wheel_radius;
            way[0] += share;
            way[1] += sideways * share;
            way[2] += swing * share / self.reach;
        }
        let reckoning = &mut self.state.reckoning;
        reckoning.advance(way, context.time.step_size_s);
        self.base.publish(reckoning, context);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}
