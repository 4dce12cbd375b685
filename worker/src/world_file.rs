//! Reads the world file of a run and what a run needs to know of it.

use std::path::Path;
use std::time::Duration;

use sdf::World;

/// The worlds of a run.
#[derive(Debug)]
pub struct LoadedWorlds {
    /// At least one world.
    pub worlds: Vec<World>,
    /// Simulated time per iteration, the same in all of them.
    pub step_size: Duration,
    /// The pace that the first world asks for.
    pub real_time_factor: f64,
}

/// Why a world file cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadWorldError {
    /// The file cannot be read.
    #[error("cannot read world file {path}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no valid world.
    #[error("{path} is not a valid world:\n{source}")]
    Invalid {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: sdf::ReadWorldError,
    },
    /// The worlds cannot be run together.
    #[error("{path} cannot be run")]
    NotRunnable {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: sdf::NotRunnableError,
    },
}

/// Reads a world file, and warns of what is ignored in it.
///
/// # Errors
/// When the file cannot be read or is no valid world.
pub fn load(path: &Path) -> Result<LoadedWorlds, LoadWorldError> {
    let name = path.display().to_string();
    let unreadable = |source| LoadWorldError::Unreadable {
        path: name.clone(),
        source,
    };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let text = sdf::decode_text(bytes).map_err(|error| unreadable(std::io::Error::other(error)))?;
    let read = sdf::read_worlds(&text, &name, &sdf::SearchPaths::from_environment());
    let read = read.map_err(|source| LoadWorldError::Invalid {
        path: name.clone(),
        source,
    })?;
    for warning in &read.warnings {
        tracing::warn!("{warning}");
    }
    for world in &read.worlds {
        for limitation in crate::physics::unsupported(world) {
            tracing::warn!("{limitation}");
        }
    }
    let step_size = sdf::check_for_run(&read.worlds)
        .map_err(|source| LoadWorldError::NotRunnable { path: name, source })?;
    Ok(LoadedWorlds {
        step_size,
        real_time_factor: read.worlds[0].physics.real_time_factor,
        worlds: read.worlds,
    })
}
