//! `phalanx show RUN picture`: the world in three dimensions, drawn without a screen.

mod recorded;
mod view;

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use client::link_poses::LinkListener;
use client::scene_fetch::SceneFetch;
use protocol::primary_to_client::Reply;
use protocol::report::Snapshot;
use protocol::{Command, ExitCode};

use super::refused;
use crate::cli::ShowArguments;
use crate::commands::ctl::from_ask;
use crate::commands::target::Target;
use crate::commands::{CommandResult, Failed, output, runtime};
use view::{Lapse, View};

/// Pixels of a picture along its edges, unless they are said.
const SIZE: [u16; 2] = [1280, 720];

/// The most pixels of a picture.
const PIXELS_MAX: usize = 4096 * 2304;

/// Time between two looks at the simulated time.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Draws a picture of a run, or one after each so many simulated seconds.
pub(super) fn show(target: &Target, arguments: &ShowArguments) -> CommandResult {
    if arguments.picture.at.is_some() {
        let message = "--at is for pictures of recordings";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let size = size(arguments)?;
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

/// Draws a picture of a recording, or one after each so many simulated seconds.
pub(super) fn show_recording(file: &Path, arguments: &ShowArguments) -> CommandResult {
    recorded::show(file, &arguments.picture, size(arguments)?)
}

/// Returns the size of pictures \[pixels\].
fn size(arguments: &ShowArguments) -> Result<[usize; 2], Failed> {
    let edges = [
        arguments.width.unwrap_or(SIZE[0]),
        arguments.height.unwrap_or(SIZE[1]),
    ];
    let size = edges.map(usize::from);
    if size[0] * size[1] > PIXELS_MAX {
        let message = format!("a picture has at most {PIXELS_MAX} pixels");
        return Err(Failed::message(ExitCode::Usage, message));
    }
    Ok(size)
}

/// All that pictures of a run are made of.
struct Studio<'a> {
    target: &'a Target,
    timeout: Duration,
    fetch: SceneFetch,
    links: LinkListener,
    view: View<'a>,
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
        let view = View::new(scene, fetch.assets(), &arguments.picture, size)?;
        Ok(Self {
            target,
            timeout: arguments.timeout,
            fetch,
            links,
            view,
        })
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
        let poses = self.links.poses(self.view.world(), snapshot).await;
        self.view.picture(poses, &snapshot.stats)
    }

    /// Draws a picture after each so many simulated seconds, until there are as many as are asked
    /// for.
    async fn lapse(&mut self, every: f64, folder: &Path) -> CommandResult {
        let mut lapse = Lapse::new(every, folder, self.view.options().count)?;
        while !lapse.is_done() {
            let snapshot = self.snapshot().await?;
            self.links.hear().await;
            let time = snapshot.stats.sim_time_s;
            if !lapse.is_due(time) {
                tokio::time::sleep(LOOK_INTERVAL).await;
                continue;
            }
            let fetched = self.fetch.fetch(&self.target.reach).await;
            if let Some(scene) = fetched.map_err(anyhow::Error::new)? {
                self.view.set_scene(scene, self.fetch.assets())?;
            }
            let picture = self.picture(&snapshot).await?;
            if !lapse.write(time, &picture)? {
                break;
            }
        }
        Ok(ExitCode::Success)
    }
}
