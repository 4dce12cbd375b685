//! `KineticEnergyMonitor`: says how much kinetic energy a link lost in a step, when that is much.
//!
//! Source: gz-sim, `kinetic_energy_monitor/KineticEnergyMonitor.hh`.

use messages::Double;
use serde::{Deserialize, Serialize};

use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The least loss that is told \[J\].
const THRESHOLD: f64 = 7.0;

struct KineticEnergyMonitor {
    link: usize,
    threshold: f64,
    topic: String,
    state: State,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// \[J\]
    energy: f64,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let name = configuration.required("link_name")?;
    let topic = configuration.text("topic");
    let topic =
        topic.unwrap_or_else(|| format!("/model/{}/kinetic_energy", configuration.model_path()));
    let topic = configuration.topic(&topic);
    Ok(Configured {
        subscriptions: Vec::new(),
        publications: vec![TopicSpec::of::<Double>(topic.as_str())],
        system: Box::new(KineticEnergyMonitor {
            link: configuration.link(&name)?,
            threshold: configuration.number("kinetic_energy_threshold", THRESHOLD)?,
            topic,
            state: State::default(),
        }),
    })
}

impl System for KineticEnergyMonitor {
    fn after_step(&mut self, context: &mut Context<'_>) {
        let energy = context.cell.kinetic_energy(context.model, self.link);
        let lost = self.state.energy - energy;
        self.state.energy = energy;
        if lost > self.threshold {
            let message = Double {
                header: context.header(),
                data: lost,
            };
            context.publish(&self.topic, &message);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    #[test]
    fn a_fall_onto_the_ground_is_told_with_the_energy_that_it_had() {
        let mut rig = SystemTestRig::new(
            "<gravity>0 0 -10</gravity>
            <model name='ground'><static>true</static><link name='l'><collision name='c'>
              <geometry><plane/></geometry></collision></link></model>
            <model name='stone'><pose>0 0 5.5 0 0 0</pose><link name='l'>
              <inertial><mass>2</mass></inertial>
              <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
              </link>
              <plugin name='gz::sim::systems::KineticEnergyMonitor' filename='k'>
                <link_name>l</link_name></plugin></model>",
        );
        rig.run(0.9);
        rig.renew_systems();
        assert_eq!(rig.last::<Double>("/model/stone/kinetic_energy"), None);
        let link = rig.model("stone");
        // m (g t)² / 2 with t = 0.9 s.
        let energy = rig.cell.kinetic_energy(link, 0);
        assert!((energy - 81.0).abs() < 1e-6, "{energy} J");
        rig.run(0.5);
        let topic = "/model/stone/kinetic_energy";
        let said = rig
            .published
            .iter()
            .filter(|message| message.topic == topic);
        let lost: f64 = said
            .map(|message| messages::decode::<Double>(&message.body).unwrap().data)
            .sum();
        assert!((lost / 100.0 - 1.0).abs() < 0.1, "lost {lost} of 100 J");
    }
}
