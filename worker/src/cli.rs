//! The command line of `worker`, and what it asks for once it is checked.

mod outputs;
mod relay_request;
mod run_request;
mod security;
mod settings;
mod usage_error;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser};
use protocol::{PeerName, Role};
use run::RunSpec;
use transport::{Endpoints, ownership};
use worker::cpus::Cpus;

pub(crate) use relay_request::{RelayRequest, place_of};
pub(crate) use run_request::Run;
pub(crate) use security::SecurityFlags;
use settings::SettingFlags;
pub(crate) use usage_error::UsageError;

/// The folder of a primary that is started by hand, in the folder of its user's runs.
const BY_HAND: &str = "by-hand";

/// Simulates one robot world on many processes in exact lockstep.
///
/// Without a network role, everything runs in this one process. A primary distributes the work and
/// keeps time; secondaries run the physics. A secondary needs nothing but its role and where to
/// find the primary. A relay passes messages on between a primary and the secondaries of its
/// machine.
#[derive(Debug, Parser)]
#[command(name = "worker", version, after_help = EXIT_CODES)]
#[command(long_version = worker::identity::version_text())]
pub(crate) struct Cli {
    /// Flags of the role.
    #[command(flatten)]
    role: RoleFlags,
    /// Address of the primary of a secondary or a relay [default: with --partition, where the local
    /// network tells; else the folder by-hand in your runtime folder]
    #[arg(long, value_name = "ENDPOINT")]
    connect: Option<Endpoints>,
    /// The name of a secondary or a relay, unique in the run
    #[arg(long)]
    name: Option<PeerName>,
    /// Read the settings of the run from this file, as `phalanx run` writes it; flags win over it
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// Settings of the run.
    #[command(flatten)]
    settings: SettingFlags,
    /// Simulate again what this file has recorded, and compare the digest of every iteration; it
    /// has the worlds, seed, rules and commands
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["worlds", "run.commands", "run.iterations"])]
    recording: Option<PathBuf>,
    /// Go on with the run of a journal; worlds, commands and all that decides its bits are there
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Go on although something is lost of the journal, or of files that the run writes: from the
    /// last record before that, and without those files
    #[arg(long, requires = "resume")]
    accept_loss: bool,
    /// Flags of access to the run.
    #[command(flatten)]
    pub(crate) security: SecurityFlags,
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

/// The flags about the role of the process.
#[derive(Debug, Args)]
struct RoleFlags {
    /// primary, secondary or relay, in any capitalization; leave it out for standalone
    #[arg(long, value_name = "ROLE")]
    network_role: Option<Role>,
    /// How many secondaries a primary waits for, at least 1
    #[arg(long, value_name = "N")]
    network_secondaries: Option<u32>,
    /// The relay of this machine through which a secondary reaches its primary; of a relay, the
    /// name by which secondaries find it [default: its name]
    #[arg(long, value_name = "RELAY")]
    through: Option<PeerName>,
    /// Print which topics a run of these worlds has in ROS 2, by the rules of --ros-rules, as JSON,
    /// and run nothing
    #[arg(long, conflicts_with_all = ["network_role", "recording", "resume", "run"])]
    ros_topics: bool,
    /// Print what a start of these worlds warns of, or why they cannot be run, as JSON, and run
    /// nothing
    #[arg(long, conflicts_with_all = ["network_role", "recording", "resume", "run", "ros_topics"])]
    start_report: bool,
    /// Print the GPU on which --renderer gpu would draw cameras, or why there is none, as JSON, and
    /// run nothing
    #[arg(long, exclusive = true)]
    gpu_report: bool,
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
        /// Partition of the local network to look for it in, if no address is named.
        partition: Option<String>,
        /// The relay of this machine that stands for the primary.
        through: Option<PeerName>,
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
        ignored: Vec<String>,
    },
    /// Pass messages on between a primary and secondaries.
    Relay(Box<RelayRequest>),
    /// Do both in one process.
    Standalone(Run),
    /// Tell which topics a run would have in ROS 2.
    RosTopics(Run),
    /// Tell what a start would warn of.
    StartReport(Run),
}

impl Cli {
    /// Tells whether the end of standard input ends the run.
    pub(crate) fn has_lifeline(&self) -> bool {
        self.lifeline
    }

    /// Tells whether the GPU is asked for, and nothing else.
    pub(crate) fn asks_for_gpu(&self) -> bool {
        self.role.gpu_report
    }

    /// Returns the settings that flags are put over: those of a file, or of processes by hand.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(crate) fn base(&self) -> anyhow::Result<RunSpec> {
        match &self.run {
            Some(path) => {
                let read = RunSpec::read(path);
                read.with_context(|| format!("cannot read the settings in {}", path.display()))
            }
            None => Ok(RunSpec::by_hand()),
        }
    }

    /// Checks the command line as a whole; its flags win over the settings given.
    ///
    /// # Errors
    /// Fails if flags are missing or do not go together.
    pub(crate) fn request(self, base: &RunSpec) -> Result<Request, UsageError> {
        match self.role.network_role {
            Some(Role::Secondary) => self.secondary(base),
            Some(Role::Relay) => Ok(Request::Relay(Box::new(self.relay(base)?))),
            Some(Role::Primary) => {
                let secondaries = self.role.network_secondaries.filter(|count| *count > 0);
                let secondaries = secondaries.ok_or(UsageError::NoSecondaries)?;
                let run = self.run_request(base, "a primary")?;
                Ok(Request::Primary { run, secondaries })
            }
            Some(Role::Standalone | Role::Participant) | None => {
                if self.role.network_secondaries.is_some() {
                    return Err(UsageError::SecondariesOfNobody);
                }
                let (lists_topics, reports) = (self.role.ros_topics, self.role.start_report);
                let run = self.run_request(base, "a standalone run")?;
                Ok(match (lists_topics, reports) {
                    (true, _) => Request::RosTopics(run),
                    (false, true) => Request::StartReport(run),
                    (false, false) => Request::Standalone(run),
                })
            }
        }
    }

    fn secondary(self, base: &RunSpec) -> Result<Request, UsageError> {
        self.security.check_for_secondary()?;
        let spec = self.settings.over(base)?;
        let is_told = self.connect.is_some() || spec.network.partition.is_some();
        if self.role.through.is_some() && is_told {
            return Err(UsageError::ConnectsThrough);
        }
        let ignored = self.ignored();
        Ok(Request::Secondary {
            connect: self.connect,
            partition: spec.network.partition,
            through: self.role.through,
            name: name_of_peer(self.name, "secondary")?,
            peer_timeout: spec.network.peer_timeout,
            spin: spec.network.spin,
            security: self.security,
            insecure: spec.security.insecure,
            ignored,
        })
    }

    /// Returns the flags that were given and do not matter to one who is told all by its primary.
    fn ignored(&self) -> Vec<String> {
        let mut ignored = self.settings.ignored_by_secondaries();
        let others = [
            (!self.worlds.is_empty(), "WORLD.sdf"),
            (
                self.role.network_secondaries.is_some(),
                "--network-secondaries",
            ),
            (self.recording.is_some(), "--recording"),
            (self.resume.is_some(), "--resume"),
            (self.run.is_some(), "--run"),
        ];
        let others = others.into_iter().filter(|(is_given, _)| *is_given);
        ignored.extend(others.map(|(_, name)| name.to_owned()));
        ignored
    }

    fn run_request(self, base: &RunSpec, who: &'static str) -> Result<Run, UsageError> {
        if self.connect.is_some() {
            return Err(UsageError::Connects { who });
        }
        if self.name.is_some() {
            return Err(UsageError::IsNamed { who });
        }
        if self.role.through.is_some() {
            return Err(UsageError::IsBehindRelay { who });
        }
        let mut spec = self.settings.over(base)?;
        if !self.worlds.is_empty() {
            spec.run.worlds = self.worlds;
        }
        let run = Run {
            security: self.security.or_those_of(&spec.security),
            spec,
            resume: self.resume,
            accepts_loss: self.accept_loss,
            recording: self.recording,
        };
        run.security.check_for_primary()?;
        run.check(who)?;
        Ok(run)
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

/// Returns the name of a secondary or a relay: the one given, else that of its process.
fn name_of_peer(given: Option<PeerName>, role: &str) -> Result<PeerName, UsageError> {
    let Some(name) = given else {
        return Ok(name_of_process(role));
    };
    // The addresses of peers begin with their names, and those of nobody in particular do not so.
    if name
        .as_str()
        .starts_with(|first: char| first.is_ascii_alphanumeric())
    {
        Ok(name)
    } else {
        Err(UsageError::NameBegins { name })
    }
}

fn name_of_process(role: &str) -> PeerName {
    format!("{role}-{}", std::process::id())
        .parse()
        .expect("letters and digits are a name")
}

#[cfg(test)]
mod tests;
