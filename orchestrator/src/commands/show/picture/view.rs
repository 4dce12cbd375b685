//! [`View`]: a world, and whence it is looked at. [`Lapse`]: pictures at intervals of simulated
//! time.

use std::fs;
use std::path::Path;

use anyhow::Context;
use client::plain_text::plain;
use protocol::ExitCode;
use protocol::report::Stats;
use render::{Camera, Poses, Stage};
use scene::{Assets, Scene, World};

use crate::cli::PictureArguments;
use crate::commands::{Failed, output};

/// The most models that are named where one is not found.
const NAMED_MAX: usize = 20;

/// A world that is drawn.
pub(super) struct View<'a> {
    options: &'a PictureArguments,
    size: [usize; 2],
    scene: Scene,
    world: usize,
    stage: Stage,
}

impl<'a> View<'a> {
    /// Makes the view of a scene, and warns of what cannot be drawn.
    ///
    /// # Errors
    /// Fails if there is no world as the options name it.
    pub(super) fn new(
        scene: Scene,
        assets: &Assets,
        options: &'a PictureArguments,
        size: [usize; 2],
    ) -> Result<Self, Failed> {
        Self::after(scene, assets, options, size, None)
    }

    /// Makes the view of a scene that was another one before.
    fn after(
        scene: Scene,
        assets: &Assets,
        options: &'a PictureArguments,
        size: [usize; 2],
        before: Option<&Stage>,
    ) -> Result<Self, Failed> {
        let world = chosen_world(&scene, options.world.as_deref())?;
        let stage = Stage::after(&scene.worlds[world], assets, before);
        let view = Self {
            options,
            size,
            scene,
            world,
            stage,
        };
        view.warn();
        Ok(view)
    }

    /// Looks at another scene from now on.
    ///
    /// # Errors
    /// Fails as [`View::new`].
    pub(super) fn set_scene(&mut self, scene: Scene, assets: &Assets) -> Result<(), Failed> {
        let before = Some(&self.stage);
        *self = Self::after(scene, assets, self.options, self.size, before)?;
        Ok(())
    }

    /// Returns the options of its pictures.
    pub(super) fn options(&self) -> &'a PictureArguments {
        self.options
    }

    /// Returns the world.
    pub(super) fn world(&self) -> &World {
        &self.scene.worlds[self.world]
    }

    /// Draws it with its links at their poses, and its actors where they are at the time of the
    /// figures, as a PNG file.
    ///
    /// # Errors
    /// Fails if there is no model as the options name it.
    pub(super) fn picture(&self, mut poses: Poses, stats: &Stats) -> Result<Vec<u8>, Failed> {
        let elapsed_s = stats.elapsed_at(stats.sim_time_s);
        let scripted = self.world().scripted_links(elapsed_s);
        poses.extend(scripted.map(|(_, link, pose)| (link.id, pose)));
        let camera = self.camera(&poses)?;
        let picture = self.stage.picture(&poses, elapsed_s, &camera, self.size);
        Ok(picture.to_png())
    }

    fn warn(&self) {
        for problem in self.scene.problems.iter().chain(self.stage.problems()) {
            output::note(&format!("warning: {}", plain(problem)));
        }
    }

    fn camera(&self, poses: &Poses) -> Result<Camera, Failed> {
        let angle = self.options.angle.map_or(Camera::ANGLE, f64::to_radians);
        if let Some(model) = &self.options.model {
            let camera = self.stage.view_of_model(model, poses, angle, self.size);
            return camera.ok_or_else(|| {
                let models = self.world().models.iter();
                let known: Vec<&str> = models.map(|one| &*one.name).take(NAMED_MAX).collect();
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
}

/// Pictures at intervals of simulated time, as files in a folder.
pub(super) struct Lapse<'a> {
    every: f64,
    folder: &'a Path,
    count: Option<u64>,
    number: u64,
    last: Option<f64>,
}

impl<'a> Lapse<'a> {
    /// Makes the folder for pictures after each so many seconds, at most so many of them.
    ///
    /// # Errors
    /// Fails if the folder cannot be made.
    pub(super) fn new(
        every: f64,
        folder: &'a Path,
        count: Option<u64>,
    ) -> Result<Self, anyhow::Error> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self {
            every,
            folder,
            count,
            number: 0,
            last: None,
        })
    }

    /// Tells whether there are as many pictures as are wanted.
    pub(super) fn is_done(&self) -> bool {
        self.count.is_some_and(|count| self.number >= count)
    }

    /// Tells whether a picture is due at a simulated time \[s\]. Where time is set back, intervals
    /// begin anew.
    pub(super) fn is_due(&mut self, time: f64) -> bool {
        let period = (time / self.every).floor();
        self.last.replace(period) != Some(period)
    }

    /// Writes a picture of a simulated time \[s\], and says so; `false` when nobody reads that any
    /// more.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn write(&mut self, time: f64, picture: &[u8]) -> Result<bool, Failed> {
        self.number += 1;
        let path = self.folder.join(format!("{:06}.png", self.number));
        let written = fs::write(&path, picture);
        written.with_context(|| format!("cannot write {}", path.display()))?;
        output::print_on(&format!("{}  {time:.3} s\n", path.display()))
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
