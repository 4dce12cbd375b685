//! [`Tracer`]: writes where the time of iterations went, in all processes and on one clock, in
//! Chrome's trace event format.
//!
//! The stepper notes moments, secondaries send theirs on the data socket, and a thread of its own
//! puts them together and writes. It holds no step back: what is too much is left out, and a file
//! that cannot be written ends the trace and never the run.

mod clock;
mod collector;
mod events;
mod file;
mod peer_clock;
mod round;
mod step_tracer;
mod writing;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lockstep::{PrimaryInput, PrimaryOutput, StepReport};
use protocol::primary_to_secondary::Step;
use protocol::{
    PeerName, PrimaryToSecondary, Role, SecondaryToPrimary, SessionTime, StepTrace, TraceWindow,
    counted,
};

use clock::TraceClock;
use file::TraceFile;
use round::{Round, Span, Work};
use writing::{Order, Writing};

pub(crate) use step_tracer::StepTracer;

/// Number of iterations that are traced unless said otherwise.
pub const ITERATIONS: u64 = 10_000;
/// Largest number of paused rounds that are traced beside each iteration.
const ROUNDS_PER_ITERATION_MAX: u64 = 8;
/// Number of spans of one step from which further answers are not noted.
const SPANS_MAX: usize = 4096;
/// Size of data that may wait to be written \[bytes\]; more is left out.
const WAITING_BYTES_MAX: usize = 256 << 20;

/// Settings of a trace.
#[derive(Clone, Debug)]
pub struct TraceSettings {
    /// The file.
    pub path: PathBuf,
    /// The iterations.
    pub window: TraceWindow,
    /// Role of this process: all of the run, or its primary.
    pub role: Role,
    /// The names of all cells, by their ids.
    pub cells: Vec<String>,
}

/// Has a run traced; its methods are called by the stepper.
pub struct Tracer {
    feed: TraceFeed,
    thread: Option<JoinHandle<()>>,
    window: TraceWindow,
    /// The machine's clock when the session's began \[ns\].
    session_ns: u64,
    rounds_left: u64,
    /// True if nothing that is still to come is traced.
    is_over: bool,
    /// The spans of the round under way so far.
    round: Round,
    /// The input under way: when it arrived, when its handling began, and whose answer it is.
    input: (SessionTime, SessionTime, Option<PeerName>),
}

/// Hands over to the trace's thread, from any thread.
#[derive(Clone)]
pub struct TraceFeed {
    sender: Sender<Order>,
    /// Size of the data that waits \[bytes\].
    waiting: Arc<AtomicUsize>,
    /// Number of steps that were left out.
    left_out: Arc<AtomicUsize>,
}

impl Tracer {
    /// Creates the file, or empties it, and starts the thread that writes it.
    ///
    /// # Errors
    /// Fails if it cannot be created or written, or the thread cannot be started.
    pub fn start(settings: TraceSettings) -> io::Result<Self> {
        let file = TraceFile::create(&settings.path)?;
        let (sender, receiver) = mpsc::channel();
        let feed = TraceFeed {
            sender,
            waiting: Arc::default(),
            left_out: Arc::default(),
        };
        let window = settings.window;
        let writing = Writing::new(file, settings, Arc::clone(&feed.waiting));
        let thread = thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || writing.run(&receiver))?;
        Ok(Self {
            feed,
            thread: Some(thread),
            window,
            session_ns: 0,
            rounds_left: window.count.saturating_mul(ROUNDS_PER_ITERATION_MAX),
            is_over: false,
            round: Round::default(),
            input: (SessionTime(0), SessionTime(0), None),
        })
    }

    /// Takes note of when the stepper's session began.
    pub(crate) fn begin_session(&mut self, started: Instant) {
        self.session_ns = TraceClock::of_process().at(started);
    }

    /// Returns a handle for other threads.
    pub(crate) fn feed(&self) -> TraceFeed {
        self.feed.clone()
    }

    /// Tells whether anything that happens now may be traced.
    pub(crate) fn is_on(&self) -> bool {
        !self.is_over
    }

    /// Takes note of an input that arrived at `arrived` and is handled from `now` on.
    pub(crate) fn on_input(
        &mut self,
        input: &PrimaryInput,
        arrived: SessionTime,
        now: SessionTime,
    ) {
        let answerer = if let PrimaryInput::Secondary { envelope, .. } = input
            && let SecondaryToPrimary::StepAck(_) = envelope.body
        {
            Some(envelope.sender.clone())
        } else {
            None
        };
        let arrived = if answerer.is_some() { arrived } else { now };
        self.input = (arrived, now, answerer);
    }

    /// Takes note that the rules have handled the input, and of what they put out.
    pub(crate) fn on_handled(&mut self, outputs: &[PrimaryOutput], now: SessionTime) {
        let (arrived, begun, answerer) = (self.input.0, self.input.1, self.input.2.take());
        let is_done = |output: &PrimaryOutput| matches!(output, PrimaryOutput::StepDone(_));
        let is_done = outputs.iter().any(is_done);
        let can_take_ack = self.round.published().is_some() && self.round.spans.len() < SPANS_MAX;
        let mut span = |work, begin: SessionTime, peer| {
            self.round.spans.push(Span {
                work,
                begin_ns: self.session_ns + begin.0,
                end_ns: self.session_ns + now.0,
                peer,
            });
        };
        match answerer {
            Some(_) if !is_done && !can_take_ack => {}
            Some(_) if is_done => span(Work::Update, arrived, answerer),
            Some(_) => span(Work::Ack, arrived, answerer),
            None if is_done => span(Work::Update, begun, None),
            None if outputs.iter().any(is_step) => span(Work::Prepare, begun, None),
            None => {}
        }
    }

    /// Takes note of a step that was published from `begin` to `end`.
    pub(crate) fn on_published(&mut self, step: &StepMark, begin: SessionTime, end: SessionTime) {
        let round = &mut self.round;
        // What is left of a round that was given up is of no step.
        round.spans.retain(|span| span.work == Work::Prepare);
        (round.sequence, round.iteration) = (step.sequence, step.iteration);
        round.is_paused = step.is_paused;
        round.spans.push(Span {
            work: Work::Publish,
            begin_ns: self.session_ns + begin.0,
            end_ns: self.session_ns + end.0,
            peer: None,
        });
    }

    /// Takes note of a step that all have answered; what follows from it was done from `begin` to
    /// `end`.
    pub(crate) fn on_step_done(
        &mut self,
        report: &StepReport,
        begin: SessionTime,
        end: SessionTime,
    ) {
        let mut round = std::mem::take(&mut self.round);
        if !self.window.has(report.iteration) || round.sequence != report.sequence {
            return;
        }
        round.spans.push(Span {
            work: Work::Record,
            begin_ns: self.session_ns + begin.0,
            end_ns: self.session_ns + end.0,
            peer: None,
        });
        round.peers = report.peers.iter().map(|peer| peer.name.clone()).collect();
        let last = report.peers.iter().max_by_key(|peer| peer.answered_after);
        round.waited_for = last.map(|peer| peer.name.clone());
        self.feed.give_round(round);
        self.rounds_left = self.rounds_left.saturating_sub(1);
        let is_last = !report.paused && self.window.is_over_after(report.iteration);
        self.is_over = is_last || self.rounds_left == 0;
    }

    /// Waits until all is written that there will be.
    pub(crate) fn finish(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        let _ = self.feed.sender.send(Order::End);
        if thread.join().is_err() {
            tracing::error!("the trace's thread panicked");
        }
        let left_out = self.feed.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            let steps = counted(left_out, "step");
            tracing::warn!("the trace lacks {steps}: more was done than could be written");
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The parts of a step that a trace keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepMark {
    sequence: protocol::Sequence,
    iteration: protocol::Iteration,
    is_paused: bool,
}

impl StepMark {
    /// Returns that of a message, if it is a step.
    pub(crate) fn of(message: &PrimaryToSecondary) -> Option<Self> {
        let PrimaryToSecondary::Step(step) = message else {
            return None;
        };
        Some(Self::of_step(step))
    }

    fn of_step(step: &Step) -> Self {
        Self {
            sequence: step.sequence,
            iteration: step.iteration,
            is_paused: step.paused,
        }
    }
}

impl TraceFeed {
    /// Hands over what a secondary says of a step.
    pub(crate) fn give(&self, from: PeerName, trace: StepTrace) {
        let bytes = size_of::<StepTrace>() + size_of_val(trace.cells.as_slice());
        self.give_order(bytes, |bytes| Order::Peer { from, trace, bytes });
    }

    fn give_round(&self, round: Round) {
        let bytes = size_of::<Round>() + round.spans.len() * size_of::<Span>();
        self.give_order(bytes, |bytes| Order::Round { round, bytes });
    }

    fn give_order(&self, bytes: usize, order: impl FnOnce(usize) -> Order) {
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        if waiting > WAITING_BYTES_MAX || self.sender.send(order(bytes)).is_err() {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn is_step(output: &PrimaryOutput) -> bool {
    matches!(output, PrimaryOutput::Publish(message) if StepMark::of(message).is_some())
}

#[cfg(test)]
mod tests;
