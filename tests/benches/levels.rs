//! Measures what levels cost the primary: one update of membership for 10,000 performers in 10,000
//! levels that all move, with and without 100 hand-offs, and that all rest, beside asking every
//! level and every other performer; and the bytes that travel per performer and step.
//!
//! Prints one JSON line. Run it with `cargo bench -p tests --bench levels`.

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use lockstep::{Bounds, LoadRule, Moved, Partition, Rules, SightRule, Topology};
use protocol::secondary_to_primary::{CellAck, StepAck};
use protocol::state::STATE_BYTES;
use protocol::{
    CellId, Envelope, Iteration, PeerName, PerformerId, PerformerState, ProtocolVersion,
    SecondaryToPrimary, SessionId, StateBlob,
};
use sdf::{Collision, Geometry, Level, Link, Model, Pose, World};
use serde_json::json;

/// Levels along each side of the grid.
const SIDE: usize = 100;
/// Edge of a level \[m\].
const EDGE: f64 = 10.0;
const BUFFER: f64 = 2.0;
const PERFORMERS: usize = 10_000;
const RADIUS: f64 = 0.5;
const STEP_SIZE_S: f64 = 0.001;
/// Number of performers that the levels' and performers' reference asks about.
const SAMPLE: usize = 100;
const UPDATES: u64 = 2_000;
const CROSSING: usize = 100;
const CROSSINGS: u64 = 100;
const RULES: Rules = Rules {
    load: LoadRule::Buffer,
    sight: SightRule::Buffer,
    interaction_margin: 0.02,
    minimum_stay: 0,
    step_size_s: STEP_SIZE_S,
};

fn main() {
    let plan = Topology::new(&[world(SIDE)]);
    let moving = measure_moving(&plan);
    let crossing = measure_crossing(&plan);
    let resting = measure_resting(&plan);
    let brute_force_ms = measure_brute_force(&plan);
    let without_levels = measure_moving(&Topology::new(&[world(0)]));
    let [state_bytes, ack_bytes] = bytes_per_performer();
    let line = json!({
        "bench": "levels",
        "performers": PERFORMERS,
        "levels": SIDE * SIDE,
        "update_ms": moving.report(),
        "update_with_100_hand_offs_ms": crossing.report(),
        "update_at_rest_ms": resting.report(),
        "update_without_levels_ms": without_levels.report(),
        "brute_force_ms": brute_force_ms,
        "brute_force_over_update": brute_force_ms / moving.median(),
        "state_bytes": state_bytes,
        "ack_bytes_per_performer": ack_bytes,
    });
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Times that updates took \[ms\], ascending.
struct Times(Vec<f64>);

impl Times {
    fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    fn report(&self) -> serde_json::Value {
        json!({
            "min": self.0[0],
            "median": self.median(),
            "p99": self.0[self.0.len() * 99 / 100],
            "max": self.0[self.0.len() - 1],
        })
    }
}

/// A square of levels side by side, and balls anywhere in it.
fn world(side: usize) -> World {
    let levels = (0..side * side).map(|number| Level {
        name: format!("L{number}"),
        center: [0, 1, 2].map(|axis| match axis {
            0 => ((number % side) as f64 + 0.5) * EDGE,
            1 => ((number / side) as f64 + 0.5) * EDGE,
            _ => EDGE / 2.0,
        }),
        size: [EDGE; 3],
        buffer: BUFFER,
        models: Vec::new(),
    });
    let mut random = Random(7);
    let models = (0..PERFORMERS).map(|number| {
        let span = SIDE as f64 * EDGE - 2.0 * RADIUS;
        let at = [0, 1].map(|_| RADIUS + random.unit() * span);
        let pose = Pose::from_xyz_rpy([at[0], at[1], RADIUS], [0.0; 3]);
        let ball = Geometry::Sphere { radius: RADIUS };
        let link = Link {
            collisions: vec![Collision::new("collision", Pose::IDENTITY, ball)],
            ..Link::new("link", pose)
        };
        Model::new(&format!("p{number}"), vec![link], Vec::new())
    });
    World {
        name: "levels".to_owned(),
        levels: levels.collect(),
        models: models.collect(),
        ..World::default()
    }
}

/// Everyone at its start, on a way of its own at 1 m/s.
fn states(plan: &Topology) -> Vec<PerformerState> {
    let mut random = Random(11);
    let starts = plan.performers.iter().enumerate();
    starts
        .map(|(id, performer)| {
            let (sine, cosine) = (random.unit() * std::f64::consts::TAU).sin_cos();
            let mut state = PerformerState::at_rest(PerformerId(id as u32), performer.start);
            state.linear_velocity = [cosine, sine, 0.0];
            reach(&mut state);
            state
        })
        .collect()
}

/// Moves everyone by a step; at the edge of the world they turn round.
fn advance(states: &mut [PerformerState]) {
    for state in states {
        for axis in 0..2 {
            let next = state.position[axis] + state.linear_velocity[axis] * STEP_SIZE_S;
            let span = RADIUS..SIDE as f64 * EDGE - RADIUS;
            if !span.contains(&next) {
                state.linear_velocity[axis] *= -1.0;
            }
            state.position[axis] += state.linear_velocity[axis] * STEP_SIZE_S;
        }
        reach(state);
    }
}

fn reach(state: &mut PerformerState) {
    let far = RADIUS + STEP_SIZE_S;
    state.reach = [-far, far].map(|way| state.position.map(|at| (at + way) as f32));
}

fn measure_moving(plan: &Topology) -> Times {
    let mut membership = Partition::new(plan, RULES);
    let mut states = states(plan);
    membership.update(plan, Iteration(0), &states);
    let times = (1..=UPDATES).map(|iteration| {
        advance(&mut states);
        let begin = Instant::now();
        black_box(membership.update(plan, Iteration(iteration), &states));
        begin.elapsed().as_secs_f64() * 1e3
    });
    Times::new(times.collect())
}

/// As [`measure_moving`], and nobody moves.
fn measure_resting(plan: &Topology) -> Times {
    let mut membership = Partition::new(plan, RULES);
    let mut states = states(plan);
    for state in &mut states {
        state.linear_velocity = [0.0; 3];
    }
    let times = (0..UPDATES).map(|iteration| {
        let mut moved = if iteration == 0 {
            Moved::all()
        } else {
            Moved::default()
        };
        membership.note_moved(&mut moved);
        let begin = Instant::now();
        black_box(membership.update(plan, Iteration(iteration), &states));
        begin.elapsed().as_secs_f64() * 1e3
    });
    Times::new(times.collect())
}

/// As [`measure_moving`], and in each update that counts 100 performers go to the next level. The
/// update before, which does not count, has put them where they are about to.
fn measure_crossing(plan: &Topology) -> Times {
    let mut membership = Partition::new(plan, RULES);
    let mut states = states(plan);
    membership.update(plan, Iteration(0), &states);
    let times = (1..=CROSSINGS).map(|turn| {
        let first = (turn as usize * CROSSING) % PERFORMERS;
        for state in &mut states[first..first + CROSSING] {
            let column = (state.position[0] / EDGE).floor();
            state.position[0] = (column + 1.0) * EDGE + RADIUS - STEP_SIZE_S / 2.0;
            state.linear_velocity = [1.0, 0.0, 0.0];
            reach(state);
        }
        membership.update(plan, Iteration(2 * turn - 1), &states);
        advance(&mut states);
        let begin = Instant::now();
        let changes = black_box(membership.update(plan, Iteration(2 * turn), &states));
        let time = begin.elapsed().as_secs_f64() * 1e3;
        let count = changes.hand_offs.len();
        assert!(count >= CROSSING * 9 / 10, "{count} performers went");
        time
    });
    Times::new(times.collect())
}

/// Returns how long asking every level and every other performer takes, from a sample \[ms\].
fn measure_brute_force(plan: &Topology) -> f64 {
    let states = states(plan);
    let begin = Instant::now();
    let mut met = 0;
    for state in &states[..SAMPLE] {
        let performer = plan.performer(state.performer);
        let bounds = performer.bounds_at(state.position);
        let levels = plan.levels.iter();
        met += levels.filter(|level| level.outer.touches(&bounds)).count();
        let reach = Bounds::from(state.reach).inflated(RULES.interaction_margin);
        let others = states.iter();
        met += others
            .filter(|other| {
                let other = Bounds::from(other.reach).inflated(RULES.interaction_margin);
                other.touches(&reach)
            })
            .count();
    }
    assert!(black_box(met) > SAMPLE, "everyone meets at least itself");
    begin.elapsed().as_secs_f64() * 1e3 * (PERFORMERS / SAMPLE) as f64
}

/// Returns the bytes of a state, and of an encoded ack of 1,000 performers per performer.
fn bytes_per_performer() -> [f64; 2] {
    const COUNT: u32 = 1_000;
    let states: Vec<PerformerState> = (0..COUNT)
        .map(|id| PerformerState::at_rest(PerformerId(id), [1.5; 3]))
        .collect();
    let ack = StepAck {
        cells: vec![CellAck {
            systems_ns: 0,
            sensors_ns: 0,
            cell: CellId(1),
            digest: protocol::Digest::default(),
            physics_ns: 1_000_000,
            state_count: COUNT,
        }],
        states: StateBlob::pack(&states),
        ..StepAck::default()
    };
    let bytes = protocol::encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session: SessionId(1),
        sender: PeerName::primary(),
        body: SecondaryToPrimary::StepAck(Arc::new(ack)),
    });
    [STATE_BYTES as f64, bytes.len() as f64 / f64::from(COUNT)]
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
    }
}
