//! Shows who gets into an encrypted primary, as what, and what is turned away and counted.
//! Each test binds loopback ports with keys of its own and lets real sockets try.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use protocol::report::RefusedCounts;
use protocol::{Access, RoutingId, topic};
use transport::zeromq::{Beats, Curve, PeerLink, PrimaryLink, SocketOptions, StatusPublisher};
use transport::{
    Arrival, Authorized, Denial, Destination, Endpoints, KeyPair, Link, LinkError, Notice,
    PublicKey, Publisher, ServerKeys, Subscription,
};

const TIMEOUT: Duration = Duration::from_mins(2);

/// Time for which something is waited for that must not happen.
const SILENCE: Duration = Duration::from_millis(300);

/// An encrypted primary and a key of each role.
struct EncryptedPrimary {
    primary: PrimaryLink,
    status: StatusPublisher,
    beats: Beats,
    key: PublicKey,
    secondaries: [KeyPair; 2],
    controller: KeyPair,
    observer: KeyPair,
    refused: RefusedCounts,
    told: String,
}

impl EncryptedPrimary {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let [s1, s2, controller, observer] = [(); 4].map(|()| KeyPair::generate().unwrap());
        let authorized = Authorized::default()
            .with(s1.public(), Access::Secondary, "s1")
            .with(s2.public(), Access::Secondary, "s2")
            .with(controller.public(), Access::Controller, "ann")
            .with(observer.public(), Access::Observer, "bob");
        let public = key.public();
        let curve = Curve::Primary { key, authorized };
        let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
        let (primary, status, beats) = PrimaryLink::bind(&endpoints, &encrypted(curve)).unwrap();
        Self {
            primary,
            status,
            beats,
            key: public,
            secondaries: [s1, s2],
            controller,
            observer,
            refused: RefusedCounts::default(),
            told: String::new(),
        }
    }

    /// Connects a client with a key.
    fn client(&self, key: &KeyPair, subscription: Subscription<'_>) -> PeerLink {
        let (key, primary) = (key.clone(), self.key.into());
        self.client_with(subscription, &encrypted(Curve::Peer { key, primary }))
    }

    fn client_with(&self, subscription: Subscription<'_>, options: &SocketOptions) -> PeerLink {
        PeerLink::connect(self.primary.endpoints(), None, subscription, options).unwrap()
    }

    /// Connects a secondary with a key.
    fn peer(&self, name: &str, key: &KeyPair, subscription: Subscription<'_>) -> PeerLink {
        let (key, primary) = (key.clone(), self.key.into());
        let options = encrypted(Curve::Peer { key, primary });
        let endpoints = self.primary.endpoints();
        let routing_id = RoutingId::from(name);
        PeerLink::connect(endpoints, Some(&routing_id), subscription, &options).unwrap()
    }

    /// Waits for a message, and returns what its sender may do.
    fn next_access(&mut self) -> Access {
        match self.primary.receive(Some(TIMEOUT)).unwrap() {
            Some(Arrival::Message { access, .. }) => access,
            other => panic!("no message, but {other:?}"),
        }
    }

    fn expect_subscribed(&mut self, name: &str) {
        let expected = Arrival::Subscribed(RoutingId::from(name));
        assert_eq!(self.primary.receive(Some(TIMEOUT)).unwrap(), Some(expected));
    }

    fn expect_silence(&mut self) {
        assert_eq!(self.primary.receive(Some(SILENCE)).unwrap(), None);
    }

    /// Waits until so much was refused.
    fn expect_refused(&mut self, is_enough: impl Fn(&RefusedCounts) -> bool) {
        let start = Instant::now();
        while !is_enough(&self.refused) {
            assert!(
                start.elapsed() < TIMEOUT,
                "{:?}: {}",
                self.refused,
                self.told
            );
            assert_eq!(
                self.primary
                    .receive(Some(Duration::from_millis(10)))
                    .unwrap(),
                None
            );
            if let Some(refusals) = self.primary.take_refusals(true) {
                self.refused.add(refusals.counts);
                self.told += &refusals.details;
            }
        }
    }
}

fn encrypted(curve: Curve) -> SocketOptions {
    SocketOptions {
        curve: Some(curve),
        ..SocketOptions::default()
    }
}

fn ask(peer: &mut PeerLink) {
    peer.send(Destination::Primary, topic::REQUEST, b"?")
        .unwrap();
}

fn expect_denied(peer: &mut PeerLink, denial: Denial) {
    let arrival = peer.receive(Some(TIMEOUT)).unwrap();
    assert_eq!(arrival, Some(Arrival::Denied(denial)));
}

#[test]
fn each_key_comes_in_with_its_role() {
    let mut place = EncryptedPrimary::new();
    let none = Subscription::None;
    let [s1, _] = place.secondaries.clone();
    for (key, access) in [
        (s1, Access::Secondary),
        (place.controller.clone(), Access::Controller),
        (place.observer.clone(), Access::Observer),
    ] {
        let mut peer = place.client(&key, none);
        ask(&mut peer);
        assert_eq!(place.next_access(), access);
    }
}

#[test]
fn steps_status_and_data_are_encrypted_too() {
    let mut place = EncryptedPrimary::new();
    let [key, _] = place.secondaries.clone();
    let mut secondary = place.peer("s1", &key, Subscription::Steps);
    place.expect_subscribed("s1");
    place
        .primary
        .send(Destination::EverySecondary, topic::STEP, b"1")
        .unwrap();
    // That the connection stands is told by another socket, and may come before or after.
    let step = loop {
        match secondary.receive(Some(TIMEOUT)).unwrap() {
            Some(Arrival::Connected) => {}
            other => break other,
        }
    };
    assert!(matches!(step, Some(Arrival::Message { payload, .. }) if payload == b"1"[..]));
    secondary
        .send(Destination::Data, topic::DATA, b"2")
        .unwrap();
    let data = place.status.receive(Some(TIMEOUT)).unwrap();
    assert!(matches!(data, Some(Notice::Data { payload, .. }) if payload == b"2"[..]));
    let observer = place.observer.clone();
    let topics = [topic::STATS];
    let _observer = place.client(&observer, Subscription::Status(&topics));
    let heard = place.status.receive(Some(TIMEOUT)).unwrap();
    assert_eq!(heard, Some(Notice::Subscribed(topic::STATS.into())));
}

#[test]
fn secondaries_alone_hear_the_beats() {
    let place = EncryptedPrimary::new();
    let [key, _] = place.secondaries.clone();
    let topics = [topic::HEARTBEAT];
    let mut heart = place.peer("s1~heartbeat", &key, Subscription::Beats(&topics));
    let observer = place.observer.clone();
    let mut nosy = place.client(&observer, Subscription::Beats(&topics));
    let start = Instant::now();
    loop {
        place.beats.publish(topic::HEARTBEAT, b"1").unwrap();
        match heart.receive(Some(Duration::from_millis(10))).unwrap() {
            Some(Arrival::Message { payload, .. }) if payload == b"1"[..] => break,
            Some(_) | None => assert!(start.elapsed() < TIMEOUT, "no beat is heard"),
        }
    }
    while let Some(arrival) = nosy.receive(Some(SILENCE)).unwrap() {
        assert_eq!(arrival, Arrival::Connected);
    }
}

#[test]
fn a_key_that_nobody_knows_is_turned_away_named_and_told_so() {
    let mut place = EncryptedPrimary::new();
    let stranger = KeyPair::generate().unwrap();
    let mut peer = place.client(&stranger, Subscription::None);
    ask(&mut peer);
    expect_denied(&mut peer, Denial::UnknownKey);
    place.expect_refused(|refused| refused.unauthenticated > 0);
    let expected = format!("127.0.0.1 with the key {}", stranger.public());
    assert!(place.told.contains(&expected), "{}", place.told);
    place.expect_silence();
}

#[test]
fn connections_without_a_key_or_to_another_primary_fail() {
    let mut place = EncryptedPrimary::new();
    let mut plain = place.client_with(Subscription::None, &SocketOptions::default());
    ask(&mut plain);
    expect_denied(&mut plain, Denial::OnlyOneEncrypts);
    place.expect_refused(|refused| refused.unauthenticated > 0);
    let before = place.refused.unauthenticated;
    drop(plain);

    let (key, primary) = (place.controller.clone(), place.observer.public().into());
    let wrong = encrypted(Curve::Peer { key, primary });
    let mut deceived = place.client_with(Subscription::None, &wrong);
    ask(&mut deceived);
    expect_denied(&mut deceived, Denial::BrokenOff);
    place.expect_refused(|refused| refused.unauthenticated > before);
    place.expect_silence();
}

#[test]
fn a_primary_without_a_key_tells_who_brings_one() {
    let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
    let plain = SocketOptions {
        insecure: true,
        ..SocketOptions::default()
    };
    let (primary, _status, _beats) = PrimaryLink::bind(&endpoints, &plain).unwrap();
    let [key, other] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let primary_key = other.public();
    let options = encrypted(Curve::Peer {
        key,
        primary: primary_key.into(),
    });
    let none = Subscription::None;
    let mut peer = PeerLink::connect(primary.endpoints(), None, none, &options).unwrap();
    // Which end gives up first is a matter of chance.
    let arrival = peer.receive(Some(TIMEOUT)).unwrap();
    assert!(matches!(arrival, Some(Arrival::Denied(_))), "{arrival:?}");
}

#[test]
fn only_secondaries_hear_steps_and_send_data() {
    let mut place = EncryptedPrimary::new();
    for key in [place.controller.clone(), place.observer.clone()] {
        let mut nosy = place.peer("nosy", &key, Subscription::Steps);
        nosy.send(Destination::Data, topic::DATA, b"forged")
            .unwrap();
        place.expect_refused(|refused| refused.unauthenticated > 0);
        place.refused = RefusedCounts::default();
        drop(nosy);
    }
    let told = &place.told;
    assert!(
        told.contains("an observer tried to take part as a secondary"),
        "{told}"
    );
    assert!(told.contains("a controller tried"), "{told}");
    for key in [place.controller.clone(), place.observer.clone()] {
        let mut forged = place.peer("s1", &key, Subscription::None);
        forged
            .send(Destination::Primary, topic::STEP_ACK, b"forged")
            .unwrap();
        place.expect_refused(|refused| refused.unauthenticated > 0);
        place.refused = RefusedCounts::default();
    }
    place.expect_silence();
    assert_eq!(place.status.receive(Some(SILENCE)).unwrap(), None);
}

#[test]
fn the_address_of_a_secondary_cannot_be_used_by_another_key() {
    let mut place = EncryptedPrimary::new();
    let [owner, thief] = place.secondaries.clone();
    let mut owner = place.peer("s1-42", &owner, Subscription::Steps);
    place.expect_subscribed("s1-42");
    let speak = |owner: &mut PeerLink, place: &mut EncryptedPrimary| {
        owner
            .send(Destination::Primary, topic::STEP_ACK, b"real")
            .unwrap();
        assert_eq!(place.next_access(), Access::Secondary);
    };
    speak(&mut owner, &mut place);
    for (name, is_known) in [("s1-42", true), ("s1-42~heartbeat", false)] {
        let mut stolen = place.peer(name, &thief, Subscription::None);
        stolen
            .send(Destination::Primary, topic::STEP_ACK, b"forged")
            .unwrap();
        if is_known {
            // libzmq itself leaves an address to who has it.
            place.expect_silence();
        } else {
            place.expect_refused(|refused| refused.forbidden > 0);
        }
        speak(&mut owner, &mut place);
    }
    assert!(
        place.told.contains("used the address of another"),
        "{}",
        place.told
    );
    place.expect_silence();
}

#[test]
fn an_observer_that_sends_too_much_is_not_heard() {
    let mut place = EncryptedPrimary::new();
    let key = place.observer.clone();
    let mut observer = place.client(&key, Subscription::None);
    let large = vec![0; 65 << 10];
    observer
        .send(Destination::Primary, topic::REQUEST, &large)
        .unwrap();
    place.expect_refused(|refused| refused.excess == 1);
    ask(&mut observer);
    assert_eq!(place.next_access(), Access::Observer);
}

#[test]
fn garbage_instead_of_a_handshake_is_counted_and_hurts_nobody() {
    let mut place = EncryptedPrimary::new();
    let control = place.primary.endpoints().control().replace("tcp://", "");
    let mut greeting = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1];
    greeting.extend(b"CURVE\0\0\0");
    greeting.resize(64, 0);
    // What does not greet as ZeroMQ 3 does is cut off without a word.
    let garbage = [
        (&[0x16; 600][..], false),
        (&[0xff; 4096], false),
        (&[0; 64], false),
    ];
    for (bytes, is_counted) in garbage.into_iter().chain([(&greeting[..], true)]) {
        let mut stream = std::net::TcpStream::connect(&control).unwrap();
        stream.write_all(bytes).unwrap();
        // A command of a handshake that says it has 2^56 bytes.
        let _ = stream.write_all(&[6, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
        drop(stream);
        if is_counted {
            place.expect_refused(|refused| refused.unauthenticated > 0);
        }
    }
    let key = place.controller.clone();
    let mut peer = place.client(&key, Subscription::None);
    ask(&mut peer);
    assert_eq!(place.next_access(), Access::Controller);
}

/// Connects to a socket and greets as ZeroMQ 3.1 does.
fn greet(address: &str, mechanism: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address.replace("tcp://", "")).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut greeting = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1];
    greeting.extend(mechanism);
    greeting.resize(64, 0);
    stream.write_all(&greeting).unwrap();
    stream.read_exact(&mut greeting).unwrap();
    stream
}

/// Sends again and again until 64 MiB are sent, far more than the system holds; tells whether
/// somebody took all of it.
fn is_taken(mut stream: TcpStream, part: &[u8]) -> bool {
    (0..(64 << 20) / part.len()).all(|_| stream.write_all(part).is_ok())
}

/// A primary that lets in anybody.
fn open_primary() -> (PrimaryLink, StatusPublisher) {
    let options = SocketOptions {
        insecure: true,
        ..SocketOptions::default()
    };
    let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
    let (primary, status, _) = PrimaryLink::bind(&endpoints, &options).unwrap();
    (primary, status)
}

#[test]
fn nothing_is_held_for_who_has_not_ended_the_handshake() {
    let place = EncryptedPrimary::new();
    let (open, _status) = open_primary();
    // A frame that says it has 200 MiB, and a message of many frames.
    let mut large = vec![2];
    large.extend((200_u64 << 20).to_be_bytes());
    let mut frame = vec![3];
    frame.extend(4096_u64.to_be_bytes());
    frame.resize(9 + 4096, 0);
    let guarded = place.primary.endpoints();
    for (address, mechanism) in [
        (guarded.control(), &b"CURVE"[..]),
        (guarded.clients(), b"CURVE"),
        (guarded.data(), b"CURVE"),
        (open.endpoints().control(), b"NULL"),
        (open.endpoints().clients(), b"NULL"),
    ] {
        let mut stream = greet(&address, mechanism);
        stream.write_all(&large).unwrap();
        assert!(!is_taken(stream, &vec![0; 1 << 16]), "{address}: one frame");
        let stream = greet(&address, mechanism);
        assert!(!is_taken(stream, &frame), "{address}: many frames");
    }
}

#[test]
fn a_message_of_endless_frames_is_cut_off_where_frames_can_be_seen() {
    let (mut primary, _status) = open_primary();
    let mut stream = greet(&primary.endpoints().status(), b"NULL");
    let mut ready = b"\x05READY\x0bSocket-Type\0\0\0\x03SUB".to_vec();
    ready.splice(0..0, [4, ready.len() as u8]);
    stream.write_all(&ready).unwrap();
    // Each is as large as a subscription may be, and says that more follow.
    let mut frame = vec![3];
    frame.extend(1024_u64.to_be_bytes());
    frame.resize(9 + 1024, 1);
    assert!(!is_taken(stream, &frame));
    let options = SocketOptions::default();
    let none = Subscription::None;
    let mut peer = PeerLink::connect(primary.endpoints(), None, none, &options).unwrap();
    ask(&mut peer);
    let arrival = primary.receive(Some(TIMEOUT)).unwrap();
    assert!(
        matches!(arrival, Some(Arrival::Message { .. })),
        "{arrival:?}"
    );
}

/// Sends one message of many frames, and waits for the end of its connection.
fn send_frames_until_cut(place: &EncryptedPrimary, key: &KeyPair) {
    let context = zmq::Context::new();
    let socket = context.socket(zmq::DEALER).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [file, _] = key.write(folder.path(), "own", "observer", false).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let (_, secret) = text.split_once("\nsecret ").unwrap();
    let [server, public, secret] = [
        place.key.to_string(),
        key.public().to_string(),
        secret.trim().to_owned(),
    ]
    .map(|text| zmq::z85_decode(&text).unwrap());
    socket.set_curve_serverkey(&server).unwrap();
    socket.set_curve_publickey(&public).unwrap();
    socket.set_curve_secretkey(&secret).unwrap();
    socket.set_linger(0).unwrap();
    let events = i32::from(zmq::SocketEvent::DISCONNECTED.to_raw());
    socket.monitor("inproc://end", events).unwrap();
    let monitor = context.socket(zmq::PAIR).unwrap();
    monitor.connect("inproc://end").unwrap();
    monitor.set_rcvtimeo(120_000).unwrap();
    socket
        .connect(&place.primary.endpoints().clients())
        .unwrap();
    for _ in 0..1_000 {
        socket.send(vec![7; 1 << 10], zmq::SNDMORE).unwrap();
    }
    socket.send("end", 0).unwrap();
    monitor.recv_multipart(0).expect("its connection ends");
}

#[test]
fn a_message_of_endless_frames_is_cut_off_also_where_it_is_encrypted() {
    let mut place = EncryptedPrimary::new();
    let key = place.observer.clone();
    send_frames_until_cut(&place, &key);
    // It never was a message.
    place.expect_silence();
    assert_eq!(place.primary.take_refusals(true).map(|it| it.counts), None);
    let mut observer = place.client(&key, Subscription::None);
    ask(&mut observer);
    assert_eq!(place.next_access(), Access::Observer);
}

#[test]
fn a_client_that_knows_two_keys_of_a_primary_reaches_it_with_either() {
    let [current, next] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("primary.pub");
    let lines = [&current, &next].map(|key| format!("primary {} lab\n", key.public()));
    std::fs::write(&path, lines.concat()).unwrap();
    let place = EncryptedPrimary::new();
    let endpoints = place.primary.endpoints().clone();
    drop(place);
    let keys = [(); 2].map(|()| KeyPair::generate().unwrap());
    let authorized = Authorized::default()
        .with(keys[0].public(), Access::Secondary, "s1")
        .with(keys[1].public(), Access::Observer, "bob");
    let options = |key: &KeyPair| {
        let primary = ServerKeys::read(&path).unwrap();
        let key = key.clone();
        encrypted(Curve::Peer { key, primary })
    };
    let s1 = RoutingId::from("s1");
    let secondary = (Some(&s1), Subscription::Steps, options(&keys[0]));
    let observer = (None, Subscription::Status(&["/stats"]), options(&keys[1]));
    // Both begin before there is a primary, and stay while it comes back with the next key.
    let mut peers = [secondary, observer].map(|(id, listens, options)| {
        PeerLink::connect(&endpoints, id, listens, &options).unwrap()
    });
    for key in [&current, &next, &current] {
        // What is sent before the primary is there, with whatever key, is not lost.
        for (peer, topic) in peers.iter_mut().zip([topic::ANNOUNCE, topic::REQUEST]) {
            peer.send(Destination::Primary, topic, b"hello").unwrap();
        }
        let curve = Curve::Primary {
            key: key.clone(),
            authorized: authorized.clone(),
        };
        let (mut primary, mut status, beats) =
            PrimaryLink::bind(&endpoints, &encrypted(curve)).unwrap();
        expect_arrivals(&mut primary, &mut peers);
        expect_heard(&mut primary, &mut status, &mut peers);
        drop((primary, status, beats));
        for peer in &mut peers {
            while peer.receive(Some(TIMEOUT)).unwrap() != Some(Arrival::Disconnected) {}
        }
    }
}

/// Waits until what a secondary and an observer have sent arrives, and both are connected.
fn expect_arrivals(primary: &mut PrimaryLink, peers: &mut [PeerLink; 2]) {
    let start = Instant::now();
    let (mut are_connected, mut are_heard) = ([false; 2], [false; 2]);
    while (are_connected, are_heard) != ([true; 2], [true; 2]) {
        assert!(start.elapsed() < TIMEOUT, "{are_connected:?} {are_heard:?}");
        let shortly = Some(Duration::from_millis(5));
        for (peer, is_connected) in peers.iter_mut().zip(&mut are_connected) {
            *is_connected |= peer.receive(shortly).unwrap() == Some(Arrival::Connected);
        }
        if let Some(Arrival::Message { access, .. }) = primary.receive(shortly).unwrap() {
            are_heard[usize::from(access == Access::Observer)] = true;
        }
    }
}

/// Waits until a secondary hears a step and an observer hears the figures.
fn expect_heard(
    primary: &mut PrimaryLink,
    status: &mut StatusPublisher,
    peers: &mut [PeerLink; 2],
) {
    let start = Instant::now();
    let mut are_heard = [false; 2];
    while are_heard != [true; 2] {
        assert!(start.elapsed() < TIMEOUT, "{are_heard:?}");
        let all = Destination::EverySecondary;
        primary.send(all, topic::STEP, b"step").unwrap();
        status.publish("/stats", b"figures").unwrap();
        let shortly = Some(Duration::from_millis(5));
        primary.receive(shortly).unwrap();
        status.receive(shortly).unwrap();
        for (peer, is_heard) in peers.iter_mut().zip(&mut are_heard) {
            let arrival = peer.receive(shortly).unwrap();
            *is_heard |= matches!(arrival, Some(Arrival::Message { .. }));
        }
    }
}

#[test]
fn a_key_that_is_added_while_the_primary_runs_is_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let primary_key = key.public();
    let authorized = Authorized::read(&[folder.path().to_owned()]).unwrap();
    let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
    let options = encrypted(Curve::Primary { key, authorized });
    let (mut primary, _status, _beats) = PrimaryLink::bind(&endpoints, &options).unwrap();
    let late = KeyPair::generate().unwrap();
    let options = encrypted(Curve::Peer {
        key: late.clone(),
        primary: primary_key.into(),
    });
    let none = Subscription::None;
    let mut peer = PeerLink::connect(primary.endpoints(), None, none, &options).unwrap();
    expect_denied(&mut peer, Denial::UnknownKey);
    late.write(folder.path(), "late", "observer", false)
        .unwrap();
    // The folder is looked at every second, and who was denied has to knock again.
    let until = Instant::now() + Duration::from_millis(1100);
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        primary.receive(Some(left)).unwrap();
    }
    let mut peer = PeerLink::connect(primary.endpoints(), None, none, &options).unwrap();
    ask(&mut peer);
    let arrival = primary.receive(Some(TIMEOUT)).unwrap();
    let is_heard = matches!(
        arrival,
        Some(Arrival::Message {
            access: Access::Observer,
            ..
        })
    );
    assert!(is_heard, "{arrival:?}");
}

/// A primary that reads who may connect from a folder.
struct Listed {
    folder: tempfile::TempDir,
    primary: PrimaryLink,
    status: StatusPublisher,
    _beats: Beats,
    key: PublicKey,
}

impl Listed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let public = key.public();
        let authorized = Authorized::read(&[folder.path().to_owned()]).unwrap();
        let endpoints: Endpoints = "tcp://127.0.0.1:0".parse().unwrap();
        let options = encrypted(Curve::Primary { key, authorized });
        let (primary, status, beats) = PrimaryLink::bind(&endpoints, &options).unwrap();
        Self {
            folder,
            primary,
            status,
            _beats: beats,
            key: public,
        }
    }

    /// Adds a key and connects with it, once the primary knows it.
    fn peer(&mut self, name: &str, role: &str, listens: Subscription<'_>) -> PeerLink {
        let key = KeyPair::generate().unwrap();
        key.write(self.folder.path(), name, role, false).unwrap();
        let connect = |name: &str, listens| {
            let (key, primary) = (key.clone(), self.key.into());
            let options = encrypted(Curve::Peer { key, primary });
            let id = (role == "secondary").then(|| RoutingId::from(name));
            PeerLink::connect(self.primary.endpoints(), id.as_ref(), listens, &options).unwrap()
        };
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            let mut probe = connect("probe", Subscription::None);
            match probe.receive(Some(TIMEOUT)).unwrap() {
                Some(Arrival::Connected) => return connect(name, listens),
                Some(Arrival::Denied(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        panic!("{name} is not let in");
    }
}

/// Waits until a peer is told that its key is not known.
fn expect_cut(peer: &mut PeerLink) {
    let start = Instant::now();
    let mut seen = Vec::new();
    while start.elapsed() < TIMEOUT {
        match peer.receive(Some(Duration::from_millis(50))) {
            Ok(Some(Arrival::Denied(Denial::UnknownKey | Denial::MayNotTakePart)))
            | Err(LinkError::Denied(Denial::UnknownKey | Denial::MayNotTakePart)) => return,
            Ok(arrival) => seen.extend(arrival),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it is not cut off: {seen:?}");
}

#[test]
fn a_key_that_is_revoked_is_heard_no_more_and_its_connections_are_cut() {
    let mut place = Listed::new();
    let mut controller = place.peer("ann", "controller", Subscription::None);
    ask(&mut controller);
    let arrival = place.primary.receive(Some(TIMEOUT)).unwrap();
    assert!(
        matches!(arrival, Some(Arrival::Message { .. })),
        "{arrival:?}"
    );
    let sender = place.primary.sender().expect("it has a key");
    assert_eq!(
        (sender.name.as_str(), sender.access),
        ("ann", Access::Controller)
    );
    assert!(
        sender.address.starts_with("127.0.0.1:"),
        "{}",
        sender.address
    );
    let admitted = place.primary.take_admitted();
    assert!(admitted.iter().all(|client| client.name == "ann") && !admitted.is_empty());
    std::fs::remove_file(place.folder.path().join("ann.pub")).unwrap();
    // Another file is wrong at the same time: that lets nobody stay.
    std::fs::write(place.folder.path().join("new.pub"), "nonsense").unwrap();
    expect_cut(&mut controller);
    let refusals = place.primary.take_refusals(true).expect("it is told");
    assert!(
        refusals.details.contains("new.pub:1"),
        "{}",
        refusals.details
    );
    assert!(refusals.details.contains("of ann"), "{}", refusals.details);
}

#[test]
fn an_observer_that_is_revoked_hears_no_more() {
    let mut place = Listed::new();
    let mut observer = place.peer("bob", "observer", Subscription::Status(&["/x"]));
    ask(&mut observer);
    assert!(place.primary.receive(Some(TIMEOUT)).unwrap().is_some());
    let heard = place.status.receive(Some(TIMEOUT)).unwrap();
    assert_eq!(heard, Some(Notice::Subscribed(b"/x".to_vec())));
    place.status.publish("/x", b"1").unwrap();
    // That it is connected may be told before or after.
    let mut arrivals = Vec::new();
    while !matches!(arrivals.last(), Some(Arrival::Message { .. })) {
        let arrival = observer.receive(Some(TIMEOUT)).unwrap();
        arrivals.push(arrival.expect("it hears what is published"));
    }
    std::fs::remove_file(place.folder.path().join("bob.pub")).unwrap();
    expect_cut(&mut observer);
    let gone = place.status.receive(Some(TIMEOUT)).unwrap();
    assert_eq!(gone, Some(Notice::Unsubscribed(b"/x".to_vec())));
}

#[test]
fn a_secondary_that_is_revoked_is_gone_at_once() {
    let mut place = Listed::new();
    let mut secondary = place.peer("s1", "secondary", Subscription::Steps);
    let id = RoutingId::from("s1");
    let arrival = place.primary.receive(Some(TIMEOUT)).unwrap();
    assert_eq!(arrival, Some(Arrival::Subscribed(id.clone())));
    secondary
        .send(Destination::Primary, topic::STEP_ACK, b"!")
        .unwrap();
    assert!(place.primary.receive(Some(TIMEOUT)).unwrap().is_some());
    std::fs::remove_dir_all(place.folder.path()).unwrap();
    let arrival = place.primary.receive(Some(TIMEOUT)).unwrap();
    assert_eq!(arrival, Some(Arrival::Unsubscribed(id)));
    expect_cut(&mut secondary);
}

#[test]
fn a_key_that_ends_while_it_is_connected_is_cut() {
    let mut place = Listed::new();
    let mut controller = place.peer("ann", "controller", Subscription::None);
    ask(&mut controller);
    assert!(place.primary.receive(Some(TIMEOUT)).unwrap().is_some());
    let path = place.folder.path().join("ann.pub");
    let line = std::fs::read_to_string(&path).unwrap();
    let ended = format!("{} valid-until=2001-01-01\n", line.trim());
    std::fs::write(&path, ended).unwrap();
    expect_cut(&mut controller);
}
