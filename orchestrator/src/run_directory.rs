//! The private folder of each run on this machine: who runs, its sockets, logs and summary.
//!
//! `<runs>/<RUN>/` holds `run.json` ([`RunRecord`]), `run.lock` (locked for the run's life),
//! `world.sdf` for the demo, the sockets, `logs/<process>.log` and `summary.json`; `launch.json`
//! and `journal/`, from which a run that did not end in order is taken up again. Folders of
//! ended runs stay for their logs, the last [`ENDED_RUNS_MAX`] of them.

mod contents;
mod journals;
mod log_files;
mod record;
mod set_aside;

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use protocol::{Outcome, StopReason};
use run::{RunNameError, check_run_name};
use transport::ownership::{self, RUNTIME_DIR_VARIABLE};
use transport::{EndpointError, Endpoints, OwnershipError};

use client::ended::RunEnded;

use set_aside::name_after_folder;

pub use journals::JOURNALS_MAX;
pub use log_files::LogFiles;
pub use record::{RunEnd, RunRecord};
pub(crate) use record::{log_time, now_unix_s};

/// Number of ended runs that are kept.
pub const ENDED_RUNS_MAX: usize = 20;

/// Marks the folder of a run.
const LOCK_FILE: &str = "run.lock";
/// Made by who binds sockets in a folder.
const SOCKETS_LOCK: &str = "lock";
const RECORD_FILE: &str = "run.json";
const SUMMARY_FILE: &str = "summary.json";
const LAST_EVENTS_FILE: &str = "events.jsonl";
const LOGS_FOLDER: &str = "logs";
const JOURNAL_FOLDER: &str = "journal";
const LAUNCH_FILE: &str = "launch.json";
const SPEC_FILE: &str = "spec.json";

/// Reason why a run cannot have its folder.
#[derive(Debug, thiserror::Error)]
pub enum RunDirectoryError {
    /// A name that no run may have.
    #[error(transparent)]
    Name(#[from] RunNameError),
    /// A run of this name is living.
    #[error(
        "a run named {name} is living: choose another --name, or end it with `phalanx ctl {name} \
         stop`"
    )]
    Living {
        /// The name.
        name: String,
    },
    /// A run of this name can be resumed, and cannot be given another name.
    #[error(
        "a run named {name} can be resumed, and this one would take its place: choose another \
         --name, or go on with it by `phalanx resume {name}`"
    )]
    Resumable {
        /// The name.
        name: String,
    },
    /// There is a folder or file of this name that no run made.
    #[error(
        "{} is not empty and no run's, and a run would empty it: choose another --name, or move \
         it away",
        path.display()
    )]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder of all runs, or of one, is not this user's alone.
    #[error("runs cannot be kept there; {RUNTIME_DIR_VARIABLE} names another folder for them")]
    NotPrivate(#[from] OwnershipError),
    /// The path of its sockets is too long.
    #[error("cannot use the run's folder; a short {RUNTIME_DIR_VARIABLE} helps")]
    Endpoint(#[from] EndpointError),
    /// The system refused something.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// The folder of all runs of this user on this machine.
#[derive(Clone, Debug)]
pub struct Runs {
    root: PathBuf,
}

/// The folder of one run, held by the process that owns the run.
#[derive(Debug)]
pub struct RunDirectory {
    name: String,
    path: PathBuf,
    /// The new name of the run that had this name before and can be resumed.
    set_aside: Option<String>,
    /// Held, not used.
    _lock: Lock,
}

/// The lock of a run's folder. It is given free and not only closed: a process that is started at
/// the same moment has it open as well, until it has become its program.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // It cannot be helped, and is closed next.
        let _ = self.0.unlock();
    }
}

/// A run found on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRun {
    /// Record that its owner wrote.
    pub record: RunRecord,
    /// Its folder.
    pub path: PathBuf,
    /// True if its owner is alive.
    pub is_living: bool,
}

impl FoundRun {
    /// Tells whether its owner is still alive.
    pub fn is_still_living(&self) -> bool {
        is_living(&self.path)
    }

    /// Returns the folder of its processes' logs.
    pub fn logs(&self) -> PathBuf {
        self.path.join(LOGS_FOLDER)
    }

    /// Returns those of its processes that are running, with their ids. An id may have gone to
    /// another program since: that one's words are not about this run.
    pub fn living_workers(&self) -> Vec<(String, u32)> {
        let folder = self.path.to_string_lossy().into_owned();
        let is_about = |line: &str| line.contains(&folder) || line.contains(&self.record.endpoint);
        let is_own = |pid: u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            Self::is_running(pid) && is_about(&String::from_utf8_lossy(&line))
        };
        let workers = self.record.workers.iter();
        workers
            .filter(|worker| is_own(worker.pid))
            .map(|worker| (worker.name.clone(), worker.pid))
            .collect()
    }

    /// Tells whether one of a run's processes is running: it is there, and has not ended.
    pub fn is_running(pid: u32) -> bool {
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
            return false;
        };
        // The name before the state may hold anything, also brackets.
        let state = status.rsplit_once(") ").map(|(_, rest)| rest);
        !state.is_some_and(|rest| rest.starts_with(['Z', 'X']))
    }

    /// Reads a run's folder; `None` when no run was written down there.
    pub fn read(path: PathBuf) -> Option<Self> {
        let mut record = RunRecord::read(&path.join(RECORD_FILE))?;
        let is_living = is_living(&path);
        let is_its_own = path.file_name().is_some_and(|name| name == &*record.name);
        if !is_living && !is_its_own && name_after_folder(&path, &record.name).is_ok() {
            record = RunRecord::read(&path.join(RECORD_FILE))?;
        }
        Some(Self {
            record,
            path,
            is_living,
        })
    }

    /// Reads again what is known of it; `None` when its folder is gone, or another run has it.
    pub fn again(&self) -> Option<Self> {
        Self::read(self.path.clone()).filter(|now| now.is_same(self))
    }

    /// Returns the run that has its folder now, if it is another.
    pub fn successor(&self) -> Option<Self> {
        Self::read(self.path.clone()).filter(|now| !now.is_same(self))
    }

    fn is_same(&self, other: &Self) -> bool {
        let of = |run: &Self| (run.record.pid, run.record.started_unix_s);
        of(self) == of(other)
    }

    /// Returns how it ended, from what its owner and its primary wrote; `None` while it lives.
    pub fn end(&self) -> Option<RunEnded> {
        let now = self.again();
        if now.as_ref().is_some_and(|run| run.is_living) {
            return None;
        }
        let end = now.as_ref().and_then(|run| run.record.ended.clone());
        let ended = match end {
            Some(end) => RunEnded {
                exit_code: end.exit_code,
                last_error: end.last_error,
                ..RunEnded::new(StopReason::new(end.outcome, end.cause))
            },
            None => RunEnded::new(StopReason::new(
                Outcome::PeerLost,
                match self.successor() {
                    Some(_) => "another run of its name has begun since",
                    None => "the process that kept the run was killed",
                },
            )),
        };
        let command = now.as_ref().map(|run| run.record.command.clone());
        let text = now.and_then(|_| fs::read_to_string(self.path.join(SUMMARY_FILE)).ok());
        Some(RunEnded {
            summary: text.and_then(|text| serde_json::from_str(&text).ok()),
            folder: Some(self.path.clone()),
            command: command.filter(|command| !command.is_empty()),
            ..ended
        })
    }
}

impl Runs {
    /// Opens the folder of this user's runs: `PHALANX_RUNTIME_DIR`, else the user's runtime
    /// folder, else one in the system's temporary folder. Makes it if it is missing.
    ///
    /// # Errors
    /// Fails if it cannot be made, or is not this user's alone.
    pub fn open() -> Result<Self, RunDirectoryError> {
        let root = ownership::runtime_folder()?;
        Ok(Self { root })
    }

    /// Opens a folder of runs.
    ///
    /// # Errors
    /// Fails if it cannot be made, or is not this user's alone.
    pub fn at(root: &Path) -> Result<Self, RunDirectoryError> {
        let root = ownership::own_folder(root)?;
        Ok(Self { root })
    }

    /// Returns the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes and takes the folder of a new run: under the name given, or else under the stem
    /// followed by the first number that no folder has. A run of that name that can be resumed is
    /// given another name. Forgets the oldest ended runs.
    ///
    /// # Errors
    /// Fails if the name is wrong or belongs to a living run, or the folder cannot be used.
    pub fn create(
        &self,
        name: Option<&str>,
        stem: &str,
    ) -> Result<RunDirectory, RunDirectoryError> {
        let directory = match name {
            Some(name) => self.create_named(name)?,
            None => self.create_numbered(stem)?,
        };
        directory.endpoint()?;
        let logs = directory.path.join(LOGS_FOLDER);
        DirBuilder::new()
            .mode(0o700)
            .create(&logs)
            .map_err(at(&logs))?;
        self.forget_oldest();
        self.forget_journals();
        Ok(directory)
    }

    /// Returns all runs, the newest first.
    ///
    /// # Errors
    /// Fails if the folder of all runs cannot be read.
    pub fn list(&self) -> Result<Vec<FoundRun>, RunDirectoryError> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(at(&self.root))? {
            let path = entry.map_err(at(&self.root))?.path();
            runs.extend(FoundRun::read(path));
        }
        runs.sort_by(|a, b| {
            let key = |run: &FoundRun| (run.record.started_unix_s, run.record.name.clone());
            key(b).cmp(&key(a))
        });
        Ok(runs)
    }

    fn create_named(&self, name: &str) -> Result<RunDirectory, RunDirectoryError> {
        check_run_name(name)?;
        let path = self.root.join(name);
        let set_aside = self.set_aside(name)?;
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !contents::may_be_emptied(&path).map_err(at(&path))? {
                    return Err(RunDirectoryError::NotARun { path });
                }
                ownership::own_folder(&path)?;
            }
            Err(source) => return Err(RunDirectoryError::Io { path, source }),
        }
        let directory = RunDirectory::take(name, path)?;
        directory.clear()?;
        Ok(RunDirectory {
            set_aside,
            ..directory
        })
    }

    fn create_numbered(&self, stem: &str) -> Result<RunDirectory, RunDirectoryError> {
        let stem = name_stem(stem);
        let mut number = 1_u64;
        loop {
            let name = format!("{stem}-{number}");
            let path = self.root.join(&name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return RunDirectory::take(&name, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(RunDirectoryError::Io { path, source }),
            }
        }
    }

    /// Removes the oldest folders without a living owner; one that cannot be removed stays.
    fn forget_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return;
        };
        let mut ended: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| contents::is_of_run(path) && !is_living(path))
            .filter_map(|path| {
                Some((
                    fs::metadata(path.join(LOCK_FILE)).ok()?.modified().ok()?,
                    path,
                ))
            })
            .collect();
        ended.sort();
        let surplus = ended.len().saturating_sub(ENDED_RUNS_MAX);
        for (_, path) in &ended[..surplus] {
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl RunDirectory {
    /// Returns the run's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the new name of the run that had this name before and can be resumed, if one did.
    pub fn set_aside(&self) -> Option<&str> {
        self.set_aside.as_deref()
    }

    /// Returns the path of something in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the folder of the processes' logs.
    pub fn logs(&self) -> PathBuf {
        self.path.join(LOGS_FOLDER)
    }

    /// Returns where the primary's summary is written.
    pub fn summary(&self) -> PathBuf {
        self.file(SUMMARY_FILE)
    }

    /// Returns where the primary's last events are written.
    pub fn last_events(&self) -> PathBuf {
        self.file(LAST_EVENTS_FILE)
    }

    /// Returns where the primary's sockets are.
    ///
    /// # Errors
    /// Fails if the path is too long for a socket.
    pub fn endpoint(&self) -> Result<Endpoints, EndpointError> {
        format!("ipc://{}", self.path.display()).parse()
    }

    /// Writes the run's record for other programs, atomically replacing an earlier one.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), RunDirectoryError> {
        let path = self.file(RECORD_FILE);
        record.write(&path).map_err(at(&path))
    }

    /// Removes the sockets of processes that have all ended, with the file that guards them.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn remove_sockets(&self) -> Result<(), RunDirectoryError> {
        for entry in fs::read_dir(&self.path).map_err(at(&self.path))? {
            let entry = entry.map_err(at(&self.path))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(at(&path))?;
            let is_guard = path.file_name().is_some_and(|name| name == SOCKETS_LOCK);
            if kind.is_socket() || is_guard {
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }

    fn take(name: &str, path: PathBuf) -> Result<Self, RunDirectoryError> {
        match try_lock(&path).map_err(at(&path))? {
            Some(lock) => Ok(Self {
                name: name.to_owned(),
                path,
                set_aside: None,
                _lock: lock,
            }),
            None => Err(RunDirectoryError::Living {
                name: name.to_owned(),
            }),
        }
    }

    /// Removes what an ended run of the same name left.
    fn clear(&self) -> Result<(), RunDirectoryError> {
        for entry in fs::read_dir(&self.path).map_err(at(&self.path))? {
            let entry = entry.map_err(at(&self.path))?;
            let path = entry.path();
            if path.file_name().is_some_and(|name| name == LOCK_FILE) {
                continue;
            }
            // A link is removed, and what it leads to is not.
            let removed = if entry.file_type().map_err(at(&path))?.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            removed.map_err(at(&path))?;
        }
        Ok(())
    }
}

/// Makes an error of the system one of a run's folder.
fn at(path: &Path) -> impl FnOnce(io::Error) -> RunDirectoryError {
    move |source| RunDirectoryError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Takes the lock of a run's folder; `None` when its owner lives. Who lists runs holds the lock
/// for an instant, so that one refusal says nothing.
fn try_lock(path: &Path) -> io::Result<Option<Lock>> {
    let file = ownership::open_lock(&path.join(LOCK_FILE))?;
    for _ in 0..10 {
        match file.try_lock() {
            Ok(()) => {
                let lock = Lock(file);
                lock.0.set_modified(SystemTime::now())?;
                return Ok(Some(lock));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

fn is_living(path: &Path) -> bool {
    let Ok(file) = File::open(path.join(LOCK_FILE)) else {
        return false;
    };
    let tried = file.try_lock_shared();
    if tried.is_ok() {
        drop(Lock(file));
    }
    matches!(tried, Err(TryLockError::WouldBlock))
}

/// Makes the start of a run's name of a file's stem: letters, digits, `-` and `_` alone.
pub(crate) fn name_stem(stem: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = stem
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(40)
        .collect();
    if plain.is_empty() {
        "run".to_owned()
    } else {
        plain
    }
}

#[cfg(test)]
mod tests;
