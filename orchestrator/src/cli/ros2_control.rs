//! The arguments of `phalanx ros2-control`.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use super::KeyArguments;

/// The arguments of `phalanx ros2-control`.
#[derive(Debug, Args)]
pub struct Ros2ControlArguments {
    /// A run of this machine or an endpoint; may be left out when exactly one run is living
    #[arg(value_name = "RUN | ENDPOINT")]
    pub run: Option<String>,
    /// The domain of ROS 2; without it that of `ROS_DOMAIN_ID`, or 0
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=232))]
    pub domain: Option<u16>,
    /// Be seen by nodes of this machine alone; without it as `ROS_LOCALHOST_ONLY` and
    /// `ROS_AUTOMATIC_DISCOVERY_RANGE` have it
    #[arg(long, value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub localhost_only: Option<bool>,
    /// Namespace of the node and of the services of `simulation_interfaces`
    #[arg(long, value_name = "NAMESPACE", default_value = "/phalanx")]
    pub namespace: String,
    /// Name of the node in its namespace
    #[arg(long, value_name = "NAME", default_value = "control")]
    pub node: String,
    /// Namespace of the services of `ue_msgs`; empty is the root
    #[arg(long, value_name = "NAMESPACE", default_value = "")]
    pub ue_namespace: String,
    /// The middleware of clients: it maps services to topics in its own way
    #[arg(
        long = "ros-service-mapping",
        value_name = "MAPPING",
        value_enum,
        default_value_t
    )]
    pub mapping: MappingName,
    /// A folder of models that `get_spawnables` lists, beside those of `PHALANX_RESOURCE_PATH` and
    /// `GZ_SIM_RESOURCE_PATH`
    #[arg(long, value_name = "FOLDER")]
    pub spawnables: Option<PathBuf>,
    /// By which keys the run is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
}

/// A middleware of ROS 2 by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MappingName {
    /// Fast DDS, by which ROS 2 comes
    #[default]
    #[value(name = "fastrtps")]
    FastDds,
    /// Cyclone DDS
    #[value(name = "cyclonedds")]
    CycloneDds,
}
