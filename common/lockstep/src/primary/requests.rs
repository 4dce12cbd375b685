//! What clients ask for: play, pause, step, stop and figures; [`super::moving`] has the rest.

use protocol::exit::Outcome;
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Severity;
use protocol::topic_message::SubscriptionChange;
use protocol::{
    ClientToPrimary, Command, Iteration, RequestId, RoutingId, SessionId, SessionTime, StopReason,
};

use super::wishes::Asker;
use super::{Goal, Phase, Primary, PrimaryOutput, Until, Waiter};
use crate::pace::Pace;

/// How many clients may wait for their commands at once.
pub(super) const WAITERS_MAX: usize = 1024;

impl Primary {
    /// Somebody begins or ceases to listen to a topic.
    pub(super) fn on_observed(&mut self, change: SubscriptionChange) {
        self.subscriptions
            .retain(|other| other.topic != change.topic);
        self.subscriptions.push(change);
    }

    pub(super) fn on_request(
        &mut self,
        from: RoutingId,
        session: SessionId,
        message: ClientToPrimary,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        let ClientToPrimary { request, command } = message;
        let may_be_unknown = command.only_asks() && session == SessionId::UNKNOWN;
        if session != self.settings.session && !may_be_unknown {
            self.refused.foreign += 1;
            return Self::fail(from, request, "the request was meant for another run", out);
        }
        if matches!(
            command,
            Command::Snapshot
                | Command::History
                | Command::Layout
                | Command::Topics
                | Command::Clients
        ) {
            return out.push(PrimaryOutput::Report {
                to: from,
                request,
                command,
            });
        }
        if command == Command::Ping {
            return self.done(from, request, out);
        }
        if let Command::Disconnect { key } = command {
            // It is about connections, not about the simulation: it waits for nothing.
            return out.push(PrimaryOutput::Disconnect {
                to: from,
                request,
                key,
            });
        }
        if matches!(self.phase, Phase::Stopping(_) | Phase::Finished) {
            return Self::fail(from, request, "the run is ending", out);
        }
        self.on_command(from, request, command, now, out);
    }

    /// Does what a client of this run asks, or notes it for the next step.
    pub(super) fn on_command(
        &mut self,
        from: RoutingId,
        request: RequestId,
        command: Command,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if let Some(reason) = self.reason_to_wait(&command) {
            return Self::fail(from, request, &reason, out);
        }
        match command {
            Command::Play => self.on_play(from, request, now, out),
            Command::Pause => self.on_pause(from, request, now, out),
            Command::Step { count } => self.on_step(from, request, count, now, out),
            Command::RunTo { sim_time_s } => self.on_run_to(from, request, sim_time_s, now, out),
            Command::SetRealTimeFactor { factor } => {
                self.on_real_time_factor(from, request, factor, now, out);
            }
            Command::Stop => {
                let cause = "a client stopped it";
                self.on_stop(from, request, Outcome::Completed, cause, now, out);
            }
            Command::Interrupt => {
                let cause = "the program that started it was interrupted";
                self.on_stop(from, request, Outcome::Interrupted, cause, now, out);
            }
            Command::MoveCell { level, peer } => {
                self.on_move_cell(from, request, &level, peer, now, out);
            }
            Command::Drain { peer } => self.on_drain(from, request, &peer, now, out),
            Command::Checkpoint => self.on_checkpoint(from, request, now, out),
            Command::ProcessEnded { peer, pid, how } => {
                self.on_process_ended(&peer, pid, &how, now);
                self.done(from, request, out);
            }
            Command::CallService {
                service,
                kind,
                body,
            } => {
                self.on_call(from, request, [&service, &kind], &body, now, out);
            }
            Command::SetPerformer { .. }
            | Command::Reset { .. }
            | Command::SetSeed { .. }
            | Command::SetStepSize { .. }
            | Command::Spawn(_)
            | Command::Remove { .. }
            | Command::SetPoses { .. }
            | Command::ApplyWrench { .. }
            | Command::SetJoint { .. }
            | Command::SetJoints { .. }
            | Command::SetCollisions { .. }
            | Command::Attach { .. }
            | Command::Detach { .. }
            | Command::Publish { .. } => {
                let asker = Asker::Client { to: from, request };
                self.on_wish(asker, command, now, out);
            }
            Command::Ping
            | Command::Snapshot
            | Command::History
            | Command::Layout
            | Command::Topics
            | Command::Clients
            | Command::Disconnect { .. } => {}
        }
    }

    fn on_play(
        &mut self,
        from: RoutingId,
        request: RequestId,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if self.goal != Goal::Running {
            self.goal = Goal::Running;
            self.pace.restart(now);
            self.fail_waiters("the simulation was told to play instead", |_| true, out);
            self.event(Severity::Info, "command", "play".to_owned(), out);
            self.observe_clock(out);
        }
        self.done(from, request, out);
        self.step_if_idle(now, out);
    }

    fn on_pause(
        &mut self,
        from: RoutingId,
        request: RequestId,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        self.stay_paused();
        if self.goal == Goal::Paused {
            return self.done(from, request, out);
        }
        if matches!(self.phase, Phase::Gathering { .. }) {
            self.goal = Goal::Paused;
            return self.done(from, request, out);
        }
        if !self.wait(from, request, Until::Paused, out) {
            return;
        }
        if self.goal != Goal::Pausing {
            self.goal = Goal::Pausing;
            self.fail_waiters(
                "the simulation was told to pause instead",
                |waiter| matches!(waiter.until, Until::Iteration(_)),
                out,
            );
            self.event(Severity::Info, "command", "pause".to_owned(), out);
        }
        self.step_if_idle(now, out);
    }

    fn on_step(
        &mut self,
        from: RoutingId,
        request: RequestId,
        count: u64,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if matches!(self.phase, Phase::Gathering { .. }) {
            return Self::fail(from, request, "the secondaries are not ready yet", out);
        }
        if count == 0 {
            return Self::fail(
                from,
                request,
                "the number of iterations must be at least 1",
                out,
            );
        }
        let begins = match self.goal {
            Goal::Paused => self.iteration,
            Goal::Until(last) => last,
            Goal::Running | Goal::Pausing => {
                return Self::fail(
                    from,
                    request,
                    "the simulation is running: pause it first",
                    out,
                );
            }
        };
        let Some(last) = begins.0.checked_add(count).map(Iteration) else {
            return Self::fail(from, request, "the number of iterations is too large", out);
        };
        if let Some(limit) = self.settings.iterations.filter(|limit| last.0 > *limit) {
            let reason = format!("the run ends at iteration {limit}, before iteration {last}");
            return Self::fail(from, request, &reason, out);
        }
        if !self.wait(from, request, Until::Iteration(last), out) {
            return;
        }
        if self.goal == Goal::Paused {
            self.pace.restart(now);
        }
        self.goal = Goal::Until(last);
        self.event(Severity::Info, "command", format!("step {count}"), out);
        self.step_if_idle(now, out);
    }

    fn on_run_to(
        &mut self,
        from: RoutingId,
        request: RequestId,
        sim_time_s: f64,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        let target_ns = (sim_time_s * 1e9).round();
        let way_ns = target_ns - self.sim_time.0 as f64;
        if !sim_time_s.is_finite() || way_ns <= 0.0 {
            let reason = format!("{sim_time_s} s is not later than now, {}", self.sim_time);
            return Self::fail(from, request, &reason, out);
        }
        let count = (way_ns / self.settings.step_size.as_nanos() as f64).ceil();
        self.on_step(from, request, count as u64, now, out);
    }

    fn on_real_time_factor(
        &mut self,
        from: RoutingId,
        request: RequestId,
        factor: f64,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if !(factor.is_finite() && factor >= 0.0) {
            let reason = "a real-time factor is 0, for as fast as possible, or more";
            return Self::fail(from, request, reason, out);
        }
        self.settings.real_time_factor = factor;
        self.pace = Pace::new(self.settings.step_size, factor);
        self.pace.restart(now);
        let text = format!("set-real-time-factor {factor}");
        self.event(Severity::Info, "command", text, out);
        self.done(from, request, out);
        self.step_if_idle(now, out);
    }

    fn on_stop(
        &mut self,
        from: RoutingId,
        request: RequestId,
        outcome: Outcome,
        cause: &str,
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        self.done(from, request, out);
        self.begin_stopping(StopReason::new(outcome, cause), now, out);
    }

    pub(super) fn step_if_idle(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        if matches!(self.phase, Phase::Idle) {
            self.continue_stepping(now, out);
        }
    }

    pub(super) fn done(&self, to: RoutingId, request: RequestId, out: &mut Vec<PrimaryOutput>) {
        Self::reply(
            to,
            request,
            Reply::Done {
                iteration: self.iteration,
                name: None,
                warnings: Vec::new(),
            },
            out,
        );
    }

    pub(super) fn fail(
        to: RoutingId,
        request: RequestId,
        reason: &str,
        out: &mut Vec<PrimaryOutput>,
    ) {
        Self::reply(
            to,
            request,
            Reply::Failed {
                reason: reason.to_owned(),
            },
            out,
        );
    }

    /// Has the client wait for its reply; answers at once when too many wait already.
    pub(super) fn wait(
        &mut self,
        to: RoutingId,
        request: RequestId,
        until: Until,
        out: &mut Vec<PrimaryOutput>,
    ) -> bool {
        if self.waiters.len() >= WAITERS_MAX {
            Self::fail(to, request, "too many commands are under way", out);
            return false;
        }
        self.waiters.push(Waiter { to, request, until });
        true
    }

    /// Answers those who wait for what will no longer happen.
    pub(super) fn fail_waiters(
        &mut self,
        reason: &str,
        is_void: impl Fn(&Waiter) -> bool,
        out: &mut Vec<PrimaryOutput>,
    ) {
        for waiter in self.waiters.extract_if(.., |waiter| is_void(waiter)) {
            Self::fail(waiter.to, waiter.request, reason, out);
        }
    }
}
