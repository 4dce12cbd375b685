//! [`Line`]: the end of a link at which a primary's driver sends and receives, with its clock,
//! what other threads hand in, and the secondary of a run in one process.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use lockstep::roster::Member;
use lockstep::{Primary, PrimaryInput};
use protocol::Chain;
use protocol::envelope::MESSAGE_BYTES_MAX;
use protocol::{
    ClientToPrimary, DecodeError, Envelope, PeerInfo, PeerName, PrimaryToSecondary,
    ProtocolVersion, RoutingId, SecondaryToPrimary, SessionId, SessionTime, decode, encode, topic,
};
use serde::Serialize;
use transport::{Arrival, Client, Destination, DisconnectError, Link, LinkError, Refusals};

use super::machine_names::MachineNames;
use crate::clock::{SessionClock, wall_clock_us};
use crate::relay_watch::RelayContact;
use crate::secondary::InputSender;
use crate::seldom::{Seldom, shortened};
use crate::standalone::LocalSecondary;
use crate::status::DataFeed;

/// After how many answers of a secondary in this thread the link is looked at.
const LINK_EVERY: u32 = 16;

/// Time for which a link on which nothing was is not looked at between steps that are answered
/// already.
const LINK_AFTER: Duration = Duration::from_micros(50);

/// Message that comes at a [`Line`].
pub(super) enum Received {
    /// From the link.
    Arrival(Arrival),
    /// From the secondary in this thread.
    Answer(PrimaryInput),
}

/// A link with a clock, and a queue of inputs of other threads.
pub(super) struct Line<L> {
    link: L,
    session: SessionId,
    clock: SessionClock,
    /// Time when the last message arrived, or none was waited for any longer.
    arrived_at: SessionTime,
    /// Time when nothing was there last.
    found_empty_at: SessionTime,
    inputs: InputSender<PrimaryInput>,
    pending: Receiver<PrimaryInput>,
    refused: Refused,
    machines: MachineNames,
    local: Option<LocalSecondary>,
    /// Number of answers of that one since the link was looked at.
    answers: u32,
    /// True if what was received last came by the link.
    is_from_link: bool,
}

/// Warnings of messages that are refused, which come seldom.
#[derive(Default)]
struct Refused {
    malformed: Seldom,
    /// Messages that are larger than any may be.
    too_large: Seldom,
}

/// Reason why the connections of a key are not cut.
#[derive(Debug, thiserror::Error)]
pub(super) enum CutError {
    /// The key is that of the client who asks.
    #[error("{key} is the key by which you ask")]
    Own {
        /// The name of the key.
        key: String,
    },
    /// A secondary that computes has it.
    #[error(
        "{key} is the key of {name}, which computes cells of this run: `phalanx ctl RUN drain \
         {name}` has others take them over"
    )]
    OfHost {
        /// The name of the key.
        key: String,
        /// The secondary.
        name: PeerName,
    },
    /// The link does not know it.
    #[error(transparent)]
    Unknown(#[from] DisconnectError),
}

impl<L: Link> Line<L> {
    /// Begins a session on a link.
    pub(super) fn new(link: L, session: SessionId) -> Self {
        let (inputs, pending) = InputSender::new(&link);
        Self {
            link,
            session,
            clock: SessionClock::start(),
            arrived_at: SessionTime(0),
            found_empty_at: SessionTime(0),
            inputs,
            pending,
            refused: Refused::default(),
            machines: MachineNames::default(),
            local: None,
            answers: 0,
            is_from_link: false,
        }
    }

    /// Takes note of the machine of the primary, whose name stays.
    pub(super) fn begin_on(&mut self, own: &PeerInfo) {
        self.machines.name(&mut own.clone());
    }

    /// Has a secondary in this thread, whose data go to a feed.
    pub(super) fn compute_here(&mut self, data: DataFeed) {
        self.local = Some(LocalSecondary::new(&self.link, Some(data)));
    }

    /// Tells whether all cells are computed in this thread, in what else is time without work.
    pub(super) fn computes_here(&self) -> bool {
        self.local.is_some()
    }

    /// Returns the session's clock.
    pub(super) fn clock(&self) -> SessionClock {
        self.clock
    }

    /// Returns the time.
    pub(super) fn now(&self) -> SessionTime {
        self.clock.now()
    }

    /// Returns when the last message arrived, or none was waited for any longer.
    pub(super) fn arrived_at(&self) -> SessionTime {
        self.arrived_at
    }

    /// Returns a handle for inputs from other threads.
    pub(super) fn inputs(&self) -> InputSender<PrimaryInput> {
        self.inputs.clone()
    }

    /// Has an input handled later.
    pub(super) fn put(&self, input: PrimaryInput) {
        self.inputs.send(input);
    }

    /// Returns the next input of other threads.
    pub(super) fn take_pending(&mut self) -> Option<PrimaryInput> {
        self.pending.try_recv().ok()
    }

    /// Waits for what comes next, at most so long.
    ///
    /// # Errors
    /// Fails if nothing can arrive any more.
    pub(super) fn receive(&mut self, timeout: Duration) -> Result<Option<Received>, LinkError> {
        let received = self.receive_untimed(timeout);
        self.arrived_at = self.clock.now();
        if matches!(received, Ok(None)) {
            self.found_empty_at = self.arrived_at;
        }
        received
    }

    /// Goes on as if nothing had come at `now`, if that was so just before: each look at the link
    /// is a system call. Returns whether it does.
    pub(super) fn goes_on(&mut self, now: SessionTime) -> bool {
        let goes_on = now.since(self.found_empty_at) < LINK_AFTER;
        if goes_on {
            self.arrived_at = now;
        }
        goes_on
    }

    /// Returns what is there already, if anything is.
    pub(super) fn receive_at_once(&mut self) -> Option<Received> {
        self.receive_untimed(Duration::ZERO).ok().flatten()
    }

    /// Waits for what comes next; answers of this thread do not keep clients waiting.
    fn receive_untimed(&mut self, timeout: Duration) -> Result<Option<Received>, LinkError> {
        if self.answers < LINK_EVERY {
            let answer = self.local.as_mut().and_then(LocalSecondary::take_answer);
            if let Some(answer) = answer {
                self.answers += 1;
                self.is_from_link = false;
                return Ok(Some(Received::Answer(answer)));
            }
        }
        let is_its_turn = std::mem::take(&mut self.answers) >= LINK_EVERY;
        let wait = if is_its_turn { Duration::ZERO } else { timeout };
        self.is_from_link = true;
        match self.link.receive(Some(wait))? {
            None if is_its_turn => self.receive_untimed(timeout),
            arrival => Ok(arrival.map(Received::Arrival)),
        }
    }

    /// Returns the input that a message is.
    pub(super) fn input_of(
        &mut self,
        from: RoutingId,
        topic: &[u8],
        payload: &[u8],
    ) -> PrimaryInput {
        if topic == topic::REQUEST.as_bytes() {
            return match decode::<ClientToPrimary>(payload) {
                Ok(envelope) => PrimaryInput::Client {
                    from,
                    session: envelope.session,
                    message: envelope.body,
                    texts: Vec::new(),
                },
                Err(error) => self.on_malformed(from, false, &error),
            };
        }
        match decode::<SecondaryToPrimary>(payload) {
            Ok(mut envelope) => {
                if let SecondaryToPrimary::Join(info) = &mut envelope.body {
                    self.machines.name(info);
                }
                PrimaryInput::Secondary {
                    from,
                    envelope,
                    wall_clock_us: wall_clock_us(),
                }
            }
            Err(error) => {
                let joining = topic == topic::ANNOUNCE.as_bytes();
                self.on_malformed(from, joining, &error)
            }
        }
    }

    fn on_malformed(
        &mut self,
        from: RoutingId,
        joining: bool,
        error: &DecodeError,
    ) -> PrimaryInput {
        let error = Chain(error).to_string();
        let error = shortened(&error).to_owned();
        self.refused
            .malformed
            .warn(&format!("message from {from} refused: {error}"));
        PrimaryInput::Malformed {
            from,
            joining,
            error,
        }
    }

    /// Returns a message of this session with its header.
    fn envelope<B>(&self, body: B) -> Envelope<B> {
        Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.session,
            sender: PeerName::primary(),
            body,
        }
    }

    /// Returns the bytes of a message of this session.
    pub(super) fn encode<B: Serialize>(&self, body: B) -> Vec<u8> {
        encode(&self.envelope(body))
    }

    /// Sends a message to secondaries, to the one in this thread as it is; `before` is called in
    /// between its encoding and its sending.
    pub(super) fn tell(
        &mut self,
        to: Destination<'_>,
        message: PrimaryToSecondary,
        before: impl FnOnce(SessionTime),
    ) {
        let message = self.envelope(message);
        let local = self.local.as_mut().filter(|local| local.is_meant(to));
        if let Some(local) = local {
            before(self.clock.now());
            return local.deliver(message);
        }
        let (topic, bytes) = (message.body.topic(), encode(&message));
        before(self.clock.now());
        self.send(to, topic, &bytes);
    }

    /// Sends a message.
    pub(super) fn send(&mut self, to: Destination<'_>, topic: &str, bytes: &[u8]) {
        if bytes.len() > MESSAGE_BYTES_MAX {
            return self.refused.too_large.warn(&format!(
                "a message of {} MiB ({topic}) is not sent, since {} MiB are the most: let worlds \
                 and spawned models take less, such as by smaller meshes and textures",
                bytes.len() >> 20,
                MESSAGE_BYTES_MAX >> 20
            ));
        }
        if let Err(error) = self.link.send(to, topic, bytes) {
            // A secondary that is missed is sent its step again, or is lost by its deadlines.
            tracing::debug!(topic, "message not sent: {}", Chain(&error));
        }
    }

    /// Returns who sent the message that came last, where there are keys; a secondary in this
    /// thread needs none.
    pub(super) fn sender(&self) -> Option<Client> {
        self.link.sender().filter(|_| self.is_from_link)
    }

    /// Charges the key of a client for a request that is refused.
    pub(super) fn charge(&mut self, client: &RoutingId) {
        self.link.charge(client);
    }

    /// Watches the connection of the client that sent the message that came last.
    pub(super) fn watch_last(&mut self, client: &RoutingId) {
        self.link.watch_last(client);
    }

    /// Tells whether the connection of a client that is watched is gone.
    pub(super) fn is_gone(&self, client: &RoutingId) -> bool {
        self.link.is_gone(client)
    }

    /// Notes that the message that came last is refused.
    pub(super) fn refuse_last(&mut self) {
        self.link.refuse_last();
    }

    /// Returns who is connected.
    pub(super) fn clients(&self) -> protocol::report::Clients {
        self.link.clients()
    }

    /// Tells whether a key is let in.
    pub(super) fn is_let_in(&self, key: &str) -> bool {
        self.link.is_let_in(key)
    }

    /// Returns the relay through which a secondary takes part, if it is behind one.
    pub(super) fn relay_of(&self, member: &Member) -> Option<RelayContact> {
        Some(RelayContact {
            name: self.link.relay_of(&member.routing)?,
            host: member.info.host.clone(),
            silence: self.link.silence_of_relay(&member.routing)?,
        })
    }

    /// Returns the relays through which secondaries take part.
    pub(super) fn relays(&self, primary: &Primary) -> BTreeMap<PeerName, RelayContact> {
        let members = primary.roster().members();
        let behind = members.filter_map(|(name, one)| Some((name.clone(), self.relay_of(one)?)));
        behind.collect()
    }

    /// Returns the name of the lost relay with which a secondary is gone, if the arrival before
    /// told that.
    pub(super) fn lost_relay_of(&self, secondary: &RoutingId) -> Option<String> {
        self.link.lost_relay_of(secondary)
    }

    /// Returns who was let in since the last time.
    pub(super) fn take_admitted(&mut self) -> Vec<Client> {
        self.link.take_admitted()
    }

    /// Returns what was turned away since the last time.
    pub(super) fn take_refusals(&mut self, is_last: bool) -> Option<Refusals> {
        self.link.take_refusals(is_last)
    }

    /// Cuts all connections of a key and keeps it out; returns how many there were.
    ///
    /// # Errors
    /// Fails if whoever asks has it, or a secondary that computes, or nobody.
    pub(super) fn cut(&mut self, key: &str, primary: &Primary) -> Result<u64, CutError> {
        if self.sender().is_some_and(|client| client.name == key) {
            let key = key.to_owned();
            return Err(CutError::Own { key });
        }
        if let Some(name) = self.host_with_key(key, primary) {
            let key = key.to_owned();
            return Err(CutError::OfHost { key, name });
        }
        Ok(self.link.disconnect(key)?)
    }

    /// Returns a secondary that computes and has connected by a key.
    fn host_with_key(&self, key: &str, primary: &Primary) -> Option<PeerName> {
        let members = primary.roster().members();
        let mut hosts = members.filter(|(name, _)| !primary.hosted(name).is_empty());
        let found =
            hosts.find(|(_, member)| self.link.key_of(&member.routing).as_deref() == Some(key));
        found.map(|(name, _)| name.clone())
    }
}
