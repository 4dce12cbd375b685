//! Routes of requests: each goes to the component that it concerns, at once or with the next step.

use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::Step;
use protocol::{
    CellId, ClientToPrimary, Command, FailureCode, PeerName, RequestId, RosMessage, RoutingId,
    SessionId, StopReason,
};

use crate::primary::commands::batch::Origin;
use crate::primary::commands::services::{Call, Calls};
use crate::primary::commands::waiters::Until;
use crate::primary::context::{CodedError, Context, Failure};
use crate::primary::peers::handshake::HostError;
use crate::primary::placement::migration::MigrationError;
use crate::primary::purpose::Purpose;
use crate::primary::recovery::checkpoints::CheckpointError;
use crate::primary::resume::waiting::WaitingCommand;
use crate::primary::run_clock::{ClockMode, StepCountError};
use crate::primary::spawn_text::ReadText;
use crate::primary::{Phase, Primary, PrimaryOutput};

/// A cell that cannot be moved by hand.
#[derive(Debug, thiserror::Error)]
enum MoveCellError {
    #[error("the secondaries are not ready yet")]
    NotReady,
    #[error("no level is named {level:?}")]
    NoLevel { level: String },
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Cell(#[from] MigrationError),
}

/// Reason for which nothing is done before the start.
const NOT_READY: &str = "the secondaries are not ready yet";

impl CodedError for MoveCellError {
    fn code(&self) -> FailureCode {
        match self {
            Self::NotReady => FailureCode::NotReady,
            Self::NoLevel { .. } => FailureCode::NotFound,
            Self::Host(error) => error.code(),
            Self::Cell(error) => error.code(),
        }
    }
}

impl Primary {
    pub(super) fn on_request(
        &mut self,
        (from, session): (RoutingId, SessionId),
        message: ClientToPrimary,
        texts: Vec<ReadText>,
        cx: &mut Context<'_>,
    ) {
        let ClientToPrimary { request, command } = message;
        let may_be_unknown = command.only_asks() && session == SessionId::UNKNOWN;
        if session != self.settings.session && !may_be_unknown {
            self.peers.count_foreign();
            return cx.fail(
                from,
                request,
                (
                    FailureCode::OtherRun,
                    "the request was meant for another run",
                ),
            );
        }
        if command == Command::Ping {
            return cx.done(from, request);
        }
        if command.only_asks() {
            return cx.push(PrimaryOutput::Report {
                to: from,
                request,
                command,
            });
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
            return cx.fail(from, request, (FailureCode::Ending, "the run is ending"));
        }
        self.on_command(from, request, (command, texts), cx);
    }

    /// Does what a client of this run asks, or notes it for the next step; some of its texts may
    /// have been read.
    fn on_command(
        &mut self,
        from: RoutingId,
        request: RequestId,
        command: (Command, Vec<ReadText>),
        cx: &mut Context<'_>,
    ) {
        let came = WaitingCommand {
            from,
            request,
            command,
        };
        let Some(admitted) = self.resume.admit(came, cx) else {
            return;
        };
        let WaitingCommand {
            from,
            request,
            command,
        } = admitted;
        match self.resume.reason_to_stand_still(&command.0) {
            Some(failure) => cx.fail(from, request, failure),
            None => self.do_command(from, request, command, cx),
        }
    }

    /// Does a command that nothing holds up.
    fn do_command(
        &mut self,
        from: RoutingId,
        request: RequestId,
        (command, texts): (Command, Vec<ReadText>),
        cx: &mut Context<'_>,
    ) {
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
            } => self.on_call((from, request), [&service, &kind], &body, texts, cx),
            Command::JoinBarrier(join) => self.on_join_barrier((from, request), *join, cx),
            Command::AnswerBarrier(answer) => {
                self.on_answer_barrier((from, request), *answer, cx);
            }
            Command::LeaveBarrier { name } => self.on_leave_barrier((from, request), &name, cx),
            of_worlds @ (Command::Reset { .. }
            | Command::SetSeed { .. }
            | Command::SetStepSize { .. }
            | Command::Spawn(_)
            | Command::Remove { .. }
            | Command::SetPoses { .. }
            | Command::SetStates { .. }
            | Command::SetPerformer { .. }
            | Command::ApplyWrench { .. }
            | Command::SetJoint { .. }
            | Command::SetJoints { .. }
            | Command::SetCollisions { .. }
            | Command::Attach { .. }
            | Command::Detach { .. }
            | Command::Publish { .. }) => {
                let origin = Origin::Client { to: from, request };
                self.enqueue(origin, of_worlds, texts.into_iter().next(), cx);
            }
            // They are answered before they come here.
            other @ (Command::Ping
            | Command::Snapshot
            | Command::History
            | Command::Layout
            | Command::Scene { .. }
            | Command::Topics
            | Command::Clients
            | Command::Participants
            | Command::Disconnect { .. }) => {
                let reason = format!("a primary does nothing with {other:?}");
                cx.fail(from, request, Failure::new(FailureCode::Invalid, reason));
            }
        }
    }

    fn on_call(
        &mut self,
        client: (RoutingId, RequestId),
        service: [&str; 2],
        body: &[u8],
        texts: Vec<ReadText>,
        cx: &mut Context<'_>,
    ) {
        let calls = self.commands.calls();
        if let Some(call) = calls.on_call(client, service, body, &self.world, cx) {
            self.continue_call(call.with_texts(texts), cx);
        }
    }

    fn on_play(&mut self, from: RoutingId, request: RequestId, cx: &mut Context<'_>) {
        if self.clock.play(cx.now) {
            self.commands.participants_mut().restart_timeouts(cx.now);
            let reason = "the simulation was told to play instead";
            let failure = Failure::new(FailureCode::Superseded, reason);
            self.commands.waiters_mut().fail_all(&failure, cx);
            cx.event(Severity::Info, "command", "play".to_owned());
            self.clock.observe(cx);
        }
        cx.done(from, request);
        self.step_if_idle(cx);
    }

    fn on_pause(&mut self, from: RoutingId, request: RequestId, cx: &mut Context<'_>) {
        self.resume.stay_paused();
        if self.clock.is_paused() {
            return cx.done(from, request);
        }
        if self.phase == Phase::Gathering {
            self.clock.set_mode(ClockMode::Paused);
            return cx.done(from, request);
        }
        let waiters = self.commands.waiters_mut();
        if !waiters.wait(from, request, Until::Paused, cx) {
            return;
        }
        if self.clock.pause() {
            let reason = "the simulation was told to pause instead";
            waiters.fail_iterations(&Failure::new(FailureCode::Superseded, reason), cx);
            cx.event(Severity::Info, "command", "pause".to_owned());
        }
        self.step_if_idle(cx);
    }

    fn on_step(&mut self, from: RoutingId, request: RequestId, count: u64, cx: &mut Context<'_>) {
        let last = if self.phase == Phase::Gathering {
            Err(StepCountError::NotReady)
        } else {
            self.clock.last_of(count, self.settings.pace.iterations)
        };
        let last = match last {
            Ok(last) => last,
            Err(error) => return cx.fail(from, request, error),
        };
        let waiters = self.commands.waiters_mut();
        if !waiters.wait(from, request, Until::Iteration(last), cx) {
            return;
        }
        self.clock.run_until(last, cx.now);
        self.commands.participants_mut().restart_timeouts(cx.now);
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
        let step_size = self.settings.pace.step_size;
        match self.clock.count_until(sim_time_s, step_size) {
            Ok(count) => self.on_step(from, request, count, cx),
            Err(error) => cx.fail(from, request, error),
        }
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
            return cx.fail(from, request, (FailureCode::Invalid, reason));
        }
        self.settings.pace.real_time_factor = factor;
        self.clock
            .set_pace(self.settings.pace.step_size, factor, cx.now);
        // A window of the pace before may last for seconds at this one, without a message.
        self.barrier.forget(None);
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
        if self.is_idle() && self.owes_word() {
            // Steps that do not count are rolled back before the last messages leave.
            self.publish(Purpose::Pause, Step::default(), Vec::new(), Vec::new(), cx);
        }
        self.begin_stopping(StopReason::new(outcome, cause), cx);
    }

    fn on_move_cell(
        &mut self,
        from: RoutingId,
        request: RequestId,
        level: &str,
        peer: PeerName,
        cx: &mut Context<'_>,
    ) {
        let cell = match self.cell_to_move(level, &peer) {
            Ok(cell) => cell,
            Err(error) => return cx.fail(from, request, error),
        };
        let is_lost = self.recovery.losses().has(cell);
        let client = (from, request);
        if self.placement.on_move_cell(cell, peer, client, is_lost, cx) {
            self.step_if_idle(cx);
        }
    }

    fn cell_to_move(&self, level: &str, peer: &PeerName) -> Result<CellId, MoveCellError> {
        if self.phase == Phase::Gathering {
            return Err(MoveCellError::NotReady);
        }
        let mut cells = self.world.topology().cells.iter();
        let Some(index) = cells.position(|cell| cell.name == level) else {
            let level = level.to_owned();
            return Err(MoveCellError::NoLevel { level });
        };
        let cell = CellId(index as u32);
        self.peers.check_host(peer)?;
        self.placement.check_movable(cell, level)?;
        Ok(cell)
    }

    fn on_drain(
        &mut self,
        from: RoutingId,
        request: RequestId,
        peer: &PeerName,
        cx: &mut Context<'_>,
    ) {
        if self.phase == Phase::Gathering {
            return cx.fail(from, request, (FailureCode::NotReady, NOT_READY));
        }
        if let Err(error) = self.peers.check_drainable(peer) {
            return cx.fail(from, request, error);
        }
        if !self.peers.is_draining(peer) {
            let text = format!("{peer} is draining: its cells move to other secondaries");
            let failure = Failure::new(FailureCode::Superseded, text.clone());
            self.placement.drop_coming_migrations_to(peer, &failure, cx);
            cx.event(Severity::Info, "command", text);
        }
        self.peers.drain(peer, (from, request));
        self.continue_draining(cx);
        self.step_if_idle(cx);
    }

    fn on_checkpoint(&mut self, from: RoutingId, request: RequestId, cx: &mut Context<'_>) {
        let client = (from.clone(), request);
        let noted = if self.phase == Phase::Gathering {
            Err(CheckpointError::NotReady)
        } else {
            self.recovery.on_checkpoint(client, &self.settings.recovery)
        };
        match noted {
            Ok(()) => self.step_if_idle(cx),
            Err(error) => cx.fail(from, request, error),
        }
    }

    /// Notes a command for the next step, or refuses it.
    fn enqueue(
        &mut self,
        origin: Origin,
        command: Command,
        text: Option<ReadText>,
        cx: &mut Context<'_>,
    ) {
        if self.phase == Phase::Gathering {
            return origin.refuse((FailureCode::NotReady, NOT_READY), cx);
        }
        let queue = self.commands.queue_mut();
        if queue.enqueue(origin, (command, text), &self.settings.outputs.topics, cx) {
            self.step_if_idle(cx);
        }
    }

    /// Has messages of nodes of ROS 2 reach systems with the next step, as those of clients do.
    /// Messages are dropped while a resumed run replays its past, and before and after a run; one
    /// that is passed on again when that is over is taken in.
    pub(super) fn on_ros_messages(&mut self, messages: Vec<RosMessage>, cx: &mut Context<'_>) {
        if self.settings.outputs.ros2.is_none() {
            return self.peers.count_malformed();
        }
        for message in messages {
            let RosMessage {
                writer,
                number,
                topic,
                kind,
                body,
            } = message;
            let command = Command::Publish { topic, kind, body };
            let is_running = self.phase == Phase::Running;
            if !is_running || self.resume.is_closed_to(&command) {
                // It has not come yet: another secondary may pass it on when it can be taken in.
                continue;
            }
            if self.commands.ros_inbox_mut().is_new(writer, number) {
                self.enqueue(Origin::Node, command, None, cx);
            } else {
                self.peers.count_duplicate();
            }
        }
    }

    /// Does the commands that came while the past was replayed, once that has ended.
    pub(super) fn do_waiting_commands(&mut self, cx: &mut Context<'_>) {
        while let Some(waiting) = self.resume.take_admitted() {
            let WaitingCommand {
                from,
                request,
                command,
            } = waiting;
            self.on_command(from, request, command, cx);
        }
    }

    /// Begins the calls that systems made in the round that is done.
    pub(super) fn begin_calls_of_systems(&mut self, cx: &mut Context<'_>) {
        let waiting = self.commands.calls_mut().take_of_systems();
        if self.resume.is_replaying() {
            // What came of them is known.
            return;
        }
        for call in waiting {
            self.continue_call(call, cx);
        }
    }

    /// Goes on with all calls of which a command is answered.
    pub(super) fn continue_calls(&mut self, cx: &mut Context<'_>) {
        if self.commands.calls().is_empty() {
            return;
        }
        loop {
            let answers = Calls::take_answers(cx);
            if answers.is_empty() {
                return;
            }
            for answer in answers {
                if let Some(call) = self.commands.calls_mut().on_answer(answer, cx) {
                    self.continue_call(call, cx);
                }
            }
        }
    }

    /// Begins the next command of a call, or answers it when all are done.
    fn continue_call(&mut self, call: Call, cx: &mut Context<'_>) {
        if let Some((request, command, text)) = self.commands.calls_mut().begin_next(call, cx) {
            let command = (command, text.into_iter().collect());
            self.on_command(Calls::address(), request, command, cx);
        }
    }

    pub(super) fn on_storage_failed(&mut self, cause: String, cx: &mut Context<'_>) {
        let mode = self.clock.mode();
        if !self.resume.on_storage_failed(cause, mode, cx) {
            return;
        }
        if !self.clock.is_paused() {
            self.clock.pause();
        }
        self.step_if_idle(cx);
    }

    pub(super) fn on_storage_works(&mut self, cx: &mut Context<'_>) {
        let iteration = self.clock.iteration();
        let Some(mode) = self.resume.on_storage_works(iteration, cx) else {
            return;
        };
        self.clock.set_mode(mode);
        self.clock.restart_pace(cx.now);
        self.clock.observe(cx);
        self.step_if_idle(cx);
    }

    pub(super) fn step_if_idle(&mut self, cx: &mut Context<'_>) {
        if self.is_idle() {
            self.advance(cx);
        }
    }
}
