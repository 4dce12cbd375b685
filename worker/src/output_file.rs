//! [`OutputFile`]: a file that a run writes as it goes, and [`OutputWriter`]: the thread that
//! writes all of them, so that no step waits for a disk that is only busy.
//!
//! Files hand their bytes over in parts. A queue that is full holds up whoever writes, so that a
//! slow disk slows a run down and fills no memory. The journal, the recording, the trace and the
//! audit have threads of their own: the first tries a full disk again until it takes all, the
//! second compresses, and the others leave something out rather than wait.
//!
//! **Invariant:** the parts of a file are written in their order, and none after one that failed.
//! **Invariant:** whoever flushes a file, or syncs what was handed over, is told of a failure.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread;

use journal::Durable;

/// Size from which a part is handed over \[bytes\].
const PART_BYTES: usize = 8 << 10;
/// Size of the largest part \[bytes\].
const PART_BYTES_MAX: usize = 64 << 10;
/// Number of parts of all files that may wait to be written: at most 16 MiB.
const PARTS_MAX: usize = 256;

/// A file of a run cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {what} to {}", .path.display())]
pub struct WriteOutputError {
    /// Contents of the file, for people.
    pub what: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Error of the system.
    pub source: io::Error,
}

/// Something that is written to a file of its own while the run goes on.
pub trait Output {
    /// Returns the file.
    fn file(&mut self) -> &mut OutputFile;

    /// Has a thread write it from now on.
    #[must_use]
    fn written_by(self, writer: &OutputWriter) -> Self;

    /// Writes what belongs at the end, and waits until everything is in the file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    fn complete(&mut self) -> io::Result<()>;
}

/// A file that is written as a run goes, here or by a thread.
#[derive(Debug)]
pub struct OutputFile {
    what: &'static str,
    path: PathBuf,
    writing: Writing,
}

/// Starts the thread that writes, which ends with the last file that it writes.
#[derive(Debug)]
pub struct OutputWriter {
    jobs: SyncSender<Job>,
}

#[derive(Debug)]
enum Writing {
    /// Writing by the owner of the file.
    Here(BufWriter<File>),
    /// Writing by the thread.
    Behind(Behind),
}

/// The end of a file that the thread writes at which bytes come in.
#[derive(Debug)]
struct Behind {
    file: Arc<SharedFile>,
    part: Vec<u8>,
    jobs: SyncSender<Job>,
}

/// A file that the thread writes.
#[derive(Debug)]
struct SharedFile {
    what: &'static str,
    path: PathBuf,
    file: File,
    failure: OnceLock<io::Error>,
}

#[derive(Debug)]
enum Job {
    /// Write this.
    Write(Arc<SharedFile>, Vec<u8>),
    /// Tell that all jobs before this one are done.
    Tell(SyncSender<()>),
}

/// A file whose last part is handed over but may not be written yet.
#[derive(Debug)]
struct HandedOver {
    file: Arc<SharedFile>,
    written: Option<Receiver<()>>,
}

impl OutputFile {
    /// Creates a file, or empties it; `what` is in it, for people.
    ///
    /// # Errors
    /// Fails if it cannot be created.
    pub fn create(what: &'static str, path: &Path) -> io::Result<Self> {
        Ok(Self::here(what, path, File::create(path)?))
    }

    /// Goes on with a file after so many bytes; what it has behind them is taken away.
    ///
    /// # Errors
    /// Fails if it cannot be opened or cut.
    pub fn resume(what: &'static str, path: &Path, length: u64) -> io::Result<Self> {
        let mut file = File::options().write(true).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self::here(what, path, file))
    }

    fn here(what: &'static str, path: &Path, file: File) -> Self {
        Self {
            what,
            path: path.to_owned(),
            writing: Writing::Here(BufWriter::new(file)),
        }
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error of the system with what it was about.
    pub fn error(&self, source: io::Error) -> WriteOutputError {
        WriteOutputError {
            what: self.what,
            path: self.path.clone(),
            source,
        }
    }

    /// Has a thread write the file from now on, also what is buffered.
    #[must_use]
    pub fn written_by(self, writer: &OutputWriter) -> Self {
        let Self {
            what,
            path,
            writing,
        } = self;
        let writing = match writing {
            Writing::Here(buffered) => {
                let (file, buffer) = buffered.into_parts();
                let file = SharedFile {
                    what,
                    path: path.clone(),
                    file,
                    failure: OnceLock::new(),
                };
                Writing::Behind(Behind {
                    file: Arc::new(file),
                    // Nothing that writes a file has panicked, or there would be no run to go on.
                    part: buffer.unwrap_or_default(),
                    jobs: writer.jobs.clone(),
                })
            }
            behind @ Writing::Behind(_) => behind,
        };
        Self {
            what,
            path,
            writing,
        }
    }

    /// Hands all to whoever writes, and returns the file to be synced once that is written; `None`
    /// for pipes and terminals, which keep nothing and cannot be made to.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn hand_over(&mut self) -> io::Result<Option<Box<dyn Durable>>> {
        let keeps = |file: &File| file.metadata().is_ok_and(|data| data.is_file());
        match &mut self.writing {
            Writing::Here(writer) => {
                writer.flush()?;
                let file = writer.get_ref();
                if !keeps(file) {
                    return Ok(None);
                }
                Ok(Some(Box::new(file.try_clone()?)))
            }
            Writing::Behind(behind) => {
                let written = Some(behind.mark()?);
                let file = Arc::clone(&behind.file);
                let is_kept = keeps(&file.file);
                Ok(is_kept.then(|| Box::new(HandedOver { file, written }) as Box<dyn Durable>))
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writing {
            Writing::Here(writer) => writer.write(bytes),
            Writing::Behind(behind) => behind.write(bytes),
        }
    }

    /// Waits until the system has everything, so that it outlives this process.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writing {
            Writing::Here(writer) => writer.flush(),
            Writing::Behind(behind) => behind.settle(),
        }
    }
}

impl Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.check()?;
        let room = PART_BYTES_MAX.saturating_sub(self.part.len());
        let count = bytes.len().min(room);
        self.part.extend_from_slice(&bytes[..count]);
        if self.part.len() >= PART_BYTES {
            self.hand_over()?;
        }
        Ok(count)
    }

    fn hand_over(&mut self) -> io::Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let part = std::mem::replace(&mut self.part, Vec::with_capacity(2 * PART_BYTES));
        let job = Job::Write(Arc::clone(&self.file), part);
        self.jobs.send(job).map_err(|_| gone())
    }

    /// Hands all over; the receiver hears when it is written, or that it will not be.
    fn mark(&mut self) -> io::Result<Receiver<()>> {
        self.file.check()?;
        self.hand_over()?;
        let (tells, written) = mpsc::sync_channel(1);
        self.jobs.send(Job::Tell(tells)).map_err(|_| gone())?;
        Ok(written)
    }

    fn settle(&mut self) -> io::Result<()> {
        self.mark()?.recv().map_err(|_| gone())?;
        self.file.check()
    }
}

impl Drop for Behind {
    /// Loses nothing of a file that nobody has completed.
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

impl SharedFile {
    fn check(&self) -> io::Result<()> {
        let failure = self.failure.get();
        failure.map_or(Ok(()), |error| Err(copied(error)))
    }

    fn write(&self, part: &[u8], tell: &impl Fn(WriteOutputError)) {
        if self.failure.get().is_some() {
            return;
        }
        if let Err(error) = (&self.file).write_all(part) {
            tell(WriteOutputError {
                what: self.what,
                path: self.path.clone(),
                source: copied(&error),
            });
            let _ = self.failure.set(error);
        }
    }
}

impl OutputWriter {
    /// Starts the thread; `tell` is called by it when a file cannot be written, once for each.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(tell: impl Fn(WriteOutputError) + Send + 'static) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(PARTS_MAX);
        let run = move || {
            for job in queue {
                match job {
                    Job::Write(file, part) => SharedFile::write(&file, &part, &tell),
                    Job::Tell(written) => {
                        // Whoever asked may be gone.
                        let _ = written.send(());
                    }
                }
            }
        };
        thread::Builder::new()
            .name("outputs".to_owned())
            .spawn(run)?;
        Ok(Self { jobs })
    }
}

impl Durable for HandedOver {
    fn sync(&mut self) -> io::Result<()> {
        if let Some(written) = self.written.take() {
            written.recv().map_err(|_| gone())?;
        }
        self.file.check()?;
        self.file.file.sync_data()
    }
}

/// Returns an error that reads as another one.
fn copied(error: &io::Error) -> io::Error {
    let of_system = error.raw_os_error().map(io::Error::from_raw_os_error);
    of_system.unwrap_or_else(|| io::Error::new(error.kind(), error.to_string()))
}

fn gone() -> io::Error {
    io::Error::other("the thread that writes it is gone")
}

#[cfg(test)]
mod tests;
