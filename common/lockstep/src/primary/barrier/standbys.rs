//! [`Standbys`]: secondaries that host no cell, which no step waits for.
//!
//! A secondary without cells has nothing to say about a step, and may be far away or slow. It hears
//! every step, does them in order and answers each, and the run goes on meanwhile: until it gets a
//! cell, has not answered too many steps, or time is to be paused, which all confirm. One that
//! answers nothing for some time although it lives is dropped, and the run has not waited for it.
//!
//! An example: s1 hosts all cells, and a message takes 50 ms to s2 and as long back. Step 10 takes
//! 1 ms: it waits for s1 alone. s2 answers it while step 110 is under way. With step 200 s2 gets a
//! cell, so that step 200 is complete once s2 has done steps 101 to 200.
//!
//! **Invariant:** who hosted a cell before or after a step is waited for.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::{Sequence, SessionTime};

use crate::peer_numbers::{ByPeer, PeerNumber, PeerNumbers};
use crate::primary::peers::seats::Seats;
use crate::primary::recovery::step_log;

/// Most messages, and bytes of them, that a stand-by has not answered without being waited for: as
/// many are on their way at once where it is far.
const UNANSWERED_MAX: usize = 1024;
const BYTES_MAX: usize = 4 << 20;
/// Number of messages in a row without a cell after which a secondary is not waited for: with the
/// first of them it loses its last cell, and what it still held back of that one leaves.
const IDLE_MESSAGES: u32 = 2;

/// Stand-bys, and the messages that they have not answered.
#[derive(Debug, Default)]
pub(super) struct Standbys {
    /// Number of messages in a row in which each had no cell.
    idle: ByPeer<u32>,
    /// Those who owe answers.
    behind: BTreeMap<PeerNumber, Behind>,
    /// The messages that any of them owes an answer to, in order.
    sent: VecDeque<Sent>,
    /// Size of all of them \[bytes\].
    bytes: usize,
    /// Those who were not waited for in the last message, in the order of seats.
    exempt: Vec<PeerNumber>,
    /// All who took part in the last message, and those who were waited for.
    seats: Arc<Seats>,
    awaited: Arc<Seats>,
    /// Time when those who answer nothing are looked for again.
    next_look: SessionTime,
}

/// State of one that owes answers.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// The first message that it has not answered.
    first: Sequence,
    /// Time since which it has answered nothing, and could have.
    since: SessionTime,
    /// True if its heartbeats came when it was found to answer nothing.
    is_suspect: bool,
}

impl Behind {
    fn from(first: Sequence, since: SessionTime) -> Self {
        Self {
            first,
            since,
            is_suspect: false,
        }
    }
}

/// A message that brought a step.
#[derive(Debug)]
struct Sent {
    step: Arc<Step>,
    at: SessionTime,
}

impl Standbys {
    /// Returns those whom the steps of the last message wait for, if the same take part as then.
    pub(super) fn awaited_of(&self, seats: &Arc<Seats>) -> Option<&Seats> {
        Arc::ptr_eq(&self.seats, seats).then_some(&*self.awaited)
    }

    /// Returns those whom the last message waits for.
    pub(super) fn awaited(&self) -> &Arc<Seats> {
        &self.awaited
    }

    /// Decides who is waited for in a message: all but those without a part in it, for whom
    /// `has_part` is false. A message that `all` are to confirm waits for them, too.
    pub(super) fn choose(
        &mut self,
        seats: &Arc<Seats>,
        all: bool,
        has_part: impl Fn(PeerNumber) -> bool,
        known: &PeerNumbers,
    ) {
        let mut exempt = Vec::new();
        for number in seats.numbers() {
            let idle = self.idle.entry(*number);
            *idle = if has_part(*number) {
                0
            } else {
                idle.saturating_add(1)
            };
            if *idle >= IDLE_MESSAGES && !all && self.may_wait(*number) {
                exempt.push(*number);
            }
        }
        if exempt == self.exempt && Arc::ptr_eq(&self.seats, seats) {
            return;
        }
        self.seats = Arc::clone(seats);
        self.awaited = if exempt.is_empty() {
            Arc::clone(seats)
        } else {
            let is_awaited = |number: &&PeerNumber| !exempt.contains(number);
            let awaited = seats.numbers().iter().filter(is_awaited);
            Arc::new(Seats::new(awaited.copied().collect(), known))
        };
        self.exempt = exempt;
    }

    /// Tells whether a stand-by may leave one more message unanswered.
    fn may_wait(&self, number: PeerNumber) -> bool {
        self.bytes < BYTES_MAX && self.unanswered(number).len() < UNANSWERED_MAX
    }

    /// Takes a message that is published.
    pub(super) fn note_sent(&mut self, step: &Arc<Step>, now: SessionTime) {
        for number in &self.exempt {
            let behind = Behind::from(step.sequence, now);
            self.behind.entry(*number).or_insert(behind);
        }
        if !self.behind.is_empty() {
            self.bytes += step_log::size(step);
            self.sent.push_back(Sent {
                step: Arc::clone(step),
                at: now,
            });
        }
    }

    /// Returns the messages that somebody has not answered without being waited for, in order.
    pub(super) fn unanswered(
        &self,
        number: PeerNumber,
    ) -> impl ExactSizeIterator<Item = &Arc<Step>> {
        let behind = self.behind.get(&number);
        let first = behind.map(|behind| self.place(behind.first));
        let sent = self.sent.range(first.unwrap_or(self.sent.len())..);
        sent.map(|sent| &sent.step)
    }

    /// Takes an answer that no step waits for; returns the message answered and the time that it
    /// took, if the sender owed it.
    pub(super) fn take(
        &mut self,
        from: PeerNumber,
        sequence: Sequence,
        now: SessionTime,
    ) -> Option<(Arc<Step>, Duration)> {
        let first = self.behind.get(&from)?.first;
        let sent = self.sent.get(self.place(sequence))?;
        if sequence < first || sent.step.sequence != sequence {
            return None;
        }
        let answered = (Arc::clone(&sent.step), now.since(sent.at));
        self.note_answered(from, sequence, now);
        Some(answered)
    }

    /// Notes that somebody has answered a message, and so all before it.
    pub(super) fn note_answered(&mut self, from: PeerNumber, sequence: Sequence, now: SessionTime) {
        let next = self.place(sequence.next());
        let next = self.sent.get(next).map(|sent| sent.step.sequence);
        let Some(behind) = self.behind.get_mut(&from) else {
            return;
        };
        if let Some(first) = next {
            *behind = Behind::from(first, now);
        } else {
            self.behind.remove(&from);
        }
        self.drop_answered();
    }

    /// Gives somebody who was kept from its steps by a job its whole time for them.
    pub(super) fn wait_again_for(&mut self, number: PeerNumber, now: SessionTime) {
        if let Some(behind) = self.behind.get_mut(&number) {
            *behind = Behind::from(behind.first, now);
        }
    }

    /// Returns the time when those who answer nothing are to be looked for.
    pub(super) fn deadline(&self) -> Option<SessionTime> {
        (!self.behind.is_empty()).then_some(self.next_look)
    }

    /// Returns those who have answered nothing for this time; looks twice in it.
    pub(super) fn take_silent(&mut self, timeout: Duration, now: SessionTime) -> Vec<PeerNumber> {
        if now < self.next_look {
            return Vec::new();
        }
        self.next_look = now + timeout / 2;
        let behind = self.behind.iter();
        let silent = behind.filter(|(_, behind)| now >= behind.since + timeout);
        silent.map(|(number, _)| *number).collect()
    }

    /// Notes whether the heartbeats of one come who answers nothing; returns whether they came when
    /// this was noted before, too: where a network is back, they may come before the answers.
    pub(super) fn suspect(&mut self, number: PeerNumber, beats: bool) -> bool {
        let behind = self.behind.get_mut(&number);
        behind.is_some_and(|behind| std::mem::replace(&mut behind.is_suspect, beats) && beats)
    }

    /// Forgets one that is gone.
    pub(super) fn forget(&mut self, number: PeerNumber) {
        *self.idle.entry(number) = 0;
        self.behind.remove(&number);
        self.drop_answered();
    }

    /// Drops the messages that all have answered.
    fn drop_answered(&mut self) {
        let needed = self.behind.values().map(|behind| behind.first).min();
        let answered = needed.map_or(self.sent.len(), |first| self.place(first));
        for sent in self.sent.drain(..answered) {
            self.bytes -= step_log::size(&sent.step);
        }
    }

    /// Moves all times by one in which the primary itself did nothing.
    pub(super) fn postpone(&mut self, by: Duration) {
        for behind in self.behind.values_mut() {
            behind.since = behind.since + by;
        }
        for sent in &mut self.sent {
            sent.at = sent.at + by;
        }
    }

    /// Returns the place of the first message of this step or a later one.
    fn place(&self, sequence: Sequence) -> usize {
        self.sent
            .partition_point(|sent| sent.step.sequence < sequence)
    }
}

#[cfg(test)]
mod tests {
    use protocol::PeerName;

    use super::*;

    struct Rig {
        known: PeerNumbers,
        seats: Arc<Seats>,
        standbys: Standbys,
        sequence: u64,
    }

    impl Rig {
        fn new() -> Self {
            let mut known = PeerNumbers::default();
            let names = ["s1", "s2", "s3"].map(|name| name.parse().unwrap());
            Self {
                seats: Arc::new(Seats::of(&names, &mut known)),
                known,
                standbys: Standbys::default(),
                sequence: 0,
            }
        }

        fn number(&self, name: &str) -> PeerNumber {
            self.known.find(&name.parse().unwrap()).unwrap()
        }

        /// Publishes a message in which these have cells; returns who is waited for.
        fn publish(&mut self, hosts: &[&str], all: bool) -> String {
            self.sequence += 1;
            let hosts: Vec<PeerNumber> = hosts.iter().map(|name| self.number(name)).collect();
            let has_part = |number| hosts.contains(&number);
            self.standbys
                .choose(&self.seats, all, has_part, &self.known);
            let step = Arc::new(Step {
                sequence: Sequence(self.sequence),
                ..Step::default()
            });
            self.standbys.note_sent(&step, SessionTime(self.sequence));
            let names = self.standbys.awaited().names().iter();
            let names: Vec<&str> = names.map(PeerName::as_str).collect();
            names.join(" ")
        }

        fn answer(&mut self, name: &str, sequence: u64) -> bool {
            let (number, now) = (self.number(name), SessionTime(100));
            let taken = self.standbys.take(number, Sequence(sequence), now);
            taken.is_some_and(|(step, took)| {
                let expected = 100_u64.saturating_sub(step.sequence.0);
                assert_eq!(took.as_nanos() as u64, expected);
                step.sequence == Sequence(sequence)
            })
        }

        fn unanswered(&self, name: &str) -> Vec<u64> {
            let steps = self.standbys.unanswered(self.number(name));
            steps.map(|step| step.sequence.0).collect()
        }
    }

    #[test]
    fn no_step_waits_for_who_has_had_no_cell_for_two() {
        let mut rig = Rig::new();
        assert_eq!(rig.publish(&["s1", "s2"], false), "s1 s2 s3");
        assert_eq!(rig.publish(&["s1", "s2"], false), "s1 s2");
        assert_eq!(rig.publish(&["s1"], false), "s1 s2");
        assert_eq!(rig.publish(&["s1"], false), "s1");
        assert_eq!(rig.publish(&["s1", "s3"], false), "s1 s3");
        assert_eq!(rig.publish(&["s1", "s3"], true), "s1 s2 s3");
        assert_eq!(rig.publish(&["s1", "s3"], false), "s1 s3");
    }

    #[test]
    fn answers_of_those_who_are_not_waited_for_are_taken_once_each() {
        let mut rig = Rig::new();
        for _ in 0..4 {
            rig.publish(&["s1"], false);
        }
        assert_eq!(rig.unanswered("s2"), [2, 3, 4]);
        assert!(!rig.answer("s2", 1), "it was waited for");
        assert!(rig.answer("s2", 2));
        assert!(!rig.answer("s2", 2));
        assert!(!rig.answer("s2", 5), "there is no such step");
        assert!(rig.answer("s2", 4), "the answer to 3 is late or lost");
        assert!(!rig.answer("s2", 3));
        assert_eq!(rig.unanswered("s3"), [2, 3, 4]);
        let last = rig.number("s3");
        rig.standbys
            .note_answered(last, Sequence(4), SessionTime(100));
        assert!(rig.standbys.sent.is_empty() && rig.standbys.bytes == 0);
    }

    #[test]
    fn those_who_answer_nothing_are_found() {
        let mut rig = Rig::new();
        for _ in 0..9 {
            rig.publish(&["s1"], false);
        }
        assert_eq!(rig.standbys.deadline(), Some(SessionTime(0)));
        let timeout = Duration::from_nanos(60);
        let silent = |rig: &mut Rig, now: u64| {
            let silent = rig.standbys.take_silent(timeout, SessionTime(now));
            let names = silent.iter().map(|number| rig.known.name(*number).as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(silent(&mut rig, 61), "");
        assert!(rig.answer("s3", 3), "at 100");
        assert_eq!(silent(&mut rig, 90), "", "it was looked at 29 before");
        assert_eq!(silent(&mut rig, 91), "s2");
        let number = rig.number("s2");
        let suspects = [true, false, true, true].map(|beats| rig.standbys.suspect(number, beats));
        assert_eq!(suspects, [false, false, false, true], "only twice in a row");
        rig.standbys
            .wait_again_for(rig.number("s2"), SessionTime(120));
        assert_eq!(silent(&mut rig, 159), "");
        rig.standbys.postpone(Duration::from_nanos(10));
        assert_eq!(silent(&mut rig, 189), "s3");
        assert_eq!(silent(&mut rig, 250), "s2 s3");
    }

    #[test]
    fn one_that_answers_nothing_is_waited_for_in_the_end() {
        let mut rig = Rig::new();
        rig.publish(&["s1"], false);
        for sequence in 2..2 + UNANSWERED_MAX as u64 {
            assert_eq!(rig.publish(&["s1"], false), "s1", "{sequence}");
            rig.answer("s3", sequence);
        }
        assert_eq!(rig.publish(&["s1"], false), "s1 s2");
        assert_eq!(rig.unanswered("s2").len(), UNANSWERED_MAX + 1);
        rig.standbys.forget(rig.number("s2"));
        assert_eq!(rig.unanswered("s3"), [UNANSWERED_MAX as u64 + 2]);
    }
}
