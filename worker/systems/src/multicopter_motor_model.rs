//! `MulticopterMotorModel`: a rotor with thrust, drag and moments, and a motor that takes its time.
//!
//! Thrust is along the z axis of the link and grows with the square of the turning; the joint turns
//! more slowly than the rotor that it stands for, by `rotorVelocitySlowdownSim`. Source: gz-sim,
//! `multicopter_motor_model/MulticopterMotorModel.cc`; P. Martin, E. Salaün, The True Role of
//! Accelerometer Feedback in Quadrotor Control, 2010.

use messages::motion::Actuators;
use physics::math::Vector;
use protocol::TopicMessage;
use sdf::JointParent;
use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct MulticopterMotorModel {
    joint: usize,
    link: usize,
    parent: Option<usize>,
    /// The axis of the joint, link frame.
    axis: Vector,
    /// Its place among actuators.
    number: usize,
    /// \[rad/s\]
    turning_max: f64,
    rotor: Rotor,
    /// Time constants of getting faster and slower \[s\].
    constants_s: [f64; 2],
    slowdown: f64,
    state: State,
}

/// Forces and moments of a rotor by its turning.
struct Rotor {
    /// 1 for counter-clockwise, -1 for clockwise.
    direction: f64,
    /// \[N s²/rad²\]
    thrust_factor: f64,
    /// \[m\]
    moment_factor: f64,
    /// Drag and rolling moment per turning and speed across.
    across: [f64; 2],
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Commanded speed \[rad/s\].
    asked: f64,
    /// Speed of the motor \[rad/s\].
    reached: f64,
    /// True if a controller in the model commands: then others count no more.
    is_controlled: bool,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let number = |name: &str, default| configuration.number(name, default);
    let model = configuration.model()?;
    let joint = configuration.joint(&configuration.required("jointName")?)?;
    let link = configuration.link(&configuration.required("linkName")?)?;
    let description = &model.joints[joint];
    let no_axis = || ConfigureError(format!("joint {:?} has no axis", description.name));
    let axis = description.kind.axes().first().ok_or_else(no_axis)?.xyz;
    let kind = configuration.text("motorType");
    if kind.as_deref().is_some_and(|kind| kind != "velocity") {
        let message = "the only <motorType> that is supported is velocity, as in Gazebo";
        return Err(ConfigureError(message.to_owned()));
    }
    let direction = match configuration.required("turningDirection")?.as_str() {
        "ccw" => 1.0,
        "cw" => -1.0,
        other => {
            let message = format!("<turningDirection> is neither cw nor ccw: {other:?}");
            return Err(ConfigureError(message));
        }
    };
    let place = match configuration.optional_number("actuator_number")? {
        Some(place) => place,
        None => number("motorNumber", 0.0)?,
    };
    if place < 0.0 || place.fract() != 0.0 {
        return Err(ConfigureError(format!(
            "the number of the motor is none: {place}"
        )));
    }
    let constants_s = [
        number("timeConstantUp", 0.0125)?,
        number("timeConstantDown", 0.025)?,
    ];
    let slowdown = number("rotorVelocitySlowdownSim", 10.0)?;
    if slowdown <= 0.0 {
        let message = "<rotorVelocitySlowdownSim> is not above 0";
        return Err(ConfigureError(message.to_owned()));
    }
    let namespace = configuration.text("robotNamespace");
    let namespace = namespace.unwrap_or_else(|| configuration.model_path());
    let topic = configuration.text("commandSubTopic").unwrap_or_default();
    Ok(Configured {
        subscriptions: vec![
            TopicSpec::of::<Actuators>(configuration.topic(&format!("{namespace}/{topic}"))),
            TopicSpec::of::<Actuators>(controller_topic(configuration)),
        ],
        publications: Vec::new(),
        system: Box::new(MulticopterMotorModel {
            joint,
            link,
            parent: match description.parent {
                JointParent::World => None,
                JointParent::Link(parent) => Some(parent),
            },
            axis: model.links[link].pose.inverse().rotate(axis).into(),
            number: place as usize,
            turning_max: number("maxRotVelocity", 838.0)?,
            rotor: rotor(configuration, direction)?,
            constants_s,
            slowdown,
            state: State::default(),
        }),
    })
}

fn rotor(configuration: &Configuration<'_>, direction: f64) -> Result<Rotor, ConfigureError> {
    let number = |name: &str, default| configuration.number(name, default);
    Ok(Rotor {
        direction,
        thrust_factor: number("motorConstant", 8.54858e-6)?,
        moment_factor: number("momentConstant", 0.016)?,
        across: [
            number("rotorDragCoefficient", 1e-4)?,
            number("rollingMomentCoefficient", 1e-6)?,
        ],
    })
}

/// Returns the topic on which controllers of a model command its motors.
pub(super) fn controller_topic(configuration: &Configuration<'_>) -> String {
    let path = configuration.model_path();
    configuration.topic(&format!("/model/{path}/actuators"))
}

impl MulticopterMotorModel {
    /// Has forces and moments of a turning act \[rad/s\].
    fn push(&self, context: &mut Context<'_>, turning: f64) {
        let (cell, model) = (&mut *context.cell, context.model);
        let pose = cell.link_pose(model, self.link);
        let thrust =
            self.rotor.direction * turning.signum() * turning * turning * self.rotor.thrust_factor;
        let along = pose.rotate([0.0, 0.0, 1.0]);
        let axis = Vector::from(pose.rotate(self.axis.into()));
        let [velocity, _] = cell.link_velocity(model, self.link);
        let flow = Vector::from(velocity) - Vector::from(cell.wind());
        let across = flow - axis * flow.dot(axis);
        let [drag, rolling] = self
            .rotor
            .across
            .map(|factor| across * (-turning.abs() * factor));
        let force = Vector::from(along) * thrust + drag;
        cell.add_load(model, self.link, force.into(), [0.0; 3]);
        if let Some(parent) = self.parent {
            let against = -self.rotor.direction * thrust * self.rotor.moment_factor;
            let torque = Vector::from(along) * against + rolling;
            cell.add_load(model, parent, [0.0; 3], torque.into());
        }
    }

    fn spin_up(&mut self, step_size_s: f64) {
        let state = &mut self.state;
        let [up, down] = self.constants_s;
        let constant = if state.asked > state.reached {
            up
        } else {
            down
        };
        let kept = if constant > 0.0 {
            libm::exp(-step_size_s / constant)
        } else {
            0.0
        };
        state.reached = kept * state.reached + (1.0 - kept) * state.asked;
    }
}

impl System for MulticopterMotorModel {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        let is_controller = input == 1;
        if self.state.is_controlled && !is_controller {
            return;
        }
        let Ok(command) = messages::decode::<Actuators>(&message.body) else {
            return;
        };
        self.state.is_controlled = is_controller;
        if let Some(asked) = command
            .velocity
            .get(self.number)
            .filter(|one| one.is_finite())
        {
            self.state.asked = asked.min(self.turning_max).max(-self.turning_max);
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let turning = context.cell.joint_velocity(context.model, self.joint, 0) * self.slowdown;
        if turning != 0.0 {
            self.push(context, turning);
        }
        self.spin_up(context.time.step_size_s);
        let asked = self.rotor.direction * self.state.reached / self.slowdown;
        if asked != 0.0 || turning != 0.0 {
            context
                .cell
                .drive_joint(context.model, self.joint, 0, asked);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    const TOPIC: &str = "/copter/command/motor_speed";

    fn bench(parameters: &str, wind: &str) -> SystemTestRig {
        SystemTestRig::new(&format!(
            "<gravity>0 0 0</gravity><wind><linear_velocity>{wind}</linear_velocity></wind>
            <model name='copter'><link name='body'><inertial><mass>10</mass>
              <inertia><ixx>2</ixx><iyy>2</iyy><izz>2</izz></inertia></inertial></link>
            <link name='rotor'><inertial><mass>0.001</mass><inertia><ixx>1e-5</ixx>
              <iyy>1e-5</iyy><izz>1e-5</izz></inertia></inertial></link>
            <joint name='j' type='revolute'><parent>body</parent><child>rotor</child>
            <axis><xyz>0 0 1</xyz></axis></joint>
            <plugin name='gz::sim::systems::MulticopterMotorModel' filename='m'>
            <jointName>j</jointName><linkName>rotor</linkName>
            <commandSubTopic>command/motor_speed</commandSubTopic><motorNumber>1</motorNumber>
            <motorConstant>1e-5</motorConstant><momentConstant>0.02</momentConstant>
            <turningDirection>cw</turningDirection>{parameters}</plugin></model>"
        ))
    }

    fn spin(rig: &mut SystemTestRig, turning: f64) {
        let command = Actuators {
            velocity: vec![9999.0, turning],
            ..Actuators::default()
        };
        rig.publish(TOPIC, &command);
    }

    #[test]
    fn a_motor_comes_to_its_speed_with_its_time_constants() {
        let mut rig = bench(
            "<timeConstantUp>0.1</timeConstantUp><timeConstantDown>0.2</timeConstantDown>
            <maxRotVelocity>500</maxRotVelocity>",
            "0 0 0",
        );
        let model = rig.model("copter");
        spin(&mut rig, 700.0);
        rig.run(0.1);
        rig.renew_systems();
        let up = 50.0 * (1.0 - (-1.0_f64).exp());
        let turning = rig.cell.joint_velocity(model, 0, 0);
        assert!(
            (turning / -up - 1.0).abs() < 0.01,
            "{turning} but {up} rad/s"
        );
        rig.run(2.0);
        spin(&mut rig, 0.0);
        rig.run(0.2);
        let down = 50.0 * (-1.0_f64).exp();
        let turning = rig.cell.joint_velocity(model, 0, 0);
        assert!(
            (turning / -down - 1.0).abs() < 0.01,
            "{turning} but {down} rad/s"
        );
    }

    #[test]
    fn thrust_and_reaction_follow_the_square_of_the_turning() {
        let mut rig = bench("<rotorDragCoefficient>0</rotorDragCoefficient>", "0 0 0");
        let model = rig.model("copter");
        spin(&mut rig, 400.0);
        rig.run(1.0);
        let [before, turned] = rig.cell.link_velocity(model, 0);
        rig.run(1.0);
        let [after, turning] = rig.cell.link_velocity(model, 0);
        let thrust = 1e-5 * 400.0 * 400.0;
        let gained = after[2] - before[2];
        assert!(
            (gained * 10.001 / thrust - 1.0).abs() < 0.01,
            "{gained} m/s"
        );
        // A rotor that turns clockwise turns the body counter-clockwise.
        let gained = turning[2] - turned[2];
        assert!(
            (gained * 2.0 / (thrust * 0.02) - 1.0).abs() < 0.05,
            "{gained} rad/s"
        );
    }

    #[test]
    fn wind_across_the_rotor_drags_and_rolls() {
        let mut rig = bench(
            "<rotorDragCoefficient>1e-3</rotorDragCoefficient>
            <rollingMomentCoefficient>1e-4</rollingMomentCoefficient>",
            "5 0 3",
        );
        let model = rig.model("copter");
        spin(&mut rig, 400.0);
        rig.run(0.5);
        let before = rig.cell.link_velocity(model, 0);
        let pose = rig.cell.link_pose(model, 0);
        rig.run(0.01);
        let after = rig.cell.link_velocity(model, 0);
        let up = pose.rotate([0.0, 0.0, 1.0]);
        let thrust = 1e-5 * 400.0 * 400.0;
        let drag = 400.0 * 1e-3 * (5.0 - before[0][0]) + thrust * up[0];
        let found = (after[0][0] - before[0][0]) * 10.001 / 0.01;
        assert!((found / drag - 1.0).abs() < 0.1, "{found} but {drag} N");
        assert!(before[1][0] > 0.0, "{before:?}");
    }
}
