//! Shows what comes of moving a cell by hand and of making a model a performer, while time runs and
//! while it stands still: the reply, where the cell is then, and that no result changes. The
//! commands go to a primary of a simulated cluster with real cells. A step is told of with the
//! models that were there in it.

use std::time::Duration;

use lockstep::commands_file;
use protocol::primary_to_client::Reply;
use protocol::{CellId, Command, PeerName, PerformerId};
use serde_json::json;
use tests::cluster::{self, Cluster, NetworkFaults};
use tests::direct::Direct;
use tests::worlds;
use tests::worlds::scene::{Scene, Surface};

const WEST: CellId = CellId(1);
const EAST: CellId = CellId(2);

/// Two levels with a ball each, and a third that nobody is near, on three secondaries.
fn cluster() -> Cluster {
    let mut scene = Scene::new("rows", [0.0, 0.0, -9.8]);
    let floor = [0.0, 0.0, -0.5, 0.0, 0.0, 0.0];
    scene.fixed("floor", floor, [100.0, 10.0, 1.0], Surface::rough(0.5));
    for (name, x) in [("west", -2.0), ("east", 2.0), ("far", 40.0)] {
        scene.level(name, [x, 0.0, 0.0], [3.0, 4.0, 4.0], 0.2, &[]);
        if name != "far" {
            let ball = format!("{name}_ball");
            scene.ball(&ball, [x, 0.0, 0.5], 0.2, Surface::elastic(0.9));
        }
    }
    Cluster::new(&[scene.build()], 3, 400, NetworkFaults::SHUFFLED, 5)
}

fn peer(name: &str) -> PeerName {
    name.parse().expect("a peer name")
}

/// Asks for something and runs until it is answered.
fn ask(cluster: &mut Cluster, command: Command) -> Reply {
    let before = cluster.clients.replies.len();
    cluster.request(1 + before as u64, command);
    cluster.run_until(|cluster| cluster.clients.replies.len() > before);
    cluster.clients.replies[before].reply.clone()
}

fn move_cell(cluster: &mut Cluster, level: &str, to: &str) -> Reply {
    let command = Command::MoveCell {
        level: level.to_owned(),
        peer: peer(to),
    };
    ask(cluster, command)
}

fn check_refused(reply: &Reply, expected: &str) {
    match reply {
        Reply::Failed { reason, .. } => assert!(reason.contains(expected), "{reason}"),
        other => panic!("it is refused since {expected:?}, and the reply is {other:?}"),
    }
}

fn check_done(reply: &Reply) {
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
}

/// Moves cells in every way there is; time runs, or stands still.
fn check_moves(is_paused: bool) {
    let mut plain = cluster();
    plain.run_until(|_| false);
    let mut cluster = cluster();
    cluster.run_until(|cluster| cluster.digests().len() > 50);
    if is_paused {
        check_done(&ask(&mut cluster, Command::Pause));
    }
    let iteration = cluster.primary.iteration();
    assert_eq!(cluster.primary.host(WEST), Some(&peer("s1")));
    check_done(&move_cell(&mut cluster, "west", "s3"));
    assert_eq!(cluster.primary.host(WEST), Some(&peer("s3")));
    check_done(&move_cell(&mut cluster, "west", "s3"));
    assert_eq!(
        cluster.checks.witness.ownership.migrations, 1,
        "it was there already"
    );
    check_done(&move_cell(&mut cluster, "east", "s3"));
    check_done(&move_cell(&mut cluster, "west", "s1"));
    assert_eq!(cluster.primary.host(EAST), Some(&peer("s3")));
    check_refused(&move_cell(&mut cluster, "north", "s3"), "north");
    check_refused(&move_cell(&mut cluster, "west", "s9"), "s9");
    check_refused(&move_cell(&mut cluster, "far", "s2"), "far");
    check_refused(&move_cell(&mut cluster, "default", "s2"), "default");
    assert_eq!(cluster.checks.witness.ownership.migrations, 3);
    assert_eq!(cluster.primary.events().migrations, 3);
    if is_paused {
        assert_eq!(cluster.primary.iteration(), iteration, "time stood still");
        check_done(&ask(&mut cluster, Command::Play));
    }
    cluster.run_until(|_| false);
    assert_eq!(cluster.digests(), plain.digests(), "no result changes");
}

#[test]
fn cells_are_moved_by_hand_while_time_runs() {
    check_moves(false);
}

#[test]
fn cells_are_moved_by_hand_while_time_stands_still() {
    check_moves(true);
}

#[test]
fn a_cell_is_not_moved_twice_at_once_nor_before_the_secondaries_are_ready() {
    let mut cluster = cluster();
    check_refused(&move_cell(&mut cluster, "west", "s2"), "not ready");
    cluster.run_until(|cluster| cluster.digests().len() > 50);
    let before = cluster.clients.replies.len();
    for (number, to) in [(90, "s2"), (91, "s3")] {
        let command = Command::MoveCell {
            level: "west".to_owned(),
            peer: peer(to),
        };
        cluster.request(number, command);
    }
    cluster.run_until(|cluster| cluster.clients.replies.len() == before + 2);
    check_refused(&cluster.clients.replies[before].reply, "already");
    check_done(&cluster.clients.replies[before + 1].reply);
    assert_eq!(cluster.primary.host(WEST), Some(&peer("s2")));
}

fn set_performer(cluster: &mut Cluster, model: &str, size: Option<[f64; 3]>) -> Reply {
    let model = model.to_owned();
    ask(cluster, Command::SetPerformer { model, size })
}

/// A model that is bound to a level stands still until it is made a performer.
fn check_set_performer(is_paused: bool) {
    let world = worlds::lively::suspended();
    let mut cluster = Cluster::new(&[world], 2, 700, NetworkFaults::SHUFFLED, 3);
    let moving = |cluster: &Cluster, iteration: u64| {
        let now = cluster.checks.witness.recording.states(iteration);
        let before = cluster.checks.witness.recording.states(iteration - 1);
        now[7].digest != before[7].digest
    };
    let last = "bound_3_1";
    let is_last = cluster.primary.topology().performers[7].name == last;
    assert!(is_last, "{:?}", cluster.primary.topology().performers[7]);
    cluster.run_until(|cluster| cluster.digests().len() > 100);
    let at = cluster.digests().len() as u64 - 1;
    assert!(
        !moving(&cluster, at),
        "its level is far from every performer"
    );
    if is_paused {
        check_done(&ask(&mut cluster, Command::Pause));
    }
    check_refused(&set_performer(&mut cluster, "nobody", None), "nobody");
    check_refused(
        &set_performer(&mut cluster, last, Some([1.0, 0.0, 1.0])),
        "0 m",
    );
    check_refused(
        &set_performer(&mut cluster, last, Some([1.0, f64::NAN, 1.0])),
        "0 m",
    );
    check_done(&set_performer(&mut cluster, last, Some([0.5; 3])));
    if is_paused {
        check_done(&ask(&mut cluster, Command::Play));
    }
    let at = cluster.digests().len();
    cluster.run_until(|cluster| cluster.digests().len() > at + 2);
    assert!(
        moving(&cluster, at as u64 + 2),
        "it keeps its own level active"
    );
    cluster.run_until(|_| false);
    assert_eq!(cluster.digests().len(), 701);
}

#[test]
fn a_model_is_made_a_performer_while_time_runs() {
    check_set_performer(false);
}

#[test]
fn a_model_is_made_a_performer_while_time_stands_still() {
    check_set_performer(true);
}

#[test]
fn a_performer_without_a_size_has_gazebos_box_unless_the_world_declares_one() {
    let world = worlds::lively::suspended();
    let declared = world.performers[0].clone();
    let mut cluster = Cluster::new(&[world], 1, 200, NetworkFaults::SHUFFLED, 3);
    cluster.run_until(|cluster| cluster.digests().len() > 20);
    for (model, size) in [
        (declared.model.as_str(), declared.size),
        ("bound_3_1", [2.0; 3]),
    ] {
        check_done(&set_performer(&mut cluster, model, None));
        let mut performers = cluster.primary.topology().performers.iter();
        let number = performers.position(|one| one.name == model);
        let id = PerformerId(number.expect("it is a performer") as u32);
        let half = cluster.primary.partition().half_extents(id);
        assert_eq!(half, size.map(|edge| edge / 2.0), "{model}");
    }
}

#[test]
fn a_recorded_step_is_told_of_before_the_next_one_brings_models() {
    let crate_text = "<sdf version='1.9'><model name='crate'><pose>0 0 3 0 0 0</pose>\
        <link name='l'/></model></sdf>";
    let spawn = json!({ "spawn": {
        "sdf": crate_text, "name": null, "allow_renaming": false, "pose": null,
        "relative_to": null, "world": null,
    } });
    let lines = [
        json!({ "iteration": 3, "command": spawn }),
        json!({ "iteration": 6, "command": { "remove": { "model": "crate" } } }),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    let schedule = commands_file::read(&text).expect("a file of commands");
    for secondaries in [1, 2] {
        let mut settings = cluster::settings(secondaries, u64::MAX);
        settings.schedule = schedule.clone();
        settings.pace.run_ahead_max = 0;
        settings.peers.peer_timeout = Duration::MAX;
        settings.outputs.link_record_hz = Some(0.0);
        let mut run = Direct::new(&[worlds::row(2, 1)], settings);
        let mut there = Vec::new();
        while there.len() < 8 {
            let report = run.advance();
            if !report.paused {
                let mut models = run.primary().topology().performers.iter();
                let has_crate = models.any(|model| model.name == "crate");
                there.push((report.iteration.0, has_crate));
            }
        }
        let expected: Vec<_> = (1..=8).map(|at| (at, (4..=6).contains(&at))).collect();
        assert_eq!(there, expected, "{secondaries} secondaries");
    }
}
