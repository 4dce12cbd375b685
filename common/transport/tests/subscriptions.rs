//! Shows that whoever listens to more than it may, is cut off and comes back at once has little
//! more counted, and that others are heard meanwhile: with sockets of libzmq's own.

use std::time::{Duration, Instant};

use transport::zeromq::{PrimaryLink, SocketOptions};
use transport::{Endpoints, Notice, Publisher};

/// Length of a topic \[bytes\].
const TOPIC_BYTES: usize = 1_000;

/// Number of times that it comes back.
const RETURNS: usize = 20;

/// Longest time until something arrives.
const TIMEOUT: Duration = Duration::from_mins(2);

#[test]
fn reconnecting_subscribers_are_counted_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("ipc://{}", folder.path().join("run").display());
    let endpoints: Endpoints = place.parse().unwrap();
    let (_primary, mut status, _beats) =
        PrimaryLink::bind(&endpoints, &SocketOptions::default()).unwrap();
    let context = zmq::Context::new();
    let connect = |topics: &[String]| {
        let socket = context.socket(zmq::XSUB).unwrap();
        socket.set_linger(0).unwrap();
        socket.set_reconnect_ivl(-1).unwrap();
        socket.set_sndhwm(0).unwrap();
        for topic in topics {
            let _ = socket.send([b"\x01", topic.as_bytes()].concat(), zmq::DONTWAIT);
        }
        socket.connect(&endpoints.status()).unwrap();
        for topic in topics {
            socket
                .send([b"\x01", topic.as_bytes()].concat(), 0)
                .unwrap();
        }
        socket
    };
    let mut bytes = 0;
    let mut hear_until = |what: &str| {
        let end = Instant::now() + TIMEOUT;
        while Instant::now() < end {
            let notice = status.receive(Some(Duration::from_millis(5))).unwrap();
            if let Some(Notice::Subscribed(topic)) = notice {
                if topic == what.as_bytes() {
                    return true;
                }
                bytes += topic.len();
            }
        }
        false
    };
    for number in 0..=RETURNS {
        let topics = (0..200).map(|one| format!("{number}-{one:0TOPIC_BYTES$}"));
        let greedy = connect(&topics.collect::<Vec<_>>());
        // What comes after it is heard once that was counted as far as it is.
        let modest = format!("modest-{number}");
        let other = connect(std::slice::from_ref(&modest));
        assert!(hear_until(&modest), "{modest} is not heard");
        drop((greedy, other));
    }
    assert!(
        bytes >= 32_000,
        "{bytes}: the first one may listen to as much as any"
    );
    let most = (64 << 10) + RETURNS * (6 << 10);
    assert!(bytes <= most, "{bytes} of {most} bytes are counted");
}
