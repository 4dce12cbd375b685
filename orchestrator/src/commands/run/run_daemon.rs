//! The run daemon: this program again, in a session of its own, which owns a run whatever happens
//! to the terminal that it was started from.
//!
//! [`keep`] is the daemon's own part. It tells who started it two [`Word`]s on its stdout: that the
//! run's processes are started, and that the run has begun, or why not. From the first on all that
//! it prints is in `logs/phalanx.log`. [`RunDaemon`] is the other end.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::Context;
use protocol::ExitCode;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines, Take};
use tokio::process::{Child, ChildStdout, Command};

use super::super::{CommandResult, Failed, runtime};
use super::console::Console;
use super::exit_report::exit_code;
use super::running::{LiveRun, Signals};
use super::settings::Settings;
use super::{Owned, headless};
use crate::cli::{ResumeArguments, RunArguments};
use crate::private_file::append_private;
use crate::run_directory::FoundRun;

/// The log of the run daemon, beside those of the run's processes.
const LOG_FILE: &str = "phalanx.log";

/// The variable by which a run asks no server of models.
const OFFLINE: &str = "PHALANX_OFFLINE";

/// The most that is heard of a run daemon before the run is there \[bytes\].
const WORDS_BYTES_MAX: u64 = 1 << 20;

/// Message of a run daemon to the process that started it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The processes are started, and this is the run's folder.
    Started(PathBuf),
    /// All who take part are there; or others are to join, which need not be waited for.
    Begun,
    /// There is no run, or it has ended before it began.
    Failed { exit_code: u8, error: String },
}

/// Process that started a run daemon and listens to it. It may have gone.
#[derive(Debug)]
pub(super) struct Starter(File);

impl Starter {
    /// Keeps hold of where stdout goes now.
    fn of_stdout() -> anyhow::Result<Self> {
        let stdout = io::stdout().as_fd().try_clone_to_owned();
        Ok(Self(stdout.context("cannot set up stdout")?.into()))
    }

    /// Says one word.
    pub(super) fn tell(&self, word: &Word) {
        if let Ok(line) = serde_json::to_string(word) {
            let _ = writeln!(&self.0, "{line}");
        }
    }
}

/// Owns a run until it ends, away from any terminal.
pub(in super::super) fn keep(arguments: &RunArguments) -> CommandResult {
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
    let starter = Starter::of_stdout()?;
    runtime()?.block_on(async {
        let mut live = match begin() {
            Ok(live) => live,
            Err(failed) => {
                let error = format!("{:#}", failed.error);
                let exit_code = failed.code as u8;
                starter.tell(&Word::Failed { exit_code, error });
                return Ok(failed.code);
            }
        };
        starter.tell(&Word::Started(live.directory.path().to_owned()));
        write_to(&live.directory.logs().join(LOG_FILE))?;
        live.set_starter(starter);
        let mut console = Console::log();
        let ending = headless::follow(&mut live, &mut console).await;
        let report = live.finish(ending, &mut console).await?;
        let reason = report.ended().reason.to_string();
        console.note(&reason);
        live.tell_starter(&match report.exit_code {
            ExitCode::Success => Word::Begun,
            code => Word::Failed {
                exit_code: code as u8,
                error: reason,
            },
        });
        Ok(report.exit_code)
    })
}

fn begin(arguments: &RunArguments) -> Result<LiveRun, Failed> {
    let signals = Signals::new(false)?;
    let settings = Settings::resolve(arguments)?;
    LiveRun::start(&settings, Owned::begin(&settings)?, signals)
}

/// Makes a file of stdout and stderr.
fn write_to(path: &Path) -> anyhow::Result<()> {
    let log = append_private(path);
    let log = log.with_context(|| format!("cannot write {}", path.display()))?;
    rustix::stdio::dup2_stdout(&log).context("cannot set up stdout")?;
    rustix::stdio::dup2_stderr(&log).context("cannot set up stderr")
}

/// A run daemon, as who started it sees it. Dropped, it goes on.
#[derive(Debug)]
pub(super) struct RunDaemon {
    child: Child,
    words: Words,
    /// The run that it keeps.
    pub(super) run: FoundRun,
}

/// Output of a run daemon, line by line.
type Words = Lines<BufReader<Take<ChildStdout>>>;

impl RunDaemon {
    /// Starts a run in a daemon, with the words of `phalanx run` or `resume` after the command of
    /// the daemon, and waits until its processes are started.
    ///
    /// # Errors
    /// Fails if the run cannot be started, with its own exit code, or a signal comes.
    pub(super) async fn start(
        command: &str,
        words: &[OsString],
        signals: &mut Signals,
    ) -> Result<Self, Failed> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(&program)
            .arg(command)
            .args(words)
            // Servers of models were asked already.
            .env(OFFLINE, "true")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let stdout = child.stdout.take().expect("its stdout is a pipe");
        let mut words = BufReader::new(stdout.take(WORDS_BYTES_MAX)).lines();
        match next_word(&mut child, &mut words, signals).await? {
            Word::Started(path) => {
                let run = FoundRun::read(path).context("the run was removed while it began")?;
                Ok(Self { child, words, run })
            }
            other => Err(no_run(&mut child, other).await),
        }
    }

    /// Waits until the run has begun, so that it can be asked for anything.
    ///
    /// # Errors
    /// Fails if it ends before that, with its own exit code, or a signal comes, which ends it.
    pub(super) async fn begun(&mut self, signals: &mut Signals) -> Result<(), Failed> {
        match next_word(&mut self.child, &mut self.words, signals).await? {
            Word::Begun => Ok(()),
            other => Err(no_run(&mut self.child, other).await),
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

/// Waits for the next word of a run daemon.
async fn next_word(
    child: &mut Child,
    words: &mut Words,
    signals: &mut Signals,
) -> Result<Word, Failed> {
    let (word, said) = tokio::select! {
        heard = hear(words) => heard,
        () = signals.ends() => {
            signal(child, Signal::TERM);
            let _ = child.wait().await;
            let message = "interrupted before the run had begun";
            return Err(Failed::message(ExitCode::Interrupted, message));
        }
    };
    if let Some(word) = word {
        return Ok(word);
    }
    let status = child
        .wait()
        .await
        .context("cannot wait for the run daemon")?;
    let colon = if said.is_empty() { "" } else { ": " };
    let message = format!("the run daemon ended before the run began ({status}){colon}{said}");
    Err(Failed::message(ExitCode::Failure, message))
}

/// Says why there is no run, and waits until its daemon has ended.
async fn no_run(child: &mut Child, word: Word) -> Failed {
    let (code, error) = match word {
        Word::Failed { exit_code, error } => (exit_code, error),
        Word::Started(_) | Word::Begun => {
            let error = "the run daemon does not say what it should".to_owned();
            signal(child, Signal::TERM);
            (ExitCode::Failure as u8, error)
        }
    };
    let _ = child.wait().await;
    Failed::message(exit_code(i32::from(code)), error)
}

/// Waits for a word of a run daemon; returns what else it printed.
async fn hear(lines: &mut Words) -> (Option<Word>, String) {
    let mut said = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str(&line) {
            Ok(word) => return (Some(word), said.join("\n")),
            Err(_) => said.push(line),
        }
    }
    (None, said.join("\n"))
}
