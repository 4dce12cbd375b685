//! [`Servers`]: the servers that may be asked, and the token for each.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use sdf::{FUEL_SERVER, FuelAddress};

/// The variable that lists further servers, such as a company's own.
pub const SERVERS: &str = "PHALANX_FUEL_SERVERS";
/// The variable with the tokens for private models.
pub const TOKEN: &str = "PHALANX_FUEL_TOKEN";

/// Servers that may be asked: Gazebo's, and those that the user named. Others are refused, since a
/// world that somebody wrote must not decide which machines this one talks to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Servers {
    /// Tokens, perhaps none, by scheme and host.
    tokens: BTreeMap<String, Option<String>>,
}

/// A variable that names no servers or tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Not the address of a server.
    #[error(
        "{SERVERS} has {found:?}, which is no server: use addresses such as \
         https://fuel.example.org, separated by commas"
    )]
    Address {
        /// The text.
        found: String,
    },
    /// A token for a server that is not asked. What stands before its `=` is not told, since it may
    /// be part of a token.
    #[error(
        "entry {entry} of {TOKEN} is for a host that is neither Gazebo's server nor in {SERVERS}; \
         a token of Gazebo's server that has a = is written {}=TOKEN",
        host_of(FUEL_SERVER)
    )]
    TokenOfOther {
        /// The number of the entry, from 1.
        entry: usize,
    },
    /// A token that would be readable on its way.
    #[error("{TOKEN} has a token for {host}, which is reached without encryption: use https")]
    TokenInPlain {
        /// The host.
        host: String,
    },
    /// A token that no header can hold.
    #[error("{TOKEN} has a token with a character that no token has")]
    TokenText,
}

impl Servers {
    /// Reads the servers of `PHALANX_FUEL_SERVERS` and the tokens of `PHALANX_FUEL_TOKEN`.
    ///
    /// # Errors
    /// Fails if one of the two is wrong.
    pub fn from_environment() -> Result<Self, ServerError> {
        let text = |name| std::env::var(name).unwrap_or_default();
        Self::read(&text(SERVERS), &text(TOKEN))
    }

    /// Reads servers, separated by commas, and tokens: one alone is for Gazebo's server, several
    /// are `HOST=TOKEN`, separated by commas.
    ///
    /// # Errors
    /// Fails if a server is no address, or a token is for none of them or would travel in plain.
    pub fn read(servers: &str, tokens: &str) -> Result<Self, ServerError> {
        let mut known = BTreeMap::from([(FUEL_SERVER.to_owned(), None)]);
        for server in listed(servers) {
            let server = server.trim_end_matches('/');
            // Any address on it is one of Fuel if it is a server.
            let probe = FuelAddress::parse(&format!("{server}/1.0/a/models/a"));
            let probe = probe.filter(|_| server.matches('/').count() == 2);
            let probe = probe.ok_or_else(|| ServerError::Address {
                found: server.to_owned(),
            })?;
            known.insert(probe.resource.server, None);
        }
        for (index, token) in listed(tokens).enumerate() {
            let (host, token) = match token.split_once('=') {
                Some((host, token)) if host.contains(['.', ':']) || host == "localhost" => {
                    (host.to_ascii_lowercase(), token)
                }
                Some(_) | None => (host_of(FUEL_SERVER).to_owned(), token),
            };
            if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ServerError::TokenText);
            }
            let mut servers = known.iter_mut();
            let server = servers.find(|(server, _)| host_of(server) == host);
            let Some((server, kept)) = server else {
                return Err(ServerError::TokenOfOther { entry: index + 1 });
            };
            if !is_private_way(server) {
                return Err(ServerError::TokenInPlain { host });
            }
            *kept = Some(token.to_owned());
        }
        Ok(Self { tokens: known })
    }

    /// Tells whether a server may be asked.
    pub fn allow(&self, server: &str) -> bool {
        self.tokens.contains_key(server)
    }

    /// Returns the token for a server, if there is one.
    pub fn token(&self, server: &str) -> Option<&str> {
        self.tokens.get(server)?.as_deref()
    }
}

/// Tokens are never shown.
impl fmt::Debug for Servers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.tokens.keys()).finish()
    }
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(',').map(str::trim);
    parts.filter(|part| !part.is_empty())
}

fn host_of(server: &str) -> &str {
    server.split_once("://").map_or(server, |(_, host)| host)
}

/// Tells whether nobody reads along on the way to a server: it is encrypted or on this machine.
fn is_private_way(server: &str) -> bool {
    if server.starts_with("https://") {
        return true;
    }
    let host = host_of(server);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.trim_matches(['[', ']']);
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_gazebos_and_those_named() {
        let servers = Servers::read("http://127.0.0.1:80/, https://Fuel.Example.org", "").unwrap();
        for known in [
            FUEL_SERVER,
            "http://127.0.0.1:80",
            "https://fuel.example.org",
        ] {
            assert!(servers.allow(known), "{known}");
        }
        assert!(!servers.allow("http://fuel.example.org"));
        for wrong in [
            "fuel.example.org",
            "https://a b",
            "https://a.org/path",
            "ftp://a.org",
        ] {
            assert!(Servers::read(wrong, "").is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_for_one_server_and_never_shown() {
        let read = |tokens| Servers::read("https://a.org,http://b.org,http://127.0.0.1:80", tokens);
        let servers = read("secret").unwrap();
        assert_eq!(servers.token(FUEL_SERVER), Some("secret"));
        assert_eq!(servers.token("https://a.org"), None);
        assert!(!format!("{servers:?}").contains("secret"));
        let servers = read("a.org=x=y, 127.0.0.1:80=z").unwrap();
        assert_eq!(servers.token("https://a.org"), Some("x=y"));
        assert_eq!(servers.token("http://127.0.0.1:80"), Some("z"));
        assert_eq!(servers.token(FUEL_SERVER), None);
        let other = ServerError::TokenOfOther { entry: 2 };
        assert_eq!(read("a.org=x,c.org=x").unwrap_err(), other);
        let error = read("s3cret.s3cret.s3cret=").unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
        let servers = read("fuel.gazebosim.org=a.b.c=").unwrap();
        assert_eq!(servers.token(FUEL_SERVER), Some("a.b.c="));
        let plain = ServerError::TokenInPlain {
            host: "b.org".to_owned(),
        };
        assert_eq!(read("b.org=x").unwrap_err(), plain);
        assert_eq!(read("a\u{7f}b").unwrap_err(), ServerError::TokenText);
    }
}
