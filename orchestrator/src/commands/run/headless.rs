//! Following a run without a view: progress, warnings and errors on stderr.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::super::output;
use super::live::{Ending, LiveRun};
use super::progress::is_worth_showing;
use crate::launch::supervisor::NOTICE_GRACE;

/// How often progress is shown, at most.
const PROGRESS_PERIOD: Duration = Duration::from_secs(1);

/// Follows a run until it ends or a signal comes.
pub(super) async fn follow(run: &mut LiveRun) -> Ending {
    output::note(&format!("run {}: {}", run.record.name, run.record.world));
    let exit = run.supervisor.run_exit(NOTICE_GRACE);
    tokio::pin!(exit);
    let mut ticks = interval(PROGRESS_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once, when there is nothing to be said yet.
    ticks.tick().await;
    let mut last_shown = String::new();
    loop {
        tokio::select! {
            exit = &mut exit => return Ending::Exit(exit),
            () = run.signals.next() => return Ending::Interrupted,
            feeds = run.observer.feed() => {
                run.known.on_feeds(&feeds);
                if run.known.has_begun() {
                    run.programs.start();
                }
            }
            end = run.programs.end() => {
                output::note(&end.describe());
                if end.ends_run() {
                    return Ending::Program(end);
                }
            }
            Some(line) = run.lines.recv() => {
                run.known.on_line(&line);
                if is_worth_showing(&line.text) {
                    output::note(&format!("{}: {}", line.process, line.text));
                }
            }
            _ = ticks.tick() => {
                let progress = run.known.progress();
                if progress != last_shown {
                    output::note(&progress);
                    last_shown = progress;
                }
            }
        }
    }
}
