//! [`Reach`]: where a primary is, and by which keys one is let in there.

use std::fmt;
use std::path::Path;

use transport::zeromq::{ConnectError, Curve, PeerLink, SocketOptions};
use transport::{Endpoints, KeyError, KeyPair, ServerKeys, Subscription};

/// Endpoints of a primary, and the keys for access to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    endpoints: Endpoints,
    curve: Option<Curve>,
    /// True if another machine may be reached without encryption.
    is_insecure: bool,
}

impl Reach {
    /// Reaches a primary that has a key.
    ///
    /// # Errors
    /// Fails if the key cannot be read.
    pub fn with_keys(endpoints: Endpoints, key: &Path, primary: &str) -> Result<Self, KeyError> {
        let primary = ServerKeys::of_text_or_file(primary)?;
        let key = KeyPair::read(key)?;
        Ok(Self {
            endpoints,
            curve: Some(Curve::Peer { key, primary }),
            is_insecure: false,
        })
    }

    /// Reaches a primary without encryption, wherever it is, if that is allowed.
    pub fn unencrypted(endpoints: Endpoints, is_insecure: bool) -> Self {
        Self {
            endpoints,
            curve: None,
            is_insecure,
        }
    }

    /// Reaches the same primary at another place.
    #[must_use]
    pub fn at(self, endpoints: Endpoints) -> Self {
        Self { endpoints, ..self }
    }

    /// Returns the public keys of which the primary has one; `None` without encryption.
    pub fn server_keys(&self) -> Option<Vec<String>> {
        match &self.curve {
            Some(Curve::Peer { primary, .. }) => {
                Some(primary.all().iter().map(ToString::to_string).collect())
            }
            Some(Curve::Primary { .. }) | None => None,
        }
    }

    /// Begins to connect.
    pub(super) fn connect(&self, subscription: Subscription<'_>) -> Result<PeerLink, ConnectError> {
        let options = SocketOptions {
            curve: self.curve.clone(),
            insecure: self.is_insecure,
            ..SocketOptions::default()
        };
        PeerLink::connect(&self.endpoints, None, subscription, &options)
    }
}

/// Reaches a primary that nothing but its folder protects.
impl From<Endpoints> for Reach {
    fn from(endpoints: Endpoints) -> Self {
        Self::unencrypted(endpoints, false)
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoints.fmt(formatter)
    }
}
