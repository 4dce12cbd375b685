//! Reactions of the owner of a run to its processes: reports how one ended, has lost ones replaced,
//! and records which process has taken whose place.

use client::feed::Feed;
use protocol::primary_to_observers::{Announce, HeartbeatRelay, Severity};
use protocol::report::RunState;
use protocol::{Command, PeerName, PrimaryToObservers};
use tokio::time::Instant;

use super::console::Console;
use super::headless;
use super::running::LiveRun;
use crate::launch::death::Death;
use crate::launch::primary_watch::{Sign, Verdict};
use crate::launch::process_state::ProcessState;
use crate::launch::supervisor::{Change, RunExit};

/// Takes in what happened to the processes; returns how the run ended, if it has.
pub(super) fn on_change(
    run: &mut LiveRun,
    change: Change,
    console: &mut Console,
) -> Option<RunExit> {
    match change {
        Change::Over(exit) => return Some(exit),
        Change::Ended(death) => on_ended(run, death, console),
        Change::Restarted(worker) => {
            let text = format!("started {} again (pid {})", worker.name, worker.pid);
            console.note(&text);
            tell(run, Severity::Info, text, console);
            run.record.workers = run.supervisor.workers();
            if let Err(error) = run.directory.write_record(&run.record) {
                console.warn(&format!("{:#}", anyhow::Error::new(error)));
            }
        }
        Change::Abandoned(text) => {
            console.warn(&text);
            tell(run, Severity::Warning, text, console);
        }
    }
    None
}

/// Looks whether the primary is heard; one that is not for too long is killed, which ends the run.
pub(super) fn watch_primary(run: &mut LiveRun, console: &mut Console) {
    let Some((_, pid)) = run.supervisor.first() else {
        return;
    };
    let verdict = run.watch.tick(Instant::now(), || ProcessState::of(pid));
    on_verdict(run, verdict, console);
}

fn on_verdict(run: &mut LiveRun, verdict: Option<Verdict>, console: &mut Console) {
    run.supervisor.hold_restarts(!run.watch.is_responsive());
    match verdict {
        None => {}
        Some(Verdict::Silent(text)) => {
            console.warn(&text);
            tell(run, Severity::Warning, text, console);
        }
        Some(Verdict::Back(text)) => {
            console.note(&text);
            tell(run, Severity::Info, text, console);
        }
        Some(Verdict::Lost(text)) => {
            let text = format!("{text}; it is killed");
            console.warn(&text);
            tell(run, Severity::Error, text.clone(), console);
            run.known.hung = Some(text);
            run.supervisor.kill_first();
        }
    }
}

/// Takes in what the primary said of itself and of its peers.
pub(super) fn on_feeds(run: &mut LiveRun, feeds: &[Feed], console: &mut Console) {
    for feed in feeds {
        if let Some(sign) = sign_of(feed) {
            let verdict = run.watch.on_sign(sign);
            on_verdict(run, verdict, console);
        }
        match feed {
            Feed::Status(PrimaryToObservers::Announce(Announce::Left { name, .. })) => {
                // A process that was started in its place meanwhile has another id.
                if let Some(pid) = run.known.pids.get(name) {
                    run.supervisor.replace(name.as_str(), *pid);
                }
            }
            Feed::Status(PrimaryToObservers::Announce(Announce::Joined(info))) => {
                run.known.pids.insert(info.name.clone(), info.pid);
            }
            Feed::Status(PrimaryToObservers::Announce(Announce::Stopping(_))) => {
                run.supervisor.end_restarts();
            }
            Feed::Status(PrimaryToObservers::Stats { stats, peers }) => {
                let pids = peers.iter().map(|peer| (peer.name.clone(), peer.pid));
                run.known.pids.extend(pids);
                if stats.state == RunState::Stopping {
                    run.supervisor.end_restarts();
                }
            }
            _ => {}
        }
    }
}

/// Returns what a piece of news says of the life of the primary.
fn sign_of(feed: &Feed) -> Option<Sign> {
    match feed {
        Feed::Status(PrimaryToObservers::Heartbeat(HeartbeatRelay { name, .. })) => {
            (*name == PeerName::primary()).then_some(Sign::Beat)
        }
        Feed::Status(PrimaryToObservers::Stats { stats, .. }) => match stats.state {
            RunState::Stopping => Some(Sign::Ending),
            _ => Some(Sign::Figures),
        },
        Feed::Status(PrimaryToObservers::Announce(Announce::Stopping(_))) => Some(Sign::Ending),
        _ => None,
    }
}

/// A process that ended in order has said why to the primary; of one that crashed only its owner
/// knows.
fn on_ended(run: &mut LiveRun, death: Death, console: &mut Console) {
    run.hosts.on_death(&death);
    if death.is_orderly() {
        return;
    }
    let text = death.describe();
    console.warn(&text);
    if let Ok(peer) = death.name.parse() {
        // The run knows a process of another machine by its id there.
        let there = death.host.as_ref().and(run.known.pids.get(&peer));
        run.observer.send(Command::ProcessEnded {
            pid: there.copied().unwrap_or(death.pid),
            peer,
            how: death.how(),
        });
    }
    run.known.deaths.push(death);
    tell(run, Severity::Warning, text, console);
}

/// Tells observers something that the primary does not know.
pub(super) fn tell(run: &mut LiveRun, severity: Severity, text: String, console: &mut Console) {
    let event = Feed::Status(run.known.event(severity, "process", text));
    headless::note(&mut run.known, &mut run.events, &[event], console);
}
