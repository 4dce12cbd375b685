//! [`SceneReader`]: shapes of a run's worlds, and where links are, fetched when a service needs it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use client::Reach;
use client::link_poses::LinkListener;
use client::scene_fetch::SceneFetch;
use protocol::LinkPose;
use protocol::report::Snapshot;
use scene::Scene;
use tokio::sync::Mutex;

use crate::control::Unanswered;

/// The scene of a run, fetched again only when it is another.
pub(super) struct SceneReader {
    reach: Reach,
    fetch: Mutex<SceneFetch>,
    last: RefCell<Rc<Scene>>,
    /// Kept once it was needed: who begins to listen again while time is paused hears nothing.
    links: Mutex<Option<LinkListener>>,
}

impl SceneReader {
    /// Makes a reader of a run that has read nothing.
    pub(super) fn new(reach: &Reach) -> Self {
        Self {
            reach: reach.clone(),
            fetch: Mutex::default(),
            last: RefCell::default(),
            links: Mutex::default(),
        }
    }

    /// Returns the scene of this moment.
    ///
    /// # Errors
    /// Fails if the primary does not answer.
    pub(super) async fn scene(&self) -> Result<Rc<Scene>, Unanswered> {
        let mut fetch = self.fetch.lock().await;
        let fetched = fetch.fetch_alone(&self.reach).await;
        if let Some(scene) = fetched.map_err(|error| Unanswered(error.to_string()))? {
            self.last.replace(Rc::new(scene));
        }
        Ok(Rc::clone(&self.last.borrow()))
    }

    /// Returns where the links of some entities are, world frame, by their numbers in the scene.
    ///
    /// # Errors
    /// Fails if no connection can be set up.
    pub(super) async fn link_poses(
        &self,
        scene: &Scene,
        entities: &Snapshot,
    ) -> Result<BTreeMap<u32, LinkPose>, Unanswered> {
        let mut links = self.links.lock().await;
        if links.is_none() {
            let opened = LinkListener::open(&self.reach);
            *links = Some(opened.map_err(|error| Unanswered(error.to_string()))?);
        }
        let Some(listener) = &mut *links else {
            return Ok(BTreeMap::new());
        };
        let mut poses = BTreeMap::new();
        for world in &scene.worlds {
            poses.extend(listener.poses(world, entities).await);
        }
        Ok(poses)
    }

    /// Takes in what is told of links, so that it does not pile up.
    pub(super) async fn hear(&self) {
        if let Ok(mut links) = self.links.try_lock()
            && let Some(listener) = &mut *links
        {
            listener.hear().await;
        }
    }
}
