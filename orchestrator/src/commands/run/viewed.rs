//! Following a run in its view.

use std::io;
use std::process::ExitStatus;

use protocol::Command;
use tokio::sync::mpsc;

use super::super::feeder::Feeder;
use super::super::output;
use super::conclusion::conclude;
use super::headless;
use super::live::{Ending, LiveRun};
use super::settings::Settings;
use crate::launch::supervisor::{NOTICE_GRACE, REST_GRACE, RunExit, Supervisor};
use crate::run_directory::WorkerRecord;
use crate::view::{self, Feed, ViewEnd, ViewOptions, Wish};

/// How many commands of the view may wait.
const WISHES_MAX: usize = 64;

/// Shows a run until the user leaves, and follows it without a view when the user detaches.
/// A view that fails ends the run, for nobody could control it.
pub(super) async fn follow(run: &mut LiveRun, settings: &Settings) -> (Ending, io::Result<()>) {
    let (view_end, ending) = show(run, settings).await;
    let ending = match (&view_end, ending) {
        (_, Some(ending)) => ending,
        (Ok(ViewEnd::Detach), None) => {
            let name = &run.record.name;
            output::note(&format!(
                "{name} goes on; `phalanx attach {name}` opens its view, Ctrl-C here ends it"
            ));
            headless::follow(run).await
        }
        (Ok(ViewEnd::Interrupted), None) => Ending::Interrupted,
        (Ok(ViewEnd::Quit | ViewEnd::Ended) | Err(_), None) => Ending::Quit,
    };
    (ending, view_end.map(drop))
}

/// Runs the view; returns how it ended, and how the run ended if it did meanwhile.
async fn show(run: &mut LiveRun, settings: &Settings) -> (io::Result<ViewEnd>, Option<Ending>) {
    let options = ViewOptions::new(run.record.name.clone(), true, &settings.config);
    let (mut feeder, feeds) = Feeder::new();
    let (wish_sender, mut wishes) = mpsc::channel::<Wish>(WISHES_MAX);
    let view = view::run(options, feeds, wish_sender);
    tokio::pin!(view);
    feeder.push(Feed::Progress(describe_workers(&run.record.workers)));
    let LiveRun {
        directory,
        supervisor,
        observer,
        lines,
        programs,
        known,
        ..
    } = run;
    let over = see_to_its_end(supervisor);
    tokio::pin!(over);
    let mut ending = None;
    let mut failed_program = None;
    loop {
        tokio::select! {
            end = &mut view => return (end, ending.or(failed_program)),
            (ended, status) = &mut over, if ending.is_none() => {
                programs.stop().await;
                while let Ok(line) = lines.try_recv() {
                    known.on_line(&line);
                    feeder.push(Feed::Log(line));
                }
                let ended = failed_program.take().unwrap_or(Ending::Exit(ended));
                let written = std::fs::read_to_string(directory.summary()).ok();
                let logs = directory.logs();
                let conclusion = conclude(&ended, status, written.as_deref(), known, logs);
                let (reason, logs) = (conclusion.reason(), Some(conclusion.logs));
                feeder.push(Feed::Ended { reason, logs });
                ending = Some(ended);
            }
            end = programs.end() => {
                feeder.push(Feed::Status(known.event_of(&end)));
                if end.ends_run() {
                    observer.send(Command::Stop);
                    failed_program = Some(Ending::Program(end));
                }
            }
            news = observer.feed() => {
                known.on_feeds(&news);
                if known.has_begun() {
                    programs.start();
                }
                for feed in news {
                    feeder.push(feed);
                }
            }
            Some(line) = lines.recv() => {
                known.on_line(&line);
                feeder.push(Feed::Log(line));
            }
            Some(wish) = wishes.recv() => observer.act(wish),
            never = feeder.deliver() => match never {},
        }
    }
}

/// Waits until the run is over and all of its processes have ended.
async fn see_to_its_end(supervisor: &mut Supervisor) -> (RunExit, Option<ExitStatus>) {
    let exit = supervisor.run_exit(NOTICE_GRACE).await;
    match exit {
        RunExit::First(_) => supervisor.end(REST_GRACE).await,
        RunExit::Unnoticed { .. } => supervisor.terminate().await,
    }
    (exit, supervisor.first_status())
}

fn describe_workers(workers: &[WorkerRecord]) -> String {
    let describe = |worker: &WorkerRecord| format!("{} (pid {})", worker.name, worker.pid);
    let workers: Vec<String> = workers.iter().map(describe).collect();
    format!("started {}", workers.join(", "))
}
