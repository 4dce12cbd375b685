//! `imu`: angular velocity, acceleration against free fall, and orientation.
//!
//! The acceleration is the mean over the last step, in the sensor's frame halfway through it.
//! Source: SDFormat, `imu.sdf`; gz-sensors, `ImuSensor.cc`.

use std::f64::consts::{FRAC_PI_2, PI};

use messages::sensor::Imu as Message;
use messages::{Header, Quaternion};
use sdf::Pose;
use serde::{Deserialize, Serialize};

use super::mount::Mount;
use super::noise::NoiseBank;
use super::sensor_system::{Made, SensorModel};
use super::vector::{halfway, into_frame, scale, sub, turn, turn_by};
use super::{SensorPlan, parameters};
use crate::registry::TopicSpec;
use crate::{ConfigureError, Context, load, save};

struct Imu {
    topic: String,
    /// Reference of orientations, world frame; `None` if none are measured.
    reference: Option<Pose>,
    noise: NoiseBank,
    /// Velocity \[m/s\] and turn after the step before the last one.
    before: Option<Motion>,
    last: Option<Motion>,
}

/// Velocity \[m/s\] and orientation of the sensor, world frame.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Motion {
    velocity: [f64; 3],
    orientation_xyzw: [f64; 4],
}

pub(super) fn make(plan: &SensorPlan<'_>) -> Result<Made, ConfigureError> {
    let topic = plan.topic("/imu");
    let content = &plan.sensor.content;
    let paths = [
        "imu/linear_acceleration/x",
        "imu/linear_acceleration/y",
        "imu/linear_acceleration/z",
        "imu/angular_velocity/x",
        "imu/angular_velocity/y",
        "imu/angular_velocity/z",
    ];
    let is_oriented = parameters::flag(content, "imu/enable_orientation", true);
    Ok(Made {
        publications: vec![TopicSpec::of::<Message>(&topic)],
        sensor_model: Box::new(Imu {
            topic,
            reference: if is_oriented {
                Some(reference(plan)?)
            } else {
                None
            },
            noise: NoiseBank::read(content, &paths)?,
            before: None,
            last: None,
        }),
    })
}

/// Returns the frame that orientations are against: the sensor's own at the start, unless
/// `<orientation_reference_frame>` names one.
fn reference(plan: &SensorPlan<'_>) -> Result<Pose, ConfigureError> {
    let start = turn(plan.mount.start.orientation_xyzw);
    let content = &plan.sensor.content;
    let outer = "imu/orientation_reference_frame";
    if parameters::find(content, outer).is_none() {
        return Ok(start);
    }
    let heading = plan.world.spherical_coordinates.as_ref();
    let heading = heading.map_or(0.0, |coordinates| coordinates.heading);
    let east_north_up = turn_by([0.0, 0.0, heading]);
    let named = parameters::text(content, &format!("{outer}/localization"));
    match named.as_deref().unwrap_or("CUSTOM") {
        "ENU" => Ok(east_north_up),
        "NED" => Ok(east_north_up.then(&turn_by([PI, 0.0, FRAC_PI_2]))),
        "NWU" => Ok(east_north_up.then(&turn_by([0.0, 0.0, FRAC_PI_2]))),
        "CUSTOM" => custom(content, outer, &east_north_up, &start),
        other => Err(ConfigureError(format!(
            "<localization> is neither CUSTOM, ENU, NED nor NWU: {other:?}"
        ))),
    }
}

fn custom(
    content: &sdf::Content,
    outer: &str,
    east_north_up: &Pose,
    start: &Pose,
) -> Result<Pose, ConfigureError> {
    let path = format!("{outer}/custom_rpy");
    let Some(element) = parameters::find(content, &path) else {
        return Ok(*start);
    };
    let text = element.text();
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let numbers = numbers.ok().unwrap_or_default();
    let angles: [f64; 3] = if text.trim().is_empty() {
        [0.0; 3]
    } else {
        let angles = <[f64; 3]>::try_from(numbers).ok();
        let angles = angles.filter(|angles| angles.iter().all(|angle| angle.is_finite()));
        angles.ok_or_else(|| ConfigureError(format!("<custom_rpy> is no vector: {text:?}")))?
    };
    match element.attribute("parent_frame").unwrap_or_default() {
        "" => Ok(start.then(&turn_by(angles))),
        "world" => Ok(east_north_up.then(&turn_by(angles))),
        other => Err(ConfigureError(format!(
            "the parent_frame of <custom_rpy> must be empty or \"world\", and is {other:?}"
        ))),
    }
}

impl Imu {
    /// Returns the mean acceleration over the last step \[m/s^2\] and the sensor's turn halfway.
    fn acceleration(&self, step_size_s: f64) -> Option<([f64; 3], Pose)> {
        let (before, last) = (self.before?, self.last?);
        let change = sub(last.velocity, before.velocity);
        let frame = halfway(&turn(before.orientation_xyzw), &turn(last.orientation_xyzw));
        Some((scale(change, 1.0 / step_size_s), frame))
    }
}

fn motion(mount: &Mount, context: &Context<'_>) -> Motion {
    Motion {
        velocity: mount.velocity(context)[0],
        orientation_xyzw: mount.pose(context).orientation_xyzw,
    }
}

impl SensorModel for Imu {
    fn before_step(&mut self, mount: &Mount, context: &Context<'_>) {
        let last = self.last.take();
        self.before = Some(last.unwrap_or_else(|| motion(mount, context)));
    }

    fn after_step(&mut self, mount: &Mount, context: &Context<'_>) {
        self.last = Some(motion(mount, context));
    }

    fn measure(&mut self, mount: &Mount, header: Header, context: &mut Context<'_>) {
        let frame = mount.pose(context);
        let [_, turning] = mount.velocity(context);
        let still = ([0.0; 3], frame);
        let measured = self.acceleration(context.time.step_size_s);
        let (acceleration, halfway) = measured.unwrap_or(still);
        let felt = sub(acceleration, context.world().gravity);
        let orientation = self.reference.map_or([0.0, 0.0, 0.0, 1.0], |reference| {
            let turned = turn(frame.orientation_xyzw);
            reference.inverse().then(&turned).orientation_xyzw
        });
        let mut noise = self.noise.begin(context);
        let message = Message {
            header,
            entity_name: mount.name.clone(),
            orientation: Quaternion::from_xyzw(orientation),
            linear_acceleration: noise.apply_vector(0, into_frame(&halfway, felt)).into(),
            angular_velocity: noise.apply_vector(3, into_frame(&frame, turning)).into(),
        };
        context.publish(&self.topic, &message);
    }

    fn skip(&mut self, context: &Context<'_>) {
        self.noise.skip(context);
    }

    fn save(&self) -> Vec<u8> {
        save(&(self.last, self.noise.save()))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let mut state: (Option<Motion>, Vec<u8>) = (None, Vec::new());
        load(&mut state, bytes)?;
        self.noise.load(&state.1)?;
        self.last = state.0;
        Ok(())
    }
}
