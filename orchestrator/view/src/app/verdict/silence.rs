//! Tells of relays that are silent: no step ends until they, or those behind them, answer.

use protocol::report::{SilentRelay, silent_relays};

use super::{Advice, Culprit, Verdict, time};
use crate::app::model::Model;

/// Judges a run one of whose relays is silent.
pub(super) fn of_relays(model: &Model) -> Option<Verdict> {
    let silent = silent_relays(&model.heard.peers);
    let (first, others) = silent.split_first()?;
    let headline = format!("{}, and holds the step", said(first));
    let mut verdict = Verdict::plain(Culprit::Relay(first.name.to_owned()), headline);
    verdict.details.push(behind(first));
    verdict.details.extend(others.iter().map(said));
    verdict.advice.push(Advice {
        text: format!(
            "look whether its process runs on {}, and for the way to there",
            first.host
        ),
        command: None,
    });
    Some(verdict)
}

/// Returns a sentence about each relay that is silent.
pub(super) fn each(model: &Model) -> Vec<String> {
    silent_relays(&model.heard.peers).iter().map(said).collect()
}

fn said(relay: &SilentRelay<'_>) -> String {
    let age = time(relay.age_ms * 1e3);
    format!(
        "the relay {} on {} is silent for {age}",
        relay.name, relay.host
    )
}

fn behind(relay: &SilentRelay<'_>) -> String {
    let names: Vec<&str> = relay.behind.iter().map(|name| name.as_str()).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb} behind it", names.join(", "))
}
