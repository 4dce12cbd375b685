//! `DiffDrive`: a robot with driven wheels on its left and right goes where a twist says.
//!
//! Source: gz-sim, `diff_drive/DiffDrive.hh`.

use messages::basic::Boolean;
use messages::motion::Twist;
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::drive_base::{Asked, DriveBase, Reckoning, joints, length};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct DiffDrive {
    base: DriveBase,
    /// The joints of the wheels on either side, left first.
    joints: [Vec<usize>; 2],
    /// \[m\]
    wheel_separation: f64,
    /// \[m\]
    wheel_radius: f64,
    state: State,
}

#[derive(Serialize, Deserialize)]
struct State {
    is_enabled: bool,
    asked: Asked,
    reckoning: Reckoning,
    /// Angle by which the first wheel on either side had turned \[rad\].
    turned: Option<[f64; 2]>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let path = configuration.model_path();
    let given = configuration.text("topic");
    let topic = |last: &str| {
        let text = match (&given, last) {
            (Some(given), "cmd_vel") => given.clone(),
            (Some(given), last) => format!("{given}/{last}"),
            (None, last) => format!("/model/{path}/{last}"),
        };
        configuration.topic(&text)
    };
    let base = DriveBase::read(configuration, true)?;
    let subscriptions = vec![
        TopicSpec::of::<Twist>(topic("cmd_vel")),
        TopicSpec::of::<Boolean>(topic("enable")),
    ];
    let publications = base.publications();
    let system = DiffDrive {
        base,
        joints: [
            joints(configuration, "left_joint")?,
            joints(configuration, "right_joint")?,
        ],
        wheel_separation: length(configuration, "wheel_separation", 1.0)?,
        wheel_radius: length(configuration, "wheel_radius", 0.2)?,
        state: State {
            is_enabled: true,
            asked: Asked::default(),
            reckoning: Reckoning::default(),
            turned: None,
        },
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions,
        publications,
    })
}

impl System for DiffDrive {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if input == 0 {
            if self.state.is_enabled
                && let Ok(twist) = messages::decode::<Twist>(&message.body)
            {
                self.state.asked.take(&twist);
            }
        } else if let Ok(enable) = messages::decode::<Boolean>(&message.body) {
            self.state.is_enabled = enable.data;
            if !enable.data {
                self.state.asked.stop();
            }
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let step_size_s = context.time.step_size_s;
        let [ahead, _, turning] = self.base.limit(&mut self.state.asked, step_size_s);
        let swing = 0.5 * turning * self.wheel_separation;
        for (joints, speed) in self.joints.iter().zip([ahead - swing, ahead + swing]) {
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
        let [left, right] = [0, 1].map(|side| (turned[side] - before[side]) * self.wheel_radius);
        let way = [
            0.5 * (left + right),
            0.0,
            (right - left) / self.wheel_separation,
        ];
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
