//! Homes of performers, and the moments when they go there.

use super::*;

/// Tells all hand-offs of one ball that is put at one x after another.
fn check(levels: usize, minimum_stay: u64, xs: &[f64], expected: &str) {
    let rules = Rules {
        minimum_stay,
        ..RULES
    };
    let mut fixture = Fixture::new(levels, &xs[..1], rules);
    let mut told = Vec::new();
    for x in xs {
        let hand_offs = fixture.hand_offs_at(&[*x]);
        if !hand_offs.is_empty() {
            told.push(format!("{x}={hand_offs}"));
        }
    }
    assert_eq!(told.join(" "), expected, "{xs:?}");
}

#[test]
fn a_performer_changes_cell_once_it_no_longer_touches_its_own_level() {
    check(2, 0, &[0.0, 4.6, 5.5], "");
    check(
        2,
        0,
        &[0.0, 5.5_f64.next_up()],
        "5.500000000000001=p0:L1>L2",
    );
    check(2, 0, &[10.0, 4.5, 4.4], "4.4=p0:L2>L1");
}

#[test]
fn a_performer_in_a_buffer_stays_with_the_level_that_it_comes_from() {
    check(1, 0, &[0.0, 6.0, 7.5], "");
    check(1, 0, &[0.0, 7.6, 7.4], "7.6=p0:L1>default");
    check(1, 0, &[0.0, 7.4, 0.0], "");
    check(1, 0, &[100.0, 7.4, 5.6, 5.5], "5.5=p0:default>L1");
}

#[test]
fn a_performer_that_starts_in_a_buffer_belongs_to_it() {
    check(1, 0, &[6.0, 6.5, 7.6], "7.6=p0:L1>default");
}

/// Levels at 0 and 20, with 10 m between them.
fn with_gap(xs: &[f64]) -> Fixture {
    let mut world = balls("w", 2, xs);
    world.levels[1].center[0] = 20.0;
    Fixture::of(&[world], RULES)
}

#[test]
fn between_levels_apart_performers_are_in_the_default_cell() {
    let mut fixture = with_gap(&[0.0]);
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[7.0]), "");
    assert_eq!(fixture.hand_offs_at(&[10.0]), "p0:L1>default");
    assert_eq!(fixture.hand_offs_at(&[13.0]), "");
    assert_eq!(fixture.hand_offs_at(&[15.0]), "p0:default>L2");
}

#[test]
fn from_buffer_to_buffer_a_performer_belongs_to_the_other_at_once() {
    let mut fixture = with_gap(&[7.0]);
    fixture.at(&[]);
    assert_eq!(fixture.hand_offs_at(&[13.0]), "p0:L1>L2");
}

#[test]
fn in_levels_that_overlap_a_performer_stays_in_its_own_and_starts_in_the_first() {
    let mut world = balls("w", 2, &[4.0]);
    world.levels[1].center[0] = 6.0;
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.cells(), "L1");
    assert_eq!(fixture.hand_offs_at(&[5.4]), "");
    assert_eq!(fixture.hand_offs_at(&[5.6]), "p0:L1>L2");
    assert_eq!(fixture.hand_offs_at(&[1.0]), "");
    assert_eq!(fixture.hand_offs_at(&[0.4]), "p0:L2>L1");
}

#[test]
fn turning_round_in_a_buffer_changes_nothing() {
    check(3, 0, &[0.0, 3.0, 5.0, 5.4, 5.0, 3.0, 0.0], "");
}

#[test]
fn sliding_through_four_levels_is_three_hand_offs() {
    let xs: Vec<f64> = (0..=300).map(|step| f64::from(step) * 0.1).collect();
    let mut fixture = Fixture::new(4, &[0.0], RULES);
    let told: Vec<String> = xs.iter().map(|x| fixture.hand_offs_at(&[*x])).collect();
    let told: Vec<&String> = told.iter().filter(|told| !told.is_empty()).collect();
    assert_eq!(told, ["p0:L1>L2", "p0:L2>L3", "p0:L3>L4"]);
}

#[test]
fn crossing_several_levels_in_one_step_is_one_hand_off_to_the_last() {
    check(4, 0, &[0.0, 30.0], "30=p0:L1>L4");
}

#[test]
fn a_performer_that_dithers_changes_cell_once_per_minimum_stay_at_most() {
    let dither: Vec<f64> = (0..40).map(|turn| [4.0, 6.0][turn % 2]).collect();
    let mut fixture = Fixture::new(
        2,
        &[4.0],
        Rules {
            minimum_stay: 7,
            ..RULES
        },
    );
    let times: Vec<usize> = (0..dither.len())
        .filter(|turn| !fixture.hand_offs_at(&[dither[*turn]]).is_empty())
        .collect();
    assert_eq!(times, [7, 14, 21, 28, 35]);
    check(2, 100, &dither, "");
}

#[test]
fn a_box_that_is_set_alone_counts() {
    let mut fixture = Fixture::new(2, &[0.0], RULES);
    fixture.at(&[]);
    let performer = PerformerId(0);
    fixture.partition.set_performer(performer, Some([8.0; 3]));
    assert_eq!(fixture.at(&[]), "L2_opens L1+L2 L2+p0");
    assert_eq!(fixture.partition.half_extents(performer), [4.0; 3]);
    assert_eq!(fixture.hand_offs_at(&[8.9]), "");
    assert_eq!(fixture.hand_offs_at(&[9.1]), "p0:L1>L2");
}

#[test]
fn links_that_nothing_holds_count_where_they_reach() {
    let mut world = balls("w", 2, &[0.0]);
    let link = world.models[2].links[0].clone();
    world.models[2].links.push(link);
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.at(&[]);
    fixture.states[0].reach[1][0] = 3.0;
    let changes = fixture.update();
    assert_eq!(fixture.tell(&changes), "L2_opens L1+L2 L2+p0");
    fixture.states[0] = ball(PerformerId(0), [6.0, 0.0, 0.0]);
    fixture.states[0].reach[0][0] = 5.0;
    assert!(fixture.update().hand_offs.is_empty());
    fixture.states[0].reach[0][0] = f32::NEG_INFINITY;
    assert_eq!(
        fixture.update().hand_offs.len(),
        1,
        "endless reach says nothing"
    );
}
