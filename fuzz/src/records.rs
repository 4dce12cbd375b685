//! Data by wire or on disk between the processes of a run: messages, journals, commands.

use journal::checkpoint_file;
use journal::frame::{self, Kind};
use journal::segment::SegmentReader;
use journal::{Manifest, Record};
use lockstep::{
    CellSettings, Checkpoint, Primary, RecoverySettings, Replay, Rules, Settings, SightRule,
};
use protocol::peer::Build;
use protocol::primary_to_client::PrimaryToClient;
use protocol::primary_to_secondary::SceneSnapshot;
use protocol::{
    ClientToPrimary, DataBatch, Digest, Envelope, Iteration, PrimaryToObservers,
    PrimaryToSecondary, SecondaryToPrimary, Sequence, SessionId, decode, encode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads bytes as a message. What is accepted must come back as it was.
///
/// # Panics
/// Panics if the codec breaks one of its promises.
pub fn read_message(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    match first % 6 {
        0 => there_and_back::<PrimaryToSecondary>(bytes),
        1 => there_and_back::<SecondaryToPrimary>(bytes),
        2 => there_and_back::<ClientToPrimary>(bytes),
        3 => there_and_back::<PrimaryToClient>(bytes),
        4 => there_and_back::<PrimaryToObservers>(bytes),
        _ => there_and_back::<DataBatch>(bytes),
    }
}

fn there_and_back<B: Serialize + DeserializeOwned>(bytes: &[u8]) {
    if let Ok(message) = decode::<B>(bytes) {
        let once = encode(&message);
        let again: Envelope<B> = decode(&once).expect("what was encoded can be decoded");
        assert!(encode(&again) == once, "a message comes back as it was");
    }
}

/// Reads text as a file of commands. What is accepted must come back as it was.
///
/// # Panics
/// Panics if the reader breaks one of its promises.
pub fn read_commands(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(commands) = lockstep::commands_file::read(text) {
        let lines = commands.iter().map(lockstep::commands_file::line_of);
        let lines: Vec<String> = lines.collect();
        let again = lockstep::commands_file::read(&lines.join("\n"));
        let again = again.expect("what was written can be read");
        assert!(again == commands, "commands come back as they were");
    }
}

/// Reads bytes as a file of a journal: as it is, and with heads and checksums that are right.
pub fn read_journal(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let kind = match first % 4 {
        0 => Kind::Manifest,
        1 => Kind::Checkpoint,
        2 => Kind::Log,
        _ => return recall(bytes),
    };
    let file = if first & 0x80 == 0 {
        framed(kind, bytes)
    } else {
        bytes.to_vec()
    };
    let length = file.len() as u64;
    match kind {
        Kind::Manifest => {
            if let Ok(manifest) = Manifest::decode(&*file, length) {
                let _ = sdf::decode_worlds(&manifest.worlds);
            }
        }
        Kind::Checkpoint => {
            let _ = checkpoint_file::read_from(&*file, length);
        }
        Kind::Log => {
            if let Ok(mut segment) = SegmentReader::new(&*file, length) {
                while let Ok(Some(record)) = segment.record() {
                    let (Record::Commit(_) | Record::Command(_) | Record::Target(_)) = record;
                }
            }
        }
    }
}

/// Makes a file whose records are parts of the bytes: a length in two bytes, little-endian, then so
/// many.
fn framed(kind: Kind, mut bytes: &[u8]) -> Vec<u8> {
    let mut file = frame::head(kind).to_vec();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (record, rest) = rest.split_at(length);
        let offset = file.len() as u64;
        frame::push(&mut file, offset, record);
        bytes = rest;
    }
    file
}

const WORLD: &str = "<sdf version='1.9'><world name='w'>
    <model name='a'><link name='l'><collision name='c'><geometry><sphere><radius>1</radius></sphere>
    </geometry></collision></link></model>
    <model name='b'><pose>5 0 0 0 0 0</pose><link name='l'/></model>
    <plugin name='gz::sim' filename='dummy'><level name='near'><pose>0 0 0 0 0 0</pose>
    <geometry><box><size>9 9 9</size></box></geometry></level><level name='far'>
    <pose>9 0 0 0 0 0</pose><geometry><box><size>9 9 9</size></box></geometry></level></plugin>
    </world></sdf>";

fn worlds() -> Vec<sdf::World> {
    let read = sdf::read_worlds(WORLD, "w.sdf", &sdf::NoFiles);
    read.expect("the world is a good one").worlds
}

/// Takes bytes for what a primary remembers; what is accepted must be remembered the same.
fn recall(bytes: &[u8]) {
    let resume = |primary: Vec<u8>| {
        // Those of the seed.
        let sequence = Sequence(10);
        let scene = SceneSnapshot {
            sequence,
            bytes: Vec::new(),
        };
        let checkpoint = Checkpoint {
            sequence,
            iteration: Iteration(8),
            digest: Digest(0),
            primary,
            scene,
            cells: Vec::new(),
        };
        Primary::resume(settings(), &worlds(), checkpoint, Replay::default())
    };
    if let Ok(primary) = resume(bytes.to_vec()) {
        let saved = primary.save();
        let again = resume(saved.clone()).expect("what was saved can be restored");
        assert!(again.save() == saved, "a primary saves the same");
    }
}

fn settings() -> Settings {
    let build = Build {
        version: "1".to_owned(),
        target: "t".to_owned(),
        sources: Digest(0),
    };
    Settings {
        recovery: RecoverySettings {
            is_journaled: true,
            ..RecoverySettings::default()
        },
        cells: CellSettings {
            rules: Rules {
                sight: SightRule::Range,
                ..Rules::default()
            },
            ..CellSettings::default()
        },
        ..Settings::new(SessionId(1), build)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// Returns the seeds that the fuzzer begins with: those that once made it fail have the names
    /// that it gave them, with a dash, and may be refused.
    fn seeds(name: &str) -> Vec<Vec<u8>> {
        // Also right where the tests of the whole include this file.
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
        let entries = fs::read_dir(folder.join(name)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_first = |path: &PathBuf| {
            let name = path.file_name().unwrap();
            !name.to_string_lossy().contains('-')
        };
        let first = paths.filter(is_first);
        first.map(|path| fs::read(path).unwrap()).collect()
    }

    #[test]
    fn messages_are_accepted_so_that_the_fuzzer_starts_deep() {
        for bytes in seeds("wire") {
            let (kind, message) = bytes.split_first().unwrap();
            let is_message = match kind {
                0 => decode::<PrimaryToSecondary>(message).is_ok(),
                1 => decode::<SecondaryToPrimary>(message).is_ok(),
                2 => decode::<ClientToPrimary>(message).is_ok(),
                3 => decode::<PrimaryToClient>(message).is_ok(),
                _ => decode::<PrimaryToObservers>(message).is_ok(),
            };
            assert!(is_message, "{bytes:?}");
            read_message(&bytes);
        }
    }

    #[test]
    fn files_of_a_journal_are_accepted_so_that_the_fuzzer_starts_deep() {
        let mut kinds: Vec<u8> = seeds("journal").iter().map(|seed| seed[0]).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, [0, 1, 2, 3]);
        for bytes in seeds("journal") {
            read_journal(&bytes);
        }
    }

    #[test]
    fn commands_are_accepted_so_that_the_fuzzer_starts_deep() {
        let commands = include_str!("../seeds/commands/all.jsonl");
        assert_eq!(lockstep::commands_file::read(commands).unwrap().len(), 5);
    }
}
