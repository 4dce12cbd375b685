//! `PosePublisher`: the poses of a model, its links, and what is on them.
//!
//! Each pose is in the frame of what it is on. Source: gz-sim, `pose_publisher/PosePublisher.hh`.

use messages::geometry::{Pose, PoseV};
use sdf::JointKind;

use super::joint_state_publisher::pose_message;
use super::schedule::Schedule;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct PosePublisher {
    entries: Vec<Entry>,
    /// True if all poses of a step are in one message.
    as_vector: bool,
    topic: String,
    schedule: Schedule,
    /// Topic and schedule of poses that do not change, if not with the others.
    apart: Option<(String, Schedule)>,
}

/// Something that has a pose.
struct Entry {
    what: What,
    /// The names of what it is on, and of itself.
    names: [String; 2],
    changes: bool,
}

impl Entry {
    fn new(what: What, names: [String; 2], changes: bool) -> Self {
        Self {
            what,
            names,
            changes,
        }
    }
}

enum What {
    /// The model, world frame.
    Model,
    /// A model within it, in the frame of the one around it.
    Nested(Body, Body),
    /// A link, in the frame of its model.
    Link(usize, Body),
    /// A part that stays where it is on a link.
    Part(sdf::Pose),
}

/// A model, by a link and the pose that it has on it.
#[derive(Clone, Copy)]
struct Body(usize, sdf::Pose);

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let path = configuration.model_path();
    let topic = configuration.topic(&format!("/model/{path}/pose"));
    let apart_topic = format!("{topic}_static");
    let frequency = configuration.number("update_frequency", -1.0)?;
    let apart = if configuration.flag("static_publisher", false)? {
        let schedule = Schedule::read(configuration, "static_update_frequency", frequency)?;
        Some((apart_topic, schedule))
    } else {
        None
    };
    let as_vector = configuration.flag("use_pose_vector_msg", false)?;
    let spec = |topic: &str| {
        if as_vector {
            TopicSpec::of::<PoseV>(topic)
        } else {
            TopicSpec::of::<Pose>(topic)
        }
    };
    let topics = [Some(&topic), apart.as_ref().map(|(topic, _)| topic)];
    let publications = topics.into_iter().flatten().map(|topic| spec(topic));
    Ok(Configured {
        subscriptions: Vec::new(),
        publications: publications.collect(),
        system: Box::new(PosePublisher {
            entries: entries(configuration)?,
            as_vector,
            topic,
            schedule: Schedule::of_frequency(frequency),
            apart,
        }),
    })
}

/// Lists what has a pose to publish, models before links, in file order.
fn entries(configuration: &Configuration<'_>) -> Result<Vec<Entry>, ConfigureError> {
    let model = configuration.model()?;
    let flag = |name: &str, default| configuration.flag(name, default);
    let links = flag("publish_link_pose", true)?;
    let nested = flag("publish_nested_model_pose", false)?;
    let itself = flag("publish_model_pose", nested)?;
    let [visuals, collisions, sensors] = [
        flag("publish_visual_pose", false)?,
        flag("publish_collision_pose", false)?,
        flag("publish_sensor_pose", false)?,
    ];
    let scope = configuration.scope;
    let full = |name: &str| format!("{}::{name}", model.name);
    let around = |name: &str| match name.rsplit_once("::") {
        Some((outer, _)) => full(outer),
        None => model.name.clone(),
    };
    let mut entries = Vec::new();
    let mut add = |what, frame: String, child: String, changes| {
        entries.push(Entry::new(what, [frame, child], changes));
    };
    if scope.is_empty() && itself {
        let world = configuration.world.name.clone();
        add(What::Model, world, model.name.clone(), true);
    }
    for inner in model.nested.iter().filter(|_| nested) {
        let own = scope.trim_end_matches("::");
        if inner.name == own || inner.name.starts_with(scope) {
            let outer = body(model, inner.name.rsplit_once("::").map(|(outer, _)| outer));
            let what = What::Nested(body(model, Some(&inner.name)), outer);
            add(what, around(&inner.name), full(&inner.name), false);
        }
    }
    for (index, link) in model.links.iter().enumerate() {
        if !link.name.starts_with(scope) {
            continue;
        }
        let name = full(&link.name);
        if links {
            let outer = body(model, link.name.rsplit_once("::").map(|(outer, _)| outer));
            let changes = moves(model, index);
            add(
                What::Link(index, outer),
                around(&link.name),
                name.clone(),
                changes,
            );
        }
        let mut part = |own: &str, pose| {
            add(
                What::Part(pose),
                name.clone(),
                format!("{name}::{own}"),
                false,
            );
        };
        for visual in link.visuals.iter().filter(|_| visuals) {
            part(&visual.name, visual.pose);
        }
        for collision in link.collisions.iter().filter(|_| collisions) {
            part(&collision.name, collision.pose);
        }
        for sensor in link.sensors.iter().filter(|_| sensors) {
            part(&sensor.name, sensor.pose);
        }
    }
    Ok(entries)
}

/// Returns where a nested model is, by its name; the whole one without.
fn body(model: &sdf::Model, nested: Option<&str>) -> Body {
    let mut inner = model.nested.iter();
    let found = nested.and_then(|name| inner.find(|inner| inner.name == name));
    let (link, pose) = match found {
        Some(found) => (found.canonical_link, found.pose),
        None => (None, model.pose),
    };
    let link = link.unwrap_or(model.canonical_link);
    let at = model.links.get(link).map_or(pose, |at| at.pose);
    Body(link, at.inverse().then(&pose))
}

/// Tells whether a joint lets a link move that is not the canonical one.
fn moves(model: &sdf::Model, link: usize) -> bool {
    let holds = |joint: &sdf::Joint| {
        let is_parent = matches!(joint.parent, sdf::JointParent::Link(parent) if parent == link);
        is_parent || joint.child == link
    };
    let mut joints = model.joints.iter();
    link != model.canonical_link
        && joints.any(|joint| !matches!(joint.kind, JointKind::Fixed) && holds(joint))
}

impl PosePublisher {
    fn publish(&self, topic: &str, which: impl Fn(&Entry) -> bool, context: &mut Context<'_>) {
        if !context.is_wanted(topic) {
            return;
        }
        let chosen = self.entries.iter().filter(|entry| which(entry));
        let poses: Vec<Pose> = chosen.map(|entry| message(entry, context)).collect();
        if self.as_vector {
            let header = context.header();
            context.publish(
                topic,
                &PoseV {
                    header,
                    pose: poses,
                },
            );
            return;
        }
        for pose in poses {
            context.publish(topic, &pose);
        }
    }
}

fn message(entry: &Entry, context: &Context<'_>) -> Pose {
    let (cell, model) = (&*context.cell, context.model);
    let place = |Body(link, pose): Body| cell.link_pose(model, link).then(&pose);
    let pose = match &entry.what {
        What::Model => cell.model_pose(model),
        What::Nested(own, outer) => place(*outer).inverse().then(&place(*own)),
        What::Link(link, outer) => place(*outer).inverse().then(&cell.link_pose(model, *link)),
        What::Part(pose) => *pose,
    };
    let [frame, child] = &entry.names;
    let header = context.header().with("frame_id", frame);
    Pose {
        header: header.with("child_frame_id", child),
        name: child.clone(),
        ..pose_message(&pose)
    }
}

impl System for PosePublisher {
    fn after_step(&mut self, context: &mut Context<'_>) {
        if let Some((topic, schedule)) = &self.apart
            && schedule.is_due(&context.time)
        {
            self.publish(topic, |entry| !entry.changes, context);
        }
        if self.schedule.is_due(&context.time) {
            let all = self.apart.is_none();
            self.publish(&self.topic, |entry| all || entry.changes, context);
        }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut (), bytes)
    }
}
