//! [`Script`]: where its actor is at a time, which is a function of that alone.

use libm::{acos, fmod, sin};
use serde::{Deserialize, Serialize};

use crate::pose::Pose;

/// Largest difference of quaternions that are still interpolated along a line.
const NEARLY_EQUAL: f64 = 1e-9;

/// Path of an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// True if it begins again when it ends.
    pub is_loop: bool,
    /// Time for which the actor waits at its begin \[s\].
    pub delay_s: f64,
    /// True if it begins with the simulation; otherwise the actor stays where it is.
    pub starts_by_itself: bool,
    /// Its parts, ascending by id.
    pub trajectories: Vec<Trajectory>,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Its number within the script.
    pub id: i32,
    /// The animation that goes with it.
    pub animation: String,
    /// Straightness: 0 is a Catmull-Rom spline, 1 comes to rest at each waypoint.
    pub tension: f64,
    /// At least one, ascending by time.
    pub waypoints: Vec<Waypoint>,
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waypoint {
    /// Since the script began \[s\].
    pub time_s: f64,
    /// In the frame of the actor.
    pub pose: Pose,
}

/// Progress of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The part that it is in; none of a script without any, or that does not begin.
    pub trajectory: Option<&'a Trajectory>,
    /// Time since that part began \[s\], or since the simulation did.
    pub time_s: f64,
    /// Way that the actor has covered since then, along straight lines between waypoints \[m\].
    pub distance: f64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            is_loop: true,
            delay_s: 0.0,
            starts_by_itself: true,
            trajectories: Vec::new(),
        }
    }
}

impl Script {
    /// Returns where its actor is at an elapsed time \[s\], in the frame that waypoints are in.
    pub fn place(&self, elapsed_s: f64) -> Pose {
        match self.trajectory(self.time_in(elapsed_s)) {
            Some(trajectory) => place_on(trajectory, self.time_in(elapsed_s)),
            None => Pose::IDENTITY,
        }
    }

    /// Tells whether it begins again between two elapsed times \[s\], so that its actor jumps.
    pub fn begins_again(&self, from_s: f64, to_s: f64) -> bool {
        self.time_in(to_s) < self.time_in(from_s)
    }

    /// Returns its progress at an elapsed time \[s\].
    pub fn progress(&self, elapsed_s: f64) -> Progress<'_> {
        let time_s = self.time_in(elapsed_s);
        let Some(trajectory) = self.trajectory(time_s) else {
            return Progress {
                trajectory: None,
                time_s: (elapsed_s - self.delay_s).max(0.0),
                distance: 0.0,
            };
        };
        let first = trajectory.waypoints[0].time_s;
        Progress {
            trajectory: Some(trajectory),
            time_s: (time_s - first).max(0.0),
            distance: distance_on(trajectory, time_s),
        }
    }

    /// Returns the part that it is in at a time of its own.
    fn trajectory(&self, time_s: f64) -> Option<&Trajectory> {
        if !self.starts_by_itself {
            return None;
        }
        // A world of others may have one without any.
        let trajectories = self.trajectories.iter();
        let mut trajectories = trajectories.filter(|one| !one.waypoints.is_empty());
        let begun = |trajectory: &&Trajectory| trajectory.waypoints[0].time_s <= time_s;
        let trajectory = trajectories.clone().rev().find(begun);
        trajectory.or_else(|| trajectories.next())
    }

    /// Returns the time of its own at an elapsed one.
    fn time_in(&self, elapsed_s: f64) -> f64 {
        let time_s = (elapsed_s - self.delay_s).max(0.0);
        let last = |trajectory: &Trajectory| trajectory.waypoints.last().map(|point| point.time_s);
        let ends = self.trajectories.iter().filter_map(last);
        let length_s = ends.fold(0.0, f64::max);
        if self.is_loop && length_s > 0.0 {
            fmod(time_s, length_s)
        } else {
            time_s.min(length_s)
        }
    }
}

/// Returns the way from the first waypoint to where the actor is at a time, along straight lines.
fn distance_on(trajectory: &Trajectory, time_s: f64) -> f64 {
    let mut distance = 0.0;
    for pair in trajectory.waypoints.windows(2) {
        let [from, to] = [&pair[0], &pair[1]];
        let way = [0, 1, 2].map(|axis| to.pose.position[axis] - from.pose.position[axis]);
        let part = (time_s - from.time_s) / (to.time_s - from.time_s);
        distance += part.clamp(0.0, 1.0) * way.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    distance
}

/// Interpolates between waypoints: positions along a cardinal spline over the waypoints' numbers
/// (gz-common, `PoseAnimation`), orientations the shorter way at an even rate.
fn place_on(trajectory: &Trajectory, time_s: f64) -> Pose {
    let points = &trajectory.waypoints;
    let next = points.partition_point(|point| point.time_s <= time_s);
    if next == 0 || next == points.len() {
        return points[next.max(1) - 1].pose;
    }
    let (from, to) = (&points[next - 1], &points[next]);
    let part = (time_s - from.time_s) / (to.time_s - from.time_s);
    let tangents = [next - 1, next].map(|index| tangent(points, index, trajectory.tension));
    let (square, cube) = (part * part, part * part * part);
    let weights = [
        2.0 * cube - 3.0 * square + 1.0,
        3.0 * square - 2.0 * cube,
        cube - 2.0 * square + part,
        cube - square,
    ];
    let position = std::array::from_fn(|axis| {
        weights[0] * from.pose.position[axis]
            + weights[1] * to.pose.position[axis]
            + weights[2] * tangents[0][axis]
            + weights[3] * tangents[1][axis]
    });
    Pose {
        position,
        orientation_xyzw: turned(from.pose.orientation_xyzw, to.pose.orientation_xyzw, part),
    }
}

/// Returns the direction at a waypoint; a path that ends where it began is closed.
fn tangent(points: &[Waypoint], index: usize, tension: f64) -> [f64; 3] {
    let last = points.len() - 1;
    let is_closed = points[0].pose.position == points[last].pose.position;
    let (before, after) = match index {
        _ if index > 0 && index < last => (index - 1, index + 1),
        _ if is_closed => (last - 1, 1),
        0 => (0, 1),
        _ => (last - 1, last),
    };
    let [before, after] = [before, after].map(|index| points[index].pose.position);
    std::array::from_fn(|axis| (after[axis] - before[axis]) * 0.5 * (1.0 - tension))
}

fn turned(from: [f64; 4], to: [f64; 4], part: f64) -> [f64; 4] {
    let dot = |one: [f64; 4], other: [f64; 4]| -> f64 {
        one.iter().zip(&other).map(|(a, b)| a * b).sum()
    };
    let cosine = dot(from, to);
    let (to, cosine) = if cosine < 0.0 {
        (to.map(|number| -number), -cosine)
    } else {
        (to, cosine)
    };
    let weights = if cosine > 1.0 - NEARLY_EQUAL {
        [1.0 - part, part]
    } else {
        let angle = acos(cosine);
        [1.0 - part, part].map(|share| sin(share * angle) / sin(angle))
    };
    let sum: [f64; 4] = std::array::from_fn(|i| weights[0] * from[i] + weights[1] * to[i]);
    let length = dot(sum, sum).sqrt();
    sum.map(|number| number / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trajectory(animation: &str, points: &[(f64, [f64; 3])]) -> Trajectory {
        let waypoint = |(time_s, position): &(f64, [f64; 3])| Waypoint {
            time_s: *time_s,
            pose: Pose {
                position: *position,
                ..Pose::IDENTITY
            },
        };
        Trajectory {
            id: 0,
            animation: animation.to_owned(),
            tension: 0.0,
            waypoints: points.iter().map(waypoint).collect(),
        }
    }

    #[test]
    fn parts_without_waypoints_are_passed_over() {
        let mut script = Script {
            trajectories: vec![trajectory("", &[])],
            ..Script::default()
        };
        assert_eq!(script.place(1.0), Pose::IDENTITY);
        assert_eq!(script.progress(1.0).trajectory, None);
        let known = trajectory("walk", &[(0.0, [1.0, 0.0, 0.0])]);
        script.trajectories.push(known.clone());
        assert_eq!(script.progress(1.0).trajectory, Some(&known));
    }

    #[test]
    fn a_script_knows_its_part_its_time_and_the_way_in_it() {
        let script = Script {
            delay_s: 1.0,
            trajectories: vec![
                trajectory(
                    "walk",
                    &[
                        (0.0, [0.0; 3]),
                        (2.0, [4.0, 0.0, 0.0]),
                        (3.0, [4.0, 3.0, 0.0]),
                    ],
                ),
                trajectory("run", &[(3.0, [4.0, 3.0, 0.0]), (4.0, [0.0; 3])]),
            ],
            ..Script::default()
        };
        let check = |elapsed_s: f64, animation: &str, time_s: f64, distance: f64| {
            let progress = script.progress(elapsed_s);
            let found = progress.trajectory.map(|own| own.animation.as_str());
            assert_eq!(found, Some(animation), "{elapsed_s}");
            assert_eq!((progress.time_s, progress.distance), (time_s, distance));
        };
        check(0.5, "walk", 0.0, 0.0);
        check(2.0, "walk", 1.0, 2.0);
        check(3.5, "walk", 2.5, 5.5);
        check(4.5, "run", 0.5, 2.5);
        check(5.25, "walk", 0.25, 0.5);
        let still = Script {
            starts_by_itself: false,
            ..script.clone()
        };
        assert_eq!(still.progress(2.5).trajectory, None);
        assert_eq!(still.progress(2.5).time_s, 1.5);
        assert_eq!(still.place(2.5), Pose::IDENTITY);
    }
}
