//! `JointController`: joints keep a velocity, by a servo or by the force of a controller.
//!
//! Source: gz-sim, `joint_controller/JointController.hh`.

use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::joint_command::{JointCommand, Quantity, controlled_joints};
use super::pid::{Pid, PidState};
use super::{Configuration, ConfigureError, Configured, Context, System};

/// Gazebo's defaults of gains and limits.
const PID: Pid = Pid {
    gains: [1.0, 0.0, 0.0],
    integral: [-1.0, 1.0],
    command: [-1000.0, 1000.0],
    offset: 0.0,
};

struct JointController {
    joints: Vec<(usize, usize)>,
    command: JointCommand,
    /// The controller, where forces are used.
    pid: Option<Pid>,
    state: State,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// \[rad/s or m/s\]
    target: f64,
    pids: Vec<PidState>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let (joints, name) = controlled_joints(configuration)?;
    let part = format!("joint/{name}/cmd_vel");
    let command = JointCommand::read(configuration, &part, Quantity::Velocity)?;
    let pid = if configuration.flag("use_force_commands", false)? {
        Some(Pid::read(configuration, "", PID)?)
    } else {
        None
    };
    let state = State {
        target: configuration.number("initial_velocity", 0.0)?,
        pids: vec![PidState::default(); joints.len()],
    };
    let subscriptions = vec![command.spec.clone()];
    Ok(Configured {
        system: Box::new(JointController {
            joints,
            command,
            pid,
            state,
        }),
        subscriptions,
        publications: Vec::new(),
    })
}

impl System for JointController {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Some(target) = self.command.number(message) {
            self.state.target = target;
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let (cell, model) = (&mut *context.cell, context.model);
        let target = self.state.target;
        for ((joint, axis), state) in self.joints.iter().zip(&mut self.state.pids) {
            match &self.pid {
                None => cell.drive_joint(model, *joint, *axis, target),
                Some(pid) => {
                    let error = cell.joint_velocity(model, *joint, *axis) - target;
                    let force = pid.update(state, error, context.time.step_size_s);
                    cell.push_joint(model, *joint, *axis, force);
                }
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
