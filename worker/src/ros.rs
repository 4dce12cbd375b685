//! The part of a secondary in ROS 2: its node publishes what the secondary's cells say, and passes
//! on what other nodes publish.
//!
//! A message leaves from the secondary whose cells said it, once that counts:
//!
//! - Messages of the step that a message of the primary asks for leave when the answer to it is on
//!   its way. Nothing takes such a step back.
//! - Messages of speculative steps wait for the next message of the primary, which says how many
//!   of them hold, and leave with those of its step. Others are dropped.
//! - So, when a secondary is lost, everything up to the step of the last message that it answered
//!   was to leave, and nothing after. That is what the primary tells whoever replays its steps, and
//!   who publishes the rest with the answer to that job ([`lockstep`], `DataAgain::published`).
//! - Nodes tell each other how far they have got with that, so that what a secondary had answered
//!   for and not sent is published, too (`departures`). Only of a step whose messages were just
//!   being sent some may come twice. `/clock` goes by what the others hear of it (`clock`), and
//!   never goes back.
//!
//! - A run that was resumed does again what its journal has: all of that has left before, and no
//!   node says it once more.
//! - What is kept for readers who come later is kept by the secondary that has the model: one that
//!   gets it, in a hand-off or a migration, after a loss or in a resumed run, says its last
//!   messages again, which the model remembers, and the former one forgets them.
//!
//! Every secondary has publishers and subscriptions of all topics, wherever their models are: so
//! readers know the next owner long before a hand-off, a migration or a loss, and nothing is
//! missed while they would get to know it. Whether anybody reads changes nothing in the run.
//!
//! Messages of nodes arrive at every secondary. The one that speaks for the run passes them on to
//! the primary, which stamps them as it does those of clients; the others remember the last of
//! them, in case they come to speak. The primary takes each once.

#[cfg(feature = "ros2")]
mod clock;
#[cfg(feature = "ros2")]
mod departures;
#[cfg(feature = "ros2")]
mod descriptions;
#[cfg(feature = "ros2")]
mod endpoints;
#[cfg(feature = "ros2")]
mod fixed_frames;
#[cfg(feature = "ros2")]
mod image_queue;
#[cfg(feature = "ros2")]
mod image_thread;
#[cfg(feature = "ros2")]
mod kept;
#[cfg(feature = "ros2")]
mod node;
#[cfg(feature = "ros2")]
mod outbound;
#[cfg(feature = "ros2")]
mod readers;
#[cfg(feature = "ros2")]
mod remarks;
#[cfg(feature = "ros2")]
mod remembered;

mod inlet;
mod mapping_report;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use cell_host::{ExportRule, ExportedStep, RobotDescription, TopicUse};
use lockstep::SecondaryInput;
use protocol::{RosMessage, RosSettings, TopicMessage};
use ros2::mapping::{Frames, RosTopic};
use systems::Export;

use crate::secondary::{InputSender, SecondaryEngine};
use inlet::Inlet;

pub use mapping_report::mapping_report;
#[cfg(feature = "ros2")]
pub use node::RosNode;
pub use settings::{AwaitedError, RosSettingsError, check_awaited, rules_of, settings_of};

/// True if this build has ROS 2.
pub const IS_BUILT: bool = cfg!(feature = "ros2");

/// Reason why a secondary has no part in ROS 2.
#[derive(Debug, thiserror::Error)]
pub enum RosError {
    /// This build has no ROS 2.
    #[error(
        "this worker was built without ROS 2: build it with `cargo build --release \
         --features worker/ros2,orchestrator/ros2 -p worker -p orchestrator`, or leave out --ros2"
    )]
    NotBuilt,
    /// The settings of the run cannot be read.
    #[error("the rules of ROS 2 topics cannot be read: {0}")]
    Rules(String),
    /// The domain of ROS 2 cannot be joined.
    #[error("{0}")]
    Join(String),
    /// The system has no thread left.
    #[error("cannot start the thread of ROS 2: {0}")]
    Thread(#[from] std::io::Error),
}

/// Receives messages of other nodes, on a thread of the node.
pub type OnMessages = Box<dyn Fn(Vec<RosMessage>) + Send>;

/// Hears once, on a thread of the node, that all readers that are waited for are here, or what to
/// say of those that are not.
pub type OnReaders = Box<dyn FnOnce(Result<(), ReadersMissing>) + Send>;

/// Readers that have not come in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no node of ROS 2 has read {topics} in {} s (`--await-reader`)", .waited.as_secs_f64())]
pub struct ReadersMissing {
    /// The topics.
    pub topics: String,
    /// Time for which they were waited for.
    pub waited: Duration,
}

/// Hearers of a node.
pub struct Hearers {
    /// Those of messages.
    pub messages: OnMessages,
    /// Those of readers.
    pub readers: OnReaders,
}

/// News of a secondary for its node, in the order of steps.
#[derive(Debug)]
pub enum RosNews {
    /// The topics of the run, or its robots with descriptions, are others.
    Topics(Vec<TopicUse>, Vec<RobotDescription>),
    /// Messages that readers who come later are to get, whose publishers are gone.
    Kept(Vec<TopicMessage>),
    /// Messages of a step, which counts.
    Step(ExportedStep),
}

/// The node of a secondary in a build without ROS 2: there is none.
#[cfg(not(feature = "ros2"))]
pub enum RosNode {}

#[cfg(not(feature = "ros2"))]
impl RosNode {
    /// Refuses to start.
    ///
    /// # Errors
    /// Always: this build has no ROS 2.
    pub fn start(
        _: &RosSettings,
        _: (protocol::SessionId, &str),
        _: Hearers,
    ) -> Result<Self, RosError> {
        Err(RosError::NotBuilt)
    }

    /// Takes news.
    pub fn tell(&self, _: Vec<RosNews>) {
        match *self {}
    }
}

/// The node of a secondary, once the run is known and has such.
#[derive(Default)]
pub struct RosPart {
    node: Option<RosNode>,
    /// True if the node was started, or could not be.
    is_begun: bool,
    /// Version of the topics that the node knows.
    topics: u64,
    /// True if the secondary spoke for systems of worlds in the last step.
    speaks: bool,
    /// Messages of other nodes on their way to the primary.
    inlet: Arc<Inlet>,
}

impl RosPart {
    /// Starts the node once the secondary has been welcomed to a run with ROS 2; a failure and
    /// messages of other nodes go to `inputs`.
    pub fn follow(&mut self, engine: &SecondaryEngine, inputs: &InputSender<SecondaryInput>) {
        let Some(settings) = engine.ros_settings().filter(|_| !self.is_begun) else {
            return;
        };
        self.is_begun = true;
        let hearers = hearers(engine, inputs, Arc::clone(&self.inlet));
        let secondary = engine.secondary();
        let own = (secondary.session(), secondary.name().as_str());
        match RosNode::start(settings, own, hearers) {
            Ok(node) => self.node = Some(node),
            Err(error) => inputs.send(SecondaryInput::WorldFailed(error.to_string())),
        }
    }

    /// Publishes what the secondary has said in steps that count, once its answers are sent; before
    /// that, the messages in `kept` that lost processes have said.
    pub fn publish(
        &mut self,
        engine: &SecondaryEngine,
        mut kept: Vec<TopicMessage>,
        exported: Vec<ExportedStep>,
    ) {
        if self.node.is_none() {
            return;
        }
        if !exported.is_empty() {
            self.inlet.on_step();
        }
        let mut news = Vec::with_capacity(exported.len());
        if let Some(host) = engine.host()
            && host.topics_version() != self.topics
        {
            self.topics = host.topics_version();
            news.push(RosNews::Topics(
                host.topic_uses(),
                host.robot_descriptions(),
            ));
        }
        kept.extend(self.kept_of_worlds(engine, &exported));
        if !kept.is_empty() {
            news.push(RosNews::Kept(kept));
        }
        news.extend(exported.into_iter().map(RosNews::Step));
        if let Some(node) = &self.node {
            node.tell(news);
        }
    }

    /// Returns messages of systems of worlds for readers who come later, when the secondary comes
    /// to speak for them: the former publisher may be gone. All hosts remember them.
    fn kept_of_worlds(
        &mut self,
        engine: &SecondaryEngine,
        exported: &[ExportedStep],
    ) -> Vec<TopicMessage> {
        let mut own = exported.iter().filter(|step| step.again.is_none());
        let Some(first) = own.next() else {
            return Vec::new();
        };
        let last = own.next_back().unwrap_or(first);
        let spoke = std::mem::replace(&mut self.speaks, last.speaks);
        let host = engine.host().filter(|_| first.speaks && !spoke);
        let Some(host) = host else {
            return Vec::new();
        };
        let said =
            |message: &TopicMessage| exported.iter().any(|step| step.messages.contains(message));
        let kept = host.kept_of_worlds();
        kept.filter(|message| !said(message)).cloned().collect()
    }
}

/// Returns the hearers of a node for a secondary: that takes its world for read once all readers
/// are here that are waited for.
fn hearers(
    engine: &SecondaryEngine,
    inputs: &InputSender<SecondaryInput>,
    inlet: Arc<Inlet>,
) -> Hearers {
    let (to, or_to) = (inputs.clone(), inputs.clone());
    let loaded = engine.waiting_for_readers();
    Hearers {
        messages: Box::new(move |messages| {
            let admitted = inlet.admit(messages);
            if !admitted.is_empty() {
                to.send(SecondaryInput::RosMessages(admitted));
            }
        }),
        readers: Box::new(move |found| match (found, loaded.clone()) {
            (Ok(()), Some(world)) => or_to.send(SecondaryInput::WorldLoaded(world)),
            (Ok(()), None) => {}
            (Err(missing), _) => {
                or_to.send(SecondaryInput::ReadersMissing(missing.to_string()));
            }
        }),
    }
}

/// Returns the rule of a run's settings by which topics leave it, also on hosts without a node.
///
/// # Errors
/// Fails if the rules cannot be read.
pub fn export_rule(settings: &RosSettings) -> Result<ExportRule, RosError> {
    let mapping = mapping(settings)?;
    // The last message of a topic has all of its frames that stay.
    let of_frames = |frames| usize::from(frames == Some(Frames::Fixed));
    Ok(Arc::new(move |topic: &str, kind: &str| {
        let used = ros2::mapping::Used {
            topic,
            kind,
            is_published: true,
            is_subscribed: false,
        };
        let outbound = mapping.ways(&used).outbound;
        let frames = mapping.frames(topic, kind);
        (outbound.is_some() || frames.is_some()).then(|| Export {
            max_rate_hz: outbound.as_ref().and_then(|topic| topic.max_rate_hz),
            is_read_whole: frames.is_some(),
            kept: outbound
                .as_ref()
                .map_or(0, RosTopic::kept)
                .max(of_frames(frames)),
        })
    }))
}

/// Returns the rules of topics in a run's settings, where this build has nodes.
///
/// # Errors
/// Fails if it has none, or the rules cannot be read.
pub fn rules_in(settings: &RosSettings) -> Result<ros2::Rules, RosError> {
    if !IS_BUILT {
        return Err(RosError::NotBuilt);
    }
    read_rules(settings)
}

fn read_rules(settings: &RosSettings) -> Result<ros2::Rules, RosError> {
    let rules = serde_json::from_str(&settings.rules);
    rules.map_err(|error: serde_json::Error| RosError::Rules(error.to_string()))
}

/// Makes the mapping of a run's settings.
fn mapping(settings: &RosSettings) -> Result<ros2::Mapping, RosError> {
    let rules = read_rules(settings)?;
    ros2::Mapping::new(&rules).map_err(|error| RosError::Rules(error.to_string()))
}
