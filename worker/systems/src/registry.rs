//! Makes the systems and sensors that worlds attach, by the table [`crate::SYSTEMS`].

use std::cell::RefCell;

use protocol::report::{StartWarning, StartWarningKind, TopicReport};
use sdf::{Content, Plugin, World};

use super::configuration::{Configuration, ConfigureError};
use super::{SYSTEMS, System, WorldSystem};
use crate::sensors;

/// A system that is made, with the topics that it listens to and publishes on.
pub struct Configured<S: ?Sized> {
    /// The system.
    pub system: Box<S>,
    /// Topics that it subscribes to; messages come with their place in this list.
    pub subscriptions: Vec<TopicSpec>,
    /// Topics that it publishes on.
    pub publications: Vec<TopicSpec>,
}

/// A topic with the kind of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// Its full name.
    pub topic: String,
    /// The name of the kind: `gz.msgs.Twist`.
    pub kind: &'static str,
}

impl TopicSpec {
    /// Makes the topic of a message.
    pub fn of<M: messages::Message>(topic: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            kind: M::KIND,
        }
    }
}

/// Constructors of a system.
pub(crate) enum Make {
    /// For a world.
    World(MakeForWorld),
    /// For a model.
    Model(MakeForModel),
    /// For a model or a world.
    Either(MakeForModel, MakeForWorld),
    /// It is a part of what every run does anyway.
    BuiltIn,
}

pub(crate) type MakeForModel =
    fn(&Configuration<'_>) -> Result<Configured<dyn System>, ConfigureError>;
pub(crate) type MakeForWorld =
    fn(&Configuration<'_>) -> Result<Configured<dyn WorldSystem>, ConfigureError>;

/// The namespaces that names of systems are in.
const NAMESPACES: [&str; 2] = ["gz::sim::systems::", "ignition::gazebo::systems::"];

/// A system of a model, at work.
pub struct Member {
    /// The system.
    pub configured: Configured<dyn System>,
    /// For people: `DiffDrive`, `lidar`.
    pub name: String,
    /// True if it is a sensor: it looks at a step after all systems have.
    pub is_sensor: bool,
}

/// Survey of the systems and sensors of worlds: topics for people, and problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The topics of systems and sensors, by name.
    pub topics: Vec<TopicReport>,
    /// Systems and sensors that are not there or cannot be made, once by name.
    pub problems: Vec<StartWarning>,
}

/// Makes the systems and sensors of a model: plugins in file order, those of nested models after
/// their own, then sensors in the order of links and joints. The place in the list is the part's
/// number for good.
pub fn members_of_model(
    world: &World,
    has_siblings: bool,
    index: usize,
    problems: &mut Vec<StartWarning>,
) -> Vec<Member> {
    let model = &world.models[index];
    let mut members = Vec::new();
    let mut add = |plugins: &[Plugin], scope: &str| {
        for plugin in plugins {
            let notes = RefCell::default();
            let configuration = Configuration {
                world,
                has_siblings,
                model: Some(model),
                scope,
                plugin,
                notes: &notes,
            };
            let mut tell = |what: &dyn std::fmt::Display| {
                let name = &plugin.name;
                let message = format!("system {name} of model {}: {what}", model.name);
                problems.push(warning(StartWarningKind::System, message, &plugin.content));
            };
            match make(&configuration) {
                Ok(Some(Made::Model(configured))) => members.push(Member {
                    configured,
                    name: short_name(plugin).to_owned(),
                    is_sensor: false,
                }),
                Ok(Some(Made::World(_))) => tell(&"it belongs into a <world>"),
                Ok(None) => {}
                Err(error) => tell(&error),
            }
            for note in notes.take() {
                tell(&note);
            }
        }
    };
    add(&model.plugins, "");
    for nested in &model.nested {
        add(&nested.plugins, &format!("{}::", nested.name));
    }
    let system_count = members.len();
    sensors::add_members(world, has_siblings, index, &mut members, problems);
    for member in &mut members[system_count..] {
        member.is_sensor = true;
    }
    members
}

/// Makes the systems of a world, in file order.
pub fn members_of_world(
    world: &World,
    has_siblings: bool,
    problems: &mut Vec<StartWarning>,
) -> Vec<(String, Configured<dyn WorldSystem>)> {
    let mut members = Vec::new();
    for plugin in &world.plugins {
        let mut tell = |what: &dyn std::fmt::Display| {
            let message = format!("system {} of world {}: {what}", plugin.name, world.name);
            problems.push(warning(StartWarningKind::System, message, &plugin.content));
        };
        let configuration = Configuration {
            world,
            has_siblings,
            model: None,
            scope: "",
            plugin,
            notes: &RefCell::default(),
        };
        match make(&configuration) {
            Ok(Some(Made::World(configured))) => {
                members.push((short_name(plugin).to_owned(), configured));
            }
            Ok(Some(Made::Model(_))) => tell(&"it belongs into a <model>"),
            Ok(None) => {}
            Err(error) => tell(&error),
        }
    }
    members
}

/// Makes the warning of a system or sensor, of which this is the element.
pub(crate) fn warning(kind: StartWarningKind, message: String, content: &Content) -> StartWarning {
    let place = content.place.place();
    StartWarning {
        kind,
        message,
        place: place.map(|place| (place.file.to_string(), place.line, place.column)),
    }
}

/// Looks through worlds for topics and problems.
pub fn survey(worlds: &[World]) -> Survey {
    let mut survey = Survey::default();
    let has_siblings = worlds.len() > 1;
    for world in worlds {
        for (name, member) in members_of_world(world, has_siblings, &mut survey.problems) {
            let who = format!("{}: {name}", world.name);
            survey.note(&who, &member.subscriptions, &member.publications);
        }
        for index in 0..world.models.len() {
            survey.add_model(world, has_siblings, index);
        }
    }
    let mut told = std::collections::BTreeSet::new();
    survey
        .problems
        .retain(|problem| told.insert(problem.message.clone()));
    survey
}

impl Survey {
    /// Adds what a model attaches, by its index in the world.
    pub fn add_model(&mut self, world: &World, has_siblings: bool, index: usize) {
        for member in members_of_model(world, has_siblings, index, &mut self.problems) {
            let who = format!("{}: {}", world.models[index].name, member.name);
            self.note(
                &who,
                &member.configured.subscriptions,
                &member.configured.publications,
            );
        }
    }

    /// Takes away what a model attached, by its index in the world, and topics that nothing is left
    /// at.
    pub fn remove_model(&mut self, world: &World, has_siblings: bool, index: usize) {
        for member in members_of_model(world, has_siblings, index, &mut Vec::new()) {
            let who = format!("{}: {}", world.models[index].name, member.name);
            let (subscriptions, publications) = (
                &member.configured.subscriptions,
                &member.configured.publications,
            );
            for (specs, is_publisher) in [(subscriptions, false), (publications, true)] {
                for spec in specs {
                    let entry = self.entry(spec);
                    let names = if is_publisher {
                        &mut entry.publishers
                    } else {
                        &mut entry.subscribers
                    };
                    if let Some(place) = names.iter().position(|name| *name == who) {
                        names.remove(place);
                    }
                }
            }
        }
        self.topics
            .retain(|one| !one.publishers.is_empty() || !one.subscribers.is_empty());
    }

    fn note(&mut self, who: &str, subscriptions: &[TopicSpec], publications: &[TopicSpec]) {
        for (list, is_publisher) in [(subscriptions, false), (publications, true)] {
            for spec in list {
                let entry = self.entry(spec);
                let names = if is_publisher {
                    &mut entry.publishers
                } else {
                    &mut entry.subscribers
                };
                names.push(who.to_owned());
            }
        }
    }

    fn entry(&mut self, spec: &TopicSpec) -> &mut TopicReport {
        let key = (spec.topic.as_str(), spec.kind);
        let found = self
            .topics
            .binary_search_by(|one| (one.topic.as_str(), one.kind.as_str()).cmp(&key));
        let place = found.unwrap_or_else(|place| {
            self.topics.insert(
                place,
                TopicReport {
                    topic: spec.topic.clone(),
                    kind: spec.kind.to_owned(),
                    ..TopicReport::default()
                },
            );
            place
        });
        &mut self.topics[place]
    }
}

enum Made {
    Model(Configured<dyn System>),
    World(Configured<dyn WorldSystem>),
}

/// Makes a system; those that are not here, and that the reader of the world has told of, are none.
fn make(configuration: &Configuration<'_>) -> Result<Option<Made>, ConfigureError> {
    let name = short_name(configuration.plugin);
    let found = SYSTEMS.iter().find(|(known, _)| *known == name);
    let Some((_, make)) = found else {
        return Ok(None);
    };
    match make {
        Make::World(configure) => configure(configuration).map(|made| Some(Made::World(made))),
        Make::Either(_, configure) if configuration.model.is_none() => {
            configure(configuration).map(|made| Some(Made::World(made)))
        }
        Make::Model(configure) | Make::Either(configure, _) => {
            configure(configuration).map(|made| Some(Made::Model(made)))
        }
        Make::BuiltIn => Ok(None),
    }
}

/// Returns the name of a system without its namespace.
fn short_name(plugin: &Plugin) -> &str {
    let name = plugin.name.as_str();
    let mut short = NAMESPACES
        .iter()
        .filter_map(|space| name.strip_prefix(space));
    short.next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_of_worlds_knows_these_systems_and_no_others() {
        let names = SYSTEMS.iter().map(|(name, _)| *name);
        let of_systems: Vec<&str> = names.filter(|name| !name.contains("::")).collect();
        assert_eq!(of_systems, sdf::SYSTEMS);
    }
}
