//! Conditions of a run on worlds beyond those of SDF.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::world::World;

/// The shortest step \[s\].
pub const STEP_SIZE_MIN_S: f64 = 1e-6;
/// The longest step \[s\].
pub const STEP_SIZE_MAX_S: f64 = 0.1;

/// Reason why worlds cannot be run together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotRunnableError {
    /// There is nothing to run.
    #[error("there is no world to run")]
    NoWorld,
    /// Steps so short or so long that time cannot be counted in them.
    #[error(
        "the world {world} has a step size of {step_s:e} s: it must be {STEP_SIZE_MIN_S:e} s to \
         {STEP_SIZE_MAX_S} s"
    )]
    StepSize {
        /// The world.
        world: String,
        /// Its step size \[s\].
        step_s: f64,
    },
    /// Worlds of one file step differently.
    #[error(
        "the worlds {first} and {second} have step sizes of {first_step_s} s and {second_step_s} \
         s: in lockstep they must be equal"
    )]
    StepSizes {
        /// One world.
        first: String,
        /// Another.
        second: String,
        /// Step size of the first \[s\].
        first_step_s: f64,
        /// Step size of the second \[s\].
        second_step_s: f64,
    },
    /// Worlds of several files have one name.
    #[error(
        "{first} and {second} both hold a world named {world}: the worlds of a run need names of \
         their own"
    )]
    Names {
        /// The name.
        world: String,
        /// One file.
        first: String,
        /// Another, or the same once more.
        second: String,
    },
}

impl NotRunnableError {
    /// Returns the name of the world to be changed, if there is one.
    pub fn world(&self) -> Option<&str> {
        match self {
            Self::NoWorld => None,
            Self::StepSize { world, .. } | Self::Names { world, .. } => Some(world),
            Self::StepSizes { second, .. } => Some(second),
        }
    }
}

/// Returns the step size that worlds have in common.
///
/// # Errors
/// Fails if they cannot be run together in lockstep.
pub fn check_for_run<'a>(
    worlds: impl IntoIterator<Item = &'a World>,
) -> Result<Duration, NotRunnableError> {
    let mut worlds = worlds.into_iter();
    let first = worlds.next().ok_or(NotRunnableError::NoWorld)?;
    let step_s = first.physics.max_step_size_s;
    if !(STEP_SIZE_MIN_S..=STEP_SIZE_MAX_S).contains(&step_s) {
        let world = first.name.clone();
        return Err(NotRunnableError::StepSize { world, step_s });
    }
    if let Some(other) = worlds.find(|world| world.physics.max_step_size_s != step_s) {
        return Err(NotRunnableError::StepSizes {
            first: first.name.clone(),
            second: other.name.clone(),
            first_step_s: step_s,
            second_step_s: other.physics.max_step_size_s,
        });
    }
    Ok(Duration::from_nanos((step_s * 1e9).round() as u64))
}

/// Makes sure that worlds which are read from several files, each with its name, have names of
/// their own.
///
/// # Errors
/// Fails if two of them have one name.
pub fn check_names<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [World])>,
) -> Result<(), NotRunnableError> {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for (file, worlds) in files {
        for world in worlds {
            if let Some(first) = known.insert(&world.name, file) {
                return Err(NotRunnableError::Names {
                    world: world.name.clone(),
                    first: first.to_owned(),
                    second: file.to_owned(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Physics;

    fn check(steps: &[f64]) -> Result<Duration, NotRunnableError> {
        let worlds = steps.iter().enumerate().map(|(index, step)| World {
            name: format!("w{index}"),
            physics: Physics {
                max_step_size_s: *step,
                ..Physics::default()
            },
            ..World::default()
        });
        check_for_run(&worlds.collect::<Vec<_>>())
    }

    #[test]
    fn worlds_of_one_step_size_run_together() {
        assert_eq!(check(&[0.001, 0.001]), Ok(Duration::from_millis(1)));
        assert_eq!(check(&[1e-6]), Ok(Duration::from_micros(1)));
    }

    #[test]
    fn worlds_of_one_name_are_refused_with_both_files() {
        let world = |name: &str| World {
            name: name.to_owned(),
            ..World::default()
        };
        let (first, second) = ([world("a"), world("b")], [world("c"), world("b")]);
        let error = check_names([("1.sdf", &first[..]), ("2.sdf", &second[..])]).unwrap_err();
        assert_eq!(error.world(), Some("b"));
        assert!(error.to_string().starts_with("1.sdf and 2.sdf both"));
        assert_eq!(check_names([("1.sdf", &first[..])]), Ok(()));
    }

    #[test]
    fn steps_that_differ_or_cannot_be_counted_are_refused_by_name() {
        assert_eq!(check(&[]), Err(NotRunnableError::NoWorld));
        assert_eq!(check(&[0.001, 0.002]).unwrap_err().world(), Some("w1"));
        for step in [0.0, -1.0, 1e-7, 1.5, f64::NAN] {
            assert_eq!(check(&[step]).unwrap_err().world(), Some("w0"), "{step}");
        }
    }
}
