//! `MulticopterVelocityControl`: a copter flies with the velocity that it is told.
//!
//! Velocities are in the frame of the link; of the turning, that about z counts. It commands the
//! motors of its model on a topic of their own, from the first command on. Source: gz-sim,
//! `multicopter_control/MulticopterVelocityControl.cc` and `Common.cc`.

mod lee;

use messages::Boolean;
use messages::motion::{Actuators, Twist};
use physics::math::{Matrix, Vector};
use protocol::TopicMessage;
use sdf::{Content, Model, Pose};
use serde::{Deserialize, Serialize};

use self::lee::{Gains, Lee, Motion, Rotor, Vehicle};
use super::configuration::{number_of, text_of};
use super::multicopter_motor_model::controller_topic;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};
use crate::random::Draw;

struct MulticopterVelocityControl {
    link: usize,
    controller: Lee,
    /// Greatest velocities \[m/s, rad/s\].
    limits: [[f64; 3]; 2],
    /// Mean and deviation of the noise of each velocity.
    noise: [[[f64; 3]; 2]; 2],
    topic: String,
    state: State,
}

#[derive(Serialize, Deserialize)]
struct State {
    /// \[m/s, rad/s\]
    asked: Option<[[f64; 3]; 2]>,
    is_enabled: bool,
    /// True if rotors were told to turn.
    turns: bool,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let model = configuration.model()?;
    let link = configuration.link(&configuration.required("comLinkName")?)?;
    let vector = |name: &str, default: f64| configuration.vector(name, [default; 3]);
    let needed = |name: &str| {
        configuration.required(name)?;
        Ok::<_, ConfigureError>(Vector::from(vector(name, 0.0)?))
    };
    let mut rotors = configuration.elements("rotorConfiguration");
    let rotors = rotors.next().into_iter().flat_map(Content::children);
    let rotors: Result<Vec<Rotor>, _> = rotors
        .filter(|child| child.name == "rotor")
        .map(|content| rotor(configuration, content, &model.links[link].pose))
        .collect();
    let (mass, inertia) = composite(model, &model.links[link].pose);
    let vehicle = Vehicle {
        mass,
        inertia,
        gravity: configuration.world.gravity.into(),
    };
    let gains = Gains {
        velocity: needed("velocityGain")?,
        attitude: needed("attitudeGain")?,
        turning: needed("angularRateGain")?,
        acceleration_max: vector("maximumLinearAcceleration", f64::MAX)?.into(),
    };
    let uncontrollable = || {
        let message = "<rotorConfiguration>: its rotors cannot turn the copter about all axes";
        ConfigureError(message.to_owned())
    };
    let controller = Lee::new(&vehicle, gains, &rotors?).ok_or_else(uncontrollable)?;
    let namespace = configuration.required("robotNamespace")?;
    let topic = |parameter: &str, default: &str| {
        let topic = configuration.text(parameter);
        let topic = topic.unwrap_or_else(|| default.to_owned());
        configuration.topic(&format!("{namespace}/{topic}"))
    };
    let told = controller_topic(configuration);
    Ok(Configured {
        subscriptions: vec![
            TopicSpec::of::<Twist>(topic("commandSubTopic", "cmd_vel")),
            TopicSpec::of::<Boolean>(topic("enableSubTopic", "enable")),
        ],
        publications: vec![TopicSpec::of::<Actuators>(told.as_str())],
        system: Box::new(MulticopterVelocityControl {
            link,
            controller,
            limits: [
                vector("maximumLinearVelocity", f64::MAX)?.map(f64::abs),
                vector("maximumAngularVelocity", f64::MAX)?.map(f64::abs),
            ],
            noise: [
                [
                    vector("linearVelocityNoiseMean", 0.0)?,
                    vector("linearVelocityNoiseStdDev", 0.0)?,
                ],
                [
                    vector("angularVelocityNoiseMean", 0.0)?,
                    vector("angularVelocityNoiseStdDev", 0.0)?,
                ],
            ],
            topic: told,
            state: State {
                asked: None,
                is_enabled: true,
                turns: false,
            },
        }),
    })
}

fn rotor(
    configuration: &Configuration<'_>,
    content: &Content,
    base: &Pose,
) -> Result<Rotor, ConfigureError> {
    let missing = |name: &str| ConfigureError(format!("a <rotor> needs a <{name}>"));
    let number = |name: &str| number_of(content, name)?.ok_or_else(|| missing(name));
    let name = text_of(content, "jointName").ok_or_else(|| missing("jointName"))?;
    let joint = &configuration.model()?.joints[configuration.joint(&name)?];
    let no_axis = || ConfigureError(format!("joint {name:?} has no axis"));
    let axis = joint.kind.axes().first().ok_or_else(no_axis)?.xyz;
    let into_base = base.inverse();
    let [x, y, _] = into_base.then(&joint.pose).position;
    Ok(Rotor {
        place: [x, y],
        // The thrust of a rotor that stands aslant counts along the z axis of the base.
        thrust_factor: number("forceConstant")? * into_base.rotate(axis)[2],
        moment_factor: number("momentConstant")?,
        direction: number("direction")?,
    })
}

/// Returns the mass of a model, and its inertia about its centre of mass in the axes of a link.
fn composite(model: &Model, base: &Pose) -> (f64, Matrix) {
    let into_base = base.inverse();
    let parts: Vec<(f64, Vector, Matrix)> = model
        .links
        .iter()
        .map(|link| {
            let pose = into_base.then(&link.pose).then(&link.inertial.pose);
            let column = |axis: [f64; 3]| Vector::from(pose.rotate(axis));
            let turn = Matrix::from_cols(
                column([1.0, 0.0, 0.0]),
                column([0.0, 1.0, 0.0]),
                column([0.0, 0.0, 1.0]),
            );
            let [xx, xy, xz, yy, yz, zz] = link.inertial.inertia;
            let own = Matrix::from_cols(
                Vector::new(xx, xy, xz),
                Vector::new(xy, yy, yz),
                Vector::new(xz, yz, zz),
            );
            let center = Vector::from(pose.position);
            (link.inertial.mass, center, turn * own * turn.transpose())
        })
        .collect();
    let mass: f64 = parts.iter().map(|(mass, ..)| mass).sum();
    let moment = parts
        .iter()
        .fold(Vector::ZERO, |sum, (mass, center, _)| sum + *center * *mass);
    let center = moment / mass;
    let inertia = parts.iter().fold(Matrix::ZERO, |sum, (mass, at, own)| {
        let arm = *at - center;
        let square = Matrix::from_diagonal(Vector::splat(arm.length_squared()));
        let product = Matrix::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
        sum + *own + (square - product) * *mass
    });
    (mass, inertia)
}

impl MulticopterVelocityControl {
    /// Returns how the copter moves as it is measured, with noise.
    fn motion(&self, context: &Context<'_>) -> Motion {
        let (cell, model) = (&context.cell, context.model);
        let pose = cell.link_pose(model, self.link);
        let [linear, angular] = cell.link_velocity(model, self.link);
        let angular = pose.inverse().rotate(angular);
        let (time, part) = (context.time, self.link as u64);
        let mut draw = Draw::new(time.seed, model.index as u64, part, time.elapsed.0);
        let mut measured = |velocity: [f64; 3], [mean, deviation]: &[[f64; 3]; 2]| {
            Vector::from(std::array::from_fn(|axis| {
                if deviation[axis] > 0.0 {
                    velocity[axis] + mean[axis] + deviation[axis] * draw.gaussian()
                } else {
                    velocity[axis]
                }
            }))
        };
        let column = |axis: [f64; 3]| Vector::from(pose.rotate(axis));
        Motion {
            attitude: Matrix::from_cols(
                column([1.0, 0.0, 0.0]),
                column([0.0, 1.0, 0.0]),
                column([0.0, 0.0, 1.0]),
            ),
            velocity: measured(linear, &self.noise[0]),
            turning: measured(angular, &self.noise[1]),
        }
    }

    fn tell(&self, context: &mut Context<'_>, turnings: Vec<f64>) {
        let message = Actuators {
            header: context.header(),
            velocity: turnings,
            ..Actuators::default()
        };
        context.publish(&self.topic, &message);
    }
}

impl System for MulticopterVelocityControl {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if input == 1 {
            if let Ok(enable) = messages::decode::<Boolean>(&message.body) {
                self.state.is_enabled = enable.data;
            }
        } else if let Ok(twist) = messages::decode::<Twist>(&message.body) {
            let asked: [[f64; 3]; 2] = [(&twist.linear).into(), (&twist.angular).into()];
            if asked.as_flattened().iter().all(|speed| speed.is_finite()) {
                self.state.asked = Some(asked);
            }
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        if !self.state.is_enabled {
            self.state.asked = None;
            if std::mem::take(&mut self.state.turns) {
                self.tell(context, vec![0.0; self.controller.rotors()]);
            }
            return;
        }
        let Some(mut asked) = self.state.asked else {
            return;
        };
        for (velocity, limits) in asked.iter_mut().zip(&self.limits) {
            for (speed, limit) in velocity.iter_mut().zip(limits) {
                *speed = speed.clamp(-limit, *limit);
            }
        }
        let motion = self.motion(context);
        let turnings = self.controller.turnings(&motion, asked);
        self.state.turns = true;
        self.tell(context, turnings);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

#[cfg(test)]
mod tests;
