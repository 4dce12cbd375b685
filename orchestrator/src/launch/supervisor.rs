//! [`Supervisor`]: starts the processes of a run, watches them, and ends every one of them.
//!
//! The first process, primary or standalone, decides when a run is over. However this object goes
//! away, by an ordered end, an error or a panic, no process of the run stays.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::WorkerCommand;
use super::process::{Process, SpawnError};
use crate::app::event::LogLine;
use crate::run_directory::WorkerRecord;

/// How long the others may take after the first process has ended.
pub const REST_GRACE: Duration = Duration::from_secs(1);

/// How long a process may take between being asked to end and being killed.
pub const TERMINATE_GRACE: Duration = Duration::from_secs(1);

/// How long the first process may take to notice that another one has failed.
pub const NOTICE_GRACE: Duration = Duration::from_millis(1200);

/// The processes of one run.
#[derive(Debug)]
pub struct Supervisor {
    processes: Vec<Process>,
}

/// How the first process's part came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunExit {
    /// It ended by itself.
    First(ExitStatus),
    /// Another process failed and the first one did not take notice.
    Unnoticed {
        /// Which process failed.
        name: String,
        /// How.
        status: ExitStatus,
    },
}

impl Supervisor {
    /// Starts processes; the first of them decides when the run is over. Their lines go to
    /// `<logs>/<name>.log` and to `lines`.
    ///
    /// # Errors
    /// When one cannot be started; those that were started are killed.
    pub fn spawn(
        program: &Path,
        commands: &[WorkerCommand],
        logs: &Path,
        lines: &mpsc::Sender<LogLine>,
    ) -> Result<Self, SpawnError> {
        let processes = commands
            .iter()
            .map(|command| Process::spawn(program, command, logs, lines))
            .collect::<Result<_, _>>()?;
        Ok(Self { processes })
    }

    /// Returns who the processes are.
    pub fn workers(&self) -> Vec<WorkerRecord> {
        self.processes
            .iter()
            .filter_map(|process| {
                Some(WorkerRecord {
                    name: process.name().to_owned(),
                    role: process.role()?,
                    pid: process.pid(),
                })
            })
            .collect()
    }

    /// Waits until the run is over: the first process has ended, or another one has failed and
    /// the first did not end within `notice_grace`. May be dropped and called again.
    pub async fn run_exit(&self, notice_grace: Duration) -> RunExit {
        let Some((first, rest)) = self.processes.split_first() else {
            return std::future::pending().await;
        };
        let failure = tokio::select! {
            status = first.exit() => return RunExit::First(status),
            failure = first_failure(rest) => failure,
        };
        match timeout(notice_grace, first.exit()).await {
            Ok(status) => RunExit::First(status),
            Err(_) => failure,
        }
    }

    /// Waits until the first process has ended, at most so long; tells whether it has.
    pub async fn first_ends_within(&self, grace: Duration) -> bool {
        match self.processes.first() {
            Some(first) => timeout(grace, first.exit()).await.is_ok(),
            None => true,
        }
    }

    /// Returns how the first process ended, if it has.
    pub fn first_status(&self) -> Option<ExitStatus> {
        self.processes.first().and_then(Process::status)
    }

    /// Asks every process that is left to end, and kills those that do not.
    pub async fn terminate(&mut self) {
        for process in &self.processes {
            process.signal(Signal::TERM);
        }
        self.end(TERMINATE_GRACE).await;
    }

    /// Waits until all processes have ended and their logs are written, and kills those that take
    /// longer than `grace`.
    pub async fn end(&mut self, grace: Duration) {
        for process in &mut self.processes {
            process.cut_lifeline();
        }
        let deadline = Instant::now() + grace;
        for process in &self.processes {
            if timeout_at(deadline, process.exit()).await.is_err() {
                process.signal(Signal::KILL);
                process.exit().await;
            }
        }
        for process in &mut self.processes {
            process.finish_log().await;
        }
    }
}

/// Waits for the first of several processes to end other than successfully.
async fn first_failure(processes: &[Process]) -> RunExit {
    let mut exits = JoinSet::new();
    for process in processes {
        let (name, exit) = (process.name().to_owned(), process.exit());
        exits.spawn(async move { (name, exit.await) });
    }
    while let Some(ended) = exits.join_next().await {
        if let Ok((name, status)) = ended
            && !status.success()
        {
            return RunExit::Unnoticed { name, status };
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
