//! A small recording, played: ten frames in two chunks, 100 ms apart, with an event in each chunk.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::Duration;

use client::feed::Feed;
use client::recorded::ReplayRequest;
use protocol::link_offsets::LinkOffsets;
use protocol::peer::Build;
use protocol::primary_to_observers::{Event, Severity};
use protocol::report::{EventCounts, Layout, PerformerReport, RunState, Snapshot};
use protocol::{Digest, Iteration, ModelId, Publisher, SessionId, SimTime, TopicMessage};
use recording::content::IterationDigest;
use recording::{
    Channel, Clock, FORMAT, LibraryFile, LibraryIndex, LibraryKey, LoadWord, ModelChange,
    ModelChanges, Moment, Recording, RecordingWriter, RunDescription, SightWord, WorldContent,
};
use scene::ChangingScene;
use sdf::NoFiles;

use super::{Player, RecordedScene};

const FRAMES: u64 = 10;
const PERIOD_NS: u64 = 100_000_000;

type TestPlayer = Player<Cursor<Vec<u8>>>;

/// Returns the scene of worlds that name no files.
fn start_of(worlds: &[sdf::World]) -> ChangingScene {
    ChangingScene::of_worlds(worlds, &NoFiles)
}

fn description() -> RunDescription {
    RunDescription {
        format: FORMAT,
        worlds: vec!["yard".to_owned()],
        world_digest: Digest(0),
        session: SessionId(1),
        build: Build {
            version: "1".to_owned(),
            target: "here".to_owned(),
            sources: Digest(0),
        },
        started_unix_ms: 0,
        seed: 0,
        step_size_ns: PERIOD_NS,
        levels_load: LoadWord::Buffer,
        sight: SightWord::Buffer,
        interaction_margin_m: 0.0,
        minimum_stay_iterations: 0,
        secondaries: 0,
        record_rate_hz: 0.0,
        has_states: false,
        spec: serde_json::Value::Null,
    }
}

fn rover(x: f64) -> PerformerReport {
    PerformerReport {
        name: "rover".to_owned(),
        owner: "s1".parse().ok(),
        level: "east".to_owned(),
        levels: Vec::new(),
        position: [x, 0.0, 0.0],
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
        linear_velocity: [1.0, 0.0, 0.0],
        angular_velocity: [0.0; 3],
        hand_offs: 3,
        group: None,
    }
}

/// Returns a recording whose frames have these simulated times, in periods.
fn recorded(times: &[u64]) -> Vec<u8> {
    let sink = Cursor::new(Vec::new());
    let mut writer = RecordingWriter::new(sink, &description(), b"").unwrap();
    let world = WorldContent {
        layout: Layout::default(),
        topics: Vec::new(),
    };
    writer.world(&world, Moment::default()).unwrap();
    for (time, number) in times.iter().zip(0..) {
        let at = Moment {
            sim_time: SimTime(time * PERIOD_NS),
            wall_ns: number,
        };
        let iteration = Iteration(number);
        if number % 5 == 4 {
            let event = Event {
                iteration,
                severity: Severity::Info,
                kind: "level".to_owned(),
                text: format!("event {number}"),
            };
            writer.event(&event, at).unwrap();
        }
        let digest = Digest(u128::from(number) + 100);
        writer
            .digest(IterationDigest { iteration, digest }, at)
            .unwrap();
        let clock = Clock {
            iteration,
            sim_time_ns: at.sim_time,
            paused: false,
            events: EventCounts::default(),
        };
        writer
            .frame(clock, &[rover(number as f64)], None, at)
            .unwrap();
        let said = TopicMessage {
            topic: "/t".to_owned(),
            kind: "gz.msgs.Double".to_owned(),
            publisher: Publisher::Client,
            iteration,
            sim_time: at.sim_time,
            body: messages::encode(&messages::Double {
                data: number as f64,
                ..Default::default()
            }),
        };
        writer.message(&said, at.wall_ns).unwrap();
        if number % 5 == 4 {
            writer.flush().unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn player_of(times: &[u64]) -> TestPlayer {
    let recording = Recording::open(Cursor::new(recorded(times))).unwrap();
    Player::new(recording).unwrap()
}

fn player() -> TestPlayer {
    player_of(&(0..FRAMES).collect::<Vec<_>>())
}

fn snapshot(feeds: Vec<Feed>) -> Snapshot {
    let found = feeds.into_iter().find_map(|feed| match feed {
        Feed::Snapshot(snapshot) => Some(*snapshot),
        _ => None,
    });
    found.expect("every feed has a snapshot")
}

/// Returns the events that the view is told of, if it is told.
fn events(feeds: &[Feed]) -> Option<Vec<u64>> {
    feeds.iter().find_map(|feed| match feed {
        Feed::History(history) => Some(
            history
                .events
                .iter()
                .map(|event| event.iteration.0)
                .collect(),
        ),
        _ => None,
    })
}

/// Returns the number of the frame that is shown.
fn shown(player: &mut TestPlayer) -> u64 {
    snapshot(player.feed().unwrap()).stats.iteration
}

/// Does something and says which frame is shown then.
fn act(player: &mut TestPlayer, request: ReplayRequest) -> u64 {
    player.act(request).unwrap();
    shown(player)
}

#[test]
fn a_frame_has_what_was_recorded_of_its_iteration() {
    let mut player = player();
    player.act(ReplayRequest::Step(3)).unwrap();
    let snapshot = snapshot(player.feed().unwrap());
    assert_eq!(snapshot.performers, [rover(3.0)]);
    let stats = snapshot.stats;
    assert_eq!(
        (stats.world.as_str(), stats.state),
        ("yard", RunState::Paused)
    );
    assert_eq!((stats.digest, stats.sim_time_s), (Digest(103), 0.3));
}

#[test]
fn steps_go_on_and_back_over_chunks_and_stop_at_the_ends() {
    let mut player = player();
    for (request, expected) in [
        (ReplayRequest::Step(4), 4),
        (ReplayRequest::Step(1), 5),
        (ReplayRequest::Step(-1), 4),
        (ReplayRequest::Step(-100), 0),
        (ReplayRequest::Step(100), 9),
        (ReplayRequest::Start, 0),
        (ReplayRequest::End, 9),
    ] {
        assert_eq!(act(&mut player, request), expected, "{request:?}");
    }
}

#[test]
fn seeking_finds_the_last_frame_that_is_not_later() {
    let mut player = player();
    for (time_s, expected) in [
        (0.55, 5),
        (0.3, 3),
        (0.45, 4),
        (9.0, 9),
        (-1.0, 0),
        (0.5, 5),
    ] {
        assert_eq!(
            act(&mut player, ReplayRequest::Seek(time_s)),
            expected,
            "{time_s}"
        );
    }
    act(&mut player, ReplayRequest::Start);
    let half = act(&mut player, ReplayRequest::SeekBy(0.5));
    assert_eq!((half, player.position().share), (4, 4.0 / 9.0));
}

#[test]
fn playing_takes_its_time_and_ends_at_the_end() {
    let mut player = player();
    player.act(ReplayRequest::Speed(2.0)).unwrap();
    player.act(ReplayRequest::Play).unwrap();
    for (elapsed_ms, expected) in [(40, 0), (20, 1), (100, 3), (5_000, 9)] {
        player.advance(Duration::from_millis(elapsed_ms)).unwrap();
        assert_eq!(shown(&mut player), expected);
    }
    assert!(!player.is_playing());
    player.act(ReplayRequest::Play).unwrap();
    assert!(
        player.is_playing() && shown(&mut player) == 0,
        "it begins anew"
    );
}

#[test]
fn it_is_played_until_a_time_that_is_named() {
    let mut player = player();
    player.act(ReplayRequest::RunTo(0.7)).unwrap();
    player.advance(Duration::from_mins(1)).unwrap();
    assert_eq!((shown(&mut player), player.is_playing()), (7, false));
}

#[test]
fn the_past_is_that_of_the_place() {
    let mut player = player();
    while player.has_more() {
        player.look_further().unwrap();
    }
    assert_eq!(events(&player.feed().unwrap()), Some(Vec::new()));
    player.act(ReplayRequest::End).unwrap();
    assert_eq!(events(&player.feed().unwrap()), Some(vec![4, 9]));
    assert_eq!(events(&player.feed().unwrap()), None, "nothing is new");
    player.act(ReplayRequest::Seek(0.5)).unwrap();
    let feeds = player.feed().unwrap();
    assert_eq!(feeds.first(), Some(&Feed::Rewound));
    assert_eq!(events(&feeds), Some(vec![4]));
}

#[test]
fn time_that_was_set_back_is_played_as_it_was() {
    let mut player = player_of(&[0, 1, 2, 0, 1, 2, 3]);
    player.act(ReplayRequest::Play).unwrap();
    player.advance(Duration::from_millis(250)).unwrap();
    assert_eq!(shown(&mut player), 3);
    player.advance(Duration::from_secs(9)).unwrap();
    assert_eq!(shown(&mut player), 6);
}

#[test]
fn a_recording_without_frames_is_refused() {
    let recording = Recording::open(Cursor::new(recorded(&[]))).unwrap();
    let error = Player::new(recording).unwrap_err().to_string();
    assert!(error.contains("no frame"), "{error}");
}

/// Returns the numbers that were said on the topic since they were taken last.
fn said(player: &mut TestPlayer) -> Vec<u64> {
    let said = player.take_said().into_iter();
    said.map(|one| {
        assert_eq!((&*one.topic, &*one.kind), ("/t", "gz.msgs.Double"));
        let json: serde_json::Value = serde_json::from_slice(&one.json).unwrap();
        json["data"].as_f64().unwrap() as u64
    })
    .collect()
}

#[test]
fn each_message_is_said_once_while_it_plays_and_none_while_it_stands() {
    let mut player = player();
    player.keep_said().unwrap();
    player.act(ReplayRequest::Play).unwrap();
    let mut all = Vec::new();
    for _ in 0..7 {
        player.advance(Duration::from_millis(70)).unwrap();
        all.extend(said(&mut player));
    }
    // Messages stand behind the frame of their iteration.
    assert_eq!(all, [0, 1, 2, 3]);
    player.act(ReplayRequest::Pause).unwrap();
    player.advance(Duration::from_secs(9)).unwrap();
    assert_eq!(said(&mut player), [0; 0]);
    player.act(ReplayRequest::Speed(2.0)).unwrap();
    player.act(ReplayRequest::Play).unwrap();
    player.advance(Duration::from_millis(100)).unwrap();
    assert_eq!(said(&mut player), [4, 5]);
    player.advance(Duration::from_secs(9)).unwrap();
    assert_eq!(said(&mut player), [6, 7, 8, 9], "the end is said, too");
    player.act(ReplayRequest::Seek(0.5)).unwrap();
    assert_eq!(said(&mut player), [0; 0], "what is jumped over is not");
    player.act(ReplayRequest::Play).unwrap();
    player.advance(Duration::from_secs(9)).unwrap();
    assert_eq!(said(&mut player), [5, 6, 7, 8, 9]);
}

/// Returns a recording of frames with such times, in periods, with messages in chunks of their own,
/// as large ones are: of each second frame, and one of the fourth.
fn recorded_apart(times: [u64; 6]) -> Vec<u8> {
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), &description(), b"").unwrap();
    for (time, number) in times.into_iter().zip(0..) {
        let at = Moment {
            sim_time: SimTime(time * PERIOD_NS),
            wall_ns: number,
        };
        let clock = Clock {
            iteration: Iteration(number),
            sim_time_ns: at.sim_time,
            paused: false,
            events: EventCounts::default(),
        };
        writer.frame(clock, &[rover(0.0)], None, at).unwrap();
        let topic = match number {
            3 => "/once",
            0 | 2 | 4 => "/even",
            _ => continue,
        };
        writer.flush().unwrap();
        let said = TopicMessage {
            topic: topic.to_owned(),
            kind: "gz.msgs.Double".to_owned(),
            publisher: Publisher::Client,
            iteration: Iteration(number),
            sim_time: at.sim_time,
            body: messages::encode(&messages::Double::default()),
        };
        writer.message(&said, at.wall_ns).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns the topics on which something was said, each with its frame, since that was taken last.
fn said_apart(player: &mut TestPlayer) -> String {
    let said = player.take_said().into_iter();
    let said = said.map(|one| format!("{} {}", one.topic, one.sim_time.0 / PERIOD_NS));
    said.collect::<Vec<_>>().join(", ")
}

#[test]
fn what_is_looked_at_is_said_with_its_frame_and_after_a_jump_the_last_of_it() {
    let whole = recorded_apart([0, 1, 2, 3, 4, 5]);
    // Without its end it has no index.
    let cut = whole[..whole.len() - 1].to_vec();
    for bytes in [whole, cut] {
        let mut player = Player::new(Recording::open(Cursor::new(bytes)).unwrap()).unwrap();
        let topics = ["/even", "/once", "/none"].map(str::to_owned);
        player.listen_to(&topics.clone().into()).unwrap();
        assert_eq!(said_apart(&mut player), "/even 0");
        let mut steps = Vec::new();
        for _ in 0..5 {
            player.act(ReplayRequest::Step(1)).unwrap();
            steps.push(said_apart(&mut player));
        }
        assert_eq!(steps, ["", "/even 2", "/once 3", "/even 4", ""]);
        for (request, expected) in [
            (ReplayRequest::Seek(0.25), "/even 2"),
            (ReplayRequest::Seek(0.5), "/once 3, /even 4"),
            (ReplayRequest::Step(-2), "/even 2, /once 3"),
            (ReplayRequest::Start, "/even 0"),
            (ReplayRequest::Step(5), "/even 2, /once 3, /even 4"),
            (ReplayRequest::End, "/once 3, /even 4"),
        ] {
            player.act(request).unwrap();
            assert_eq!(said_apart(&mut player), expected, "{request:?}");
        }
        player.act(ReplayRequest::Play).unwrap();
        player.advance(Duration::from_secs(9)).unwrap();
        assert_eq!(
            said_apart(&mut player),
            "/even 0, /even 2, /once 3, /even 4"
        );
        // Whoever listens later hears what was said last.
        player.listen_to(&["/once".to_owned()].into()).unwrap();
        assert_eq!(said_apart(&mut player), "/once 3");
    }
}

#[test]
fn the_view_hears_what_stands_in_other_chunks() {
    let recording = Recording::open(Cursor::new(recorded_apart([0, 1, 2, 3, 4, 5])));
    let mut player = Player::new(recording.unwrap()).unwrap();
    let heard = |player: &mut TestPlayer| {
        let feeds = player.feed().unwrap().into_iter();
        let mut heard = feeds.filter_map(|feed| match feed {
            Feed::Message(heard) => Some((heard.sim_time_s, heard.count)),
            _ => None,
        });
        heard.next()
    };
    player.act(ReplayRequest::Seek(0.3)).unwrap();
    player.listen(Some("/even")).unwrap();
    assert_eq!(heard(&mut player), Some((0.2, 1)));
    assert_eq!(heard(&mut player), None, "it is no news");
    player.act(ReplayRequest::Step(2)).unwrap();
    assert_eq!(heard(&mut player), Some((0.4, 1)));
    player.act(ReplayRequest::Start).unwrap();
    assert_eq!(heard(&mut player), Some((0.0, 1)));
}

#[test]
fn what_was_said_before_time_was_set_back_is_not_of_the_time_after() {
    let recording = Recording::open(Cursor::new(recorded_apart([0, 1, 2, 3, 0, 1])));
    let mut player = Player::new(recording.unwrap()).unwrap();
    let topics = ["/even", "/once"].map(str::to_owned);
    player.listen_to(&topics.into()).unwrap();
    player.act(ReplayRequest::Seek(0.3)).unwrap();
    assert_eq!(said_apart(&mut player), "/even 2, /once 3");
    player.act(ReplayRequest::End).unwrap();
    assert_eq!(said_apart(&mut player), "/even 0");
}

/// Returns a recording of five frames, a flush between the third and the fourth, whose wheel is at
/// the height of the frame's number, told a little late, and stands still after so many frames.
fn recorded_wheel(moving: u64) -> Vec<u8> {
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), &description(), b"").unwrap();
    for number in 0..5 {
        let at = Moment {
            sim_time: SimTime(number * PERIOD_NS),
            wall_ns: number,
        };
        let clock = Clock {
            iteration: Iteration(number),
            sim_time_ns: at.sim_time,
            paused: false,
            events: EventCounts::default(),
        };
        writer.frame(clock, &[rover(0.0)], None, at).unwrap();
        if number == 2 {
            writer.flush().unwrap();
        }
        if number >= moving {
            continue;
        }
        let links = LinkOffsets {
            performer: "rover".to_owned(),
            links: vec![(
                "wheel".to_owned(),
                [0.0, 0.0, number as f64, 0.0, 0.0, 0.0, 1.0],
            )],
        };
        writer.links(std::iter::once(links), at).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn links_are_where_they_were_last_also_across_chunks_and_after_jumps() {
    let recording = Recording::open(Cursor::new(recorded_wheel(4))).unwrap();
    let mut player = Player::new(recording).unwrap();
    let height = |player: &mut TestPlayer| {
        let offsets = player.link_offsets().unwrap();
        offsets.map(|offsets| offsets["rover::wheel"][2])
    };
    assert_eq!(height(&mut player), Some(0.0));
    assert_eq!(height(&mut player), None, "nothing has changed");
    let mut heights = Vec::new();
    for _ in 0..4 {
        player.act(ReplayRequest::Step(1)).unwrap();
        heights.push(height(&mut player));
    }
    // What was said of the last frame of a chunk stands in the next one.
    assert_eq!(heights, [Some(1.0), None, Some(3.0), None]);
    player.act(ReplayRequest::Seek(0.1)).unwrap();
    assert_eq!(height(&mut player), Some(1.0));
    player.act(ReplayRequest::End).unwrap();
    assert_eq!(height(&mut player), Some(3.0));
}

#[test]
fn seeking_is_not_misled_by_a_chunk_that_begins_with_what_is_older_than_its_frames() {
    let whole = recorded_wheel(1);
    // Without its end it has no index.
    let cut = whole[..whole.len() - 1].to_vec();
    for bytes in [whole, cut] {
        let mut recording = Recording::open(Cursor::new(bytes)).unwrap();
        let last = recording.chunks().len() - 1;
        // The wheel that stands still is told again.
        assert_eq!(recording.chunks()[last].start, SimTime(0));
        let poses = recording.channel(Channel::Poses).unwrap();
        let first = recording.first_time(last, poses).unwrap();
        assert_eq!(first, Some(SimTime(3 * PERIOD_NS)));
        let mut player = Player::new(recording).unwrap();
        for (time_s, expected) in [(0.1, 1), (0.45, 4), (0.25, 2), (0.3, 3), (0.0, 0)] {
            let found = act(&mut player, ReplayRequest::Seek(time_s));
            assert_eq!(found, expected, "{time_s}");
        }
        player.act(ReplayRequest::Seek(0.2)).unwrap();
        player.act(ReplayRequest::Play).unwrap();
        player.advance(Duration::from_millis(50)).unwrap();
        assert_eq!(shown(&mut player), 2, "the next chunk is not due yet");
    }
}

/// Returns a model that comes, with such visuals.
fn comes(name: &str, visuals: &str, model: u32) -> ModelChange {
    let link = format!("<link name='l'>{visuals}</link>");
    let text = format!("<sdf version='1.11'><model name='{name}'>{link}</model></sdf>");
    let parcel = sdf::read_model(&text, "m.sdf", &NoFiles).unwrap().parcel;
    ModelChange::Comes {
        model: ModelId { world: 0, model },
        parcel: parcel.encode(),
    }
}

/// Returns a player of a recording of one frame, before which models come, with files of theirs.
fn with_models(changes: Vec<ModelChange>, files: &[LibraryFile]) -> TestPlayer {
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), &description(), b"").unwrap();
    let at = Moment::default();
    for file in files {
        writer.library(file, at).unwrap();
    }
    let told = ModelChanges {
        anew: false,
        changes,
    };
    writer.models(&told, at).unwrap();
    writer.frame(Clock::default(), &[], None, at).unwrap();
    let bytes = writer.finish().unwrap();
    Player::new(Recording::open(bytes).unwrap()).unwrap()
}

/// Returns a recording of six frames, in two chunks, in which `a` and then `b` come at the second
/// and fourth frame, and all is set back at the fifth, when `c` comes in place of another.
fn recorded_models() -> Vec<u8> {
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), &description(), b"").unwrap();
    let comes = |name: &str, model| comes(name, "", model);
    for (number, time) in [0, 1, 2, 3, 0, 1].into_iter().enumerate() {
        let at = Moment {
            sim_time: SimTime(time * PERIOD_NS),
            wall_ns: 0,
        };
        let (anew, changes) = match number {
            1 => (false, vec![comes("a", 1)]),
            3 => {
                let model = ModelId { world: 0, model: 0 };
                (false, vec![ModelChange::Leaves { model }, comes("b", 2)])
            }
            4 => (true, vec![comes("lost", 1), comes("c", 1)]),
            _ => (false, Vec::new()),
        };
        let changes = ModelChanges { anew, changes };
        if !changes.is_empty() {
            writer.models(&changes, at).unwrap();
        }
        let clock = Clock {
            iteration: Iteration(number as u64),
            sim_time_ns: at.sim_time,
            paused: false,
            events: EventCounts::default(),
        };
        writer.frame(clock, &[], None, at).unwrap();
        if number == 2 {
            writer.flush().unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_scene_has_the_models_of_its_place_whichever_way_it_is_reached() {
    let text = "<sdf version='1.11'><world name='w'><model name='m'><link name='l'/></model>\
                </world></sdf>";
    let worlds = sdf::read_worlds(text, "w.sdf", &NoFiles).unwrap().worlds;
    let recording = Recording::open(Cursor::new(recorded_models())).unwrap();
    let mut player = Player::new(recording).unwrap();
    let mut scene = RecordedScene::of(start_of(&worlds), LibraryIndex::default(), &description());
    let mut names = |player: &mut TestPlayer| {
        let is_other = scene.go_to(player).unwrap();
        let models = &scene.scene().scene().worlds[0].models;
        let names: Vec<&str> = models.iter().map(|model| &*model.name).collect();
        (is_other, names.join(" "))
    };
    let expected = [
        (1, (true, "m a")),
        (1, (false, "m a")),
        (1, (true, "a b")),
        (1, (true, "m c")),
        (1, (false, "m c")),
        (-2, (true, "a b")),
        (-3, (true, "m")),
        (5, (true, "m c")),
        (-4, (true, "m a")),
    ];
    assert_eq!(names(&mut player), (false, "m".to_owned()));
    for (count, (is_other, found)) in expected {
        player.act(ReplayRequest::Step(count)).unwrap();
        assert_eq!(names(&mut player), (is_other, found.to_owned()), "{count}");
    }
}

#[test]
fn time_that_was_set_back_is_sought_in_the_last_part_that_has_it() {
    let bytes = recorded_models();
    let mut player = Player::new(Recording::open(Cursor::new(bytes)).unwrap()).unwrap();
    for (time_s, expected) in [(0.3, 3), (0.2, 2), (0.1, 5), (0.05, 4), (0.0, 4)] {
        let found = act(&mut player, ReplayRequest::Seek(time_s));
        assert_eq!(found, expected, "{time_s}");
    }
}

#[test]
fn a_model_that_came_has_no_files_but_from_beside_the_worlds() {
    let [own, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let image = mesh::Image {
        width: 1,
        height: 1,
        pixels: vec![[255; 4]],
    };
    let place = own.path().join("plan.png");
    for folder in [&own, &other] {
        std::fs::write(folder.path().join("plan.png"), image.to_png()).unwrap();
    }
    let mut run = description();
    let world = own.path().join("w.sdf");
    run.spec = serde_json::json!({ "run": { "world": world } });
    let absolute = other.path().join("plan.png");
    let escaped = format!(
        "../{}",
        absolute.strip_prefix("/tmp").unwrap_or(&absolute).display()
    );
    for (uri, count) in [
        ("plan.png", 1),
        (&*place.to_string_lossy(), 0),
        (&*absolute.to_string_lossy(), 0),
        (&*format!("file://{}", absolute.display()), 0),
        (&*escaped, 0),
    ] {
        let map = format!("<albedo_map>{uri}</albedo_map>");
        let visual = format!(
            "<visual name='v'><geometry><box/></geometry><material><pbr><metal>{map}</metal>\
             </pbr></material></visual>"
        );
        let mut player = with_models(vec![comes("a", &visual, 0)], &[]);
        let no_files = LibraryIndex::default();
        let mut scene = RecordedScene::of(start_of(&[sdf::World::default()]), no_files, &run);
        assert!(scene.go_to(&mut player).unwrap());
        assert_eq!(scene.scene().assets().ids().count(), count, "{uri}");
    }
}

#[test]
fn a_model_that_came_has_the_files_of_the_recording_alone() {
    let file = |uri: &str, from: &str, name: &str, bytes: &[u8]| LibraryFile {
        key: LibraryKey::new(uri, from, true),
        file: name.to_owned(),
        bytes: bytes.to_vec(),
        is_of_world: false,
    };
    let lid = "mtllib lid.mtl\no lid\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl green\nf 1 2 3\n";
    let image = mesh::Image {
        width: 1,
        height: 1,
        pixels: vec![[7; 4]],
    };
    let gone = "/nowhere/lid.obj";
    let files = [
        file("lid.obj", "m.sdf", gone, lid.as_bytes()),
        file(
            "lid.mtl",
            gone,
            "/nowhere/lid.mtl",
            b"newmtl green\nKd 0 1 0\n",
        ),
        file("plan.png", "m.sdf", "/nowhere/plan.png", &image.to_png()),
    ];
    let visual = |name: &str, uri: &str, part: &str| {
        format!(
            "<visual name='{name}'><geometry><mesh><uri>{uri}</uri>{part}</mesh></geometry>\
             <material><pbr><metal><albedo_map>plan.png</albedo_map></metal></pbr></material>\
             </visual>"
        )
    };
    let part = "<submesh><name>lid</name></submesh>";
    let visuals = visual("whole", "lid.obj", "") + &visual("part", "lid.obj", part);
    let mut player = with_models(vec![comes("a", &visuals, 0)], &files);
    let library = player.recording_mut().library_index();
    let mut scene = RecordedScene::of(start_of(&[sdf::World::default()]), library, &description());
    assert!(scene.go_to(&mut player).unwrap());
    let drawn = scene.scene();
    assert_eq!(drawn.scene().problems, Vec::<String>::new());
    for visual in &drawn.scene().worlds[0].models[0].links[0].visuals {
        let scene::Geometry::Mesh { asset, .. } = &visual.geometry else {
            panic!("{} is not drawn", visual.name);
        };
        let asset = drawn.assets().get(&asset.parse().unwrap()).unwrap();
        let mesh = mesh::read_visual_mesh(&asset.bytes, "a.glb", &|_| None).unwrap();
        assert_eq!(
            mesh.materials.len(),
            1,
            "its colours are those of the file beside it"
        );
    }
    assert_eq!(drawn.assets().ids().count(), 2, "the mesh, and the image");
}

#[test]
fn recordings_without_links_have_them_where_they_were_at_the_start() {
    let mut player = player();
    assert_eq!(player.link_offsets().unwrap().map(BTreeMap::len), Some(0));
    player.act(ReplayRequest::Step(1)).unwrap();
    assert_eq!(player.link_offsets().unwrap(), None);
}

#[test]
fn a_model_that_was_read_comes_back_without_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let image = mesh::Image {
        width: 1,
        height: 1,
        pixels: vec![[255; 4]],
    };
    let file = folder.path().join("plan.png");
    std::fs::write(&file, image.to_png()).unwrap();
    let mut run = description();
    run.spec = serde_json::json!({ "run": { "world": folder.path().join("w.sdf") } });
    let visuals = "<light name='lamp' type='point'/><visual name='v'><geometry><box/></geometry>\
        <material><pbr><metal><albedo_map>plan.png</albedo_map></metal></pbr></material></visual>";
    let leaves = ModelChange::Leaves {
        model: ModelId { world: 0, model: 0 },
    };
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), &description(), b"").unwrap();
    let changes = [
        None,
        Some((false, vec![comes("a", visuals, 0)])),
        Some((false, vec![leaves])),
        Some((false, vec![comes("b", "", 0)])),
        Some((true, Vec::new())),
    ];
    for (changes, number) in changes.into_iter().zip(0_u64..) {
        let at = Moment {
            sim_time: SimTime(number * 1_000_000),
            wall_ns: 0,
        };
        if let Some((anew, changes)) = changes {
            writer.models(&ModelChanges { anew, changes }, at).unwrap();
        }
        let clock = Clock {
            iteration: Iteration(number),
            ..Clock::default()
        };
        writer.frame(clock, &[], None, at).unwrap();
    }
    let recording = Recording::open(writer.finish().unwrap()).unwrap();
    let mut player = Player::new(recording).unwrap();
    let no_files = LibraryIndex::default();
    let mut scene = RecordedScene::of(start_of(&[sdf::World::default()]), no_files, &run);
    let mut step = |count: i64| {
        player.act(ReplayRequest::Step(count)).unwrap();
        scene.go_to(&mut player).unwrap();
        let drawn = scene.scene();
        assert_eq!(drawn.scene().problems, Vec::<String>::new());
        let world = &drawn.scene().worlds[0];
        let names: Vec<&str> = world.models.iter().map(|model| &*model.name).collect();
        let links = world.models.iter().flat_map(|model| &model.links);
        let links: Vec<u32> = links.map(|link| link.id).collect();
        let lit = world.lights.iter().filter_map(|light| light.link);
        assert!(lit.clone().all(|link| links.contains(&link)), "{links:?}");
        (names.concat(), lit.count(), drawn.assets().ids().count())
    };
    assert_eq!(step(1), ("a".to_owned(), 1, 1));
    std::fs::remove_file(file).unwrap();
    // It leaves, another one takes its number, and all is set back; then it is back each time.
    assert_eq!(step(1), (String::new(), 0, 0));
    assert_eq!(step(-1), ("a".to_owned(), 1, 1));
    assert_eq!(step(2), ("b".to_owned(), 0, 0));
    assert_eq!(step(-2), ("a".to_owned(), 1, 1));
    assert_eq!(step(3), (String::new(), 0, 0));
    assert_eq!(step(-3), ("a".to_owned(), 1, 1));
}
