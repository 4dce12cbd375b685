//! A recording in ROS 2: what is passed while it plays is published again, at its speed.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

use ::ros2_control::node::Domain;
use ::ros2_control::playback::Playback;
use ::ros2_control::{Mapping, Rules};
use anyhow::Context;
use client::recorded::ReplayRequest;
use protocol::ExitCode;

use super::super::{CommandResult, Failed, output, ros2_control};
use crate::cli::ReplayArguments;
use crate::replay::Player;

/// Time between two looks at what is due.
pub(super) const PERIOD: Duration = Duration::from_millis(2);
/// Time that is left to readers to find the topics that have found them: what is said before that,
/// beyond the depth of a topic, they would not hear.
pub(super) const DISCOVERY: Duration = Duration::from_millis(500);
/// Time for which readers may acknowledge the last messages.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(1);
/// Number of messages that could not be published of which each is told.
pub(super) const TOLD_MAX: u32 = 10;

type FilePlayer = Player<BufReader<File>>;

/// A recording's node of ROS 2.
pub(super) struct RosOut {
    playback: Playback,
    problems: u32,
}

impl RosOut {
    /// Joins the domain with the topics of a recording, and describes its robots.
    pub(super) fn start(
        arguments: &ReplayArguments,
        player: &mut FilePlayer,
    ) -> Result<Self, Failed> {
        let refused = |error: anyhow::Error| Failed::new(ExitCode::Configuration, error);
        let domain: Domain =
            ros2_control::domain(arguments.ros.ros_domain, arguments.ros.ros_localhost_only)?;
        let rules = arguments.ros.ros_rules.as_deref().map(read_rules);
        let mapping = rules.transpose().map_err(refused)?.unwrap_or_default();
        let mapping = Mapping::new(&mapping).map_err(|error| refused(error.into()))?;
        let started = Playback::start(&domain, mapping, &player.topics());
        let mut playback = started.map_err(|error| refused(error.into()))?;
        describe(&mut playback, player).map_err(refused)?;
        let kept = player.keep_said();
        kept.map_err(|error| super::refused(&arguments.file, error))?;
        let domain = domain.id;
        output::note(&format!("the recording is in domain {domain} of ROS 2"));
        Ok(Self {
            playback,
            problems: 0,
        })
    }

    /// Publishes what the player has passed, and the time where it is. Returns what went wrong.
    pub(super) fn follow(&mut self, player: &mut FilePlayer) -> Vec<String> {
        let mut problems = Vec::new();
        for said in player.take_said() {
            let published = self.playback.advance_to(said.sim_time);
            let outcome = published.map_err(anyhow::Error::from).and_then(|()| {
                let kind = messages::find(&said.kind);
                let kind = kind.with_context(|| format!("{} is no kind", said.kind))?;
                let json = serde_json::from_slice(&said.json)?;
                let body = kind.from_recorded_json(json)?;
                let now = said.sim_time;
                Ok(self.playback.say(&said.topic, &said.kind, now, &body)?)
            });
            if let Err(error) = outcome {
                self.problems += 1;
                if self.problems <= TOLD_MAX {
                    problems.push(format!("not in ROS 2: {error:#}"));
                }
            }
        }
        // Readers that acknowledge nothing are told of with the messages.
        let _ = self.playback.set_time(player.position().now);
        problems
    }

    /// Plays a recording from its start to its end, without a view.
    pub(super) fn play(
        mut self,
        arguments: &ReplayArguments,
        mut player: FilePlayer,
    ) -> CommandResult {
        let failed = |error: recording::ReadError| super::refused(&arguments.file, error);
        await_readers(arguments, |topic| self.playback.is_read(topic));
        if !arguments.ros.await_reader.is_empty() {
            std::thread::sleep(DISCOVERY);
        }
        let speed = ReplayRequest::Speed(arguments.ros.speed);
        player.act(speed).map_err(failed)?;
        player.act(ReplayRequest::Play).map_err(failed)?;
        let mut last = Instant::now();
        while player.is_playing() {
            let elapsed = last.elapsed();
            last += elapsed;
            player.advance(elapsed).map_err(failed)?;
            for problem in self.follow(&mut player) {
                output::note(&problem);
            }
            std::thread::sleep(PERIOD);
        }
        self.playback.finish(LAST_WORDS);
        Ok(ExitCode::Success)
    }
}

/// Waits until all topics that are to be read are.
pub(super) fn await_readers(arguments: &ReplayArguments, is_read: impl Fn(&str) -> bool) {
    for topic in &arguments.ros.await_reader {
        output::note(&format!("waiting for a reader of {topic}"));
        while !is_read(topic) {
            std::thread::sleep(PERIOD);
        }
    }
}

fn read_rules(path: &Path) -> anyhow::Result<Rules> {
    let named = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(named)?;
    toml::from_str(&text).with_context(named)
}

/// Publishes the descriptions of the robots that were read from URDF.
fn describe(playback: &mut Playback, player: &mut FilePlayer) -> anyhow::Result<()> {
    let bytes = player.worlds().context("the worlds cannot be read")?;
    let worlds = sdf::decode_worlds(&bytes).context("the worlds cannot be read")?;
    let has_siblings = worlds.len() > 1;
    let mut robots = Vec::new();
    for world in &worlds {
        let prefix = if has_siblings {
            format!("/world/{}", world.name)
        } else {
            String::new()
        };
        for model in &world.models {
            if let Some(urdf) = &model.urdf {
                let topic = format!("{prefix}/model/{}/robot_description", model.name);
                robots.push((topic, &model.name, urdf));
            }
        }
    }
    for (topic, model, urdf) in &robots {
        let links = playback.mapping().frame_prefix(model);
        let text = sdf::urdf_with_prefix(urdf, &links)?;
        playback.describe(topic, robots.len() == 1, &text)?;
    }
    Ok(())
}
