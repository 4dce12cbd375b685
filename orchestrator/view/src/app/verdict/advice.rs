//! Advice that would speed up a run, with the command where there is one.

use client::units::time;
use protocol::Role;
use protocol::report::{LevelReport, PeerReport};

use super::blame::levels_of;
use super::workers;
use crate::app::model::Model;
use crate::app::palette;
use crate::app::rows::cell_us;

/// The part of a peer's work that a move must save until it is advised.
const GAIN_SHARE: f64 = 0.05;

/// Something that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What.
    pub text: String,
    /// The command that does it, as it is typed behind `:`.
    pub command: Option<String>,
}

impl Advice {
    fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            command: None,
        }
    }
}

/// Returns what helps when the others wait for the work of one peer.
pub(super) fn for_holder(model: &Model, peer: &PeerReport) -> Vec<Advice> {
    let levels = levels_of(model, peer);
    if let Some(advice) = best_move(model, peer, &levels) {
        return vec![advice];
    }
    let mut advice = Vec::new();
    if levels.len() > 1 {
        let more = workers(model).count() + 1;
        advice.push(Advice::new(format!(
            "another secondary for some of its {} levels: start with --secondaries {more}",
            levels.len()
        )));
        advice.push(threads(levels.len()));
    } else {
        advice.push(smaller_cells(levels.first().copied()));
    }
    advice
}

/// Returns what helps when all that a peer does is to step one level.
fn smaller_cells(level: Option<&LevelReport>) -> Advice {
    let performers = level.map_or(0, |level| level.performers.len());
    if performers < 4 {
        return Advice::new("smaller levels: each is one cell, stepped by one peer");
    }
    let half = performers.div_ceil(2);
    Advice::new(format!(
        "its level in parts, which others can step: start with --split-above {half}"
    ))
}

/// Returns the move of a cell that makes the longer of two peers' work shortest, if that is worth
/// it.
fn best_move(model: &Model, peer: &PeerReport, levels: &[&LevelReport]) -> Option<Advice> {
    if levels.len() < 2 {
        return None;
    }
    let others = workers(model).filter(|other| other.name != peer.name);
    let target = others.min_by(|a, b| a.busy_us.total_cmp(&b.busy_us))?;
    let longer = |level: &LevelReport| {
        let moved = cell_us(level);
        (peer.busy_us - moved).max(target.busy_us + moved)
    };
    let level = levels
        .iter()
        .min_by(|a, b| longer(a).total_cmp(&longer(b)))?;
    let gain = peer.busy_us - longer(level);
    let is_worth = gain >= peer.busy_us * GAIN_SHARE;
    let name = palette::quoted(&level.name);
    is_worth.then(|| Advice {
        text: format!("saves about {} per step", time(gain)),
        command: Some(format!("move-cell {name} {}", target.name)),
    })
}

/// Returns what helps when the way to a peer takes longer than its work.
pub(super) fn against_distance(model: &Model, peer: &PeerReport) -> Vec<Advice> {
    let primary = model
        .heard
        .peers
        .iter()
        .find(|one| one.role == Role::Primary);
    let is_remote = primary.is_some_and(|primary| primary.host != peer.host);
    let mut advice = Vec::new();
    if is_remote {
        let text = format!(
            "{} nearer to the primary, or its levels elsewhere",
            peer.name
        );
        advice.push(Advice::new(text));
    }
    let fewer = match workers(model).count().saturating_sub(1) {
        0 | 1 => "--secondaries 0, all in one process".to_owned(),
        count => format!("--secondaries {count}"),
    };
    if peer.role != Role::Standalone {
        let work = time(peer.busy_us);
        let text =
            format!("less to send: {work} of work do not pay for the way; start with {fewer}");
        advice.push(Advice::new(text));
    }
    advice
}

/// Returns what helps when the primary's own work takes longest.
pub(super) fn for_primary(model: &Model) -> Vec<Advice> {
    let ghosts: usize = model
        .heard
        .levels
        .iter()
        .map(|level| level.ghosts.len())
        .sum();
    let mut advice = Vec::new();
    if ghosts > model.heard.performers.len() / 4 {
        advice.push(Advice::new(format!(
            "larger levels or smaller buffers: it places {ghosts} ghosts in each step"
        )));
    }
    advice.push(Advice::new(
        "fewer performers per run: what it does grows with them",
    ));
    advice
}

/// Returns what helps when all peers work alike.
pub(super) fn for_work(model: &Model) -> Vec<Advice> {
    let active = model
        .heard
        .levels
        .iter()
        .filter(|level| cell_us(level) > 0.0)
        .count();
    let peers = workers(model).count();
    if active > peers {
        let (next, most) = ((peers + 1).max(2), active);
        let count = if next == most {
            format!("--secondaries {next}")
        } else {
            format!("--secondaries {next} to {most}")
        };
        let text = format!("more processes for its {active} levels: start with {count}");
        return vec![Advice::new(text), threads(active.div_ceil(peers.max(1)))];
    }
    if model.heard.levels.len() <= 1 {
        let levels = "levels, which divide the work: start with --auto-levels N";
        return vec![Advice::new(levels), threads(2)];
    }
    vec![Advice::new("smaller levels and as many secondaries")]
}

fn threads(levels: usize) -> Advice {
    Advice::new(format!(
        "where cores are free: start with --threads {}",
        levels.clamp(2, 64)
    ))
}
