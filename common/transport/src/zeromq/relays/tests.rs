//! The relays of a primary, given the messages of relays that keep to the rules and of others.

use super::super::admitted_keys::AdmittedKeys;
use super::super::bundle::{Bundle, hello};
use super::super::inbox::Frames;
use super::*;
use crate::refusals::Tally;
use protocol::Access;
use protocol::report::RefusedCounts;
use std::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(2);

/// The relays of a primary.
struct Scene {
    relays: Relays,
    entrance: Entrance,
    tally: Tally,
}

/// Part of what came through relays, in words.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Came(String),
    Went(String),
    Message(String),
    Answer(String, Item),
}

fn key(key: u32) -> Sender {
    Sender {
        access: Access::Secondary,
        key,
    }
}

fn came(address: &str) -> Item {
    Item::Came(address.into())
}

fn went(address: &str) -> Item {
    Item::Went(address.into())
}

fn message(address: &str) -> Item {
    Item::Message {
        address: address.into(),
        topic: topic::STEP_ACK.as_bytes().to_vec(),
        payload: Bytes::from_static(b"payload"),
    }
}

fn said(next: Next) -> Said {
    match next {
        Next::Answer(relay, item) => Said::Answer(relay.to_string(), item),
        Next::Arrival(relayed) => match relayed.arrival {
            Arrival::Subscribed(address) => Said::Came(address.to_string()),
            Arrival::Unsubscribed(address) => Said::Went(address.to_string()),
            Arrival::Message { from, .. } => {
                Said::Message(from.map_or_else(String::new, |from| from.to_string()))
            }
            other => panic!("nobody says {other:?} through a relay"),
        },
    }
}

impl Scene {
    fn new() -> Self {
        let tally = Tally::default();
        let mut relays = Relays::default();
        relays.set_timeout(TIMEOUT);
        Self {
            relays,
            entrance: Entrance::new(tally.clone(), AdmittedKeys::default(), None),
            tally,
        }
    }

    /// Makes a scene in which these relays are welcome.
    fn with(names: &[&str]) -> Self {
        let mut scene = Self::new();
        for name in names {
            let welcome = Item::Welcome { timeout: TIMEOUT };
            scene.relays.come((*name).into());
            let answer = scene.hears(name, &[hello("r")]);
            assert_eq!(answer, [Said::Answer((*name).to_owned(), welcome)]);
        }
        scene
    }

    fn hears(&mut self, from: &str, items: &[Item]) -> Vec<Said> {
        let mut bundle = Bundle::default();
        for item in items {
            assert!(bundle.push(item), "{item:?}");
        }
        self.hears_bytes(from, bundle.bytes())
    }

    fn hears_bytes(&mut self, from: &str, bytes: &[u8]) -> Vec<Said> {
        let topic = topic::RELAY.as_bytes();
        self.relays.on_message(Entered {
            from: from.into(),
            sender: Sender::ANYBODY,
            connection: None,
            topic: topic.to_vec(),
            frames: Frames::of(&[from.as_bytes(), topic, bytes]),
        });
        self.all()
    }

    fn all(&mut self) -> Vec<Said> {
        let nexts = std::iter::from_fn(|| self.relays.next(&mut self.entrance));
        nexts.map(said).collect()
    }

    fn goes(&mut self, relay: &str) -> Vec<Said> {
        self.relays.go(&relay.into(), &mut self.entrance);
        self.all()
    }

    fn refused(&self) -> RefusedCounts {
        let refusals = self.tally.take(Instant::now(), true);
        refusals.map(|refusals| refusals.counts).unwrap_or_default()
    }

    fn route(&self, address: &str) -> Option<String> {
        let route = self.relays.route(&address.into());
        route.map(|relay| relay.to_string())
    }
}

/// Returns a text of its own.
fn s(text: &str) -> String {
    text.to_owned()
}

#[test]
fn parts_are_what_they_would_be_from_connections_of_their_own_and_in_their_order() {
    let mut scene = Scene::with(&["r1-0"]);
    let items = [came("s1-0"), message("s1-0"), came("s2-0"), went("s1-0")];
    let expected = [
        Said::Came(s("s1-0")),
        Said::Message(s("s1-0")),
        Said::Came(s("s2-0")),
        Said::Went(s("s1-0")),
    ];
    assert_eq!(scene.hears("r1-0", &items), expected);
    assert_eq!(scene.route("s2-0"), Some(s("r1-0")));
    assert_eq!(scene.relays.name_of_route(&"s2-0".into()), Some("r"));
    assert_eq!(scene.route("s1-0"), None);
    assert_eq!(scene.goes("r1-0"), [Said::Went(s("s2-0"))]);
    assert_eq!(scene.refused(), RefusedCounts::default());
}

#[test]
fn heartbeats_come_and_are_answered_by_a_connection_of_their_own() {
    let mut scene = Scene::with(&["r1-0"]);
    let beat = [message("s1-0~heartbeat")];
    let expected = [Said::Message(s("s1-0~heartbeat"))];
    assert_eq!(scene.hears("r1-0~heartbeat", &beat), expected);
    assert_eq!(scene.route("s1-0~heartbeat"), None, "s1 has not come");
    scene.hears("r1-0", &[came("s1-0")]);
    assert_eq!(scene.hears("r1-0~heartbeat", &beat), expected);
    assert_eq!(scene.route("s1-0~heartbeat"), Some(s("r1-0~heartbeat")));
    assert_eq!(scene.route("s1-0"), Some(s("r1-0")));
}

#[test]
fn nobody_speaks_for_one_that_is_behind_another_relay_or_has_its_own_connection() {
    let mut scene = Scene::with(&["r1-0", "r2-0", "r3-0"]);
    assert!(scene.entrance.gate.hold(&"s1-0".into(), Sender::ANYBODY));
    scene.hears("r1-0", &[came("s2-0")]);
    let mut count = 0;
    for address in ["s1-0", "s2-0", "r1-0", "r2-0"] {
        let beat = format!("{address}~heartbeat");
        let items = [came(address), message(address), message(&beat)];
        assert_eq!(scene.hears("r2-0", &items), [], "{address}");
        count += 3;
        assert_eq!(scene.hears("r2-0", &[went(address)]), [], "{address}");
    }
    assert_eq!(scene.refused().forbidden, count);
    assert_eq!(scene.route("s2-0"), Some(s("r1-0")));
    assert_eq!(scene.goes("r2-0"), []);
    assert!(scene.relays.stand_for(&"s2-0".into()));
    // When it has left the one, it may come by the other.
    scene.hears("r1-0", &[went("s2-0")]);
    assert_eq!(
        scene.hears("r3-0", &[came("s2-0")]),
        [Said::Came(s("s2-0"))]
    );
}

#[test]
fn a_secondary_is_held_by_the_key_of_its_relay() {
    let mut scene = Scene::with(&["r1-0"]);
    scene.hears("r1-0", &[came("s2-0")]);
    let mut admits = |name: &str, sender| {
        let topic = topic::STEP_ACK.as_bytes();
        scene.entrance.admits(&name.into(), sender, topic, 1)
    };
    assert!(admits("s2-0", Sender::ANYBODY) && !admits("s2-0", key(1)));
}

#[test]
fn only_a_relay_whose_subscription_is_in_force_is_heard() {
    let mut scene = Scene::new();
    let unknown = |from: &str| [Said::Answer(s(from), Item::Unknown)];
    // Its greeting may come first, and is said again.
    assert_eq!(scene.hears("r1-0", &[hello("r")]), []);
    scene.relays.come("r1-0".into());
    for items in [[came("s1-0")], [message("s1-0")], [Item::Here]] {
        assert_eq!(scene.hears("r1-0", &items), unknown("r1-0"), "{items:?}");
    }
    scene.hears("r1-0", &[hello("r")]);
    assert_eq!(
        scene.hears("r1-0", &[Item::Here, came("s1-0")]),
        [Said::Came(s("s1-0"))]
    );
    // Its subscription is lost and back: it is told, also by its heartbeats.
    scene.goes("r1-0");
    scene.relays.come("r1-0".into());
    for from in ["r1-0", "r1-0~heartbeat"] {
        assert_eq!(scene.hears(from, &[Item::Here]), unknown(from));
    }
    assert_eq!(scene.route("s1-0"), None);
}

#[test]
fn a_relay_that_is_lost_is_named_with_each_who_is_gone_with_it_by_its_first_name() {
    let mut scene = Scene::new();
    scene.relays.come("r1-0".into());
    scene.hears("r1-0", &[hello("r1")]);
    scene.hears("r1-0", &[came("s1-0"), came("s2-0"), came("s3-0")]);
    scene.hears("r1-0", &[hello("other")]);
    assert_eq!(
        scene.hears("r1-0", &[went("s3-0")]),
        [Said::Went(s("s3-0"))]
    );
    assert_eq!(scene.relays.lost_relay_of(&"s3-0".into()), None);
    scene.relays.go(&"r1-0".into(), &mut scene.entrance);
    for name in ["s1-0", "s2-0"] {
        let next = scene.relays.next(&mut scene.entrance);
        assert_eq!(next.map(said), Some(Said::Went(s(name))));
        assert_eq!(scene.relays.lost_relay_of(&name.into()), Some("r1"));
        assert_eq!(scene.relays.lost_relay_of(&"s3-0".into()), None);
    }
    assert!(scene.relays.next(&mut scene.entrance).is_none());
    assert_eq!(scene.relays.lost_relay_of(&"s2-0".into()), None);
}

#[test]
fn another_version_a_name_that_no_peer_has_and_broken_bytes_are_refused() {
    let mut scene = Scene::new();
    scene.relays.come("r1-0".into());
    let mut check = |bytes: &[u8], part: &str| {
        let said = scene.hears_bytes("r1-0", bytes);
        let [Said::Answer(relay, Item::Refused(reason))] = &said[..] else {
            panic!("{said:?}");
        };
        assert!(relay == "r1-0" && reason.contains(part), "{reason}");
    };
    let other = Item::Hello {
        name: s("r1"),
        version: 1_000_000,
    };
    check(Bundle::of(&other).bytes(), "version 1000000");
    for name in ["", "a\u{1b}[31m", "two words", &"x".repeat(1_000)] {
        check(Bundle::of(&hello(name)).bytes(), "name");
    }
    check(b"no bundle", "rules");
    assert_eq!(scene.refused().malformed, 1);
}

#[test]
fn addresses_that_no_secondary_has_are_turned_away_and_the_others_are_heard() {
    let mut scene = Scene::with(&["r1-0"]);
    let items = [came("_s1"), message("\u{7}"), message("s1-0")];
    assert_eq!(scene.hears("r1-0", &items), [Said::Message(s("s1-0"))]);
    let relay = Item::Message {
        address: "s1-0".into(),
        topic: topic::RELAY.as_bytes().to_vec(),
        payload: Bytes::new(),
    };
    assert_eq!(scene.hears("r1-0", &[relay]), []);
    assert_eq!(scene.refused().malformed, 2);
}

#[test]
fn who_has_not_come_yet_is_answered_and_leaves_nothing_behind() {
    let mut scene = Scene::with(&["r1-0"]);
    scene.hears("r1-0", &[message("s1-0")]);
    assert_eq!(scene.route("s1-0"), Some(s("r1-0")));
    assert!(!scene.relays.stand_for(&"s1-0".into()));
    scene.hears("r1-0", &[came("s1-0"), went("s1-0")]);
    assert_eq!(scene.route("s1-0"), None);
    // Its last words may come after its end was seen.
    scene.hears("r1-0~heartbeat", &[message("s1-0~heartbeat")]);
    assert!(scene.relays.routes.is_empty() && scene.relays.guests.is_empty());
    for number in 0..2 * GUESTS_MAX {
        scene.hears("r1-0", &[message(&format!("s{number}-0"))]);
    }
    assert_eq!(scene.relays.guests.len(), GUESTS_MAX);
    scene.goes("r1-0");
    assert!(scene.relays.guests.is_empty());
}

#[test]
fn a_message_is_unpacked_part_by_part_and_no_further_once_much_of_it_is_refused() {
    let mut scene = Scene::with(&["r1-0"]);
    let mut bundle = Bundle::default();
    for item in [message("s1-0"), message("s2-0")] {
        assert!(bundle.push(&item));
    }
    for _ in 0..2 * REFUSED_PARTS_MAX {
        assert!(bundle.push(&came("_")));
    }
    assert!(bundle.push(&message("s3-0")));
    let said = scene.hears_bytes("r1-0", bundle.bytes());
    assert_eq!(said, [Said::Message(s("s1-0")), Said::Message(s("s2-0"))]);
    let refused = scene.refused();
    assert_eq!(refused.malformed, u64::from(REFUSED_PARTS_MAX));
    assert_eq!(refused.excess, 1);
}

#[test]
fn a_stall_of_the_primary_is_no_silence_of_its_relays() {
    let mut scene = Scene::with(&["r1-0"]);
    scene.hears("r1-0", &[came("s1-0")]);
    let heard_at = scene.relays.present[&"r1-0".into()].heard_at;
    let at = |ms| heard_at + Duration::from_millis(ms);
    let mut silence = |timeout_ms, now_ms| {
        let timeout = Duration::from_millis(timeout_ms);
        scene.relays.look_up_at(Some(timeout), at(now_ms));
        let heard_at = scene.relays.present[&"r1-0".into()].heard_at;
        at(now_ms).duration_since(heard_at).as_millis()
    };
    assert_eq!(silence(100, 0), 0);
    assert_eq!(silence(100, 100), 100);
    assert_eq!(silence(100, 290), 290, "timers are not exact");
    assert_eq!(
        silence(100, 8_390),
        390,
        "of the stall only what was intended"
    );
    assert_eq!(silence(10_000, 18_390), 10_390, "it waited for so long");
}
