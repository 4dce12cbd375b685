//! Standalone: the same rules and the same cells in one process.
//!
//! The primary's driver hands messages for secondaries to a [`LocalSecondary`], which answers in
//! the same thread, and clients reach it by its link. Nothing between the two is encoded.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use lockstep::{PrimaryInput, Secondary, SecondaryInput, SecondarySettings};
use protocol::primary_to_secondary::Welcome;
use protocol::{Envelope, PeerName, PrimaryToSecondary, Role, RoutingId};
use transport::{Destination, Link};

use crate::clock::{SessionClock, wall_clock_us};
use crate::identity;
use crate::ros::RosPart;
use crate::secondary::{Effects, InputSender, SecondaryEngine};
use crate::status::DataFeed;
use crate::trace::StepTracer;

/// The name of the secondary within a standalone process.
pub const STANDALONE_NAME: &str = "standalone";

/// The secondary in the thread of its primary.
pub struct LocalSecondary {
    engine: SecondaryEngine,
    clock: SessionClock,
    address: RoutingId,
    answers: VecDeque<PrimaryInput>,
    data: Option<DataFeed>,
    tracer: StepTracer,
    ros: RosPart,
    inputs: InputSender<SecondaryInput>,
    pending: Receiver<SecondaryInput>,
}

impl LocalSecondary {
    /// Makes a secondary that asks to join at once. Other threads wake it by `link`, which is its
    /// primary's; what it says on topics goes to `data`, if that is there.
    ///
    /// # Panics
    /// Never: the name of the secondary is a valid one.
    pub fn new(link: &impl Link, data: Option<DataFeed>) -> Self {
        let name: PeerName = STANDALONE_NAME.parse().expect("the name is a valid one");
        let settings = SecondarySettings {
            info: identity::peer_info(name, Role::Standalone),
            peer_timeout: Duration::MAX,
        };
        let (inputs, pending) = InputSender::new(link);
        // Nobody can guess it, and so speak in its place.
        let address = format!("{STANDALONE_NAME}-{}", identity::new_address());
        let address = RoutingId::from(address.as_str());
        let mut secondary = Self {
            engine: SecondaryEngine::new(settings),
            clock: SessionClock::start(),
            answers: VecDeque::from([PrimaryInput::Subscribed(address.clone())]),
            address,
            data,
            tracer: StepTracer::default(),
            ros: RosPart::default(),
            inputs,
            pending,
        };
        secondary.handle(SecondaryInput::Started);
        secondary
    }

    /// Tells whether a message for this destination is for it.
    pub fn is_meant(&self, to: Destination<'_>) -> bool {
        match to {
            Destination::EverySecondary => true,
            Destination::Peer(address) => *address == self.address,
            Destination::Primary | Destination::Data => false,
        }
    }

    /// Handles a message of its primary; the answers are there when this returns.
    pub fn deliver(&mut self, message: Envelope<PrimaryToSecondary>) {
        self.tracer.on_arrival();
        self.handle(SecondaryInput::Primary(message));
    }

    /// Returns the next answer, if there is one, after it has handled what other threads handed in.
    pub fn take_answer(&mut self) -> Option<PrimaryInput> {
        while let Ok(input) = self.pending.try_recv() {
            self.handle(input);
        }
        self.answers.pop_front()
    }

    fn handle(&mut self, input: SecondaryInput) {
        let mut traces = self.tracer.is_on();
        let mut welcomed = |_: &Secondary, welcome: &Welcome| traces = welcome.trace.is_some();
        let effects = self.engine.handle(input, self.clock.now(), &mut welcomed);
        self.tracer.set_on(traces);
        let Effects {
            messages,
            data,
            exported,
            kept,
            traced,
            links,
            ..
        } = effects;
        if let Some(feed) = &self.data {
            for batch in data {
                feed.give(self.engine.secondary().name().clone(), batch);
            }
        }
        for message in messages.into_iter().chain(self.engine.take_checkpoint()) {
            self.answers.push_back(PrimaryInput::Secondary {
                from: self.address.clone(),
                envelope: self.engine.envelope(message),
                wall_clock_us: wall_clock_us(),
            });
        }
        if let (Some(feed), Some(links)) = (&self.data, links) {
            feed.give_links(links);
        }
        self.ros.follow(&self.engine, &self.inputs);
        self.ros.publish(&self.engine, kept, exported);
        if let (Some(feed), Some(traced)) = (&self.data, traced) {
            let from = self.engine.secondary().name().clone();
            feed.give_trace(from, self.tracer.on_answered(&traced));
        }
    }
}
