//! [`Mount`]: where a sensor is, and what it is called.

use sdf::{Model, Pose, Sensor, World};

use super::parameters;
use super::vector::{add, cross, sub};
use crate::Context;

/// Place and names of a sensor.
pub(super) struct Mount {
    /// The index of the link that it moves with.
    pub(super) link: usize,
    /// The index of the joint that it measures, for one on a joint.
    pub(super) joint: Option<usize>,
    /// In the frame of the link.
    pub(super) pose: Pose,
    /// At the start, world frame.
    pub(super) start: Pose,
    /// Its scoped name: `model::link::sensor`.
    pub(super) name: String,
    /// The frame of what it measures, as headers name it.
    pub(super) frame_id: String,
    /// Startup of its topics unless the file names them: `/world/W/model/M/link/L/sensor/S`.
    pub(super) topic: String,
}

impl Mount {
    /// Makes that of a sensor on a link of a model.
    pub(super) fn on_link(world: &World, model: &Model, link: usize, sensor: &Sensor) -> Self {
        let start = model.links[link].pose.then(&sensor.pose);
        let owner = (model.links[link].name.as_str(), "link");
        Self::new(world, model, owner, sensor, (link, None), start)
    }

    /// Makes that of a sensor on a joint of a model; it moves with the child.
    pub(super) fn on_joint(world: &World, model: &Model, joint: usize, sensor: &Sensor) -> Self {
        let description = &model.joints[joint];
        let start = description.pose.then(&sensor.pose);
        let owner = (description.name.as_str(), "joint");
        let place = (description.child, Some(joint));
        Self::new(world, model, owner, sensor, place, start)
    }

    fn new(
        world: &World,
        model: &Model,
        (owner, kind): (&str, &str),
        sensor: &Sensor,
        (link, joint): (usize, Option<usize>),
        start: Pose,
    ) -> Self {
        let (nested, short) = match owner.rsplit_once("::") {
            Some((nested, short)) => (format!("/model/{}", nested.replace("::", "/model/")), short),
            None => (String::new(), owner),
        };
        let name = format!("{}::{owner}::{}", model.name, sensor.name);
        let frame_id = ["gz_frame_id", "ignition_frame_id"]
            .iter()
            .find_map(|key| parameters::text(&sensor.content, key));
        Self {
            link,
            joint,
            pose: model.links[link].pose.inverse().then(&start),
            start,
            frame_id: frame_id.unwrap_or_else(|| name.clone()),
            name,
            topic: format!(
                "/world/{}/model/{}{nested}/{kind}/{short}/sensor/{}",
                world.name, model.name, sensor.name
            ),
        }
    }

    /// Returns where it is, world frame.
    pub(super) fn pose(&self, context: &Context<'_>) -> Pose {
        let link = context.cell.link_pose(context.model, self.link);
        link.then(&self.pose)
    }

    /// Returns its velocity \[m/s\] and angular velocity \[rad/s\], world frame.
    pub(super) fn velocity(&self, context: &Context<'_>) -> [[f64; 3]; 2] {
        let [linear, angular] = context.cell.link_velocity(context.model, self.link);
        let link = context.cell.link_pose(context.model, self.link);
        let arm = sub(link.then(&self.pose).position, link.position);
        [add(linear, cross(angular, arm)), angular]
    }
}
