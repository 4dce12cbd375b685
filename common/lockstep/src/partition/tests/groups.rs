//! Performers that meet are in one cell, whichever levels they are in.

use super::*;

fn with_stay(minimum_stay: u64) -> Rules {
    Rules {
        minimum_stay,
        ..RULES
    }
}

#[test]
fn of_two_that_meet_over_a_border_the_one_of_the_later_level_comes() {
    let mut fixture = Fixture::new(2, &[3.0, 8.0], with_stay(100));
    fixture.at(&[]);
    assert_eq!(fixture.cells(), "L1 L2");
    assert_eq!(fixture.hand_offs_at(&[4.8, 6.1]), "");
    assert_eq!(fixture.hand_offs_at(&[4.8, 5.9]), "p1:L2>L1");
}

#[test]
fn the_cell_that_most_are_in_decides_and_the_default_cell_comes_last() {
    let mut fixture = Fixture::new(2, &[3.0, 8.0, 9.0], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[4.7, 5.7, 6.7]), "p0:L1>L2");
    let mut fixture = Fixture::new(1, &[20.0, 0.0], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[6.1, 5.0]), "p0:default>L1");
}

#[test]
fn a_chain_over_three_cells_is_one_group() {
    let xs = [5.1, 6.1, 7.1, 8.1, 9.1, 10.1, 11.1, 12.1, 13.1, 14.1, 15.7];
    let apart: Vec<f64> = xs.iter().map(|x| 10.0 + (x - 10.0) * 1.6).collect();
    let mut fixture = Fixture::new(3, &apart, RULES);
    fixture.at(&[]);
    let mut cells = fixture.partition.owned(CellId(1)).len();
    assert!(cells > 0 && !fixture.partition.owned(CellId(3)).is_empty());
    let mut close = xs;
    close[10] = 15.1;
    fixture.at(&close);
    cells = fixture.partition.owned(CellId(2)).len();
    assert_eq!(cells, xs.len(), "{}", fixture.cells());
}

#[test]
fn a_group_that_dissolves_sends_everyone_home_after_the_minimum_stay() {
    let mut fixture = Fixture::new(2, &[3.0, 8.0], with_stay(3));
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[4.9, 5.9]), "p1:L2>L1");
    assert_eq!(
        fixture.hand_offs_at(&[4.7, 5.95]),
        "",
        "who is away meets others from further away"
    );
    let told: Vec<String> = (0..4).map(|_| fixture.hand_offs_at(&[3.0, 8.0])).collect();
    assert_eq!(told, ["", "p1:L1>L2", "", ""]);
}

#[test]
fn a_pair_on_a_border_is_handed_over_as_one() {
    let mut fixture = Fixture::new(2, &[3.0, 4.0], RULES);
    fixture.at(&[]);
    assert_eq!(
        fixture.hand_offs_at(&[4.7, 5.7]),
        "",
        "a tie is for the first"
    );
    assert_eq!(fixture.hand_offs_at(&[5.7, 6.7]), "p0:L1>L2 p1:L1>L2");
}

#[test]
fn a_pair_that_dithers_stays_for_the_minimum_stay() {
    let mut fixture = Fixture::new(2, &[3.0, 4.0], with_stay(10));
    let times: Vec<usize> = (0..40)
        .filter(|turn| {
            let x = [3.9, 6.1][turn % 2];
            !fixture.hand_offs_at(&[x, x + 0.5]).is_empty()
        })
        .collect();
    assert_eq!(times, [11, 22, 33]);
}

#[test]
fn a_performer_brings_no_strangers_into_another_cell() {
    let mut fixture = Fixture::new(2, &[1.25, 2.35, 3.45, 4.7, 8.0, 9.1], with_stay(10));
    fixture.at(&[]);
    assert_eq!(fixture.cells(), "L1 L1 L1 L1 L2 L2");
    // It is 0.25 m from those of its own cell, and 0.15 m from the others.
    let xs = [1.25, 2.35, 3.45, 4.7, 5.85, 6.95];
    assert_eq!(fixture.hand_offs_at(&xs), "p3:L1>L2");
    for _ in 0..30 {
        assert_eq!(fixture.hand_offs_at(&xs), "");
    }
}

#[test]
fn a_group_that_a_newcomer_tips_stays_until_the_newcomer_has_stayed_too() {
    let mut fixture = Fixture::new(2, &[2.0, 3.0, 4.0, 8.0], with_stay(10));
    fixture.at(&[]);
    for _ in 0..20 {
        fixture.hand_offs_at(&[3.55, 4.4, 5.55, 9.0]);
    }
    assert_eq!(
        fixture.hand_offs_at(&[3.55, 4.45, 5.55, 6.6]),
        "p3:L2>L1",
        "half of them belong to L2 now"
    );
    assert_eq!(fixture.hand_offs_at(&[4.4, 5.55, 6.55, 7.55]), "");
    let told: Vec<String> = (0..12)
        .map(|_| fixture.hand_offs_at(&[4.4, 5.55, 6.55, 7.55]))
        .collect();
    let gone = "p0:L1>L2 p1:L1>L2 p2:L1>L2 p3:L1>L2";
    let times: Vec<usize> = (0..12).filter(|time| !told[*time].is_empty()).collect();
    assert_eq!((times.as_slice(), told[8].as_str()), ([8].as_slice(), gone));
}

#[test]
fn a_group_goes_home_when_clearly_more_of_it_belong_elsewhere() {
    let mut fixture = Fixture::new(2, &[2.0, 3.0, 4.0, 8.0], with_stay(2));
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[2.5, 3.5, 4.5, 5.55]), "p3:L2>L1");
    for _ in 0..5 {
        assert_eq!(fixture.hand_offs_at(&[3.5, 4.4, 5.55, 6.55]), "");
    }
    assert_eq!(
        fixture.hand_offs_at(&[4.4, 5.55, 6.55, 7.55]),
        "p0:L1>L2 p1:L1>L2 p2:L1>L2 p3:L1>L2"
    );
}

#[test]
fn performers_that_joints_hold_together_are_a_group_at_any_distance() {
    let mut world = balls("w", 3, &[0.0, 1.5, 10.0]);
    join(&mut world, 3, &[[0, 1], [2, 1]]);
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.cells(), "L1 L1 L1");
    assert_eq!(fixture.hand_offs_at(&[0.0, 10.0, 20.0]), "");
    assert_eq!(
        fixture.hand_offs_at(&[0.0, 10.0, 11.5]),
        "p0:L1>L2 p1:L1>L2 p2:L1>L2"
    );
    fixture.partition.remove(PerformerId(1));
    assert_eq!(
        fixture.hand_offs_at(&[0.0, 10.0, 20.0]),
        "p0:L2>L1 p2:L2>L3"
    );
}

#[test]
fn a_joint_that_goes_with_a_step_keeps_its_ends_where_they_are_in_that_step() {
    let mut world = balls("w", 3, &[0.0, 1.5, 3.0, 9.5]);
    join(&mut world, 3, &[[0, 1], [2, 1]]);
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.cells(), "L1 L1 L1 L2");
    let ends = [PerformerId(0), PerformerId(2)];
    fixture.topology.performers[0].joined_to.clear();
    fixture.topology.performers[2].joined_to.clear();
    fixture.partition.remove(PerformerId(1));
    fixture.partition.hold(&ends);
    // Who meets one of them comes to it, not the other way round.
    fixture.put(&[0.0, 10.0, 10.0, 9.5]);
    let changes = fixture
        .partition
        .update(&fixture.topology, fixture.iteration, &fixture.states);
    fixture.iteration = fixture.iteration.next();
    fixture.partition.check(&fixture.topology);
    let hand_offs = Changes {
        hand_offs: changes.hand_offs,
        ..Changes::default()
    };
    assert_eq!(fixture.tell(&hand_offs), "p3:L2>L1");
    assert_eq!(
        fixture.hand_offs_at(&[0.0, 10.0, 10.0, 9.5]),
        "p2:L1>L2 p3:L1>L2"
    );
}

#[test]
fn performers_of_overlapping_levels_that_never_meet_stay_apart() {
    let mut world = balls("w", 2, &[0.0, 9.0]);
    world.levels[1].center[0] = 4.0;
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[1.0, 3.0]), "");
    assert_eq!(fixture.cells(), "L1 L2");
    assert_eq!(fixture.hand_offs_at(&[1.0, 2.1]), "p1:L2>L1");
}

#[test]
fn performers_of_other_worlds_never_meet() {
    let worlds = [balls("a", 1, &[0.0]), balls("b", 1, &[0.0])];
    let mut fixture = Fixture::of(&worlds, RULES);
    fixture.at(&[]);
    assert_eq!(fixture.cells(), "a::L1 b::L1");
}

#[test]
fn a_performer_without_collisions_meets_nobody() {
    let mut fixture = Fixture::new(2, &[4.9, 5.9], RULES);
    let apart = fixture.states[1];
    fixture.states[1].reach = protocol::NO_REACH;
    fixture.update();
    assert_eq!(fixture.cells(), "L1 L2");
    fixture.states[1] = apart;
    fixture.update();
    assert_eq!(fixture.cells(), "L1 L1");
    fixture.states[1].reach = protocol::NO_REACH;
    fixture.update();
    assert_eq!(fixture.cells(), "L1 L2");
}

#[test]
fn observers_see_all_groups_also_those_of_one_cell() {
    // Two touch in L1, two across the border of L1 and L2, and one is alone.
    let xs = [-2.0, -1.0, 4.8, 5.6, 12.0];
    let mut fixture = Fixture::new(2, &xs, RULES);
    fixture.at(&xs);
    let groups = |fixture: &Fixture| {
        let groups = fixture.partition.groups(&fixture.topology, &fixture.states);
        let numbers = groups.into_iter().map(|members| {
            let numbers = members.into_iter().map(|id| id.0);
            numbers.collect::<Vec<u32>>()
        });
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(groups(&fixture), [[0, 1], [2, 3]]);
    // A chain is one group, and who parts is in none.
    fixture.at(&[2.9, 3.9, 4.8, 5.6, 12.0]);
    assert_eq!(groups(&fixture), [[0, 1, 2, 3]]);
    fixture.at(&[-4.0, -1.0, 2.0, 8.0, 12.0]);
    assert_eq!(groups(&fixture), [[0; 0]; 0]);
}
