//! Following a run without a view: progress, warnings and errors where its owner says them.

use std::time::Duration;

use client::feed::Feed;
use tokio::time::{MissedTickBehavior, interval};

use super::console::Console;
use super::event_file::EventFile;
use super::host_changes;
use super::process_events;
use super::progress::{RunProgress, is_worth_showing};
use super::run_daemon::Word;
use super::running::{Ending, LiveRun};
use crate::launch::WorkerRecord;
use crate::launch::primary_watch::WATCH_PERIOD;
use crate::launch::supervisor::NOTICE_GRACE;

/// Shortest interval between two lines of progress.
const PROGRESS_PERIOD: Duration = Duration::from_secs(1);

/// Follows a run until it ends or a signal comes.
pub(super) async fn follow(run: &mut LiveRun, console: &mut Console) -> Ending {
    console.note(&format!("run {}: {}", run.record.name, run.record.world));
    let started = |worker: &WorkerRecord| format!("{} (pid {})", worker.name, worker.pid);
    let started: Vec<String> = run.record.workers.iter().map(started).collect();
    console.note(&format!("started {}", started.join(", ")));
    let ros2 = run.hosts.ros2();
    if let Some(topics) = ros2.await_reader.as_ref().filter(|_| ros2.enabled) {
        let seconds = ros2.await_reader_timeout.as_secs_f64();
        console.note(&format!(
            "time waits up to {seconds} s for nodes that read {topics}"
        ));
    }
    let mut ticks = interval(PROGRESS_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once, when there is nothing to be said yet.
    ticks.tick().await;
    let mut looks = interval(WATCH_PERIOD);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            change = run.supervisor.change(NOTICE_GRACE) => {
                if let Some(exit) = process_events::on_change(run, change, console) {
                    return Ending::Exit(exit);
                }
            }
            event = run.hosts.event() => host_changes::on_event(run, event, console),
            () = run.signals.ends() => return Ending::Interrupted,
            feeds = run.observer.feed() => {
                note(&mut run.known, &mut run.events, &feeds, console);
                process_events::on_feeds(run, &feeds, console);
                host_changes::on_feeds(run, &feeds);
                host_changes::advance(run, console);
                if run.known.has_begun() {
                    run.programs.start();
                    run.tell_starter(&Word::Begun);
                }
            }
            end = run.programs.end() => {
                console.warn(&end.describe());
                let event = Feed::Status(run.known.event_of(&end));
                note(&mut run.known, &mut run.events, &[event], console);
                if end.ends_run() {
                    return Ending::Program(end);
                }
            }
            Some(line) = run.lines.recv() => {
                run.known.on_line(&line);
                if is_worth_showing(&line.text) {
                    console.repeat(&line.process, &line.text);
                }
            }
            _ = looks.tick() => {
                process_events::watch_primary(run, console);
                host_changes::advance(run, console);
            }
            _ = ticks.tick() => console.progress(&run.known, run.hosts.iterations()),
        }
    }
}

/// Takes in what was heard, and writes the events among it where they are wanted.
pub(super) fn note(
    known: &mut RunProgress,
    file: &mut Option<EventFile>,
    feeds: &[Feed],
    console: &mut Console,
) {
    known.on_feeds(feeds);
    if let Some(file) = file
        && let Err(error) = file.on_feeds(feeds)
    {
        console.warn(&format!("{error:#}"));
    }
}
