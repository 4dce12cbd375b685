//! Two hosts on one machine: network namespaces with a cable between them, which can be cut.
//!
//! They need root and the program `ip` (package iproute2); where there is neither, a test says so
//! and has nothing to do.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::required;
use crate::slow_cable::{self, Impairment, PacketCounts};

/// The addresses of the two hosts.
pub const ADDRESSES: [&str; 2] = ["10.77.0.1", "10.77.0.2"];

/// Two hosts with a cable; they are gone when this is dropped.
#[derive(Debug)]
pub struct TwoHosts {
    names: [String; 2],
    interfaces: [String; 2],
}

impl TwoHosts {
    /// Makes the hosts; `None`, with the reason on stderr, where that is not possible.
    pub fn make() -> Option<Self> {
        Self::with_cable(|[near, far]| {
            let cable = ["link", "add", near, "type", "veth", "peer", "name", far];
            run(Command::new("ip").args(cable))
        })
    }

    /// Makes the hosts with a cable that is slow and loses packets; the same where not possible.
    pub fn make_far_apart(how: Impairment) -> Option<(Self, Arc<PacketCounts>)> {
        let mut counts = None;
        let hosts = Self::with_cable(|interfaces| {
            let made = slow_cable::connect(interfaces, how);
            counts = Some(made.map_err(|error| format!("no TUN devices: {error}"))?);
            Ok(())
        })?;
        counts.map(|counts| (hosts, counts))
    }

    fn with_cable(lay: impl FnOnce(&[String; 2]) -> Result<(), String>) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = std::process::id();
        let hosts = Self {
            names: ["a", "b"].map(|end| format!("phalanx-{id}-{number}{end}")),
            interfaces: ["a", "b"].map(|end| format!("px{id}{number}{end}")),
        };
        match hosts.set_up(lay) {
            Ok(()) => Some(hosts),
            Err(cause) => {
                let reason = format!(
                    "no network namespaces: {cause}; run as root, with `ip` of the package \
                     iproute2 installed"
                );
                required::skip(required::NAMESPACES, &reason);
                None
            }
        }
    }

    /// Returns a program that is to run on one of the hosts.
    pub fn command(&self, host: usize, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host]]);
        command.arg(program);
        command
    }

    /// Returns the name of a host's end of the cable.
    pub fn interface(&self, host: usize) -> &str {
        &self.interfaces[host]
    }

    /// Pulls the cable at the second host, or puts it back.
    ///
    /// # Panics
    /// Panics if the system refuses.
    pub fn set_connected(&self, is_connected: bool) {
        let state = if is_connected { "up" } else { "down" };
        let done = self.link(1, &["set", &self.interfaces[1], state]);
        done.expect("an interface can be set up and down");
    }

    fn set_up(&self, lay: impl FnOnce(&[String; 2]) -> Result<(), String>) -> Result<(), String> {
        for name in &self.names {
            run(Command::new("ip").args(["netns", "add", name]))?;
        }
        lay(&self.interfaces)?;
        for (host, address) in ADDRESSES.iter().enumerate() {
            let (name, interface) = (&self.names[host], &self.interfaces[host]);
            run(Command::new("ip").args(["link", "set", interface, "netns", name]))?;
            let address = format!("{address}/24");
            let words = ["-n", name, "address", "add", &address, "dev", interface];
            run(Command::new("ip").args(words))?;
            self.link(host, &["set", interface, "up"])?;
            self.link(host, &["set", "lo", "up"])?;
        }
        Ok(())
    }

    fn link(&self, host: usize, words: &[&str]) -> Result<(), String> {
        let mut command = Command::new("ip");
        run(command.args(["-n", &self.names[host], "link"]).args(words))
    }
}

impl Drop for TwoHosts {
    fn drop(&mut self) {
        for name in &self.names {
            // One that was never made cannot be removed; the cable goes with its ends.
            let _ = run(Command::new("ip").args(["netns", "delete", name]));
        }
        let _ = run(Command::new("ip").args(["link", "delete", &self.interfaces[0]]));
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", said.trim()))
}
