//! Shows that whoever connects under the address of another leaves nothing behind at a primary, is
//! not heard, and that who comes back has its address again: with bare streams and libzmq's own
//! sockets.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use protocol::{RoutingId, topic};
use transport::zeromq::{PrimaryLink, SocketOptions};
use transport::{Arrival, Endpoints, Link};

/// Number of connections that come under the address of another.
const CONNECTIONS: usize = 3_000;

/// Longest time until something arrives.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Memory of this process \[MiB\].
fn memory_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.expect("the line has a number") / 1024.0
}

fn bind(folder: &tempfile::TempDir) -> (PrimaryLink, Endpoints) {
    let place = format!("ipc://{}", folder.path().join("run").display());
    let endpoints: Endpoints = place.parse().expect("an address");
    let (primary, ..) =
        PrimaryLink::bind(&endpoints, &SocketOptions::default()).expect("it is bound");
    (primary, endpoints)
}

fn dealer(context: &zmq::Context, place: &str, address: &[u8]) -> zmq::Socket {
    let socket = context.socket(zmq::DEALER).expect("a socket");
    socket.set_identity(address).expect("it is short");
    socket.set_linger(0).expect("it is a number");
    socket.connect(place).expect("an address");
    socket
}

/// Has this done until something else than before is said under an address, and returns that.
fn hear(primary: &mut PrimaryLink, address: &str, before: &[u8], say: impl Fn()) -> Vec<u8> {
    let (address, end) = (RoutingId::from(address), Instant::now() + TIMEOUT);
    while Instant::now() < end {
        say();
        let arrival = primary
            .receive(Some(Duration::from_millis(5)))
            .expect("the link works");
        if let Some(Arrival::Message { from, payload, .. }) = arrival
            && from.as_ref() == Some(&address)
            && *payload != *before
        {
            return payload.to_vec();
        }
    }
    panic!("nothing is heard");
}

/// Goes through the handshake of ZMTP 3.1 as a DEALER of this address, up to the other's READY.
fn greet(path: &str, address: &[u8]) -> UnixStream {
    let mut stream = UnixStream::connect(path).expect("somebody listens");
    let mut greeting = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 1];
    greeting.extend_from_slice(b"NULL");
    greeting.resize(64, 0);
    let mut ready =
        b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00".to_vec();
    ready.push(address.len() as u8);
    ready.extend_from_slice(address);
    greeting.extend_from_slice(&[4, ready.len() as u8]);
    greeting.extend_from_slice(&ready);
    stream.write_all(&greeting).expect("it is taken");
    let mut answer = [0; 64 + 2];
    stream.read_exact(&mut answer).expect("an answer");
    stream
}

#[test]
fn connections_under_the_address_of_another_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (mut primary, endpoints) = bind(&folder);
    let context = zmq::Context::new();
    for place in [endpoints.clients(), endpoints.control()] {
        let holder = dealer(&context, &place, b"x");
        holder.send_multipart(["topic", "here"], 0).unwrap();
        let path = place.strip_prefix("ipc://").unwrap();
        let mut come = |count: usize| {
            for _ in 0..count {
                drop(greet(path, b"x"));
                let _ = primary.receive(Some(Duration::ZERO));
            }
        };
        come(200);
        let before = memory_mib();
        come(CONNECTIONS);
        let grown = memory_mib() - before;
        assert!(grown < 16.0, "{place}: memory grew by {grown} MiB");
    }
}

#[test]
fn a_connection_that_takes_an_address_in_use_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (mut primary, endpoints) = bind(&folder);
    let context = zmq::Context::new();
    let holder = dealer(&context, &endpoints.control(), b"s1");
    let say = |words: &str| holder.send_multipart([topic::SESSION, words], 0).unwrap();
    say("first");
    assert_eq!(hear(&mut primary, "s1", b"", || {}), b"first");
    let path = endpoints.control();
    let path = path.strip_prefix("ipc://").unwrap();
    let mut other = greet(path, b"s1");
    other.set_write_timeout(Some(TIMEOUT)).unwrap();
    let frame = [&[0, 200][..], &[7; 200]].concat();
    let sent = (0..100_000).take_while(|_| other.write_all(&frame).is_ok());
    assert!(sent.count() < 100_000, "it may speak on");
    say("second");
    assert_eq!(hear(&mut primary, "s1", b"", || {}), b"second");
}

#[test]
fn a_reconnecting_peer_gets_its_address_back() {
    let folder = tempfile::tempdir().unwrap();
    let (mut primary, endpoints) = bind(&folder);
    let context = zmq::Context::new();
    let mut before = Vec::new();
    for number in 0..50 {
        let socket = dealer(&context, &endpoints.control(), b"s1");
        // What is not read of the last connection, or that it is not closed yet, is no reason to
        // turn the next one away for good.
        let words = format!("{number}");
        before = hear(&mut primary, "s1", &before, || {
            let _ = socket.send_multipart([topic::SESSION, &words], zmq::DONTWAIT);
        });
        assert_eq!(before, words.as_bytes());
    }
}

#[test]
fn addresses_that_libzmq_gives_are_taken_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (mut primary, endpoints) = bind(&folder);
    let path = endpoints.control();
    let path = path.strip_prefix("ipc://").unwrap();
    let said = [&[1, 1, b't'][..], &[0, 1, b'p']].concat();
    // However many take one each, the next that libzmq gives is free.
    let mut streams = Vec::new();
    for number in 0..64_u32 {
        let address = [&[0][..], &number.to_be_bytes()].concat();
        let mut stream = greet(path, &address);
        stream.write_all(&said).unwrap();
        streams.push(stream);
    }
    let end = Instant::now() + TIMEOUT;
    let mut malformed = 0;
    while malformed < 64 && Instant::now() < end {
        let _ = primary.receive(Some(Duration::from_millis(10)));
        malformed += primary
            .take_refusals(true)
            .map_or(0, |refusals| refusals.counts.malformed);
    }
    assert_eq!(malformed, 64);
}
