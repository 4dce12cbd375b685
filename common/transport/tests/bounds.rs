//! Shows that whoever connects and does not read cannot have a primary keep ever more for him, with
//! a socket of libzmq's own that is never asked for what came.

use std::time::{Duration, Instant};

use protocol::topic;
use transport::zeromq::{PrimaryLink, SocketOptions};
use transport::{Destination, Endpoints, Link};

/// Memory of this process \[MiB\].
fn memory_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.expect("the line has a number") / 1024.0
}

#[test]
fn a_subscriber_that_never_reads_takes_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("ipc://{}", folder.path().join("run").display());
    let endpoints: Endpoints = place.parse().unwrap();
    let (mut primary, ..) = PrimaryLink::bind(&endpoints, &SocketOptions::default()).unwrap();
    let context = zmq::Context::new();
    let deaf = context.socket(zmq::SUB).unwrap();
    deaf.set_rcvhwm(1).unwrap();
    deaf.set_subscribe(b"").unwrap();
    deaf.connect(&endpoints.step()).unwrap();
    let step = vec![7; 1000];
    let publish = |primary: &mut PrimaryLink| {
        let to = Destination::EverySecondary;
        primary.send(to, topic::STEP, &step).unwrap();
        // What subscribers say is taken on the way.
        let _ = primary.receive(Some(Duration::ZERO));
    };
    let end = Instant::now() + Duration::from_mins(2);
    while deaf.poll(zmq::POLLIN, 0).unwrap() == 0 {
        publish(&mut primary);
        assert!(Instant::now() < end, "nothing of what is published arrives");
    }
    let before = memory_mib();
    for _ in 0..200_000 {
        publish(&mut primary);
    }
    let grown = memory_mib() - before;
    assert!(grown < 64.0, "memory grew by {grown} MiB");
}
