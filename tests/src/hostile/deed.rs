//! Deeds of attackers, which go on until their time is over.

use std::time::Duration;

use protocol::{ClientToPrimary, Envelope, PrimaryToSecondary, decode, topic};

use super::attacker::Attacker;
use super::bare::{self, Bare};
use super::messages;
use super::pretender;
use super::table::{Data, Deed, Garbage, Progress, Speech, Subscriptions, TargetSocket};
use crate::processes::let_pass;

/// Pause of an attacker that leaves the machine to others.
const BREATH: Duration = Duration::from_millis(1);

/// Number of connections that an attacker holds.
const HELD_MAX: usize = 200;

/// Does it; what came of it is told by the attacker.
pub(super) fn commit(attacker: &mut Attacker<'_>, deed: &Deed) {
    match deed {
        Deed::Garbage(target, kind) => garbage(attacker, *target, *kind),
        Deed::Payload(target, bytes) => payload(attacker, *target, bytes),
        Deed::Frames(target) => frames(attacker, *target),
        Deed::MutatedRequest(name) => mutated_request(attacker, name),
        Deed::MutatedAnswer(name) => mutated_answer(attacker, name),
        Deed::Forged(name) => forged(attacker, name),
        Deed::Command(commands) => command(attacker, commands),
        Deed::Flood(command, connections) => flood(attacker, command, *connections),
        Deed::Unread(command) => unread(attacker, command),
        Deed::Subscriptions(target, kind) => subscribe(attacker, *target, *kind),
        Deed::Held(target, progress) => hold(attacker, *target, *progress),
        Deed::Storm(target) => storm(attacker, *target),
        Deed::Bare(target, speech) => speak(attacker, *target, *speech),
        Deed::Addresses(target, names) => addresses(attacker, *target, names),
        Deed::Pretend(pretence) => pretender::pretend(attacker, *pretence),
        Deed::Data(kind) => data(attacker, *kind),
        Deed::SlowReader(target) => read_slowly(attacker, *target),
    }
}

/// Sends frames as a peer at this place would: subscribers send one.
fn send(socket: &zmq::Socket, target: TargetSocket, payload: &[u8]) {
    let _ = match target {
        TargetSocket::Step | TargetSocket::Status | TargetSocket::Beats => {
            socket.send(payload, zmq::DONTWAIT)
        }
        TargetSocket::Data => {
            let frames = [topic::DATA.as_bytes(), b"s1", payload];
            socket.send_multipart(frames, zmq::DONTWAIT)
        }
        TargetSocket::Clients => {
            let frames = [topic::REQUEST.as_bytes(), payload];
            socket.send_multipart(frames, zmq::DONTWAIT)
        }
        TargetSocket::Control => {
            let frames = [topic::STEP_ACK.as_bytes(), payload];
            socket.send_multipart(frames, zmq::DONTWAIT)
        }
    };
}

/// Numbers that are the same for each attacker, by xorshift.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let count = self.next() % most;
        (0..count).map(|_| (self.next() >> 24) as u8).collect()
    }
}

fn garbage(attacker: &Attacker<'_>, target: TargetSocket, kind: Garbage) {
    let name = (target == TargetSocket::Control).then_some(&b"s9"[..]);
    let socket = attacker.arrive(target, name);
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let words = format!("\u{1}\u{81}{}", "unknown variant \u{1b}[31m".repeat(2_000));
    while attacker.goes_on() {
        match kind {
            Garbage::Random => {
                let frames: Vec<Vec<u8>> =
                    (0..=noise.next() % 6).map(|_| noise.bytes(300)).collect();
                let _ = socket.send_multipart(frames, zmq::DONTWAIT);
                send(&socket, target, &noise.bytes(2_000));
            }
            Garbage::Frames => {
                let _ = socket.send_multipart([&b"x"[..]; 100], zmq::DONTWAIT);
            }
            Garbage::Empty => {
                let _ = socket.send_multipart([&b""[..]; 3], zmq::DONTWAIT);
                send(&socket, target, b"");
            }
            Garbage::Words => send(&socket, target, words.as_bytes()),
        }
        attacker.read(&socket);
        let_pass(BREATH);
    }
}

fn frames(attacker: &Attacker<'_>, target: TargetSocket) {
    let frame = vec![7; 1 << 20];
    loop {
        let socket = attacker.arrive(target, None);
        for _ in 0..100 {
            let _ = socket.send(&frame, zmq::SNDMORE | zmq::DONTWAIT);
        }
        let _ = socket.send("", zmq::DONTWAIT);
        let_pass(BREATH * 200);
        if !attacker.goes_on() {
            return;
        }
    }
}

fn payload(attacker: &Attacker<'_>, target: TargetSocket, bytes: &[u8]) {
    let name = (target == TargetSocket::Control).then_some(&b"s9"[..]);
    let socket = attacker.arrive(target, name);
    socket.set_sndtimeo(1_000).expect("it is a number");
    loop {
        let frames: &[&[u8]] = match target {
            TargetSocket::Data => &[topic::DATA.as_bytes(), b"s1", bytes],
            TargetSocket::Control => &[topic::SESSION.as_bytes(), bytes],
            _ => &[topic::REQUEST.as_bytes(), bytes],
        };
        let _ = socket.send_multipart(frames, 0);
        attacker.read(&socket);
        // What is large is not to lie in the attacker's own queue only.
        let_pass(BREATH * (1 + bytes.len() as u32 / 100_000));
        if !attacker.goes_on() {
            return;
        }
    }
}

fn mutated_request(attacker: &Attacker<'_>, name: &str) {
    let mut harmless = messages::harmless().into_iter();
    let found = harmless.find(|(known, _)| *known == name);
    let (_, command) = found.expect("the table names what is there");
    let whole = messages::request(attacker.session, 1, command.clone());
    let socket = attacker.arrive(TargetSocket::Clients, None);
    mutate(attacker, &whole, |message| {
        // A flipped bit may make another command of it, which its owner may well give.
        let decoded = decode::<ClientToPrimary>(message);
        let is_other = |it: Envelope<ClientToPrimary>| {
            std::mem::discriminant(&it.body.command) != std::mem::discriminant(&command)
        };
        if decoded.is_ok_and(is_other) {
            return;
        }
        send(&socket, TargetSocket::Clients, message);
        attacker.read(&socket);
    });
}

fn mutated_answer(attacker: &Attacker<'_>, name: &str) {
    let (topic, message) = answer(name);
    let whole = messages::of("s1", attacker.session, message);
    let socket = attacker.arrive(TargetSocket::Control, Some(b"s9"));
    mutate(attacker, &whole, |message| {
        let _ = socket.send_multipart([topic.as_bytes(), message], zmq::DONTWAIT);
        attacker.read(&socket);
    });
}

/// Goes through all cuts and flips, in an order that has some of each kind early, and begins again
/// while there is time left: the pace of a moment means nothing.
fn mutate(attacker: &Attacker<'_>, whole: &[u8], mut send: impl FnMut(&[u8])) {
    let all = whole.len() * 9;
    let mut target = 0;
    for count in 0_usize.. {
        // A step that has no divisor in common with the number of all goes through each once.
        target = (target + 7_919) % all.max(1);
        if let Some(message) = messages::mutated(whole, target) {
            send(&message);
        }
        if count % 16 == 0 {
            let_pass(BREATH);
        }
        if !attacker.goes_on() {
            return;
        }
    }
}

fn answer(name: &str) -> (&'static str, protocol::SecondaryToPrimary) {
    let mut all = messages::of_secondaries().into_iter();
    let found = all.find(|(known, _)| *known == name);
    let (_, message) = found.expect("the table names what is there");
    (message.topic(), message)
}

fn forged(attacker: &Attacker<'_>, name: &str) {
    let (topic, message) = answer(name);
    let sockets = [&b"s1"[..], b"s2", b"s1~heartbeat", b"eve"]
        .map(|address| attacker.connect(TargetSocket::Control, Some(address)));
    attacker.wait_until_seen();
    while attacker.goes_on() {
        for socket in &sockets {
            for sender in ["s1", "s2", "primary", "nobody"] {
                let message = messages::of(sender, attacker.session, &message);
                let _ = socket.send_multipart([topic.as_bytes(), &message], zmq::DONTWAIT);
            }
            attacker.read(socket);
        }
        let_pass(BREATH);
    }
}

fn command(attacker: &Attacker<'_>, commands: &[protocol::Command]) {
    let socket = attacker.connect(TargetSocket::Clients, None);
    let mut number = 0;
    loop {
        for command in commands {
            number += 1;
            let message = messages::request(attacker.session, number, command.clone());
            let _ = socket.send_multipart([topic::REQUEST.as_bytes(), &message], 0);
            attacker.wait_for_answer(&socket);
        }
        let_pass(BREATH);
        if !attacker.goes_on() {
            return;
        }
    }
}

fn flood(attacker: &Attacker<'_>, command: &protocol::Command, connections: usize) {
    let sockets: Vec<zmq::Socket> = (0..connections)
        .map(|_| attacker.connect(TargetSocket::Clients, None))
        .collect();
    attacker.wait_until_seen();
    let message = messages::request(attacker.session, 1, command.clone());
    while attacker.goes_on() {
        for socket in &sockets {
            send(socket, TargetSocket::Clients, &message);
            attacker.read(socket);
        }
    }
}

fn unread(attacker: &Attacker<'_>, command: &protocol::Command) {
    let socket = attacker.connect(TargetSocket::Clients, None);
    socket.set_rcvhwm(1).expect("it is a number");
    attacker.wait_until_seen();
    for number in 0.. {
        let message = messages::request(attacker.session, number, command.clone());
        send(&socket, TargetSocket::Clients, &message);
        if number % 100 == 0 {
            let_pass(BREATH * 5);
        }
        if !attacker.goes_on() {
            return;
        }
    }
}

fn subscribe(attacker: &Attacker<'_>, target: TargetSocket, kind: Subscriptions) {
    let mut socket = attacker.arrive(target, None);
    let send = |socket: &zmq::Socket, first: u8, topic: &[u8]| {
        let _ = socket.send([&[first], topic].concat(), zmq::DONTWAIT);
    };
    for number in 0_u64.. {
        let text = number.to_string();
        match kind {
            Subscriptions::Many => send(&socket, 1, text.as_bytes()),
            Subscriptions::Long => send(&socket, 1, &text.repeat(1_000).as_bytes()[..1_000]),
            Subscriptions::VeryLong => {
                send(&socket, 1, &text.repeat(10_000).as_bytes()[..10_000]);
            }
            Subscriptions::Same => send(&socket, 1, &[b'a'; 2_000]),
            Subscriptions::BrokenOff => {
                send(&socket, 1, text.as_bytes());
                if number % 2_000 == 1_999 {
                    socket = attacker.connect(target, None);
                }
            }
            Subscriptions::EndsOfOthers => {
                for topic in ["", "/", topic::STATS, topic::HEARTBEAT, topic::STEP, "@"] {
                    send(&socket, 0, topic.as_bytes());
                }
            }
            Subscriptions::OtherBytes => send(&socket, number as u8 | 2, b"/stats"),
            Subscriptions::OnAndOff => send(&socket, number as u8 & 1, b"@"),
            Subscriptions::Presence => {
                let topic = topic::step_presence(text.as_bytes());
                send(&socket, number as u8 & 1, &topic);
            }
        }
        attacker.read(&socket);
        if number % 64 == 0 {
            let_pass(BREATH);
        }
        if !attacker.goes_on() {
            return;
        }
    }
}

fn hold(attacker: &Attacker<'_>, target: TargetSocket, progress: Progress) {
    let mut held: Vec<Bare> = Vec::new();
    let greeting = bare::greeting((3, 1), b"NULL");
    while attacker.goes_on() || held.len() < 20 {
        let Some(mut stream) = attacker.bare(target) else {
            return;
        };
        stream.send(match progress {
            Progress::Silent => &[],
            Progress::Half => &greeting[..32],
            Progress::Greeted => &greeting,
        });
        if held.len() < 4 {
            attacker.note_heard(stream.hear());
        }
        held.push(stream);
        if held.len() > HELD_MAX {
            held.clear();
        }
        let_pass(BREATH);
    }
    if let Some(stream) = held.last_mut() {
        attacker.wait_to_hear(stream);
    }
}

fn storm(attacker: &Attacker<'_>, target: TargetSocket) {
    let mut last = Vec::new();
    loop {
        last.push(attacker.connect(target, None));
        let_pass(BREATH * 2);
        if last.len() > 4 {
            last.remove(0);
        }
        if !attacker.goes_on() {
            return attacker.wait_until_seen();
        }
    }
}

fn speak(attacker: &Attacker<'_>, target: TargetSocket, speech: Speech) {
    let mut number = 0;
    loop {
        let Some(mut stream) = attacker.bare(target) else {
            return;
        };
        for part in parts(speech, number) {
            if !stream.send(&part) {
                break;
            }
        }
        attacker.note_heard(stream.hear());
        number += 1;
        if !attacker.goes_on() && number >= 3 {
            attacker.wait_to_hear(&mut stream);
            return;
        }
    }
}

/// Returns what is said on a bare stream.
fn parts(speech: Speech, number: usize) -> Vec<Vec<u8>> {
    let greeting = || bare::greeting((3, 1), b"NULL");
    let ready = || bare::ready(&[("Socket-Type", b"DEALER"), ("Identity", b"x")]);
    let greeted = |rest: Vec<u8>| vec![greeting(), ready(), rest];
    match speech {
        Speech::CutGreeting => vec![greeting()[..number * 7 % 64].to_vec()],
        Speech::CutReady => {
            let ready = ready();
            vec![greeting(), ready[..number * 7 % ready.len()].to_vec()]
        }
        Speech::Version(major, minor) => vec![bare::greeting((major, minor), b"NULL"), ready()],
        Speech::Mechanism(name) => vec![bare::greeting((3, 1), name), ready()],
        Speech::UnknownCommands => greeted(bare::command("OWNED", &[0xff; 1_000]).repeat(100)),
        Speech::BrokenCommands => {
            let short = bare::frame(bare::COMMAND, &[200, b'P']);
            let empty = bare::frame(bare::COMMAND, b"");
            greeted([empty, short].concat().repeat(number % 3 + 1))
        }
        Speech::Pings => {
            let body = [vec![0xff; 2], vec![b'x'; 60_000]].concat();
            let pings = bare::command("PING", &[0, 0]).repeat(1_000);
            greeted([pings, bare::command("PING", &body)].concat())
        }
        Speech::LongLengths => {
            let lengths = [u64::MAX, 1 << 63, 1 << 40, 1 << 28];
            let length = lengths[number % lengths.len()].to_be_bytes();
            greeted([&[2][..], &length, b"x"].concat())
        }
        Speech::EndlessMessage => greeted(bare::frame(1, b"more").repeat(20_000)),
        Speech::Flags => greeted(bare::frame(0xf8 | (number as u8 & 7), b"\x04PING")),
        Speech::TwiceReady => greeted(ready()),
        Speech::BrokenProperties => {
            let body = [
                &[11][..],
                b"Socket-Type",
                &[0xff, 0xff, 0xff, 0xff],
                b"DEALER",
            ]
            .concat();
            vec![greeting(), bare::command("READY", &body)]
        }
        Speech::ManyProperties => {
            let names: Vec<String> = (0..5_000).map(|number| format!("X-{number}")).collect();
            let mut all: Vec<(&str, &[u8])> = vec![("Socket-Type", b"DEALER")];
            all.extend(names.iter().map(|name| (name.as_str(), &b"value"[..])));
            vec![greeting(), bare::ready(&all)]
        }
        Speech::Address(length) => {
            let address = vec![b'a'; length];
            let ready = bare::ready(&[("Socket-Type", b"DEALER"), ("Identity", &address)]);
            vec![greeting(), ready]
        }
        Speech::OtherKind => vec![greeting(), bare::ready(&[("Socket-Type", b"PUB")])],
        Speech::UserId => {
            let properties: [(&str, &[u8]); 2] =
                [("Socket-Type", b"DEALER"), ("User-Id", b"controller 1")];
            let request = messages::request(protocol::SessionId(1), 1, protocol::Command::Stop);
            let request = [bare::frame(1, b"/request"), bare::frame(0, &request)].concat();
            vec![greeting(), bare::ready(&properties), request]
        }
        Speech::Other(bytes) => vec![bytes.to_vec()],
        Speech::Noise => greeted(Noise(number as u64 + 1).bytes(5_000)),
    }
}

fn addresses(attacker: &Attacker<'_>, target: TargetSocket, names: &[Vec<u8>]) {
    loop {
        for name in names {
            let first = attacker.arrive(target, Some(name));
            let speak = |socket: &zmq::Socket| {
                send(socket, target, b"");
                let message = messages::request(attacker.session, 1, protocol::Command::Ping);
                send(socket, target, &message);
                let_pass(BREATH * 20);
                attacker.read(socket);
            };
            speak(&first);
            let second = attacker.connect(target, Some(name));
            speak(&second);
            speak(&first);
            drop(first);
            let_pass(BREATH * 30);
            drop(second);
        }
        if !attacker.goes_on() {
            return;
        }
    }
}

fn data(attacker: &Attacker<'_>, kind: Data) {
    let socket = attacker.arrive(TargetSocket::Data, None);
    // Whoever hears steps knows which one is under way.
    let steps = attacker.connect(TargetSocket::Step, None);
    let _ = steps.send([&[1], topic::STEP.as_bytes()].concat(), 0);
    let (mut sequence, mut batch_number) = (attacker.iteration, 1);
    for number in 0_u64.. {
        if !attacker.goes_on() {
            return;
        }
        while let Ok(frames) = steps.recv_multipart(zmq::DONTWAIT) {
            let step = frames
                .get(1)
                .map(|bytes| decode::<PrimaryToSecondary>(bytes));
            if let Some(Ok(Envelope {
                body: PrimaryToSecondary::Step(step),
                ..
            })) = step
            {
                (sequence, batch_number) = (step.sequence.0, step.batch_number);
            }
        }
        let now = match kind {
            Data::Extreme => [0, u64::MAX, u64::MAX - 1][(number % 3) as usize],
            _ => sequence + number % 2,
        };
        let size = match kind {
            Data::Empty => 0,
            Data::Large => 1 << 20,
            _ => 100,
        };
        let mut batch = messages::data(now, size);
        batch.batch_number = batch_number;
        if kind == Data::InsteadOf {
            batch.instead_of = Some(messages::peer("s1"));
        }
        let message = messages::of("s1", attacker.session, batch);
        let topic = match kind {
            Data::Traces => topic::TRACE,
            Data::Topics => "/\u{1b}]0;owned\u{7}",
            _ => topic::DATA,
        };
        let _ = if kind == Data::NoAddress {
            socket.send_multipart([topic.as_bytes(), &message], zmq::DONTWAIT)
        } else {
            let address: &[u8] = if number % 2 == 0 { b"s1" } else { b"" };
            socket.send_multipart([topic.as_bytes(), address, &message], zmq::DONTWAIT)
        };
        let_pass(BREATH * if kind == Data::Large { 10 } else { 1 } / 4);
    }
}

fn read_slowly(attacker: &Attacker<'_>, target: TargetSocket) {
    let sockets: Vec<zmq::Socket> = (0..4)
        .map(|_| {
            let socket = attacker.connect(target, None);
            socket.set_rcvhwm(1).expect("it is a number");
            let _ = socket.send(&b"\x01"[..], zmq::DONTWAIT);
            socket
        })
        .collect();
    attacker.wait_until_seen();
    while attacker.goes_on() {
        let_pass(BREATH * 10);
    }
    drop(sockets);
}
