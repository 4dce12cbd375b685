//! Evaluation of the samples of the bench `soak`, and the world that it runs: tells whether memory
//! or steps grew between the first quarter of a run and the last.

use std::fmt::Write;
use std::fs;
use std::io;

use serde_json::{Value, json};

use crate::peers::drive::Twist;

/// Growth of memory from which on a run fails: both by this part, and by so many bytes.
const GROWTH_RATIO_MAX: f64 = 1.05;
const GROWTH_BYTES_MAX: f64 = 10.0 * 1024.0 * 1024.0;

/// Speed of a robot \[m/s\] and the rate at which it turns \[rad/s\]: a circle across borders of
/// levels.
const AHEAD: f64 = 0.5;
const TURNING: f64 = 0.25;

/// Height and width of a wall \[m\].
const WALL: [f64; 2] = [1.0, 0.5];

/// `AT_PAGESZ` of getauxval(3).
const PAGE_SIZE_ENTRY: u64 = 6;

/// Medians of the quarters of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quarters {
    /// In the order in which they were taken.
    pub medians: [f64; 4],
}

impl Quarters {
    /// Returns the medians of samples in the order in which they were taken.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn of(samples: &[f64]) -> Self {
        assert!(!samples.is_empty(), "a quarter holds a sample");
        let begin = |quarter: usize| quarter * samples.len() / 4;
        let quarter = |quarter| {
            let end = begin(quarter + 1).max(begin(quarter) + 1);
            median(&samples[begin(quarter)..end])
        };
        Self {
            medians: std::array::from_fn(quarter),
        }
    }

    /// Returns the last over the first.
    pub fn ratio(&self) -> f64 {
        self.medians[3] / self.medians[0]
    }

    /// Tells whether this memory \[bytes\] grew by more than a run may.
    pub fn has_grown(&self) -> bool {
        let growth = self.medians[3] - self.medians[0];
        self.ratio() > GROWTH_RATIO_MAX && growth > GROWTH_BYTES_MAX
    }

    /// Returns it as JSON.
    pub fn report(&self) -> Value {
        let [first, .., last] = self.medians;
        json!({ "first": first, "last": last, "ratio": self.ratio(), "quarters": self.medians })
    }
}

fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns the resident memory of a process \[bytes\]; `None` when there is no such process.
pub fn resident_bytes(pid: u32, page_size: u64) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some((pages * page_size) as f64)
}

/// Returns the size of a page of this machine \[bytes\].
///
/// # Errors
/// Fails if the kernel does not say it.
pub fn page_size() -> io::Result<u64> {
    let bytes = fs::read("/proc/self/auxv")?;
    let (entries, _) = bytes.as_chunks::<16>();
    let word = |half: &[u8]| half.try_into().map(u64::from_ne_bytes).unwrap_or_default();
    let entry = entries
        .iter()
        .find(|entry| word(&entry[..8]) == PAGE_SIZE_ENTRY);
    let size = entry.map(|entry| word(&entry[8..]));
    size.ok_or_else(|| io::Error::other("/proc/self/auxv names no page size"))
}

/// Returns where a robot is told to go, by its index among the models: in a circle, every other one
/// to the right.
pub fn twist(model: usize) -> Twist {
    Twist {
        ahead: AHEAD,
        turning: if model.is_multiple_of(2) {
            TURNING
        } else {
            -TURNING
        },
    }
}

/// Returns a fleet with walls around its levels, so that no robot leaves the floor for good.
///
/// # Panics
/// Panics if what is generated is no fleet.
pub fn walled_fleet(robots: u32, levels: [u32; 2]) -> String {
    let text = sdf::generate_fleet(robots, levels);
    let world = crate::peers::scene::read("fleet.sdf", &text);
    let reach = |axis: usize| {
        let edges = world.levels.iter();
        edges.map(move |level| level.center[axis] + level.size[axis] / 2.0)
    };
    let half = [0, 1].map(|axis| reach(axis).fold(0.0, f64::max));
    let [height, width] = WALL;
    let mut walls = String::new();
    for (number, (axis, side)) in [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0)]
        .into_iter()
        .enumerate()
    {
        let mut center = [0.0; 2];
        center[axis] = side * (half[axis] - width / 2.0);
        let mut size = half.map(|half| 2.0 * half);
        size[axis] = width;
        let ([x, y], [long, wide]) = (center, size);
        writeln!(
            walls,
            "    <model name=\"wall_{number}\"><static>true</static><pose>{x} {y} {} 0 0 0</pose>\
             <link name=\"link\"><collision name=\"collision\"><geometry><box>\
             <size>{long} {wide} {height}</size></box></geometry></collision></link></model>",
            height / 2.0
        )
        .expect("writing to a String cannot fail");
    }
    let plugin = text
        .find("    <plugin name=\"gz::sim\"")
        .expect("a fleet has levels");
    let (models, rest) = text.split_at(plugin);
    format!("{models}{walls}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1024.0 * 1024.0;

    #[test]
    fn quarters_are_medians_that_one_outlier_does_not_move() {
        let samples = [1.0, 1.0, 90.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 3.0, 0.0, 3.0];
        let quarters = Quarters::of(&samples);
        assert_eq!(quarters.medians, [1.0, 5.0, 5.0, 3.0]);
        assert_eq!(quarters.ratio(), 3.0);
    }

    #[test]
    fn one_sample_is_both_quarters() {
        assert_eq!(Quarters::of(&[7.0]).medians, [7.0; 4]);
    }

    /// Expects memory that went from one number of MiB to another to count as grown, or not.
    fn check_growth(first: f64, last: f64, has_grown: bool) {
        let quarters = Quarters::of(&[first, first, last, last].map(|mib| mib * MIB));
        assert_eq!(quarters.has_grown(), has_grown, "{first} to {last} MiB");
    }

    #[test]
    fn memory_has_grown_when_both_its_part_and_its_bytes_are_too_many() {
        check_growth(100.0, 111.0, true);
        check_growth(100.0, 109.0, false);
        check_growth(1000.0, 1040.0, false);
        check_growth(10.0, 15.0, false);
        check_growth(100.0, 50.0, false);
    }

    #[test]
    fn memory_of_this_process_is_read_in_bytes() {
        let page_size = page_size().unwrap();
        assert!(page_size.is_power_of_two() && page_size >= 4096);
        // Other tests take and free memory meanwhile.
        let held = vec![1_u8; 64 << 20];
        let bytes = resident_bytes(std::process::id(), page_size).unwrap();
        assert!((64.0..64.0 * 1024.0).contains(&(bytes / MIB)), "{bytes}");
        drop(held);
        assert_eq!(resident_bytes(u32::MAX, page_size), None);
    }

    #[test]
    fn walls_stand_on_every_border_and_in_no_level() {
        let world = crate::peers::scene::read("fleet.sdf", &walled_fleet(4, [3, 2]));
        let walls = world.models.iter();
        let walls: Vec<_> = walls.filter(|it| it.name.starts_with("wall_")).collect();
        assert_eq!(walls.len(), 4);
        let (lowest, highest) = walls[1].collision_bounds().unwrap();
        assert_eq!((lowest[0], highest[0]), (14.5, 15.0));
        assert_eq!((lowest[1], highest[1]), (-10.0, 10.0));
        for wall in walls {
            assert!(wall.is_static);
            let mut levels = world.levels.iter();
            assert!(levels.all(|level| !level.models.contains(&wall.name)));
        }
    }
}
