//! [`Queue`]: entries that wait to be recorded, and the back-pressure on the stepper.
//!
//! Messages of a step come from another thread, when all of them have arrived, and stand right
//! behind the step's frame: the stepper leaves a gap for them, and what follows waits until that is
//! filled, so that the order in a recording does not depend on the load of the machines. It waits
//! for seconds at most: what was said in a step and arrives later stands behind later frames, and
//! what is known of a run is in the file soon, whatever becomes of the rest.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use protocol::Sequence;
use recording::Moment;

use super::writing::Entry;

/// From how much the stepper waits at each step, but not for long \[bytes\].
const BYTES_MANY: usize = 64 << 20;
/// From how much it waits as long as it takes \[bytes\].
const BYTES_MAX: usize = 512 << 20;
/// Time for which it waits at a step while less than [`BYTES_MAX`] is there: heartbeats of others
/// must be looked at in between.
const WAIT: Duration = Duration::from_millis(200);
/// Time for which a gap is waited for at most.
const GAP_TIME_MAX: Duration = Duration::from_secs(5);
/// Time for which it has waited in all when that is told first; then whenever it has doubled.
const TOLD_FROM: Duration = Duration::from_secs(1);

/// Entries that wait to be recorded.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Entries that may be taken, the oldest first.
    ready: VecDeque<(Entry, Moment)>,
    /// Entries and gaps of the stepper, from the first gap on that is not filled.
    behind: VecDeque<Place>,
    /// Messages of steps whose gap is not reached.
    said: BTreeMap<Sequence, Vec<(Entry, Moment)>>,
    /// The last step of which all has arrived that will.
    arrived: Sequence,
    /// The last step whose gap was not waited for any longer.
    passed: Option<Sequence>,
    /// Nothing more will be said.
    is_silent: bool,
    /// Size of what is ready, and of what was taken and is not worked off \[bytes\].
    ready_bytes: usize,
    /// Size of what waits for a gap to be filled or left \[bytes\].
    held_bytes: usize,
    /// No more will come.
    is_ending: bool,
    /// Nobody takes anything any more.
    is_over: bool,
    waits: Waits,
    problems: VecDeque<String>,
}

/// Time for which the stepper waited.
#[derive(Default)]
struct Waits {
    in_all: Duration,
    /// That time when it was told last.
    told_at: Duration,
}

/// A place in the order of the stepper.
enum Place {
    Entry(Entry, Moment),
    /// Here goes what was said in a step, whose gap was left at a time.
    Gap(Sequence, Instant),
}

/// Entries taken from the queue.
pub(super) struct Taken {
    /// The oldest first; none when time is up or it is the end.
    pub(super) entries: VecDeque<(Entry, Moment)>,
    /// True if these are the last ones.
    pub(super) is_end: bool,
}

impl Queue {
    /// Adds something; nothing happens when nobody takes it any more.
    pub(super) fn push(&self, entry: Entry, at: Moment) {
        let mut state = self.state();
        if !state.is_over {
            state.held_bytes += entry.size();
            state.behind.push_back(Place::Entry(entry, at));
            state.fill_gaps();
            self.changed.notify_all();
        }
    }

    /// Leaves a gap for what was said in a step.
    pub(super) fn leave_gap(&self, sequence: Sequence) {
        let mut state = self.state();
        if !state.is_over {
            state.behind.push_back(Place::Gap(sequence, Instant::now()));
            state.fill_gaps();
            self.changed.notify_all();
        }
    }

    /// Fills the gap of a step, and those of steps before it that are empty.
    pub(super) fn fill_gap(&self, sequence: Sequence, said: Vec<(Entry, Moment)>) {
        let mut state = self.state();
        if !state.is_over {
            state.held_bytes += size(&said);
            state.said.insert(sequence, said);
            state.arrived = state.arrived.max(sequence);
            state.fill_gaps();
            self.changed.notify_all();
        }
    }

    /// Takes note that nothing more will be said: no gap is waited for.
    pub(super) fn note_silence(&self) {
        let mut state = self.state();
        state.is_silent = true;
        state.fill_gaps();
        self.changed.notify_all();
    }

    /// Waits while too much is there.
    pub(super) fn admit(&self) {
        let mut state = self.state();
        if state.bytes() <= BYTES_MANY {
            return;
        }
        let begun = Instant::now();
        while !state.lets_go_on(begun.elapsed()) {
            let left = WAIT.saturating_sub(begun.elapsed());
            let timeout = left.max(Duration::from_millis(10));
            state = self
                .changed
                .wait_timeout(state, timeout)
                .expect(UNPOISONED)
                .0;
        }
        state.waits.in_all += begun.elapsed();
        let waited = state.waits.in_all;
        if waited >= TOLD_FROM.max(2 * state.waits.told_at) {
            state.waits.told_at = waited;
            let cause = if state.ready_bytes > BYTES_MANY {
                "more is recorded than the disk takes"
            } else {
                "what secondaries say arrives late"
            };
            let text = format!(
                "steps have waited {:.1} s in all for the recording: {cause}; a lower \
                 --record-rate or fewer sensors help",
                waited.as_secs_f64()
            );
            state.problems.push_back(text);
        }
    }

    /// Waits until half of what may be there without a step waiting for it is free.
    pub(super) fn wait_for_room(&self) {
        let mut state = self.state();
        while !state.is_over && state.bytes() > BYTES_MANY / 2 {
            state = self.changed.wait(state).expect(UNPOISONED);
        }
    }

    /// Takes what is there; waits for the first of it until then.
    pub(super) fn take(&self, until: Instant) -> Taken {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            state.pass_gaps(now);
            if !state.ready.is_empty() || state.is_ending {
                return Taken {
                    entries: std::mem::take(&mut state.ready),
                    is_end: state.is_ending,
                };
            }
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return Taken {
                    entries: VecDeque::new(),
                    is_end: false,
                };
            }
            state = self.changed.wait_timeout(state, left).expect(UNPOISONED).0;
        }
    }

    /// Takes note that so much was worked off \[bytes\].
    pub(super) fn done(&self, bytes: usize) {
        let mut state = self.state();
        state.ready_bytes = state.ready_bytes.saturating_sub(bytes);
        self.changed.notify_all();
    }

    /// Says that no more will come.
    pub(super) fn end(&self) {
        self.note_silence();
        self.state().is_ending = true;
        self.changed.notify_all();
    }

    /// Lets nobody wait any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_over = true;
        state.ready.clear();
        state.behind.clear();
        state.said.clear();
        self.changed.notify_all();
    }

    /// Has a problem told.
    pub(super) fn tell(&self, problem: String) {
        self.state().problems.push_back(problem);
    }

    pub(super) fn take_problem(&self) -> Option<String> {
        self.state().problems.pop_front()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }
}

impl State {
    /// Returns the size of all that waits \[bytes\].
    fn bytes(&self) -> usize {
        self.ready_bytes + self.held_bytes
    }

    /// Tells whether the stepper goes on that has waited for so long. What is held back for a gap
    /// is not waited for any longer: that may need the stepper, which restores what a lost
    /// secondary did.
    fn lets_go_on(&self, waited: Duration) -> bool {
        let is_room = self.bytes() <= BYTES_MANY;
        self.is_over || is_room || waited >= WAIT && self.ready_bytes <= BYTES_MAX
    }

    /// Makes all ready up to the first gap that something may still come for.
    fn fill_gaps(&mut self) {
        if let Some(passed) = self.passed {
            self.fill_up_to(passed);
        }
        while let Some(place) = self.behind.pop_front() {
            match place {
                Place::Entry(entry, at) => {
                    self.held_bytes -= entry.size();
                    self.ready_bytes += entry.size();
                    self.ready.push_back((entry, at));
                }
                Place::Gap(sequence, _) if sequence <= self.arrived || self.is_silent => {
                    self.fill_up_to(sequence);
                }
                gap @ Place::Gap(..) => {
                    self.behind.push_front(gap);
                    return;
                }
            }
        }
        if self.is_silent {
            self.fill_up_to(Sequence(u64::MAX));
        }
    }

    fn fill_up_to(&mut self, sequence: Sequence) {
        while let Some(oldest) = self.said.first_entry()
            && *oldest.key() <= sequence
        {
            let said = oldest.remove();
            let bytes = size(&said);
            self.held_bytes -= bytes;
            self.ready_bytes += bytes;
            self.ready.extend(said);
        }
    }

    /// Waits no longer for gaps that were left too long ago.
    fn pass_gaps(&mut self, now: Instant) {
        while let Some(Place::Gap(sequence, left_at)) = self.behind.front()
            && now.saturating_duration_since(*left_at) >= GAP_TIME_MAX
        {
            if self.passed.is_none() {
                self.problems.push_back(format!(
                    "what was said in step {sequence} arrives late: in the recording it stands \
                     behind later steps, as what is said in others may"
                ));
            }
            self.passed = Some(*sequence);
            self.behind.pop_front();
            self.fill_gaps();
        }
    }
}

/// Returns what entries take in memory, about \[bytes\].
fn size(entries: &[(Entry, Moment)]) -> usize {
    entries.iter().map(|(entry, _)| entry.size()).sum()
}

const UNPOISONED: &str = "nobody panics while holding the queue";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn large() -> Entry {
        Entry::States(vec![0; BYTES_MANY + 1])
    }

    #[test]
    fn waiting_sinks_go_on_after_a_write_and_are_notified() {
        let queue = Arc::new(Queue::default());
        let waiting = {
            let queue = Arc::clone(&queue);
            queue.push(large(), Moment::default());
            std::thread::spawn(move || queue.admit())
        };
        let taken = queue.take(Instant::now() + Duration::from_secs(10));
        let size = taken.entries[0].0.size();
        queue.done(size);
        waiting.join().unwrap();
        assert_eq!(queue.state().bytes(), 0);
        queue.state().waits.in_all = TOLD_FROM;
        queue.push(large(), Moment::default());
        queue.admit();
        let told = queue.take_problem().unwrap();
        let (_, rest) = told.split_once("steps have waited ").expect(&told);
        let waited: f64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert!(waited >= TOLD_FROM.as_secs_f64(), "{told}");
        assert_eq!(queue.take_problem(), None);
    }

    #[test]
    fn a_finished_recording_holds_nobody_up() {
        let queue = Queue::default();
        queue.push(Entry::States(vec![0; BYTES_MAX + 1]), Moment::default());
        queue.close();
        queue.admit();
        queue.push(large(), Moment::default());
        queue.leave_gap(Sequence(1));
        queue.fill_gap(Sequence(1), vec![(large(), Moment::default())]);
        let state = queue.state();
        assert!(state.ready.is_empty() && state.behind.is_empty() && state.said.is_empty());
    }

    /// Takes what is ready, as the lines of its commands.
    fn take(queue: &Queue) -> Vec<String> {
        let lines = queue.take(Instant::now()).entries.into_iter();
        let lines = lines.map(|(entry, _)| match entry {
            Entry::Command(line) => line,
            _ => "another entry".to_owned(),
        });
        lines.collect()
    }

    fn line(text: &str) -> (Entry, Moment) {
        (Entry::Command(text.to_owned()), Moment::default())
    }

    fn push(queue: &Queue, text: &str) {
        let (entry, at) = line(text);
        queue.push(entry, at);
    }

    #[test]
    fn what_was_said_in_a_step_stands_behind_its_frame_whenever_it_arrives() {
        let queue = Queue::default();
        queue.fill_gap(Sequence(1), vec![line("said 1")]);
        assert_eq!(take(&queue), [""; 0], "its frame is not there");
        push(&queue, "frame 1");
        queue.leave_gap(Sequence(1));
        push(&queue, "frame 2");
        queue.leave_gap(Sequence(2));
        push(&queue, "frame 3");
        assert_eq!(take(&queue), ["frame 1", "said 1", "frame 2"]);
        push(&queue, "frame 4");
        queue.leave_gap(Sequence(4));
        push(&queue, "frame 5");
        queue.leave_gap(Sequence(5));
        assert_eq!(take(&queue), [""; 0], "the gap is not filled");
        // What was lost of step 2 is not waited for once a later step is there.
        queue.fill_gap(Sequence(4), vec![line("said 4")]);
        assert_eq!(take(&queue), ["frame 3", "frame 4", "said 4", "frame 5"]);
        push(&queue, "end");
        queue.end();
        assert_eq!(take(&queue), ["end"]);
    }

    #[test]
    fn nobody_waits_for_what_is_said_once_it_is_silent_and_nothing_of_it_is_lost() {
        let queue = Queue::default();
        queue.leave_gap(Sequence(1));
        push(&queue, "frame 2");
        queue.leave_gap(Sequence(2));
        queue.fill_gap(Sequence(3), vec![line("said 3")]);
        queue.note_silence();
        assert_eq!(take(&queue), ["frame 2", "said 3"]);
        queue.leave_gap(Sequence(4));
        push(&queue, "frame 5");
        assert_eq!(take(&queue), ["frame 5"]);
    }

    #[test]
    fn steps_go_on_while_what_was_said_is_awaited() {
        let queue = Queue::default();
        queue.leave_gap(Sequence(1));
        queue.push(Entry::States(vec![0; BYTES_MAX + 1]), Moment::default());
        queue.admit();
        assert!(queue.state().waits.in_all >= WAIT);
        queue.state().waits.in_all = TOLD_FROM;
        queue.admit();
        let told = queue.take_problem().unwrap();
        assert!(told.contains("what secondaries say arrives late"), "{told}");
    }

    #[test]
    fn steps_wait_for_the_disk_while_what_was_said_is_awaited() {
        let queue = Queue::default();
        queue.push(Entry::States(vec![0; BYTES_MAX + 1]), Moment::default());
        queue.leave_gap(Sequence(1));
        push(&queue, "frame 2");
        let mut taken = queue.take(Instant::now()).entries;
        assert!(!queue.state().lets_go_on(2 * WAIT), "it is not worked off");
        queue.done(size(taken.make_contiguous()));
        assert!(queue.state().lets_go_on(Duration::ZERO));
    }

    #[test]
    fn a_gap_is_not_waited_for_longer_than_a_file_may_lack_what_is_known() {
        let queue = Queue::default();
        queue.leave_gap(Sequence(1));
        push(&queue, "frame 2");
        queue.leave_gap(Sequence(2));
        push(&queue, "frame 3");
        let late = Instant::now() + GAP_TIME_MAX;
        assert_eq!(take(&queue), [""; 0]);
        queue.state().pass_gaps(late);
        assert_eq!(take(&queue), ["frame 2", "frame 3"]);
        let told = queue.take_problem().unwrap();
        assert!(
            told.starts_with("what was said in step 1 arrives late"),
            "{told}"
        );
        assert_eq!(queue.take_problem(), None);
        // It stands where it arrives.
        queue.fill_gap(Sequence(1), vec![line("said 1")]);
        assert_eq!(take(&queue), ["said 1"]);
        queue.leave_gap(Sequence(3));
        push(&queue, "frame 4");
        queue.fill_gap(Sequence(2), vec![line("said 2")]);
        assert_eq!(take(&queue), ["said 2"]);
        queue.fill_gap(Sequence(3), vec![line("said 3")]);
        assert_eq!(take(&queue), ["said 3", "frame 4"]);
        assert_eq!(queue.state().held_bytes, 0);
    }
}
