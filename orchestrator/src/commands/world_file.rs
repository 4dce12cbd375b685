//! Reading world files as commands name them, with errors that show the line they are about.

mod excerpt;

use std::path::Path;

use anyhow::Context;
use protocol::ExitCode;
use sdf::{ReadWorldError, ReadWorlds, SearchPaths};

use super::Failed;

pub(super) use excerpt::Sources;

/// Returns the text of a world file.
pub(super) fn read_text(path: &Path) -> Result<String, Failed> {
    if !path.exists() {
        let message = format!("no such file: {}", path.display());
        return Err(Failed::message(ExitCode::Configuration, message));
    }
    // A device or pipe may never end; what is typed or piped in does.
    if !path.is_file() && path != Path::new("/dev/stdin") {
        let message = format!("{} is no file", path.display());
        return Err(Failed::message(ExitCode::Configuration, message));
    }
    let unreadable = |error| Failed {
        code: ExitCode::Configuration,
        error,
    };
    let context = || format!("cannot read {}", path.display());
    let bytes = sdf::read_bounded(path, sdf::tree::TEXT_BYTES_MAX as u64)
        .with_context(context)
        .map_err(unreadable)?;
    sdf::decode_text(bytes)
        .with_context(context)
        .map_err(unreadable)
}

/// Reads the worlds in a text; `path` is its name in errors and the base of its includes.
pub(super) fn read_worlds(text: &str, path: &Path) -> Result<ReadWorlds, ReadWorldError> {
    sdf::read_worlds(
        text,
        &path.display().to_string(),
        &SearchPaths::from_environment(),
    )
}
