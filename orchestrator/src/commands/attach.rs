//! `phalanx attach`: the view of a run that someone else owns.

use std::time::Duration;

use anyhow::Context;
use protocol::{ExitCode, Outcome, StopReason};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::config::settings;
use super::feeder::Feeder;
use super::target::{self, Target};
use super::terminal_check::require_terminal;
use super::{CommandResult, output, runtime};
use crate::cli::AttachArguments;
use crate::client::Observer;
use crate::run_directory::{FoundRun, Runs};
use crate::view::{self, Feed, ViewEnd, ViewOptions, Wish};

/// How often it is looked whether a run that is not reached is still living.
const LIVENESS_PERIOD: Duration = Duration::from_secs(1);

/// How many commands of the view may wait.
const WISHES_MAX: usize = 64;

/// Shows a run until the user leaves.
pub(super) fn attach(arguments: &AttachArguments) -> CommandResult {
    let target = target::find(arguments.run.as_deref())?;
    require_terminal("`phalanx show` for its figures as text or JSON")?;
    let mut config = settings(None)?;
    arguments.view.apply(&mut config.view);
    let options = ViewOptions::new(target.name(), false, &config);
    let end = runtime()?.block_on(watch(&target, options))?;
    match end {
        ViewEnd::Quit | ViewEnd::Detach => {
            output::note(&format!("detached from {}, which goes on", target.name()));
            Ok(ExitCode::Success)
        }
        ViewEnd::Ended => Ok(ExitCode::Success),
        ViewEnd::Interrupted => Ok(ExitCode::Interrupted),
    }
}

async fn watch(target: &Target, options: ViewOptions) -> anyhow::Result<ViewEnd> {
    let mut observer = Observer::open(&target.endpoints)?;
    let (mut feeder, feeds) = Feeder::new();
    let (wish_sender, mut wishes) = mpsc::channel::<Wish>(WISHES_MAX);
    let view = view::run(options, feeds, wish_sender);
    tokio::pin!(view);
    let mut liveness = interval(LIVENESS_PERIOD);
    liveness.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut is_connected, mut has_ended) = (false, false);
    loop {
        tokio::select! {
            end = &mut view => return end.context("the view failed"),
            news = observer.feed() => for feed in news {
                is_connected = match feed {
                    Feed::Connected => true,
                    Feed::Disconnected => false,
                    _ => is_connected,
                };
                feeder.push(feed);
            },
            _ = liveness.tick(), if !is_connected && !has_ended => {
                if let Some(end) = end_of(target, &observer) {
                    has_ended = true;
                    feeder.push(end);
                }
            }
            Some(wish) = wishes.recv() => observer.act(wish),
            never = feeder.deliver() => match never {},
        }
    }
}

/// Returns how a run that is not reached ended, if it has.
fn end_of(target: &Target, observer: &Observer) -> Option<Feed> {
    let said = observer.stopping().cloned();
    let Some(found) = &target.found else {
        return said.map(|reason| Feed::Ended { reason, logs: None });
    };
    let runs = Runs::open()
        .and_then(|runs| runs.list())
        .unwrap_or_default();
    let is_same = |run: &&FoundRun| {
        let (run, found) = (&run.record, &found.record);
        (run.pid, run.started_unix_s, &run.name) == (found.pid, found.started_unix_s, &found.name)
    };
    let now = runs.iter().find(is_same);
    if now.is_some_and(|run| run.is_living) {
        return None;
    }
    let written = now.and_then(|run| run.record.ended.as_ref());
    let reason = written
        .map(|end| StopReason::new(end.outcome, end.cause.clone()))
        .or(said);
    let reason = reason.unwrap_or_else(|| StopReason::new(Outcome::PeerLost, "the run was killed"));
    Some(Feed::Ended {
        reason,
        logs: Some(found.logs()),
    })
}
