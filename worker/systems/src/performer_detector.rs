//! `PerformerDetector`: tells when a performer enters or leaves a region around a model.
//!
//! The region is a box along the world's axes that moves with the model; performers are seen with
//! the box that they touch levels with, in the cell of the model, ghosts included. Where a world
//! declares performers, only those count; else every model that moves. Source: gz-sim,
//! `performer_detector/PerformerDetector.hh`.

use std::collections::BTreeMap;

use messages::Quaternion;
use protocol::PerformerId;
use sdf::{Content, Pose, World};
use serde::{Deserialize, Serialize};

use super::configuration::text_of;
use super::{
    Audience, Configuration, ConfigureError, Configured, Context, GoneModel, StepTime, System,
    TopicSpec, angle,
};

struct PerformerDetector {
    scope: String,
    name: String,
    /// Half the edge lengths of the region \[m\].
    half: [f64; 3],
    /// Centre of the region, frame of the model \[m\].
    center: [f64; 3],
    /// Further data of messages, by key.
    extra: BTreeMap<String, String>,
    topic: String,
    /// Half the edge lengths of the performers' boxes \[m\], as far as they were asked for; it
    /// follows from the world.
    volumes: BTreeMap<usize, Option<[f64; 3]>>,
    state: State,
}

/// Performers inside, with the pose that was published or seen last, in the frame of the model.
#[derive(Default, Serialize, Deserialize)]
struct State {
    inside: BTreeMap<u32, (u32, Pose)>,
    /// Performers that were inside and are gone from the world, which is yet to be told, by number.
    gone: BTreeMap<u32, (String, Pose)>,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let model = configuration.model()?;
    let size = configuration.elements("geometry").next();
    let size = size.and_then(|geometry| text_of(geometry.child("box")?, "size"));
    let Some(size) = size else {
        return Err(ConfigureError("<geometry><box> is missing".to_owned()));
    };
    let numbers: Result<Vec<f64>, _> = size.split_whitespace().map(str::parse).collect();
    let size = numbers
        .ok()
        .and_then(|list| <[f64; 3]>::try_from(list).ok());
    let size = size.filter(|size| size.iter().all(|edge| edge.is_finite() && *edge >= 0.0));
    let Some(size) = size else {
        return Err(ConfigureError("the box has no size".to_owned()));
    };
    let center = match configuration.elements("pose").next() {
        None => [0.0; 3],
        Some(pose) => {
            let pose = angle::pose_of(pose);
            pose.ok_or_else(|| ConfigureError("<pose> is no pose".to_owned()))?
                .position
        }
    };
    let topic = configuration.text("topic").unwrap_or_else(|| {
        let path = configuration.model_path();
        format!("/model/{path}/performer_detector/status")
    });
    let topic = configuration.topic(&topic);
    let name = match configuration.scope.trim_end_matches("::") {
        "" => model.name.clone(),
        nested => nested.rsplit("::").next().unwrap_or(nested).to_owned(),
    };
    Ok(Configured {
        system: Box::new(PerformerDetector {
            scope: configuration.scope.to_owned(),
            name,
            half: size.map(|edge| edge / 2.0),
            center,
            extra: configuration
                .elements("header_data")
                .filter_map(extra)
                .collect(),
            topic: topic.clone(),
            volumes: BTreeMap::new(),
            state: State::default(),
        }),
        subscriptions: Vec::new(),
        publications: vec![TopicSpec::of::<messages::Pose>(topic)],
    })
}

/// Returns a key with its value; those without either say nothing.
fn extra(element: &Content) -> Option<(String, String)> {
    Some((text_of(element, "key")?, text_of(element, "value")?))
}

impl System for PerformerDetector {
    fn after_step(&mut self, context: &mut Context<'_>) {
        let frame = context.cell.scope_pose(context.model, &self.scope);
        let offset = frame.rotate(self.center);
        let center: [f64; 3] = std::array::from_fn(|axis| frame.position[axis] + offset[axis]);
        let to_frame = frame.inverse();
        let mut gone = self.state.inside.clone();
        for present in context.cell.movers() {
            let Some(half) = self.volume(context.world(), present.model) else {
                continue;
            };
            gone.remove(&present.performer.0);
            let meets = (0..3).all(|axis| {
                let distance = (present.pose.position[axis] - center[axis]).abs();
                distance <= half[axis] + self.half[axis]
            });
            let pose = to_frame.then(&present.pose);
            let entry = (present.model as u32, pose);
            let id = present.performer.0;
            if meets {
                let was_inside = self.state.inside.insert(id, entry).is_some();
                if !was_inside {
                    self.tell(
                        context,
                        present.performer,
                        &name_of(context, entry.0),
                        entry.1,
                        true,
                    );
                }
            } else if self.state.inside.remove(&id).is_some() {
                self.tell(
                    context,
                    present.performer,
                    &name_of(context, entry.0),
                    entry.1,
                    false,
                );
            }
        }
        // Those that are out of the cell's sight are out of the region as well.
        for (id, (model, pose)) in gone {
            self.state.inside.remove(&id);
            self.state.gone.insert(id, (name_of(context, model), pose));
        }
        while let Some((id, (name, pose))) = self.state.gone.pop_first() {
            self.tell(context, PerformerId(id), &name, pose, false);
        }
    }

    fn looks_at_others(&self, _: &StepTime, _: &Audience) -> bool {
        true
    }

    fn forget(&mut self, gone: &GoneModel<'_>) {
        self.volumes.remove(&gone.model);
        if let Some(PerformerId(id)) = gone.performer
            && let Some((_, pose)) = self.state.inside.remove(&id)
        {
            let name = gone.name.to_owned();
            self.state.gone.insert(id, (name, pose));
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

impl PerformerDetector {
    /// Returns half the edge lengths of a performer's box; `None` for one that does not count.
    fn volume(&mut self, world: &World, model: usize) -> Option<[f64; 3]> {
        let found = self.volumes.entry(model);
        *found.or_insert_with(|| {
            let description = &world.models[model];
            if world.performers.is_empty() {
                return Some([description.reach().radius; 3]);
            }
            let mut declared = world.performers.iter();
            let declared = declared.find(|one| one.model == description.name);
            declared.map(|one| one.size.map(|edge| edge / 2.0))
        })
    }

    fn tell(
        &self,
        context: &mut Context<'_>,
        performer: PerformerId,
        name: &str,
        pose: Pose,
        is_inside: bool,
    ) {
        let count = (self.state.inside.len() + self.state.gone.len()).to_string();
        let mut header = context
            .header()
            .with("frame_id", &self.name)
            .with("state", if is_inside { "1" } else { "0" })
            .with("count", &count);
        for (key, value) in &self.extra {
            header = header.with(key, value);
        }
        let message = messages::Pose {
            header,
            name: name.to_owned(),
            id: performer.0 + 1,
            position: pose.position.into(),
            orientation: Quaternion::from_xyzw(pose.orientation_xyzw),
        };
        context.publish(&self.topic, &message);
    }
}

fn name_of(context: &Context<'_>, model: u32) -> String {
    let found = context.world().models.get(model as usize);
    found.map_or_else(String::new, |model| model.name.clone())
}

#[cfg(test)]
mod tests {
    use crate::test_rig::SystemTestRig;

    const TOPIC: &str = "/model/gate/performer_detector/status";

    fn ball(name: &str, x: f64) -> String {
        format!(
            "<model name='{name}'><pose>{x} 0 1 0 0 0</pose><link name='link'>\
             <gravity>false</gravity><collision name='collision'><geometry><sphere>\
             <radius>0.5</radius></sphere></geometry></collision></link>\
             <plugin name='gz::sim::systems::VelocityControl' filename='none'>\
             <initial_linear>1 0 0</initial_linear></plugin></model>"
        )
    }

    fn gate(rest: &str) -> String {
        format!(
            "<model name='gate'><static>true</static><pose>0 0 0 0 0 0</pose>\
             <link name='link'/><plugin name='gz::sim::systems::PerformerDetector' filename='none'>\
             <geometry><box><size>2 2 2</size></box></geometry><pose>0 0 1 0 0 0</pose>\
             <header_data><key>color</key><value>red</value></header_data>\
             <header_data><key>none</key></header_data>{rest}</plugin></model>"
        )
    }

    fn value(message: &messages::Pose, key: &str) -> String {
        let found = message.header.data.iter().find(|data| data.key == key);
        found.map_or_else(String::new, |data| data.value.join(" "))
    }

    #[test]
    fn entering_and_leaving_performers_are_announced_once() {
        let world = format!("{}{}", gate(""), ball("ball", -2.0));
        let mut rig = SystemTestRig::new(&world);
        // The edges of region and ball meet after 0.5 s, and part after 3.5 s.
        rig.run(0.4);
        assert!(rig.published::<messages::Pose>(TOPIC).is_empty());
        rig.run(0.6);
        let said = rig.published::<messages::Pose>(TOPIC);
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].name, "ball");
        let told = ["frame_id", "state", "count", "color", "none"].map(|key| value(&said[0], key));
        assert_eq!(told, ["gate", "1", "1", "red", ""]);
        assert!((said[0].position.x + 1.5).abs() < 0.01, "{said:?}");
        rig.renew_systems();
        rig.run(3.0);
        let said = rig.published::<messages::Pose>(TOPIC);
        assert_eq!(said.len(), 2);
        assert_eq!(
            [value(&said[1], "state"), value(&said[1], "count")],
            ["0", "0"]
        );
        assert!((said[1].position.x - 1.5).abs() < 0.01, "{said:?}");
    }

    #[test]
    fn a_removed_performer_has_left_and_its_number_is_another_performer() {
        let still = |name: &str, x: f64, radius: f64| {
            format!(
                "<model name='{name}'><pose>{x} 0 1 0 0 0</pose><link name='link'>\
                 <gravity>false</gravity><collision name='collision'><geometry><sphere>\
                 <radius>{radius}</radius></sphere></geometry></collision></link></model>"
            )
        };
        let mut rig = SystemTestRig::new(&format!("{}{}", gate(""), still("first", 0.0, 5.0)));
        rig.run(0.01);
        // It touches the region only with the size of the first.
        rig.replace("first", &still("second", 4.0, 0.5));
        rig.renew_systems();
        rig.run(0.01);
        let told = |rig: &SystemTestRig| -> Vec<[String; 3]> {
            let said = rig.published::<messages::Pose>(TOPIC);
            let told = said.iter().map(|one| {
                let [state, count] = ["state", "count"].map(|key| value(one, key));
                [one.name.clone(), state, count]
            });
            told.collect()
        };
        let first = [["first", "1", "1"], ["first", "0", "0"]];
        assert_eq!(told(&rig), first);
        rig.replace("second", &still("third", 0.0, 0.5));
        rig.run(0.01);
        assert_eq!(told(&rig)[2..], [["third", "1", "1"]]);
    }

    #[test]
    fn where_performers_are_declared_only_they_count() {
        let declared = "<plugin name='gz::sim' filename='none'><performer name='p'>\
                        <ref>second</ref><geometry><box><size>1 1 1</size></box></geometry>\
                        </performer></plugin>";
        let balls = format!("{}{}", ball("first", -1.0), ball("second", -1.0));
        let topic = "<topic>/custom</topic>";
        let mut rig = SystemTestRig::new(&format!("{}{balls}{declared}", gate(topic)));
        rig.run(0.1);
        let said = rig.published::<messages::Pose>("/custom");
        let names: Vec<&str> = said.iter().map(|message| message.name.as_str()).collect();
        assert_eq!(names, ["second"]);
    }
}
