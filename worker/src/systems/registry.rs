//! The table of all systems, and what worlds attach of them.

use std::collections::BTreeMap;

use protocol::report::TopicReport;
use sdf::{Plugin, World};

use super::configuration::{Configuration, ConfigureError};
use super::{
    System, WorldSystem, apply_link_wrench, buoyancy, hydrodynamics, kinetic_energy_monitor,
    lift_drag, linear_battery, multicopter_motor_model, multicopter_velocity_control, thruster,
    velocity_control, wind_effects,
};
use crate::sensors;

/// A system that is made, with the topics that it listens to and publishes on.
pub struct Configured<S: ?Sized> {
    /// The system.
    pub system: Box<S>,
    /// What it listens to; messages come with their place in this list.
    pub hears: Vec<TopicSpec>,
    /// What it publishes.
    pub tells: Vec<TopicSpec>,
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

/// How a system is made.
enum Make {
    /// For a model.
    Model(fn(&Configuration<'_>) -> Result<Configured<dyn System>, ConfigureError>),
    /// For a world.
    World(fn(&Configuration<'_>) -> Result<Configured<dyn WorldSystem>, ConfigureError>),
    /// It is a part of what every run does anyway.
    BuiltIn,
}

/// The systems by the last part of their names in Gazebo (`gz::sim::systems::NAME`, and the older
/// `ignition::gazebo::systems::NAME`), in order.
const SYSTEMS: &[(&str, Make)] = &[
    ("AirPressure", Make::BuiltIn),
    ("AirSpeed", Make::BuiltIn),
    ("Altimeter", Make::BuiltIn),
    ("ApplyLinkWrench", Make::World(apply_link_wrench::configure)),
    ("Buoyancy", Make::World(buoyancy::configure)),
    ("Contact", Make::BuiltIn),
    ("ForceTorque", Make::BuiltIn),
    ("Hydrodynamics", Make::Model(hydrodynamics::configure)),
    ("Imu", Make::BuiltIn),
    (
        "KineticEnergyMonitor",
        Make::Model(kinetic_energy_monitor::configure),
    ),
    ("LiftDrag", Make::Model(lift_drag::configure)),
    (
        "LinearBatteryPlugin",
        Make::Model(linear_battery::configure),
    ),
    ("LogicalCamera", Make::BuiltIn),
    ("Magnetometer", Make::BuiltIn),
    (
        "MulticopterMotorModel",
        Make::Model(multicopter_motor_model::configure),
    ),
    (
        "MulticopterVelocityControl",
        Make::Model(multicopter_velocity_control::configure),
    ),
    ("NavSat", Make::BuiltIn),
    ("Physics", Make::BuiltIn),
    ("SceneBroadcaster", Make::BuiltIn),
    ("Sensors", Make::BuiltIn),
    ("Thruster", Make::Model(thruster::configure)),
    ("UserCommands", Make::BuiltIn),
    ("VelocityControl", Make::Model(velocity_control::configure)),
    ("WindEffects", Make::World(wind_effects::configure)),
];

/// The namespaces that names of systems are in.
const NAMESPACES: [&str; 2] = ["gz::sim::systems::", "ignition::gazebo::systems::"];

/// A system of a model, at work.
pub struct Member {
    /// The system.
    pub configured: Configured<dyn System>,
    /// For people: `DiffDrive`, `lidar`.
    pub name: String,
}

/// What worlds attach: topics for people, and what cannot be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The topics of systems and sensors, by name.
    pub topics: Vec<TopicReport>,
    /// Systems and sensors that are not there or cannot be made, once by name.
    pub problems: Vec<String>,
}

/// Makes the systems and sensors of a model: plugins in file order, those of nested models after
/// their own, then sensors in the order of links and joints. The place in the list is the part's
/// number for good.
pub fn members_of_model(
    world: &World,
    has_siblings: bool,
    index: usize,
    problems: &mut Vec<String>,
) -> Vec<Member> {
    let model = &world.models[index];
    let mut members = Vec::new();
    let mut add = |plugins: &[Plugin], scope: &str| {
        for plugin in plugins {
            let configuration = Configuration {
                world,
                has_siblings,
                model: Some(model),
                scope,
                plugin,
            };
            match make(&configuration) {
                Ok(Some(Made::Model(configured))) => members.push(Member {
                    configured,
                    name: short_name(plugin).to_owned(),
                }),
                Ok(Some(Made::World(_))) => problems.push(format!(
                    "system {} of model {}: it belongs into a <world>",
                    plugin.name, model.name
                )),
                Ok(None) => {}
                Err(Unmade::Unknown) => problems.push(unknown(plugin)),
                Err(Unmade::Wrong(error)) => problems.push(format!(
                    "system {} of model {}: {error}",
                    plugin.name, model.name
                )),
            }
        }
    };
    add(&model.plugins, "");
    for nested in &model.nested {
        add(&nested.plugins, &format!("{}::", nested.name));
    }
    sensors::add_members(world, has_siblings, index, &mut members, problems);
    members
}

/// Makes the systems of a world, in file order.
pub fn members_of_world(
    world: &World,
    has_siblings: bool,
    problems: &mut Vec<String>,
) -> Vec<(String, Configured<dyn WorldSystem>)> {
    let mut members = Vec::new();
    for plugin in &world.plugins {
        let configuration = Configuration {
            world,
            has_siblings,
            model: None,
            scope: "",
            plugin,
        };
        match make(&configuration) {
            Ok(Some(Made::World(configured))) => {
                members.push((short_name(plugin).to_owned(), configured));
            }
            Ok(Some(Made::Model(_))) => problems.push(format!(
                "system {} of world {}: it belongs into a <model>",
                plugin.name, world.name
            )),
            Ok(None) => {}
            Err(Unmade::Unknown) => problems.push(unknown(plugin)),
            Err(Unmade::Wrong(error)) => problems.push(format!(
                "system {} of world {}: {error}",
                plugin.name, world.name
            )),
        }
    }
    members
}

/// Looks through worlds for topics and problems.
pub fn survey(worlds: &[World]) -> Survey {
    let mut survey = Survey::default();
    let mut topics: BTreeMap<(String, &str), TopicReport> = BTreeMap::new();
    let has_siblings = worlds.len() > 1;
    let mut note = |who: &str, hears: &[TopicSpec], tells: &[TopicSpec]| {
        for (list, is_publisher) in [(hears, false), (tells, true)] {
            for spec in list {
                let entry = topics.entry((spec.topic.clone(), spec.kind)).or_default();
                entry.topic.clone_from(&spec.topic);
                spec.kind.clone_into(&mut entry.kind);
                let names = if is_publisher {
                    &mut entry.publishers
                } else {
                    &mut entry.subscribers
                };
                names.push(who.to_owned());
            }
        }
    };
    for world in worlds {
        for (name, member) in members_of_world(world, has_siblings, &mut survey.problems) {
            let who = format!("{}: {name}", world.name);
            note(&who, &member.hears, &member.tells);
        }
        for index in 0..world.models.len() {
            let problems = &mut survey.problems;
            for member in members_of_model(world, has_siblings, index, problems) {
                let who = format!("{}: {}", world.models[index].name, member.name);
                note(&who, &member.configured.hears, &member.configured.tells);
            }
        }
    }
    survey.topics = topics.into_values().collect();
    let mut told = std::collections::BTreeSet::new();
    survey
        .problems
        .retain(|problem| told.insert(problem.clone()));
    survey
}

enum Made {
    Model(Configured<dyn System>),
    World(Configured<dyn WorldSystem>),
}

enum Unmade {
    Unknown,
    Wrong(ConfigureError),
}

fn make(configuration: &Configuration<'_>) -> Result<Option<Made>, Unmade> {
    let name = short_name(configuration.plugin);
    let found = SYSTEMS.iter().find(|(known, _)| *known == name);
    let (_, make) = found.ok_or(Unmade::Unknown)?;
    match make {
        Make::Model(configure) => configure(configuration).map(|made| Some(Made::Model(made))),
        Make::World(configure) => configure(configuration).map(|made| Some(Made::World(made))),
        Make::BuiltIn => Ok(None),
    }
    .map_err(Unmade::Wrong)
}

/// Returns the name of a system without its namespace.
fn short_name(plugin: &Plugin) -> &str {
    let name = plugin.name.as_str();
    let mut short = NAMESPACES
        .iter()
        .filter_map(|space| name.strip_prefix(space));
    short.next().unwrap_or(name)
}

fn unknown(plugin: &Plugin) -> String {
    format!(
        "system {:?} ({}) is not known and does nothing",
        plugin.name, plugin.filename
    )
}
