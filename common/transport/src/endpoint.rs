//! [`Endpoints`]: where the six sockets of a primary are, told by one address.
//!
//! `ipc:///dir` stands for the socket files `control`, `step`, `status`, `data`, `clients` and
//! `beats` in `/dir`; `tcp://host:port` for `control` at the port, then the others in this order
//! at the ports after it. Nothing here opens a socket.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

/// The longest path of a socket file that the operating system takes \[bytes\].
pub const SOCKET_PATH_MAX: usize = 107;

/// Number of sockets, and of ports in a row.
pub(crate) const SOCKETS: u16 = 6;

/// The highest port of `control`: those of the other sockets follow it.
const CONTROL_PORT_MAX: u16 = u16::MAX - (SOCKETS - 1);

/// Addresses of the sockets of one primary; its text is the address that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints(Address);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// An absolute path, without a slash at its end.
    Ipc { directory: String },
    /// A host name, IPv4 address or IPv6 address in brackets; port 0 means any six free ports.
    Tcp { host: String, port: u16 },
}

/// Text that is no address of a primary.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum EndpointError {
    /// Neither of the two kinds.
    #[error("{given:?} begins with neither ipc:// nor tcp://")]
    Scheme {
        /// Text that was given.
        given: String,
    },
    /// A relative or empty path.
    #[error("ipc:// is followed by the absolute path of a directory, and {given:?} is none")]
    Path {
        /// Text that was given after the scheme.
        given: String,
    },
    /// A path that the operating system would not take.
    #[error(
        "socket path {path:?} has {bytes} bytes, and the system takes {SOCKET_PATH_MAX}: \
         choose a shorter run directory or name, or use tcp://127.0.0.1:0",
        bytes = path.len()
    )]
    PathTooLong {
        /// The longest of the six paths.
        path: String,
    },
    /// No host, or one that could not be connected to.
    #[error(
        "{given:?} is no host: write a name, an IPv4 address or an IPv6 address in brackets, \
         and 0.0.0.0 or [::] to bind all interfaces"
    )]
    Host {
        /// Text in its place.
        given: String,
    },
    /// No port.
    #[error("{given:?} has no port: write tcp://host:port, port 0 for any free one")]
    MissingPort {
        /// Text that was given.
        given: String,
    },
    /// Not a number, or too high a number.
    #[error(
        "{given:?} is no port from 0 to {CONTROL_PORT_MAX}: the five ports after it are taken, too"
    )]
    Port {
        /// Text in its place.
        given: String,
    },
}

impl Endpoints {
    /// Returns the endpoint of `step`.
    pub fn step(&self) -> String {
        self.socket("step", 1)
    }

    /// Returns the endpoint of `control`.
    pub fn control(&self) -> String {
        self.socket("control", 0)
    }

    /// Returns the endpoint of `status`.
    pub fn status(&self) -> String {
        self.socket("status", 2)
    }

    /// Returns the endpoint of `data`.
    pub fn data(&self) -> String {
        self.socket("data", 3)
    }

    /// Returns the endpoint of `clients`.
    pub fn clients(&self) -> String {
        self.socket("clients", 4)
    }

    /// Returns the endpoint of `beats`.
    pub fn beats(&self) -> String {
        self.socket("beats", 5)
    }

    /// Tells whether only processes on this machine can connect.
    pub fn is_loopback(&self) -> bool {
        match &self.0 {
            Address::Ipc { .. } => true,
            Address::Tcp { host, .. } => {
                let bare = without_brackets(host);
                bare == "localhost" || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
            }
        }
    }

    /// Returns the run directory of an ipc address.
    pub fn directory(&self) -> Option<&Path> {
        match &self.0 {
            Address::Ipc { directory } => Some(Path::new(directory)),
            Address::Tcp { .. } => None,
        }
    }

    /// Returns the host of a tcp address, an IPv6 address in brackets.
    pub fn tcp_host(&self) -> Option<&str> {
        match &self.0 {
            Address::Ipc { .. } => None,
            Address::Tcp { host, .. } => Some(host),
        }
    }

    /// Returns the port of `control` of a tcp address; 0 stands for any that is free.
    pub fn tcp_port(&self) -> Option<u16> {
        match &self.0 {
            Address::Ipc { .. } => None,
            Address::Tcp { port, .. } => Some(*port),
        }
    }

    /// Returns the ports of all sockets of a tcp address, which are in a row.
    pub fn tcp_ports(&self) -> Option<RangeInclusive<u16>> {
        let first = self.tcp_port()?;
        Some(first..=first.saturating_add(SOCKETS - 1))
    }

    /// Returns how a process of the same machine reaches what binds this: every address of a
    /// machine is none to connect to.
    #[must_use]
    pub fn seen_from_here(&self) -> Self {
        match &self.0 {
            Address::Tcp { host, port } => {
                let host = match host.as_str() {
                    "0.0.0.0" => "127.0.0.1",
                    "[::]" => "[::1]",
                    host => host,
                };
                let (host, port) = (host.to_owned(), *port);
                Self(Address::Tcp { host, port })
            }
            Address::Ipc { .. } => self.clone(),
        }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.0
    }

    /// Returns the same tcp host with another port.
    pub(crate) fn at_port(&self, new: u16) -> Self {
        match &self.0 {
            Address::Ipc { .. } => self.clone(),
            Address::Tcp { host, .. } => Self(Address::Tcp {
                host: host.clone(),
                port: new,
            }),
        }
    }

    /// Returns the same endpoints with the host's address in place of its name. Both ends of a
    /// connection choose alike where a name has several addresses.
    pub(crate) fn resolved(&self) -> io::Result<(Self, Option<IpAddr>)> {
        let Address::Tcp { host, port } = &self.0 else {
            return Ok((self.clone(), None));
        };
        let found: Vec<IpAddr> = (without_brackets(host), *port)
            .to_socket_addrs()?
            .map(|found| found.ip())
            .collect();
        let ip = found
            .iter()
            .find(|ip| ip.is_ipv4())
            .or(found.first())
            .copied();
        let ip = ip.ok_or_else(|| io::Error::other("the name has no address"))?;
        let host = if ip.is_ipv6() {
            format!("[{ip}]")
        } else {
            ip.to_string()
        };
        Ok((Self(Address::Tcp { host, port: *port }), Some(ip)))
    }

    fn socket(&self, name: &str, offset: u16) -> String {
        match &self.0 {
            Address::Ipc { directory } => format!("ipc://{directory}/{name}"),
            Address::Tcp { host, port: 0 } => format!("tcp://{host}:0"),
            Address::Tcp { host, port } => format!("tcp://{host}:{}", port + offset),
        }
    }
}

impl fmt::Display for Endpoints {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Address::Ipc { directory } => write!(formatter, "ipc://{directory}"),
            Address::Tcp { host, port } => write!(formatter, "tcp://{host}:{port}"),
        }
    }
}

impl FromStr for Endpoints {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(directory) = text.strip_prefix("ipc://") {
            ipc(directory).map(Self)
        } else if let Some(rest) = text.strip_prefix("tcp://") {
            tcp(rest).map(Self)
        } else {
            Err(EndpointError::Scheme {
                given: text.to_owned(),
            })
        }
    }
}

fn ipc(given: &str) -> Result<Address, EndpointError> {
    let directory = given.trim_end_matches('/').to_owned();
    if !directory.starts_with('/') || directory.contains('\0') {
        return Err(EndpointError::Path {
            given: given.to_owned(),
        });
    }
    let path = format!("{directory}/control");
    if path.len() > SOCKET_PATH_MAX {
        return Err(EndpointError::PathTooLong { path });
    }
    Ok(Address::Ipc { directory })
}

fn tcp(given: &str) -> Result<Address, EndpointError> {
    let split = given
        .rsplit_once(':')
        .filter(|(_, port)| !port.ends_with(']'));
    let Some((host, port)) = split else {
        return Err(EndpointError::MissingPort {
            given: given.to_owned(),
        });
    };
    if port.is_empty() {
        return Err(EndpointError::MissingPort {
            given: given.to_owned(),
        });
    }
    if !is_host(host) {
        return Err(EndpointError::Host {
            given: host.to_owned(),
        });
    }
    match port.parse() {
        Ok(number) if number <= CONTROL_PORT_MAX => Ok(Address::Tcp {
            host: host.to_owned(),
            port: number,
        }),
        _ => Err(EndpointError::Port {
            given: port.to_owned(),
        }),
    }
}

fn is_host(text: &str) -> bool {
    if let Some(bracketed) = text.strip_prefix('[') {
        return bracketed
            .strip_suffix(']')
            .is_some_and(|ip| ip.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6()));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(allowed)
}

fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, [control, step, status, data, clients, beats]: [&str; 6]) {
        let endpoints: Endpoints = base.parse().unwrap();
        assert_eq!(endpoints.control(), control);
        assert_eq!(endpoints.step(), step);
        assert_eq!(endpoints.status(), status);
        assert_eq!(endpoints.data(), data);
        assert_eq!(endpoints.clients(), clients);
        assert_eq!(endpoints.beats(), beats);
        assert_eq!(endpoints.to_string(), base);
    }

    #[test]
    fn one_address_names_six_sockets() {
        let files = [
            "ipc:///run/a/control",
            "ipc:///run/a/step",
            "ipc:///run/a/status",
            "ipc:///run/a/data",
            "ipc:///run/a/clients",
            "ipc:///run/a/beats",
        ];
        check("ipc:///run/a", files);
        let ports =
            |host: &str, port: u16| [0, 1, 2, 3, 4, 5].map(|it| format!("{host}:{}", port + it));
        for (host, port) in [("tcp://h", 5000), ("tcp://[::1]", 1), ("tcp://h", 65530)] {
            let expected = ports(host, port);
            let expected = expected.each_ref().map(String::as_str);
            check(&format!("{host}:{port}"), expected);
        }
        check("tcp://127.0.0.1:0", ["tcp://127.0.0.1:0"; 6]);
    }

    #[test]
    fn a_slash_at_the_end_of_a_directory_means_nothing() {
        let endpoints: Endpoints = "ipc:///run/a/".parse().unwrap();
        assert_eq!(endpoints.to_string(), "ipc:///run/a");
        assert_eq!(endpoints.directory(), Some(Path::new("/run/a")));
    }

    #[test]
    fn every_address_of_a_machine_is_reached_at_loopback_from_it() {
        let check = |bound: &str, seen: &str| {
            let bound: Endpoints = bound.parse().unwrap();
            assert_eq!(bound.seen_from_here().to_string(), seen);
        };
        check("tcp://0.0.0.0:5", "tcp://127.0.0.1:5");
        check("tcp://[::]:5", "tcp://[::1]:5");
        check("tcp://192.0.2.7:5", "tcp://192.0.2.7:5");
        check("ipc:///run/a", "ipc:///run/a");
    }

    fn refused(base: &str, message: &str) {
        let error = base.parse::<Endpoints>().unwrap_err().to_string();
        assert!(error.contains(message), "{base}: {error}");
    }

    #[test]
    fn an_address_that_cannot_be_used_says_why() {
        refused("127.0.0.1:5000", "neither ipc:// nor tcp://");
        refused("udp://h:5000", "neither ipc:// nor tcp://");
        refused("ipc://run/a", "absolute path");
        refused("ipc:///", "absolute path");
        refused("tcp://h", "has no port");
        refused("tcp://h:", "has no port");
        refused("tcp://[::1]", "has no port");
        refused("tcp://h:65531", "is no port from 0 to 65530");
        refused("tcp://h:x", "is no port");
        refused("tcp://*:5000", "0.0.0.0");
        refused("tcp://::1:5000", "in brackets");
        refused("tcp://:5000", "is no host");
    }

    #[test]
    fn a_socket_path_may_be_as_long_as_the_system_takes_and_no_longer() {
        let longest = SOCKET_PATH_MAX - "/control".len();
        let fits = format!("ipc:///{}", "x".repeat(longest - 1));
        assert_eq!(
            fits.parse::<Endpoints>().unwrap().control().len(),
            "ipc://".len() + 107
        );
        refused(
            &format!("{fits}x"),
            "has 108 bytes, and the system takes 107",
        );
    }

    #[test]
    fn loopback_is_what_only_this_machine_reaches() {
        let is_loopback = |base: &str| base.parse::<Endpoints>().unwrap().is_loopback();
        assert!(is_loopback("ipc:///run/a"));
        assert!(is_loopback("tcp://127.8.0.1:1"));
        assert!(is_loopback("tcp://localhost:1"));
        assert!(is_loopback("tcp://[::1]:1"));
        assert!(!is_loopback("tcp://0.0.0.0:1"));
        assert!(!is_loopback("tcp://[::]:1"));
        assert!(!is_loopback("tcp://robot.local:1"));
    }
}
