//! One small run for tests: two secondaries, four levels, four performers that move.

use std::time::Duration;

use client::feed::{Feed, LogLine};
use client::feed::{StartUp, StartedProcess};
use protocol::primary_to_observers::{Event as RunEvent, Severity};
use protocol::report::{
    EventCounts, History, HistorySample, HostLoad, Layout, LevelOutline, LevelReport, ModelOutline,
    PeerReport, PeerState, Percentiles, PerformerReport, RefusedCounts, RunState, SecondarySummary,
    Snapshot, Split, Stats, StepHistogram, Summary, TopicReport,
};
use protocol::{Digest, Iteration, Outcome, PrimaryToObservers, Role, SessionTime};

use super::event::Event;
use super::model::Model;
use super::update::update;

/// The moment at which the fixture is looked at.
pub const NOW: SessionTime = SessionTime(60_000_000_000);

/// A run that goes on, as the view knows it after a minute.
pub fn model() -> Model {
    let mut model = Model::new("demo".to_owned(), true);
    for feed in feeds() {
        update(
            &mut model,
            Event::Feed(feed),
            NOW - Duration::from_millis(40),
        );
    }
    update(&mut model, Event::Tick, NOW);
    model.settle();
    model
}

/// A run whose secondaries have not come yet.
pub fn waiting_model() -> Model {
    let mut model = Model::new("demo".to_owned(), true);
    feed(&mut model, Feed::StartUp(start_up()));
    model
}

/// Three processes that were started twelve seconds ago.
pub fn start_up() -> StartUp {
    let process = |name: &str, role, pid| StartedProcess {
        name: name.to_owned(),
        role,
        pid,
        is_running: true,
    };
    StartUp {
        processes: vec![
            process("primary", Role::Primary, 4_100),
            process("s1", Role::Secondary, 4_101),
            process("s2", Role::Secondary, 4_102),
        ],
        age: Duration::from_secs(12),
    }
}

/// The figures of the whole run.
pub fn summary() -> Summary {
    let stats = stats();
    let secondary = |peer: PeerReport| SecondarySummary {
        name: peer.name,
        pid: peer.pid,
        levels: peer.levels,
        performers: peer.performers,
        hand_offs_in: 1,
    };
    Summary {
        outcome: Outcome::PeerLost,
        cause: "s2 fell silent for 3 s and its process is gone".to_owned(),
        world: stats.world,
        iterations: stats.iteration,
        sim_time_s: stats.sim_time_s,
        digest: stats.digest,
        real_time_factor: stats.real_time_factor,
        steps_per_s: stats.steps_per_s,
        step_us: stats.step_us,
        physics_us: stats.physics_us,
        overhead_us: stats.overhead_us,
        work_us: 900.0,
        secondaries: peers().into_iter().skip(1).map(secondary).collect(),
        performers: performers(),
        events: stats.events,
        refused: stats.refused,
    }
}

/// Feeds one piece of news at the fixture's moment.
pub fn feed(model: &mut Model, feed: Feed) {
    update(model, Event::Feed(feed), NOW);
    model.settle();
}

fn feeds() -> Vec<Feed> {
    let mut feeds = vec![Feed::Connected, Feed::Layout(Box::new(layout()))];
    feeds.push(Feed::History(Box::new(History {
        samples: (0..60).map(sampled).collect(),
        ..History::default()
    })));
    feeds.push(Feed::Snapshot(Box::new(Snapshot {
        stats: stats(),
        peers: peers(),
        levels: levels(),
        performers: performers(),
    })));
    feeds.push(Feed::Topics(topics()));
    feeds.extend(log_lines().map(Feed::Log));
    feeds.extend(events().map(|event| Feed::Status(PrimaryToObservers::Event(event))));
    feeds
}

fn sampled(sample: u32) -> HistorySample {
    let wave = (f64::from(sample) * 0.35).sin();
    let split = split();
    HistorySample {
        age_s: f64::from(60 - sample),
        iteration: 12_000 + u64::from(sample),
        real_time_factor: 0.97 + 0.03 * wave,
        step_us: Percentiles {
            p50: 400.0 + 40.0 * wave,
            p90: 700.0 + 60.0 * wave,
            p99: 1_150.0 + 180.0 * (f64::from(sample) * 0.21).cos(),
            max: 4_200.0,
        },
        split: Split {
            physics_us: split.physics_us + 30.0 * wave,
            pace_us: split.pace_us - 30.0 * wave,
            ..split
        },
    }
}

/// Shares of the time of an iteration: physics alone takes almost all of it.
fn split() -> Split {
    Split {
        physics_us: 621.0,
        systems_us: 24.0,
        sensors_us: 61.0,
        cell_us: 38.0,
        network_us: 182.0,
        primary_us: 73.0,
        participants_us: 0.0,
        pace_us: 21.0,
    }
}

/// Durations of twelve thousand steps: most about 400 us, a few ten times as long.
fn steps() -> StepHistogram {
    let mut bars = [0; StepHistogram::BARS];
    for step in 0..12_345_u64 {
        let spread = (step % 97) * (step % 89);
        let tail = if step % 211 == 0 {
            2_000 + step % 1_500
        } else {
            0
        };
        bars[StepHistogram::bar_of((330 + spread / 40 + tail) * 1_000)] += 1;
    }
    StepHistogram::of_bars(&bars)
}

/// Figures of the run.
pub fn stats() -> Stats {
    Stats {
        world: "warehouse".to_owned(),
        state: RunState::Running,
        iteration: 12_345,
        sim_time_s: 12.345,
        elapsed_s: Some(12.345),
        paused: false,
        real_time_factor: 0.98,
        real_time_factor_asked: 1.0,
        steps_per_s: 980.2,
        recent_step_us: Percentiles {
            p50: 420.0,
            p90: 731.0,
            p99: 1_180.0,
            max: 2_010.0,
        },
        split: split(),
        steps: steps(),
        step_us: Percentiles {
            p50: 412.0,
            p90: 720.0,
            p99: 1_203.0,
            max: 4_210.0,
        },
        physics_us: Percentiles {
            p50: 310.0,
            p90: 560.0,
            p99: 980.0,
            max: 3_900.0,
        },
        overhead_us: Percentiles {
            p50: 98.0,
            p90: 150.0,
            p99: 240.0,
            max: 700.0,
        },
        digest: Digest(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef),
        refused: RefusedCounts::default(),
        secondaries_missing: 0,
        events: EventCounts {
            hand_offs: 3,
            levels_loaded: 5,
            ..EventCounts::default()
        },
        insecure: false,
    }
}

fn peer(name: &str, role: Role, host: &str, pid: u32) -> PeerReport {
    PeerReport {
        name: name.parse().expect("it is a name"),
        role,
        state: PeerState::Active,
        pid,
        host: host.to_owned(),
        heartbeat_age_ms: 20.0,
        round_trip_us: None,
        clock_offset_us: None,
        levels: Vec::new(),
        performers: Vec::new(),
        physics_us: 0.0,
        systems_us: 0.0,
        sensors_us: 0.0,
        busy_us: 0.0,
        network_us: 0.0,
        blocked_us: 0.0,
        wait_us: 0.0,
        last_share: 0.0,
        blocking: false,
        cpu: 0.12,
        memory_bytes: 24 << 20,
        host_load: Some(HostLoad {
            load_average: 1.25,
            cores: 8,
            memory_bytes: 16 << 30,
            available_bytes: 9 << 30,
        }),
        relay: None,
        relay_age_ms: None,
        gpu: None,
        participant: None,
    }
}

/// The primary and two secondaries, of which the second blocks the step.
pub fn peers() -> Vec<PeerReport> {
    vec![
        peer("primary", Role::Primary, "lab", 4_100),
        PeerReport {
            round_trip_us: Some(64),
            clock_offset_us: Some(-3),
            levels: vec!["west".to_owned(), "dock".to_owned()],
            performers: vec!["ball".to_owned(), "box".to_owned()],
            physics_us: 121.4,
            systems_us: 9.2,
            busy_us: 142.0,
            network_us: 51.0,
            blocked_us: 20.3,
            wait_us: 204.8,
            last_share: 0.38,
            cpu: 0.41,
            memory_bytes: 48 << 20,
            ..peer("s1", Role::Secondary, "lab", 4_101)
        },
        PeerReport {
            heartbeat_age_ms: 85.0,
            round_trip_us: Some(412),
            clock_offset_us: Some(1_250),
            levels: vec!["east".to_owned()],
            performers: vec!["rover_1".to_owned(), "rover_2".to_owned()],
            physics_us: 305.9,
            systems_us: 11.4,
            sensors_us: 13.1,
            busy_us: 340.0,
            network_us: 78.0,
            blocked_us: 180.2,
            wait_us: 12.0,
            last_share: 0.62,
            blocking: true,
            cpu: 0.87,
            memory_bytes: 1_300 << 20,
            host_load: Some(HostLoad {
                load_average: 5.5,
                cores: 4,
                memory_bytes: 8 << 30,
                available_bytes: 1 << 30,
            }),
            ..peer("s2", Role::Secondary, "robot-7", 991)
        },
    ]
}

/// Two active levels, one that stands by and one that is suspended.
///
/// # Panics
/// Never: all names in it are names.
pub fn levels() -> Vec<LevelReport> {
    let level = |name: &str, owner: &str, performers: &[&str], ghosts: &[&str], models: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        LevelReport {
            name: name.to_owned(),
            world: "warehouse".to_owned(),
            active: !performers.is_empty(),
            owner: Some(owner.parse().expect("it is a name")),
            performers: owned(performers),
            suspended: false,
            digest: None,
            ghosts: owned(ghosts),
            hand_offs: 0,
            models_loaded: owned(models),
            physics_us: 60.7 * performers.len() as f64,
            systems_us: 4.0 * performers.len() as f64,
            sensors_us: 0.0,
        }
    };
    vec![
        level(
            "west",
            "s1",
            &["ball", "box"],
            &["rover_1"],
            &["shelf_1", "shelf_2"],
        ),
        LevelReport {
            hand_offs: 1,
            physics_us: 290.3,
            sensors_us: 13.1,
            ..level("east", "s2", &["rover_1", "rover_2"], &[], &["conveyor"])
        },
        level("dock", "s1", &[], &[], &[]),
        LevelReport {
            active: false,
            suspended: true,
            digest: None,
            ..level("yard", "s1", &["crate"], &[], &[])
        },
    ]
}

/// Two things that lie and roll, and two robots that drive.
///
/// # Panics
/// Never: all names in it are names.
pub fn performers() -> Vec<PerformerReport> {
    let one = |name: &str, owner: &str, level: &str, position, velocity| PerformerReport {
        name: name.to_owned(),
        owner: Some(owner.parse().expect("it is a name")),
        level: level.to_owned(),
        levels: vec![level.to_owned()],
        position,
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
        linear_velocity: velocity,
        angular_velocity: [0.0; 3],
        hand_offs: 0,
        group: None,
    };
    let rover_1 = one(
        "rover_1",
        "s2",
        "east",
        [1.25, -2.0, 0.15],
        [-1.5, 0.0, 0.0],
    );
    vec![
        one("ball", "s1", "west", [-14.0, 3.0, 0.5], [0.3, 0.0, 0.0]),
        one("box", "s1", "west", [-9.5, -3.25, 0.5], [0.0, 0.0, 0.0]),
        PerformerReport {
            levels: vec!["east".to_owned(), "west".to_owned()],
            hand_offs: 1,
            ..rover_1
        },
        one("rover_2", "s2", "east", [13.0, 2.5, 0.15], [0.0, 0.8, 0.0]),
    ]
}

/// Three levels, two shelves, a conveyor, a floor wider than the levels and an endless plane.
pub fn layout() -> Layout {
    let level = |name: &str, min: [f64; 3], max: [f64; 3]| LevelOutline {
        name: name.to_owned(),
        world: "warehouse".to_owned(),
        min,
        max,
        buffer: 2.0,
    };
    let model = |name: &str, min: [f64; 3], max: [f64; 3]| ModelOutline {
        name: name.to_owned(),
        min,
        max,
    };
    let infinity = f64::INFINITY;
    Layout {
        levels: vec![
            level("west", [-20.0, -5.0, -1.0], [0.0, 5.0, 9.0]),
            level("east", [0.0, -5.0, -1.0], [20.0, 5.0, 9.0]),
            level("dock", [-8.0, 7.0, -1.0], [8.0, 17.0, 9.0]),
        ],
        statics: vec![
            model("floor", [-200.0, -200.0, -1.0], [200.0, 200.0, 0.0]),
            model(
                "plane",
                [-infinity, -infinity, -infinity],
                [infinity, infinity, 0.0],
            ),
            model("shelf_1", [-18.0, -4.0, 0.0], [-12.0, -3.0, 2.0]),
            model("shelf_2", [-7.0, 1.0, 0.0], [-6.0, 4.5, 2.0]),
            model("conveyor", [4.0, -4.0, 0.0], [18.0, -3.0, 1.0]),
        ],
        performers: Vec::new(),
    }
}

/// Topics that two robots subscribe to and publish.
pub fn topics() -> Vec<TopicReport> {
    let topic = |name: &str, kind: &str, publishers: &[&str], subscribers: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        TopicReport {
            topic: name.to_owned(),
            kind: format!("gz.msgs.{kind}"),
            publishers: owned(publishers),
            subscribers: owned(subscribers),
        }
    };
    vec![
        topic(
            "/model/rover_1/cmd_vel",
            "Twist",
            &[],
            &["rover_1: DiffDrive"],
        ),
        topic(
            "/model/rover_1/odometry",
            "Odometry",
            &["rover_1: DiffDrive"],
            &[],
        ),
        topic(
            "/model/rover_2/arm",
            "Twist",
            &[],
            &["rover_2: VelocityControl"],
        ),
        topic(
            "/model/rover_2/cmd_vel",
            "Twist",
            &["mission: TriggeredPublisher"],
            &["rover_2: MecanumDrive", "rover_2: OdometryPublisher"],
        ),
        topic(
            "/world/warehouse/wind",
            "Wind",
            &[],
            &["warehouse: WindEffects"],
        ),
    ]
}

fn log_lines() -> impl Iterator<Item = LogLine> {
    let line = |process: &str, text: &str| LogLine {
        process: process.to_owned(),
        text: text.to_owned(),
    };
    let start = [
        line("primary", "INFO world warehouse: 3 levels, 4 performers"),
        line("s1", "INFO joined, hosts west and dock"),
        line("s2", "INFO joined, hosts east"),
        line(
            "primary",
            "INFO 2 of 2 secondaries are here, the run begins",
        ),
    ];
    let later = (0..40).map(move |number| {
        let process = if number % 2 == 0 { "s1" } else { "s2" };
        line(
            process,
            &format!("DEBUG checkpoint {number} written in 1.{} ms", number % 10),
        )
    });
    start.into_iter().chain(later)
}

fn events() -> impl Iterator<Item = RunEvent> {
    let event = |iteration, severity, kind: &str, text: &str| RunEvent {
        iteration: Iteration(iteration),
        severity,
        kind: kind.to_owned(),
        text: text.to_owned(),
    };
    [
        event(0, Severity::Info, "run", "the run begins with s1 and s2"),
        event(
            1,
            Severity::Info,
            "level",
            "west is active in the cell of west",
        ),
        event(
            1,
            Severity::Info,
            "level",
            "east is active in the cell of east",
        ),
        event(
            9_120,
            Severity::Warning,
            "step",
            "s2 holds the step since 250 ms",
        ),
        event(
            11_870,
            Severity::Info,
            "level",
            "rover_1 enters the buffer of west",
        ),
    ]
    .into_iter()
}
