//! Actions that no primary sends are refused with what is wrong, and nothing panics.

use protocol::action::{Action, LinkId, Spawn};
use protocol::{CellId, ModelId, PerformerId, SimTime};

use super::actions::*;
use super::fixture::*;

fn check(actions: impl IntoIterator<Item = Action>, expected: &str) {
    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    let mut step = hosts.following();
    step.actions = stamped(actions);
    let said = match hosts.run(step) {
        Ok(_) => "done".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(said, expected);
}

fn check_reason(action: Action, reason: &str) {
    check([action], &format!("action 100 cannot be meant: {reason}"));
}

const NO_MODEL: &str = "there is no such model";

fn set_pose(model: ModelId, pose: [f64; 7]) -> Action {
    Action::SetState {
        model,
        pose: Some(pose),
        velocity: None,
    }
}

const SOMEWHERE: [f64; 7] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

#[test]
fn models_and_links_are_there() {
    check_reason(set_pose(model(99), SOMEWHERE), NO_MODEL);
    let elsewhere = ModelId { world: 9, model: 0 };
    check_reason(Action::Remove { model: elsewhere }, NO_MODEL);
    check_reason(set_pose(model(0), SOMEWHERE), "the model never moves");
    let no_link = LinkId {
        model: crate_of(0, 0),
        link: 1,
    };
    let parent = link(crate_of(0, 1));
    let child = no_link;
    check_reason(Action::Attach { parent, child }, "there is no such link");
    check_reason(Action::Detach { parent, child }, "there is no such link");
    let collisions = Action::SetCollisions {
        model: crate_of(0, 0),
        link: Some(1),
        enabled: true,
    };
    check_reason(collisions, "there is no such link");
    let joint = Action::SetJoint {
        model: crate_of(0, 0),
        joint: 0,
        axis: 0,
        position: None,
        velocity: None,
    };
    check_reason(joint, "there is no such joint");
    let other_world = link(ModelId { world: 1, model: 3 });
    let across = Action::Attach {
        parent,
        child: other_world,
    };
    check_reason(across, "the links are of two worlds");
}

#[test]
fn removed_models_cannot_be_named() {
    let remove = || Action::Remove {
        model: crate_of(0, 0),
    };
    check(
        [remove(), remove()],
        "action 101 cannot be meant: there is no such model",
    );
    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    hosts.advance(|step| step.actions = stamped([remove()]));
    let mut step = hosts.following();
    step.actions = stamped([set_pose(crate_of(0, 0), SOMEWHERE)]);
    let error = hosts.run(step).err().map(|error| error.to_string());
    let expected = "action 100 cannot be meant: there is no such model";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn numbers_are_numbers() {
    let with = |index: usize, number: f64| {
        let mut pose = SOMEWHERE;
        pose[index] = number;
        set_pose(crate_of(0, 0), pose)
    };
    check_reason(with(0, f64::NAN), "a number is not finite");
    check_reason(with(6, f64::INFINITY), "a number is not finite");
    check_reason(with(6, 0.5), "an orientation is no unit quaternion");
    let wrench = Action::Wrench {
        link: link(crate_of(0, 0)),
        force: [f64::NAN, 0.0, 0.0],
        torque: [0.0; 3],
        until: SimTime(0),
    };
    check_reason(wrench, "a number is not finite");
    let joint = |velocity| Action::SetJoint {
        model: crate_of(0, 6),
        joint: 0,
        axis: 0,
        position: None,
        velocity: Some(velocity),
    };
    check_reason(joint(f64::NAN), "a number is not finite");
    check([joint(1.0)], "done");
    let step_size = "steps of that size are too short or too long";
    check_reason(Action::SetStepSize(0), step_size);
    check_reason(Action::SetStepSize(u64::MAX), step_size);
}

#[test]
fn models_come_in_order_whole_and_into_a_cell_of_their_world() {
    let good = || spawn(MODELS, Some((PERFORMERS, 1)), [0.0, 0.0, 9.0]);
    let check_spawn = |change: &dyn Fn(&mut Spawn), reason: &str| {
        let mut spawn = good();
        change(&mut spawn);
        check_reason(Action::Spawn(Box::new(spawn)), reason);
    };
    let comes = |spawn: Spawn| Action::Spawn(Box::new(spawn));
    check([comes(good())], "done");
    check(
        [comes(good()), comes(good())],
        "action 101 cannot be meant: its number as a model is not the next one that is free",
    );
    check_spawn(&|spawn| spawn.model.world = 7, "there is no such world");
    check_spawn(
        &|spawn| spawn.model.model = 0,
        "its number as a model is not the next one that is free",
    );
    check_spawn(&|spawn| spawn.parcel.clear(), "its model is damaged");
    check_spawn(
        &|spawn| spawn.performer = Some(PerformerId(0)),
        "its number as a performer is not the next one that is free",
    );
    check_spawn(
        &|spawn| spawn.performer = None,
        "its number as a performer is not the next one that is free",
    );
    let place = "a model that moves starts in a cell of its world, and no other does";
    check_spawn(&|spawn| spawn.cell = None, place);
    check_spawn(&|spawn| spawn.cell = Some(CellId(5)), place);
    check_spawn(&|spawn| spawn.cell = Some(CellId(99)), place);
    check_spawn(
        &|spawn| {
            let mut parcel = parcel(false, [0.0; 3]);
            parcel.model.links[0].pose.position[1] = f64::NAN;
            spawn.parcel = parcel.encode();
        },
        "a number is not finite",
    );
    check_spawn(
        &|spawn| {
            let mut parcel = parcel(false, [0.0; 3]);
            parcel.model.links.clear();
            spawn.parcel = parcel.encode();
        },
        "its model is damaged",
    );
}
