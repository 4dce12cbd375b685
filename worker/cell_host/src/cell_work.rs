//! A step, checked against the plan and divided among the cells that it is about.
//!
//! Rules that depend on a cell's contents (for instance that a performer is there) are checked by
//! the cell itself.

use std::collections::BTreeMap;

use physics::Arrival;
use protocol::primary_to_secondary::{GhostChange, HandOff, LevelChange, Step};
use protocol::{CellId, PerformerId};

use super::scene::Scene;
use super::step_error::StepError;

/// Changes that a step makes in one cell, each list in the order in which it is done.
#[derive(Default)]
pub(super) struct CellWork<'a> {
    pub(super) releases: Vec<PerformerId>,
    pub(super) arrivals: Vec<Arrival<'a>>,
    pub(super) levels: Vec<LevelChange>,
    pub(super) ghosts: Vec<GhostChange>,
    /// `true` if the cell is suspended, `false` if it goes on.
    pub(super) suspension: Option<bool>,
}

impl CellWork<'_> {
    /// Tells whether a step changes nothing in the cell.
    pub(super) fn is_empty(&self) -> bool {
        self.releases.is_empty()
            && self.arrivals.is_empty()
            && self.levels.is_empty()
            && self.ghosts.is_empty()
            && self.suspension.is_none()
    }
}

/// Returns what a step changes in each cell that `is_here`; the others stay as they are.
pub(super) fn divide<'a>(
    step: &'a Step,
    scene: &Scene,
    is_here: impl Fn(CellId) -> bool,
) -> BTreeMap<CellId, CellWork<'a>> {
    let mut works: BTreeMap<CellId, CellWork<'a>> = BTreeMap::new();
    let mut with = |cell: CellId, add: &mut dyn FnMut(&mut CellWork<'a>)| {
        if is_here(cell) {
            add(works.entry(cell).or_default());
        }
    };
    for hand_off in &step.hand_offs {
        let HandOff {
            performer,
            from,
            to,
            state,
        } = hand_off;
        let arrival = Arrival {
            performer: *performer,
            model: scene.plan.performer(*performer).model,
            state,
        };
        with(*from, &mut |work| work.releases.push(*performer));
        with(*to, &mut |work| work.arrivals.push(arrival));
    }
    for change in &step.level_changes {
        with(change.cell, &mut |work| work.levels.push(*change));
    }
    for change in &step.ghost_changes {
        with(change.cell, &mut |work| work.ghosts.push(*change));
    }
    for change in &step.suspensions {
        let suspended = change.suspended;
        with(change.cell, &mut |work| work.suspension = Some(suspended));
    }
    works
}

/// Checks that everything that a step names exists, fits together, and comes once and in order.
pub(super) fn check(step: &Step, scene: &Scene) -> Result<(), StepError> {
    if step.paused != (step.step_size_ns == 0) {
        return Err(StepError::Time {
            step_size_ns: step.step_size_ns,
            paused: step.paused,
        });
    }
    check_order(step)?;
    for change in &step.affinities {
        world_of_cell(scene, change.cell)?;
    }
    for hand_off in &step.hand_offs {
        if hand_off.from == hand_off.to {
            let (performer, cell) = (hand_off.performer, hand_off.to);
            return Err(StepError::InCell { performer, cell });
        }
        check_performer(scene, hand_off.performer, hand_off.from)?;
        check_performer(scene, hand_off.performer, hand_off.to)?;
    }
    for change in &step.level_changes {
        let LevelChange { cell, level, .. } = *change;
        let world = world_of_cell(scene, cell)?;
        let found = scene.world_of_level(level);
        if found.ok_or(StepError::Level { cell, level })? != world {
            let what = format!("level {level}");
            return Err(StepError::OtherWorld { what, cell });
        }
    }
    for change in &step.ghost_changes {
        check_performer(scene, change.performer, change.cell)?;
    }
    for change in &step.suspensions {
        world_of_cell(scene, change.cell)?;
    }
    check_wanted(step, scene)
}

fn check_wanted(step: &Step, scene: &Scene) -> Result<(), StepError> {
    let ghosts = step.ghost_poses.iter().map(|poses| poses.performer);
    let wanted = step.wanted.poses.iter().chain(&step.wanted.states);
    for performer in wanted.copied().chain(ghosts) {
        let world = scene.world_of_performer(performer);
        world.ok_or(StepError::NoPerformer(performer))?;
    }
    for cell in &step.wanted.snapshots {
        world_of_cell(scene, *cell)?;
    }
    Ok(())
}

fn check_order(step: &Step) -> Result<(), StepError> {
    let wanted = &step.wanted;
    let lists = [
        (
            "affinities",
            ascends(&step.affinities, |change| change.cell),
        ),
        (
            "hand-offs",
            ascends(&step.hand_offs, |hand_off| hand_off.performer),
        ),
        (
            "levels",
            ascends(&step.level_changes, |change| (change.cell, change.level)),
        ),
        (
            "ghosts",
            ascends(&step.ghost_changes, |change| {
                (change.cell, change.performer)
            }),
        ),
        (
            "poses of ghosts",
            ascends(&step.ghost_poses, |poses| poses.performer),
        ),
        (
            "suspensions",
            ascends(&step.suspensions, |change| change.cell),
        ),
        (
            "poses wanted",
            ascends(&wanted.poses, |performer| *performer),
        ),
        (
            "states wanted",
            ascends(&wanted.states, |performer| *performer),
        ),
        ("snapshots wanted", ascends(&wanted.snapshots, |cell| *cell)),
    ];
    match lists.into_iter().find(|(_, ascends)| !ascends) {
        Some((list, _)) => Err(StepError::Order(list)),
        None => Ok(()),
    }
}

fn ascends<T, K: Ord>(list: &[T], key: impl Fn(&T) -> K) -> bool {
    list.is_sorted_by(|one, next| key(one) < key(next))
}

fn check_performer(scene: &Scene, performer: PerformerId, cell: CellId) -> Result<(), StepError> {
    let world = world_of_cell(scene, cell)?;
    let found = scene.world_of_performer(performer);
    if found.ok_or(StepError::NoPerformer(performer))? != world {
        let what = format!("performer {performer}");
        return Err(StepError::OtherWorld { what, cell });
    }
    Ok(())
}

fn world_of_cell(scene: &Scene, cell: CellId) -> Result<usize, StepError> {
    scene.world_of_cell(cell).ok_or(StepError::NoCell(cell))
}
