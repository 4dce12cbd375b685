//! Checks that cells that see by range have ghosts of all who are within it, where they were when
//! the step began, by asking everyone about everyone.

use cell_host::CellHost;
use lockstep::{Primary, SightRule};
use protocol::primary_to_secondary::Step;
use protocol::{PeerName, PerformerId, PerformerState};

/// Asks of a step in which time advances, with the states before it by the performers' numbers,
/// whether all who are seen are in the cell of who sees them, at least as ghosts.
///
/// # Panics
/// Panics if somebody is within the range of another one and is not there.
pub fn check(primary: &Primary, step: &Step, states: &[PerformerState]) {
    // Who comes with this step is seen from the next one on.
    if primary.settings().cells.rules.sight != SightRule::Range || !step.actions.is_empty() {
        return;
    }
    let plan = primary.topology();
    let partition = primary.partition();
    for one in plan.present() {
        let spec = plan.performer(one);
        let cell = partition.cell(one);
        let Some(range) = spec.sight.range else {
            continue;
        };
        if partition.is_suspended(cell) {
            continue;
        }
        for other in plan.present() {
            let seen = plan.performer(other);
            let is_elsewhere = partition.cell(other) != cell && seen.world == spec.world;
            let [here, there] = [one, other].map(|id| states[id.0 as usize].position);
            let is_within = (0..3).all(|axis| {
                let distance = (here[axis] - there[axis]).abs();
                distance <= range + seen.sight.size && distance.is_finite()
            });
            assert!(
                !is_elsewhere || !is_within || partition.ghosts(cell).any(|ghost| ghost == other),
                "{} (cell {cell}) sees {} within {range} m after iteration {}, and it is no ghost",
                spec.name,
                seen.name,
                primary.iteration()
            );
        }
    }
}

/// Asks of a secondary that has done a step in which time advances whether its ghosts are where
/// their performers were before.
///
/// # Panics
/// Panics if one is elsewhere.
pub fn check_places(
    primary: &Primary,
    (name, host): (&PeerName, &CellHost),
    states: &[PerformerState],
) {
    let plan = primary.topology();
    let is_watched = |id: PerformerId| {
        let performer = plan.performers.get(id.0 as usize);
        performer.is_some_and(|one| !one.is_removed && plan.watched[one.world])
    };
    for cell in host.cells() {
        for present in cell.physics().present() {
            let state = states.get(present.performer.0 as usize);
            let Some(state) = state.filter(|_| is_watched(present.performer)) else {
                continue;
            };
            let is_there = (0..3).all(|axis| {
                let there = state.position[axis];
                let off = (present.pose.position[axis] - there).abs();
                off <= 1e-9 * there.abs().max(1.0) || !there.is_finite()
            });
            assert!(
                !present.is_ghost || is_there,
                "the ghost of performer {} in cell {} of {name} is at {:?}, and it was at {:?} \
                 before iteration {}",
                present.performer,
                cell.id(),
                present.pose.position,
                state.position,
                primary.iteration()
            );
        }
    }
}
