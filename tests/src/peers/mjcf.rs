//! Worlds as MJCF, the format of `MuJoCo`: boxes, spheres, cylinders and planes, free bodies,
//! hinges and balls, and motors that keep the rate of a hinge.
//!
//! Elements and attributes are those of the `MuJoCo` XML reference. Bodies are named by
//! [`body_name`], hinges by [`joint_name`]. What is not in [`support`] is an error.

mod support;

use std::fmt::Write;

use sdf::{Collision, Geometry, Joint, JointKind, JointParent, Link, Model, Pose, World};

use super::Unsupported;
use super::drive::Motor;
use super::inertia::in_link_axes;

/// Gain of a motor: its torque per difference between its rate and the one asked for \[N m s/rad\];
/// a wheel of the fleet follows within a few steps.
pub const MOTOR_GAIN: f64 = 10.0;

/// Returns the name of the body of a link, by its model's index in the world and its own.
pub fn body_name(model: usize, link: usize) -> String {
    format!("m{model}l{link}")
}

/// Returns the name of a joint, by its model's index in the world and its own.
pub fn joint_name(model: usize, joint: usize) -> String {
    format!("m{model}j{joint}")
}

/// Returns a world as MJCF, with motors on its hinges in the order given, for steps of a size
/// \[s\].
///
/// # Errors
/// Fails if the world has anything that is not written, with the place.
///
/// # Panics
/// Never: writing to a `String` cannot fail.
pub fn write(world: &World, motors: &[Motor], step_size_s: f64) -> Result<String, Unsupported> {
    support::check(world)?;
    let mut writer = Writer {
        world,
        out: String::new(),
    };
    writer.open("mujoco", &[("model", &world.name)]);
    let gravity = numbers(&world.gravity);
    let step = step_size_s.to_string();
    let option = [
        ("timestep", step.as_str()),
        ("gravity", &gravity),
        ("integrator", "implicitfast"),
    ];
    writer.element("compiler", &[("angle", "radian"), ("autolimits", "true")]);
    writer.element("option", &option);
    writer.element("size", &[("memory", "1G")]);
    writer.open("worldbody", &[]);
    for (index, model) in world.models.iter().enumerate() {
        writer.model(index, model)?;
    }
    writer.close("worldbody");
    writer.exclusions();
    writer.motors(motors);
    writer.close("mujoco");
    Ok(writer.out)
}

struct Writer<'a> {
    world: &'a World,
    out: String,
}

impl Writer<'_> {
    fn model(&mut self, index: usize, model: &Model) -> Result<(), Unsupported> {
        if model.is_static {
            for link in &model.links {
                for collision in &link.collisions {
                    self.geom(collision, &link.pose.then(&collision.pose));
                }
            }
            return Ok(());
        }
        let mut is_written = vec![false; model.links.len()];
        for link in 0..model.links.len() {
            let mut above = model.joints.iter().filter(|joint| joint.child == link);
            let held = above.find(|joint| joint.parent != JointParent::World);
            if held.is_none() {
                self.body(index, link, &Pose::IDENTITY, &mut is_written)?;
            }
        }
        match is_written.iter().position(|is_written| !is_written) {
            Some(link) => Err(Unsupported::new(
                format!("{}::{}", model.name, model.links[link].name),
                "a place in a loop of joints",
            )),
            None => Ok(()),
        }
    }

    /// Writes a link with all that hang on it; `parent` is the pose of the body around it, world
    /// frame.
    fn body(
        &mut self,
        index: usize,
        number: usize,
        parent: &Pose,
        is_written: &mut [bool],
    ) -> Result<(), Unsupported> {
        let model = &self.world.models[index];
        let link = &model.links[number];
        let place = || format!("{}::{}", model.name, link.name);
        if std::mem::replace(&mut is_written[number], true) {
            return Err(Unsupported::new(place(), "more than one joint above it"));
        }
        let at = parent.inverse().then(&link.pose);
        let (position, orientation) = placed(&at);
        let name = body_name(index, number);
        let attributes = [
            ("name", name.as_str()),
            ("pos", &position),
            ("quat", &orientation),
        ];
        self.open("body", &attributes);
        let above = model.joints.iter().enumerate();
        let mut above = above.filter(|(_, joint)| joint.child == number);
        match (above.next(), above.next()) {
            (None, _) => self.element("freejoint", &[]),
            (Some((joint, above)), None) => self.joint(index, joint, above, link)?,
            (Some(_), Some(_)) => {
                return Err(Unsupported::new(place(), "more than one joint above it"));
            }
        }
        self.inertial(link);
        for collision in &link.collisions {
            self.geom(collision, &collision.pose);
        }
        for joint in &model.joints {
            if joint.parent == JointParent::Link(number) {
                self.body(index, joint.child, &link.pose, is_written)?;
            }
        }
        self.close("body");
        Ok(())
    }

    fn joint(
        &mut self,
        model: usize,
        number: usize,
        joint: &Joint,
        link: &Link,
    ) -> Result<(), Unsupported> {
        let into_link = link.pose.inverse();
        let anchor = numbers(&into_link.then(&joint.pose).position);
        let name = joint_name(model, number);
        let named = [("name", name.as_str()), ("pos", &anchor)];
        match &joint.kind {
            JointKind::Fixed => {}
            JointKind::Ball => {
                let kind = [("type", "ball")];
                self.element("joint", &[&named[..], &kind].concat());
            }
            JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
                let direction = numbers(&into_link.rotate(axis.xyz));
                let limits = numbers(&[axis.lower, axis.upper]);
                let mut attributes = named.to_vec();
                attributes.extend([("type", "hinge"), ("axis", &direction)]);
                let is_limited = matches!(joint.kind, JointKind::Revolute(_));
                if is_limited && axis.lower.is_finite() && axis.upper.is_finite() {
                    attributes.push(("range", &limits));
                }
                self.element("joint", &attributes);
            }
            JointKind::Prismatic(_)
            | JointKind::Universal(_)
            | JointKind::Revolute2(_)
            | JointKind::Screw { .. }
            | JointKind::Gearbox { .. } => {
                let place = format!("{}::{}", self.world.models[model].name, joint.name);
                let what = format!("the type {}", joint.kind.name());
                return Err(Unsupported::new(place, what));
            }
        }
        Ok(())
    }

    fn inertial(&mut self, link: &Link) {
        let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = in_link_axes(&link.inertial);
        let position = numbers(&link.inertial.pose.position);
        let mass = link.inertial.mass.to_string();
        let matrix = numbers(&[xx, yy, zz, xy, xz, yz]);
        let attributes = [
            ("pos", position.as_str()),
            ("mass", &mass),
            ("fullinertia", &matrix),
        ];
        self.element("inertial", &attributes);
    }

    fn geom(&mut self, collision: &Collision, at: &Pose) {
        let (kind, size) = match &collision.geometry {
            Geometry::Box { size } => ("box", numbers(&size.map(|edge| edge / 2.0))),
            Geometry::Sphere { radius } => ("sphere", numbers(&[*radius])),
            Geometry::Cylinder { radius, length } => {
                ("cylinder", numbers(&[*radius, length / 2.0]))
            }
            Geometry::Plane { .. } => ("plane", "0 0 1".to_owned()),
            _ => return,
        };
        let (position, orientation) = placed(at);
        let friction = numbers(&[collision.surface.friction]);
        let attributes = [
            ("type", kind),
            ("size", &size),
            ("pos", &position),
            ("quat", &orientation),
            ("friction", &friction),
        ];
        self.element("geom", &attributes);
    }

    /// Links of one model pass through each other.
    fn exclusions(&mut self) {
        self.open("contact", &[]);
        for (index, model) in self.world.models.iter().enumerate() {
            if model.is_static || model.self_collide {
                continue;
            }
            for first in 0..model.links.len() {
                for second in first + 1..model.links.len() {
                    let names = [first, second].map(|link| body_name(index, link));
                    let pair = [("body1", names[0].as_str()), ("body2", &names[1])];
                    self.element("exclude", &pair);
                }
            }
        }
        self.close("contact");
    }

    fn motors(&mut self, motors: &[Motor]) {
        self.open("actuator", &[]);
        for motor in motors {
            let joint = joint_name(motor.model, motor.joint);
            let gain = MOTOR_GAIN.to_string();
            self.element("velocity", &[("joint", joint.as_str()), ("kv", &gain)]);
        }
        self.close("actuator");
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, "");
    }

    fn element(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, "/");
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], end: &str) {
        let mut text = name.to_owned();
        for (key, value) in attributes {
            let value = quick_xml::escape::escape(*value);
            write!(text, " {key}=\"{value}\"").expect("writing to a String cannot fail");
        }
        writeln!(self.out, "<{text}{end}>").expect("writing to a String cannot fail");
    }

    fn close(&mut self, name: &str) {
        writeln!(self.out, "</{name}>").expect("writing to a String cannot fail");
    }
}

/// Returns position and orientation; MJCF has w first.
fn placed(pose: &Pose) -> (String, String) {
    let [x, y, z, w] = pose.orientation_xyzw;
    (numbers(&pose.position), numbers(&[w, x, y, z]))
}

fn numbers(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(f64::to_string).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests;
