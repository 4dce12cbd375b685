//! `TouchPlugin`: tells once when a model has touched a target for some time without a break.
//!
//! Only collisions that contact sensors of the model name count; the target is a part of the scoped
//! name of a collision. Source: gz-sim, `touch_plugin/TouchPlugin.hh`. There `NAMESPACE/enable` is
//! a service; here it is a topic.

use messages::Boolean;
use physics::CollisionRef;
use protocol::TopicMessage;
use sdf::{Model, World};
use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

struct TouchPlugin {
    target: String,
    /// Time for which it has to touch \[ns\].
    duration_ns: u64,
    topic: String,
    /// Links and collisions that contact sensors name.
    sensitive: Vec<(usize, usize)>,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    is_enabled: bool,
    /// Since when it touches, in elapsed time \[ns\].
    since: Option<u64>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let needs = |name: &str| ConfigureError(format!("<{name}> is missing"));
    let target = configuration
        .text("target")
        .ok_or_else(|| needs("target"))?;
    let namespace = configuration
        .text("namespace")
        .ok_or_else(|| needs("namespace"))?;
    let time = configuration
        .optional_number("time")?
        .ok_or_else(|| needs("time"))?;
    let sensitive = sensitive(configuration.model()?, configuration.scope);
    if sensitive.is_empty() {
        let what = "the model has no contact sensor that names a collision of it";
        return Err(ConfigureError(what.to_owned()));
    }
    let topic = configuration.topic(&format!("{namespace}/touched"));
    let enable = configuration.topic(&format!("{namespace}/enable"));
    Ok(Configured {
        system: Box::new(TouchPlugin {
            target,
            duration_ns: (time.max(0.0) * 1e9) as u64,
            topic: topic.clone(),
            sensitive,
            state: State {
                is_enabled: configuration.flag("enabled", false)?,
                since: None,
            },
        }),
        subscriptions: vec![TopicSpec::of::<Boolean>(enable)],
        publications: vec![TopicSpec::of::<Boolean>(topic)],
    })
}

impl System for TouchPlugin {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Ok(enable) = messages::decode::<Boolean>(&message.body) {
            self.state = State {
                is_enabled: enable.data,
                since: None,
            };
        }
    }

    fn after_step(&mut self, context: &mut Context<'_>) {
        if !self.state.is_enabled {
            return;
        }
        let now = context.time.elapsed.0;
        if !self.touches(context) {
            self.state.since = None;
            return;
        }
        let since = *self.state.since.get_or_insert(now);
        if now.saturating_sub(since) > self.duration_ns {
            let header = context.header();
            let touched = Boolean { header, data: true };
            context.publish(&self.topic, &touched);
            self.state = State::default();
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

impl TouchPlugin {
    fn touches(&self, context: &Context<'_>) -> bool {
        let world = context.world();
        let is_target = |collision: &CollisionRef| {
            names(collision, world)
                .iter()
                .any(|name| name.contains(&self.target))
        };
        self.sensitive.iter().any(|(link, collision)| {
            let only = Some((*link, Some(*collision)));
            let contacts = context.cell.contacts(context.model, only);
            contacts
                .iter()
                .any(|contact| is_target(&contact.other) || is_target(&contact.own))
        })
    }
}

/// Returns the scoped names of a collision: as SDF writes them, and with the kinds of what is in
/// them, as Gazebo compares them.
fn names(collision: &CollisionRef, world: &World) -> [String; 2] {
    let model = &world.models[collision.model];
    let link = &model.links[collision.link];
    let shape = &link.collisions[collision.collision].name;
    let scopes = link.name.replace("::", "/model/");
    let scopes = match scopes.rsplit_once("/model/") {
        Some((nested, own)) => format!("model/{}/model/{nested}/link/{own}", model.name),
        None => format!("model/{}/link/{scopes}", model.name),
    };
    [
        format!("{}::{}", world.name, collision.name(world)),
        format!("world/{}/{scopes}/collision/{shape}", world.name),
    ]
}

/// Returns the links and collisions of a model that contact sensors name.
fn sensitive(model: &Model, scope: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (index, link) in model.links.iter().enumerate() {
        if !link.name.starts_with(scope) {
            continue;
        }
        for sensor in link.sensors.iter().filter(|one| one.kind == "contact") {
            let named = sensor.content.child("contact");
            let named = named.into_iter().flat_map(sdf::Content::children);
            for name in named.filter(|child| child.name == "collision") {
                let wanted = name.text();
                let has_name = |shape: &sdf::Collision| {
                    wanted.trim() == shape.name
                        || wanted.trim().ends_with(&format!("::{}", shape.name))
                };
                if let Some(number) = link.collisions.iter().position(has_name)
                    && !found.contains(&(index, number))
                {
                    found.push((index, number));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    const TOUCHED: &str = "/box_touches/touched";

    fn world(enabled: bool) -> SystemTestRig {
        let shape = "<geometry><box><size>0.2 0.2 0.2</size></box></geometry>";
        let floor = "<geometry><plane><normal>0 0 1</normal></plane></geometry>";
        SystemTestRig::new(&format!(
            "<model name='green_floor'><static>true</static><link name='link'>\
             <collision name='collision'>{floor}</collision></link></model>\
             <model name='box'><pose>0 0 0.15 0 0 0</pose><link name='link'>\
             <collision name='collision'>{shape}</collision>\
             <sensor name='touch' type='contact'><contact><collision>collision</collision>\
             </contact></sensor></link>\
             <plugin name='gz::sim::systems::TouchPlugin' filename='gz-sim-touchplugin-system'>\
             <target>green_floor</target><time>0.2</time><namespace>box_touches</namespace>\
             <enabled>{enabled}</enabled></plugin></model>"
        ))
    }

    #[test]
    fn a_touch_is_told_once_after_its_time() {
        let mut rig = world(true);
        // The box falls by 5 cm, which takes 0.1 s.
        rig.run(0.29);
        assert!(rig.published::<Boolean>(TOUCHED).is_empty());
        rig.renew_systems();
        rig.run(0.5);
        let said = rig.published::<Boolean>(TOUCHED);
        assert_eq!(said.len(), 1);
        assert!(said[0].data);
    }

    #[test]
    fn it_waits_until_it_is_enabled_and_may_be_enabled_again() {
        let mut rig = world(false);
        rig.run(0.5);
        assert!(rig.published::<Boolean>(TOUCHED).is_empty());
        for count in 1..3 {
            let enable = Boolean {
                data: true,
                ..Boolean::default()
            };
            rig.publish("/box_touches/enable", &enable);
            rig.run(0.5);
            assert_eq!(rig.published::<Boolean>(TOUCHED).len(), count);
        }
    }
}
