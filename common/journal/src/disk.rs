//! [`Disk`]: file system of a journal behind a trait, so that tests can try a full one.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

/// A file that is written.
pub trait Medium: Debug + Send + Write {
    /// Has everything that was written outlive a loss of power.
    ///
    /// # Errors
    /// Fails if the system cannot.
    fn sync(&mut self) -> io::Result<()>;

    /// Takes away what is after so many bytes, and goes on there.
    ///
    /// # Errors
    /// Fails if the system cannot.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Goes on after so many bytes, over what is there, which stays until it is written over.
    ///
    /// # Errors
    /// Fails if the system cannot.
    fn go_back(&mut self, length: u64) -> io::Result<()>;
}

/// Something that was written and is to outlive a loss of power.
pub trait Durable: Debug + Send {
    /// Has it outlive a loss of power, once it is written.
    ///
    /// # Errors
    /// Fails if the system cannot, or could not write it.
    fn sync(&mut self) -> io::Result<()>;
}

impl<M: Medium> Durable for M {
    fn sync(&mut self) -> io::Result<()> {
        Medium::sync(self)
    }
}

/// A file system.
pub trait Disk: Debug + Send {
    /// Creates a file, or empties it.
    ///
    /// # Errors
    /// Fails if the system cannot.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>>;

    /// Opens a file that is there, to write to it.
    ///
    /// # Errors
    /// Fails if the system cannot.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>>;

    /// Gives a file another name, replacing what has it, so that both outlive a loss of power.
    ///
    /// # Errors
    /// Fails if the system cannot.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Fails if the system cannot.
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

/// Number of descriptors that are kept for files of the journal.
const SPARE: usize = 8;

/// The file system of this machine, for a process whose descriptors others may take, such as
/// strangers who connect: some are kept, and given back to the system when it has no other.
#[derive(Debug)]
pub struct ReservedDisk {
    spare: Mutex<Vec<File>>,
}

impl ReservedDisk {
    /// Takes the descriptors that are kept.
    ///
    /// # Errors
    /// Fails if there are none any more.
    pub fn new() -> io::Result<Self> {
        let spare = (0..SPARE).map(|_| spare_descriptor());
        let spare = Mutex::new(spare.collect::<io::Result<_>>()?);
        Ok(Self { spare })
    }

    /// Does what takes a descriptor. Somebody else may take the one that is given back: then the
    /// next is.
    fn with<T>(&self, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
        let spare = self.spare.lock();
        let mut spare = spare.expect("nobody panics while holding the spare descriptors");
        let mut done = act();
        while done.as_ref().is_err_and(lacks_descriptors) && spare.pop().is_some() {
            done = act();
        }
        while spare.len() < SPARE
            && let Ok(one) = spare_descriptor()
        {
            spare.push(one);
        }
        done
    }
}

impl Disk for ReservedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.with(|| LocalDisk.create(path))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.with(|| LocalDisk.open(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        match to.parent() {
            Some(folder) => self.with(|| File::open(folder))?.sync_all(),
            None => Ok(()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        LocalDisk.remove(path)
    }
}

fn spare_descriptor() -> io::Result<File> {
    File::open("/dev/null")
}

/// Tells whether this process, or the whole system, has no descriptor left.
fn lacks_descriptors(error: &io::Error) -> bool {
    let lacking = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
    lacking
        .iter()
        .any(|one| error.raw_os_error() == Some(one.raw_os_error()))
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
