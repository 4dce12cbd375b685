//! `--slurm`: a run in a job of Slurm that is submitted, awaited and watched from here.
//!
//! The job does what `phalanx submit` has it do. Without a view, what it prints is repeated here
//! as it comes. A view runs where the run is, as a step of the job with a terminal, so that nothing
//! but Slurm need reach the nodes. The exit code is that of the job; `sbatch --wait` brings it
//! where Slurm has forgotten the job when it is asked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use protocol::ExitCode;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, interval, sleep, timeout};

use super::run::Signals;
use super::submit::{exit_code, quoted, sbatch_words, text};
use super::terminal_check::require_terminal;
use super::{CommandResult, Failed, output, runtime};
use crate::run_directory::{FoundRun, Runs, name_stem};

/// Number of the job, where a script or the name of a run has it.
const JOB_NUMBER: &str = "$SLURM_JOB_ID";

/// Interval at which what the job prints is looked at.
const PRINT_INTERVAL: Duration = Duration::from_millis(200);

/// Interval at which Slurm is asked how the job is.
const STATE_INTERVAL: Duration = Duration::from_secs(1);

/// Time that a job may take to end when its run has.
const END_GRACE: Duration = Duration::from_secs(10);

/// Time that a step may take to end when it is asked to.
const STEP_GRACE: Duration = Duration::from_secs(5);

/// The most bytes that are repeated of what a job prints at a time.
const PRINT_BYTES_MAX: u64 = 1 << 20;

/// Options that say what is done here and not in the job; with the number of words of each.
const OWN_OPTIONS: [(&str, usize); 3] = [("--slurm", 2), ("--headless", 1), ("--detach", 1)];

/// Work that is done here while the job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watching {
    /// Its view is shown.
    View,
    /// Its output is repeated.
    Output,
    /// Nothing, once it has begun.
    Nothing,
}

impl Watching {
    /// Returns what options ask for.
    pub(super) fn of(is_headless: bool, is_detached: bool) -> Self {
        match (is_headless, is_detached) {
            (true, _) => Self::Output,
            (false, true) => Self::Nothing,
            (false, false) => Self::View,
        }
    }
}

/// Returns the words that a job has a shell give to this program, of those that were given here.
pub(super) fn words_of_job(command: &str, words: &[OsString]) -> String {
    let mut all = format!("{command} --headless");
    let mut left = words.iter();
    while let Some(word) = left.next() {
        let text = word.to_string_lossy();
        let own = OWN_OPTIONS.iter().find(|(name, _)| text == *name);
        if let Some((_, count)) = own {
            for _ in 1..*count {
                left.next();
            }
        } else if !text.starts_with("--slurm=") {
            all.push(' ');
            all.push_str(&quoted(word));
        }
    }
    all
}

/// Returns the name of a job's run that has none of its own, as its script has it between double
/// quotes: nothing in it but the number of the job means anything to a shell.
pub(super) fn name_of_run(stem: &str) -> String {
    format!("{}-{JOB_NUMBER}", name_stem(stem))
}

/// Returns the name of the run that goes on in this process: Slurm has started its job once more,
/// as after a preemption or the loss of the first node, and the run of that name can be resumed.
///
/// # Errors
/// Fails if the folder of all runs cannot be used.
pub(super) fn run_of_restarted_job(name: Option<&str>) -> Result<Option<String>, Failed> {
    let count = std::env::var("SLURM_RESTART_COUNT").unwrap_or_default();
    let (Some(name), Ok(1..)) = (name, count.trim().parse::<u32>()) else {
        return Ok(None);
    };
    let runs = Runs::open().and_then(|runs| runs.list());
    let runs = runs.map_err(anyhow::Error::new)?;
    let mut found = runs.iter().filter(|run| run.record.name == name);
    Ok(found.any(FoundRun::is_resumable).then(|| name.to_owned()))
}

/// Has a job do something that makes a run of this name, and stays with it as far as is asked for.
pub(super) fn run(words: &str, name: &str, options: &str, watching: Watching) -> CommandResult {
    if watching == Watching::View {
        require_terminal(
            "--headless to repeat what the job prints, or --detach to leave it alone",
        )?;
    }
    let program = std::env::current_exe().context("this program has no path")?;
    let folder = std::env::current_dir().context("the working directory is gone")?;
    let script = text(&program, &folder, words);
    runtime()?.block_on(async {
        let mut signals = Signals::new(true)?;
        let mut job = Job::submit(&script, options).await?;
        output::note(&format!("submitted job {}", job.id));
        let name = name.replace(JOB_NUMBER, &job.id);
        match watching {
            Watching::Output => job.repeat(&mut signals).await,
            Watching::Nothing | Watching::View => {
                let node = match job.begun(&program, &name, &mut signals).await? {
                    Begun::On(node) => node,
                    Begun::Over(code) => return Ok(code),
                };
                if watching == Watching::Nothing {
                    return output::print(&format!("{name}\n"));
                }
                job.show(&program, &name, &node, &mut signals).await
            }
        }
    })
}

/// A job that was submitted.
struct Job {
    id: String,
    /// `sbatch --wait`, which ends with the job; who drops it leaves the job alone.
    waiting: Child,
    /// State that was told last.
    told: String,
}

/// Outcome of a job that was waited for.
enum Begun {
    /// Its run answers, on this node.
    On(String),
    /// The job is over before that.
    Over(ExitCode),
}

/// A job, as Slurm tells it; empty if it does not know the job any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Fields by their names, such as `JobState`.
    fields: BTreeMap<String, String>,
}

/// States of a job that has not ended.
const LIVING: [&str; 13] = [
    "PENDING",
    "CONFIGURING",
    "POWER_UP_NODE",
    "RUNNING",
    "RESIZING",
    "SIGNALING",
    "COMPLETING",
    "STAGE_OUT",
    "SUSPENDED",
    "STOPPED",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
];

impl Job {
    async fn submit(script: &str, options: &str) -> Result<Self, Failed> {
        let mut waiting = Command::new("sbatch")
            // Options of the user come after them and win.
            .args(["--output=phalanx-%j.out", "--error=phalanx-%j.err"])
            .args(sbatch_words(options)?)
            .args(["--wait", "--parsable"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start sbatch, which --slurm submits a job with")
            .map_err(|error| Failed::new(ExitCode::Configuration, error))?;
        if let Some(mut input) = waiting.stdin.take() {
            // Who does not read it says why.
            let _ = input.write_all(script.as_bytes()).await;
        }
        let stdout = waiting.stdout.take().expect("its stdout is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await;
        let id = line.ok().flatten().unwrap_or_default();
        let id = id.split(';').next().unwrap_or_default().trim().to_owned();
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_digit()) {
            let _ = waiting.wait().await;
            let message = "sbatch refused the job";
            return Err(Failed::message(ExitCode::Configuration, message));
        }
        Ok(Self {
            id,
            waiting,
            told: String::new(),
        })
    }

    /// Repeats what the job prints until it has ended; a signal ends the run in order, a second
    /// one the job.
    async fn repeat(&mut self, signals: &mut Signals) -> CommandResult {
        let mut errors: Option<Followed> = None;
        let mut looks = interval(PRINT_INTERVAL);
        let mut questions = interval(STATE_INTERVAL);
        let mut is_interrupted = false;
        let mut last = State::default();
        let code = loop {
            tokio::select! {
                status = self.waiting.wait() => {
                    break code_of(status.context("sbatch is lost")?);
                }
                () = signals.ends() => {
                    self.interrupt(is_interrupted).await;
                    is_interrupted = true;
                }
                _ = questions.tick() => {
                    last = self.look(last).await;
                    if let Some(code) = last.exit() {
                        break code;
                    }
                    if errors.is_none() && last.is_running() {
                        errors = last.file("StdErr").map(Followed::new);
                    }
                }
                _ = looks.tick() => {
                    if let Some(errors) = &mut errors {
                        output::note_lines(&errors.news());
                    }
                }
            }
        };
        let mut errors = errors.or_else(|| last.file("StdErr").map(Followed::new));
        for part in errors.iter_mut().flat_map(Followed::rest) {
            output::note_lines(&part);
        }
        // Both may go to one file, as they do where the user names one.
        let is_own = |path: &PathBuf| errors.as_ref().is_none_or(|errors| errors.path != *path);
        if let Some(path) = last.file("StdOut").filter(is_own) {
            for part in Followed::new(path).rest() {
                output::print(&part)?;
            }
        }
        Ok(code)
    }

    /// Waits until the run of the job answers.
    async fn begun(
        &mut self,
        program: &Path,
        name: &str,
        signals: &mut Signals,
    ) -> Result<Begun, Failed> {
        let mut is_interrupted = false;
        let mut last = State::default();
        loop {
            last = self.look(last).await;
            let over = match last.exit() {
                Some(code) => Some(code),
                None if last.is_running() && self.answers(program, name, last.node()).await => {
                    return Ok(Begun::On(last.node().to_owned()));
                }
                None => tokio::select! {
                    status = self.waiting.wait() => {
                        Some(code_of(status.context("sbatch is lost")?))
                    }
                    () = signals.ends() => {
                        self.interrupt(is_interrupted).await;
                        is_interrupted = true;
                        None
                    }
                    () = sleep(STATE_INTERVAL) => None,
                },
            };
            if let Some(code) = over {
                if let Some(path) = last.file("StdErr") {
                    for part in Followed::new(path).rest() {
                        output::note_lines(&part);
                    }
                }
                return Ok(Begun::Over(code));
            }
        }
    }

    /// Shows the run until its view is left or it ends; the view ends with this terminal, too.
    async fn show(
        &mut self,
        program: &Path,
        name: &str,
        node: &str,
        signals: &mut Signals,
    ) -> CommandResult {
        let mut view = self.step(node);
        let mut view = view
            .args(["--quiet", "--pty"])
            .arg(program)
            .args(["attach", name])
            .spawn()
            .context("cannot start srun")?;
        let status = tokio::select! {
            status = view.wait() => code_of(status.context("srun is lost")?),
            () = signals.ends() => {
                end_step(&mut view).await;
                ExitCode::Success
            }
        };
        // A view whose run has ended is left a little before its job is over.
        let end = Instant::now() + END_GRACE;
        let mut last = State::default();
        while Instant::now() < end {
            last = self.look(last).await;
            if let Some(code) = last.exit() {
                // Slurm ends the view with the job, and it may not have come to say how that ended.
                if status != ExitCode::Success
                    && let Some(path) = last.file("StdOut")
                {
                    for part in Followed::new(path).rest() {
                        output::print(&part)?;
                    }
                }
                return Ok(code);
            }
            if self.answers(program, name, node).await {
                let id = &self.id;
                let step = self.step_options(node).join(" ");
                let program = program.display();
                output::note(&format!(
                    "{name} goes on in job {id}; `srun {step} --pty {program} attach {name}` opens \
                     its view, `scancel --batch --signal=TERM {id}` ends it"
                ));
                return Ok(status);
            }
            sleep(PRINT_INTERVAL).await;
        }
        let status = self.waiting.wait().await.context("sbatch is lost")?;
        Ok(code_of(status))
    }

    /// Tells whether the run answers on a node of the job.
    async fn answers(&self, program: &Path, name: &str, node: &str) -> bool {
        let mut asked = self.step(node);
        asked
            .arg("--quiet")
            .arg(program)
            .args(["show", name, "stats", "--format", "json"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        asked.status().await.is_ok_and(|status| status.success())
    }

    /// Returns the command that runs something on a node of the job.
    fn step(&self, node: &str) -> Command {
        let mut step = Command::new("srun");
        step.args(self.step_options(node));
        step.kill_on_drop(true);
        step
    }

    /// Returns the options of a step of one task on a node of the job.
    fn step_options(&self, node: &str) -> Vec<String> {
        let id = format!("--jobid={}", self.id);
        let node = format!("--nodelist={node}");
        let one = ["--overlap", "--nodes=1", "--ntasks=1"].map(str::to_owned);
        [id].into_iter().chain(one).chain([node]).collect()
    }

    /// Asks how the job is, and says so if that is news; returns what was known before if Slurm
    /// does not say.
    async fn look(&mut self, last: State) -> State {
        let state = State::of(&said("scontrol", &["show", "job", &self.id]).await);
        if state.name().is_empty() {
            return last;
        }
        let text = match state.name() {
            "PENDING" => format!("job {} waits ({})", self.id, state.field("Reason")),
            "RUNNING" => format!("job {} runs on {}", self.id, state.node()),
            other => format!("job {} is {}", self.id, other.to_lowercase()),
        };
        if text != self.told {
            output::note(&text);
            self.told = text;
        }
        state
    }

    /// Ends the run in order, or else the job.
    async fn interrupt(&mut self, is_impatient: bool) {
        let is_running = self.look(State::default()).await.is_running();
        let words: &[&str] = if is_impatient || !is_running {
            &[&self.id]
        } else {
            &["--batch", "--signal=TERM", &self.id]
        };
        said("scancel", words).await;
    }
}

impl State {
    fn of(text: &str) -> Self {
        // A path has a line of its own, and may have blanks.
        let words = text.lines().flat_map(|line| match line.trim() {
            path if path.starts_with("StdErr=") || path.starts_with("StdOut=") => vec![path],
            line => line.split_whitespace().collect(),
        });
        let fields = words.filter_map(|word| word.split_once('='));
        let owned = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            fields: owned.collect(),
        }
    }

    fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    fn name(&self) -> &str {
        self.field("JobState")
    }

    fn is_running(&self) -> bool {
        self.name() == "RUNNING"
    }

    /// Returns the node of the batch script.
    fn node(&self) -> &str {
        self.field("BatchHost")
    }

    /// Returns the exit code of a job that has ended, `None` of one that lives or is not known.
    fn exit(&self) -> Option<ExitCode> {
        if self.name().is_empty() || LIVING.contains(&self.name()) {
            return None;
        }
        let code = self.field("ExitCode").split(':').next();
        let code: i32 = code.and_then(|code| code.parse().ok()).unwrap_or(1);
        Some(match (code, self.name()) {
            (0, "COMPLETED") => ExitCode::Success,
            (0, _) => ExitCode::Failure,
            (code, _) => exit_code(code),
        })
    }

    /// Returns a file that the job writes.
    fn file(&self, field: &str) -> Option<PathBuf> {
        let path = self.fields.get(field)?;
        Some(PathBuf::from(path))
    }
}

/// A file that somebody writes.
struct Followed {
    path: PathBuf,
    offset: u64,
}

impl Followed {
    fn new(path: PathBuf) -> Self {
        Self { path, offset: 0 }
    }

    /// Returns whole lines that have come since, or a part of one that is longer than is read at a
    /// time; what cannot be read yet comes later.
    fn news(&mut self) -> String {
        self.next(false)
    }

    /// Returns what is left once nobody writes it any more, in parts, with a last line that has no
    /// end.
    fn rest(&mut self) -> impl Iterator<Item = String> {
        std::iter::from_fn(|| Some(self.next(true)).filter(|part| !part.is_empty()))
    }

    fn next(&mut self, is_complete: bool) -> String {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.take(PRINT_BYTES_MAX).read_to_end(&mut bytes)
        });
        if read.is_err() {
            return String::new();
        }
        let is_full = bytes.len() as u64 == PRINT_BYTES_MAX;
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => bytes.truncate(at + 1),
            None if is_complete || is_full => {}
            None => bytes.clear(),
        }
        self.offset += bytes.len() as u64;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Returns what a program of Slurm prints; nothing if it fails.
async fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let stdout = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&stdout).into_owned()
}

/// Has srun end its step, and waits for both.
async fn end_step(step: &mut Child) {
    let pid = step.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
    if let Some(pid) = pid {
        // It may have ended just now.
        let _ = kill_process(pid, Signal::TERM);
    }
    if timeout(STEP_GRACE, step.wait()).await.is_err() {
        let _ = step.kill().await;
    }
}

fn code_of(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(0) => ExitCode::Success,
        Some(code) => exit_code(code),
        None => ExitCode::Failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_given_the_words_that_are_not_for_here() {
        let words = [
            "w.sdf",
            "--slurm",
            "-n 4",
            "--seed",
            "3",
            "--headless",
            "--slurm=-N 2",
        ];
        let words = words.map(OsString::from);
        let job = words_of_job("run", &words);
        assert_eq!(job, "run --headless 'w.sdf' '--seed' '3'");
    }

    #[test]
    fn the_name_of_a_file_is_no_command_of_the_job() {
        assert_eq!(name_of_run("$(id) `id`\"x"), "__id___id__x-$SLURM_JOB_ID");
        assert_eq!(name_of_run("rolling-4"), "rolling-4-$SLURM_JOB_ID");
    }

    #[test]
    fn a_job_has_a_state_and_when_it_has_ended_an_exit_code() {
        let state = |text: &str| State::of(&format!("JobId=7 JobName=phalanx\n   {text}"));
        let waits = state("JobState=PENDING Reason=Resources Dependency=(null) ExitCode=0:0");
        assert_eq!((waits.field("Reason"), waits.exit()), ("Resources", None));
        let runs = state("JobState=RUNNING ExitCode=0:0 BatchHost=n1\n   StdErr=/a b/job.err");
        assert!(runs.is_running() && runs.exit().is_none());
        assert_eq!(
            (runs.node(), runs.file("StdErr")),
            ("n1", Some("/a b/job.err".into()))
        );
        let exit = |text: &str| state(text).exit();
        assert_eq!(
            exit("JobState=COMPLETED ExitCode=0:0"),
            Some(ExitCode::Success)
        );
        assert_eq!(
            exit("JobState=FAILED ExitCode=130:0"),
            Some(ExitCode::Interrupted)
        );
        assert_eq!(
            exit("JobState=TIMEOUT ExitCode=0:15"),
            Some(ExitCode::Failure)
        );
        assert_eq!(State::of("").exit(), None);
    }

    #[test]
    fn whole_lines_of_a_file_are_repeated_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.err");
        let mut followed = Followed::new(path.clone());
        assert_eq!(followed.news(), "");
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(followed.news(), "one\n");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(followed.news(), "two\n");
    }

    #[test]
    fn what_a_job_has_printed_comes_to_its_last_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.err");
        let long = "x".repeat(PRINT_BYTES_MAX as usize + 5);
        let text = format!("one\n{long}\n{}last", "a line\n".repeat(300_000));
        std::fs::write(&path, &text).unwrap();
        let mut followed = Followed::new(path.clone());
        let parts: Vec<String> = followed.rest().collect();
        assert!(parts.concat() == text, "{} bytes", parts.concat().len());
        assert_eq!(followed.rest().next(), None);
        // A line that is longer than what is read at a time holds up nothing.
        let mut followed = Followed::new(path);
        let news: Vec<usize> = (0..3).map(|_| followed.news().len()).collect();
        assert_eq!(news[..2], [4, PRINT_BYTES_MAX as usize]);
        assert!(news[2] > 6);
    }
}
