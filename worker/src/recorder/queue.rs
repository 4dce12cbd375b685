//! [`Queue`]: entries that wait to be recorded, and the back-pressure on the stepper.
//!
//! What was said in a step comes from another thread, when all of it has arrived, and stands right
//! behind the step's frame: the stepper leaves a gap for it, and what follows waits until that is
//! filled. So the order in a recording does not depend on the load of the machines.

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
    /// What the stepper handed over from the first gap on that is not filled.
    behind: VecDeque<Place>,
    /// What was said in steps whose gap is not reached.
    said: BTreeMap<Sequence, Vec<(Entry, Moment)>>,
    /// The last step of which all has arrived that will.
    arrived: Sequence,
    /// Nothing more will be said.
    is_silent: bool,
    /// Size of all of these, and of what was taken and is not worked off \[bytes\].
    bytes: usize,
    /// No more will come.
    is_ending: bool,
    /// Nobody takes anything any more.
    is_over: bool,
    waited: Duration,
    told_at: Duration,
    problems: VecDeque<String>,
}

/// A place in the order of the stepper.
enum Place {
    Entry(Entry, Moment),
    /// Here goes what was said in a step.
    Gap(Sequence),
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
            state.bytes += entry.size();
            state.behind.push_back(Place::Entry(entry, at));
            state.fill_gaps();
            self.changed.notify_all();
        }
    }

    /// Leaves a gap for what was said in a step.
    pub(super) fn leave_gap(&self, sequence: Sequence) {
        let mut state = self.state();
        if !state.is_over {
            state.behind.push_back(Place::Gap(sequence));
            state.fill_gaps();
            self.changed.notify_all();
        }
    }

    /// Fills the gap of a step, and those of steps before it that are empty.
    pub(super) fn fill_gap(&self, sequence: Sequence, said: Vec<(Entry, Moment)>) {
        let mut state = self.state();
        if !state.is_over {
            state.bytes += said.iter().map(|(entry, _)| entry.size()).sum::<usize>();
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
        if state.bytes <= BYTES_MANY {
            return;
        }
        let begun = Instant::now();
        while !state.is_over && state.bytes > BYTES_MANY {
            let left = WAIT.saturating_sub(begun.elapsed());
            // What is said again in the place of a lost secondary needs further steps.
            let may_go_on = state.bytes <= BYTES_MAX || !state.behind.is_empty();
            if left.is_zero() && may_go_on {
                break;
            }
            let timeout = left.max(Duration::from_millis(10));
            state = self
                .changed
                .wait_timeout(state, timeout)
                .expect(UNPOISONED)
                .0;
        }
        state.waited += begun.elapsed();
        if state.waited >= TOLD_FROM.max(2 * state.told_at) {
            state.told_at = state.waited;
            let text = format!(
                "steps have waited {:.1} s in all for the recording: more is recorded than the \
                 disk takes; a lower --record-rate or fewer sensors help",
                state.waited.as_secs_f64()
            );
            state.problems.push_back(text);
        }
    }

    /// Waits until half of what may be there without a step waiting for it is free.
    pub(super) fn wait_for_room(&self) {
        let mut state = self.state();
        while !state.is_over && state.bytes > BYTES_MANY / 2 {
            state = self.changed.wait(state).expect(UNPOISONED);
        }
    }

    /// Takes what is there; waits for the first of it until then.
    pub(super) fn take(&self, until: Instant) -> Taken {
        let mut state = self.state();
        loop {
            if !state.ready.is_empty() || state.is_ending {
                return Taken {
                    entries: std::mem::take(&mut state.ready),
                    is_end: state.is_ending,
                };
            }
            let left = until.saturating_duration_since(Instant::now());
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
        state.bytes = state.bytes.saturating_sub(bytes);
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
    /// Makes all ready up to the first gap that something may still come for.
    fn fill_gaps(&mut self) {
        while let Some(place) = self.behind.pop_front() {
            match place {
                Place::Entry(entry, at) => self.ready.push_back((entry, at)),
                Place::Gap(sequence) if sequence <= self.arrived || self.is_silent => {
                    self.fill_up_to(sequence);
                }
                gap @ Place::Gap(_) => {
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
            self.ready.extend(oldest.remove());
        }
    }
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
        assert_eq!(queue.state().bytes, 0);
        queue.state().waited = TOLD_FROM;
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
        assert!(queue.state().waited >= WAIT);
    }
}
