//! Shows that commands are answered under load and that what they do can be repeated: 10 clients
//! give 1,000 valid and invalid commands per second for 30 s, or as many as the machine can take,
//! to a run on two secondaries; each is answered, and a replay of those that were done, in one
//! process, has the same digests. Nobody waits for the text of a model that takes long to read.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use protocol::client_to_primary::NamedPose;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::{
    ClientToPrimary, Command, Envelope, PeerName, ProtocolVersion, RequestId, SessionId, decode,
    encode, topic,
};
use tests::processes::{Process, Scratch, TIMEOUT, wait_for};
use transport::zeromq::{PeerLink, SocketOptions};
use transport::{Arrival, Destination, Endpoints, Link, Subscription};

const CLIENTS: u64 = 10;
const COMMANDS_PER_CLIENT: u64 = 3000;
/// Time between two commands of a client.
const PERIOD: Duration = Duration::from_millis(10);
/// Number of commands of a client that wait for their answers; on a machine that is too slow for
/// the pace the next ones wait for these, or they would be refused because so many wait.
const UNANSWERED_MAX: usize = 50;
const BOXES: u64 = 8;

/// Two levels with boxes on their floors.
fn world() -> String {
    let mut models = String::new();
    let mut performers = String::new();
    for number in 0..BOXES {
        let x = number as f64 * 2.0 - 7.0;
        let _ = write!(
            models,
            "<model name='box_{number}'><pose>{x} 0 0.25 0 0 0</pose><link name='l'>\
             <inertial><mass>1</mass></inertial><collision name='c'><geometry><box>\
             <size>0.5 0.5 0.5</size></box></geometry></collision></link></model>"
        );
        let _ = write!(
            performers,
            "<performer name='p{number}'><ref>box_{number}</ref><geometry><box>\
             <size>0.5 0.5 0.5</size></box></geometry></performer>"
        );
    }
    for (name, x) in [("west", -5), ("east", 5)] {
        let _ = write!(
            performers,
            "<level name='{name}'><pose>{x} 0 0 0 0 0</pose><geometry><box><size>10 40 20</size>\
             </box></geometry><buffer>1</buffer></level>"
        );
    }
    format!(
        "<sdf version='1.10'><world name='yard'><model name='floor'><static>true</static>\
         <pose>0 0 -0.5 0 0 0</pose><link name='l'><collision name='c'><geometry><box>\
         <size>40 40 1</size></box></geometry></collision></link></model>{models}\
         <plugin name='gz::sim' filename='dummy'>{performers}</plugin></world></sdf>"
    )
}

/// The command that a client gives at a turn; a third of them cannot be done.
fn command(client: u64, turn: u64) -> Command {
    let number = (client * 7 + turn * 3) % BOXES;
    let model = format!("box_{number}");
    let own = format!("spawned_{client}");
    match turn % 9 {
        0 => Command::SetPoses {
            poses: vec![NamedPose {
                model,
                pose: [
                    (turn % 17) as f64 - 8.0,
                    client as f64,
                    0.25,
                    0.0,
                    0.0,
                    0.0,
                    1.0,
                ],
            }],
        },
        1 => Command::Remove {
            model: "nobody".to_owned(),
        },
        2 | 6 => Command::ApplyWrench {
            link: model,
            force: [5.0, 0.0, 0.0],
            torque: [0.0; 3],
            duration_s: 0.05,
        },
        3 => Command::SetJoint {
            joint: format!("{model}::arm"),
            axis: 0,
            position: Some(1.0),
            velocity: None,
        },
        4 => Command::Spawn(Box::new(protocol::client_to_primary::SpawnRequest {
            sdf: BALL.to_owned(),
            name: Some(own),
            pose: Some([client as f64, 5.0, 3.0, 0.0, 0.0, 0.0, 1.0]),
            ..Default::default()
        })),
        5 => Command::SetPoses {
            poses: vec![NamedPose {
                model: "floor".to_owned(),
                pose: [0.0; 7],
            }],
        },
        7 => Command::Publish {
            topic: format!("/client_{client}"),
            kind: "gz.msgs.Empty".to_owned(),
            body: messages::encode(&messages::Empty::default()),
        },
        _ => Command::Remove { model: own },
    }
}

const BALL: &str = "<sdf version='1.10'><model name='ball'><link name='l'><collision name='c'>\
    <geometry><sphere><radius>0.2</radius></sphere></geometry></collision></link></model></sdf>";

/// Results of a client's commands.
#[derive(Debug, Default)]
struct Answers {
    done: u64,
    failed: u64,
}

/// Gives commands at a steady pace and waits until each is answered.
fn give_commands(endpoints: &Endpoints, client: u64, session: SessionId) -> Answers {
    let link = PeerLink::connect(
        endpoints,
        None,
        Subscription::None,
        &SocketOptions::default(),
    );
    let mut link = link.expect("a client connects");
    let mut answers = Answers::default();
    let mut waiting = BTreeSet::new();
    let begin = Instant::now();
    let mut next = 0;
    while next < COMMANDS_PER_CLIENT || !waiting.is_empty() {
        let due = begin + PERIOD * next as u32;
        let may_go_on = next < COMMANDS_PER_CLIENT && waiting.len() < UNANSWERED_MAX;
        if may_go_on && Instant::now() >= due {
            let message = ClientToPrimary {
                request: RequestId(next),
                command: command(client, next),
            };
            send(&mut link, session, message);
            waiting.insert(next);
            next += 1;
            continue;
        }
        let timeout = if may_go_on {
            due.saturating_duration_since(Instant::now())
        } else {
            TIMEOUT
        };
        match link.receive(Some(timeout)).expect("the link holds") {
            Some(Arrival::Message { payload, .. }) => {
                let reply = decode::<PrimaryToClient>(&payload).expect("a reply").body;
                assert!(waiting.remove(&reply.request.0), "each is answered once");
                match reply.reply {
                    Reply::Done { .. } => answers.done += 1,
                    Reply::Failed { .. } => answers.failed += 1,
                    other => panic!("no such reply was asked for: {other:?}"),
                }
            }
            Some(_) => {}
            None if may_go_on => {}
            None => panic!(
                "client {client} waits in vain for {} replies",
                waiting.len()
            ),
        }
    }
    answers
}

fn send(link: &mut PeerLink, session: SessionId, body: ClientToPrimary) {
    let bytes = encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session,
        sender: "test".parse::<PeerName>().expect("a peer name"),
        body,
    });
    link.send(Destination::Primary, topic::REQUEST, &bytes)
        .expect("a request is sent");
}

/// Asks until the run answers, and returns its session.
fn session_of(endpoints: &Endpoints) -> SessionId {
    let link = PeerLink::connect(
        endpoints,
        None,
        Subscription::None,
        &SocketOptions::default(),
    );
    let mut link = link.expect("a client connects");
    let mut session = None;
    wait_for("the run answers", || {
        let message = ClientToPrimary {
            request: RequestId(0),
            command: Command::Ping,
        };
        send(&mut link, SessionId::UNKNOWN, message);
        if let Ok(Some(Arrival::Message { payload, .. })) =
            link.receive(Some(Duration::from_secs(1)))
        {
            session = decode::<PrimaryToClient>(&payload)
                .ok()
                .map(|one| one.session);
        }
        session.is_some()
    });
    session.expect("it was found")
}

fn run(scratch: &Scratch, name: &str, arguments: &[&str]) -> Process {
    let mut command = scratch.phalanx();
    command
        .args(["run", "--headless", "--format", "json", "--name", name])
        .arg(scratch.path("yard.sdf"))
        .arg("--digests")
        .arg(scratch.path(&format!("{name}.digests")))
        .args(arguments);
    scratch.start(name, &mut command)
}

fn phalanx(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = scratch.phalanx().args(arguments).output();
    let output = output.expect("phalanx starts");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("it says text")
}

#[test]
fn commands_under_load_are_answered_and_can_be_repeated() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("yard.sdf"), world()).expect("the world is written");
    let record = scratch.path("record.jsonl");
    let record = record.to_str().expect("the path is text");
    let arguments = ["--secondaries", "2", "--record-commands", record];
    let mut loaded = run(&scratch, "loaded", &arguments);
    let endpoint = format!("ipc://{}", scratch.path("loaded").display());
    let endpoints: Endpoints = endpoint.parse().expect("an endpoint");
    let session = session_of(&endpoints);
    wait_for("the run has begun", || {
        phalanx(&scratch, &["show", "loaded", "stats", "--format", "json"]).contains("running")
    });
    let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (endpoints, done, failed) = (&endpoints, &done, &failed);
            scope.spawn(move || {
                let answers = give_commands(endpoints, client, session);
                done.fetch_add(answers.done, Ordering::Relaxed);
                failed.fetch_add(answers.failed, Ordering::Relaxed);
            });
        }
    });
    let (done, failed) = (done.into_inner(), failed.into_inner());
    assert_eq!(done + failed, CLIENTS * COMMANDS_PER_CLIENT);
    assert!(
        done > 2 * failed / 3 && failed > done / 4,
        "{done} done, {failed} refused"
    );

    let stopped = phalanx(&scratch, &["ctl", "loaded", "stop"]);
    assert_eq!(loaded.wait(), 0, "{stopped}\n{}", loaded.stderr());
    let digests = |name: &str| {
        let path = scratch.path(&format!("{name}.digests"));
        std::fs::read_to_string(path).expect("digests are written")
    };
    let expected = digests("loaded");
    let iterations = expected.lines().count().to_string();
    let arguments = ["--secondaries", "0", "--real-time-factor", "0"];
    let arguments = [
        &arguments[..],
        &["--iterations", &iterations, "--commands", record],
    ]
    .concat();
    let mut repeated = run(&scratch, "repeated", &arguments);
    let code = repeated.wait_for_long(TIMEOUT * 3);
    assert_eq!(code, 0, "{}", repeated.stderr());
    let repeated = digests("repeated");
    let differing = expected.lines().zip(repeated.lines()).find(|(a, b)| a != b);
    assert_eq!(differing, None);
    assert_eq!(expected.len(), repeated.len());
}

/// A client of a run.
struct Client {
    link: PeerLink,
    session: SessionId,
}

impl Client {
    fn of(endpoints: &Endpoints, session: SessionId) -> Self {
        let options = SocketOptions::default();
        let link = PeerLink::connect(endpoints, None, Subscription::None, &options);
        let link = link.expect("a client connects");
        Self { link, session }
    }

    fn ask(&mut self, request: u64, command: Command) {
        let request = RequestId(request);
        let message = ClientToPrimary { request, command };
        send(&mut self.link, self.session, message);
    }

    /// Returns the next answer, if one comes within this time.
    fn answer(&mut self, timeout: Duration) -> Option<(u64, Reply)> {
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.link.receive(Some(left)).expect("the link works") {
                Some(Arrival::Message { payload, .. }) => {
                    let answer = decode::<PrimaryToClient>(&payload).expect("it is an answer");
                    return Some((answer.body.request.0, answer.body.reply));
                }
                Some(_) => {}
                None => return None,
            }
        }
    }
}

#[test]
fn reading_a_text_delays_nobody_and_keeps_the_order_of_its_client() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("yard.sdf"), world()).expect("the world is written");
    let mut process = run(&scratch, "reads", &["--secondaries", "1"]);
    let endpoint = format!("ipc://{}", scratch.path("reads").display());
    let endpoints: Endpoints = endpoint.parse().expect("an endpoint");
    let session = session_of(&endpoints);
    wait_for("the run has begun", || {
        phalanx(&scratch, &["show", "reads", "stats", "--format", "json"]).contains("running")
    });
    let (mut reader, mut other) = (
        Client::of(&endpoints, session),
        Client::of(&endpoints, session),
    );
    other.ask(1, Command::Ping);
    other.answer(TIMEOUT).expect("a ping is answered");
    // It takes seconds to read.
    let long = "<gone/>".repeat(450_000);
    let sdf =
        format!("<sdf version='1.10'><model name='slow'><link name='l'/>{long}</model></sdf>");
    let request = protocol::client_to_primary::SpawnRequest {
        sdf,
        ..Default::default()
    };
    reader.ask(1, Command::Spawn(Box::new(request)));
    let model = "slow".to_owned();
    reader.ask(2, Command::Remove { model });
    for (number, command) in [(2, Command::Pause), (3, Command::Step { count: 5 })] {
        other.ask(number, command);
        let answer = other.answer(TIMEOUT);
        let is_done = matches!(answer, Some((one, Reply::Done { .. })) if one == number);
        assert!(is_done, "{answer:?}");
    }
    assert_eq!(
        reader.answer(Duration::ZERO),
        None,
        "the text was read first"
    );
    for number in [1, 2] {
        let answer = reader.answer(TIMEOUT * 3);
        let is_done = matches!(answer, Some((one, Reply::Done { .. })) if one == number);
        assert!(is_done, "{answer:?}");
    }
    phalanx(&scratch, &["ctl", "reads", "stop"]);
    assert_eq!(process.wait(), 0, "{}", process.stderr());
}
