//! Shows that processes started by this one inherit none of its sockets.
//! It compares the descriptors before and after links are up, and reads their flags.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use protocol::RoutingId;
use transport::zeromq::{PeerLink, PrimaryLink, SocketOptions};
use transport::{Arrival, Endpoints, Link, Subscription};

/// The flag by which a descriptor closes when its process becomes another program.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

fn descriptors() -> BTreeSet<String> {
    let entries = fs::read_dir("/proc/self/fdinfo").unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn closes_on_exec(descriptor: &str) -> Option<bool> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = u32::from_str_radix(flags.trim(), 8).ok()?;
    Some(flags & CLOSE_ON_EXEC != 0)
}

#[test]
fn sockets_are_not_inherited_by_child_processes() {
    let before = descriptors();
    let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
    let options = SocketOptions {
        insecure: true,
        ..SocketOptions::default()
    };
    let (mut primary, _status, _beats) = PrimaryLink::bind(&endpoints, &options).unwrap();
    let id = RoutingId::from("s1");
    let peer = PeerLink::connect(
        primary.endpoints(),
        Some(&id),
        Subscription::Steps,
        &options,
    );
    let _peer = peer.unwrap();
    let arrival = primary.receive(Some(Duration::from_mins(2))).unwrap();
    assert_eq!(arrival, Some(Arrival::Subscribed(id)));

    let ours: Vec<_> = descriptors().difference(&before).cloned().collect();
    let inherited: Vec<_> = ours
        .iter()
        .filter(|it| closes_on_exec(it) == Some(false))
        .collect();
    assert!(ours.len() >= 10, "only these appeared: {ours:?}");
    assert!(
        inherited.is_empty(),
        "{inherited:?} of {ours:?} would be inherited"
    );
}
