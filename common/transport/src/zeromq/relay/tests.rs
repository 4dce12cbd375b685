//! A relay between real sockets: those of a primary without its rules, and links of secondaries.

use super::super::bundle::{Bundle, Malformed};
use super::super::primary::{Bound, SUBSCRIBE, bind};
use super::super::{PeerLink as Peer, SocketOptions};
use super::*;
use crate::link::{Destination, Link};
use crate::refusals::Tally;
use crate::subscription::Subscription;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// Time that anything that must happen may take.
const TIMEOUT: Duration = Duration::from_mins(2);

const RELAY: &str = "r1-0";

/// Something that the relay told.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Event(RelayEvent),
    Malformed(u64),
}

/// A primary's sockets, and a relay that works until this is dropped.
struct Scene {
    bound: Bound,
    place: Endpoints,
    told: Receiver<Told>,
    is_over: Arc<AtomicBool>,
    waker: Arc<dyn Waker>,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

/// Items of one message, and where it came from.
type Heard = (String, Vec<Item>);

fn endpoints(folder: &tempfile::TempDir, name: &str) -> Endpoints {
    let path = folder.path().join(name);
    let address = format!("ipc://{}", path.display());
    address.parse().expect("the path is short")
}

fn items(payload: Vec<u8>) -> Result<Vec<Item>, Malformed> {
    let mut bundle = Bytes::from(payload);
    let mut items = Vec::new();
    while let Some(item) = next_item(&mut bundle)? {
        items.push(item);
    }
    Ok(items)
}

impl Scene {
    /// Starts a relay whose answers wait so long for each other, and welcomes it.
    fn new(hold: Duration, timeout: Duration) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let [primary, place] = ["primary", "relay"].map(|name| endpoints(&folder, name));
        let options = SocketOptions::default();
        let bound = bind(&primary, &options, &Tally::default()).expect("nobody is there");
        for socket in [&bound.control, &bound.step, &bound.data] {
            let timeout = i32::try_from(TIMEOUT.as_millis()).expect("it is short");
            socket.set_rcvtimeo(timeout).expect("an open socket");
        }
        let relay = Relay::connect(RelaySettings {
            name: "r1".to_owned(),
            routing_id: RELAY.into(),
            primary,
            upper: options.clone(),
            bind: place.clone(),
            removes_folder: true,
            lower: options,
            hold,
        });
        let mut relay = relay.expect("sockets can be opened");
        let (waker, is_over) = (relay.waker(), Arc::new(AtomicBool::new(false)));
        let (tells, told) = channel();
        let ends = Arc::clone(&is_over);
        let work = move || {
            while !ends.load(Ordering::Acquire) {
                let event = relay.receive(Some(Duration::from_millis(20)));
                let event = event.expect("the transport works").map(Told::Event);
                let refusals = relay.take_refusals();
                let refused = refusals.map(|refusals| Told::Malformed(refusals.counts.malformed));
                for told in event.into_iter().chain(refused) {
                    let _ = tells.send(told); // The test may be over.
                }
            }
        };
        let scene = Self {
            bound,
            place: place.clone(),
            told,
            is_over,
            waker,
            thread: Some(std::thread::spawn(work)),
            _folder: folder,
        };
        scene.welcomes(timeout);
        scene.waits_for(&Told::Event(RelayEvent::Welcomed(place)));
        scene
    }

    fn welcomes(&self, timeout: Duration) {
        let presence = [&[SUBSCRIBE][..], &topic::relay_presence(RELAY.as_bytes())].concat();
        while self.bound.step.recv_bytes(0).expect("a subscription") != presence {}
        let (from, items) = self.hears();
        assert!(from == RELAY && items == [bundle::hello("r1")], "{items:?}");
        self.says(RELAY, &Item::Welcome { timeout });
    }

    /// Returns the next message of the relay but those that say that it is there.
    fn hears(&self) -> Heard {
        loop {
            let frames = self.bound.control.recv_multipart(0).expect("a message");
            let [from, topic, payload] = <[_; 3]>::try_from(frames).expect("three frames");
            assert_eq!(topic, topic::RELAY.as_bytes());
            let items = items(payload).expect("it keeps to the rules");
            if items != [Item::Here] {
                return (String::from_utf8_lossy(&from).into_owned(), items);
            }
        }
    }

    /// Returns the next message of the relay but greetings that crossed the welcome.
    fn hears_no_greeting(&self) -> Heard {
        loop {
            let heard = self.hears();
            if heard.1 != [bundle::hello("r1")] {
                return heard;
            }
        }
    }

    fn says(&self, to: &str, item: &Item) {
        let bundle = Bundle::of(item);
        let frames = [to.as_bytes(), topic::RELAY.as_bytes(), bundle.bytes()];
        socket::send(&self.bound.control, &frames).expect("the relay is connected");
    }

    fn publishes(&self, topic: &str, payload: &[u8]) {
        socket::send(&self.bound.step, &[topic.as_bytes(), payload]).expect("an open socket");
    }

    fn waits_for(&self, expected: &Told) {
        let mut others = Vec::new();
        while let Ok(told) = self.told.recv_timeout(TIMEOUT) {
            if told == *expected {
                return;
            }
            others.push(told);
        }
        panic!("{expected:?} was not told, but {others:?}");
    }

    /// Connects secondaries, and waits until the relay says that they have come.
    fn secondaries<const N: usize>(&self, names: [&str; N]) -> [Peer; N] {
        names.map(|name| {
            let link = self.connects(name, Subscription::Steps);
            let (from, items) = self.hears_no_greeting();
            assert!(
                from == RELAY && items == [Item::Came(name.into())],
                "{items:?}"
            );
            link
        })
    }

    fn connects(&self, name: &str, subscription: Subscription<'_>) -> Peer {
        let options = SocketOptions::default();
        let link = Peer::connect(&self.place, Some(&name.into()), subscription, &options);
        link.expect("sockets can be opened")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.waker.wake();
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(ended) = ended.filter(|_| !std::thread::panicking()) {
            ended.expect("the relay works");
        }
    }
}

/// Waits for a message of the primary.
fn takes(link: &mut Peer, topic: &str, payload: &[u8]) {
    loop {
        let arrival = link.receive(Some(TIMEOUT)).expect("the transport works");
        match arrival.expect("something comes") {
            Arrival::Message {
                topic: of,
                payload: what,
                ..
            } if of == topic.as_bytes() && what == payload => return,
            _ => {}
        }
    }
}

fn answers(link: &mut Peer, step: &[u8]) {
    takes(link, topic::STEP, step);
    let sent = link.send(Destination::Primary, topic::STEP_ACK, step);
    sent.expect("its queue has no end");
}

fn answer(name: &str, step: &[u8]) -> Item {
    Item::Message {
        address: name.into(),
        topic: topic::STEP_ACK.as_bytes().to_vec(),
        payload: Bytes::copy_from_slice(step),
    }
}

#[test]
fn answers_to_a_step_go_up_as_one_message_although_somebody_is_mute() {
    // Whoever waited for the mute one would wait beyond the end of the test.
    let scene = Scene::new(10 * TIMEOUT, Duration::ZERO);
    let [mut a, mut b, mute] = scene.secondaries(["a-0", "b-0", "mute-0"]);
    let mut answer_to = |step: &[u8], messages: usize| {
        scene.publishes(topic::STEP, step);
        for link in [&mut a, &mut b] {
            answers(link, step);
        }
        let heard = (0..messages).flat_map(|_| scene.hears().1);
        let mut heard: Vec<Item> = heard.collect();
        heard.sort_by_key(|item| format!("{item:?}"));
        assert_eq!(heard, ["a-0", "b-0"].map(|name| answer(name, step)));
    };
    // Nobody is waited for in the first, since nobody is known to answer.
    answer_to(b"0", 2);
    for step in [&b"1"[..], b"2", b"3"] {
        answer_to(step, 1);
    }
    drop(mute);
    let (_, gone) = scene.hears();
    assert_eq!(gone, [Item::Went("mute-0".into())]);
}

#[test]
fn heartbeats_go_up_and_down_by_a_connection_of_their_own_while_answers_wait() {
    let scene = Scene::new(10 * TIMEOUT, Duration::ZERO);
    let [mut a, mut b] = scene.secondaries(["a-0", "b-0"]);
    let mut beating = scene.connects("a-0~heartbeat", Subscription::Beats(&[topic::HEARTBEAT]));
    scene.publishes(topic::STEP, b"0");
    answers(&mut a, b"0");
    answers(&mut b, b"0");
    for _ in 0..2 {
        scene.hears();
    }
    scene.publishes(topic::STEP, b"1");
    answers(&mut a, b"1");
    let beat = |payload: &'static [u8]| Item::Message {
        address: "a-0~heartbeat".into(),
        topic: topic::HEARTBEAT.as_bytes().to_vec(),
        payload: Bytes::from_static(payload),
    };
    let sent = beating.send(Destination::Primary, topic::HEARTBEAT, b"beat");
    sent.expect("its queue has no end");
    let of_beats = format!("{RELAY}~heartbeat");
    assert_eq!(scene.hears(), (of_beats.clone(), vec![beat(b"beat")]));
    scene.says(&of_beats, &beat(b"echo"));
    takes(&mut beating, topic::HEARTBEAT, b"echo");
    answers(&mut b, b"1");
    let both = ["a-0", "b-0"].map(|name| answer(name, b"1"));
    assert_eq!(scene.hears(), (RELAY.to_owned(), both.to_vec()));
}

#[test]
fn data_that_the_primary_does_not_take_wait_with_who_said_them_and_steps_go_on() {
    const MESSAGES: u32 = 4_000;
    const BYTES: usize = 10_000;
    let scene = Scene::new(HOLD, Duration::ZERO);
    let [mut a] = scene.secondaries(["a-0"]);
    let payload = |number: u32| [&number.to_le_bytes()[..], &[7; BYTES - 4]].concat();
    for number in 0..MESSAGES {
        let sent = a.send(Destination::Data, topic::DATA, &payload(number));
        sent.expect("it waits");
    }
    // Some are in the few queues between, of sockets and of the system.
    let waiting = a.waiting_data().bytes;
    assert!(waiting > 3_000 * BYTES, "{waiting}");
    for step in [&b"0"[..], b"1", b"2"] {
        scene.publishes(topic::STEP, step);
        answers(&mut a, step);
        assert_eq!(scene.hears().1, [answer("a-0", step)]);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    let sending = std::thread::spawn(move || {
        while !ends.load(Ordering::Acquire) {
            a.receive(Some(HOLD)).expect("the transport works");
        }
        a.waiting_data().bytes
    });
    for number in 0..MESSAGES {
        let frames = scene.bound.data.recv_multipart(0).expect("a message");
        let expected = [topic::DATA.into(), b"a-0".to_vec(), payload(number)];
        assert!(frames == expected, "{number}");
    }
    is_over.store(true, Ordering::Release);
    assert_eq!(sending.join().expect("it sends"), 0);
}

#[test]
fn a_subscription_under_no_address_harms_nobody() {
    let scene = Scene::new(HOLD, Duration::ZERO);
    let context = zmq::Context::new();
    let stranger = context.socket(zmq::SUB).expect("a socket");
    for address in [&b""[..], b"_", &[b'x'; 256]] {
        let topic = topic::step_presence(address);
        stranger.set_subscribe(&topic).expect("an open socket");
    }
    stranger
        .connect(&scene.place.step())
        .expect("the relay is there");
    let mut malformed = 0;
    while malformed < 3 {
        match scene.told.recv_timeout(TIMEOUT).expect("it is told") {
            Told::Malformed(count) => malformed += count,
            Told::Event(other) => panic!("{other:?}"),
        }
    }
    scene.secondaries(["a-0"]);
}

#[test]
fn a_relay_that_its_primary_does_not_know_has_lost_it() {
    let scene = Scene::new(HOLD, Duration::ZERO);
    let [mut a] = scene.secondaries(["a-0"]);
    scene.says(RELAY, &Item::Unknown);
    scene.waits_for(&Told::Event(RelayEvent::Lost));
    while a.receive(Some(TIMEOUT)).expect("the transport works") != Some(Arrival::Disconnected) {}
}

#[test]
fn a_relay_gives_up_a_silent_primary() {
    let scene = Scene::new(HOLD, Duration::from_millis(300));
    let is_silent = |told: &Told| matches!(told, Told::Event(RelayEvent::Silent(_)));
    while !is_silent(&scene.told.recv_timeout(TIMEOUT).expect("it is told")) {}
    // A primary that is back is another one to the relay, and greeted anew.
    while scene.hears().1 != [bundle::hello("r1")] {}
}

#[test]
fn a_welcome_relay_says_that_it_is_there() {
    let scene = Scene::new(HOLD, Duration::ZERO);
    loop {
        let frames = scene.bound.control.recv_multipart(0).expect("a message");
        if items(frames[2].clone()).expect("it keeps to the rules") == [Item::Here] {
            return;
        }
    }
}
