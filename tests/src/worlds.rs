//! Small worlds for tests: of the rules here, of what happens at borders below.

pub mod driven;
pub mod lively;
pub mod scene;

use std::fmt::Write;

use sdf::World;

/// Returns a world of `levels` levels of 10 m side by side along x, each with a floor of its own
/// and `balls` balls on it, named `L0`... and `ball_0_0`...
///
/// # Panics
/// Never: the text is a valid world.
pub fn row(levels: u32, balls: u32) -> World {
    let mut text = String::from(
        "<sdf version='1.10'><world name='row'><physics type='dart'>\
         <max_step_size>0.001</max_step_size><real_time_factor>0</real_time_factor></physics>",
    );
    let mut plugin = String::from("<plugin name='gz::sim' filename='none'>");
    for level in 0..levels {
        let x = f64::from(level) * 10.0;
        let _ = write!(
            text,
            "<model name='floor_{level}'><static>true</static><pose>{x} 0 -0.5 0 0 0</pose>\
             <link name='l'><collision name='c'><geometry><box><size>10 10 1</size></box>\
             </geometry></collision></link></model>"
        );
        let _ = write!(
            plugin,
            "<level name='L{level}'><pose>{x} 0 2 0 0 0</pose><geometry><box><size>10 10 6</size>\
             </box></geometry><buffer>2</buffer><ref>floor_{level}</ref></level>"
        );
        for ball in 0..balls {
            let (dx, dy) = (f64::from(ball % 4) - 1.5, f64::from(ball / 4) - 1.5);
            let z = 0.5 + f64::from(ball) * 0.01;
            let _ = write!(
                text,
                "<model name='ball_{level}_{ball}'><pose>{} {dy} {z} 0.1 0.2 0</pose>\
                 <link name='l'><inertial><mass>1</mass><inertia><ixx>0.036</ixx><iyy>0.036</iyy>\
                 <izz>0.036</izz></inertia></inertial><collision name='c'><geometry><sphere>\
                 <radius>0.3</radius></sphere></geometry></collision></link></model>",
                x + dx
            );
        }
    }
    let _ = write!(text, "{plugin}</plugin></world></sdf>");
    read(&text)
}

/// Returns the commands, one a line, by which every robot of a generated fleet drives, each in a
/// bend of its own.
///
/// # Panics
/// Never: a text takes every line.
pub fn drive_in_bends(robots: u32) -> String {
    let mut script = String::new();
    for robot in 1..=robots {
        let speed = 1.2 + 0.1 * f64::from(robot % 5);
        let turn = 0.2 * (f64::from(robot % 3) - 1.0);
        let line = serde_json::json!({
            "iteration": 0,
            "topic": format!("/model/robot_{robot:04}/cmd_vel"),
            "type": "gz.msgs.Twist",
            "message": { "linear": { "x": speed }, "angular": { "z": turn } },
        });
        writeln!(script, "{line}").expect("writing to a String cannot fail");
    }
    script
}

/// Gives the first model that moves a camera, so that something in the world looks at others.
///
/// # Panics
/// Panics if nothing moves.
pub fn watch(world: &mut World) {
    let mut models = world.models.iter_mut();
    let model = models.find(|model| !model.is_static);
    let links = &mut model.expect("something moves").links;
    links[0].sensors.push(sensor("logical_camera", Vec::new()));
}

/// Gives every second model that moves a lidar of this range \[m\].
pub fn watch_within(world: &mut World, range: f64) {
    let element = |name: &str, nodes| sdf::Content {
        name: name.into(),
        nodes,
        ..sdf::Content::default()
    };
    let within = |name: &str, inner| element(name, vec![sdf::ContentNode::Element(inner)]);
    let max = element(
        "max",
        vec![sdf::ContentNode::Text(range.to_string().into())],
    );
    let lidar = within("lidar", within("range", max));
    let moving = world.models.iter_mut().filter(|model| !model.is_static);
    for model in moving.step_by(2) {
        let content = vec![sdf::ContentNode::Element(lidar.clone())];
        model.links[0].sensors.push(sensor("gpu_lidar", content));
    }
}

fn sensor(kind: &str, nodes: Vec<sdf::ContentNode>) -> sdf::Sensor {
    sdf::Sensor {
        name: "watcher".to_owned(),
        kind: kind.to_owned(),
        pose: sdf::Pose::IDENTITY,
        update_rate: 0.0,
        topic: String::new(),
        always_on: true,
        content: sdf::Content {
            name: "sensor".into(),
            nodes,
            ..sdf::Content::default()
        },
    }
}

/// Reads the one world of a text.
fn read(text: &str) -> World {
    let read = sdf::read_worlds(text, "test.sdf", &sdf::NoFiles)
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    read.worlds.into_iter().next().expect("it holds a world")
}
