//! `phalanx replay`: shows a recording as if it were a run, prints what is in it, or simulates it
//! again.

mod info;
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
    let recording = open(&arguments.file)?;
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
    require_terminal("--info for what is in the recording, or --verify to simulate it again")?;
    let warning = recording
        .break_off()
        .map(|(offset, reason)| format!("the recording breaks off at byte {offset}: {reason}"));
    let player = Player::new(recording).map_err(|error| refused(file, error))?;
    let config = settings_of_view(&arguments.view)?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let options = ViewOptions::new(plain(&name), false, &config.view, &config.keymap);
    match runtime()?.block_on(watch::show(player, warning, options))? {
        ViewEnd::Interrupted => Ok(ExitCode::Interrupted),
        ViewEnd::Quit | ViewEnd::Detach | ViewEnd::HungUp | ViewEnd::Ended => Ok(ExitCode::Success),
    }
}

/// Opens a recording.
fn open(path: &Path) -> Result<Recording<BufReader<File>>, Failed> {
    let file = File::open(path).map_err(|error| refused(path, error))?;
    Recording::open(BufReader::new(file)).map_err(|error| refused(path, error))
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
