//! The figures of a recording at one place, as a primary would tell them.

use std::collections::BTreeMap;

use client::recorded::RecordingPlace;
use protocol::Digest;
use protocol::report::{
    EventCounts, Percentiles, PerformerReport, RefusedCounts, RunState, Snapshot, Split, Stats,
    StepHistogram,
};
use recording::content::{Figures, Membership};
use recording::{Affinity, Frame};

use super::loaded::FrameAt;

/// Returns all figures at a frame; `figures` are the last ones that were recorded before it.
pub(super) fn snapshot(
    world: &str,
    at: &FrameAt,
    frame: Frame,
    figures: Option<&Figures>,
    position: RecordingPlace,
) -> Snapshot {
    let recorded = figures.map(|figures| figures.stats.clone());
    let stats = Stats {
        world: world.to_owned(),
        state: if position.is_playing {
            RunState::Running
        } else {
            RunState::Paused
        },
        iteration: at.clock.iteration.0,
        sim_time_s: at.time.seconds(),
        elapsed_s: None,
        paused: !position.is_playing,
        real_time_factor: if position.is_playing {
            position.speed
        } else {
            0.0
        },
        real_time_factor_asked: position.speed,
        digest: at.digest.unwrap_or_default(),
        events: at.clock.events,
        secondaries_missing: 0,
        ..recorded.unwrap_or_else(nothing)
    };
    let peers = figures.map(|figures| figures.peers.clone());
    Snapshot {
        stats,
        peers: peers.unwrap_or_default(),
        levels: at.affinity.levels.clone(),
        performers: performers(frame, &at.affinity),
    }
}

fn performers(frame: Frame, affinity: &Affinity) -> Vec<PerformerReport> {
    let members = affinity.performers.iter();
    let members: BTreeMap<&str, &Membership> =
        members.map(|one| (one.name.as_str(), one)).collect();
    let report = |placed: recording::Placed| {
        let member = members.get(placed.child_frame_id.as_str());
        let rotation = placed.rotation;
        PerformerReport {
            owner: member.and_then(|member| member.owner.clone()),
            level: member.map_or_else(String::new, |member| member.level.clone()),
            levels: member.map_or_else(Vec::new, |member| member.levels.clone()),
            hand_offs: member.map_or(0, |member| member.hand_offs),
            group: None,
            position: placed.translation.into(),
            orientation_xyzw: [rotation.x, rotation.y, rotation.z, rotation.w],
            linear_velocity: placed.linear_velocity.into(),
            // Recordings have none.
            angular_velocity: [0.0; 3],
            name: placed.child_frame_id,
        }
    };
    frame.transforms.into_iter().map(report).collect()
}

/// The figures of a run of which none were recorded.
fn nothing() -> Stats {
    Stats {
        world: String::new(),
        state: RunState::Paused,
        iteration: 0,
        sim_time_s: 0.0,
        elapsed_s: None,
        paused: true,
        real_time_factor: 0.0,
        real_time_factor_asked: 0.0,
        steps_per_s: 0.0,
        step_us: Percentiles::default(),
        recent_step_us: Percentiles::default(),
        split: Split::default(),
        steps: StepHistogram::default(),
        physics_us: Percentiles::default(),
        overhead_us: Percentiles::default(),
        digest: Digest::default(),
        refused: RefusedCounts::default(),
        secondaries_missing: 0,
        events: EventCounts::default(),
        insecure: false,
    }
}
