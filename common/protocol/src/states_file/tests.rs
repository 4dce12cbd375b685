//! Files of states as they are written, cut and damaged.

use super::*;

fn state(performer: u32, x: f64) -> RecordedState {
    let mut numbers = [0.0; NUMBERS];
    numbers[0] = x;
    RecordedState {
        performer: PerformerId(performer),
        cell: CellId(1),
        numbers,
        links: Digest(u128::from(performer)),
    }
}

fn header() -> StatesHeader {
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    StatesHeader {
        step_size_ns: 1_000_000,
        cells: names(["default", "west"]),
        performers: names(["ball", "box"]),
    }
}

fn frame(iteration: u64, changes: &[RecordedState]) -> StatesFrame {
    StatesFrame {
        iteration: Iteration(iteration),
        digest: Digest(u128::from(iteration) << 64),
        changes: changes.to_vec(),
    }
}

fn file(frames: &[StatesFrame], iterations: u64) -> Vec<u8> {
    let mut bytes = encode_header(&header());
    for frame in frames {
        encode_frame(frame, &mut bytes);
    }
    encode_end(Iteration(iterations), &mut bytes);
    bytes
}

/// Reads to the end or to the first error.
fn read(bytes: &[u8]) -> Result<(Vec<StatesFrame>, u64), ReadStatesError> {
    let mut reader = StatesReader::open(bytes)?;
    assert_eq!(*reader.header(), header());
    let mut frames = Vec::new();
    loop {
        match reader.read()? {
            StatesRecord::Frame(frame) => frames.push(frame),
            StatesRecord::End { iterations } => return Ok((frames, iterations.0)),
        }
    }
}

fn check_refused(bytes: &[u8], part: &str) {
    let error = read(bytes).unwrap_err().to_string();
    assert!(error.contains(part), "{error}");
}

fn example() -> Vec<StatesFrame> {
    vec![
        frame(1, &[state(0, 1.0), state(1, -0.0)]),
        frame(7, &[state(1, f64::NAN)]),
        frame(8, &[]),
    ]
}

#[test]
fn frames_come_back_bit_for_bit() {
    let (frames, iterations) = read(&file(&example(), 20)).unwrap();
    assert_eq!(iterations, 20);
    assert_eq!(frames.len(), 3);
    for (found, expected) in frames.iter().zip(example()) {
        assert_eq!(found.iteration, expected.iteration);
        assert_eq!(found.digest, expected.digest);
        let is_same = |(a, b): (&RecordedState, &RecordedState)| a.is_same(b);
        assert_eq!(found.changes.len(), expected.changes.len());
        assert!(found.changes.iter().zip(&expected.changes).all(is_same));
    }
}

#[test]
fn negative_zero_is_a_change() {
    assert!(!state(0, 0.0).is_same(&state(0, -0.0)));
    assert!(state(0, f64::NAN).is_same(&state(0, f64::NAN)));
}

#[test]
fn a_cut_file_says_how_far_it_goes() {
    let bytes = file(&example(), 20);
    for length in MAGIC.len() + 4..bytes.len() {
        check_refused(&bytes[..length], "cut off after iteration");
    }
    check_refused(&bytes[..bytes.len() - 1], "cut off after iteration 8");
    check_refused(&bytes[..5], "no file of states");
}

#[test]
fn every_changed_byte_is_seen() {
    let bytes = file(&example(), 20);
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 0x10;
        assert!(read(&changed).is_err(), "byte {index}");
    }
}

#[test]
fn contradictory_states_files_are_refused() {
    let first = || frame(2, &[state(0, 0.0), state(1, 0.0)]);
    check_refused(&file(&[first(), first()], 9), "iterations do not ascend");
    check_refused(&file(&[frame(1, &[])], 9), "every performer");
    let twice = [frame(1, &[state(1, 0.0), state(1, 0.0)])];
    check_refused(&file(&twice, 9), "do not ascend");
    check_refused(&file(&[frame(1, &[state(9, 0.0)])], 9), "does not have");
    check_refused(&file(&[first()], 1), "before its last iteration");
    let mut followed = file(&[], 0);
    followed.push(0);
    check_refused(&followed, "follows its end");
    let mut newer = file(&[], 0);
    newer[8] = 2;
    check_refused(&newer, "version 2");
}

#[test]
fn a_length_out_of_range_costs_no_memory() {
    let mut bytes = encode_header(&header());
    bytes.extend_from_slice(&u32::MAX.to_le_bytes());
    check_refused(&bytes, "longer than any can be");
}
