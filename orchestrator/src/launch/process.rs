//! [`Process`]: one worker process, its lifeline and its log.
//!
//! It leads a process group of its own, so that Ctrl-C in the terminal does not reach it, and
//! holds the read end of a pipe whose other end is here: when this program dies, however it dies,
//! the worker reads end-of-file and ends.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use protocol::Role;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::WorkerCommand;
use crate::app::event::LogLine;

/// The longest line of a log that is shown \[bytes\]; the rest of it goes to the next one.
const LINE_BYTES_MAX: usize = 16 << 10;

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
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Its log cannot be written.
    #[error("cannot write the log {}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A worker process; killed with its whole group when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    role: Role,
    pid: u32,
    lifeline: Option<ChildStdin>,
    collectors: Vec<JoinHandle<()>>,
    exit: watch::Receiver<Option<ExitStatus>>,
}

impl Process {
    /// Starts a process; its lines go to `<logs>/<name>.log` and, as long as they are taken, to
    /// `lines`.
    ///
    /// # Errors
    /// When the program does not start or its log cannot be made.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn spawn(
        program: &Path,
        command: &WorkerCommand,
        logs: &Path,
        lines: &mpsc::Sender<LogLine>,
    ) -> Result<Self, SpawnError> {
        let path = logs.join(format!("{}.log", command.name));
        let log = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|source| SpawnError::Log {
                path: path.clone(),
                source,
            })?;
        let for_stdout = log
            .try_clone()
            .map_err(|source| SpawnError::Log { path, source })?;
        let mut child = Command::new(program)
            .args(&command.arguments)
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| SpawnError::Program {
                name: command.name.clone(),
                program: program.to_owned(),
                source,
            })?;
        let pid = child
            .id()
            .expect("a child that was not waited for has an id");
        let collector = |log, stream| collect(command.name.clone(), stream, log, lines.clone());
        let mut collectors = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            let stream: Box<dyn AsyncRead + Send + Unpin> = Box::new(stderr);
            collectors.push(tokio::spawn(collector(log, stream)));
        }
        if let Some(stdout) = child.stdout.take() {
            collectors.push(tokio::spawn(collector(for_stdout, Box::new(stdout))));
        }
        Ok(Self {
            name: command.name.clone(),
            role: command.role,
            pid,
            // Tokio closes a child's stdin when it is waited for, so it is taken out before.
            lifeline: child.stdin.take(),
            collectors,
            exit: watch_exit(child),
        })
    }

    /// Returns the process's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the process's role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the process's id.
    pub fn pid(&self) -> u32 {
        self.pid
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

    /// Waits until all that it printed is in its log.
    pub async fn finish_log(&mut self) {
        for collector in self.collectors.drain(..) {
            let _ = collector.await;
        }
    }

    /// Lets it read end-of-file on its lifeline.
    pub fn cut_lifeline(&mut self) {
        self.lifeline = None;
    }

    /// Sends a signal to it and all of its group, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let (Some(group), None) = (group, self.status()) {
            // The group may be gone already, which is what the signal is for.
            let _ = kill_process_group(group, signal);
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

/// What counts as the status of a child that the system no longer knows.
fn killed() -> ExitStatus {
    ExitStatus::from_raw(Signal::KILL.as_raw())
}

async fn collect(
    process: String,
    stream: Box<dyn AsyncRead + Send + Unpin>,
    mut log: File,
    lines: mpsc::Sender<LogLine>,
) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        let (used, is_end) = match reader.fill_buf().await {
            Ok([]) | Err(_) => (0, true),
            Ok(bytes) => {
                let end = bytes
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map(|at| at + 1);
                let used = end.unwrap_or(bytes.len()).min(LINE_BYTES_MAX - line.len());
                line.extend_from_slice(&bytes[..used]);
                (used, false)
            }
        };
        reader.consume(used);
        let is_whole = line.ends_with(b"\n") || line.len() >= LINE_BYTES_MAX;
        if is_whole || (is_end && !line.is_empty()) {
            // A full disk must not stop a run, and who shows lines must not slow it.
            let _ = log.write_all(&line);
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            let _ = lines.try_send(LogLine {
                process: process.clone(),
                text,
            });
            line.clear();
        }
        if is_end {
            return;
        }
    }
}
