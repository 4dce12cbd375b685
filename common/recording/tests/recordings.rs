//! Shows that what is recorded comes back, also from a file that was cut or altered anywhere. A
//! small run is written to memory, changed there, and read.

use std::io::Cursor;

use messages::{Double, encode};
use protocol::peer::Build;
use protocol::primary_to_observers::{Event, Severity};
use protocol::report::{EventCounts, Layout, PerformerReport};
use protocol::{Digest, Iteration, ModelId, Publisher, SessionId, SimTime, TopicMessage};
use recording::content::IterationDigest;
use recording::{
    Channel, Clock, FORMAT, Frame, LibraryFile, LibraryKey, LoadWord, Moment, ReadError, Recording,
    RecordingWriter, RunDescription, SightWord, WorldContent,
};

const ITERATIONS: u64 = 50;
const MILLISECOND_NS: u64 = 1_000_000;

fn description() -> RunDescription {
    RunDescription {
        format: FORMAT,
        worlds: vec!["w".to_owned()],
        world_digest: Digest::of_bytes(b"worlds"),
        session: SessionId(7),
        build: Build {
            version: "1".to_owned(),
            target: "here".to_owned(),
            sources: Digest(3),
        },
        started_unix_ms: 0,
        seed: u64::MAX,
        step_size_ns: MILLISECOND_NS,
        levels_load: LoadWord::Buffer,
        sight: SightWord::Range,
        interaction_margin_m: 0.02,
        minimum_stay_iterations: 50,
        secondaries: 0,
        record_rate_hz: 0.0,
        has_states: false,
        spec: serde_json::Value::Null,
    }
}

fn performer(iteration: u64) -> PerformerReport {
    PerformerReport {
        name: "rover".to_owned(),
        owner: None,
        level: if iteration < 20 { "default" } else { "east" }.to_owned(),
        levels: Vec::new(),
        position: [iteration as f64 / 3.0, 0.1, -0.0],
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
        linear_velocity: [0.5, 0.0, 0.0],
        angular_velocity: [0.0; 3],
        hand_offs: 0,
        group: None,
    }
}

fn at(iteration: u64) -> Moment {
    Moment {
        sim_time: SimTime(iteration * MILLISECOND_NS),
        wall_ns: 1_700_000_000_000_000_000 + iteration,
    }
}

fn message(iteration: u64) -> TopicMessage {
    let data = Double {
        data: iteration as f64,
        ..Double::default()
    };
    TopicMessage {
        topic: "/height".to_owned(),
        kind: "gz.msgs.Double".to_owned(),
        publisher: Publisher::Model {
            model: ModelId { world: 0, model: 1 },
            part: 2,
        },
        iteration: Iteration(iteration),
        sim_time: at(iteration).sim_time,
        body: encode(&data),
    }
}

/// Writes a run in chunks of ten iterations; the last one is not flushed.
fn writer() -> RecordingWriter<Cursor<Vec<u8>>> {
    let sink = Cursor::new(Vec::new());
    let mut writer =
        RecordingWriter::new(sink, &description(), b"worlds").expect("memory takes everything");
    let world = WorldContent {
        layout: Layout::default(),
        topics: Vec::new(),
    };
    writer
        .world(&world, at(0))
        .expect("memory takes everything");
    let event = Event {
        iteration: Iteration(0),
        severity: Severity::Info,
        kind: "run".to_owned(),
        text: "it begins".to_owned(),
    };
    writer
        .event(&event, at(0))
        .expect("memory takes everything");
    for iteration in 1..=ITERATIONS {
        let (number, at) = (Iteration(iteration), at(iteration));
        let digest = IterationDigest {
            iteration: number,
            digest: Digest(iteration.into()),
        };
        writer.digest(digest, at).expect("memory takes everything");
        let clock = Clock {
            iteration: number,
            sim_time_ns: at.sim_time,
            paused: false,
            events: EventCounts::default(),
        };
        writer
            .frame(clock, &[performer(iteration)], None, at)
            .expect("memory takes everything");
        writer
            .message(&message(iteration), at.wall_ns)
            .expect("memory takes everything");
        if iteration % 10 == 0 && iteration < ITERATIONS {
            writer.flush().expect("memory takes everything");
        }
        if iteration == 25 {
            writer
                .command("{\"iteration\":25}", at)
                .expect("memory takes everything");
        }
    }
    writer
}

fn complete() -> Vec<u8> {
    writer()
        .finish()
        .expect("memory takes everything")
        .into_inner()
}

fn open(bytes: &[u8]) -> Result<Recording<Cursor<&[u8]>>, ReadError> {
    Recording::open(Cursor::new(bytes))
}

/// Reads everything that is read of a recording anywhere.
fn read_all(bytes: &[u8]) -> Result<Vec<Digest>, ReadError> {
    let mut recording = open(bytes)?;
    recording.worlds()?;
    recording.library()?;
    recording.commands()?;
    for channel in Channel::ALL {
        recording.each(channel, &mut |_| true)?;
    }
    recording.digests()
}

#[test]
fn recorded_messages_are_read_back() {
    let bytes = complete();
    let mut recording = open(&bytes).unwrap();
    assert!(recording.has_index() && recording.break_off().is_none());
    assert_eq!(*recording.description(), description());
    assert_eq!(recording.worlds().unwrap(), b"worlds");
    assert_eq!(recording.commands().unwrap(), "{\"iteration\":25}\n");
    let digests: Vec<_> = (1..=ITERATIONS)
        .map(|number| Digest(number.into()))
        .collect();
    assert_eq!(recording.digests().unwrap(), digests);
    let mut frames: Vec<Frame> = Vec::new();
    let mut take = |message: recording::Message| {
        frames.push(serde_json::from_slice(&message.data).unwrap());
        true
    };
    recording.each(Channel::Poses, &mut take).unwrap();
    assert_eq!(frames.len() as u64, ITERATIONS);
    let placed = &frames[29].transforms[0];
    assert_eq!(frames[29].iteration, Iteration(30));
    assert_eq!(<[f64; 3]>::from(placed.translation), performer(30).position);
}

#[test]
fn topics_have_channels_of_their_own_with_schemas() {
    let bytes = complete();
    let recording = open(&bytes).unwrap();
    let mut channels = recording.channels().values();
    let height = channels.find(|channel| channel.topic == "/height").unwrap();
    assert_eq!(height.schema, "gz.msgs.Double");
    assert_eq!(
        (height.encoding.as_str(), height.count),
        ("json", ITERATIONS)
    );
    assert_eq!(height.publisher, "model:0:1:2");
    assert_eq!(height.own(), None);
}

#[test]
fn hosts_of_cells_are_recorded_on_change_and_in_every_chunk() {
    let bytes = complete();
    let mut recording = open(&bytes).unwrap();
    let id = recording.channel(Channel::Affinity).unwrap();
    let poses = recording.channel(Channel::Poses).unwrap();
    let with_frames = recording.chunks().iter().filter(|chunk| chunk.has(poses));
    assert!(with_frames.clone().all(|chunk| chunk.has(id)));
    assert_eq!(with_frames.count(), 5);
    let mut count = 0;
    let mut each = |_| {
        count += 1;
        true
    };
    recording.each(Channel::Affinity, &mut each).unwrap();
    assert_eq!(count, 6, "each chunk, and once within one");
}

#[test]
fn a_recording_without_its_end_is_read_as_far_as_it_was_flushed() {
    let bytes = complete();
    let whole = open(&bytes).unwrap().chunks().to_vec();
    let last = whole.last().unwrap();
    let mut count = 0;
    for length in (0..bytes.len()).step_by(37) {
        match read_all(&bytes[..length]) {
            Ok(digests) => {
                assert!(
                    digests.len() >= count,
                    "more of the file has more of the run"
                );
                count = digests.len();
                let recording = open(&bytes[..length]).unwrap();
                assert!(!recording.has_index());
            }
            Err(ReadError::NotMcap | ReadError::NotOurs(_)) => assert_eq!(count, 0),
            Err(error) => panic!("{length}: {error}"),
        }
    }
    assert_eq!(count as u64, ITERATIONS, "{last:?}");
}

#[test]
fn altered_bytes_are_an_error_or_harmless_and_never_more() {
    let bytes = complete();
    let whole = read_all(&bytes).unwrap();
    for place in (0..bytes.len()).step_by(11) {
        for value in [0, 0xff, bytes[place] ^ 0x10] {
            let mut altered = bytes.clone();
            altered[place] = value;
            if let Ok(digests) = read_all(&altered) {
                let are_of_the_run = digests.iter().all(|one| whole.contains(one));
                assert!(are_of_the_run, "byte {place} as {value}");
            }
        }
    }
}

#[test]
fn lengths_that_no_file_has_are_told() {
    let mut bytes = complete();
    bytes[9..17].copy_from_slice(&u64::MAX.to_le_bytes());
    let recording = open(&bytes).unwrap();
    assert!(recording.has_index(), "the index is still there");
    bytes.truncate(bytes.len() - 8);
    let error = open(&bytes).unwrap_err();
    assert!(matches!(error, ReadError::NotOurs(_)), "{error}");
}

#[test]
fn files_of_others_are_refused_with_a_reason() {
    for (bytes, expected) in [
        (&b""[..], "it is no MCAP file"),
        (b"<sdf version='1.9'/>", "it is no MCAP file"),
        (mcap::MAGIC, "no recording of Phalanx"),
    ] {
        let error = open(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_file_of_a_later_version_is_refused() {
    let later = RunDescription {
        format: FORMAT + 1,
        ..description()
    };
    let writer = RecordingWriter::new(Cursor::new(Vec::new()), &later, b"").unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let error = open(&bytes).unwrap_err();
    assert!(matches!(error, ReadError::Format(_)), "{error}");
}

#[test]
fn digests_that_do_not_follow_each_other_are_told() {
    let mut writer = writer();
    let digest = IterationDigest {
        iteration: Iteration(ITERATIONS + 2),
        digest: Digest(0),
    };
    writer.digest(digest, at(ITERATIONS + 2)).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let error = read_all(&bytes).unwrap_err().to_string();
    assert!(error.contains("iteration 52 follows that of 50"), "{error}");
}

#[test]
fn files_of_spawned_models_come_back() {
    let file = LibraryFile {
        key: LibraryKey {
            uri: "model://\"cup\"".to_owned(),
            from_file: "spawned".to_owned(),
            is_data: true,
        },
        file: "/models/cup".to_owned(),
        bytes: vec![1, 2, 3],
        is_of_world: false,
    };
    let mut writer = writer();
    writer.library(&file, at(ITERATIONS)).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let mut recording = open(&bytes).unwrap();
    let found = recording.library().unwrap();
    assert_eq!(found, std::slice::from_ref(&file));
    let index = recording.library_index();
    let LibraryKey { uri, from_file, .. } = &file.key;
    let found = index.read_data(&mut recording, uri, from_file).unwrap();
    assert_eq!((found.file, found.bytes), (file.file, file.bytes));
    let other = index.read_data(&mut recording, uri, "another");
    assert!(other.is_err());
}
