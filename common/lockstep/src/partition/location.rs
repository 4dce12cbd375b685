//! [`PerformerLocation`]: the place of one performer among the levels: those that it touches, and
//! its home cell.
//!
//! A look finds out, and how far the performer may move before a look could say anything else;
//! until then a glance is enough. Brute force and glances always agree.

use protocol::{CellId, Iteration, LevelId, PerformerState};

use super::parts::Parts;
use super::{LoadRule, Rules, turn};
use crate::bounds::Bounds;
use crate::topology::{LevelIndex, PerformerSpec, Topology};

/// Least and greatest reach of a look \[m\], at most twice that by its turn.
const LOOK: [f64; 2] = [0.5, 1.0];
/// Distance from a change at which a performer counts as near to it: a way \[m\], and a number of
/// steps.
const FORESIGHT: (f64, f64) = (0.05, 8.0);
/// Number of levels that a performer may touch beyond those at its box, by moving or by links that
/// nothing holds. With more it has blown up, and only its box counts.
const LEVELS_BEYOND_MAX: usize = 256;

/// Place of a performer.
#[derive(Clone, Debug)]
pub(super) struct PerformerLocation {
    /// The cell that owns it.
    pub(super) cell: CellId,
    /// The cell of the level that it is in.
    pub(super) home: CellId,
    /// Time when it came to the cell that owns it.
    pub(super) entered: Iteration,
    /// Half the edge lengths of its box \[m\].
    pub(super) half: [f64; 3],
    pub(super) has_loose_links: bool,
    /// True until it was located once: before, it is nobody's ghost.
    pub(super) is_new: bool,
    world: u32,
    /// Position at the last update, in worlds in which cells may stand still \[m\].
    pub(super) seen_at: Option<[f64; 3]>,
    /// Position at the last look \[m\].
    pub(super) looked_at: [f64; 3],
    /// Way that it may move from there before it touches other levels \[m\].
    pub(super) levels_slack: f64,
    /// Way that it may move from there before its home changes \[m\].
    pub(super) home_slack: f64,
}

/// Context of a look: what a performer may be among.
#[derive(Clone, Copy)]
pub(super) struct Regions<'a> {
    pub(super) topology: &'a Topology,
    pub(super) index: &'a LevelIndex,
    pub(super) parts: &'a Parts,
    /// The default cell of the performer's world.
    pub(super) default_cell: CellId,
}

/// Outcome of a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glance {
    /// A look is needed.
    Unclear,
    /// Nothing has changed.
    Unchanged {
        /// True if it may soon touch other levels.
        is_near_levels: bool,
        /// True if its home may soon change.
        is_near_home: bool,
    },
}

impl PerformerLocation {
    pub(super) fn new(performer: &PerformerSpec) -> Self {
        Self {
            cell: performer.home,
            home: performer.home,
            entered: Iteration(0),
            half: performer.half_extents,
            has_loose_links: performer.has_loose_links,
            is_new: true,
            world: performer.world as u32,
            seen_at: None,
            looked_at: [f64::NAN; 3],
            levels_slack: 0.0,
            home_slack: 0.0,
        }
    }

    /// Gives it a box of these edge lengths, which alone counts from now on.
    pub(super) fn resize(&mut self, size: [f64; 3]) {
        self.half = size.map(|edge| edge * 0.5);
        self.has_loose_links = false;
        self.looked_at = [f64::NAN; 3];
    }

    /// Notes where it is \[m\], and tells whether that is elsewhere than at the last update.
    pub(super) fn see(&mut self, position: [f64; 3]) -> bool {
        let before = self.seen_at.replace(position);
        before.is_some_and(|before| before.map(f64::to_bits) != position.map(f64::to_bits))
    }

    /// Returns the index of its world.
    pub(super) fn world(&self) -> usize {
        self.world as usize
    }

    /// Tells whether another cell than its home owns it.
    pub(super) fn is_away(&self) -> bool {
        self.cell != self.home
    }

    pub(super) fn glance(&self, state: &PerformerState, step_size_s: f64) -> Glance {
        let (mut farthest, mut sum) = (0.0_f64, 0.0);
        for axis in 0..3 {
            let way = state.position[axis] - self.looked_at[axis];
            let next = way + state.linear_velocity[axis] * step_size_s;
            farthest = farthest.max(way.abs()).max(next.abs());
            sum += way.abs() + next.abs();
        }
        // The greater of a number and NaN is the number, but their sum is NaN.
        if sum.is_nan() || farthest > self.levels_slack.min(self.home_slack) {
            return Glance::Unclear;
        }
        let foreseen = farthest + foresight(state, step_size_s);
        Glance::Unchanged {
            is_near_levels: foreseen > self.levels_slack,
            is_near_home: foreseen > self.home_slack,
        }
    }

    /// Tells whether it may touch other levels or belong elsewhere within so many steps, at its
    /// speed.
    pub(super) fn may_change_within(
        &self,
        count: u32,
        state: &PerformerState,
        rules: &Rules,
    ) -> bool {
        let (mut moved, mut speed) = (0.0_f64, 0.0_f64);
        for axis in 0..3 {
            moved = moved.max((state.position[axis] - self.looked_at[axis]).abs());
            speed = speed.max(state.linear_velocity[axis].abs());
        }
        // The step after the last one counts, too.
        let way = speed * rules.step_size_s * f64::from(count + 1);
        let is_known = self.looked_at[0].is_finite();
        speed > 0.0 && !(is_known && moved + way <= self.levels_slack.min(self.home_slack))
    }

    /// Finds its home, and fills `found` with the levels that it touches; `touched` are those that
    /// it touched so far.
    pub(super) fn look(
        &mut self,
        regions: Regions<'_>,
        rules: &Rules,
        state: &PerformerState,
        touched: &[LevelId],
        found: &mut Vec<LevelId>,
    ) {
        let (topology, index) = (regions.topology, regions.index);
        found.clear();
        self.looked_at = [f64::NAN; 3];
        if !state
            .position
            .iter()
            .all(|coordinate| coordinate.is_finite())
        {
            return; // Nothing is known about where it is: it stays.
        }
        let [least, most] = LOOK;
        let radius = (2.0 * foresight(state, rules.step_size_s)).clamp(least, most);
        let radius = radius * turn(state.performer);
        let around = |bounds: &Bounds, most: usize, found: &mut Vec<LevelId>| {
            let bounds = bounds.inflated(radius);
            index.touching(&topology.levels, self.world(), &bounds, most, found)
        };
        let own = Bounds::around(state.position, self.half);
        around(&own, usize::MAX, found);
        let most = found.len() + LEVELS_BEYOND_MAX;
        let mut now = self.with_loose_links(own, state);
        let mut swept = swept(&now, state, rules.step_size_s);
        if swept != own && !around(&swept, most, found) {
            (now, swept) = (own, own);
            around(&own, usize::MAX, found);
        }
        let whole = home(topology, self.home, found, &now).unwrap_or(regions.default_cell);
        let place = (state.position, &now);
        let (part, part_slack) = regions.parts.home(topology, self.home, whole, place);
        self.home = part;
        let rounding = self.half.iter().chain(&state.position);
        let rounding = rounding.filter(|length| length.is_finite());
        let rounding = 1e-12 * rounding.fold(1.0, |most: f64, length| most.max(length.abs()));
        let home_slack = home_slack(topology, self.home, found, &now).min(part_slack);
        self.home_slack = home_slack.min(radius) - rounding;
        self.levels_slack = levels_slack(topology, rules, found, &now).min(radius) - rounding;
        if !self.has_loose_links {
            self.looked_at = state.position;
            // What it touches only because it is fast says nothing about when it is slow.
            if self.glance(state, rules.step_size_s) == Glance::Unclear {
                self.looked_at = [f64::NAN; 3];
            }
        }
        found.retain(|id| {
            let level = topology.level(*id);
            let in_buffer = level.outer.touches(&swept);
            in_buffer
                && match rules.load {
                    LoadRule::Buffer => true,
                    LoadRule::Volume => {
                        level.inner.touches(&swept) || touched.binary_search(id).is_ok()
                    }
                }
        });
    }

    /// Returns a box with where links that nothing holds reach, if that is anywhere.
    fn with_loose_links(&self, own: Bounds, state: &PerformerState) -> Bounds {
        let is_somewhere = state.reach.as_flattened().iter().all(|one| one.is_finite());
        if self.has_loose_links && is_somewhere {
            own.joined(&state.reach.into())
        } else {
            own
        }
    }
}

/// Returns the box around a box and where it will be after the next step.
pub(super) fn swept(bounds: &Bounds, state: &PerformerState, step_size_s: f64) -> Bounds {
    let way = state.linear_velocity.map(|speed| speed * step_size_s);
    if !way.iter().all(|length| length.is_finite()) {
        return *bounds;
    }
    bounds.joined(&Bounds {
        min: std::array::from_fn(|axis| bounds.min[axis] + way[axis]),
        max: std::array::from_fn(|axis| bounds.max[axis] + way[axis]),
    })
}

/// Returns how near a change must be to count as near \[m\].
fn foresight(state: &PerformerState, step_size_s: f64) -> f64 {
    let (way, steps) = FORESIGHT;
    let speed = state.linear_velocity.map(f64::abs);
    way + steps * step_size_s * speed.into_iter().fold(0.0, f64::max)
}

/// Returns the cell of the level where a performer belongs: its home while it touches that, else
/// the first level that it touches, else, for one that comes from a level, the same with buffers.
/// Performers of a default cell must enter a level to belong there.
fn home(topology: &Topology, home: CellId, near: &[LevelId], now: &Bounds) -> Option<CellId> {
    let level = topology.cell(home).level.map(|id| topology.level(id));
    if level.is_some_and(|level| level.inner.touches(now)) {
        return Some(home);
    }
    let levels = || near.iter().map(|id| topology.level(*id));
    if let Some(inside) = levels().find(|level| level.inner.touches(now)) {
        return Some(inside.cell);
    }
    if level?.outer.touches(now) {
        return Some(home);
    }
    let beside = levels().find(|level| level.outer.touches(now));
    beside.map(|level| level.cell)
}

/// Returns how far a performer may move before its home changes, of what is near \[m\].
fn home_slack(topology: &Topology, home: CellId, near: &[LevelId], now: &Bounds) -> f64 {
    let level = topology.cell(home).level.map(|id| topology.level(id));
    if let Some(level) = level.filter(|level| level.inner.touches(now)) {
        return level.inner.slack(now);
    }
    let slacks = near.iter().map(|id| {
        let other = topology.level(*id);
        let inner = other.inner.slack(now);
        if level.is_some() {
            inner.min(other.outer.slack(now))
        } else {
            inner
        }
    });
    slacks.fold(f64::INFINITY, f64::min)
}

/// Returns how far a performer may move before it touches other levels, of what is near \[m\].
fn levels_slack(topology: &Topology, rules: &Rules, near: &[LevelId], now: &Bounds) -> f64 {
    let slacks = near.iter().map(|id| {
        let level = topology.level(*id);
        let outer = level.outer.slack(now);
        match rules.load {
            LoadRule::Buffer => outer,
            LoadRule::Volume => outer.min(level.inner.slack(now)),
        }
    });
    slacks.fold(f64::INFINITY, f64::min)
}
