//! [`Backlog`]: how far the status thread is behind the stepper, which is told so by it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

use protocol::Sequence;

use super::watchers::Watched;

/// Number of messages of status that may wait to be published; more are lost, as for any slow
/// observer.
const STATUS_MAX: usize = 4096;
/// Number of steps that may wait to be put together, more than one message brings; observers lose
/// the messages of more.
const STEPS_MAX: usize = 2 * lockstep::limits::RUN_AHEAD_MAX as usize;
/// Size of messages that may wait to be put together before the stepper waits, if none may be lost
/// \[bytes\].
const BYTES_MAX: usize = 64 << 20;

/// Progress of the status thread behind the stepper.
#[derive(Default)]
pub(super) struct Backlog {
    /// The last step that was published.
    published: AtomicU64,
    /// The last step that is done: its messages are announced.
    done: AtomicU64,
    /// The last step that is over for observers.
    delivered: AtomicU64,
    /// Number of steps that are over for observers.
    over: AtomicU64,
    status: AtomicUsize,
    waiting: Mutex<Waiting>,
    changed: Condvar,
    has_warned: AtomicBool,
    watched: AtomicU8,
}

#[derive(Default)]
struct Waiting {
    steps: usize,
    bytes: usize,
    /// Nothing is worked off any more.
    is_over: bool,
}

impl Backlog {
    pub(super) fn note_published(&self, sequence: Sequence) {
        self.published.store(sequence.0, Ordering::Release);
    }

    /// Takes note that a step is done; those of its messages that are awaited are announced before.
    pub(super) fn note_done(&self, sequence: Sequence) {
        self.done.store(sequence.0, Ordering::Release);
    }

    pub(super) fn done(&self) -> Sequence {
        Sequence(self.done.load(Ordering::Acquire))
    }

    /// Takes note of the figures to which anyone listens.
    pub(super) fn note_watched(&self, watched: Watched) {
        self.watched.store(watched.bits(), Ordering::Relaxed);
    }

    pub(super) fn watched(&self) -> Watched {
        Watched::of_bits(self.watched.load(Ordering::Relaxed))
    }

    pub(super) fn published(&self) -> Sequence {
        Sequence(self.published.load(Ordering::Acquire))
    }

    /// Tells whether one more message of status may wait, and counts it if so.
    pub(super) fn admit_status(&self) -> bool {
        let admitted = self.status.fetch_add(1, Ordering::Relaxed) < STATUS_MAX;
        if !admitted {
            self.status.fetch_sub(1, Ordering::Relaxed);
            self.warn();
        }
        admitted
    }

    pub(super) fn status_done(&self) {
        self.status.fetch_sub(1, Ordering::Relaxed);
    }

    /// Tells whether one more step may wait, and counts it if so; with `lossless`, waits until it
    /// may.
    pub(super) fn admit_step(&self, lossless: bool) -> bool {
        let mut waiting = self.waiting();
        while lossless
            && !waiting.is_over
            && (waiting.steps >= STEPS_MAX || waiting.bytes > BYTES_MAX && waiting.steps > 0)
        {
            waiting = self.changed.wait(waiting).expect(UNPOISONED);
        }
        let admitted = waiting.steps < STEPS_MAX && !waiting.is_over;
        waiting.steps += usize::from(admitted);
        drop(waiting);
        if !admitted {
            self.warn();
        }
        admitted
    }

    /// Returns how many steps are over for observers, and the last of them.
    pub(super) fn delivered(&self) -> (u64, Sequence) {
        let over = self.over.load(Ordering::Acquire);
        (over, Sequence(self.delivered.load(Ordering::Relaxed)))
    }

    /// Takes note that a step is over, and of the bytes that still wait.
    pub(super) fn step_done(&self, sequence: Sequence, bytes: usize) {
        self.delivered.store(sequence.0, Ordering::Relaxed);
        self.over.fetch_add(1, Ordering::Release);
        let mut waiting = self.waiting();
        waiting.steps = waiting.steps.saturating_sub(1);
        waiting.bytes = bytes;
        self.changed.notify_all();
    }

    /// Lets nobody wait any more.
    pub(super) fn end(&self) {
        self.waiting().is_over = true;
        self.changed.notify_all();
    }

    /// Says once that observers lose messages.
    pub(super) fn warn(&self) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!("observers lose messages: more is said than can be published");
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "nobody panics while holding the counts";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn observers_lose_what_is_too_much() {
        let backlog = Backlog::default();
        for _ in 0..STATUS_MAX {
            assert!(backlog.admit_status());
        }
        assert!(!backlog.admit_status());
        backlog.status_done();
        assert!(backlog.admit_status());
        for _ in 0..STEPS_MAX {
            assert!(backlog.admit_step(false));
        }
        assert!(!backlog.admit_step(false));
        backlog.step_done(Sequence(1), 0);
        assert!(backlog.admit_step(false));
    }

    #[test]
    fn a_lossless_subscriber_waits_for_room_or_for_the_end() {
        let backlog = Arc::new(Backlog::default());
        for _ in 0..STEPS_MAX {
            assert!(backlog.admit_step(true));
        }
        let wait = || {
            let backlog = Arc::clone(&backlog);
            std::thread::spawn(move || backlog.admit_step(true))
        };
        let waits = wait();
        backlog.step_done(Sequence(1), 0);
        assert!(waits.join().unwrap());
        let waits = wait();
        backlog.end();
        assert!(!waits.join().unwrap());
    }
}
