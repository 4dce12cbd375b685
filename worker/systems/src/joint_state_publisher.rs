//! `JointStatePublisher`: where the joints of a model are, how fast, and what drives them.
//!
//! Source: gz-sim, `joint_state_publisher/JointStatePublisher.hh`.

use messages::geometry::{Pose, Quaternion};
use messages::state::{Axis, Joint, Model};
use sdf::JointParent;

use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct JointStatePublisher {
    joints: Vec<usize>,
    topic: String,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let names = configuration.texts("joint_name");
    let mut joints = Vec::new();
    for joint in configuration.found(&names, |name| configuration.joint(name))? {
        if !joints.contains(&joint) {
            joints.push(joint);
        }
    }
    if names.is_empty() {
        let model = configuration.model()?;
        let is_own = |joint: &sdf::Joint| {
            let inner = joint.name.strip_prefix(configuration.scope);
            inner.is_some_and(|inner| !inner.contains("::"))
        };
        let own = model.joints.iter().enumerate();
        joints.extend(
            own.filter(|(_, joint)| is_own(joint))
                .map(|(index, _)| index),
        );
    }
    let path = configuration.model_path();
    let topic = configuration.text("topic").unwrap_or_else(|| {
        format!(
            "/world/{}/model/{path}/joint_state",
            configuration.world.name
        )
    });
    let topic = configuration.topic(&topic);
    let publications = vec![TopicSpec::of::<Model>(topic.as_str())];
    Ok(Configured {
        system: Box::new(JointStatePublisher { joints, topic }),
        subscriptions: Vec::new(),
        publications,
    })
}

impl System for JointStatePublisher {
    fn after_step(&mut self, context: &mut Context<'_>) {
        if !context.is_wanted(&self.topic) {
            return;
        }
        let joints = self.joints.iter().map(|joint| state(context, *joint));
        let message = Model {
            header: context.header(),
            name: context.description().name.clone(),
            id: 0,
            pose: pose_message(&context.cell.model_pose(context.model)),
            joint: joints.collect(),
        };
        context.publish(&self.topic, &message);
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut (), bytes)
    }
}

/// Returns a pose as messages have it.
pub(super) fn pose_message(pose: &sdf::Pose) -> Pose {
    Pose {
        position: pose.position.into(),
        orientation: Quaternion::from_xyzw(pose.orientation_xyzw),
        ..Pose::default()
    }
}

fn state(context: &Context<'_>, index: usize) -> Joint {
    let model = context.description();
    let joint = &model.joints[index];
    let child = &model.links[joint.child];
    let parent = match joint.parent {
        JointParent::World => "world",
        JointParent::Link(link) => &model.links[link].name,
    };
    let mut axes = joint.kind.axes().iter().enumerate();
    let mut next = || {
        axes.next()
            .map(|(number, axis)| axis_state(context, index, number, axis))
    };
    Joint {
        header: messages::Header::default(),
        name: joint.name.clone(),
        id: 0,
        parent: parent.to_owned(),
        child: child.name.clone(),
        pose: pose_message(&child.pose.inverse().then(&joint.pose)),
        axis1: next(),
        axis2: next(),
    }
}

fn axis_state(context: &Context<'_>, joint: usize, number: usize, axis: &sdf::Axis) -> Axis {
    let (cell, model) = (&*context.cell, context.model);
    Axis {
        xyz: axis.xyz.into(),
        position: cell.joint_position(model, joint, number),
        velocity: cell.joint_velocity(model, joint, number),
        force: cell.joint_force(model, joint, number),
        limit_lower: axis.lower,
        limit_upper: axis.upper,
        limit_effort: axis.effort,
        limit_velocity: axis.velocity,
        damping: axis.damping,
        friction: axis.friction,
    }
}
