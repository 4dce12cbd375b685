//! [`Control`]: the run as services see it, and all that they remember between requests.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use protocol::Command;
use protocol::primary_to_client::Reply;
use protocol::report::Snapshot;
use ros2::types::builtin_interfaces::Time;
use ros2::types::simulation_interfaces::EntityInfo;

use crate::goals::{Goals, Publication};
use crate::outcome::Failure;

/// A command that has no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);

/// The world outside of services: the run, the clock, and topics.
pub trait Outside {
    /// Asks the run for something, and waits until it has answered.
    fn ask(&self, command: Command) -> impl Future<Output = Result<Reply, Unanswered>>;

    /// Returns the time of the system.
    fn now(&self) -> Time;

    /// Reads the text of a model from a file of this machine.
    ///
    /// # Errors
    /// Fails if there is none, or it is too large for a model.
    fn read(&self, path: &str) -> std::io::Result<String>;

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
    /// Entities that services brought into the world.
    pub(crate) spawned: RefCell<BTreeSet<String>>,
    pub(crate) goals: RefCell<Goals>,
}

impl<O: Outside> Control<O> {
    /// Makes the control of a run.
    pub fn new(outside: O) -> Self {
        Self {
            outside,
            infos: RefCell::default(),
            spawned: RefCell::default(),
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

    /// Forgets all entities: the run is another one.
    pub fn start_anew(&self) {
        self.infos.borrow_mut().clear();
        self.spawned.borrow_mut().clear();
    }

    /// Forgets all that was said of an entity that is gone.
    pub(crate) fn forget(&self, entity: &str) {
        self.infos.borrow_mut().remove(entity);
        self.spawned.borrow_mut().remove(entity);
    }
}
