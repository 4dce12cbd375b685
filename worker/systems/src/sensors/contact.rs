//! `contact`: what some collisions of a link touch. It says nothing while they touch nothing.
//! Source: SDFormat, `contact.sdf`; gz-sim, `contact/Contact.cc`.

use messages::Header;
use messages::motion::Wrench;
use messages::sensor::{Contact as Message, Contacts, Entity, JointWrench};
use physics::{CollisionRef, Contact, ContactPoint};
use sdf::World;

use super::mount::Mount;
use super::sensor_system::{Made, SensorModel};
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context};

/// SDFormat's text for a topic that follows from the sensor's name.
const DEFAULT_TOPIC: &str = "__default_topic__";

struct ContactSensor {
    topic: String,
    /// The indices of collisions of the link, ascending.
    collisions: Vec<usize>,
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    if plan.mount.joint.is_some() {
        return Err(ConfigureError("it belongs on a <link>".to_owned()));
    }
    let content = plan.sensor.content.child("contact");
    let content = content.ok_or_else(|| ConfigureError("it has no <contact>".to_owned()))?;
    let within = parameters::text(content, "topic").filter(|topic| topic != DEFAULT_TOPIC);
    let written = within.unwrap_or_else(|| plan.sensor.topic.clone());
    let topic = plan.topic_or(&written, "/contact");
    Ok(Made {
        publications: vec![TopicSpec::of::<Contacts>(&topic)],
        sensor_model: Box::new(ContactSensor {
            topic,
            collisions: collisions(plan, content)?,
        }),
    })
}

/// Finds the collisions that are named, perhaps with the names of link and model before theirs;
/// names of others are passed over, as in Gazebo.
fn collisions(plan: &SensorPlan<'_>, content: &sdf::Content) -> Result<Vec<usize>, ConfigureError> {
    let link = &plan.model.links[plan.mount.link];
    let elements = content.children().filter(|child| child.name == "collision");
    let names: Vec<String> = elements.map(sdf::Content::text).collect();
    let short = |name: &String| name.rsplit("::").next().map(|name| name.trim().to_owned());
    let short: Vec<String> = names.iter().filter_map(short).collect();
    let numbered = link.collisions.iter().enumerate();
    let found: Vec<usize> = numbered
        .filter(|(_, collision)| short.contains(&collision.name))
        .map(|(index, _)| index)
        .collect();
    if found.is_empty() {
        return Err(ConfigureError(format!(
            "its link has no collision of the names in <contact>: {names:?}"
        )));
    }
    Ok(found)
}

impl SensorModel for ContactSensor {
    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let found = context
            .cell
            .contacts(context.model, Some((mount.link, None)));
        let meant = |contact: &&Contact| self.collisions.contains(&contact.own.collision);
        let contacts = found.iter().filter(meant);
        let contact: Vec<Message> = contacts
            .map(|contact| message(contact, context.world(), &header))
            .collect();
        if !contact.is_empty() {
            context.publish(&self.topic, &Contacts { header, contact });
        }
    }
}

fn message(contact: &Contact, world: &World, header: &Header) -> Message {
    let entity = |collision: &CollisionRef| Entity {
        name: collision.name(world),
        r#type: "COLLISION".to_owned(),
        ..Entity::default()
    };
    let (own, other) = (entity(&contact.own), entity(&contact.other));
    let points = &contact.points;
    let wrench = |point: &ContactPoint| JointWrench {
        body_1_name: own.name.clone(),
        body_2_name: other.name.clone(),
        body_1_wrench: force(point.force),
        body_2_wrench: force(point.force.map(|part| -part)),
    };
    Message {
        header: header.clone(),
        position: points.iter().map(|point| point.position.into()).collect(),
        normal: points.iter().map(|point| point.normal.into()).collect(),
        depth: points.iter().map(|point| point.depth).collect(),
        wrench: points.iter().map(wrench).collect(),
        collision1: own.clone(),
        collision2: other.clone(),
    }
}

fn force(newtons: [f64; 3]) -> Wrench {
    Wrench {
        force: newtons.into(),
        ..Wrench::default()
    }
}
