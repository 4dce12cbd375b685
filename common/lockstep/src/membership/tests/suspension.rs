//! Models that live with a level stand still while no performer keeps it active.

use super::*;

/// Balls of which the first `keepers` are declared performers, and all others live with levels.
fn fixture(levels: usize, xs: &[f64], keepers: usize, rules: Rules) -> Fixture {
    let mut world = balls("w", levels, xs);
    for number in 0..xs.len() {
        let model = format!("p{number}");
        if number < keepers {
            world.performers.push(sdf::Performer {
                name: model.clone(),
                model,
                size: [1.0; 3],
            });
        } else {
            world.levels[0].models.push(model);
        }
    }
    Fixture::of(&[world], rules)
}

#[test]
fn a_cell_stands_still_while_its_level_is_not_active() {
    let mut fixture = fixture(3, &[0.0, 20.0], 1, RULES);
    assert_eq!(
        fixture.at(&[]),
        "L1_opens L3_opens L1+L1 L3+L3 L3_stops",
        "what lives with a level keeps its models but not the level"
    );
    assert!(!fixture.membership.is_active(LevelId(2)));
    assert!(fixture.membership.levels_of(PerformerId(1)).is_empty());
    assert_eq!(
        fixture.at(&[10.0]),
        "p0:L1>L2 L2_opens L1_closes L1-L1 L2+L2"
    );
    assert_eq!(fixture.at(&[13.0]), "L2+L3 L3+p0 L3_goes_on");
    assert_eq!(fixture.at(&[12.0]), "L2-L3 L3-p0 L3_stops");
    assert_eq!(fixture.cells(), "L2 L3");
}

#[test]
fn nothing_changes_about_what_stands_still() {
    let mut fixture = fixture(3, &[0.0, 20.0], 1, RULES);
    fixture.at(&[]);
    assert_eq!(fixture.at(&[0.0, 10.0]), "");
    assert_eq!(
        fixture.at(&[12.9, 10.0]),
        "p0:L1>L2 L2_opens L1_closes L1-L1 L2+L2 L2+L3 L3+p0 \
         L3_goes_on"
    );
    assert_eq!(fixture.at(&[12.9, 10.0]), "p1:L3>L2 L3-L3");
}

#[test]
fn what_leaves_for_a_level_that_is_not_active_stops_there() {
    let mut fixture = fixture(3, &[0.0, 4.0], 1, RULES);
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
fn a_keeper_that_meets_what_stands_still_wakes_it() {
    let rules = Rules {
        minimum_stay: 9,
        ..RULES
    };
    let mut world = balls("w", 2, &[0.0, 8.0, 12.0]);
    world.levels[1].buffer = 0.0;
    world.levels[0]
        .models
        .extend(["p1", "p2"].map(str::to_owned));
    world.performers.push(sdf::Performer {
        name: "p0".to_owned(),
        model: "p0".to_owned(),
        size: [0.1; 3],
    });
    let mut fixture = Fixture::of(&[world], rules);
    assert_eq!(fixture.at(&[]), "L1_opens L2_opens L1+L1 L2+L2 L2_stops");
    fixture.states[1] = ball(PerformerId(1), [5.6, 0.0, 0.0]);
    fixture.update();
    let told = fixture.at(&[4.8]);
    assert_eq!(told, "p1:L2>L1 L1+L2 L2_goes_on");
    assert_eq!(fixture.at(&[]), "L2_stops");
}

#[test]
fn a_model_that_is_made_a_performer_has_its_cell_go_on() {
    let mut fixture = fixture(3, &[0.0, 20.0, 22.0], 1, RULES);
    fixture.at(&[]);
    fixture.membership.set_performer(PerformerId(1), None);
    assert_eq!(fixture.at(&[]), "L3_goes_on");
    assert!(fixture.membership.is_active(LevelId(2)));
    assert_eq!(fixture.at(&[0.0, 17.0]), "L2_opens L3+L2 L2+p1");
}

#[test]
fn what_moves_freely_joins_what_stands_still_and_leaves_it_as_it_is() {
    let mut fixture = fixture(2, &[0.0, 3.0, 8.0], 1, RULES);
    fixture.at(&[]);
    fixture.at(&[-3.0, 3.0, 6.2]);
    assert!(fixture.membership.is_suspended(CellId(2)));
    fixture.states[1] = ball(PerformerId(1), [5.1, 0.0, 0.0]);
    let changes = fixture.update();
    assert_eq!(fixture.tell(&changes), "p1:L1>L2 L1-L2 L2+L1");
    assert_eq!(fixture.at(&[]), "");
}
