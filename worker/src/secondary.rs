//! The secondary's driver: receive, handle, perform.
//!
//! [`SecondaryEngine`] joins the rules to the cells and knows no link; [`SecondaryDriver`] feeds it
//! from a link, with the heartbeat on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use cell_host::progress::SharedProgress;
use cell_host::{
    CatchUpError, CatchUpResult, CellHost, ExportedStep, HostSettings, SaidAhead,
    StartThreadsError, StepError, TracedStep,
};
use lockstep::{
    CatchUpWork, Secondary, SecondaryInput, SecondaryOutput, SecondarySettings, StepWork,
    WorldLoaded,
};
use protocol::Chain;
use protocol::exit::Outcome;
use protocol::primary_to_secondary::{CellSnapshot, PrimaryToSecondary, SceneSnapshot, Welcome};
use protocol::secondary_to_primary::CaughtUp;
use protocol::{
    DataBatch, Digest, Envelope, Iteration, ProtocolVersion, RosSettings, SecondaryToPrimary,
    Sequence, SessionTime, StopReason, TopicMessage, decode, encode, topic,
};
use serde::Serialize;
use transport::{Arrival, Denial, Destination, Link, LinkError, Waker};

use crate::clock::SessionClock;
use crate::data;
use crate::data_outlet::{DataOutlet, DeliveredBy};
use crate::link_frames::LinkFrames;
use crate::renderers::{self, SharedGpu};
use crate::ros::{self, RosError, RosPart};
use crate::trace::StepTracer;

/// The largest cell that a message takes, beside what else is in it \[bytes\].
const CELL_BYTES_MAX: usize = protocol::envelope::MESSAGE_BYTES_MAX - (1 << 20);

/// Time for which the primary's last words may still be on their way when its connection closes; a
/// busy machine may have others to serve between the two.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The rules and the cells of a secondary, without a link.
pub struct SecondaryEngine {
    secondary: Secondary,
    /// Everything that there is to know of the run, once there is.
    welcome: Option<Box<Welcome>>,
    host: Option<CellHost>,
    outputs: Vec<SecondaryOutput>,
    /// Number of steps in a part of a window, where the clock is not what counts.
    part_steps: Option<usize>,
    progress: SharedProgress,
    /// The last step that was asked for.
    last: (Sequence, Iteration),
    /// The step that asked for a checkpoint, and whether with the scene.
    checkpoint: Option<(Sequence, bool)>,
    /// Messages that leave the run, of steps that were done ahead: it is not known yet which of
    /// them count.
    held: Vec<ExportedStep>,
    links: LinkFrames,
    /// The GPU that draws for sensors, unless the processor does.
    gpu: Option<SharedGpu>,
}

/// Reason why steps cannot be done again.
#[derive(Debug, thiserror::Error)]
enum ReplayError {
    /// The worlds cannot be read.
    #[error("{0}")]
    Worlds(Box<dyn std::error::Error + Send + Sync>),
    /// There is no host for them.
    #[error(transparent)]
    Host(#[from] StartThreadsError),
    /// The rules of topics that leave the run cannot be read.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// They do not fit.
    #[error(transparent)]
    Steps(#[from] CatchUpError),
}

/// Effects of an input.
#[derive(Debug, Default)]
pub struct Effects {
    /// Messages for the primary, in order.
    pub messages: Vec<SecondaryToPrimary>,
    /// Messages of systems and sensors in the steps that were done, for observers; goes before the
    /// other messages.
    pub data: Vec<DataBatch>,
    /// Messages that leave the run for others, of steps that count; to go once the other messages
    /// are sent.
    pub exported: Vec<ExportedStep>,
    /// Messages of lost processes that readers outside the run who come later are to get; go before
    /// those.
    pub kept: Vec<TopicMessage>,
    /// Times of the step that was done, if it is traced.
    pub traced: Option<TracedStep>,
    /// Poses of links, for observers; may be lost.
    pub links: Option<TopicMessage>,
    /// Reason why it is over, when it has just ended.
    pub finished: Option<StopReason>,
}

impl SecondaryEngine {
    /// Makes the engine of a secondary.
    pub fn new(settings: SecondarySettings) -> Self {
        Self {
            secondary: Secondary::new(settings),
            welcome: None,
            host: None,
            outputs: Vec::new(),
            part_steps: None,
            progress: SharedProgress::default(),
            last: Default::default(),
            checkpoint: None,
            held: Vec::new(),
            links: LinkFrames::default(),
            gpu: None,
        }
    }

    /// Returns how far the stepper has come, also while it is busy.
    pub fn progress(&self) -> &SharedProgress {
        &self.progress
    }

    /// Returns the rules.
    pub fn secondary(&self) -> &Secondary {
        &self.secondary
    }

    /// Tells whether none of its data may be lost, since they are kept for good.
    pub fn keeps_data(&self) -> bool {
        let welcome = self.welcome.as_ref();
        welcome.is_some_and(|welcome| welcome.publish_all)
    }

    /// Returns the settings of its node in ROS 2, once it was welcomed to a run with such.
    pub fn ros_settings(&self) -> Option<&RosSettings> {
        self.welcome.as_ref()?.ros2.as_ref()
    }

    /// Returns the world that is read while readers outside the run are waited for.
    pub fn waiting_for_readers(&self) -> Option<WorldLoaded> {
        self.ros_settings()?.awaited.as_ref()?;
        self.world_loaded()
    }

    fn world_loaded(&self) -> Option<WorldLoaded> {
        Some(WorldLoaded {
            digest: self.welcome.as_ref()?.world_digest,
            cell_count: self.host.as_ref()?.cell_count(),
            gpu: self.gpu.as_ref().map(|gpu| gpu.name.clone()),
        })
    }

    /// Has windows end by their steps alone, and parts after so many, where the clock of this
    /// machine is not what counts.
    pub fn set_part_steps(&mut self, steps: usize) {
        self.part_steps = Some(steps);
    }

    /// Returns the cells, once there are any.
    pub fn host(&self) -> Option<&CellHost> {
        self.host.as_ref()
    }

    /// Handles one input and all that follows from it, physics included; `welcomed` is called when
    /// the welcome has come, before the world is read.
    ///
    /// # Panics
    /// Only when an invariant of the rules is broken.
    pub fn handle(
        &mut self,
        input: SecondaryInput,
        now: SessionTime,
        welcomed: &mut dyn FnMut(&Secondary, &Welcome),
    ) -> Effects {
        let mut effects = Effects::default();
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let mut outputs = std::mem::take(&mut self.outputs);
            self.secondary.handle(input, now, &mut outputs);
            for output in outputs.drain(..) {
                match output {
                    SecondaryOutput::Send(message) => effects.messages.push(message),
                    SecondaryOutput::LoadWorld(welcome) => {
                        welcomed(&self.secondary, &welcome);
                        let loaded = self.load(welcome);
                        // With readers to wait for, the node says so.
                        next = self.waiting_for_readers().is_none().then_some(loaded);
                    }
                    SecondaryOutput::RunStep(work) => {
                        next = Some(self.run(&work, &mut effects));
                        effects.traced = self.host.as_mut().and_then(CellHost::take_traced);
                    }
                    SecondaryOutput::RunAhead => next = Some(self.run_ahead(&mut effects)),
                    SecondaryOutput::CatchUp(work) => {
                        next = Some(self.catch_up(*work, &mut effects));
                    }
                    SecondaryOutput::Checkpoint {
                        sequence,
                        with_scene,
                    } => self.checkpoint = Some((sequence, with_scene)),
                    SecondaryOutput::Finished(reason) => {
                        // A run goes no further than its last step.
                        if reason.outcome == Outcome::Completed {
                            effects.exported.append(&mut self.held);
                        }
                        effects.finished = Some(reason);
                    }
                }
            }
            self.outputs = outputs;
        }
        effects
    }

    /// Returns the checkpoint that the last step asked for, one message after the other; to be sent
    /// once the answer to the step is. Until it is called again, nothing is asked for.
    pub fn take_checkpoint(&mut self) -> Vec<SecondaryToPrimary> {
        let (Some((sequence, with_scene)), Some(host)) = (self.checkpoint.take(), &mut self.host)
        else {
            return Vec::new();
        };
        let mut messages = Vec::new();
        if with_scene {
            let bytes = host.scene_checkpoint();
            let scene = SceneSnapshot { sequence, bytes };
            messages.push(SecondaryToPrimary::SceneCheckpoint(scene));
        }
        for (cell, mut bytes) in host.checkpoint() {
            if bytes.len() > CELL_BYTES_MAX {
                bytes = Vec::new();
            }
            let snapshot = CellSnapshot {
                sequence,
                cell,
                bytes,
            };
            messages.push(SecondaryToPrimary::CellCheckpoint(snapshot));
        }
        messages
    }

    /// Does a job, on a host of its own unless it brings this one up to date; returns the answer.
    /// Messages that are published once more are added to the effects.
    fn catch_up(&mut self, work: CatchUpWork, effects: &mut Effects) -> SecondaryInput {
        let (end, job) = (work.end(), work.job);
        let steps = work.steps.len() as u64;
        let from = Sequence(work.until.0.saturating_sub(steps));
        self.progress.begin_job(job, from);
        let caught_up = if work.goes_on {
            let host = self.host.as_mut().expect("jobs come after the world");
            let caught_up = host.catch_up(work, &self.progress);
            caught_up.map_err(ReplayError::from)
        } else {
            self.catch_up_elsewhere(work)
        };
        let (result, snapshots) = match caught_up {
            Ok(CatchUpResult {
                digests,
                ack,
                snapshots,
                data,
                exported,
                kept,
            }) => {
                effects.data.extend(data);
                effects.exported.extend(exported);
                effects.kept.extend(kept);
                (Ok((digests, ack)), snapshots)
            }
            Err(error) => (Err(Chain(&error).to_string().into()), Vec::new()),
        };
        self.progress.end_job(job);
        let answer = CaughtUp { job, result };
        SecondaryInput::CaughtUp {
            end,
            answer,
            snapshots,
        }
    }

    fn catch_up_elsewhere(&mut self, work: CatchUpWork) -> Result<CatchUpResult, ReplayError> {
        let welcome = self.welcome.as_ref().expect("jobs come after the welcome");
        let worlds = sdf::decode_worlds(&welcome.worlds);
        let worlds = worlds.map_err(|error| ReplayError::Worlds(error.into()))?;
        let name = self.secondary.name().clone();
        let mut host = CellHost::new(name, worlds, HostSettings::from(&**welcome))?;
        if let Some(settings) = &welcome.ros2 {
            host.export(ros::export_rule(settings)?);
        }
        if let Some(gpu) = &self.gpu {
            host.draw_by(Arc::clone(&gpu.make_renderer));
        }
        let becomes_host = work.becomes_host;
        let caught_up = host.catch_up(work, &self.progress)?;
        if becomes_host {
            if let Some(steps) = self.part_steps {
                host.set_part_steps(steps);
            }
            self.host = Some(host);
        }
        Ok(caught_up)
    }

    fn load(&mut self, welcome: Box<Welcome>) -> SecondaryInput {
        let digest = Digest::of_bytes(&welcome.worlds);
        if digest != welcome.world_digest {
            return SecondaryInput::WorldFailed("the world arrived damaged".to_owned());
        }
        let worlds = match sdf::decode_worlds(&welcome.worlds) {
            Ok(worlds) => worlds,
            Err(error) => {
                return SecondaryInput::WorldFailed(format!("the world is unreadable: {error}"));
            }
        };
        match renderers::of_kind(welcome.renderer) {
            Ok(gpu) => self.gpu = gpu,
            Err(error) => return SecondaryInput::WorldFailed(Chain(&error).to_string()),
        }
        let name = self.secondary.name().clone();
        match CellHost::new(name, worlds, HostSettings::from(&*welcome)) {
            Ok(mut host) => {
                if let Some(gpu) = &self.gpu {
                    host.draw_by(Arc::clone(&gpu.make_renderer));
                }
                if let Some(settings) = &welcome.ros2 {
                    match ros::export_rule(settings) {
                        Ok(rule) => host.export(rule),
                        Err(error) => return SecondaryInput::WorldFailed(error.to_string()),
                    }
                }
                if let Some(steps) = self.part_steps {
                    host.set_part_steps(steps);
                }
                self.host = Some(host);
                self.welcome = Some(welcome);
                let world = self
                    .world_loaded()
                    .expect("its world and its cells are known");
                SecondaryInput::WorldLoaded(world)
            }
            Err(error) => SecondaryInput::WorldFailed(Chain(&error).to_string()),
        }
    }

    /// Does a step, and those that are granted after it.
    fn run(&mut self, work: &StepWork, effects: &mut Effects) -> SecondaryInput {
        let host = self.host.as_mut().expect("steps come after the world");
        self.progress.begin_step(work.step.sequence);
        // The step says which of those that were done ahead hold.
        let done_ahead = self.held.drain(..);
        let exported = done_ahead.filter(|one| one.sequence < work.step.sequence);
        effects.exported.extend(exported);
        // A step that drops every cell has nothing to go back for.
        let back_to = work.back_to.filter(|_| !work.step.reset);
        let back = back_to.map_or(Ok(()), |to| host.go_back(to));
        let done = back.and_then(|()| {
            let mut ack = host.run(&work.step, &work.snapshots)?;
            effects.data.extend(host.take_data());
            effects.exported.extend(host.take_exported());
            effects.links = self.links.take(host, &work.step);
            let mut said = SaidAhead::default();
            host.run_ahead(&work.step, &mut ack, &mut said)?;
            effects.data.append(&mut said.data);
            self.held.append(&mut said.exported);
            Ok(ack)
        });
        self.last = (work.step.sequence, work.step.iteration);
        match done {
            Ok(ack) => {
                self.progress.end_step(work.step.sequence);
                SecondaryInput::StepComputed(ack)
            }
            Err(error) => self.failed_step(error),
        }
    }

    /// Does the next part of the window that the last step opened.
    fn run_ahead(&mut self, effects: &mut Effects) -> SecondaryInput {
        let host = self.host.as_mut().expect("steps come after the world");
        let mut said = SaidAhead::default();
        let done = host.go_on_ahead(&mut said);
        effects.data.append(&mut said.data);
        self.held.append(&mut said.exported);
        match done {
            Ok(part) => SecondaryInput::StepsAheadComputed(part),
            Err(error) => self.failed_step(error),
        }
    }

    /// Returns what a step that failed means; it may be one of the window of the last.
    fn failed_step(&self, error: StepError) -> SecondaryInput {
        let StepError::Diverged(divergence) = error else {
            return SecondaryInput::StepRefused(Chain(&error).to_string());
        };
        let (sequence, iteration) = self.last;
        let sequence = sequence.0 + divergence.iteration.0 - iteration.0;
        let name = self.secondary.name().clone();
        SecondaryInput::StepDiverged(Box::new(divergence.report(name, Sequence(sequence))))
    }

    /// Returns a message to the primary with its header.
    pub fn envelope<B>(&self, body: B) -> Envelope<B> {
        Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.secondary.session(),
            sender: self.secondary.name().clone(),
            body,
        }
    }

    /// Returns the bytes of a message to the primary.
    pub fn encode<B: Serialize>(&self, body: B) -> Vec<u8> {
        encode(&self.envelope(body))
    }
}

/// Gives inputs to a driver from other threads.
#[derive(Clone)]
pub struct InputSender<I> {
    sender: Sender<I>,
    waker: Arc<dyn Waker>,
}

impl<I> InputSender<I> {
    /// Makes the sending side for a link, and the receiving one.
    pub fn new(link: &impl Link) -> (Self, Receiver<I>) {
        let (sender, receiver) = mpsc::channel();
        (
            Self {
                sender,
                waker: link.waker(),
            },
            receiver,
        )
    }

    /// Has the driver look around.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Hands an input over; nothing happens when the driver is gone.
    pub fn send(&self, input: I) {
        if self.sender.send(input).is_ok() {
            self.waker.wake();
        }
    }
}

/// A secondary at work.
pub struct SecondaryDriver<L: Link> {
    link: L,
    engine: SecondaryEngine,
    clock: SessionClock,
    inputs: InputSender<SecondaryInput>,
    pending: Receiver<SecondaryInput>,
    finished: Option<StopReason>,
    is_connected: bool,
    tracer: StepTracer,
    ros: RosPart,
    outlet: DataOutlet,
}

impl<L: Link> SecondaryDriver<L> {
    /// Makes a driver on a link.
    pub fn new(link: L, settings: SecondarySettings) -> Self {
        let (inputs, pending) = InputSender::new(&link);
        Self {
            link,
            engine: SecondaryEngine::new(settings),
            clock: SessionClock::start(),
            inputs,
            pending,
            finished: None,
            is_connected: false,
            tracer: StepTracer::default(),
            outlet: DataOutlet::default(),
            ros: RosPart::default(),
        }
    }

    /// Returns a handle for inputs from other threads.
    pub fn inputs(&self) -> InputSender<SecondaryInput> {
        self.inputs.clone()
    }

    /// Returns how far the stepper has come, for the thread of its heartbeat.
    pub fn progress(&self) -> SharedProgress {
        self.engine.progress().clone()
    }

    /// Takes part in a run until it ends; `on_welcome` is called once, before the first step.
    pub fn run<H>(
        mut self,
        mut on_welcome: impl FnMut(&Secondary, &Welcome, InputSender<SecondaryInput>) -> H,
    ) -> StopReason {
        let (mut heartbeat, mut traces) = (None, false);
        self.handle(SecondaryInput::Started, &mut |_, _| {});
        loop {
            if let Some(reason) = self.finished.take() {
                self.deliver_data(&reason);
                drop(heartbeat);
                return reason;
            }
            let inputs = self.inputs.clone();
            let mut welcomed = |secondary: &Secondary, welcome: &Welcome| {
                traces = welcome.trace.is_some();
                heartbeat = Some(on_welcome(secondary, welcome, inputs.clone()));
            };
            self.wait(&mut welcomed);
            self.tracer.set_on(traces);
        }
    }

    /// Stays until the primary has all data that are kept for good, if it still wants them; another
    /// signal or a silent primary ends that.
    fn deliver_data(&mut self, reason: &StopReason) {
        let secondary = self.engine.secondary();
        let until = match reason.outcome {
            _ if !self.is_connected || !self.engine.keeps_data() => return,
            _ if secondary.has_run_ended() => DeliveredBy::Close,
            // It was drained.
            Outcome::Completed => DeliveredBy::Linger,
            _ => return,
        };
        let pending = &self.pending;
        let is_over = || {
            pending.try_iter().any(|input| {
                matches!(
                    input,
                    SecondaryInput::PrimaryLost(_) | SecondaryInput::Interrupted(_)
                )
            })
        };
        if let Err(error) = DataOutlet::deliver(&mut self.link, until, is_over) {
            tracing::warn!("the last data are not delivered: {}", Chain(&error));
        }
    }

    fn wait(&mut self, welcomed: &mut dyn FnMut(&Secondary, &Welcome)) {
        if let Some(arrival) = self.outlet.take_arrived() {
            return self.on_arrival(arrival, welcomed);
        }
        let now = self.clock.now();
        let deadline = self.engine.secondary().deadline();
        match self.link.receive(deadline.map(|at| at.since(now))) {
            Ok(Some(arrival)) => self.on_arrival(arrival, welcomed),
            Ok(None) => self.handle(SecondaryInput::DeadlinePassed, welcomed),
            Err(error) => self.finished = Some(failed(&error)),
        }
    }

    fn on_arrival(&mut self, arrival: Arrival, welcomed: &mut dyn FnMut(&Secondary, &Welcome)) {
        match arrival {
            Arrival::Message { payload, .. } => {
                self.tracer.on_arrival();
                let input = match decode::<PrimaryToSecondary>(&payload) {
                    Ok(envelope) => SecondaryInput::Primary(envelope),
                    Err(error) => {
                        tracing::warn!("message refused: {}", Chain(&error));
                        SecondaryInput::Malformed
                    }
                };
                self.handle(input, welcomed);
            }
            Arrival::Disconnected => self.on_disconnected(welcomed),
            Arrival::Woken => {
                while let Ok(input) = self.pending.try_recv() {
                    self.handle(input, welcomed);
                }
            }
            Arrival::Denied(denial) => self.on_denied(denial),
            Arrival::Connected => self.is_connected = true,
            Arrival::Subscribed(_) | Arrival::Unsubscribed(_) => {}
        }
    }

    /// Gives up where trying again is in vain; the loss of a primary is seen elsewhere.
    fn on_denied(&mut self, denial: Denial) {
        let is_known = self.engine.secondary().session() != protocol::SessionId::UNKNOWN;
        if denial.is_final() && !is_known {
            let reason = StopReason::new(Outcome::ConfigurationError, denial.to_string());
            self.finished = Some(reason);
        } else {
            tracing::warn!("{denial}");
        }
    }

    /// Hears the primary out before it counts as lost.
    fn on_disconnected(&mut self, welcomed: &mut dyn FnMut(&Secondary, &Welcome)) {
        self.is_connected = false;
        if self.engine.secondary().session() == protocol::SessionId::UNKNOWN {
            return;
        }
        let until = self.clock.now() + LAST_WORDS;
        while self.finished.is_none() && self.clock.now() < until {
            let left = until.since(self.clock.now());
            match self.link.receive(Some(left)) {
                Ok(Some(Arrival::Disconnected)) => self.is_connected = false,
                Ok(Some(Arrival::Connected)) => self.is_connected = true,
                Ok(Some(arrival)) => self.on_arrival(arrival, welcomed),
                Ok(None) => break,
                Err(error) => self.finished = Some(failed(&error)),
            }
        }
        if self.finished.is_none() {
            let how = "the primary is gone: its connection closed".to_owned();
            self.handle(SecondaryInput::PrimaryLost(how), welcomed);
        }
    }

    fn handle(&mut self, input: SecondaryInput, welcomed: &mut dyn FnMut(&Secondary, &Welcome)) {
        let effects = self.engine.handle(input, self.clock.now(), welcomed);
        for part in effects.data.into_iter().flat_map(data::parts) {
            let bytes = self.engine.encode(part);
            self.send_data(topic::DATA, &bytes, self.engine.keeps_data());
        }
        if self.engine.keeps_data()
            && let Err(error) = self.outlet.hold_answer(&mut self.link)
        {
            self.finished = Some(failed(&error));
        }
        self.send(effects.messages);
        self.ros.follow(&self.engine, &self.inputs);
        self.ros
            .publish(&self.engine, effects.kept, effects.exported);
        if let Some(traced) = effects.traced {
            self.send_trace(&traced);
        }
        if let Some(links) = effects.links {
            self.send_links(links);
        }
        let checkpoint = self.engine.take_checkpoint();
        self.send(checkpoint);
        if effects.finished.is_some() {
            self.finished = effects.finished;
        }
    }
}

impl<L: Link> SecondaryDriver<L> {
    fn send_trace(&mut self, traced: &TracedStep) {
        let bytes = self.engine.encode(self.tracer.on_answered(traced));
        self.send_data(topic::TRACE, &bytes, false);
    }

    fn send_links(&mut self, links: TopicMessage) {
        let bytes = self.engine.encode(links);
        self.send_data(topic::LINKS, &bytes, false);
    }

    fn send_data(&mut self, topic: &str, bytes: &[u8], are_kept: bool) {
        if !self.outlet.admits(self.link.waiting_data(), are_kept) {
            return;
        }
        if let Err(error) = self.link.send(Destination::Data, topic, bytes) {
            tracing::warn!(topic, "data not sent: {}", Chain(&error));
        }
    }

    fn send(&mut self, messages: Vec<SecondaryToPrimary>) {
        for message in messages {
            let topic = message.topic();
            let bytes = self.engine.encode(message);
            if let Err(error) = self.link.send(Destination::Primary, topic, &bytes) {
                // The primary asks again for what it misses, or its loss is seen elsewhere.
                tracing::debug!(topic, "message not sent: {}", Chain(&error));
            }
        }
    }
}

fn failed(error: &LinkError) -> StopReason {
    StopReason::new(Outcome::Failed, format!("the link broke: {}", Chain(error)))
}
