//! [`Publishing`]: what the status thread does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use lockstep::PrimaryInput;
use protocol::Chain;
use protocol::primary_to_observers::HeartbeatRelay;
use protocol::report::RunState;
use protocol::{
    DataBatch, Envelope, PeerName, PrimaryToObservers, ProtocolVersion, RoutingId, SessionId,
    StepTrace, TopicMessage, decode, encode, groups, link_frame, link_offsets, topic,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use transport::{Notice, Publisher};

use super::backlog::Backlog;
use super::message_record::{KeepMessagesError, LostMessages, MessageRecord};
use super::sources::Sources;
use super::stepper_news::StepperNews;
use super::watchers::Watchers;
use crate::data::{Collector, Progress, StepData};
use crate::messages_file::MessagesFile;
use crate::recorder::SaidFeed;
use crate::secondary::InputSender;
use crate::trace::TraceFeed;

/// Number of things that are taken from the sockets before orders and beats are looked after.
const NOTICES_PER_TURN: u32 = 64;

/// Order to the status thread.
pub(super) enum Order {
    /// Work for this stepper, and write to this file.
    Attach {
        inputs: InputSender<PrimaryInput>,
        file: Option<MessagesFile>,
    },
    /// Take data from this address in this name.
    Admit { address: RoutingId, name: PeerName },
    /// Hand everything that is said to the recorder, too.
    Record(SaidFeed),
    /// Publish this.
    Observe(PrimaryToObservers),
    /// Keep this for its step.
    Batch { from: PeerName, batch: DataBatch },
    /// Hand the times of steps to this trace.
    Trace(TraceFeed),
    /// Times of a step.
    Traced { from: PeerName, trace: StepTrace },
    /// Tell observers where links are.
    Links(TopicMessage),
    /// Tell observers which performers are groups.
    Groups(TopicMessage),
    /// Put together what was said in a step.
    Step(StepData),
    /// Wait for what is said again in the place of a lost secondary, or wait no more.
    Recovering(bool),
    /// Do what is left and end.
    End { in_order: bool },
}

/// The status thread at work.
pub(super) struct Publishing<P> {
    publisher: P,
    session: SessionId,
    orders: Receiver<Order>,
    backlog: Arc<Backlog>,
    stepper: StepperNews,
    record: MessageRecord,
    trace: Option<TraceFeed>,
    collector: Collector,
    sources: Sources,
    watchers: Watchers,
    beats: Beats,
    is_ending: bool,
}

/// Heartbeats of the primary to observers.
struct Beats {
    count: u64,
    /// True if the run has begun, by the figures that were published.
    has_begun: Arc<AtomicBool>,
}

impl<P: Publisher> Publishing<P> {
    pub(super) fn new(
        publisher: P,
        session: SessionId,
        orders: Receiver<Order>,
        (backlog, has_begun): (Arc<Backlog>, Arc<AtomicBool>),
    ) -> Self {
        Self {
            publisher,
            session,
            orders,
            backlog,
            stepper: StepperNews::new(),
            record: MessageRecord::default(),
            trace: None,
            collector: Collector::new(false),
            sources: Sources::default(),
            watchers: Watchers::default(),
            beats: Beats {
                count: 0,
                has_begun,
            },
            is_ending: false,
        }
    }

    /// Works until it is told to end, and all that was handed over before is done.
    pub(super) fn run(mut self, heartbeat_interval: Duration) -> Result<(), KeepMessagesError> {
        let _end = LetGo(Arc::clone(&self.backlog));
        let mut next_beat = Instant::now();
        loop {
            let now = Instant::now();
            if now >= next_beat {
                self.beat();
                next_beat = now + heartbeat_interval;
            }
            // What was announced before it was noted as done is among the orders.
            let done = self.backlog.done();
            while let Ok(order) = self.orders.try_recv() {
                self.on_order(order, now);
            }
            self.collector.note_done(done);
            self.stepper
                .tell_refused(&mut self.sources, now, self.is_ending);
            let has_moved = self.put_together(now);
            if self.is_ending && self.collector.is_idle() {
                break;
            }
            self.stepper.tell(now);
            let wake = [self.collector.deadline(), self.stepper.deadline()];
            let wake = wake.into_iter().flatten().fold(next_beat, Instant::min);
            let timeout = if has_moved {
                Duration::ZERO
            } else {
                wake.saturating_duration_since(now)
            };
            if let Err(error) = self.receive(timeout) {
                self.fail(KeepMessagesError::Socket(error));
                break;
            }
        }
        self.record.finish()
    }

    /// Takes what has come, and waits for the first of it at most so long.
    fn receive(&mut self, mut timeout: Duration) -> Result<(), transport::LinkError> {
        for _ in 0..NOTICES_PER_TURN {
            match self.publisher.receive(Some(timeout))? {
                Some(Notice::Data {
                    from,
                    topic,
                    payload,
                }) => self.on_data(&from, &topic, &payload),
                Some(Notice::Subscribed(frame)) => self.on_subscription(&frame, true),
                Some(Notice::Unsubscribed(frame)) => self.on_subscription(&frame, false),
                Some(Notice::Woken) | None => return Ok(()),
            }
            timeout = Duration::ZERO;
        }
        Ok(())
    }

    fn on_order(&mut self, order: Order, now: Instant) {
        match order {
            Order::Attach { inputs, file } => {
                self.collector = Collector::new(file.is_some());
                self.stepper.attach(inputs);
                self.record.write_to(file);
            }
            Order::Record(feed) => {
                self.collector = Collector::new(true);
                self.record.record(feed);
            }
            Order::Observe(body) => {
                self.backlog.status_done();
                let topic = body.topic();
                if let PrimaryToObservers::Stats { stats, .. } = &body {
                    let begins = stats.state != RunState::Waiting;
                    self.beats.has_begun.fetch_or(begins, Ordering::Relaxed);
                }
                self.publish(topic, body);
            }
            Order::Admit { address, name } => self.sources.admit(address, name),
            Order::Batch { from, batch } => self.take(&from, batch),
            Order::Trace(feed) => self.trace = Some(feed),
            Order::Traced { from, trace } => self.give_trace(from, trace),
            Order::Links(links) => self.tell_links(links),
            Order::Groups(groups) => {
                self.backlog.status_done();
                self.publish(&topic::of_message(groups::TOPIC), groups);
            }
            Order::Step(step) => self.collector.announce(step, now),
            Order::Recovering(is_so) => self.collector.set_recovering(is_so, now),
            Order::End { in_order } => {
                self.is_ending = true;
                self.collector.set_recovering(false, now);
                if !in_order {
                    self.collector.allow_loss();
                }
            }
        }
    }

    fn on_data(&mut self, from: &RoutingId, topic: &[u8], payload: &[u8]) {
        if topic == topic::TRACE.as_bytes() {
            if let Some(envelope) = self.of_sender::<StepTrace>(from, payload) {
                self.give_trace(envelope.sender, envelope.body);
            }
        } else if topic == topic::LINKS.as_bytes() {
            if let Some(envelope) = self.of_sender::<TopicMessage>(from, payload) {
                self.tell_links(envelope.body);
            }
        } else if topic != topic::DATA.as_bytes() {
            self.sources.refused.malformed += 1;
        } else if let Some(envelope) = self.of_sender::<DataBatch>(from, payload) {
            self.take(&envelope.sender, envelope.body);
        }
    }

    /// Returns a message if it is of this session, and of the secondary that has the address that
    /// it came from.
    fn of_sender<B: DeserializeOwned>(
        &mut self,
        from: &RoutingId,
        payload: &[u8],
    ) -> Option<Envelope<B>> {
        let Some(name) = self.sources.name(from) else {
            self.sources.refused.foreign += 1;
            return None;
        };
        match decode::<B>(payload) {
            Ok(envelope) if envelope.session == self.session && envelope.sender == *name => {
                Some(envelope)
            }
            Ok(_) => {
                self.sources.refused.foreign += 1;
                None
            }
            Err(error) => {
                let text = format!("data of {name} refused: {}", Chain(&error));
                self.sources.refused.malformed += 1;
                self.sources.warnings.warn(&text);
                None
            }
        }
    }

    fn give_trace(&self, from: PeerName, trace: StepTrace) {
        if let Some(feed) = &self.trace {
            feed.give(from, trace);
        }
    }

    /// Tells observers where links are, whatever topic the sender names.
    fn tell_links(&mut self, links: TopicMessage) {
        if links.topic == link_frame::TOPIC && self.stepper.is_observed(link_frame::TOPIC) {
            self.publish(&topic::of_message(link_frame::TOPIC), links);
        }
    }

    fn take(&mut self, from: &PeerName, batch: DataBatch) {
        let published = self.backlog.published();
        if let Err(error) = self.collector.take(from, batch, published) {
            self.sources.refused.stale += 1;
            tracing::debug!("data of {from} refused: {error}");
        }
    }

    fn on_subscription(&mut self, frame: &[u8], listens: bool) {
        self.watchers.note(frame, listens);
        self.backlog.note_watched(self.watchers.watched());
        self.stepper.on_subscription(frame, listens);
    }

    /// Publishes the oldest step if it is complete; tells whether there may be another one.
    fn put_together(&mut self, now: Instant) -> bool {
        match self.collector.next(now) {
            Progress::Waiting => return false,
            Progress::Complete(messages) => {
                let sequence = self.collector.over().unwrap_or_default();
                self.record.on_step(sequence, &messages);
                let is_for_others = |one: &TopicMessage| one.kind != link_offsets::KIND;
                for message in messages.into_iter().filter(is_for_others) {
                    if let Err(error) = self.record.write(&message) {
                        self.fail(error);
                    }
                    if self.stepper.is_observed(&message.topic) {
                        self.publish(&topic::of_message(&message.topic), message);
                    }
                }
            }
            Progress::Lost { sequence, from } => {
                self.on_lost(LostMessages { sequence, from });
            }
        }
        let (over, bytes) = (self.collector.over(), self.collector.bytes());
        self.backlog.step_done(over.unwrap_or_default(), bytes);
        true
    }

    fn on_lost(&mut self, lost: LostMessages) {
        self.record.on_lost(&lost);
        if self.record.has_file() {
            self.fail(KeepMessagesError::Lost(lost));
        } else {
            self.backlog.warn();
            tracing::debug!("{lost}");
        }
    }

    /// Gives the file of messages up, after which no message need be waited for.
    fn fail(&mut self, error: KeepMessagesError) {
        if self.record.fail(error, self.stepper.inputs()) {
            self.collector.allow_loss();
        }
    }

    fn beat(&mut self) {
        self.beats.count += 1;
        let relay = HeartbeatRelay {
            name: PeerName::primary(),
            count: self.beats.count,
            has_begun: self.beats.has_begun.load(Ordering::Relaxed),
        };
        self.publish(topic::HEARTBEAT, PrimaryToObservers::Heartbeat(relay));
    }

    fn publish<B: Serialize>(&mut self, topic: &str, body: B) {
        let bytes = encode(&Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.session,
            sender: PeerName::primary(),
            body,
        });
        if let Err(error) = self.publisher.publish(topic, &bytes) {
            tracing::debug!(topic, "status not published: {error}");
        }
    }
}

/// Lets nobody wait for a thread that has ended, however it did.
struct LetGo(Arc<Backlog>);

impl Drop for LetGo {
    fn drop(&mut self) {
        self.0.end();
    }
}
