//! Tests the report of a small world that holds one of everything.

use sdf::{
    Axis, Collision, Geometry, Joint, JointKind, JointParent, Link, Model, NestedModel, Pose, World,
};
use serde_json::{Value, json};

use super::ResolvedWorld;

fn pose(x: f64) -> Pose {
    Pose::from_xyz_rpy([x, 0.0, 0.0], [0.0, 0.0, std::f64::consts::FRAC_PI_2])
}

/// A world with a model of two links, the second of which is in a model within it.
fn world() -> Value {
    let mut base = Link::new("base", pose(1.0));
    let shape = Geometry::Box {
        size: [1.0, 2.0, 3.0],
    };
    base.collisions
        .push(Collision::new("shape", pose(1.0), shape));
    let wheel = Link::new("wheel::rim", pose(2.0));
    let axis = Axis {
        xyz: [0.0, 1.0, 0.0],
        lower: -1.0,
        ..Axis::default()
    };
    let parent = JointParent::Link(0);
    let joint = Joint::new(
        "wheel::hinge",
        JointKind::Revolute(axis),
        parent,
        1,
        pose(2.0),
    );
    let mut model = Model::new("robot", vec![base, wheel], vec![joint]);
    model.nested.push(NestedModel {
        name: "wheel".to_owned(),
        is_static: false,
        self_collide: false,
        pose: pose(2.0),
        canonical_link: Some(1),
        plugins: Vec::new(),
    });
    let world = World {
        name: "w".to_owned(),
        models: vec![model],
        ..World::default()
    };
    serde_json::to_value(ResolvedWorld::of(&world)).unwrap()
}

#[test]
fn models_in_models_are_listed_with_what_they_hold() {
    let world = world();
    let names = |list: &Value| {
        let names = list
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["name"].clone());
        Value::Array(names.collect())
    };
    assert_eq!(names(&world["models"]), json!(["robot", "robot::wheel"]));
    let [robot, wheel] = &world["models"].as_array().unwrap()[..] else {
        panic!("{world}");
    };
    assert_eq!(names(&robot["links"]), json!(["robot::base"]));
    assert_eq!(names(&wheel["links"]), json!(["robot::wheel::rim"]));
    assert_eq!(names(&robot["joints"]), json!([]));
    assert_eq!(names(&wheel["joints"]), json!(["robot::wheel::hinge"]));
    assert_eq!(wheel["canonical_link"], "robot::wheel::rim");
}

#[test]
fn shapes_have_their_type_and_their_pose_in_the_world() {
    let collision = &world()["models"][0]["links"][0]["collisions"][0];
    assert_eq!(collision["name"], "robot::base::shape");
    assert_eq!(
        collision["geometry"],
        json!({ "type": "box", "size": [1.0, 2.0, 3.0] })
    );
    let found: [f64; 6] = serde_json::from_value(collision["pose"].clone()).unwrap();
    let expect = [1.0, 1.0, 0.0, 0.0, 0.0, std::f64::consts::PI];
    for (a, b) in found.iter().zip(expect) {
        assert!((a.abs() - b).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn joints_name_their_links_and_have_null_for_no_limit() {
    let joint = &world()["models"][1]["joints"][0];
    assert_eq!(joint["type"], "revolute");
    assert_eq!(joint["parent"], "robot::base");
    assert_eq!(joint["child"], "robot::wheel::rim");
    let axis = &joint["axes"][0];
    assert_eq!(
        (&axis["lower"], &axis["upper"]),
        (&json!(-1.0), &Value::Null)
    );
    assert_eq!(axis["xyz"], json!([0.0, 1.0, 0.0]));
    assert!(
        (axis["xyz_joint"][0].as_f64().unwrap() - 1.0).abs() < 1e-12,
        "{axis}"
    );
}
