//! The command line of `worker`, and what it asks for once it is checked.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use protocol::{PeerName, Role};
use transport::Endpoints;

/// Where a primary is found when nothing is said.
const DEFAULT_ENDPOINT: &str = "tcp://127.0.0.1:11345";

/// Simulates one robot world on many processes in exact lockstep.
///
/// Without a network role, everything runs in this one process. A primary distributes the work and
/// keeps time; secondaries run the physics. A secondary needs nothing but its role and where to
/// find the primary.
#[derive(Debug, Parser)]
#[command(name = "worker", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// primary or secondary, in any capitalization; leave it out for standalone
    #[arg(long, value_name = "ROLE")]
    network_role: Option<Role>,
    /// How many secondaries a primary waits for, at least 1
    #[arg(long, value_name = "N")]
    network_secondaries: Option<u32>,
    /// Where a primary (or standalone) is reached: `ipc:///DIRECTORY` or `tcp://HOST:PORT`, of
    /// which PORT, PORT+1 and PORT+2 are used; port 0 takes free ones
    #[arg(long, value_name = "ENDPOINT")]
    bind: Option<Endpoints>,
    /// Where a secondary finds its primary
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
    /// Write how the run went, as JSON, when it ends
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// How long to wait for peers at the start
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    peer_timeout: Duration,
    /// Time between heartbeats
    #[arg(long, value_name = "MS", default_value = "100", value_parser = milliseconds())]
    heartbeat_interval_ms: u64,
    /// Silence after which a peer counts as lost
    #[arg(long, value_name = "MS", default_value = "2000", value_parser = milliseconds())]
    heartbeat_timeout_ms: u64,
    /// How long a step may go unacknowledged
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    step_timeout: Duration,
    /// Allow a non-loopback address without encryption
    #[arg(long)]
    insecure: bool,
    /// End the run when standard input ends
    #[arg(long)]
    lifeline: bool,
    /// The world, an SDF file; a secondary gets it from its primary
    #[arg(value_name = "WORLD.sdf")]
    world: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 completed, 1 failed, 2 usage, 3 world or configuration, 4 a peer was lost,
5 digests disagreed, 6 time-out while waiting for peers, 130 interrupted.";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Distribute work and keep time.
    Primary {
        /// The run.
        run: Run,
        /// How many secondaries take part.
        secondaries: u32,
    },
    /// Run physics for a primary.
    Secondary {
        /// Where the primary is.
        connect: Endpoints,
        /// The name asked for.
        name: PeerName,
        /// How long to look for the primary.
        peer_timeout: Duration,
        /// What was given and does not matter to a secondary.
        ignored: Vec<&'static str>,
    },
    /// Do both in one process.
    Standalone(Run),
}

/// What a run is asked to be.
#[derive(Debug)]
pub(crate) struct Run {
    /// The world file.
    pub world: PathBuf,
    /// Where clients and secondaries reach it; `None` for a standalone run that nobody watches.
    pub bind: Option<Endpoints>,
    /// When it ends.
    pub iterations: Option<u64>,
    /// Its pace, where it is not the world's own.
    pub real_time_factor: Option<f64>,
    /// Whether time stands still at first.
    pub paused: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Where digests go.
    pub digests: Option<PathBuf>,
    /// Where the summary goes.
    pub summary: Option<PathBuf>,
    /// How long to wait for peers at the start.
    pub peer_timeout: Duration,
    /// Time between heartbeats.
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    pub heartbeat_timeout: Duration,
    /// How long a step may go unacknowledged.
    pub step_timeout: Duration,
    /// Whether a non-loopback address may be bound without encryption.
    pub insecure: bool,
}

impl Cli {
    /// Tells whether the end of standard input ends the run.
    pub(crate) fn has_lifeline(&self) -> bool {
        self.lifeline
    }

    /// Checks the command line as a whole.
    ///
    /// # Errors
    /// When flags are missing or do not go together; the text says what to do.
    pub(crate) fn request(self) -> Result<Request, String> {
        match self.network_role {
            Some(Role::Secondary) => Ok(self.secondary()),
            Some(Role::Primary) => {
                let secondaries = self.network_secondaries.filter(|count| *count > 0).ok_or(
                    "a primary needs --network-secondaries=N with N of at least 1; for one \
                     process alone leave --network-role out",
                )?;
                let mut run = self.run("a primary")?;
                run.bind = Some(run.bind.unwrap_or_else(default_endpoint));
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

    fn secondary(self) -> Request {
        let given = [
            (self.world.is_some(), "WORLD.sdf"),
            (self.network_secondaries.is_some(), "--network-secondaries"),
            (self.bind.is_some(), "--bind"),
            (self.iterations.is_some(), "--iterations"),
            (self.real_time_factor.is_some(), "--real-time-factor"),
            (self.paused, "--paused"),
            (self.digests.is_some(), "--digests"),
            (self.summary.is_some(), "--summary"),
        ];
        Request::Secondary {
            connect: self.connect.unwrap_or_else(default_endpoint),
            name: self.name.unwrap_or_else(name_of_process),
            peer_timeout: self.peer_timeout,
            ignored: given
                .into_iter()
                .filter_map(|(is, name)| is.then_some(name))
                .collect(),
        }
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
        Ok(Run {
            world: self
                .world
                .ok_or_else(|| format!("{who} needs a world: name an SDF file"))?,
            bind: self.bind,
            iterations: self.iterations,
            real_time_factor: self.real_time_factor,
            paused: self.paused,
            seed: self.seed,
            digests: self.digests,
            summary: self.summary,
            peer_timeout: self.peer_timeout,
            heartbeat_interval: Duration::from_millis(self.heartbeat_interval_ms),
            heartbeat_timeout: Duration::from_millis(self.heartbeat_timeout_ms),
            step_timeout: self.step_timeout,
            insecure: self.insecure,
        })
    }
}

fn default_endpoint() -> Endpoints {
    DEFAULT_ENDPOINT
        .parse()
        .expect("the default endpoint is a valid one")
}

fn name_of_process() -> PeerName {
    format!("secondary-{}", std::process::id())
        .parse()
        .expect("letters and digits are a name")
}

fn real_time_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(factor),
        _ => Err("a real-time factor is a number of at least 0".to_owned()),
    }
}

fn milliseconds() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=86_400_000)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "must be more than 0 seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, expected: Result<&str, &str>) {
        let words = std::iter::once("worker").chain(arguments.split_whitespace());
        let got = match Cli::try_parse_from(words) {
            Ok(cli) => cli.request().map(|request| format!("{request:?}")),
            Err(error) => Err(error.to_string()),
        };
        match (got, expected) {
            (Ok(got), Ok(part)) | (Err(got), Err(part)) => {
                assert!(got.contains(part), "{arguments}: {got}");
            }
            (got, expected) => panic!("{arguments}: got {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn roles_in_any_capitalization() {
        check(
            "--network-role=Primary --network-secondaries=2 w.sdf",
            Ok("secondaries: 2"),
        );
        check("--network-role=SECONDARY --name s1", Ok("Secondary"));
        check("w.sdf", Ok("Standalone"));
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        check("--network-role=tertiary", Err("no network role"));
        check(
            "--network-role=primary w.sdf",
            Err("--network-secondaries=N"),
        );
        check(
            "--network-role=primary --network-secondaries=0 w.sdf",
            Err("at least 1"),
        );
        check(
            "--network-role=primary --network-secondaries=1",
            Err("needs a world"),
        );
        check(
            "--network-secondaries=2 w.sdf",
            Err("--network-role=primary"),
        );
        check("--connect tcp://127.0.0.1:1 w.sdf", Err("takes --bind"));
        check("--real-time-factor=-1 w.sdf", Err("at least 0"));
        check("--real-time-factor=nan w.sdf", Err("at least 0"));
        check("--bind nonsense w.sdf", Err("nonsense"));
        check("--heartbeat-timeout-ms 100 w.sdf", Err("at least twice"));
    }

    #[test]
    fn one_command_line_serves_every_role() {
        check(
            "--network-role=secondary --iterations 5 w.sdf",
            Ok("\"WORLD.sdf\", \"--iterations\""),
        );
    }
}
