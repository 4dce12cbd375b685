//! `Thruster`: a propeller that pushes its link along the axis of its joint.
//!
//! Thrust and turning belong together: thrust = density · coefficient · diameter⁴ · turning².
//! Either is commanded; the joint turns by a velocity command or by a controller's torque. An empty
//! battery of its model stops it. Source: gz-sim, `thruster/Thruster.hh` and `.cc`.

use messages::{Boolean, Double};
use physics::math::Vector;
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use super::linear_battery;
use super::pid::{Pid, PidState};
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The greatest command both ways, unless the file gives others.
const COMMAND_MAX: f64 = 1000.0;

/// The controller does nothing about less than this \[rad/s\].
const ERROR_MIN: f64 = 0.1;

/// The inputs; those from here on are of batteries.
const COMMAND: usize = 0;
const DEADBAND: usize = 1;
const BATTERY: usize = 2;

struct Thruster {
    joint: usize,
    link: usize,
    /// Link frame.
    axis: Vector,
    limits: [f64; 2],
    commands_turning: bool,
    propeller: Propeller,
    /// None when the joint is given its velocity.
    controller: Option<Pid>,
    /// Less thrust than this is none \[N\].
    deadband: f64,
    told: String,
    /// Number of batteries that the model has.
    batteries: usize,
    state: State,
}

struct Propeller {
    /// Density and diameter to the fourth power together \[kg m\].
    scale: f64,
    diameter: f64,
    wake_fraction: f64,
    /// The coefficient at rest and its change with advance, where it is not given.
    alphas: Option<[f64; 2]>,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// \[N\]
    thrust: f64,
    /// \[rad/s\]
    turning: f64,
    coefficient: f64,
    /// Of the link \[m/s\].
    speed: f64,
    controller: PidState,
    has_deadband: bool,
    /// Of each battery.
    is_empty: Vec<bool>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let number = |name: &str, default| configuration.number(name, default);
    let model = configuration.model()?;
    let joint = configuration.joint(&configuration.required("joint_name")?)?;
    let description = &model.joints[joint];
    let no_axis = || ConfigureError(format!("joint {:?} has no axis", description.name));
    let axis = description.kind.axes().first().ok_or_else(no_axis)?.xyz;
    let axis = model.links[description.child].pose.inverse().rotate(axis);
    let (propeller, coefficient) = propeller(configuration)?;
    let limits = [
        number("min_thrust_cmd", -COMMAND_MAX)?,
        number("max_thrust_cmd", COMMAND_MAX)?,
    ];
    let limits = if limits[0] <= limits[1] {
        limits
    } else {
        [-COMMAND_MAX, COMMAND_MAX]
    };
    let commands_turning = configuration.flag("use_angvel_cmd", false)?;
    let controller = if configuration.flag("velocity_control", false)? {
        None
    } else {
        Some(Pid {
            gains: [
                number("p_gain", 0.1)?,
                number("i_gain", 0.0)?,
                number("d_gain", 0.0)?,
            ],
            integral: [-1.0, 1.0],
            command: limits.map(|thrust| propeller.turning(thrust, coefficient)),
            offset: 0.0,
        })
    };
    let deadband = configuration.optional_number("deadband")?;
    let batteries = linear_battery::empty_topics(configuration);
    let (mut subscriptions, told) = topics(configuration, commands_turning)?;
    subscriptions.extend(batteries.iter().map(TopicSpec::of::<Boolean>));
    Ok(Configured {
        subscriptions,
        publications: vec![TopicSpec::of::<Double>(told.as_str())],
        system: Box::new(Thruster {
            joint,
            link: description.child,
            axis: Vector::from(axis),
            limits,
            commands_turning,
            propeller,
            controller,
            deadband: deadband.unwrap_or(0.0),
            told,
            batteries: batteries.len(),
            state: State {
                thrust: 0.0,
                turning: 0.0,
                coefficient,
                speed: 0.0,
                controller: PidState::default(),
                has_deadband: deadband.is_some(),
                is_empty: vec![false; batteries.len()],
            },
        }),
    })
}

/// Returns the propeller, and its coefficient at first.
fn propeller(configuration: &Configuration<'_>) -> Result<(Propeller, f64), ConfigureError> {
    let number = |name: &str, default| configuration.number(name, default);
    let coefficient = configuration.optional_number("thrust_coefficient")?;
    let diameter = number("propeller_diameter", 0.02)?;
    let alphas = [number("alpha_1", 1.0)?, number("alpha_2", 0.0)?];
    let propeller = Propeller {
        scale: number("fluid_density", 1000.0)? * diameter * diameter * diameter * diameter,
        diameter,
        wake_fraction: number("wake_fraction", 0.2)?,
        alphas: coefficient.is_none().then_some(alphas),
    };
    if propeller.scale <= 0.0 || coefficient == Some(0.0) {
        let message = "density, diameter and coefficient must not be 0".to_owned();
        return Err(ConfigureError(message));
    }
    Ok((propeller, coefficient.unwrap_or(1.0)))
}

/// Returns what is heard besides batteries, and the topic of what is told.
fn topics(
    configuration: &Configuration<'_>,
    commands_turning: bool,
) -> Result<(Vec<TopicSpec>, String), ConfigureError> {
    let namespace = configuration.text("namespace");
    let namespace = namespace.unwrap_or_else(|| configuration.model_path());
    let (base, command) = if let Some(topic) = configuration.text("topic") {
        let topic = format!("{namespace}/{topic}");
        (topic.clone(), topic)
    } else {
        let joint = configuration.required("joint_name")?;
        let base = format!("/model/{namespace}/joint/{joint}");
        let word = if commands_turning { "vel" } else { "thrust" };
        (base.clone(), format!("{base}/cmd_{word}"))
    };
    let word = if commands_turning { "force" } else { "ang_vel" };
    let told = configuration.topic(&format!("{base}/{word}"));
    let deadband = configuration.topic(&format!("{base}/enable_deadband"));
    let subscriptions = vec![
        TopicSpec::of::<Double>(configuration.topic(&command)),
        TopicSpec::of::<Boolean>(deadband),
    ];
    Ok((subscriptions, told))
}

impl Propeller {
    /// Returns the turning of a thrust \[rad/s\].
    fn turning(&self, thrust: f64, coefficient: f64) -> f64 {
        let turning = libm::sqrt((thrust / (self.scale * coefficient)).abs());
        if thrust * coefficient > 0.0 {
            turning
        } else {
            -turning
        }
    }

    /// Returns the thrust of a turning \[N\].
    fn thrust(&self, turning: f64, coefficient: f64) -> f64 {
        self.scale * coefficient * turning.abs() * turning
    }
}

impl Thruster {
    fn command(&mut self, command: f64) {
        if command.is_nan() {
            return;
        }
        let [least, greatest] = self.limits;
        let command = command.clamp(least, greatest);
        self.state.thrust = if self.commands_turning {
            self.state.turning = command;
            self.propeller.thrust(command, self.state.coefficient)
        } else {
            command
        };
        self.find_turning();
    }

    fn find_turning(&mut self) {
        let state = &mut self.state;
        if let Some([alone, change]) = self.propeller.alphas
            && state.turning.abs() > f64::EPSILON
        {
            let advance = (1.0 - self.propeller.wake_fraction) * state.speed;
            let coefficient = alone + change * advance / (state.turning * self.propeller.diameter);
            if coefficient.is_finite() && coefficient != 0.0 {
                state.coefficient = coefficient;
            }
        }
        state.turning = self.propeller.turning(state.thrust, state.coefficient);
    }
}

impl System for Thruster {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        match input {
            COMMAND => {
                if let Ok(command) = messages::decode::<Double>(&message.body) {
                    self.command(command.data);
                }
            }
            DEADBAND => {
                if let Ok(enable) = messages::decode::<Boolean>(&message.body) {
                    self.state.has_deadband = enable.data;
                }
            }
            _ => {
                if let Ok(is_empty) = messages::decode::<Boolean>(&message.body) {
                    self.state.is_empty[input - BATTERY] = is_empty.data;
                }
            }
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        if self.state.is_empty.contains(&true) {
            return;
        }
        self.find_turning();
        let (mut thrust, mut turning) = (self.state.thrust, self.state.turning);
        if self.state.has_deadband && thrust.abs() < self.deadband {
            (thrust, turning) = (0.0, 0.0);
        }
        let (cell, model) = (&mut *context.cell, context.model);
        let pose = cell.link_pose(model, self.link);
        let axis = Vector::from(pose.rotate(self.axis.into()));
        let [linear, angular] = cell.link_velocity(model, self.link).map(Vector::from);
        self.state.speed = linear.length();
        let turns = if let Some(controller) = &self.controller {
            let turns = angular.dot(axis);
            let error = turns - turning;
            if error.abs() > ERROR_MIN {
                let state = &mut self.state.controller;
                let torque = controller.update(state, error, context.time.step_size_s);
                cell.add_load(model, self.link, [0.0; 3], (axis * torque).into());
            }
            turns
        } else {
            cell.drive_joint(model, self.joint, 0, turning);
            turning
        };
        cell.add_force_at(model, self.link, (axis * thrust).into(), pose.position);
        let message = Double {
            header: context.header(),
            data: if self.commands_turning { thrust } else { turns },
        };
        context.publish(&self.told, &message);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)?;
        self.state.is_empty.resize(self.batteries, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    fn bench(parameters: &str, more: &str) -> SystemTestRig {
        SystemTestRig::new(&format!(
            "<gravity>0 0 0</gravity><model name='boat'><pose>0 0 0 0 0 1.5707963267948966</pose>
            <link name='hull'><inertial><mass>100</mass>
              <inertia><ixx>30</ixx><iyy>30</iyy><izz>30</izz></inertia></inertial></link>
            <link name='propeller'><pose>-1 0 0 0 0 0</pose><inertial><mass>1</mass>
              <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
            <joint name='j' type='revolute'><parent>hull</parent><child>propeller</child>
            <axis><xyz>1 0 0</xyz></axis></joint>
            <plugin name='gz::sim::systems::Thruster' filename='t'><joint_name>j</joint_name>
            <thrust_coefficient>0.005</thrust_coefficient><fluid_density>1000</fluid_density>
            <propeller_diameter>0.2</propeller_diameter>{parameters}</plugin>{more}</model>"
        ))
    }

    /// Returns the speed along y, where the boat looks, and the turning of its propeller.
    fn motion(rig: &SystemTestRig) -> [f64; 2] {
        let model = rig.model("boat");
        let speed = rig.cell.link_velocity(model, 0)[0][1];
        [speed, rig.cell.joint_velocity(model, 0, 0)]
    }

    fn command(rig: &mut SystemTestRig, word: &str, data: f64) {
        let command = Double {
            data,
            ..Double::default()
        };
        rig.publish(&format!("/model/boat/joint/j/cmd_{word}"), &command);
    }

    #[test]
    fn thrust_pushes_the_boat_and_turns_the_propeller_as_fast_as_it_needs() {
        let mut rig = bench("<velocity_control>true</velocity_control>", "");
        command(&mut rig, "thrust", 20.2);
        rig.run(0.5);
        rig.renew_systems();
        rig.run(0.5);
        let turning = (20.2_f64 / (1000.0 * 0.005 * 0.0016)).sqrt();
        let [speed, turns] = motion(&rig);
        assert!((speed - 0.2).abs() < 1e-3, "{speed} m/s");
        assert!(
            (turns / turning - 1.0).abs() < 1e-3,
            "{turns} but {turning} rad/s"
        );
        let told: Double = rig.last("/model/boat/joint/j/ang_vel").unwrap();
        assert!((told.data / turning - 1.0).abs() < 1e-3, "{told:?}");
    }

    #[test]
    fn turning_commands_thrust_within_the_limits_and_without_the_deadband() {
        let mut rig = bench(
            "<velocity_control>true</velocity_control><use_angvel_cmd>true</use_angvel_cmd>
            <max_thrust_cmd>50</max_thrust_cmd><min_thrust_cmd>-20</min_thrust_cmd>
            <deadband>1</deadband>",
            "",
        );
        for (asked, turning) in [(-90.0, -20.0), (70.0, 50.0), (10.0, 0.0)] {
            command(&mut rig, "vel", asked);
            rig.run(0.1);
            let [_, turns] = motion(&rig);
            let force: Double = rig.last("/model/boat/joint/j/force").unwrap();
            let expected = 0.008 * turning * f64::abs(turning);
            assert!(
                (force.data - expected).abs() < 1e-9,
                "{force:?} but {expected} N"
            );
            assert!(
                (turns - turning).abs() < 0.05,
                "{turns} but {turning} rad/s"
            );
        }
    }

    #[test]
    fn a_controller_turns_the_propeller_by_torque() {
        let mut rig = bench("<p_gain>5</p_gain>", "");
        command(&mut rig, "thrust", -8.0);
        rig.run(1.0);
        let turning = -(8.0_f64 / 0.008).sqrt();
        let [speed, turns] = motion(&rig);
        assert!(
            (turns - turning).abs() < 0.15,
            "{turns} but {turning} rad/s"
        );
        assert!((speed + 8.0 / 101.0).abs() < 1e-3, "{speed} m/s");
    }

    #[test]
    fn an_empty_battery_stops_the_thrust() {
        let mut rig = bench(
            "<velocity_control>true</velocity_control><power_load>3600</power_load>
            <battery_name>b</battery_name>",
            "<plugin name='gz::sim::systems::LinearBatteryPlugin' filename='b'>
            <battery_name>b</battery_name><voltage>12</voltage><capacity>0.005</capacity>
            <open_circuit_voltage_constant_coef>12</open_circuit_voltage_constant_coef>
            <smooth_current_tau>0.001</smooth_current_tau></plugin>",
        );
        command(&mut rig, "thrust", 101.0);
        rig.run(0.2);
        let [speed, _] = motion(&rig);
        // 18 A s at 300 A last for 0.06 s.
        assert!((0.055..0.07).contains(&speed), "{speed} m/s");
        rig.run(0.1);
        assert!((motion(&rig)[0] - speed).abs() < 1e-9);
    }

    #[test]
    fn without_a_coefficient_it_follows_from_the_advance() {
        let mut rig = SystemTestRig::new(
            "<gravity>0 0 0</gravity><model name='boat'><link name='hull'/>
            <link name='propeller'/><joint name='j' type='revolute'><parent>hull</parent>
            <child>propeller</child><axis><xyz>1 0 0</xyz></axis></joint>
            <plugin name='gz::sim::systems::Thruster' filename='t'><joint_name>j</joint_name>
            <fluid_density>1000</fluid_density><propeller_diameter>0.2</propeller_diameter>
            <alpha_1>0.01</alpha_1><alpha_2>-0.002</alpha_2><wake_fraction>0.25</wake_fraction>
            <velocity_control>true</velocity_control></plugin></model>",
        );
        command(&mut rig, "thrust", 10.0);
        rig.run(1.0);
        let [_, turns] = motion(&rig);
        let speed = rig.cell.link_velocity(rig.model("boat"), 0)[0][0];
        let coefficient = 0.01 - 0.002 * 0.75 * speed / (turns * 0.2);
        let expected = (10.0 / (1.6 * coefficient)).sqrt();
        assert!(
            speed > 1.0 && (turns / expected - 1.0).abs() < 0.01,
            "{turns} {expected}"
        );
    }
}
