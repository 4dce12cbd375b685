//! Binding the sockets of a primary, or saying why not.
//!
//! tcp ports are tried by the standard library first: its errors are exact, and it can hold
//! several ports in a row while libzmq is still to be asked.

use std::fs::{self, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, TcpListener};
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use zmq_options::Flag;

use crate::endpoint::{Address, Endpoints, SOCKETS};
use crate::ownership::OwnershipError;
use crate::refusals::Tally;
use crate::zeromq::SocketOptions;
use crate::zeromq::authenticator::Authenticator;
use crate::zeromq::curve::Curve;
use crate::zeromq::directory::{RunDirectory, SOCKET_FILES};
use crate::zeromq::socket::{Queue, open};

/// Number of times that free ports in a row are looked for.
const ATTEMPTS_MAX: u32 = 100;

/// The lowest port that is chosen here: below, many programs have a port of their own.
const CHOSEN_PORT_MIN: u16 = 20_000;

/// Number of ports that are tried here before the system chooses.
const CHOICES_MAX: u32 = 200;

/// The ports that Linux gives to connections unless it is told others.
const PORTS_OF_CONNECTIONS: RangeInclusive<u16> = 32_768..=60_999;

/// Reason why a primary could not bind its sockets.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another primary, or another program, is there.
    #[error("{endpoint} is in use by another process")]
    InUse {
        /// The address.
        endpoint: String,
    },
    /// Other users or machines could connect, and nothing would be encrypted.
    #[error(
        "{endpoint} can be reached by {}, and nothing is encrypted: give it a key with --key and \
         say with --authorized who may connect (`phalanx keygen` makes keys), bind ipc://, or \
         allow it with --insecure where you trust all of them",
        if *is_loopback { "all users of this machine" } else { "other machines" }
    )]
    Insecure {
        /// The address.
        endpoint: String,
        /// True if only this machine reaches it.
        is_loopback: bool,
    },
    /// Its folder is not this user's alone.
    #[error("cannot bind {endpoint}")]
    Folder {
        /// The address.
        endpoint: String,
        /// Cause of the error.
        #[source]
        source: OwnershipError,
    },
    /// The system refused.
    #[error("cannot bind {endpoint}")]
    Other {
        /// The address.
        endpoint: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// The sockets of a primary, and what holds their address.
pub(in crate::zeromq) struct Bound {
    pub(in crate::zeromq) step: zmq::Socket,
    pub(in crate::zeromq) control: zmq::Socket,
    pub(in crate::zeromq) status: zmq::Socket,
    pub(in crate::zeromq) data: zmq::Socket,
    pub(in crate::zeromq) clients: zmq::Socket,
    pub(in crate::zeromq) beats: zmq::Socket,
    pub(in crate::zeromq) endpoints: Endpoints,
    pub(in crate::zeromq) directory: Option<Arc<RunDirectory>>,
    /// Thread that decides which peers may enter, where that is decided by keys.
    pub(in crate::zeromq) authenticator: Option<Arc<Authenticator>>,
}

/// Binds the sockets of a primary, or of a relay, which stands for one.
pub(in crate::zeromq) fn bind(
    endpoints: &Endpoints,
    options: &SocketOptions,
    tally: &Tally,
) -> Result<Bound, BindError> {
    let bound = match endpoints.address() {
        Address::Ipc { directory } => bind_ipc(endpoints, Path::new(directory), options, tally),
        Address::Tcp { port, .. } => bind_tcp(endpoints, *port, options, tally),
    };
    bound.map_err(|refusal| {
        let endpoint = endpoints.to_string();
        match refusal {
            Refusal::Insecure { is_loopback } => BindError::Insecure {
                endpoint,
                is_loopback,
            },
            Refusal::Folder(source) => BindError::Folder { endpoint, source },
            Refusal::Io(source) if source.kind() == io::ErrorKind::AddrInUse => {
                BindError::InUse { endpoint }
            }
            Refusal::Io(source) => BindError::Other { endpoint, source },
        }
    })
}

enum Refusal {
    Insecure { is_loopback: bool },
    Folder(OwnershipError),
    Io(io::Error),
}

impl From<OwnershipError> for Refusal {
    fn from(error: OwnershipError) -> Self {
        match error {
            OwnershipError::Io { source, .. } => Self::Io(source),
            error => Self::Folder(error),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn bind_ipc(
    endpoints: &Endpoints,
    directory: &Path,
    options: &SocketOptions,
    tally: &Tally,
) -> Result<Bound, Refusal> {
    let Some(taken) = RunDirectory::take(directory)? else {
        return Err(Refusal::Io(io::ErrorKind::AddrInUse.into()));
    };
    let mut bound = bind_sockets(endpoints, None, options, tally)?;
    // The folder is this user's own, so that these are the sockets; others may look into it.
    for name in SOCKET_FILES {
        fs::set_permissions(directory.join(name), Permissions::from_mode(0o600))?;
    }
    bound.directory = Some(Arc::new(taken));
    Ok(bound)
}

fn bind_tcp(
    endpoints: &Endpoints,
    port: u16,
    options: &SocketOptions,
    tally: &Tally,
) -> Result<Bound, Refusal> {
    let (resolved, address) = endpoints.resolved()?;
    let address = address.expect("a tcp address resolves to one of IP");
    let is_encrypted = matches!(options.curve, Some(Curve::Primary { .. }));
    if !is_encrypted && !options.insecure {
        let is_loopback = address.is_loopback();
        return Err(Refusal::Insecure { is_loopback });
    }
    let mut attempt = 0;
    loop {
        attempt += 1;
        let found = match port {
            0 => any_free_ports(address),
            port => free_ports(address, port),
        };
        let bound = found.and_then(|port| {
            let bound = bind_sockets(&resolved.at_port(port), Some(address), options, tally)?;
            Ok(Bound {
                endpoints: endpoints.at_port(port),
                ..bound
            })
        });
        match bound {
            Err(error)
                if port == 0
                    && attempt < ATTEMPTS_MAX
                    && error.kind() == io::ErrorKind::AddrInUse => {}
            bound => return Ok(bound?),
        }
    }
}

/// Returns the same address with free ports in a row if it leaves the port open; they may be
/// taken by others before they are bound.
///
/// # Errors
/// Fails if the host has no address here, or no ports are free.
pub fn with_free_ports(endpoints: &Endpoints) -> io::Result<Endpoints> {
    let Address::Tcp { port: 0, .. } = endpoints.address() else {
        return Ok(endpoints.clone());
    };
    let (_, address) = endpoints.resolved()?;
    let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
    let mut found = any_free_ports(address);
    for _ in 1..ATTEMPTS_MAX {
        match found {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                found = any_free_ports(address);
            }
            _ => break,
        }
    }
    found.map(|port| endpoints.at_port(port))
}

/// Number of libzmq's threads: what observers send on `status`, which takes from anyone who may
/// look, keeps neither requests nor steps waiting.
const IO_THREADS: i32 = 2;
/// The thread of all sockets but `status`, as a mask.
const IO_OF_RUN: u64 = 1;
/// The thread of `status`, as a mask.
const IO_OF_STATUS: u64 = 2;

/// Returns a port that is free with those after it for the other sockets, and stays so: what the
/// system would choose may be given to the next connection of any program before it is bound.
fn any_free_ports(address: IpAddr) -> io::Result<u16> {
    let of_connections = ports_of_connections();
    let random = RandomState::new();
    let count = u64::from(u16::MAX - CHOSEN_PORT_MIN - (SOCKETS - 1));
    for choice in 0..CHOICES_MAX {
        let port = CHOSEN_PORT_MIN + (random.hash_one(choice) % count) as u16;
        let last = port + (SOCKETS - 1);
        if of_connections.contains(&port) || of_connections.contains(&last) {
            continue;
        }
        match free_ports(address, port) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            found => return found,
        }
    }
    free_ports(address, 0)
}

/// Returns the ports that the system gives to connections and to whoever asks for any.
fn ports_of_connections() -> RangeInclusive<u16> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut numbers = text.split_whitespace().map(str::parse::<u16>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(first)), Some(Ok(last))) => first..=last,
        _ => PORTS_OF_CONNECTIONS,
    }
}

/// Returns the port asked for, or any, if it and those after it for the other sockets are free.
fn free_ports(address: IpAddr, port: u16) -> io::Result<u16> {
    let first = TcpListener::bind((address, port))?;
    let port = first.local_addr()?.port();
    let mut held = Vec::new();
    for offset in 1..SOCKETS {
        let Some(next) = port.checked_add(offset) else {
            return Err(io::ErrorKind::AddrInUse.into());
        };
        held.push(TcpListener::bind((address, next))?);
    }
    Ok(port)
}

fn bind_sockets(
    endpoints: &Endpoints,
    address: Option<IpAddr>,
    options: &SocketOptions,
    tally: &Tally,
) -> io::Result<Bound> {
    let context = zmq::Context::new();
    context.set_io_threads(IO_THREADS)?;
    let open = |kind, domain, queue| open(&context, kind, (domain, queue), address, options);
    let step = open(zmq::XPUB, "step", Queue::Steps)?;
    let control = open(zmq::ROUTER, "control", Queue::Inbox)?;
    let mut status = open(zmq::XPUB, "status", Queue::Published)?;
    let data = open(zmq::PULL, "data", Queue::Data)?;
    let clients = open(zmq::ROUTER, "clients", Queue::Answers)?;
    let beats = open(zmq::XPUB, "beats", Queue::Published)?;
    for socket in [&step, &control, &data, &clients, &beats] {
        socket.set_affinity(IO_OF_RUN)?;
    }
    status.set_affinity(IO_OF_STATUS)?;
    control.set_router_mandatory(true)?;
    clients.set_router_mandatory(true)?;
    // Who comes back has its routing id although not all was read that it said by its connection
    // before. Nobody gets that of another who is still there: the decoder of zmq-sys sees to that.
    control.set_router_handover(true)?;
    clients.set_router_handover(true)?;
    // Also those that are not the first on a topic: each connection is counted by itself.
    zmq_options::set(&mut status, Flag::TellEverySubscription)?;
    let authenticator = match &options.curve {
        Some(Curve::Primary { authorized, .. }) if address.is_some() => {
            let sockets = [&step, &control, &status, &data, &clients, &beats];
            Some(Authenticator::open(
                &context,
                &sockets,
                authorized.clone(),
                tally.clone(),
            )?)
        }
        _ => None,
    };
    control.bind(&endpoints.control())?;
    step.bind(&endpoints.step())?;
    status.bind(&endpoints.status())?;
    data.bind(&endpoints.data())?;
    clients.bind(&endpoints.clients())?;
    beats.bind(&endpoints.beats())?;
    Ok(Bound {
        step,
        control,
        status,
        data,
        clients,
        beats,
        endpoints: endpoints.clone(),
        directory: None,
        authenticator: authenticator.map(Arc::new),
    })
}
