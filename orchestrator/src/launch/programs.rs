//! [`Programs`]: what runs beside a simulation, from its run file or its worlds: started when the
//! run is ready, stopped with it, each in a process group of its own. One that the run keeps up is
//! started again when it fails, as secondaries are.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use client::feed::LogLine;
use run::Program;
use rustix::process::Signal;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::process::{Process, describe};
use super::restart_policy::RestartPolicy;

/// Time that a program may take between being asked to end and being killed.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// Information for programs about their run, and the place of their logs.
#[derive(Debug)]
pub struct ProgramContext {
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
    /// Restart, or the end of all of them, of a program that the run keeps up, for people.
    pub sequel: Option<String>,
}

/// The programs of a run; killed with their groups when dropped.
#[derive(Debug)]
pub struct Programs {
    waiting: Vec<Plan>,
    running: Vec<(Process, Plan)>,
    /// Those that could not be started.
    unstarted: VecDeque<ProgramEnd>,
    /// Those that are started again, each at its time.
    due: Vec<(Instant, Plan)>,
    context: ProgramContext,
}

/// A program, and how it is kept up if it is.
#[derive(Debug)]
struct Plan {
    program: Program,
    restart: Option<ProgramRestart>,
}

#[derive(Debug)]
struct ProgramRestart {
    policy: RestartPolicy,
    restarts_per_minute: u32,
}

impl ProgramEnd {
    /// Says what happened, for people.
    pub fn describe(&self) -> String {
        let told = match &self.failure {
            None => format!("program {} has ended", self.name),
            Some(failure) => format!("program {} failed: {failure}", self.name),
        };
        match &self.sequel {
            None => told,
            Some(sequel) => format!("{told}; {sequel}"),
        }
    }

    /// Tells whether the run is to end now.
    pub fn ends_run(&self) -> bool {
        self.is_critical && self.failure.is_some()
    }
}

impl Programs {
    /// Makes the programs of a run; none is started yet.
    pub fn new(programs: Vec<Program>, context: ProgramContext) -> Self {
        let plan = |program| Plan {
            program,
            restart: None,
        };
        Self {
            waiting: programs.into_iter().map(plan).collect(),
            running: Vec::new(),
            unstarted: VecDeque::new(),
            due: Vec::new(),
            context,
        }
    }

    /// Adds a program that is started again when it fails, so many times a minute at most.
    pub fn keep_up(&mut self, program: Program, restarts_per_minute: u32) {
        let policy = RestartPolicy::default();
        self.waiting.push(Plan {
            program,
            restart: Some(ProgramRestart {
                policy,
                restarts_per_minute,
            }),
        });
    }

    /// Starts those that were not started before.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&mut self) {
        for plan in std::mem::take(&mut self.waiting) {
            self.start_one(plan);
        }
    }

    fn start_one(&mut self, mut plan: Plan) {
        let command = command(&plan.program, &self.context);
        let ProgramContext { logs, lines, .. } = &self.context;
        match Process::start(command, &plan.program.name, logs, lines) {
            Ok(process) => {
                if let Some(restart) = &mut plan.restart {
                    restart.policy.on_started(Instant::now());
                }
                self.running.push((process, plan));
            }
            Err(error) => self.unstarted.push_back(ProgramEnd {
                failure: Some(format!("{:#}", anyhow::Error::new(error))),
                name: plan.program.name,
                is_critical: plan.program.is_critical,
                sequel: None,
            }),
        }
    }

    /// Waits for the next program to end, and starts again what is due meanwhile; never returns
    /// when none is running. May be dropped and called again.
    pub async fn end(&mut self) -> ProgramEnd {
        loop {
            if let Some(end) = self.unstarted.pop_front() {
                return end;
            }
            let due = self.due.iter().map(|(at, _)| *at).min();
            let ended = match due {
                Some(at) => timeout_at(at, self.next_exit()).await.ok(),
                None => Some(self.next_exit().await),
            };
            // Nothing is awaited from here on, so that no end is lost.
            match ended {
                Some((index, status)) => return self.on_ended(index, status),
                None => self.start_due(Instant::now()),
            }
        }
    }

    /// Waits for the next of the running processes to end.
    async fn next_exit(&self) -> (usize, ExitStatus) {
        let mut exits = JoinSet::new();
        for (index, (process, _)) in self.running.iter().enumerate() {
            let exit = process.exit();
            exits.spawn(async move { (index, exit.await) });
        }
        match exits.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(_)) | None => std::future::pending().await,
        }
    }

    fn on_ended(&mut self, index: usize, status: ExitStatus) -> ProgramEnd {
        let (process, mut plan) = self.running.swap_remove(index);
        process.kill_rest();
        let mut end = ProgramEnd {
            name: process.name().to_owned(),
            failure: (!status.success()).then(|| describe(status)),
            is_critical: plan.program.is_critical,
            sequel: None,
        };
        if let Some(restart) = plan.restart.as_mut().filter(|_| end.failure.is_some()) {
            let now = Instant::now();
            let limit = restart.restarts_per_minute;
            match restart.policy.on_ended(status, limit, now) {
                Ok(()) => {
                    let at = restart.policy.due.unwrap_or(now);
                    let wait = at.duration_since(now).as_millis();
                    end.sequel = Some(format!("it is started again in {wait} ms"));
                    self.due.push((at, plan));
                }
                Err(error) => end.sequel = Some(format!("it is left: {error}")),
            }
        }
        end
    }

    fn start_due(&mut self, now: Instant) {
        for (_, plan) in self
            .due
            .extract_if(.., |(at, _)| *at <= now)
            .collect::<Vec<_>>()
        {
            self.start_one(plan);
        }
    }

    /// Asks all that are running to end, and kills those that do not. None is started afterwards.
    pub async fn stop(&mut self) {
        self.waiting.clear();
        self.due.clear();
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

fn command(plan: &Program, context: &ProgramContext) -> Command {
    let mut command = Command::new(&plan.command);
    command
        .args(&plan.arguments)
        .env("PHALANX_RUN", &context.run)
        .env("PHALANX_ENDPOINT", &context.endpoint)
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
