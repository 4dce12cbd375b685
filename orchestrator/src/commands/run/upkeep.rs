//! What the owner of a run does about its processes: it tells how one ended, has lost ones
//! replaced, and writes down which process has whose place.

use protocol::primary_to_observers::{Announce, Severity};
use protocol::report::RunState;
use protocol::{Command, PrimaryToObservers};

use super::console::Console;
use super::headless;
use super::live::LiveRun;
use crate::app::event::Feed;
use crate::launch::death::Death;
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

/// Takes in what the primary said of its peers.
pub(super) fn on_feeds(run: &mut LiveRun, feeds: &[Feed]) {
    for feed in feeds {
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

/// A process that ended in order has said why to the primary; of one that crashed only its owner
/// knows.
fn on_ended(run: &mut LiveRun, death: Death, console: &mut Console) {
    if death.is_orderly() {
        return;
    }
    let text = death.describe();
    console.warn(&text);
    if let Ok(peer) = death.name.parse() {
        run.observer.send(Command::ProcessEnded {
            peer,
            pid: death.pid,
            how: death.how(),
        });
    }
    run.known.deaths.push(death);
    tell(run, Severity::Warning, text, console);
}

fn tell(run: &mut LiveRun, severity: Severity, text: String, console: &mut Console) {
    let event = Feed::Status(run.known.event(severity, "process", text));
    headless::note(&mut run.known, &mut run.events, &[event], console);
}
