//! [`mapping_report`]: the topics of worlds in ROS 2, without a run.

use protocol::report::{RosEndpointReport, RosMappingReport, RosTopicReport, TopicReport};
use ros2::{Durability, Frames, Mapping, Reliability, RosTopic, RuleError, Rules, Used};
use sdf::World;

/// Returns the topics that a run of worlds has in ROS 2 by rules, and what there is to say of them.
///
/// # Errors
/// Fails if a rule cannot hold.
pub fn mapping_report(worlds: &[World], rules: &Rules) -> Result<RosMappingReport, RuleError> {
    let mapping = Mapping::new(rules)?;
    let surveyed = systems::survey(worlds).topics;
    let uses: Vec<Used<'_>> = surveyed.iter().map(used).collect();
    let mut topics: Vec<RosTopicReport> = uses.iter().map(|one| of_use(one, &mapping)).collect();
    topics.extend(descriptions(worlds, &mapping));
    let frames = [Frames::Moving, Frames::Fixed].map(|frames| mapping.transforms(frames));
    topics.extend(
        [mapping.clock()]
            .into_iter()
            .chain(frames)
            .map(|topic| RosTopicReport {
                out: true,
                ros: Some(endpoint(topic)),
                has_type: true,
                ..RosTopicReport::default()
            }),
    );
    let notes = mapping.notes(&uses);
    Ok(RosMappingReport {
        topics,
        notes: notes.iter().map(ToString::to_string).collect(),
    })
}

fn used(topic: &TopicReport) -> Used<'_> {
    Used {
        topic: &topic.topic,
        kind: &topic.kind,
        is_published: !topic.publishers.is_empty(),
        is_subscribed: !topic.subscribers.is_empty(),
    }
}

fn of_use(used: &Used<'_>, mapping: &Mapping) -> RosTopicReport {
    let ways = mapping.ways(used);
    let frames = mapping.frames(used.topic, used.kind);
    let frames = frames.filter(|_| used.is_published);
    RosTopicReport {
        topic: Some(used.topic.to_owned()),
        kind: Some(used.kind.to_owned()),
        out: ways.outbound.is_some(),
        inbound: ways.inbound.is_some(),
        ros: ways.outbound.or(ways.inbound).map(endpoint),
        frames: frames.map(|frames| mapping.transforms(frames).name),
        has_type: ros2::convert::pair(used.kind, None).is_some(),
    }
}

/// Returns the topics of robots that were read from URDF.
fn descriptions(worlds: &[World], mapping: &Mapping) -> Vec<RosTopicReport> {
    let has_siblings = worlds.len() > 1;
    let robots = worlds.iter().flat_map(|world| {
        let prefix = if has_siblings {
            format!("/world/{}", world.name)
        } else {
            String::new()
        };
        let models = world.models.iter().filter(|model| model.urdf.is_some());
        models.map(move |model| format!("{prefix}/model/{}/robot_description", model.name))
    });
    let robots: Vec<String> = robots.collect();
    let is_only_one = robots.len() == 1;
    let described = robots.into_iter().filter_map(|topic| {
        let ros = mapping.robot_description(&topic, is_only_one)?;
        Some(RosTopicReport {
            topic: Some(topic),
            out: true,
            ros: Some(endpoint(ros)),
            has_type: true,
            ..RosTopicReport::default()
        })
    });
    described.collect()
}

fn endpoint(topic: RosTopic) -> RosEndpointReport {
    RosEndpointReport {
        name: topic.name,
        type_name: topic.type_name.to_owned(),
        reliable: topic.qos.reliability == Reliability::Reliable,
        latched: topic.qos.durability == Durability::TransientLocal,
        depth: topic.qos.depth,
        max_rate_hz: topic.max_rate_hz,
    }
}

#[cfg(test)]
mod tests {
    use sdf::NoFiles;

    use super::*;

    const WORLD: &str = "<sdf version='1.9'><world name='w'><model name='a-b'><link name='l'/>\
        <plugin filename='x' name='gz::sim::systems::VelocityControl'/>\
        <plugin filename='x' name='gz::sim::systems::OdometryPublisher'/></model></world></sdf>";

    #[test]
    fn topics_of_a_world_have_names_types_and_remarks() {
        let worlds = sdf::read_worlds(WORLD, "w.sdf", &NoFiles).unwrap().worlds;
        let report = mapping_report(&worlds, &Rules::default()).unwrap();
        let find = |name: &str| {
            let mut topics = report.topics.iter();
            topics
                .find(|one| one.topic.as_deref() == Some(name))
                .unwrap()
        };
        let command = find("/model/a-b/cmd_vel");
        let ros = command.ros.as_ref().unwrap();
        assert_eq!((command.out, command.inbound), (false, true));
        assert_eq!(ros.name, "/model/a_b/cmd_vel");
        assert_eq!(ros.type_name, "geometry_msgs/msg/Twist");
        let odometry = find("/model/a-b/odometry");
        assert!(odometry.out && !odometry.inbound, "{odometry:?}");
        assert!(
            report
                .notes
                .iter()
                .any(|note| note.contains("/model/a_b/cmd_vel"))
        );
        let own = report.topics.iter().filter(|one| one.topic.is_none());
        let own: Vec<&str> = own
            .map(|one| one.ros.as_ref().unwrap().name.as_str())
            .collect();
        assert_eq!(own, ["/clock", "/tf", "/tf_static"]);
    }
}
