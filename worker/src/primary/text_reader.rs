//! [`TextReader`]: the thread that reads texts of models, which no step waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::{io, thread};

use lockstep::{Library, PrimaryInput};

use super::text_queue::Ticket;
use crate::secondary::InputSender;

/// Niceness of the thread: it has what the others leave, so that no step takes longer for it.
const NICENESS: i32 = 19;

/// Thread that reads texts, as others have it; it ends with this.
pub(super) struct TextReader {
    texts: Sender<Job>,
    read: Receiver<Job>,
}

/// A command, with the place where it waits.
type Job = (Ticket, PrimaryInput);

impl TextReader {
    /// Starts the thread; `worlds` are the names of the run's worlds, and who is woken hears that
    /// a text was read.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn start(
        library: Arc<dyn Library>,
        worlds: Vec<String>,
        woken: InputSender<PrimaryInput>,
    ) -> io::Result<Self> {
        let (texts, taken) = mpsc::channel::<Job>();
        let (done, read) = mpsc::channel();
        let run = move || {
            let own = Some(rustix::thread::gettid());
            // Where the system refuses, it is as any other thread.
            let _ = rustix::process::setpriority_process(own, NICENESS);
            while let Ok((ticket, mut input)) = taken.recv() {
                // What ends this thread would end no run, and leave nobody to read.
                let reads = AssertUnwindSafe(|| input.read_texts(&*library, &worlds));
                if catch_unwind(reads).is_err() {
                    input.refuse_texts(&*library);
                }
                if done.send((ticket, input)).is_err() {
                    return;
                }
                woken.wake();
            }
        };
        thread::Builder::new().name("texts".to_owned()).spawn(run)?;
        Ok(Self { texts, read })
    }

    /// Has the texts of a command read.
    pub(super) fn read(&self, ticket: Ticket, input: PrimaryInput) {
        // The thread is there as long as this is.
        let _ = self.texts.send((ticket, input));
    }

    /// Returns the next command whose texts were read.
    pub(super) fn take(&self) -> Option<Job> {
        self.read.try_recv().ok()
    }
}
