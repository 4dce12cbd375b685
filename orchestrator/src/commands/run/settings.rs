//! [`Settings`]: what runs, from the run file and the flags that win over it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use protocol::{ExitCode, counted};
use run::{JournalLocation, Program, RunSpec};
use sdf::World;

use super::super::config::settings;
use super::super::{Failed, fuel_files, output, world_file};
use crate::cli::RunArguments;
use crate::config::Config;
use crate::launch::hosts::ssh_words;
use crate::launch::{ros2_control, world_programs};
use crate::private_file::write_private;
use crate::run_directory::RunDirectory;

/// The world that runs when none is named.
const DEMO_WORLD: &str = include_str!("../../../../worlds/ramp.sdf");

/// Stem of the name of a demo's run.
const DEMO_STEM: &str = "demo";

/// Everything that was asked for.
#[derive(Debug)]
pub(super) struct Settings {
    /// The run file with the flags applied, and the programs that run beside the simulation.
    pub(super) config: Config,
    /// Name of the run if it has none of its own, but for a number.
    pub(super) stem: String,
    /// The recording that is simulated again, instead of worlds.
    pub(super) recording: Option<PathBuf>,
}

impl Settings {
    /// Reads the run file, applies the flags, and makes sure that the worlds can be run.
    ///
    /// # Errors
    /// Fails if a file is missing or wrong.
    pub(super) fn resolve(arguments: &RunArguments) -> Result<Self, Failed> {
        let config = load(&arguments.files)?;
        let mut config = with_flags(config, arguments)?;
        let spec = &mut config.spec;
        check_commands(spec.run.commands.as_deref())?;
        check_ssh_command(&spec.network.ssh_command)?;
        fuel_files::bring(&mut spec.run.worlds, arguments.offline)?;
        let files = check_worlds(spec)?;
        let allowed = arguments.allow_programs.unwrap_or(false);
        spec.programs = programs(spec, &files, allowed)?;
        if spec.ros2.enabled && !ros2_control::IS_BUILT {
            let missing = ros2_control::NOT_BUILT;
            output::note(&format!(
                "warning: no services of ROS 2 control this run: {missing}"
            ));
        }
        let stem = match spec.run.worlds.first() {
            Some(world) => world
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            None => DEMO_STEM.to_owned(),
        };
        Ok(Self {
            config,
            stem,
            recording: None,
        })
    }

    /// Returns the settings of a run that simulates a recording again.
    pub(super) fn of_recording(file: &Path, mut config: Config) -> Self {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        config.spec.journal.place = JournalLocation::Nowhere;
        Self {
            config,
            stem: stem.into_owned(),
            recording: Some(file.to_owned()),
        }
    }

    /// Returns the specification of a run in a folder, with the files that it has there.
    ///
    /// # Errors
    /// Fails if the demo's world cannot be written.
    pub(super) fn spec(&self, directory: &RunDirectory) -> Result<RunSpec, Failed> {
        let mut spec = self.config.spec.clone();
        for remark in ros2_control::settle(&mut spec.ros2, |name| std::env::var(name).ok()) {
            output::note(&format!("warning: {remark}"));
        }
        spec.run.worlds = self.worlds(directory)?;
        if spec.journal.place == JournalLocation::RunFolder {
            spec.journal.place = JournalLocation::Folder(directory.journal());
        }
        let outputs = &mut spec.outputs;
        outputs.summary = Some(directory.summary());
        outputs.last_events = Some(directory.last_events());
        outputs.audit = Some(directory.file("audit.log"));
        outputs.divergence_reports = Some(directory.path().to_owned());
        Ok(spec)
    }

    /// Returns the world files; that of the demo is written to a folder of its own in the run's
    /// first, since what comes into the run may read files beside its world.
    pub(super) fn worlds(&self, directory: &RunDirectory) -> Result<Vec<PathBuf>, Failed> {
        let named = &self.config.spec.run.worlds;
        if !named.is_empty() || self.recording.is_some() {
            return Ok(named.clone());
        }
        let folder = directory.file("demo");
        let path = folder.join("world.sdf");
        std::fs::create_dir_all(&folder)
            .and_then(|()| write_private(&path, DEMO_WORLD))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(vec![path])
    }
}

/// Returns the settings of the files named: those of a run file, or the defaults with worlds.
fn load(files: &[PathBuf]) -> Result<Config, Failed> {
    let is_missing = |file: &&PathBuf| !file.exists() && fuel_files::address_of(file).is_none();
    if let Some(file) = files.iter().find(is_missing) {
        let hint = if file.extension().is_none() {
            "; `phalanx help` lists the commands"
        } else {
            ""
        };
        let message = format!("no such file: {}{hint}", file.display());
        return Err(Failed::message(ExitCode::Configuration, message));
    }
    match files {
        [file] if is_run_file(file) => settings(Some(file)),
        _ => {
            if let Some(file) = files.iter().find(|file| is_run_file(file)) {
                let message = format!(
                    "{} is a run file and stands alone: it may name several worlds itself",
                    file.display()
                );
                return Err(Failed::message(ExitCode::Usage, message));
            }
            let mut config = settings(None)?;
            config.spec.run.worlds = files.to_vec();
            Ok(config)
        }
    }
}

fn is_run_file(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Returns settings with the flags and variables of a run applied.
pub(in crate::commands) fn with_flags(
    config: Config,
    arguments: &RunArguments,
) -> Result<Config, Failed> {
    let usage = |message: String| Failed::message(ExitCode::Usage, message);
    let of_view = config.with(&arguments.view.0);
    let config = of_view.and_then(|config| config.with(&arguments.settings.0));
    let config = config.map_err(|error| usage(error.to_string()))?;
    let spec = &config.spec;
    if spec.outputs.events.as_deref() == Some(Path::new("-")) && !arguments.headless {
        let message = "--events - needs --headless: without it stdout is the view's";
        return Err(usage(message.to_owned()));
    }
    spec.check().map_err(|error| usage(error.to_string()))?;
    Ok(config)
}

/// Reads the worlds as the primary will, so that what is wrong with them is said before anything
/// is started. Returns the worlds of each file.
fn check_worlds(spec: &RunSpec) -> Result<Vec<(String, Vec<World>)>, Failed> {
    let mut files: Vec<(String, Vec<World>)> = Vec::new();
    for path in &spec.run.worlds {
        files.push((path.display().to_string(), read_worlds(path)?));
    }
    let demo = || sdf::read_worlds(DEMO_WORLD, DEMO_STEM, &sdf::NoFiles);
    if files.is_empty() {
        files.extend(demo().map(|read| (DEMO_STEM.to_owned(), read.worlds)));
    }
    let file_names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let refused = |error: &dyn std::fmt::Display| {
        let message = format!("{} cannot be run: {error}", file_names.join(", "));
        Failed::message(ExitCode::Configuration, message)
    };
    let worlds = files
        .iter()
        .map(|(name, worlds)| (name.as_str(), worlds.as_slice()));
    sdf::check_names(worlds).map_err(|error| refused(&error))?;
    let worlds = || files.iter().flat_map(|(_, worlds)| worlds);
    sdf::check_for_run(worlds()).map_err(|error| refused(&error))?;
    let count = spec.levels.auto_levels.map(|count| count as usize);
    if let Some(count) = count.and_then(NonZeroUsize::new) {
        for world in worlds() {
            lockstep::auto_levels::cut(world, count).map_err(|error| refused(&error))?;
        }
    }
    Ok(files)
}

/// Makes sure that the command that reaches hosts has words.
///
/// # Errors
/// Fails if it has none, or a quotation mark is missing.
pub(in crate::commands) fn check_ssh_command(text: &str) -> Result<(), Failed> {
    if ssh_words(text).is_some() {
        return Ok(());
    }
    let message = format!(
        "network.ssh_command is `{text}`, which is no command: name a program and its options, \
         with both quotation marks around a word with blanks"
    );
    Err(Failed::message(ExitCode::Configuration, message))
}

/// Makes sure that the file of commands, if there is one, can be used.
fn check_commands(path: Option<&Path>) -> Result<(), Failed> {
    let Some(path) = path else {
        return Ok(());
    };
    let text = sdf::read_bounded(path, lockstep::commands_file::BYTES_MAX)
        .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
        .with_context(|| format!("cannot read commands from {}", path.display()));
    let text = text.map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    match lockstep::commands_file::read(&text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = format!("{}:{error}", path.display());
            Err(Failed::message(ExitCode::Configuration, message))
        }
    }
}

/// Returns the programs of the run file, and those of the worlds if they are allowed; names them
/// once if they are not.
fn programs(
    spec: &RunSpec,
    files: &[(String, Vec<World>)],
    are_allowed: bool,
) -> Result<Vec<Program>, Failed> {
    let refused = |message: String| Failed::message(ExitCode::Configuration, message);
    let mut programs = spec.programs.clone();
    let mut of_worlds = Vec::new();
    for (file, worlds) in files {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        for world in worlds {
            let read = world_programs::of_world(world, folder);
            of_worlds.extend(read.map_err(|error| refused(format!("{file}: {error}")))?);
        }
    }
    if are_allowed {
        programs.append(&mut of_worlds);
    } else if !of_worlds.is_empty() {
        let names: Vec<_> = of_worlds.iter().map(|one| one.name.as_str()).collect();
        output::note(&format!(
            "warning: not started, since a world file names them: {}; --allow-programs starts them",
            names.join(", ")
        ));
    }
    let worlds: Vec<&str> = files
        .iter()
        .flat_map(|(_, worlds)| worlds)
        .map(|world| world.name.as_str())
        .collect();
    let mut names = BTreeSet::new();
    for program in &programs {
        if !names.insert(program.name.as_str()) {
            return Err(refused(format!("two programs are named {}", program.name)));
        }
        if let Some(world) = program
            .world
            .as_deref()
            .filter(|name| !worlds.contains(name))
        {
            let (name, known) = (&program.name, worlds.join(", "));
            let message = format!("program {name} is for world {world}; there are {known}");
            return Err(refused(message));
        }
    }
    Ok(programs)
}

fn read_worlds(path: &Path) -> Result<Vec<World>, Failed> {
    let text = world_file::read_text(path)?;
    let error = match world_file::read_worlds(&text, path) {
        Ok(read) => return Ok(read.worlds),
        Err(error) => error,
    };
    let mut sources = world_file::Sources::default();
    for problem in &error.errors {
        output::note(sources.show(problem).trim_end());
    }
    let errors = counted(error.errors.len(), "error");
    let message = format!("{} cannot be run: {errors}", path.display());
    Err(Failed::message(ExitCode::Configuration, message))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    /// Reads the flags of a run.
    fn flags(line: &str) -> RunArguments {
        let words = ["phalanx"].into_iter().chain(line.split_whitespace());
        Cli::try_parse_from(words).unwrap().run
    }

    #[test]
    fn flags_win_over_the_run_file() {
        let text = "[run]\nsecondaries = 5\niterations = 9\npaused = true\nseed = 3\n";
        let config = Config::parse(text, Path::new("r.toml")).unwrap();
        let line = "--secondaries 0 --paused=false --real-time-factor 0.5 --threads 4 \
                    --minimum-stay 0";
        let spec = with_flags(config, &flags(line)).unwrap().spec;
        assert_eq!(spec.levels.minimum_stay, Duration::ZERO);
        let run = spec.run;
        assert_eq!((run.threads, run.balance), (4, true));
        assert_eq!(
            (run.secondaries, run.paused, run.real_time_factor),
            (0, false, Some(0.5))
        );
        assert_eq!((run.iterations, run.seed), (Some(9), 3));
    }

    #[test]
    fn conflicting_flags_are_a_usage_error() {
        for line in [
            "--digests x --states x",
            "--events -",
            "--remote-secondaries 1",
            "--heartbeat-timeout-ms 100",
        ] {
            let failed = with_flags(Config::default(), &flags(line)).unwrap_err();
            assert_eq!(failed.code, ExitCode::Usage, "{line}");
        }
    }

    #[test]
    fn programs_of_worlds_are_started_only_if_that_is_allowed() {
        let text = "<sdf version='1.9'><world name='w'><plugin name='gz::sim' filename='dummy'>\
                    <program name='joy'><command>joy</command></program></plugin></world></sdf>";
        let read = sdf::read_worlds(text, "w.sdf", &sdf::NoFiles).unwrap();
        let files = [("w.sdf".to_owned(), read.worlds)];
        let names = |spec: &RunSpec, are_allowed| {
            let programs = programs(spec, &files, are_allowed)?;
            let names = programs.into_iter().map(|program| program.name);
            Ok::<Vec<String>, Failed>(names.collect())
        };
        let mut spec = RunSpec::default();
        assert_eq!(names(&spec, false).unwrap(), [""; 0]);
        assert_eq!(names(&spec, true).unwrap(), ["joy"]);
        let text = "[[program]]\nname = 'joy'\ncommand = 'x'\n";
        spec = Config::parse(text, Path::new("r.toml")).unwrap().spec;
        assert_eq!(names(&spec, false).unwrap(), ["joy"]);
        assert!(names(&spec, true).is_err(), "two are named joy");
        spec.programs[0].world = Some("v".to_owned());
        let error = names(&spec, false).unwrap_err().error.to_string();
        assert!(error.contains("there are w"), "{error}");
    }

    #[test]
    fn a_wrong_file_of_commands_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        std::fs::write(&path, "#\n{}\n").unwrap();
        let failed = check_commands(Some(&path)).unwrap_err();
        assert_eq!(failed.code, ExitCode::Configuration);
        let text = failed.error.to_string();
        assert!(text.contains("c.jsonl:2: missing field"), "{text}");
    }

    #[test]
    fn the_demo_is_a_world_that_can_be_read() {
        let read = sdf::read_worlds(DEMO_WORLD, "world.sdf", &sdf::NoFiles).unwrap();
        assert!(!read.worlds[0].levels.is_empty());
    }
}
