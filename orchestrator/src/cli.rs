//! The command line of `phalanx`, as clap reads it. See [`crate::commands`] for what it does.

mod config;
mod control;
mod environment;
mod fuel;
mod generate;
mod image;
mod keys;
mod logs;
mod picture;
mod replay;
mod resume;
mod ros2_control;
mod settings;
mod topic;
mod web;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::{BoolishValueParser, PossibleValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use run::HostList;
use view::panels::Panel;

pub use config::{ConfigAction, ConfigArguments, ConfigFormat};
pub use control::{CtlArguments, CtlCommand, CtlError, is_verb, verbs};
pub use environment::{command, parse, variables};
pub use fuel::{FuelAction, FuelArguments};
pub use generate::{GenerateArguments, GeneratedWorld, LevelGrid};
pub use image::{GraphicsName, ImageArguments};
pub use keys::{KeyArguments, KeyRole, KeygenArguments};
pub use logs::LogArguments;
pub use picture::PictureArguments;
pub use replay::{ReplayArguments, ReplayRosArguments};
pub use resume::ResumeArguments;
pub use ros2_control::{MappingName, Ros2ControlArguments};
pub use settings::{RunSettings, ViewArguments};
pub use topic::{
    Addressed, EchoFormat, ServiceAction, ServiceArguments, TopicAction, TopicArguments,
};
pub use web::WebArguments;

/// Simulates one robot world on many processes, in exact lockstep.
#[derive(Debug, Parser)]
#[command(name = "phalanx", version, long_version = version_text(), after_help = AFTER_HELP)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// Command to run; `run` if none is named.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// The arguments of `run` if no command is named.
    #[command(flatten)]
    pub run: RunArguments,
}

/// Returns the version with what was built.
fn version_text() -> String {
    format!(
        "{}\ntarget {}-{}\nfeatures {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        if cfg!(feature = "ros2") {
            "ros2"
        } else {
            "none"
        }
    )
}

const AFTER_HELP: &str = "\
Exit codes: 0 completed, 1 a command could not take effect, 2 usage, 3 world or configuration,
4 a peer was lost, 5 digests disagreed, 6 time-out, 130 interrupted.

Environment: every option has a variable, which --help shows beside it. PHALANX_CONFIG is your own
file of settings, PHALANX_RUNTIME_DIR where runs keep their sockets and logs, PHALANX_WORKER the
worker program, PHALANX_RESOURCE_PATH and GZ_SIM_RESOURCE_PATH folders of models,
PHALANX_FUEL_CACHE where models of Fuel are kept; NO_COLOR is respected. `phalanx config print`
shows all settings in force and where they come from.";

/// Commands of `phalanx`.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Start a run and open its view; without a file, the embedded demo
    Run(RunArguments),
    /// Own a run away from any terminal; `run` starts it
    #[command(hide = true)]
    Keep(RunArguments),
    /// Go on with a run that was killed or interrupted, from its journal
    Resume(ResumeArguments),
    /// Own a run that goes on; `resume` starts it
    #[command(hide = true)]
    KeepResumed(ResumeArguments),
    /// Open the view of a running simulation; `d` detaches, the run goes on
    Attach(AttachArguments),
    /// Show a recording as if it were a run; or print what is in it, or simulate it again
    Replay(ReplayArguments),
    /// List the runs of this machine, living and recently ended
    Ps(PsArguments),
    /// Control a run; returns when it has taken effect
    Ctl(CtlArguments),
    /// List, print, publish and measure topics of a run
    Topic(TopicArguments),
    /// List and call services of a run by their Gazebo names
    Service(ServiceArguments),
    /// Answer services of ROS 2 that control a run, until it ends
    #[command(name = "ros2-control")]
    Ros2Control(Ros2ControlArguments),
    /// Serve a run or a recording to browsers, Foxglove and Lichtblick, until it is interrupted
    Web(WebArguments),
    /// Print one panel, without a terminal
    Show(ShowArguments),
    /// Write a world to stdout
    Generate(GenerateArguments),
    /// Make a key, by which processes and views of other machines prove who they are
    Keygen(KeygenArguments),
    /// Submit a run as a batch job of Slurm, with a secondary in each task
    Submit(SubmitArguments),
    /// Examine this machine and hosts: what would hold a run back, with the remedy for each
    Doctor(DoctorArguments),
    /// Read a world and report errors with file, line and column
    Check(CheckArguments),
    /// Fetch, list and remove models and worlds of Gazebo's Fuel
    Fuel(FuelArguments),
    /// Compare what two runs wrote with --digests, --states or --messages: where they first differ
    Diff(DiffArguments),
    /// Print, check and find files of settings
    Config(ConfigArguments),
    /// Write the manual to stdout, or all of its pages to a folder
    Man {
        /// Folder for a page of each command
        folder: Option<PathBuf>,
    },
    /// Write the completions of a shell to stdout
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print what the last of some words may become, one per line; shells ask it
    #[command(hide = true)]
    Complete {
        /// The words after `phalanx`, the last of them perhaps empty
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// The arguments of `phalanx run`; what is absent comes from the run file.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArguments {
    /// A run file (.toml), or worlds that all run together, as files or addresses of Fuel; without
    /// it, the embedded demo
    #[arg(value_name = "CONFIG.toml | WORLD.sdf...")]
    pub files: Vec<PathBuf>,
    /// Settings of the run.
    #[command(flatten)]
    pub settings: RunSettings,
    /// Start the programs that world files name, too; those of the run file always are
    #[arg(long, value_name = "BOOL", env = "PHALANX_ALLOW_PROGRAMS")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub allow_programs: Option<bool>,
    /// Fetch nothing: models and worlds of Fuel are those of this machine's caches
    #[arg(long)]
    pub offline: bool,
    /// No view: progress on stderr, summary on stdout; the run ends with this process
    #[arg(long)]
    pub headless: bool,
    /// No view: print the run's name as soon as it is started, and leave it running
    #[arg(long)]
    pub detach: bool,
    /// Run as a job of Slurm, submitted with these options of sbatch, such as "-N 4 -n 8"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub slurm: Option<String>,
    /// Format of the summary, or of what --detach prints; json needs one of the two
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Options of the view.
    #[command(flatten)]
    pub view: ViewArguments,
}

/// Format of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The arguments of `phalanx attach`.
#[derive(Debug, Args)]
pub struct AttachArguments {
    /// A run of this machine, an endpoint such as tcp://host:port, or `lan://PARTITION`, which is
    /// looked for on the local network; may be left out when exactly one run is living
    #[arg(value_name = "RUN | ENDPOINT")]
    pub run: Option<String>,
    /// By which keys it is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
    /// Options of the view.
    #[command(flatten)]
    pub view: ViewArguments,
}

/// The arguments of `phalanx ps`.
#[derive(Debug, Args)]
pub struct PsArguments {
    /// List the runs that are announced on the local network instead
    #[arg(long)]
    pub lan: bool,
    /// Format of the list
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The arguments of `phalanx submit`.
#[derive(Debug, Args)]
pub struct SubmitArguments {
    /// Write the batch script to stdout and submit nothing
    #[arg(long)]
    pub print: bool,
    /// Options of sbatch, as a shell takes them, such as "--ntasks=8 --comment='night run'"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub sbatch: Option<String>,
    /// Return when the job has ended, with the exit code of the run
    #[arg(long)]
    pub wait: bool,
    /// The arguments of `phalanx run`
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<std::ffi::OsString>,
}

/// The arguments of `phalanx doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Hosts to examine, too, as `phalanx run --hosts` takes them
    #[arg(value_name = "HOST[:N],...")]
    pub hosts: Option<HostList>,
    /// A run file, whose hosts are examined
    #[arg(long, value_name = "CONFIG.toml")]
    pub run_file: Option<PathBuf>,
    /// The program that reaches hosts, with options separated by spaces
    #[arg(long, value_name = "COMMAND", env = "PHALANX_SSH_COMMAND")]
    pub ssh_command: Option<String>,
    /// Format of the findings
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The arguments of `phalanx show`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct ShowArguments {
    /// A run of this machine or an endpoint; may be left out when exactly one run is living. Of a
    /// recording, FILE.mcap, there are pictures
    pub run: Option<String>,
    /// Panel to show
    #[arg(value_enum)]
    pub panel: ShownPanel,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
    /// Go on with events, logs or images as they come until the run has ended; JSON is one line
    /// each then
    #[arg(long)]
    pub follow: bool,
    /// Columns of what is drawn: overview, map and latency; pixels of a picture [default: 100;
    /// 1280]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=4096))]
    pub width: Option<u16>,
    /// Rows of what is drawn, or pixels of a picture [default: 36; 720]
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u16).range(10..=4096))]
    pub height: Option<u16>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// By which keys it is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
    /// Options of logs
    #[command(flatten)]
    pub logs: LogArguments,
    /// Options of pictures
    #[command(flatten)]
    pub picture: PictureArguments,
    /// Options of images
    #[command(flatten)]
    pub image: ImageArguments,
}

/// Format of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For people.
    #[default]
    Text,
    /// For spreadsheets: the text's table with commas.
    Csv,
    /// For programs.
    Json,
}

/// Contents of `phalanx show`: the panels of the view, and the figures of the run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownPanel {
    /// A panel.
    Panel(Panel),
    /// State, time, pace and digest.
    Stats,
    /// The world in three dimensions.
    Picture,
    /// An image of a sensor.
    Image,
}

impl ValueEnum for ShownPanel {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<ShownPanel>> = LazyLock::new(|| {
            let mut all: Vec<ShownPanel> = Panel::ALL.map(ShownPanel::Panel).into();
            all.insert(1, ShownPanel::Stats);
            all.push(ShownPanel::Picture);
            all.push(ShownPanel::Image);
            all
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, about) = match self {
            Self::Panel(panel) => (panel.name(), panel.row().show.about),
            Self::Stats => ("stats".to_owned(), "State, time, pace and digest"),
            Self::Picture => (
                "picture".to_owned(),
                "The world in three dimensions, as a PNG file on standard output",
            ),
            Self::Image => (
                "image".to_owned(),
                "The next image of a camera, drawn on a terminal, else a PNG file on stdout",
            ),
        };
        Some(PossibleValue::new(name).help(about))
    }
}

/// The arguments of `phalanx diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// File of one run
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// File of another run, of the same kind
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The arguments of `phalanx check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The world, or its address of Fuel if it was fetched
    #[arg(value_name = "WORLD.sdf")]
    pub world: PathBuf,
    /// Tell which topics a run of it has in ROS 2, too
    #[arg(long)]
    pub ros2: bool,
    /// The rules by which it has them, as `phalanx run` takes them
    #[arg(long, value_name = "FILE", requires = "ros2")]
    pub ros_rules: Option<PathBuf>,
    /// Ask no server how large the models are that a run would fetch
    #[arg(long)]
    pub offline: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "use a number of seconds above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use lockstep::LoadRule;
    use run::RunSpec;

    fn spec(arguments: &RunArguments) -> RunSpec {
        run::overlay(&RunSpec::default(), &arguments.settings.0).unwrap()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_what_happens_when_no_command_is_named() {
        let cli = Cli::try_parse_from(["phalanx", "--secondaries", "3", "world.sdf"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(spec(&cli.run).run.secondaries, 3);
        let cli = Cli::try_parse_from(["phalanx", "run", "--paused", "world.sdf"]).unwrap();
        let Some(CliCommand::Run(arguments)) = cli.command else {
            panic!("run was not named")
        };
        assert!(spec(&arguments).run.paused);
        assert_eq!(arguments.files, [PathBuf::from("world.sdf")]);
    }

    #[test]
    fn several_worlds_and_settings_of_levels_are_flags_of_a_run() {
        let line = "phalanx a.sdf b.sdf --balance off --verify --levels-load volume \
                    --minimum-stay 0.2";
        let run = Cli::try_parse_from(line.split_whitespace()).unwrap().run;
        assert_eq!(run.files, ["a.sdf", "b.sdf"].map(PathBuf::from));
        let spec = spec(&run);
        assert_eq!((spec.run.balance, spec.run.verify), (false, true));
        assert_eq!(spec.levels.load, LoadRule::Volume);
        assert_eq!(spec.levels.minimum_stay, Duration::from_millis(200));
    }

    #[test]
    fn a_panel_may_be_shown_without_naming_the_run() {
        let cli = Cli::try_parse_from(["phalanx", "show", "peers"]).unwrap();
        let Some(CliCommand::Show(arguments)) = cli.command else {
            panic!("show was not named")
        };
        assert_eq!(
            (arguments.run, arguments.panel),
            (None, ShownPanel::Panel(Panel::Peers))
        );
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for arguments in [
            ["run", "--iterations", "0"],
            ["run", "--real-time-factor", "-1"],
            ["run", "--real-time-factor", "nan"],
            ["run", "--secondaries", "-1"],
            ["run", "--threads", "0"],
            ["run", "--threads", "65"],
            ["run", "--auto-levels", "0"],
            ["run", "--balance", "maybe"],
            ["run", "--levels-load", "all"],
            ["run", "--minimum-stay", "-1"],
            ["run", "--interaction-margin", "nan"],
        ] {
            let line = std::iter::once("phalanx").chain(arguments);
            assert!(Cli::try_parse_from(line).is_err(), "{arguments:?}");
        }
    }
}
