//! Measures what travels: bytes and time per performer and step of an answer in which all, a tenth
//! or none of the states have changed, beside the same states field by field in MessagePack and a
//! plain copy; and what the primary's rules take per secondary and step with 4 to 1,000
//! secondaries, and per performer that did not change with up to 100,000; secondaries answer
//! without physics.
//!
//! Prints one JSON line. Run it with `cargo bench -p tests --bench wire`, or one of its parts with
//! `-- messages`, `-- rules [SECONDARIES...]` or `-- performers [PERFORMERS...]`.

// The root of a bench looks for modules beside itself, where Cargo would take them for benches.
#[path = "wire/performers.rs"]
mod performers;
#[path = "wire/rules.rs"]
mod rules;
#[path = "wire/scripted.rs"]
mod scripted;

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::{
    CellId, Digest, Envelope, Iteration, PeerName, PerformerId, PerformerState, PrimaryToSecondary,
    ProtocolVersion, SecondaryToPrimary, Sequence, SessionId, SimTime, StateBlob, decode, encode,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const PERFORMERS: u32 = 1_000;
const CELLS: u32 = 64;
const TURNS: usize = 5;
const ROUNDS: u32 = 200;
const SECONDARIES: [u32; 5] = [4, 16, 64, 250, 1_000];
const CROWDS: [u32; 3] = [1_000, 10_000, 100_000];

fn main() {
    // Cargo adds a flag of its own.
    let arguments = std::env::args().skip(1);
    let arguments: Vec<String> = arguments.filter(|one| !one.starts_with("--")).collect();
    let part = arguments.first().map(String::as_str);
    let numbers = arguments.iter().filter_map(|one| one.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    let is_wanted = |name: &str| part.is_none_or(|part| part == name);
    let mut line = json!({ "bench": "wire" });
    if is_wanted("messages") {
        let shares = [("all", 1), ("a_tenth", 10), ("none", u32::MAX)];
        let answers = shares.map(|(name, every)| (name.to_owned(), answer(every)));
        line["performers"] = json!(PERFORMERS);
        line["answers"] = Value::Object(answers.into_iter().collect());
        line["references"] = references();
        line["empty_step"] = empty_step();
    }
    if is_wanted("rules") {
        line["rules_by_secondaries"] = by_number(&numbers, &SECONDARIES, rules::measure);
    }
    if is_wanted("performers") {
        line["rules_by_performers"] = by_number(&numbers, &CROWDS, performers::measure);
    }
    let _ = writeln!(io::stdout(), "{line}");
}

/// Measures for each of the numbers that were given, or the usual ones.
fn by_number(given: &[u32], usual: &[u32], measure: impl Fn(u32) -> Value) -> Value {
    let numbers = if given.is_empty() { usual } else { given };
    let measured = numbers
        .iter()
        .map(|number| (number.to_string(), measure(*number)));
    Value::Object(measured.collect())
}

/// Returns the least time of some turns of many rounds \[ns per round\].
fn time(mut round: impl FnMut()) -> f64 {
    let turns = (0..TURNS).map(|_| {
        let begin = Instant::now();
        (0..ROUNDS).for_each(|_| round());
        begin.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
    });
    turns.fold(f64::INFINITY, f64::min)
}

fn states() -> Vec<PerformerState> {
    let state = |id| {
        let x = f64::from(id);
        PerformerState {
            orientation_xyzw: [0.0, 0.0, 0.6, 0.8],
            linear_velocity: [x.sin(), x.cos(), 0.0],
            angular_velocity: [0.0, 0.0, 1.0 / (x + 1.0)],
            digest: Digest(u128::from(id) << 64 | 7),
            ..PerformerState::at_rest(PerformerId(id), [x, -x, 0.1])
        }
    };
    (0..PERFORMERS).map(state).collect()
}

fn envelope<B>(body: B) -> Envelope<B> {
    Envelope {
        version: ProtocolVersion::CURRENT,
        session: SessionId(u64::MAX),
        sender: PeerName::primary(),
        body,
    }
}

/// Measures an answer in which one of so many states has changed.
fn answer(every: u32) -> Value {
    let changed: Vec<PerformerState> = states()
        .into_iter()
        .filter(|state| (state.performer.0 + 1).is_multiple_of(every))
        .collect();
    let cells = (0..CELLS).map(|cell| CellAck {
        cell: CellId(cell),
        digest: Digest(u128::MAX),
        physics_ns: 100_000,
        systems_ns: 10_000,
        sensors_ns: 0,
        state_count: changed.len() as u32 / CELLS,
    });
    let message = envelope(SecondaryToPrimary::StepAck(Arc::new(StepAck {
        sequence: Sequence(10_000),
        iteration: Iteration(10_000),
        cells: cells.collect(),
        states: StateBlob::pack(&changed),
        busy_ns: 1_000_000,
        ..StepAck::default()
    })));
    let bytes = encode(&message);
    let encoding = time(|| {
        black_box(encode(black_box(&message)));
    });
    let decoding = time(|| {
        let read = decode::<SecondaryToPrimary>(black_box(&bytes)).expect("it was encoded");
        if let SecondaryToPrimary::StepAck(ack) = read.body {
            ack.states
                .states()
                .expect("they were packed")
                .for_each(|state| {
                    black_box(state);
                });
        }
    });
    let per_performer = |value: f64| value / f64::from(PERFORMERS);
    json!({
        "bytes_per_performer": per_performer(bytes.len() as f64),
        "encode_ns_per_performer": per_performer(encoding),
        "decode_ns_per_performer": per_performer(decoding),
    })
}

/// A state with every number a value of its own.
#[derive(Serialize, Deserialize)]
struct PlainState {
    performer: u32,
    position: [f64; 3],
    orientation_xyzw: [f64; 4],
    linear_velocity: [f64; 3],
    angular_velocity: [f64; 3],
    reach: [[f32; 3]; 2],
    digest: u128,
}

/// Measures the same states field by field, and a copy of their bytes.
fn references() -> Value {
    let states = states();
    let plain: Vec<PlainState> = states
        .iter()
        .map(|state| PlainState {
            performer: state.performer.0,
            position: state.position,
            orientation_xyzw: state.orientation_xyzw,
            linear_velocity: state.linear_velocity,
            angular_velocity: state.angular_velocity,
            reach: state.reach,
            digest: state.digest.0,
        })
        .collect();
    let bytes = msgpack::to_vec_named(&plain).expect("numbers can be encoded");
    let encoding = time(|| {
        black_box(msgpack::to_vec_named(black_box(&plain)).expect("numbers can be encoded"));
    });
    let decoding = time(|| {
        let read: Vec<PlainState> = msgpack::from_slice(black_box(&bytes)).expect("encoded");
        black_box(read);
    });
    let packed = vec![7_u8; StateBlob::pack(&states).byte_count()];
    let copying = time(|| {
        black_box(black_box(&packed).clone());
    });
    let per_performer = |value: f64| value / f64::from(PERFORMERS);
    json!({
        "fields_bytes_per_performer": per_performer(bytes.len() as f64),
        "fields_encode_ns_per_performer": per_performer(encoding),
        "fields_decode_ns_per_performer": per_performer(decoding),
        "copy_ns_per_performer": per_performer(copying),
    })
}

fn empty_step() -> Value {
    let message = envelope(PrimaryToSecondary::Step(Arc::new(Step {
        sequence: Sequence(10_000),
        iteration: Iteration(10_000),
        sim_time: SimTime(10_000_000_000),
        elapsed: SimTime(10_000_000_000),
        step_size_ns: 1_000_000,
        world_publisher: Some(PeerName::primary()),
        ..Step::default()
    })));
    let bytes = encode(&message);
    json!({
        "bytes": bytes.len(),
        "encode_ns": time(|| {
            black_box(encode(black_box(&message)));
        }),
        "decode_ns": time(|| {
            black_box(decode::<PrimaryToSecondary>(black_box(&bytes)).expect("encoded"));
        }),
    })
}
