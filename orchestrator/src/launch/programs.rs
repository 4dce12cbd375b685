//! [`Programs`]: what runs beside a simulation, from its run file or its worlds: started when the
//! run is ready, stopped with it, each in a process group of its own.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use client::feed::LogLine;
use run::Program;
use rustix::process::Signal;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::process::{Process, describe};

/// Time that a program may take between being asked to end and being killed.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// Information for programs about their run, and the place of their logs.
#[derive(Debug)]
pub struct Surroundings {
    /// The run's name.
    pub run: String,
    /// Endpoint of the run's primary.
    pub endpoint: String,
    /// The folder of logs.
    pub logs: PathBuf,
    /// Receiver of their lines.
    pub lines: mpsc::Sender<LogLine>,
}

/// A program that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its name.
    pub name: String,
    /// Error of the program; `None` if it ended successfully.
    pub failure: Option<String>,
    /// True if the run ends when it fails.
    pub is_critical: bool,
}

/// The programs of a run; killed with their groups when dropped.
#[derive(Debug)]
pub struct Programs {
    waiting: Vec<Program>,
    running: Vec<(Process, bool)>,
    /// Those that could not be started.
    unstarted: VecDeque<ProgramEnd>,
    surroundings: Surroundings,
}

impl ProgramEnd {
    /// Says what happened, for people.
    pub fn describe(&self) -> String {
        match &self.failure {
            None => format!("program {} has ended", self.name),
            Some(failure) => format!("program {} failed: {failure}", self.name),
        }
    }

    /// Tells whether the run is to end now.
    pub fn ends_run(&self) -> bool {
        self.is_critical && self.failure.is_some()
    }
}

impl Programs {
    /// Makes the programs of a run; none is started yet.
    pub fn new(plans: Vec<Program>, surroundings: Surroundings) -> Self {
        Self {
            waiting: plans,
            running: Vec::new(),
            unstarted: VecDeque::new(),
            surroundings,
        }
    }

    /// Starts those that were not started before.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&mut self) {
        for plan in std::mem::take(&mut self.waiting) {
            let command = command(&plan, &self.surroundings);
            let Surroundings { logs, lines, .. } = &self.surroundings;
            match Process::start(command, &plan.name, logs, lines) {
                Ok(process) => self.running.push((process, plan.is_critical)),
                Err(error) => self.unstarted.push_back(ProgramEnd {
                    failure: Some(format!("{:#}", anyhow::Error::new(error))),
                    name: plan.name,
                    is_critical: plan.is_critical,
                }),
            }
        }
    }

    /// Waits for the next program to end; never returns when none is running. May be dropped and
    /// called again.
    pub async fn end(&mut self) -> ProgramEnd {
        if let Some(end) = self.unstarted.pop_front() {
            return end;
        }
        let mut exits = JoinSet::new();
        for (index, (process, _)) in self.running.iter().enumerate() {
            let exit = process.exit();
            exits.spawn(async move { (index, exit.await) });
        }
        let ended = match exits.join_next().await {
            Some(Ok(ended)) => Some(ended),
            Some(Err(_)) | None => None,
        };
        let Some((index, status)) = ended else {
            return std::future::pending().await;
        };
        // Nothing is awaited from here on, so that no end is lost.
        let (process, is_critical) = self.running.swap_remove(index);
        process.kill_rest();
        ProgramEnd {
            name: process.name().to_owned(),
            failure: (!status.success()).then(|| describe(status)),
            is_critical,
        }
    }

    /// Asks all that are running to end, and kills those that do not. None is started afterwards.
    pub async fn stop(&mut self) {
        self.waiting.clear();
        for (process, _) in &self.running {
            process.signal(Signal::TERM);
        }
        let deadline = Instant::now() + STOP_GRACE;
        for (process, _) in &mut self.running {
            if timeout_at(deadline, process.exit()).await.is_err() {
                process.signal(Signal::KILL);
                process.exit().await;
            }
            process.kill_rest();
            process.finish_log().await;
        }
        self.running.clear();
    }
}

fn command(plan: &Program, surroundings: &Surroundings) -> Command {
    let mut command = Command::new(&plan.command);
    command
        .args(&plan.arguments)
        .env("PHALANX_RUN", &surroundings.run)
        .env("PHALANX_ENDPOINT", &surroundings.endpoint)
        .envs(plan.world.iter().map(|world| ("PHALANX_WORLD", world)))
        .envs(&plan.environment)
        .stdin(Stdio::null());
    if let Some(folder) = &plan.folder {
        command.current_dir(folder);
    }
    command
}

#[cfg(test)]
mod tests;
