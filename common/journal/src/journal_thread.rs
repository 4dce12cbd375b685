//! [`JournalThread`]: writes a journal on a thread of its own, so that no step waits for a disk.
//!
//! Only a queue that is full holds a step up, and not for long: a disk that does not answer counts
//! as one that takes nothing. Then the journal thread tries again every second and says so; what is
//! put down meanwhile waits. Who must know that records are written asks
//! [`JournalThread::is_written`].

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use protocol::Sequence;
use protocol::error_chain::chain;

use crate::checkpoint_file::Saved;
use crate::disk::Durable;
use crate::record::Record;
use crate::writer::Writer;

/// Time for which what was put down may be lost with the power.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Time between attempts when the disk takes nothing.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Number of records that wait to be written before a step is held up.
const QUEUE_MAX: usize = 1 << 14;
/// Number of records that are written at once.
const BATCH_MAX: usize = 1024;
/// Time for which a step that is held up waits before it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Longest time a step is held up before the disk counts as one that takes nothing.
const HELD_UP_MAX: Duration = Duration::from_secs(1);

/// News of a journal thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalNews {
    /// Nothing can be written, and why.
    Failed(String),
    /// All is written again.
    Works,
    /// The checkpoint of this step is safe.
    Saved(Sequence),
    /// A file that checkpoints rest on has lost what it had, and why.
    Unsafe(String),
    /// The records that were asked about are written.
    Written,
}

/// A file of the run that a checkpoint rests on: it must be as safe as the checkpoint.
#[derive(Debug)]
pub struct Beside {
    /// The file's name, for people.
    pub path: PathBuf,
    /// The file.
    pub file: Box<dyn Durable>,
}

/// Hears what a journal thread has to say, on whatever thread it is said.
type Tell = Arc<dyn Fn(JournalNews) + Send + Sync>;

/// Writes a journal on a thread of its own.
pub struct JournalThread {
    jobs: Option<SyncSender<Job>>,
    tell: Tell,
    /// Number of records put down.
    put: u64,
    /// Jobs that the queue does not take while nothing can be written.
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
    /// Number of records written.
    written: AtomicU64,
    /// From how many on somebody wants to hear of it; 0 is nobody.
    awaited: AtomicU64,
}

#[derive(Debug)]
enum Job {
    Record(Record),
    Save(Saved, Vec<Beside>),
}

impl fmt::Debug for JournalThread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("JournalThread");
        shown.field("put", &self.put).field("state", &self.state);
        shown.finish_non_exhaustive()
    }
}

impl JournalThread {
    /// Starts to write; `tell` is called when the disk begins to fail and when it works again.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn start(
        writer: Writer,
        tell: impl Fn(JournalNews) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE_MAX);
        let tell: Tell = Arc::new(tell);
        let loop_tell = Arc::clone(&tell);
        let state = Arc::new(State::default());
        let loop_state = Arc::clone(&state);
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                let mut work = Work {
                    writer,
                    state: loop_state,
                    tell: loop_tell,
                    is_unsafe: false,
                    batch: Vec::new(),
                };
                let done = work.run(&queue);
                let is_over = work.state.over.load(Ordering::SeqCst);
                done.and_then(|()| work.writer.finish(is_over))
            })?;
        Ok(Self {
            jobs: Some(jobs),
            tell,
            put: 0,
            waiting: VecDeque::new(),
            state,
            thread: Some(thread),
        })
    }

    /// Puts a record down.
    pub fn record(&mut self, record: Record) {
        self.put += 1;
        self.put(Job::Record(record));
    }

    /// Returns how many records were put down.
    pub fn records(&self) -> u64 {
        self.put
    }

    /// Tells whether so many records are written; if not, [`JournalNews::Written`] tells when.
    pub fn is_written(&self, records: u64) -> bool {
        if self.state.written.load(Ordering::SeqCst) >= records {
            return true;
        }
        self.state.awaited.store(records, Ordering::SeqCst);
        // They may have been written between the two.
        self.state.written.load(Ordering::SeqCst) >= records
    }

    /// Puts a checkpoint down once the files that it rests on are safe.
    pub fn save(&mut self, saved: Saved, beside: Vec<Beside>) {
        self.put(Job::Save(saved, beside));
    }

    /// Ends the journal once all is written; one of a run that `is_over` is removed.
    ///
    /// # Errors
    /// Fails if not all of it can be written.
    pub fn finish(&mut self, is_over: bool) -> io::Result<()> {
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
        let mut held_up_since = None;
        while let Some(job) = self.waiting.pop_front() {
            match jobs.try_send(job) {
                Ok(()) => {}
                Err(TrySendError::Full(job)) => {
                    self.waiting.push_front(job);
                    if self.state.failing.load(Ordering::SeqCst) {
                        return;
                    }
                    let since = *held_up_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= HELD_UP_MAX
                        && !self.state.failing.swap(true, Ordering::SeqCst)
                    {
                        let cause = "the journal cannot be written: the disk does not answer";
                        (self.tell)(JournalNews::Failed(cause.to_owned()));
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
    tell: Tell,
    /// True if a file that checkpoints rest on has lost what it had.
    is_unsafe: bool,
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
                Job::Save(saved, beside) => {
                    self.flush()?;
                    self.save(&saved, beside)?;
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
        if batch.is_empty() {
            return Ok(());
        }
        self.until_it_works(|writer| writer.append(&batch))?;
        let count = batch.len() as u64;
        self.batch = batch;
        self.batch.clear();
        let written = self.state.written.fetch_add(count, Ordering::SeqCst) + count;
        let awaited = self.state.awaited.load(Ordering::SeqCst);
        if awaited > 0 && awaited <= written {
            // Who asks for later ones meanwhile has been told of these, and asks again.
            self.state.awaited.store(0, Ordering::SeqCst);
            (self.tell)(JournalNews::Written);
        }
        Ok(())
    }

    /// Saves a checkpoint, unless what it rests on may be lost: a failed attempt to make a file
    /// safe may have dropped what it was about, so that another one proves nothing.
    fn save(&mut self, saved: &Saved, beside: Vec<Beside>) -> io::Result<()> {
        for Beside { path, mut file } in beside {
            if let Err(error) = file.sync()
                && !std::mem::replace(&mut self.is_unsafe, true)
            {
                let cause = format!("cannot write {}: {error}", path.display());
                (self.tell)(JournalNews::Unsafe(cause));
            }
        }
        if self.is_unsafe {
            return Ok(());
        }
        self.until_it_works(|writer| writer.save(saved))?;
        (self.tell)(JournalNews::Saved(saved.checkpoint.sequence));
        Ok(())
    }

    /// Does something again until the disk takes it, or nobody waits for it any more.
    fn until_it_works(
        &mut self,
        mut attempt: impl FnMut(&mut Writer) -> io::Result<()>,
    ) -> io::Result<()> {
        loop {
            match attempt(&mut self.writer) {
                Ok(()) => {
                    if self.state.failing.swap(false, Ordering::SeqCst) {
                        (self.tell)(JournalNews::Works);
                    }
                    return Ok(());
                }
                Err(error) if self.state.ending.load(Ordering::SeqCst) => return Err(error),
                Err(error) => {
                    if !self.state.failing.swap(true, Ordering::SeqCst) {
                        let cause = format!("the journal cannot be written: {}", chain(&error));
                        (self.tell)(JournalNews::Failed(cause));
                    }
                    thread::park_timeout(RETRY_INTERVAL);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
