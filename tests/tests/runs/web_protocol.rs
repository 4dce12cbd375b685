//! Shows that `phalanx web` speaks Foxglove's protocol to a client by Foxglove's own package, that
//! what it tells is what the run did, and that it takes nothing from whoever has no business there:
//! a client in Node.js listens, calls, publishes and asks against real runs, and hostile ones try
//! what no browser would.
//!
//! Without Node.js or npm, the tests with the client say so and show nothing.

mod recordings;
mod viewers;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use tests::node::Node;
use tests::processes::{Process, Scratch, TIMEOUT, wait_for};
use tests::repository;

/// The topic that the rover of the demo is driven by.
const ROVER: &str = "/model/rover/cmd_vel";
/// Versions of the protocol, and the wish for channels that viewers cannot read.
const SDK: &str = "foxglove.sdk.v1";
const WEB_SOCKET: &str = "foxglove.websocket.v1";
const ALL_CHANNELS: &str = "phalanx.all-channels";
/// A token.
const TOKEN: &str = "0123456789abcdef-token";

/// A server, which ends with this.
struct Server {
    link: String,
    process: Process,
}

impl Server {
    fn start(scratch: &Scratch, name: &str, arguments: &[&str]) -> Self {
        let mut command = scratch.phalanx();
        command.arg("web").args(arguments);
        if !arguments.contains(&"--bind") {
            command.args(["--bind", "127.0.0.1:0"]);
        }
        let process = scratch.start(name, &mut command);
        wait_for("an address", || process.stdout().ends_with('\n'));
        Self {
            link: process.stdout().trim().to_owned(),
            process,
        }
    }

    /// Returns host and port.
    fn address(&self) -> &str {
        let rest = self.link.strip_prefix("http://").expect("an address");
        rest.split_once('/').map_or(rest, |(address, _)| address)
    }

    fn socket(&self) -> String {
        format!("ws://{}/", self.address())
    }

    /// Sends bytes and returns the head of the answer; empty for none.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address()).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time-out");
        // What is refused early is not read to its end.
        let _ = stream.write_all(request);
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
            head.push(byte[0]);
        }
        String::from_utf8_lossy(&head).into_owned()
    }

    /// Returns the body of an answer after which the server closes.
    fn body(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address()).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time-out");
        stream.write_all(request).expect("it is sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it is answered");
        let answer = String::from_utf8(answer).expect("it is text");
        let (_, body) = answer.split_once("\r\n\r\n").expect("it has a body");
        body.to_owned()
    }

    /// Asks for a path with some headers, and returns the status.
    fn status(&self, path: &str, headers: &str) -> u32 {
        let request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
        let answer = self.raw(request.as_bytes());
        let word = answer.split(' ').nth(1);
        word.and_then(|word| word.parse().ok()).unwrap_or(0)
    }
}

/// The client.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(scratch: &Scratch) -> Option<Self> {
        let folder = repository::root().join("tests/tests/runs/web_protocol");
        let node = match Node::prepare("web-protocol-node", &folder, scratch) {
            Ok(node) => node,
            Err(reason) => {
                eprintln!("nothing is shown without Node.js: {reason}");
                return None;
            }
        };
        let mut command = node.command(&folder.join("peer.mjs"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("node starts");
        Some(Self {
            input: child.stdin.take().expect("it has an input"),
            output: BufReader::new(child.stdout.take().expect("it has an output")),
            child,
        })
    }

    fn ask(&mut self, action: &str, mut request: Value) -> Value {
        request["action"] = json!(action);
        writeln!(self.input, "{request}").expect("the client listens");
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the client answers");
        let mut answer: Value = serde_json::from_str(&line).expect("it answers in JSON");
        assert!(
            answer.get("error").is_none(),
            "{action}: {}",
            answer["error"]
        );
        answer["ok"].take()
    }

    /// Connects as a program that wants all that there is.
    fn connect(&mut self, server: &Server) -> Value {
        let (info, protocol) = self.connect_by(server, Some(&[SDK, ALL_CHANNELS]));
        assert_eq!(protocol, SDK);
        info
    }

    /// Connects with some sub-protocols, or with those of the package; returns what the server says
    /// of itself and the protocol that it chose.
    fn connect_by(&mut self, server: &Server, protocols: Option<&[&str]>) -> (Value, String) {
        let request = json!({ "url": server.socket(), "protocols": protocols });
        let mut answer = self.ask("connect", request);
        assert!(answer.get("info").is_some(), "{answer}");
        let protocol = answer["protocol"].as_str().expect("a name").to_owned();
        (answer["info"].take(), protocol)
    }

    fn subscribe(&mut self, topic: &str) {
        self.ask("subscribe", json!({ "topic": topic }));
    }

    fn last(&mut self, topic: &str) -> Value {
        self.last_after(topic, 0).1
    }

    /// Waits until more than `after` messages of a topic came: how many, and the last of them.
    fn last_after(&mut self, topic: &str, after: u64) -> (u64, Value) {
        let mut told = self.ask("last", json!({ "topic": topic, "after": after }));
        let count = told["count"].as_u64().expect("messages are counted");
        (count, told["message"].take())
    }

    fn call(&mut self, service: &str, request: &Value) -> Value {
        self.ask("call", json!({ "service": service, "request": request }))
    }

    /// Waits for a message on a topic that is as wanted.
    fn wait(&mut self, topic: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + TIMEOUT;
        let (mut count, mut message) = self.last_after(topic, 0);
        while !is_so(&message) {
            assert!(Instant::now() < end, "{topic}: {message}");
            (count, message) = self.last_after(topic, count);
        }
        message
    }

    /// Waits until the messages of a topic so far are as wanted.
    fn wait_for_each(&mut self, topic: &str, are_so: impl Fn(&[Value]) -> bool) {
        let end = Instant::now() + TIMEOUT;
        let mut count = 0;
        loop {
            (count, _) = self.last_after(topic, count);
            let all = self.ask("all", json!({ "topic": topic }));
            if are_so(list(&all)) {
                return;
            }
            assert!(Instant::now() < end, "{topic}: {all}");
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a paused run of the demo, which has a rover.
fn start_run(scratch: &Scratch, name: &str, arguments: &[&str]) -> Process {
    let mut command = scratch.phalanx();
    command
        .args(["run", "--headless", "--paused", "--name", name])
        .args(arguments);
    let run = scratch.start(name, &mut command);
    wait_for("a run", || {
        let (code, said, _) = scratch.phalanx_says(&["show", name, "stats"]);
        code == 0 && said.contains("paused")
    });
    run
}

fn shown(scratch: &Scratch, run: &str, panel: &str) -> Value {
    let (code, text, errors) = scratch.phalanx_says(&["show", run, panel, "--format", "json"]);
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&text).expect("figures are JSON")
}

#[test]
fn foxglove_s_own_client_sees_and_steers_a_run() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let _run = start_run(&scratch, "seen", &["--secondaries=2"]);
    let server = Server::start(&scratch, "web", &["seen"]);
    let info = peer.connect(&server);
    for wanted in [
        "clientPublish",
        "parameters",
        "services",
        "time",
        "connectionGraph",
    ] {
        let abilities = list(&info["capabilities"]);
        assert!(abilities.iter().any(|one| one == wanted), "{info}");
    }
    let scene = {
        peer.subscribe("/phalanx/scene");
        peer.last("/phalanx/scene")
    };
    let models = list(&scene["worlds"][0]["models"]);
    let rover = models
        .iter()
        .find(|model| model["name"] == "rover")
        .expect("as the protocol has it");
    let links: Vec<u64> = list(&rover["links"]).iter().map(link_id).collect();
    assert!(links.len() > 1, "{rover}");
    peer.subscribe("/phalanx/poses");
    peer.subscribe("/phalanx/run");
    // Each step is told as it was done, and is what the terminal tells.
    let stepped = peer.call("/phalanx/step", &json!({ "count": 25 }));
    assert_eq!(
        (&stepped["ok"], &stepped["iteration"]),
        (&json!(true), &json!(25)),
        "{stepped}"
    );
    let told = peer.wait("/phalanx/run", |run| run["iteration"] == 25);
    let stats = shown(&scratch, "seen", "stats");
    assert_eq!(told["digest"], stats["digest"]);
    assert_eq!(told["state"], "paused");
    // Every link of the rover is where the rover is, by the origin that the terminal tells.
    let poses = peer.wait("/phalanx/poses", |poses| poses["iteration"] == 25);
    let found = list(&poses["links"]).iter();
    let found: Vec<&Value> = found
        .filter(|one| links.contains(&link_id_of_pose(one)))
        .collect();
    assert_eq!(found.len(), links.len(), "{poses}");
    let performers = shown(&scratch, "seen", "performers");
    let origin = position_of(&performers, "rover");
    for link in &found {
        let at = list(&link["position"]);
        let way = (0..3).map(|axis| (number(&at[axis]) - origin[axis]).powi(2));
        assert!(way.sum::<f64>().sqrt() < 1.0, "{link} {origin:?}");
    }
    the_layouts_fit(&mut peer, &server);
    refuses_what_is_no_request(&mut peer);
    drives(&scratch, &mut peer, &server);
}

/// The layouts for Foxglove, that for any run and that of this one, name services and channels that
/// there are.
fn the_layouts_fit(peer: &mut Peer, server: &Server) {
    let general = repository::root().join("configs/foxglove.json");
    let general = std::fs::read(general).expect("a layout");
    let request = format!(
        "GET /foxglove.json HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address()
    );
    let own = server.body(request.as_bytes());
    for layout in [general.as_slice(), own.as_bytes()] {
        let layout: Value = serde_json::from_slice(layout).expect("it is JSON");
        the_layout_fits(peer, &layout);
    }
}

fn the_layout_fits(peer: &mut Peer, layout: &Value) {
    let services = peer.ask("services", json!({}));
    let channels = peer.ask("channels", json!({}));
    let has = |all: &Value, key: &str, name: &str| list(all).iter().any(|one| one[key] == name);
    let panels = layout["configById"].as_object().expect("it has panels");
    let mut placed = BTreeSet::new();
    note_places(&layout["layout"], &mut placed);
    for (panel, settings) in panels {
        for tab in settings["tabs"].as_array().into_iter().flatten() {
            note_places(&tab["layout"], &mut placed);
        }
        let kind = panel.split('!').next().unwrap_or_default();
        assert!(PANELS.contains(&kind), "{panel}");
        if let Some(name) = settings["serviceName"].as_str() {
            assert!(has(&services, "name", name), "{panel}: {name}");
        }
        let mode = &settings["imageMode"];
        let named = [
            &settings["topicPath"],
            &settings["topicToRender"],
            &mode["imageTopic"],
            &mode["calibrationTopic"],
        ];
        let named = named.into_iter().filter_map(Value::as_str);
        let named = named.map(|path| path.split('.').next().unwrap_or_default());
        let shown = settings["topics"].as_object().into_iter().flatten();
        for name in shown.map(|(name, _)| name.as_str()).chain(named) {
            assert!(has(&channels, "topic", name), "{panel}: {name}");
        }
    }
    // A panel that is not in the layout would not be seen, one without settings would be empty.
    let is_placed = |panel: &&String| placed.contains(*panel);
    assert_eq!(panels.keys().filter(is_placed).count(), placed.len());
}

/// Panels that both Foxglove and Lichtblick have.
const PANELS: [&str; 8] = [
    "3D",
    "CallService",
    "Image",
    "Plot",
    "RawMessages",
    "RosOut",
    "Tab",
    "map",
];

/// Notes the panels of an arrangement.
fn note_places(place: &Value, into: &mut BTreeSet<String>) {
    if let Some(panel) = place.as_str() {
        into.insert(panel.to_owned());
    }
    for side in ["first", "second"] {
        if place[side] != Value::Null {
            note_places(&place[side], into);
        }
    }
}

/// Refuses text that is no request, and lets the client go on.
fn refuses_what_is_no_request(peer: &mut Peer) {
    let refused = peer.call("/phalanx/step", &json!({ "count": "many" }));
    assert!(
        refused["failure"]
            .as_str()
            .expect("as the protocol has it")
            .contains("whole number"),
        "{refused}"
    );
    let refused = peer.call("/phalanx/command", &json!({ "text": "remove nothing" }));
    assert_eq!(refused["ok"], false, "{refused}");
    assert!(
        refused["message"]
            .as_str()
            .expect("as the protocol has it")
            .contains("nothing"),
        "{refused}"
    );
    for text in [
        "{",
        r#"{"op":"fly"}"#,
        r#"{"op":"subscribe","subscriptions":[{"id":1}]}"#,
    ] {
        peer.ask("raw", json!({ "text": text }));
    }
    peer.ask("raw", json!({ "base64": "CQ==" }));
    peer.ask("status", json!({ "part": "no message of the protocol" }));
    peer.ask("status", json!({ "part": "begins with byte 9" }));
    peer.ask(
        "publish",
        json!({ "topic": "/t", "kind": "no.Kind", "message": {} }),
    );
    peer.ask("status", json!({ "part": "no kind of message" }));
    let missing = peer.ask("asset", json!({ "uri": "/assets/../Cargo.toml" }));
    assert_eq!(missing["status"], 1, "{missing}");
}

/// A robot is driven, and stops when its driver is gone.
fn drives(scratch: &Scratch, peer: &mut Peer, server: &Server) {
    let set = peer.ask(
        "parameters",
        json!({ "set": [{ "name": "paused", "value": false }] }),
    );
    assert!(
        list(&set).iter().any(|one| one["name"] == "paused"),
        "{set}"
    );
    let graph = peer.ask("graph", json!({}));
    let subscribed = list(&graph["subscribedTopics"]);
    assert!(
        subscribed.iter().any(|topic| topic["name"] == ROVER),
        "{graph}"
    );
    peer.subscribe("/model/rover/odometry");
    let twist = json!({ "linear": { "x": 0.5 } });
    let moves = |message: &Value| number(&message["twist"]["linear"]["x"]) > 0.1;
    peer.ask(
        "publish",
        json!({ "topic": ROVER, "kind": "gz.msgs.Twist", "message": twist }),
    );
    peer.wait("/model/rover/odometry", moves);
    peer.ask("close", json!({}));
    peer.ask("closed", json!({}));
    peer.connect(server);
    peer.subscribe("/model/rover/odometry");
    let stands = |message: &Value| number(&message["twist"]["linear"]["x"]).abs() < 1e-3;
    peer.wait("/model/rover/odometry", stands);
    let stats = shown(scratch, "seen", "stats");
    assert_eq!(stats["state"], "running");
}

#[test]
fn a_lost_run_is_told_and_found_again() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let run = start_run(&scratch, "lost", &["--secondaries=0"]);
    let server = Server::start(&scratch, "web", &["lost"]);
    let session = |info: &Value| info["sessionId"].as_str().expect("a session").to_owned();
    let mut sessions = vec![session(&peer.connect(&server))];
    // Who comes again to the same goes on.
    assert_eq!(session(&peer.connect(&server)), sessions[0]);
    peer.subscribe("/phalanx/run");
    peer.call("/phalanx/step", &json!({ "count": 5 }));
    peer.wait("/phalanx/run", |run| run["iteration"] == 5);
    let (code, _, errors) = scratch.phalanx_says(&["ctl", "lost", "stop"]);
    assert_eq!(code, 0, "{errors}");
    let ended = peer.wait("/phalanx/run", |run| run["state"] == "ended");
    assert!(ended["end"]["cause"].is_string(), "{ended}");
    let refused = peer.call("/phalanx/play", &json!({}));
    assert_eq!(refused["ok"], false, "{refused}");
    drop(run);
    let _again = start_run(&scratch, "lost", &["--secondaries=0"]);
    peer.wait("/phalanx/run", |run| {
        run["state"] == "paused" && run["iteration"] == 0
    });
    // The connection for commands may be there a little later than that for figures.
    let mut stepped = Value::Null;
    wait_for("a link for commands", || {
        stepped = peer.call("/phalanx/step", &json!({}));
        stepped["message"] != "there is no link to the primary"
    });
    assert_eq!(stepped["iteration"], 1, "{stepped}");
    sessions.push(session(&peer.ask("info", json!({}))));
    drop(server);
    let server = Server::start(&scratch, "web-again", &["lost"]);
    sessions.push(session(&peer.connect(&server)));
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 3, "{sessions:?}");
}

/// Number of steps at a time, and of times, of a run that is watched.
const WATCHED_STEPS: &str = "100";
const WATCHED_TIMES: u32 = 6;

/// Number of channels of the server itself.
const OWN_CHANNELS: usize = 6;

#[test]
fn observers_change_no_bit() {
    let scratch = Scratch::new();
    let mut peers = Vec::new();
    for _ in 0..3 {
        let Some(peer) = Peer::start(&scratch) else {
            return;
        };
        peers.push(peer);
    }
    // One draws images, the other one scans.
    for (name, world) in [
        ("cameras", "worlds/cameras.sdf"),
        ("scans", "worlds/warehouse.sdf"),
    ] {
        let watched = finish(&scratch, &format!("{name}-watched"), world, &mut peers);
        let alone = finish(&scratch, &format!("{name}-alone"), world, &mut []);
        assert_eq!(watched, alone, "{world}");
    }
}

/// Says that all is over when it is dropped, also by a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Steps a run while clients come and go, in each pause and between; returns its digest.
fn finish(scratch: &Scratch, name: &str, world: &str, peers: &mut [Peer]) -> Value {
    let arguments = ["--secondaries=2", "--real-time-factor=0", world];
    let _run = start_run(scratch, name, &arguments);
    let (is_over, visits) = (AtomicBool::new(false), AtomicU32::new(0));
    let is_watched = !peers.is_empty();
    let server = is_watched.then(|| Server::start(scratch, &format!("web-{name}"), &[name]));
    std::thread::scope(|scope| {
        for (number, peer) in peers.iter_mut().enumerate() {
            let (server, is_over, visits) = (&server, &is_over, &visits);
            scope.spawn(move || {
                let server = server.as_ref().expect("it is watched");
                while !is_over.load(Ordering::Acquire) {
                    visit(
                        peer,
                        server,
                        number + visits.load(Ordering::Acquire) as usize,
                    );
                    visits.fetch_add(1, Ordering::AcqRel);
                }
            });
        }
        let over = Over(&is_over);
        for time in 1..=WATCHED_TIMES {
            let (code, _, errors) = scratch.phalanx_says(&["ctl", name, "step", WATCHED_STEPS]);
            assert_eq!(code, 0, "{errors}");
            if is_watched {
                wait_for("somebody came and went", || {
                    visits.load(Ordering::Acquire) >= 2 * time
                });
            }
        }
        drop(over);
    });
    eprintln!("{name}: {} visits", visits.into_inner());
    shown(scratch, name, "stats")["digest"].clone()
}

/// Connects, listens to a third of all topics, and leaves.
fn visit(peer: &mut Peer, server: &Server, which: usize) {
    peer.connect(server);
    let channels = peer.ask("channels", json!({ "above": OWN_CHANNELS }));
    let mut topics: Vec<&str> = list(&channels).iter().map(topic_of).collect();
    topics.sort_unstable();
    for topic in topics.into_iter().skip(which % 3).step_by(3) {
        peer.subscribe(topic);
    }
    peer.subscribe("/phalanx/run");
    peer.last_after("/phalanx/run", 3);
    peer.ask("close", json!({}));
    peer.ask("closed", json!({}));
}

#[test]
fn hostile_requests_are_refused_and_the_server_goes_on() {
    let scratch = Scratch::new();
    let _run = start_run(&scratch, "safe", &["--secondaries=0"]);
    let server = Server::start(&scratch, "web", &["safe"]);
    let own = format!("Host: {}\r\n", server.address());
    assert_eq!(server.status("/", &own), 200);
    assert_eq!(server.status("/", "Host: localhost\r\n"), 200);
    assert_eq!(server.status("/", "Host: evil.example\r\n"), 403);
    assert_eq!(server.status("/", ""), 400);
    for path in [
        "/page/../../Cargo.toml",
        "/assets/../../etc/passwd",
        "/etc/passwd",
        "/token",
    ] {
        assert_eq!(server.status(path, &own), 404, "{path}");
    }
    let socket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                  Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    let speaks = "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n";
    let open = |headers: &str| {
        let request = format!("GET / HTTP/1.1\r\n{socket}{headers}\r\n");
        let answer = server.raw(request.as_bytes());
        answer
            .split(' ')
            .nth(1)
            .and_then(|word| word.parse().ok())
            .unwrap_or(0_u32)
    };
    assert_eq!(open(&format!("{own}{speaks}")), 101);
    assert_eq!(open(&own), 400, "another protocol");
    let from = |origin: &str| open(&format!("{own}{speaks}Origin: {origin}\r\n"));
    assert_eq!(from(&format!("http://{}", server.address())), 101);
    assert_eq!(from("http://evil.example"), 403);
    assert_eq!(from("null"), 403);
    assert_eq!(open(&format!("Host: evil.example\r\n{speaks}")), 403);
    assert_eq!(
        server
            .raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
            .split(' ')
            .nth(1),
        Some("405")
    );
    let endless = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    assert!(!server.raw(endless.as_bytes()).contains("200 OK"));
    let many = "X: y\r\n".repeat(1000);
    assert!(
        !server
            .raw(format!("GET / HTTP/1.1\r\n{own}{many}\r\n").as_bytes())
            .contains("200 OK")
    );
    server.raw(&[0xff; 4096]);
    // Connections that say nothing take places, but not for ever, and others are not held up.
    let idle: Vec<TcpStream> = (0..300)
        .filter_map(|_| TcpStream::connect(server.address()).ok())
        .collect();
    drop(idle);
    wait_for("an answer", || server.status("/", &own) == 200);
}

#[test]
fn other_addresses_want_a_token() {
    let scratch = Scratch::new();
    let _run = start_run(&scratch, "far", &["--secondaries=0"]);
    let server = Server::start(&scratch, "web", &["far", "--bind", "0.0.0.0:0"]);
    let (_, token) = server.link.split_once("#token=").expect("a token is made");
    assert!(token.len() >= 32, "{token}");
    let port = server
        .address()
        .rsplit_once(':')
        .expect("a port")
        .1
        .to_owned();
    let here = Server::start(&scratch, "own", &["far", "--token", TOKEN]);
    assert_ne!(here.address().rsplit_once(':').expect("a port").1, port);
    let own = "Host: machine.example\r\n";
    // The page itself is no secret; whatever it shows is.
    assert_eq!(here.status("/", own), 200);
    assert_eq!(here.status("/assets/x.glb", own), 401);
    assert_eq!(here.status("/assets/x.glb?token=wrong", own), 401);
    assert_eq!(
        here.status(&format!("/assets/x.glb?token={TOKEN}"), own),
        404
    );
    let bearer = format!("{own}Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(here.status("/assets/x.glb", &bearer), 404);
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let refused = peer.ask("connect", json!({ "url": here.socket() }));
    assert_eq!(refused["refused"], 401, "{refused}");
    let known = format!("{}?token={TOKEN}", here.socket());
    assert!(
        peer.ask("connect", json!({ "url": known }))
            .get("info")
            .is_some()
    );
}

#[test]
fn wrong_arguments_are_told_with_their_exit_codes() {
    let scratch = Scratch::new();
    let check = |arguments: &[&str], code: i32, part: &str| {
        let (found, _, errors) = scratch.phalanx_says(arguments);
        assert_eq!(found, code, "{arguments:?}: {errors}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
    };
    check(&["web"], 1, "no run is living");
    check(&["web", "--bind", "nowhere"], 2, "ADDR:PORT");
    check(&["web", "--token", "short"], 2, "16 to 256");
    check(&["web", "none.mcap"], 3, "none.mcap");
    let _run = start_run(&scratch, "twice", &["--secondaries=0"]);
    let server = Server::start(&scratch, "web", &["twice"]);
    check(
        &["web", "twice", "--bind", server.address()],
        1,
        "is in use",
    );
}

/// A level in which two boxes stand on each other and a third alone.
const PILE: &str = r"<sdf version='1.11'><world name='w'>
  <model name='floor'><static>true</static><link name='l'><collision name='c'>
    <geometry><plane/></geometry></collision></link></model>
  <model name='low'><pose>0 0 0.5 0 0 0</pose><link name='l'><collision name='c'>
    <geometry><box><size>1 1 1</size></box></geometry></collision></link></model>
  <model name='high'><pose>0 0 1.5 0 0 0</pose><link name='l'><collision name='c'>
    <geometry><box><size>1 1 1</size></box></geometry></collision></link></model>
  <model name='apart'><pose>3 0 0.5 0 0 0</pose><link name='l'><collision name='c'>
    <geometry><box><size>1 1 1</size></box></geometry></collision></link></model>
  <plugin name='gz::sim' filename='none'><level name='hall'><pose>0 0 2 0 0 0</pose>
    <geometry><box><size>10 10 6</size></box></geometry><buffer>1</buffer><ref>floor</ref></level>
  </plugin></world></sdf>";

#[test]
fn groups_are_told_to_those_who_ask() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let world = scratch.path("pile.sdf");
    std::fs::write(&world, PILE).expect("a world is written");
    let world = world.to_str().expect("a plain path");
    let _run = start_run(&scratch, "pile", &["--secondaries=2", world]);
    let server = Server::start(&scratch, "web", &["pile"]);
    peer.connect(&server);
    peer.subscribe("/phalanx/run");
    assert_eq!(
        peer.call("/phalanx/step", &json!({ "count": 5 }))["ok"],
        true
    );
    peer.subscribe("/phalanx/groups");
    let told = peer.wait("/phalanx/groups", |told| !list(&told["groups"]).is_empty());
    let group = json!({ "performers": ["high", "low"] });
    assert_eq!(told, json!({ "groups": [group] }));
    let performers = shown(&scratch, "pile", "performers");
    let group = |name: &str| {
        let mut all = list(&performers).iter();
        let one = all.find(|one| one["name"] == name);
        one.expect("it is told").get("group").cloned()
    };
    assert_eq!(group("low"), Some(json!(0)));
    assert_eq!(group("high"), group("low"));
    assert_eq!(group("apart"), None);
}

/// A camera and one for distances before a box.
const EYES: &str = "<sdf version='1.11'><world name='w'>
  <light name='sun' type='directional'><direction>-0.5 0.3 -1</direction></light>
  <model name='box'><static>true</static><pose>3 0 0.5 0 0 0.4</pose><link name='l'>
    <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>
    <visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual></link></model>
  <model name='eyes'><static>true</static><pose>0 0 0.6 0 0 0</pose><link name='l'>
    <sensor name='eye' type='camera'><topic>eye</topic><update_rate>10</update_rate>
      <camera><image><width>160</width><height>120</height></image></camera></sensor>
    <sensor name='far' type='depth_camera'><topic>far</topic><update_rate>10</update_rate>
      <camera><image><width>160</width><height>120</height></image></camera></sensor>
  </link></model></world></sdf>";

#[test]
fn images_come_compressed_to_who_asks_for_that() {
    let scratch = Scratch::new();
    let Some(mut peer) = Peer::start(&scratch) else {
        return;
    };
    let world = scratch.path("eyes.sdf");
    std::fs::write(&world, EYES).expect("a world");
    let world = world.to_str().expect("a plain path");
    let _run = start_run(&scratch, "eyes", &["--secondaries=1", world]);
    let server = Server::start(&scratch, "web", &["eyes"]);
    peer.connect(&server);
    let topics = ["/eye", "/far"];
    for topic in topics {
        peer.subscribe(&format!("{topic}/compressed"));
        peer.subscribe(&format!("/foxglove{topic}"));
    }
    peer.call("/phalanx/play", &json!({}));
    for (topic, format, encoding) in [("/eye", "jpeg", "rgb8"), ("/far", "png", "16UC1")] {
        let is_image = |image: &Value| image["data"].as_str().is_some();
        let compressed = peer.wait(&format!("{topic}/compressed"), is_image);
        let raw = peer.wait(&format!("/foxglove{topic}"), is_image);
        assert_eq!(
            (&compressed["format"], &compressed["encoding"]),
            (&json!(format), &json!(encoding))
        );
        assert_eq!(compressed["frame_id"], raw["frame_id"]);
        let size = |image: &Value| image["data"].as_str().map_or(0, str::len);
        let (compressed, raw) = (size(&compressed), size(&raw));
        println!("{topic}: {compressed} of {raw} characters");
        assert!(compressed * 4 < raw, "{topic}: {compressed} of {raw}");
    }
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("the protocol has a list here")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("the protocol has a number here")
}

fn topic_of(channel: &Value) -> &str {
    channel["topic"].as_str().expect("channels have topics")
}

fn link_id(link: &Value) -> u64 {
    link["id"].as_u64().expect("links have numbers")
}

fn link_id_of_pose(pose: &Value) -> u64 {
    pose["link"].as_u64().expect("poses have links")
}

fn position_of(performers: &Value, name: &str) -> [f64; 3] {
    let mut all = performers.as_array().expect("a list").iter();
    let found = all.find(|one| one["name"] == name).expect("it is there");
    [0, 1, 2].map(|axis| found["position"][axis].as_f64().expect("a number"))
}
