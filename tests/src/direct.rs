//! The rules and the cells of a run in one process with nothing between them: no link, no encoding,
//! no thread but those that step cells.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use cell_host::CellHost;
use lockstep::{
    Primary, PrimaryInput, PrimaryOutput, SecondaryInput, SecondarySettings, Settings, StepReport,
};
use protocol::{
    Envelope, PeerName, PrimaryToSecondary, ProtocolVersion, Role, RoutingId, SessionTime,
};
use sdf::World;
use worker::identity;
use worker::secondary::SecondaryEngine;

/// A primary and its secondaries.
pub struct Direct {
    primary: Primary,
    engines: Vec<SecondaryEngine>,
    now: SessionTime,
    /// Time that the rules of the primary took.
    ruled: Duration,
    inputs: VecDeque<PrimaryInput>,
    outputs: Vec<PrimaryOutput>,
}

impl Direct {
    /// Makes all of them.
    ///
    /// # Panics
    /// Never: the names of secondaries are valid ones.
    pub fn new(worlds: &[World], settings: Settings) -> Self {
        let names = (1..=settings.peers.secondaries).map(|number| format!("s{number}"));
        let peer_timeout = settings.peers.peer_timeout;
        let engines = names.map(|name| {
            let name = name.parse().expect("it is a valid name");
            SecondaryEngine::new(SecondarySettings {
                info: identity::peer_info(name, Role::Secondary),
                peer_timeout,
            })
        });
        let engines: Vec<SecondaryEngine> = engines.collect();
        let inputs = engines.iter().map(routing).map(PrimaryInput::Subscribed);
        let mut direct = Self {
            primary: Primary::new(settings, worlds),
            now: SessionTime(1),
            ruled: Duration::ZERO,
            inputs: inputs.collect(),
            outputs: Vec::new(),
            engines,
        };
        for index in 0..direct.engines.len() {
            direct.tell(index, SecondaryInput::Started);
        }
        direct
    }

    /// Runs until one more step is done, and returns what came of it.
    ///
    /// # Panics
    /// Panics if the run is over.
    pub fn advance(&mut self) -> StepReport {
        loop {
            if self.inputs.is_empty() {
                self.go_on_ahead();
            }
            let input = self.inputs.pop_front().unwrap_or_else(|| {
                let due = self.primary.deadline();
                self.now = self.now.max(due.expect("the run is not over"));
                PrimaryInput::DeadlinePassed {
                    inbox_is_empty: true,
                }
            });
            let mut outputs = std::mem::take(&mut self.outputs);
            let begin = Instant::now();
            self.primary.handle(input, self.now, &mut outputs);
            self.ruled += begin.elapsed();
            let mut done = None;
            for output in outputs.drain(..) {
                match output {
                    PrimaryOutput::Publish(message) => {
                        for index in 0..self.engines.len() {
                            self.deliver(index, message.clone());
                        }
                    }
                    PrimaryOutput::Send { to, message } => {
                        let is_meant = |engine: &SecondaryEngine| routing(engine) == to;
                        if let Some(index) = self.engines.iter().position(is_meant) {
                            self.deliver(index, message);
                        }
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

    /// Returns the cells of the first secondary.
    ///
    /// # Panics
    /// Before the first step is done.
    pub fn host(&self) -> &CellHost {
        self.engines[0].host().expect("a step was done")
    }

    /// Returns the primary, as a sink finds it that is told of the last step.
    pub fn primary(&self) -> &Primary {
        &self.primary
    }

    /// Returns what the rules of the primary took since this was asked last.
    pub fn take_ruled(&mut self) -> Duration {
        std::mem::take(&mut self.ruled)
    }

    /// Has secondaries go on whose windows are not done.
    fn go_on_ahead(&mut self) {
        for index in 0..self.engines.len() {
            let due = self.engines[index].secondary().deadline();
            if due.is_some_and(|due| due <= self.now) {
                self.tell(index, SecondaryInput::DeadlinePassed);
            }
        }
    }

    fn deliver(&mut self, index: usize, body: PrimaryToSecondary) {
        let envelope = Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.primary.settings().session,
            sender: PeerName::primary(),
            body,
        };
        self.tell(index, SecondaryInput::Primary(envelope));
    }

    fn tell(&mut self, index: usize, input: SecondaryInput) {
        let engine = &mut self.engines[index];
        let effects = engine.handle(input, self.now, &mut |_, _| {});
        for body in effects.messages {
            let envelope = Envelope {
                version: ProtocolVersion::CURRENT,
                session: engine.secondary().session(),
                sender: engine.secondary().name().clone(),
                body,
            };
            self.inputs.push_back(PrimaryInput::Secondary {
                from: routing(engine),
                envelope,
                wall_clock_us: 0,
            });
        }
    }
}

fn routing(engine: &SecondaryEngine) -> RoutingId {
    RoutingId::from(engine.secondary().name().as_str())
}
