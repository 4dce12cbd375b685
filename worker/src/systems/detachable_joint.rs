//! `DetachableJoint`: holds a link of another model to one of its own, and lets it go when told.
//!
//! Source: gz-sim, `detachable_joint/DetachableJoint.hh`. What it asks for is done in the next step;
//! until a child that is yet to come is there, it waits.

use messages::{Empty, StringMsg};
use protocol::{Command, TopicMessage};
use sdf::World;
use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The name of a child that means the model itself.
const OWN_MODEL: &str = "__model__";

struct DetachableJoint {
    scope: String,
    /// `MODEL::LINK` that holds, as commands name it.
    parent: String,
    /// What names of models begin with in commands.
    prefix: String,
    child_model: String,
    child_link: String,
    state_topic: String,
    warns: bool,
    memory: Memory,
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    /// `MODEL::LINK` that is held.
    held: Option<String>,
    is_attach_wanted: bool,
    is_detach_wanted: bool,
    has_warned: bool,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let model = configuration.model()?;
    let needed = |name: &str| {
        let missing = || ConfigureError(format!("<{name}> is missing"));
        configuration.text(name).ok_or_else(missing)
    };
    let parent = configuration.link(&needed("parent_link")?)?;
    let child_model = needed("child_model")?;
    let child_link = needed("child_link")?;
    let path = configuration.model_path();
    let topic = |names: &[&str], default: String| {
        let given = names.iter().find_map(|name| configuration.text(name));
        configuration.topic(&given.unwrap_or(default))
    };
    let detach = topic(
        &["detach_topic", "topic"],
        format!("/model/{path}/detachable_joint/detach"),
    );
    let attach = topic(
        &["attach_topic"],
        format!("/model/{path}/detachable_joint/attach"),
    );
    let state = topic(
        &["output_topic"],
        format!("/model/{child_model}/detachable_joint/state"),
    );
    let prefix = configuration.command_prefix();
    Ok(Configured {
        system: Box::new(DetachableJoint {
            scope: configuration.scope.to_owned(),
            parent: format!("{prefix}{}::{}", model.name, model.links[parent].name),
            prefix,
            child_model,
            child_link,
            state_topic: state.clone(),
            warns: !configuration.flag("suppress_child_warning", false)?,
            memory: Memory {
                is_attach_wanted: configuration.flag("initial_attach", true)?,
                ..Memory::default()
            },
        }),
        hears: vec![
            TopicSpec::of::<Empty>(detach),
            TopicSpec::of::<Empty>(attach),
        ],
        tells: vec![TopicSpec::of::<StringMsg>(state)],
    })
}

impl System for DetachableJoint {
    fn on_message(&mut self, input: usize, _: &TopicMessage, _: &mut Context<'_>) {
        match (input, &self.memory.held) {
            (0, Some(_)) => self.memory.is_detach_wanted = true,
            (1, None) => self.memory.is_attach_wanted = true,
            _ => {}
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        if self.memory.held.is_none() && self.memory.is_attach_wanted {
            match self.find_child(context.world(), context.model.index) {
                Some(child) => self.attach(child, context),
                None => self.warn(),
            }
        }
        if self.memory.is_detach_wanted
            && let Some(child) = self.memory.held.take()
        {
            self.memory.is_detach_wanted = false;
            context.request(Command::Detach {
                parent: self.parent.clone(),
                child,
            });
            self.tell("detached", context);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.memory)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.memory, bytes)
    }
}

impl DetachableJoint {
    fn attach(&mut self, child: String, context: &mut Context<'_>) {
        self.memory.is_attach_wanted = false;
        self.memory.is_detach_wanted = false;
        context.request(Command::Attach {
            parent: self.parent.clone(),
            child: child.clone(),
        });
        self.memory.held = Some(child);
        self.tell("attached", context);
    }

    fn tell(&self, state: &str, context: &mut Context<'_>) {
        let message = StringMsg {
            header: context.header(),
            data: state.to_owned(),
        };
        context.publish(&self.state_topic, &message);
    }

    fn warn(&mut self) {
        if self.warns && !self.memory.has_warned {
            self.memory.has_warned = true;
            tracing::warn!(
                parent = self.parent,
                model = self.child_model,
                link = self.child_link,
                "there is nothing yet to be attached"
            );
        }
    }

    /// Returns the child as commands name it. A name that several models have means one within the
    /// own model.
    fn find_child(&self, world: &World, own: usize) -> Option<String> {
        let mut scopes = self.child_scopes(world, own);
        if scopes.len() > 1 {
            let own = format!("{}::{}", world.models[own].name, self.scope);
            scopes.retain(|(model, scope)| {
                let full = format!("{}::{scope}", world.models[*model].name);
                full.starts_with(&own)
            });
        }
        let mut links = scopes.into_iter().filter_map(|(model, scope)| {
            let description = &world.models[model];
            let name = format!("{scope}{}", self.child_link);
            let is_there = description.links.iter().any(|link| link.name == name);
            is_there.then(|| format!("{}{}::{name}", self.prefix, description.name))
        });
        links.next()
    }

    /// Returns the models that are named as the child is, with their scopes within top-level
    /// models.
    fn child_scopes(&self, world: &World, own: usize) -> Vec<(usize, String)> {
        if self.child_model == OWN_MODEL {
            return vec![(own, self.scope.clone())];
        }
        let wanted = self.child_model.as_str();
        let mut scopes = Vec::new();
        for (index, model) in world.models.iter().enumerate() {
            if model.name == wanted {
                scopes.push((index, String::new()));
            }
            for nested in &model.nested {
                let is_own_name = nested.name.rsplit("::").next() == Some(wanted);
                let is_full_name = wanted
                    .strip_prefix(&model.name)
                    .and_then(|rest| rest.strip_prefix("::"))
                    .is_some_and(|rest| rest == nested.name);
                if nested.name == wanted || is_own_name || is_full_name {
                    scopes.push((index, format!("{}::", nested.name)));
                }
            }
        }
        scopes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::rehearsal::Rehearsal;

    fn world(child: &str, parameters: &str) -> Rehearsal {
        let free = "<gravity>false</gravity>";
        Rehearsal::new(&format!(
            "<model name='tractor'><link name='hook'>{free}</link>\
             <plugin name='gz::sim::systems::DetachableJoint' filename='none'>\
             <parent_link>hook</parent_link><child_model>{child}</child_model>\
             <child_link>bar</child_link>{parameters}</plugin></model>\
             <model name='trailer'><pose>2 0 0 0 0 0</pose><link name='bar'>{free}</link></model>"
        ))
    }

    fn states(rehearsal: &Rehearsal, topic: &str) -> Vec<String> {
        let said = rehearsal.said::<StringMsg>(topic);
        said.into_iter().map(|message| message.data).collect()
    }

    fn link(name: &str) -> String {
        name.to_owned()
    }

    #[test]
    fn it_holds_from_the_start_and_lets_go_and_takes_again_when_told() {
        let mut rehearsal = world("trailer", "");
        let state = "/model/trailer/detachable_joint/state";
        let attach = "/model/tractor/detachable_joint/attach";
        let detach = "/model/tractor/detachable_joint/detach";
        rehearsal.run(0.003);
        rehearsal.say(attach, &Empty::default());
        rehearsal.run(0.003);
        assert_eq!(states(&rehearsal, state), ["attached"]);
        rehearsal.travel();
        rehearsal.say(detach, &Empty::default());
        rehearsal.run(0.003);
        rehearsal.say(detach, &Empty::default());
        rehearsal.run(0.003);
        assert_eq!(states(&rehearsal, state), ["attached", "detached"]);
        rehearsal.say(attach, &Empty::default());
        rehearsal.run(0.003);
        let (parent, child) = (link("tractor::hook"), link("trailer::bar"));
        let attached = Command::Attach {
            parent: parent.clone(),
            child: child.clone(),
        };
        let detached = Command::Detach { parent, child };
        let expected = [attached.clone(), detached, attached];
        assert_eq!(rehearsal.requests, expected);
    }

    #[test]
    fn topics_may_be_given_and_it_may_begin_without_holding() {
        let topics = "<attach_topic>/t/attach</attach_topic><topic>/t/detach</topic>\
                      <output_topic>/t/state</output_topic><initial_attach>false</initial_attach>";
        let mut rehearsal = world("trailer", topics);
        rehearsal.say("/t/detach", &Empty::default());
        rehearsal.run(0.003);
        assert!(rehearsal.requests.is_empty());
        rehearsal.say("/t/attach", &Empty::default());
        rehearsal.run(0.003);
        rehearsal.say("/t/detach", &Empty::default());
        rehearsal.run(0.003);
        assert_eq!(states(&rehearsal, "/t/state"), ["attached", "detached"]);
    }

    #[test]
    fn it_waits_for_a_child_that_is_not_there() {
        let mut rehearsal = world(
            "nobody",
            "<suppress_child_warning>true</suppress_child_warning>",
        );
        rehearsal.run(0.01);
        assert!(rehearsal.requests.is_empty());
    }

    #[test]
    fn a_child_within_the_own_model_is_found_by_its_name() {
        let mut rehearsal = Rehearsal::new(
            "<model name='arm'><link name='hand'/>\
             <model name='tool'><link name='grip'/></model>\
             <joint name='j' type='fixed'><parent>hand</parent><child>tool::grip</child></joint>\
             <plugin name='gz::sim::systems::DetachableJoint' filename='none'>\
             <parent_link>hand</parent_link><child_model>tool</child_model>\
             <child_link>grip</child_link></plugin></model>",
        );
        rehearsal.run(0.001);
        let expected = Command::Attach {
            parent: link("arm::hand"),
            child: link("arm::tool::grip"),
        };
        assert_eq!(rehearsal.requests, [expected]);
    }
}
