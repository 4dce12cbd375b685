//! [`ConnectProxy`]: a proxy that leads to one server whatever host is asked for, as those of
//! companies do that look into what is encrypted.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A proxy; it is gone when this is dropped.
pub struct ConnectProxy {
    address: SocketAddr,
    is_ended: Arc<AtomicBool>,
    /// First line and credentials of each request.
    asked: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl ConnectProxy {
    /// Starts one that leads to a server.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound port is known");
        let is_ended = Arc::new(AtomicBool::new(false));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (ended, told) = (Arc::clone(&is_ended), Arc::clone(&asked));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(stream) = stream {
                    let told = Arc::clone(&told);
                    // Whoever does not trust the server hangs up.
                    thread::spawn(move || drop(lead(stream, to, &told)));
                }
            }
        });
        Self {
            address,
            is_ended,
            asked,
            thread: Some(thread),
        }
    }

    /// Returns its host and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the hosts that were asked for so far, each with the credentials that came.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ConnectProxy {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reads a request, and hands on what comes from both sides.
fn lead(stream: TcpStream, to: SocketAddr, told: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let (mut request, mut line) = (Vec::new(), String::new());
    while lines.read_line(&mut line)? > 2 {
        if request.is_empty() || line.starts_with("Proxy-Authorization: ") {
            request.push(line.trim_end().to_owned());
        }
        line.clear();
    }
    let mut asked = told.lock().unwrap_or_else(PoisonError::into_inner);
    asked.push(request.join(" "));
    drop(asked);
    let server = TcpStream::connect(to)?;
    let mut client = stream;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut answers, mut to_client) = (server.try_clone()?, client);
    let back = thread::spawn(move || {
        let _ = io::copy(&mut answers, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Write);
    });
    let mut to_server = server;
    let _ = io::copy(&mut lines, &mut to_server);
    let _ = to_server.shutdown(Shutdown::Write);
    let _ = back.join();
    Ok(())
}
