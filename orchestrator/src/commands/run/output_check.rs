//! A look at the files that a run is to write, before anything of it is started.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::Context;
use protocol::ExitCode;
use run::{JournalLocation, RunSpec};

use super::super::Failed;
use super::event_file::is_stdout;

/// Makes sure that a run can write its files and its journal; what they hold stays as it is.
///
/// # Errors
/// Fails with the first that it cannot write.
pub(super) fn check(spec: &RunSpec) -> Result<(), Failed> {
    for (flag, path) in spec.output_files() {
        if !is_stdout(path) {
            try_file(path)
                .with_context(|| format!("cannot write {} ({flag})", path.display()))
                .map_err(|error| Failed::new(ExitCode::Configuration, error))?;
        }
    }
    if let JournalLocation::Folder(path) = &spec.journal.place {
        try_folder(path)
            .with_context(|| format!("cannot write to {} (--journal)", path.display()))
            .map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    }
    Ok(())
}

/// Opens a file for writing, or makes it and takes it away again.
fn try_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => File::options().write(true).open(path).map(drop),
        // To open a pipe waits for its reader, and a device may do anything.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {
            File::options().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        // A link to a file that is not there yet makes it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a file in a folder, or in what there is of the path to it.
fn try_folder(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().find(|ancestor| ancestor.exists());
    let there = there.unwrap_or(Path::new("/"));
    if !there.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    try_file(&there.join(format!(".phalanx-{}", std::process::id())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_can_be_written_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "before").unwrap();
        for path in [&old, &new] {
            try_file(path).unwrap();
        }
        assert_eq!(fs::read_to_string(&old).unwrap(), "before");
        assert!(!new.exists());
        try_folder(&folder.path().join("a/b")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let kind = |result: io::Result<()>| result.unwrap_err().kind();
        assert_eq!(kind(try_file(folder.path())), ErrorKind::IsADirectory);
        assert_eq!(kind(try_file(&file.join("in"))), ErrorKind::NotADirectory);
        let missing = folder.path().join("missing/file");
        assert_eq!(kind(try_file(&missing)), ErrorKind::NotFound);
        assert_eq!(kind(try_folder(&file.join("in"))), ErrorKind::NotADirectory);
    }

    #[test]
    fn every_file_that_a_run_writes_is_looked_at() {
        let mut spec = RunSpec::by_hand();
        let missing = || Some("/missing/file".into());
        check(&spec).unwrap();
        spec.trace.file = missing();
        let error = check(&spec).unwrap_err();
        let told = format!("{:#}", error.error);
        assert!(
            told.starts_with("cannot write /missing/file (--trace): No such file"),
            "{told}"
        );
        spec.trace.file = None;
        spec.record.file = missing();
        check(&spec).unwrap_err();
    }
}
