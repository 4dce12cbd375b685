//! [`Scene`]: scene that every engine of the bench `peers` is given, as SDF.
//!
//! Nobody falls asleep in them and nobody looks around: engines differ in when bodies sleep, and
//! not all of them have lidars.

use std::fmt::Write;

use sdf::{NoFiles, World, read_worlds};

use super::drive::Twist;

/// Number of boxes, and of spheres.
const BODIES: u32 = 1000;
/// Number of robots, of four links each.
const ROBOTS: u32 = 300;
/// Levels of boxes and spheres along x and y, and of robots.
const LEVELS: [u32; 2] = [2, 2];
const ROBOT_LEVELS: [u32; 2] = [4, 4];
/// Radius of a sphere \[m\], and its mass \[kg\].
const RADIUS: f64 = 0.1;
const MASS: f64 = 1.0;
/// From one sphere to the next \[m\].
const SPACING: f64 = 0.4;
/// Spheres in a row.
const ROW: u32 = 40;
/// Gravity that has all spheres roll along x: that of a slope of 3 degrees \[m/s^2\].
const SLOPE: [f64; 3] = [0.513, 0.0, -9.787];
/// Edge and height of a level of spheres \[m\]; four hold all of them.
const SPHERES_EDGE: f64 = 12.0;
const SPHERES_HEIGHT: f64 = 2.0;

/// A scene, and what is compared of it.
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    /// The world.
    pub sdf: String,
    /// Velocity that robots are told to have, if there are any.
    pub twist: Option<Twist>,
    /// Number of steps that are done unless another number is asked for.
    pub iterations: u64,
    /// Difference that the heights of its bodies may have in the end: lowest, each tenth, highest
    /// \[m\].
    pub tolerance: f64,
    /// By which part the ways that its models go may differ, in the median; none where all of them
    /// stay about where they are.
    pub way_tolerance: Option<f64>,
}

/// Returns all scenes.
pub fn scenes() -> [Scene; 3] {
    [
        Scene {
            name: "piles",
            sdf: awake(&sdf::generate_piles(BODIES, LEVELS)),
            twist: None,
            iterations: 1500,
            tolerance: 0.25,
            way_tolerance: None,
        },
        Scene {
            name: "spheres",
            sdf: awake(&generate_spheres(BODIES)),
            twist: None,
            iterations: 2000,
            tolerance: 0.01,
            way_tolerance: Some(0.1),
        },
        Scene {
            name: "robots",
            sdf: awake(&blind(&sdf::generate_fleet(ROBOTS, ROBOT_LEVELS))),
            twist: Some(Twist {
                ahead: 0.3,
                turning: 1.0,
            }),
            iterations: 2000,
            tolerance: 0.01,
            way_tolerance: Some(0.2),
        },
    ]
}

/// Returns the only world of a text that this program made.
///
/// # Panics
/// Panics if it is no such world.
pub fn read(name: &str, text: &str) -> World {
    let read = read_worlds(text, name, &NoFiles);
    let mut read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read.worlds.len(), 1, "{name} holds one world");
    read.worlds.swap_remove(0)
}

/// Has no model of a generated world fall asleep.
fn awake(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        if line.trim_start().starts_with("<model name=") {
            out.push_str("      <allow_auto_disable>false</allow_auto_disable>\n");
        }
    }
    out
}

/// Takes the sensors out of a generated world.
fn blind(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_sensor = false;
    for line in text.lines() {
        is_sensor |= line.trim_start().starts_with("<sensor ");
        if !is_sensor {
            out.push_str(line);
            out.push('\n');
        }
        is_sensor &= line.trim() != "</sensor>";
    }
    out
}

/// Returns a world of spheres in rows on a plane, which all roll along x.
fn generate_spheres(spheres: u32) -> String {
    let mut text = String::new();
    let [gx, gy, gz] = SLOPE;
    let mut line = |line: std::fmt::Arguments| {
        writeln!(text, "{line}").expect("writing to a String cannot fail");
    };
    line(format_args!("<sdf version=\"1.10\">"));
    line(format_args!("  <world name=\"spheres\">"));
    line(format_args!("    <gravity>{gx} {gy} {gz}</gravity>"));
    line(format_args!("    <model name=\"ground\">"));
    line(format_args!(
        "      <static>true</static><link name=\"link\"><collision name=\"collision\"><geometry>\
         <plane><normal>0 0 1</normal><size>50 50</size></plane></geometry></collision></link>"
    ));
    line(format_args!("    </model>"));
    let middle = [ROW, spheres.div_ceil(ROW)].map(|count| f64::from(count - 1) / 2.0);
    let moment = 0.4 * MASS * RADIUS * RADIUS;
    for number in 0..spheres {
        let x = (f64::from(number % ROW) - middle[0]) * SPACING;
        let y = (f64::from(number / ROW) - middle[1]) * SPACING;
        line(format_args!("    <model name=\"ball_{:04}\">", number + 1));
        line(format_args!(
            "      <pose>{x} {y} {RADIUS} 0 0 0</pose><link name=\"link\"><inertial>\
             <mass>{MASS}</mass><inertia><ixx>{moment:.6}</ixx><iyy>{moment:.6}</iyy>\
             <izz>{moment:.6}</izz></inertia></inertial><collision name=\"collision\"><geometry>\
             <sphere><radius>{RADIUS}</radius></sphere></geometry></collision></link>"
        ));
        line(format_args!("    </model>"));
    }
    line(format_args!(
        "    <plugin name=\"gz::sim\" filename=\"dummy\">"
    ));
    for (number, [x, y]) in [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
        .into_iter()
        .enumerate()
    {
        let [x, y] = [x, y].map(|side: f64| side * SPHERES_EDGE / 2.0);
        line(format_args!(
            "      <level name=\"level_{number}\"><pose>{x} {y} 0 0 0 0</pose><geometry><box>\
             <size>{SPHERES_EDGE} {SPHERES_EDGE} {SPHERES_HEIGHT}</size></box></geometry>\
             <buffer>2</buffer></level>"
        ));
    }
    line(format_args!("    </plugin>"));
    line(format_args!("  </world>"));
    line(format_args!("</sdf>"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::drive;
    use crate::peers::mjcf;

    #[test]
    fn every_scene_is_a_world_in_which_nobody_sleeps_or_looks_around() {
        for scene in scenes() {
            let world = read(scene.name, &scene.sdf);
            for model in &world.models {
                assert!(!model.allow_auto_disable, "{} {}", scene.name, model.name);
                let mut links = model.links.iter();
                assert!(links.all(|link| link.sensors.is_empty()), "{}", model.name);
            }
            assert!(world.levels.len() >= 4, "{} can be shared", scene.name);
        }
    }

    #[test]
    fn scenes_have_as_many_bodies_as_they_say() {
        let count = |scene: &Scene| {
            let world = read(scene.name, &scene.sdf);
            let models = world.models.iter().filter(|model| !model.is_static);
            models.map(|model| model.links.len()).sum::<usize>()
        };
        let counts = scenes().each_ref().map(count);
        assert_eq!(counts, [1000, 1000, 1200]);
    }

    #[test]
    fn every_scene_can_be_given_to_every_engine() {
        for scene in scenes() {
            let world = read(scene.name, &scene.sdf);
            let twist = scene.twist.unwrap_or(Twist {
                ahead: 0.0,
                turning: 0.0,
            });
            let motors = drive::motors(&world, |_| twist).unwrap();
            assert_eq!(motors.is_empty(), scene.twist.is_none(), "{}", scene.name);
            let written = mjcf::write(&world, &motors, 0.001);
            assert!(written.is_ok(), "{}: {written:?}", scene.name);
        }
    }

    #[test]
    fn spheres_begin_within_the_levels_and_touch_the_ground() {
        let scene = &scenes()[1];
        let world = read(scene.name, &scene.sdf);
        for model in world.models.iter().filter(|model| !model.is_static) {
            let [x, y, z] = model.pose.position;
            assert!(x.abs() < SPHERES_EDGE && y.abs() < SPHERES_EDGE);
            assert_eq!(z, RADIUS);
        }
    }
}
