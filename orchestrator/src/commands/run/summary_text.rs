//! The summary of a run, for people.

use std::fmt::Write;

use protocol::report::{Percentiles, Summary};

use super::conclusion::Conclusion;
use crate::app::plain_text::plain;

/// How many performers are listed; JSON has them all.
const PERFORMERS_MAX: usize = 20;

/// Returns the summary as lines of text.
pub(super) fn describe(conclusion: &Conclusion) -> String {
    let summary = &conclusion.summary;
    let mut text = plain(&format!("{}: {}", summary.outcome, summary.cause));
    text.push('\n');
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<12}{}", plain(&value));
    };
    row("world", summary.world.clone());
    row(
        "iterations",
        format!(
            "{} ({:.3} s simulated)",
            summary.iterations, summary.sim_time_s
        ),
    );
    row("digest", summary.digest.to_string());
    row("real time", format!("{:.2}x", summary.real_time_factor));
    row("steps", format!("{:.0}/s", summary.steps_per_s));
    row("step", times(summary.step_us));
    row("physics", times(summary.physics_us));
    row("overhead", times(summary.overhead_us));
    for secondary in &summary.secondaries {
        let (levels, performers) = (&secondary.levels, secondary.performers.len());
        let levels = if levels.is_empty() {
            "no levels".to_owned()
        } else {
            levels.join(", ")
        };
        row(
            secondary.name.as_str(),
            format!("{levels}; {performers} performers"),
        );
    }
    row("events", events(summary));
    if summary.refused.total() > 0 {
        row("refused", format!("{} messages", summary.refused.total()));
    }
    for performer in summary.performers.iter().take(PERFORMERS_MAX) {
        let [x, y, z] = performer.position;
        let owner = performer.owner.as_ref().map_or("-", |owner| owner.as_str());
        let place = format!("{x:.3} {y:.3} {z:.3} m");
        row(
            "performer",
            format!(
                "{} at {place}, {owner}, {}",
                performer.name, performer.level
            ),
        );
    }
    if let Some(more @ 1..) = summary.performers.len().checked_sub(PERFORMERS_MAX) {
        row("", format!("and {more} performers more"));
    }
    row("logs", conclusion.logs.display().to_string());
    text
}

fn times(times: Percentiles) -> String {
    format!(
        "p50 {:.0} us, p99 {:.0} us, max {:.0} us",
        times.p50, times.p99, times.max
    )
}

fn events(summary: &Summary) -> String {
    let events = &summary.events;
    format!(
        "{} hand-offs, {} migrations, {} levels loaded, {} unloaded, {} recoveries",
        events.hand_offs,
        events.migrations,
        events.levels_loaded,
        events.levels_unloaded,
        events.recoveries
    )
}
