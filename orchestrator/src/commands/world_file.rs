//! Reading world files as commands name them, with errors that show the line they are about.

mod excerpt;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
        let message = no_file(path);
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

/// Explains why something that is there is not read, and for a folder what in it may be.
fn no_file(path: &Path) -> String {
    let shown = path.display();
    if !path.is_dir() {
        return format!("{shown} is no file");
    }
    let entries = path.read_dir().into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_read = |file: &PathBuf| {
        let ending = file.extension().and_then(OsStr::to_str);
        ending.is_some_and(|ending| ["sdf", "urdf", "world"].contains(&ending))
    };
    match files.filter(is_read).min() {
        Some(file) => {
            let file = file.display();
            format!("{shown} is a folder: name a file in it, such as {file}")
        }
        None => format!("{shown} is a folder, and no world or model is in it"),
    }
}

/// Reads the worlds in a text; `path` is its name in errors and the base of its includes.
pub(super) fn read_worlds(text: &str, path: &Path) -> Result<ReadWorlds, ReadWorldError> {
    sdf::read_worlds(
        text,
        &path.display().to_string(),
        &SearchPaths::from_environment(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_answered_with_a_file_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| read_text(path).unwrap_err().error.to_string();
        let empty = said(folder.path());
        assert!(empty.ends_with("is a folder, and no world or model is in it"));
        for name in [
            "thumbnail.png",
            "model.sdf",
            "model.config",
            "model-1_4.sdf",
        ] {
            std::fs::write(folder.path().join(name), "<sdf/>").unwrap();
        }
        let named = said(folder.path());
        assert!(named.contains("is a folder: name a file in it, such as"));
        assert!(named.ends_with("model-1_4.sdf"), "{named}");
    }
}
