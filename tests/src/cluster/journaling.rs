//! The journal of a simulated run: real files, written after a drawn time, on a disk that may be
//! full. What is not written yet when the primary is killed is lost.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use journal::disk::{Disk, LocalDisk, Medium};
use journal::folder::Folder;
use journal::writer::Writer;
use journal::{Commit, Losses, Manifest, Mark, Record, Recovered, Saved};
use lockstep::{Aim, Checkpoint, PrimaryInput, Settings, StepReport};
use protocol::primary_to_secondary::Step;
use protocol::{Iteration, ScheduledCommand, Sequence, SessionTime};
use tempfile::TempDir;

/// The most that a journal may hold \[bytes\].
const LIMIT: u64 = 1 << 30;
/// After how long a disk that failed is tried again.
const RETRY: Duration = Duration::from_millis(100);

/// Something that is to be written.
enum Entry {
    Record(Record),
    Save(Saved),
}

/// A journal that is written.
pub(super) struct Journal {
    folder: TempDir,
    is_full: Arc<AtomicBool>,
    writer: Option<Writer>,
    delay: Duration,
    waiting: VecDeque<(SessionTime, Entry)>,
    has_failed: bool,
    mark: Mark,
    is_redoing: bool,
    aim: Option<Aim>,
    asked: Option<Sequence>,
    expected: VecDeque<(Sequence, Mark)>,
    /// The last iteration that is written.
    pub(super) written: Iteration,
}

impl Journal {
    /// Begins the journal of a run, where each record takes so long to be written.
    pub(super) fn new(settings: &Settings, worlds: Vec<u8>, delay: Duration) -> Self {
        let memory = Path::new("/dev/shm");
        let builder = tempfile::Builder::new();
        let folder = if memory.is_dir() {
            builder.tempdir_in(memory)
        } else {
            builder.tempdir()
        };
        let mut journal = Self {
            folder: folder.expect("a folder can be made"),
            is_full: Arc::default(),
            writer: None,
            delay,
            waiting: VecDeque::new(),
            has_failed: false,
            mark: Mark::default(),
            is_redoing: false,
            aim: None,
            asked: None,
            expected: VecDeque::new(),
            written: Iteration(0),
        };
        let manifest = manifest(settings, worlds);
        let writer = Writer::create(journal.disk(), &journal.path(), LIMIT, &manifest);
        journal.writer = Some(writer.expect("there is room yet"));
        journal
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn disk(&self) -> Box<dyn Disk> {
        Box::new(SmallDisk(Arc::clone(&self.is_full)))
    }

    /// Says whether the disk is full from now on.
    pub(super) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    pub(super) fn on_step(&mut self, step: &Step) {
        self.asked = step.checkpoint.then_some(step.sequence);
    }

    /// Takes a command that was done; tells whether it is a new one.
    pub(super) fn on_command(&mut self, command: &ScheduledCommand, now: SessionTime) -> bool {
        if self.is_redoing {
            return false;
        }
        self.mark.commands += 1;
        let record = Record::Command(Box::new(command.clone()));
        self.put(Entry::Record(record), now);
        true
    }

    pub(super) fn on_done(&mut self, report: &StepReport, now: SessionTime) {
        let is_asked = self.asked.take() == Some(report.sequence);
        if self.is_redoing {
            return;
        }
        self.mark.commits += 1;
        let commit = Commit {
            iteration: report.iteration,
            digest: report.digest,
            is_paused: report.paused,
            schedule_left: report.schedule_left,
        };
        self.put(Entry::Record(Record::Commit(commit)), now);
        if is_asked {
            self.expected.push_back((report.sequence, self.mark));
        }
    }

    pub(super) fn on_redone(&mut self) {
        self.is_redoing = false;
    }

    pub(super) fn on_checkpoint(&mut self, checkpoint: &Arc<Checkpoint>, now: SessionTime) {
        while let Some((sequence, mark)) = self.expected.pop_front() {
            if sequence == checkpoint.sequence {
                let checkpoint = Arc::clone(checkpoint);
                let driver = Vec::new();
                let saved = Saved {
                    mark,
                    checkpoint,
                    driver,
                };
                return self.put(Entry::Save(saved), now);
            }
        }
    }

    pub(super) fn note_aim(&mut self, aim: Aim, now: SessionTime) {
        if !self.is_redoing && self.aim != Some(aim) {
            self.aim = Some(aim);
            self.put(Entry::Record(Record::Aim(aim)), now);
        }
    }

    fn put(&mut self, entry: Entry, now: SessionTime) {
        let last = self.waiting.back().map_or(SessionTime(0), |(at, _)| *at);
        self.waiting
            .push_back(((now + self.delay).max(last), entry));
    }

    /// Returns when something is to be written next.
    pub(super) fn deadline(&self) -> Option<SessionTime> {
        self.waiting.front().map(|(at, _)| *at)
    }

    /// Writes what is due, and returns what the primary is to hear of it.
    pub(super) fn write(&mut self, now: SessionTime) -> Vec<PrimaryInput> {
        let mut news = Vec::new();
        while self.deadline().is_some_and(|at| at <= now) {
            let (_, entry) = self.waiting.front().expect("it was just looked at");
            let writer = self.writer.as_mut().expect("who lives writes");
            let written = match entry {
                Entry::Record(record) => writer.append(std::slice::from_ref(record)),
                Entry::Save(saved) => writer.save(saved),
            };
            if let Err(error) = written {
                if !std::mem::replace(&mut self.has_failed, true) {
                    let cause = format!("the journal cannot be written: {error}");
                    news.push(PrimaryInput::StorageFailed(cause));
                }
                for (at, _) in &mut self.waiting {
                    *at = (*at).max(now + RETRY);
                }
                return news;
            }
            if std::mem::take(&mut self.has_failed) {
                news.push(PrimaryInput::StorageWorks);
            }
            match self.waiting.pop_front() {
                Some((_, Entry::Record(Record::Commit(commit)))) => {
                    self.written = commit.iteration;
                }
                Some((_, Entry::Save(saved))) => {
                    news.push(PrimaryInput::CheckpointStored(saved.checkpoint.sequence));
                }
                _ => {}
            }
        }
        news
    }

    /// The process that writes is killed, maybe in the middle of a record.
    pub(super) fn crash(&mut self, is_torn: bool) {
        self.writer = None;
        self.waiting.clear();
        self.expected.clear();
        self.asked = None;
        self.has_failed = false;
        if is_torn {
            self.tear();
        }
    }

    /// Puts the beginning of a record behind the last one.
    fn tear(&self) {
        let files = fs::read_dir(self.path()).expect("the journal is a folder");
        let files = files.filter_map(|entry| Some(entry.ok()?.path()));
        let is_log = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("log-"))
        };
        let number = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?;
            name.rsplit('-').next()?.parse::<u64>().ok()
        };
        let Some(last) = files.filter(is_log).max_by_key(number) else {
            return;
        };
        let file = fs::OpenOptions::new().append(true).open(last);
        let mut file = file.expect("a log can be opened");
        file.write_all(&[40, 0, 0, 0, 7, 7]).expect("there is room");
    }

    /// Reads what is left.
    pub(super) fn read(&mut self) -> (Folder, Recovered) {
        let path = self.path();
        let folder = Folder::take(&path).unwrap_or_else(|error| panic!("the journal: {error}"));
        let recovered = journal::reader::read(&path, None, Losses::Refuse);
        let recovered = recovered.unwrap_or_else(|error| panic!("the journal: {error}"));
        (folder, recovered)
    }

    /// Goes on with what is left.
    pub(super) fn resume(&mut self, folder: Folder, end: Mark, is_redoing: bool) {
        let writer = Writer::resume(self.disk(), folder, LIMIT, end);
        self.writer = Some(writer.unwrap_or_else(|error| panic!("the journal: {error}")));
        self.mark = end;
        self.is_redoing = is_redoing;
        self.aim = None;
    }
}

fn manifest(settings: &Settings, worlds: Vec<u8>) -> Manifest {
    Manifest {
        build: settings.build.clone(),
        session: settings.session,
        began_unix_s: 0,
        world_files: Vec::new(),
        worlds: worlds.into(),
        settings: settings.into(),
        schedule: Vec::new(),
    }
}

/// A disk that may be full, and that never waits until what is written would outlive a loss of
/// power: processes are killed here, and machines are not.
#[derive(Clone, Debug)]
struct SmallDisk(Arc<AtomicBool>);

#[derive(Debug)]
struct SmallFile {
    file: Box<dyn Medium>,
    is_full: Arc<AtomicBool>,
}

impl SmallDisk {
    fn check(&self) -> io::Result<()> {
        check(&self.0)
    }

    fn of(&self, file: Box<dyn Medium>) -> Box<dyn Medium> {
        let is_full = Arc::clone(&self.0);
        Box::new(SmallFile { file, is_full })
    }
}

fn check(is_full: &AtomicBool) -> io::Result<()> {
    if is_full.load(Ordering::Relaxed) {
        return Err(io::Error::from(io::ErrorKind::StorageFull));
    }
    Ok(())
}

impl Disk for SmallDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.check()?;
        Ok(self.of(LocalDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(self.of(LocalDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        LocalDisk.remove(path)
    }
}

impl Write for SmallFile {
    /// Writes half of it when the disk is full, as a file system does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_full.load(Ordering::Relaxed) {
            let half = bytes.len() / 2;
            self.file.write_all(&bytes[..half])?;
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Medium for SmallFile {
    fn sync(&mut self) -> io::Result<()> {
        check(&self.is_full)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.cut(length)
    }
}
