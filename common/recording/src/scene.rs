//! Models and levels as `foxglove.SceneUpdate`, so that viewers draw bodies and not frames of
//! reference alone: the boxes around models, static or not, and those of levels.

use protocol::SimTime;
use protocol::report::{Layout, ModelOutline};
use serde_json::{Value, json};

use crate::content::{Stamp, WORLD_FRAME};

/// Beyond this a box is that of a plane and is not drawn \[m\].
const SIZE_MAX: f64 = 1e5;

const STATIC: [f64; 4] = [0.55, 0.55, 0.6, 0.9];
const PERFORMER: [f64; 4] = [0.2, 0.6, 1.0, 0.9];
const LEVEL: [f64; 4] = [0.3, 0.8, 0.4, 0.12];

/// Returns the scene of a layout.
pub(crate) fn scene(layout: &Layout, time: SimTime) -> Value {
    let mut entities = Vec::new();
    for level in &layout.levels {
        let id = format!("level {}", level.name);
        entities.extend(entity(
            &id,
            [level.min, level.max],
            LEVEL,
            WORLD_FRAME,
            time,
        ));
    }
    for model in &layout.statics {
        let corners = [model.min, model.max];
        entities.extend(entity(&model.name, corners, STATIC, WORLD_FRAME, time));
    }
    for performer in &layout.performers {
        let corners = around_origin(performer);
        entities.extend(entity(
            &performer.name,
            corners,
            PERFORMER,
            &performer.name,
            time,
        ));
    }
    json!({ "deletions": [deletion(time)], "entities": entities })
}

/// Returns the box around a performer in its own frame: where the box is at the start says how
/// large it is, and models seldom stick out to one side.
fn around_origin(performer: &ModelOutline) -> [[f64; 3]; 2] {
    let half = |axis: usize| (performer.max[axis] - performer.min[axis]) / 2.0;
    let half = [half(0), half(1), half(2)];
    [[-half[0], -half[1], 0.0], [half[0], half[1], 2.0 * half[2]]]
}

/// Everything that was shown before goes.
fn deletion(time: SimTime) -> Value {
    json!({ "timestamp": Stamp::from(time), "type": 1, "id": "" })
}

fn entity(
    id: &str,
    [min, max]: [[f64; 3]; 2],
    [r, g, b, a]: [f64; 4],
    frame: &str,
    time: SimTime,
) -> Option<Value> {
    let size = [0, 1, 2].map(|axis| max[axis] - min[axis]);
    if !size.iter().all(|length| (0.0..SIZE_MAX).contains(length)) {
        return None;
    }
    let middle = [0, 1, 2].map(|axis| min[axis].midpoint(max[axis]));
    Some(json!({
        "timestamp": Stamp::from(time),
        "frame_id": frame,
        "id": id,
        "lifetime": Stamp::default(),
        "frame_locked": true,
        "metadata": [],
        "arrows": [], "spheres": [], "cylinders": [], "lines": [], "triangles": [],
        "texts": [], "models": [],
        "cubes": [{
            "pose": {
                "position": { "x": middle[0], "y": middle[1], "z": middle[2] },
                "orientation": { "x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0 },
            },
            "size": { "x": size[0], "y": size[1], "z": size[2] },
            "color": { "r": r, "g": g, "b": b, "a": a },
        }],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_not_drawn_and_performers_are_in_their_own_frame() {
        let outline = |name: &str, min, max| ModelOutline {
            name: name.to_owned(),
            min,
            max,
        };
        let layout = Layout {
            levels: Vec::new(),
            statics: vec![
                outline("ground", [f64::NEG_INFINITY; 3], [f64::INFINITY; 3]),
                outline("wall", [0.0; 3], [2.0, 4.0, 6.0]),
            ],
            performers: vec![outline("rover", [9.0, 9.0, 0.0], [11.0, 11.0, 1.0])],
        };
        let scene = scene(&layout, SimTime(0));
        let entities = scene["entities"].as_array().unwrap();
        assert_eq!(entities.len(), 2);
        assert_eq!(entities[0]["cubes"][0]["pose"]["position"]["z"], 3.0);
        assert_eq!(entities[1]["frame_id"], "rover");
        assert_eq!(entities[1]["cubes"][0]["pose"]["position"]["x"], 0.0);
    }
}
