//! `JointPositionController`: joints go to a position, by the force of a controller or by a servo.
//!
//! Source: gz-sim, `joint_position_controller/JointPositionController.hh`.

use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::joint_command::{JointCommand, Quantity, controlled_joints};
use super::pid::{Pid, PidState};
use super::{Configuration, ConfigureError, Configured, Context, System};

/// Gazebo's defaults of gains and limits.
const PID: Pid = Pid {
    gains: [1.0, 0.1, 0.01],
    integral: [-1.0, 1.0],
    command: [-1000.0, 1000.0],
    offset: 0.0,
};

struct JointPositionController {
    joints: Vec<(usize, usize)>,
    command: JointCommand,
    pid: Pid,
    /// True if joints are driven, no faster than the limits of the command, instead of pushed.
    uses_velocity: bool,
    state: State,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// \[rad or m\]
    target: f64,
    pids: Vec<PidState>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let (joints, name) = controlled_joints(configuration)?;
    let axis = joints[0].1;
    let part = format!("joint/{name}/{axis}/cmd_pos");
    let command = JointCommand::read(configuration, &part, Quantity::Position)?;
    let state = State {
        target: configuration.number("initial_position", 0.0)?,
        pids: vec![PidState::default(); joints.len()],
    };
    let subscriptions = vec![command.spec.clone()];
    let system = JointPositionController {
        joints,
        command,
        pid: Pid::read(configuration, "", PID)?,
        uses_velocity: configuration.flag("use_velocity_commands", false)?,
        state,
    };
    Ok(Configured {
        system: Box::new(system),
        subscriptions,
        publications: Vec::new(),
    })
}

impl System for JointPositionController {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Some(target) = self.command.number(message) {
            self.state.target = target;
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let (cell, model) = (&mut *context.cell, context.model);
        let step_size_s = context.time.step_size_s;
        for ((joint, axis), state) in self.joints.iter().zip(&mut self.state.pids) {
            let error = cell.joint_position(model, *joint, *axis) - self.state.target;
            if self.uses_velocity {
                let most = self.pid.command[1].abs();
                let velocity = (-error / step_size_s).clamp(-most, most);
                cell.drive_joint(model, *joint, *axis, velocity);
            } else {
                let force = self.pid.update(state, error, step_size_s);
                cell.push_joint(model, *joint, *axis, force);
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)?;
        let count = self.joints.len();
        self.state.pids.resize(count, PidState::default());
        Ok(())
    }
}
