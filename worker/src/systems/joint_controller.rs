//! `JointController`: joints keep a velocity, by a servo or by the force of a controller.
//!
//! Source: gz-sim, `joint_controller/JointController.hh`.

use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::joint_command::{JointCommand, Quantity, controlled_joints};
use super::pid::{Pid, PidMemory};
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
    memory: Memory,
}

#[derive(Serialize, Deserialize)]
struct Memory {
    /// \[rad/s or m/s\]
    target: f64,
    pids: Vec<PidMemory>,
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
    let memory = Memory {
        target: configuration.number("initial_velocity", 0.0)?,
        pids: vec![PidMemory::default(); joints.len()],
    };
    let hears = vec![command.spec.clone()];
    Ok(Configured {
        system: Box::new(JointController {
            joints,
            command,
            pid,
            memory,
        }),
        hears,
        tells: Vec::new(),
    })
}

impl System for JointController {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Some(target) = self.command.number(message) {
            self.memory.target = target;
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let (cell, model) = (&mut *context.cell, context.model);
        let target = self.memory.target;
        for ((joint, axis), memory) in self.joints.iter().zip(&mut self.memory.pids) {
            match &self.pid {
                None => cell.drive_joint(model, *joint, *axis, target),
                Some(pid) => {
                    let error = cell.joint_velocity(model, *joint, *axis) - target;
                    let force = pid.update(memory, error, context.time.step_size_s);
                    cell.push_joint(model, *joint, *axis, force);
                }
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.memory)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.memory, bytes)?;
        let count = self.joints.len();
        self.memory.pids.resize(count, PidMemory::default());
        Ok(())
    }
}
