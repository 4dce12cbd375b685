//! Worlds made to measure, for demos, benchmarks and tests; the same arguments give the same text.

mod piles;

use std::fmt::Write;

pub use piles::generate_piles;

/// Least edge length of a level \[m\]; levels grow when their robots need more room.
const LEVEL_EDGE_MIN: f64 = 10.0;
/// Height of a level \[m\].
const LEVEL_HEIGHT: f64 = 4.0;
/// Part of a level's height that is below its floor \[m\].
const LEVEL_BELOW_FLOOR: f64 = 0.5;
/// Width of the buffer around a level \[m\].
const BUFFER: f64 = 2.0;
/// Least distance between robots \[m\].
const SPACING_MIN: f64 = 0.6;
/// Free strip along the borders of a level \[m\]; pillars stand in it.
const MARGIN: f64 = 1.0;
/// The turn between one robot and the next \[rad\].
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// Returns SDF 1.10 text of a grid of levels with floors and pillars, and of wheeled robots that
/// are spread evenly over them, declared as performers, and dropped from a few centimetres.
///
/// A grid has at least one level in each direction. Robots are named `robot_0001` and so on,
/// levels `level_X_Y`.
///
/// # Panics
/// Never: writing to a `String` cannot fail.
pub fn generate_fleet(robots: u32, levels: [u32; 2]) -> String {
    let fleet = Fleet::new(robots, levels);
    let mut text = String::new();
    fleet
        .write(&mut text)
        .expect("writing to a String cannot fail");
    text
}

/// Sizes of the grid.
struct Fleet {
    robots: u32,
    levels: [u32; 2],
    level_edge: f64,
    /// Robots along one edge of a level.
    row: u32,
}

impl Fleet {
    fn new(robots: u32, levels: [u32; 2]) -> Self {
        let levels = levels.map(|count| count.max(1));
        let level_count = levels[0].saturating_mul(levels[1]);
        let row = f64::from(robots.div_ceil(level_count))
            .sqrt()
            .ceil()
            .max(1.0);
        let level_edge = LEVEL_EDGE_MIN.max(row * SPACING_MIN + 2.0 * MARGIN).ceil();
        Self {
            robots,
            levels,
            level_edge,
            row: row as u32,
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Self {
            robots,
            levels: [x, y],
            level_edge,
            ..
        } = self;
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(
            out,
            "<!-- A fleet: {robots} robots settle on {x} x {y} levels of {level_edge} m. -->"
        )?;
        writeln!(out, "<sdf version=\"1.10\">\n  <world name=\"fleet\">")?;
        writeln!(out, "    <physics name=\"1ms\" type=\"ignored\">")?;
        writeln!(out, "      <max_step_size>0.001</max_step_size>")?;
        writeln!(
            out,
            "      <real_time_factor>1</real_time_factor>\n    </physics>"
        )?;
        for level in self.level_indices() {
            self.write_static_models(out, level)?;
        }
        for robot in 0..self.robots {
            self.write_robot(out, robot)?;
        }
        writeln!(out, "    <plugin name=\"gz::sim\" filename=\"dummy\">")?;
        for level in self.level_indices() {
            self.write_level(out, level)?;
        }
        for robot in 0..self.robots {
            write_performer(out, robot)?;
        }
        writeln!(out, "    </plugin>\n  </world>\n</sdf>")
    }

    fn level_indices(&self) -> impl Iterator<Item = [u32; 2]> {
        let [columns, rows] = self.levels;
        (0..rows).flat_map(move |y| (0..columns).map(move |x| [x, y]))
    }

    /// Returns the middle of a level's floor; the grid is centred on the origin.
    fn level_center(&self, level: [u32; 2]) -> [f64; 2] {
        std::array::from_fn(|i| {
            (f64::from(level[i]) - f64::from(self.levels[i] - 1) / 2.0) * self.level_edge
        })
    }

    fn write_static_models(&self, out: &mut String, level: [u32; 2]) -> std::fmt::Result {
        let ([x, y], edge) = (self.level_center(level), self.level_edge);
        let tile = tile_name(level);
        let floor = format!("<box><size>{edge} {edge} 0.2</size></box>");
        write_static(out, &format!("floor_{tile}"), [x, y, -0.1], &floor)?;
        if has_pillar(level) {
            let offset = edge / 2.0 - MARGIN / 2.0;
            let pillar = "<cylinder><radius>0.2</radius><length>2</length></cylinder>";
            let center = [x + offset, y + offset, 1.0];
            write_static(out, &format!("pillar_{tile}"), center, pillar)?;
        }
        Ok(())
    }

    fn write_level(&self, out: &mut String, level: [u32; 2]) -> std::fmt::Result {
        let ([x, y], edge) = (self.level_center(level), self.level_edge);
        let z = LEVEL_HEIGHT / 2.0 - LEVEL_BELOW_FLOOR;
        let name = tile_name(level);
        writeln!(out, "      <level name=\"level_{name}\">")?;
        writeln!(out, "        <pose>{x} {y} {z} 0 0 0</pose>")?;
        writeln!(
            out,
            "        <geometry><box><size>{edge} {edge} {LEVEL_HEIGHT}</size></box></geometry>"
        )?;
        writeln!(out, "        <buffer>{BUFFER}</buffer>")?;
        writeln!(out, "        <ref>floor_{name}</ref>")?;
        if has_pillar(level) {
            writeln!(out, "        <ref>pillar_{name}</ref>")?;
        }
        writeln!(out, "      </level>")
    }

    fn write_robot(&self, out: &mut String, robot: u32) -> std::fmt::Result {
        let [columns, rows] = self.levels;
        let level_count = columns * rows;
        let (level, slot) = (robot % level_count, robot / level_count);
        let center = self.level_center([level % columns, level / columns]);
        let spacing = (self.level_edge - 2.0 * MARGIN) / f64::from(self.row);
        let place = |i: usize, slot: u32| {
            center[i] + (f64::from(slot) - f64::from(self.row - 1) / 2.0) * spacing
        };
        let (x, y) = (place(0, slot % self.row), place(1, slot / self.row));
        let z = 0.02 + 0.01 * f64::from(robot % 4);
        let roll = 0.02 * (f64::from(robot % 3) - 1.0);
        let pitch = 0.01 * (f64::from(robot % 5) - 2.0);
        let yaw = (f64::from(robot) * GOLDEN_ANGLE) % std::f64::consts::TAU;
        writeln!(out, "    <model name=\"{}\">", robot_name(robot))?;
        writeln!(
            out,
            "      <pose>{x:.4} {y:.4} {z:.2} {roll:.2} {pitch:.2} {yaw:.4}</pose>"
        )?;
        out.push_str(ROBOT_PARTS);
        writeln!(out, "    </model>")
    }
}

fn has_pillar([x, y]: [u32; 2]) -> bool {
    (x + y).is_multiple_of(2)
}

fn tile_name([x, y]: [u32; 2]) -> String {
    format!("{x}_{y}")
}

fn robot_name(robot: u32) -> String {
    format!("robot_{:04}", u64::from(robot) + 1)
}

fn write_static(
    out: &mut String,
    name: &str,
    [x, y, z]: [f64; 3],
    geometry: &str,
) -> std::fmt::Result {
    writeln!(
        out,
        "    <model name=\"{name}\">\n      <static>true</static>"
    )?;
    writeln!(
        out,
        "      <pose>{x} {y} {z} 0 0 0</pose>\n      <link name=\"link\">"
    )?;
    writeln!(out, "        <collision name=\"collision\">")?;
    writeln!(
        out,
        "          <geometry>{geometry}</geometry>\n        </collision>"
    )?;
    writeln!(out, "      </link>\n    </model>")
}

fn write_performer(out: &mut String, robot: u32) -> std::fmt::Result {
    let name = robot_name(robot);
    writeln!(
        out,
        "      <performer name=\"performer_{name}\">\n        <ref>{name}</ref>"
    )?;
    writeln!(
        out,
        "        <geometry><box><size>0.4 0.4 0.4</size></box></geometry>"
    )?;
    writeln!(out, "      </performer>")
}

/// A two-wheeled base with a caster; its origin is on the floor, and inertias are those of solid
/// bodies of the masses given. A `DiffDrive` system turns the axles, and a lidar looks around.
const ROBOT_PARTS: &str = include_str!("generate/robot_parts.xml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoFiles, World, read_worlds};

    fn fleet(robots: u32, levels: [u32; 2]) -> World {
        let text = generate_fleet(robots, levels);
        let mut read = read_worlds(&text, "fleet.sdf", &NoFiles).unwrap();
        assert_eq!(read.warnings, []);
        read.worlds.swap_remove(0)
    }

    #[test]
    fn every_robot_is_a_performer_within_the_level_of_its_turn() {
        let world = fleet(50, [3, 2]);
        assert_eq!((world.levels.len(), world.performers.len()), (6, 50));
        let robots: Vec<_> = world
            .models
            .iter()
            .filter(|model| !model.is_static)
            .collect();
        for (index, robot) in robots.iter().enumerate() {
            assert_eq!(robot.name, world.performers[index].model);
            let level = &world.levels[index % 6];
            for i in 0..3 {
                let distance = (robot.pose.position[i] - level.center[i]).abs();
                assert!(
                    distance + 0.2 <= level.size[i] / 2.0,
                    "{} {}",
                    robot.name,
                    level.name
                );
            }
        }
    }

    #[test]
    fn robots_start_above_the_floor_and_apart_even_when_a_level_is_crowded() {
        let world = fleet(400, [1, 1]);
        let robots: Vec<_> = world
            .models
            .iter()
            .filter(|model| !model.is_static)
            .collect();
        for (index, robot) in robots.iter().enumerate() {
            assert!(
                robot.collision_bounds().unwrap().0[2] > 0.0,
                "{}",
                robot.name
            );
            for other in &robots[..index] {
                let [x, y, _] =
                    std::array::from_fn(|i| robot.pose.position[i] - other.pose.position[i]);
                assert!(x.hypot(y) > 0.4, "{} and {}", robot.name, other.name);
            }
        }
    }

    #[test]
    fn the_first_line_says_what_the_world_shows() {
        let text = generate_fleet(2, [0, 1]);
        assert_eq!(
            text.lines().nth(1).unwrap(),
            "<!-- A fleet: 2 robots settle on 1 x 1 levels of 10 m. -->"
        );
    }
}
