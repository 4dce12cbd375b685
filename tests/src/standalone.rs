//! A primary and the secondary within its own process, as `worker` runs without a role: the same
//! link, every message encoded and decoded, in one thread.

use std::collections::VecDeque;
use std::time::Duration;

use lockstep::{Primary, PrimaryInput, PrimaryOutput, Settings};
use protocol::{
    Envelope, PeerName, PrimaryToSecondary, ProtocolVersion, SecondaryToPrimary, SessionTime,
    StopReason, decode, encode,
};
use sdf::World;
use transport::memory::Network;
use transport::{Arrival, Destination, Link};
use worker::standalone::InlineLink;

use crate::witness::Witness;

/// Runs worlds in one process until the run ends, and returns why it did.
///
/// # Panics
/// Panics if the link breaks, or nothing can happen any more.
pub fn run(worlds: &[World], settings: Settings, witness: &mut Witness) -> StopReason {
    let network = Network::new();
    let mut link = InlineLink::new(network.primary(), None);
    let mut primary = Primary::new(settings, worlds);
    let mut now = SessionTime(1);
    let mut inputs = VecDeque::new();
    loop {
        let arrival = link.receive(Some(Duration::ZERO)).expect("the link holds");
        inputs.extend(arrival.and_then(input_of));
        let input = inputs.pop_front().unwrap_or_else(|| {
            let due = primary.deadline().expect("something happens next");
            now = now.max(due);
            PrimaryInput::DeadlinePassed {
                inbox_is_empty: true,
            }
        });
        let mut outputs = Vec::new();
        primary.handle(input, now, &mut outputs);
        for output in outputs {
            match output {
                PrimaryOutput::Publish(message) => {
                    if let PrimaryToSecondary::Step(step) = &message {
                        witness.on_published(&primary, step);
                    }
                    send(&mut link, &primary, Destination::EverySecondary, message);
                }
                PrimaryOutput::Ahead(step) => witness.on_published(&primary, &step),
                PrimaryOutput::Send { to, message } => {
                    send(&mut link, &primary, Destination::Peer(&to), message);
                }
                PrimaryOutput::StepDone(report) => {
                    witness.on_done(&primary, &report, std::iter::empty());
                }
                PrimaryOutput::Finished(reason) => return reason,
                PrimaryOutput::Checkpointed(_)
                | PrimaryOutput::Replayed
                | PrimaryOutput::Diagnose { .. }
                | PrimaryOutput::Diverged(_)
                | PrimaryOutput::Observe(_)
                | PrimaryOutput::Reply { .. }
                | PrimaryOutput::Stamped(_)
                | PrimaryOutput::Report { .. }
                | PrimaryOutput::Disconnect { .. } => {}
            }
        }
    }
}

fn send(link: &mut impl Link, primary: &Primary, to: Destination<'_>, body: PrimaryToSecondary) {
    let topic = body.topic();
    let bytes = encode(&Envelope {
        version: ProtocolVersion::CURRENT,
        session: primary.settings().session,
        sender: PeerName::primary(),
        body,
    });
    link.send(to, topic, &bytes).expect("the link holds");
}

fn input_of(arrival: Arrival) -> Option<PrimaryInput> {
    match arrival {
        Arrival::Message {
            from: Some(from),
            payload,
            ..
        } => Some(PrimaryInput::Secondary {
            from,
            envelope: decode::<SecondaryToPrimary>(&payload).expect("it was just encoded"),
            wall_clock_us: 0,
        }),
        Arrival::Subscribed(routing) => Some(PrimaryInput::Subscribed(routing)),
        Arrival::Message { from: None, .. }
        | Arrival::Unsubscribed(_)
        | Arrival::Connected
        | Arrival::Disconnected
        | Arrival::Denied(_)
        | Arrival::Woken => None,
    }
}
