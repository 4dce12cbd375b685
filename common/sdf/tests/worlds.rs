//! Reads the worlds that come with the project, and the fleet that is generated.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::path::Path;

use sdf::{Level, Model, NoFiles, World, generate_fleet, read_worlds};

fn read(text: &str, file: &str) -> World {
    let mut read = read_worlds(text, file, &NoFiles).unwrap();
    assert_eq!(read.warnings, [], "{file}");
    assert_eq!(read.worlds.len(), 1, "{file}");
    read.worlds.swap_remove(0)
}

fn own(name: &str) -> World {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../worlds")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.lines().nth(1).unwrap().starts_with("<!-- "),
        "{name} does not say what it shows"
    );
    read(&text, name)
}

fn model<'w>(world: &'w World, name: &str) -> &'w Model {
    world
        .models
        .iter()
        .find(|model| model.name == name)
        .unwrap()
}

fn level<'w>(world: &'w World, name: &str) -> &'w Level {
    world
        .levels
        .iter()
        .find(|level| level.name == name)
        .unwrap()
}

/// Asserts that a performer starts with its whole box inside a level's.
fn check_starts_inside(world: &World, model_name: &str, level_name: &str) {
    let size = world
        .performers
        .iter()
        .find(|p| p.model == model_name)
        .unwrap()
        .size;
    let (model, level) = (model(world, model_name), level(world, level_name));
    for (i, extent) in size.iter().enumerate() {
        let distance = (model.pose.position[i] - level.center[i]).abs();
        assert!(
            distance + extent / 2.0 <= level.size[i] / 2.0,
            "{model_name} and {level_name}"
        );
    }
}

#[test]
fn the_ramp_has_a_level_per_block_two_that_roll_and_one_that_is_driven() {
    let world = own("ramp.sdf");
    assert_eq!((world.levels.len(), world.performers.len()), (16, 3));
    check_starts_inside(&world, "ball", "level_0_A");
    check_starts_inside(&world, "barrel", "level_0_B");
    check_starts_inside(&world, "rover", "level_basin");
    for level in &world.levels {
        let [reference] = level.models.as_slice() else {
            panic!("{level:?}")
        };
        let (low, high) = model(&world, reference).collision_bounds().unwrap();
        for i in 0..3 {
            let reach = level.size[i] / 2.0 + level.buffer;
            assert!(
                low[i] >= level.center[i] - reach,
                "{reference} reaches out of its level"
            );
            assert!(
                high[i] <= level.center[i] + reach,
                "{reference} reaches out of its level"
            );
        }
    }
}

#[test]
fn the_crossing_has_models_in_levels_one_global_and_three_robots() {
    let world = own("crossing.sdf");
    let references: Vec<_> = world
        .levels
        .iter()
        .map(|level| level.models.join(" "))
        .collect();
    assert_eq!(references, ["M1 M2", "M3 M4", "M5"]);
    assert!(model(&world, "M6").is_static);
    assert_eq!(model(&world, "M6").reach().radius, f64::INFINITY);
    check_starts_inside(&world, "R1", "L1");
    check_starts_inside(&world, "R2", "L1");
    check_starts_inside(&world, "R3", "L2");
}

#[test]
fn the_shapes_start_above_the_ground() {
    let world = own("shapes.sdf");
    assert_eq!((world.levels.len(), world.models.len()), (0, 9));
    for model in world.models.iter().filter(|model| !model.is_static) {
        assert!(
            model.collision_bounds().unwrap().0[2] > 0.0,
            "{}",
            model.name
        );
    }
}

#[test]
fn a_fleet_of_ten_thousand_is_read() {
    let world = read(&generate_fleet(10_000, [10, 10]), "fleet.sdf");
    assert_eq!((world.levels.len(), world.performers.len()), (100, 10_000));
    assert_eq!(world.models.len(), 10_000 + 100 + 50);
}
