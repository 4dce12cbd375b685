//! The keeper: this program again, in a session of its own, which owns a run whatever happens to
//! the terminal that it was started from.
//!
//! [`keep`] is the keeper's own part. It tells who started it one [`Word`] on its stdout: that the
//! run's processes are started, or why not. From then on all that it prints is in
//! `logs/phalanx.log`. [`Keeper`] is the other end.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::Context;
use protocol::ExitCode;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use super::super::{CommandResult, Failed, runtime};
use super::conclusion::exit_code;
use super::console::Console;
use super::live::{LiveRun, Signals};
use super::settings::Settings;
use super::{Owned, headless};
use crate::cli::{ResumeArguments, RunArguments};
use crate::run_directory::{FoundRun, append_private};

/// The log of the keeper, beside those of the run's processes.
const LOG_FILE: &str = "phalanx.log";

/// The most that is heard of a keeper before the run is there \[bytes\].
const WORDS_BYTES_MAX: u64 = 1 << 20;

/// What a keeper says, once, to who started it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    /// The processes are started, and this is the run's folder.
    Started(PathBuf),
    /// There is no run.
    Failed { exit_code: u8, error: String },
}

/// Owns a run until it ends, away from any terminal.
pub(in super::super) fn keep(arguments: RunArguments) -> CommandResult {
    keep_what(|| begin(arguments))
}

/// Owns a run that goes on until it ends, away from any terminal.
pub(in super::super) fn keep_resumed(arguments: &ResumeArguments) -> CommandResult {
    keep_what(|| {
        let signals = Signals::new(false)?;
        let (own, launched) = Owned::again(arguments)?;
        LiveRun::launch(launched, own, signals)
    })
}

fn keep_what(begin: impl FnOnce() -> Result<LiveRun, Failed>) -> CommandResult {
    // It fails in who leads a session already, which is as well.
    let _ = rustix::process::setsid();
    rustix::stdio::dup2_stderr(rustix::stdio::stdout()).context("cannot set up stderr")?;
    runtime()?.block_on(async {
        let mut live = match begin() {
            Ok(live) => live,
            Err(failed) => {
                let error = format!("{:#}", failed.error);
                let exit_code = failed.code as u8;
                tell(&Word::Failed { exit_code, error });
                return Ok(failed.code);
            }
        };
        tell(&Word::Started(live.directory.path().to_owned()));
        write_to(&live.directory.logs().join(LOG_FILE))?;
        let mut console = Console::log();
        let ending = headless::follow(&mut live, &mut console).await;
        let conclusion = live.finish(ending, &mut console).await?;
        console.note(&conclusion.ended().reason.to_string());
        Ok(conclusion.exit_code)
    })
}

fn begin(arguments: RunArguments) -> Result<LiveRun, Failed> {
    let signals = Signals::new(false)?;
    let settings = Settings::resolve(arguments)?;
    LiveRun::start(&settings, Owned::begin(&settings)?, signals)
}

/// Says one word; who started the keeper may have gone.
fn tell(word: &Word) {
    if let Ok(line) = serde_json::to_string(word) {
        let mut stdout = io::stdout().lock();
        let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    }
}

/// Makes a file of stdout and stderr.
fn write_to(path: &Path) -> anyhow::Result<()> {
    let log = append_private(path);
    let log = log.with_context(|| format!("cannot write {}", path.display()))?;
    rustix::stdio::dup2_stdout(&log).context("cannot set up stdout")?;
    rustix::stdio::dup2_stderr(&log).context("cannot set up stderr")
}

/// A keeper, as who started it sees it. Dropped, it goes on.
#[derive(Debug)]
pub(super) struct Keeper {
    child: Child,
    /// The run that it keeps.
    pub(super) run: FoundRun,
}

impl Keeper {
    /// Starts a run in a keeper, with the words of `phalanx run` or `resume` after the command of
    /// the keeper, and waits until its processes are started.
    ///
    /// # Errors
    /// When the run cannot be started, with its own exit code, or a signal comes.
    pub(super) async fn start(
        command: &str,
        words: &[OsString],
        signals: &mut Signals,
    ) -> Result<Self, Failed> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(&program)
            .arg(command)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let stdout = child.stdout.take().expect("its stdout is a pipe");
        let heard = tokio::select! {
            heard = hear(stdout) => heard,
            () = signals.ends() => {
                signal(&child, Signal::TERM);
                let _ = child.wait().await;
                let message = "interrupted before the run had begun";
                return Err(Failed::message(ExitCode::Interrupted, message));
            }
        };
        match heard {
            (Some(Word::Started(path)), _) => {
                let run = FoundRun::read(path).context("the run was removed while it began")?;
                Ok(Self { child, run })
            }
            (
                Some(Word::Failed {
                    exit_code: code,
                    error,
                }),
                _,
            ) => {
                let _ = child.wait().await;
                Err(Failed::message(exit_code(i32::from(code)), error))
            }
            (None, said) => {
                let status = child.wait().await.context("cannot wait for the keeper")?;
                let message = format!("the keeper of the run ended before it began ({status})");
                let message = format!("{message}{}{said}", if said.is_empty() { "" } else { ": " });
                Err(Failed::message(ExitCode::Failure, message))
            }
        }
    }

    /// Waits until it has ended; may be dropped and called again.
    pub(super) async fn end(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Asks it to end the run in order.
    pub(super) fn interrupt(&self) {
        signal(&self.child, Signal::TERM);
    }

    /// Ends it at once, and by their lifelines all processes of the run.
    pub(super) fn kill(&self) {
        signal(&self.child, Signal::KILL);
    }
}

/// Sends a signal to a child, unless it was seen to end.
fn signal(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        // It may have ended by itself, which is what the signal is for.
        let _ = kill_process(pid, signal);
    }
}

/// Waits for the word of a keeper; returns what else it printed.
async fn hear(stdout: ChildStdout) -> (Option<Word>, String) {
    let mut lines = BufReader::new(stdout.take(WORDS_BYTES_MAX)).lines();
    let mut said = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(word) => return (Some(word), said.join("\n")),
            Err(_) => said.push(line),
        }
    }
    (None, said.join("\n"))
}
