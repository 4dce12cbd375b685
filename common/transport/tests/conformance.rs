//! Shows that every kind of link keeps the same promises: in memory, over ipc and over tcp.
//! Each test plays one scene on all three and waits for what must happen, at most [`TIMEOUT`].

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "conformance/stage.rs"]
mod stage;

use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::{RoutingId, topic};
use stage::{Stage, TIMEOUT, expect, expect_message, message, on_every_stage, publish_until_heard};
use transport::{Arrival, Destination, Link, LinkError, Notice, Publisher, Subscription};

/// Connects a secondary and waits until both sides know of each other.
fn join(stage: &Stage, primary: &mut dyn Link, name: &str) -> Box<dyn Link + Send> {
    let mut secondary = stage.peer(name, Subscription::Steps);
    expect(&mut *secondary, &Arrival::Connected);
    expect(primary, &Arrival::Subscribed(RoutingId::from(name)));
    secondary
}

/// Lets the primary learn the routing id of a peer on `control`.
fn greet(primary: &mut dyn Link, peer: &mut dyn Link, name: &str) {
    peer.send(Destination::Primary, topic::ANNOUNCE, b"here")
        .unwrap();
    expect(primary, &message(Some(name), topic::ANNOUNCE, b"here"));
}

#[test]
fn a_step_reaches_every_subscribed_secondary() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let mut secondaries = ["s1", "s2", "s3"].map(|name| join(stage, &mut *primary, name));
        primary
            .send(Destination::EverySecondary, topic::STEP, b"1")
            .unwrap();
        primary
            .send(
                Destination::EverySecondary,
                topic::STATS,
                b"not for secondaries",
            )
            .unwrap();
        primary
            .send(Destination::EverySecondary, topic::SESSION, b"stop")
            .unwrap();
        for secondary in &mut secondaries {
            let next = |it: &mut Box<dyn Link + Send>| it.receive(Some(TIMEOUT)).unwrap();
            assert_eq!(next(secondary), Some(message(None, topic::STEP, b"1")));
            assert_eq!(
                next(secondary),
                Some(message(None, topic::SESSION, b"stop"))
            );
        }
    });
}

#[test]
fn control_carries_messages_both_ways() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let mut client = stage.peer("client", Subscription::None);
        let mut other = stage.peer("other", Subscription::None);
        greet(&mut *primary, &mut *client, "client");
        greet(&mut *primary, &mut *other, "other");
        let to_client = Destination::Peer(&RoutingId::from("client"));
        primary.send(to_client, topic::REQUEST, b"yes").unwrap();
        primary.send(to_client, topic::REQUEST, b"").unwrap();
        expect(&mut *client, &message(None, topic::REQUEST, b"yes"));
        expect(&mut *client, &message(None, topic::REQUEST, b""));
        expect(&mut *other, &Arrival::Connected);
        assert_eq!(other.receive(Some(Duration::ZERO)).unwrap(), None);
    });
}

#[test]
fn an_unknown_peer_is_unreachable_and_the_link_goes_on() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let nobody = RoutingId::from("nobody");
        let error = primary
            .send(Destination::Peer(&nobody), topic::STEP, b"1")
            .unwrap_err();
        assert!(
            matches!(&error, LinkError::Unreachable(id) if *id == nobody),
            "{error:?}"
        );
        let mut secondary = join(stage, &mut *primary, "s1");
        greet(&mut *primary, &mut *secondary, "s1");
        primary
            .send(Destination::Peer(&RoutingId::from("s1")), topic::STEP, b"2")
            .unwrap();
        expect(&mut *secondary, &message(None, topic::STEP, b"2"));
    });
}

#[test]
fn each_end_has_only_its_own_destinations() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let mut peer = stage.peer("s1", Subscription::Steps);
        let mut client = stage.peer("client", Subscription::None);
        let id = RoutingId::from("s2");
        for error in [
            primary.send(Destination::Primary, topic::STEP, b""),
            peer.send(Destination::EverySecondary, topic::STEP, b""),
            peer.send(Destination::Peer(&id), topic::STEP, b""),
            primary.send(Destination::Data, topic::DATA, b""),
            client.send(Destination::Data, topic::DATA, b""),
        ] {
            assert!(
                matches!(error, Err(LinkError::NoSuchDestination)),
                "{error:?}"
            );
        }
    });
}

#[test]
fn the_primary_sees_secondaries_come_and_go() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let first = join(stage, &mut *primary, "s1");
        let _second = join(stage, &mut *primary, "s2");
        drop(first);
        expect(&mut *primary, &Arrival::Unsubscribed(RoutingId::from("s1")));
        let _again = join(stage, &mut *primary, "s1");
        assert_eq!(primary.receive(Some(Duration::ZERO)).unwrap(), None);
    });
}

#[test]
fn a_reported_subscriber_misses_no_step() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        for round in 0..20 {
            let name = format!("s{round}");
            let mut secondary = stage.peer(&name, Subscription::Steps);
            expect(
                &mut *primary,
                &Arrival::Subscribed(RoutingId::from(name.as_str())),
            );
            primary
                .send(Destination::EverySecondary, topic::STEP, name.as_bytes())
                .unwrap();
            expect_message(&mut *secondary, topic::STEP, name.as_bytes());
        }
    });
}

#[test]
fn peers_see_the_primary_go_and_come_back() {
    on_every_stage(|stage| {
        let (mut primary, status) = stage.primary();
        let mut secondary = join(stage, &mut *primary, "s1");
        let mut client = stage.peer("client", Subscription::None);
        expect(&mut *client, &Arrival::Connected);
        primary
            .send(Destination::EverySecondary, topic::SESSION, b"stop")
            .unwrap();
        drop((primary, status));
        expect(&mut *secondary, &message(None, topic::SESSION, b"stop"));
        expect(&mut *secondary, &Arrival::Disconnected);
        expect(&mut *client, &Arrival::Disconnected);

        let (mut primary, _status) = stage.primary();
        expect(&mut *secondary, &Arrival::Connected);
        expect(&mut *client, &Arrival::Connected);
        expect(&mut *primary, &Arrival::Subscribed(RoutingId::from("s1")));
        primary
            .send(Destination::EverySecondary, topic::STEP, b"1")
            .unwrap();
        expect(&mut *secondary, &message(None, topic::STEP, b"1"));
        greet(&mut *primary, &mut *client, "client");
    });
}

#[test]
fn a_waker_ends_a_wait_from_another_thread() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let mut peer = stage.peer("client", Subscription::None);
        // That comes of itself, and may not come between the looks below.
        expect(&mut *peer, &Arrival::Connected);
        // Both live to the end: a peer hears when its primary is gone.
        for link in [&mut primary, &mut peer] {
            let waker = link.waker();
            for _ in 0..3 {
                let waiting = std::thread::scope(|scope| {
                    let thread = scope.spawn(|| expect(&mut **link, &Arrival::Woken));
                    waker.wake();
                    thread.join()
                });
                waiting.expect("the link was woken");
            }
            waker.wake();
            waker.wake();
            expect(&mut **link, &Arrival::Woken);
            assert_eq!(link.receive(Some(Duration::ZERO)).unwrap(), None);
        }
    });
}

#[test]
fn a_wait_lasts_as_long_as_it_was_asked_to_and_can_be_no_longer() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        for timeout in [
            Duration::ZERO,
            Duration::from_micros(300),
            Duration::from_millis(5),
        ] {
            // On a busy machine most waits are longer; one that is not shows what was asked for.
            let is_exact = (0..2_000).any(|_| {
                let start = Instant::now();
                assert_eq!(primary.receive(Some(timeout)).unwrap(), None);
                let waited = start.elapsed();
                assert!(waited >= timeout, "{waited:?} of {timeout:?}");
                waited < timeout + Duration::from_micros(700)
            });
            assert!(is_exact, "no wait of {timeout:?} was about as long");
        }
    });
}

#[test]
fn ten_thousand_messages_arrive_in_order_without_loss() {
    const COUNT: u32 = 10_000;
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let mut secondary = join(stage, &mut *primary, "s1");
        for number in 0..COUNT {
            let payload = number.to_le_bytes();
            primary
                .send(Destination::EverySecondary, topic::STEP, &payload)
                .unwrap();
            secondary
                .send(Destination::Primary, topic::STEP_ACK, &payload)
                .unwrap();
        }
        for number in 0..COUNT {
            let payload = number.to_le_bytes();
            let step = secondary.receive(Some(TIMEOUT)).unwrap();
            assert_eq!(step, Some(message(None, topic::STEP, &payload)));
            let ack = primary.receive(Some(TIMEOUT)).unwrap();
            assert_eq!(ack, Some(message(Some("s1"), topic::STEP_ACK, &payload)));
        }
    });
}

#[test]
fn a_flood_on_one_socket_does_not_hide_the_other() {
    on_every_stage(|stage| {
        let (mut primary, _) = stage.primary();
        let mut secondary = join(stage, &mut *primary, "s1");
        greet(&mut *primary, &mut *secondary, "s1");
        for _ in 0..1_000 {
            primary
                .send(Destination::EverySecondary, topic::STEP, b"flood")
                .unwrap();
        }
        let to_secondary = RoutingId::from("s1");
        primary
            .send(Destination::Peer(&to_secondary), topic::SESSION, b"aside")
            .unwrap();
        expect_message(&mut *secondary, topic::SESSION, b"aside");
    });
}

#[test]
fn an_observer_hears_its_topics_and_no_others() {
    on_every_stage(|stage| {
        let (_primary, mut status) = stage.primary();
        let mut observer = stage.peer("view", Subscription::Status(&[topic::STATS, topic::EVENTS]));
        publish_until_heard(&mut *status, &mut *observer, topic::STATS);
        status.publish(topic::CLOCK, b"unasked").unwrap();
        status.publish(topic::EVENTS, b"asked").unwrap();
        expect_message(&mut *observer, topic::EVENTS, b"asked");
    });
}

#[test]
fn a_slow_observer_loses_messages_and_never_blocks_the_publisher() {
    const COUNT: u32 = 20_000;
    let payload = vec![7; 1_000];
    on_every_stage(|stage| {
        let (_primary, mut status) = stage.primary();
        let mut observer = stage.peer("view", Subscription::Status(&[topic::STATS, topic::EVENTS]));
        publish_until_heard(&mut *status, &mut *observer, topic::STATS);
        let start = Instant::now();
        for _ in 0..COUNT {
            status.publish(topic::EVENTS, &payload).unwrap();
        }
        assert!(
            start.elapsed() < TIMEOUT,
            "publishing took {:?}",
            start.elapsed()
        );
        let mut heard = 0;
        let mut timeout = TIMEOUT;
        while let Some(arrival) = observer.receive(Some(timeout)).unwrap() {
            let event = matches!(arrival, Arrival::Message { topic, .. } if topic == b"/events");
            heard += u32::from(event);
            // What follows the first is there, or lost.
            if event {
                timeout = Duration::from_millis(200);
            }
        }
        assert!(heard > 0 && heard < COUNT, "heard {heard} of {COUNT}");
    });
}

/// Waits for a notice; what comes before it is returned.
fn expect_notice(publisher: &mut dyn Publisher, expected: &Notice) -> Vec<Notice> {
    let start = Instant::now();
    let mut others = Vec::new();
    while let Some(left) = TIMEOUT.checked_sub(start.elapsed()) {
        match publisher.receive(Some(left)).unwrap() {
            Some(notice) if notice == *expected => return others,
            Some(other) => others.push(other),
            None => break,
        }
    }
    panic!("waited {TIMEOUT:?} for {expected:?}; what came instead: {others:?}");
}

fn data(from: &str, payload: &[u8]) -> Notice {
    Notice::Data {
        from: RoutingId::from(from),
        topic: topic::DATA.as_bytes().to_vec(),
        payload: Bytes::copy_from_slice(payload),
    }
}

#[test]
fn data_of_secondaries_arrives_in_order_without_loss() {
    const COUNT: u32 = 5_000;
    on_every_stage(|stage| {
        let (_primary, mut publisher) = stage.primary();
        let mut secondaries = ["s1", "s2"].map(|name| stage.peer(name, Subscription::Steps));
        for number in 0..COUNT {
            for (index, secondary) in (0_u32..).zip(&mut secondaries) {
                let payload = (number * 2 + index).to_le_bytes();
                secondary
                    .send(Destination::Data, topic::DATA, &payload)
                    .unwrap();
            }
        }
        let mut next = [0, 1];
        for _ in 0..2 * COUNT {
            let start = Instant::now();
            let payload = loop {
                let found = publisher.receive(Some(Duration::from_millis(1))).unwrap();
                if let Some(Notice::Data { payload, .. }) = found {
                    break payload;
                }
                assert!(start.elapsed() < TIMEOUT, "nothing came after {next:?}");
                // What waits goes out while they receive.
                for secondary in &mut secondaries {
                    secondary.receive(Some(Duration::ZERO)).unwrap();
                }
            };
            let number = u32::from_le_bytes(payload[..].try_into().unwrap());
            let sender = &mut next[(number % 2) as usize];
            assert_eq!(number, *sender);
            *sender += 2;
        }
    });
}

#[test]
fn last_data_arrives_from_a_secondary_that_is_gone() {
    on_every_stage(|stage| {
        let (mut primary, mut publisher) = stage.primary();
        let mut secondary = join(stage, &mut *primary, "s1");
        let large = vec![5; 1 << 20];
        for _ in 0..8 {
            secondary
                .send(Destination::Data, topic::DATA, &large)
                .unwrap();
        }
        drop(secondary);
        for _ in 0..8 {
            expect_notice(&mut *publisher, &data("s1", &large));
        }
    });
}

#[test]
fn the_publisher_sees_topics_of_observers_come_and_go_once() {
    on_every_stage(|stage| {
        let (_primary, mut publisher) = stage.primary();
        let frame = topic::of_message("/a");
        let topics = [frame.as_str(), topic::EVENTS];
        let subscribed = Notice::Subscribed(frame.clone().into_bytes());
        let unsubscribed = Notice::Unsubscribed(frame.clone().into_bytes());
        let mut first = stage.peer("first", Subscription::Status(&topics));
        expect_notice(&mut *publisher, &subscribed);
        let second = stage.peer("second", Subscription::Status(&topics));
        publish_until_heard(&mut *publisher, &mut *first, topic::EVENTS);
        drop(second);
        publisher
            .publish(&topic::of_message("/ab"), b"other")
            .unwrap();
        publisher.publish(&frame, b"mine").unwrap();
        expect_message(&mut *first, &frame, b"mine");
        drop(first);
        let between = expect_notice(&mut *publisher, &unsubscribed);
        assert!(!between.contains(&subscribed), "{between:?}");
        let _again = stage.peer("again", Subscription::Status(&topics));
        expect_notice(&mut *publisher, &subscribed);
    });
}

#[test]
fn an_observer_that_listens_to_other_topics_loses_nothing_of_those_that_stay() {
    on_every_stage(|stage| {
        let (_primary, mut publisher) = stage.primary();
        let [stays, comes] = ["/a", "/b"].map(topic::of_message);
        let mut observer = stage.peer("o", Subscription::Status(&[&stays, topic::EVENTS]));
        publish_until_heard(&mut *publisher, &mut *observer, topic::EVENTS);
        for round in 0..20_u32 {
            publisher.publish(&stays, &round.to_le_bytes()).unwrap();
            let topics = [&*stays, topic::EVENTS, &comes];
            let count = if round % 2 == 0 { 3 } else { 2 };
            observer.listen(&topics[..count]).unwrap();
        }
        publisher.publish(&stays, b"all").unwrap();
        for round in 0..20_u32 {
            let mut heard = observer.receive(Some(TIMEOUT)).unwrap();
            while heard == Some(message(None, topic::EVENTS, b"anybody?")) {
                heard = observer.receive(Some(TIMEOUT)).unwrap();
            }
            assert_eq!(heard, Some(message(None, &stays, &round.to_le_bytes())));
        }
        expect_message(&mut *observer, &stays, b"all");
        observer.listen(&[&comes]).unwrap();
        publish_until_heard(&mut *publisher, &mut *observer, &comes);
        publisher.publish(&stays, b"no more").unwrap();
        publisher.publish(&comes, b"last").unwrap();
        loop {
            let heard = observer.receive(Some(TIMEOUT)).unwrap();
            assert_ne!(heard, Some(message(None, &stays, b"no more")));
            if heard == Some(message(None, &comes, b"last")) {
                break;
            }
        }
        let mut other = stage.peer("s", Subscription::None);
        let refused = other.listen(&[&comes]);
        assert!(matches!(refused, Err(LinkError::NoSuchDestination)));
    });
}

#[test]
fn a_publisher_is_woken_from_another_thread() {
    on_every_stage(|stage| {
        let (_primary, mut publisher) = stage.primary();
        let waker = publisher.waker();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| expect_notice(&mut *publisher, &Notice::Woken));
            waker.wake();
            thread.join().expect("the publisher was woken");
        });
        assert_eq!(publisher.receive(Some(Duration::ZERO)).unwrap(), None);
    });
}
