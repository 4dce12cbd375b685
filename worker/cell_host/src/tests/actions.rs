//! Actions in cells: what is done is the same on any host, and done once.

use protocol::action::{Action, LinkId, ModelVelocity, Spawn, StampedAction};
use protocol::primary_to_secondary::{CellSource, GhostChange};
use protocol::{CellId, ModelId, PeerName, PerformerId, SimTime};
use sdf::ModelParcel;

use super::fixture::*;
use crate::{CellHost, HostSettings};

/// Models of the first world: a curb, a wall, then per level a floor, six boxes and a cart.
pub(super) const MODELS: u32 = 26;
/// Performers of both worlds.
pub(super) const PERFORMERS: u32 = 28;
const VERIFIED: HostSettings = HostSettings {
    verify: true,
    ..PLAIN
};

pub(super) fn model(model: u32) -> ModelId {
    ModelId { world: 0, model }
}

/// Returns the model of a box of a level.
pub(super) fn crate_of(level: u32, number: u32) -> ModelId {
    model(2 + level * 8 + 1 + number)
}

fn floor(level: u32) -> ModelId {
    model(2 + level * 8)
}

fn cart(level: u32) -> ModelId {
    crate_of(level, 6)
}

pub(super) fn link(model: ModelId) -> LinkId {
    LinkId { model, link: 0 }
}

/// Returns actions with their numbers.
pub(super) fn stamped(actions: impl IntoIterator<Item = Action>) -> Vec<StampedAction> {
    let numbered = actions.into_iter().zip(100..);
    numbered
        .map(|(action, number)| StampedAction { number, action })
        .collect()
}

pub(super) fn parcel(is_static: bool, at: [f64; 3]) -> ModelParcel {
    let [x, y, z] = at;
    let text = format!(
        "<sdf version='1.11'><model name='new'><static>{is_static}</static>\
         <pose>{x} {y} {z} 0 0 0</pose><link name='link'><collision name='c'><geometry><box>\
         <size>0.5 0.5 0.5</size></box></geometry></collision></link></model></sdf>"
    );
    sdf::read_model(&text, "new.sdf", &sdf::NoFiles)
        .unwrap()
        .parcel
}

pub(super) fn spawn(number: u32, performer: Option<(u32, u32)>, at: [f64; 3]) -> Spawn {
    Spawn {
        model: model(number),
        performer: performer.map(|(performer, _)| PerformerId(performer)),
        cell: performer.map(|(_, cell)| CellId(cell)),
        parcel: parcel(performer.is_none(), at).encode(),
    }
}

fn come(number: u32, performer: Option<(u32, u32)>, at: [f64; 3]) -> Action {
    Action::Spawn(Box::new(spawn(number, performer, at)))
}

fn position(hosts: &Hosts, performer: u32) -> [f64; 3] {
    hosts.states[&PerformerId(performer)].position
}

/// Brings two models, and sets what is set for all.
fn arrivals() -> Vec<Action> {
    vec![
        come(MODELS, Some((PERFORMERS, 1)), [0.0, 0.0, 5.0]),
        come(MODELS + 1, None, [10.0, 0.0, 5.0]),
        Action::SetState {
            model: model(MODELS),
            pose: Some([0.0, -2.0, 2.0, 0.0, 0.0, 0.0, 1.0]),
            velocity: Some(ModelVelocity {
                linear: [0.5, 0.0, 1.0],
                angular: [0.0, 2.0, 0.0],
            }),
        },
        Action::SetStepSize(1_000_000),
        Action::SetSeed(7),
    ]
}

/// Everything that can be done to models, in one run.
fn everything(homes: [&str; 3], settings: HostSettings) -> Vec<Digests> {
    let mut hosts = Hosts::started(homes, settings);
    let mut digests = hosts.advance_by(50);
    let mut act = |hosts: &mut Hosts, actions: Vec<Action>| {
        digests.push(hosts.advance(|step| step.actions = stamped(actions)));
        assert_eq!(hosts.failures, []);
        digests.extend(hosts.advance_by(20));
    };
    act(&mut hosts, arrivals());
    act(
        &mut hosts,
        vec![
            Action::Wrench {
                link: link(crate_of(0, 5)),
                force: [5.0, 0.0, 20.0],
                torque: [0.0; 3],
                until: SimTime(90_000_000),
            },
            Action::Attach {
                parent: link(crate_of(1, 0)),
                child: link(crate_of(1, 1)),
            },
            Action::SetCollisions {
                model: crate_of(2, 5),
                link: None,
                enabled: false,
            },
            Action::SetJoint {
                model: cart(1),
                joint: 0,
                axis: 0,
                position: Some(0.4),
                velocity: Some(3.0),
            },
        ],
    );
    hosts.hand_off(5, 1, 2);
    if homes[0] == homes[1] {
        hosts.advance(|_| {});
    } else {
        hosts.migrate(2, homes[0]);
    }
    act(
        &mut hosts,
        vec![
            Action::Detach {
                parent: link(crate_of(1, 0)),
                child: link(crate_of(1, 1)),
            },
            Action::Remove {
                model: crate_of(0, 0),
            },
            Action::Remove { model: floor(2) },
            Action::Remove {
                model: model(MODELS + 1),
            },
            Action::SetCollisions {
                model: floor(0),
                link: None,
                enabled: false,
            },
        ],
    );
    digests
}

#[test]
fn actions_have_the_same_bits_on_any_host_and_done_twice() {
    let together = everything(["a", "a", "a"], PLAIN);
    assert!(together == everything(["b", "c", "a"], PLAIN));
    assert!(together == everything(["a", "a", "b"], VERIFIED));
}

#[test]
fn a_spawned_performer_falls_in_its_cell_and_can_leave_it() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    let comes = || come(MODELS, Some((PERFORMERS, 1)), [3.0, -3.0, 9.0]);
    hosts.pause(|step| step.actions = stamped([comes()]));
    assert_eq!(position(&hosts, PERFORMERS), [3.0, -3.0, 9.0]);
    assert!(hosts.performers("a", 1).unwrap().contains(&PERFORMERS));
    hosts.advance_by(100);
    assert!((position(&hosts, PERFORMERS)[2] - (9.0 - 4.9 * 0.01)).abs() < 1e-3);
    hosts.hand_off(PERFORMERS, 1, 2);
    assert!(hosts.performers("b", 2).unwrap().contains(&PERFORMERS));
    hosts.migrate(2, "a");
    assert!(hosts.performers("a", 2).unwrap().contains(&PERFORMERS));
    hosts.advance_by(5);
}

#[test]
fn a_spawned_static_model_is_in_every_cell_also_in_later_ones() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.pause(|step| step.actions = stamped([come(MODELS, None, [0.0, 0.0, 9.0])]));
    hosts.advance(|step| step.affinities = vec![affinity(0, "b", CellSource::Empty)]);
    hosts.migrate(1, "b");
    let cells = hosts.by_name.values().flat_map(CellHost::cells);
    for cell in cells {
        assert!(cell.physics().has_static(MODELS as usize), "{}", cell.id());
    }
    hosts.advance(|step| {
        step.actions = stamped([Action::Remove {
            model: model(MODELS),
        }]);
    });
    let cells = hosts.by_name.values().flat_map(CellHost::cells);
    assert!(
        cells
            .into_iter()
            .all(|cell| !cell.physics().has_static(MODELS as usize))
    );
    hosts.migrate(1, "a");
}

#[test]
fn a_removed_performer_is_gone_with_its_ghosts() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    let ghost = GhostChange {
        cell: CellId(2),
        performer: PerformerId(0),
        present: true,
    };
    hosts.advance(|step| step.ghost_changes = vec![ghost]);
    hosts.advance(|step| {
        step.actions = stamped([Action::Remove {
            model: crate_of(0, 0),
        }]);
    });
    assert!(!hosts.states.contains_key(&PerformerId(0)));
    let mut cells = hosts.by_name.values().flat_map(CellHost::cells);
    assert!(cells.all(|cell| cell.ghosts().count() == 0));
}

#[test]
fn bodies_on_a_removed_floor_fall() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    hosts.advance_by(300);
    hosts.advance(|step| step.actions = stamped([Action::Remove { model: floor(0) }]));
    hosts.advance_by(500);
    assert!(position(&hosts, 0)[2] < -0.5, "{:?}", position(&hosts, 0));
    assert!(position(&hosts, RESIDENTS)[2] > 0.0);
}

#[test]
fn a_failed_action_is_told_once_with_its_reason_and_the_others_are_done() {
    let mut hosts = Hosts::started(["a", "b", "c"], VERIFIED);
    let detach = Action::Detach {
        parent: link(crate_of(0, 0)),
        child: link(crate_of(0, 1)),
    };
    let apart = Action::Attach {
        parent: link(crate_of(0, 0)),
        child: link(crate_of(1, 1)),
    };
    let pose = [0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 1.0];
    let put = Action::SetState {
        model: crate_of(0, 3),
        pose: Some(pose),
        velocity: None,
    };
    hosts.pause(|step| step.actions = stamped([detach, apart, put]));
    let told: Vec<_> = hosts.failures.iter().map(|one| one.number).collect();
    assert_eq!(told, [100, 101]);
    assert_eq!(hosts.failures[0].reason, "the links are not attached");
    assert!(hosts.failures[1].reason.contains("not both in this cell"));
    assert_eq!(position(&hosts, 3), [0.0, 0.0, 7.0]);
}

#[test]
fn a_run_that_begins_anew_has_the_bits_of_the_first_one() {
    let begin = |hosts: &mut Hosts, reset| {
        hosts.pause(|step| {
            step.reset = reset;
            step.elapsed = SimTime(0);
            for cell in 1..4 {
                step.affinities.push(affinity(cell, "a", CellSource::Start));
                step.level_changes.push(load(cell, cell - 1));
            }
        });
        let mut digests = hosts.advance_by(30);
        let actions = [
            come(MODELS, Some((PERFORMERS, 1)), [0.0, 0.0, 5.0]),
            Action::Remove {
                model: crate_of(0, 0),
            },
            Action::Remove { model: floor(1) },
        ];
        digests.push(hosts.advance(|step| step.actions = stamped(actions)));
        digests.extend(hosts.advance_by(30));
        digests
    };
    let mut hosts = Hosts::new(&["a"], VERIFIED);
    let first = begin(&mut hosts, false);
    assert!(first == begin(&mut hosts, true));
}

#[test]
fn steps_have_the_size_that_was_set() {
    let mut hosts = Hosts::started(["a", "b", "b"], PLAIN);
    let comes = come(MODELS, Some((PERFORMERS, 1)), [3.0, -3.0, 9.0]);
    hosts.pause(|step| step.actions = stamped([comes, Action::SetStepSize(5_000_000)]));
    hosts.advance_by(20);
    let fallen = 9.0 - position(&hosts, PERFORMERS)[2];
    assert!((fallen - 4.9 * 0.01).abs() < 2e-3, "{fallen}");
}

#[test]
fn a_world_grows_where_it_is() {
    let mut hosts = Hosts::started(["a", "a", "a"], PLAIN);
    let host = |hosts: &Hosts| {
        let host = &hosts.by_name[&"a".parse::<PeerName>().unwrap()];
        std::sync::Arc::as_ptr(&host.scene.worlds[0])
    };
    let before = host(&hosts);
    hosts.pause(|step| step.actions = stamped([come(MODELS, None, [0.0, 0.0, 9.0])]));
    assert_eq!(before, host(&hosts), "no copy is made");
}
