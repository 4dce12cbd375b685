//! [`Descriptions`]: what robots are made of, on `/robot_description`, for those that were read
//! from URDF.
//!
//! The secondary that speaks for the run publishes all of them, once, for readers that are there
//! and for those that come later. Another one that comes to speak says them again.

use std::collections::BTreeMap;

use cell_host::RobotDescription;
use ros2::mapping::RosTopic;
use ros2::types::std_msgs;
use ros2::{Mapping, to_cdr};
use ros2_node::{Participant, Publication};

use super::endpoints::advertise;

/// Descriptions of the robots of a run.
#[derive(Default)]
pub(super) struct Descriptions {
    robots: Vec<RobotDescription>,
    /// Published texts, by the name of the topic in ROS 2.
    published: BTreeMap<String, (String, Publication)>,
    is_current: bool,
}

impl Descriptions {
    /// Notes which robots there are.
    pub(super) fn follow(&mut self, robots: Vec<RobotDescription>) {
        if self.robots != robots {
            self.robots = robots;
            self.is_current = false;
        }
    }

    /// Publishes what is not published yet and withdraws what no longer holds: everything, unless
    /// this secondary speaks for the run.
    pub(super) fn publish(
        &mut self,
        speaks: bool,
        mapping: &Mapping,
        participant: &mut Participant,
    ) {
        if !speaks {
            self.is_current = false;
        }
        if self.is_current || (!speaks && self.published.is_empty()) {
            return;
        }
        let wanted = if speaks {
            self.wanted(mapping)
        } else {
            BTreeMap::new()
        };
        let published = self.published.iter();
        let gone = published
            .filter(|(name, (text, _))| wanted.get(*name).is_none_or(|(_, wanted)| wanted != text));
        let gone: Vec<String> = gone.map(|(name, _)| name.clone()).collect();
        for name in gone {
            if let Some((_, publication)) = self.published.remove(&name) {
                participant.withdraw(&publication);
            }
        }
        for (name, (topic, text)) in wanted {
            if !self.published.contains_key(&name) {
                self.say(&topic, text, participant);
            }
        }
        self.is_current = speaks;
        if let Err(error) = participant.announce() {
            tracing::warn!("the node is not described to ROS 2: {error}");
        }
    }

    /// Returns topics and texts by the names of the topics.
    fn wanted(&self, mapping: &Mapping) -> BTreeMap<String, (RosTopic, String)> {
        let mut wanted = BTreeMap::new();
        for robot in &self.robots {
            let is_only_one = self.robots.len() == 1;
            let Some(topic) = mapping.robot_description(&robot.topic, is_only_one) else {
                continue;
            };
            let prefix = mapping.frame_prefix(&robot.model);
            match sdf::urdf_with_prefix(&robot.urdf, &prefix) {
                Ok(text) => drop(wanted.insert(topic.name.clone(), (topic, text))),
                Err(error) => tracing::warn!("{} is not described: {error}", robot.model),
            }
        }
        wanted
    }

    fn say(&mut self, topic: &RosTopic, text: String, to: &mut Participant) {
        let publication = match advertise(to, topic) {
            Ok(publication) => publication,
            Err(error) => return tracing::warn!("{error}"),
        };
        let data = text.clone();
        match publication.publish(to_cdr(&std_msgs::String { data })) {
            Ok(()) => {
                let published = (text, publication);
                self.published.insert(topic.name.clone(), published);
            }
            Err(error) => tracing::warn!("{} of ROS 2 is not published: {error}", topic.name),
        }
    }
}
