//! Shared parts of the tests of this crate: a small run, and a disk that can be full.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use lockstep::{Checkpoint, LoadRule, Rules, SightRule};
use protocol::peer::Build;
use protocol::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use protocol::{CellId, Command, Digest, Iteration, ScheduledCommand, Sequence, SessionId};

use crate::checkpoint_file::Saved;
use crate::disk::{Disk, LocalDisk, Medium};
use crate::manifest::{Manifest, RunSettings};
use crate::record::{Commit, Mark, Record};

pub(crate) fn manifest() -> Manifest {
    Manifest {
        build: Build {
            version: "1".to_owned(),
            target: "t".to_owned(),
            sources: Digest(5),
        },
        session: SessionId(3),
        began_unix_s: 9,
        world_files: vec!["w.sdf".to_owned()],
        worlds: b"worlds".to_vec().into(),
        settings: RunSettings {
            iterations: Some(10),
            real_time_factor: 1.0,
            start_paused: false,
            step_size: Duration::from_millis(1),
            seed: 4,
            rules: Rules {
                load: LoadRule::Volume,
                sight: SightRule::Range,
                interaction_margin: 0.1,
                minimum_stay: 3,
                step_size_s: 0.001,
            },
            checkpoint_every: 100,
            ros2: None,
        },
        schedule: Vec::new(),
    }
}

pub(crate) fn digest(iteration: u64) -> Digest {
    Digest(u128::from(iteration) << 64 | 7)
}

pub(crate) fn commit(iteration: u64) -> Record {
    Record::Commit(Commit {
        iteration: Iteration(iteration),
        digest: digest(iteration),
        is_paused: false,
        schedule_left: 0,
    })
}

pub(crate) fn pause(iteration: u64) -> Record {
    Record::Commit(Commit {
        iteration: Iteration(iteration),
        digest: digest(iteration),
        is_paused: true,
        schedule_left: 0,
    })
}

pub(crate) fn command(iteration: u64, paused_round: Option<u32>) -> Record {
    Record::Command(Box::new(ScheduledCommand {
        iteration: Iteration(iteration),
        paused_round,
        command: Command::SetSeed { seed: iteration },
    }))
}

pub(crate) fn checkpoint(iteration: u64) -> Checkpoint {
    let sequence = Sequence(iteration + 1);
    let bytes = iteration.to_le_bytes().to_vec();
    let cell = |cell: u32| CellSnapshot {
        sequence,
        cell: CellId(cell),
        bytes: bytes.clone(),
    };
    Checkpoint {
        sequence,
        iteration: Iteration(iteration),
        digest: digest(iteration),
        primary: bytes.clone(),
        scene: SceneSnapshot {
            sequence,
            bytes: bytes.clone(),
        },
        cells: vec![cell(0), cell(4)],
    }
}

pub(crate) fn saved(mark: Mark, iteration: u64) -> Saved {
    Saved {
        mark,
        checkpoint: Arc::new(checkpoint(iteration)),
        driver: iteration.to_le_bytes().to_vec(),
    }
}

pub(crate) fn mark(commits: u64, commands: u64) -> Mark {
    Mark { commits, commands }
}

/// A disk with so much room; less than none fails everything.
#[derive(Clone, Debug)]
pub(crate) struct SmallDisk(pub(crate) Arc<AtomicI64>);

#[derive(Debug)]
struct SmallFile {
    file: Box<dyn Medium>,
    room: Arc<AtomicI64>,
}

impl SmallDisk {
    pub(crate) fn new(room: i64) -> Self {
        Self(Arc::new(AtomicI64::new(room)))
    }

    fn of(&self, file: Box<dyn Medium>) -> Box<dyn Medium> {
        let room = Arc::clone(&self.0);
        Box::new(SmallFile { file, room })
    }
}

impl Disk for SmallDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(self.of(LocalDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(self.of(LocalDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        LocalDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        LocalDisk.remove(path)
    }
}

impl Write for SmallFile {
    /// Writes what there is room for, as a file system does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room.load(Ordering::SeqCst);
        let count = usize::try_from(room).unwrap_or(0).min(bytes.len());
        if count == 0 && !bytes.is_empty() {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let taken = i64::try_from(count).unwrap_or(i64::MAX);
        self.room.fetch_sub(taken, Ordering::SeqCst);
        self.file.write_all(&bytes[..count])?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium for SmallFile {
    fn sync(&mut self) -> io::Result<()> {
        if self.room.load(Ordering::SeqCst) < 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.file.sync()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.cut(length)
    }

    fn go_back(&mut self, length: u64) -> io::Result<()> {
        self.file.go_back(length)
    }
}

/// A disk that answers nothing while it is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlowDisk(Arc<(Mutex<bool>, Condvar)>);

#[derive(Debug)]
struct SlowFile {
    file: Box<dyn Medium>,
    disk: SlowDisk,
}

impl SlowDisk {
    pub(crate) fn hold(&self) {
        *self.0.0.lock().unwrap() = true;
    }

    pub(crate) fn release(&self) {
        *self.0.0.lock().unwrap() = false;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let held = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(held, |is_held| *is_held).unwrap());
    }

    fn of(&self, file: Box<dyn Medium>) -> Box<dyn Medium> {
        let disk = self.clone();
        Box::new(SlowFile { file, disk })
    }
}

impl Disk for SlowDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.wait();
        Ok(self.of(LocalDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.wait();
        Ok(self.of(LocalDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.wait();
        LocalDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.wait();
        LocalDisk.remove(path)
    }
}

impl Write for SlowFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.wait();
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium for SlowFile {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.wait();
        self.file.sync()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.wait();
        self.file.cut(length)
    }

    fn go_back(&mut self, length: u64) -> io::Result<()> {
        self.file.go_back(length)
    }
}

/// A disk on which one operation fails, before or after it is done.
#[derive(Clone, Debug)]
pub(crate) struct FaultyDisk {
    /// Number of operations until one fails.
    pub(crate) left: Arc<AtomicI64>,
    /// True if the one that fails is done all the same.
    pub(crate) is_done: bool,
}

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn Medium>,
    disk: FaultyDisk,
}

impl FaultyDisk {
    fn perform<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.left.fetch_sub(1, Ordering::SeqCst) != 0 {
            return operation();
        }
        if self.is_done {
            operation()?;
        }
        Err(io::Error::other("a fault of the disk"))
    }

    fn of(&self, file: Box<dyn Medium>) -> Box<dyn Medium> {
        let disk = self.clone();
        Box::new(FaultyFile { file, disk })
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.perform(|| Ok(self.of(LocalDisk.create(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.perform(|| Ok(self.of(LocalDisk.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.perform(|| LocalDisk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.perform(|| LocalDisk.remove(path))
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.perform(|| self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium for FaultyFile {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.perform(|| self.file.sync())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.perform(|| self.file.cut(length))
    }

    fn go_back(&mut self, length: u64) -> io::Result<()> {
        self.file.go_back(length)
    }
}
