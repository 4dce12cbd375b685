//! [`Settings`]: what runs, from the run file and the flags that win over it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use protocol::ExitCode;
use sdf::World;

use super::super::config::settings;
use super::super::{Failed, output, world_file};
use crate::cli::{JournalArguments, JournalPlace, RunArguments, RunSecurityArguments};
use crate::config::{Config, SECONDARIES_MAX};
use crate::launch::programs::ProgramPlan;
use crate::launch::world_programs;
use crate::run_directory::{RunDirectory, check_run_name, write_private};

/// The world that runs when none is named.
const DEMO_WORLD: &str = include_str!("../../../../worlds/ramp.sdf");

/// Stem of the name of a demo's run.
const DEMO_STEM: &str = "demo";

/// Everything that was asked for.
#[derive(Debug)]
pub(super) struct Settings {
    /// The run file with the flags applied.
    pub(super) config: Config,
    /// Stem of the run's name, if it was given none.
    pub(super) stem: String,
    /// File for the digest of every iteration.
    pub(super) digests: Option<PathBuf>,
    /// File for the changes of every iteration.
    pub(super) states: Option<PathBuf>,
    /// File with the commands that are done at their iterations.
    pub(super) commands: Option<PathBuf>,
    /// File for the commands that were done.
    pub(super) record_commands: Option<PathBuf>,
    /// Programs to run beside the simulation.
    pub(super) programs: Vec<ProgramPlan>,
    /// File for a line for every message.
    pub(super) messages: Option<PathBuf>,
    /// File for the events of the run.
    pub(super) events: Option<PathBuf>,
    /// Options of the journal, from which the run can be resumed.
    pub(super) journal: JournalArguments,
    /// Recording to simulate again, instead of worlds.
    pub(super) recording: Option<PathBuf>,
}

impl Settings {
    /// Reads the run file, applies the flags, and makes sure that the worlds can be run.
    ///
    /// # Errors
    /// Fails if a file is missing or wrong.
    pub(super) fn resolve(arguments: RunArguments) -> Result<Self, Failed> {
        let config = load(&arguments.files)?;
        let config = with_flags(config, &arguments)?;
        check_commands(arguments.commands.as_deref())?;
        let files = check_worlds(&config)?;
        let allowed = arguments.allow_programs.unwrap_or(false);
        let programs = programs(&config, &files, allowed)?;
        let stem = match config.run.worlds.first() {
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
            digests: arguments.digests,
            states: arguments.states,
            commands: arguments.commands,
            record_commands: arguments.record_commands,
            programs,
            messages: arguments.messages,
            events: arguments.events,
            journal: arguments.journal,
            recording: None,
        })
    }

    /// Returns the settings of a run that simulates a recording again.
    pub(super) fn of_recording(file: &Path, config: Config) -> Self {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        Self {
            config,
            stem: stem.into_owned(),
            digests: None,
            states: None,
            commands: None,
            record_commands: None,
            programs: Vec::new(),
            messages: None,
            events: None,
            journal: JournalArguments {
                journal: Some(JournalPlace::Nowhere),
                journal_limit: None,
            },
            recording: Some(file.to_owned()),
        }
    }

    /// Returns where the run is written down, if it is.
    pub(super) fn journal(&self, directory: &RunDirectory) -> Option<PathBuf> {
        match self.journal.journal.clone().unwrap_or_default() {
            JournalPlace::RunFolder => Some(directory.journal()),
            JournalPlace::Nowhere => None,
            JournalPlace::Folder(folder) => Some(folder),
        }
    }

    /// Returns the world files; that of the demo is written to a folder of its own in the run's
    /// first, since what comes into the run may read files beside its world.
    pub(super) fn worlds(&self, directory: &RunDirectory) -> Result<Vec<PathBuf>, Failed> {
        if !self.config.run.worlds.is_empty() || self.recording.is_some() {
            return Ok(self.config.run.worlds.clone());
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
    if let Some(file) = files.iter().find(|file| !file.exists()) {
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
            config.run.worlds = files.to_vec();
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
    mut config: Config,
    arguments: &RunArguments,
) -> Result<Config, Failed> {
    let usage = |message: String| Failed::message(ExitCode::Usage, message);
    let run = &mut config.run;
    if let Some(name) = &arguments.name {
        check_run_name(name).map_err(|error| usage(format!("--name {error}")))?;
        run.name = Some(name.clone());
    }
    if let Some(secondaries) = arguments.secondaries {
        if secondaries > SECONDARIES_MAX {
            return Err(usage(format!("--secondaries is at most {SECONDARIES_MAX}")));
        }
        run.secondaries = secondaries;
    }
    run.iterations = arguments.iterations.or(run.iterations);
    run.real_time_factor = arguments.real_time_factor.or(run.real_time_factor);
    run.paused = arguments.paused.unwrap_or(run.paused);
    run.seed = arguments.seed.unwrap_or(run.seed);
    arguments
        .faults
        .apply(&mut run.recovery, &mut config.network);
    let spin = arguments.spin_us.map(Duration::from_micros);
    config.network.spin = spin.unwrap_or(config.network.spin);
    run.threads = arguments.threads.unwrap_or(run.threads);
    run.verify = arguments.verify.unwrap_or(run.verify);
    run.run_ahead_max = arguments.run_ahead_max.unwrap_or(run.run_ahead_max);
    run.balance = arguments.balance.unwrap_or(run.balance);
    let physics = &mut config.physics;
    physics.solver = arguments.solver.unwrap_or(physics.solver);
    let levels = &mut config.levels;
    levels.auto_levels = arguments.auto_levels.or(levels.auto_levels);
    levels.load = arguments.levels_load.unwrap_or(levels.load);
    levels.minimum_stay = arguments.minimum_stay.unwrap_or(levels.minimum_stay);
    let margin = arguments.interaction_margin;
    levels.interaction_margin_m = margin.unwrap_or(levels.interaction_margin_m);
    arguments.record.apply(&mut config.record);
    arguments.trace.apply(&mut config.trace);
    with_security(&mut config, &arguments.security).map_err(usage)?;
    arguments.view.apply(&mut config.view);
    if let Some(level) = &arguments.log_level {
        config.logs.level.clone_from(level);
    }
    let files = [
        ("--digests", &arguments.digests),
        ("--states", &arguments.states),
        ("--messages", &arguments.messages),
        ("--events", &arguments.events),
        ("--commands", &arguments.commands),
        ("--record-commands", &arguments.record_commands),
        ("--record", &arguments.record.record),
        ("--trace", &arguments.trace.trace),
    ];
    if arguments.events.as_deref() == Some(Path::new("-")) && !arguments.headless {
        let message = "--events - needs --headless: without it stdout is the view's";
        return Err(usage(message.to_owned()));
    }
    for (index, (name, path)) in files.iter().enumerate() {
        let mut others = files[..index].iter();
        if let Some((other, _)) = others.find(|(_, it)| path.is_some() && it == path) {
            return Err(usage(format!("{other} and {name} need a file each")));
        }
    }
    Ok(config)
}

/// Applies who may connect; the error says what is wrong with the whole.
fn with_security(config: &mut Config, arguments: &RunSecurityArguments) -> Result<(), String> {
    let network = &mut config.network;
    network.bind = arguments.bind.clone().or(network.bind.take());
    network.remote_secondaries = arguments
        .remote_secondaries
        .unwrap_or(network.remote_secondaries);
    let security = &mut config.security;
    security.keys = arguments.keys.clone().or(security.keys.take());
    security.is_insecure = arguments.insecure.unwrap_or(security.is_insecure);
    let remote = network.remote_secondaries;
    if config.run.secondaries.saturating_add(remote) > SECONDARIES_MAX {
        return Err(format!("a run has at most {SECONDARIES_MAX} secondaries"));
    }
    let is_reached = network
        .bind
        .as_ref()
        .is_some_and(|bind| bind.directory().is_none());
    if remote > 0 && !is_reached {
        return Err(
            "secondaries of other machines need an address to connect to: name it with --bind \
             tcp://HOST:PORT"
                .to_owned(),
        );
    }
    Ok(())
}

/// Reads the worlds as the primary will, so that what is wrong with them is said before anything
/// is started. Returns the worlds of each file.
fn check_worlds(config: &Config) -> Result<Vec<(String, Vec<World>)>, Failed> {
    let mut files: Vec<(String, Vec<World>)> = Vec::new();
    for path in &config.run.worlds {
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
    let worlds: Vec<World> = files
        .iter()
        .flat_map(|(_, worlds)| worlds)
        .cloned()
        .collect();
    sdf::check_for_run(&worlds).map_err(|error| refused(&error))?;
    let count = config.levels.auto_levels.map(|count| count as usize);
    if let Some(count) = count.and_then(NonZeroUsize::new) {
        for world in &worlds {
            lockstep::auto_levels::cut(world, count).map_err(|error| refused(&error))?;
        }
    }
    Ok(files)
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
    config: &Config,
    files: &[(String, Vec<World>)],
    are_allowed: bool,
) -> Result<Vec<ProgramPlan>, Failed> {
    let refused = |message: String| Failed::message(ExitCode::Configuration, message);
    let mut programs = config.programs.clone();
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
    let count = error.errors.len();
    let message = format!("{} cannot be run: {count} error(s)", path.display());
    Err(Failed::message(ExitCode::Configuration, message))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::RunConfig;

    #[test]
    fn flags_win_over_the_run_file() {
        let run = RunConfig {
            secondaries: 5,
            iterations: Some(9),
            paused: true,
            seed: 3,
            ..RunConfig::default()
        };
        let config = Config {
            run,
            ..Config::default()
        };
        let arguments = RunArguments {
            secondaries: Some(0),
            paused: Some(false),
            real_time_factor: Some(0.5),
            threads: Some(4),
            minimum_stay: Some(Duration::ZERO),
            ..RunArguments::default()
        };
        let config = with_flags(config, &arguments).unwrap();
        assert_eq!(config.levels.minimum_stay, Duration::ZERO);
        let run = config.run;
        assert_eq!((run.threads, run.balance), (4, true));
        assert_eq!(
            (run.secondaries, run.paused, run.real_time_factor),
            (0, false, Some(0.5))
        );
        assert_eq!((run.iterations, run.seed), (Some(9), 3));
    }

    #[test]
    fn names_and_counts_out_of_range_are_usage_errors() {
        for arguments in [
            RunArguments {
                name: Some("a/b".to_owned()),
                ..RunArguments::default()
            },
            RunArguments {
                digests: Some("x".into()),
                states: Some("x".into()),
                ..RunArguments::default()
            },
            RunArguments {
                secondaries: Some(5000),
                ..RunArguments::default()
            },
        ] {
            let failed = with_flags(Config::default(), &arguments).unwrap_err();
            assert_eq!(failed.code, ExitCode::Usage);
        }
    }

    #[test]
    fn programs_of_worlds_are_started_only_if_that_is_allowed() {
        let text = "<sdf version='1.9'><world name='w'><plugin name='gz::sim' filename='dummy'>\
                    <program name='joy'><command>joy</command></program></plugin></world></sdf>";
        let read = sdf::read_worlds(text, "w.sdf", &sdf::NoFiles).unwrap();
        let files = [("w.sdf".to_owned(), read.worlds)];
        let names = |config: &Config, are_allowed| {
            let programs = programs(config, &files, are_allowed)?;
            let names = programs.into_iter().map(|program| program.name);
            Ok::<Vec<String>, Failed>(names.collect())
        };
        let mut config = Config::default();
        assert_eq!(names(&config, false).unwrap(), [""; 0]);
        assert_eq!(names(&config, true).unwrap(), ["joy"]);
        let text = "[[program]]\nname = 'joy'\ncommand = 'x'\n";
        config.programs = Config::parse(text, Path::new("r.toml")).unwrap().programs;
        assert_eq!(names(&config, false).unwrap(), ["joy"]);
        assert!(names(&config, true).is_err(), "two are named joy");
        config.programs[0].world = Some("v".to_owned());
        let error = names(&config, false).unwrap_err().error.to_string();
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
