//! Shows that the bits of every performer after every iteration are the same however many
//! secondaries and threads compute them, in whatever order acks arrive, and whichever cells are
//! moved between secondaries while time runs or stands still. Each world is run in one process and
//! then on simulated clusters with real cells; a run that differs stops at the first iteration,
//! performer and field. Every seed is printed; the last one also loses and doubles messages.

use std::sync::Arc;

use lockstep::{Changes, Partition, PerformerSpec, Topology};
use protocol::exit::Outcome;
use protocol::{Iteration, PerformerId};
use sdf::World;
use tests::cluster::moves::RandomMoves;
use tests::cluster::{self, Cluster, NetworkFaults};
use tests::standalone;
use tests::witness::{Recording, Witness};
use tests::worlds::lively;

const ITERATIONS: u64 = 5_000;
const SECONDARIES: [u32; 5] = [1, 2, 3, 4, 8];
const THREADS: [u32; 2] = [1, 2];
/// Each number of secondaries is run with each number of threads; `PHALANX_SEEDS` asks for more.
const SEEDS: u64 = 10;
/// Iterations between two moves of a cell by hand, on average.
const MOVE_EVERY: u64 = 50;

/// Returns the number of seeds.
fn seeds() -> u64 {
    let asked = std::env::var("PHALANX_SEEDS").ok();
    asked.map_or(SEEDS, |count| {
        count.parse().expect("PHALANX_SEEDS is a number")
    })
}

/// Runs worlds in one process, and returns what it computed.
fn standalone(worlds: &[World]) -> (Witness, Arc<Recording>) {
    let mut witness = Witness::default();
    let settings = cluster::settings(1, ITERATIONS);
    let reason = standalone::run(worlds, settings, &mut witness);
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    let recording = Arc::new(std::mem::take(&mut witness.recording));
    assert_eq!(recording.digests().len() as u64, ITERATIONS + 1);
    (witness, recording)
}

/// Runs them on a cluster where a client moves cells at random, and compares.
fn check_seed(worlds: &[World], reference: &Arc<Recording>, expected: &Witness, seed: u64) {
    let secondaries = SECONDARIES[seed as usize % SECONDARIES.len()];
    let threads = THREADS[seed as usize / SECONDARIES.len() % THREADS.len()];
    let is_last = seed + 1 == seeds();
    let faults = if is_last {
        NetworkFaults::HOSTILE
    } else {
        NetworkFaults::SHUFFLED
    };
    let label = format!("{secondaries} secondaries, {threads} threads, seed {seed}");
    let mut settings = cluster::settings(secondaries, ITERATIONS);
    settings.cells.threads = threads;
    let mut cluster = Cluster::with(worlds, settings, faults, seed);
    cluster.checks.witness = Witness::comparing(Arc::clone(reference), label.clone());
    cluster.setup.moves = Some(RandomMoves::new(MOVE_EVERY, seed));
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{label}: {reason}");
    assert_eq!(cluster.digests(), reference.digests(), "{label}");
    let (found, expected) = (&cluster.checks.witness.ownership, &expected.ownership);
    assert_eq!(found.hand_offs, expected.hand_offs, "{label}: hand-offs");
    assert_eq!(
        found.suspensions, expected.suspensions,
        "{label}: suspensions"
    );
    let moves = cluster.setup.moves.as_ref().expect("it was just put there");
    eprintln!(
        "{label}: {} migrations, {} asked for and made, {} refused",
        found.migrations, moves.made, moves.refused
    );
    assert!(
        moves.made > ITERATIONS / MOVE_EVERY / 4,
        "{label}: cells are moved"
    );
    assert_eq!(
        found.migrations > 0,
        secondaries > 1,
        "{label}: cells change host"
    );
}

/// A step in which time is paused asks once more who is where, and nothing may come of it: the
/// states of a run go through the rules once and several times per iteration.
fn check_pauses(worlds: &[World], reference: &Recording) {
    let plan = Topology::new(worlds);
    let rules = cluster::settings(1, ITERATIONS).cells.rules;
    let [mut once, mut often] = [(), ()].map(|()| Partition::new(&plan, rules));
    let is_activating = |one: &PerformerSpec| !one.is_level_bound();
    let activating = plan.performers.iter().position(is_activating);
    let activating = activating.map(|index| PerformerId(index as u32));
    for iteration in 0..=ITERATIONS {
        let states = reference.states(iteration);
        let update = |membership: &mut Partition| -> Changes {
            membership.update(&plan, Iteration(iteration), states)
        };
        let expected = update(&mut once);
        assert_eq!(update(&mut often), expected, "after iteration {iteration}");
        for activating in [None, activating] {
            // A model that is a performer already is made one once more.
            if let Some(activating) = activating {
                often.set_performer(activating, None);
            }
            let again = update(&mut often);
            assert_eq!(
                again,
                Changes::default(),
                "asked again after iteration {iteration}"
            );
        }
    }
}

/// Checks that all runs of some worlds are equal, and returns what was seen of the first.
fn check(worlds: &[World]) -> Witness {
    let (expected, reference) = standalone(worlds);
    let hand_offs = expected.ownership.hand_offs;
    eprintln!("{hand_offs} hand-offs in {ITERATIONS} iterations");
    assert!(hand_offs > 0, "performers change cell");
    check_pauses(worlds, &reference);
    for seed in 0..seeds() {
        check_seed(worlds, &reference, &expected, seed);
    }
    expected
}

#[test]
fn piles_that_fall_across_borders() {
    check(&[lively::piles()]);
}

#[test]
fn robots_on_wheels_that_drive_over_levels() {
    check(&[lively::robots()]);
}

#[test]
fn models_that_joints_of_the_world_hold_together() {
    check(&[lively::joined()]);
}

#[test]
fn boxes_that_meet_at_borders_and_chains_over_three_cells() {
    check(&[lively::borders()]);
}

#[test]
fn bodies_in_motion_in_adjoining_levels() {
    check(&[lively::motion("motion", 10)]);
}

#[test]
fn several_worlds_in_one_run() {
    check(&[lively::motion("first", 3), lively::motion("second", 4)]);
}

#[test]
fn levels_that_are_suspended_and_resumed() {
    let seen = check(&[lively::suspended()]);
    assert!(
        seen.ownership.suspensions > 10,
        "levels are left again and again"
    );
}

#[test]
fn a_ball_that_passes_several_levels_in_one_step() {
    check(&[lively::bullet()]);
}

#[test]
fn levels_that_are_split_while_they_are_crowded() {
    let mut world = lively::motion("motion", 20);
    let (whole, _) = standalone(std::slice::from_ref(&world));
    world.split_above = Some(2);
    let seen = check(&[world]);
    let [split, whole] = [&seen, &whole].map(|one| one.ownership.hand_offs);
    assert!(
        split > whole,
        "{split} hand-offs, and {whole} without parts"
    );
}
