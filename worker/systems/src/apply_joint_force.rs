//! `ApplyJointForce`: a joint is pushed with the force that was last asked for.
//!
//! Source: gz-sim, `apply_joint_force/ApplyJointForce.hh`.

use messages::basic::Double;
use protocol::TopicMessage;

use super::drive_base::joint;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct ApplyJointForce {
    joint: usize,
    /// \[N or N m\]
    force: f64,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let name = configuration.text("joint_name");
    let name = name.ok_or_else(|| ConfigureError("<joint_name> is missing".to_owned()))?;
    let path = configuration.model_path();
    let topic = configuration.text("topic");
    let topic = topic.unwrap_or_else(|| format!("/model/{path}/joint/{name}/cmd_force"));
    Ok(Configured {
        system: Box::new(ApplyJointForce {
            joint: joint(configuration, &name)?,
            force: 0.0,
        }),
        subscriptions: vec![TopicSpec::of::<Double>(configuration.topic(&topic))],
        publications: Vec::new(),
    })
}

impl System for ApplyJointForce {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Ok(force) = messages::decode::<Double>(&message.body)
            && force.data.is_finite()
        {
            self.force = force.data;
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let (joint, force) = (self.joint, self.force);
        context.cell.push_joint(context.model, joint, 0, force);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.force)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.force, bytes)
    }
}
