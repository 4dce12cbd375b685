//! [`SceneThread`]: the thread that makes scenes, which no step waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::{io, thread};

use lockstep::{Library, PrimaryInput};
use protocol::primary_to_client::Reply;
use protocol::report::ScenePart;
use protocol::{Digest, FailureCode, ModelId, RequestId, RoutingId};
use scene::{AssetId, ChangingScene, Scene};
use sdf::{ModelParcel, SearchPaths};

use crate::secondary::InputSender;

/// Niceness of the thread: it has what the others leave, so that no step takes longer for it.
const NICENESS: i32 = 19;

/// The most bytes of an answer.
const PART_BYTES_MAX: usize = 512 << 10;

/// A question for a part of the scene.
pub(super) struct Ask {
    to: RoutingId,
    request: RequestId,
    asset: Option<String>,
    offset: u64,
}

/// An answer, with where it goes.
pub(super) type Answer = (RoutingId, RequestId, Reply);

impl Ask {
    /// Makes a question of a client for an asset, or for the scene itself, from a byte on.
    pub(super) fn new(
        to: RoutingId,
        request: RequestId,
        asset: Option<String>,
        offset: u64,
    ) -> Self {
        Self {
            to,
            request,
            asset,
            offset,
        }
    }
}

/// A change to which models there are.
pub(super) enum Change {
    /// A model comes, in the encoding of [`ModelParcel`].
    Comes(ModelId, Vec<u8>),
    /// A model leaves.
    Leaves(ModelId),
    /// All is as at the start.
    Anew,
}

enum Job {
    Ask(Ask),
    Change(Change),
}

/// Thread that makes scenes, as others have it; it ends with this.
pub(super) struct SceneThread {
    jobs: Sender<Job>,
    answers: Receiver<Answer>,
}

impl SceneThread {
    /// Starts the thread with the worlds of the start and what has changed since. `library` has the
    /// files that spawned models may name; who is woken hears that there is an answer.
    ///
    /// # Errors
    /// Fails if the system has no thread left.
    pub(super) fn start(
        worlds: Arc<[u8]>,
        changes: Vec<Change>,
        library: Arc<dyn Library>,
        woken: InputSender<PrimaryInput>,
    ) -> io::Result<Self> {
        let (jobs, taken) = mpsc::channel();
        let (teller, answers) = mpsc::channel();
        let mut store = SceneStore {
            worlds,
            library,
            made: None,
            changes,
        };
        let run = move || {
            let own = Some(rustix::thread::gettid());
            // Where the system refuses, it is as any other thread.
            let _ = rustix::process::setpriority_process(own, NICENESS);
            while let Ok(job) = taken.recv() {
                let ask = match job {
                    Job::Change(change) => {
                        store.note(change);
                        continue;
                    }
                    Job::Ask(ask) => ask,
                };
                // What ends this thread would end no run, and leave nobody to answer.
                let answers = AssertUnwindSafe(|| store.answer(&ask));
                let reply = catch_unwind(answers).unwrap_or_else(|_| Reply::Failed {
                    code: FailureCode::Other,
                    reason: "the scene of these worlds cannot be made".to_owned(),
                });
                if teller.send((ask.to, ask.request, reply)).is_err() {
                    return;
                }
                woken.wake();
            }
        };
        thread::Builder::new().name("scene".to_owned()).spawn(run)?;
        Ok(Self { jobs, answers })
    }

    /// Has a question answered.
    pub(super) fn ask(&self, ask: Ask) {
        // The thread is there as long as this is.
        let _ = self.jobs.send(Job::Ask(ask));
    }

    /// Tells of a change.
    pub(super) fn tell(&self, change: Change) {
        let _ = self.jobs.send(Job::Change(change));
    }

    /// Returns the next answer that is ready.
    pub(super) fn take(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

/// The scene, and what it is made of.
struct SceneStore {
    worlds: Arc<[u8]>,
    library: Arc<dyn Library>,
    made: Option<Made>,
    /// Changes that are to be made to the scene.
    changes: Vec<Change>,
}

/// A scene that is made.
struct Made {
    scene: ChangingScene,
    /// The scene as JSON.
    text: Arc<[u8]>,
}

impl SceneStore {
    fn note(&mut self, change: Change) {
        if matches!(change, Change::Anew) {
            self.changes.clear();
            self.made = None;
        } else {
            self.changes.push(change);
        }
    }

    fn answer(&mut self, ask: &Ask) -> Reply {
        self.catch_up();
        let Some(made) = &self.made else {
            return Reply::Failed {
                code: FailureCode::Other,
                reason: "the scene of these worlds cannot be made".to_owned(),
            };
        };
        match &ask.asset {
            None => part(Digest::of_bytes(&made.text), &made.text, ask.offset),
            Some(name) => {
                let id = name.parse::<AssetId>().ok();
                match id.and_then(|id| made.scene.assets().get(&id)) {
                    Some(asset) => part(asset.id.digest, &asset.bytes, ask.offset),
                    None => Reply::Failed {
                        code: FailureCode::NotFound,
                        reason: format!("the scene has no asset {name:?}"),
                    },
                }
            }
        }
    }

    /// Makes the scene if there is none, and changes it as models came and went.
    fn catch_up(&mut self) {
        if self.made.is_none() {
            self.made = Made::of_worlds(&self.worlds);
        }
        let Some(made) = &mut self.made else { return };
        if self.changes.is_empty() {
            return;
        }
        for change in std::mem::take(&mut self.changes) {
            match change {
                Change::Comes(id, parcel) => {
                    if let Ok(parcel) = ModelParcel::decode(&parcel) {
                        made.scene.add(id, parcel, &*self.library.another());
                    }
                }
                Change::Leaves(id) => made.scene.remove(id),
                Change::Anew => {}
            }
        }
        made.scene.drop_unused();
        made.text = text_of(made.scene.scene());
    }
}

impl Made {
    /// Makes the scene of worlds as they were at the start.
    fn of_worlds(encoded: &[u8]) -> Option<Self> {
        let worlds = sdf::decode_worlds(encoded).ok()?;
        let scene = ChangingScene::of_worlds(&worlds, &SearchPaths::from_environment());
        Some(Self {
            text: text_of(scene.scene()),
            scene,
        })
    }
}

fn text_of(scene: &Scene) -> Arc<[u8]> {
    let text = serde_json::to_vec(scene).expect("a scene can always be written as JSON");
    text.into()
}

fn part(digest: Digest, whole: &[u8], offset: u64) -> Reply {
    let start = usize::try_from(offset)
        .unwrap_or(usize::MAX)
        .min(whole.len());
    let end = start.saturating_add(PART_BYTES_MAX).min(whole.len());
    Reply::Scene(Box::new(ScenePart {
        digest,
        total: whole.len() as u64,
        offset: start as u64,
        bytes: whole[start..end].to_vec(),
    }))
}

#[cfg(test)]
mod tests {
    use sdf::NoFiles;

    use super::*;

    const TEXT: &str = "<sdf version='1.11'><world name='w'><model name='m'><link name='l'/>\
                        </model></world></sdf>";
    const SPAWNED: &str = "<sdf version='1.11'><model name='n'><link name='l'><visual name='v'>\
                           <geometry><polyline><point>0 0</point><point>1 0</point>\
                           <point>0 1</point><height>1</height></polyline></geometry></visual>\
                           </link></model></sdf>";

    fn store() -> SceneStore {
        let worlds = sdf::read_worlds(TEXT, "w.sdf", &NoFiles).unwrap().worlds;
        SceneStore {
            worlds: sdf::encode_worlds(&worlds).into(),
            library: Arc::new(NoFiles),
            made: None,
            changes: Vec::new(),
        }
    }

    fn ask(store: &mut SceneStore, asset: Option<&str>, offset: u64) -> Reply {
        store.answer(&Ask {
            to: RoutingId::from("one"),
            request: RequestId(1),
            asset: asset.map(str::to_owned),
            offset,
        })
    }

    fn scene(store: &mut SceneStore) -> Scene {
        let Reply::Scene(part) = ask(store, None, 0) else {
            panic!("no scene")
        };
        assert_eq!(part.total, part.bytes.len() as u64);
        assert_eq!(part.digest, Digest::of_bytes(&part.bytes));
        serde_json::from_slice(&part.bytes).unwrap()
    }

    #[test]
    fn a_scene_has_the_models_that_are_there() {
        let mut store = store();
        assert_eq!(scene(&mut store).worlds[0].models[0].name, "m");
        let id = |model| ModelId { world: 0, model };
        let parcel = sdf::read_model(SPAWNED, "n.sdf", &NoFiles).unwrap().parcel;
        store.note(Change::Comes(id(1), parcel.encode()));
        store.note(Change::Leaves(id(0)));
        let found = scene(&mut store);
        assert_eq!(found.worlds[0].models.len(), 1);
        let asset = found.assets().first().copied().unwrap().to_string();
        let Reply::Scene(part) = ask(&mut store, Some(&asset), 4) else {
            panic!("no asset")
        };
        assert_eq!(part.bytes.len() as u64, part.total - 4);
        store.note(Change::Leaves(id(1)));
        assert!(scene(&mut store).worlds[0].models.is_empty());
        let refused = ask(&mut store, Some(&asset), 0);
        assert!(matches!(
            refused,
            Reply::Failed {
                code: FailureCode::NotFound,
                ..
            }
        ));
        store.note(Change::Anew);
        assert_eq!(scene(&mut store).worlds[0].models[0].name, "m");
    }

    #[test]
    fn nothing_but_assets_is_served() {
        let mut store = store();
        for name in [
            "",
            "/etc/passwd",
            "../w.sdf",
            "00000000000000000000000000000000.glb",
        ] {
            let reply = ask(&mut store, Some(name), 0);
            assert!(matches!(reply, Reply::Failed { .. }), "{name}");
        }
        let Reply::Scene(part) = ask(&mut store, None, u64::MAX) else {
            panic!("no scene")
        };
        assert!(part.bytes.is_empty());
    }
}
