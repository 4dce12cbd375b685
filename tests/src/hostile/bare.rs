//! [`Bare`]: a stream to a socket of the primary, and the bytes that ZMTP 3.1 begins with.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Time for which an answer is waited for where one may come.
const TIMEOUT: Duration = Duration::from_millis(20);

/// A stream without libzmq.
pub(super) enum Bare {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Bare {
    pub(super) fn connect(place: &str) -> Option<Self> {
        if let Some(path) = place.strip_prefix("ipc://") {
            let stream = UnixStream::connect(path).ok()?;
            stream.set_read_timeout(Some(TIMEOUT)).ok()?;
            stream.set_write_timeout(Some(TIMEOUT)).ok()?;
            return Some(Self::Unix(stream));
        }
        let stream = TcpStream::connect(place.strip_prefix("tcp://")?).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.set_write_timeout(Some(TIMEOUT)).ok()?;
        Some(Self::Tcp(stream))
    }

    /// Sends as much as the other side takes.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        let sent = match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
        };
        sent.is_ok()
    }

    /// Returns how many bytes have come, one more for an end.
    pub(super) fn hear(&mut self) -> usize {
        let mut bytes = [0; 4096];
        let read = match self {
            Self::Unix(stream) => stream.read(&mut bytes),
            Self::Tcp(stream) => stream.read(&mut bytes),
        };
        match read {
            Ok(0) => 1,
            Ok(count) => count,
            Err(error) => usize::from(matches!(
                error.kind(),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
            )),
        }
    }
}

/// Returns the 64 bytes of a greeting.
pub(super) fn greeting(version: (u8, u8), mechanism: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, version.0, version.1];
    bytes.extend_from_slice(mechanism);
    bytes.resize(64, 0);
    bytes
}

/// Returns a frame with these flags.
pub(super) fn frame(flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = if body.len() > 255 {
        let mut head = vec![flags | 2];
        head.extend_from_slice(&(body.len() as u64).to_be_bytes());
        head
    } else {
        vec![flags, body.len() as u8]
    };
    bytes.extend_from_slice(body);
    bytes
}

/// Flags of a command.
pub(super) const COMMAND: u8 = 4;

/// Returns a command with its name and its body.
pub(super) fn command(name: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![name.len() as u8];
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(body);
    frame(COMMAND, &bytes)
}

/// Returns a READY command with properties.
pub(super) fn ready(properties: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in properties {
        body.push(name.len() as u8);
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&(value.len() as u32).to_be_bytes());
        body.extend_from_slice(value);
    }
    command("READY", &body)
}
