//! [`TlsFront`]: a server on this machine that answers over TLS what another one answers without.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::authority::Identity;

/// A server with a certificate; it is gone when this is dropped.
pub struct TlsFront {
    address: SocketAddr,
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TlsFront {
    /// Starts one before the server at an address, with a certificate.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub fn new(behind: SocketAddr, identity: Identity) -> Self {
        let Identity { certificate, key } = identity;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has all versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("the key is that of the certificate");
        let config = Arc::new(config);
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound port is known");
        let is_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_ended);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(stream) = stream {
                    let config = Arc::clone(&config);
                    // Whoever does not trust the certificate hangs up.
                    std::thread::spawn(move || drop(answer(stream, config, behind)));
                }
            }
        });
        Self {
            address,
            is_ended,
            thread: Some(thread),
        }
    }

    /// Returns its host and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Hands one request on, and its answer back.
fn answer(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    behind: SocketAddr,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let connection = ServerConnection::new(config)?;
    let mut lines = BufReader::new(StreamOwned::new(connection, stream));
    let mut request = String::new();
    while lines.read_line(&mut request)? > 2 {}
    let mut plain = TcpStream::connect(behind)?;
    plain.write_all(request.as_bytes())?;
    let mut reply = Vec::new();
    plain.read_to_end(&mut reply)?;
    let mut stream = lines.into_inner();
    stream.write_all(&reply)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    Ok(())
}
