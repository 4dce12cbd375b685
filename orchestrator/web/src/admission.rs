//! [`Admission`]: which requests are answered.
//!
//! A page of somebody else in the same browser can send requests to this server: by a name of its
//! own that leads to this address (DNS rebinding), or by a WebSocket, which no browser keeps from
//! other sites. So names of hosts and origins are checked, on loopback, too.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use hyper::http::uri::{Authority, Uri};

use crate::protocol::{Agreement, Dialect};
use crate::token::Token;

/// Origins of applications that draw what this server tells: Foxglove in a browser, and
/// applications of the desktop, whose pages are files.
pub const KNOWN_ORIGINS: &[&str] = &["https://app.foxglove.dev", "file://"];

/// Beginning of a sub-protocol that has a token.
const TOKEN_PROTOCOL: &str = "phalanx.token.";
/// Beginning of a header that has a token.
const BEARER: &str = "Bearer ";
/// Name of the parameter of an address that has a token.
const TOKEN_PARAMETER: &str = "token=";

/// Rules by which requests are answered.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Secret that must be known, if any.
    pub token: Option<Token>,
    /// Origins of other pages that may connect, besides [`KNOWN_ORIGINS`].
    pub origins: Vec<String>,
}

/// Reason why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// It does not name a host, or several.
    #[error("the request names no host")]
    NoHost,
    /// It names a host that is not this machine.
    #[error("this server is for localhost alone, not for {0}")]
    ForeignHost(String),
    /// It comes from a page of another site.
    #[error("pages of {0} may not connect: start `phalanx web` with --allow-origin {0}")]
    ForeignOrigin(String),
    /// It does not know the token.
    #[error("the token is missing or wrong: use the address that `phalanx web` printed")]
    NoToken,
    /// It speaks no version of the protocol.
    #[error("offer the sub-protocol {} or {}", Dialect::Sdk.name(), Dialect::WebSocket.name())]
    NoProtocol,
}

impl Admission {
    /// Checks the name of the host; who knows the token may use any name.
    ///
    /// # Errors
    /// Fails if it is the name of another machine.
    pub fn check_host(&self, headers: &HeaderMap) -> Result<(), Denial> {
        let host = host(headers)?;
        if self.token.is_some() || is_loopback(host.host()) {
            Ok(())
        } else {
            Err(Denial::ForeignHost(shortened(host.host())))
        }
    }

    /// Checks that a request knows the token, if there is one.
    ///
    /// # Errors
    /// Fails if it does not.
    pub fn check_token(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Denial> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let query = uri.query().unwrap_or_default().split('&');
        let by_query = query.filter_map(|pair| pair.strip_prefix(TOKEN_PARAMETER));
        let by_protocol = protocols(headers).filter_map(|name| name.strip_prefix(TOKEN_PROTOCOL));
        let by_header = headers.get_all(AUTHORIZATION).into_iter();
        let by_header = by_header.filter_map(|value| value.to_str().ok()?.strip_prefix(BEARER));
        let mut guesses = by_query.chain(by_protocol).chain(by_header);
        let is_known = guesses.any(|guess| token.is(guess));
        is_known.then_some(()).ok_or(Denial::NoToken)
    }

    /// Checks all that must hold for a WebSocket, and agrees on the protocol.
    ///
    /// # Errors
    /// Fails if it comes from a page of another site, does not know the token, or speaks another
    /// protocol.
    pub fn check_socket(&self, uri: &Uri, headers: &HeaderMap) -> Result<Agreement, Denial> {
        self.check_host(headers)?;
        self.check_token(uri, headers)?;
        self.check_origin(headers)?;
        Agreement::with(protocols(headers)).ok_or(Denial::NoProtocol)
    }

    /// Checks that a request comes from no page, from a page of this server, or from one that is
    /// allowed. Browsers alone tell, and always do.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Denial> {
        let mut origins = headers.get_all(ORIGIN).into_iter();
        let Some(origin) = origins.next() else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or("an unknown site");
        let is_own = || {
            let host = host(headers).ok()?;
            let of_page = origin
                .strip_prefix("http://")
                .or(origin.strip_prefix("https://"))?;
            Some(of_page.eq_ignore_ascii_case(host.as_str()))
        };
        let is_listed = || {
            let known = KNOWN_ORIGINS.iter().copied();
            let mut all = known.chain(self.origins.iter().map(String::as_str));
            all.any(|one| one == origin)
        };
        let is_only = origins.next().is_none();
        if is_only && (is_own() == Some(true) || is_listed()) {
            Ok(())
        } else {
            Err(Denial::ForeignOrigin(shortened(origin)))
        }
    }
}

/// Returns the host that a request names.
fn host(headers: &HeaderMap) -> Result<Authority, Denial> {
    let mut hosts = headers.get_all(HOST).into_iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(Denial::NoHost);
    };
    let host = host.to_str().map_err(|_| Denial::NoHost)?;
    let authority: Authority = host.parse().map_err(|_| Denial::NoHost)?;
    if authority.as_str().contains('@') {
        return Err(Denial::NoHost);
    }
    Ok(authority)
}

/// Returns the sub-protocols that a request offers.
fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Tells whether a host is this machine, by a name that no other machine has.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    let address = host.trim_start_matches('[').trim_end_matches(']');
    address
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback())
}

/// Returns a text of somebody else, short enough for an answer.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn admission(token: Option<&str>) -> Admission {
        Admission {
            token: token.map(|text| Token::chosen(text).unwrap()),
            origins: vec!["https://own.example".to_owned()],
        }
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: hyper::header::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    fn check(token: Option<&str>, uri: &str, pairs: &[(&str, &str)]) -> Result<(), Denial> {
        let protocol = [("sec-websocket-protocol", Dialect::Sdk.name())];
        let headers = headers(&[pairs, &protocol].concat());
        let checked = admission(token).check_socket(&uri.parse().unwrap(), &headers);
        checked.map(|_| ())
    }

    #[test]
    fn names_of_other_machines_are_refused_on_loopback() {
        for host in [
            "localhost:8765",
            "127.0.0.1",
            "[::1]:9",
            "a.localhost",
            "127.9.9.9:1",
        ] {
            assert_eq!(check(None, "/", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8765",
            "10.0.0.1",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
        ] {
            let denied = check(None, "/", &[("host", host)]);
            assert!(
                matches!(denied, Err(Denial::ForeignHost(_))),
                "{host}: {denied:?}"
            );
        }
        assert_eq!(check(None, "/", &[]), Err(Denial::NoHost));
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(check(None, "/", &twice), Err(Denial::NoHost));
        let user = [("host", "localhost@evil.example")];
        assert_eq!(check(None, "/", &user), Err(Denial::NoHost));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let from = |origin| check(None, "/", &[("host", "localhost:1"), ("origin", origin)]);
        for origin in ["http://localhost:1", "https://own.example", "file://"] {
            assert_eq!(from(origin), Ok(()), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "http://localhost:2",
            "null",
            "http://localhost:1.evil.example",
            "https://own.example.evil",
            "",
        ] {
            assert!(
                matches!(from(origin), Err(Denial::ForeignOrigin(_))),
                "{origin}"
            );
        }
        let twice = [
            ("host", "localhost:1"),
            ("origin", "http://localhost:1"),
            ("origin", "http://evil.example"),
        ];
        assert!(check(None, "/", &twice).is_err());
    }

    #[test]
    fn token_opens_by_query_header_and_sub_protocol() {
        let host = ("host", "machine.example");
        assert_eq!(check(Some(TOKEN), "/", &[host]), Err(Denial::NoToken));
        assert_eq!(
            check(Some(TOKEN), &format!("/?a=b&token={TOKEN}"), &[host]),
            Ok(())
        );
        let bearer = format!("Bearer {TOKEN}");
        assert_eq!(
            check(Some(TOKEN), "/", &[host, ("authorization", &bearer)]),
            Ok(())
        );
        let protocol = format!("phalanx.token.{TOKEN}");
        let offered = [host, ("sec-websocket-protocol", &*protocol)];
        assert_eq!(check(Some(TOKEN), "/", &offered), Ok(()));
        for wrong in [
            "/?token=",
            "/?token=0123456789abcdeF",
            "/?xtoken=0123456789abcdef",
        ] {
            assert_eq!(
                check(Some(TOKEN), wrong, &[host]),
                Err(Denial::NoToken),
                "{wrong}"
            );
        }
    }

    #[test]
    fn both_versions_of_the_protocol_are_spoken_and_others_are_refused() {
        let agree = |offered: &str| {
            let headers = headers(&[("host", "localhost"), ("sec-websocket-protocol", offered)]);
            let agreed = admission(None).check_socket(&"/".parse().unwrap(), &headers);
            agreed.map(|agreed| (agreed.dialect, agreed.hears_all))
        };
        for (offered, agreed) in [
            ("foxglove.sdk.v1", Ok((Dialect::Sdk, false))),
            ("foxglove.websocket.v1", Ok((Dialect::WebSocket, false))),
            (
                "foxglove.websocket.v1, foxglove.sdk.v1",
                Ok((Dialect::Sdk, false)),
            ),
            (
                "foxglove.sdk.v1,phalanx.all-channels",
                Ok((Dialect::Sdk, true)),
            ),
            ("phalanx.all-channels", Err(Denial::NoProtocol)),
            ("foxglove.websocket.v2", Err(Denial::NoProtocol)),
            ("chat", Err(Denial::NoProtocol)),
        ] {
            assert_eq!(agree(offered), agreed, "{offered}");
        }
    }
}
