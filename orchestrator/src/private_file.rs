//! Files that their owner alone may read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes a whole file, in place of what it held.
///
/// # Errors
/// Fails if the system refuses.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(true).write(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Writes a whole file beside another and puts it in its place, so that no reader sees half of it,
/// and so that a loss of power leaves one or the other.
///
/// # Errors
/// Fails if the system refuses.
pub(crate) fn replace_private(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    write_private(Path::new(&new), text)?;
    File::open(&new)?.sync_all()?;
    std::fs::rename(&new, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Opens a file to write at its end.
///
/// # Errors
/// Fails if the system refuses.
pub(crate) fn append_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for text in ["one", "2"] {
            replace_private(&path, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_private_file_is_readable_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        append_private(&path).unwrap();
        write_private(&path, "1").unwrap();
        append_private(&path).unwrap().write_all(b"2").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "12");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
