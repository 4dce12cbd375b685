//! Requests of clients: play, pause, step, stop and figures. Migrations are in
//! [`crate::primary::placement::migration`].

use crate::primary::commands::Commands;
use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::topic_message::SubscriptionChange;
use protocol::{ClientToPrimary, Command, Iteration, RequestId, RoutingId, SessionId, StopReason};

use crate::pace::Pace;
use crate::primary::commands::queue::Origin;
use crate::primary::context::Context;
use crate::primary::{ClockMode, Phase, Primary, PrimaryOutput, Until, Waiter};

/// Number of clients that may wait for their commands at once.
pub(crate) const WAITERS_MAX: usize = 1024;

impl Commands {
    /// Somebody begins or ceases to listen to a topic.
    pub(crate) fn on_observed(&mut self, change: SubscriptionChange) {
        self.subscriptions
            .retain(|other| other.topic != change.topic);
        self.subscriptions.push(change);
    }

    /// Has the client wait for its reply; answers at once when too many wait already.
    pub(crate) fn wait(
        &mut self,
        to: RoutingId,
        request: RequestId,
        until: Until,
        cx: &mut Context<'_>,
    ) -> bool {
        if self.waiters.len() >= WAITERS_MAX {
            cx.fail(to, request, "too many commands are under way");
            return false;
        }
        self.waiters.push(Waiter { to, request, until });
        true
    }

    /// Answers those who wait for what will no longer happen.
    pub(crate) fn fail_waiters(
        &mut self,
        reason: &str,
        is_void: impl Fn(&Waiter) -> bool,
        cx: &mut Context<'_>,
    ) {
        for waiter in self.waiters.extract_if(.., |waiter| is_void(waiter)) {
            cx.fail(waiter.to, waiter.request, reason);
        }
    }
}

impl Primary {
    pub(crate) fn on_request(
        &mut self,
        from: RoutingId,
        session: SessionId,
        message: ClientToPrimary,
        cx: &mut Context<'_>,
    ) {
        let ClientToPrimary { request, command } = message;
        let may_be_unknown = command.only_asks() && session == SessionId::UNKNOWN;
        if session != self.settings.session && !may_be_unknown {
            self.peers.refused.foreign += 1;
            return cx.fail(from, request, "the request was meant for another run");
        }
        if matches!(
            command,
            Command::Snapshot
                | Command::History
                | Command::Layout
                | Command::Topics
                | Command::Clients
        ) {
            return cx.push(PrimaryOutput::Report {
                to: from,
                request,
                command,
            });
        }
        if command == Command::Ping {
            return cx.done(from, request);
        }
        if let Command::Disconnect { key } = command {
            // It is about connections, not about the simulation: it waits for nothing.
            return cx.push(PrimaryOutput::Disconnect {
                to: from,
                request,
                key,
            });
        }
        if self.phase.is_over() {
            return cx.fail(from, request, "the run is ending");
        }
        self.on_command(from, request, command, cx);
    }

    /// Does what a client of this run asks, or notes it for the next step.
    pub(crate) fn on_command(
        &mut self,
        from: RoutingId,
        request: RequestId,
        command: Command,
        cx: &mut Context<'_>,
    ) {
        if let Some(reason) = self.resume.reason_to_wait(&command) {
            return cx.fail(from, request, &reason);
        }
        match command {
            Command::Play => self.on_play(from, request, cx),
            Command::Pause => self.on_pause(from, request, cx),
            Command::Step { count } => self.on_step(from, request, count, cx),
            Command::RunTo { sim_time_s } => self.on_run_to(from, request, sim_time_s, cx),
            Command::SetRealTimeFactor { factor } => {
                self.on_real_time_factor(from, request, factor, cx);
            }
            Command::Stop => {
                let cause = "a client stopped it";
                self.on_stop(from, request, Outcome::Completed, cause, cx);
            }
            Command::Interrupt => {
                let cause = "the program that started it was interrupted";
                self.on_stop(from, request, Outcome::Interrupted, cause, cx);
            }
            Command::MoveCell { level, peer } => {
                self.on_move_cell(from, request, &level, peer, cx);
            }
            Command::Drain { peer } => self.on_drain(from, request, &peer, cx),
            Command::Checkpoint => self.on_checkpoint(from, request, cx),
            Command::ProcessEnded { peer, pid, how } => {
                self.peers.on_process_ended(&peer, pid, &how, cx.now);
                cx.done(from, request);
            }
            Command::CallService {
                service,
                kind,
                body,
            } => {
                self.on_call(from, request, [&service, &kind], &body, cx);
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
                let origin = Origin::Client { to: from, request };
                self.enqueue(origin, command, cx);
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

    fn on_play(&mut self, from: RoutingId, request: RequestId, cx: &mut Context<'_>) {
        if self.clock.mode != ClockMode::Running {
            self.clock.mode = ClockMode::Running;
            self.clock.pace.restart(cx.now);
            self.commands
                .fail_waiters("the simulation was told to play instead", |_| true, cx);
            cx.event(Severity::Info, "command", "play".to_owned());
            self.observe_clock(cx);
        }
        cx.done(from, request);
        self.step_if_idle(cx);
    }

    fn on_pause(&mut self, from: RoutingId, request: RequestId, cx: &mut Context<'_>) {
        self.resume.stay_paused();
        if self.clock.mode == ClockMode::Paused {
            return cx.done(from, request);
        }
        if self.phase == Phase::Gathering {
            self.clock.mode = ClockMode::Paused;
            return cx.done(from, request);
        }
        if !self.commands.wait(from, request, Until::Paused, cx) {
            return;
        }
        if self.clock.mode != ClockMode::Pausing {
            self.clock.mode = ClockMode::Pausing;
            self.commands.fail_waiters(
                "the simulation was told to pause instead",
                |waiter| matches!(waiter.until, Until::Iteration(_)),
                cx,
            );
            cx.event(Severity::Info, "command", "pause".to_owned());
        }
        self.step_if_idle(cx);
    }

    fn on_step(&mut self, from: RoutingId, request: RequestId, count: u64, cx: &mut Context<'_>) {
        if self.phase == Phase::Gathering {
            return cx.fail(from, request, "the secondaries are not ready yet");
        }
        if count == 0 {
            return cx.fail(from, request, "the number of iterations must be at least 1");
        }
        let begins = match self.clock.mode {
            ClockMode::Paused => self.clock.iteration,
            ClockMode::Until(last) => last,
            ClockMode::Running | ClockMode::Pausing => {
                return cx.fail(from, request, "the simulation is running: pause it first");
            }
        };
        let Some(last) = begins.0.checked_add(count).map(Iteration) else {
            return cx.fail(from, request, "the number of iterations is too large");
        };
        if let Some(limit) = self.settings.iterations.filter(|limit| last.0 > *limit) {
            let reason = format!("the run ends at iteration {limit}, before iteration {last}");
            return cx.fail(from, request, &reason);
        }
        if !self
            .commands
            .wait(from, request, Until::Iteration(last), cx)
        {
            return;
        }
        if self.clock.mode == ClockMode::Paused {
            self.clock.pace.restart(cx.now);
        }
        self.clock.mode = ClockMode::Until(last);
        cx.event(Severity::Info, "command", format!("step {count}"));
        self.step_if_idle(cx);
    }

    fn on_run_to(
        &mut self,
        from: RoutingId,
        request: RequestId,
        sim_time_s: f64,
        cx: &mut Context<'_>,
    ) {
        let target_ns = (sim_time_s * 1e9).round();
        let way_ns = target_ns - self.clock.sim_time.0 as f64;
        if !sim_time_s.is_finite() || way_ns <= 0.0 {
            let reason = format!(
                "{sim_time_s} s is not later than now, {}",
                self.clock.sim_time
            );
            return cx.fail(from, request, &reason);
        }
        let count = (way_ns / self.settings.step_size.as_nanos() as f64).ceil();
        self.on_step(from, request, count as u64, cx);
    }

    fn on_real_time_factor(
        &mut self,
        from: RoutingId,
        request: RequestId,
        factor: f64,
        cx: &mut Context<'_>,
    ) {
        if !(factor.is_finite() && factor >= 0.0) {
            let reason = "a real-time factor is 0, for as fast as possible, or more";
            return cx.fail(from, request, reason);
        }
        self.settings.real_time_factor = factor;
        self.clock.pace = Pace::new(self.settings.step_size, factor);
        self.clock.pace.restart(cx.now);
        let text = format!("set-real-time-factor {factor}");
        cx.event(Severity::Info, "command", text);
        cx.done(from, request);
        self.step_if_idle(cx);
    }

    fn on_stop(
        &mut self,
        from: RoutingId,
        request: RequestId,
        outcome: Outcome,
        cause: &str,
        cx: &mut Context<'_>,
    ) {
        cx.done(from, request);
        self.begin_stopping(StopReason::new(outcome, cause), cx);
    }

    pub(crate) fn step_if_idle(&mut self, cx: &mut Context<'_>) {
        if self.is_idle() {
            self.continue_stepping(cx);
        }
    }
}
