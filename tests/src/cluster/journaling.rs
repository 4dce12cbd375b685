//! The journal of a simulated run: real files, written after a drawn time, on a disk that may be
//! full or hang. What is not written yet when the primary is killed is lost; what is not synced yet
//! when the machine loses its power is lost, too.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use journal::disk::{Disk, LocalDisk, Medium};
use journal::folder::Folder;
use journal::writer::Writer;
use journal::{Commit, Losses, Manifest, Mark, Record, Recovered, Saved};
use lockstep::{Checkpoint, PrimaryInput, RunTarget, Settings, StepReport};
use protocol::primary_to_secondary::Step;
use protocol::{Iteration, ScheduledCommand, Sequence, SessionTime};
use tempfile::TempDir;

use super::output_files::Lengths;

/// The most that a journal may hold \[bytes\].
const LIMIT: u64 = 1 << 30;
/// After how long a disk that failed is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// Time between two syncs.
const SYNC_INTERVAL: Duration = Duration::from_millis(20);

/// Something that is to be written.
enum Entry {
    Record(Record),
    /// A checkpoint, and how far the files beside the journal are synced before.
    Save(Saved, Lengths),
}

/// A journal that is written.
pub(super) struct Journal {
    folder: TempDir,
    disk: SmallDisk,
    writer: Option<Writer>,
    entries: Entries,
    told: Told,
    next_sync: SessionTime,
    /// The last iteration that is written, and the last that is synced.
    pub(super) written: Iteration,
    synced: Iteration,
    /// Lengths up to which the files beside it are synced, when that is news.
    beside_synced: Option<Lengths>,
}

/// Entries on their way to the disk.
struct Entries {
    /// Time that each takes.
    delay: Duration,
    waiting: VecDeque<(SessionTime, Entry)>,
    /// Until when the disk hangs: nothing is written or synced before.
    hangs_until: SessionTime,
    has_failed: bool,
    /// Number of those put so far, and of those written.
    put: u64,
    written: u64,
}

/// Progress of the run, as the primary has told it.
#[derive(Default)]
struct Told {
    /// Numbers of its commits and commands.
    mark: Mark,
    is_replaying: bool,
    aim: Option<RunTarget>,
    /// The step that was last asked for a checkpoint, until it is done.
    asked: Option<Sequence>,
    /// Checkpoints to come, each with what is before it.
    expected: VecDeque<(Sequence, Mark)>,
}

impl Entries {
    fn new(delay: Duration) -> Self {
        Self {
            delay,
            waiting: VecDeque::new(),
            hangs_until: SessionTime(0),
            has_failed: false,
            put: 0,
            written: 0,
        }
    }

    fn put(&mut self, entry: Entry, now: SessionTime) {
        self.put += 1;
        let last = self.waiting.back().map_or(SessionTime(0), |(at, _)| *at);
        let at = (now + self.delay).max(last).max(self.hangs_until);
        self.waiting.push_back((at, entry));
    }

    /// Has nothing be written before some time.
    fn hold(&mut self, until: SessionTime) {
        for (at, _) in &mut self.waiting {
            *at = (*at).max(until);
        }
    }
}

impl Journal {
    /// Begins the journal of a run, where each record takes so long to be written.
    pub(super) fn new(settings: &Settings, worlds: Vec<u8>, delay: Duration) -> Self {
        let mut journal = Self {
            folder: folder_in_memory(),
            disk: SmallDisk::default(),
            writer: None,
            entries: Entries::new(delay),
            told: Told::default(),
            next_sync: SessionTime(0),
            written: Iteration(0),
            synced: Iteration(0),
            beside_synced: None,
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
        Box::new(self.disk.clone())
    }

    /// Says whether the disk is full from now on.
    pub(super) fn set_full(&self, is_full: bool) {
        self.disk.is_full.store(is_full, Ordering::Relaxed);
    }

    /// Lets the disk hang until then.
    pub(super) fn hang(&mut self, until: SessionTime) {
        self.entries.hangs_until = self.entries.hangs_until.max(until);
        self.entries.hold(until);
        self.next_sync = self.next_sync.max(until);
    }

    pub(super) fn on_step(&mut self, step: &Step) {
        self.told.asked = step.checkpoint.then_some(step.sequence);
    }

    /// Takes a command that was done; tells whether it is a new one.
    pub(super) fn on_command(&mut self, command: &ScheduledCommand, now: SessionTime) -> bool {
        if self.told.is_replaying {
            return false;
        }
        self.told.mark.commands += 1;
        let record = Record::Command(Box::new(command.clone()));
        self.entries.put(Entry::Record(record), now);
        true
    }

    pub(super) fn on_done(&mut self, report: &StepReport, now: SessionTime) {
        let is_asked = self.told.asked.take() == Some(report.sequence);
        if self.told.is_replaying {
            return;
        }
        self.told.mark.commits += 1;
        let commit = Commit {
            iteration: report.iteration,
            digest: report.digest,
            is_paused: report.paused,
            schedule_left: report.schedule_left,
        };
        self.entries.put(Entry::Record(Record::Commit(commit)), now);
        if is_asked {
            self.told
                .expected
                .push_back((report.sequence, self.told.mark));
        }
    }

    pub(super) fn on_redone(&mut self) {
        self.told.is_replaying = false;
    }

    pub(super) fn on_checkpoint(
        &mut self,
        checkpoint: &Arc<Checkpoint>,
        beside: Lengths,
        now: SessionTime,
    ) {
        while let Some((sequence, mark)) = self.told.expected.pop_front() {
            if sequence == checkpoint.sequence {
                let checkpoint = Arc::clone(checkpoint);
                let driver = Vec::new();
                let saved = Saved {
                    mark,
                    checkpoint,
                    driver,
                };
                return self.entries.put(Entry::Save(saved, beside), now);
            }
        }
    }

    pub(super) fn note_aim(&mut self, aim: RunTarget, now: SessionTime) {
        if !self.told.is_replaying && self.told.aim != Some(aim) {
            self.told.aim = Some(aim);
            self.entries.put(Entry::Record(Record::Target(aim)), now);
        }
    }

    /// Returns how many entries must be written for all that was put to outlive the processes.
    pub(super) fn entries_put(&self) -> u64 {
        self.entries.put
    }

    /// Tells whether so many entries are written.
    pub(super) fn is_written(&self, entries: u64) -> bool {
        self.entries.written >= entries
    }

    /// Returns when something is to be written next.
    pub(super) fn deadline(&self) -> Option<SessionTime> {
        self.entries.waiting.front().map(|(at, _)| *at)
    }

    /// Writes what is due, and returns what the primary is to hear of it.
    pub(super) fn write(&mut self, now: SessionTime) -> Vec<PrimaryInput> {
        let mut news = Vec::new();
        while self.deadline().is_some_and(|at| at <= now) {
            let (_, entry) = self.entries.waiting.front().expect("it was just looked at");
            let writer = self.writer.as_mut().expect("who lives writes");
            let written = match entry {
                Entry::Record(record) => writer.append(std::slice::from_ref(record)),
                Entry::Save(saved, _) => writer.save(saved),
            };
            if let Err(error) = written {
                if !std::mem::replace(&mut self.entries.has_failed, true) {
                    let cause = format!("the journal cannot be written: {error}");
                    news.push(PrimaryInput::StorageFailed(cause));
                }
                self.entries.hold(now + RETRY);
                return news;
            }
            if std::mem::take(&mut self.entries.has_failed) {
                news.push(PrimaryInput::StorageWorks);
            }
            match self.entries.waiting.pop_front() {
                Some((_, Entry::Record(Record::Commit(commit)))) => {
                    self.written = commit.iteration;
                    self.entries.written += 1;
                }
                Some((_, Entry::Save(saved, beside))) => {
                    self.beside_synced = Some(beside);
                    self.entries.written += 1;
                    self.synced = self.written;
                    news.push(PrimaryInput::CheckpointStored(saved.checkpoint.sequence));
                }
                Some(_) => self.entries.written += 1,
                None => {}
            }
        }
        self.sync(now);
        news
    }

    /// Returns how far the files beside it are synced, once.
    pub(super) fn take_beside_synced(&mut self) -> Option<Lengths> {
        self.beside_synced.take()
    }

    /// Syncs what is written, from time to time.
    fn sync(&mut self, now: SessionTime) {
        if now < self.next_sync || self.entries.has_failed {
            return;
        }
        self.next_sync = now + SYNC_INTERVAL;
        let writer = self.writer.as_mut().expect("who lives writes");
        if writer.sync().is_ok() {
            self.synced = self.written;
        }
    }

    /// The process that writes is killed, maybe in the middle of a record.
    pub(super) fn crash(&mut self, is_torn: bool) {
        self.writer = None;
        self.entries = Entries {
            hangs_until: self.entries.hangs_until,
            ..Entries::new(self.entries.delay)
        };
        self.told.expected.clear();
        self.told.asked = None;
        if is_torn {
            self.tear();
        }
    }

    /// The machine loses its power: of every file, what was synced is left.
    pub(super) fn lose_power(&mut self) {
        self.written = self.synced;
        let synced = self.disk.synced();
        let files = fs::read_dir(self.path()).expect("the journal is a folder");
        for path in files.filter_map(|entry| Some(entry.ok()?.path())) {
            let Some(length) = synced.get(&path) else {
                continue; // It is none of the writer's.
            };
            let file = fs::OpenOptions::new().write(true).open(&path);
            let file = file.expect("a file of the journal can be opened");
            let whole = file.metadata().expect("it has a length").len();
            file.set_len(whole.min(*length)).expect("it can be cut");
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

    /// Reads what is left, for a run whose other files reach so far.
    pub(super) fn read(&mut self, reach: Option<Iteration>) -> (Folder, Recovered) {
        let path = self.path();
        let folder = Folder::take(&path).unwrap_or_else(|error| panic!("the journal: {error}"));
        let recovered = journal::reader::read(&path, reach, Losses::Refuse);
        let recovered = recovered.unwrap_or_else(|error| panic!("the journal: {error}"));
        (folder, recovered)
    }

    /// Goes on with what is left.
    pub(super) fn resume(&mut self, folder: Folder, end: Mark, is_replaying: bool) {
        let writer = Writer::resume(self.disk(), folder, LIMIT, end);
        self.writer = Some(writer.unwrap_or_else(|error| panic!("the journal: {error}")));
        self.told.mark = end;
        self.told.is_replaying = is_replaying;
        self.told.aim = None;
    }
}

/// Makes a folder in memory, where there is one.
pub(super) fn folder_in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let builder = tempfile::Builder::new();
    let folder = if memory.is_dir() {
        builder.tempdir_in(memory)
    } else {
        builder.tempdir()
    };
    folder.expect("a folder can be made")
}

fn manifest(settings: &Settings, worlds: Vec<u8>) -> Manifest {
    Manifest {
        build: settings.build.clone(),
        session: settings.session,
        began_unix_s: 0,
        world_files: Vec::new(),
        worlds: worlds.into(),
        settings: settings.into(),
        schedule: settings.schedule.clone(),
    }
}

/// Length of each file that was synced \[bytes\], by path.
type Synced = Arc<Mutex<BTreeMap<PathBuf, u64>>>;

/// A disk that may be full, and that remembers what would outlive a loss of power.
#[derive(Clone, Debug, Default)]
struct SmallDisk {
    is_full: Arc<AtomicBool>,
    synced: Synced,
}

#[derive(Debug)]
struct SmallFile {
    file: Box<dyn Medium>,
    path: PathBuf,
    disk: SmallDisk,
}

impl SmallDisk {
    fn check(&self) -> io::Result<()> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }

    fn synced(&self) -> MutexGuard<'_, BTreeMap<PathBuf, u64>> {
        self.synced.lock().expect("nobody panics with it")
    }

    fn of(&self, path: &Path, file: Box<dyn Medium>) -> Box<dyn Medium> {
        Box::new(SmallFile {
            file,
            path: path.to_owned(),
            disk: self.clone(),
        })
    }
}

impl Disk for SmallDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.check()?;
        self.synced().insert(path.to_owned(), 0);
        Ok(self.of(path, LocalDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(self.of(path, LocalDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        let mut synced = self.synced();
        if let Some(length) = synced.remove(from) {
            synced.insert(to.to_owned(), length);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.synced().remove(path);
        LocalDisk.remove(path)
    }
}

impl Write for SmallFile {
    /// Writes half of it when the disk is full, as a file system does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(full) = self.disk.check() {
            let half = bytes.len() / 2;
            self.file.write_all(&bytes[..half])?;
            return Err(full);
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
        self.disk.check()?;
        let length = fs::metadata(&self.path)?.len();
        self.disk.synced().insert(self.path.clone(), length);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let mut synced = self.disk.synced();
        let known = synced.entry(self.path.clone()).or_default();
        *known = length.min(*known);
        drop(synced);
        self.file.cut(length)
    }

    fn go_back(&mut self, length: u64) -> io::Result<()> {
        self.file.go_back(length)
    }
}
