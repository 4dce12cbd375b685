//! [`Supervisor`]: starts the processes of a run, watches them, starts those again that a run that
//! recovers has lost, and ends every one of them.
//!
//! The first process, primary or standalone, decides when a run is over. However this object goes
//! away, by an ordered end, an error or a panic, no process of the run stays.

use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use client::feed::LogLine;
use protocol::Role;
use rustix::process::Signal;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::death::{Death, UNREACHABLE, last_words};
use super::hosts::RemoteStart;
use super::process::{Process, SpawnError};
use super::restart_policy::{REPLACE_GRACE, RestartPolicy};
use super::{WorkerCommand, WorkerRecord};

/// Time that the others may take after the first process has ended: a worker ends by itself within
/// three seconds of that, unless it is stopped, and says why.
pub const REST_GRACE: Duration = Duration::from_secs(4);

/// Time that a process may take between being asked to end and being killed.
pub const TERMINATE_GRACE: Duration = Duration::from_secs(1);

/// Time that the first process may take to notice that another one has failed, to wait a second for
/// the others to leave, and to write what is left.
pub const NOTICE_GRACE: Duration = Duration::from_secs(5);

/// Age of a process on another machine from which on it can be one that the run has lost.
const REMOTE_AGE_MIN: Duration = Duration::from_secs(2);

/// The processes of one run.
#[derive(Debug)]
pub struct Supervisor {
    processes: Vec<Process>,
    /// Restart state of each of them.
    restarts: Vec<RestartPolicy>,
    commands: Vec<WorkerCommand>,
    program: PathBuf,
    logs: PathBuf,
    lines: mpsc::Sender<LogLine>,
    policy: LossPolicy,
    /// The first failure that the first process is to take notice of, and until when.
    failure: Option<(Instant, RunExit)>,
    /// True if the run ends, so that nothing is started any more.
    is_ending: bool,
    /// True if restarts wait, since the first process would not welcome whom they start.
    holds_restarts: bool,
}

/// Reaction to the end of a process other than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossPolicy {
    /// The first process ends the run.
    Stop,
    /// The first process goes on without it, or with it once it is started again.
    Recover {
        /// Number of times per minute that one process may be started again; 0 is never.
        restarts_per_minute: u32,
    },
}

/// The end of the first process's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunExit {
    /// It ended by itself.
    First(ExitStatus),
    /// Another process failed and the first one did not take notice.
    Unnoticed {
        /// The process that failed.
        name: String,
        /// Its exit status.
        status: ExitStatus,
    },
}

/// Something that happened to the processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The run is over.
    Over(RunExit),
    /// A process other than the first has ended.
    Ended(Death),
    /// A process was started again.
    Restarted(WorkerRecord),
    /// A process is not started again, and why.
    Abandoned(String),
}

impl Supervisor {
    /// Starts processes; the first of them decides when the run is over. Their lines go to
    /// `<logs>/<name>.log` and to `lines`.
    ///
    /// # Errors
    /// Fails if one cannot be started; those that were started are killed.
    pub fn spawn(
        program: &Path,
        commands: &[WorkerCommand],
        logs: &Path,
        lines: &mpsc::Sender<LogLine>,
        policy: LossPolicy,
    ) -> Result<Self, SpawnError> {
        let processes: Vec<Process> = commands
            .iter()
            .map(|command| Process::spawn(program, command, logs, lines))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            restarts: processes.iter().map(|_| RestartPolicy::default()).collect(),
            processes,
            commands: commands.to_vec(),
            program: program.to_owned(),
            logs: logs.to_owned(),
            lines: lines.clone(),
            policy,
            failure: None,
            is_ending: false,
            holds_restarts: false,
        })
    }

    /// Starts further processes. The run does not count on them: their end is no failure of it,
    /// and they are not started again, until [`Supervisor::count_on`].
    ///
    /// # Errors
    /// Fails if one cannot be started; those that were are killed.
    pub fn add(&mut self, commands: &[WorkerCommand]) -> Result<(), SpawnError> {
        let spawn = |command| Process::spawn(&self.program, command, &self.logs, &self.lines);
        let processes: Vec<Process> = commands.iter().map(spawn).collect::<Result<_, _>>()?;
        let restart = processes.iter().map(|_| RestartPolicy::apart());
        self.restarts.extend(restart);
        self.processes.extend(processes);
        self.commands.extend_from_slice(commands);
        Ok(())
    }

    /// Has the run count on a process that was added, and on the relay that it is behind.
    pub fn count_on(&mut self, name: &str) {
        if let Some(index) = self.index(name) {
            self.restarts[index].is_apart = false;
            if let Some(relay) = self.relay_of(index) {
                self.restarts[relay].is_apart = false;
            }
        }
    }

    /// Lets a process end without being a loss: it is not started again.
    pub fn let_go(&mut self, name: &str) {
        if let Some(index) = self.index(name) {
            let restart = &mut self.restarts[index];
            restart.is_apart = true;
            (restart.due, restart.replace_at, restart.refused) = (None, None, None);
        }
    }

    /// Ends a process: cuts its lifeline and asks it to end.
    pub fn end_one(&mut self, name: &str) {
        if let Some(index) = self.index(name) {
            self.processes[index].cut_lifeline();
            self.processes[index].signal(Signal::TERM);
        }
    }

    /// Forgets a process for good, and kills it if it still lives; so goes a relay that nobody is
    /// behind then.
    pub fn forget(&mut self, name: &str) {
        if let Some(index) = self.index(name) {
            let relay = self.relay_of(index);
            let relay = relay.map(|relay| self.commands[relay].name.clone());
            self.processes.remove(index);
            self.restarts.remove(index);
            self.commands.remove(index);
            if let Some(relay) = relay.filter(|relay| relay != name) {
                self.forget_idle_relay(&relay);
            }
        }
    }

    /// Tells whether a process is known and has not ended.
    pub fn is_running(&self, name: &str) -> bool {
        let index = self.index(name);
        index.is_some_and(|index| self.processes[index].status().is_none())
    }

    /// Returns the names of all secondaries, each with the machine that it is on if that is another
    /// one.
    pub fn secondaries(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let others = self.commands.iter().skip(1);
        let others = others.filter(|command| command.role != Role::Relay);
        others.map(|command| {
            let host = command.remote.as_ref().map(RemoteStart::host);
            (command.name.as_str(), host)
        })
    }

    /// Ends and forgets a relay that no secondary is behind any more.
    fn forget_idle_relay(&mut self, name: &str) {
        let is_used = self.index(name).is_some_and(|index| {
            let relay = &self.commands[index];
            let mut others = self.commands.iter();
            others.any(|other| other.role != Role::Relay && is_of_relay(other, relay))
        });
        if !is_used {
            self.end_one(name);
            self.forget(name);
        }
    }

    /// Returns the index of the relay that the process of another index is behind.
    fn relay_of(&self, index: usize) -> Option<usize> {
        let command = self.commands.get(index)?;
        let mut all = self.commands.iter();
        all.position(|one| one.role == Role::Relay && is_of_relay(command, one))
    }

    /// Tells whether all secondaries behind a relay were lost while they lived; those that crashed
    /// say nothing about their relay.
    fn lost_everybody(&self, relay: usize) -> bool {
        let mut all = self.commands.iter().zip(&self.restarts);
        all.all(|(command, restart)| {
            command.role == Role::Relay
                || !is_of_relay(command, &self.commands[relay])
                || restart.was_cut_off()
        })
    }

    /// Returns the index of a process other than the first.
    fn index(&self, name: &str) -> Option<usize> {
        let mut others = self.commands.iter().enumerate().skip(1);
        others.find_map(|(index, command)| (command.name == name).then_some(index))
    }

    /// Returns who the processes are.
    pub fn workers(&self) -> Vec<WorkerRecord> {
        self.processes.iter().filter_map(record).collect()
    }

    /// Waits for the next change; the first process has `notice_grace` to end when another one has
    /// failed and the run is to stop then. May be dropped and called again.
    pub async fn change(&mut self, notice_grace: Duration) -> Change {
        let Some(first) = self.processes.first().map(Process::exit) else {
            return std::future::pending().await;
        };
        tokio::pin!(first);
        loop {
            let others = self.processes.iter().enumerate().skip(1);
            let others = others.filter(|(index, _)| !self.restarts[*index].is_ended);
            let exits: Vec<_> = others
                .map(|(index, process)| (index, Box::pin(process.exit())))
                .collect();
            tokio::select! {
                status = &mut first => return Change::Over(RunExit::First(status)),
                (index, status) = first_of(exits) => {
                    if let Some(change) = self.on_ended(index, status, notice_grace) {
                        return change;
                    }
                }
                () = until(self.next_due()) => {
                    if let Some(change) = self.on_due(Instant::now()) {
                        return change;
                    }
                }
            }
        }
    }

    /// Notes that the run ends: nothing is started any more.
    pub fn end_restarts(&mut self) {
        self.is_ending = true;
        for restart in &mut self.restarts {
            (restart.due, restart.replace_at) = (None, None);
        }
    }

    /// Has processes that are due wait until the first one welcomes them, or wait no more.
    pub fn hold_restarts(&mut self, is_held: bool) {
        self.holds_restarts = is_held;
    }

    /// Returns name and process id of the first process.
    pub fn first(&self) -> Option<(&str, u32)> {
        let first = self.processes.first()?;
        Some((first.name(), first.pid()))
    }

    /// Kills the first process, which ends the run.
    pub fn kill_first(&mut self) {
        self.end_restarts();
        if let Some(first) = self.processes.first() {
            first.signal(Signal::KILL);
        }
    }

    /// Replaces a process that the run has lost, though it may still live: silent ones would live
    /// forever.
    pub fn replace(&mut self, name: &str, pid: u32) {
        let mut processes = self.processes.iter().skip(1);
        // The process id of another machine is not known here; one that was started just now is
        // not the one that was lost.
        let is_lost = |process: &Process| match process.host() {
            None => process.pid() == pid,
            Some(_) => process.age() > REMOTE_AGE_MIN,
        };
        let index = processes.position(|process| process.name() == name && is_lost(process));
        let Some(index) = index.map(|index| index + 1) else {
            return;
        };
        self.replace_at_index(index);
    }

    /// Replaces the relay of a process that was cut off if it cut off all: one that is silent takes
    /// all that are behind it along, and nobody else misses it.
    fn replace_relay_of(&mut self, index: usize) {
        if let Some(relay) = self.relay_of(index)
            && relay != index
            && self.lost_everybody(relay)
            && self.processes[relay].age() > REMOTE_AGE_MIN
        {
            self.replace_at_index(relay);
        }
    }

    fn replace_at_index(&mut self, index: usize) {
        let may_restart = self.may_restart();
        let restart = &mut self.restarts[index];
        if may_restart && !restart.is_ended && !restart.is_apart {
            let at = Instant::now() + REPLACE_GRACE;
            restart.replace_at.get_or_insert(at);
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
        self.end_restarts();
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

    fn may_restart(&self) -> bool {
        let limit = match self.policy {
            LossPolicy::Stop => 0,
            LossPolicy::Recover {
                restarts_per_minute,
            } => restarts_per_minute,
        };
        limit > 0 && !self.is_ending
    }

    fn next_due(&self) -> Option<Instant> {
        let holds = self.holds_restarts;
        let restart = self
            .restarts
            .iter()
            .filter_map(|restart| restart.next(holds));
        let notice = self.failure.as_ref().map(|(until, _)| *until);
        restart.chain(notice).min()
    }

    fn on_ended(&mut self, index: usize, status: ExitStatus, grace: Duration) -> Option<Change> {
        let restart = &mut self.restarts[index];
        restart.is_ended = true;
        restart.replace_at = None;
        restart.code = status.code();
        if restart.was_cut_off() {
            self.replace_relay_of(index);
        }
        let process = &self.processes[index];
        let restart = &mut self.restarts[index];
        if status.success() {
            return None;
        }
        let name = process.name().to_owned();
        let death = Death {
            pid: process.pid(),
            host: process.host().map(str::to_owned),
            status,
            last_words: last_words(&self.logs.join(format!("{name}.log")), process.log_begin()),
            was_replaced: restart.was_replaced,
            name: name.clone(),
        };
        let now = Instant::now();
        if restart.is_apart {
            return Some(Change::Ended(death));
        }
        match self.policy {
            LossPolicy::Stop => {
                let exit = RunExit::Unnoticed { name, status };
                self.failure.get_or_insert((now + grace, exit));
            }
            LossPolicy::Recover {
                restarts_per_minute,
            } => {
                if restarts_per_minute > 0 && !self.is_ending {
                    // Why it is not started again is told when it would have been.
                    let is_unreachable =
                        process.host().is_some() && status.code() == Some(UNREACHABLE);
                    let limit = if is_unreachable {
                        u32::MAX
                    } else {
                        restarts_per_minute
                    };
                    let decided = restart.on_ended(status, limit, now);
                    restart.refused = decided.err();
                    restart.due = restart.due.or(restart.refused.as_ref().map(|_| now));
                }
            }
        }
        Some(Change::Ended(death))
    }

    fn on_due(&mut self, now: Instant) -> Option<Change> {
        if let Some((until, _)) = &self.failure
            && *until <= now
        {
            return self.failure.take().map(|(_, exit)| Change::Over(exit));
        }
        let holds = self.holds_restarts;
        let is_due = |restart: &RestartPolicy| restart.next(holds).is_some_and(|at| at <= now);
        let index = self.restarts.iter().position(is_due)?;
        let restart = &mut self.restarts[index];
        if restart.replace_at.take().is_some() {
            restart.was_replaced = true;
            self.processes[index].signal(Signal::KILL);
            self.replace_relay_of(index);
            return None;
        }
        restart.due = None;
        let name = self.processes[index].name().to_owned();
        if let Some(reason) = restart.refused.take() {
            let text = format!("{name} is not started again: {reason}");
            return Some(Change::Abandoned(text));
        }
        let command = &self.commands[index];
        match Process::spawn(&self.program, command, &self.logs, &self.lines) {
            Ok(process) => {
                self.processes[index] = process;
                restart.on_started(now);
                record(&self.processes[index]).map(Change::Restarted)
            }
            Err(error) => {
                let error = anyhow::Error::new(error);
                let text = format!("{name} is not started again: {error:#}");
                Some(Change::Abandoned(text))
            }
        }
    }
}

/// Tells whether a process is behind a relay.
fn is_of_relay(command: &WorkerCommand, relay: &WorkerCommand) -> bool {
    let place = |command: &WorkerCommand| {
        let remote = command.remote.as_ref()?;
        remote
            .relay()
            .map(|place| (remote.host().to_owned(), place.to_owned()))
    };
    place(relay).is_some_and(|of_relay| place(command) == Some(of_relay))
}

fn record(process: &Process) -> Option<WorkerRecord> {
    Some(WorkerRecord {
        name: process.name().to_owned(),
        role: process.role()?,
        pid: process.pid(),
    })
}

/// Waits until a moment, or forever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits for the first of several processes to end.
async fn first_of<F>(mut exits: Vec<(usize, Pin<Box<F>>)>) -> (usize, ExitStatus)
where
    F: Future<Output = ExitStatus>,
{
    poll_fn(|context| {
        for (index, exit) in &mut exits {
            if let Poll::Ready(status) = exit.as_mut().poll(context) {
                return Poll::Ready((*index, status));
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests;
