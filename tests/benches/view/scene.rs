//! A fleet as its primary tells of it: 1,000 performers in 64 levels on 8 peers.

use client::feed::{Feed, LogLine};
use protocol::primary_to_observers::{Event, Severity};
use protocol::report::{
    EventCounts, Layout, LevelOutline, LevelReport, ModelOutline, PeerReport, PeerState,
    Percentiles, PerformerReport, RefusedCounts, RunState, Snapshot, Split, Stats, StepHistogram,
};
use protocol::{Digest, Iteration, PeerName, PrimaryToObservers, Role};

const PEERS: u64 = 8;
const LEVELS: u64 = 64;
const PERFORMERS: u64 = 1_000;
/// Edge of a level \[m\]; there are 8 by 8.
const EDGE: f64 = 20.0;

/// Returns the feeds that a view receives when it connects.
pub(crate) fn start() -> Vec<Feed> {
    vec![
        Feed::Connected,
        Feed::Layout(Box::new(layout())),
        Feed::Snapshot(Box::new(Snapshot {
            stats: stats(0),
            peers: peers(0),
            levels: levels(),
            performers: performers(0),
        })),
    ]
}

/// Returns the feeds that it receives in each tenth of a second.
pub(crate) fn tenth(tenth: u64) -> Vec<Feed> {
    let mut feeds = vec![
        PrimaryToObservers::Stats {
            stats: Box::new(stats(tenth)),
            peers: peers(tenth),
        },
        PrimaryToObservers::Poses(performers(tenth)),
        PrimaryToObservers::Event(Event {
            iteration: Iteration(tenth * 100),
            severity: Severity::Info,
            kind: "level".to_owned(),
            text: format!("robot_{tenth} goes from level_1 to level_2"),
        }),
    ];
    if tenth.is_multiple_of(10) {
        feeds.push(PrimaryToObservers::Affinity(levels()));
    }
    let mut feeds: Vec<Feed> = feeds.into_iter().map(Feed::Status).collect();
    feeds.push(Feed::Log(LogLine {
        process: "s1".to_owned(),
        text: format!("DEBUG checkpoint {tenth} written"),
    }));
    feeds
}

/// A number that changes from tenth to tenth, 0 to 1.
fn wave(tenth: u64, phase: u64) -> f64 {
    0.5 + 0.5 * (tenth as f64 * 0.3 + phase as f64).sin()
}

fn stats(tenth: u64) -> Stats {
    let step_us = Percentiles {
        p50: 900.0 + 50.0 * wave(tenth, 0),
        p90: 1_100.0 + 80.0 * wave(tenth, 1),
        p99: 1_500.0 + 200.0 * wave(tenth, 2),
        max: 3_000.0,
    };
    let mut bars = [0; StepHistogram::BARS];
    for step in 0..=tenth * 100 {
        bars[StepHistogram::bar_of((800 + step % 1_300) * 1_000)] += 1;
    }
    Stats {
        world: "fleet".to_owned(),
        state: RunState::Running,
        iteration: tenth * 100,
        sim_time_s: tenth as f64 * 0.1,
        elapsed_s: None,
        paused: false,
        insecure: false,
        real_time_factor: 0.9 + 0.1 * wave(tenth, 3),
        real_time_factor_asked: 1.0,
        steps_per_s: 950.0 + 50.0 * wave(tenth, 3),
        step_us,
        recent_step_us: step_us,
        split: Split {
            physics_us: 500.0 + 50.0 * wave(tenth, 4),
            systems_us: 80.0,
            sensors_us: 60.0,
            cell_us: 40.0,
            network_us: 200.0 + 30.0 * wave(tenth, 5),
            primary_us: 90.0,
            participants_us: 0.0,
            pace_us: 30.0,
        },
        steps: StepHistogram::of_bars(&bars),
        physics_us: step_us,
        overhead_us: step_us,
        digest: Digest(u128::from(tenth) << 96),
        refused: RefusedCounts::default(),
        secondaries_missing: 0,
        events: EventCounts::default(),
    }
}

fn peer_name(index: u64) -> PeerName {
    format!("s{}", index + 1).parse().expect("a valid name")
}

fn peers(tenth: u64) -> Vec<PeerReport> {
    let peer = |name: PeerName, role, index: u64| PeerReport {
        name,
        role,
        state: PeerState::Active,
        pid: 4_000 + index as u32,
        host: "lab".to_owned(),
        heartbeat_age_ms: 100.0 * wave(tenth, index),
        round_trip_us: Some(60 + (40.0 * wave(tenth, index)) as u64),
        clock_offset_us: Some(3),
        levels: (0..LEVELS)
            .filter(|level| level % PEERS == index)
            .map(|level| format!("level_{level}"))
            .collect(),
        performers: Vec::new(),
        physics_us: 400.0 + 100.0 * wave(tenth, index),
        systems_us: 70.0,
        sensors_us: 50.0,
        busy_us: 600.0 + 100.0 * wave(tenth, index),
        network_us: 150.0,
        blocked_us: 100.0 * wave(tenth, index),
        wait_us: 100.0 * wave(tenth, index + 3),
        last_share: wave(tenth, index) / PEERS as f64,
        blocking: index == tenth / 10 % PEERS,
        cpu: wave(tenth, index),
        memory_bytes: 48 << 20,
        host_load: None,
        relay: None,
        relay_age_ms: None,
        gpu: None,
        participant: None,
    };
    let primary = peer(PeerName::primary(), Role::Primary, PEERS);
    let secondaries = (0..PEERS).map(|index| peer(peer_name(index), Role::Secondary, index));
    std::iter::once(primary).chain(secondaries).collect()
}

fn levels() -> Vec<LevelReport> {
    let level = |index: u64| LevelReport {
        name: format!("level_{index}"),
        world: "fleet".to_owned(),
        active: true,
        suspended: false,
        digest: None,
        owner: Some(peer_name(index % PEERS)),
        performers: (0..PERFORMERS)
            .filter(|one| one % LEVELS == index)
            .map(|one| format!("robot_{one}"))
            .collect(),
        ghosts: Vec::new(),
        hand_offs: 0,
        models_loaded: Vec::new(),
        physics_us: 50.0,
        systems_us: 8.0,
        sensors_us: 5.0,
    };
    (0..LEVELS).map(level).collect()
}

fn performers(tenth: u64) -> Vec<PerformerReport> {
    let performer = |index: u64| {
        let (level, place) = (index % LEVELS, index / LEVELS);
        let corner = [(level % 8) as f64 * EDGE, (level / 8) as f64 * EDGE];
        let along = (place as f64 + tenth as f64 * 0.1) % EDGE;
        PerformerReport {
            name: format!("robot_{index}"),
            owner: Some(peer_name(level % PEERS)),
            level: format!("level_{level}"),
            levels: vec![format!("level_{level}")],
            position: [corner[0] + along, corner[1] + place as f64 + 2.0, 0.1],
            orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
            linear_velocity: [1.0, 0.0, 0.0],
            angular_velocity: [0.0; 3],
            hand_offs: 0,
            group: None,
        }
    };
    (0..PERFORMERS).map(performer).collect()
}

fn layout() -> Layout {
    let level = |index: u64| {
        let min = [(index % 8) as f64 * EDGE, (index / 8) as f64 * EDGE, -1.0];
        LevelOutline {
            name: format!("level_{index}"),
            world: "fleet".to_owned(),
            min,
            max: [min[0] + EDGE, min[1] + EDGE, 5.0],
            buffer: 2.0,
        }
    };
    let shelf = |index: u64| {
        let min = [(index % 8) as f64 * EDGE, (index / 8) as f64 * EDGE, 0.0];
        ModelOutline {
            name: format!("shelf_{index}"),
            min,
            max: [min[0] + 6.0, min[1] + 1.0, 2.0],
        }
    };
    Layout {
        levels: (0..LEVELS).map(level).collect(),
        statics: (0..LEVELS).map(shelf).collect(),
        performers: Vec::new(),
    }
}
