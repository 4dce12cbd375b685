//! Axis-aligned boxes; faces belong to the box.

use serde::{Deserialize, Serialize};

/// An axis-aligned box in the world frame \[m\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Corner with the least coordinates.
    pub min: [f64; 3],
    /// Corner with the greatest coordinates.
    pub max: [f64; 3],
}

impl Bounds {
    /// Makes a box from its centre and half its edge lengths.
    pub fn around(center: [f64; 3], half: [f64; 3]) -> Self {
        Self {
            min: std::array::from_fn(|axis| center[axis] - half[axis]),
            max: std::array::from_fn(|axis| center[axis] + half[axis]),
        }
    }

    /// Returns the box grown by a margin on every side.
    #[must_use]
    pub fn inflated(&self, margin: f64) -> Self {
        Self {
            min: std::array::from_fn(|axis| self.min[axis] - margin),
            max: std::array::from_fn(|axis| self.max[axis] + margin),
        }
    }

    /// Returns the least box that holds both.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        Self {
            min: std::array::from_fn(|axis| self.min[axis].min(other.min[axis])),
            max: std::array::from_fn(|axis| self.max[axis].max(other.max[axis])),
        }
    }

    /// Tells whether it holds all of another box.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.min[axis] <= other.min[axis] && other.max[axis] <= self.max[axis])
    }

    /// Tells whether a corner is no number.
    pub(crate) fn has_nan(&self) -> bool {
        self.min.iter().chain(&self.max).any(|at| at.is_nan())
    }

    /// Tells whether two boxes share at least a point; boxes with a NaN touch nothing.
    pub fn touches(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis])
    }

    /// Returns how far the faces of either box may move before [`Self::touches`] can change \[m\].
    pub fn slack(&self, other: &Self) -> f64 {
        let gaps = (0..3)
            .map(|axis| (other.min[axis] - self.max[axis]).max(self.min[axis] - other.max[axis]));
        gaps.fold(f64::NEG_INFINITY, f64::max).abs()
    }
}

impl From<[[f32; 3]; 2]> for Bounds {
    fn from([min, max]: [[f32; 3]; 2]) -> Self {
        Self {
            min: std::array::from_fn(|axis| f64::from(min[axis])),
            max: std::array::from_fn(|axis| f64::from(max[axis])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(center_x: f64, touches: bool) {
        let level = Bounds::around([0.0; 3], [5.0, 5.0, 5.0]);
        let performer = Bounds::around([center_x, 0.0, 0.0], [1.0; 3]);
        assert_eq!(level.touches(&performer), touches, "at {center_x}");
        assert_eq!(performer.touches(&level), touches, "at {center_x}");
    }

    #[test]
    fn faces_are_inclusive() {
        check(0.0, true);
        check(6.0, true);
        check(-6.0, true);
        check(6.0_f64.next_up(), false);
        check(f64::NAN, false);
    }

    #[test]
    fn an_infinite_box_touches_every_box() {
        let everything = Bounds::around([0.0; 3], [f64::INFINITY; 3]);
        assert!(everything.touches(&Bounds::around([1e9; 3], [0.0; 3])));
    }

    #[test]
    fn slack_is_the_way_to_the_next_change() {
        let level = Bounds::around([0.0; 3], [5.0, 5.0, 50.0]);
        let slack = |x, y| level.slack(&Bounds::around([x, y, 0.0], [1.0; 3]));
        assert_eq!(slack(0.0, 0.0), 6.0);
        assert_eq!(slack(4.0, 1.0), 2.0);
        assert_eq!(slack(8.0, 9.0), 3.0);
    }
}
