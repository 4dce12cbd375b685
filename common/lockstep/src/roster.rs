//! The secondaries of a run: who they are, how far they have come, when they were last heard.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::secondary_to_primary::Heartbeat;
use protocol::{PeerInfo, PeerName, RoutingId, SessionTime};

use crate::peer_numbers::{ByPeer, PeerNumber, PeerNumbers};

/// Most requests to join that wait for a subscription; they are repeated, so that more come in
/// time.
const WAITING_MAX: usize = 1024;

/// Progress of a secondary towards taking part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Welcomed, reads the world.
    Welcomed,
    /// Has read the world.
    Loaded,
    /// Has answered a sync: it hears every step from now on.
    Synced,
}

/// One secondary.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its own account of itself.
    pub info: PeerInfo,
    /// Address at which it is reached.
    pub routing: RoutingId,
    /// Progress towards taking part.
    pub progress: Progress,
    /// Time of its welcome.
    pub welcomed_at: SessionTime,
    /// Time when it was last heard of by heartbeat, or welcomed.
    pub heard_at: SessionTime,
    /// Its last heartbeat.
    pub heartbeat: Heartbeat,
    /// Name of the GPU that draws what its cameras see.
    pub gpu: Option<String>,
    /// Findings about it while it does not answer.
    pub watch: Watch,
    /// Since when its connection is gone; it may still have a leave message on its way.
    pub closed_at: Option<SessionTime>,
}

/// Findings about a peer that does not answer.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Processor time that it had used \[us\], when that was noted.
    pub(crate) cpu_noted: Option<(SessionTime, u64)>,
    /// Time when its process was last looked at.
    pub(crate) looked_at: Option<SessionTime>,
    /// Finding of that look, for people.
    pub(crate) found: Option<String>,
    /// Since when it is waited for because it is stopped.
    pub(crate) held_since: Option<SessionTime>,
    /// Time when that was told last.
    pub(crate) told_at: SessionTime,
    /// End of its process, as its parent saw it, for people.
    pub(crate) ended: Option<String>,
    /// Name of the lost relay with which it is gone, if it is.
    pub(crate) lost_relay: Option<String>,
}

impl Member {
    /// Moves all that it is waited for by a time in which the primary itself did nothing.
    pub fn postpone(&mut self, by: Duration) {
        self.welcomed_at = self.welcomed_at + by;
        self.heard_at = self.heard_at + by;
        self.closed_at = self.closed_at.map(|at| at + by);
        self.watch.postpone(by);
    }
}

impl Watch {
    /// Moves what was noted by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        let [looked_at, held_since] =
            [self.looked_at, self.held_since].map(|at| at.map(|at| at + by));
        (self.looked_at, self.held_since) = (looked_at, held_since);
        self.told_at = self.told_at + by;
    }

    /// Tells whether it is waited for as long as it is stopped.
    pub fn is_held(&self) -> bool {
        self.held_since.is_some()
    }
}

/// The secondaries of a run.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    numbers: PeerNumbers,
    members: ByPeer<Option<Box<Member>>>,
    /// Number of members.
    count: usize,
    subscribed: BTreeSet<RoutingId>,
    /// Requests to join whose subscription was not seen yet.
    waiting: BTreeMap<RoutingId, PeerInfo>,
}

impl Roster {
    /// Adds a secondary that was just welcomed.
    pub fn admit(&mut self, info: PeerInfo, routing: RoutingId, now: SessionTime) {
        let member = Member {
            routing,
            progress: Progress::Welcomed,
            welcomed_at: now,
            heard_at: now,
            heartbeat: Heartbeat::default(),
            gpu: None,
            watch: Watch::default(),
            closed_at: None,
            info,
        };
        let number = self.numbers.number(&member.info.name);
        let before = self.members.entry(number).replace(Box::new(member));
        self.count += usize::from(before.is_none());
    }

    /// Removes a secondary that left or was lost.
    pub fn remove(&mut self, name: &PeerName) -> Option<Member> {
        let number = self.numbers.find(name)?;
        let member = self.members.entry(number).take()?;
        self.count -= 1;
        self.subscribed.remove(&member.routing);
        Some(*member)
    }

    /// Returns the numbers of all that are or were members.
    pub(crate) fn numbers(&self) -> &PeerNumbers {
        &self.numbers
    }

    /// Returns a secondary with its number.
    pub(crate) fn find(&self, name: &PeerName) -> Option<(PeerNumber, &Member)> {
        let number = self.numbers.find(name)?;
        let member = self.members.get(number)?.as_deref()?;
        Some((number, member))
    }

    /// Returns a secondary.
    pub fn get(&self, name: &PeerName) -> Option<&Member> {
        self.find(name).map(|(_, member)| member)
    }

    /// Returns a secondary to change.
    pub fn get_mut(&mut self, name: &PeerName) -> Option<&mut Member> {
        let number = self.numbers.find(name)?;
        self.numbered_mut(number)
    }

    /// Returns the secondary of a number to change.
    pub(crate) fn numbered_mut(&mut self, number: PeerNumber) -> Option<&mut Member> {
        self.members.entry(number).as_deref_mut()
    }

    /// Returns all secondaries, by name.
    pub fn members(&self) -> impl Iterator<Item = (&PeerName, &Member)> {
        self.numbers.by_name().filter_map(|number| {
            let member = self.members.get(number)?.as_deref()?;
            Some((self.numbers.name(number), member))
        })
    }

    /// Returns all secondaries to change, in the order of their first coming.
    pub fn members_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut().filter_map(Option::as_deref_mut)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Notes that a process at this address hears the `step` socket, and returns what it said of
    /// itself if it asked to join before.
    pub fn note_subscribed(&mut self, routing: RoutingId) -> Option<PeerInfo> {
        let waiting = self.waiting.remove(&routing);
        self.subscribed.insert(routing);
        waiting
    }

    /// Tells whether a process at this address hears the `step` socket.
    pub fn is_subscribed(&self, routing: &RoutingId) -> bool {
        self.subscribed.contains(routing)
    }

    /// Keeps a request to join until the subscription is seen: a process without one may be gone.
    pub fn keep_waiting(&mut self, routing: RoutingId, info: PeerInfo) {
        if self.waiting.len() < WAITING_MAX {
            self.waiting.insert(routing, info);
        }
    }

    /// Notes that the process at this address is gone and returns the secondary that it was.
    pub fn note_unsubscribed(&mut self, routing: &RoutingId, now: SessionTime) -> Option<PeerName> {
        self.subscribed.remove(routing);
        self.waiting.remove(routing);
        let member = self
            .members_mut()
            .find(|member| member.routing == *routing)?;
        member.closed_at = Some(now);
        Some(member.info.name.clone())
    }

    /// Tells whether this secondary has read the world and hears the `step` socket.
    pub fn is_ready_to_sync(&self, member: &Member) -> bool {
        member.progress == Progress::Loaded && self.subscribed.contains(&member.routing)
    }

    /// Tells whether `expected` secondaries hear every step.
    pub fn is_complete(&self, expected: usize) -> bool {
        let ready = self
            .members()
            .filter(|(_, member)| member.progress == Progress::Synced);
        ready.count() >= expected
    }

    /// Says what is still missing before the start, for people.
    pub fn missing(&self, expected: usize) -> String {
        let mut parts = Vec::new();
        let absent = expected.saturating_sub(self.count);
        if absent > 0 {
            parts.push(format!("{absent} of {expected} secondaries did not join"));
            if !self.is_empty() {
                let here: Vec<&str> = self.members().map(|(name, _)| name.as_str()).collect();
                parts.push(format!("joined so far: {}", here.join(", ")));
            }
        }
        for (name, member) in self.members() {
            let lacks = match member.progress {
                Progress::Synced => continue,
                Progress::Welcomed => "has not read the world",
                Progress::Loaded if self.subscribed.contains(&member.routing) => {
                    "has not answered the sync"
                }
                Progress::Loaded => "has not subscribed to steps",
            };
            parts.push(format!("{name} {lacks}"));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::peer::Build;
    use protocol::{Digest, Role};

    fn info(name: &str) -> PeerInfo {
        PeerInfo {
            name: name.parse().unwrap(),
            role: Role::Secondary,
            pid: 1,
            host: "here".to_owned(),
            machine: 0,
            build: Build {
                version: "1".to_owned(),
                target: "t".to_owned(),
                sources: Digest::default(),
            },
        }
    }

    #[test]
    fn missing_secondaries_are_named_with_the_cause() {
        let mut roster = Roster::default();
        assert_eq!(roster.missing(2), "2 of 2 secondaries did not join");
        roster.admit(info("s1"), "r1".into(), SessionTime(0));
        assert_eq!(
            roster.missing(2),
            "1 of 2 secondaries did not join; joined so far: s1; s1 has not read the world"
        );
        roster.get_mut(&"s1".parse().unwrap()).unwrap().progress = Progress::Loaded;
        assert_eq!(roster.missing(1), "s1 has not subscribed to steps");
        roster.note_subscribed("r1".into());
        assert_eq!(roster.missing(1), "s1 has not answered the sync");
    }

    #[test]
    fn a_subscription_may_come_before_the_peer_joins() {
        let mut roster = Roster::default();
        roster.note_subscribed("r1".into());
        roster.admit(info("s1"), "r1".into(), SessionTime(0));
        let name = "s1".parse().unwrap();
        roster.get_mut(&name).unwrap().progress = Progress::Loaded;
        assert!(roster.is_ready_to_sync(roster.get(&name).unwrap()));
    }
}
