//! [`Mailbox`]: arrivals that wait for one thread, and the place where that thread sleeps.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::link::Waker;

/// Arrivals that wait for one thread.
pub(super) struct Mailbox<A> {
    waiting: Mutex<Waiting<A>>,
    changed: Condvar,
}

/// Result of a thread's wait.
pub(super) enum Taken<A> {
    /// Something that was put in.
    Arrival(A),
    /// Somebody woke the thread.
    Woken,
}

struct Waiting<A> {
    arrivals: VecDeque<A>,
    woken: bool,
}

impl<A> Default for Mailbox<A> {
    fn default() -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                arrivals: VecDeque::new(),
                woken: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<A> Mailbox<A> {
    pub(super) fn put(&self, arrival: A) {
        self.put_bounded(arrival, usize::MAX);
    }

    /// Puts something in unless so many things are there already.
    pub(super) fn put_bounded(&self, arrival: A, arrivals_max: usize) {
        let mut waiting = self.waiting();
        if waiting.arrivals.len() < arrivals_max {
            waiting.arrivals.push_back(arrival);
            self.changed.notify_one();
        }
    }

    /// Waits for the next thing, at most so long.
    pub(super) fn take(&self, timeout: Option<Duration>) -> Option<Taken<A>> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut waiting = self.waiting();
        loop {
            if std::mem::take(&mut waiting.woken) {
                return Some(Taken::Woken);
            }
            if let Some(arrival) = waiting.arrivals.pop_front() {
                return Some(Taken::Arrival(arrival));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            waiting = match left {
                None => self.changed.wait(waiting).expect(UNPOISONED),
                Some(Duration::ZERO) => return None,
                Some(left) => {
                    self.changed
                        .wait_timeout(waiting, left)
                        .expect(UNPOISONED)
                        .0
                }
            };
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<A>> {
        self.waiting.lock().expect(UNPOISONED)
    }
}

impl<A: Send> Waker for Mailbox<A> {
    fn wake(&self) {
        self.waiting().woken = true;
        self.changed.notify_one();
    }
}

const UNPOISONED: &str = "nobody panics while holding what waits";
