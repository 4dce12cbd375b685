//! [`Http`]: requests to servers, one at a time: time-outs, redirects, and tries of what may pass.

use std::env;
use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use ureq::tls::TlsConfig;
use ureq::{Agent, Body, http::Response};

use crate::trust::{Advice, Trust};

/// The variable with the time that a server may be silent \[s\].
pub const TIMEOUT: &str = "PHALANX_FUEL_TIMEOUT_S";
/// Time that a server may be silent if the variable says nothing \[s\].
const TIMEOUT_S: u64 = 30;
/// Time to reach a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Pauses before further tries.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// The longest pause that a server may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Time for a whole answer with a few facts, and with a zip; longer if the server may be silent for
/// longer.
pub(crate) const FACTS_TIME_MAX: Duration = Duration::from_mins(1);
pub(crate) const ZIP_TIME_MAX: Duration = Duration::from_hours(1);
/// The most redirects of one request.
const REDIRECTS_MAX: usize = 5;
/// Headers with the version of a resource, the one of the present server first.
const VERSION_HEADERS: [&str; 2] = ["X-Ign-Resource-Version", "X-Gz-Resource-Version"];

/// A client of servers.
#[derive(Debug)]
pub struct Http {
    agent: Agent,
    silence: Duration,
    trust: Trust,
}

/// The answer of a server, its body not yet read.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The number of bytes of the body, if the server says so.
    pub length: Option<u64>,
    /// The type of the body, in small letters.
    pub content_type: String,
    /// The version of the resource, if the server says so.
    pub version: Option<u32>,
    /// The server's tag of the content.
    pub tag: Option<String>,
    /// Time for all of it.
    limit: Duration,
    body: Body,
}

/// Reason why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// A variable of the environment is wrong.
    #[error("{variable}: {problem}")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Part of it that is wrong.
        problem: String,
    },
    /// There is no way to the server.
    #[error("cannot reach {host}")]
    Unreachable {
        /// The host.
        host: String,
        /// Error of the request.
        #[source]
        source: Box<ureq::Error>,
    },
    /// The server's certificate is not trusted.
    #[error("the certificate of {host} is not trusted ({advice})")]
    Untrusted {
        /// The host.
        host: String,
        /// Remedy.
        advice: Advice,
        /// Reason why it is not.
        #[source]
        source: Box<rustls::Error>,
    },
    /// Its answer is none of TLS.
    #[error("{host} does not speak TLS; if it has none, its addresses begin with http://")]
    NoTls {
        /// The host.
        host: String,
        /// Error of the connection.
        #[source]
        source: Box<ureq::Error>,
    },
    /// Its answer is none of the web.
    #[error("{host} does not speak HTTP; if it has TLS, its addresses begin with https://")]
    NoHttp {
        /// The host.
        host: String,
        /// Error of the answer.
        #[source]
        source: Box<ureq::Error>,
    },
    /// The server said nothing for too long.
    #[error("{host} was silent for {} s", silence.as_secs_f64())]
    Silent {
        /// The host.
        host: String,
        /// Time for which it was waited for.
        silence: Duration,
    },
    /// The server was never silent for long, but did not come to an end.
    #[error("{host} did not send all within {} s", limit.as_secs_f64())]
    Slow {
        /// The host.
        host: String,
        /// Time for all.
        limit: Duration,
    },
    /// The server sends more than such an answer has.
    #[error("{host} sends more than {bytes_max} bytes where few are expected")]
    TooLong {
        /// The host.
        host: String,
        /// The most bytes that are read.
        bytes_max: usize,
    },
    /// The server cannot answer now.
    #[error("{host} answered with status {status}")]
    Busy {
        /// The host.
        host: String,
        /// The status.
        status: u16,
        /// Pause that it asks for.
        pause: Option<Duration>,
    },
    /// The connection ended before all was there.
    #[error("{host} sent {received} of {expected} bytes")]
    Truncated {
        /// The host.
        host: String,
        /// Number of bytes that came.
        received: u64,
        /// Number of bytes that were announced.
        expected: u64,
    },
    /// The connection broke.
    #[error("the connection to {host} broke")]
    Broken {
        /// The host.
        host: String,
        /// Error of the connection.
        #[source]
        source: io::Error,
    },
    /// A redirect that leads nowhere, or out of encryption.
    #[error("{host} redirects to {target:?}, which is {problem}")]
    Redirect {
        /// The host.
        host: String,
        /// The target.
        target: String,
        /// Part of it that is wrong.
        problem: RedirectProblem,
    },
}

/// Something wrong with the target of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectProblem {
    /// It is empty, or has characters that no address has.
    #[error("no address")]
    NoAddress,
    /// It is not reached by http.
    #[error("no address of the web")]
    OtherScheme,
    /// It is reached by http from https.
    #[error("without encryption")]
    Plain,
    /// Too many came before it.
    #[error("one redirect too many")]
    TooMany,
}

impl HttpError {
    /// Returns the host of which no answer is to be had, if that is what is wrong.
    pub(crate) fn silent_host(&self) -> Option<&str> {
        match self {
            Self::Unreachable { host, .. }
            | Self::Untrusted { host, .. }
            | Self::NoTls { host, .. }
            | Self::NoHttp { host, .. }
            | Self::Silent { host, .. } => Some(host),
            _ => None,
        }
    }

    /// Tells whether waiting may help.
    pub(crate) fn is_of_the_moment(&self) -> bool {
        !matches!(
            self,
            Self::Untrusted { .. } | Self::NoTls { .. } | Self::NoHttp { .. }
        )
    }

    /// Tells whether the same request may be answered a little later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { source, .. } => !matches!(
                **source,
                ureq::Error::BadUri(_)
                    | ureq::Error::Tls(_)
                    | ureq::Error::Rustls(_)
                    | ureq::Error::HostNotFound
            ),
            Self::Silent { .. }
            | Self::Busy { .. }
            | Self::Truncated { .. }
            | Self::Broken { .. } => true,
            Self::Untrusted { .. }
            | Self::NoTls { .. }
            | Self::NoHttp { .. }
            | Self::Slow { .. }
            | Self::TooLong { .. }
            | Self::Variable { .. }
            | Self::Redirect { .. } => false,
        }
    }
}

impl Http {
    /// Makes a client; proxies are those of the environment.
    ///
    /// # Errors
    /// Fails if a variable of the environment is wrong.
    pub fn new() -> Result<Self, HttpError> {
        let silence = silence()?;
        let trust = Trust::from_environment()?;
        let roots = trust.roots.clone();
        let config = Agent::config_builder()
            .user_agent(concat!("phalanx/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_TIMEOUT.min(silence)))
            .timeout_per_read(Some(silence))
            .timeout_per_write(Some(silence))
            .tls_config(TlsConfig::builder().root_certs(roots).build());
        Ok(Self {
            agent: config.build().into(),
            silence,
            trust,
        })
    }

    /// Tries a request until it is answered, up to three times if the failure may pass.
    ///
    /// # Errors
    /// Returns the error of the last try.
    pub fn tried<T>(
        &self,
        mut request: impl FnMut(&Self) -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        for pause in PAUSES {
            let error = match request(self) {
                Err(error) if error.may_pass() => error,
                result => return result,
            };
            let mut longest = pause;
            if let HttpError::Busy {
                pause: Some(asked), ..
            } = error
            {
                longest = pause.max(asked).min(PAUSE_MAX);
            }
            thread::sleep(longest);
        }
        request(self)
    }

    /// Asks for an address and follows redirects. The token goes to no other server than the first.
    /// Each request, with the body of its answer, has so much time.
    ///
    /// # Errors
    /// Fails if there is no answer, or one that asks to come back later.
    pub fn get(
        &self,
        url: &str,
        token: Option<&str>,
        limit: Duration,
    ) -> Result<Answer, HttpError> {
        let limit = limit.max(self.silence);
        let mut url = url.to_owned();
        let mut token = token;
        for _ in 0..=REDIRECTS_MAX {
            let response = self.ask(&url, token, limit)?;
            let status = response.status().as_u16();
            let host = host_of(&url).to_owned();
            if matches!(status, 301 | 302 | 303 | 307 | 308) {
                let target = header(&response, "Location").unwrap_or_default();
                let next = redirected(&url, &target).map_err(|problem| HttpError::Redirect {
                    host,
                    target: without_query(&target),
                    problem,
                })?;
                if server_of(&next) != server_of(&url) {
                    token = None;
                }
                url = next;
                continue;
            }
            if status == 429 || status >= 500 {
                let pause = header(&response, "Retry-After").and_then(|text| text.parse().ok());
                let pause = pause.map(Duration::from_secs);
                return Err(HttpError::Busy {
                    host,
                    status,
                    pause,
                });
            }
            return Ok(Answer::of(response, limit));
        }
        Err(HttpError::Redirect {
            host: host_of(&url).to_owned(),
            target: without_query(&url),
            problem: RedirectProblem::TooMany,
        })
    }

    fn ask(
        &self,
        url: &str,
        token: Option<&str>,
        limit: Duration,
    ) -> Result<Response<Body>, HttpError> {
        let request = self.agent.get(url).config().timeout_global(Some(limit));
        let mut request = request.build().header("Accept", "*/*");
        if let Some(token) = token {
            request = request.header("Private-Token", token);
        }
        request
            .call()
            .map_err(|error| self.failed(url, error, limit))
    }

    fn failed(&self, url: &str, error: ureq::Error, limit: Duration) -> HttpError {
        let host = host_of(url).to_owned();
        match error {
            ureq::Error::Timeout(ureq::Timeout::Global) => HttpError::Slow { host, limit },
            ureq::Error::Timeout(ureq::Timeout::Connect) => HttpError::Silent {
                host,
                silence: CONNECT_TIMEOUT.min(self.silence),
            },
            ureq::Error::Timeout(_) => HttpError::Silent {
                host,
                silence: self.silence,
            },
            ureq::Error::Protocol(_) if url.starts_with("http://") => HttpError::NoHttp {
                host,
                source: Box::new(error),
            },
            source => self.untold(host, source),
        }
    }

    /// Returns the error of a server that was not told a request.
    fn untold(&self, host: String, error: ureq::Error) -> HttpError {
        match tls_error(&error) {
            Some(rustls::Error::InvalidCertificate(problem)) => HttpError::Untrusted {
                advice: self.trust.advise(problem),
                source: Box::new(rustls::Error::InvalidCertificate(problem.clone())),
                host,
            },
            Some(rustls::Error::InvalidMessage(_)) => HttpError::NoTls {
                host,
                source: Box::new(error),
            },
            _ => HttpError::Unreachable {
                host,
                source: Box::new(error),
            },
        }
    }

    /// Reads a whole body that has few bytes.
    ///
    /// # Errors
    /// Fails if it does not come whole, or as soon as it has more bytes.
    pub fn receive_few(
        &self,
        answer: Answer,
        url: &str,
        bytes_max: usize,
    ) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        self.receive(answer, url, |piece| {
            if bytes.len() + piece.len() > bytes_max {
                return Err(HttpError::TooLong {
                    host: host_of(url).to_owned(),
                    bytes_max,
                });
            }
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Reads a body piece by piece, and returns the number of bytes in it.
    ///
    /// # Errors
    /// Fails if it does not come whole, or `take` refuses a piece.
    pub fn receive<E: From<HttpError>>(
        &self,
        answer: Answer,
        url: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let host = || host_of(url).to_owned();
        let told = (answer.length, answer.limit);
        let mut reader = answer.body.into_reader();
        let mut piece = vec![0; 1 << 16];
        let mut received = 0;
        loop {
            let count = match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(self.broken(host(), received, &told, error).into());
                }
            };
            received += count as u64;
            take(&piece[..count])?;
        }
        match answer.length.filter(|expected| *expected != received) {
            None => Ok(received),
            Some(expected) => Err(HttpError::Truncated {
                host: host(),
                received,
                expected,
            }
            .into()),
        }
    }

    fn broken(
        &self,
        host: String,
        received: u64,
        (expected, limit): &(Option<u64>, Duration),
        source: io::Error,
    ) -> HttpError {
        let (expected, limit) = (*expected, *limit);
        let inner = source.get_ref().and_then(|inner| inner.downcast_ref());
        if let Some(ureq::Error::Timeout(ureq::Timeout::Global)) = inner {
            return HttpError::Slow { host, limit };
        }
        if matches!(inner, Some(ureq::Error::Timeout(_)))
            || source.kind() == io::ErrorKind::TimedOut
        {
            return HttpError::Silent {
                host,
                silence: self.silence,
            };
        }
        match expected {
            Some(expected) if source.kind() == io::ErrorKind::UnexpectedEof => {
                HttpError::Truncated {
                    host,
                    received,
                    expected,
                }
            }
            Some(_) | None => HttpError::Broken { host, source },
        }
    }
}

impl Answer {
    fn of(response: Response<Body>, limit: Duration) -> Self {
        let version = VERSION_HEADERS
            .iter()
            .find_map(|name| header(&response, name));
        let content_type = header(&response, "Content-Type").unwrap_or_default();
        Self {
            status: response.status().as_u16(),
            length: header(&response, "Content-Length").and_then(|text| text.parse().ok()),
            content_type: content_type.to_lowercase(),
            version: version.and_then(|text| text.parse().ok()),
            tag: header(&response, "ETag"),
            limit,
            body: response.into_body(),
        }
    }
}

/// Returns the time that a server may be silent.
fn silence() -> Result<Duration, HttpError> {
    let Some(text) = env::var(TIMEOUT).ok().filter(|text| !text.is_empty()) else {
        return Ok(Duration::from_secs(TIMEOUT_S));
    };
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let silence = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    silence.ok_or_else(|| HttpError::Variable {
        variable: TIMEOUT,
        problem: format!("{text:?} is no number of seconds above 0"),
    })
}

/// Returns the error of TLS in the error of a request, if it is one.
fn tls_error(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(value.to_str().ok()?.trim().to_owned())
}

/// Returns the address that a redirect leads to.
///
/// # Errors
/// Fails, with the reason, if it is no address of the web or gives up encryption.
pub(crate) fn redirected(from: &str, target: &str) -> Result<String, RedirectProblem> {
    if target.is_empty() || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(RedirectProblem::NoAddress);
    }
    if target.starts_with('/') && !target.starts_with("//") {
        return Ok(format!("{}{target}", server_of(from)));
    }
    let is_encrypted = target.starts_with("https://");
    if !is_encrypted && !target.starts_with("http://") {
        return Err(RedirectProblem::OtherScheme);
    }
    if !is_encrypted && from.starts_with("https://") {
        return Err(RedirectProblem::Plain);
    }
    Ok(target.to_owned())
}

/// Returns an address for people: what follows `?` may be a secret of a link.
pub(crate) fn without_query(url: &str) -> String {
    let shown = url.split('?').next().unwrap_or_default();
    shown.chars().take(200).collect()
}

/// Returns scheme and host of an address.
fn server_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    &url[..end]
}

pub(crate) fn host_of(url: &str) -> &str {
    let server = server_of(url);
    server.split_once("://").map_or(server, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_encrypted() {
        let from = "https://a.org/1.0/x";
        let check = |target: &str, expect| assert_eq!(redirected(from, target), expect, "{target}");
        check("/y?z=1", Ok("https://a.org/y?z=1".to_owned()));
        check("https://b.org/z", Ok("https://b.org/z".to_owned()));
        check("http://a.org/y", Err(RedirectProblem::Plain));
        check("file:///etc/passwd", Err(RedirectProblem::OtherScheme));
        check("//b.org", Err(RedirectProblem::OtherScheme));
        check("https://b.org/\u{7f}", Err(RedirectProblem::NoAddress));
        check("", Err(RedirectProblem::NoAddress));
        assert!(redirected("http://127.0.0.1:1/x", "http://127.0.0.1:2/y").is_ok());
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        assert_eq!(host_of("https://a.org:1/x/y"), "a.org:1");
        assert_eq!(host_of("http://a.org"), "a.org");
    }
}
