//! Robots that are driven by what is said on their topics, over levels side by side.

use std::fmt::Write;

use protocol::Command;
use sdf::World;
use serde_json::json;

use super::scene::{Scene, Surface, ball_link, cuboid_link};

/// Number of robots.
pub const ROBOTS: u64 = 2;

/// Two robots with differential drives on a floor of four levels.
pub fn world() -> World {
    let mut scene = Scene::new("driven", [0.0, 0.0, -9.8]);
    let floor = [0.0, 0.0, -0.5, 0.0, 0.0, 0.0];
    scene.fixed("floor", floor, [20.0, 20.0, 1.0], Surface::rough(1.0));
    for index in 0..ROBOTS {
        let y = index as f64 - 0.5;
        let pose = [-0.05 + 0.1 * index as f64, y, 0.0, 0.0, 0.0, 0.0];
        let name = format!("robot_{index}");
        scene.model(&name, pose, &robot());
    }
    scene.levels_along_x(-2.0, 1.0, 4, 0.3, |_| vec!["floor".to_owned()]);
    scene.build()
}

/// Returns the command that drives a robot at a speed \[m/s\].
///
/// # Panics
/// Never: the message is of its kind.
pub fn drive(robot: u64, speed: f64) -> Command {
    let kind = messages::find("gz.msgs.Twist").expect("twists are known");
    let message = json!({ "linear": { "x": speed }, "angular": { "z": 0.2 } });
    Command::Publish {
        topic: format!("/model/robot_{robot}/cmd_vel"),
        kind: "gz.msgs.Twist".to_owned(),
        body: kind.from_json(message).expect("it is a twist"),
    }
}

fn robot() -> String {
    let mut parts = cuboid_link(
        "chassis",
        [0.0, 0.0, 0.15, 0.0, 0.0, 0.0],
        [0.4, 0.2, 0.1],
        Surface::ICE,
    );
    parts += &ball_link(
        "caster",
        [-0.15, 0.0, 0.05, 0.0, 0.0, 0.0],
        0.05,
        Surface::ICE,
    );
    parts +=
        "<joint name='swivel' type='ball'><parent>chassis</parent><child>caster</child></joint>";
    for (side, y) in [("left", 0.15), ("right", -0.15)] {
        parts += &ball_link(side, [0.1, y, 0.1, 0.0, 0.0, 0.0], 0.1, Surface::rough(1.0));
        let _ = write!(
            parts,
            "<joint name='{side}_axle' type='revolute'><parent>chassis</parent>\
             <child>{side}</child><axis><xyz>0 1 0</xyz></axis></joint>"
        );
    }
    parts += "<plugin name='gz::sim::systems::DiffDrive' filename='gz-sim-diff-drive-system'>\
              <left_joint>left_axle</left_joint><right_joint>right_axle</right_joint>\
              <wheel_separation>0.3</wheel_separation><wheel_radius>0.1</wheel_radius></plugin>";
    parts
}
