//! `[network]`: where processes meet, and how long they wait for each other.

use std::time::Duration;

use lockstep::limits::SPIN_US_MAX;
use serde::{Deserialize, Serialize};
use transport::Endpoints;

use crate::host::HostList;
use crate::kind::Kind;
use crate::setting::{Audience, Setting};
use crate::simulation::SECONDARIES_MAX;
use crate::values::{self, Word};

/// The longest wait \[s\].
const WAIT_MAX_S: f64 = 1e9;

/// The longest time between heartbeats, and the longest silence \[ms\].
const HEARTBEAT_MAX_MS: u64 = 86_400_000;

/// Way on which secondaries are started on hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAccess {
    /// By Slurm within a job of several tasks if no host is named, else by ssh.
    Auto,
    /// By ssh.
    Ssh,
    /// By Slurm's `srun`, in the job that the run is started in.
    Srun,
}

impl Word for HostAccess {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("ssh", Self::Ssh),
        ("srun", Self::Srun),
    ];
}

/// Meeting point of the processes, and their time-outs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// Address of the primary; `None` is its sockets in the run's folder.
    #[serde(with = "values::text")]
    pub bind: Option<Endpoints>,
    /// Number of secondaries that join from other machines.
    pub remote_secondaries: u32,
    /// Hosts that secondaries are started on over ssh; `None` is those of `[[host]]`.
    #[serde(with = "values::text")]
    pub hosts: Option<HostList>,
    /// True if hosts without the worker program of this build are given it.
    pub copy_worker: bool,
    /// The program that reaches hosts, with its options.
    pub ssh_command: String,
    /// Way to hosts.
    #[serde(with = "crate::values::word")]
    pub host_access: HostAccess,
    /// Number of secondaries that are started on one host without a relay.
    pub relay_above: u32,
    /// True if the run is announced on the local network.
    pub announce_lan: bool,
    /// Partition in which it is announced, or in which a secondary looks for its primary; `None` is
    /// that of all who name none.
    pub partition: Option<String>,
    /// Time between two heartbeats of a peer.
    #[serde(rename = "heartbeat_interval_ms", with = "values::milliseconds")]
    pub heartbeat_interval: Duration,
    /// Silence after which a peer counts as lost.
    #[serde(rename = "heartbeat_timeout_ms", with = "values::milliseconds")]
    pub heartbeat_timeout: Duration,
    /// Time for which the start waits for secondaries.
    #[serde(rename = "peer_timeout_s", with = "values::seconds")]
    pub peer_timeout: Duration,
    /// Time for which one step waits for a secondary's answer.
    #[serde(rename = "step_timeout_s", with = "values::seconds")]
    pub step_timeout: Duration,
    /// Time after which a step that waits is reported, with the peers that block it.
    #[serde(rename = "warn_after_s", with = "values::seconds")]
    pub warn_after: Duration,
    /// Time after which those are examined.
    #[serde(rename = "diagnose_after_s", with = "values::seconds")]
    pub diagnose_after: Duration,
    /// True if a secondary is waited for as long as its process is stopped.
    pub wait_for_debugger: bool,
    /// Time for which processes look for messages before they sleep.
    #[serde(rename = "spin_us", with = "values::microseconds")]
    pub spin: Duration,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("network", "bind", Kind::Endpoint)
        .flag("bind", "ENDPOINT",
            "Where the primary is reached, tcp://HOST:PORT, of which PORT to PORT+5 are used, or \
             ipc:///DIRECTORY; 0.0.0.0 is every address of this machine, port 0 takes free ones")
        .unset("sockets in a folder of the run"),
    Setting::of_run("network", "remote_secondaries", Kind::Whole(0, SECONDARIES_MAX as u64))
        .flag("remote-secondaries", "N",
            "Secondaries that join from other machines, besides those that are started here")
        .only(Audience::Launcher),
    Setting::of_run("network", "hosts", Kind::Hosts)
        .flag("hosts", "HOST[:N],...",
            "Hosts to start secondaries on over ssh, one each or N: names as ssh takes them; a \
             [[host]] of the run file says more of one")
        .unset("those of [[host]], if there are any")
        .only(Audience::Launcher),
    Setting::personal("network", "copy_worker", Kind::Flag)
        .flag("copy-worker", "BOOL",
            "Copy the worker program to hosts that have none of this build, to \
             .cache/phalanx/workers there")
        .only(Audience::Launcher),
    Setting::personal("network", "ssh_command", Kind::Text)
        .flag("ssh-command", "COMMAND",
            "The program that reaches hosts, with options separated by spaces")
        .only(Audience::Launcher),
    Setting::personal("network", "host_access", Kind::Word(&["auto", "ssh", "srun"]))
        .flag("host-access", "WAY",
            "How secondaries are started on hosts; auto is srun in a Slurm job of several tasks, \
             whose nodes are the hosts if none are named")
        .only(Audience::Launcher),
    Setting::personal("network", "relay_above", Kind::Whole(0, SECONDARIES_MAX as u64))
        .flag("relay-above", "N",
            "A host on which more secondaries are started than these has a relay, by which all of \
             them have one connection to the primary")
        .only(Audience::Launcher),
    Setting::of_run("network", "announce_lan", Kind::Flag)
        .flag("announce-lan", "BOOL",
            "Tell the local network where the primary is reached, by mDNS: who finds it needs a \
             key all the same"),
    Setting::of_run("network", "partition", Kind::RunName)
        .flag("partition", "NAME",
            "The part of the local network that the run is announced in; a secondary looks there \
             for its primary")
        .unset("default"),
    Setting::personal("network", "heartbeat_interval_ms", Kind::Whole(1, HEARTBEAT_MAX_MS))
        .flag("heartbeat-interval-ms", "MS", "Time between heartbeats"),
    Setting::personal("network", "heartbeat_timeout_ms", Kind::Whole(1, HEARTBEAT_MAX_MS))
        .flag("heartbeat-timeout-ms", "MS", "Silence after which a peer counts as lost"),
    Setting::personal("network", "peer_timeout_s", Kind::Number(0.001, WAIT_MAX_S))
        .flag("peer-timeout", "SECONDS", "How long to wait for peers at the start"),
    Setting::personal("network", "step_timeout_s", Kind::Number(0.001, WAIT_MAX_S))
        .flag("step-timeout", "SECONDS", "How long a step may go unacknowledged"),
    Setting::personal("network", "warn_after_s", Kind::Number(0.001, WAIT_MAX_S))
        .flag("warn-after", "SECONDS",
            "A step that waits so long is reported, with the peers that block it"),
    Setting::personal("network", "diagnose_after_s", Kind::Number(0.001, WAIT_MAX_S))
        .flag("diagnose-after", "SECONDS",
            "A step that waits so long has its blockers examined"),
    Setting::personal("network", "wait_for_debugger", Kind::Flag)
        .flag("wait-for-debugger", "BOOL",
            "Wait for secondaries of this machine as long as a debugger or a signal has stopped \
             them"),
    Setting::personal("network", "spin_us", Kind::Whole(0, SPIN_US_MAX))
        .flag("spin-us", "MICROSECONDS",
            "How long processes look for messages before they sleep: faster where each has a core \
             of its own, and much slower where it has not"),
];

impl Default for Network {
    fn default() -> Self {
        Self {
            bind: None,
            remote_secondaries: 0,
            hosts: None,
            copy_worker: false,
            ssh_command: "ssh".to_owned(),
            host_access: HostAccess::Auto,
            relay_above: Self::RELAY_ABOVE,
            announce_lan: false,
            partition: None,
            heartbeat_interval: Duration::from_millis(100),
            heartbeat_timeout: Duration::from_secs(2),
            peer_timeout: Duration::from_secs(30),
            step_timeout: Duration::from_secs(30),
            warn_after: Duration::from_secs(1),
            diagnose_after: Duration::from_secs(5),
            wait_for_debugger: false,
            spin: Duration::ZERO,
        }
    }
}

impl Network {
    /// Number of secondaries of a host above which it has a relay, unless settings say otherwise.
    pub const RELAY_ABOVE: u32 = 8;

    /// Partition of runs that name none.
    pub const DEFAULT_PARTITION: &str = "default";

    /// Returns the partition that the run is announced in.
    pub fn partition(&self) -> &str {
        self.partition.as_deref().unwrap_or(Self::DEFAULT_PARTITION)
    }

    /// Tells whether a silent peer has missed more than one heartbeat when it counts as lost.
    pub fn has_time_for_heartbeats(&self) -> bool {
        self.heartbeat_timeout >= 2 * self.heartbeat_interval
    }

    /// Tells whether other machines could reach the primary.
    pub fn is_on_tcp(&self) -> bool {
        let bind = self.bind.as_ref();
        bind.is_some_and(|bind| bind.directory().is_none())
    }
}
