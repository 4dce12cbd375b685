//! `DetachableJoint`: holds a link of another model to one of its own, and lets it go when told.
//!
//! Source: gz-sim, `detachable_joint/DetachableJoint.hh`. What it asks for is done before the next
//! step, and told once it is. A child that is yet to come is waited for; one within the own model
//! is refused, since a model's links are held by its joints alone.

use messages::{Empty, StringMsg};
use protocol::{Command, TopicMessage};
use sdf::{LinkReference, World};
use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError, Configured, Context, GoneModel, System, TopicSpec};

/// The name of a child that means the model itself.
const OWN_MODEL: &str = "__model__";

/// Time that a request may take until it counts as refused \[ns\].
const PATIENCE_NS: u64 = 50_000_000;

struct DetachableJoint {
    /// The link that holds.
    parent: usize,
    /// Prefix of names of models in commands.
    prefix: String,
    child_model: String,
    child_link: String,
    state_topic: String,
    warns: bool,
    saved: SavedState,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and not a state of one machine"
)]
#[derive(Default, Serialize, Deserialize)]
struct SavedState {
    state: State,
    is_attach_wanted: bool,
    is_detach_wanted: bool,
    has_warned: bool,
    /// True if the model that it holds is gone, which is yet to be told.
    is_child_gone: bool,
}

/// The link that it holds: model and link. Pending requests have their elapsed time \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    #[default]
    Free,
    Taking([usize; 2], u64),
    Held([usize; 2]),
    LettingGo([usize; 2], u64),
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
    if model.is_static {
        let what = "its model never moves, and only models that move are attached";
        return Err(ConfigureError(what.to_owned()));
    }
    let found = scopes(configuration.world, &child_model);
    let is_own = |(index, _): &(usize, String)| {
        let other = &configuration.world.models[*index];
        other.name == model.name
    };
    if child_model == OWN_MODEL || (!found.is_empty() && found.iter().all(is_own)) {
        let what = format!("the child {child_model:?} is of its own model, whose joints hold it");
        return Err(ConfigureError(what));
    }
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
    Ok(Configured {
        system: Box::new(DetachableJoint {
            parent,
            prefix: configuration.command_prefix(),
            child_model,
            child_link,
            state_topic: state.clone(),
            warns: !configuration.flag("suppress_child_warning", false)?,
            saved: SavedState {
                is_attach_wanted: configuration.flag("initial_attach", true)?,
                ..SavedState::default()
            },
        }),
        subscriptions: vec![
            TopicSpec::of::<Empty>(detach),
            TopicSpec::of::<Empty>(attach),
        ],
        publications: vec![TopicSpec::of::<StringMsg>(state)],
    })
}

impl System for DetachableJoint {
    fn on_message(&mut self, input: usize, _: &TopicMessage, _: &mut Context<'_>) {
        match (input, self.saved.state) {
            (0, State::Held(_)) => self.saved.is_detach_wanted = true,
            (1, State::Free) => self.saved.is_attach_wanted = true,
            _ => {}
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let now = context.time.elapsed.0;
        let is_child_gone = std::mem::take(&mut self.saved.is_child_gone);
        match self.saved.state {
            State::Free => self.take(context),
            State::Held(_) | State::LettingGo(..) if is_child_gone => self.let_go(context),
            State::Taking(child, since) => {
                if self.holds(child, context) {
                    self.saved.state = State::Held(child);
                    self.tell("attached", context);
                } else if now.saturating_sub(since) > PATIENCE_NS {
                    self.saved.state = State::Free;
                    tracing::warn!(
                        parent = context.description().name,
                        child = self.child_model,
                        "the two could not be attached"
                    );
                }
            }
            State::LettingGo(child, since) if self.holds(child, context) => {
                if now.saturating_sub(since) > PATIENCE_NS {
                    self.saved.state = State::Held(child);
                }
            }
            State::Held(child) if self.holds(child, context) => {
                if std::mem::take(&mut self.saved.is_detach_wanted) {
                    let [parent, child_name] = self.names(child, context);
                    self.saved.state = State::LettingGo(child, now);
                    context.request(Command::Detach {
                        parent,
                        child: child_name,
                    });
                }
            }
            // By itself, by a command, or because the child is gone.
            State::Held(_) | State::LettingGo(..) => self.let_go(context),
        }
    }

    fn forget(&mut self, gone: &GoneModel<'_>) {
        let held = match self.saved.state {
            State::Held([model, _]) | State::LettingGo([model, _], _) => Some(model),
            State::Free | State::Taking(..) => None,
        };
        self.saved.is_child_gone |= held == Some(gone.model);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.saved)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.saved, bytes)
    }
}

impl DetachableJoint {
    fn let_go(&mut self, context: &mut Context<'_>) {
        self.saved.state = State::Free;
        self.saved.is_detach_wanted = false;
        self.tell("detached", context);
    }

    fn take(&mut self, context: &mut Context<'_>) {
        if !self.saved.is_attach_wanted {
            return;
        }
        let Some(child) = self.find_child(context.world()) else {
            return self.warn();
        };
        self.saved.is_attach_wanted = false;
        self.saved.state = State::Taking(child, context.time.elapsed.0);
        let [parent, child] = self.names(child, context);
        context.request(Command::Attach { parent, child });
    }

    fn holds(&self, [model, link]: [usize; 2], context: &Context<'_>) -> bool {
        let parent = LinkReference {
            model: context.model.index,
            link: self.parent,
        };
        context
            .cell
            .is_attached((parent, LinkReference { model, link }))
    }

    /// Returns the names of both links, as commands have them.
    fn names(&self, child: [usize; 2], context: &Context<'_>) -> [String; 2] {
        [[context.model.index, self.parent], child].map(|[model, link]| {
            let models = &context.world().models;
            let name = |found: Option<&sdf::Model>| {
                let model = found?;
                let link = model.links.get(link)?;
                Some(format!("{}{}::{}", self.prefix, model.name, link.name))
            };
            name(models.get(model)).unwrap_or_default()
        })
    }

    fn tell(&self, state: &str, context: &mut Context<'_>) {
        let message = StringMsg {
            header: context.header(),
            data: state.to_owned(),
        };
        context.publish(&self.state_topic, &message);
    }

    fn warn(&mut self) {
        if self.warns && !self.saved.has_warned {
            self.saved.has_warned = true;
            tracing::warn!(
                model = self.child_model,
                link = self.child_link,
                "there is nothing yet to be attached"
            );
        }
    }

    /// Returns the child's model and link; of several with its name, the last.
    fn find_child(&self, world: &World) -> Option<[usize; 2]> {
        let scopes = scopes(world, &self.child_model);
        let mut links = scopes.into_iter().rev().filter_map(|(model, scope)| {
            let name = format!("{scope}{}", self.child_link);
            let mut links = world.models[model].links.iter();
            let link = links.position(|link| link.name == name)?;
            Some([model, link])
        });
        links.next()
    }
}

/// Returns the models of a name, with their scopes within top-level models. Inner models are named
/// alone or with the names of those around them.
fn scopes(world: &World, wanted: &str) -> Vec<(usize, String)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    fn world(child: &str, parameters: &str) -> SystemTestRig {
        let free = "<gravity>false</gravity>";
        SystemTestRig::new(&format!(
            "<model name='tractor'><link name='hook'>{free}</link>\
             <plugin name='gz::sim::systems::DetachableJoint' filename='none'>\
             <parent_link>hook</parent_link><child_model>{child}</child_model>\
             <child_link>bar</child_link>{parameters}</plugin></model>\
             <model name='trailer'><pose>2 0 0 0 0 0</pose><link name='bar'>{free}</link></model>"
        ))
    }

    fn states(rig: &SystemTestRig, topic: &str) -> Vec<String> {
        let said = rig.published::<StringMsg>(topic);
        said.into_iter().map(|message| message.data).collect()
    }

    fn link(name: &str) -> String {
        name.to_owned()
    }

    #[test]
    fn a_child_that_is_gone_is_let_go_whoever_gets_its_number() {
        let mut rig = world("trailer", "");
        let state = "/model/trailer/detachable_joint/state";
        rig.run(0.01);
        assert_eq!(states(&rig, state), ["attached"]);
        let other = "<model name='trailer'><pose>2 0 0 0 0 0</pose><link name='bar'/></model>";
        rig.replace("trailer", other);
        rig.attach("tractor::hook", "trailer::bar");
        rig.renew_systems();
        rig.run(0.01);
        assert_eq!(states(&rig, state), ["attached", "detached"]);
    }

    #[test]
    fn it_holds_from_the_start_and_lets_go_and_takes_again_when_told() {
        let mut rig = world("trailer", "");
        let state = "/model/trailer/detachable_joint/state";
        let attach = "/model/tractor/detachable_joint/attach";
        let detach = "/model/tractor/detachable_joint/detach";
        rig.run(0.003);
        rig.publish(attach, &Empty::default());
        rig.run(0.003);
        assert_eq!(states(&rig, state), ["attached"]);
        rig.renew_systems();
        rig.publish(detach, &Empty::default());
        rig.run(0.003);
        rig.publish(detach, &Empty::default());
        rig.run(0.003);
        assert_eq!(states(&rig, state), ["attached", "detached"]);
        rig.publish(attach, &Empty::default());
        rig.run(0.003);
        let (parent, child) = (link("tractor::hook"), link("trailer::bar"));
        let attached = Command::Attach {
            parent: parent.clone(),
            child: child.clone(),
        };
        let detached = Command::Detach { parent, child };
        let expected = [attached.clone(), detached, attached];
        assert_eq!(rig.requests, expected);
    }

    #[test]
    fn topics_may_be_given_and_it_may_begin_without_holding() {
        let topics = "<attach_topic>/t/attach</attach_topic><topic>/t/detach</topic>\
                      <output_topic>/t/state</output_topic><initial_attach>false</initial_attach>";
        let mut rig = world("trailer", topics);
        rig.publish("/t/detach", &Empty::default());
        rig.run(0.003);
        assert!(rig.requests.is_empty());
        rig.publish("/t/attach", &Empty::default());
        rig.run(0.003);
        rig.publish("/t/detach", &Empty::default());
        rig.run(0.003);
        assert_eq!(states(&rig, "/t/state"), ["attached", "detached"]);
    }

    #[test]
    fn it_waits_for_a_child_that_is_not_there() {
        let mut rig = world(
            "nobody",
            "<suppress_child_warning>true</suppress_child_warning>",
        );
        rig.run(0.01);
        assert!(rig.requests.is_empty());
    }

    #[test]
    fn a_child_that_goes_or_is_let_go_by_others_is_told() {
        let mut rig = world("trailer", "");
        rig.run(0.003);
        rig.detach("tractor::hook", "trailer::bar");
        rig.run(0.002);
        let state = "/model/trailer/detachable_joint/state";
        assert_eq!(states(&rig, state), ["attached", "detached"]);
    }

    #[test]
    fn a_child_within_the_own_model_is_refused() {
        let text = "<sdf version='1.11'><world name='w'><model name='arm'><link name='hand'/>\
             <model name='tool'><link name='grip'/></model>\
             <joint name='j' type='fixed'><parent>hand</parent><child>tool::grip</child></joint>\
             <plugin name='gz::sim::systems::DetachableJoint' filename='none'>\
             <parent_link>hand</parent_link><child_model>tool</child_model>\
             <child_link>grip</child_link></plugin></model></world></sdf>";
        let read = sdf::read_worlds(text, "w.sdf", &sdf::NoFiles).unwrap();
        let problems = crate::survey(&read.worlds).problems;
        assert!(
            problems[0].message.contains("of its own model"),
            "{problems:?}"
        );
    }
}
