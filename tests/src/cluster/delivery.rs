//! Events in a simulated cluster, and the delivery of messages from one process to the other.

use std::sync::Arc;
use std::time::Duration;

use lockstep::{PrimaryInput, PrimaryOutput, SecondaryInput, StepReport};
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::{Announce, PrimaryToObservers};
use protocol::report::RunState;
use protocol::secondary_to_primary::{CaughtUp, StepAck};
use protocol::{
    CellId, Command, DataBatch, Envelope, PeerName, PrimaryToClient, PrimaryToSecondary,
    ProtocolVersion, RequestId, RoutingId, ScheduledCommand, SecondaryToPrimary,
};

use super::network::Stream;
use super::output_files::OutputFiles;
use super::process::{Life, Sign};
use super::{Cluster, HeldReply};

/// Time that a step may take before what was said is waited for.
const LATE: Duration = Duration::from_millis(500);

/// Something that happens at a time.
pub(super) enum Event {
    /// A message reaches the stepper of a secondary.
    ToStepper(usize, Stream, Box<Envelope<PrimaryToSecondary>>),
    /// A message reaches its heart.
    ToHeart(usize, Stream, Sign),
    /// A message of a secondary reaches the primary.
    ToPrimary(usize, Stream, Box<Envelope<SecondaryToPrimary>>),
    /// Topic data of its cells reaches the primary.
    Data(usize, Box<DataBatch>),
    /// The primary sees that a process listens to steps, or no longer does.
    Presence(usize, bool),
    /// A stepper is done with its step.
    Ready(usize),
    /// A heart wakes.
    Beat(usize),
    /// The primary's heart beats.
    PrimaryBeats,
    /// A stepper hears that something has become of the primary.
    PrimaryLost(usize, &'static str),
    /// The fault of this number begins.
    Fault(usize),
    /// The fault of this number ends, for this process.
    Mend(usize, usize),
    /// A secondary is started.
    Start(PeerName),
    /// A client asks for something.
    Request(RequestId, Box<Command>),
}

impl Event {
    /// Returns the link that it travels on, if it does.
    fn link(&self) -> Option<(usize, Stream)> {
        match self {
            Self::ToStepper(process, stream, _)
            | Self::ToHeart(process, stream, _)
            | Self::ToPrimary(process, stream, _) => Some((*process, *stream)),
            Self::Data(process, _) => Some((*process, Stream::Data)),
            Self::Presence(process, _) => Some((*process, Stream::Presence)),
            Self::Ready(_)
            | Self::Beat(_)
            | Self::PrimaryBeats
            | Self::PrimaryLost(..)
            | Self::Fault(_)
            | Self::Mend(..)
            | Self::Start(_)
            | Self::Request(..) => None,
        }
    }

    /// Tells whether it is a message of a process that is under way.
    pub(super) fn is_under_way(&self, of: usize, only_to_primary: bool) -> bool {
        self.link().is_some_and(|(process, stream)| {
            let is_meant = !only_to_primary || stream.is_to_primary();
            process == of && is_meant && stream != Stream::Presence
        })
    }
}

impl Cluster {
    pub(super) fn happen(&mut self, event: Event) {
        if let Some((process, stream)) = event.link() {
            let waits = self.links.broken.contains(&process) && stream.is_to_primary();
            let waits = waits && stream != Stream::Presence;
            if waits || self.links.network.is_cut(process, stream) {
                self.links
                    .held
                    .entry(process)
                    .or_default()
                    .push((stream, event));
                return;
            }
        }
        match event {
            Event::ToStepper(index, _, message) => {
                let input = SecondaryInput::Primary(*message);
                self.processes[index].inbox.push_back(input);
                self.drain(index);
            }
            Event::ToHeart(index, _, sign) => {
                self.processes[index].signs.push_back(sign);
                self.drain_heart(index);
            }
            Event::ToPrimary(index, stream, message) => self.reach_primary(index, stream, *message),
            Event::Data(index, batch) => {
                if self.processes[index].of_primary == self.saved.primaries {
                    let name = &self.processes[index].name;
                    self.checks
                        .delivery
                        .on_data(name, *batch, self.schedule.now);
                }
            }
            Event::Presence(index, true) => {
                let routing = self.processes[index].routing.clone();
                self.give_primary(PrimaryInput::Subscribed(routing));
            }
            Event::Presence(index, false) => {
                let name = &self.processes[index].name;
                self.setup
                    .trace
                    .note(self.schedule.now, || format!("the primary sees {name} go"));
                let routing = self.processes[index].routing.clone();
                self.give_primary(PrimaryInput::Unsubscribed(routing));
            }
            Event::Ready(index) => {
                self.processes[index].is_busy = false;
                self.drain(index);
            }
            Event::Beat(index) => {
                self.processes[index].is_beat_due = true;
                self.drain_heart(index);
            }
            Event::PrimaryBeats => self.beat_of_primary(),
            Event::PrimaryLost(index, how) => {
                let input = SecondaryInput::PrimaryLost(how.to_owned());
                self.processes[index].inbox.push_back(input);
                self.drain(index);
            }
            Event::Fault(number) => self.strike(number),
            Event::Mend(number, process) => self.mend(number, process),
            Event::Start(name) => self.start_again(name),
            Event::Request(request, command) => self.request(request.0, *command),
        }
    }

    fn reach_primary(
        &mut self,
        index: usize,
        stream: Stream,
        envelope: Envelope<SecondaryToPrimary>,
    ) {
        let routing = &self.processes[index].routing;
        let is_member = self.is_member(index);
        match &envelope.body {
            SecondaryToPrimary::StepAck(ack) if is_member => self.checks.barrier.on_ack(ack),
            SecondaryToPrimary::StepsAhead(part) if is_member => {
                self.checks.barrier.on_steps_ahead(part);
            }
            SecondaryToPrimary::CaughtUp(done) if is_member => {
                if let Ok((_, ack)) = &done.result {
                    self.checks.barrier.on_ack(ack);
                }
            }
            _ => {}
        }
        let from = if stream == Stream::Beats {
            routing.heartbeat()
        } else {
            routing.clone()
        };
        self.give_primary(PrimaryInput::Secondary {
            from,
            envelope,
            wall_clock_us: 0,
        });
    }

    /// Gives the primary what it has received, now or when it goes on.
    pub(super) fn give_primary(&mut self, input: PrimaryInput) {
        if self.is_primary_awake() {
            self.tell_primary(input);
            self.pass_deadline();
        } else if self.primary_process.life != Life::Gone {
            self.primary_process.inbox.push_back(input);
        }
    }

    /// However much arrives, time goes on.
    fn pass_deadline(&mut self) {
        if self
            .primary
            .deadline()
            .is_some_and(|at| at <= self.schedule.now)
        {
            self.tell_primary(PrimaryInput::DeadlinePassed {
                inbox_is_empty: false,
            });
        }
    }

    pub(super) fn tell_primary(&mut self, input: PrimaryInput) {
        let mut outputs = Vec::new();
        self.primary
            .note_delivered(self.checks.delivery.delivered());
        self.primary.handle(input, self.schedule.now, &mut outputs);
        for output in outputs {
            match output {
                PrimaryOutput::Publish(message) => self.publish(message),
                PrimaryOutput::Ahead(step) => self.go_on(&step),
                PrimaryOutput::Send { to, message } => self.send_to(&to, message),
                PrimaryOutput::Reply { message, .. } => self.reply(message),
                PrimaryOutput::StepDone(report) => self.on_done(&report),
                PrimaryOutput::Finished(reason) => {
                    self.setup
                        .trace
                        .note(self.schedule.now, || format!("finished: {reason}"));
                    self.outcome.ended_at = Some(self.schedule.now);
                    self.outcome.finished = Some(reason);
                    // Its process answers what it has received before it ends.
                    for input in std::mem::take(&mut self.primary_process.inbox) {
                        self.tell_primary(input);
                    }
                    self.answer_held();
                    self.end_primary();
                }
                PrimaryOutput::Stamped(command) => self.on_stamped(command),
                PrimaryOutput::Observe(message) => self.observe(message),
                PrimaryOutput::Checkpointed(checkpoint) => {
                    if let Some(journal) = &mut self.saved.journal {
                        let flushed = self.saved.outputs.as_mut().map(OutputFiles::flush);
                        let beside = flushed.unwrap_or_default();
                        journal.on_checkpoint(&checkpoint, beside, self.schedule.now);
                    }
                    let iteration = checkpoint.iteration;
                    self.setup.trace.note(self.schedule.now, || {
                        format!("checkpoint of iteration {iteration}")
                    });
                }
                PrimaryOutput::Replayed => {
                    if let Some(journal) = &mut self.saved.journal {
                        journal.on_redone();
                    }
                }
                PrimaryOutput::Diverged(report) => {
                    self.setup
                        .trace
                        .note(self.schedule.now, || report.sentence());
                }
                PrimaryOutput::Diagnose { .. }
                | PrimaryOutput::Report { .. }
                | PrimaryOutput::Disconnect { .. } => {}
            }
        }
        let is_late = self.primary.waiting_since();
        let is_late = is_late.is_some_and(|since| self.schedule.now.since(since) >= LATE);
        let is_recovering = is_late || self.primary.is_recovering();
        self.checks
            .delivery
            .set_recovering(is_recovering, self.schedule.now);
        self.note_aim();
    }

    /// Writes down a command that was done.
    fn on_stamped(&mut self, command: ScheduledCommand) {
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.on_command(&command);
        }
        let mut command = Some(command);
        let now = self.schedule.now;
        if let (Some(journal), Some(one)) = (&mut self.saved.journal, &command)
            && !journal.on_command(one, now)
        {
            return;
        }
        if let Some(tamper) = &mut self.setup.tamper.stamped {
            tamper(&mut command);
        }
        self.clients.stamped.extend(command);
    }

    fn send_to(&mut self, to: &RoutingId, message: PrimaryToSecondary) {
        if let PrimaryToSecondary::HeartbeatEcho(_) = message {
            let is_meant = |index: &usize| self.processes[*index].routing.heartbeat() == *to;
            let index = (0..self.processes.len()).find(is_meant);
            if let Some(index) = index {
                self.send_sign(index, Stream::Echoes, Sign::Alive);
            }
            return;
        }
        let is_meant = |index: &usize| self.processes[*index].routing == *to;
        if let Some(index) = (0..self.processes.len()).find(is_meant) {
            self.send_to_secondary(index, Stream::FromPrimary, message);
        }
    }

    pub(super) fn send_to_secondary(
        &mut self,
        index: usize,
        stream: Stream,
        body: PrimaryToSecondary,
    ) {
        if self.links.broken.contains(&index) || self.processes[index].life == Life::Gone {
            return;
        }
        let envelope = Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.primary.settings().session,
            sender: PeerName::primary(),
            body,
        };
        for _ in 0..self.links.network.copies(stream, &mut self.schedule.random) {
            let message = Box::new(envelope.clone());
            self.send(index, stream, Event::ToStepper(index, stream, message));
        }
    }

    pub(super) fn send_presence(&mut self, index: usize, is_present: bool) {
        self.send(index, Stream::Presence, Event::Presence(index, is_present));
    }

    pub(super) fn send(&mut self, index: usize, stream: Stream, event: Event) {
        let random = &mut self.schedule.random;
        let at = self
            .links
            .network
            .arrival(index, stream, self.schedule.now, random);
        self.push(at, event);
    }

    fn observe(&mut self, message: PrimaryToObservers) {
        match message {
            PrimaryToObservers::Event(event) => {
                self.setup.trace.note(self.schedule.now, || {
                    format!("event {}: {}", event.kind, event.text)
                });
            }
            PrimaryToObservers::Announce(Announce::Stopping(reason)) => {
                for index in 0..self.processes.len() {
                    self.send_sign(index, Stream::Status, Sign::Stopping(reason.clone()));
                }
            }
            PrimaryToObservers::Announce(Announce::Left { name, .. }) => {
                self.checks.witness.ownership.on_left(&name);
            }
            PrimaryToObservers::Announce(Announce::Joined(_))
            | PrimaryToObservers::Heartbeat(_)
            | PrimaryToObservers::Stats { .. }
            | PrimaryToObservers::Clock(_)
            | PrimaryToObservers::Affinity(_)
            | PrimaryToObservers::Poses(_) => {}
        }
    }

    fn on_done(&mut self, report: &StepReport) {
        self.clients.complete_commands = self.clients.stamped.len() as u64;
        let (iteration, digest) = (report.iteration, report.digest);
        self.setup.trace.note(self.schedule.now, || {
            format!("done: iteration {iteration}, {digest}")
        });
        self.checks.commits.on_done(iteration, digest);
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.on_done(report, &self.primary);
        }
        if let Some(journal) = &mut self.saved.journal {
            journal.on_done(report, self.schedule.now);
        }
        self.checks.publishers.on_done(report);
        self.checks.delivery.on_done(report, self.schedule.now);
        let takes_part = |index: &usize| {
            self.is_member(*index) && self.primary.takes_part(&self.processes[*index].name)
        };
        let members: Vec<usize> = (0..self.processes.len()).filter(takes_part).collect();
        let processes = members.iter().map(|index| &self.processes[*index]);
        let hosts = processes.filter_map(|one| Some((&one.name, one.engine.host()?)));
        self.checks.witness.on_done(&self.primary, report, hosts);
        let (cells, names) = self.open_cells();
        if let Some(moves) = &mut self.setup.moves {
            let asked = moves.on_done(report.iteration.0, &cells, &names);
            self.clients.requests.extend(asked);
        }
    }

    /// Tells whether the primary counts a process among its secondaries.
    pub(super) fn is_member(&self, index: usize) -> bool {
        let process = &self.processes[index];
        let member = self.primary.roster().get(&process.name);
        member.is_some_and(|member| member.routing == process.routing)
    }

    /// Answers a client, once what was done for it is written down.
    fn reply(&mut self, message: PrimaryToClient) {
        let is_done = matches!(message.reply, Reply::Done { .. });
        self.check_effect(&message);
        match &self.saved.journal {
            Some(journal) if is_done => {
                self.clients.held_replies.push_back(HeldReply {
                    entries: journal.entries_put(),
                    commands: self.clients.complete_commands,
                    message,
                });
                self.answer_held();
            }
            _ => self.on_reply(message),
        }
    }

    /// Sends the answers that need not wait any more.
    pub(super) fn answer_held(&mut self) {
        let journal = self.saved.journal.as_ref();
        let is_written = |held: &HeldReply| {
            let is_over = self.outcome.finished.is_some();
            let is_over = is_over || self.setup.tamper.answers_at_once;
            is_over || journal.is_none_or(|journal| journal.is_written(held.entries))
        };
        let count = self
            .clients
            .held_replies
            .iter()
            .take_while(|held| is_written(held));
        let count = count.count();
        let ready: Vec<HeldReply> = self.clients.held_replies.drain(..count).collect();
        for held in ready {
            self.clients.done_commands = held.commands;
            self.on_reply(held.message);
        }
    }

    /// Looks whether what is said to be done is so, at the moment when the primary says it.
    fn check_effect(&mut self, message: &PrimaryToClient) {
        if let Some(command) = self.clients.asked.get(&message.request) {
            let effects = &mut self.checks.witness.effects;
            effects.on_reply(&self.primary, command, &message.reply);
        }
    }

    fn on_reply(&mut self, message: PrimaryToClient) {
        self.setup
            .trace
            .note(self.schedule.now, || format!("reply: {message:?}"));
        self.checks.answers.on_reply(message.request);
        self.ask_again(&message);
        let (cells, names) = self.open_cells();
        let run_ends = self.primary.run_state() == RunState::Stopping;
        if let Some(moves) = &mut self.setup.moves {
            let asked = moves.on_reply(&message, run_ends, &cells, &names);
            self.clients.requests.extend(asked);
        }
        self.clients.replies.push(message);
    }

    /// Returns the cells that may be moved and where to, for the client that moves them.
    fn open_cells(&self) -> (Vec<(CellId, String)>, Vec<PeerName>) {
        if self.setup.moves.is_none() {
            return (Vec::new(), Vec::new());
        }
        let plan = self.primary.topology();
        let hosted = self.checks.witness.ownership.hosted();
        let cells = hosted.map(|(cell, _)| (cell, plan.cell(cell).name.clone()));
        let names = self.processes.iter().map(|one| one.name.clone());
        (cells.collect(), names.collect())
    }

    /// Has a stepper do what has arrived, until it is busy.
    pub(super) fn drain(&mut self, index: usize) {
        loop {
            let process = &mut self.processes[index];
            if process.life != Life::Running || process.is_busy {
                return;
            }
            self.flush(index);
            let process = &mut self.processes[index];
            if process.life != Life::Running {
                return;
            }
            let Some(input) = process.inbox.pop_front() else {
                return;
            };
            self.tell_secondary(index, input);
        }
    }

    pub(super) fn tell_secondary(&mut self, index: usize, input: SecondaryInput) {
        let process = &mut self.processes[index];
        if process.life != Life::Running {
            return;
        }
        let mut welcome = None;
        let effects = process
            .engine
            .handle(input, self.schedule.now, &mut |_, message| {
                welcome = Some((message.heartbeat_interval, message.heartbeat_timeout));
            });
        if let Some((interval, timeout)) = welcome {
            self.start_heart(index, interval, timeout);
        }
        for batch in effects.data {
            if self.is_member(index) {
                self.checks
                    .publishers
                    .on_data(&self.processes[index].name, &batch);
            }
            self.send(index, Stream::Data, Event::Data(index, Box::new(batch)));
        }
        let works = effects.messages.iter().map(|message| match message {
            SecondaryToPrimary::StepAck(ack) => 1 + ack.ahead.len() as u64,
            SecondaryToPrimary::StepsAhead(part) => part.acks.len() as u64,
            SecondaryToPrimary::CaughtUp(answer) => steps_of(answer),
            _ => 0,
        });
        let works: u64 = works.sum();
        let process = &mut self.processes[index];
        let checkpoint = process.engine.take_checkpoint();
        process.outbox.extend(effects.messages);
        process.outbox.extend(checkpoint);
        process.ending = effects.finished;
        if works > 0 && process.step_us > 0 {
            process.is_busy = true;
            let took = works * process.step_us + self.schedule.random.below(process.step_us);
            let until = self.schedule.now + Duration::from_micros(took);
            process.busy_until = until;
            self.push(until, Event::Ready(index));
        } else {
            self.flush(index);
        }
    }

    /// Sends what a stepper has to say, and ends it when that was the last.
    fn flush(&mut self, index: usize) {
        let busy_ns = self.processes[index].step_us * 1_000;
        for mut message in std::mem::take(&mut self.processes[index].outbox) {
            let costs = &self.setup.costs;
            let set_times = |ack: &mut StepAck| {
                ack.busy_ns = busy_ns;
                for cell in &mut ack.cells {
                    cell.physics_ns = costs(cell.cell);
                    (cell.systems_ns, cell.sensors_ns) = (0, 0);
                }
            };
            match &mut message {
                SecondaryToPrimary::StepAck(ack) => {
                    let ack = Arc::make_mut(ack);
                    set_times(ack);
                    ack.ahead.iter_mut().for_each(set_times);
                }
                SecondaryToPrimary::StepsAhead(part) => {
                    Arc::make_mut(part).acks.iter_mut().for_each(set_times);
                }
                _ => {}
            }
            if let Some(tamper) = &mut self.setup.tamper.secondary {
                tamper(&mut message);
            }
            self.send_to_primary(index, Stream::ToPrimary, message);
        }
        if let Some(reason) = self.processes[index].ending.take() {
            let name = &self.processes[index].name;
            self.setup.trace.note(self.schedule.now, || {
                format!("{name} (process {index}) ends: {reason}")
            });
            self.outcome.secondaries_finished.insert(index, reason);
            self.end_process(index);
        }
    }

    pub(super) fn send_to_primary(
        &mut self,
        index: usize,
        stream: Stream,
        body: SecondaryToPrimary,
    ) {
        let engine = &self.processes[index].engine;
        let envelope = Envelope {
            version: ProtocolVersion::CURRENT,
            session: engine.secondary().session(),
            sender: engine.secondary().name().clone(),
            body,
        };
        for _ in 0..self.links.network.copies(stream, &mut self.schedule.random) {
            let message = Box::new(envelope.clone());
            self.send(index, stream, Event::ToPrimary(index, stream, message));
        }
    }
}

/// Returns how many steps a job has replayed, and one for what it takes besides.
fn steps_of(answer: &CaughtUp) -> u64 {
    let replayed = answer
        .result
        .as_ref()
        .map_or(0, |(digests, _)| digests.len());
    1 + replayed as u64
}
