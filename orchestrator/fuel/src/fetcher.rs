//! [`Fetcher`]: brings models and worlds into the store, if they are in no cache yet.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sdf::{CachedFuel, FuelAddress, FuelCaches, FuelKind, FuelResource};
use sha2::{Digest, Sha256};

use crate::PACKED_BYTES_MAX;
use crate::details::{DETAILS_BYTES_MAX, Details};
use crate::http::{
    Answer, FACTS_TIME_MAX, Http, HttpError, TIMEOUT, ZIP_TIME_MAX, host_of, redirected,
    without_query,
};
use crate::servers::{SERVERS, ServerError, Servers, TOKEN};
use crate::store::{Change, Locked, Record, Store, StoreError};
use crate::unpack::{UnpackError, hex, unpack};

/// The files that make a folder one of a model.
const MODEL_LISTS: [&str; 2] = ["model.config", "manifest.xml"];
/// The most bytes of a link that a server answers with in place of a zip.
const LINK_BYTES_MAX: usize = 4096;

/// Brings models and worlds into the store.
pub struct Fetcher<'p> {
    store: Store,
    caches: FuelCaches,
    servers: Servers,
    /// The client; `None` if no server may be asked.
    http: Option<Http>,
    /// Servers that did not answer; they are not waited for again.
    down: BTreeSet<String>,
    /// Number of bytes of all zips that came.
    received_bytes: u64,
    progress: Box<dyn FnMut(Progress<'_>) + 'p>,
}

/// A thing that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Another process fetches the same thing, and is waited for.
    Waiting(&'a FuelAddress),
    /// Bytes of a zip came.
    Receiving {
        /// The resource.
        address: &'a FuelAddress,
        /// The number of bytes so far.
        bytes: u64,
        /// The number of all, if the server says so.
        of: Option<u64>,
    },
    /// It is in its place.
    Fetched {
        /// The resource, with its version.
        address: &'a FuelAddress,
        /// The number of bytes of its zip.
        bytes: u64,
    },
}

/// A model or world that is on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its address, with its version.
    pub address: FuelAddress,
    /// Its place.
    pub found: CachedFuel,
    /// True if it was fetched now.
    pub is_new: bool,
}

/// Reason why a model or world is not on this machine.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No server may be asked.
    #[error(
        "{address} is in no cache of this machine, and nothing is fetched offline; \
         `phalanx fuel fetch {address}` fetches it"
    )]
    Offline {
        /// The resource.
        address: Box<FuelAddress>,
    },
    /// A server that the user does not know.
    #[error(
        "{address} is on a server that is not asked; if you trust it, name it: \
         {SERVERS}={}", address.resource.server
    )]
    UnknownServer {
        /// The resource.
        address: Box<FuelAddress>,
    },
    /// The server has no such thing.
    #[error("{} has no {} {address}", address.resource.host(), address.resource.kind.word())]
    NotFound {
        /// The resource.
        address: Box<FuelAddress>,
    },
    /// The server does not give it to this user.
    #[error("{address} is private (status {status}); {TOKEN} takes a token for its server")]
    Denied {
        /// The resource.
        address: Box<FuelAddress>,
        /// The status of the answer.
        status: u16,
    },
    /// The server answered with something else.
    #[error("cannot fetch {address}: its server answered with {problem}")]
    Answer {
        /// The resource.
        address: Box<FuelAddress>,
        /// Description of the answer.
        problem: String,
    },
    /// The server did not answer.
    #[error("cannot fetch {address}{}", remedy(.source))]
    Http {
        /// The resource.
        address: Box<FuelAddress>,
        /// Error of the last try.
        #[source]
        source: HttpError,
    },
    /// The server did not answer before.
    #[error("cannot fetch {address}: {} did not answer before", address.resource.host())]
    Down {
        /// The resource.
        address: Box<FuelAddress>,
    },
    /// It is more than is fetched.
    #[error("{address} has more than {} MiB, which are not fetched", PACKED_BYTES_MAX >> 20)]
    TooLarge {
        /// The resource.
        address: Box<FuelAddress>,
    },
    /// Its zip is not as it was asked for.
    #[error("{address} has the SHA-256 {found}, not {expected}; nothing of it was kept")]
    Checksum {
        /// The resource.
        address: Box<FuelAddress>,
        /// The digest of the zip.
        found: String,
        /// The digest that was asked for.
        expected: String,
    },
    /// Its zip cannot be used.
    #[error("cannot unpack {address}; nothing of it was kept")]
    Unpack {
        /// The resource.
        address: Box<FuelAddress>,
        /// Reason.
        #[source]
        source: UnpackError,
    },
    /// A cached file is not what was fetched.
    #[error(
        "{address} is not as it was fetched: {change}; `phalanx fuel fetch --again {address}` \
         replaces it, and a copy in a folder of PHALANX_RESOURCE_PATH may be changed"
    )]
    Changed {
        /// The resource.
        address: Box<FuelAddress>,
        /// The first difference.
        change: Change,
    },
    /// It cannot be kept.
    #[error("cannot keep {address}")]
    Store {
        /// The resource.
        address: Box<FuelAddress>,
        /// Error of the store.
        #[source]
        source: StoreError,
    },
}

/// Reason why nothing can be fetched at all.
#[derive(Debug, thiserror::Error)]
pub enum FetcherError {
    /// A variable names no servers or tokens.
    #[error(transparent)]
    Servers(#[from] ServerError),
    /// A variable of requests is wrong.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// There is no place for files.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A zip that came whole.
struct Received {
    packed: File,
    sha256: String,
    bytes: u64,
    version: Option<u32>,
    tag: Option<String>,
}

/// Reason why a zip did not come.
enum ReceiveError {
    Http(HttpError),
    Write(io::Error),
    TooLarge,
}

impl From<HttpError> for ReceiveError {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}

impl<'p> Fetcher<'p> {
    /// Makes one of the store, servers and caches that the environment names; offline it finds what
    /// is there and fetches nothing.
    ///
    /// # Errors
    /// Fails if a variable of the environment is wrong.
    pub fn from_environment(
        is_offline: bool,
        progress: impl FnMut(Progress<'_>) + 'p,
    ) -> Result<Self, FetcherError> {
        let http = (!is_offline).then(Http::new).transpose()?;
        Ok(Self {
            store: Store::of_user()?,
            caches: FuelCaches::from_environment(),
            servers: Servers::from_environment()?,
            http,
            down: BTreeSet::new(),
            received_bytes: 0,
            progress: Box::new(progress),
        })
    }

    /// Returns the number of bytes of all zips that it fetched.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Returns a version if it is on this machine, without asking anybody.
    ///
    /// # Errors
    /// Fails if a file of it has changed since it was fetched.
    pub fn cached(&self, address: &FuelAddress) -> Result<Option<Fetched>, FetchError> {
        let Some(found) = self.caches.find(address) else {
            return Ok(None);
        };
        let is_own = found.root == self.store.root();
        let is_tip_known = self.store.tip(&address.resource).is_some();
        // A version that another address asked for need not be the newest one.
        if address.version.is_none() && is_own && !is_tip_known && self.http.is_some() {
            return Ok(None);
        }
        // A folder without its record was left half-way.
        if self.store.lacks_record(&found) {
            return Ok(None);
        }
        let address = address.resource.at(Some(found.version));
        if let Some(record) = self.store.record(&found) {
            let verified = Store::verify(&found.folder, &record);
            verified.map_err(|change| FetchError::Changed {
                address: address.clone().into(),
                change,
            })?;
        }
        Ok(Some(Fetched {
            address,
            found,
            is_new: false,
        }))
    }

    /// Makes sure that a version is on this machine.
    ///
    /// # Errors
    /// Fails if it is not and cannot be fetched, or has changed since it was.
    pub fn ensure(&mut self, address: &FuelAddress) -> Result<Fetched, FetchError> {
        let address = address.whole();
        let mut cached = self.cached(&address);
        if let Err(FetchError::Changed { .. }) = cached {
            // Another process may be replacing it.
            let _locked = self.lock(&address)?;
            cached = self.cached(&address);
        }
        let Some(cached) = cached? else {
            // What an address without a version means stays what it was.
            let version = address.version.or(self.store.tip(&address.resource));
            return self.fetch(&address.resource.at(version), None, false);
        };
        let is_own = cached.found.root == self.store.root();
        if address.version.is_none() && !is_own && self.store.tip(&address.resource).is_none() {
            // Who fetches a newer version elsewhere does not change what this one means here. A
            // store that cannot be written is no reason to do without what is there.
            let _ = self.store.set_tip(&address.resource, cached.found.version);
        }
        Ok(cached)
    }

    /// Fetches a version anew, whatever is there; its zip must have the digest if one is given. An
    /// address without a version keeps its meaning: [`Self::update`] asks for the newest.
    ///
    /// # Errors
    /// Fails if it cannot be fetched, or has another digest.
    pub fn fetch_again(
        &mut self,
        address: &FuelAddress,
        sha256: Option<&str>,
    ) -> Result<Fetched, FetchError> {
        let tip = self.store.tip(&address.resource);
        let address = address.resource.at(address.version.or(tip));
        self.fetch(&address, sha256, true)
    }

    /// Asks for the newest version of a resource, and fetches it if it is not there.
    ///
    /// # Errors
    /// Fails if the server does not say, or it cannot be fetched.
    pub fn update(&mut self, resource: &FuelResource) -> Result<Fetched, FetchError> {
        let newest = self.details(resource)?.version;
        let address = resource.at(Some(newest).filter(|version| *version > 0));
        let fetched = match self
            .caches
            .find(&address)
            .filter(|_| address.version.is_some())
        {
            Some(_) => self.ensure(&address)?,
            None => self.fetch(&resource.at(None), None, true)?,
        };
        let _locked = self.lock(&address)?;
        let kept = self.store.set_tip(resource, fetched.found.version);
        kept.map_err(|source| FetchError::Store {
            address: address.into(),
            source,
        })?;
        Ok(fetched)
    }

    /// Asks the server about a resource.
    ///
    /// # Errors
    /// Fails if it may not be asked, or does not answer.
    pub fn details(&mut self, resource: &FuelResource) -> Result<Details, FetchError> {
        let address = resource.at(None);
        let http = self.allowed(&address)?;
        let url = format!("{}{}", resource.server, resource.request_path(&[]));
        let token = self.servers.token(&resource.server);
        let answered = http.tried(|http| {
            let answer = http.get(&url, token, FACTS_TIME_MAX)?;
            let status = answer.status;
            Ok((status, http.receive_few(answer, &url, DETAILS_BYTES_MAX)?))
        });
        let (status, bytes) = match answered {
            Ok(answered) => answered,
            Err(source) => {
                self.note_down(resource, &source);
                let address = address.into();
                return Err(FetchError::Http { address, source });
            }
        };
        refusal(&address, status)?;
        Details::read(&bytes).map_err(|error| FetchError::Answer {
            address: address.into(),
            problem: format!("facts that cannot be read: {error}"),
        })
    }

    /// Returns the client, if it may ask the server of an address.
    fn allowed(&self, address: &FuelAddress) -> Result<&Http, FetchError> {
        let address = || address.clone();
        let Some(http) = &self.http else {
            return Err(FetchError::Offline {
                address: address().into(),
            });
        };
        if !self.servers.allow(&address().resource.server) {
            return Err(FetchError::UnknownServer {
                address: address().into(),
            });
        }
        if self.down.contains(&address().resource.server) {
            return Err(FetchError::Down {
                address: address().into(),
            });
        }
        Ok(http)
    }

    /// Notes that the server of a resource does not answer, if it is the one that failed and not
    /// another to which it led.
    fn note_down(&mut self, resource: &FuelResource, error: &HttpError) {
        let silent = error.silent_host();
        if silent.is_some_and(|host| host == host_of(&resource.server)) {
            self.down.insert(resource.server.clone());
        }
    }

    /// Waits until no other process fetches or removes the resource of an address.
    fn lock(&mut self, address: &FuelAddress) -> Result<Locked, FetchError> {
        let progress = &mut self.progress;
        let waits = || progress(Progress::Waiting(address));
        let locked = self.store.lock(&address.resource, waits);
        locked.map_err(|source| FetchError::Store {
            address: address.clone().into(),
            source,
        })
    }

    fn fetch(
        &mut self,
        address: &FuelAddress,
        sha256: Option<&str>,
        is_again: bool,
    ) -> Result<Fetched, FetchError> {
        self.allowed(address)?;
        let kept = |source| FetchError::Store {
            address: address.clone().into(),
            source,
        };
        let _locked = self.lock(address)?;
        if !is_again && let Some(found) = self.cached(address)? {
            return Ok(found);
        }
        let partial = self.store.partial().map_err(kept)?;
        let received = self.receive(address, partial.path());
        if let Err(FetchError::Http { source, .. }) = &received {
            self.note_down(&address.resource, source);
        }
        let received = received?;
        self.received_bytes += received.bytes;
        if let Some(expected) = sha256
            && !expected.eq_ignore_ascii_case(&received.sha256)
        {
            return Err(FetchError::Checksum {
                address: address.clone().into(),
                found: received.sha256,
                expected: expected.to_owned(),
            });
        }
        let version = self.version(address, &received)?;
        let named = address.resource.at(Some(version));
        let unpacked = partial.path().join("unpacked");
        let found = self.keep(&named, &unpacked, received)?;
        if address.version.is_none() {
            let tip = self.store.set_tip(&address.resource, version);
            tip.map_err(kept)?;
        }
        Ok(Fetched {
            address: named,
            found,
            is_new: true,
        })
    }

    /// Unpacks a zip and puts the files in their place.
    fn keep(
        &mut self,
        address: &FuelAddress,
        unpacked: &Path,
        received: Received,
    ) -> Result<CachedFuel, FetchError> {
        let bytes = received.bytes;
        let refused = |source| FetchError::Unpack {
            address: address.clone().into(),
            source,
        };
        std::fs::create_dir(unpacked).map_err(|source| {
            refused(UnpackError::Write {
                path: unpacked.to_owned(),
                source,
            })
        })?;
        let files = unpack(received.packed, unpacked).map_err(refused)?;
        let lacks = match address.resource.kind {
            FuelKind::Model => {
                let is_there = |name: &str| unpacked.join(name).is_file();
                let is_model = MODEL_LISTS.iter().any(|name| is_there(name));
                (!is_model).then_some("model.config")
            }
            FuelKind::World => {
                let is_there = sdf::world_file_in(unpacked).is_some();
                (!is_there).then_some(".sdf or .world file")
            }
        };
        if let Some(lacks) = lacks {
            let problem = format!("it has no {lacks}");
            return Err(refused(UnpackError::Refused(problem)));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let record = Record {
            address: address.to_string(),
            sha256: received.sha256,
            packed_bytes: bytes,
            etag: received.tag,
            fetched_unix_s: now.map_or(0, |now| now.as_secs()),
            files,
        };
        let found = self.store.install(address, unpacked, &record);
        let found = found.map_err(|source| FetchError::Store {
            address: address.clone().into(),
            source,
        })?;
        (self.progress)(Progress::Fetched { address, bytes });
        Ok(found)
    }

    /// Returns the version of a zip: the one that was asked for, or what the server says.
    fn version(&mut self, address: &FuelAddress, received: &Received) -> Result<u32, FetchError> {
        match (address.version, received.version) {
            (Some(asked), Some(sent)) if asked != sent => Err(FetchError::Answer {
                address: address.clone().into(),
                problem: format!("version {sent}"),
            }),
            (Some(version), _) | (None, Some(version)) => Ok(version),
            (None, None) => match self.details(&address.resource)?.version {
                0 => Err(FetchError::Answer {
                    address: address.clone().into(),
                    problem: "no version; name one in the address".to_owned(),
                }),
                version => Ok(version),
            },
        }
    }

    /// Receives a zip into a file without a name, in a folder of the store.
    fn receive(&mut self, address: &FuelAddress, folder: &Path) -> Result<Received, FetchError> {
        let resource = &address.resource;
        let zip = format!("{}.zip", resource.name);
        let path = resource.request_path(&[&address.version_word(), &zip]);
        // Asked so, the server answers with a link to where large files are, or with the zip.
        let url = format!("{}{path}?link=true", resource.server);
        self.allowed(address)?;
        let Some(http) = &self.http else {
            return Err(FetchError::Offline {
                address: address.clone().into(),
            });
        };
        let token = self.servers.token(&resource.server);
        let progress = &mut self.progress;
        let mut refused = Ok(());
        let mut unwritten = None;
        let received = http.tried(|http| {
            let mut answer = http.get(&url, token, ZIP_TIME_MAX)?;
            let (version, tag) = (answer.version, answer.tag.clone());
            refused = refusal(address, answer.status);
            if refused.is_err() {
                return Ok(None);
            }
            let mut from = url.clone();
            if answer.content_type.starts_with("text/plain") {
                from = link(http, answer, &url)?;
                answer = http.get(&from, None, ZIP_TIME_MAX)?;
                refused = refusal(address, answer.status);
                if refused.is_err() {
                    return Ok(None);
                }
            }
            let told = |bytes, of| progress(Progress::Receiving { address, bytes, of });
            match receive_file(http, answer, &from, folder, told) {
                Ok((packed, sha256, bytes)) => Ok(Some(Received {
                    packed,
                    sha256,
                    bytes,
                    version,
                    tag,
                })),
                Err(ReceiveError::Http(error)) => Err(error),
                Err(ReceiveError::TooLarge) => {
                    refused = Err(FetchError::TooLarge {
                        address: address.clone().into(),
                    });
                    Ok(None)
                }
                Err(ReceiveError::Write(error)) => {
                    unwritten = Some(error);
                    Ok(None)
                }
            }
        });
        let received = received.map_err(|source| FetchError::Http {
            address: address.clone().into(),
            source,
        })?;
        refused?;
        received.ok_or_else(|| FetchError::Store {
            address: address.clone().into(),
            source: StoreError::Io {
                path: folder.to_owned(),
                source: unwritten.unwrap_or_else(|| io::ErrorKind::Other.into()),
            },
        })
    }
}

/// Returns what a user may do when a server did not answer.
fn remedy(error: &HttpError) -> String {
    if error.is_of_the_moment() {
        format!(
            "; try again, give a slow server longer by {TIMEOUT}, or unpack its zip into a folder \
             of PHALANX_RESOURCE_PATH and name it model://"
        )
    } else {
        String::new()
    }
}

/// Turns the status of an answer that has nothing to give into an error.
fn refusal(address: &FuelAddress, status: u16) -> Result<(), FetchError> {
    let address = || address.clone();
    match status {
        200 => Ok(()),
        404 | 410 => Err(FetchError::NotFound {
            address: address().into(),
        }),
        401 | 403 => Err(FetchError::Denied {
            address: address().into(),
            status,
        }),
        // Servers of TLS that are asked without it mostly answer so.
        400 if address().resource.server.starts_with("http://") => Err(FetchError::Answer {
            address: address().into(),
            problem: "status 400; if it has TLS, its addresses begin with https://".to_owned(),
        }),
        status => Err(FetchError::Answer {
            address: address().into(),
            problem: format!("status {status}"),
        }),
    }
}

/// Returns the address that an answer consists of.
fn link(http: &Http, answer: Answer, url: &str) -> Result<String, HttpError> {
    let bytes = http.receive_few(answer, url, LINK_BYTES_MAX)?;
    let target = String::from_utf8_lossy(&bytes).trim().to_owned();
    redirected(url, &target).map_err(|problem| HttpError::Redirect {
        host: host_of(url).to_owned(),
        target: without_query(&target),
        problem,
    })
}

/// Receives a body into a file without a name; returns it, its SHA-256 and its number of bytes.
fn receive_file(
    http: &Http,
    answer: Answer,
    url: &str,
    folder: &Path,
    mut told: impl FnMut(u64, Option<u64>),
) -> Result<(File, String, u64), ReceiveError> {
    let of = answer.length;
    if of.is_some_and(|bytes| bytes > PACKED_BYTES_MAX) {
        return Err(ReceiveError::TooLarge);
    }
    let mut file = tempfile::tempfile_in(folder).map_err(ReceiveError::Write)?;
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    http.receive(answer, url, |piece| {
        bytes += piece.len() as u64;
        if bytes > PACKED_BYTES_MAX {
            return Err(ReceiveError::TooLarge);
        }
        digest.update(piece);
        told(bytes, of);
        file.write_all(piece).map_err(ReceiveError::Write)
    })?;
    file.rewind().map_err(ReceiveError::Write)?;
    Ok((file, hex(&digest.finalize()), bytes))
}
