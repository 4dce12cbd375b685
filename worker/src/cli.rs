//! The command line of `worker`, and what it asks for once it is checked.

mod journal;
mod patience;
mod record;
mod security;
mod trace;
mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use lockstep::limits::{RUN_AHEAD_DEFAULT, RUN_AHEAD_MAX, STAND_BYS_MAX, THREADS_MAX};
use lockstep::{LoadRule, PeerLossPolicy};
use protocol::{PeerName, Role};
use sdf::Solver;
use transport::{Endpoints, ownership};
use worker::cpus::Cpus;

pub(crate) use journal::JournalArguments;
pub(crate) use patience::{PatienceArguments, divergence_file};
use record::RecordFlags;
pub(crate) use security::SecurityFlags;
use trace::TraceFlags;
use values::{
    level_count, load_rule, loss_policy, margin, milliseconds, on_or_off, real_time_factor,
    seconds, solver, stay,
};

/// The folder of a primary that is started by hand, in the folder of its user's runs.
const BY_HAND: &str = "by-hand";

/// Simulates one robot world on many processes in exact lockstep.
///
/// Without a network role, everything runs in this one process. A primary distributes the work and
/// keeps time; secondaries run the physics. A secondary needs nothing but its role and where to
/// find the primary.
#[derive(Debug, Parser)]
#[command(name = "worker", version, after_help = EXIT_CODES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, apart from the others"
)]
pub(crate) struct Cli {
    /// primary or secondary, in any capitalization; leave it out for standalone
    #[arg(long, value_name = "ROLE")]
    network_role: Option<Role>,
    /// Number of secondaries that a primary waits for, at least 1
    #[arg(long, value_name = "N")]
    network_secondaries: Option<u32>,
    /// Address of a primary (or standalone): `ipc:///DIRECTORY` or `tcp://HOST:PORT`, of which PORT
    /// to PORT+5 are used; port 0 takes free ones [default of a primary: the folder by-hand in your
    /// runtime folder]
    #[arg(long, value_name = "ENDPOINT")]
    bind: Option<Endpoints>,
    /// Address of a secondary's primary [default: the folder by-hand in your runtime folder]
    #[arg(long, value_name = "ENDPOINT")]
    connect: Option<Endpoints>,
    /// The name of a secondary, unique in the run
    #[arg(long)]
    name: Option<PeerName>,
    /// End after so many iterations
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Simulated over real time to keep to; 0 is as fast as possible; by default the world's own
    #[arg(long, value_name = "X", value_parser = real_time_factor, allow_negative_numbers = true)]
    real_time_factor: Option<f64>,
    /// Let time stand still at first
    #[arg(long)]
    paused: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write one line per iteration: its number and the digest of all performers
    #[arg(long, value_name = "FILE")]
    digests: Option<PathBuf>,
    /// Write what every iteration changed: performers' cells and states, bit for bit, for
    /// `phalanx diff`
    #[arg(long, value_name = "FILE")]
    states: Option<PathBuf>,
    /// Do the commands in this file at their iterations: JSON lines, see docs/commands.md
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,
    /// Write the commands that were done, with their iterations, for --commands
    #[arg(long, value_name = "FILE")]
    record_commands: Option<PathBuf>,
    /// Write one line per message of every topic, whether or not anyone listens: its iteration,
    /// topic, publisher and digest, for `phalanx diff`
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// Threads that step cells, in each process
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(THREADS_MAX)))]
    threads: u32,
    /// Iterations that one message may bring at most while nothing changes hands; 1 has each in a
    /// message of its own
    #[arg(long, value_name = "N", default_value_t = RUN_AHEAD_DEFAULT)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(RUN_AHEAD_MAX)))]
    run_ahead_max: u32,
    /// Time to look for messages before sleeping; faster if every process has a core of its own,
    /// and much slower if not
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    #[arg(value_parser = values::microseconds())]
    spin_us: u64,
    /// Do every step of every cell twice and compare
    #[arg(long)]
    verify: bool,
    /// The effort of the solver of contacts and joints; `fast` is softer where many bodies touch
    #[arg(long, value_name = "exact|fast", default_value = "exact", value_parser = solver)]
    solver: Solver,
    /// Cut each world, none of which may have levels, into so many by its contents
    #[arg(long, value_name = "N", value_parser = level_count)]
    auto_levels: Option<NonZeroUsize>,
    /// Move cells between secondaries for the sake of load
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = on_or_off)]
    #[arg(action = clap::ArgAction::Set)]
    balance: bool,
    /// Rule for when a level's models are loaded: `buffer` while a performer touches the level or
    /// its buffer, `volume` from touching the level itself until leaving its buffer
    #[arg(long, value_name = "buffer|volume", default_value = "buffer", value_parser = load_rule)]
    levels_load: LoadRule,
    /// Simulated time that a performer stays in a cell before it goes to its own level's
    #[arg(long, value_name = "SECONDS", default_value = "0.05", value_parser = stay)]
    minimum_stay: Duration,
    /// Distance below which one cell must own two performers [m]
    #[arg(long, value_name = "METRES", default_value_t = 0.02, value_parser = margin)]
    interaction_margin: f64,
    /// Write how the run went, as JSON, when it ends
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Write the last events, as JSON lines, when the run ends
    #[arg(long, value_name = "FILE")]
    last_events: Option<PathBuf>,
    /// Write down who came, who commanded what and who was turned away, a line each
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Longest time to wait for peers at the start
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    peer_timeout: Duration,
    /// Time between heartbeats
    #[arg(long, value_name = "MS", default_value = "100", value_parser = milliseconds())]
    heartbeat_interval_ms: u64,
    /// Silence after which a peer counts as lost
    #[arg(long, value_name = "MS", default_value = "2000", value_parser = milliseconds())]
    heartbeat_timeout_ms: u64,
    /// Longest time that a step may go unacknowledged
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    step_timeout: Duration,
    #[command(flatten)]
    patience: PatienceArguments,
    /// Reaction to the loss of a secondary: `stop` ends the run, `recover` restores its cells on
    /// the others
    #[arg(long, value_name = "stop|recover", default_value = "stop", value_parser = loss_policy)]
    on_peer_loss: PeerLossPolicy,
    /// Iterations from one checkpoint of all cells to the next; 0 makes none but those asked for
    #[arg(long, value_name = "N", default_value_t = lockstep::CHECKPOINT_EVERY)]
    checkpoint_every: u64,
    /// Number of secondaries that may join beyond those that the run needs
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(STAND_BYS_MAX)))]
    stand_bys: u32,
    #[command(flatten)]
    record: RecordFlags,
    #[command(flatten)]
    trace: TraceFlags,
    #[command(flatten)]
    journal: JournalArguments,
    /// Allow tcp:// without encryption: to bind it, and to connect to another machine
    #[arg(long)]
    insecure: bool,
    /// Flags of access to the run.
    #[command(flatten)]
    security: SecurityFlags,
    /// End the run when standard input ends
    #[arg(long)]
    lifeline: bool,
    /// Run on these CPUs alone: numbers and ranges such as 0,2-3
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<Cpus>,
    /// SDF files, whose worlds all run together; a secondary gets them from its primary
    #[arg(value_name = "WORLD.sdf")]
    worlds: Vec<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 completed, 1 failed, 2 usage, 3 world or configuration, 4 a peer was lost,
5 digests disagreed, 6 time-out while waiting for peers, 130 interrupted.";

/// Request of the command line.
#[derive(Debug)]
pub(crate) enum Request {
    /// Distribute work and keep time.
    Primary {
        /// The run.
        run: Run,
        /// Number of secondaries that take part.
        secondaries: u32,
    },
    /// Run physics for a primary.
    Secondary {
        /// Address of the primary; `None` is that of one that was started by hand.
        connect: Option<Endpoints>,
        /// The name asked for.
        name: PeerName,
        /// Longest time to look for the primary.
        peer_timeout: Duration,
        /// Time to look for messages before sleeping.
        spin: Duration,
        /// Its key, and that of its primary.
        security: SecurityFlags,
        /// True if it may connect to another machine without encryption.
        insecure: bool,
        /// Options that were given and do not matter to a secondary.
        ignored: Vec<&'static str>,
    },
    /// Do both in one process.
    Standalone(Run),
}

/// Settings of a run.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, apart from the others"
)]
pub(crate) struct Run {
    /// The world files; none when the run is resumed.
    pub worlds: Vec<PathBuf>,
    /// Address at which clients and secondaries reach it; `None` for a standalone run that nobody
    /// watches, and for the address that processes started by hand use.
    pub bind: Option<Endpoints>,
    /// Number of iterations after which it ends.
    pub iterations: Option<u64>,
    /// Its pace, where it is not the world's own.
    pub real_time_factor: Option<f64>,
    /// True if time stands still at first.
    pub paused: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// File for digests.
    pub digests: Option<PathBuf>,
    /// File for states.
    pub states: Option<PathBuf>,
    /// File with the commands that are done at their iterations.
    pub commands: Option<PathBuf>,
    /// File for the commands that were done.
    pub record_commands: Option<PathBuf>,
    /// File for messages.
    pub messages: Option<PathBuf>,
    /// Threads that step cells, in each process.
    pub threads: u32,
    /// Largest number of iterations that one message brings.
    pub ahead_max: u32,
    /// True if every step is done twice and compared.
    pub verify: bool,
    /// The effort of the solver of contacts and joints.
    pub solver: Solver,
    /// Into how many levels each world is cut.
    pub auto_levels: Option<NonZeroUsize>,
    /// True if cells move for the sake of load.
    pub balance: bool,
    /// Rule for when a level's models are loaded.
    pub levels_load: LoadRule,
    /// Simulated time that a performer stays in a cell before it goes to its own level's.
    pub minimum_stay: Duration,
    /// Distance below which one cell must own two performers \[m\].
    pub interaction_margin: f64,
    /// File for the summary.
    pub summary: Option<PathBuf>,
    /// File for the last events when the run ends.
    pub last_events: Option<PathBuf>,
    /// File for the audit log: who does what.
    pub audit: Option<PathBuf>,
    /// Longest time to wait for peers at the start.
    pub peer_timeout: Duration,
    /// Time to look for messages before sleeping.
    pub spin: Duration,
    /// Time between heartbeats.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
    /// Longest time that a step may go unacknowledged.
    pub step_timeout: Duration,
    /// Warnings and measures before that time is over.
    pub patience: PatienceArguments,
    /// Reaction to the loss of a secondary.
    pub on_peer_loss: PeerLossPolicy,
    /// Iterations from one checkpoint to the next.
    pub checkpoint_every: u64,
    /// Number of secondaries that may join beyond those that the run needs.
    pub stand_bys: u32,
    /// Options of recording and replaying.
    pub record: RecordFlags,
    /// Options of tracing.
    pub trace: TraceFlags,
    /// Journal of the run, from which it can be resumed.
    pub journal: JournalArguments,
    /// True if tcp may be bound without encryption.
    pub insecure: bool,
    /// Its key, and who may connect.
    pub security: SecurityFlags,
}

impl Cli {
    /// Tells whether the end of standard input ends the run.
    pub(crate) fn has_lifeline(&self) -> bool {
        self.lifeline
    }

    /// Checks the command line as a whole.
    ///
    /// # Errors
    /// Fails if flags are missing or do not go together; the text says what to do.
    pub(crate) fn request(self) -> Result<Request, String> {
        match self.network_role {
            Some(Role::Secondary) => self.secondary(),
            Some(Role::Primary) => {
                let secondaries = self.network_secondaries.filter(|count| *count > 0).ok_or(
                    "a primary needs --network-secondaries=N with N of at least 1; for one \
                     process alone leave --network-role out",
                )?;
                let run = self.run("a primary")?;
                Ok(Request::Primary { run, secondaries })
            }
            Some(Role::Standalone) | None => {
                if self.network_secondaries.is_some() {
                    return Err("--network-secondaries needs --network-role=primary".to_owned());
                }
                Ok(Request::Standalone(self.run("a standalone run")?))
            }
        }
    }

    fn secondary(self) -> Result<Request, String> {
        self.security.check_for_secondary()?;
        let given = [
            (!self.worlds.is_empty(), "WORLD.sdf"),
            (self.network_secondaries.is_some(), "--network-secondaries"),
            (self.bind.is_some(), "--bind"),
            (self.iterations.is_some(), "--iterations"),
            (self.real_time_factor.is_some(), "--real-time-factor"),
            (self.paused, "--paused"),
            (self.digests.is_some(), "--digests"),
            (self.states.is_some(), "--states"),
            (self.commands.is_some(), "--commands"),
            (self.record_commands.is_some(), "--record-commands"),
            (self.messages.is_some(), "--messages"),
            (self.summary.is_some(), "--summary"),
            (self.last_events.is_some(), "--last-events"),
            (self.audit.is_some(), "--audit"),
            (self.record.record.is_some(), "--record"),
            (self.record.recording.is_some(), "--recording"),
            (self.trace.trace.is_some(), "--trace"),
        ];
        Ok(Request::Secondary {
            connect: self.connect,
            name: self.name.unwrap_or_else(name_of_process),
            peer_timeout: self.peer_timeout,
            spin: Duration::from_micros(self.spin_us),
            security: self.security,
            insecure: self.insecure,
            ignored: given
                .into_iter()
                .filter_map(|(is, name)| is.then_some(name))
                .collect(),
        })
    }

    /// Checks that no two outputs go to one file.
    fn check_files(&self) -> Result<(), String> {
        let files = [
            ("--digests", &self.digests),
            ("--states", &self.states),
            ("--messages", &self.messages),
            ("--commands", &self.commands),
            ("--record-commands", &self.record_commands),
            ("--record", &self.record.record),
            ("--recording", &self.record.recording),
            ("--trace", &self.trace.trace),
            ("--audit", &self.audit),
        ];
        for (index, (name, path)) in files.iter().enumerate() {
            let mut others = files[..index].iter();
            if let Some((other, _)) = others.find(|(_, it)| path.is_some() && it == path) {
                return Err(format!("{other} and {name} need a file each"));
            }
        }
        Ok(())
    }

    fn run(self, who: &str) -> Result<Run, String> {
        if self.connect.is_some() {
            return Err(format!("--connect is for secondaries; {who} takes --bind"));
        }
        if self.name.is_some() {
            return Err(format!("--name is for secondaries; {who} has none"));
        }
        if self.heartbeat_timeout_ms < 2 * self.heartbeat_interval_ms {
            return Err(format!(
                "--heartbeat-timeout-ms of {} must be at least twice --heartbeat-interval-ms of {}",
                self.heartbeat_timeout_ms, self.heartbeat_interval_ms
            ));
        }
        self.security.check_for_primary()?;
        let has_worlds = !self.worlds.is_empty() || self.record.recording.is_some();
        self.journal
            .check(who, has_worlds, self.commands.is_some())?;
        self.check_files()?;
        Ok(Run {
            worlds: self.worlds,
            bind: self.bind,
            iterations: self.iterations,
            real_time_factor: self.real_time_factor,
            paused: self.paused,
            seed: self.seed,
            digests: self.digests,
            states: self.states,
            commands: self.commands,
            record_commands: self.record_commands,
            messages: self.messages,
            threads: self.threads,
            ahead_max: self.run_ahead_max,
            spin: Duration::from_micros(self.spin_us),
            verify: self.verify,
            solver: self.solver,
            auto_levels: self.auto_levels,
            balance: self.balance,
            levels_load: self.levels_load,
            minimum_stay: self.minimum_stay,
            interaction_margin: self.interaction_margin,
            summary: self.summary,
            last_events: self.last_events,
            audit: self.audit,
            peer_timeout: self.peer_timeout,
            heartbeat_interval: Duration::from_millis(self.heartbeat_interval_ms),
            heartbeat_timeout: Duration::from_millis(self.heartbeat_timeout_ms),
            step_timeout: self.step_timeout,
            patience: self.patience,
            on_peer_loss: self.on_peer_loss,
            checkpoint_every: self.checkpoint_every,
            stand_bys: self.stand_bys,
            record: self.record,
            trace: self.trace,
            journal: self.journal,
            insecure: self.insecure,
            security: self.security,
        })
    }
}

/// Returns where processes that are started by hand meet when nothing is said: a folder that no
/// other user can enter.
///
/// # Errors
/// Fails if the folder of this user's runs cannot be used, or its path is too long for a socket.
pub(crate) fn endpoint_by_hand() -> anyhow::Result<Endpoints> {
    let address = || {
        let folder = ownership::runtime_folder()?.join(BY_HAND);
        let address = format!("ipc://{}", folder.display());
        anyhow::Ok(address.parse()?)
    };
    address().context("processes cannot meet in the runtime folder; --bind and --connect say where")
}

fn name_of_process() -> PeerName {
    format!("secondary-{}", std::process::id())
        .parse()
        .expect("letters and digits are a name")
}

#[cfg(test)]
mod tests;
