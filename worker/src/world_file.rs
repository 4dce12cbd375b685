//! Reads the world files of a run and what a run needs to know of them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep::{CutError, auto_levels};
use protocol::report::{StartWarning, StartWarningKind};
use sdf::{Solver, World};

/// The worlds of a run.
#[derive(Clone, Debug)]
pub struct LoadedWorlds {
    /// At least one world.
    pub worlds: Vec<World>,
    /// Simulated time per iteration, the same in all of them.
    pub step_size: Duration,
    /// The pace that the first world asks for.
    pub real_time_factor: f64,
    /// Parts of them that the files have otherwise, as far as reading finds them.
    pub warnings: Vec<StartWarning>,
}

/// Reason why world files cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadWorldError {
    /// A file cannot be read.
    #[error("cannot read world file {path}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is no valid world.
    #[error("{path} is not a valid world:\n{errors}")]
    Invalid {
        /// The file.
        path: String,
        /// Findings of the reader, which are told with it.
        errors: sdf::ReadWorldError,
    },
    /// The worlds cannot be run together.
    #[error("{path} cannot be run")]
    NotRunnable {
        /// The files.
        path: String,
        /// Reason.
        #[source]
        source: sdf::NotRunnableError,
    },
    /// A world was to be cut into levels and cannot be.
    #[error("cannot cut into levels")]
    Cut(#[source] CutError),
}

/// Reads the world files of a run, warns of their ignored parts, gives each world a solver, and
/// divides it as the settings of levels say.
///
/// # Errors
/// Fails if a file cannot be read or is no valid world, if the worlds cannot be run together, or if
/// one that is to be cut has levels of its own.
pub fn load(
    paths: &[PathBuf],
    solver: Solver,
    levels: &run::Levels,
) -> Result<LoadedWorlds, LoadWorldError> {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut visual_bytes_left = sdf::VISUAL_FILES_BYTES_MAX;
    let mut warnings = Vec::new();
    let files: Vec<Vec<World>> = paths
        .iter()
        .map(|path| read(path, &mut visual_bytes_left, &mut warnings))
        .collect::<Result<_, _>>()?;
    let refused = |source| LoadWorldError::NotRunnable {
        path: names.join(", "),
        source,
    };
    let paths = names.iter().map(String::as_str);
    sdf::check_names(paths.zip(files.iter().map(Vec::as_slice))).map_err(refused)?;
    let mut worlds: Vec<World> = files.into_iter().flatten().collect();
    let step_size = sdf::check_for_run(&worlds).map_err(refused)?;
    let count = levels.auto_levels.map(|count| count as usize);
    let count = count.and_then(NonZeroUsize::new);
    for world in &mut worlds {
        world.physics.solver = solver;
        world.split_above = levels.split_above;
        if let Some(count) = count {
            world.levels = auto_levels::cut(world, count).map_err(LoadWorldError::Cut)?;
            let made = world.levels.len();
            tracing::info!("world {} is cut into {made} of {count} levels", world.name);
        }
    }
    warnings.extend(worlds.iter().flat_map(not_split));
    Ok(LoadedWorlds {
        step_size,
        real_time_factor: worlds[0].physics.real_time_factor,
        warnings,
        worlds,
    })
}

/// Warns of models for which their level, or what is in none, is not split although it is to be.
fn not_split(world: &World) -> Vec<StartWarning> {
    if world.split_above.is_none() {
        return Vec::new();
    }
    let models = world.models.iter().filter(|model| model.is_static);
    let works = models.filter(|model| lockstep::works_by_contact(model));
    let warnings = works.map(|model| StartWarning {
        kind: StartWarningKind::System,
        message: format!(
            "world {}: where {} works is not split: it works by what touches it, in one cell",
            world.name, model.name
        ),
        place: None,
    });
    warnings.collect()
}

/// Reads the worlds of a file; the files of their visuals are counted off the bytes that are left.
fn read(
    path: &Path,
    visual_bytes_left: &mut usize,
    warnings: &mut Vec<StartWarning>,
) -> Result<Vec<World>, LoadWorldError> {
    let name = path.display().to_string();
    let unreadable = |source| LoadWorldError::Unreadable {
        path: name.clone(),
        source,
    };
    let bytes = sdf::read_bounded(path, sdf::tree::TEXT_BYTES_MAX as u64).map_err(unreadable)?;
    let text = sdf::decode_text(bytes).map_err(|error| unreadable(std::io::Error::other(error)))?;
    let read = sdf::read_worlds(&text, &name, &sdf::SearchPaths::from_environment());
    let read = read.map_err(|errors| {
        for warning in &errors.warnings {
            tracing::warn!("{warning}");
        }
        LoadWorldError::Invalid {
            path: name.clone(),
            errors,
        }
    })?;
    for warning in &read.warnings {
        tracing::warn!("{warning}");
    }
    let mut read = read;
    for world in &mut read.worlds {
        find_from_anywhere(world);
        if world.draws() {
            let paths = sdf::SearchPaths::from_environment();
            let found = world.keep_visual_files(&paths, visual_bytes_left);
            warnings.extend(found.problems.into_iter().map(|problem| StartWarning {
                kind: StartWarningKind::VisualFile,
                message: format!("world {}: {problem}", world.name),
                place: None,
            }));
        }
    }
    for world in &read.worlds {
        let limitations = physics::unsupported(world).into_iter();
        warnings.extend(limitations.map(|limitation| StartWarning {
            kind: StartWarningKind::Physics,
            message: limitation.to_string(),
            place: {
                let place = limitation.place.place();
                place.map(|place| (place.file.to_string(), place.line, place.column))
            },
        }));
    }
    Ok(read.worlds)
}

/// Has visuals and actors name the file that they stand in so that it is found wherever a program
/// runs: whoever draws a run that was recorded or resumed looks for theirs beside it.
fn find_from_anywhere(world: &mut World) {
    let links = world.models.iter_mut().flat_map(|model| &mut model.links);
    let visuals = links.flat_map(|link| &mut link.visuals);
    let of_actors = world.actors.iter_mut().flat_map(|actor| {
        let visuals = actor.visuals.iter_mut().map(|visual| &mut visual.file);
        std::iter::once(&mut actor.file).chain(visuals)
    });
    let files = visuals.map(|visual| &mut visual.file).chain(of_actors);
    for file in files.filter(|file| !file.is_empty()) {
        if let Ok(path) = std::path::absolute(&*file) {
            *file = path.to_string_lossy().into_owned();
        }
    }
}
