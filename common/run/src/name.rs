//! Names of runs and of the programs beside them: each is the name of a folder or a file, too.

use protocol::PeerName;

/// Text that no run may be named.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "must be 1 to 64 letters, digits, '-', '_' or '.', the first of them no '.', and {0:?} is not"
)]
pub struct RunNameError(pub String);

/// Text that no program may be named.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProgramNameError {
    /// It is no name of a run either.
    #[error(transparent)]
    Name(#[from] RunNameError),
    /// A process of the run is named so.
    #[error("must not be {0:?}, the name of a process of the run")]
    Taken(String),
}

/// Checks the name of a run.
///
/// # Errors
/// Fails if it could not be a folder's name everywhere.
pub fn check_run_name(name: &str) -> Result<(), RunNameError> {
    if name.parse::<PeerName>().is_err() || name.starts_with('.') {
        return Err(RunNameError(name.chars().take(64).collect()));
    }
    Ok(())
}

/// Checks the name of a program, which is that of its log, too.
///
/// # Errors
/// Fails if it is no name, or that of a process of the run.
pub fn check_program_name(name: &str) -> Result<(), ProgramNameError> {
    check_run_name(name)?;
    let is_secondary = name
        .strip_prefix('s')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    if is_secondary || ["primary", "standalone", "phalanx"].contains(&name) {
        return Err(ProgramNameError::Taken(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_folder_names_are_refused() {
        for name in ["", ".", "..", ".hidden", "a/b", "a b"] {
            assert!(check_run_name(name).is_err(), "{name:?}");
        }
        assert!(check_run_name("ramp-1.b_c").is_ok());
    }

    #[test]
    fn names_of_the_runs_own_processes_are_taken() {
        for name in ["primary", "s1", "s42", "standalone", "a/b", ""] {
            assert!(check_program_name(name).is_err(), "{name}");
        }
        for name in ["joy", "s", "s1x", "sensor"] {
            assert_eq!(check_program_name(name), Ok(()), "{name}");
        }
    }
}
