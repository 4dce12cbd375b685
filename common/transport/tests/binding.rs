//! Shows what a primary may bind, what it must not, and what it does with malformed messages.
//! Each test binds real addresses: a new run directory, or loopback ports that the system chooses.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use protocol::{Access, RoutingId};
use tempfile::TempDir;
use transport::zeromq::{BindError, ConnectError, PeerLink, PrimaryLink, SocketOptions};
use transport::{Arrival, Endpoints, Link, Subscription};

const TIMEOUT: Duration = Duration::from_mins(2);

fn bind(address: &str) -> Result<PrimaryLink, BindError> {
    let endpoints: Endpoints = address.parse().unwrap();
    PrimaryLink::bind(&endpoints, &insecure()).map(|(primary, ..)| primary)
}

/// Allows what is not encrypted.
fn insecure() -> SocketOptions {
    SocketOptions {
        insecure: true,
        ..SocketOptions::default()
    }
}

fn run_directory() -> (TempDir, String) {
    let parent = tempfile::tempdir().unwrap();
    let address = format!("ipc://{}/some/run", parent.path().display());
    (parent, address)
}

#[test]
fn a_run_directory_has_one_primary_at_a_time() {
    let (_parent, address) = run_directory();
    let first = bind(&address).unwrap();
    let error = bind(&address).err().expect("the directory is taken");
    assert!(
        matches!(&error, BindError::InUse { endpoint } if *endpoint == address),
        "{error:?}"
    );
    drop(first);
    bind(&address).unwrap();
}

#[test]
fn the_publisher_holds_the_run_directory_as_long_as_it_lives() {
    let (_parent, address) = run_directory();
    let endpoints: Endpoints = address.parse().unwrap();
    let (primary, status, beats) =
        PrimaryLink::bind(&endpoints, &SocketOptions::default()).unwrap();
    drop(primary);
    assert!(matches!(bind(&address), Err(BindError::InUse { .. })));
    drop((status, beats));
    bind(&address).unwrap();
}

#[test]
fn a_primary_that_left_its_socket_files_behind_does_not_bar_the_next() {
    let (_parent, address) = run_directory();
    drop(bind(&address).unwrap());
    let endpoints: Endpoints = address.parse().unwrap();
    let directory = endpoints.directory().unwrap();
    for name in ["control", "step", "status", "data", "clients", "beats"] {
        drop(std::os::unix::net::UnixListener::bind(directory.join(name)));
        assert!(directory.join(name).exists());
    }
    bind(&address).unwrap();
}

#[test]
fn a_run_directory_is_private() {
    let (_parent, address) = run_directory();
    let _primary = bind(&address).unwrap();
    let endpoints: Endpoints = address.parse().unwrap();
    let directory = endpoints.directory().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory), 0o700);
    for name in [
        "control", "step", "status", "data", "clients", "beats", "lock",
    ] {
        assert_eq!(mode(&directory.join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_run_directory_that_others_can_change_is_refused_by_both_ends() {
    let (parent, address) = run_directory();
    let folder = parent.path().join("some/run");
    std::fs::create_dir_all(&folder).unwrap();
    for (open, mode) in [("some", 0o777), ("some/run", 0o770), ("some/run", 0o1777)] {
        let open = parent.path().join(open);
        let before = open.metadata().unwrap().permissions();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(mode)).unwrap();
        let error = bind(&address).err().expect("others can change it");
        let BindError::Folder { source, .. } = error else {
            panic!("{error:?}");
        };
        assert!(source.to_string().contains("chmod go-w"), "{source}");
        let endpoints: Endpoints = address.parse().unwrap();
        let options = SocketOptions::default();
        let error = PeerLink::connect(&endpoints, None, Subscription::None, &options).err();
        assert!(
            matches!(error, Some(ConnectError::Folder { .. })),
            "{error:?}"
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        std::fs::set_permissions(&open, before).unwrap();
    }
    bind(&address).unwrap();
}

#[test]
fn a_lock_that_is_a_link_is_not_followed() {
    let (parent, address) = run_directory();
    let target = parent.path().join("precious");
    let folder = parent.path().join("some/run");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&target, folder.join("lock")).unwrap();
    assert!(bind(&address).is_err());
    assert!(!target.exists());
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error_with_its_cause() {
    let error = bind("ipc:///proc/run")
        .err()
        .expect("nothing can be made there");
    assert!(matches!(error, BindError::Other { .. }), "{error:?}");
}

#[test]
fn any_free_port_is_resolved_and_kept() {
    let primary = bind("tcp://127.0.0.1:0").unwrap();
    let address = primary.endpoints().to_string();
    assert!(!address.ends_with(":0"), "{address}");
    let error = bind(&address).err().expect("the ports are taken");
    assert!(
        matches!(&error, BindError::InUse { endpoint } if *endpoint == address),
        "{error:?}"
    );
    drop(primary);
    bind(&address).unwrap();
}

/// Returns the ports that the system gives to connections; `None` if it leaves few to others.
fn ports_of_connections() -> Option<std::ops::RangeInclusive<u16>> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace();
    let mut number = || numbers.next()?.parse::<u16>().ok();
    let (first, last) = (number()?, number()?);
    (first > 25_000).then_some(first..=last)
}

#[test]
fn free_ports_are_none_that_a_connection_can_get_before_they_are_bound() {
    let Some(of_connections) = ports_of_connections() else {
        eprintln!("nothing is shown where all ports are for connections");
        return;
    };
    let any: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
    for _ in 0..20 {
        let found = transport::zeromq::with_free_ports(&any).unwrap();
        let port = found.tcp_port().unwrap();
        for port in port..port + 6 {
            assert!(!of_connections.contains(&port), "{port}");
        }
        let primary = bind("tcp://127.0.0.1:0").unwrap();
        let port = primary.endpoints().tcp_port().unwrap();
        assert!(!of_connections.contains(&port), "{port}");
    }
}

/// Checks that a taken port keeps the others from being used; `None` if somebody else came first.
fn check_ports() -> Option<()> {
    let address = bind("tcp://127.0.0.1:0").unwrap().endpoints().to_string();
    let port: u16 = address.rsplit_once(':').unwrap().1.parse().unwrap();
    for offset in 0..6 {
        let _other = TcpListener::bind(("127.0.0.1", port + offset)).ok()?;
        assert!(
            matches!(bind(&address), Err(BindError::InUse { .. })),
            "port {offset}"
        );
    }
    Some(())
}

#[test]
fn each_of_the_six_ports_must_be_free() {
    // Ports that were given back may be given to any other process.
    let is_checked = (0..20).any(|_| check_ports().is_some());
    assert!(is_checked, "others take the ports in each of 20 attempts");
}

#[test]
fn an_address_that_is_not_ours_is_an_error_with_its_cause() {
    let endpoints: Endpoints = "tcp://192.0.2.1:0".parse().unwrap();
    let options = SocketOptions {
        insecure: true,
        ..SocketOptions::default()
    };
    let error = PrimaryLink::bind(&endpoints, &options)
        .err()
        .expect("a documentation address");
    assert!(matches!(error, BindError::Other { .. }), "{error:?}");
}

#[test]
fn an_address_that_others_reach_needs_encryption_or_consent() {
    for (address, others) in [
        ("tcp://0.0.0.0:0", "other machines"),
        ("tcp://127.0.0.1:0", "all users of this machine"),
    ] {
        let endpoints: Endpoints = address.parse().unwrap();
        let refused = PrimaryLink::bind(&endpoints, &SocketOptions::default()).err();
        let refused = refused.expect("nobody allowed it");
        assert!(matches!(refused, BindError::Insecure { .. }), "{refused:?}");
        let text = refused.to_string();
        assert!(
            text.contains(others) && text.contains("--insecure"),
            "{text}"
        );
        PrimaryLink::bind(&endpoints, &insecure()).unwrap();
    }
}

#[test]
fn a_primary_on_another_machine_is_not_looked_for_without_encryption_or_consent() {
    let connect = |address: &str, options: &SocketOptions| {
        let endpoints: Endpoints = address.parse().unwrap();
        PeerLink::connect(&endpoints, None, Subscription::None, options).err()
    };
    let far = "tcp://192.0.2.1:5000";
    let refused = connect(far, &SocketOptions::default()).expect("nobody allowed it");
    assert!(
        matches!(refused, ConnectError::Insecure { .. }),
        "{refused:?}"
    );
    assert!(connect(far, &insecure()).is_none());
    assert!(connect("tcp://127.0.0.1:5000", &SocketOptions::default()).is_none());
}

#[test]
fn a_name_that_stands_for_loopback_is_bound_and_found() {
    let mut primary = bind("tcp://localhost:0").unwrap();
    let id = RoutingId::from("s1");
    let options = SocketOptions::default();
    let peer = PeerLink::connect(
        primary.endpoints(),
        Some(&id),
        Subscription::Steps,
        &options,
    );
    let _peer = peer.unwrap();
    assert_eq!(
        primary.receive(Some(TIMEOUT)).unwrap(),
        Some(Arrival::Subscribed(id))
    );
}

#[test]
fn a_peer_needs_a_port_and_for_steps_a_routing_id() {
    let connect = |address: &str| {
        let endpoints: Endpoints = address.parse().unwrap();
        PeerLink::connect(
            &endpoints,
            None,
            Subscription::Steps,
            &SocketOptions::default(),
        )
        .err()
    };
    assert!(matches!(
        connect("tcp://127.0.0.1:0"),
        Some(ConnectError::NoPort { .. })
    ));
    assert!(matches!(
        connect("tcp://127.0.0.1:5000"),
        Some(ConnectError::NoRoutingId)
    ));
}

#[test]
fn messages_of_too_few_or_too_many_frames_are_dropped_and_counted() {
    let mut primary = bind("tcp://127.0.0.1:0").unwrap();
    let stranger = zmq::Context::new().socket(zmq::DEALER).unwrap();
    stranger.set_identity(b"stranger").unwrap();
    stranger.connect(&primary.endpoints().control()).unwrap();
    stranger.send("alone", 0).unwrap();
    stranger.send_multipart(["a", "b", "c"], 0).unwrap();
    stranger
        .send_multipart(["a", "b", "c", "d", "e"], 0)
        .unwrap();
    stranger
        .send_multipart(["/announce", "well-formed"], 0)
        .unwrap();
    let arrival = primary.receive(Some(TIMEOUT)).unwrap();
    let expected = Arrival::Message {
        from: Some(RoutingId::from("stranger")),
        access: Access::Full,
        topic: b"/announce".to_vec(),
        payload: Bytes::from_static(b"well-formed"),
    };
    assert_eq!(arrival, Some(expected));
    let refusals = primary.take_refusals(false).expect("three were dropped");
    assert_eq!(refusals.counts.malformed, 3);
}
