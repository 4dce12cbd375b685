//! Time that the rules of a primary take with many secondaries, each of which hosts a level with
//! a performer that moves: per step with a message for each or several in one, and per heartbeat.

use std::time::Duration;

use serde_json::{Value, json};
use tests::cluster;

use crate::scripted::{Answers, Scripted, median, row};

/// Steps before the measurement.
const WARM_UP: u32 = 40;
/// Steps per second and heartbeats per second that are added up.
const RATES: (f64, f64) = (1_000.0, 10.0);
/// Most steps of a message where there are several.
const AHEAD: u32 = 16;

/// Measures the rules of a primary with so many secondaries.
pub(crate) fn measure(secondaries: u32) -> Value {
    let single = run(secondaries, 1);
    let ahead = run(secondaries, AHEAD);
    let of_each = |us: f64| us / f64::from(secondaries);
    let heartbeats = single.heartbeat_us * RATES.1 / RATES.0;
    json!({
        "us_per_step": single.step_us,
        "us_per_secondary_and_step": of_each(single.step_us),
        "us_per_heartbeat": single.heartbeat_us,
        "us_per_secondary_and_step_with_heartbeats": of_each(single.step_us) + heartbeats,
        "us_per_secondary_and_step_ahead": of_each(ahead.step_us),
        "steps_per_s_at_most": 1e6 / single.step_us,
    })
}

/// Times of the rules \[us\].
struct Times {
    /// Of a step: the median over messages.
    step_us: f64,
    heartbeat_us: f64,
}

fn run(secondaries: u32, run_ahead_max: u32) -> Times {
    let mut settings = cluster::settings(secondaries, u64::MAX);
    settings.pace.run_ahead_max = run_ahead_max;
    settings.peers.heartbeat_timeout = Some(Duration::from_secs(2));
    settings.recovery.checkpoint_every = 0;
    let world = row(secondaries, (0..secondaries).map(|level| (level, [0.0; 2])));
    let mut run = Scripted::new(&world, settings, Answers::Moving { every: 1 });
    let steps = (20_000 / secondaries).clamp(40, 2_000);
    (0..WARM_UP).for_each(|_| run.advance());
    run.take_ruled();
    let times = (0..steps).map(|_| {
        (0..run_ahead_max).for_each(|_| run.advance());
        run.take_ruled().as_secs_f64() * 1e6 / f64::from(run_ahead_max)
    });
    let step_us = median(times.collect());
    let beats = (0..20).map(|_| {
        run.beat();
        run.take_ruled().as_secs_f64() * 1e6 / f64::from(secondaries)
    });
    Times {
        step_us,
        heartbeat_us: median(beats.collect()),
    }
}
