//! [`Round`]: where the stepper's time went in one step, from preparing it to its last answer.

use protocol::{Iteration, PeerName, Sequence};

/// A step as the primary's stepper saw it.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) sequence: Sequence,
    pub(super) iteration: Iteration,
    /// True if time stood still in it.
    pub(super) is_paused: bool,
    /// Work of the stepper, in order; its times are of the machine's clock.
    pub(super) spans: Vec<Span>,
    /// Peers that answered.
    pub(super) peers: Vec<PeerName>,
    /// Peer that answered last.
    pub(super) waited_for: Option<PeerName>,
}

/// Something that the stepper did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) work: Work,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// Peer whose answer it was about.
    pub(super) peer: Option<PeerName>,
}

/// Kind of the stepper's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Makes a step, when the pace says so.
    Prepare,
    /// Hands a step to its socket; a standalone process does it meanwhile.
    Publish,
    /// Takes over an answer that is not the last.
    Ack,
    /// Takes over the last answer, decides who is in which cell and, unless it is too early for
    /// that, makes the next step.
    Update,
    /// Writes down and tells what came of the step.
    Record,
}

impl Work {
    /// Returns what it is called in a trace.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Publish => "publish",
            Self::Ack => "ack",
            Self::Update => "update",
            Self::Record => "record",
        }
    }
}

impl Round {
    /// Returns when publishing began and ended \[ns\].
    pub(super) fn published(&self) -> Option<(u64, u64)> {
        let mut spans = self.spans.iter();
        let span = spans.find(|span| span.work == Work::Publish)?;
        Some((span.begin_ns, span.end_ns))
    }

    /// Returns when somebody's answer arrived \[ns\].
    pub(super) fn answered(&self, peer: &PeerName) -> Option<u64> {
        let mut spans = self.spans.iter().rev();
        let span = spans.find(|span| span.peer.as_ref() == Some(peer))?;
        Some(span.begin_ns)
    }

    /// Returns when the last answer arrived \[ns\], and with that the waiting was over.
    pub(super) fn completed(&self) -> Option<u64> {
        let mut spans = self.spans.iter();
        let span = spans.find(|span| span.work == Work::Update)?;
        Some(span.begin_ns)
    }

    /// Returns when the stepper was done with it \[ns\].
    pub(super) fn ended(&self) -> Option<u64> {
        self.spans.last().map(|span| span.end_ns)
    }
}
