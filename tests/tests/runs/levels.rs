//! Shows what levels promise: contact across borders is exact, performers change cell exactly when
//! they must, nothing is missed and nothing is loaded that nobody needs. Small worlds run on the
//! simulated cluster, and where it matters once more without levels; every step is checked by the
//! checkers of `tests/src/checkers`.

use std::time::Duration;

use lockstep::PeerLossPolicy;
use protocol::client_to_primary::{NamedPose, ResetKind, SpawnRequest};
use protocol::exit::Outcome;
use protocol::{
    CellId, Command, Iteration, LevelId, PerformerId, PerformerState, ScheduledCommand, SessionTime,
};
use sdf::World;
use tests::cluster::fault::{Fault, TimedFault};
use tests::cluster::{Cluster, NetworkFaults, settings};
use tests::repository;
use tests::worlds::scene::{Scene, Surface, cuboid_link};

/// Runs a world to its end on some secondaries.
fn run(world: World, secondaries: u32, iterations: u64) -> Cluster {
    run_all(&[world], secondaries, iterations)
}

fn run_all(worlds: &[World], secondaries: u32, iterations: u64) -> Cluster {
    let mut cluster = Cluster::new(
        worlds,
        secondaries,
        iterations,
        NetworkFaults::SHUFFLED,
        iterations,
    );
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    cluster
}

/// Returns the state of the only, or first, performer after an iteration.
fn first(cluster: &Cluster, iteration: u64) -> PerformerState {
    cluster.checks.witness.recording.states(iteration)[0]
}

fn cell_names(cluster: &Cluster, iteration: u64) -> Vec<&str> {
    let cells = cluster.checks.witness.recording.cells(iteration).iter();
    let plan = cluster.primary.topology();
    cells.map(|cell| plan.cell(*cell).name.as_str()).collect()
}

/// A floor below all levels, upper face at z = 0.
fn floor(scene: &mut Scene, name: &str) {
    let pose = [0.0, 0.0, -0.5, 0.0, 0.0, 0.0];
    scene.fixed(name, pose, [100.0, 10.0, 1.0], Surface::ICE);
}

fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    (0..3)
        .map(|axis| (one[axis] - other[axis]).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Two boxes meet exactly at x = 0, where two levels meet: one falls along x, the other floats.
fn collision(bounce: f64) -> Scene {
    let mut scene = Scene::new("collision", [2.0, 0.0, 0.0]);
    let surface = Surface::elastic(bounce);
    let faller = [-1.15, 0.0, 0.0, 0.0, 0.0, 0.0];
    scene.cuboid("faller", faller, [0.3; 3], surface);
    scene.floating_cuboid("floater", [0.15, 0.02, 0.01], [0.3; 3], surface);
    for (name, x) in [("east", 5.0), ("west", -5.0)] {
        scene.level(name, [x, 0.0, 0.0], [10.0; 3], 0.5, &[]);
    }
    scene
}

fn check_collision(bounce: f64) {
    const ITERATIONS: u64 = 1_400;
    let scene = collision(bounce);
    let parted = run(scene.build(), 2, ITERATIONS);
    let whole = run(scene.build_without_levels(), 1, ITERATIONS);
    assert!(
        parted.checks.witness.ownership.hand_offs > 0,
        "one cell solves the contact"
    );
    assert_eq!(cell_names(&parted, 600), ["west", "east"]);
    let momentum = |states: &[PerformerState]| -> [f64; 3] {
        std::array::from_fn(|axis| states.iter().map(|state| state.linear_velocity[axis]).sum())
    };
    let hit = whole.checks.witness.recording.states(ITERATIONS)[1];
    assert!(hit.position[0] > 0.2, "they have met: {hit:?}");
    for iteration in 0..=ITERATIONS {
        let [ours, theirs] =
            [&parted, &whole].map(|run| run.checks.witness.recording.states(iteration));
        for (one, other) in ours.iter().zip(theirs) {
            let apart = distance(one.position, other.position);
            assert!(apart < 1e-3, "{apart} m apart after iteration {iteration}");
        }
        let [ours, theirs] = [ours, theirs].map(momentum);
        let size = distance(theirs, [0.0; 3]);
        let relative = distance(ours, theirs) / size.max(1e-3);
        assert!(
            relative < 1e-4,
            "momentum is off by {relative} after iteration {iteration}"
        );
    }
}

#[test]
fn boxes_that_collide_on_a_border_end_where_they_end_without_levels() {
    check_collision(0.0);
    check_collision(0.5);
    check_collision(1.0);
}

/// A ball slides along x over a floor that four levels of 1 m share.
fn slide() -> Scene {
    let mut scene = Scene::new("slide", [2.0, 0.0, -9.8]);
    floor(&mut scene, "floor");
    scene.ball("ball", [0.0, 0.0, 0.1], 0.1, Surface::ICE);
    scene.levels_along_x(-0.5, 1.0, 4, 0.2, |_| vec!["floor".to_owned()]);
    scene
}

#[test]
fn a_ball_that_slides_through_four_levels_makes_three_hand_offs() {
    let cluster = run(slide().build(), 3, 1_750);
    let end = first(&cluster, 1_750).position;
    assert!(
        end[0] > 2.7 && end[0] < 3.5,
        "it is in the last level: {end:?}"
    );
    assert_eq!(cluster.checks.witness.ownership.hand_offs, 3);
    assert_eq!(cluster.primary.hand_offs(PerformerId(0)), 3);
    assert_eq!(cell_names(&cluster, 1_750), ["L3"]);
}

#[test]
fn a_floor_that_two_levels_share_stays_while_one_keeps_it() {
    let cluster = run(slide().build(), 1, 1_750);
    assert_eq!(
        cluster.primary.events().levels_unloaded,
        9,
        "levels go one by one"
    );
    for iteration in 0..=1_750 {
        let height = first(&cluster, iteration).position[2];
        assert!(
            (height - 0.1).abs() < 1e-4,
            "at {height} m after iteration {iteration}"
        );
    }
}

/// A ball on a spring goes along x from `start` about `centre`; the level `east` begins at 1.2 m.
fn shuttle(start: f64, centre: f64, rate: f64, gap: f64) -> World {
    let mut scene = Scene::new("shuttle", [0.0; 3]);
    scene.shuttle("ball", [start, 0.0, 0.0], centre, rate);
    scene.level(
        "west",
        [0.0, 0.0, 0.0],
        [2.0 * (1.2 - gap), 4.0, 4.0],
        0.5,
        &[],
    );
    scene.level("east", [2.2, 0.0, 0.0], [2.0, 4.0, 4.0], 0.3, &[]);
    scene.build()
}

#[test]
fn a_performer_that_turns_round_in_a_buffer_makes_no_hand_off() {
    let cluster = run(shuttle(0.0, 0.5, 10.0, 0.2), 2, 3_000);
    let furthest = (0..=3_000)
        .map(|iteration| first(&cluster, iteration).position[0])
        .fold(f64::MIN, f64::max);
    assert!(
        (0.95..1.05).contains(&furthest),
        "it was in the buffer: {furthest} m"
    );
    let events = cluster.primary.events();
    assert!(
        events.levels_loaded > 5,
        "the level was loaded again and again: {events:?}"
    );
    assert_eq!(cluster.checks.witness.ownership.hand_offs, 0);
}

#[test]
fn a_performer_that_dithers_on_a_border_changes_cell_once_per_stay_at_most() {
    const ITERATIONS: u64 = 3_000;
    let cluster = run(shuttle(0.9, 1.2, 70.0, 0.0), 2, ITERATIONS);
    let stay = cluster.primary.settings().cells.rules.minimum_stay;
    let mut since = 0;
    for iteration in 1..=ITERATIONS {
        let [before, now] = [iteration - 1, iteration].map(|i| cell_names(&cluster, i));
        if before != now {
            let stayed = iteration - since;
            assert!(
                stayed >= stay,
                "it left after {stayed} iterations at {iteration}"
            );
            since = iteration;
        }
    }
    let hand_offs = cluster.checks.witness.ownership.hand_offs;
    assert!(hand_offs > 10, "it crosses all the time: {hand_offs}");
    assert!(hand_offs <= ITERATIONS / stay, "{hand_offs}");
}

#[test]
fn a_performer_in_a_buffer_is_a_ghost_that_sensors_there_see() {
    let mut world = shuttle(0.0, 0.5, 10.0, 0.2);
    tests::worlds::watch(&mut world);
    let mut cluster = Cluster::new(&[world], 2, 620, NetworkFaults::SHUFFLED, 1);
    let east = CellId(2);
    cluster.run_until(|cluster| cluster.digests().len() == 316);
    assert_eq!(
        cluster.checks.witness.ownership.ghosts(east),
        [PerformerId(0)]
    );
    let listed: Vec<_> = cluster.primary.partition().ghosts(east).collect();
    assert_eq!(listed, [PerformerId(0)]);
    let hosts = cluster.secondaries().filter_map(|one| one.host());
    let cells = hosts.flat_map(cell_host::CellHost::cells);
    let cell = cells.into_iter().find(|cell| cell.id() == east);
    let cell = cell.expect("a cell with a ghost is hosted");
    let hit = cell
        .physics()
        .cast_ray([1.6, 0.0, 0.0], [-1.0, 0.0, 0.0], 10.0);
    let hit = hit.expect("the ray meets the ghost");
    let surface = first(&cluster, 315).position[0] + 0.1;
    let seen = 1.6 - hit.distance;
    // The ghost is where the performer was when the step was published.
    assert!(
        (surface - seen).abs() < 0.02,
        "seen at {seen} m, at {surface} m"
    );
    cluster.run_until(|cluster| cluster.digests().len() == 600);
    assert_eq!(cluster.checks.witness.ownership.ghosts(east), []);
}

#[test]
fn a_level_bound_model_keeps_every_bit_while_its_level_is_inactive() {
    const ITERATIONS: u64 = 3_000;
    let cluster = run(tests::worlds::lively::suspended(), 2, ITERATIONS);
    let recording = &cluster.checks.witness.recording;
    let (mut stood, mut moved) = (0, 0);
    for iteration in 1..=ITERATIONS {
        let before = recording.states(iteration - 1);
        let suspended = recording.suspended(iteration);
        for (id, (before, now)) in before.iter().zip(recording.states(iteration)).enumerate() {
            if suspended[id] {
                assert_eq!(before.digest, now.digest, "performer {id} at {iteration}");
                assert_eq!(before, now, "performer {id} after iteration {iteration}");
                stood += 1;
            } else {
                moved += u64::from(before.digest != now.digest);
            }
        }
    }
    assert!(
        stood > 1_000 && moved > 1_000,
        "{stood} stood and {moved} moved"
    );
}

/// A ball that flies towards a wall that only the last level has.
fn check_wall(acceleration: f64, least: f64, width: f64, count: u32) {
    const ITERATIONS: u64 = 600;
    let mut scene = Scene::new("wall", [acceleration, 0.0, 0.0]);
    scene.ball("ball", [0.0; 3], 0.1, Surface::elastic(0.5));
    let end = least + width * f64::from(count);
    let pose = [end + 2.0 - 0.5 * width, 0.0, 0.0, 0.0, 0.0, 0.0];
    scene.fixed("wall", pose, [4.0; 3], Surface::elastic(0.5));
    scene.levels_along_x(least, width, count, 0.05, |index| {
        if index + 1 == count {
            vec!["wall".to_owned()]
        } else {
            Vec::new()
        }
    });
    let whole = run(scene.build_without_levels(), 1, ITERATIONS);
    let parted = run(scene.build(), 2, ITERATIONS);
    let fastest = (0..=ITERATIONS)
        .map(|iteration| first(&whole, iteration).linear_velocity[0])
        .fold(0.0, f64::max);
    let end = first(&whole, ITERATIONS);
    eprintln!("at most {fastest} m/s, at the end {end:?}");
    assert!(end.linear_velocity[0] < 0.5 * fastest, "it met the wall");
    for iteration in 0..=ITERATIONS {
        let [ours, theirs] = [&parted, &whole].map(|run| first(run, iteration).position);
        let apart = distance(ours, theirs);
        assert!(apart < 1e-3, "{apart} m apart after iteration {iteration}");
    }
}

#[test]
fn the_wall_of_a_level_is_there_however_fast_it_is_entered() {
    check_wall(100.0, 5.0, 1.0, 3);
    check_wall(1_000.0, 20.0, 0.5, 10);
    check_wall(10_000.0, 100.0, 0.5, 10);
}

#[test]
fn a_world_without_performers_runs_and_opens_no_cell() {
    let mut scene = Scene::new("empty", [0.0, 0.0, -9.8]);
    floor(&mut scene, "floor");
    scene.levels_along_x(0.0, 1.0, 2, 0.2, |_| vec!["floor".to_owned()]);
    let cluster = run(scene.build(), 2, 100);
    assert_eq!(cluster.checks.witness.ownership.hosted().count(), 0);
    assert_eq!(cluster.primary.events().levels_loaded, 0);
}

#[test]
fn the_last_performer_that_leaves_takes_all_levels_with_it() {
    let mut scene = Scene::new("leaving", [10.0, 0.0, 0.0]);
    floor(&mut scene, "floor");
    // Free bodies fall exactly: from 0 it would be at the very edge of a buffer after 0.2 s.
    scene.ball("ball", [0.001, 0.0, 0.2], 0.1, Surface::ICE);
    scene.levels_along_x(-0.5, 1.0, 2, 0.2, |_| vec!["floor".to_owned()]);
    let cluster = run(scene.build(), 2, 1_000);
    let hosted = cluster.checks.witness.ownership.hosted();
    assert_eq!(
        hosted.map(|(cell, _)| cell).collect::<Vec<_>>(),
        [CellId(0)]
    );
    let events = cluster.primary.events();
    assert_eq!(events.levels_loaded, events.levels_unloaded, "{events:?}");
    assert_eq!(cluster.checks.witness.ownership.hand_offs, 2);
    let host = cluster.secondaries().filter_map(|one| one.host());
    let cells: usize = host.map(|host| host.cells().count()).sum();
    assert_eq!(cells, 1, "closed cells are given up");
}

#[test]
fn bodies_of_two_worlds_never_meet() {
    let scene = collision(0.5);
    let alone = run(scene.build(), 1, 1_400);
    let mut other = scene.build();
    other.name = "other".to_owned();
    let both = run_all(&[scene.build(), other], 3, 1_400);
    let expected = alone.checks.witness.recording.states(1_400);
    let states = both.checks.witness.recording.states(1_400);
    for (index, state) in states.iter().enumerate() {
        let expected = &expected[index % 2];
        assert_eq!(state.digest, expected.digest, "performer {index}");
    }
    let hand_offs = alone.checks.witness.ownership.hand_offs;
    assert_eq!(both.checks.witness.ownership.hand_offs, 2 * hand_offs);
}

#[test]
fn balls_of_the_world_of_four_levels_do_what_it_says() {
    let text = include_str!("../../../worlds/four_levels.sdf");
    let read = sdf::read_worlds(text, "four_levels.sdf", &sdf::NoFiles).expect("it is valid");
    let cluster = run_all(&read.worlds, 2, 8_000);
    let plan = cluster.primary.topology();
    let hand_offs = |name: &str| {
        let mut performers = plan.performers.iter();
        let id = performers.position(|one| one.name == name);
        let id = id.unwrap_or_else(|| panic!("no performer is named {name}"));
        cluster.primary.hand_offs(PerformerId(id as u32))
    };
    assert_eq!(hand_offs("traveller"), 3);
    assert_eq!(hand_offs("returner"), 0);
    assert!(hand_offs("swinger") >= 2, "{}", hand_offs("swinger"));
    assert_eq!(hand_offs("ditherer"), 0);
    assert!(
        cluster.checks.witness.ownership.suspensions > 0,
        "the crate waits"
    );
}

#[test]
fn cells_that_cost_most_spread_over_secondaries_and_no_result_changes() {
    const ITERATIONS: u64 = 4_000;
    // The first placement gives every other cell to each of two secondaries.
    let world = tests::worlds::row(8, 1);
    let with_costs = |costs: fn(CellId) -> u64| {
        let worlds = std::slice::from_ref(&world);
        let mut cluster = Cluster::new(worlds, 2, ITERATIONS, NetworkFaults::SHUFFLED, 1);
        cluster.setup.costs = costs;
        cluster.run_until(|_| false);
        cluster
    };
    let even = with_costs(|_| 100_000);
    assert_eq!(
        even.checks.witness.ownership.migrations, 0,
        "nothing moves without a reason"
    );
    let costs: fn(CellId) -> u64 = |cell| if cell.0 % 2 == 1 { 900_000 } else { 100_000 };
    let uneven = with_costs(costs);
    let mut loads = std::collections::BTreeMap::new();
    for (cell, host) in uneven.checks.witness.ownership.hosted() {
        *loads.entry(host.clone()).or_insert(0) += costs(cell);
    }
    let loads: Vec<u64> = loads.into_values().collect();
    assert_eq!(
        loads, [2_000_000; 2],
        "each of the secondaries has half of the load"
    );
    let migrations = uneven.checks.witness.ownership.migrations;
    assert!((1..=8).contains(&migrations), "{migrations}");
    assert_eq!(uneven.digests(), even.digests());
}

/// Has a model be put somewhere after an iteration.
fn put(iteration: u64, model: &str, position: [f64; 3]) -> ScheduledCommand {
    let [x, y, z] = position;
    ScheduledCommand {
        iteration: Iteration(iteration),
        paused_round: None,
        command: Command::SetPoses {
            poses: vec![NamedPose {
                model: model.to_owned(),
                pose: [x, y, z, 0.0, 0.0, 0.0, 1.0],
            }],
        },
    }
}

/// Runs a world on some secondaries with commands and faults, and a journal that it goes on from.
fn run_with(
    world: &World,
    secondaries: u32,
    iterations: u64,
    commands: &[ScheduledCommand],
    faults: &[TimedFault],
) -> Cluster {
    let mut settings = settings(secondaries, iterations);
    settings.schedule = commands.to_vec();
    settings.recovery.on_peer_loss = PeerLossPolicy::Recover;
    settings.recovery.checkpoint_every = 50;
    settings.recovery.is_journaled = true;
    let worlds = std::slice::from_ref(world);
    let mut cluster = Cluster::with(worlds, settings, NetworkFaults::SHUFFLED, 7);
    cluster.keep_journal(Duration::from_micros(50));
    for fault in faults {
        cluster.plan(fault.clone());
    }
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    cluster
}

/// Shows that a run with commands ends with the same digests on any number of secondaries, when one
/// of them is killed, and when all processes are; returns one of them.
fn check_everywhere(world: &World, iterations: u64, commands: &[ScheduledCommand]) -> Cluster {
    let one = run_with(world, 1, iterations, commands, &[]);
    for secondaries in [2, 3] {
        let other = run_with(world, secondaries, iterations, commands, &[]);
        assert!(
            other.digests() == one.digests(),
            "{secondaries} secondaries"
        );
    }
    let half = SessionTime(one.now().0 / 2);
    let faults = [
        Fault::Crash {
            loses_messages: true,
        },
        Fault::CrashOfPrimary {
            resumed_after: Duration::from_millis(5),
            is_torn: false,
        },
    ];
    for fault in faults {
        let fault = TimedFault {
            at: half,
            peer: "s1".parse().expect("it is a valid name"),
            fault,
        };
        let other = run_with(world, 2, iterations, commands, std::slice::from_ref(&fault));
        assert!(other.digests() == one.digests(), "{fault}");
    }
    one
}

/// Two levels with floors 20 m apart, a static table that is a performer, and a crate that falls on
/// the floor of the second level, which it lives with.
fn table() -> World {
    let mut scene = Scene::new("table", [0.0, 0.0, -9.8]);
    for (name, x) in [("west", -10.0), ("east", 10.0)] {
        let floor_name = format!("{name}_floor");
        let pose = [x, 0.0, -0.5, 0.0, 0.0, 0.0];
        scene.fixed(&floor_name, pose, [10.0, 10.0, 1.0], Surface::ICE);
        let mut models = vec![floor_name];
        if name == "east" {
            models.push("crate".to_owned());
        }
        scene.level(name, [x, 0.0, 0.0], [12.0, 12.0, 12.0], 1.0, &models);
    }
    let pose = [-10.0, 0.0, 0.5, 0.0, 0.0, 0.0];
    scene.fixed("table", pose, [1.0; 3], Surface::ICE);
    scene.performer("table", [2.0; 3]);
    scene.cuboid(
        "crate",
        [10.0, 0.0, 2.0, 0.0, 0.0, 0.0],
        [0.4; 3],
        Surface::ICE,
    );
    scene.build()
}

#[test]
fn a_static_performer_keeps_levels_active_and_is_moved_by_commands_alone() {
    const ITERATIONS: u64 = 2_000;
    let commands = [
        put(100, "table", [10.0, 3.0, 0.5]),
        // Below the crate, which lies on the floor by then.
        put(1_200, "table", [10.0, 0.0, 0.5]),
        put(1_201, "crate", [10.0, 0.0, 1.3]),
        put(1_600, "table", [-10.0, 0.0, 0.5]),
    ];
    let world = table();
    let cluster = check_everywhere(&world, ITERATIONS, &commands);
    let plan = cluster.primary.topology();
    assert_eq!(plan.performers[0].name, "table");
    let recording = &cluster.checks.witness.recording;
    let table = |iteration| recording.states(iteration)[0];
    let height = |iteration| recording.states(iteration)[1].position[2];
    assert_eq!(table(100).position, [-10.0, 0.0, 0.5]);
    assert_eq!(height(100), 2.0, "nobody keeps the level of the crate");
    for iteration in 102..1_200 {
        assert_eq!(
            table(iteration).position,
            [10.0, 3.0, 0.5],
            "it never moves by itself"
        );
        assert_eq!(table(iteration).linear_velocity, [0.0; 3]);
    }
    assert!(
        (height(1_190) - 0.2).abs() < 1e-3,
        "it lies on the floor: {}",
        height(1_190)
    );
    assert!(
        (height(1_590) - 1.2).abs() < 1e-2,
        "it lies on the table: {}",
        height(1_590)
    );
    assert_eq!(height(1_610), height(2_000), "its level is left");
    assert_eq!(cell_names(&cluster, ITERATIONS), ["west", "east"]);
    assert!(cluster.primary.partition().is_active(LevelId(0)));
    assert!(!cluster.primary.partition().is_active(LevelId(1)));
}

#[test]
fn bodies_on_a_removed_static_performer_fall() {
    let mut scene = Scene::new("shelf", [0.0, 0.0, -9.8]);
    floor(&mut scene, "floor");
    scene.fixed(
        "shelf",
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [1.0; 3],
        Surface::ICE,
    );
    scene.performer("shelf", [1.0; 3]);
    scene.cuboid(
        "crate",
        [0.0, 0.0, 1.7, 0.0, 0.0, 0.0],
        [0.4; 3],
        Surface::ICE,
    );
    scene.level("all", [0.0; 3], [100.0; 3], 1.0, &["floor".to_owned()]);
    let commands = [put(4_000, "shelf", [5.0, 0.0, 1.0])];
    let cluster = check_everywhere(&scene.build(), 5_000, &commands);
    let states = |iteration| cluster.checks.witness.recording.states(iteration)[1];
    let asleep = [states(3_990), states(4_000)];
    assert_eq!(
        asleep[0].digest, asleep[1].digest,
        "it sleeps on the shelf: {asleep:?}"
    );
    let end = states(5_000).position[2];
    assert!((end - 0.2).abs() < 1e-3, "it fell on the floor: {end}");
}

#[test]
fn a_model_put_into_an_active_level_falls_there() {
    let mut scene = Scene::new("put", [0.0, 0.0, -9.8]);
    floor(&mut scene, "floor");
    for (name, x) in [("west", -20.0), ("middle", 0.0), ("east", 20.0)] {
        let mut models = vec!["floor".to_owned()];
        if name != "west" {
            models.push("crate".to_owned());
        }
        scene.level(name, [x, 0.0, 0.0], [10.0; 3], 1.0, &models);
    }
    scene.fixed(
        "keeper",
        [-20.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [1.0; 3],
        Surface::ICE,
    );
    scene.performer("keeper", [1.0; 3]);
    scene.cuboid(
        "crate",
        [0.0, 0.0, 3.0, 0.0, 0.0, 0.0],
        [0.4; 3],
        Surface::ICE,
    );
    let commands = [
        // It lives with two levels, and is in the one that is left.
        put(200, "keeper", [20.0, 0.0, 0.5]),
        put(600, "keeper", [-20.0, 0.0, 0.5]),
        put(800, "crate", [-20.0, 2.0, 3.0]),
    ];
    let cluster = check_everywhere(&scene.build(), 1_800, &commands);
    let height = |iteration| cluster.checks.witness.recording.states(iteration)[1].position[2];
    assert_eq!(height(200), 3.0, "none of its levels is active");
    assert!(
        height(500) < 2.8,
        "one of its levels is active: {}",
        height(500)
    );
    assert_eq!(height(610), height(800), "none is");
    assert!(
        (height(1_800) - 0.2).abs() < 1e-3,
        "it fell: {}",
        height(1_800)
    );
    assert_eq!(cell_names(&cluster, 1_800)[1], "west");
}

/// Boxes that are thrown on piles where levels meet: but where a contact has just been forced, each
/// is handed over once in the minimum stay.
#[test]
fn boxes_of_a_pile_on_a_border_do_not_go_to_and_fro() {
    const ITERATIONS: u64 = 3_000;
    const BOXES: u64 = 60;
    let text = sdf::generate_piles(BOXES as u32, [2, 2]);
    let read = sdf::read_worlds(&text, "piles.sdf", &sdf::NoFiles).expect("it is valid");
    let mut random = tests::cluster::random::Random::mixed(18);
    let thrown: Vec<(u64, u64)> = (400..ITERATIONS / 2)
        .step_by(40)
        .map(|iteration| (iteration, 1 + random.below(BOXES)))
        .collect();
    let mut at = |spread: u64| random.below(spread) as f64 / 1000.0 - spread as f64 / 2000.0;
    let commands: Vec<ScheduledCommand> = thrown
        .iter()
        .map(|(iteration, number)| {
            let to = [at(1_000), at(1_000), 1.3 + at(1_400)];
            put(*iteration, &format!("box_{number:04}"), to)
        })
        .collect();
    let cluster = run_with(&read.worlds[0], 2, ITERATIONS, &commands, &[]);
    let stay = cluster.primary.settings().cells.rules.minimum_stay;
    let recording = &cluster.checks.witness.recording;
    let mut entered = vec![None; BOXES as usize];
    let (mut count, mut back) = (0, Vec::new());
    for iteration in 1..=ITERATIONS {
        let [before, now] = [iteration - 1, iteration].map(|at| recording.cells(at));
        for (number, entered) in entered.iter_mut().enumerate() {
            if before[number] == now[number] {
                continue;
            }
            count += 1;
            let begins = |at: &(u64, u64)| (at.0..at.0 + 2 * stay).contains(&iteration);
            let was_thrown = thrown.iter().any(begins);
            let since = entered.replace(iteration).map(|since| iteration - since);
            if since.is_some_and(|since| since < stay) && !was_thrown {
                back.push((number + 1, iteration, since));
            }
        }
    }
    assert!(count > 20, "{count} are handed over");
    assert!(
        back.is_empty(),
        "of {count}, within the minimum stay: {back:?}"
    );
}

/// Runs a world on some secondaries, and returns it with who was told to enter and leave the
/// regions of detectors: the detector, `1` or `0`, and the pose in its frame.
fn detect(
    world: &World,
    secondaries: u32,
    iterations: u64,
    commands: &[ScheduledCommand],
) -> (Cluster, Vec<(String, String, [f64; 3])>) {
    let mut settings = settings(secondaries, iterations);
    settings.schedule = commands.to_vec();
    settings.outputs.publish_all = true;
    let worlds = std::slice::from_ref(world);
    let mut cluster = Cluster::with(worlds, settings, NetworkFaults::SHUFFLED, 11);
    cluster.checks.delivery.kept = Some(Vec::new());
    cluster.run_until(|_| false);
    let reason = cluster
        .outcome
        .finished
        .as_ref()
        .expect("the run has finished");
    assert_eq!(reason.outcome, Outcome::Completed, "{reason}");
    cluster.end_delivery();
    let kept = cluster.checks.delivery.kept.take().unwrap_or_default();
    let told = kept
        .iter()
        .filter(|message| message.topic.contains("performer_detector"));
    let told = told.map(|message| {
        let pose: messages::Pose = messages::decode(&message.body).expect("it is a pose");
        let value = |key: &str| {
            let found = pose.header.data.iter().find(|data| data.key == key);
            found.map_or_else(String::new, |data| data.value.join(" "))
        };
        let at = [pose.position.x, pose.position.y, pose.position.z];
        (value("frame_id"), value("state"), at)
    });
    let told = told.collect();
    (cluster, told)
}

#[test]
fn a_detector_in_no_level_sees_who_passes_through_levels() {
    let mut scene = Scene::new("gates", [0.0; 3]);
    for (name, x) in [("west", -5.0), ("east", 5.0)] {
        scene.level(name, [x, 0.0, 0.0], [10.0; 3], 0.5, &[]);
    }
    let drive = "<plugin name='gz::sim::systems::VelocityControl' filename='none'>\
                 <initial_linear>4 0 0</initial_linear></plugin>";
    let body = cuboid_link("body", [0.0; 6], [0.5; 3], Surface::ICE);
    scene.model(
        "rover",
        [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        &format!("{body}{drive}"),
    );
    scene.performer("rover", [0.5; 3]);
    let gate = "<static>true</static><link name='l'/>\
                <plugin name='gz::sim::systems::PerformerDetector' filename='none'>\
                <geometry><box><size>2 2 2</size></box></geometry></plugin>";
    scene.model("gate", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], gate);
    let world = scene.build();
    let (cluster, told) = detect(&world, 1, 1_200, &[]);
    let states: Vec<(&str, &str)> = told
        .iter()
        .map(|one| (one.0.as_str(), one.1.as_str()))
        .collect();
    assert_eq!(states, [("gate", "1"), ("gate", "0")]);
    assert!((told[0].2[0] + 1.25).abs() < 0.01, "{told:?}");
    assert!((told[1].2[0] - 1.25).abs() < 0.01, "{told:?}");
    assert_eq!(cluster.checks.witness.ownership.hand_offs, 1);
    for secondaries in [2, 3] {
        let (other, also_told) = detect(&world, secondaries, 1_200, &[]);
        assert_eq!(also_told, told, "{secondaries} secondaries");
        assert!(
            other.digests() == cluster.digests(),
            "{secondaries} secondaries"
        );
    }
}

/// Gazebo's own test of detectors, of which one is in no level: a vehicle that is driven straight
/// goes straight past them. Where the folder `shared/corpus` is not at hand, this passes.
#[test]
fn gazebos_vehicle_goes_straight_past_detectors_in_and_out_of_levels() {
    let Some(corpus) = repository::corpus() else {
        return;
    };
    let path = corpus.join("gz-sim/test/worlds/performer_detector.sdf");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return;
    };
    let read = sdf::read_worlds(&text, "performer_detector.sdf", &sdf::NoFiles);
    let world = &read.expect("it is valid").worlds[0];
    let twist = messages::motion::Twist {
        linear: [1.0, 0.0, 0.0].into(),
        ..messages::motion::Twist::default()
    };
    let drive = ScheduledCommand {
        iteration: Iteration(0),
        paused_round: None,
        command: Command::Publish {
            topic: "/model/vehicle_blue/cmd_vel".to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            body: messages::encode(&twist),
        },
    };
    let drive = std::slice::from_ref(&drive);
    let (cluster, told) = detect(world, 1, 8_000, drive);
    let states: Vec<(&str, &str)> = told
        .iter()
        .map(|one| (one.0.as_str(), one.1.as_str()))
        .collect();
    let expected = [
        ("detector1", "1"),
        ("detector2", "1"),
        ("detector1", "0"),
        ("detector2", "0"),
    ];
    assert_eq!(states, expected);
    for (detector, state, at) in &told {
        let y = at[1] + if detector == "detector1" { 0.0 } else { 3.0 };
        assert!((y - 2.0).abs() < 0.01, "{detector} {state}: y = {y}");
    }
    let (other, also_told) = detect(world, 3, 8_000, drive);
    assert_eq!(also_told, told);
    assert!(other.digests() == cluster.digests());
}

/// Gazebo's own worlds with levels, whose performers are static. Where the folder `shared/corpus`
/// is not at hand, this passes.
#[test]
fn the_static_performers_of_gazebos_worlds_keep_their_levels_active() {
    let Some(corpus) = repository::corpus() else {
        return;
    };
    let path = corpus.join("gz-sim/test/worlds/breadcrumbs_levels.sdf");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return;
    };
    let read = sdf::read_worlds(&text, "breadcrumbs_levels.sdf", &sdf::NoFiles);
    let read = read.expect("it is valid");
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let commands = [
        put(50, "sphere", [50.0, 0.0, 2.0]),
        put(150, "sphere", [0.0, 0.0, 2.0]),
    ];
    let cluster = check_everywhere(&read.worlds[0], 200, &commands);
    let cell = |iteration| cell_names(&cluster, iteration)[0];
    assert_eq!(
        [cell(49), cell(140), cell(200)],
        ["level1", "default", "level1"]
    );
    assert!(cluster.primary.partition().is_active(LevelId(0)));
    let events = cluster.primary.events();
    assert_eq!((events.levels_loaded, events.levels_unloaded), (2, 1));
}

/// Gazebo's own example: two shapes fall on two rows of blocks, which meet in one. It is not part
/// of the project: where the folder `shared/corpus` does not stand beside it, this passes. Here
/// they begin at the end of their rows, since the box would tumble off on its way.
#[test]
fn the_shapes_of_gazebos_example_meet_in_one_cell_on_one_secondary() {
    const ITERATIONS: u64 = 2_500;
    let Some(corpus) = repository::corpus() else {
        return;
    };
    let path = corpus.join("gz-sim/examples/scripts/distributed_levels/standalone.sdf");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return;
    };
    let text = text
        .replace(
            "<pose>0 -1.5 2.5 0 0 0</pose>",
            "<pose>7 -1.5 -3.6 0 0 0</pose>",
        )
        .replace(
            "<pose>0 1.5 2.5 0 0 0</pose>",
            "<pose>5.2 1.5 -2 0 0 0</pose>",
        );
    let read = sdf::read_worlds(&text, "standalone.sdf", &sdf::NoFiles).expect("it is valid");
    let cluster = run_all(&read.worlds, 2, ITERATIONS);
    assert_eq!(
        cell_names(&cluster, 0),
        ["level_block_2_A", "level_block_2_B"]
    );
    let together = (0..=ITERATIONS)
        .filter(|iteration| cell_names(&cluster, *iteration) == ["level_block_3_C"; 2])
        .count();
    assert!(
        together > 200,
        "both reach the block that they share: {together} iterations"
    );
}

/// A hall of 16 m with a gate in its middle that tells who passes, and 16 boxes on ice, of which
/// those of one row drive through the gate.
fn hall() -> World {
    let mut scene = Scene::new("hall", [0.0, 0.0, -9.8]);
    scene.fixed(
        "floor",
        [0.0, 0.0, -0.5, 0.0, 0.0, 0.0],
        [40.0, 40.0, 1.0],
        Surface::ICE,
    );
    let gate = "<static>true</static><link name='l'/>\
                <plugin name='gz::sim::systems::PerformerDetector' filename='none'>\
                <geometry><box><size>1 1 1</size></box></geometry></plugin>";
    scene.model("gate", [0.0, -5.0, 0.25, 0.0, 0.0, 0.0], gate);
    scene.level("hall", [0.0; 3], [16.0; 3], 1.0, &["gate".to_owned()]);
    for number in 0..16 {
        let (row, column) = (f64::from(number / 4), f64::from(number % 4));
        let speed = if row == 0.0 { 3.0 } else { 0.0 };
        let drive = format!(
            "<plugin name='gz::sim::systems::VelocityControl' filename='none'>\
             <initial_linear>{speed} 0 0</initial_linear></plugin>"
        );
        let body = cuboid_link("body", [0.0; 6], [0.4; 3], Surface::ICE);
        let pose = [column * 1.5 - 6.0, row * 2.0 - 5.0, 0.2, 0.0, 0.0, 0.0];
        scene.model(&format!("box_{number}"), pose, &format!("{body}{drive}"));
        scene.performer(&format!("box_{number}"), [0.4; 3]);
    }
    scene.build()
}

#[test]
fn the_gate_of_a_level_tells_of_those_in_all_of_its_parts() {
    let whole = hall();
    let split = World {
        split_above: Some(5),
        ..whole.clone()
    };
    let (_, told) = detect(&whole, 1, 2_000, &[]);
    assert_eq!(told.len(), 7, "four come, and three go: {told:?}");
    let states = |told: &[(String, String, [f64; 3])]| -> Vec<String> {
        told.iter().map(|one| one.1.clone()).collect()
    };
    for secondaries in [1, 2, 3] {
        let (cluster, also_told) = detect(&split, secondaries, 2_000, &[]);
        assert_eq!(
            states(&also_told),
            states(&told),
            "{secondaries} secondaries"
        );
        let plan = cluster.primary.topology();
        let further = plan
            .cell(CellId(1))
            .split
            .as_ref()
            .expect("it may be split")
            .further
            .iter();
        let owners = further.filter(|cell| !cluster.primary.owned(**cell).is_empty());
        assert!(owners.count() >= 2, "the hall has three parts at least");
    }
}

#[test]
fn a_level_that_is_split_is_so_after_losses_and_resets() {
    let mut world = hall();
    world.split_above = Some(5);
    let mut commands = vec![
        put(300, "box_15", [-6.0, 6.0, 0.2]),
        put(400, "box_12", [3.0, 4.0, 0.2]),
    ];
    commands.push(ScheduledCommand {
        iteration: Iteration(500),
        paused_round: None,
        command: Command::Reset {
            what: ResetKind::All,
        },
    });
    let cluster = check_everywhere(&world, 900, &commands);
    assert!(cluster.checks.witness.ownership.hand_offs > 16);
}

/// Has a box of 0.4 m come into a world after an iteration.
fn spawn(iteration: u64, name: &str, [x, y]: [f64; 2]) -> ScheduledCommand {
    let body = cuboid_link("body", [0.0; 6], [0.4; 3], Surface::ICE);
    ScheduledCommand {
        iteration: Iteration(iteration),
        paused_round: None,
        command: Command::Spawn(Box::new(SpawnRequest {
            sdf: format!(
                "<sdf version='1.11'><model name='{name}'><pose>{x} {y} 0.2 0 0 0</pose>{body}\
                 </model></sdf>"
            ),
            ..SpawnRequest::default()
        })),
    }
}

#[test]
fn models_that_come_when_a_level_is_split_are_known_before_they_are_ghosts() {
    for above in [2, 16] {
        let world = World {
            split_above: Some(above),
            ..hall()
        };
        // The hall is full at 0 with 16, and is split with the first that comes.
        let at = [(0, -6.0), (64, -3.0), (65, 0.0), (128, 3.0), (200, 6.0)];
        let commands =
            at.map(|(iteration, x)| spawn(iteration, &format!("b{iteration}"), [x, 5.0]));
        let cluster = check_everywhere(&world, 400, &commands);
        let first = &cluster.primary.topology().cells[1];
        let further = first.split.as_ref().expect("it may be split").further[0];
        assert!(!cluster.primary.owned(further).is_empty(), "above {above}");
    }
}
