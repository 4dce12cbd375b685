//! [`Server`]: pages, assets and `WebSocket`s on one port.
//!
//! Knows connections and requests, and nothing of runs: clients go to the [`crate::hub`].

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY};
use hyper::header::{SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::admission::{Admission, Denial};
use crate::assets::Assets;
use crate::outbox::Outbox;
use crate::protocol::Agreement;
use crate::viewer::{self, ViewerId, ViewerNews, ViewerSender};
use crate::{foxglove, page};

/// The most connections at a time.
const CONNECTIONS_MAX: usize = 256;
/// The most clients with a WebSocket at a time.
const VIEWERS_MAX: usize = 64;
/// Time in which a request must have come.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);
/// Time for which a connection without a WebSocket is kept.
const CONNECTION_TIME_MAX: Duration = Duration::from_mins(5);
/// The largest head of a request \[bytes\].
const HEAD_BYTES_MAX: usize = 16 << 10;
/// The most headers of a request.
const HEADERS_MAX: usize = 64;
/// Time before it is listened again after that has failed, as when files run out.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// Time before a wrong token is answered.
const WRONG_TOKEN_TIME: Duration = Duration::from_millis(500);
/// Time until the layout for any run is taken where it is not known what a run has.
const LAYOUT_TIME_MAX: Duration = Duration::from_secs(5);
/// Time between two looks at whether it is.
const LAYOUT_LOOK_TIME: Duration = Duration::from_millis(50);
/// Path of the layout for Foxglove.
const LAYOUT: &str = "/foxglove.json";

/// Reason why no address is served.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another program has the port.
    #[error(
        "{0} is in use, perhaps by another `phalanx web`: choose another one with --bind \
         {host}:PORT, or a free one with port 0", host = .0.ip()
    )]
    InUse(SocketAddr),
    /// The address is not one of this machine, or the port is not allowed.
    #[error("cannot listen at {address}")]
    Failed {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
}

/// A port that is listened at.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    front: Arc<Front>,
}

/// All that connections share.
#[derive(Debug)]
struct Front {
    admission: Admission,
    assets: Assets,
    viewers: ViewerSender,
    viewer_places: Arc<Semaphore>,
    last_viewer: AtomicU64,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// Fails if the address cannot be had.
    pub async fn bind(
        address: SocketAddr,
        admission: Admission,
        assets: Assets,
        viewers: ViewerSender,
    ) -> Result<Self, BindError> {
        let bound = TcpListener::bind(address).await;
        let listener = bound.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse(address),
            _ => BindError::Failed { address, source },
        })?;
        Ok(Self {
            listener,
            front: Arc::new(Front {
                admission,
                assets,
                viewers,
                viewer_places: Arc::new(Semaphore::new(VIEWERS_MAX)),
                last_viewer: AtomicU64::new(0),
            }),
        })
    }

    /// Returns where it listens.
    ///
    /// # Errors
    /// Fails if the system does not know.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves whoever comes, for ever.
    pub async fn serve(self) -> Infallible {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                sleep(ACCEPT_RETRY).await;
                continue;
            };
            // Beyond the limit, connections are closed at once.
            if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                let front = Arc::clone(&self.front);
                tokio::spawn(serve_connection(stream, front, place));
            }
        }
    }
}

/// Serves the requests of one connection; a WebSocket goes on by itself, in the same place.
async fn serve_connection(stream: TcpStream, front: Arc<Front>, place: OwnedSemaphorePermit) {
    let _ = stream.set_nodelay(true);
    let place = Arc::new(place);
    let service = service_fn(move |request| {
        let (front, place) = (Arc::clone(&front), Arc::clone(&place));
        async move { Ok::<_, Infallible>(front.answer(request, place).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // Whatever a client does wrong is its own loss.
    let _ = tokio::time::timeout(CONNECTION_TIME_MAX, served).await;
}

/// A client without a connection of its own, which leaves when this is dropped.
struct Guest(ViewerId, ViewerSender);

impl Drop for Guest {
    fn drop(&mut self) {
        let (id, viewers) = (self.0, self.1.clone());
        tokio::spawn(async move {
            // The hub has ended with all that it knew.
            let _ = viewers.send((id, ViewerNews::Left)).await;
        });
    }
}

impl Front {
    async fn answer(
        &self,
        request: Request<Incoming>,
        place: Arc<OwnedSemaphorePermit>,
    ) -> Response<Full<Bytes>> {
        if is_for_socket(request.headers()) {
            return match self
                .admission
                .check_socket(request.uri(), request.headers())
            {
                Ok(agreement) => self.open_socket(request, agreement, place),
                Err(denial) => denied(denial).await,
            };
        }
        if let Err(denial) = self.admission.check_host(request.headers()) {
            return denied(denial).await;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return page::text(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET and HEAD are answered",
            );
        }
        let path = request.uri().path();
        let asset = path.strip_prefix("/assets/");
        if asset.is_none() && path != LAYOUT {
            return page::file(path, request.headers());
        }
        let known = self.admission.check_token(request.uri(), request.headers());
        if let Err(denial) = known {
            return denied(denial).await;
        }
        let Some(id) = asset else {
            return page::layout(self.layout().await);
        };
        match self.assets.find(id) {
            Some(asset) => page::asset(&asset),
            None => page::text(StatusCode::NOT_FOUND, "no asset is named so"),
        }
    }

    /// Returns the layout for Foxglove. What a run has is asked for only while somebody looks: so
    /// one client comes and leaves, if there was none.
    async fn layout(&self) -> Bytes {
        if let Some(known) = self.assets.layout() {
            return known;
        }
        let id = ViewerId(self.last_viewer.fetch_add(1, Ordering::Relaxed));
        // It leaves also when its client hangs up, and this is given up in the middle.
        let guest = Guest(id, self.viewers.clone());
        let came = ViewerNews::Came(Outbox::default(), Agreement::default());
        let _ = self.viewers.send((id, came)).await;
        let end = Instant::now() + LAYOUT_TIME_MAX;
        let mut found = self.assets.layout();
        while found.is_none() && Instant::now() < end {
            sleep(LAYOUT_LOOK_TIME).await;
            found = self.assets.layout();
        }
        drop(guest);
        found.unwrap_or_else(foxglove::general_layout)
    }

    /// Makes a connection one of a WebSocket.
    fn open_socket(
        &self,
        mut request: Request<Incoming>,
        agreement: Agreement,
        place: Arc<OwnedSemaphorePermit>,
    ) -> Response<Full<Bytes>> {
        let headers = request.headers();
        let is_known_version = headers
            .get(SEC_WEBSOCKET_VERSION)
            .is_some_and(|version| version == "13");
        let key = headers.get(SEC_WEBSOCKET_KEY).filter(|_| is_known_version);
        let Some(accept) = key.map(|key| derive_accept_key(key.as_bytes())) else {
            return page::text(
                StatusCode::BAD_REQUEST,
                "version 13 of WebSocket is spoken here",
            );
        };
        let Ok(viewer_place) = Arc::clone(&self.viewer_places).try_acquire_owned() else {
            let message = format!("{VIEWERS_MAX} clients are connected, which is the most");
            return page::text(StatusCode::SERVICE_UNAVAILABLE, &message);
        };
        let id = ViewerId(self.last_viewer.fetch_add(1, Ordering::Relaxed));
        let (viewers, assets) = (self.viewers.clone(), self.assets.clone());
        tokio::spawn(async move {
            if let Ok(upgraded) = hyper::upgrade::on(&mut request).await {
                viewer::serve(upgraded, id, agreement, assets, viewers).await;
            }
            drop((place, viewer_place));
        });
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(
            SEC_WEBSOCKET_PROTOCOL,
            HeaderValue::from_static(agreement.dialect.name()),
        );
        if let Ok(accept) = HeaderValue::from_str(&accept) {
            headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        }
        response
    }
}

/// Tells whether a request is to become a WebSocket.
fn is_for_socket(headers: &HeaderMap) -> bool {
    let has = |name, word: &str| {
        let values = headers.get_all(name).into_iter();
        let values = values.filter_map(|value: &HeaderValue| value.to_str().ok());
        let mut words = values.flat_map(|value| value.split(','));
        words.any(|one| one.trim().eq_ignore_ascii_case(word))
    };
    has(UPGRADE, "websocket") && has(CONNECTION, "upgrade")
}

async fn denied(denial: Denial) -> Response<Full<Bytes>> {
    let status = match denial {
        Denial::NoHost | Denial::NoProtocol => StatusCode::BAD_REQUEST,
        Denial::ForeignHost(_) | Denial::ForeignOrigin(_) => StatusCode::FORBIDDEN,
        Denial::NoToken => {
            sleep(WRONG_TOKEN_TIME).await;
            StatusCode::UNAUTHORIZED
        }
    };
    page::text(status, &denial.to_string())
}
