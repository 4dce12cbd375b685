//! [`Keeper`]: writes a journal on a thread of its own, so that no step waits for a disk.
//!
//! Only a queue that is full holds a step up. When the disk takes nothing, the keeper tries again
//! every second and says so; what is put down meanwhile waits.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lockstep::Checkpoint;
use protocol::Sequence;

use crate::checkpoint_file::Saved;
use crate::reader::chain;
use crate::record::{Mark, Record};
use crate::writer::Writer;

/// How long what was put down may be lost with the power.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Time between attempts when the disk takes nothing.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How much waits to be written before a step is held up \[records\].
const QUEUE_MAX: usize = 1 << 14;
/// How many records are written at once.
const BATCH_MAX: usize = 1024;
/// How long a step that is held up waits before it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What a keeper has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeeperNews {
    /// Nothing can be written, and why.
    Failed(String),
    /// All is written again.
    Works,
    /// The checkpoint of this step is safe.
    Saved(Sequence),
}

/// Writes a journal on a thread of its own.
#[derive(Debug)]
pub struct Keeper {
    jobs: Option<SyncSender<Job>>,
    /// What the queue does not take while nothing can be written.
    waiting: VecDeque<Job>,
    state: Arc<State>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Debug, Default)]
struct State {
    /// The disk takes nothing.
    failing: AtomicBool,
    /// Nobody waits for what cannot be written.
    ending: AtomicBool,
    /// The run has ended well.
    over: AtomicBool,
}

#[derive(Debug)]
enum Job {
    Record(Record),
    Save(Saved),
}

impl Keeper {
    /// Starts to write; `tell` is called when the disk begins to fail and when it works again.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(writer: Writer, tell: impl Fn(KeeperNews) + Send + 'static) -> io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE_MAX);
        let state = Arc::new(State::default());
        let loop_state = Arc::clone(&state);
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                let mut work = Work {
                    writer,
                    state: loop_state,
                    tell: Box::new(tell),
                    batch: Vec::new(),
                };
                let done = work.run(&queue);
                let is_over = work.state.over.load(Ordering::SeqCst);
                done.and_then(|()| work.writer.finish(is_over))
            })?;
        Ok(Self {
            jobs: Some(jobs),
            waiting: VecDeque::new(),
            state,
            thread: Some(thread),
        })
    }

    /// Puts a record down.
    pub fn record(&mut self, record: Record) {
        self.put(Job::Record(record));
    }

    /// Puts a checkpoint down that was made at a mark, with what the process of the primary
    /// remembers besides its rules.
    pub fn save(&mut self, mark: Mark, checkpoint: Arc<Checkpoint>, driver: Vec<u8>) {
        self.put(Job::Save(Saved {
            mark,
            checkpoint,
            driver,
        }));
    }

    /// Ends the journal once all is written; one of a run that `is_over` is removed.
    ///
    /// # Errors
    /// When not all of it can be written.
    pub fn finish(mut self, is_over: bool) -> io::Result<()> {
        self.state.over.store(is_over, Ordering::SeqCst);
        self.state.ending.store(true, Ordering::SeqCst);
        if let Some(jobs) = self.jobs.take() {
            for job in std::mem::take(&mut self.waiting) {
                // A thread that has given up says why below.
                let _ = jobs.send(job);
            }
        }
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        thread.thread().unpark();
        let gone = || io::Error::other("the thread that writes the journal is gone");
        thread.join().map_err(|_| gone())?
    }

    fn put(&mut self, job: Job) {
        self.waiting.push_back(job);
        let Some(jobs) = &self.jobs else {
            return;
        };
        while let Some(job) = self.waiting.pop_front() {
            match jobs.try_send(job) {
                Ok(()) => {}
                Err(TrySendError::Full(job)) => {
                    self.waiting.push_front(job);
                    if self.state.failing.load(Ordering::SeqCst) {
                        return;
                    }
                    thread::sleep(LOOK_AGAIN);
                }
                Err(TrySendError::Disconnected(_)) => self.waiting.clear(),
            }
        }
    }
}

struct Work {
    writer: Writer,
    state: Arc<State>,
    tell: Box<dyn Fn(KeeperNews) + Send>,
    batch: Vec<Record>,
}

impl Work {
    fn run(&mut self, queue: &Receiver<Job>) -> io::Result<()> {
        let mut next_sync = Instant::now() + SYNC_INTERVAL;
        loop {
            let wait = next_sync.saturating_duration_since(Instant::now());
            match queue.recv_timeout(wait) {
                Ok(job) => self.take(job, queue)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.until_it_works(Writer::sync),
            }
            if Instant::now() >= next_sync {
                self.until_it_works(Writer::sync)?;
                next_sync = Instant::now() + SYNC_INTERVAL;
            }
        }
    }

    /// Writes a job and what waits behind it.
    fn take(&mut self, job: Job, queue: &Receiver<Job>) -> io::Result<()> {
        let mut next = Some(job);
        while let Some(job) = next.take() {
            match job {
                Job::Record(record) => self.batch.push(record),
                Job::Save(saved) => {
                    self.flush()?;
                    self.until_it_works(|writer| writer.save(&saved))?;
                    (self.tell)(KeeperNews::Saved(saved.checkpoint.sequence));
                }
            }
            if self.batch.len() < BATCH_MAX {
                next = queue.try_recv().ok();
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.until_it_works(|writer| writer.append(&batch))?;
        self.batch = batch;
        self.batch.clear();
        Ok(())
    }

    /// Does something again until the disk takes it, or nobody waits for it any more.
    fn until_it_works(
        &mut self,
        mut attempt: impl FnMut(&mut Writer) -> io::Result<()>,
    ) -> io::Result<()> {
        loop {
            let is_failing = self.state.failing.load(Ordering::SeqCst);
            match attempt(&mut self.writer) {
                Ok(()) => {
                    if is_failing {
                        self.state.failing.store(false, Ordering::SeqCst);
                        (self.tell)(KeeperNews::Works);
                    }
                    return Ok(());
                }
                Err(error) if self.state.ending.load(Ordering::SeqCst) => return Err(error),
                Err(error) => {
                    if !is_failing {
                        self.state.failing.store(true, Ordering::SeqCst);
                        let cause = format!("the journal cannot be written: {}", chain(&error));
                        (self.tell)(KeeperNews::Failed(cause));
                    }
                    thread::park_timeout(RETRY_INTERVAL);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
