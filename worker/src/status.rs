//! The status thread: encodes and publishes what observers see, puts together what was said on
//! topics, hands it to the file of messages and to the recording, and beats for the primary.
//!
//! It never holds a step back, except that none may be lost to the file of messages. It is no
//! thread of outputs, as it owns the sockets of observers and of data.

mod backlog;
mod heartbeats;
mod message_record;
mod publishing;
mod sources;
mod stepper_news;
mod watchers;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lockstep::{PrimaryInput, StepReport};
use protocol::Chain;
use protocol::primary_to_secondary::Step;
use protocol::{
    DataBatch, PeerName, PrimaryToObservers, Publisher as Speaker, RoutingId, Sequence, SessionId,
    StepTrace, TopicMessage,
};
use transport::zeromq::Beats;
use transport::{Publisher, Waker};

use crate::data::StepData;
use crate::messages_file::MessagesFile;
use crate::recorder::SaidFeed;
use crate::run_sink::{RunEnd, RunSink, RunView, SinkError};
use crate::secondary::InputSender;
use crate::trace::TraceFeed;
use backlog::Backlog;
use heartbeats::HeartbeatSender;
use publishing::{Order, Publishing};

pub use message_record::{KeepMessagesError, LostMessages};
pub use watchers::{Figures, Watched};

/// Publishes to observers; everything handed over is published before it is dropped.
pub struct StatusThread {
    orders: Orders,
    backlog: Arc<Backlog>,
    /// The step under way.
    current: StepData,
    /// Number of steps with messages that the thread was given, and the last step of all.
    handed: u64,
    last_done: Sequence,
    /// True if the driver waits rather than lose a message.
    lossless: bool,
    is_recovering: bool,
    session: SessionId,
    heartbeat_interval: Duration,
    has_begun: Arc<AtomicBool>,
    heartbeats: Option<HeartbeatSender>,
    thread: Option<JoinHandle<Result<(), KeepMessagesError>>>,
}

/// Hands over to the status thread, from any thread.
#[derive(Clone)]
struct Orders {
    sender: Sender<Order>,
    waker: Arc<dyn Waker>,
}

/// Hands data of a secondary in this process to the status thread.
pub struct DataFeed(Orders);

impl StatusThread {
    /// Starts to publish and to beat every `heartbeat_interval`.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn start(
        publisher: impl Publisher + 'static,
        session: SessionId,
        heartbeat_interval: Duration,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let waker = publisher.waker();
        let backlog = Arc::new(Backlog::default());
        let has_begun = Arc::new(AtomicBool::new(false));
        let shared = (Arc::clone(&backlog), Arc::clone(&has_begun));
        let publishing = Publishing::new(publisher, session, receiver, shared);
        let thread = thread::Builder::new()
            .name("status".to_owned())
            .spawn(move || publishing.run(heartbeat_interval))?;
        Ok(Self {
            orders: Orders { sender, waker },
            backlog,
            current: StepData::default(),
            handed: 0,
            last_done: Sequence(0),
            lossless: false,
            is_recovering: false,
            session,
            heartbeat_interval,
            has_begun,
            heartbeats: None,
            thread: Some(thread),
        })
    }

    /// Has secondaries hear of the primary by a thread of their own.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn beat_by(&mut self, beats: Beats) -> std::io::Result<()> {
        let has_begun = Arc::clone(&self.has_begun);
        let heartbeats =
            HeartbeatSender::start(beats, self.session, self.heartbeat_interval, has_begun)?;
        self.heartbeats = Some(heartbeats);
        Ok(())
    }

    /// Tells the thread whom to tell what observers listen to, and where all messages are to be
    /// written down, if anywhere.
    pub fn attach(&mut self, inputs: InputSender<PrimaryInput>, file: Option<MessagesFile>) {
        self.lossless = file.is_some();
        self.orders.give(Order::Attach { inputs, file });
    }

    /// Takes note of a secondary that was let in: what comes on `data` from this address is its.
    pub fn admit(&self, address: RoutingId, name: PeerName) {
        self.orders.give(Order::Admit { address, name });
    }

    /// Has all that is said on topics recorded, too.
    pub fn record(&mut self, feed: SaidFeed) {
        self.lossless = true;
        self.orders.give(Order::Record(feed));
    }

    /// Has where the time of steps went handed to a trace.
    pub fn trace(&mut self, feed: TraceFeed) {
        self.orders.give(Order::Trace(feed));
    }

    /// Returns a handle for data that does not come by a socket.
    pub fn data_feed(&self) -> DataFeed {
        DataFeed(self.orders.clone())
    }

    /// Returns to which figures anyone listens.
    pub fn watched(&self) -> Watched {
        self.backlog.watched()
    }

    /// Hands a message over to be published; never waits.
    pub fn observe(&self, message: PrimaryToObservers) {
        if let (Some(heartbeats), PrimaryToObservers::Announce(announce)) =
            (&self.heartbeats, &message)
        {
            heartbeats.announce(announce.clone());
        }
        if self.backlog.admit_status() {
            self.orders.give(Order::Observe(message));
        }
    }

    /// Hands groups over to be published; never waits.
    pub fn tell_groups(&self, groups: TopicMessage) {
        if self.backlog.admit_status() {
            self.orders.give(Order::Groups(groups));
        }
    }

    /// Takes note of a step that is about to be published: its data may come from now on, and that
    /// of the steps that are run ahead with it.
    pub fn note_published(&self, step: &Step) {
        let last = Sequence(step.sequence.0 + u64::from(step.ahead));
        self.backlog.note_published(last);
    }

    /// Takes note of a step that begins, published just now or done ahead.
    pub fn step_begun(&mut self, step: &Step) {
        let messages = step.messages.iter();
        let of_clients = messages.filter(|message| message.publisher == Speaker::Client);
        self.current = StepData {
            sequence: step.sequence,
            batch_number: step.batch_number,
            announced: Vec::new(),
            said_by_clients: of_clients.cloned().collect(),
        };
    }

    /// Takes note that the step is done, and by whom how much was said in it. Waits for the thread
    /// when it is behind and nothing may be lost.
    pub fn step_done(&mut self, report: &StepReport) {
        let mut step = std::mem::take(&mut self.current);
        self.last_done = report.sequence;
        let peers = report.peers.iter().filter(|peer| peer.published > 0);
        step.announced = peers
            .map(|peer| (peer.name.clone(), peer.published))
            .collect();
        let sequence = step.sequence;
        let is_silent = step.announced.is_empty() && step.said_by_clients.is_empty();
        if !is_silent && self.backlog.admit_step(self.lossless) {
            self.handed += 1;
            self.orders.give(Order::Step(step));
        }
        self.backlog.note_done(sequence);
    }

    /// Returns the last step of which observers have all that they will have.
    pub fn delivered(&self) -> Sequence {
        let (over, last) = self.backlog.delivered();
        if over == self.handed {
            self.last_done
        } else {
            last
        }
    }

    /// Takes note of whether lost cells are being restored: what was said in them is awaited.
    pub fn note_recovering(&mut self, is_recovering: bool) {
        if self.is_recovering != is_recovering {
            self.is_recovering = is_recovering;
            self.orders.give(Order::Recovering(is_recovering));
        }
    }

    /// Waits until everything is published and written down; for messages that may never come it
    /// waits long only if the run ended in order.
    ///
    /// # Errors
    /// Fails if the file of messages lacks a message.
    pub fn end(&mut self, in_order: bool) -> Result<(), KeepMessagesError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.orders.give(Order::End { in_order });
        thread.join().unwrap_or(Err(KeepMessagesError::Panicked))
    }
}

impl RunSink for StatusThread {
    fn on_step(&mut self, step: &Step) {
        self.step_begun(step);
    }

    fn on_step_done(&mut self, report: &StepReport, _run: &RunView<'_>) -> Result<(), SinkError> {
        self.step_done(report);
        Ok(())
    }

    fn finish(&mut self, end: &mut RunEnd, _run: &mut RunView<'_>) {
        if let Err(error) = self.end(end.is_in_order()) {
            end.fail(&error);
        }
    }
}

impl Drop for StatusThread {
    fn drop(&mut self) {
        if let Err(error) = self.end(false) {
            tracing::error!("{}", Chain(&error));
        }
    }
}

impl Orders {
    /// Hands something over; nothing happens when the thread is gone.
    fn give(&self, order: Order) {
        if self.sender.send(order).is_ok() {
            self.waker.wake();
        }
    }
}

impl DataFeed {
    /// Hands over what a secondary in this process said in a step.
    pub fn give(&self, from: PeerName, batch: DataBatch) {
        self.0.give(Order::Batch { from, batch });
    }

    /// Hands over where links are.
    pub fn give_links(&self, links: TopicMessage) {
        self.0.give(Order::Links(links));
    }

    /// Hands over where the time of a step went.
    pub fn give_trace(&self, from: PeerName, trace: StepTrace) {
        self.0.give(Order::Traced { from, trace });
    }
}

#[cfg(test)]
mod tests;
