//! `[ros2]`: topics of a run in ROS 2.

use std::path::PathBuf;
use std::time::Duration;

use ::ros2::Rules;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::{Audience, Setting};
use crate::values;

/// The largest number of a domain of DDS whose ports exist.
pub const DOMAIN_MAX: u64 = 232;

/// The longest time for which readers are waited for \[s\].
const WAIT_MAX_S: f64 = 86_400.0;

/// Part of a run in ROS 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ros2 {
    /// True if topics of the run are topics of ROS 2, too.
    pub enabled: bool,
    /// Number of the domain; `None` is that of `ROS_DOMAIN_ID`, or 0.
    pub domain: Option<u16>,
    /// True if nodes of other machines are not met; `None` is as [`crate::RosReach`] has it.
    pub localhost_only: Option<bool>,
    /// The file of the rules by which topics get names, types and quality of service.
    pub rules: Option<PathBuf>,
    /// Rules that stand in the run file itself, and hold where no file of them is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_rules: Option<Rules>,
    /// Way in which services of control are mapped to topics; `None` is that of Fast DDS.
    pub service_mapping: Option<ServiceMapping>,
    /// Namespace of control; `None` is `/phalanx`.
    pub control_namespace: Option<String>,
    /// A folder of models that can be spawned, beside those in which models are looked for.
    pub spawnables: Option<PathBuf>,
    /// Topics whose readers are waited for before time runs, by their names in ROS 2, with commas
    /// between them; `any` is one of all.
    pub await_reader: Option<String>,
    /// Time for which they are waited for.
    #[serde(rename = "await_reader_timeout_s", with = "values::seconds")]
    pub await_reader_timeout: Duration,
}

impl Default for Ros2 {
    fn default() -> Self {
        Self {
            enabled: false,
            domain: None,
            localhost_only: None,
            rules: None,
            own_rules: None,
            service_mapping: None,
            control_namespace: None,
            spawnables: None,
            await_reader: None,
            await_reader_timeout: Duration::from_mins(1),
        }
    }
}

/// Way in which services are mapped to topics, by the middleware that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServiceMapping {
    /// `rmw_fastrtps`, by which ROS 2 comes.
    FastRtps,
    /// `rmw_cyclonedds`.
    CycloneDds,
}

impl ServiceMapping {
    /// Returns its name in files and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FastRtps => "fastrtps",
            Self::CycloneDds => "cyclonedds",
        }
    }
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("ros2", "enabled", Kind::Flag)
        .flag("ros2", "BOOL",
            "Have the topics of the run in ROS 2, from the processes that simulate their models"),
    Setting::of_run("ros2", "domain", Kind::Whole(0, DOMAIN_MAX))
        .flag("ros-domain", "N", "The domain of ROS 2")
        .also("ros2-domain")
        .unset("that of ROS_DOMAIN_ID, or 0"),
    Setting::of_run("ros2", "localhost_only", Kind::Switch)
        .flag("ros-localhost-only", "on|off", "Whether nodes of other machines are left out")
        .unset("as ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE have it, or off"),
    Setting::of_run("ros2", "rules", Kind::Path)
        .flag("ros-rules", "FILE",
            "Rules for topics whose name, type, direction, rate or quality of service in ROS 2 is \
             not to be the usual one"),
    Setting::of_run("ros2", "service_mapping", Kind::Word(&["fastrtps", "cyclonedds"]))
        .flag("ros-service-mapping", "MAPPING",
            "The middleware of nodes that call services of control")
        .unset("fastrtps")
        .only(Audience::Launcher),
    Setting::of_run("ros2", "control_namespace", Kind::RosNamespace)
        .flag("ros-control-namespace", "NAMESPACE",
            "Namespace of the services that control the run")
        .unset("/phalanx")
        .only(Audience::Launcher),
    Setting::of_run("ros2", "spawnables", Kind::Path)
        .flag("ros-spawnables", "FOLDER",
            "A folder whose models nodes are told of as those that can be spawned")
        .only(Audience::Launcher),
    Setting::of_run("ros2", "await_reader", Kind::Text)
        .flag("await-reader", "TOPICS",
            "Begin once nodes read these topics of ROS 2, with commas between them, or any"),
    Setting::of_run("ros2", "await_reader_timeout_s", Kind::Number(0.001, WAIT_MAX_S))
        .flag("await-reader-timeout", "SECONDS", "How long to wait for such nodes"),
];
