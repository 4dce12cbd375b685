//! Ghosts of those whom something in a cell sees, by range: balls with lidars.

use protocol::Digest;

use super::*;

const BY_RANGE: Rules = Rules {
    sight: SightRule::Range,
    ..RULES
};

/// Gives a model a lidar at its origin with this range \[m\].
pub(super) fn give_lidar(model: &mut sdf::Model, range: f64) {
    let element = |name: &str, inner: Vec<sdf::ContentNode>| sdf::Content {
        name: name.into(),
        nodes: inner,
        ..sdf::Content::default()
    };
    let within =
        |name: &str, inner: sdf::Content| element(name, vec![sdf::ContentNode::Element(inner)]);
    let max = element(
        "max",
        vec![sdf::ContentNode::Text(range.to_string().into())],
    );
    model.links[0].sensors.push(sdf::Sensor {
        name: "lidar".to_owned(),
        kind: "gpu_lidar".to_owned(),
        pose: sdf::Pose::IDENTITY,
        update_rate: 10.0,
        topic: String::new(),
        always_on: false,
        content: within("sensor", within("lidar", within("range", max))),
    });
}

/// A world whose first ball has a lidar.
fn watched(levels: usize, xs: &[f64], range: f64) -> World {
    let mut world = balls("w", levels, xs);
    give_lidar(&mut world.models[levels], range);
    world
}

#[test]
fn a_cell_sees_as_far_as_what_is_in_it_and_no_farther() {
    let world = watched(4, &[0.0, 12.0, 30.0], 10.5);
    let mut by_buffer = Fixture::of(std::slice::from_ref(&world), RULES);
    let buffer = "L1_opens L2_opens L4_opens L1+L1 L2+L2 L4+L4";
    assert_eq!(by_buffer.at(&[]), buffer);
    let mut fixture = Fixture::of(&[world], BY_RANGE);
    let seen = "L1_opens L2_opens L4_opens L1+L1 L2+L2 L4+L4 L1+p1";
    assert_eq!(fixture.at(&[]), seen, "L2 looks at nobody");
    assert_eq!(fixture.at(&[0.4]), "", "within its box");
    assert_eq!(fixture.at(&[-1.0]), "L1-p1");
    assert_eq!(fixture.at(&[1.0]), "L1+p1");
    assert_eq!(
        fixture.at(&[1.0, 19.0]),
        "p1:L2>L3 L3_opens L2_closes L2-L2 L3+L3 L1-p1"
    );
}

#[test]
fn what_is_seen_far_away_opens_no_cell_and_a_cell_without_performers_sees_nothing() {
    let mut fixture = Fixture::of(&[watched(3, &[0.0, 20.0], f64::INFINITY)], BY_RANGE);
    let start = "L1_opens L3_opens L1+L1 L3+L3 L1+p1";
    assert_eq!(fixture.at(&[]), start);
    assert_eq!(
        fixture.at(&[0.0, 8.0]),
        "p1:L3>L2 L2_opens L3_closes L2+L2 L3-L3",
    );
    assert_eq!(
        fixture.at(&[20.0, 8.0]),
        "p0:L1>L3 L3_opens L1_closes L1-L1 L3+L3 L1-p1 L3+p1",
        "it sees from the cell that it has come to"
    );
}

#[test]
fn who_has_no_end_is_seen_wherever_it_is() {
    let world = watched(3, &[0.0, 20.0], 5.0);
    let mut fixture = Fixture::of(&[world], BY_RANGE);
    fixture.topology.performers[1].sight.size = f64::INFINITY;
    let start = "L1_opens L3_opens L1+L1 L3+L3 L1+p1";
    assert_eq!(fixture.at(&[]), start);
    assert_eq!(
        fixture.at(&[0.0, 8.0]),
        "p1:L3>L2 L2_opens L3_closes L2+L2 L3-L3"
    );
    fixture.partition.remove(PerformerId(1));
    assert_eq!(fixture.at(&[]), "L2_closes L2-L2 L1-p1");
}

#[test]
fn those_who_see_each_other_are_handed_over() {
    let mut fixture = Fixture::of(&[watched(2, &[0.0, 10.0], 30.0)], BY_RANGE);
    fixture.at(&[]);
    let passes = fixture.at(&[10.0, 0.0]);
    assert_eq!(passes, "p0:L1>L2 p1:L2>L1 L1-p1 L2+p1");
    fixture.partition.remove(PerformerId(1));
    let gone = fixture.at(&[]);
    assert_eq!(gone, "L1_closes L1-L1 L2-p1");
}

#[test]
fn models_that_never_move_see_while_their_level_is_loaded() {
    let mut world = balls("w", 3, &[0.0, 20.0]);
    give_lidar(&mut world.models[0], 30.0);
    let mut fixture = Fixture::of(std::slice::from_ref(&world), BY_RANGE);
    assert_eq!(fixture.at(&[]), "L1_opens L3_opens L1+L1 L3+L3 L1+p1");
    assert_eq!(fixture.at(&[20.0, 22.0]), "p0:L1>L3 L1_closes L1-L1 L1-p1");

    let mut mast = platform("mast");
    give_lidar(&mut mast, 12.0);
    world.models.push(mast.clone());
    let mut fixture = Fixture::of(std::slice::from_ref(&world), BY_RANGE);
    let start = "default_opens L1_opens L3_opens L1+L1 L3+L3 default+p0 L1+p1";
    assert_eq!(fixture.at(&[]), start, "p1 is not within 12 m");

    world.models.pop();
    let mut fixture = Fixture::of(&[world], BY_RANGE);
    fixture.at(&[]);
    let id = ModelId { world: 0, model: 5 };
    fixture.topology.spawn(id, &mast);
    fixture.partition.disturb();
    assert_eq!(fixture.at(&[]), "default_opens default+p0");
    fixture.topology.remove(id);
    fixture.partition.disturb();
    assert_eq!(fixture.at(&[]), "default-p0");
}

#[test]
fn a_suspended_cell_sees_nothing_and_is_seen() {
    let mut world = watched(3, &[0.0, 20.0], 30.0);
    world.performers.push(sdf::Performer {
        name: "p1".to_owned(),
        model: "p1".to_owned(),
        size: [1.0; 3],
    });
    world.levels[0].models.push("p0".to_owned());
    let mut fixture = Fixture::of(std::slice::from_ref(&world), BY_RANGE);
    assert_eq!(fixture.at(&[]), "L1_opens L3_opens L1+L1 L3+L3 L1_stops");
    assert_eq!(
        fixture.at(&[0.0, 8.0]),
        "p1:L3>L2 L2_opens L3_closes L2+L2 L3-L3"
    );
    let woken = fixture.at(&[0.0, 6.5]);
    assert_eq!(woken, "L2+L1 L1+p1 L1_goes_on");
    give_lidar(&mut world.models[4], 30.0);
    let mut fixture = Fixture::of(&[world], BY_RANGE);
    let start = "L1_opens L3_opens L1+L1 L3+L3 L3+p0 L1_stops";
    assert_eq!(fixture.at(&[]), start);
}

#[test]
fn poses_are_wanted_and_placed_once_for_each_motion() {
    let mut fixture = Fixture::of(&[watched(2, &[0.0, 10.0], 30.0)], BY_RANGE);
    let told = |fixture: &mut Fixture| {
        let partition = &mut fixture.partition;
        let moved = partition.moved_ghosts().unwrap().to_vec();
        partition.note_ghosts_placed();
        [moved, partition.wanted_poses().to_vec()].map(|list| list.len())
    };
    fixture.at(&[]);
    assert_eq!(told(&mut fixture), [1, 1], "it is new");
    fixture.at(&[]);
    assert_eq!(told(&mut fixture), [0, 0]);
    fixture.states[1].digest = Digest(7);
    fixture.update();
    assert_eq!(told(&mut fixture), [1, 1]);
    fixture.states[0].digest = Digest(8);
    fixture.update();
    assert_eq!(told(&mut fixture), [0, 0], "p0 is no ghost");
    fixture
        .partition
        .set_performer(PerformerId(1), Some([4.0; 3]));
    fixture.update();
    assert_eq!(told(&mut fixture), [0, 0]);
}

#[test]
fn a_restored_partition_sees_what_was_seen_and_goes_on_alike() {
    let world = watched(4, &[0.0, 12.0, 30.0], 11.0);
    let mut fixture = Fixture::of(&[world], BY_RANGE);
    fixture.at(&[]);
    fixture.at(&[0.45, 12.0]);
    let saved = fixture.partition.save(&fixture.topology);
    let restored = Partition::restore(&fixture.topology, BY_RANGE, saved);
    let mut other = Fixture {
        topology: fixture.topology.clone(),
        partition: restored.expect("it is sound"),
        states: fixture.states.clone(),
        iteration: fixture.iteration,
    };
    for xs in [[0.49, 12.0], [-0.6, 12.0], [-0.6, 13.0], [9.0, 13.0]] {
        assert_eq!(other.at(&xs), fixture.at(&xs), "at {xs:?}");
        let [one, two] = [&other, &fixture].map(|one| one.partition.moved_ghosts());
        assert_eq!(one, two);
    }
}
