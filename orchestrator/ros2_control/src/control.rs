//! [`Control`]: the run as services see it, and all that they remember between requests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use protocol::primary_to_client::Reply;
use protocol::report::Snapshot;
use protocol::{Command, LinkPose};
use ros2::types::builtin_interfaces::Time;
use ros2::types::simulation_interfaces::EntityInfo;
use scene::Scene;

use crate::goals::{Goals, Publication};
use crate::outcome::Failure;

/// A command that has no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);

/// The text of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelText {
    /// The text.
    pub text: String,
    /// Path of its file.
    pub file: String,
}

/// A model that can be spawned.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnableModel {
    /// Address of its file.
    pub uri: String,
    /// Text for people.
    pub description: String,
    /// Extent of its collisions, in its own frame.
    pub extent: Extent,
}

/// Extent of the collisions of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// It has no collisions.
    Nothing,
    /// Corners of a box, the least and the greatest \[m\].
    Box([[f64; 3]; 2]),
    /// A plane, which has no end, is among them.
    Endless,
}

/// A source of models that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: {reason}")]
pub struct SourceError {
    /// The source, as it was named.
    pub source_name: String,
    /// Reason, for people.
    pub reason: String,
}

/// The world outside of services: the run, the clock, and topics.
pub trait Outside {
    /// Asks the run for something, and waits until it has answered.
    fn ask(&self, command: Command) -> impl Future<Output = Result<Reply, Unanswered>>;

    /// Returns the time of the system.
    fn now(&self) -> Time;

    /// Reads the text of a model from a file of this machine, by its path or address; returns its
    /// path, too.
    ///
    /// # Errors
    /// Fails if there is none, or it is too large for a model.
    fn read(&self, uri: &str) -> std::io::Result<ModelText>;

    /// Lists the models of the folders in which models are looked for, and of other sources.
    ///
    /// # Errors
    /// Fails if one of these sources is no folder of this machine.
    fn spawnables(
        &self,
        sources: Vec<String>,
    ) -> impl Future<Output = Result<Vec<SpawnableModel>, SourceError>>;

    /// Returns shapes, frames and levels of the worlds, with the models that are there now.
    fn scene(&self) -> impl Future<Output = Result<Rc<Scene>, Unanswered>>;

    /// Returns where the links of some entities of a scene are, world frame, by their numbers.
    fn link_poses(
        &self,
        scene: &Scene,
        entities: &Snapshot,
    ) -> impl Future<Output = Result<BTreeMap<u32, LinkPose>, Unanswered>>;

    /// Tells the user of this process something that no response has room for.
    fn note(&self, text: &str);

    /// Publishes something on a topic of the action.
    fn publish(&self, publication: Publication);
}

/// A run as services see it.
#[derive(Debug)]
pub struct Control<O> {
    pub(crate) outside: O,
    /// Descriptions that clients gave to entities.
    pub(crate) infos: RefCell<BTreeMap<String, EntityInfo>>,
    pub(crate) goals: RefCell<Goals>,
}

impl<O: Outside> Control<O> {
    /// Makes the control of a run.
    pub fn new(outside: O) -> Self {
        Self {
            outside,
            infos: RefCell::default(),
            goals: RefCell::default(),
        }
    }

    /// Has the run do something; returns the name of a model that came.
    pub(crate) async fn command(&self, command: Command) -> Result<Option<String>, Failure> {
        match self.outside.ask(command).await? {
            Reply::Done { name, .. } => Ok(name),
            Reply::Failed { code, reason } => Err(Failure::Refused { code, reason }),
            Reply::Snapshot(_)
            | Reply::History(_)
            | Reply::Layout(_)
            | Reply::Scene(_)
            | Reply::Topics(_)
            | Reply::Clients(_)
            | Reply::Barrier(_)
            | Reply::Participants(_) => Err(Failure::other_answer()),
        }
    }

    /// Returns all figures of the run at this moment.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, Failure> {
        match self.outside.ask(Command::Snapshot).await? {
            Reply::Snapshot(snapshot) => Ok(*snapshot),
            Reply::Failed { code, reason } => Err(Failure::Refused { code, reason }),
            Reply::Done { .. }
            | Reply::History(_)
            | Reply::Layout(_)
            | Reply::Scene(_)
            | Reply::Topics(_)
            | Reply::Clients(_)
            | Reply::Barrier(_)
            | Reply::Participants(_) => Err(Failure::other_answer()),
        }
    }

    /// Returns shapes, frames and levels of the worlds.
    pub(crate) async fn scene(&self) -> Result<Rc<Scene>, Failure> {
        Ok(self.outside.scene().await?)
    }

    /// Returns where the links of some entities are, world frame, by their numbers in the scene.
    pub(crate) async fn link_poses(
        &self,
        scene: &Scene,
        entities: &Snapshot,
    ) -> Result<BTreeMap<u32, LinkPose>, Failure> {
        if entities.performers.is_empty() {
            return Ok(BTreeMap::new());
        }
        Ok(self.outside.link_poses(scene, entities).await?)
    }

    /// Forgets all entities: the run is another one.
    pub fn start_anew(&self) {
        self.infos.borrow_mut().clear();
    }

    /// Forgets all that was said of an entity that is gone.
    pub(crate) fn forget(&self, entity: &str) {
        self.infos.borrow_mut().remove(entity);
    }
}
