//! Finds the worker program.

use std::path::{Path, PathBuf};

/// The variable that names the worker program.
pub const WORKER_VARIABLE: &str = "PHALANX_WORKER";

/// No worker program was found.
#[derive(Debug, thiserror::Error)]
pub enum FindWorkerError {
    /// The variable names a file that is not there.
    #[error("{WORKER_VARIABLE} names {}, and there is no such file", .0.display())]
    NotThere(PathBuf),
    /// It is in none of the usual places.
    #[error(
        "the worker program is neither beside phalanx{} nor in PATH: install it there \
         (`cargo build -p worker` makes it), or name it in {WORKER_VARIABLE}",
        .0.as_ref().map(|folder| format!(" ({})", folder.display())).unwrap_or_default()
    )]
    NotFound(Option<PathBuf>),
}

/// Finds the worker program: the one that `PHALANX_WORKER` names, else the one beside this
/// program, else the first in `PATH`.
///
/// # Errors
/// Fails if there is none.
pub fn find_worker() -> Result<PathBuf, FindWorkerError> {
    if let Some(named) = std::env::var_os(WORKER_VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_file() {
            Ok(named)
        } else {
            Err(FindWorkerError::NotThere(named))
        };
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| Some(own.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .iter()
        .cloned()
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join("worker"))
        .find(|candidate| is_program(candidate))
        .ok_or(FindWorkerError::NotFound(beside))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
