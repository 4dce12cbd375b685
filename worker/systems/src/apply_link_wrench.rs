//! `ApplyLinkWrench`: forces and torques on links by message, for one step or until cleared.
//!
//! Forces and torques are in the world frame; the offset of a force is from the centre of mass, in
//! the axes of the link. Source: gz-sim, `apply_link_wrench/ApplyLinkWrench.hh`.

use std::collections::BTreeMap;

use messages::command::EntityWrench;
use messages::sensor::Entity;
use physics::{Cell, ModelRef};
use protocol::TopicMessage;
use sdf::World;
use serde::{Deserialize, Serialize};

use super::configuration::{text_of, vector_of};
use super::{
    Configuration, ConfigureError, Configured, StepTime, TopicSpec, WorldContext, WorldSystem,
};

/// The most wrenches that wait or stay; later ones are dropped.
const WRENCHES_MAX: usize = 65_536;

struct ApplyLinkWrench {
    state: State,
    /// Wrenches on links in this step, by the index of the model.
    acting: BTreeMap<usize, Vec<(usize, Wrench)>>,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Wrenches in every step.
    persistent: Vec<(String, Wrench)>,
    /// Wrenches in the next step alone.
    next: Vec<(String, Wrench)>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Wrench {
    force: [f64; 3],
    torque: [f64; 3],
    offset: [f64; 3],
}

/// Makes the system of a world.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn WorldSystem>, ConfigureError> {
    let world = &configuration.world.name;
    let topic = |parameter: &str, default: &str| {
        let topic = configuration.text(parameter);
        let topic = topic.unwrap_or_else(|| format!("/world/{world}/{default}"));
        configuration.topic(&topic)
    };
    let mut state = State::default();
    for element in configuration.elements("persistent") {
        let (Some(name), Some(kind)) = (
            text_of(element, "entity_name"),
            text_of(element, "entity_type"),
        ) else {
            let message = "<persistent> needs an <entity_name> and an <entity_type>";
            return Err(ConfigureError(message.to_owned()));
        };
        if !matches!(kind.as_str(), "link" | "model") {
            let message = format!("<entity_type> is neither link nor model: {kind:?}");
            return Err(ConfigureError(message));
        }
        let wrench = Wrench {
            force: vector_of(element, "force")?.unwrap_or_default(),
            torque: vector_of(element, "torque")?.unwrap_or_default(),
            offset: [0.0; 3],
        };
        state.persistent.push((name, wrench));
    }
    Ok(Configured {
        system: Box::new(ApplyLinkWrench {
            state,
            acting: BTreeMap::new(),
        }),
        subscriptions: vec![
            TopicSpec::of::<EntityWrench>(topic("topic", "wrench")),
            TopicSpec::of::<EntityWrench>(topic("topic_persistent", "wrench/persistent")),
            TopicSpec::of::<Entity>(topic("topic_clear", "wrench/clear")),
        ],
        publications: Vec::new(),
    })
}

impl WorldSystem for ApplyLinkWrench {
    fn on_message(&mut self, input: usize, message: &TopicMessage, _: &mut WorldContext<'_>) {
        if input == 2 {
            if let Ok(entity) = messages::decode::<Entity>(&message.body) {
                self.state
                    .persistent
                    .retain(|(name, _)| *name != entity.name);
            }
            return;
        }
        let Ok(asked) = messages::decode::<EntityWrench>(&message.body) else {
            return;
        };
        let list = match input {
            0 => &mut self.state.next,
            _ => &mut self.state.persistent,
        };
        let wrench = Wrench {
            force: (&asked.wrench.force).into(),
            torque: (&asked.wrench.torque).into(),
            offset: (&asked.wrench.force_offset).into(),
        };
        if list.len() < WRENCHES_MAX {
            list.push((asked.entity.name, wrench));
        }
    }

    fn before_step(&mut self, context: &mut WorldContext<'_>) {
        self.acting.clear();
        let next = std::mem::take(&mut self.state.next);
        for (name, wrench) in next.iter().chain(&self.state.persistent) {
            if let Some((model, link)) = find(context.world, name) {
                self.acting.entry(model).or_default().push((link, *wrench));
            }
        }
    }

    fn act(&self, _: StepTime, cell: &mut Cell) {
        if self.acting.is_empty() {
            return;
        }
        let owned = cell.performer_models();
        let owned: Vec<_> = owned
            .filter(|(_, index)| self.acting.contains_key(index))
            .collect();
        for (performer, index) in owned {
            let model = ModelRef::moving(performer, index);
            for (link, wrench) in &self.acting[&index] {
                let center = cell.center_of_mass(model, *link);
                let offset = cell.link_pose(model, *link).rotate(wrench.offset);
                let at = std::array::from_fn(|axis| center[axis] + offset[axis]);
                cell.add_force_at(model, *link, wrench.force, at);
                cell.add_load(model, *link, [0.0; 3], wrench.torque);
            }
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

/// Returns the model and the link of a scoped name; that of a model stands for its canonical link.
/// Of models with the same name, which came after each other, the last one is meant.
fn find(world: &World, name: &str) -> Option<(usize, usize)> {
    let (model, rest) = match name.split_once("::") {
        Some((model, rest)) => (model, Some(rest)),
        None => (name, None),
    };
    let index = world.models.iter().rposition(|own| own.name == model)?;
    let model = &world.models[index];
    let link = match rest {
        None => Some(model.canonical_link),
        Some(rest) => {
            let link = model.links.iter().position(|link| link.name == rest);
            let mut nested = model.nested.iter();
            link.or_else(|| nested.find(|nested| nested.name == rest)?.canonical_link)
        }
    };
    Some((index, link.filter(|link| *link < model.links.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    const WORLD: &str = "<gravity>0 0 0</gravity>
        <plugin name='gz::sim::systems::ApplyLinkWrench' filename='w'>
          <persistent><entity_name>box::l</entity_name><entity_type>link</entity_type>
            <force>4 0 0</force></persistent></plugin>
        <model name='box'><link name='l'><inertial><mass>2</mass><pose>1 0 0 0 0 0</pose>
          <inertia><ixx>1</ixx><iyy>1</iyy><izz>0.5</izz></inertia></inertial></link></model>";

    fn asked(force: [f64; 3], offset: [f64; 3], torque: [f64; 3]) -> EntityWrench {
        let mut asked = EntityWrench::default();
        asked.entity.name = "box".to_owned();
        asked.wrench.force = force.into();
        asked.wrench.force_offset = offset.into();
        asked.wrench.torque = torque.into();
        asked
    }

    #[test]
    fn a_persistent_force_accelerates_until_it_is_cleared() {
        let mut rig = SystemTestRig::new(WORLD);
        rig.run(0.5);
        rig.renew_systems();
        rig.run(0.5);
        let model = rig.model("box");
        let [linear, _] = rig.cell.link_velocity(model, 0);
        assert!((linear[0] - 2.0).abs() < 1e-9, "{linear:?}");
        let entity = Entity {
            name: "box::l".to_owned(),
            ..Entity::default()
        };
        rig.publish("/world/w/wrench/clear", &entity);
        rig.run(1.0);
        let [linear, _] = rig.cell.link_velocity(model, 0);
        assert!((linear[0] - 2.0).abs() < 1e-9, "{linear:?}");
    }

    #[test]
    fn a_wrench_acts_in_one_step_alone_and_off_the_centre_turns() {
        let mut rig = SystemTestRig::new(WORLD);
        let model = rig.model("box");
        rig.publish(
            "/world/w/wrench",
            &asked([0.0, 1000.0, 0.0], [0.1, 0.0, 0.0], [0.0; 3]),
        );
        rig.publish(
            "/world/w/wrench",
            &asked([0.0; 3], [0.0; 3], [0.0, 0.0, 50.0]),
        );
        rig.run(0.001);
        let turning = rig.cell.link_velocity(model, 0)[1][2];
        // (100 N m + 50 N m) * 1 ms / 0.5 kg m².
        assert!((turning - 0.3).abs() < 1e-9, "{turning} rad/s");
        rig.run(0.1);
        assert!((rig.cell.link_velocity(model, 0)[1][2] - 0.3).abs() < 1e-9);
    }
}
