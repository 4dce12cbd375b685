//! [`LiveRun`]: the processes, the link and the folder of a living run, and how they end.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use client::feed::LogLine;
use client::{Observer, Reach};
use lockstep::PeerLossPolicy;
use protocol::error_chain::chain;
use protocol::{Command, ExitCode, counted};
use run::{Network, Recovery, RunSpec};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;
use transport::Endpoints;
use transport::zeromq::with_free_ports;

use super::super::{Failed, output};
use super::Owned;
use super::console::Console;
use super::event_file::EventFile;
use super::exit_report::{ExitReport, conclude};
use super::headless;
use super::host_changes::HostChanges;
use super::progress::{RunProgress, is_worth_showing};
use super::run_daemon::{Starter, Word};
use super::settings::Settings;
use crate::key_files::{RunKeys, user_folder};
use crate::launch::LaunchPlan;
use crate::launch::hosts::{self, HostProblem};
use crate::launch::launched::Launched;
use crate::launch::primary_watch::{PrimaryWatch, WatchLimits};
use crate::launch::programs::{ProgramContext, ProgramEnd, Programs};
use crate::launch::ros2_control;
use crate::launch::slurm::{self, AllocationError};
use crate::launch::supervisor::{LossPolicy, REST_GRACE, RunExit, Supervisor};
use crate::owner_socket::{self, Question};
use crate::private_file::write_private;
use crate::run_directory::{RunDirectory, RunEnd, RunRecord, now_unix_s};

/// Time that the primary may take to end the run after a signal: it waits a second for the others
/// to leave, and writes what is left. Who does not want to wait gives a second signal.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// Time that the primary may take to end the run when a program of it has failed.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// Time for which what the primary said last may be on its way when its process has ended.
const LAST_NEWS_GRACE: Duration = Duration::from_millis(300);

/// Number of log lines that wait to be shown; lines beyond that are in the log files alone.
const LINES_MAX: usize = 4096;

/// Address of a primary whose hosts find it, where none is named.
const EVERY_ADDRESS: &str = "tcp://0.0.0.0:0";

/// A living run.
pub(super) struct LiveRun {
    /// Its folder; held until everything has ended.
    pub(super) directory: RunDirectory,
    /// Record of the run for other programs of this machine.
    pub(super) record: RunRecord,
    /// Its processes.
    pub(super) supervisor: Supervisor,
    /// The link to its primary.
    pub(super) observer: Observer,
    /// Output lines of its processes.
    pub(super) lines: mpsc::Receiver<LogLine>,
    /// Programs that run beside it.
    pub(super) programs: Programs,
    /// Latest state of the run.
    pub(super) known: RunProgress,
    /// Output of its events.
    pub(super) events: Option<EventFile>,
    /// Signals to this program.
    pub(super) signals: Signals,
    /// Watch over the primary.
    pub(super) watch: PrimaryWatch,
    /// Process that started the run and waits until it has begun, if any does.
    starter: Option<Starter>,
    /// Changes of its hosts.
    pub(super) hosts: HostChanges,
}

/// Reason why the run is not followed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Its processes ended it.
    Exit(RunExit),
    /// A signal to this program.
    Interrupted,
    /// A program that the run cannot do without has failed.
    Program(ProgramEnd),
}

impl LiveRun {
    /// Starts the processes of a run.
    pub(super) fn start(settings: &Settings, own: Owned, signals: Signals) -> Result<Self, Failed> {
        let directory = &own.directory;
        let mut spec = settings.spec(directory)?;
        let job = slurm::take_hosts(&mut spec).map_err(no_job)?;
        if let Some(job) = job {
            let names: Vec<&str> = job.hosts.iter().map(|host| host.name.as_str()).collect();
            let (count, names) = (spec.secondaries_of_hosts(), names.join(", "));
            let job = job.job;
            output::note(&format!(
                "in job {job} of Slurm: {} on {names}",
                counted(count, "secondary")
            ));
        }
        let endpoint = endpoint(&spec, directory)?;
        let keys = keys(&spec, &endpoint, directory)?;
        if let Some(keys) = &keys {
            spec.security.key = Some(keys.primary.clone());
            spec.security.authorized.clone_from(&keys.authorized);
        }
        spec.network.bind = Some(endpoint);
        if spec.network.announce_lan {
            spec.run.name = Some(directory.name().to_owned());
        }
        let launched = Launched {
            stem: settings.stem.clone(),
            command: command_line(),
            plan: LaunchPlan {
                spec,
                spec_file: directory.spec_file(),
                keys,
                recording: settings.recording.clone(),
                is_resumed: false,
                accepts_loss: false,
            },
        };
        if launched.plan.spec.journal.folder().is_some() {
            let path = directory.launch_file();
            let written = launched.write(&path);
            written.with_context(|| format!("cannot write {}", path.display()))?;
        }
        Self::launch(launched, own, signals)
    }

    /// Starts the processes of a run as it was launched.
    pub(super) fn launch(launched: Launched, own: Owned, signals: Signals) -> Result<Self, Failed> {
        let Owned {
            worker,
            directory,
            events,
        } = own;
        let Launched {
            stem,
            command,
            mut plan,
        } = launched;
        if plan.is_resumed {
            slurm::renew_hosts(&mut plan.spec).map_err(no_job)?;
        }
        let endpoint = plan.endpoint();
        let reach = reach(endpoint.clone(), plan.keys.as_ref())?;
        let observer = Observer::follow(&reach).map_err(anyhow::Error::new)?;
        // The primary writes it, with the mode that it has.
        let summary = directory.summary();
        let written = write_private(&summary, "");
        written.with_context(|| format!("cannot write {}", summary.display()))?;
        let written = plan.write_spec();
        written.with_context(|| format!("cannot write {}", plan.spec_file.display()))?;
        let (sender, lines) = mpsc::channel(LINES_MAX);
        let hosts = hosts::prepare(&plan.spec, &worker).map_err(|problems| no_hosts(&problems))?;
        let commands = plan.commands(&hosts).map_err(anyhow::Error::new)?;
        let policy = loss_policy(&plan.spec.run.recovery);
        let supervisor = Supervisor::spawn(&worker, &commands, &directory.logs(), &sender, policy)
            .map_err(anyhow::Error::new)?;
        let record = RunRecord {
            name: directory.name().to_owned(),
            pid: std::process::id(),
            endpoint: endpoint.to_string(),
            world: plan.world_names(),
            command: command.clone(),
            started_unix_s: now_unix_s(),
            workers: supervisor.workers(),
            ended: None,
        };
        directory
            .write_record(&record)
            .map_err(anyhow::Error::new)?;
        let programs = programs(&plan.spec, &record, &directory, sender);
        let watch = watch(&supervisor, &plan.spec.network);
        let known = RunProgress::new(&stem, plan.secondary_names());
        let questions = questions(directory.path());
        let launched = Launched {
            stem,
            command,
            plan,
        };
        Ok(Self {
            directory,
            record,
            supervisor,
            observer,
            lines,
            programs,
            known,
            events,
            signals,
            watch,
            starter: None,
            hosts: HostChanges::new(launched, worker, questions),
        })
    }

    /// Says one word to who started the run; only the first is heard, and who started it may have
    /// gone.
    pub(super) fn tell_starter(&mut self, word: &Word) {
        if let Some(starter) = self.starter.take() {
            starter.tell(word);
        }
    }

    /// Notes who waits until the run has begun: not until others have joined, who have to be told
    /// first where it is.
    pub(super) fn set_starter(&mut self, starter: Starter) {
        self.starter = Some(starter);
        if self.hosts.awaits_others() {
            self.tell_starter(&Word::Begun);
        }
    }

    /// Ends what is left of the run, writes down how it ended, and returns that.
    pub(super) async fn finish(
        &mut self,
        ending: Ending,
        console: &mut Console,
    ) -> Result<ExitReport, Failed> {
        self.programs.stop().await;
        let interrupt = (Command::Interrupt, INTERRUPT_GRACE);
        match &ending {
            Ending::Exit(RunExit::First(_)) => self.supervisor.end(REST_GRACE).await,
            Ending::Exit(RunExit::Unnoticed { .. }) => self.supervisor.terminate().await,
            Ending::Interrupted => self.ask_to_end(interrupt, console).await,
            Ending::Program(_) => {
                self.ask_to_end((Command::Stop, STOP_GRACE), console).await;
            }
        }
        self.hear_last(console).await;
        while let Ok(line) = self.lines.try_recv() {
            self.known.on_line(&line);
            if is_worth_showing(&line.text) {
                console.repeat(&line.process, &line.text);
            }
        }
        let status = self.supervisor.first_status();
        let written = std::fs::read_to_string(self.directory.summary()).ok();
        let report = conclude(
            &ending,
            status,
            written.as_deref(),
            &self.known,
            &self.directory,
        );
        if let Some(summary) = report.unwritten()? {
            let path = self.directory.summary();
            write_private(&path, &summary)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.record.ended = Some(RunEnd {
            outcome: report.summary.outcome,
            cause: report.summary.cause.clone(),
            exit_code: report.exit_code as u8,
            last_error: report.last_error.clone(),
            at_unix_s: now_unix_s(),
        });
        if let Err(error) = self.directory.remove_sockets() {
            console.warn(&format!("{:#}", anyhow::Error::new(error)));
        }
        self.directory
            .write_record(&self.record)
            .map_err(anyhow::Error::new)?;
        Ok(report)
    }

    /// Asks the primary to end the run, and sees to it when it does not, or when a further signal
    /// shows that nobody wants to wait.
    async fn ask_to_end(&mut self, (command, grace): (Command, Duration), console: &mut Console) {
        self.observer.send(command);
        let has_ended = {
            let ends = self.supervisor.first_ends_within(grace);
            tokio::pin!(ends);
            loop {
                tokio::select! {
                    has_ended = &mut ends => break has_ended,
                    () = self.signals.ends() => break false,
                    feeds = self.observer.feed() => {
                        headless::note(&mut self.known, &mut self.events, &feeds, console);
                    }
                }
            }
        };
        if has_ended {
            self.supervisor.end(REST_GRACE).await;
        } else {
            self.supervisor.terminate().await;
        }
    }

    /// Hears what the primary said before its process ended, such as why.
    async fn hear_last(&mut self, console: &mut Console) {
        let rest = async {
            while !self.observer.is_lost() {
                let feeds = self.observer.feed().await;
                headless::note(&mut self.known, &mut self.events, &feeds, console);
            }
        };
        // A link that says nothing more has nothing to say.
        let _ = tokio::time::timeout(LAST_NEWS_GRACE, rest).await;
        let last = self.directory.last_events();
        if let Some(file) = &mut self.events
            && let Err(error) = file.end(&last)
        {
            console.warn(&format!("{error:#}"));
        }
    }
}

/// Begins to take questions in the folder of a run. Where there can be no socket, the run goes on
/// and nobody asks.
fn questions(folder: &Path) -> mpsc::Receiver<Question> {
    owner_socket::listen(folder).unwrap_or_else(|error| {
        output::note(&format!(
            "warning: add-host and drain-host do not work for this run: {}; PHALANX_RUNTIME_DIR \
             names another folder for runs",
            chain(&error)
        ));
        mpsc::channel(1).1
    })
}

/// Returns the programs that run beside a run, which are not started yet.
fn programs(
    spec: &RunSpec,
    record: &RunRecord,
    directory: &RunDirectory,
    lines: mpsc::Sender<LogLine>,
) -> Programs {
    let context = ProgramContext {
        run: record.name.clone(),
        endpoint: record.endpoint.clone(),
        logs: directory.logs(),
        lines,
    };
    let mut beside = Programs::new(spec.programs.clone(), context);
    if let Some(services) = ros2_control::of_run(spec, &record.name) {
        beside.keep_up(services, spec.run.recovery.restarts_per_minute);
    }
    beside
}

/// Begins to watch the first process.
fn watch(supervisor: &Supervisor, network: &Network) -> PrimaryWatch {
    let (name, pid) = supervisor.first().unwrap_or_default();
    let limits = WatchLimits {
        silent_after: network.heartbeat_timeout,
        lost_after: network.heartbeat_timeout + network.step_timeout,
        waits_for_debugger: network.wait_for_debugger,
    };
    PrimaryWatch::new(format!("{name} (pid {pid})"), limits, Instant::now())
}

fn no_job(error: AllocationError) -> Failed {
    Failed::new(ExitCode::Configuration, error)
}

/// Says of each host why it cannot have a secondary.
fn no_hosts(problems: &[HostProblem]) -> Failed {
    let texts: Vec<String> = problems.iter().map(|problem| chain(problem)).collect();
    Failed::message(ExitCode::Configuration, texts.join("\n"))
}

fn loss_policy(recovery: &Recovery) -> LossPolicy {
    match recovery.on_peer_loss {
        PeerLossPolicy::Stop => LossPolicy::Stop,
        PeerLossPolicy::Recover => LossPolicy::Recover {
            restarts_per_minute: if recovery.restart {
                recovery.restarts_per_minute
            } else {
                0
            },
        },
    }
}

/// Returns where the primary binds.
fn endpoint(spec: &RunSpec, directory: &RunDirectory) -> Result<Endpoints, Failed> {
    let every_address = EVERY_ADDRESS.parse().map_err(anyhow::Error::new)?;
    let bind = match &spec.network.bind {
        Some(bind) => bind,
        None if spec.secondaries_of_hosts() > 0 || spec.network.announce_lan => &every_address,
        None => return Ok(directory.endpoint().map_err(anyhow::Error::new)?),
    };
    // The secondaries must know the port before the primary has it.
    let bound = with_free_ports(bind).with_context(|| format!("cannot bind {bind}"));
    bound.map_err(|error| Failed::new(ExitCode::Configuration, error))
}

/// Makes the keys of a run that processes reach which need not be its user's.
fn keys(
    spec: &RunSpec,
    endpoint: &Endpoints,
    directory: &RunDirectory,
) -> Result<Option<RunKeys>, Failed> {
    let security = &spec.security;
    if endpoint.directory().is_some() || security.insecure {
        return Ok(None);
    }
    let user = user_folder(security.keys.as_deref());
    let made = RunKeys::make(directory.path(), user.as_deref());
    made.map(Some)
        .map_err(|error| Failed::new(ExitCode::Configuration, error))
}

fn reach(endpoint: Endpoints, keys: Option<&RunKeys>) -> Result<Reach, Failed> {
    let Some(keys) = keys else {
        // Without keys it is a folder of sockets, or was asked for with --insecure.
        return Ok(Reach::unencrypted(endpoint, true));
    };
    let primary = keys.primary_public.to_string_lossy();
    Ok(Reach::with_keys(endpoint, &keys.view, &primary).map_err(anyhow::Error::new)?)
}

/// Returns the command line that starts such a run again, as a shell takes it.
fn command_line() -> String {
    let mut words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word)).collect();
    if words.first().is_some_and(|first| first == "keep") {
        words.remove(0);
    }
    if words.first().is_none_or(|first| first != "run") {
        words.insert(0, "run".to_owned());
    }
    format!("phalanx {}", words.join(" "))
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Signals to this program.
#[derive(Debug)]
pub(in super::super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    /// True if the run ends with its terminal.
    is_ended_by_hang_up: bool,
}

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// Fails if the system does not allow it.
    pub(in super::super) fn new(is_ended_by_hang_up: bool) -> Result<Self, Failed> {
        let listen = |kind| signal(kind).context("cannot listen to signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            is_ended_by_hang_up,
        })
    }

    /// Waits for the next signal that ends the run. May be dropped and called again.
    pub(in super::super) async fn ends(&mut self) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hang_up.recv() => if self.is_ended_by_hang_up {
                    return;
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_run_in_a_folder_that_has_no_place_for_sockets_goes_on() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("f".repeat(110));
        std::fs::create_dir(&folder).unwrap();
        assert!(questions(&folder).recv().await.is_none());
        let error = owner_socket::listen(&folder).unwrap_err();
        let path = folder.display().to_string();
        assert!(error.to_string().contains(&path), "{error}");
    }
}
