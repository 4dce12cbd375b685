//! [`FuelServer`]: models and worlds on a port of this machine, served as Fuel serves them, with
//! faults when a test asks for them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// First byte of a greeting of TLS.
const TLS_HANDSHAKE: u8 = 22;

/// A server; it is gone when this is dropped.
pub struct FuelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Behaviour of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// It serves what it has.
    #[default]
    Healthy,
    /// It answers with this status.
    Status(u16),
    /// It is busy for so many requests, and healthy then.
    Busy(u32),
    /// It closes the connection in the middle of each zip.
    Truncated,
    /// It accepts requests, and says nothing.
    Silent,
    /// It answers with the address of a zip on this server.
    Link(String),
    /// It answers with a text that never ends.
    Endless,
    /// It redirects to the same path of this server.
    Redirect(String),
}

/// A request that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The path with its query, as it was sent.
    pub path: String,
    /// The private token in it.
    pub token: Option<String>,
}

#[derive(Default)]
struct Shared {
    /// The zips of each `owner/models/name`, by version from 1.
    resources: Mutex<BTreeMap<String, Vec<Vec<u8>>>>,
    requests: Mutex<Vec<Request>>,
    fault: Mutex<Fault>,
    is_ended: Mutex<bool>,
    /// Connections that are answered with silence.
    silent: Mutex<Vec<TcpStream>>,
}

impl Default for FuelServer {
    fn default() -> Self {
        Self::new()
    }
}

impl FuelServer {
    /// Starts one that has nothing.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound port is known");
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if *locked(&own.is_ended) {
                    return;
                }
                if let Ok(stream) = stream {
                    let own = Arc::clone(&own);
                    std::thread::spawn(move || drop(own.answer(stream)));
                }
            }
        });
        Self {
            address,
            shared,
            thread: Some(thread),
        }
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns its host and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of a resource, such as `owner/models/name`, and what follows.
    pub fn at(&self, path: &str) -> String {
        format!("{}/1.0/{path}", self.url())
    }

    /// Adds a version of a resource with these files.
    pub fn put(&self, resource: &str, files: &[(&str, &str)]) {
        self.put_zip(resource, zip_of(files));
    }

    /// Adds a version of a resource with any bytes in place of a zip.
    pub fn put_zip(&self, resource: &str, zip: Vec<u8>) {
        let mut resources = locked(&self.shared.resources);
        resources.entry(resource.to_owned()).or_default().push(zip);
    }

    /// Adds a version of a model with this content of its `model.sdf`.
    pub fn put_model(&self, resource: &str, content: &str, more: &[(&str, &str)]) {
        let text = format!("<sdf version='1.9'><model name='m'>{content}</model></sdf>");
        let config = "<model><name>m</name><sdf version='1.9'>model.sdf</sdf></model>";
        let files = [&[("model.config", config), ("model.sdf", &text)], more].concat();
        self.put(resource, &files);
    }

    /// Has it behave so from now on.
    pub fn set_fault(&self, fault: Fault) {
        *locked(&self.shared.fault) = fault;
    }

    /// Returns the requests so far, and forgets them.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *locked(&self.shared.requests))
    }

    /// Returns how many zips were asked for so far.
    pub fn zip_count(&self) -> usize {
        let requests = locked(&self.shared.requests);
        let zips = requests.iter().filter(|one| one.path.contains(".zip"));
        zips.count()
    }

    /// Returns how many zips were asked for so far, and forgets all requests.
    pub fn take_zip_count(&self) -> usize {
        let requests = self.take_requests().into_iter();
        requests
            .filter(|request| request.path.contains(".zip"))
            .count()
    }
}

impl Drop for FuelServer {
    fn drop(&mut self) {
        *locked(&self.shared.is_ended) = true;
        locked(&self.shared.silent).clear();
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?);
        if lines.fill_buf()?.first() == Some(&TLS_HANDSHAKE) {
            return send(&mut stream, 400, "", b"no request");
        }
        let mut lines = lines.lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut token = None;
        for line in lines {
            let line = line?;
            match line.split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("private-token") => {
                    token = Some(value.to_owned());
                }
                Some(_) => {}
                None => break,
            }
        }
        locked(&self.requests).push(Request {
            path: path.clone(),
            token,
        });
        let fault = locked(&self.fault).clone();
        match fault {
            Fault::Healthy | Fault::Truncated => {}
            Fault::Busy(0) => *locked(&self.fault) = Fault::Healthy,
            Fault::Busy(left) => {
                *locked(&self.fault) = Fault::Busy(left - 1);
                return send(&mut stream, 503, "", b"busy");
            }
            Fault::Status(status) => return send(&mut stream, status, "", b"no"),
            Fault::Silent => {
                locked(&self.silent).push(stream);
                return Ok(());
            }
            Fault::Endless => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
                write!(stream, "{head}Connection: close\r\n\r\n")?;
                loop {
                    stream.write_all(&[b'x'; 1000])?;
                }
            }
            Fault::Link(server) => {
                let link = format!("{server}{}", path.replace("?link=true", ""));
                let headers = "Content-Type: text/plain; charset=utf-8\r\n";
                let version = "X-Ign-Resource-Version: 1\r\n";
                let headers = format!("{headers}{version}");
                return send(&mut stream, 200, &headers, link.as_bytes());
            }
            Fault::Redirect(server) => {
                let headers = format!("Location: {server}{path}\r\n");
                return send(&mut stream, 302, &headers, b"");
            }
        }
        self.serve(&mut stream, &path)
    }

    fn serve(&self, stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
        let path = path.split('?').next().unwrap_or_default();
        let path = path.replace("%20", " ").to_lowercase();
        let parts: Vec<&str> = path.trim_start_matches("/1.0/").split('/').collect();
        let resource = parts.iter().take(3).copied().collect::<Vec<_>>().join("/");
        let versions = locked(&self.resources).get(&resource).cloned();
        let Some(versions) = versions else {
            return send(stream, 404, "", b"{\"errcode\":1}");
        };
        if parts.len() == 3 {
            let size = versions.last().map_or(0, Vec::len) * 2;
            let count = versions.len();
            let text = format!("{{\"version\":{count},\"filesize\":{size},\"name\":\"n\"}}");
            return send(
                stream,
                200,
                "Content-Type: application/json\r\n",
                text.as_bytes(),
            );
        }
        let version = parts[3].parse().unwrap_or(versions.len());
        let Some(zip) = version.checked_sub(1).and_then(|index| versions.get(index)) else {
            return send(stream, 404, "", b"no such version");
        };
        let headers = format!(
            "Content-Type: application/zip\r\nX-Ign-Resource-Version: {version}\r\n\
             ETag: \"{version}\"\r\n"
        );
        if *locked(&self.fault) == Fault::Truncated {
            let half = &zip[..zip.len() / 2];
            let length = zip.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{headers}\r\n");
            stream.write_all(head.as_bytes())?;
            return stream.write_all(half);
        }
        send(stream, 200, &headers, zip)
    }
}

/// Returns a zip of files.
///
/// # Panics
/// Panics if one has an impossible name.
pub fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let started = writer.start_file(*name, SimpleFileOptions::default());
        started.expect("a file has a name");
        writer
            .write_all(content.as_bytes())
            .expect("memory takes all");
    }
    writer.finish().expect("memory takes all").into_inner()
}

fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n", body.len());
    let _ = write!(head, "{headers}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
