//! A primary and the secondary within its own process, as `worker` runs without a role: in one
//! thread, and no message is encoded.

use lockstep::{Primary, PrimaryInput, PrimaryOutput, Settings};
use protocol::{
    Envelope, PeerName, PrimaryToSecondary, ProtocolVersion, SessionId, SessionTime, StopReason,
};
use sdf::World;
use transport::memory::Network;
use worker::standalone::LocalSecondary;

use crate::witness::Witness;

/// Runs worlds in one process until the run ends, and returns why it did.
///
/// # Panics
/// Panics if nothing can happen any more.
pub fn run(worlds: &[World], settings: Settings, witness: &mut Witness) -> StopReason {
    let session = settings.session;
    let network = Network::new();
    let mut secondary = LocalSecondary::new(&network.primary(), None);
    let mut primary = Primary::new(settings, worlds);
    let mut now = SessionTime(1);
    loop {
        let input = secondary.take_answer().unwrap_or_else(|| {
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
                    secondary.deliver(envelope(session, message));
                }
                PrimaryOutput::Ahead(step) => witness.on_published(&primary, &step),
                PrimaryOutput::Send { message, .. } => {
                    secondary.deliver(envelope(session, message));
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

fn envelope(session: SessionId, body: PrimaryToSecondary) -> Envelope<PrimaryToSecondary> {
    Envelope {
        version: ProtocolVersion::CURRENT,
        session,
        sender: PeerName::primary(),
        body,
    }
}
