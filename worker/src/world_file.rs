//! Reads the world file of a run and what a run needs to know of it.

use std::path::Path;
use std::time::Duration;

use sdf::World;

/// The shortest step \[s\].
const STEP_MIN: f64 = 1e-6;
/// The longest step \[s\].
const STEP_MAX: f64 = 1.0;

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
    /// Steps so short or so long that time cannot be counted in them.
    #[error(
        "world {world} has a step size of {step:e} s: it must be {STEP_MIN:e} s to {STEP_MAX} s"
    )]
    StepSize {
        /// The world.
        world: String,
        /// Its step size \[s\].
        step: f64,
    },
    /// Worlds of one file step differently.
    #[error(
        "worlds {first} and {second} have step sizes of {a} s and {b} s: in lockstep they must be \
         equal"
    )]
    StepSizes {
        /// One world.
        first: String,
        /// Another.
        second: String,
        /// Step size of the first \[s\].
        a: f64,
        /// Step size of the second \[s\].
        b: f64,
    },
}

/// Reads a world file, and warns of what is ignored in it.
///
/// # Errors
/// When the file cannot be read or is no valid world.
pub fn load(path: &Path) -> Result<LoadedWorlds, LoadWorldError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| LoadWorldError::Unreadable {
        path: name.clone(),
        source,
    })?;
    let read = sdf::read_worlds(&text, &name, &sdf::SearchPaths::from_environment())
        .map_err(|source| LoadWorldError::Invalid { path: name, source })?;
    for warning in &read.warnings {
        tracing::warn!("{warning}");
    }
    for world in &read.worlds {
        for limitation in crate::physics::unsupported(world) {
            tracing::warn!("{limitation}");
        }
    }
    check(read.worlds)
}

fn check(worlds: Vec<World>) -> Result<LoadedWorlds, LoadWorldError> {
    let first = worlds
        .first()
        .expect("the reader refuses files without a world");
    let step = first.physics.max_step_size_s;
    if !(STEP_MIN..=STEP_MAX).contains(&step) {
        let world = first.name.clone();
        return Err(LoadWorldError::StepSize { world, step });
    }
    if let Some(other) = worlds
        .iter()
        .find(|world| world.physics.max_step_size_s != step)
    {
        return Err(LoadWorldError::StepSizes {
            first: first.name.clone(),
            second: other.name.clone(),
            a: step,
            b: other.physics.max_step_size_s,
        });
    }
    Ok(LoadedWorlds {
        step_size: Duration::from_nanos((step * 1e9).round().max(1.0) as u64),
        real_time_factor: first.physics.real_time_factor,
        worlds,
    })
}
