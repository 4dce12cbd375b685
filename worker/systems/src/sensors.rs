//! Sensors: what `<sensor>` elements measure and publish, as systems of their models.
//!
//! One file per kind, each an [`sensor_system::SensorModel`]: it measures after physics what is in
//! the cell of its model, ghosts included, at its own rate of simulated time and while someone
//! listens. What all have in common is in [`sensor_system`]. `docs/sensors.md` says what each
//! honours and where it differs from Gazebo.

mod air_pressure;
mod air_speed;
mod altimeter;
mod boundingbox_camera;
mod camera;
mod contact;
mod depth_camera;
mod earth;
mod eye;
mod force_torque;
mod imu;
mod lens;
mod lidar;
mod logical_camera;
mod magnetometer;
mod mount;
mod navsat;
mod noise;
mod parameters;
mod pixel_format;
mod point_cloud;
mod schedule;
mod segmentation_camera;
mod sensor_system;
#[cfg(test)]
mod tests;
mod thermal_camera;
mod vector;
mod visual_rays;
mod wide_angle_camera;

use messages::Boolean;
use protocol::report::{StartWarning, StartWarningKind};
use sdf::{Model, Sensor, World};

use self::mount::Mount;
use self::sensor_system::{Made, SensorSystem};
use crate::configuration::full_topic;
use crate::registry::{Configured, Member, TopicSpec, warning};
use crate::{ConfigureError, linear_battery};

/// A sensor with all that it is made from.
struct SensorPlan<'a> {
    world: &'a World,
    model: &'a Model,
    has_siblings: bool,
    sensor: &'a Sensor,
    mount: &'a Mount,
}

/// Constructor of the measuring part of a kind of sensor.
type Make = fn(&SensorPlan<'_>) -> Result<Made, ConfigureError>;

/// The kinds, in order.
const KINDS: &[(&str, Make)] = &[
    ("air_pressure", air_pressure::make),
    ("air_speed", air_speed::make),
    ("altimeter", altimeter::make),
    ("boundingbox_camera", boundingbox_camera::make),
    ("camera", camera::make),
    ("contact", contact::make),
    ("depth_camera", depth_camera::make_depth_camera),
    ("force_torque", force_torque::make),
    ("gpu_lidar", lidar::make),
    ("imu", imu::make),
    ("lidar", lidar::make),
    ("logical_camera", logical_camera::make),
    ("magnetometer", magnetometer::make),
    ("navsat", navsat::make),
    ("rgbd_camera", depth_camera::make_rgbd_camera),
    ("segmentation_camera", segmentation_camera::make),
    ("thermal_camera", thermal_camera::make),
    ("wide_angle_camera", wide_angle_camera::make),
];

/// Adds the sensors of a model to its systems, in the order of links, then of joints.
pub(crate) fn add_members(
    world: &World,
    has_siblings: bool,
    model: usize,
    members: &mut Vec<Member>,
    problems: &mut Vec<StartWarning>,
) {
    let description = &world.models[model];
    let mut add = |sensor: &Sensor, mount: Mount| {
        let plan = SensorPlan {
            world,
            model: description,
            has_siblings,
            sensor,
            mount: &mount,
        };
        let Some(build) = make_of(&sensor.kind) else {
            return;
        };
        match build(&plan) {
            Ok(made) => {
                let batteries = batteries(&plan);
                members.push(Member {
                    is_sensor: true,
                    configured: assemble(made, sensor, mount, &batteries),
                    name: sensor.kind.clone(),
                });
            }
            Err(error) => problems.push(warning(
                StartWarningKind::Sensor,
                format!(
                    "sensor {} ({}) does nothing: {error}",
                    mount.name, sensor.kind
                ),
                &sensor.content,
            )),
        }
    };
    for link in 0..description.links.len() {
        for sensor in &description.links[link].sensors {
            add(sensor, Mount::on_link(world, description, link, sensor));
        }
    }
    for joint in 0..description.joints.len() {
        for sensor in &description.joints[joint].sensors {
            add(sensor, Mount::on_joint(world, description, joint, sensor));
        }
    }
}

fn assemble(
    made: Made,
    sensor: &Sensor,
    mount: Mount,
    batteries: &[String],
) -> Configured<dyn crate::System> {
    let publications = made.publications.clone();
    let mut subscriptions = made.sensor_model.subscriptions();
    let inputs = subscriptions.len();
    subscriptions.extend(batteries.iter().map(TopicSpec::of::<Boolean>));
    let batteries = inputs..subscriptions.len();
    let kind = sdf::find_sensor(&sensor.kind);
    let sees_others = kind.is_some_and(|kind| kind.sees_others);
    let system = SensorSystem::new(made, sensor.update_rate, mount, batteries);
    let system = system.that_sees_others(sees_others);
    Configured {
        subscriptions,
        publications,
        system: Box::new(system),
    }
}

/// Returns the topics on which the batteries of a sensor say whether they are empty. As in Gazebo,
/// those have one that a renderer draws for there: all that see others but logical cameras.
fn batteries(plan: &SensorPlan<'_>) -> Vec<String> {
    let kind = sdf::find_sensor(&plan.sensor.kind);
    let is_fed = kind.is_some_and(|kind| kind.sees_others && kind.name != "logical_camera");
    if !is_fed {
        return Vec::new();
    }
    let link = &plan.model.links[plan.mount.link].name;
    linear_battery::empty_topics_around(plan.world, plan.has_siblings, plan.model, link)
}

/// Finds how a kind is made.
fn make_of(kind: &str) -> Option<Make> {
    // The reader of the world has told of those that are not here.
    let found = KINDS.iter().find(|(known, _)| *known == kind);
    found.map(|(_, make)| *make)
}

impl SensorPlan<'_> {
    /// Returns the topic that the file says, or that follows from the sensor's name.
    fn topic(&self, suffix: &str) -> String {
        self.topic_or(&self.sensor.topic, suffix)
    }

    /// The same for a topic that the file says elsewhere; empty for none.
    fn topic_or(&self, written: &str, suffix: &str) -> String {
        let default = format!("{}{suffix}", self.mount.topic);
        let name = if written.trim().is_empty() {
            &default
        } else {
            written
        };
        self.full(name)
    }

    /// Returns the full name of a topic.
    fn full(&self, topic: &str) -> String {
        full_topic(self.world, self.has_siblings, Some(self.model), topic)
    }
}

#[cfg(test)]
mod table_tests {
    use super::KINDS;

    #[test]
    fn the_reader_of_worlds_knows_these_kinds_and_no_others() {
        let made: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        let known: Vec<&str> = sdf::SENSORS.iter().map(|kind| kind.name).collect();
        assert_eq!(made, known);
    }
}
