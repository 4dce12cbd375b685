//! Shows that a primary that hangs without closing its sockets counts as lost.
//! A relay between the two carries every byte until it is told to stand still, sockets open.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use transport::zeromq::{PeerLink, PrimaryLink, SocketOptions};
use transport::{Arrival, Destination, Endpoints, Link, Subscription};

const PATIENCE: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_millis(300);

/// Carries bytes one way until it is told to stand still.
fn carry(mut from: TcpStream, mut to: TcpStream, standing: Arc<AtomicBool>) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if standing.load(Ordering::SeqCst) {
                thread::park();
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    });
}

/// Accepts one connection and carries it to the target.
fn relay(listener: TcpListener, target: String, standing: Arc<AtomicBool>) {
    thread::spawn(move || {
        let (near, _) = listener.accept().expect("a peer connects");
        let far = TcpStream::connect(target).expect("the primary listens");
        for stream in [&near, &far] {
            stream.set_nodelay(true).expect("a tcp socket");
        }
        let clone = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
        carry(clone(&near), clone(&far), Arc::clone(&standing));
        carry(far, near, standing);
    });
}

#[test]
fn a_primary_that_falls_silent_is_lost_after_the_heartbeat_timeout() {
    let options = SocketOptions {
        heartbeat_interval: Duration::from_millis(50),
        heartbeat_timeout: TIMEOUT,
        insecure: true,
        ..SocketOptions::default()
    };
    let any: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
    let (mut primary, _status) = PrimaryLink::bind(&any, &options).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near: Endpoints = format!("tcp://{}", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let standing = Arc::new(AtomicBool::new(false));
    let target = primary.endpoints().control().replace("tcp://", "");
    relay(listener, target, Arc::clone(&standing));

    let mut peer = PeerLink::connect(&near, None, Subscription::None, &options).unwrap();
    assert_eq!(
        peer.receive(Some(PATIENCE)).unwrap(),
        Some(Arrival::Connected)
    );
    peer.send(Destination::Primary, "/request", b"1").unwrap();
    assert!(primary.receive(Some(PATIENCE)).unwrap().is_some());
    assert_eq!(
        peer.receive(Some(TIMEOUT * 3)).unwrap(),
        None,
        "heartbeats keep it alive"
    );

    standing.store(true, Ordering::SeqCst);
    let start = Instant::now();
    assert_eq!(
        peer.receive(Some(PATIENCE)).unwrap(),
        Some(Arrival::Disconnected)
    );
    assert!(
        start.elapsed() < TIMEOUT * 5,
        "noticed after {:?}",
        start.elapsed()
    );
}
