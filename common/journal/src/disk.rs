//! [`Disk`]: what a journal needs of a file system, so that a full one can be tried.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A file that is written.
pub trait Medium: Debug + Send + Write {
    /// Has everything that was written outlive a loss of power.
    ///
    /// # Errors
    /// When the system cannot.
    fn sync(&mut self) -> io::Result<()>;

    /// Takes away what is after so many bytes, and goes on there.
    ///
    /// # Errors
    /// When the system cannot.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Goes on after so many bytes, over what is there, which stays until it is written over.
    ///
    /// # Errors
    /// When the system cannot.
    fn go_back(&mut self, length: u64) -> io::Result<()>;
}

/// A file system.
pub trait Disk: Debug + Send {
    /// Creates a file, or empties it.
    ///
    /// # Errors
    /// When the system cannot.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>>;

    /// Opens a file that is there, to write to it.
    ///
    /// # Errors
    /// When the system cannot.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>>;

    /// Gives a file another name, replacing what has it, so that both outlive a loss of power.
    ///
    /// # Errors
    /// When the system cannot.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// When the system cannot.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
pub struct LocalDisk;

impl Disk for LocalDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        Ok(Box::new(options.open(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(OpenOptions::new().write(true).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        match to.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl Medium for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.go_back(length)
    }

    fn go_back(&mut self, length: u64) -> io::Result<()> {
        use std::io::Seek;
        self.seek(io::SeekFrom::Start(length)).map(|_| ())
    }
}

/// Writes a file whose name says that it is whole: under another name first, and renamed at last.
/// Returns its length \[bytes\].
pub(crate) fn write_whole(
    disk: &dyn Disk,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<u64>,
) -> io::Result<u64> {
    let new = path.with_extension("new");
    let written = (|| {
        let mut file = disk.create(&new)?;
        let length = write(&mut *file)?;
        file.sync()?;
        drop(file);
        disk.rename(&new, path)?;
        Ok(length)
    })();
    if written.is_err() {
        // What is half-written only takes room; its name says what it is.
        let _ = disk.remove(&new);
    }
    written
}
