//! `phalanx show RUN picture`: the world in three dimensions, drawn without a screen.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use client::link_poses::LinkListener;
use client::plain_text::plain;
use client::scene_fetch::SceneFetch;
use protocol::primary_to_client::Reply;
use protocol::report::Snapshot;
use protocol::{Command, ExitCode};
use render::{Camera, Poses, Stage};
use scene::Scene;

use super::refused;
use crate::cli::{PictureArguments, ShowArguments};
use crate::commands::ctl::from_ask;
use crate::commands::target::Target;
use crate::commands::{CommandResult, Failed, output, runtime};

/// Pixels of a picture along its edges, unless they are said.
const SIZE: [u16; 2] = [1280, 720];

/// The most pixels of a picture.
const PIXELS_MAX: usize = 4096 * 2304;

/// Time between two looks at the simulated time.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Draws a picture of a run, or one after each so many simulated seconds.
pub(super) fn show(target: &Target, arguments: &ShowArguments) -> CommandResult {
    let edges = [
        arguments.width.unwrap_or(SIZE[0]),
        arguments.height.unwrap_or(SIZE[1]),
    ];
    let size = edges.map(usize::from);
    if size[0] * size[1] > PIXELS_MAX {
        let message = format!("a picture has at most {PIXELS_MAX} pixels");
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let is_lapse = arguments.picture.every.is_some();
    let drawn = async {
        let mut studio = Studio::open(target, arguments, size).await?;
        if let (Some(every), Some(folder)) = (arguments.picture.every, &arguments.picture.output) {
            studio.lapse(every, folder).await
        } else {
            let snapshot = studio.snapshot().await?;
            output::print_bytes(&studio.picture(&snapshot).await?)
        }
    };
    runtime()?.block_on(async {
        tokio::select! {
            biased;
            done = drawn => done,
            () = target.end() => if is_lapse {
                Ok(ExitCode::Success)
            } else {
                Err(from_ask(client::AskError::Ended))
            },
        }
    })
}

/// All that pictures of a run are made of.
struct Studio<'a> {
    target: &'a Target,
    options: &'a PictureArguments,
    timeout: Duration,
    size: [usize; 2],
    fetch: SceneFetch,
    scene: Scene,
    world: usize,
    stage: Stage,
    links: LinkListener,
}

impl<'a> Studio<'a> {
    /// Fetches the scene of a run.
    async fn open(
        target: &'a Target,
        arguments: &'a ShowArguments,
        size: [usize; 2],
    ) -> Result<Self, Failed> {
        let links = LinkListener::open(&target.reach).map_err(anyhow::Error::new)?;
        let mut fetch = SceneFetch::default();
        let fetched = tokio::time::timeout(arguments.timeout, fetch.fetch(&target.reach)).await;
        let fetched =
            fetched.context("the scene was not there in time; --timeout gives it more")?;
        let scene = fetched.map_err(anyhow::Error::new)?.unwrap_or_default();
        let options = &arguments.picture;
        let world = chosen_world(&scene, options.world.as_deref())?;
        let stage = Stage::new(&scene.worlds[world], fetch.assets());
        let studio = Self {
            target,
            options,
            timeout: arguments.timeout,
            size,
            fetch,
            scene,
            world,
            stage,
            links,
        };
        studio.warn();
        Ok(studio)
    }

    fn warn(&self) {
        for problem in self.scene.problems.iter().chain(self.stage.problems()) {
            output::note(&format!("warning: {}", plain(problem)));
        }
    }

    async fn snapshot(&self) -> Result<Snapshot, Failed> {
        let asked = self.target.ask(Command::Snapshot, self.timeout);
        match asked.await.map_err(from_ask)? {
            Reply::Snapshot(snapshot) => Ok(*snapshot),
            other => Err(refused(other)),
        }
    }

    /// Draws the world of this moment as a PNG file.
    async fn picture(&mut self, snapshot: &Snapshot) -> Result<Vec<u8>, Failed> {
        let world = &self.scene.worlds[self.world];
        let poses = self.links.poses(world, snapshot).await;
        let camera = self.camera(&poses)?;
        Ok(self.stage.picture(&poses, &camera, self.size).to_png())
    }

    fn camera(&self, poses: &Poses) -> Result<Camera, Failed> {
        let angle = self.options.angle.map_or(Camera::ANGLE, f64::to_radians);
        if let Some(model) = &self.options.model {
            let camera = self.stage.view_of_model(model, poses, angle, self.size);
            return camera.ok_or_else(|| {
                let models = self.scene.worlds[self.world].models.iter();
                let known: Vec<&str> = models.map(|model| &*model.name).take(20).collect();
                let message = format!(
                    "there is no model {model:?}; there are {}",
                    known.join(", ")
                );
                Failed::message(ExitCode::Usage, message)
            });
        }
        Ok(match self.options.from {
            Some(from) => Camera::looking(from, self.options.look_at.unwrap_or([0.0; 3]), angle),
            None => self.stage.view_of_all(poses, angle, self.size),
        })
    }

    /// Draws a picture after each so many simulated seconds, until there are as many as are asked
    /// for.
    async fn lapse(&mut self, every: f64, folder: &Path) -> CommandResult {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let (mut number, mut last) = (0, None);
        while self.options.count.is_none_or(|count| number < count) {
            let snapshot = self.snapshot().await?;
            self.links.hear().await;
            // A run that is set back to its start begins anew.
            let period = (snapshot.stats.sim_time_s / every).floor();
            if last == Some(period) {
                tokio::time::sleep(LOOK_INTERVAL).await;
                continue;
            }
            last = Some(period);
            let fetched = self.fetch.fetch(&self.target.reach).await;
            if let Some(scene) = fetched.map_err(anyhow::Error::new)? {
                self.scene = scene;
                self.world = chosen_world(&self.scene, self.options.world.as_deref())?;
                self.stage = Stage::new(&self.scene.worlds[self.world], self.fetch.assets());
                self.warn();
            }
            number += 1;
            let path = folder.join(format!("{number:06}.png"));
            let picture = self.picture(&snapshot).await?;
            let written = fs::write(&path, picture);
            written.with_context(|| format!("cannot write {}", path.display()))?;
            let time = snapshot.stats.sim_time_s;
            if !output::print_on(&format!("{}  {time:.3} s\n", path.display()))? {
                break;
            }
        }
        Ok(ExitCode::Success)
    }
}

/// Returns the world of a name, or the first.
fn chosen_world(scene: &Scene, name: Option<&str>) -> Result<usize, Failed> {
    let names: Vec<&str> = scene.worlds.iter().map(|world| &*world.world).collect();
    let number = match name {
        Some(name) => names.iter().position(|own| *own == name),
        None => (!names.is_empty()).then_some(0),
    };
    number.ok_or_else(|| {
        let name = name.unwrap_or_default();
        let message = format!("there is no world {name:?}; there are {}", names.join(", "));
        Failed::message(ExitCode::Usage, message)
    })
}
