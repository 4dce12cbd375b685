//! Models that live with a level stand still while no performer keeps it active.

use super::*;

/// Balls of which the first `activating` are declared performers, and all others live with levels.
///
/// They live with the level in which they start.
fn fixture(levels: usize, xs: &[f64], activating: usize, rules: Rules) -> Fixture {
    let mut world = balls("w", levels, xs);
    for (number, x) in xs.iter().enumerate() {
        let model = format!("p{number}");
        if number < activating {
            declare(&mut world, &model, 1.0);
        } else {
            let nearest = (x / 10.0).round() as usize;
            world.levels[nearest.min(levels - 1)].models.push(model);
        }
    }
    Fixture::of(&[world], rules)
}

/// Balls of which the first is a declared performer, and all others live with one level.
fn bound_to(level: usize, levels: usize, xs: &[f64]) -> Fixture {
    let mut world = balls("w", levels, xs);
    declare(&mut world, "p0", 1.0);
    let others = (1..xs.len()).map(|number| format!("p{number}"));
    world.levels[level].models.extend(others);
    Fixture::of(&[world], RULES)
}

/// Declares a ball a performer with a box of this edge length \[m\].
fn declare(world: &mut World, model: &str, edge: f64) {
    world.performers.push(sdf::Performer {
        name: model.to_owned(),
        model: model.to_owned(),
        size: [edge; 3],
    });
}

#[test]
fn a_cell_stands_still_while_its_level_is_not_active() {
    let mut fixture = fixture(3, &[0.0, 20.0], 1, RULES);
    assert_eq!(
        fixture.at(&[]),
        "L1_opens L3_opens L1+L1 L3+L3 L3_stops",
        "what lives with a level keeps its models but not the level"
    );
    assert!(!fixture.partition.is_active(LevelId(2)));
    assert!(fixture.partition.levels_of(PerformerId(1)).is_empty());
    assert_eq!(
        fixture.at(&[10.0]),
        "p0:L1>L2 L2_opens L1_closes L1-L1 L2+L2"
    );
    assert_eq!(fixture.at(&[13.0]), "L2+L3 L3+p0 L3_goes_on");
    assert_eq!(fixture.at(&[12.0]), "L2-L3 L3-p0 L3_stops");
    assert_eq!(fixture.cells(), "L2 L3");
}

#[test]
fn a_model_of_two_levels_goes_on_while_one_is_active() {
    let mut world = balls("w", 3, &[0.0, 20.0]);
    declare(&mut world, "p0", 1.0);
    for level in [0, 2] {
        world.levels[level].models.push("p1".to_owned());
    }
    let mut fixture = Fixture::of(&[world], RULES);
    assert_eq!(fixture.at(&[]), "L1_opens L3_opens L1+L1 L3+L3");
    assert_eq!(
        fixture.at(&[-20.0]),
        "p0:L1>default default_opens L1_closes L1-L1 L3_stops"
    );
    assert_eq!(
        fixture.at(&[-6.0]),
        "L1_opens default+L1 L1+p0 L3_goes_on",
        "the buffer of the level that it is not in"
    );
    assert_eq!(fixture.at(&[-20.0]), "L1_closes default-L1 L1-p0 L3_stops");
}

#[test]
fn a_model_put_into_an_active_level_goes_on_at_once() {
    let rules = Rules {
        minimum_stay: 100,
        ..RULES
    };
    let mut fixture = fixture(3, &[0.0, 20.0], 1, rules);
    assert_eq!(fixture.at(&[]), "L1_opens L3_opens L1+L1 L3+L3 L3_stops");
    assert_eq!(fixture.at(&[0.0, 3.0]), "p1:L3>L1 L3_closes L1+L2 L3-L3");
    assert!(!fixture.partition.is_suspended(CellId(1)));
}

#[test]
fn a_model_put_into_an_inactive_level_stops_there() {
    let mut fixture = fixture(3, &[0.0, 20.0], 1, RULES);
    fixture.at(&[]);
    assert_eq!(
        fixture.at(&[0.0, 10.0]),
        "p1:L3>L2 L2_opens L3_closes L2+L2 L3-L3 L2_stops"
    );
    assert_eq!(fixture.at(&[]), "");
}

#[test]
fn a_model_put_beside_others_joins_their_cell() {
    let mut world = balls("w", 3, &[15.6, 10.0]);
    world.levels[1].buffer = 0.0;
    world.levels[1].models.push("p1".to_owned());
    declare(&mut world, "p0", 0.1);
    let mut fixture = Fixture::of(&[world], RULES);
    let begins = "L2_opens L3_opens L2+L2 L3+L3 L2_stops";
    assert_eq!(fixture.at(&[]), begins);
    assert_eq!(
        fixture.at(&[15.6, 14.7]),
        "p1:L2>L3 L2_closes L2-L2 L3+L2",
        "of a tie the first level would have both"
    );
}

#[test]
fn a_model_that_enters_an_inactive_level_stops_there() {
    let mut fixture = bound_to(2, 3, &[0.0, 4.0]);
    fixture.at(&[]);
    assert_eq!(
        fixture.at(&[0.0, 6.0]),
        "p1:L1>L2 L2_opens L1-L2 L2+L1 L2+L2 L2_stops"
    );
}

#[test]
fn a_default_cell_never_stands_still() {
    let mut fixture = fixture(1, &[0.0, 50.0], 1, RULES);
    assert_eq!(fixture.at(&[]), "default_opens L1_opens L1+L1");
    assert_eq!(fixture.at(&[50.0, 60.0]), "p0:L1>default L1_closes L1-L1");
}

#[test]
fn an_activating_performer_that_meets_what_stands_still_wakes_it() {
    let rules = Rules {
        minimum_stay: 9,
        ..RULES
    };
    let mut world = balls("w", 2, &[0.0, 8.0, 12.0]);
    world.levels[1].buffer = 0.0;
    world.levels[1]
        .models
        .extend(["p1", "p2"].map(str::to_owned));
    declare(&mut world, "p0", 0.1);
    let mut fixture = Fixture::of(&[world], rules);
    assert_eq!(fixture.at(&[]), "L1_opens L2_opens L1+L1 L2+L2 L2_stops");
    fixture.states[1] = ball(PerformerId(1), [5.6, 0.0, 0.0]);
    fixture.update();
    let told = fixture.at(&[4.8]);
    assert_eq!(told, "p1:L2>L1 L1+L2 L2-L1 L2_goes_on");
    assert_eq!(fixture.at(&[]), "L2_stops");
}

#[test]
fn a_model_that_is_made_a_performer_has_its_cell_go_on() {
    let mut fixture = fixture(3, &[0.0, 20.0, 22.0], 1, RULES);
    fixture.at(&[]);
    fixture.partition.set_performer(PerformerId(1), None);
    assert_eq!(fixture.at(&[]), "L3_goes_on");
    assert!(fixture.partition.is_active(LevelId(2)));
    assert_eq!(fixture.at(&[0.0, 17.0]), "L2_opens L3+L2 L2+p1");
}

#[test]
fn a_moving_model_joins_a_suspended_one_and_leaves_it_as_it_is() {
    let mut fixture = bound_to(1, 2, &[0.0, 3.0, 8.0]);
    fixture.at(&[]);
    fixture.at(&[-3.0, 3.0, 6.2]);
    assert!(fixture.partition.is_suspended(CellId(2)));
    fixture.states[1] = ball(PerformerId(1), [5.1, 0.0, 0.0]);
    let changes = fixture.update();
    assert_eq!(fixture.tell(&changes), "p1:L1>L2 L1-L2");
    assert_eq!(fixture.at(&[]), "");
}
