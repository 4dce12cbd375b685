//! Shapes of messages of sensors, in the form of `foxglove.SceneUpdate`: contacts as arrows, boxes
//! in space as cubes with their labels.

use protocol::LinkPose;
use serde_json::{Value, json};

use super::drawing::{empty, push};
use super::sensing::SensorPlace;
use super::{WORLD_FRAME, color, pose, time, vector};
use crate::geometry::{IDENTITY, compose};

/// Time for which contacts are drawn: nothing is said when they end \[s\].
const CONTACT_S: u32 = 1;
/// Length of an arrow at a contact \[m\].
const ARROW: f64 = 0.2;
/// The most contacts, and the most boxes, that are drawn of a message.
const SHAPES_MAX: usize = 1000;
/// Colour of contacts.
const MAGENTA: [f64; 4] = [0.82, 0.0, 0.36, 1.0];
/// Colour of boxes.
const YELLOW: [f64; 4] = [1.0, 0.8, 0.1, 0.3];

/// Returns the contacts of a message: at each point an arrow along its normal, world frame.
pub(super) fn contacts(message: &Value, time_ns: u64) -> Option<Value> {
    let mut entity = empty("contacts", WORLD_FRAME, time_ns);
    entity["lifetime"] = json!({ "sec": CONTACT_S, "nsec": 0 });
    let points = message["contact"].as_array()?.iter().flat_map(|contact| {
        let list = |key: &str| contact[key].as_array().into_iter().flatten();
        list("position").zip(list("normal"))
    });
    for (position, normal) in points.take(SHAPES_MAX) {
        let (Some(at), Some(along)) = (numbers(position), numbers(normal)) else {
            continue;
        };
        let [x, y, z, w] = turn_of_x_to(along);
        let arrow = json!({
            "pose": pose(&[at[0], at[1], at[2], x, y, z, w]),
            "shaft_length": 0.7 * ARROW, "shaft_diameter": 0.1 * ARROW,
            "head_length": 0.3 * ARROW, "head_diameter": 0.25 * ARROW, "color": color(MAGENTA),
        });
        push(&mut entity, "arrows", arrow);
    }
    Some(update(&entity, time_ns))
}

/// Returns the boxes of a message with their labels, in the frame that their sensor is fixed to.
pub(super) fn boxes(message: &Value, place: Option<&SensorPlace>, time_ns: u64) -> Option<Value> {
    let (frame, sensor) = place.map_or((WORLD_FRAME, IDENTITY), |place| (&place.frame, place.pose));
    let mut entity = empty("boxes", frame, time_ns);
    for found in message["annotated_box"].as_array()?.iter().take(SHAPES_MAX) {
        let space = &found["box"];
        let (Some(middle), Some(size)) = (numbers(&space["center"]), numbers(&space["boxsize"]))
        else {
            continue;
        };
        let turn = &space["orientation"];
        let part = |key: &str, without: f64| turn[key].as_f64().unwrap_or(without);
        let [x, y, z] = middle;
        let own: LinkPose = [
            x,
            y,
            z,
            part("x", 0.0),
            part("y", 0.0),
            part("z", 0.0),
            part("w", 1.0),
        ];
        let at = compose(&sensor, &own);
        let cube = json!({ "pose": pose(&at), "size": vector(size), "color": color(YELLOW) });
        push(&mut entity, "cubes", cube);
        let label = json!({
            "pose": pose(&at), "billboard": true, "font_size": 14.0, "scale_invariant": true,
            "color": color([0.0, 0.0, 0.0, 1.0]), "text": found["label"].to_string(),
        });
        push(&mut entity, "texts", label);
    }
    Some(update(&entity, time_ns))
}

/// Returns an update after which there is one entity and nothing else of its topic.
fn update(entity: &Value, time_ns: u64) -> Value {
    let deletion = json!({ "timestamp": time(time_ns), "type": 1, "id": "" });
    json!({ "deletions": [deletion], "entities": [entity] })
}

/// Returns three coordinates, which are 0 where they are left out; none if one is not finite.
fn numbers(vector: &Value) -> Option<[f64; 3]> {
    let part = |key: &str| match &vector[key] {
        Value::Null => Some(0.0),
        number => number.as_f64().filter(|number| number.is_finite()),
    };
    Some([part("x")?, part("y")?, part("z")?])
}

/// Returns the turn that takes x to a direction, as a unit quaternion.
fn turn_of_x_to(along: [f64; 3]) -> [f64; 4] {
    let length = along.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length < 1e-12 || !length.is_finite() {
        return [0.0, 0.0, 0.0, 1.0];
    }
    let [x, y, z] = along.map(|part| part / length);
    if x < -1.0 + 1e-9 {
        return [0.0, 0.0, 1.0, 0.0];
    }
    let w = f64::midpoint(1.0, x).sqrt();
    [0.0, -z / (2.0 * w), y / (2.0 * w), w]
}

#[cfg(test)]
mod tests {
    use messages::geometry::Vector3d;
    use messages::sensor::{AnnotatedOriented3DBox, AnnotatedOriented3DBoxV, Contact, Contacts};

    use super::*;

    /// Returns a message as recordings have it.
    fn told<M: messages::Message>(message: &M) -> Value {
        let kind = messages::find(M::KIND).unwrap();
        kind.to_recorded_json(&messages::encode(message)).unwrap()
    }

    fn at(x: f64, y: f64, z: f64) -> Vector3d {
        Vector3d {
            x,
            y,
            z,
            ..Vector3d::default()
        }
    }

    #[test]
    fn contacts_are_arrows_along_their_normals_for_a_while() {
        let contact = Contact {
            position: vec![at(1.0, 2.0, 0.0), at(f64::NAN, 0.0, 0.0), at(3.0, 0.0, 0.0)],
            normal: vec![at(0.0, 0.0, 1.0), at(0.0, 0.0, 1.0), at(-1.0, 0.0, 0.0)],
            ..Contact::default()
        };
        let all = Contacts {
            contact: vec![contact],
            ..Contacts::default()
        };
        let drawn = contacts(&told(&all), 5).unwrap();
        let entity = &drawn["entities"][0];
        assert_eq!(
            (&entity["frame_id"], &entity["lifetime"]["sec"]),
            (&json!("world"), &json!(1))
        );
        let arrows = entity["arrows"].as_array().unwrap();
        assert_eq!(arrows.len(), 2, "what is nowhere is not drawn");
        for (arrow, along) in arrows.iter().zip([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]) {
            let turn = &arrow["pose"]["orientation"];
            let part = |key: &str| turn[key].as_f64().unwrap();
            let turn = [0.0, 0.0, 0.0, part("x"), part("y"), part("z"), part("w")];
            let tip = compose(&turn, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
            for axis in 0..3 {
                assert!((tip[axis] - along[axis]).abs() < 1e-12, "{tip:?}");
            }
        }
    }

    #[test]
    fn boxes_in_space_are_where_their_sensor_sees_them() {
        let mut found = AnnotatedOriented3DBox {
            label: 7,
            ..AnnotatedOriented3DBox::default()
        };
        (found.r#box.center, found.r#box.boxsize) = (at(4.0, 0.0, 0.0), at(1.0, 2.0, 3.0));
        found.r#box.orientation.w = 1.0;
        let all = AnnotatedOriented3DBoxV {
            annotated_box: vec![found],
            ..AnnotatedOriented3DBoxV::default()
        };
        let place = SensorPlace {
            frame: "rover::base".to_owned(),
            pose: [1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0],
            own_frame: "rover::base::eye".to_owned(),
            topic: "/boxes".to_owned(),
            is_camera: true,
        };
        let drawn = boxes(&told(&all), Some(&place), 5).unwrap();
        let entity = &drawn["entities"][0];
        assert_eq!(entity["frame_id"], "rover::base");
        let cube = &entity["cubes"][0];
        let middle = json!({ "x": 5.0, "y": 0.0, "z": 0.5 });
        assert_eq!(
            (&cube["pose"]["position"], &cube["size"]["z"]),
            (&middle, &json!(3.0))
        );
        assert_eq!(entity["texts"][0]["text"], "7");
    }
}
