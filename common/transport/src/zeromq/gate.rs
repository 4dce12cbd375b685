//! [`Gate`]: filter of all that arrives on `control` and `clients` for the primary.
//!
//! Each message must be of a size and rate that its sender's role allows, and come from the key
//! that its routing id belongs to. Clients of one key share its rate, however many connections they
//! have; each has a little of its own, so that none is kept out by the others. What is turned away
//! is counted; nobody else notices it.

use std::collections::BTreeMap;
use std::time::Instant;

use protocol::{Access, RoutingId, envelope::MESSAGE_BYTES_MAX, topic};

use crate::rate::{Bucket, Rate};
use crate::refusals::{Reason, Tally};

/// The largest message of an observer, who only asks \[bytes\].
const OBSERVER_BYTES_MAX: usize = 64 << 10;

/// The largest message of a controller: a model with its meshes \[bytes\].
const CONTROLLER_BYTES_MAX: usize = 160 << 20;

/// Rate at which the clients of a key that may control a run may ask, all together.
const CONTROLLER_RATE: Rate = Rate {
    per_second: 10_000.0,
    at_once: 20_000.0,
};

/// Rate at which the clients of a key that may only look may ask, all together.
const OBSERVER_RATE: Rate = Rate {
    per_second: 1_000.0,
    at_once: 4_000.0,
};

/// Rate at which a connection may ask although the others of its key have asked too often.
const RESERVE: Rate = Rate {
    per_second: 20.0,
    at_once: 20.0,
};

/// Number of requests that one counts as if it is refused: whoever asks for what cannot be granted
/// may do so a tenth as often, and the thread that steps has less to refuse.
const REFUSED_COUNTS: f64 = 10.0;

/// Number of connections whose own rates are kept.
const CLIENTS_MAX: usize = 4096;

/// Number of routing ids of secondaries that are held.
const HELD_MAX: usize = 4096;

/// Sender of a message, as the handshake found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    /// Permissions of its key.
    pub(super) access: Access,
    /// The number of its key; without encryption all are one.
    pub(super) key: u32,
}

/// Filter of messages by size, rate and key.
#[derive(Debug)]
pub(super) struct Gate {
    tally: Tally,
    /// The keys that routing ids of subscribed secondaries belong to.
    held: BTreeMap<RoutingId, u32>,
    of_keys: BTreeMap<u32, Bucket>,
    reserves: BTreeMap<RoutingId, Bucket>,
}

impl Sender {
    /// Sender where nothing is encrypted.
    pub(super) const ANYBODY: Self = Self {
        access: Access::Full,
        key: 0,
    };

    /// Returns the name by which libzmq knows it.
    pub(super) fn user_id(self) -> String {
        format!("{} {}", self.access, self.key)
    }

    /// Returns the sender that has this name.
    pub(super) fn of_user_id(text: &str) -> Option<Self> {
        let (access, key) = text.split_once(' ')?;
        Some(Self {
            access: access.parse().ok()?,
            key: key.parse().ok()?,
        })
    }
}

impl Gate {
    pub(super) fn new(tally: Tally) -> Self {
        Self {
            tally,
            held: BTreeMap::new(),
            of_keys: BTreeMap::new(),
            reserves: BTreeMap::new(),
        }
    }

    /// Tells whether a message is let through.
    pub(super) fn admits(
        &mut self,
        from: &RoutingId,
        sender: Sender,
        topic: &[u8],
        bytes: usize,
        now: Instant,
    ) -> bool {
        if bytes > bytes_max(sender.access) {
            let text = || format!("{} sent {bytes} bytes at once", who(sender, from));
            self.tally.note(Reason::Excess, text);
            return false;
        }
        if self.is_of_another(from, sender) {
            return false;
        }
        let is_request = topic == topic::REQUEST.as_bytes();
        if (is_request || !sender.access.may_simulate()) && !self.has_token(from, sender, now) {
            let text = || {
                let rate = rate_of(sender.access).per_second;
                let who = who(sender, from);
                format!("{who} asked more often than {rate} times per second")
            };
            self.tally.note(Reason::Excess, text);
            return false;
        }
        true
    }

    /// Charges a key for a request that was refused. Without encryption, where all are one, nobody
    /// is charged for what another asked.
    pub(super) fn charge(&mut self, key: u32) {
        if key == Sender::ANYBODY.key {
            return;
        }
        if let Some(bucket) = self.of_keys.get_mut(&key) {
            bucket.charge(REFUSED_COUNTS - 1.0);
        }
    }

    /// Gives a routing id to the key that subscribed under it; false if it belongs to another.
    pub(super) fn hold(&mut self, routing: &RoutingId, sender: Sender) -> bool {
        if self.is_of_another(routing, sender) {
            return false;
        }
        if self.held.len() >= HELD_MAX && !self.held.contains_key(routing) {
            let text = || format!("there are more than {HELD_MAX} subscriptions to steps");
            self.tally.note(Reason::Excess, text);
            return false;
        }
        self.held.insert(routing.clone(), sender.key);
        true
    }

    /// Forgets a routing id whose subscription is gone; false if it was not held.
    pub(super) fn release(&mut self, routing: &RoutingId) -> bool {
        self.held.remove(routing).is_some()
    }

    /// Returns the number of the key that holds a routing id.
    pub(super) fn key_of(&self, routing: &RoutingId) -> Option<u32> {
        self.held.get(routing).copied()
    }

    fn is_of_another(&self, routing: &RoutingId, sender: Sender) -> bool {
        let holder = self.held.get(routing).or_else(|| {
            let stepper = routing.stepper()?;
            self.held.get(&stepper)
        });
        let is_of_another = holder.is_some_and(|key| *key != sender.key);
        if is_of_another {
            let text = || format!("{} used the address of another", who(sender, routing));
            self.tally.note(Reason::Forbidden, text);
        }
        is_of_another
    }

    fn has_token(&mut self, from: &RoutingId, sender: Sender, now: Instant) -> bool {
        let rate = rate_of(sender.access);
        let full = Bucket::full(rate, now);
        if self
            .of_keys
            .entry(sender.key)
            .or_insert(full)
            .take(rate, now)
        {
            return true;
        }
        if !self.reserves.contains_key(from) {
            self.forget_reserves(now);
            let full = Bucket::full(RESERVE, now);
            self.reserves.insert(from.clone(), full);
        }
        let reserve = self.reserves.get_mut(from);
        reserve.is_some_and(|reserve| reserve.take(RESERVE, now))
    }

    /// Makes room for one more: those that are full again, else whoever is first.
    fn forget_reserves(&mut self, now: Instant) {
        if self.reserves.len() < CLIENTS_MAX {
            return;
        }
        self.reserves
            .retain(|_, reserve| !reserve.is_full(RESERVE, now));
        if self.reserves.len() >= CLIENTS_MAX {
            self.reserves.pop_first();
        }
    }
}

fn rate_of(access: Access) -> Rate {
    match access {
        Access::Full | Access::Secondary | Access::Controller => CONTROLLER_RATE,
        Access::Observer => OBSERVER_RATE,
    }
}

fn bytes_max(access: Access) -> usize {
    match access {
        Access::Full | Access::Secondary => MESSAGE_BYTES_MAX,
        Access::Controller => CONTROLLER_BYTES_MAX,
        Access::Observer => OBSERVER_BYTES_MAX,
    }
}

/// Names a sender by its role and, where routing ids are names, by that.
fn who(sender: Sender, routing: &RoutingId) -> String {
    let is_name = routing.0.first().is_some_and(u8::is_ascii_graphic);
    let name: String = routing.to_string().chars().take(80).collect();
    if is_name {
        format!("{} {name}", sender.access)
    } else {
        format!("a connection of {} {}", sender.access, sender.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const REQUEST: &[u8] = topic::REQUEST.as_bytes();

    fn of(access: Access, key: u32) -> Sender {
        Sender { access, key }
    }

    #[test]
    fn the_name_of_a_sender_is_read_back() {
        for access in [Access::Secondary, Access::Controller, Access::Observer] {
            let sender = of(access, 17);
            assert_eq!(Sender::of_user_id(&sender.user_id()), Some(sender));
        }
        for text in ["", "observer", "owner 0", "observer x"] {
            assert_eq!(Sender::of_user_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn each_role_has_its_largest_message() {
        let mut gate = Gate::new(Tally::default());
        let mut check = |access, bytes, expected| {
            let (from, now) = (RoutingId::from("x"), Instant::now());
            let is = gate.admits(&from, of(access, 1), REQUEST, bytes, now);
            assert_eq!(is, expected, "{access} {bytes}");
        };
        check(Access::Observer, 64 << 10, true);
        check(Access::Observer, (64 << 10) + 1, false);
        check(Access::Controller, 160 << 20, true);
        check(Access::Controller, (160 << 20) + 1, false);
        check(Access::Secondary, 256 << 20, true);
    }

    #[test]
    fn refused_requests_count_ten_times_where_there_are_keys() {
        let (from, now) = (RoutingId::from("x"), Instant::now());
        let admitted = |sender| {
            let mut gate = Gate::new(Tally::default());
            let asks = (0..30_000).filter(|_| {
                let is_admitted = gate.admits(&from, sender, REQUEST, 1, now);
                gate.charge(sender.key);
                is_admitted
            });
            asks.count()
        };
        let reserve = 20;
        assert_eq!(admitted(of(Access::Controller, 1)), 2_000 + reserve);
        assert_eq!(admitted(of(Access::Observer, 1)), 400 + reserve);
        assert_eq!(admitted(Sender::ANYBODY), 20_000 + reserve);
    }

    #[test]
    fn the_clients_of_a_key_share_its_burst_and_its_rate() {
        let tally = Tally::default();
        let mut gate = Gate::new(tally.clone());
        let start = Instant::now();
        let names: Vec<RoutingId> = (0..10)
            .map(|n| RoutingId::from(&*format!("c{n}")))
            .collect();
        let mut burst = |sender, now| {
            let all = (0..60_000).map(|n| &names[n % names.len()]);
            all.filter(|from| gate.admits(from, sender, REQUEST, 1, now))
                .count()
        };
        // Beside that, each connection has its reserve.
        let reserves = 10 * 20;
        assert_eq!(burst(Sender::ANYBODY, start), 20_000 + reserves);
        let later = start + Duration::from_secs(1);
        assert_eq!(burst(Sender::ANYBODY, later), 10_000 + reserves);
        assert_eq!(burst(of(Access::Observer, 3), later), 4_000);
        let told = tally.take(start, false).unwrap();
        assert_eq!(told.counts.excess, 180_000 - 34_400);
        assert!(
            told.details
                .contains("owner c0 asked more often than 10000"),
            "{}",
            told.details
        );
    }

    #[test]
    fn a_client_is_heard_although_others_of_its_key_ask_too_often() {
        let mut gate = Gate::new(Tally::default());
        let now = Instant::now();
        let mut asks =
            |name: &str| gate.admits(&RoutingId::from(name), Sender::ANYBODY, REQUEST, 1, now);
        assert!((0..100_000).any(|_| !asks("flood")));
        assert!(!asks("flood") && asks("other"));
    }

    #[test]
    fn answers_of_secondaries_are_not_rate_limited() {
        let mut gate = Gate::new(Tally::default());
        let (from, now) = (RoutingId::from("s1"), Instant::now());
        let ack = topic::STEP_ACK.as_bytes();
        let of = of(Access::Secondary, 1);
        assert!((0..50_000).all(|_| gate.admits(&from, of, ack, 1, now)));
    }

    #[test]
    fn any_number_of_clients_takes_bounded_room() {
        let mut gate = Gate::new(Tally::default());
        let now = Instant::now();
        for number in 0..2 * CLIENTS_MAX {
            let from = RoutingId(number.to_be_bytes().to_vec());
            gate.admits(&from, of(Access::Observer, 1), REQUEST, 1, now);
        }
        assert_eq!(gate.reserves.len(), CLIENTS_MAX);
    }

    #[test]
    fn a_routing_id_and_its_heartbeat_belong_to_the_key_that_subscribed() {
        let tally = Tally::default();
        let mut gate = Gate::new(tally.clone());
        let routing = RoutingId::from("s1-0123");
        let [owner, thief] = [1, 2].map(|key| of(Access::Secondary, key));
        assert!(gate.hold(&routing, owner));
        assert!(!gate.hold(&routing, thief));
        for id in [routing.clone(), routing.heartbeat()] {
            let mut admits = |sender| gate.admits(&id, sender, b"/step_ack", 1, Instant::now());
            assert!(admits(owner) && !admits(thief), "{id}");
        }
        assert_eq!(
            tally.take(Instant::now(), false).unwrap().counts.forbidden,
            3
        );
        assert!(gate.release(&routing) && gate.hold(&routing, thief));
    }
}
