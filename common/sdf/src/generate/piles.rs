//! Boxes that fall and pile up on the borders of adjoining levels, where several cells must solve
//! one heap of contacts exactly.

use std::fmt::Write;

use super::{
    BUFFER, GOLDEN_ANGLE, LEVEL_BELOW_FLOOR, LEVEL_EDGE_MIN, LEVEL_HEIGHT, tile_name, write_static,
};

/// Edge lengths of the boxes, which take turns \[m\].
const BOX_SIZES: [[f64; 3]; 3] = [[0.4, 0.3, 0.2], [0.3, 0.3, 0.3], [0.5, 0.25, 0.25]];
/// Density of the boxes \[kg/m^3\].
const DENSITY: f64 = 400.0;
/// Distance of boxes at the start, more than any reaches from corner to corner \[m\].
const SPACING: f64 = 0.7;
/// Height of the lowest boxes at the start \[m\].
const LOWEST: f64 = 0.5;
/// Offset of each layer against the one below, so that towers topple \[m\].
const SHIFT: f64 = 0.08;
/// Least width of a level, in widths of a pile at the start.
const ROOM: f64 = 4.0;

/// Returns SDF 1.10 text of a grid of levels with floors, and of boxes that fall in piles where
/// levels meet: at every corner of four levels and at the middle of every border of two. One level
/// alone has one pile in its middle.
///
/// A grid has at least one level in each direction. Boxes are named `box_0001` and so on, levels
/// `level_X_Y`.
///
/// # Panics
/// Never: writing to a `String` cannot fail.
pub fn generate_piles(boxes: u32, levels: [u32; 2]) -> String {
    let piles = Piles::new(boxes, levels);
    let mut text = String::new();
    piles
        .write(&mut text)
        .expect("writing to a String cannot fail");
    text
}

/// Sizes of the grid and where the piles are.
struct Piles {
    boxes: u32,
    levels: [u32; 2],
    level_edge: f64,
    level_height: f64,
    /// Boxes along one edge of a pile.
    row: u32,
    sites: Vec<[f64; 2]>,
}

impl Piles {
    fn new(boxes: u32, levels: [u32; 2]) -> Self {
        let levels = levels.map(|count| count.max(1));
        let sites = sites(levels);
        let boxes_per_pile = boxes.div_ceil(sites.len() as u32);
        let row = f64::from(boxes_per_pile).cbrt().ceil().max(1.0);
        let level_edge = LEVEL_EDGE_MIN.max(row * SPACING * ROOM).ceil();
        let layers = f64::from(boxes_per_pile.div_ceil((row * row) as u32));
        let level_height = (LEVEL_BELOW_FLOOR + LOWEST + layers * SPACING).ceil();
        Self {
            boxes,
            levels,
            level_edge,
            level_height: LEVEL_HEIGHT.max(level_height),
            row: row as u32,
            sites: sites
                .iter()
                .map(|site| site.map(|place| place * level_edge))
                .collect(),
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let [x, y] = self.levels;
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        let (boxes, edge) = (self.boxes, self.level_edge);
        let piles = boxes.min(self.sites.len() as u32);
        writeln!(
            out,
            "<!-- Piles: {boxes} boxes fall on {piles} places where {x} x {y} levels of {edge} m \
             meet. -->"
        )?;
        writeln!(out, "<sdf version=\"1.10\">\n  <world name=\"piles\">")?;
        writeln!(out, "    <physics name=\"1ms\" type=\"ignored\">")?;
        writeln!(out, "      <max_step_size>0.001</max_step_size>")?;
        writeln!(
            out,
            "      <real_time_factor>1</real_time_factor>\n    </physics>"
        )?;
        let tiles: Vec<[u32; 2]> = (0..y).flat_map(|y| (0..x).map(move |x| [x, y])).collect();
        for tile in &tiles {
            let floor = format!("<box><size>{edge} {edge} 0.2</size></box>");
            let [x, y] = self.level_center(*tile);
            let name = format!("floor_{}", tile_name(*tile));
            write_static(out, &name, [x, y, -0.1], &floor)?;
        }
        for number in 0..self.boxes {
            self.write_box(out, number)?;
        }
        writeln!(out, "    <plugin name=\"gz::sim\" filename=\"dummy\">")?;
        for tile in &tiles {
            self.write_level(out, *tile)?;
        }
        writeln!(out, "    </plugin>\n  </world>\n</sdf>")
    }

    /// Returns the middle of a level's floor; the grid is centred on the origin.
    fn level_center(&self, tile: [u32; 2]) -> [f64; 2] {
        std::array::from_fn(|i| {
            (f64::from(tile[i]) - f64::from(self.levels[i] - 1) / 2.0) * self.level_edge
        })
    }

    fn write_box(&self, out: &mut String, number: u32) -> std::fmt::Result {
        let piles = self.sites.len() as u32;
        let (place, slot) = (self.sites[(number % piles) as usize], number / piles);
        let layer = slot / (self.row * self.row);
        let in_layer = [slot % self.row, slot / self.row % self.row];
        let angle = f64::from(layer) * GOLDEN_ANGLE;
        let shift = [angle.cos(), angle.sin()].map(|part| part * SHIFT);
        let [x, y] = std::array::from_fn(|i| {
            let column = f64::from(in_layer[i]) - f64::from(self.row - 1) / 2.0;
            place[i] + column * SPACING + shift[i]
        });
        let z = LOWEST + f64::from(layer) * SPACING;
        let turn = (f64::from(number) * GOLDEN_ANGLE) % std::f64::consts::TAU;
        let tilt = 0.1 * (f64::from(number % 5) - 2.0);
        let size = BOX_SIZES[(number % 3) as usize];
        writeln!(out, "    <model name=\"box_{:04}\">", u64::from(number) + 1)?;
        writeln!(
            out,
            "      <pose>{x:.4} {y:.4} {z:.2} {tilt:.1} 0 {turn:.4}</pose>"
        )?;
        write_solid(out, size)?;
        writeln!(out, "    </model>")
    }

    fn write_level(&self, out: &mut String, tile: [u32; 2]) -> std::fmt::Result {
        let ([x, y], edge) = (self.level_center(tile), self.level_edge);
        let (name, height) = (tile_name(tile), self.level_height);
        let z = height / 2.0 - LEVEL_BELOW_FLOOR;
        writeln!(out, "      <level name=\"level_{name}\">")?;
        writeln!(out, "        <pose>{x} {y} {z} 0 0 0</pose>")?;
        writeln!(
            out,
            "        <geometry><box><size>{edge} {edge} {height}</size></box></geometry>"
        )?;
        writeln!(out, "        <buffer>{BUFFER}</buffer>")?;
        writeln!(out, "        <ref>floor_{name}</ref>\n      </level>")
    }
}

/// Returns where piles are, in edges of a level from the middle of the grid: corners of four
/// levels, then borders across x, then borders across y; else the middle.
fn sites([columns, rows]: [u32; 2]) -> Vec<[f64; 2]> {
    let half = [columns, rows].map(|count| f64::from(count) / 2.0);
    let inner = |count: u32| (1..count).map(f64::from);
    let middles = |count: u32| (0..count).map(|index| f64::from(index) + 0.5);
    let mut sites = Vec::new();
    for y in inner(rows) {
        sites.extend(inner(columns).map(|x| [x, y]));
    }
    for y in middles(rows) {
        sites.extend(inner(columns).map(|x| [x, y]));
    }
    for y in inner(rows) {
        sites.extend(middles(columns).map(|x| [x, y]));
    }
    if sites.is_empty() {
        sites.push(half);
    }
    let from_middle = |site: &[f64; 2]| [site[0] - half[0], site[1] - half[1]];
    sites.iter().map(from_middle).collect()
}

fn write_solid(out: &mut String, size: [f64; 3]) -> std::fmt::Result {
    let [x, y, z] = size;
    let mass = x * y * z * DENSITY;
    let inertia = |a: f64, b: f64| mass / 12.0 * (a * a + b * b);
    writeln!(out, "      <link name=\"link\">")?;
    writeln!(out, "        <inertial>\n          <mass>{mass:.3}</mass>")?;
    writeln!(
        out,
        "          <inertia><ixx>{:.6}</ixx><iyy>{:.6}</iyy><izz>{:.6}</izz></inertia>",
        inertia(y, z),
        inertia(x, z),
        inertia(x, y)
    )?;
    writeln!(out, "        </inertial>")?;
    writeln!(out, "        <collision name=\"collision\">")?;
    writeln!(
        out,
        "          <geometry><box><size>{x} {y} {z}</size></box></geometry>"
    )?;
    writeln!(out, "        </collision>\n      </link>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoFiles, World, read_worlds};

    fn piles(boxes: u32, levels: [u32; 2]) -> World {
        let text = generate_piles(boxes, levels);
        let mut read = read_worlds(&text, "piles.sdf", &NoFiles).unwrap();
        assert_eq!(read.warnings, []);
        read.worlds.swap_remove(0)
    }

    /// Expects so many boxes and levels, all boxes within the outer faces of the grid, above the
    /// floor and apart.
    fn check(boxes: u32, levels: [u32; 2]) {
        let world = piles(boxes, levels);
        let boxes_found: Vec<_> = world.models.iter().filter(|it| !it.is_static).collect();
        assert_eq!(boxes_found.len(), boxes as usize);
        let level_count: u32 = levels.iter().product();
        assert_eq!(world.levels.len(), level_count as usize);
        for (index, one) in boxes_found.iter().enumerate() {
            let is_inside = world.levels.iter().any(|level| {
                (0..3).all(|i| {
                    let distance = (one.pose.position[i] - level.center[i]).abs();
                    distance <= level.size[i] / 2.0
                })
            });
            assert!(is_inside, "{} of {boxes} in {levels:?}", one.name);
            assert!(one.collision_bounds().unwrap().0[2] > 0.0, "{}", one.name);
            for other in &boxes_found[..index] {
                let [x, y, z] =
                    std::array::from_fn(|i| one.pose.position[i] - other.pose.position[i]);
                assert!(x.hypot(y).hypot(z) > 0.65, "{} {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn boxes_start_within_the_levels_above_the_floor_and_apart() {
        check(40, [2, 2]);
        check(17, [3, 1]);
        check(9, [1, 1]);
        check(1, [1, 4]);
        check(500, [2, 1]);
    }

    #[test]
    fn piles_are_where_levels_meet() {
        assert_eq!(sites([1, 1]), [[0.0, 0.0]]);
        assert_eq!(sites([2, 1]), [[0.0, 0.0]]);
        assert_eq!(sites([1, 3]), [[0.0, -0.5], [0.0, 0.5]]);
        let corners_then_borders = [[0.0, 0.0], [0.0, -0.5], [0.0, 0.5], [-0.5, 0.0], [0.5, 0.0]];
        assert_eq!(sites([2, 2]), corners_then_borders);
    }

    #[test]
    fn the_first_line_says_what_the_world_shows() {
        let text = generate_piles(20, [2, 2]);
        let expected = "<!-- Piles: 20 boxes fall on 5 places where 2 x 2 levels of 10 m meet. -->";
        assert_eq!(text.lines().nth(1).unwrap(), expected);
        assert_eq!(text, generate_piles(20, [2, 2]));
    }
}
