//! Shows that the libzmq of this build encrypts, and lets in only who is known.
//! A ROUTER with a ZAP handler of its own meets a DEALER with the right key, and one with another.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread::{self, JoinHandle};

use zmq::{Context, CurveKeyPair, Socket};

const TIMEOUT_MS: i32 = 120_000;

/// Answers libzmq's questions who may enter (RFC 27): the owner of this key, nobody else.
/// Returns how often somebody was turned away when the context ends.
fn admit_only(context: &Context, public_key: [u8; 32]) -> JoinHandle<u32> {
    let handler = context.socket(zmq::REP).unwrap();
    handler.bind("inproc://zeromq.zap.01").unwrap();
    thread::spawn(move || {
        let mut refused = 0;
        // Version, request id, domain, address, routing id, mechanism and, for CURVE, the key.
        while let Ok(request) = handler.recv_multipart(0) {
            if request[0] == b"stop" {
                handler.send("stopped", 0).unwrap();
                break;
            }
            assert_eq!(request[5], b"CURVE");
            let known = request[6] == public_key;
            refused += u32::from(!known);
            let code: &[u8] = if known { b"200" } else { b"400" };
            let reply = [b"1.0", request[1].as_slice(), code, b"", b"known", b""];
            handler.send_multipart(reply, 0).unwrap();
        }
        refused
    })
}

fn stop(context: &Context) {
    let asker = context.socket(zmq::REQ).unwrap();
    asker.connect("inproc://zeromq.zap.01").unwrap();
    asker.send("stop", 0).unwrap();
    asker.recv_bytes(0).unwrap();
}

fn server(context: &Context, keys: &CurveKeyPair) -> (Socket, String) {
    let router = context.socket(zmq::ROUTER).unwrap();
    router.set_curve_server(true).unwrap();
    router.set_curve_secretkey(&keys.secret_key).unwrap();
    router.set_zap_domain("global").unwrap();
    router.set_linger(0).unwrap();
    router.set_rcvtimeo(TIMEOUT_MS).unwrap();
    router.bind("tcp://127.0.0.1:*").unwrap();
    let endpoint = router.get_last_endpoint().unwrap().unwrap();
    (router, endpoint)
}

fn client(endpoint: &str, server_key: &[u8], keys: &CurveKeyPair) -> (Context, Socket, Socket) {
    let context = Context::new();
    let dealer = context.socket(zmq::DEALER).unwrap();
    dealer.set_curve_serverkey(server_key).unwrap();
    dealer.set_curve_publickey(&keys.public_key).unwrap();
    dealer.set_curve_secretkey(&keys.secret_key).unwrap();
    dealer.set_linger(0).unwrap();
    dealer.set_rcvtimeo(TIMEOUT_MS).unwrap();
    dealer
        .monitor(
            "inproc://monitor",
            i32::from(zmq::SocketEvent::ALL.to_raw()),
        )
        .unwrap();
    let monitor = context.socket(zmq::PAIR).unwrap();
    monitor.set_rcvtimeo(TIMEOUT_MS).unwrap();
    monitor.connect("inproc://monitor").unwrap();
    dealer.connect(endpoint).unwrap();
    (context, dealer, monitor)
}

/// Waits for one of two ends of a handshake; true for success.
fn handshake_succeeded(monitor: &Socket) -> bool {
    loop {
        let event = monitor
            .recv_multipart(0)
            .expect("the handshake ends one way or the other");
        let number = u16::from_ne_bytes([event[0][0], event[0][1]]);
        match zmq::SocketEvent::from_raw(number) {
            zmq::SocketEvent::HANDSHAKE_SUCCEEDED => return true,
            zmq::SocketEvent::HANDSHAKE_FAILED_AUTH
            | zmq::SocketEvent::HANDSHAKE_FAILED_PROTOCOL
            | zmq::SocketEvent::HANDSHAKE_FAILED_NO_DETAIL => return false,
            _ => {}
        }
    }
}

#[test]
fn libzmq_was_built_with_curve() {
    transport::zeromq::check_curve().unwrap();
    assert_eq!(zmq::version(), (4, 3, 5));
}

#[test]
fn the_right_key_talks_and_a_wrong_one_does_not() {
    let [server_keys, known, unknown] = [(); 3].map(|()| CurveKeyPair::new().unwrap());
    let context = Context::new();
    let handler = admit_only(&context, known.public_key);
    let (router, endpoint) = server(&context, &server_keys);

    let (_context, stranger, monitor) = client(&endpoint, &server_keys.public_key, &unknown);
    stranger.send("let me in", 0).unwrap();
    assert!(
        !handshake_succeeded(&monitor),
        "an unknown client key was admitted"
    );

    let (_context, deceived, monitor) = client(&endpoint, &unknown.public_key, &known);
    deceived.send("are you the server?", 0).unwrap();
    assert!(
        !handshake_succeeded(&monitor),
        "a wrong server key was believed"
    );

    let (_context, friend, monitor) = client(&endpoint, &server_keys.public_key, &known);
    assert!(handshake_succeeded(&monitor), "the known key was refused");
    friend.send("hello", 0).unwrap();
    let message = router.recv_multipart(0).unwrap();
    assert_eq!(message[1], b"hello");
    router
        .send_multipart([message[0].as_slice(), b"welcome"], 0)
        .unwrap();
    assert_eq!(friend.recv_bytes(0).unwrap(), b"welcome");

    drop((stranger, router));
    stop(&context);
    assert!(
        handler.join().unwrap() >= 1,
        "the handler was never asked about the stranger"
    );
}
