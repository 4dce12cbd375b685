//! What the rules of a primary take with secondaries that are simulated in this process, each of
//! which has a level with a ball that falls: per step, with a message for each or several in one,
//! and per heartbeat. The deadline is asked for as the driver does it, twice for each input.

use lockstep::Settings;
use sdf::{Collision, Geometry, Level, Link, Model, Pose, World};
use serde_json::{Value, json};
use tests::cluster;
use tests::direct::Direct;

/// Steps before the measurement.
const WARM_UP: u32 = 20;
/// Steps per second and heartbeats per second that are added up.
const RATES: (f64, f64) = (1_000.0, 10.0);

/// Measures the rules of a primary with so many secondaries.
pub(crate) fn measure(secondaries: u32) -> Value {
    let single = run(secondaries, 1);
    let ahead = run(secondaries, 64);
    let of_each = |us: f64| us / f64::from(secondaries);
    let heartbeats_per_step = RATES.1 / RATES.0;
    json!({
        "us_per_step": single.step_us,
        "us_per_secondary_and_step": of_each(single.step_us),
        "us_per_heartbeat": single.heartbeat_us,
        "us_per_secondary_and_step_with_heartbeats":
            of_each(single.step_us) + single.heartbeat_us * heartbeats_per_step,
        "us_per_secondary_and_step_ahead": of_each(ahead.step_us),
        "steps_per_s_at_most": 1e6 / single.step_us,
    })
}

/// Times of the rules \[us\].
struct Times {
    /// Mean over steps of the median per block, since of those that are done ahead most take less.
    step_us: f64,
    heartbeat_us: f64,
}

fn run(secondaries: u32, run_ahead_max: u32) -> Times {
    let settings = Settings {
        run_ahead_max,
        checkpoint_every: 0,
        participants_max: 4,
        participants_awaited: Vec::new(),
        heartbeat_timeout: Some(std::time::Duration::from_secs(2)),
        balance: false,
        ..cluster::settings(secondaries, u64::MAX)
    };
    let mut run = Direct::new(&[row(secondaries)], settings);
    let steps = (20_000 / secondaries).clamp(20, 2_000);
    for _ in 0..WARM_UP * run_ahead_max.min(8) {
        run.advance();
    }
    let times = (0..steps).map(|_| {
        run.take_ruled();
        (0..run_ahead_max).for_each(|_| drop(run.advance()));
        run.take_ruled().as_secs_f64() * 1e6 / f64::from(run_ahead_max)
    });
    let step_us = median(times.collect());
    let beats = (0..20).map(|_| {
        run.take_ruled();
        run.beat();
        run.take_ruled().as_secs_f64() * 1e6 / f64::from(secondaries)
    });
    Times {
        step_us,
        heartbeat_us: median(beats.collect()),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
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
