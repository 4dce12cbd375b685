//! [`Process`]: one process of a run, a worker's lifeline, and its log.
//!
//! It has a process group of its own, so that Ctrl-C in the terminal does not reach it, and
//! holds the read end of a pipe whose other end is here: when this program dies, however it dies,
//! the worker reads end-of-file and ends; for a program a [`Guard`] does. It writes its log itself,
//! so that its last words are kept then, too; here the log is read as it grows.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use client::feed::LogLine;
use protocol::Role;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::WorkerCommand;
use super::death::signal_name;
use super::guard::Guard;
use crate::private_file::append_private;

/// The longest line of a log that is waited for \[bytes\]; what is longer is told in parts.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Interval at which a log is checked for new lines.
const LOG_PERIOD: Duration = Duration::from_millis(50);

/// A process that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program does not run.
    #[error("cannot start {} as {name}", program.display())]
    Program {
        /// The process's name.
        name: String,
        /// The program.
        program: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Its log cannot be written.
    #[error("cannot write the log {}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// A process of a run; killed with its whole group when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    role: Option<Role>,
    pid: u32,
    /// The process group that it is in, its own or that of its guard.
    group: u32,
    /// Held, not used: it ends the program when this program ends.
    _guard: Option<Guard>,
    /// Offset in its log at which its own part begins \[bytes\].
    log_begin: u64,
    lifeline: Option<File>,
    /// The other machine that it is on; what is here is the connection to it.
    host: Option<String>,
    follower: Option<JoinHandle<()>>,
    exit: watch::Receiver<Option<ExitStatus>>,
    started: Instant,
}

impl Process {
    /// Starts a process; its lines go to `<logs>/<name>.log` and, as long as they are taken, to
    /// `lines`.
    ///
    /// # Errors
    /// Fails if the program does not start or its log cannot be made.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn spawn(
        program: &Path,
        command: &WorkerCommand,
        logs: &Path,
        lines: &mpsc::Sender<LogLine>,
    ) -> Result<Self, SpawnError> {
        let mut child = match &command.remote {
            None => {
                let mut child = Command::new(program);
                child.args(&command.arguments).envs(&command.environment);
                child
            }
            Some(remote) => {
                let words = remote.words(command);
                let mut child = Command::new(&words[0]);
                child.args(&words[1..]);
                child
            }
        };
        child.stdin(Stdio::piped());
        let mut process = Self::start_in(None, child, &command.name, logs, lines)?;
        process.role = Some(command.role);
        if let Some(remote) = &command.remote {
            process.host = Some(remote.host().to_owned());
            process.tell(remote.input());
        }
        Ok(process)
    }

    /// Starts any command as a process of the run, with the standard input that it says. It need
    /// not know how to end with this program: it is killed then.
    ///
    /// # Errors
    /// Fails if the program does not start or its log cannot be made.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(
        command: Command,
        name: &str,
        logs: &Path,
        lines: &mpsc::Sender<LogLine>,
    ) -> Result<Self, SpawnError> {
        let guard = Guard::start().map_err(|source| SpawnError::Program {
            name: format!("the guard of {name}"),
            program: "/bin/sh".into(),
            source,
        })?;
        Self::start_in(Some(guard), command, name, logs, lines)
    }

    fn start_in(
        guard: Option<Guard>,
        mut command: Command,
        name: &str,
        logs: &Path,
        lines: &mpsc::Sender<LogLine>,
    ) -> Result<Self, SpawnError> {
        // No process of a run fetches anything, nor needs what opens a user's private models.
        command.env_remove(fuel::TOKEN);
        let path = logs.join(format!("{name}.log"));
        let (stdout, stderr, reader, log_begin) =
            open_log(&path).map_err(|source| SpawnError::Log {
                path: path.clone(),
                source,
            })?;
        let mut child = command
            .env("NO_COLOR", "1")
            .stdout(stdout)
            .stderr(stderr)
            .process_group(
                guard
                    .as_ref()
                    .map_or(0, |guard| guard.group().cast_signed()),
            )
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| SpawnError::Program {
                name: name.to_owned(),
                program: command.as_std().get_program().into(),
                source,
            })?;
        let pid = child
            .id()
            .expect("a child that was not waited for has an id");
        // Tokio closes a child's stdin when it is waited for, so it is taken out before.
        let lifeline = child
            .stdin
            .take()
            .and_then(|pipe| pipe.into_owned_fd().ok());
        let exit = watch_exit(child);
        let follower = LogFollower {
            process: name.to_owned(),
            reader,
            rest: Vec::new(),
            lines: lines.clone(),
        };
        Ok(Self {
            name: name.to_owned(),
            role: None,
            pid,
            group: guard.as_ref().map_or(pid, Guard::group),
            _guard: guard,
            log_begin,
            lifeline: lifeline.map(File::from),
            host: None,
            follower: Some(tokio::spawn(follower.follow(exit.clone()))),
            exit,
            started: Instant::now(),
        })
    }

    /// Returns the time since it was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the process's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the other machine that it is on.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Returns its role, if it is a worker.
    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// Returns the process's id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns where in its log its own part begins \[bytes\]: before it is that of earlier ones.
    pub fn log_begin(&self) -> u64 {
        self.log_begin
    }

    /// Returns how it ended, if it has.
    pub fn status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Returns what waits until it has ended.
    pub fn exit(&self) -> impl Future<Output = ExitStatus> + Send + use<> {
        let mut exit = self.exit.clone();
        async move {
            let status = exit
                .wait_for(Option::is_some)
                .await
                .ok()
                .and_then(|status| *status);
            status.unwrap_or_else(killed)
        }
    }

    /// Waits until it has ended and all that it printed has been told.
    pub async fn finish_log(&mut self) {
        if let Some(follower) = self.follower.take() {
            let _ = follower.await;
        }
    }

    /// Writes to its standard input; a process that has ended already is found out by its end.
    fn tell(&mut self, text: &str) {
        if let Some(pipe) = &mut self.lifeline {
            let _ = pipe.write_all(text.as_bytes());
        }
    }

    /// Lets it read end-of-file on its lifeline.
    pub fn cut_lifeline(&mut self) {
        self.lifeline = None;
    }

    /// Sends a signal to it and all of its group, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.group).ok().and_then(Pid::from_raw);
        if let (Some(group), None) = (group, self.status()) {
            // The group may be gone already, which is what the signal is for.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills what a process that has just ended left behind in its group.
    pub fn kill_rest(&self) {
        if let Some(group) = i32::try_from(self.group).ok().and_then(Pid::from_raw) {
            // Mostly nothing is left, which is no failure.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Waits for a child in a task of its own; who drops the runtime kills it.
fn watch_exit(mut child: Child) -> watch::Receiver<Option<ExitStatus>> {
    let (sender, exit) = watch::channel(None);
    tokio::spawn(async move {
        let status = child.wait().await.unwrap_or_else(|_| killed());
        sender.send_replace(Some(status));
    });
    exit
}

/// Returns the status that stands for that of a child that the system no longer knows.
fn killed() -> ExitStatus {
    ExitStatus::from_raw(Signal::KILL.as_raw())
}

/// Says how a process ended.
pub(crate) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by {}", signal_name(signal)),
        (None, None) => "unknown".to_owned(),
    }
}

/// Opens a log for the process's two streams, and for reading what they bring, from its end on:
/// what an earlier process of the same name printed was told then.
fn open_log(path: &Path) -> io::Result<(File, File, File, u64)> {
    let stdout = append_private(path)?;
    let mut reader = File::open(path)?;
    let begin = reader.seek(SeekFrom::End(0))?;
    Ok((stdout.try_clone()?, stdout, reader, begin))
}

/// Reads a log as it grows.
struct LogFollower {
    process: String,
    reader: File,
    rest: Vec<u8>,
    lines: mpsc::Sender<LogLine>,
}

impl LogFollower {
    async fn follow(mut self, mut exit: watch::Receiver<Option<ExitStatus>>) {
        loop {
            let has_ended = tokio::select! {
                _ = exit.wait_for(Option::is_some) => true,
                () = sleep(LOG_PERIOD) => false,
            };
            // What cannot be read is still in the file for people.
            let _ = self.reader.read_to_end(&mut self.rest);
            self.tell_lines();
            if has_ended {
                let rest = std::mem::take(&mut self.rest);
                self.tell(&rest);
                return;
            }
        }
    }

    fn tell_lines(&mut self) {
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n');
        let is_too_long = self.rest.len() > LINE_BYTES_MAX;
        let end = whole.map_or(0, |at| at + 1);
        let end = if end == 0 && is_too_long {
            self.rest.len()
        } else {
            end
        };
        let lines: Vec<u8> = self.rest.drain(..end).collect();
        self.tell(&lines);
    }

    fn tell(&self, bytes: &[u8]) {
        for line in String::from_utf8_lossy(bytes).lines() {
            let (process, text) = (self.process.clone(), line.trim_end().to_owned());
            // Who shows lines may be behind; the file has them all.
            let _ = self.lines.try_send(LogLine { process, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::death::last_words;

    /// Has a process print something and end with it; returns what was told of it, and its last
    /// words.
    async fn printed(logs: &Path, text: &str) -> (Vec<String>, Option<String>) {
        let (sender, mut lines) = mpsc::channel(100);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("echo '{text}'")]);
        command.stdin(Stdio::null());
        let mut process = Process::start(command, "s1", logs, &sender).unwrap();
        process.exit().await;
        process.finish_log().await;
        drop(sender);
        let mut told = Vec::new();
        while let Some(line) = lines.recv().await {
            told.push(line.text);
        }
        (told, last_words(&logs.join("s1.log"), process.log_begin()))
    }

    #[tokio::test]
    async fn what_an_earlier_process_printed_is_not_told_again() {
        let folder = tempfile::tempdir().unwrap();
        let (told, words) = printed(folder.path(), "error: the first").await;
        assert_eq!(
            (told, words.is_some()),
            (vec!["error: the first".to_owned()], true)
        );
        let (told, words) = printed(folder.path(), "all is well").await;
        assert_eq!((told, words), (vec!["all is well".to_owned()], None));
        let whole = std::fs::read_to_string(folder.path().join("s1.log")).unwrap();
        assert_eq!(whole, "error: the first\nall is well\n");
    }
}
