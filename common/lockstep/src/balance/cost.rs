//! [`CellCost`]: the cost of one cell per iteration, measured so that single slow steps do not
//! count.
//!
//! A window of iterations is divided into batches. The median of the batches' means is the window's
//! cost, so a step that the machine held up spoils one batch and not the window; windows are then
//! smoothed. Sensors are due in some steps only, perhaps in none of most windows: their mean over
//! many windows is added.

use std::time::Duration;

/// Into how many batches a window is divided.
pub(super) const BATCHES: usize = 10;
/// Weight of a new window against those before it.
const WEIGHT_OF_NEW: f64 = 0.4;
/// The same for sensors, few of which are due in a window.
const WEIGHT_OF_NEW_SENSORS: f64 = 0.1;

/// The measured cost of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct CellCost {
    /// Nanoseconds noted in the batch that is being filled.
    batch_sum_ns: u64,
    batch_notes: u32,
    /// Mean of each batch \[ns\]; of more than fit, the last ones.
    batches_ns: [f32; BATCHES],
    batches_filled: u32,
    /// Time of sensors noted in this window \[ns\].
    sensors_ns: u64,
    /// Time noted in this window without sensors \[ns\].
    noted_ns: u64,
    /// Notes in this window.
    notes: u32,
    smoothed_ns: Option<f64>,
    smoothed_sensors_ns: Option<f64>,
    /// True if the next window counts alone, because the cell runs elsewhere since.
    is_elsewhere: bool,
}

impl CellCost {
    /// Takes the time of one iteration, without sensors and of these.
    pub(super) fn note(&mut self, cost: Duration, sensors: Duration, batch_length: u32) {
        let [cost_ns, sensors_ns] =
            [cost, sensors].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.batch_sum_ns = self.batch_sum_ns.saturating_add(cost_ns);
        self.sensors_ns = self.sensors_ns.saturating_add(sensors_ns);
        self.noted_ns = self.noted_ns.saturating_add(cost_ns);
        self.batch_notes += 1;
        self.notes = self.notes.saturating_add(1);
        if self.batch_notes >= batch_length {
            let place = self.batches_filled as usize % BATCHES;
            self.batches_ns[place] = self.batch_sum_ns as f32 / self.batch_notes as f32;
            self.batches_filled = self.batches_filled.wrapping_add(1);
            self.batch_sum_ns = 0;
            self.batch_notes = 0;
        }
    }

    /// Ends a window of so many iterations. A cell that ran in a part of it counts with that part;
    /// a cell that is new waits for a window of which it ran in half.
    pub(super) fn end_window(&mut self, iterations: u64) {
        let share = (f64::from(self.notes) / iterations.max(1) as f64).min(1.0);
        let is_first = self.smoothed_ns.is_none() || self.is_elsewhere;
        if !is_first || share >= 0.5 {
            let share = if is_first { 1.0 } else { share };
            let before_ns = self.smoothed_ns.filter(|_| !self.is_elsewhere);
            let window_ns = self.median_ns() * share;
            self.smoothed_ns = Some(smoothed(before_ns, window_ns, WEIGHT_OF_NEW));
            let sensors_ns = self.sensors_ns as f64 / f64::from(self.notes.max(1)) * share;
            let before_ns = self.smoothed_sensors_ns;
            let sensors_ns = smoothed(before_ns, sensors_ns, WEIGHT_OF_NEW_SENSORS);
            self.smoothed_sensors_ns = Some(sensors_ns);
            self.is_elsewhere = false;
        }
        self.drop_window();
    }

    /// Forgets what was noted since the last window ended.
    pub(super) fn drop_window(&mut self) {
        self.batch_sum_ns = 0;
        self.batch_notes = 0;
        self.batches_filled = 0;
        self.sensors_ns = 0;
        self.noted_ns = 0;
        self.notes = 0;
    }

    /// Takes that the cell runs on another host, which may be faster or slower.
    pub(super) fn runs_elsewhere(&mut self) {
        self.is_elsewhere = true;
        self.drop_window();
    }

    /// Returns the time noted in this window without sensors \[ns\].
    pub(super) fn noted_ns(&self) -> u64 {
        self.noted_ns
    }

    /// Returns the cost per iteration \[ns\], if it was measured.
    pub(super) fn per_iteration_ns(&self) -> Option<f64> {
        Some(self.smoothed_ns? + self.smoothed_sensors_ns.unwrap_or(0.0))
    }

    fn median_ns(&self) -> f64 {
        let filled = (self.batches_filled as usize).min(BATCHES);
        if filled == 0 {
            return self.batch_sum_ns as f64 / f64::from(self.batch_notes.max(1));
        }
        let mut means_ns = self.batches_ns;
        let means_ns = &mut means_ns[..filled];
        means_ns.sort_by(f32::total_cmp);
        f64::from(f32::midpoint(
            means_ns[(filled - 1) / 2],
            means_ns[filled / 2],
        ))
    }
}

fn smoothed(before: Option<f64>, new: f64, weight: f64) -> f64 {
    before.map_or(new, |before| before + (new - before) * weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes costs \[us\] in batches of 2, ends the window, and expects a cost \[us\].
    fn check(cost: &mut CellCost, costs_us: &[u64], iterations: u64, expected_us: Option<f64>) {
        for cost_us in costs_us {
            cost.note(Duration::from_micros(*cost_us), Duration::ZERO, 2);
        }
        cost.end_window(iterations);
        let found_us = cost.per_iteration_ns().map(|ns| ns / 1e3);
        let is_close = match (found_us, expected_us) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-3,
            (found, expected) => found == expected,
        };
        assert!(is_close, "{costs_us:?}: {found_us:?}, not {expected_us:?}");
    }

    #[test]
    fn one_slow_step_does_not_count() {
        let costs = [5, 5, 5, 90_000, 5, 5, 5, 5, 5, 5];
        check(&mut CellCost::default(), &costs, 10, Some(5.0));
    }

    #[test]
    fn sensors_that_are_due_now_and_then_count_with_their_mean() {
        let mut cost = CellCost::default();
        for iteration in 0..20 {
            let is_due = iteration == 7;
            let sensors = Duration::from_micros(if is_due { 4_000 } else { 0 });
            cost.note(Duration::from_micros(100), sensors, 2);
        }
        assert_eq!(cost.noted_ns(), 2_000_000, "without sensors");
        check(&mut cost, &[], 20, Some(300.0));
        assert_eq!(cost.noted_ns(), 0);
        // A window in which none was due lowers it little.
        check(&mut cost, &[100; 20], 20, Some(280.0));
    }

    #[test]
    fn windows_are_smoothed() {
        let mut cost = CellCost::default();
        check(&mut cost, &[100; 20], 20, Some(100.0));
        check(&mut cost, &[200; 20], 20, Some(140.0));
        check(&mut cost, &[200; 20], 20, Some(164.0));
    }

    #[test]
    fn a_new_cell_waits_for_half_a_window() {
        let mut cost = CellCost::default();
        check(&mut cost, &[100; 4], 20, None);
        check(&mut cost, &[100; 10], 20, Some(100.0));
    }

    #[test]
    fn a_cell_that_stands_still_costs_less_with_every_window() {
        let mut cost = CellCost::default();
        check(&mut cost, &[100; 20], 20, Some(100.0));
        check(&mut cost, &[100; 10], 20, Some(80.0));
        check(&mut cost, &[], 20, Some(48.0));
    }

    #[test]
    fn on_another_host_a_cell_is_measured_afresh() {
        let mut cost = CellCost::default();
        check(&mut cost, &[100; 20], 20, Some(100.0));
        cost.note(Duration::from_micros(100), Duration::ZERO, 2);
        cost.runs_elsewhere();
        check(&mut cost, &[50; 4], 20, Some(100.0));
        check(&mut cost, &[50; 20], 20, Some(50.0));
    }

    #[test]
    fn the_longest_duration_is_a_cost() {
        let mut cost = CellCost::default();
        cost.note(Duration::MAX, Duration::MAX, 2);
        cost.note(Duration::MAX, Duration::MAX, 2);
        cost.end_window(2);
        assert!(cost.per_iteration_ns().is_some_and(f64::is_finite));
    }
}
