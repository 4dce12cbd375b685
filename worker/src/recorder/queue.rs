//! [`Queue`]: entries that wait to be recorded, and the back-pressure on the stepper.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

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
    entries: VecDeque<(Entry, Moment)>,
    bytes: usize,
    /// No more will come.
    is_ending: bool,
    /// Nobody takes anything any more.
    is_over: bool,
    waited: Duration,
    told_at: Duration,
    problems: VecDeque<String>,
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
            state.entries.push_back((entry, at));
            self.changed.notify_all();
        }
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
            if left.is_zero() && state.bytes <= BYTES_MAX {
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
            if !state.entries.is_empty() || state.is_ending {
                return Taken {
                    entries: std::mem::take(&mut state.entries),
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
        self.state().is_ending = true;
        self.changed.notify_all();
    }

    /// Lets nobody wait any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_over = true;
        state.entries.clear();
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
        assert!(queue.state().entries.is_empty());
    }
}
