//! [`Barrier`]: one step out to all, one ack back from each, then the next.
//!
//! It takes acks and says what became of them; it changes nothing outside of the step under way.

pub(crate) mod acks;
pub(crate) mod divergence;
mod due_answers;
pub(crate) mod round;
pub(crate) mod speculation;
pub(crate) mod state_reader;
mod step_timeout;

use std::collections::VecDeque;
use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::StepAck;
use protocol::{PeerName, SessionTime};

use crate::peer_numbers::PeerNumber;
use crate::primary::commands::batch::AppliedCommand;
use crate::primary::io::{PeerTiming, Settings};
use crate::primary::peers::seats::Seats;
use due_answers::DueAnswers;
use round::{NewRound, Overdue, Round};
use speculation::Speculation;
use state_reader::StateReader;

/// State of the barrier.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    /// The step that waits for its acks.
    round: Option<Box<Round>>,
    speculation: Speculation,
    reader: StateReader,
    due_answers: DueAnswers,
}

/// Stages of waiting that a step has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Escalation {
    /// Time for which it has waited, if that is to be told.
    pub(crate) warning: Option<Duration>,
    /// True if the processes of its blockers are to be looked at.
    pub(crate) examines: bool,
}

impl Barrier {
    /// Has a step wait for the acks of all who take part.
    pub(crate) fn begin(&mut self, new: NewRound<'_>, settings: &Settings, now: SessionTime) {
        self.round = Some(Box::new(Round::new(new, settings, now)));
    }

    /// Returns the answers to the step under way that came before it, with their senders.
    pub(crate) fn take_answers_ahead(&mut self) -> Vec<(PeerNumber, StepAck)> {
        let round = self.round.as_ref();
        let seats = round.map(|round| round.seats());
        seats.map_or_else(Vec::new, |seats| self.speculation.take_next_answers(seats))
    }

    /// Takes back the memory of answers that were taken over.
    pub(crate) fn recycle_answers_ahead(&mut self, answers: Vec<(PeerNumber, StepAck)>) {
        self.speculation.recycle(answers);
    }

    /// Tells whether no step is under way.
    pub(crate) fn is_free(&self) -> bool {
        self.round.is_none()
    }

    pub(crate) fn round(&self) -> Option<&Round> {
        self.round.as_deref()
    }

    pub(crate) fn round_mut(&mut self) -> Option<&mut Round> {
        self.round.as_deref_mut()
    }

    pub(crate) fn speculation(&self) -> &Speculation {
        &self.speculation
    }

    pub(crate) fn speculation_mut(&mut self) -> &mut Speculation {
        &mut self.speculation
    }

    /// Returns the step under way.
    pub(crate) fn step(&self) -> Option<&Step> {
        self.round.as_ref().map(|round| round.step())
    }

    /// Returns the secondaries whose ack is not there yet.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &PeerName> {
        self.round.iter().flat_map(|round| round.missing())
    }

    /// Tells whether all have answered the step under way.
    pub(crate) fn is_answered(&self) -> bool {
        let round = self.round.as_ref();
        round.is_some_and(|round| round.is_answered())
    }

    /// Ends the step under way.
    ///
    /// # Panics
    /// Panics when there is none.
    pub(crate) fn complete(&mut self) -> Round {
        let round = self.round.take();
        *round.expect("only a step under way can be completed")
    }

    /// Drops the step under way, and returns the commands that it brought.
    pub(crate) fn drop_round(&mut self) -> Vec<AppliedCommand> {
        let Some(round) = self.round.take() else {
            return Vec::new();
        };
        for number in round.missing_numbers() {
            self.due_answers.note(number, round.step().sequence);
        }
        round.into_applied()
    }

    /// Moves the time-outs of the step under way by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        if let Some(round) = &mut self.round {
            round.extend(by);
        }
    }

    /// Looks for secondaries that have not answered and are waited for; those who restore what is
    /// lost have deadlines of their own.
    pub(crate) fn overdue(
        &mut self,
        is_waited_for: impl Fn(&PeerName) -> bool,
        now: SessionTime,
    ) -> Option<Overdue> {
        self.round.as_mut()?.overdue(is_waited_for, now)
    }

    /// Notes that the step under way is sent to a secondary once more.
    pub(crate) fn note_sent_again(&mut self, to: PeerNumber) {
        if let Some(round) = &self.round {
            self.due_answers.note(to, round.step().sequence);
        }
    }

    /// Divides the time of a message among the steps that it brought.
    pub(crate) fn share_time(
        &mut self,
        round: &mut Round,
        seats: &Seats,
        now: SessionTime,
    ) -> (Vec<PeerTiming>, Duration) {
        let duration = self.speculation.share_time(round, seats, now);
        (round.take_timings(), duration)
    }

    /// Keeps the answers to steps that somebody has done ahead.
    fn keep_ahead(&mut self, sender: PeerNumber, ahead: Vec<StepAck>) {
        if !ahead.is_empty() {
            self.speculation.keep(sender, VecDeque::from(ahead));
        }
    }
}
