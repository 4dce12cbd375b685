//! Pictures of a recording: of a moment, or at intervals of simulated time, none of which is
//! missed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use client::link_poses::{numbers, pose};
use client::plain_text::plain;
use client::recorded::ReplayRequest;
use protocol::report::Snapshot;
use protocol::{ExitCode, LinkPose};
use recording::ReadError;
use render::Poses;
use scene::World;
use sdf::Pose;

use super::view::{Lapse, View};
use crate::cli::PictureArguments;
use crate::commands::{CommandResult, Failed, output, replay};
use crate::replay::{Player, RecordedScene};

/// A recording that pictures are made of.
struct Archive<'a> {
    file: &'a Path,
    player: Player<BufReader<File>>,
    offsets: BTreeMap<String, LinkPose>,
    scene: RecordedScene,
    view: View<'a>,
}

/// Draws a picture of a recording, or one after each so many simulated seconds from its start on.
pub(super) fn show(file: &Path, options: &PictureArguments, size: [usize; 2]) -> CommandResult {
    let mut archive = Archive::open(file, options, size)?;
    if let (Some(every), Some(folder)) = (options.every, &options.output) {
        return archive.lapse(every, folder);
    }
    let request = options.at.map_or(ReplayRequest::End, ReplayRequest::Seek);
    archive.act(request)?;
    let snapshot = archive.snapshot()?;
    let picture = archive.picture(&snapshot)?;
    output::print_bytes(&picture)
}

impl<'a> Archive<'a> {
    fn open(
        file: &'a Path,
        options: &'a PictureArguments,
        size: [usize; 2],
    ) -> Result<Self, Failed> {
        let mut recording = replay::open(file)?;
        if let Some((offset, reason)) = recording.break_off() {
            output::note(&format!(
                "the recording breaks off at byte {offset}: {}",
                plain(reason)
            ));
        }
        let worlds = recording
            .worlds()
            .map_err(|error| unreadable(file, error))?;
        let worlds = sdf::decode_worlds(&worlds)
            .with_context(|| format!("the worlds in {} cannot be read", file.display()))
            .map_err(|error| Failed::new(ExitCode::Configuration, error))?;
        let scene = RecordedScene::new(&worlds, &mut recording);
        let drawn = scene.scene();
        let view = View::new(drawn.scene().clone(), drawn.assets(), options, size)?;
        let player = Player::new(recording).map_err(|error| unreadable(file, error))?;
        Ok(Self {
            file,
            player,
            offsets: BTreeMap::new(),
            scene,
            view,
        })
    }

    fn act(&mut self, request: ReplayRequest) -> Result<(), Failed> {
        let acted = self.player.act(request);
        acted.map_err(|error| unreadable(self.file, error))
    }

    fn snapshot(&mut self) -> Result<Snapshot, Failed> {
        let snapshot = self.player.snapshot();
        snapshot.map_err(|error| unreadable(self.file, error))
    }

    fn picture(&mut self, snapshot: &Snapshot) -> Result<Vec<u8>, Failed> {
        let offsets = self.player.link_offsets();
        if let Some(offsets) = offsets.map_err(|error| unreadable(self.file, error))? {
            self.offsets.clone_from(offsets);
        }
        let is_other = self.scene.go_to(&mut self.player);
        if is_other.map_err(|error| unreadable(self.file, error))? {
            let drawn = self.scene.scene();
            self.view.set_scene(drawn.scene().clone(), drawn.assets())?;
        }
        let poses = poses(self.view.world(), snapshot, &self.offsets);
        self.view.picture(poses, &snapshot.stats)
    }

    /// Draws a picture of the first frame after each so many simulated seconds.
    fn lapse(&mut self, every: f64, folder: &Path) -> CommandResult {
        let options = self.view.options();
        let mut lapse = Lapse::new(every, folder, options.count)?;
        self.act(options.at.map_or(ReplayRequest::Start, ReplayRequest::Seek))?;
        while !lapse.is_done() {
            let snapshot = self.snapshot()?;
            let (time, iteration) = (snapshot.stats.sim_time_s, snapshot.stats.iteration);
            if lapse.is_due(time) {
                let picture = self.picture(&snapshot)?;
                if !lapse.write(time, &picture)? {
                    break;
                }
            }
            self.act(ReplayRequest::Step(1))?;
            let next = self.snapshot()?.stats;
            if (next.sim_time_s, next.iteration) == (time, iteration) && self.player.is_at_end() {
                break;
            }
        }
        Ok(ExitCode::Success)
    }
}

/// Returns where the links of a world's performers are: each as seen from its model, of which a
/// snapshot says where it is.
fn poses(world: &World, snapshot: &Snapshot, offsets: &BTreeMap<String, LinkPose>) -> Poses {
    let performers = snapshot.performers.iter();
    let by_name: BTreeMap<&str, Pose> = performers
        .map(|one| {
            let pose = Pose {
                position: one.position,
                orientation_xyzw: one.orientation_xyzw,
            };
            (one.name.as_str(), pose)
        })
        .collect();
    let mut poses = Poses::new();
    for model in &world.models {
        let Some(origin) = by_name.get(model.name.as_str()) else {
            continue;
        };
        let to_model = pose(&model.pose).inverse();
        for link in &model.links {
            let offset = offsets.get(&format!("{}::{}", model.name, link.name));
            let offset = offset.map_or_else(|| to_model.then(&pose(&link.pose)), pose);
            poses.insert(link.id, numbers(&origin.then(&offset)));
        }
    }
    poses
}

fn unreadable(file: &Path, error: ReadError) -> Failed {
    let context = format!("{} cannot be read", file.display());
    let error = anyhow::Error::new(error).context(context);
    Failed::new(ExitCode::Configuration, error)
}
