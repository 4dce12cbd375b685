//! Balls of 0.5 m in levels of 10 m side by side along x, with buffers of 2 m.
//!
//! All that happens in an update is told in words such as `p0:L1>L2`; the invariants are asked
//! after every update.

mod forecast;
mod groups;
mod homes;
mod loading;
mod parts;
mod reference;
mod sight;
mod suspension;

use protocol::{CellId, Iteration, LevelId, ModelId, PerformerId, PerformerState};
use sdf::{LinkReference, World};

use super::{Changes, LoadRule, Partition, Rules, SightRule};
use crate::levels::tests::{fixed_joint, performer, platform, world};
use crate::topology::Topology;

const RULES: Rules = Rules {
    load: LoadRule::Buffer,
    sight: SightRule::Buffer,
    interaction_margin: 0.1,
    minimum_stay: 0,
    step_size_s: 0.001,
};

/// A state at rest of a ball of 0.5 m.
fn ball(performer: PerformerId, position: [f64; 3]) -> PerformerState {
    PerformerState {
        reach: [
            position.map(|at| (at - 0.5) as f32),
            position.map(|at| (at + 0.5) as f32),
        ],
        ..PerformerState::at_rest(performer, position)
    }
}

struct Fixture {
    topology: Topology,
    partition: Partition,
    states: Vec<PerformerState>,
    iteration: Iteration,
}

impl Fixture {
    /// Levels `L1`, `L2` ... around x = 0, 10 ..., and balls `p0`, `p1` ... that start at these x.
    fn new(levels: usize, xs: &[f64], rules: Rules) -> Self {
        Self::of(&[balls("w", levels, xs)], rules)
    }

    fn of(worlds: &[World], rules: Rules) -> Self {
        let topology = Topology::new(worlds);
        let starts = topology.performers.iter().enumerate();
        Self {
            partition: Partition::new(&topology, rules),
            states: starts
                .map(|(id, one)| ball(PerformerId(id as u32), one.start))
                .collect(),
            topology,
            iteration: Iteration(0),
        }
    }

    /// Balls come to rest at these x; the others stay as they are.
    fn put(&mut self, xs: &[f64]) {
        for (id, x) in xs.iter().enumerate() {
            self.states[id] = ball(PerformerId(id as u32), [*x, 0.0, 0.0]);
        }
    }

    fn update(&mut self) -> Changes {
        let changes = self
            .partition
            .update(&self.topology, self.iteration, &self.states);
        self.iteration = self.iteration.next();
        self.partition.check(&self.topology);
        self.partition.check_groups(&self.topology, &self.states);
        changes
    }

    /// Puts balls at these x and tells all that happens.
    fn at(&mut self, xs: &[f64]) -> String {
        self.put(xs);
        let changes = self.update();
        self.tell(&changes)
    }

    /// Puts balls at these x and tells who changes cell.
    fn hand_offs_at(&mut self, xs: &[f64]) -> String {
        self.put(xs);
        let changes = Changes {
            hand_offs: self.update().hand_offs,
            ..Changes::default()
        };
        self.tell(&changes)
    }

    /// Tells which cells own the performers.
    fn cells(&self) -> String {
        let performers = (0..self.states.len() as u32).map(PerformerId);
        let names = performers.map(|id| self.cell_name(self.partition.cell(id)));
        names.collect::<Vec<_>>().join(" ")
    }

    fn cell_name(&self, cell: CellId) -> &str {
        &self.topology.cell(cell).name
    }

    fn tell(&self, changes: &Changes) -> String {
        let cell = |cell: CellId| self.cell_name(cell);
        let name = |performer: PerformerId| &self.topology.performer(performer).name;
        let mut words: Vec<String> = Vec::new();
        for hand_off in &changes.hand_offs {
            let [from, to] = [hand_off.from, hand_off.to].map(cell);
            words.push(format!("{}:{from}>{to}", name(hand_off.performer)));
        }
        let opened = changes.cells_opened.iter();
        words.extend(opened.map(|one| format!("{}_opens", cell(*one))));
        let closed = changes.cells_closed.iter();
        words.extend(closed.map(|one| format!("{}_closes", cell(*one))));
        for change in &changes.parts {
            let what = if change.is_new { "is_new" } else { "is_joined" };
            words.push(format!("{}_{what}", cell(change.cell)));
        }
        for change in &changes.levels {
            let sign = if change.loaded { '+' } else { '-' };
            let level = &self.topology.level(change.level).name;
            words.push(format!("{}{sign}{level}", cell(change.cell)));
        }
        for change in &changes.ghosts {
            let sign = if change.present { '+' } else { '-' };
            words.push(format!(
                "{}{sign}{}",
                cell(change.cell),
                name(change.performer)
            ));
        }
        for change in &changes.suspensions {
            let what = if change.suspended { "stops" } else { "goes_on" };
            words.push(format!("{}_{what}", cell(change.cell)));
        }
        words.join(" ")
    }
}

fn balls(name: &str, levels: usize, xs: &[f64]) -> World {
    let names: Vec<String> = (1..=levels).map(|level| format!("L{level}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = world(name, &names);
    for (number, x) in xs.iter().enumerate() {
        world
            .models
            .push(performer(&format!("p{number}"), [*x, 0.0, 0.0]));
    }
    world
}

/// Joins balls of a world by their numbers.
fn join(world: &mut World, levels: usize, pairs: &[[usize; 2]]) {
    let reference = |ball: usize| LinkReference {
        model: levels + ball,
        link: 0,
    };
    world.joints = pairs
        .iter()
        .map(|&[parent, child]| fixed_joint(reference(parent), reference(child)))
        .collect();
}

#[test]
fn the_first_update_opens_the_cells_of_the_start_with_their_levels_and_ghosts() {
    let mut fixture = Fixture::new(3, &[0.0, 4.0], RULES);
    assert_eq!(
        fixture.at(&[]),
        "L1_opens L2_opens L1+L1 L1+L2 L2+p1",
        "a cell is open for a ghost alone"
    );
    assert_eq!(fixture.at(&[]), "");
    assert!(!fixture.partition.is_open(CellId(0)));
}

#[test]
fn worlds_without_levels_or_performers_are_quiet() {
    let mut fixture = Fixture::new(0, &[0.0, 0.2], RULES);
    assert_eq!(fixture.at(&[]), "default_opens");
    assert_eq!(fixture.at(&[0.0, 500.0]), "");
    assert_eq!(Fixture::new(2, &[], RULES).at(&[]), "");
    assert_eq!(Fixture::of(&[], RULES).at(&[]), "");
}

#[test]
fn several_worlds_do_not_see_each_other() {
    let worlds = [balls("a", 1, &[0.0]), balls("b", 2, &[0.0])];
    let mut fixture = Fixture::of(&worlds, RULES);
    assert_eq!(
        fixture.at(&[]),
        "a::L1_opens b::L1_opens a::L1+a::L1 b::L1+b::L1"
    );
    assert_eq!(
        fixture.at(&[50.0, 10.0]),
        "a::p0:a::L1>a::default b::p0:b::L1>b::L2 a::default_opens b::L2_opens a::L1_closes \
         b::L1_closes a::L1-a::L1 b::L1-b::L1 b::L2+b::L2"
    );
}

#[test]
fn a_removed_performer_takes_its_levels_and_ghosts_along() {
    let mut fixture = Fixture::new(2, &[4.0, 0.0], RULES);
    fixture.at(&[]);
    fixture.partition.remove(PerformerId(0));
    assert_eq!(fixture.at(&[]), "L2_closes L1-L2 L2-p0");
    fixture.partition.remove(PerformerId(1));
    fixture.partition.remove(PerformerId(1));
    assert_eq!(fixture.at(&[]), "L1_closes L1-L1");
    assert_eq!(fixture.at(&[0.0, 10.0]), "");
    assert!(fixture.partition.wanted_states().is_empty());
    assert!(!fixture.partition.is_active(LevelId(0)));
}

#[test]
fn where_something_in_no_level_looks_at_others_all_performers_are_ghosts() {
    let mut world = balls("w", 2, &[0.0, 10.0]);
    let mut watcher = platform("watcher");
    watcher.plugins.push(sdf::Plugin {
        name: "gz::sim::systems::PerformerDetector".to_owned(),
        filename: String::new(),
        content: sdf::Content {
            name: "plugin".into(),
            ..sdf::Content::default()
        },
    });
    let mut without = Fixture::of(&[world.clone()], RULES);
    world.models.push(watcher.clone());
    let mut fixture = Fixture::of(&[world], RULES);
    assert_eq!(
        fixture.at(&[]),
        "default_opens L1_opens L2_opens L1+L1 L2+L2 default+p0 default+p1"
    );
    assert_eq!(
        fixture.at(&[-20.0]),
        "p0:L1>default L1_closes L1-L1 default-p0",
        "it is there itself"
    );
    assert_eq!(
        fixture.at(&[0.0]),
        "p0:default>L1 L1_opens L1+L1 default+p0"
    );
    fixture.partition.remove(PerformerId(0));
    assert_eq!(fixture.at(&[]), "L1_closes L1-L1 default-p0");

    without.at(&[]);
    let id = ModelId { world: 0, model: 4 };
    without.topology.spawn(id, &watcher);
    assert_eq!(without.at(&[]), "default_opens default+p0 default+p1");
}

#[test]
fn what_works_and_sees_nobody_opens_the_default_cell_when_it_comes() {
    let mut mast = platform("mast");
    mast.links[0].sensors.push(sdf::Sensor {
        name: "imu".to_owned(),
        kind: "imu".to_owned(),
        pose: sdf::Pose::IDENTITY,
        update_rate: 10.0,
        topic: String::new(),
        always_on: true,
        content: sdf::Content {
            name: "sensor".into(),
            ..sdf::Content::default()
        },
    });
    for sight in [SightRule::Buffer, SightRule::Range] {
        let mut fixture = Fixture::new(2, &[0.0], Rules { sight, ..RULES });
        assert_eq!(fixture.at(&[]), "L1_opens L1+L1");
        assert_eq!(fixture.at(&[]), "");
        let id = ModelId { world: 0, model: 3 };
        fixture.topology.spawn(id, &mast);
        fixture.partition.disturb();
        assert_eq!(fixture.at(&[]), "default_opens");
        assert_eq!(fixture.at(&[]), "");
    }
}

#[test]
fn states_that_are_no_numbers_or_endless_leave_a_performer_where_it_is() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut fixture = Fixture::new(3, &[0.0, 10.0, 0.1], RULES);
        fixture.at(&[]);
        assert_eq!(fixture.hand_offs_at(&[bad]), "");
        assert_eq!(fixture.hand_offs_at(&[bad, bad, bad]), "");
        fixture.states[0].linear_velocity = [bad; 3];
        fixture.states[1] = ball(PerformerId(1), [10.0, 0.0, 0.0]);
        fixture.states[1].linear_velocity = [bad; 3];
        fixture.states[1].reach = [[f32::NAN; 3], [0.0; 3]];
        fixture.update();
        assert_eq!(fixture.cells(), "L1 L2 L1", "{bad}");
        assert_eq!(fixture.hand_offs_at(&[0.0, 0.0, 0.0]), "p1:L2>L1", "{bad}");
    }
}

#[test]
fn who_is_to_change_cell_stays_while_its_state_is_not_finite() {
    for is_moving in [false, true] {
        let rules = Rules {
            minimum_stay: 3,
            ..RULES
        };
        let mut fixture = Fixture::new(3, &[0.0, 20.0], rules);
        fixture.at(&[]);
        assert_eq!(fixture.hand_offs_at(&[10.0]), "", "it has just come");
        if is_moving {
            fixture.states[0].linear_velocity[1] = f64::INFINITY;
        } else {
            fixture.states[0].orientation_xyzw[2] = f64::NAN;
        }
        for _ in 0..5 {
            fixture.update();
            assert_eq!(fixture.cells(), "L1 L3");
        }
        // Who meets it comes to it.
        fixture.states[1] = ball(PerformerId(1), [10.5, 0.0, 0.0]);
        fixture.update();
        assert_eq!(fixture.cells(), "L1 L1");
        assert_eq!(fixture.hand_offs_at(&[10.0, 20.0]), "p0:L1>L2");
    }
}

#[test]
fn endless_reach_makes_one_group_of_all() {
    let mut fixture = Fixture::new(3, &[0.0, 10.0, 10.0, 20.0], RULES);
    for state in &mut fixture.states[..2] {
        state.reach = [[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]];
    }
    fixture.update();
    assert_eq!(fixture.cells(), "L2 L2 L2 L2");
}

#[test]
fn states_of_possible_hand_offs_and_ghosts_are_requested_in_advance() {
    let mut fixture = Fixture::new(3, &[0.0], RULES);
    fixture.topology.watched = vec![true];
    fixture.at(&[]);
    let wanted = |fixture: &Fixture| {
        let partition = &fixture.partition;
        let [poses, states] = [partition.wanted_poses(), partition.wanted_states()];
        [!poses.is_empty(), !states.is_empty()]
    };
    assert_eq!(wanted(&fixture), [false, false]);
    fixture.at(&[2.47]);
    assert_eq!(
        wanted(&fixture),
        [true, false],
        "it is about to be a ghost in L2"
    );
    fixture.at(&[5.47]);
    assert_eq!(wanted(&fixture), [true, true], "it is about to leave L1");
    fixture.put(&[4.4]);
    fixture.states[0].linear_velocity = [200.0, 0.0, 0.0];
    fixture.update();
    assert_eq!(wanted(&fixture), [true, true], "it is fast");
    fixture.topology.watched = vec![false];
    fixture.update();
    assert_eq!(wanted(&fixture), [false, true], "nothing sees ghosts");
}
