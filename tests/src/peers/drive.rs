//! [`Motor`]: rate that a `DiffDrive` asks of a wheel, so that other engines turn wheels alike.

use sdf::{Content, Model, World};

use super::Unsupported;

/// The plugin whose wheels are driven.
const SYSTEM: &str = "gz::sim::systems::DiffDrive";

/// Velocity that a robot is told to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist {
    /// Speed along its own x axis \[m/s\].
    pub ahead: f64,
    /// Rate about its own z axis \[rad/s\].
    pub turning: f64,
}

/// One driven wheel.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// Index into the world's models.
    pub model: usize,
    /// Index into that model's joints.
    pub joint: usize,
    /// Radius of the wheel \[m\].
    pub radius: f64,
    /// Distance from the middle of the robot, positive on its right \[m\].
    pub lever: f64,
    /// Rate at which the speed ahead grows \[m/s^2\]; infinite for at once.
    pub acceleration: f64,
    /// Velocity that its robot is told to have.
    pub twist: Twist,
}

impl Motor {
    /// Returns the rate that the wheel is to have after so much time \[rad/s\].
    pub fn rate(&self, time_s: f64) -> f64 {
        let Twist { ahead, turning } = self.twist;
        let reached = (self.acceleration * time_s).min(ahead.abs());
        (reached.copysign(ahead) + turning * self.lever) / self.radius
    }

    /// Returns the time after which the rate no longer changes \[s\].
    pub fn ramp_s(&self) -> f64 {
        self.twist.ahead.abs() / self.acceleration
    }
}

/// Returns the motors of all robots of a world, each told to go where `twist` says for its index
/// among the models.
///
/// # Errors
/// Fails if a `DiffDrive` has parameters that are no numbers, or names a joint that is not there.
pub fn motors(world: &World, twist: impl Fn(usize) -> Twist) -> Result<Vec<Motor>, Unsupported> {
    let mut motors = Vec::new();
    for (index, model) in world.models.iter().enumerate() {
        for plugin in model.plugins.iter().filter(|it| it.name == SYSTEM) {
            let number = |name, default| number(model, &plugin.content, name, default);
            let radius = number("wheel_radius", 0.2)?;
            let half = number("wheel_separation", 1.0)? / 2.0;
            let acceleration = number("max_linear_acceleration", f64::INFINITY)?;
            for (side, lever) in [("left_joint", -half), ("right_joint", half)] {
                let named = plugin.content.children().filter(|it| it.name == side);
                for name in named.map(Content::text) {
                    let joint = model.joints.iter().position(|joint| joint.name == name);
                    let joint = joint.ok_or_else(|| {
                        Unsupported::new(&model.name, format!("a motor of no joint {name:?}"))
                    })?;
                    motors.push(Motor {
                        model: index,
                        joint,
                        radius,
                        lever,
                        acceleration,
                        twist: twist(index),
                    });
                }
            }
        }
    }
    Ok(motors)
}

fn number(model: &Model, content: &Content, name: &str, default: f64) -> Result<f64, Unsupported> {
    let Some(child) = content.child(name) else {
        return Ok(default);
    };
    let text = child.text();
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|number| *number > 0.0)
        .ok_or_else(|| Unsupported::new(&model.name, format!("{name} {text:?}")))
}

/// Returns the commands that make a run drive alike, as lines of a file of commands.
pub fn commands(world: &World, twist: impl Fn(usize) -> Twist) -> String {
    let mut lines = String::new();
    for (index, model) in world.models.iter().enumerate() {
        if !model.plugins.iter().any(|plugin| plugin.name == SYSTEM) {
            continue;
        }
        let Twist { ahead, turning } = twist(index);
        let line = serde_json::json!({
            "iteration": 0,
            "topic": format!("/model/{}/cmd_vel", model.name),
            "type": "gz.msgs.Twist",
            "message": { "linear": { "x": ahead }, "angular": { "z": turning } },
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::scene::read;

    const TWIST: Twist = Twist {
        ahead: 0.4,
        turning: 1.0,
    };

    fn fleet(robots: u32) -> World {
        read("fleet.sdf", &sdf::generate_fleet(robots, [2, 1]))
    }

    #[test]
    fn a_robot_that_turns_left_has_the_faster_wheel_on_its_right() {
        let world = fleet(3);
        let motors = motors(&world, |_| TWIST).unwrap();
        assert_eq!(motors.len(), 6);
        let rates: Vec<f64> = motors[..2].iter().map(|motor| motor.rate(10.0)).collect();
        assert!((rates[0] - (0.4 - 0.12) / 0.08).abs() < 1e-12, "{rates:?}");
        assert!((rates[1] - (0.4 + 0.12) / 0.08).abs() < 1e-12, "{rates:?}");
    }

    #[test]
    fn speed_ahead_grows_up_to_what_is_asked_for_and_turning_is_there_at_once() {
        let world = fleet(1);
        let motor = &motors(&world, |_| TWIST).unwrap()[1];
        assert!((motor.ramp_s() - 0.4).abs() < 1e-12);
        assert!((motor.rate(0.0) - 0.12 / 0.08).abs() < 1e-12);
        assert!((motor.rate(0.1) - (0.1 + 0.12) / 0.08).abs() < 1e-12);
        assert_eq!(motor.rate(motor.ramp_s()), motor.rate(100.0));
    }

    #[test]
    fn a_motor_of_a_joint_that_is_not_there_is_named() {
        let text = sdf::generate_fleet(1, [1, 1]).replace(
            "<left_joint>left_axle</left_joint>",
            "<left_joint>axle</left_joint>",
        );
        let error = motors(&read("fleet.sdf", &text), |_| TWIST).unwrap_err();
        assert!(error.to_string().contains("no joint \"axle\""), "{error}");
    }

    #[test]
    fn commands_are_one_line_for_each_robot() {
        let text = commands(&fleet(3), |_| TWIST);
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.contains("/cmd_vel")), "{text}");
    }
}
