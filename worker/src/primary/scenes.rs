//! [`Scenes`]: what is drawn of the worlds, for observers that ask for it.
//!
//! A thread makes the scene when it is asked for first, and answers; all that the driver does is to
//! hand it questions and the models that come and go.

use std::collections::{BTreeMap, BTreeSet};

use lockstep::{Primary, PrimaryInput};
use protocol::action::{ModelChange, Spawn};
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_secondary::Step;
use protocol::{Chain, FailureCode, ModelId, RoutingId};

use super::scene_thread::{Ask, Change, SceneThread};
use crate::journaling::DriverState;
use crate::secondary::InputSender;

/// The most questions that wait for an answer.
const WAITING_MAX: usize = 256;

/// The scene of a run, made once it is asked for.
#[derive(Default)]
pub(super) struct Scenes {
    /// The models that came and are there, as they travel.
    spawned: BTreeMap<ModelId, Vec<u8>>,
    /// The models of the start that are gone.
    gone: BTreeSet<ModelId>,
    thread: Option<SceneThread>,
    waiting: usize,
}

impl Scenes {
    /// Goes on with the models of a run that is resumed.
    pub(super) fn resume(&mut self, state: &DriverState) {
        for spawn in &state.spawned {
            self.add(spawn);
        }
        self.gone.clone_from(&state.gone);
    }

    /// Takes note of the models that come and go with a step.
    pub(super) fn on_step(&mut self, step: &Step) {
        if step.reset {
            self.spawned.clear();
            self.gone.clear();
            self.tell(Change::Anew);
        }
        for stamped in &step.actions {
            match stamped.action.model_change() {
                ModelChange::Comes(spawn) => self.add(spawn),
                ModelChange::Leaves(model) => {
                    if self.spawned.remove(&model).is_none() {
                        self.gone.insert(model);
                    }
                    self.tell(Change::Leaves(model));
                }
                ModelChange::None => {}
            }
        }
    }

    fn add(&mut self, spawn: &Spawn) {
        self.spawned.insert(spawn.model, spawn.parcel.clone());
        self.tell(Change::Comes(spawn.model, spawn.parcel.clone()));
    }

    fn tell(&self, change: Change) {
        if let Some(thread) = &self.thread {
            thread.tell(change);
        }
    }

    /// Has a question answered, or returns the answer where that cannot be.
    pub(super) fn ask(
        &mut self,
        ask: Ask,
        primary: &Primary,
        woken: impl FnOnce() -> InputSender<PrimaryInput>,
    ) -> Option<Reply> {
        if self.waiting >= WAITING_MAX {
            return Some(Reply::Failed {
                code: FailureCode::TooMuch,
                reason: "too many wait for the scene: ask again later".to_owned(),
            });
        }
        if self.thread.is_none() {
            let gone = self.gone.iter().copied().map(Change::Leaves);
            let spawned = self.spawned.iter();
            let spawned = spawned.map(|(model, parcel)| Change::Comes(*model, parcel.clone()));
            let changes = gone.chain(spawned).collect();
            let library = primary.library();
            match SceneThread::start(primary.encoded_worlds(), changes, library, woken()) {
                Ok(thread) => self.thread = Some(thread),
                Err(error) => {
                    return Some(Reply::Failed {
                        code: FailureCode::Other,
                        reason: format!("nobody can make the scene: {}", Chain(&error)),
                    });
                }
            }
        }
        if let Some(thread) = &self.thread {
            self.waiting += 1;
            thread.ask(ask);
        }
        None
    }

    /// Returns the next answer that is ready.
    pub(super) fn take(&mut self) -> Option<(RoutingId, PrimaryToClient)> {
        let (to, request, reply) = self.thread.as_ref()?.take()?;
        self.waiting -= 1;
        Some((to, PrimaryToClient { request, reply }))
    }
}
