//! The status thread on the network within one process, from batches to observers and to a file.

use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use lockstep::PeerTiming;
use protocol::topic_message::SubscriptionChange;
use protocol::{
    Digest, Envelope, Iteration, ProtocolVersion, RoutingId, Sequence, SimTime, TopicMessage,
    decode, encode, topic,
};
use transport::memory::{MemoryPeerLink, MemoryPrimaryLink, Network};
use transport::{Arrival, Destination, Link, Subscription};

use super::*;

const TIMEOUT: Duration = Duration::from_mins(2);
const SESSION: SessionId = SessionId(7);

struct Stage {
    network: Network,
    _primary: MemoryPrimaryLink,
    inputs: Receiver<PrimaryInput>,
    status: StatusThread,
}

impl Stage {
    fn new(file: Option<&Path>) -> Self {
        let network = Network::new();
        let primary = network.primary();
        let interval = Duration::from_millis(20);
        let mut status = StatusThread::start(network.publisher(), SESSION, interval).unwrap();
        let (sender, inputs) = InputSender::new(&primary);
        status.attach(sender, file.map(|path| MessagesFile::create(path).unwrap()));
        Self {
            network,
            _primary: primary,
            inputs,
            status,
        }
    }

    fn secondary(&self, name: &str) -> MemoryPeerLink {
        let routing = RoutingId::from(name);
        self.status.admit(routing.clone(), name.parse().unwrap());
        self.network.peer(&routing, Subscription::Steps)
    }

    /// Connects an observer and waits until the stepper is told of its topics.
    fn observer(&self, name: &str, topics: &[&str]) -> MemoryPeerLink {
        let frames: Vec<String> = topics.iter().map(|name| topic::of_message(name)).collect();
        let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
        let routing = RoutingId::from(name);
        let link = self.network.peer(&routing, Subscription::Status(&frames));
        for topic in topics {
            assert_eq!(self.told(), ((*topic).to_owned(), true));
        }
        link
    }

    /// Waits for a change of what observers listen to.
    fn told(&self) -> (String, bool) {
        match self.inputs.recv_timeout(TIMEOUT) {
            Ok(PrimaryInput::Observed(SubscriptionChange { topic, wanted })) => (topic, wanted),
            other => panic!("not a change of topics: {other:?}"),
        }
    }

    fn step(&mut self, sequence: u64, announced: &[(&str, u32)]) {
        let peers = announced.iter().map(|(name, published)| PeerTiming {
            name: name.parse().unwrap(),
            physics: Duration::ZERO,
            systems: Duration::ZERO,
            sensors: Duration::ZERO,
            busy: Duration::ZERO,
            published: *published,
            answered_after: Duration::ZERO,
        });
        let report = StepReport {
            sequence: protocol::Sequence(1),
            schedule_left: 0,
            iteration: Iteration(sequence),
            paused: false,
            digest: Digest(0),
            duration: Duration::ZERO,
            rearranged: false,
            peers: peers.collect(),
            cells: Vec::new(),
        };
        self.status.step_done(&report);
    }

    fn publish(&mut self, sequence: u64) {
        let step = Step {
            sequence: Sequence(sequence),
            batch_number: 0,
            ..Step::default()
        };
        self.status.note_published(&step);
        self.status.step_begun(&step);
    }
}

fn message(topic: &str, part: u32, iteration: u64) -> TopicMessage {
    TopicMessage {
        topic: topic.to_owned(),
        kind: "gz.msgs.Empty".to_owned(),
        publisher: Speaker::World { world: 0, part },
        iteration: Iteration(iteration),
        sim_time: SimTime(0),
        body: vec![0x80],
    }
}

fn send(link: &mut MemoryPeerLink, name: &str, sequence: u64, messages: Vec<TopicMessage>) {
    let bytes = encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session: SESSION,
        sender: name.parse().unwrap(),
        body: DataBatch {
            sequence: Sequence(sequence),
            batch_number: 0,
            iteration: Iteration(sequence),
            instead_of: None,
            messages,
        },
    });
    link.send(Destination::Data, topic::DATA, &bytes).unwrap();
}

/// Waits for the next message on a topic of the simulated world.
fn hear(observer: &mut MemoryPeerLink) -> TopicMessage {
    let end = Instant::now() + TIMEOUT;
    while Instant::now() < end {
        if let Ok(Some(Arrival::Message { topic, payload, .. })) = observer.receive(Some(TIMEOUT))
            && topic::message_name(&topic).is_some()
        {
            return decode(&payload).unwrap().body;
        }
    }
    panic!("no message for {TIMEOUT:?}");
}

#[test]
fn observers_hear_what_two_secondaries_say_once_and_in_order() {
    let mut stage = Stage::new(None);
    let mut peers = [stage.secondary("s1"), stage.secondary("s2")];
    let mut observer = stage.observer("view", &["/a"]);
    for sequence in 1..=50 {
        stage.publish(sequence);
        // The robot changes sides at every step, and the second part is always heard last.
        let (one, other) = ((sequence % 2) as usize, ((sequence + 1) % 2) as usize);
        let names = ["s1", "s2"];
        let last = vec![message("/b", 5, sequence), message("/a", 9, sequence)];
        send(&mut peers[one], names[one], sequence, last);
        let first = vec![message("/a", 1, sequence)];
        send(&mut peers[other], names[other], sequence, first);
        stage.step(sequence, &[(names[one], 2), (names[other], 1)]);
    }
    for sequence in 1..=50 {
        for part in [1, 9] {
            assert_eq!(hear(&mut observer), message("/a", part, sequence));
        }
    }
}

#[test]
fn messages_of_clients_come_first_to_subscribers() {
    let mut stage = Stage::new(None);
    let mut observer = stage.observer("view", &["/a"]);
    let said = TopicMessage {
        publisher: Speaker::Client,
        ..message("/a", 0, 1)
    };
    let step = Step {
        sequence: Sequence(1),
        messages: vec![message("/a", 3, 0), said.clone()],
        ..Step::default()
    };
    stage.status.note_published(&step);
    stage.status.step_begun(&step);
    stage.step(1, &[]);
    assert_eq!(hear(&mut observer), said);
}

#[test]
fn the_stepper_is_told_who_begins_and_ceases_to_listen() {
    let stage = Stage::new(None);
    let first = stage.observer("first", &["/a", "/b"]);
    let second = stage.observer("second", &["/c"]);
    drop(first);
    assert_eq!(stage.told(), ("/a".to_owned(), false));
    assert_eq!(stage.told(), ("/b".to_owned(), false));
    drop(second);
    assert_eq!(stage.told(), ("/c".to_owned(), false));
    assert!(stage.inputs.try_recv().is_err());
}

#[test]
fn figures_are_wanted_only_of_the_kind_that_is_listened_to() {
    let stage = Stage::new(None);
    assert!(stage.status.watched().is_empty());
    let said = topic::of_message("/a");
    let frames = [topic::STATS, topic::EVENTS, &said];
    let owner = RoutingId::from("owner");
    let _owner = stage.network.peer(&owner, Subscription::Status(&frames));
    // Subscriptions are heeded in order, so that those before this one are known by now.
    assert_eq!(stage.told(), ("/a".to_owned(), true));
    let watched = stage.status.watched();
    assert!(watched.has(Figures::Stats) && !watched.has(Figures::Poses));
    assert!(!watched.has(Figures::Affinity) && !watched.has(Figures::Clock));
}

#[test]
fn the_file_has_every_message_before_the_thread_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages");
    let mut stage = Stage::new(Some(&path));
    let mut peer = stage.secondary("s1");
    for sequence in 1..=3_000 {
        stage.publish(sequence);
        send(&mut peer, "s1", sequence, vec![message("/a", 0, sequence)]);
        stage.step(sequence, &[("s1", 1)]);
    }
    stage.status.end(true).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3_001);
    assert!(text.lines().last().unwrap().starts_with("end 3000 "));
    assert!(text.starts_with("1 /a world:0:0 "));
}

#[test]
fn a_file_that_cannot_be_written_ends_the_run() {
    let mut stage = Stage::new(Some(Path::new("/dev/full")));
    let mut peer = stage.secondary("s1");
    stage.publish(1);
    let many = (0..1_000).map(|part| message("/a", part, 1)).collect();
    send(&mut peer, "s1", 1, many);
    stage.step(1, &[("s1", 1_000)]);
    let failed = stage.inputs.recv_timeout(TIMEOUT);
    let Ok(PrimaryInput::Failed(cause)) = failed else {
        panic!("the run goes on: {failed:?}");
    };
    assert!(
        cause.contains("cannot write messages to /dev/full"),
        "{cause}"
    );
    let error = stage.status.end(true).unwrap_err();
    assert_eq!(Chain(&error).to_string(), cause);
}

#[test]
fn a_file_that_lacks_messages_says_whose() {
    let folder = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(Some(&folder.path().join("messages")));
    stage.publish(1);
    stage.step(1, &[("s1", 1)]);
    let error = stage.status.end(false).unwrap_err();
    let error = Chain(&error).to_string();
    assert!(
        error.contains("lacks some: what s1 said in step 1"),
        "{error}"
    );
}

#[test]
fn damaged_and_foreign_data_harms_nobody() {
    let mut stage = Stage::new(None);
    let mut peer = stage.secondary("s1");
    let mut observer = stage.observer("view", &["/a"]);
    stage.publish(1);
    peer.send(Destination::Data, topic::DATA, b"\xc1").unwrap();
    peer.send(Destination::Data, topic::STEP, b"\x80").unwrap();
    send(&mut peer, "s1", 2, vec![message("/a", 0, 2)]);
    send(&mut peer, "s2", 1, vec![message("/a", 1, 1)]);
    send(&mut peer, "s1", 1, vec![message("/a", 2, 1)]);
    stage.step(1, &[("s1", 1)]);
    assert_eq!(hear(&mut observer), message("/a", 2, 1));
}

#[test]
fn data_in_the_name_of_another_is_counted_and_harms_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages");
    let mut stage = Stage::new(Some(&path));
    let mut peers = [stage.secondary("s1"), stage.secondary("s2")];
    let stranger = RoutingId::from("s3");
    let mut stranger = stage.network.peer(&stranger, Subscription::Steps);
    stage.publish(1);
    for _ in 0..10 {
        send(&mut stranger, "s1", 1, vec![message("/a", 3, 1)]);
        send(&mut peers[1], "s1", 1, vec![message("/a", 3, 1)]);
    }
    send(&mut peers[0], "s1", 1, vec![message("/a", 0, 1)]);
    stage.step(1, &[("s1", 1)]);
    stage.status.end(true).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    let mut foreign = 0;
    while let Ok(input) = stage.inputs.try_recv() {
        if let PrimaryInput::Refused { counts, .. } = input {
            foreign += counts.foreign;
        }
    }
    assert_eq!(foreign, 20);
}
