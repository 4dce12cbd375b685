//! [`Scenes`]: what is drawn of a live run, fetched whenever models have come or gone.

use std::collections::BTreeMap;
use std::pin::Pin;

use bytes::Bytes;
use client::Reach;
use client::scene_fetch::{FetchSceneError, SceneFetch};
use protocol::report::Layout;
use scene::{Assets, Scene};

use crate::assets::Asset;
use crate::shown_scene::ShownScene;

/// A fetch under way, which gives back what fetches.
type Running = Pin<Box<dyn Future<Output = (SceneFetch, Result<Option<Scene>, FetchSceneError>)>>>;

/// Drawn content of a live run.
#[derive(Default)]
pub(crate) struct Scenes {
    /// Nothing while a fetch is under way.
    idle: Option<SceneFetch>,
    running: Option<Running>,
    /// Outlines of models that were told since the last fetch began.
    due: Option<Layout>,
    /// Those of the fetch under way, shown if it fails.
    outlines: Layout,
    /// True if another run answers since the fetch under way began.
    is_of_other_run: bool,
}

impl Scenes {
    /// Has the scene fetched, since models may have come or gone.
    pub(crate) fn fetch_after(&mut self, layout: &Layout) {
        self.due = Some(layout.clone());
    }

    /// Has the next scene told, be it that of before: another run answers from now on.
    pub(crate) fn start_anew(&mut self) {
        self.due = None;
        match &mut self.idle {
            Some(fetch) => fetch.forget(),
            None => self.is_of_other_run = self.running.is_some(),
        }
    }

    /// Waits for a scene that is another than before. May be dropped and called again.
    pub(crate) async fn next(&mut self, reach: &Reach) -> ShownScene {
        loop {
            if self.running.is_none() {
                let Some(layout) = self.due.take() else {
                    return std::future::pending().await;
                };
                self.outlines = layout;
                let (mut fetch, reach) = (self.idle.take().unwrap_or_default(), reach.clone());
                self.running = Some(Box::pin(async move {
                    let fetched = fetch.fetch(&reach).await;
                    (fetch, fetched)
                }));
            }
            let running = self.running.as_mut().expect("it was begun");
            let (mut fetch, fetched) = running.await;
            self.running = None;
            let is_of_other_run = std::mem::take(&mut self.is_of_other_run);
            if is_of_other_run {
                fetch.forget();
            }
            let shown = match fetched {
                _ if is_of_other_run => None,
                Ok(None) => None,
                Ok(Some(scene)) => Some(shown(scene, fetch.assets())),
                Err(error) => Some(self.instead(&error)),
            };
            self.idle = Some(fetch);
            if let Some(shown) = shown {
                return shown;
            }
        }
    }

    /// Returns the boxes around models, where nothing better can be had.
    fn instead(&self, error: &FetchSceneError) -> ShownScene {
        let mut shown = ShownScene::of_layout(&self.outlines, "");
        shown.scene.problems.insert(0, error.to_string());
        shown
    }
}

/// Returns a scene with the assets that it names.
pub fn shown(scene: Scene, assets: &Assets) -> ShownScene {
    let named = scene.assets().into_iter();
    let found = named.filter_map(|id| {
        let asset = Asset {
            kind: id.media_type.name(),
            bytes: Bytes::from_owner(assets.get(&id)?.bytes),
        };
        Some((id.to_string(), asset))
    });
    let assets: BTreeMap<String, Asset> = found.collect();
    ShownScene { scene, assets }
}
