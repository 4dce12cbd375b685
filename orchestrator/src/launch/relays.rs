//! Relays of hosts with many secondaries: one process of a host has a connection to the primary,
//! and the secondaries of the host reach it through that ([`transport::zeromq::Relay`]).

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{Digest, Role};
use transport::KeyError;

use super::hosts::PreparedHost;
use super::{LaunchPlan, WorkerCommand};

/// A relay of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relay {
    /// Its name: no other of the run has it.
    name: String,
    /// Name of the place where it meets its secondaries: no other of any run has it.
    place: String,
}

impl Relay {
    /// Names the relay of the secondaries from this number on.
    pub(super) fn of(first: u32) -> Self {
        let name = format!("relay{first}");
        // Runs of other machines may have the same host, and each has a process that starts them.
        let machine = rustix::system::uname();
        let machine = machine.nodename().to_string_lossy();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        let unique = format!("{machine} {} {now} {name}", std::process::id());
        let digest = Digest::of_bytes(unique.as_bytes()).to_string();
        let place = format!("{name}-{}", &digest[..16]);
        Self { name, place }
    }
}

impl LaunchPlan {
    /// Returns the command of a relay.
    pub(super) fn relay_command(
        &self,
        relay: &Relay,
        host: &PreparedHost,
    ) -> Result<WorkerCommand, KeyError> {
        let (arguments, key) = self.keys_of_host()?;
        Ok(WorkerCommand {
            remote: Some(host.start(self.bind(), key).with_relay(&relay.place)),
            ..self.command_of(Role::Relay, relay.name.clone(), arguments)
        })
    }

    /// Returns the command of a secondary that is behind a relay.
    pub(super) fn command_behind(
        &self,
        relay: &Relay,
        number: u32,
        host: &PreparedHost,
    ) -> WorkerCommand {
        WorkerCommand {
            remote: Some(host.start_behind(&relay.place)),
            ..self.command_of_secondary(number, Vec::new())
        }
    }
}
