//! Journals that runs leave to be resumed: which runs can be, and how many journals are kept.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::{
    FoundRun, JOURNAL_FOLDER, LAUNCH_FILE, RunDirectory, RunDirectoryError, Runs, SPEC_FILE, at,
};
use crate::launch::launched::Launched;

/// For how many runs that did not end in order it is kept what they wrote down.
pub const JOURNALS_MAX: usize = 5;

impl FoundRun {
    /// Tells whether the run has ended and can be taken up again.
    pub fn is_resumable(&self) -> bool {
        let has_journal = || {
            self.journal()
                .is_some_and(|path| journal::folder::is_journal(&path))
        };
        !self.is_living && self.launch_file().is_file() && has_journal()
    }

    /// Returns why a run that has ended cannot be taken up again.
    pub fn why_not_resumable(&self) -> String {
        let launch = self.launch_file();
        let launched = match Launched::read(&launch) {
            Ok(launched) => launched,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return "it did not write down what it did".to_owned();
            }
            Err(error) => return format!("cannot read {}: {error}", launch.display()),
        };
        let Some(journal) = launched.plan.spec.journal.folder() else {
            return "it did not write down what it did (--journal off)".to_owned();
        };
        let shown = journal.display();
        match journal::folder::find_journal(journal) {
            Err(error) => format!(
                "its journal in {shown} cannot be read: {error}; make the folder readable (chmod \
                 u+rwx) and try again"
            ),
            Ok(false) if journal.is_dir() => {
                format!("the manifest of its journal, in {shown}, is missing")
            }
            Ok(_) => format!(
                "its journal in {shown} is gone: the run was complete, or five later ones were \
                 left unfinished"
            ),
        }
    }

    /// Returns where it is written how the run was started.
    pub fn launch_file(&self) -> PathBuf {
        self.path.join(LAUNCH_FILE)
    }

    /// Returns where the run wrote down what it did, if anywhere.
    pub fn journal(&self) -> Option<PathBuf> {
        let own = self.path.join(JOURNAL_FOLDER);
        if journal::folder::is_journal(&own) {
            return Some(own);
        }
        let launched = Launched::read(&self.launch_file()).ok()?;
        launched.plan.spec.journal.folder().map(PathBuf::from)
    }
}

impl Runs {
    /// Takes the folder of a run that has ended, with all that is in it.
    ///
    /// # Errors
    /// Fails if there is none, or the run is living.
    pub fn reopen(&self, name: &str) -> Result<RunDirectory, RunDirectoryError> {
        run::check_run_name(name)?;
        let path = self.root.join(name);
        fs::metadata(&path).map_err(at(&path))?;
        RunDirectory::take(name, path)
    }

    /// Removes what the oldest unfinished runs left; their logs stay.
    pub(super) fn forget_journals(&self) {
        let Ok(runs) = self.list() else {
            return;
        };
        let unfinished = runs.iter().filter(|run| run.is_resumable());
        let mut left: Vec<(SystemTime, PathBuf)> = unfinished
            .map(|run| run.path.join(JOURNAL_FOLDER))
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        left.sort();
        let surplus = left.len().saturating_sub(JOURNALS_MAX);
        for (_, path) in &left[..surplus] {
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl RunDirectory {
    /// Returns where the run is written down.
    pub fn journal(&self) -> PathBuf {
        self.file(JOURNAL_FOLDER)
    }

    /// Returns where it is written how the run was started.
    pub fn launch_file(&self) -> PathBuf {
        self.file(LAUNCH_FILE)
    }

    /// Returns where the specification of the run is.
    pub fn spec_file(&self) -> PathBuf {
        self.file(SPEC_FILE)
    }
}
