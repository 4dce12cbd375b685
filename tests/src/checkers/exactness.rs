//! Nothing is missed: whoever can touch each other in the next step is in one cell, and every level
//! that a performer touches is loaded there. Found by asking everyone about everyone.

use lockstep::{Bounds, LoadRule, Primary, Rules};
use protocol::{CellId, PerformerId, PerformerState};

/// Asks it of a primary that has published a step in which time advances, with the states before
/// that step by the performers' numbers: the primary may have taken over its answers already.
///
/// # Panics
/// Panics if two performers that can meet are in two cells, or a level is missing.
pub fn check(primary: &Primary, states: &[PerformerState]) {
    let plan = primary.topology();
    let ids = (0..plan.performers.len() as u32).map(PerformerId);
    let present: Vec<PerformerId> = ids.filter(|id| !plan.performer(*id).is_removed).collect();
    let rules = primary.settings().cells.rules;
    for (index, id) in present.iter().enumerate() {
        check_surroundings(primary, states, *id, rules);
        for other in &present[index + 1..] {
            check_pair(primary, states, *id, *other);
        }
    }
}

fn check_pair(primary: &Primary, states: &[PerformerState], one: PerformerId, other: PerformerId) {
    let plan = primary.topology();
    let [cell, other_cell] = [one, other].map(|id| primary.performer(id).0);
    let [state, other_state] = [one, other].map(|id| &states[id.0 as usize]);
    let is_one_world = plan.performer(one).world == plan.performer(other).world;
    let [[least, greatest], [other_least, other_greatest]] = [state.reach, other_state.reach];
    let overlap = (0..3)
        .all(|axis| least[axis] <= other_greatest[axis] && other_least[axis] <= greatest[axis]);
    let can_meet = is_one_world && overlap && cell != other_cell;
    let both_stand = [cell, other_cell].map(|cell| primary.partition().is_suspended(cell));
    assert!(
        !can_meet || both_stand == [true, true],
        "{} (cell {cell}) and {} (cell {other_cell}) can meet after iteration {}: {:?} {:?}",
        plan.performer(one).name,
        plan.performer(other).name,
        primary.iteration(),
        state.reach,
        other_state.reach,
    );
}

fn check_surroundings(primary: &Primary, states: &[PerformerState], id: PerformerId, rules: Rules) {
    let plan = primary.topology();
    let performer = plan.performer(id);
    let cell = primary.performer(id).0;
    let state = &states[id.0 as usize];
    if rules.load != LoadRule::Buffer || primary.partition().is_suspended(cell) {
        return;
    }
    let half_extents = primary.partition().half_extents(id);
    let bounds = Bounds::around(state.position, half_extents);
    for (number, level) in plan.levels.iter().enumerate() {
        let touches = level.world == performer.world && level.outer.touches(&bounds);
        let is_loaded = || is_loaded(primary, cell, number);
        assert!(
            !touches || is_loaded(),
            "{} touches level {} after iteration {}, and its cell {cell} has not loaded it",
            performer.name,
            level.name,
            primary.iteration()
        );
    }
}

fn is_loaded(primary: &Primary, cell: CellId, level: usize) -> bool {
    let mut loaded = primary.partition().loaded(cell);
    loaded.any(|one| one.0 as usize == level)
}
