//! Measures what travels: bytes and time per performer and step of an answer in which all, a tenth
//! or none of the states have changed, beside the same states field by field in MessagePack and a
//! plain copy; and what the primary's rules take per secondary and step with 4 to 1,000 secondaries
//! that are simulated in this process.
//!
//! Prints one JSON line. Run it with `cargo bench -p tests --bench wire`.

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use lockstep::Settings;
use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::{
    CellId, Digest, Envelope, Iteration, PeerName, PerformerId, PerformerState, PrimaryToSecondary,
    ProtocolVersion, SecondaryToPrimary, Sequence, SessionId, SimTime, StateBlob, decode, encode,
};
use sdf::{Collision, Geometry, Level, Link, Model, Pose, World};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::cluster;
use tests::direct::Direct;

const PERFORMERS: u32 = 1_000;
const CELLS: u32 = 64;
const TURNS: usize = 5;
const ROUNDS: u32 = 200;
const SECONDARIES: [u32; 5] = [4, 16, 64, 250, 1_000];

fn main() {
    let shares = [("all", 1), ("a_tenth", 10), ("none", u32::MAX)];
    let answers = shares.map(|(name, every)| (name.to_owned(), answer(every)));
    let secondaries = SECONDARIES.map(|count| (count.to_string(), rules(count)));
    let line = json!({
        "bench": "wire",
        "performers": PERFORMERS,
        "answers": answers.into_iter().collect::<serde_json::Map<_, _>>(),
        "references": references(),
        "empty_step": empty_step(),
        "rules_by_secondaries": secondaries.into_iter().collect::<serde_json::Map<_, _>>(),
    });
    let _ = writeln!(io::stdout(), "{line}");
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
    let bytes = rmp_serde::to_vec_named(&plain).expect("numbers can be encoded");
    let encoding = time(|| {
        black_box(rmp_serde::to_vec_named(black_box(&plain)).expect("numbers can be encoded"));
    });
    let decoding = time(|| {
        let read: Vec<PlainState> = rmp_serde::from_slice(black_box(&bytes)).expect("encoded");
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
        speaker: Some(PeerName::primary()),
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

/// Measures the rules of a primary with so many secondaries, each of which has a level with a ball
/// that falls.
fn rules(secondaries: u32) -> Value {
    let settings = Settings {
        run_ahead_max: 1,
        checkpoint_every: 0,
        participants_max: 4,
        participants_awaited: Vec::new(),
        balance: false,
        ..cluster::settings(secondaries, u64::MAX)
    };
    let mut run = Direct::new(&[row(secondaries)], settings);
    let warm_up = 20;
    let steps = (20_000 / secondaries).clamp(20, 2_000);
    for _ in 0..warm_up {
        run.advance();
    }
    let mut times: Vec<f64> = (0..steps)
        .map(|_| {
            run.take_ruled();
            run.advance();
            run.take_ruled().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    json!({
        "us_per_step": median,
        "us_per_secondary_and_step": median / f64::from(secondaries),
        "steps_per_s_at_most": 1e6 / median,
    })
}

/// A row of levels with a ball in each.
fn row(count: u32) -> World {
    let x = |number: u32| f64::from(number) * 20.0;
    let levels = (0..count).map(|number| Level {
        name: format!("L{number}"),
        center: [x(number), 0.0, 0.0],
        size: [10.0, 10.0, 1e6],
        buffer: 1.0,
        models: Vec::new(),
    });
    let models = (0..count).map(|number| {
        let pose = Pose::from_xyz_rpy([x(number), 0.0, 1.0], [0.0; 3]);
        let ball = Geometry::Sphere { radius: 0.5 };
        let link = Link {
            collisions: vec![Collision::new("collision", Pose::IDENTITY, ball)],
            ..Link::new("link", pose)
        };
        Model::new(&format!("p{number}"), vec![link], Vec::new())
    });
    World {
        name: "row".to_owned(),
        levels: levels.collect(),
        models: models.collect(),
        ..World::default()
    }
}
