//! Models that come and go over and over: what left takes no room, and whoever gets its numbers is
//! a model of its own.

use protocol::action::{Action, Spawn};
use protocol::{CellId, PerformerId};
use sdf::{Collision, Geometry, Link, MeshApproximation, MeshShape, Model, ModelParcel, Pose};

use super::actions::{model, spawn, stamped};
use super::fixture::*;
use crate::CellHost;

/// Returns the number of models of the first world, and of performers.
const MODELS: u32 = 2 + 3 * 8;
const PERFORMERS: u32 = 4 * RESIDENTS;

fn come(spawn: Spawn) -> Action {
    Action::Spawn(Box::new(spawn))
}

fn go(number: u32) -> Action {
    Action::Remove {
        model: model(number),
    }
}

fn act(hosts: &mut Hosts, actions: Vec<Action>) {
    hosts.pause(|step| step.actions = stamped(actions));
    assert_eq!(hosts.failures, []);
}

fn host(hosts: &Hosts) -> &CellHost {
    hosts.by_name.values().next().expect("there is one")
}

/// Two performers and a static model come; then they go.
fn cycle(hosts: &mut Hosts) {
    let comers = vec![
        come(spawn(MODELS, Some((PERFORMERS, 1)), [0.0, -2.0, 3.0])),
        come(spawn(MODELS + 1, None, [10.0, 0.0, 5.0])),
        come(spawn(
            MODELS + 2,
            Some((PERFORMERS + 1, 2)),
            [10.0, -2.0, 3.0],
        )),
        Action::SetCollisions {
            model: model(MODELS + 1),
            link: None,
            enabled: false,
        },
    ];
    act(hosts, comers);
    hosts.advance_by(1);
    let numbers = [MODELS + 1, MODELS, MODELS + 2];
    act(hosts, numbers.map(go).to_vec());
}

/// Returns how many bytes a checkpoint takes, and how much worlds and plan hold.
fn sizes(hosts: &mut Hosts) -> Vec<usize> {
    hosts.pause(|step| step.wanted.snapshots = vec![CellId(1), CellId(2), CellId(3)]);
    let mut sizes: Vec<usize> = hosts.snapshots.iter().map(|one| one.bytes.len()).collect();
    let host = host(hosts);
    sizes.push(host.scene_checkpoint().len());
    sizes.push(host.scene.plan.performers.len());
    sizes.push(host.scene.worlds[0].models.len());
    sizes.push(host.scene.worlds[0].meshes.len());
    sizes
}

#[test]
fn models_that_come_and_go_leave_no_memory_behind() {
    let mut hosts = Hosts::started(["a"; 3], PLAIN);
    hosts.advance_by(300);
    for _ in 0..3 {
        cycle(&mut hosts);
    }
    let few = sizes(&mut hosts);
    for _ in 0..200 {
        cycle(&mut hosts);
    }
    let many = sizes(&mut hosts);
    for (few, many) in few.iter().zip(&many) {
        // Numbers that count up take a byte more here and there.
        assert!(many.abs_diff(*few) < 64 + few / 20, "{few} became {many}");
    }
}

#[test]
fn a_host_of_the_checkpoint_has_the_same_numbers_free() {
    let mut hosts = Hosts::started(["a"; 3], PLAIN);
    act(
        &mut hosts,
        (0..4)
            .map(|one| {
                come(spawn(
                    MODELS + one,
                    Some((PERFORMERS + one, 1)),
                    [0.0, -2.0, 3.0],
                ))
            })
            .collect(),
    );
    act(&mut hosts, vec![go(MODELS + 1), go(3)]);
    let late = spawn(MODELS + 1, Some((PERFORMERS + 1, 2)), [10.0, -2.0, 3.0]);
    act(&mut hosts, vec![come(late), go(MODELS + 2)]);
    let bytes = host(&hosts).scene_checkpoint();
    let mut others = Hosts::new(&["a"], PLAIN);
    let other = others.by_name.values_mut().next().expect("there is one");
    other.scene.restore(&bytes).expect("it is a checkpoint");
    let scene = &host(&hosts).scene;
    assert_eq!(other.scene.numbers, scene.numbers);
    assert_eq!(other.scene.plan, scene.plan);
    assert_eq!(other.scene.worlds[0].models, scene.worlds[0].models);
    assert_eq!(other.scene_checkpoint(), bytes);
    assert_eq!(scene.numbers[0].upcoming(0), MODELS + 2);
    assert_eq!(scene.plan.upcoming(0), PerformerId(PERFORMERS + 2));
}

#[test]
fn a_number_is_free_with_the_next_step_and_no_other_is_given() {
    let mut hosts = Hosts::started(["a"; 3], PLAIN);
    let comer = |number: u32| {
        let performer = PERFORMERS + number - MODELS;
        come(spawn(number, Some((performer, 1)), [0.0, -2.0, 3.0]))
    };
    act(&mut hosts, vec![comer(MODELS), comer(MODELS + 1)]);
    let try_out = |hosts: &mut Hosts, actions: Vec<Action>| {
        let mut step = hosts.following();
        step.actions = stamped(actions);
        hosts.run(step).map(|_| ())
    };
    act(&mut hosts, vec![go(MODELS), comer(MODELS + 2)]);
    let beyond = try_out(&mut hosts, vec![comer(MODELS + 3)]);
    assert!(beyond.is_err(), "the lowest that is free comes first");
    act(&mut hosts, vec![comer(MODELS)]);
}

/// Returns a static model of one triangle mesh that is flat at a height \[m\].
fn plate(number: u32, z: f64) -> Spawn {
    let shape = MeshShape {
        uri: String::new(),
        submesh: String::new(),
        center_submesh: false,
        scale: [1.0; 3],
        approximation: MeshApproximation::Automatic,
        mesh: Some(0),
        bounds: None,
    };
    let link = Link {
        collisions: vec![Collision::new("c", Pose::IDENTITY, Geometry::Mesh(shape))],
        ..Link::new("link", Pose::IDENTITY)
    };
    let corner = |x: f64, y: f64| [x, y, z];
    let parcel = ModelParcel {
        model: Model {
            is_static: true,
            ..Model::new("plate", vec![link], Vec::new())
        },
        meshes: vec![mesh::TriangleMesh {
            vertices: vec![
                corner(-9.0, -9.0),
                corner(9.0, -9.0),
                corner(9.0, 9.0),
                corner(-9.0, 9.0),
            ],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        }],
        height_grids: Vec::new(),
        visual_files: Vec::new(),
    };
    Spawn {
        model: model(number),
        performer: None,
        cell: None,
        parcel: parcel.encode(),
    }
}

#[test]
fn a_mesh_under_the_number_of_another_is_the_one_that_is_touched() {
    let mut hosts = Hosts::started(["a"; 3], PLAIN);
    act(&mut hosts, vec![come(plate(MODELS, 2.0))]);
    act(&mut hosts, vec![go(MODELS)]);
    act(&mut hosts, vec![come(plate(MODELS, 4.0))]);
    let ball = spawn(MODELS + 1, Some((PERFORMERS, 1)), [0.0, -2.0, 4.3]);
    act(&mut hosts, vec![come(ball)]);
    hosts.advance_by(300);
    let z = hosts.states[&PerformerId(PERFORMERS)].position[2];
    assert!((z - 4.25).abs() < 0.02, "it lies at {z} m");
}
