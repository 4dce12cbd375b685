//! `VelocityControl`: a model, or some of its links, move with the velocity that is asked for.
//!
//! Velocities are in the frame of the model (of the link for `link_cmd_vel`). Source: gz-sim,
//! `velocity_control/VelocityControl.hh`.

use messages::motion::Twist;
use protocol::TopicMessage;
use sdf::Pose;
use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// Linear \[m/s\] and angular velocity \[rad/s\].
type Velocity = [[f64; 3]; 2];

struct VelocityControl {
    /// The links that are driven by themselves, in the order of their topics.
    links: Vec<usize>,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    model: Option<Velocity>,
    links: Vec<Option<Velocity>>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let path = configuration.model_path();
    let topic = configuration.text("topic");
    let topic = topic.unwrap_or_else(|| format!("/model/{path}/cmd_vel"));
    let mut subscriptions = vec![TopicSpec::of::<Twist>(configuration.topic(&topic))];
    let mut links = Vec::new();
    for name in configuration.texts("link_name") {
        links.push(configuration.link(&name)?);
        let topic = format!("/model/{path}/link/{name}/cmd_vel");
        subscriptions.push(TopicSpec::of::<Twist>(configuration.topic(&topic)));
    }
    let linear = configuration.vector("initial_linear", [0.0; 3])?;
    let angular = configuration.vector("initial_angular", [0.0; 3])?;
    let model = [linear, angular];
    Ok(Configured {
        system: Box::new(VelocityControl {
            state: State {
                model: (model != [[0.0; 3]; 2]).then_some(model),
                links: vec![None; links.len()],
            },
            links,
        }),
        subscriptions,
        publications: Vec::new(),
    })
}

impl System for VelocityControl {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut Context<'_>) {
        let Ok(twist) = messages::decode::<Twist>(&message.body) else {
            return;
        };
        let velocity: Velocity = [(&twist.linear).into(), (&twist.angular).into()];
        if !velocity
            .as_flattened()
            .iter()
            .all(|speed| speed.is_finite())
        {
            return;
        }
        let velocity = Some(velocity);
        match input.checked_sub(1) {
            None => self.state.model = velocity,
            Some(link) => self.state.links[link] = velocity,
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let model = context.model;
        if let Some(velocity) = self.state.model {
            let frame = context.cell.model_pose(model);
            let [linear, angular] = turned(&frame, velocity);
            for link in 0..context.description().links.len() {
                let at = context.cell.link_pose(model, link).position;
                let arm: [f64; 3] = std::array::from_fn(|axis| at[axis] - frame.position[axis]);
                let swing = cross(angular, arm);
                let linear = std::array::from_fn(|axis| linear[axis] + swing[axis]);
                context
                    .cell
                    .set_link_velocity(model, link, [linear, angular]);
            }
        }
        for (link, velocity) in self.links.iter().zip(&self.state.links) {
            if let Some(velocity) = velocity {
                let frame = context.cell.link_pose(model, *link);
                let velocity = turned(&frame, *velocity);
                context.cell.set_link_velocity(model, *link, velocity);
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)?;
        self.state.links.resize(self.links.len(), None);
        Ok(())
    }
}

fn turned(frame: &Pose, velocity: Velocity) -> Velocity {
    velocity.map(|part| frame.rotate(part))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    #[test]
    fn a_velocity_that_is_not_finite_is_not_heeded() {
        let mut rig = SystemTestRig::new(
            "<gravity>0 0 0</gravity><model name='m'><link name='l'/>
            <plugin name='gz::sim::systems::VelocityControl' filename='v'/></model>",
        );
        for speed in [2.0, f64::NAN, f64::INFINITY] {
            let mut twist = Twist::default();
            twist.linear.x = speed;
            rig.publish("/model/m/cmd_vel", &twist);
            rig.run(0.1);
        }
        let at = rig.cell.link_pose(rig.model("m"), 0).position;
        assert!((at[0] - 0.6).abs() < 1e-2, "{at:?}");
    }
}
