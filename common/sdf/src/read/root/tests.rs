//! Whole files: what may stand in `<sdf>`, and the world that a model file gets.

use crate::read::{ReadWorlds, read_worlds};
use crate::resolve::NoFiles;

const MODEL: &str = "<model name='m'><pose>0 0 1 0 0 0</pose><link name='l'/></model>";

fn read(content: &str) -> Result<ReadWorlds, Vec<&'static str>> {
    let text = format!("<sdf version='1.12'>{content}</sdf>");
    read_worlds(&text, "f.sdf", &NoFiles)
        .map_err(|error| error.errors.iter().map(|problem| problem.code).collect())
}

fn check_errors(content: &str, codes: &[&str]) {
    assert_eq!(read(content).unwrap_err(), codes, "{content}");
}

#[test]
fn a_model_file_is_read_as_a_world_around_the_model() {
    let read = read(MODEL).unwrap();
    assert!(read.is_model_file);
    assert_eq!((read.worlds.len(), read.warnings.len()), (1, 0));
    let world = &read.worlds[0];
    assert_eq!(world.name, "default");
    assert_eq!(world.models[0].pose.position, [0.0, 0.0, 1.0]);
}

#[test]
fn a_light_is_a_world_as_well_and_nothing_is_none() {
    let light = read("<light name='l' type='point'/>").unwrap();
    assert_eq!((light.is_model_file, light.worlds.len()), (true, 1));
    let nothing = read("").unwrap();
    assert_eq!((nothing.is_model_file, nothing.worlds.len()), (false, 0));
    assert_eq!(nothing.warnings.len(), 1);
}

#[test]
fn several_worlds_need_names_of_their_own() {
    let world = |name: &str| format!("<world name='{name}'/>");
    let two = read(&(world("a") + &world("b"))).unwrap();
    assert_eq!((two.worlds.len(), two.is_model_file), (2, false));
    check_errors(&(world("a") + &world("a")), &["DUPLICATE_NAME"]);
}

#[test]
fn a_model_beside_worlds_is_checked_and_left_out() {
    let read = read(&format!("<world name='w'/>{MODEL}")).unwrap();
    assert_eq!((read.worlds.len(), read.worlds[0].models.len()), (1, 0));
    assert_eq!(read.warnings.len(), 1);
    check_errors(
        "<world name='w'/><model name='m'/>",
        &["MODEL_WITHOUT_LINK"],
    );
}

#[test]
fn a_file_holds_one_model_light_or_actor() {
    let other = MODEL.replace("'m'", "'n'");
    check_errors(&format!("{MODEL}{other}"), &["ELEMENT_INCORRECT_TYPE"]);
    check_errors(&format!("{MODEL}{MODEL}"), &["DUPLICATE_NAME"]);
    check_errors(
        &format!("{MODEL}<light name='l' type='point'/>"),
        &["ELEMENT_INCORRECT_TYPE"],
    );
    check_errors(
        "<light name='l' type='point'/><actor name='a'/>",
        &["ELEMENT_INCORRECT_TYPE"],
    );
}
