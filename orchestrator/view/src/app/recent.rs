//! [`Recent`]: what changed a moment ago, seen by comparing what is reported with what was.
//!
//! The screen marks it for [`FRESH_TIME`]; while anything is marked, the loop ticks more often.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::report::{LevelReport, PeerReport, PerformerReport};
use protocol::{PeerName, SessionTime};

use super::rows::state_of;

/// Time for which a change is marked.
pub const FRESH_TIME: Duration = Duration::from_secs(3);
/// Time that a mark keeps its look before it takes the other one.
const BLINK_TIME: Duration = Duration::from_millis(250);
/// Number of hand-offs that are remembered at once.
const HAND_OFFS_MAX: usize = 256;

/// A performer changed cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOff {
    /// The performer.
    pub performer: String,
    /// The level that it left.
    pub from: String,
    /// The level that it came to.
    pub to: String,
    /// Time when it was seen.
    pub at: SessionTime,
}

/// A level's cell changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelChange {
    /// It went from one peer to another.
    Moved {
        /// The former host.
        from: Option<PeerName>,
        /// The host now.
        to: Option<PeerName>,
    },
    /// It does something else now, in one word.
    State(&'static str),
}

/// Recent changes.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// The newest last.
    hand_offs: Vec<HandOff>,
    levels: BTreeMap<String, (LevelChange, SessionTime)>,
    /// The last change of each peer: true if it came, false if it left.
    peers: BTreeMap<PeerName, (bool, SessionTime)>,
    present: Option<BTreeSet<PeerName>>,
}

impl Recent {
    /// Compares performers as they were with how they are; both in the same order, by name.
    pub fn note_performers(
        &mut self,
        before: &[PerformerReport],
        after: &[PerformerReport],
        now: SessionTime,
    ) {
        let mut before = before.iter().peekable();
        for performer in after {
            while before
                .next_if(|known| known.name < performer.name)
                .is_some()
            {}
            let Some(known) = before.next_if(|known| known.name == performer.name) else {
                continue;
            };
            if known.level != performer.level {
                self.hand_offs.push(HandOff {
                    performer: performer.name.clone(),
                    from: known.level.clone(),
                    to: performer.level.clone(),
                    at: now,
                });
            }
        }
        let surplus = self.hand_offs.len().saturating_sub(HAND_OFFS_MAX);
        self.hand_offs.drain(..surplus);
    }

    /// Compares levels as they were with how they are.
    pub fn note_levels(&mut self, before: &[LevelReport], after: &[LevelReport], now: SessionTime) {
        let mut known = before.iter();
        for level in after {
            // Both are in world order; only cells that are no level come and go among them.
            let mut rest = known.clone();
            let Some(found) = rest.find(|one| one.name == level.name) else {
                continue;
            };
            known = rest;
            let change = if found.owner != level.owner {
                LevelChange::Moved {
                    from: found.owner.clone(),
                    to: level.owner.clone(),
                }
            } else if state_of(found) != state_of(level) {
                LevelChange::State(state_of(level))
            } else {
                continue;
            };
            self.levels.insert(level.name.clone(), (change, now));
        }
    }

    /// Takes who is there now; the first time nobody came.
    pub fn note_peers(&mut self, peers: &[PeerReport], now: SessionTime) {
        let is_there = |peer: &&PeerReport| peer.state.is_here();
        let count = peers.iter().filter(is_there).count();
        let is_known = |present: &BTreeSet<PeerName>| {
            present.len() == count
                && peers
                    .iter()
                    .filter(is_there)
                    .all(|peer| present.contains(&peer.name))
        };
        if self.present.as_ref().is_some_and(is_known) {
            return;
        }
        let names = peers.iter().filter(is_there).map(|peer| peer.name.clone());
        let after: BTreeSet<PeerName> = names.collect();
        if let Some(before) = self.present.replace(after) {
            let after = self.present.iter().flatten();
            for name in after.filter(|name| !before.contains(*name)) {
                self.peers.insert(name.clone(), (true, now));
            }
            for name in before {
                if self
                    .present
                    .as_ref()
                    .is_some_and(|after| !after.contains(&name))
                {
                    self.peers.insert(name, (false, now));
                }
            }
        }
    }

    /// Forgets what is no longer fresh.
    pub fn forget(&mut self, now: SessionTime) {
        let is_fresh = |at: SessionTime| now.since(at) < FRESH_TIME;
        self.hand_offs.retain(|hand_off| is_fresh(hand_off.at));
        self.levels.retain(|_, (_, at)| is_fresh(*at));
        self.peers.retain(|_, (_, at)| is_fresh(*at));
    }

    /// Tells whether there is nothing fresh.
    pub fn is_empty(&self) -> bool {
        self.hand_offs.is_empty() && self.levels.is_empty() && self.peers.is_empty()
    }

    /// Returns the last hand-off of a performer.
    pub fn hand_off(&self, performer: &str) -> Option<&HandOff> {
        let mut newest_first = self.hand_offs.iter().rev();
        newest_first.find(|hand_off| hand_off.performer == performer)
    }

    /// Returns the performers that changed cell.
    pub fn handed_over(&self) -> BTreeSet<&str> {
        let names = self.hand_offs.iter().map(|one| one.performer.as_str());
        names.collect()
    }

    /// Returns the levels whose cells changed, or that performers came to or left.
    pub fn changed_levels(&self) -> BTreeSet<&str> {
        let by_hand_off = self.hand_offs.iter().flat_map(|one| [&one.from, &one.to]);
        let names = self.levels.keys().chain(by_hand_off);
        names.map(String::as_str).collect()
    }

    /// Returns the hand-offs to a level and from it, the newest last.
    pub fn hand_offs_of(&self, level: &str) -> impl Iterator<Item = &HandOff> {
        let is_of = move |one: &&HandOff| one.from == level || one.to == level;
        self.hand_offs.iter().filter(is_of)
    }

    /// Returns how a level's cell changed.
    pub fn level(&self, name: &str) -> Option<&LevelChange> {
        self.levels.get(name).map(|(change, _)| change)
    }

    /// Returns whether a peer came, or else left.
    pub fn peer(&self, name: &PeerName) -> Option<bool> {
        self.peers.get(name).map(|(has_come, _)| *has_come)
    }
}

/// Tells which of its two looks a mark has now.
pub fn is_lit(now: SessionTime) -> bool {
    (u128::from(now.0) / BLINK_TIME.as_nanos()).is_multiple_of(2)
}

/// Returns what happened to a level a moment ago, as a text and a shorter one: `s1 > s2`,
/// `active`, `+rover_1 from west` or `+rover_1`, `+3 -1`.
pub fn level_texts(recent: &Recent, level: &str) -> Option<[String; 2]> {
    if recent.is_empty() {
        return None;
    }
    let same = |text: String| Some([text.clone(), text]);
    match recent.level(level) {
        Some(LevelChange::Moved { from, to }) => {
            let name = |peer: &Option<PeerName>| match peer {
                Some(peer) => peer.as_str().to_owned(),
                None => "nobody".to_owned(),
            };
            return same(format!("{} > {}", name(from), name(to)));
        }
        Some(LevelChange::State(state)) => return same((*state).to_owned()),
        None => {}
    }
    let (mut came, mut left, mut newest) = (0_usize, 0_usize, None);
    for hand_off in recent.hand_offs_of(level) {
        let has_come = hand_off.to == level;
        came += usize::from(has_come);
        left += usize::from(!has_come);
        newest = Some(hand_off);
    }
    let HandOff {
        performer,
        from,
        to,
        ..
    } = newest?;
    match (came, left) {
        (1, 0) => Some([format!("+{performer} from {from}"), format!("+{performer}")]),
        (0, 1) => Some([format!("-{performer} to {to}"), format!("-{performer}")]),
        (_, 0) => same(format!("+{came}")),
        (0, _) => same(format!("-{left}")),
        (_, _) => same(format!("+{came} -{left}")),
    }
}

#[cfg(test)]
mod tests {
    use protocol::report::PeerState;

    use super::*;
    use crate::app::fixture::{self, NOW};

    fn handed(pairs: &[(&str, &str)]) -> Recent {
        let before = fixture::performers();
        let mut after = before.clone();
        for (name, level) in pairs {
            let one = after.iter_mut().find(|one| one.name == *name).unwrap();
            one.level = (*level).to_owned();
        }
        let mut recent = Recent::default();
        recent.note_performers(&before, &after, NOW);
        recent
    }

    fn check(recent: &Recent, level: &str, expected: Option<&str>) {
        let text = level_texts(recent, level).map(|[long, _]| long);
        assert_eq!(text.as_deref(), expected, "{level}");
    }

    #[test]
    fn a_hand_off_is_told_by_both_levels() {
        let recent = handed(&[("rover_1", "west")]);
        check(&recent, "west", Some("+rover_1 from east"));
        check(&recent, "east", Some("-rover_1 to west"));
        check(&recent, "dock", None);
        assert_eq!(level_texts(&recent, "east").unwrap()[1], "-rover_1");
        assert_eq!(recent.hand_off("rover_1").unwrap().from, "east");
        assert_eq!(recent.hand_off("rover_2"), None);
    }

    #[test]
    fn many_hand_offs_are_counted() {
        let recent = handed(&[("rover_1", "west"), ("rover_2", "west"), ("ball", "east")]);
        check(&recent, "west", Some("+2 -1"));
        check(
            &handed(&[("rover_1", "dock"), ("rover_2", "dock")]),
            "dock",
            Some("+2"),
        );
    }

    #[test]
    fn performers_that_come_and_go_were_not_handed_over() {
        let all = fixture::performers();
        let mut recent = Recent::default();
        recent.note_performers(&[], &all, NOW);
        recent.note_performers(&all, &all[1..], NOW);
        recent.note_performers(&all[2..], &all, NOW);
        assert!(recent.is_empty());
    }

    #[test]
    fn a_level_that_moves_or_wakes_is_told() {
        let before = fixture::levels();
        let mut after = before.clone();
        after[1].owner = Some("s1".parse().unwrap());
        after[2].active = true;
        after[3].suspended = false;
        let mut recent = Recent::default();
        recent.note_levels(&before, &after, NOW);
        check(&recent, "east", Some("s2 > s1"));
        check(&recent, "dock", Some("active"));
        check(&recent, "yard", Some("inactive"));
        check(&recent, "west", None);
    }

    #[test]
    fn peers_that_come_and_go_are_told_and_those_of_the_start_are_not() {
        let mut peers = fixture::peers();
        let late = peers.pop().unwrap();
        let name = late.name.clone();
        let mut recent = Recent::default();
        recent.note_peers(&peers, NOW);
        assert!(recent.is_empty());
        peers.push(late);
        recent.note_peers(&peers, NOW);
        assert_eq!(recent.peer(&name), Some(true));
        peers[2].state = PeerState::Gone;
        recent.note_peers(&peers, NOW);
        assert_eq!(recent.peer(&name), Some(false));
    }

    #[test]
    fn recent_changes_are_bounded_and_expire() {
        let mut recent = handed(&[("rover_1", "west")]);
        recent.forget(NOW + FRESH_TIME - Duration::from_millis(1));
        assert!(!recent.is_empty());
        recent.forget(NOW + FRESH_TIME);
        assert!(recent.is_empty());
        let (before, mut after) = (fixture::performers(), fixture::performers());
        after[0].level = "east".to_owned();
        for _ in 0..HAND_OFFS_MAX {
            recent.note_performers(&before, &after, NOW);
            recent.note_performers(&after, &before, NOW);
        }
        assert_eq!(recent.hand_offs.len(), HAND_OFFS_MAX);
    }

    #[test]
    fn a_mark_has_two_looks_in_turns() {
        assert!(is_lit(SessionTime(0)) && is_lit(SessionTime(500_000_000)));
        assert!(!is_lit(SessionTime(250_000_000)));
    }
}
