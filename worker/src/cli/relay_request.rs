//! [`RelayRequest`]: a relay that the command line asks for, and where relays meet secondaries.

use std::time::Duration;

use anyhow::Context;
use protocol::{PeerName, RoutingId};
use transport::zeromq::{HOLD, RelaySettings, SocketOptions};
use transport::{Endpoints, ownership};
use worker::identity;

use super::{Cli, SecurityFlags, UsageError};
use run::RunSpec;

/// Beginning of the names of relays' folders, in the folder of runs.
const FOLDER: &str = "relay-";

/// A relay that is asked for.
#[derive(Debug)]
pub(crate) struct RelayRequest {
    /// Address of the primary; `None` is that of one that was started by hand.
    pub(crate) connect: Option<Endpoints>,
    /// Partition of the local network to look for it in, if no address is named.
    pub(crate) partition: Option<String>,
    /// Its name.
    name: PeerName,
    /// Place where its secondaries reach it, if it is not a folder of this machine.
    bind: Option<Endpoints>,
    /// Name of that folder.
    through: PeerName,
    /// Longest time to look for the primary.
    pub(crate) peer_timeout: Duration,
    /// Time to look for messages before sleeping.
    spin: Duration,
    /// Its key, that of its primary, and those that may connect to it.
    pub(crate) security: SecurityFlags,
    /// True if it may connect to another machine, and be reached, without encryption.
    insecure: bool,
    /// Options that were given and do not matter to a relay.
    pub(crate) ignored: Vec<String>,
}

impl Cli {
    /// Returns the relay that is asked for.
    pub(super) fn relay(self, base: &RunSpec) -> Result<RelayRequest, UsageError> {
        let spec = self.settings.over(base)?;
        self.security.check_for_relay(spec.network.bind.as_ref())?;
        if self.role.through.is_some() && spec.network.bind.is_some() {
            return Err(UsageError::BindsThrough);
        }
        let mut ignored = self.ignored();
        ignored.retain(|flag| flag != "--bind");
        let name = super::name_of_peer(self.name, "relay")?;
        Ok(RelayRequest {
            connect: self.connect,
            partition: spec.network.partition,
            through: self.role.through.unwrap_or_else(|| name.clone()),
            name,
            bind: spec.network.bind,
            peer_timeout: spec.network.peer_timeout,
            spin: spec.network.spin,
            security: self.security,
            insecure: spec.security.insecure,
            ignored,
        })
    }
}

impl RelayRequest {
    /// Returns the place of a relay whose primary is at an address.
    ///
    /// # Errors
    /// Fails if its folder cannot be used, or a key cannot be read.
    pub(crate) fn settings(&self, primary: Endpoints) -> anyhow::Result<RelaySettings> {
        let upper = SocketOptions {
            insecure: self.insecure,
            spin: self.spin,
            curve: self.security.of_secondary(&primary)?,
        };
        let lower = SocketOptions {
            insecure: self.insecure,
            spin: Duration::ZERO,
            curve: self.security.of_relay(self.bind.as_ref())?,
        };
        let bind = if let Some(bind) = &self.bind {
            bind.clone()
        } else {
            remove_abandoned_places();
            place_of(&self.through)?
        };
        let routing_id = format!("{}-{}", self.name, identity::new_address());
        Ok(RelaySettings {
            name: self.name.to_string(),
            routing_id: RoutingId::from(routing_id.as_str()),
            primary,
            upper,
            bind,
            removes_folder: self.bind.is_none(),
            lower,
            hold: HOLD,
        })
    }
}

/// Returns where a relay of this name and the secondaries of its machine meet: a folder that no
/// other user can enter.
///
/// # Errors
/// Fails if the folder of this user's runs cannot be used, or its path is too long for a socket.
pub(crate) fn place_of(relay: &PeerName) -> anyhow::Result<Endpoints> {
    let address = || {
        let folder = ownership::machine_folder()?.join(format!("{FOLDER}{relay}"));
        let address = format!("ipc://{}", folder.display());
        anyhow::Ok(address.parse()?)
    };
    address().with_context(|| {
        format!("the relay {relay} and its secondaries cannot meet in a folder of this machine")
    })
}

/// Removes the folders of relays that were killed; each run has new ones.
fn remove_abandoned_places() {
    let removed = ownership::machine_folder()
        .map_err(anyhow::Error::from)
        .and_then(|folder| Ok(transport::zeromq::remove_abandoned(&folder, FOLDER)?));
    if let Err(error) = removed {
        tracing::debug!("folders of relays that were killed stay: {error:#}");
    }
}
