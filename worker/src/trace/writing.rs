//! [`Writing`]: what the trace's thread does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use protocol::{Iteration, PeerName, StepTrace};

use super::TraceSettings;
use super::collector::TraceCollector;
use super::events::Events;
use super::file::{FILE_BYTES_MAX, TraceFile};
use super::round::Round;

/// Time-out of traces of the last steps from secondaries when the run is over.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Order to the thread.
pub(super) enum Order {
    /// Spans of the primary in a step, with their size \[bytes\].
    Round { round: Round, bytes: usize },
    /// Trace of a secondary in a step, with its size \[bytes\].
    Peer {
        from: PeerName,
        trace: StepTrace,
        bytes: usize,
    },
    /// Write what is left and end.
    End,
}

/// The thread at work.
pub(super) struct Writing {
    /// `None` once it is full or cannot be written.
    file: Option<TraceFile>,
    events: Events,
    gathering: TraceCollector,
    waiting: Arc<AtomicUsize>,
    last: Iteration,
}

impl Writing {
    pub(super) fn new(file: TraceFile, settings: TraceSettings, waiting: Arc<AtomicUsize>) -> Self {
        Self {
            file: Some(file),
            events: Events::new(settings.role, settings.cells),
            gathering: TraceCollector::default(),
            waiting,
            last: Iteration(0),
        }
    }

    /// Works until it is told to end and all is written that has come by then or soon after.
    pub(super) fn run(mut self, orders: &Receiver<Order>) {
        let mut ends_at: Option<Instant> = None;
        loop {
            let order = match ends_at {
                None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) if self.gathering.is_idle() => break,
                Some(at) => orders.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match order {
                Ok(Order::Round { round, bytes }) => {
                    self.waiting.fetch_sub(bytes, Ordering::Relaxed);
                    self.gathering.take_round(round);
                }
                Ok(Order::Peer { from, trace, bytes }) => {
                    self.waiting.fetch_sub(bytes, Ordering::Relaxed);
                    self.gathering.take_trace(from, trace);
                }
                Ok(Order::End) => ends_at = Some(Instant::now() + LAST_WORDS),
                Err(_) => break,
            }
            self.write(false);
        }
        self.write(true);
        let result = self.file.as_mut().map_or(Ok(()), TraceFile::finish);
        self.take_note(result);
    }

    /// Writes the steps that are together, or all.
    fn write(&mut self, is_all: bool) {
        while let Some((round, traces)) = self.gathering.next(is_all) {
            let Some(file) = &mut self.file else { continue };
            self.events.write(&round, &traces, file);
            self.last = round.iteration;
            let result = if file.is_full() {
                let full = format!("it has the {FILE_BYTES_MAX} bytes that a trace may have");
                file.finish().and(Err(io::Error::other(full)))
            } else {
                file.write_when_due()
            };
            self.take_note(result);
        }
    }

    /// Ends the trace when it cannot be written; the run goes on.
    fn take_note(&mut self, result: io::Result<()>) {
        let Err(error) = result else { return };
        if let Some(file) = self.file.take() {
            let (path, last) = (file.path().display(), self.last);
            tracing::warn!("the trace in {path} ends near iteration {last}: {error}");
        }
    }
}
