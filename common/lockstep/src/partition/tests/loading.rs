//! Active levels, the cells in which they are loaded, and the ghosts there.

use super::*;

#[test]
fn a_level_is_loaded_from_the_outer_face_of_its_buffer_inclusive() {
    let mut fixture = Fixture::new(2, &[0.0], RULES);
    assert_eq!(fixture.at(&[0.0]), "L1_opens L1+L1");
    assert_eq!(fixture.at(&[2.5_f64.next_down()]), "");
    assert_eq!(fixture.at(&[2.5]), "L2_opens L1+L2 L2+p0");
    assert_eq!(fixture.at(&[5.5]), "");
    assert_eq!(
        fixture.at(&[5.6]),
        "p0:L1>L2 L1-L1 L1-L2 L2+L1 L2+L2 L1+p0 L2-p0"
    );
    assert_eq!(fixture.at(&[7.5]), "");
    assert_eq!(fixture.at(&[7.6]), "L1_closes L2-L1 L1-p0");
    assert_eq!(
        fixture.at(&[100.0]),
        "p0:L2>default default_opens L2_closes L2-L2"
    );
}

#[test]
fn by_volume_a_level_is_loaded_on_touching_it_and_unloaded_on_leaving_its_buffer() {
    let rules = Rules {
        load: LoadRule::Volume,
        ..RULES
    };
    let mut fixture = Fixture::new(2, &[0.0], rules);
    assert_eq!(fixture.at(&[0.0]), "L1_opens L1+L1");
    assert_eq!(fixture.at(&[4.4]), "");
    assert_eq!(fixture.at(&[4.5]), "L2_opens L1+L2 L2+p0");
    assert_eq!(fixture.at(&[4.0]), "");
    assert_eq!(fixture.at(&[2.5]), "");
    assert_eq!(fixture.at(&[2.4]), "L2_closes L1-L2 L2-p0");
    assert_eq!(fixture.at(&[2.6]), "");
}

#[test]
fn everything_that_a_performer_will_cross_in_the_next_step_is_loaded_before() {
    let mut fixture = Fixture::new(4, &[0.0], RULES);
    fixture.at(&[]);
    fixture.states[0].linear_velocity = [25_000.0, 0.0, 0.0];
    let changes = fixture.update();
    assert_eq!(
        fixture.tell(&changes),
        "L2_opens L3_opens L4_opens L1+L2 L1+L3 L1+L4 L2+p0 L3+p0 L4+p0"
    );
    fixture.at(&[25.0]);
    assert_eq!(
        fixture.cells(),
        "L3",
        "it is handed to the last, by where it is"
    );
}

#[test]
fn a_performer_that_is_too_fast_counts_with_its_box_alone() {
    let mut fixture = Fixture::new(600, &[0.0], RULES);
    fixture.at(&[]);
    fixture.states[0].linear_velocity = [1e300, 0.0, 0.0];
    let changes = fixture.update();
    assert_eq!(fixture.tell(&changes), "");
}

#[test]
fn a_level_stays_while_one_performer_of_the_cell_keeps_it() {
    let mut fixture = Fixture::new(2, &[-1.0, 1.0], RULES);
    assert_eq!(fixture.at(&[-1.0, 1.0]), "L1_opens L1+L1");
    assert_eq!(fixture.at(&[-1.0, 3.0]), "L2_opens L1+L2 L2+p1");
    assert_eq!(fixture.at(&[3.0, 4.5]), "L2+p0");
    assert_eq!(fixture.at(&[3.0, 1.0]), "L2-p1");
    assert_eq!(fixture.at(&[1.0, -1.0]), "L2_closes L1-L2 L2-p0");
}

#[test]
fn a_performer_that_changes_cell_takes_its_levels_along_and_leaves_those_of_others() {
    let mut fixture = Fixture::new(2, &[-3.0, 4.0], RULES);
    fixture.at(&[]);
    assert_eq!(
        fixture.at(&[-3.0, 6.0]),
        "p1:L1>L2 L1-L2 L2+L1 L2+L2 L1+p1 L2-p1"
    );
    assert_eq!(fixture.at(&[-3.0, 8.0]), "L2-L1 L1-p1");
}

#[test]
fn levels_without_models_are_kept_as_others() {
    let mut world = balls("w", 2, &[0.0]);
    world.levels[1].models.clear();
    let mut fixture = Fixture::of(&[world], RULES);
    fixture.at(&[]);
    assert_eq!(fixture.at(&[3.0]), "L2_opens L1+L2 L2+p0");
    assert_eq!(fixture.partition.levels_of(PerformerId(0)).len(), 2);
}
