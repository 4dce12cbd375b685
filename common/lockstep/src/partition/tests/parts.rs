//! Parts of crowded levels: when they come and go, who belongs to which, and what sensors of each
//! have.

use super::*;
use crate::partition::parts::{Parts, REVISED_EVERY, SavedParts};
use crate::random::Random;

/// Balls in a row, 1.8 m from each other, which fill a level.
const ROW: [f64; 6] = [-4.5, -2.7, -0.9, 0.9, 2.7, 4.5];

/// Returns the cells of the further parts of the first level.
fn further(fixture: &Fixture) -> Vec<CellId> {
    let cell = fixture.topology.levels[0].cell;
    let split = fixture.topology.cell(cell).split.as_ref();
    split.expect("it may be split").further.clone()
}

/// One level or more around x = 0, 10 ..., split above so many balls at these x.
fn split_above(most: u32, levels: usize, xs: &[f64]) -> Fixture {
    let mut world = balls("w", levels, xs);
    world.split_above = Some(most);
    Fixture::of(&[world], RULES)
}

impl Fixture {
    /// Goes on until the parts have been revised so many times, and tells who changes cell.
    fn revise(&mut self, times: u64) -> String {
        let mut told = Vec::new();
        let mut left = times;
        while left > 0 {
            left -= u64::from(self.iteration.0.is_multiple_of(REVISED_EVERY));
            told.push(self.hand_offs_at(&[]));
        }
        told.retain(|words| !words.is_empty());
        told.join(" ")
    }
}

#[test]
fn a_level_with_more_performers_than_one_cell_is_to_have_is_split_in_the_middle() {
    let mut fixture = split_above(3, 1, &ROW);
    assert_eq!(
        fixture.at(&[]),
        "p3:L1>L1/2 p4:L1>L1/2 p5:L1>L1/2 L1_opens L1/2_opens L1/2_is_new L1+L1 L1/2+L1 L1+p3 \
         L1+p4 L1+p5 L1/2+p0 L1/2+p1 L1/2+p2",
        "each part loads the level and has ghosts of the others"
    );
    assert_eq!(fixture.revise(3), "", "no part has more than three");
    let whole = split_above(6, 1, &ROW).at(&[]);
    assert_eq!(whole, "L1_opens L1+L1", "six are not more than six");
}

#[test]
fn parts_are_split_again_one_at_a_time() {
    let mut fixture = split_above(2, 1, &ROW);
    assert_eq!(fixture.revise(1), "p3:L1>L1/2 p4:L1>L1/2 p5:L1>L1/2");
    assert_eq!(fixture.revise(1), "p2:L1>L1/3");
    assert_eq!(fixture.revise(1), "p4:L1/2>L1/4 p5:L1/2>L1/4");
    assert_eq!(fixture.revise(2), "");
    assert_eq!(fixture.cells(), "L1 L1 L1/3 L1/2 L1/4 L1/4");
}

#[test]
fn a_performer_stays_with_its_part_while_it_touches_that() {
    let mut fixture = split_above(3, 1, &ROW);
    fixture.revise(1);
    assert_eq!(fixture.hand_offs_at(&[-4.5, -2.7, 0.4, 2.0]), "");
    assert_eq!(fixture.hand_offs_at(&[-4.5, -2.7, 0.6, 2.7]), "p2:L1>L1/2");
    assert_eq!(fixture.hand_offs_at(&[-4.5, -2.7, -0.4]), "");
    assert_eq!(fixture.hand_offs_at(&[-4.5, -2.7, -0.6]), "p2:L1/2>L1");
}

#[test]
fn a_level_of_which_few_are_left_is_whole_again_and_cells_close() {
    let mut fixture = split_above(5, 1, &ROW);
    fixture.revise(1);
    assert_eq!(
        fixture.hand_offs_at(&[100.0, 110.0, 120.0, 130.0]),
        "p0:L1>default p1:L1>default p2:L1>default p3:L1/2>default"
    );
    assert_eq!(fixture.revise(1), "p4:L1/2>L1 p5:L1/2>L1");
    assert!(fixture.partition.is_open(further(&fixture)[0]));
    fixture.revise(1);
    let mut further = further(&fixture).into_iter();
    assert!(further.all(|cell| !fixture.partition.is_open(cell)));
}

#[test]
fn parts_of_which_few_are_left_are_joined() {
    let mut fixture = split_above(2, 1, &ROW);
    fixture.revise(3);
    assert_eq!(fixture.cells(), "L1 L1 L1/3 L1/2 L1/4 L1/4");
    // Nobody is left in the parts on both sides of the first cut but p0, p1 and p3.
    fixture.put(&[-4.5, -2.7, 100.0, 0.9, 110.0]);
    fixture.states[5] = ball(PerformerId(5), [-3.6, 3.0, 0.0]);
    fixture.revise(3);
    let cells = fixture.cells();
    assert!(
        !cells.contains("L1/3") && !cells.contains("L1/4"),
        "{cells}"
    );
}

#[test]
fn the_first_part_has_its_level_loaded_although_nobody_is_in_it() {
    let mut fixture = split_above(2, 1, &ROW);
    fixture.revise(1);
    let first = fixture.topology.levels[0].cell;
    // All go to the other side, and the parts are not revised yet.
    for (number, state) in fixture.states.iter_mut().enumerate() {
        let [x, y] = [number % 3, number / 3].map(|place| place as f64);
        *state = ball(state.performer, [1.5 * x + 1.2, 3.0 * y, 0.0]);
    }
    fixture.update();
    assert_eq!(fixture.cells(), ["L1/2"; 6].join(" "));
    let loaded = |fixture: &Fixture| fixture.partition.loaded(first).collect::<Vec<_>>();
    assert_eq!(loaded(&fixture), [LevelId(0)]);
    assert!(fixture.partition.is_open(first));
    assert_eq!(fixture.partition.ghosts(first).count(), 6);
    // All leave: the level is inactive, and nothing is left of it.
    fixture.at(&[100.0, 110.0, 100.0, 110.0, 100.0, 110.0]);
    assert!(loaded(&fixture).is_empty());
    assert!(!fixture.partition.is_open(first));
}

#[test]
fn what_is_in_no_level_is_split_like_a_level() {
    let mut fixture = split_above(3, 0, &ROW);
    assert_eq!(
        fixture.at(&[]),
        "p3:default>default/2 p4:default>default/2 p5:default>default/2 default_opens \
         default/2_opens default/2_is_new default+p3 default+p4 default+p5 default/2+p0 \
         default/2+p1 default/2+p2"
    );
    assert_eq!(
        fixture.hand_offs_at(&[-4.5, -2.7, 0.6, 2.7]),
        "p2:default>default/2"
    );
}

#[test]
fn a_performer_that_comes_is_a_ghost_from_the_next_update_on() {
    for iterations in [0, 1, REVISED_EVERY, REVISED_EVERY + 1] {
        let mut fixture = split_above(3, 1, &ROW[..3]);
        for _ in 0..iterations {
            fixture.at(&[]);
        }
        let model = performer("new", [3.0, 0.0, 0.0]);
        let id = ModelId { world: 0, model: 9 };
        let new = fixture.topology.spawn(id, &model).expect("it moves");
        fixture.states.push(ball(new, [3.0, 0.0, 0.0]));
        fixture.partition.insert(&fixture.topology, new);
        let changes = fixture.update();
        let are_known = changes.ghosts.iter().all(|change| change.performer != new);
        assert!(are_known, "after {iterations}: {changes:?}");
        assert!(!fixture.partition.wanted_states().contains(&new));
        fixture.revise(2);
        assert!(fixture.partition.has_ghost(new), "the level has two parts");
    }
}

#[test]
fn a_performer_that_comes_joined_to_one_of_another_part_is_asked_for_and_passes_later() {
    let mut fixture = split_above(3, 1, &ROW);
    fixture.revise(1);
    let model = performer("new", [3.0, 2.0, 0.0]);
    let id = ModelId { world: 0, model: 9 };
    let new = fixture.topology.spawn(id, &model).expect("it moves");
    fixture.states.push(ball(new, [3.0, 2.0, 0.0]));
    fixture.partition.insert(&fixture.topology, new);
    let ends = [PerformerId(4), new];
    fixture.topology.set_joined(ends, true);
    for end in ends {
        fixture.partition.note_joined(&fixture.topology, end);
    }
    fixture.partition.hold(&ends);
    let changes = fixture
        .partition
        .update(&fixture.topology, fixture.iteration, &fixture.states);
    assert!(changes.hand_offs.is_empty(), "{changes:?}");
    assert!(!fixture.partition.wanted_states().contains(&new));
    fixture.iteration = fixture.iteration.next();
    fixture.update();
    let cells = ends.map(|end| fixture.partition.cell(end));
    assert_eq!(cells[0], cells[1]);
}

#[test]
fn a_performer_that_is_nowhere_stays_whatever_becomes_of_its_part() {
    let mut fixture = split_above(3, 1, &ROW);
    fixture.revise(1);
    fixture.put(&[-4.5, 100.0, 110.0, 120.0, 130.0, f64::NAN]);
    fixture.revise(4);
    assert!(fixture.cells().ends_with("L1/2"), "{}", fixture.cells());
}

#[test]
fn a_removed_performer_is_a_ghost_in_no_part_of_what_sees_all() {
    let mut world = balls("w", 1, &[0.0, 94.0, 96.0, 98.0, 100.0, 102.0, 104.0]);
    world.split_above = Some(3);
    let mut mast = platform("mast");
    super::sight::give_lidar(&mut mast, 9.0);
    world.models.push(mast);
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.revise(3);
    assert!(fixture.cells().contains("default/2"), "{}", fixture.cells());
    for removed in [PerformerId(0), PerformerId(6)] {
        assert!(fixture.partition.has_ghost(removed));
        fixture.partition.remove(removed);
        fixture.update();
        assert!(!fixture.partition.has_ghost(removed));
    }
}

#[test]
fn what_works_by_contact_keeps_its_cell_whole() {
    let mut plate = platform("plate");
    plate.plugins.push(sdf::Plugin {
        name: "gz::sim::systems::TouchPlugin".to_owned(),
        filename: String::new(),
        content: sdf::Content {
            name: "plugin".into(),
            ..sdf::Content::default()
        },
    });
    let mut world = balls("w", 0, &ROW);
    world.split_above = Some(3);
    let mut with_plate = world.clone();
    with_plate.models.push(plate.clone());
    assert_eq!(Fixture::of(&[with_plate], RULES).revise(2), "");
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.revise(1);
    assert!(fixture.cells().contains("default/2"));
    let id = ModelId { world: 0, model: 9 };
    fixture.topology.spawn(id, &plate);
    fixture.partition.disturb();
    fixture.revise(2);
    assert_eq!(fixture.cells(), ["default"; 6].join(" "));
    fixture.topology.remove(id);
    fixture.revise(2);
    assert!(fixture.cells().contains("default/2"));
}

#[test]
fn commands_of_one_iteration_revise_parts_once() {
    let mut fixture = split_above(2, 1, &ROW);
    fixture.at(&[]);
    for _ in 0..5 {
        fixture.partition.disturb();
        let iteration = Iteration(0);
        let states = &fixture.states;
        let changes = fixture
            .partition
            .update(&fixture.topology, iteration, states);
        assert!(changes.parts.is_empty());
    }
}

#[test]
fn a_cut_is_within_the_part_that_it_cuts() {
    // Those of the first part are beyond its border, and touch it still.
    let mut fixture = split_above(3, 1, &ROW);
    fixture.revise(1);
    for (number, y) in [(0, -4.0), (1, -2.0), (2, 0.0)] {
        fixture.states[number] = ball(PerformerId(number as u32), [0.2, y, 0.0]);
    }
    fixture.states[3] = ball(PerformerId(3), [-0.3, 3.0, 0.0]);
    fixture.revise(3);
}

#[test]
fn a_cut_is_shifted_after_those_who_gather_on_one_side() {
    let mut fixture = split_above(11, 1, &[ROW, ROW].concat());
    for state in &mut fixture.states[6..] {
        let [x, ..] = state.position;
        *state = ball(state.performer, [x, 3.0, 0.0]);
    }
    fixture.revise(1);
    let count = |fixture: &Fixture| {
        let cells = fixture.cells();
        let above = cells.split(' ').filter(|cell| *cell == "L1/2").count();
        [12 - above, above]
    };
    assert_eq!(count(&fixture), [6, 6]);
    for (one, x) in [(3, -4.5), (4, -2.7), (9, -0.9)] {
        fixture.states[one] = ball(PerformerId(one as u32), [x, -3.0, 0.0]);
    }
    fixture.update();
    assert_eq!(count(&fixture), [9, 3], "the cut is where it was");
    fixture.revise(1);
    assert_eq!(count(&fixture), [6, 6]);
}

#[test]
fn a_group_across_a_cut_is_in_one_part() {
    let mut fixture = split_above(3, 1, &ROW);
    fixture.revise(1);
    fixture.put(&[-4.5, -2.7, -0.45, 0.45]);
    fixture.update();
    assert_eq!(fixture.cells(), "L1 L1 L1 L1 L1/2 L1/2");
}

#[test]
fn performers_in_one_place_are_not_split() {
    let mut fixture = split_above(2, 1, &[1.0, 1.0, 1.0, 1.0]);
    assert_eq!(fixture.revise(3), "");
    assert!(!fixture.partition.is_open(further(&fixture)[0]));
}

#[test]
fn an_inactive_level_is_not_split() {
    let mut world = balls("w", 2, &[-4.0, -2.0, 0.0, 2.0, 10.0]);
    world.split_above = Some(2);
    world.levels[0]
        .models
        .extend((0..4).map(|one| format!("p{one}")));
    world.performers.push(sdf::Performer {
        name: "p".to_owned(),
        model: "p4".to_owned(),
        size: [1.0; 3],
    });
    let mut fixture = Fixture::of(&[world], RULES);
    assert_eq!(fixture.revise(2), "");
    assert!(fixture.partition.is_suspended(CellId(1)));
    fixture.put(&[-4.0, -2.0, 0.0, 2.0, 6.9]);
    assert_eq!(fixture.revise(1), "p2:L1>L1/2 p3:L1>L1/2");
    let ghosts: Vec<u32> = fixture
        .partition
        .ghosts(CellId(1))
        .map(|one| one.0)
        .collect();
    assert_eq!(ghosts, [2, 3, 4], "also those who keep no level active");
    // Nobody keeps the level active any more: both of its cells stop.
    fixture.put(&[-4.0, -2.0, 0.0, 2.0, 10.0]);
    fixture.revise(2);
    let cells = [fixture.topology.levels[0].cell, further(&fixture)[0]];
    assert!(
        cells
            .iter()
            .all(|cell| fixture.partition.is_suspended(*cell))
    );
}

/// Moves balls about, all of them towards a place, some of them or none.
fn wander(fixture: &mut Fixture, random: &mut Random, towards: [f64; 2]) {
    let every = [1, 4, 0][random.below(3)];
    for (number, state) in fixture.states.iter_mut().enumerate() {
        if every == 0 || random.below(every) > 0 {
            continue;
        }
        let [x, y] = [0, 1].map(|axis| {
            let way = (towards[axis] - state.position[axis]).clamp(-0.1, 0.1);
            state.position[axis] + way + random.within(-0.3, 0.3)
        });
        let mut place = [x, y, 0.0];
        if random.below(500) == 0 {
            place = [random.within(-5.0, 15.0), random.within(-5.0, 5.0), 0.0];
        }
        *state = ball(PerformerId(number as u32), place);
    }
}

/// Two levels with 30 balls, of which five alone keep levels active if the others are bound.
fn random_world(random: &mut Random, are_bound: bool) -> World {
    let xs: Vec<f64> = (0..30).map(|_| random.within(-5.0, 15.0)).collect();
    let mut world = balls("w", 2, &xs);
    world.split_above = Some(3 + random.below(6) as u32);
    if are_bound {
        for number in 0..30 {
            let model = format!("p{number}");
            if number < 5 {
                world.performers.push(sdf::Performer {
                    name: model.clone(),
                    model,
                    size: [1.0; 3],
                });
            } else {
                world.levels[number % 2].models.push(model);
            }
        }
    }
    world
}

#[test]
fn in_random_worlds_every_invariant_holds_and_saved_parts_go_on_alike() {
    let [mut new, mut joined] = [0, 0];
    for seed in 0..16 {
        let mut random = Random::new(seed);
        let world = random_world(&mut random, seed % 4 > 1);
        let rules = Rules {
            sight: [SightRule::Buffer, SightRule::Range][(seed % 2) as usize],
            load: [LoadRule::Buffer, LoadRule::Volume][(seed / 4 % 2) as usize],
            minimum_stay: random.below(20) as u64,
            ..RULES
        };
        let mut fixture = Fixture::of(std::slice::from_ref(&world), rules);
        let mut again: Option<Fixture> = None;
        let mut towards = [0.0; 2];
        for iteration in 0..1200 {
            if iteration % 200 == 0 {
                towards = [random.within(-20.0, 30.0), random.within(-6.0, 6.0)];
            }
            wander(&mut fixture, &mut random, towards);
            if iteration == 450 + 7 * seed {
                let saved = fixture.partition.save(&fixture.topology);
                let topology = Topology::new(std::slice::from_ref(&world));
                let partition = Partition::restore(&topology, rules, saved);
                again = Some(Fixture {
                    partition: partition.expect("what was saved fits"),
                    topology,
                    states: Vec::new(),
                    iteration: fixture.iteration,
                });
            }
            let changes = fixture.update();
            new += changes.parts.iter().filter(|part| part.is_new).count();
            joined += changes.parts.iter().filter(|part| !part.is_new).count();
            if let Some(again) = &mut again {
                again.states.clone_from(&fixture.states);
                let context = format!("seed {seed}, iteration {iteration}");
                assert_eq!(again.update(), changes, "{context}");
            }
        }
    }
    assert!(new > 50 && joined > 50, "{new} parts, {joined} joined");
}

#[test]
fn saved_parts_that_cannot_be_are_refused() {
    let fixture = split_above(3, 1, &ROW);
    let whole = Parts::new(&fixture.topology).save();
    assert!(whole.fit(&fixture.topology));
    let of_others = Parts::new(&split_above(3, 2, &ROW).topology).save();
    assert!(!of_others.fit(&fixture.topology));
    assert!(!SavedParts::default().fit(&fixture.topology));
    let without = Fixture::new(1, &ROW, RULES);
    assert!(SavedParts::default().fit(&without.topology));
    assert!(!whole.fit(&without.topology));
}
