//! Parts of crowded levels: when they come and go, who belongs to which, and what sensors of each
//! have.

use super::*;
use crate::partition::parts::{Parts, REVISED_EVERY, SavedParts};
use crate::random::Random;

/// Balls in a row, 1.8 m from each other, which fill a level.
const ROW: [f64; 6] = [-4.5, -2.7, -0.9, 0.9, 2.7, 4.5];

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
        "p3:L1>L1/2 p4:L1>L1/2 p5:L1>L1/2 L1_opens L1/2_opens L1/2_is_new L1+L1 L1/2+L1 L1+p3 L1+p4 L1+p5 \
         L1/2+p0 L1/2+p1 L1/2+p2",
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
fn parts_of_which_few_are_left_are_joined_and_their_cells_close() {
    let mut fixture = split_above(3, 1, &ROW);
    fixture.revise(1);
    assert_eq!(
        fixture.hand_offs_at(&[100.0, 110.0, 120.0, 130.0, 140.0]),
        "p0:L1>default p1:L1>default p2:L1>default p3:L1/2>default p4:L1/2>default"
    );
    assert_eq!(fixture.revise(1), "p5:L1/2>L1");
    assert!(
        fixture
            .partition
            .is_open(fixture.topology.levels[0].further_cells[0])
    );
    fixture.revise(1);
    let further = &fixture.topology.levels[0].further_cells;
    assert!(further.iter().all(|cell| !fixture.partition.is_open(*cell)));
}

#[test]
fn the_first_part_is_never_left_empty() {
    let mut fixture = split_above(2, 1, &ROW);
    fixture.revise(3);
    // Beside the first part, which p0 and p1 leave, are p2, p3 and p4, in two parts.
    for (one, y) in [(2, -3.0), (3, 0.0), (4, 3.0)] {
        fixture.states[one] = ball(PerformerId(one as u32), [-0.9, y, 0.0]);
    }
    fixture.revise(2);
    fixture.put(&[100.0, 110.0]);
    fixture.revise(3);
    let cells = fixture.cells();
    let of_level = cells
        .strip_prefix("default default ")
        .expect("two have left");
    assert!(of_level.split(' ').any(|cell| cell == "L1"), "{cells}");
    assert!(of_level.split(' ').any(|cell| cell != "L1"), "{cells}");
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
    assert!(
        !fixture
            .partition
            .is_open(fixture.topology.levels[0].further_cells[0])
    );
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
    let cells = [
        fixture.topology.levels[0].cell,
        fixture.topology.levels[0].further_cells[0],
    ];
    assert!(
        cells
            .iter()
            .all(|cell| fixture.partition.is_suspended(*cell))
    );
}

/// Moves balls about in two levels, of which each is split above three, by a seed.
fn wander(fixture: &mut Fixture, random: &mut Random) {
    let every = [1, 4, 0][random.below(3)];
    for (number, state) in fixture.states.iter_mut().enumerate() {
        if every == 0 || random.below(every) > 0 {
            continue;
        }
        let mut place: [f64; 3] = std::array::from_fn(|axis| {
            let way = random.within(-0.3, 0.3);
            (state.position[axis] + way).clamp(-5.5, if axis == 0 { 16.0 } else { 5.5 })
        });
        if random.below(200) == 0 {
            place = [random.within(-5.0, 15.0), random.within(-5.0, 5.0), 0.0];
        }
        *state = ball(PerformerId(number as u32), place);
    }
}

#[test]
fn in_random_worlds_every_invariant_holds_and_saved_parts_go_on_alike() {
    for (seed, sight) in (0..8).zip([SightRule::Buffer, SightRule::Range].into_iter().cycle()) {
        let mut random = Random::new(seed);
        let xs: Vec<f64> = (0..30).map(|_| random.within(-5.0, 15.0)).collect();
        let mut world = balls("w", 2, &xs);
        world.split_above = Some(3 + random.below(6) as u32);
        let rules = Rules {
            sight,
            minimum_stay: random.below(20) as u64,
            ..RULES
        };
        let mut fixture = Fixture::of(&[world.clone()], rules);
        for state in &mut fixture.states {
            state.position[1] = random.within(-5.0, 5.0);
            *state = ball(state.performer, state.position);
        }
        let mut again: Option<Fixture> = None;
        let mut hand_offs = 0;
        for iteration in 0..1000 {
            wander(&mut fixture, &mut random);
            if iteration == 450 {
                let saved = fixture.partition.save(&fixture.topology);
                let topology = Topology::new(&[world.clone()]);
                let partition = Partition::restore(&topology, rules, saved);
                again = Some(Fixture {
                    partition: partition.expect("what was saved fits"),
                    topology,
                    states: Vec::new(),
                    iteration: fixture.iteration,
                });
            }
            let changes = fixture.update();
            hand_offs += changes.hand_offs.len();
            if let Some(again) = &mut again {
                again.states.clone_from(&fixture.states);
                assert_eq!(
                    again.update(),
                    changes,
                    "seed {seed}, iteration {iteration}"
                );
            }
        }
        assert!(hand_offs > 0, "seed {seed} splits something");
    }
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
