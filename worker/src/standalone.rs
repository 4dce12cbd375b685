//! Standalone: the same rules and the same cells in one process.
//!
//! The primary's driver runs unchanged on an [`InlineLink`], behind which a secondary answers in
//! the same thread; clients reach it by the link underneath.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use lockstep::{Secondary, SecondaryInput, SecondarySettings};
use protocol::primary_to_secondary::Welcome;
use protocol::report::Clients;
use protocol::{Access, PeerName, PrimaryToSecondary, Role, RoutingId, decode};
use transport::{Arrival, Client, Destination, DisconnectError, Link, LinkError, Refusals, Waker};

use crate::clock::SessionClock;
use crate::identity;
use crate::ros::RosPart;
use crate::secondary::{Effects, InputSender, SecondaryEngine};
use crate::status::DataFeed;
use crate::trace::StepTracer;

/// The name of the secondary within a standalone process.
pub const STANDALONE_NAME: &str = "standalone";

/// After how many of its own messages the link looks for those of clients.
const CLIENTS_EVERY: u32 = 16;

/// A link with a secondary behind it, on top of a link for clients.
pub struct InlineLink<L> {
    clients: L,
    engine: SecondaryEngine,
    clock: SessionClock,
    address: RoutingId,
    arrivals: VecDeque<Arrival>,
    since_clients: u32,
    /// True if what was received last came from outside.
    is_clients: bool,
    data: Option<DataFeed>,
    tracer: StepTracer,
    ros: RosPart,
    inputs: InputSender<SecondaryInput>,
    pending: Receiver<SecondaryInput>,
}

impl<L: Link> InlineLink<L> {
    /// Makes the link; the secondary behind it asks to join at once. What it says on topics goes
    /// to `data`, if that is there.
    ///
    /// # Panics
    /// Never: the name of the secondary is a valid one.
    pub fn new(clients: L, data: Option<DataFeed>) -> Self {
        let name: PeerName = STANDALONE_NAME.parse().expect("the name is a valid one");
        let settings = SecondarySettings {
            info: identity::peer_info(name, Role::Standalone),
            peer_timeout: Duration::MAX,
        };
        let (inputs, pending) = InputSender::new(&clients);
        let mut link = Self {
            clients,
            engine: SecondaryEngine::new(settings),
            clock: SessionClock::start(),
            // Nobody can guess it, and so speak in its place.
            address: RoutingId::from(
                format!("{STANDALONE_NAME}-{}", identity::new_address()).as_str(),
            ),
            arrivals: VecDeque::new(),
            since_clients: 0,
            is_clients: false,
            data,
            tracer: StepTracer::default(),
            ros: RosPart::default(),
            inputs,
            pending,
        };
        link.arrivals
            .push_back(Arrival::Subscribed(link.address.clone()));
        link.handle(SecondaryInput::Started);
        link
    }

    fn deliver(&mut self, payload: &[u8]) -> Result<(), LinkError> {
        self.tracer.on_arrival();
        let envelope = decode::<PrimaryToSecondary>(payload)
            .map_err(|error| LinkError::Transport(Box::new(error)))?;
        self.handle(SecondaryInput::Primary(envelope));
        Ok(())
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
            let topic = message.topic().as_bytes().to_vec();
            let payload = self.engine.encode(message);
            let from = Some(self.address.clone());
            self.arrivals.push_back(Arrival::Message {
                from,
                access: Access::Full,
                topic,
                payload: payload.into(),
            });
        }
        if let (Some(feed), Some(links)) = (&self.data, links) {
            feed.give_links(links);
        }
        self.ros.follow(&self.engine, &self.inputs);
        self.ros.publish(&self.engine, exported);
        if let (Some(feed), Some(traced)) = (&self.data, traced) {
            let from = self.engine.secondary().name().clone();
            feed.give_trace(from, self.tracer.on_answered(&traced));
        }
    }
}

impl<L: Link> Link for InlineLink<L> {
    fn send(&mut self, to: Destination<'_>, topic: &str, payload: &[u8]) -> Result<(), LinkError> {
        match to {
            Destination::EverySecondary => self.deliver(payload),
            Destination::Peer(address) if *address == self.address => self.deliver(payload),
            Destination::Peer(_) | Destination::Primary | Destination::Data => {
                self.clients.send(to, topic, payload)
            }
        }
    }

    fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Arrival>, LinkError> {
        while let Ok(input) = self.pending.try_recv() {
            self.handle(input);
        }
        self.is_clients = true;
        if self.arrivals.is_empty() {
            self.since_clients = 0;
            return self.clients.receive(timeout);
        }
        self.since_clients += 1;
        if self.since_clients >= CLIENTS_EVERY {
            self.since_clients = 0;
            if let Some(arrival) = self.clients.receive(Some(Duration::ZERO))? {
                return Ok(Some(arrival));
            }
        }
        self.is_clients = false;
        Ok(self.arrivals.pop_front())
    }

    fn waker(&self) -> Arc<dyn Waker> {
        self.clients.waker()
    }

    fn take_refusals(&mut self, is_last: bool) -> Option<Refusals> {
        self.clients.take_refusals(is_last)
    }

    fn sender(&self) -> Option<Client> {
        // What the secondary within says needs no key.
        self.clients.sender().filter(|_| self.is_clients)
    }

    fn watch_last(&mut self, client: &RoutingId) {
        self.clients.watch_last(client);
    }

    fn is_gone(&self, client: &RoutingId) -> bool {
        self.clients.is_gone(client)
    }

    fn charge(&mut self, client: &RoutingId) {
        self.clients.charge(client);
    }

    fn refuse_last(&mut self) {
        self.clients.refuse_last();
    }

    fn clients(&self) -> Clients {
        self.clients.clients()
    }

    fn disconnect(&mut self, key: &str) -> Result<u64, DisconnectError> {
        self.clients.disconnect(key)
    }

    fn key_of(&self, secondary: &RoutingId) -> Option<String> {
        self.clients.key_of(secondary)
    }

    fn is_let_in(&self, name: &str) -> bool {
        self.clients.is_let_in(name)
    }

    fn take_admitted(&mut self) -> Vec<Client> {
        self.clients.take_admitted()
    }
}
