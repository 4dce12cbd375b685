//! The rules and the cells of one process with nothing between them: no link, no encoding, no
//! thread but those that step cells.

use std::collections::VecDeque;

use lockstep::{
    Primary, PrimaryInput, PrimaryOutput, SecondaryInput, SecondarySettings, Settings, StepReport,
};
use protocol::{
    Envelope, PeerName, PrimaryToSecondary, ProtocolVersion, Role, RoutingId, SessionTime,
};
use sdf::World;
use worker::cell_host::CellHost;
use worker::identity;
use worker::secondary::SecondaryEngine;

/// A primary and its only secondary.
pub struct Direct {
    primary: Primary,
    engine: SecondaryEngine,
    routing: RoutingId,
    now: SessionTime,
    inputs: VecDeque<PrimaryInput>,
    outputs: Vec<PrimaryOutput>,
}

impl Direct {
    /// Makes both; the settings are for one secondary.
    ///
    /// # Panics
    /// Never: the name of the secondary is a valid one.
    pub fn new(worlds: &[World], settings: Settings) -> Self {
        let name: PeerName = "s1".parse().expect("it is a valid name");
        let peer_timeout = settings.peer_timeout;
        let secondary = SecondarySettings {
            info: identity::peer_info(name, Role::Secondary),
            peer_timeout,
        };
        let routing = RoutingId::from("s1");
        let mut direct = Self {
            primary: Primary::new(settings, worlds),
            engine: SecondaryEngine::new(secondary),
            now: SessionTime(1),
            inputs: VecDeque::from([PrimaryInput::Subscribed(routing.clone())]),
            routing,
            outputs: Vec::new(),
        };
        direct.tell(SecondaryInput::Started);
        direct
    }

    /// Runs until one more step is done, and returns what came of it.
    ///
    /// # Panics
    /// When the run is over.
    pub fn advance(&mut self) -> StepReport {
        loop {
            let input = self.inputs.pop_front().unwrap_or_else(|| {
                let due = self.primary.deadline();
                self.now = self.now.max(due.expect("the run is not over"));
                PrimaryInput::DeadlinePassed {
                    inbox_is_empty: true,
                }
            });
            let mut outputs = std::mem::take(&mut self.outputs);
            self.primary.handle(input, self.now, &mut outputs);
            let mut done = None;
            for output in outputs.drain(..) {
                match output {
                    PrimaryOutput::Publish(message) | PrimaryOutput::Send { message, .. } => {
                        self.deliver(message);
                    }
                    PrimaryOutput::StepDone(report) => done = Some(report),
                    PrimaryOutput::Finished(reason) => panic!("the run is over: {reason}"),
                    _ => {}
                }
            }
            self.outputs = outputs;
            if let Some(report) = done {
                return report;
            }
        }
    }

    /// Returns the cells.
    ///
    /// # Panics
    /// Before the first step is done.
    pub fn host(&self) -> &CellHost {
        self.engine.host().expect("a step was done")
    }

    fn deliver(&mut self, body: PrimaryToSecondary) {
        self.tell(SecondaryInput::Primary(Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.primary.settings().session,
            sender: PeerName::primary(),
            body,
        }));
    }

    fn tell(&mut self, input: SecondaryInput) {
        let effects = self.engine.handle(input, self.now, &mut |_, _| {});
        for body in effects.messages {
            let envelope = Envelope {
                version: ProtocolVersion::CURRENT,
                session: self.engine.secondary().session(),
                sender: self.engine.secondary().name().clone(),
                body,
            };
            self.inputs.push_back(PrimaryInput::Secondary {
                from: self.routing.clone(),
                envelope,
                wall_clock_us: 0,
            });
        }
    }
}
