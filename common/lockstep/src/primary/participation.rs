//! Routes of programs that take part in lockstep: what they ask for, when they are told of an
//! iteration, and when their answers are taken. The rules are those of
//! [`Participants`](super::participants::Participants).

use protocol::participant::{AnswerBarrier, JoinBarrier};
use protocol::report::ParticipantReport;
use protocol::{Iteration, PeerName, RequestId, RoutingId, SessionTime};

use crate::primary::commands::batch::Origin;
use crate::primary::context::Context;
use crate::primary::participants::join::JoinTerms;
use crate::primary::{Phase, Primary};

/// Requests of programs.
impl Primary {
    pub(super) fn on_join_barrier(
        &mut self,
        client: (RoutingId, RequestId),
        join: JoinBarrier,
        cx: &mut Context<'_>,
    ) {
        // An iteration that is under way is complete before anybody can be asked, and so are those
        // that are replayed.
        let step = self.barrier.step();
        let complete = step.map_or(self.clock.iteration(), |step| step.iteration);
        let replayed = self.resume.replays_until();
        let terms = JoinTerms {
            max: self.settings.participants.max,
            from: replayed.map_or(complete, |until| until.max(complete)),
            is_of_peer: join.name == PeerName::primary()
                || self.peers.roster().get(&join.name).is_some(),
            world: &self.world,
        };
        let participants = self.commands.participants_mut();
        if participants.on_join(client, join, &terms, cx) {
            self.step_if_idle(cx);
        }
    }

    pub(super) fn on_answer_barrier(
        &mut self,
        client: (RoutingId, RequestId),
        answer: AnswerBarrier,
        cx: &mut Context<'_>,
    ) {
        let participants = self.commands.participants_mut();
        if participants.on_answer(client, answer, cx) {
            self.step_if_idle(cx);
        }
    }

    pub(super) fn on_leave_barrier(
        &mut self,
        client: (RoutingId, RequestId),
        name: &PeerName,
        cx: &mut Context<'_>,
    ) {
        self.commands.participants_mut().on_leave(client, name, cx);
        self.step_if_idle(cx);
    }

    pub(super) fn on_client_gone(&mut self, client: &RoutingId, cx: &mut Context<'_>) {
        if self.phase.is_over() {
            return;
        }
        match self.commands.participants_mut().on_gone(client, cx) {
            Some(reason) => self.begin_stopping(reason, cx),
            None => self.step_if_idle(cx),
        }
    }
}

/// The life of an iteration.
impl Primary {
    /// Tells whether nodes of ROS 2 wait for what was said in steps that were done ahead, as before
    /// time is paused: secondaries keep it back until they know that the steps hold.
    pub(super) fn owes_word(&self) -> bool {
        self.settings.outputs.ros2.is_some() && self.barrier.speculation().has_untold()
    }

    /// Tells participants of the iteration that is complete.
    pub(super) fn tell_participants(&mut self, cx: &mut Context<'_>) {
        if !self.resume.is_replaying() {
            let sim_time = self.clock.sim_time();
            let participants = self.commands.participants_mut();
            participants.tell(sim_time, &self.world, cx);
        }
    }

    /// Tells whether time would go on if participants had answered.
    pub(super) fn is_held_by_participants(&self) -> bool {
        let iteration = self.clock.iteration();
        self.asks_participants() && self.commands.participants().hold(iteration)
    }

    /// Takes the answers of participants into the next iteration; tells whether there were any.
    pub(super) fn take_answers(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.asks_participants() {
            return false;
        }
        let iteration = self.clock.iteration();
        let taken = self.commands.participants_mut().take_commands(iteration);
        let Some(commands) = taken else {
            return false;
        };
        for one in commands {
            let origin = Origin::Client {
                to: one.to,
                request: one.request,
            };
            let queue = self.commands.queue_mut();
            queue.enqueue(
                origin,
                (one.command, None),
                &self.settings.outputs.topics,
                cx,
            );
        }
        true
    }

    /// Applies the policies for participants that are late.
    pub(super) fn continue_participants(&mut self, cx: &mut Context<'_>) {
        if !self.asks_participants() {
            return;
        }
        let timeout = self.settings.peers.peer_timeout;
        let participants = self.commands.participants_mut();
        if let Some(reason) = participants.continue_holding(timeout, cx) {
            self.begin_stopping(reason, cx);
        }
    }

    /// Returns the time of the next time-out of a participant.
    pub(super) fn participants_deadline(&self) -> Option<SessionTime> {
        let deadline = self
            .commands
            .participants()
            .deadline(self.settings.peers.peer_timeout);
        deadline.filter(|_| self.asks_participants())
    }

    /// Tells whether time runs and is new, so that participants are waited for.
    fn asks_participants(&self) -> bool {
        self.phase == Phase::Running && self.clock.is_running() && !self.resume.is_replaying()
    }
}

/// Queries.
impl Primary {
    /// Returns reports of the programs that take part in lockstep, by name.
    pub fn participants(&self, now: SessionTime) -> Vec<ParticipantReport> {
        self.commands.participants().reports(now)
    }

    /// Returns the addresses of the programs that take part and are connected, as far as is known.
    pub fn participants_clients(&self) -> impl Iterator<Item = &RoutingId> {
        self.commands.participants().clients()
    }

    /// Returns the programs that the run waits for now, with the time since when.
    pub fn holding_participants(&self) -> impl Iterator<Item = (&PeerName, SessionTime)> {
        let holding = self.commands.participants().holding();
        holding.filter(|_| self.is_held_by_participants())
    }

    /// Returns the next iteration after which a program is asked.
    pub fn next_barrier(&self) -> Option<Iteration> {
        self.commands.participants().next_barrier()
    }
}
