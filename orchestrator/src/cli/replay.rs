//! The command line of `phalanx replay`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use client::recorded::{SPEED_MAX, SPEED_MIN};

use super::{Format, ViewArguments};

/// The arguments of `phalanx replay`.
#[derive(Clone, Debug, Args)]
pub struct ReplayArguments {
    /// A recording, written with --record
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// No view: print what is in it
    #[arg(long, conflicts_with = "verify")]
    pub info: bool,
    /// No view: simulate it again from what is in the file alone, and compare the digest of every
    /// iteration; exit code 5 and the first iteration that differs if one does
    #[arg(long)]
    pub verify: bool,
    /// Secondaries that simulate it again; 0 is one process for everything
    #[arg(long, value_name = "N", default_value_t = 0, requires = "verify")]
    pub secondaries: u32,
    /// Format of what --info and --verify print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Flags of publishing it in ROS 2.
    #[command(flatten)]
    pub ros: ReplayRosArguments,
    /// Options of the view.
    #[command(flatten)]
    pub view: ViewArguments,
}

/// The arguments of a recording in ROS 2.
#[derive(Clone, Debug, Args)]
pub struct ReplayRosArguments {
    /// Publish it in ROS 2, too, while it plays: its topics, `/clock`, `/tf` and
    /// `/robot_description`
    #[arg(long, conflicts_with_all = ["info", "verify"])]
    pub ros2: bool,
    /// No view: play it from its start to its end
    #[arg(long, requires = "ros2")]
    pub headless: bool,
    /// Simulated seconds per second without a view
    #[arg(long, value_name = "X", default_value_t = 1.0, requires = "headless")]
    #[arg(value_parser = parse_speed)]
    pub speed: f64,
    /// Begin once a node reads this topic of ROS 2; may be given more than once
    #[arg(long, value_name = "TOPIC", requires = "headless")]
    pub await_reader: Vec<String>,
    /// The domain of ROS 2; without it that of `ROS_DOMAIN_ID`, or 0
    #[arg(long, value_name = "N", requires = "ros2")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=232))]
    pub ros_domain: Option<u16>,
    /// Be seen by nodes of this machine alone; without it as `ROS_LOCALHOST_ONLY` and
    /// `ROS_AUTOMATIC_DISCOVERY_RANGE` have it
    #[arg(long, value_name = "on|off", requires = "ros2")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub ros_localhost_only: Option<bool>,
    /// Rules for topics whose name, type, direction, rate or quality of service is not to be the
    /// usual one
    #[arg(long, value_name = "FILE", requires = "ros2")]
    pub ros_rules: Option<PathBuf>,
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let wanted = || format!("must be a number from {SPEED_MIN} to {SPEED_MAX}");
    let speed: f64 = text.parse().map_err(|_| wanted())?;
    let is_right = (SPEED_MIN..=SPEED_MAX).contains(&speed);
    is_right.then_some(speed).ok_or_else(wanted)
}
