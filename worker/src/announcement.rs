//! A run on the local network: its primary is announced there, and secondaries find it.

use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

use lan::{Announcement, Announcer, LanError, Sought};
use run::RunSpec;
use transport::zeromq::Curve;
use transport::{Endpoints, ServerKeys};

use crate::identity;

/// Reason why a run is not announced, or not found.
#[derive(Debug, thiserror::Error)]
pub enum AnnouncementError {
    /// Nobody else could reach it.
    #[error(
        "--announce-lan tells others of {0}, which only this machine reaches: choose another \
         address with --bind, such as tcp://0.0.0.0:0"
    )]
    OnlyHere(Endpoints),
    /// mDNS failed, or brought nothing.
    #[error(transparent)]
    Lan(#[from] LanError),
    /// The network told of an address that is none.
    #[error("the local network told of an address that is none")]
    Address(#[from] transport::EndpointError),
}

/// Announces a run that is bound there, if its settings ask for that; until it is dropped.
///
/// # Errors
/// Fails if nobody could reach it, or the system does not allow it.
pub fn announce(
    spec: &RunSpec,
    bound: &Endpoints,
    curve: Option<&Curve>,
) -> Result<Option<Announcer>, AnnouncementError> {
    if !spec.network.announce_lan {
        return Ok(None);
    }
    let only_here = || AnnouncementError::OnlyHere(bound.clone());
    let (Some(host), Some(port)) = (bound.tcp_host(), bound.tcp_port()) else {
        return Err(only_here());
    };
    if bound.is_loopback() {
        return Err(only_here());
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, port).to_socket_addrs().ok();
    let address = found.and_then(|mut found| found.next()).map(|one| one.ip());
    let key = match curve {
        Some(Curve::Primary { key, .. }) => Some(key.public().to_string()),
        Some(Curve::Peer { .. }) | None => None,
    };
    let machine = identity::host();
    let announcement = Announcement {
        run: spec.run.name.clone().unwrap_or_else(|| "run".to_owned()),
        partition: spec.network.partition().to_owned(),
        address: address.filter(|address: &IpAddr| !address.is_unspecified()),
        port,
        key,
        version: identity::build().version,
    };
    let announcer = Announcer::start(&announcement, &machine)?;
    tracing::info!(
        "announced on the local network in partition {}",
        announcement.partition
    );
    Ok(Some(announcer))
}

/// Finds the address of the primary of a partition, one that has one of the keys if there are any.
///
/// # Errors
/// Fails if there is none in that time, or there are several.
pub fn find(
    partition: &str,
    keys: Option<&ServerKeys>,
    time: Duration,
) -> Result<Endpoints, AnnouncementError> {
    tracing::info!("looks for a primary in partition {partition} of the local network");
    let keys: Option<Vec<String>> =
        keys.map(|keys| keys.all().iter().map(ToString::to_string).collect());
    let sought = Sought {
        partition,
        run: None,
        keys: keys.as_deref(),
    };
    let address = lan::find(sought, time)?;
    Ok(format!("tcp://{address}").parse()?)
}
