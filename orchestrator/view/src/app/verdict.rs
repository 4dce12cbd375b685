//! [`Verdict`]: what holds the simulation back now, by how much, and what would help.
//!
//! It is told in words, from figures of the last second. When nothing stands out, it says so.

mod advice;
mod blame;
mod silence;
mod steady;

use client::units::{percent, time};
use protocol::PeerName;
use protocol::report::{PeerReport, RunState, Split, Stats};

use super::model::Model;
use super::start_up::waits_for;

pub use advice::Advice;
pub use steady::SteadyVerdict;

/// The part of a period that must be idle until the pace is what holds a run back.
const IDLE_SHARE: f64 = 0.05;
/// Share of the requested pace from which it counts as kept.
const KEPT: f64 = 0.97;
/// The part of the working time from which a part of it stands out.
const PART_SHARE: f64 = 0.4;

/// Kinds of limits of a run's speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Culprit {
    /// Nothing: time is paused, or there is nothing to tell yet.
    Nothing,
    /// Nothing: it keeps the pace that was asked for.
    Pace,
    /// A peer that the others wait for.
    Peer(PeerName),
    /// A relay that is silent, and with it all secondaries behind it.
    Relay(String),
    /// A part of the time, by its place in [`Split::NAMES`].
    Part(usize),
    /// No one thing.
    Spread,
}

/// Judgement of what limits a run's speed, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Peer or part that limits the speed.
    pub culprit: Culprit,
    /// One sentence.
    pub headline: String,
    /// Further sentences, the most telling first.
    pub details: Vec<String>,
    /// Possible remedies, the best first.
    pub advice: Vec<Advice>,
}

impl Verdict {
    /// Returns what is told of the run: the judgement of now, once it has held for a while.
    pub fn of(model: &Model) -> Self {
        let told = model.trends.verdict.told().cloned();
        told.unwrap_or_else(|| Self::judge(model))
    }

    /// Judges the run as the view knows it now.
    pub fn judge(model: &Model) -> Self {
        let Some(stats) = &model.heard.stats else {
            return Self::nothing("nothing is known yet");
        };
        match stats.state {
            RunState::Waiting => Self::waiting(model, stats),
            RunState::Recovering => {
                Self::nothing("the cells of a secondary that was lost are restored")
            }
            RunState::Paused => Self::paused(model),
            RunState::Stopping => Self::nothing("nothing: the run ends"),
            RunState::Running => {
                silence::of_relays(model).unwrap_or_else(|| Self::running(model, stats))
            }
        }
    }

    fn nothing(headline: &str) -> Self {
        Self::plain(Culprit::Nothing, headline.to_owned())
    }

    fn plain(culprit: Culprit, headline: String) -> Self {
        Self {
            culprit,
            headline,
            details: Vec::new(),
            advice: Vec::new(),
        }
    }

    fn waiting(model: &Model, stats: &Stats) -> Self {
        let what = match (waits_for(model), stats.secondaries_missing) {
            (Some(waits), _) => waits,
            (None, 0) => "the world is being built".to_owned(),
            (None, 1) => "one secondary is missing".to_owned(),
            (None, missing) => format!("{missing} secondaries are missing"),
        };
        Self::nothing(&format!("the start: {what}"))
    }

    fn paused(model: &Model) -> Self {
        let mut verdict = Self::nothing("nothing: the run is paused");
        verdict.details.extend(silence::each(model));
        verdict
    }

    fn running(model: &Model, stats: &Stats) -> Self {
        let period = stats.split.period_us();
        if !period.is_finite() || period <= 0.0 {
            return Self::stuck(model);
        }
        let pace = stats.split.pace_us;
        let asked = stats.real_time_factor_asked;
        let is_kept = asked > 0.0 && stats.real_time_factor >= asked * KEPT;
        if is_kept && pace / period >= IDLE_SHARE {
            return Self::pace(stats, period);
        }
        let mut verdict = blame::of_work(model, &stats.split, stats.split.work_us());
        if asked > 0.0 && !is_kept {
            verdict.details.push(format!(
                "{:.2} of {asked:.2} asked: an iteration takes {}",
                stats.real_time_factor,
                time(period)
            ));
        }
        verdict
    }

    /// No step was done in the last second.
    fn stuck(model: &Model) -> Self {
        let Some(peer) = model.heard.peers.iter().find(|peer| peer.blocking) else {
            return Self::nothing("no step was done in the last second");
        };
        let text = format!(
            "{} holds the step, which goes on for over a second",
            peer.name
        );
        let mut verdict = Self::plain(Culprit::Peer(peer.name.clone()), text);
        if peer.participant.is_some() {
            let text = "it is a program, and its answer is awaited";
            verdict.details.push(text.to_owned());
        } else if peer.heartbeat_age_ms >= 1e3 {
            let age = peer.heartbeat_age_ms / 1e3;
            verdict
                .details
                .push(format!("it was last heard {age:.1} s ago"));
        } else {
            verdict
                .details
                .push("it is alive: its step is long".to_owned());
        }
        verdict
    }

    fn pace(stats: &Stats, period: f64) -> Self {
        let (asked, factor) = (stats.real_time_factor_asked, stats.real_time_factor);
        let idle = percent(stats.split.pace_us / period);
        let headline = format!("the pace: {factor:.2} of {asked:.2} asked, {idle} idle");
        let mut verdict = Self::plain(Culprit::Pace, headline);
        let work = period - stats.split.pace_us;
        if work > 0.0 {
            let fastest = factor * period / work;
            let text = format!(
                "without the pace it would go at about {fastest:.1}: an iteration works for {}",
                time(work)
            );
            verdict.details.push(text);
        }
        verdict.advice.push(Advice {
            text: "as fast as possible".to_owned(),
            command: Some("set-real-time-factor 0".to_owned()),
        });
        verdict
    }
}

/// Returns the parts of the split, largest first, with their places in [`Split::NAMES`].
pub fn ranked(split: &Split) -> Vec<(usize, f64)> {
    let mut parts: Vec<(usize, f64)> = split.parts().into_iter().enumerate().collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

/// Returns the secondaries that take part now.
fn workers(model: &Model) -> impl Iterator<Item = &PeerReport> {
    model.heard.peers.iter().filter(|peer| peer.is_worker())
}

#[cfg(test)]
mod tests;
