//! [`Settings`]: what runs, from the run file and the flags that win over it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use protocol::ExitCode;

use super::super::{Failed, output, world_file};
use crate::cli::RunArguments;
use crate::config::{Config, ConfigError, SECONDARIES_MAX};
use crate::run_directory::{RunDirectory, check_run_name};

/// The world that runs when none is named.
const DEMO_WORLD: &str = include_str!("../../../../worlds/ramp.sdf");

/// What a demo's run is named for.
const DEMO_STEM: &str = "demo";

/// Everything that was asked for.
#[derive(Debug)]
pub(super) struct Settings {
    /// The run file with the flags applied.
    pub(super) config: Config,
    /// What the run is named for when it has no name.
    pub(super) stem: String,
    /// Where the digest of every iteration is written.
    pub(super) digests: Option<PathBuf>,
    /// Whether there is no view.
    pub(super) headless: bool,
}

impl Settings {
    /// Reads the run file, applies the flags, and makes sure that the world can be read.
    ///
    /// # Errors
    /// When a file is missing or wrong.
    pub(super) fn resolve(arguments: RunArguments) -> Result<Self, Failed> {
        let config = load(arguments.file.as_deref())?;
        let config = with_flags(config, &arguments)?;
        check_world(config.run.world.as_deref())?;
        let stem = match &config.run.world {
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
            headless: arguments.headless,
        })
    }

    /// Returns the world file, which for the demo is written to the run's folder first.
    pub(super) fn world(&self, directory: &RunDirectory) -> Result<PathBuf, Failed> {
        if let Some(world) = &self.config.run.world {
            return Ok(world.clone());
        }
        let path = directory.file("world.sdf");
        std::fs::write(&path, DEMO_WORLD)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// Returns the settings of a file: a run file, or the defaults with a world.
fn load(file: Option<&Path>) -> Result<Config, Failed> {
    let Some(file) = file else {
        return Ok(Config::default());
    };
    if !file.exists() {
        let hint = if file.extension().is_none() {
            "; `phalanx help` lists the commands"
        } else {
            ""
        };
        let message = format!("no such file: {}{hint}", file.display());
        return Err(Failed::message(ExitCode::Configuration, message));
    }
    if file
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    {
        return Config::load(file)
            .map_err(|error: ConfigError| Failed::new(ExitCode::Configuration, error));
    }
    let mut config = Config::default();
    config.run.world = Some(file.to_owned());
    Ok(config)
}

fn with_flags(mut config: Config, arguments: &RunArguments) -> Result<Config, Failed> {
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
    run.on_peer_loss = arguments.on_peer_loss.unwrap_or(run.on_peer_loss);
    Ok(config)
}

/// Reads the world as the primary will, so that what is wrong with it is said before anything
/// is started.
fn check_world(world: Option<&Path>) -> Result<(), Failed> {
    let Some(path) = world else { return Ok(()) };
    let text = world_file::read_text(path)?;
    let error = match world_file::read_worlds(&text, path) {
        Err(error) => error,
        Ok(read) => {
            let refused = |error: sdf::NotRunnableError| {
                let message = format!("{} cannot be run: {error}", path.display());
                Failed::message(ExitCode::Configuration, message)
            };
            return sdf::check_for_run(&read.worlds)
                .map(|_| ())
                .map_err(refused);
        }
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
            ..RunArguments::default()
        };
        let run = with_flags(config, &arguments).unwrap().run;
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
                secondaries: Some(5000),
                ..RunArguments::default()
            },
        ] {
            let failed = with_flags(Config::default(), &arguments).unwrap_err();
            assert_eq!(failed.code, ExitCode::Usage);
        }
    }

    #[test]
    fn the_demo_is_a_world_that_can_be_read() {
        let read = sdf::read_worlds(DEMO_WORLD, "world.sdf", &sdf::NoFiles).unwrap();
        assert!(!read.worlds[0].levels.is_empty());
    }
}
