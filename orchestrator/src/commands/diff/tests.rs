//! Verdicts on files that are the same, differ, end early or are damaged.

use protocol::states_file::{
    RecordedState, StatesFrame, StatesHeader, encode_end, encode_frame, encode_header,
};
use protocol::{CellId, Iteration, PerformerId};

use super::*;

fn compare(first: &[u8], second: &[u8]) -> Result<Verdict, String> {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["A", "B"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], first).unwrap();
    std::fs::write(&paths[1], second).unwrap();
    let verdict = Input::open(&paths[0], "A").and_then(|a| {
        let b = Input::open(&paths[1], "B")?;
        match a.kind {
            Kind::Digests => digests::compare(a, b),
            Kind::States => states::compare(a, b),
            Kind::Messages => messages::compare(a, b),
        }
    });
    verdict.map_err(|error| format!("{:#}", anyhow::Error::new(error)))
}

fn check(first: &[u8], second: &[u8], expected: &str) {
    let names = ["A", "B"].map(str::to_owned);
    let text = match compare(first, second) {
        Ok(verdict) => verdict.text(&names),
        Err(error) => error,
    };
    assert!(text.contains(expected), "{text}");
}

fn lines(digests: &[u128]) -> Vec<u8> {
    let line = |(number, digest): (u64, &u128)| format!("{number} {digest:032x}\n");
    (1..)
        .zip(digests)
        .map(line)
        .collect::<String>()
        .into_bytes()
}

#[test]
fn digests_that_are_equal_are_counted() {
    check(
        &lines(&[1, 2, 3]),
        &lines(&[1, 2, 3]),
        "equal: 3 iterations\n",
    );
}

#[test]
fn a_run_that_wrote_nothing_equals_no_other() {
    check(b"", b"", "A is empty: the run that wrote it ended");
    check(&lines(&[1]), b"", "B is empty");
}

#[test]
fn digests_name_the_first_iteration_that_differs() {
    let (a, b) = (lines(&[1, 2, 3, 4]), lines(&[1, 2, 9]));
    check(&a, &b, "iteration 3 differs");
    check(&a, &b, "A  00000000000000000000000000000003");
    check(&a, &b, "runs with --states name the performer");
}

#[test]
fn digests_that_end_early_or_are_damaged_are_refused() {
    let whole = lines(&[1, 2, 3]);
    check(
        &whole,
        &lines(&[1, 2]),
        "B ends after iteration 2 and A goes on",
    );
    check(
        &whole[..80],
        &whole,
        "A is cut off in line 3; it is the same up to iteration 2",
    );
    let swapped = [lines(&[1]), lines(&[1])].concat();
    check(&swapped, &whole, "A:2: not iteration 2 and its digest");
    let endless = vec![b'1'; 100_000];
    check(&endless, &whole, "A:1: not iteration 1");
    check(&whole, b"1 xyz\n", "B:1: not iteration 1");
}

/// Returns a file with a message in each of these iterations, whose digests are these.
fn said(messages: &[(u64, u128)]) -> Vec<u8> {
    let line = |(iteration, digest): &(u64, u128)| format!("{iteration} /a client {digest:032x}\n");
    let lines: String = messages.iter().map(line).collect();
    format!("{lines}end {} {:032x}\n", messages.len(), 7).into_bytes()
}

#[test]
fn messages_that_are_equal_are_counted() {
    let file = said(&[(1, 1), (1, 2), (9, 3)]);
    check(&file, &file, "equal: 3 messages\n");
    check(&said(&[]), &said(&[]), "equal: 0 messages\n");
    assert_eq!(compare(&file, &file).unwrap().iterations, 9);
}

#[test]
fn the_first_message_that_differs_is_shown() {
    let (a, b) = (said(&[(1, 1), (5, 2)]), said(&[(1, 1), (5, 3)]));
    check(
        &a,
        &b,
        "iteration 5 differs\n  message 2:\n    A  5 /a client 000",
    );
    check(&a, &said(&[(1, 1)]), "B  end 1 000");
    assert_eq!(compare(&a, &said(&[])).unwrap().iterations, 0);
}

#[test]
fn messages_that_are_cut_off_or_damaged_are_refused() {
    let whole = said(&[(1, 1), (2, 2)]);
    check(&whole[..whole.len() - 1], &whole, "A is cut off in line 3");
    check(&whole[..98], &whole, "A is cut off in line 3");
    check(&whole[..60], &whole, "A is cut off in line 2");
    let endless = [said(&[(1, 1)]), vec![b'1'; 100_000]].concat();
    check(&endless, &endless, "A:3: something follows the end");
    check(&whole, &lines(&[1]), "B:1: neither a message");
}

const NAMES: [&str; 2] = ["rover", "ball"];

struct Recording {
    bytes: Vec<u8>,
    states: Vec<RecordedState>,
}

impl Recording {
    /// Starts a file whose performers are in this order, all of them at rest in cell `west`.
    fn new(order: [usize; 2]) -> Self {
        let header = StatesHeader {
            step_size_ns: 1_000_000,
            cells: ["default", "west"].map(str::to_owned).to_vec(),
            performers: order.map(|index| NAMES[index].to_owned()).to_vec(),
        };
        let at_rest = |id| RecordedState {
            performer: PerformerId(id),
            cell: CellId(1),
            numbers: [0.0; 13],
            links: Digest(7),
        };
        let mut one = Self {
            bytes: encode_header(&header),
            states: vec![at_rest(0), at_rest(1)],
        };
        one.frame(1, &[0, 1]);
        one
    }

    fn frame(&mut self, iteration: u64, changed: &[usize]) {
        let states: Vec<_> = changed.iter().map(|index| self.states[*index]).collect();
        let sum: f64 = self.states.iter().map(|state| state.numbers[0]).sum();
        let frame = StatesFrame {
            iteration: Iteration(iteration),
            digest: Digest(sum.to_bits().into()),
            changes: states,
        };
        encode_frame(&frame, &mut self.bytes);
    }

    /// Changes one performer in an iteration.
    fn change(mut self, iteration: u64, index: usize, by: fn(&mut RecordedState)) -> Self {
        by(&mut self.states[index]);
        self.frame(iteration, &[index]);
        self
    }

    fn end(mut self, iterations: u64) -> Vec<u8> {
        encode_end(Iteration(iterations), &mut self.bytes);
        self.bytes
    }
}

fn recording() -> Recording {
    Recording::new([0, 1])
}

#[test]
fn states_that_are_equal_are_counted() {
    let file = || {
        recording()
            .change(5, 0, |one| one.numbers[0] = 1.0)
            .end(900)
    };
    check(&file(), &file(), "equal: 900 iterations\n");
    let turned = Recording::new([1, 0]).change(5, 1, |one| one.numbers[0] = 1.0);
    check(&file(), &turned.end(900), "equal: 900 iterations\n");
}

#[test]
fn states_name_performer_field_values_and_difference() {
    let a = recording().change(5, 0, |one| one.numbers[1] = 1.0).end(9);
    let b = recording().change(5, 0, |one| one.numbers[1] = 1.5).end(8);
    let verdict = compare(&a, &b).unwrap();
    assert_eq!((verdict.equal, verdict.iterations), (false, 4));
    let difference = verdict.difference.unwrap();
    assert_eq!(difference.performers_differing, Some(1));
    let expected = PerformerDifference {
        performer: "rover".to_owned(),
        field: "position y",
        values: [Value::Number(1.0), Value::Number(1.5)],
        difference: Some(0.5),
    };
    assert_eq!(difference.first, Some(expected));
}

#[test]
fn the_first_performer_is_the_first_by_name() {
    let a = recording().end(9);
    let b = recording();
    let b = Recording {
        states: b
            .states
            .iter()
            .map(|one| RecordedState {
                cell: CellId(0),
                ..*one
            })
            .collect(),
        ..b
    };
    let b = b.change(3, 1, |one| one.links = Digest(8));
    check(&a, &b.end(9), "cell of ball:\n    A  west\n    B  default");
    let both = || recording().change(2, 0, |one| one.numbers[12] = 1.0);
    let (a, b) = (
        both().end(9),
        both().change(3, 1, |one| one.links = Digest(8)).end(9),
    );
    check(&a, &b, "iteration 3 differs");
    check(&a, &b, "links of ball");
    check(&a, &b, "no other performer");
}

#[test]
fn a_change_that_only_one_run_made_is_a_difference() {
    let a = recording().change(4, 0, |one| one.numbers[7] = -0.0).end(9);
    check(
        &a,
        &recording().end(9),
        "linear velocity x of rover:\n    A  -0.0\n    B  0.0",
    );
    check(&recording().end(9), &a, "iteration 4 differs");
}

#[test]
fn states_that_end_early_or_are_damaged_are_refused() {
    let whole = recording().change(5, 0, |one| one.numbers[0] = 1.0).end(9);
    check(
        &whole,
        &recording().end(4),
        "B ends after iteration 4 and A goes on",
    );
    check(
        &recording().end(10),
        &recording().end(9),
        "B ends after iteration 9",
    );
    let cut = &whole[..whole.len() - 1];
    check(cut, &whole, "A is cut off after iteration 5");
    check(&whole, cut, "the files are the same up to iteration 5");
    let mut damaged = whole.clone();
    damaged[200] ^= 1;
    check(&damaged, &whole, "A is damaged");
}

#[test]
fn a_difference_is_found_before_the_cut_behind_it() {
    let cut = recording().change(5, 0, |one| one.numbers[0] = 1.0).bytes;
    check(&cut, &recording().end(9), "iteration 5 differs");
}

#[test]
fn files_of_two_worlds_are_refused() {
    let mut header = StatesHeader {
        step_size_ns: 1_000_000,
        ..StatesHeader::default()
    };
    let empty = |header: &StatesHeader| {
        let mut bytes = encode_header(header);
        encode_end(Iteration(9), &mut bytes);
        bytes
    };
    check(
        &recording().end(9),
        &empty(&header),
        "A has the performer rover and B does not",
    );
    header.step_size_ns = 1;
    check(
        &recording().end(9),
        &empty(&header),
        "A has steps of 1000000 ns and B of 1 ns",
    );
}
