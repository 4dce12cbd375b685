//! The threads that cells step on.
//!
//! The order of work, and the thread that does it, are left open; so they must not matter to any
//! result.

use std::sync::{Mutex, PoisonError};

use lockstep::limits::THREADS_MAX;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// As much as the main thread has, so that where a cell steps makes no difference \[bytes\].
const STACK_BYTES: usize = 8 << 20;

/// Threads that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartThreadsError {
    /// None, or more than are allowed.
    #[error("cells step on 1 to {THREADS_MAX} threads, and {0} were asked for")]
    Count(u32),
    /// The system gives no more.
    #[error("{count} threads to step cells on cannot be started; ask for fewer")]
    Start {
        /// Number of threads that were asked for.
        count: u32,
        /// Error of the operating system.
        #[source]
        source: ThreadPoolBuildError,
    },
}

/// Time of the longest cell from which several threads are worth it for that cell alone \[ns\].
const SHARING_WORTH_NS: u64 = 300_000;

/// Tells whether a cell whose last step took a time \[ns\] is worth all of the threads. What was
/// shared takes less time for it, and stays shared.
pub(super) fn is_worth_sharing(cost_ns: u64, was_shared: bool, threads: u32) -> bool {
    let gain = if was_shared { u64::from(threads) } else { 1 };
    cost_ns.saturating_mul(gain) >= SHARING_WORTH_NS
}

/// A fixed number of threads, or the caller's own when one is enough.
pub(super) struct Threads {
    pool: Option<ThreadPool>,
    count: u32,
}

impl Threads {
    pub(super) fn start(count: u32) -> Result<Self, StartThreadsError> {
        if !(1..=THREADS_MAX).contains(&count) {
            return Err(StartThreadsError::Count(count));
        }
        if count == 1 {
            return Ok(Self { pool: None, count });
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(count as usize)
            .thread_name(|number| format!("cells-{number}"))
            .stack_size(STACK_BYTES)
            .build()
            .map_err(|source| StartThreadsError::Start { count, source })?;
        let pool = Some(pool);
        Ok(Self { pool, count })
    }

    /// Returns the number of threads.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Works on a thread of the pool, so that parallel work within is shared by all threads.
    pub(super) fn on_pool<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Works on all items; each thread that is free takes the next one in their order.
    pub(super) fn for_each<T: Send>(
        &self,
        items: impl ExactSizeIterator<Item = T> + Send,
        work: impl Fn(T) + Sync,
    ) {
        let Some(pool) = self.pool.as_ref().filter(|_| items.len() > 1) else {
            return items.for_each(work);
        };
        let queue = Mutex::new(items);
        pool.broadcast(|_| {
            while let Some(item) = next(&queue) {
                work(item);
            }
        });
    }
}

fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u32, works: bool) {
        let Ok(threads) = Threads::start(count) else {
            assert!(!works, "{count} threads");
            return;
        };
        assert!(works, "{count} threads");
        let mut squares = [0; 100];
        threads.for_each(squares.iter_mut().enumerate(), |(index, square)| {
            *square = index * index;
        });
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(index, square)| *square == index * index)
        );
    }

    #[test]
    fn every_item_is_worked_on_once_by_any_number_of_threads_within_bounds() {
        check(1, true);
        check(2, true);
        check(7, true);
        check(0, false);
        check(THREADS_MAX + 1, false);
        check(u32::MAX, false);
    }

    #[test]
    fn a_cell_that_sharing_makes_faster_stays_shared() {
        assert!(is_worth_sharing(500_000, false, 4));
        assert!(is_worth_sharing(130_000, true, 4));
        assert!(!is_worth_sharing(130_000, false, 4));
        assert!(!is_worth_sharing(60_000, true, 4));
    }

    #[test]
    fn no_more_threads_work_at_once_than_were_asked_for() {
        let threads = Threads::start(2).unwrap();
        let names = Mutex::new(std::collections::BTreeSet::new());
        threads.for_each(0..1000, |_| {
            let name = std::thread::current().name().unwrap().to_owned();
            names.lock().unwrap().insert(name);
        });
        let names = names.into_inner().unwrap();
        assert!(
            names
                .iter()
                .all(|name| name == "cells-0" || name == "cells-1"),
            "{names:?}"
        );
    }
}
