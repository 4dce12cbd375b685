//! Content of a world, in the words of the corpus: one JSON object per part, with the same keys.

use sdf::{
    Axis, Collision, Geometry, Joint, JointEnd, JointKind, JointParent, Link, LinkReference, Model,
    NamedFrame, Pose, Sensor, World,
};
use serde_json::{Value, json};

/// Limits from here on are none.
const NO_LIMIT: f64 = 1e16;

/// Describes a world and all its parts.
pub(crate) fn world(world: &World) -> Vec<Value> {
    let mut lines = vec![json!({
        "kind": "world",
        "name": world.name,
        "gravity": world.gravity,
        "magnetic_field": world.magnetic_field,
        "wind": world.wind,
        "physics": {
            "name": world.physics.name,
            "type": world.physics.kind,
            "max_step_size": world.physics.max_step_size_s,
            "real_time_factor": world.physics.real_time_factor,
        },
        "actors": world.actors.len(),
        "spherical": world.spherical_coordinates.as_ref().map(|place| [
            place.latitude.to_degrees(),
            place.longitude.to_degrees(),
            place.elevation,
            place.heading.to_degrees(),
        ]),
    })];
    for model in &world.models {
        self::model(model, &mut lines);
    }
    for joint in &world.joints {
        let name = |end: LinkReference| {
            let model = &world.models[end.model];
            format!("{}::{}", model.name, model.links[end.link].name)
        };
        let parent = match joint.parent {
            JointEnd::World => "world".to_owned(),
            JointEnd::Link(link) => name(link),
        };
        lines.push(self::joint(
            &joint.name,
            &joint.kind,
            &parent,
            &name(joint.child),
            &joint.pose,
        ));
    }
    lines.extend(world.frames.iter().map(|frame| self::frame(frame, "")));
    lines.iter_mut().for_each(without_numbers);
    lines
}

fn model(model: &Model, lines: &mut Vec<Value>) {
    let name = &model.name;
    let prefix = format!("{name}::");
    let canonical =
        |link: Option<&Link>| link.map_or(String::new(), |link| format!("{prefix}{}", link.name));
    lines.push(json!({
        "kind": "model",
        "name": name,
        "world_pose": pose(&model.pose),
        "static": model.is_static,
        "self_collide": model.self_collide,
        "allow_auto_disable": model.allow_auto_disable,
        "enable_wind": model.enable_wind,
        "canonical_link": canonical(model.links.get(model.canonical_link)),
    }));
    for nested in &model.nested {
        lines.push(json!({
            "kind": "model",
            "name": format!("{prefix}{}", nested.name),
            "world_pose": pose(&nested.pose),
            "static": nested.is_static,
            "self_collide": nested.self_collide,
            "canonical_link": canonical(nested.canonical_link.map(|index| &model.links[index])),
        }));
    }
    for link in &model.links {
        self::link(link, &prefix, lines);
    }
    for joint in &model.joints {
        let link = |index: usize| format!("{prefix}{}", model.links[index].name);
        let parent = match joint.parent {
            JointParent::World => "world".to_owned(),
            JointParent::Link(index) => link(index),
        };
        joint_and_sensors(joint, &prefix, &parent, &link(joint.child), lines);
    }
    lines.extend(model.frames.iter().map(|frame| self::frame(frame, &prefix)));
}

fn link(link: &Link, prefix: &str, lines: &mut Vec<Value>) {
    let [ixx, ixy, ixz, iyy, iyz, izz] = link.inertial.inertia;
    let name = format!("{prefix}{}", link.name);
    lines.push(json!({
        "kind": "link",
        "name": name,
        "world_pose": pose(&link.pose),
        "mass": link.inertial.mass,
        "inertia_diag": [ixx, iyy, izz],
        "inertia_off": [ixy, ixz, iyz],
        "com_pose": pose(&link.inertial.pose),
        "enable_wind": link.enable_wind,
        "enable_gravity": link.gravity,
        "kinematic": link.kinematic,
        "fluid_added_mass": link.inertial.fluid_added_mass.map(full_matrix),
    }));
    for collision in &link.collisions {
        lines.push(self::collision(collision, link, &name));
    }
    for sensor in &link.sensors {
        lines.push(self::sensor(sensor, &link.pose, &name));
    }
}

/// The upper triangle of a symmetric matrix by rows to all of it.
fn full_matrix(triangle: [f64; 21]) -> Vec<f64> {
    let at = |row: usize, column: usize| {
        let (row, column) = (row.min(column), row.max(column));
        triangle[row * 6 - row * (row + 1) / 2 + column]
    };
    (0..36).map(|index| at(index / 6, index % 6)).collect()
}

fn collision(collision: &Collision, link: &Link, link_name: &str) -> Value {
    json!({
        "kind": "collision",
        "name": format!("{link_name}::{}", collision.name),
        "world_pose": pose(&link.pose.then(&collision.pose)),
        "geometry": geometry(&collision.geometry),
        "mu": collision.surface.friction,
        "mu2": collision.surface.friction2,
        "restitution": collision.surface.restitution,
        "collide_bitmask": collision.surface.collide_bitmask,
    })
}

fn geometry(geometry: &Geometry) -> Value {
    match geometry {
        Geometry::Empty => json!({ "type": "empty" }),
        Geometry::Box { size } => json!({ "type": "box", "size": size }),
        Geometry::Sphere { radius } => json!({ "type": "sphere", "radius": radius }),
        Geometry::Cylinder { radius, length } => {
            json!({ "type": "cylinder", "radius": radius, "length": length })
        }
        Geometry::Capsule { radius, length } => {
            json!({ "type": "capsule", "radius": radius, "length": length })
        }
        Geometry::Ellipsoid { radii } => json!({ "type": "ellipsoid", "radii": radii }),
        Geometry::Cone { radius, length } => {
            json!({ "type": "cone", "radius": radius, "length": length })
        }
        Geometry::Plane { normal, size } => {
            json!({ "type": "plane", "normal": normal, "size": size })
        }
        Geometry::Polyline { outlines, .. } => {
            json!({ "type": "polyline", "count": outlines.len() })
        }
        Geometry::Mesh(mesh) => json!({
            "type": "mesh",
            "submesh": mesh.submesh,
            "center_submesh": mesh.center_submesh,
            "scale": mesh.scale,
        }),
        Geometry::Heightmap(map) => {
            json!({ "type": "heightmap", "size": map.size, "pos": map.position })
        }
    }
}

fn sensor(sensor: &Sensor, owner: &Pose, owner_name: &str) -> Value {
    json!({
        "kind": "sensor",
        "name": format!("{owner_name}::{}", sensor.name),
        "world_pose": pose(&owner.then(&sensor.pose)),
        "type": sensor.kind,
        "update_rate": sensor.update_rate,
        "topic": sensor.topic,
    })
}

fn joint_and_sensors(
    joint: &Joint,
    prefix: &str,
    parent: &str,
    child: &str,
    lines: &mut Vec<Value>,
) {
    let name = format!("{prefix}{}", joint.name);
    lines.push(self::joint(&name, &joint.kind, parent, child, &joint.pose));
    for sensor in &joint.sensors {
        lines.push(self::sensor(sensor, &joint.pose, &name));
    }
}

fn joint(name: &str, kind: &JointKind, parent: &str, child: &str, pose: &Pose) -> Value {
    let mut line = json!({
        "kind": "joint",
        "name": name,
        "type": kind.name(),
        "parent": parent,
        "child": child,
        "world_pose": self::pose(pose),
        "axes": kind.axes().iter().map(|axis| self::axis(axis, pose)).collect::<Vec<_>>(),
    });
    match kind {
        JointKind::Screw { thread_pitch, .. } => line["screw_thread_pitch"] = json!(thread_pitch),
        JointKind::Gearbox { ratio, .. } => line["gearbox_ratio"] = json!(ratio),
        _ => {}
    }
    line
}

fn axis(axis: &Axis, pose: &Pose) -> Value {
    json!({
        "xyz_joint": pose.inverse().rotate(axis.xyz),
        "xyz_world": axis.xyz,
        "lower": or_none(axis.lower),
        "upper": or_none(axis.upper),
        "effort": or_none(axis.effort),
        "velocity": or_none(axis.velocity),
        "damping": axis.damping,
        "friction": axis.friction,
        "spring_reference": axis.spring_reference,
        "spring_stiffness": axis.spring_stiffness,
        "limit_stiffness": axis.limit_stiffness,
        "limit_dissipation": axis.limit_dissipation,
    })
}

/// JSON has no infinity; the corpus writes it as text.
fn or_none(limit: f64) -> Value {
    match limit {
        limit if limit >= NO_LIMIT => json!("inf"),
        limit if limit <= -NO_LIMIT => json!("-inf"),
        limit => json!(limit),
    }
}

fn frame(frame: &NamedFrame, prefix: &str) -> Value {
    json!({
        "kind": "frame",
        "name": format!("{prefix}{}", frame.name),
        "world_pose": pose(&frame.pose),
        "attached_to": frame.attached_to,
        "body": frame.body,
    })
}

/// Position, then w, x, y, z.
fn pose(pose: &Pose) -> [f64; 7] {
    let (position, [x, y, z, w]) = (pose.position, pose.orientation_xyzw);
    [position[0], position[1], position[2], w, x, y, z]
}

/// Stand-ins of models that are not there have numbers after their names (`stub~3`), so that no two
/// have the same; libsdformat saw them without.
fn without_numbers(value: &mut Value) {
    match value {
        Value::String(text) => {
            let part = |part: &str| part.split('~').next().unwrap_or(part).to_owned();
            *text = text.split("::").map(part).collect::<Vec<_>>().join("::");
        }
        Value::Array(values) => values.iter_mut().for_each(without_numbers),
        Value::Object(values) => values.values_mut().for_each(without_numbers),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
