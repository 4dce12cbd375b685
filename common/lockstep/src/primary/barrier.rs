//! [`Barrier`]: one step out to all, one ack back from each that hosts a cell, then the next.
//!
//! It takes acks and says what became of them; it changes nothing outside of the step under way.

pub(crate) mod acks;
pub(crate) mod divergence;
mod due_answers;
pub(crate) mod round;
pub(crate) mod speculation;
mod standbys;
pub(crate) mod state_reader;
mod step_timeout;
mod window_parts;

use std::sync::Arc;
use std::time::Duration;

use protocol::primary_to_secondary::Step;
use protocol::secondary_to_primary::{StepAck, StepsAhead};
use protocol::{PeerName, SessionTime};

use crate::peer_numbers::{PeerNumber, PeerNumbers};
use crate::primary::commands::batch::AppliedCommand;
use crate::primary::io::PeerTiming;
use crate::primary::peers::seats::Seats;
use crate::primary::settings::PeerSettings;
use due_answers::DueAnswers;
use round::{NewRound, Overdue, Round};
use speculation::{Speculation, Terms};
use standbys::Standbys;
use state_reader::{AckError, StateReader};

/// State of the barrier.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    /// The step that waits for its acks.
    round: Option<Box<Round>>,
    speculation: Speculation,
    standbys: Standbys,
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
    /// Tells whether all have done a step already that is about to be published. If not, it gets
    /// the size of the window that it may open.
    pub(crate) fn has_done(
        &mut self,
        step: &mut Step,
        terms: &Terms,
        seats: &Arc<Seats>,
        now: SessionTime,
    ) -> bool {
        // Who has come or gone since has not heard of the steps ahead, or is not to be waited for.
        let nobody = Seats::default();
        let awaited = self.standbys.awaited_of(seats).unwrap_or(&nobody);
        self.speculation.has_done(step, terms, awaited, now)
    }

    /// Has a step that is about to be published open the window of its size.
    pub(crate) fn open_window(&mut self, step: &mut Step, seats: &Arc<Seats>) {
        self.speculation.open_window(step, seats.numbers().len());
    }

    /// Decides whom the steps of a message wait for: those with a part in its first one, and all
    /// if all are to confirm it.
    pub(crate) fn choose_awaited(
        &mut self,
        seats: &Arc<Seats>,
        all: bool,
        has_part: impl Fn(PeerNumber) -> bool,
        known: &PeerNumbers,
    ) {
        self.standbys.choose(seats, all, has_part, known);
    }

    /// Has a step wait for the acks of those who were chosen for its message.
    pub(crate) fn begin(&mut self, new: NewRound, settings: &PeerSettings, now: SessionTime) {
        if !new.is_ahead {
            self.standbys.note_sent(&new.step, now);
        }
        let awaited = Arc::clone(self.standbys.awaited());
        self.round = Some(Box::new(Round::new(new, awaited, settings, now)));
    }

    /// Notes that a step is complete, and tells whether it is to be told of before the next one is
    /// made.
    pub(crate) fn rest_after(
        &mut self,
        was_ahead: bool,
        commands_are_due: bool,
        now: SessionTime,
    ) -> bool {
        let awaited = self.standbys.awaited();
        self.speculation
            .rest_after(was_ahead, commands_are_due, awaited, now)
    }

    /// Drops what was done ahead, as somebody is gone.
    pub(crate) fn forget(&mut self, number: Option<PeerNumber>) {
        self.speculation.forget();
        if let Some(number) = number {
            self.standbys.forget(number);
        }
    }

    /// Gives somebody who was kept from its steps by a job its whole time for them.
    pub(crate) fn wait_again_for(
        &mut self,
        (name, number): (&PeerName, Option<PeerNumber>),
        step_timeout: Duration,
        now: SessionTime,
    ) {
        if let Some(round) = &mut self.round {
            round.wait_again_for(name, step_timeout, now);
        }
        if let Some(number) = number {
            self.standbys.wait_again_for(number, now);
        }
    }

    /// Returns the time when stand-bys that answer nothing are to be looked for.
    pub(crate) fn standby_deadline(&self) -> Option<SessionTime> {
        self.standbys.deadline()
    }

    /// Returns stand-bys that have answered nothing for this time; looks twice in it.
    pub(crate) fn take_silent_standbys(
        &mut self,
        timeout: Duration,
        now: SessionTime,
    ) -> Vec<PeerNumber> {
        self.standbys.take_silent(timeout, now)
    }

    /// Notes whether the heartbeats of a silent stand-by come; returns whether they did before.
    pub(crate) fn suspect_standby(&mut self, number: PeerNumber, beats: bool) -> bool {
        self.standbys.suspect(number, beats)
    }

    /// Returns the messages that somebody who is missing has not answered before that of the step
    /// under way, in order.
    pub(crate) fn unanswered_before(&self, number: PeerNumber) -> Vec<Arc<Step>> {
        let Some(step) = self.step() else {
            return Vec::new();
        };
        let unanswered = self.standbys.unanswered(number);
        let before = unanswered.filter(|one| one.sequence < step.sequence);
        before.cloned().collect()
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

    /// Takes further answers of somebody to steps of the window; returns whether they were asked
    /// for.
    ///
    /// # Errors
    /// Fails when they are not those of the steps after the last.
    pub(crate) fn on_steps_ahead(
        &mut self,
        sender: PeerNumber,
        part: &mut StepsAhead,
        now: SessionTime,
    ) -> Result<bool, AckError> {
        let awaited = self.standbys.awaited();
        self.speculation.keep_part(sender, part, awaited, now)
    }

    /// Returns until when the answers to the next step are waited for, if they are being computed:
    /// it is made when they are here.
    pub(crate) fn steps_ahead_awaited_until(&self, seats: &Arc<Seats>) -> Option<SessionTime> {
        let awaited = self.standbys.awaited_of(seats)?;
        self.speculation.awaited_until(awaited)
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
    pub(crate) fn complete(&mut self) -> Box<Round> {
        let round = self.round.take();
        round.expect("only a step under way can be completed")
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
        self.standbys.postpone(by);
        self.speculation.postpone(by);
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
        now: SessionTime,
    ) -> (Vec<PeerTiming>, Duration) {
        let awaited = self.standbys.awaited();
        let duration = self.speculation.share_time(round, awaited, now);
        (round.take_timings(), duration)
    }
}
