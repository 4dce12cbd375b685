//! `phalanx replay`: shows a recording as if it were a run, prints what is in it, or simulates it
//! again.

mod info;
#[cfg(feature = "ros2")]
mod ros2;
#[cfg(feature = "ros2")]
mod ros_recording;
mod watch;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ::run::SECONDARIES_MAX;
use client::plain_text::plain;
use protocol::ExitCode;
use recording::Recording;
use view::{ViewEnd, ViewOptions};

use super::config::{settings, settings_of_view};
use super::terminal_check::require_terminal;
use super::{CommandResult, Failed, output, run, runtime};
use crate::cli::{Format, ReplayArguments};
use crate::replay::Player;
use info::Info;

/// Does with a recording what is asked for.
pub(super) fn replay(arguments: &ReplayArguments) -> CommandResult {
    // Whatever is asked for, a file that is none is told here and in one way.
    let recording = match read(&arguments.file) {
        #[cfg(feature = "ros2")]
        Err(recording::ReadError::ForRos) if arguments.ros.ros2 => {
            return ros_recording::play(arguments);
        }
        read => read.map_err(|error| refused(&arguments.file, error))?,
    };
    if arguments.verify {
        return verify(arguments);
    }
    if arguments.info {
        return print_info(arguments, recording);
    }
    show(arguments, recording)
}

/// Shows a recording in a view.
fn show(arguments: &ReplayArguments, recording: Recording<BufReader<File>>) -> CommandResult {
    let file = &arguments.file;
    if !arguments.ros.headless {
        let hint = "--info for what is in the recording, --verify to simulate it again, or --ros2 \
                    --headless to publish it";
        require_terminal(hint)?;
    }
    let warning = recording
        .break_off()
        .map(|(offset, reason)| format!("the recording breaks off at byte {offset}: {reason}"));
    let mut player = Player::new(recording).map_err(|error| refused(file, error))?;
    let follower = follower(arguments, &mut player)?;
    #[cfg(feature = "ros2")]
    if arguments.ros.headless
        && let Some(ros) = follower
    {
        return ros.play(arguments, player);
    }
    let config = settings_of_view(&arguments.view)?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let options = ViewOptions::new(plain(&name), false, &config.view, &config.keymap);
    match runtime()?.block_on(watch::show(player, follower, warning, options))? {
        ViewEnd::Interrupted => Ok(ExitCode::Interrupted),
        ViewEnd::Quit | ViewEnd::Detach | ViewEnd::HungUp | ViewEnd::Ended => Ok(ExitCode::Success),
    }
}

/// Has the recording be in ROS 2, if that is asked for.
#[cfg(feature = "ros2")]
fn follower(
    arguments: &ReplayArguments,
    player: &mut Player<BufReader<File>>,
) -> Result<Option<Follower>, Failed> {
    let started = arguments
        .ros
        .ros2
        .then(|| Follower::start(arguments, player));
    started.transpose()
}

/// Refuses it, if it is asked for: this build has no ROS 2.
#[cfg(not(feature = "ros2"))]
fn follower(
    arguments: &ReplayArguments,
    _: &mut Player<BufReader<File>>,
) -> Result<Option<Follower>, Failed> {
    if arguments.ros.ros2 {
        let missing = crate::launch::ros2_control::NOT_BUILT;
        return Err(Failed::message(ExitCode::Usage, missing));
    }
    Ok(None)
}

/// Follows a recording while it plays.
#[cfg(feature = "ros2")]
use ros2::RosOut as Follower;

/// A build without ROS 2 has none.
#[cfg(not(feature = "ros2"))]
enum Follower {}

#[cfg(not(feature = "ros2"))]
impl Follower {
    fn follow(&mut self, _: &mut Player<BufReader<File>>) -> Vec<String> {
        match *self {}
    }
}

/// Opens a recording.
pub(super) fn open(path: &Path) -> Result<Recording<BufReader<File>>, Failed> {
    read(path).map_err(|error| refused(path, error))
}

fn read(path: &Path) -> Result<Recording<BufReader<File>>, recording::ReadError> {
    Recording::open(BufReader::new(File::open(path)?))
}

/// Tells whether a name is that of a recording, and not of a run.
pub(super) fn is_recording(named: &str) -> bool {
    let ending = Path::new(named).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("mcap"))
}

/// Says that a file cannot be used.
fn refused(path: &Path, error: impl Into<anyhow::Error>) -> Failed {
    let context = format!("{} cannot be replayed", path.display());
    Failed::new(ExitCode::Configuration, error.into().context(context))
}

fn print_info(
    arguments: &ReplayArguments,
    mut recording: Recording<BufReader<File>>,
) -> CommandResult {
    let info = Info::read(&mut recording).map_err(|error| refused(&arguments.file, error))?;
    match arguments.format {
        Format::Text => output::print(&info.text()),
        Format::Json => output::print_json(&info),
    }
}

/// Simulates a recording again by processes of its own, and has them compare it.
fn verify(arguments: &ReplayArguments) -> CommandResult {
    if arguments.secondaries > SECONDARIES_MAX {
        let message = format!("--secondaries is at most {SECONDARIES_MAX}");
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let mut config = settings(None)?;
    let spec = &mut config.spec;
    let run = &mut spec.run;
    run.secondaries = arguments.secondaries;
    run.real_time_factor = Some(0.0);
    run.paused = false;
    spec.record.file = None;
    spec.trace.file = None;
    run::again(&arguments.file, config, arguments.format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_known_by_their_ending() {
        assert!(is_recording("runs/a.MCAP") && !is_recording("demo") && !is_recording("mcap"));
    }
}
