//! Reads a journal: from which checkpoint a run goes on, and what it does again before that.

use std::io;
use std::path::{Path, PathBuf};

use lockstep::Replay;
use protocol::Iteration;

use crate::checkpoint_file::Saved;
use crate::folder::{self, Listing};
use crate::frame::FrameError;
use crate::log_reader::{Log, LogReader, Tail};
use crate::loss::{Loss, Losses};
use crate::manifest::Manifest;
use crate::record::Mark;

/// A journal from which nothing can be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum ReadJournalError {
    /// Its folder cannot be read.
    #[error("cannot read {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Its manifest is damaged.
    #[error("cannot use {}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Cause of the error.
        #[source]
        source: FrameError,
    },
    /// A part of the log is there and cannot be read.
    #[error(
        "cannot read {}: it may be whole, so make it readable (chmod u+r) and resume again, or \
         give --accept-loss to go on without it",
        path.display()
    )]
    Unreadable {
        /// The segment.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// Something was written down and is lost.
    #[error(
        "the journal in {} has lost what it had: {loss}. Put back what is damaged or missing, or \
         give --accept-loss to go on after iteration {}",
        path.display(),
        loss.after
    )]
    Lost {
        /// The folder.
        path: PathBuf,
        /// Records that are lost.
        loss: Box<Loss>,
    },
    /// No checkpoint is whole, and the log does not begin at the start.
    #[error("{} has nothing to go on from{}", path.display(), listed(problems))]
    Nothing {
        /// The folder.
        path: PathBuf,
        /// Problems of the files that are there.
        problems: Vec<String>,
    },
}

/// State of a run that a journal holds.
#[derive(Debug)]
pub struct Recovered {
    /// Description of the run.
    pub manifest: Manifest,
    /// Checkpoint from which the run goes on; `None` is its start.
    pub saved: Option<Saved>,
    /// Point in its life at which the checkpoint was made.
    pub base: Mark,
    /// Steps and commands since then.
    pub replay: Replay,
    /// Point in its life at which the journal ends.
    pub end: Mark,
    /// The last iteration that was written down.
    pub committed: Iteration,
    /// Records that were written down and are not there any more.
    pub lost: Option<Loss>,
    /// Damage that was passed over, for people.
    pub problems: Vec<String>,
}

/// Reads a journal. Files that the run wrote besides may reach only so far: the checkpoint is none
/// after `reach`.
///
/// # Errors
/// Fails if there is nothing to go on from, or something is lost that was written down and that is
/// not accepted.
pub fn read(
    path: &Path,
    reach: Option<Iteration>,
    losses: Losses,
) -> Result<Recovered, ReadJournalError> {
    let file = folder::manifest(path);
    let manifest = Manifest::read(&file);
    let manifest = manifest.map_err(|source| ReadJournalError::Manifest { path: file, source })?;
    let listing = folder::list(path).map_err(|source| ReadJournalError::Folder {
        path: path.to_owned(),
        source,
    })?;
    let mut problems = Vec::new();
    let saved = last_checkpoint(&listing, reach, &mut problems);
    let base = saved
        .as_ref()
        .map(|saved| (saved.mark, saved.checkpoint.iteration));
    let reader = LogReader::new(&listing.segments, base, losses, &mut problems);
    let Log {
        tail,
        is_begun,
        lost,
    } = reader.read(folder::begun(path))?;
    if saved.is_none() && !is_begun {
        problems.extend(lost.map(|lost| lost.cause));
        return Err(ReadJournalError::Nothing {
            path: path.to_owned(),
            problems,
        });
    }
    let mut recovered = recovered(manifest, saved, tail, problems);
    let after = recovered.committed;
    let is_later = |until: &Iteration| *until > after;
    recovered.lost = lost.map(|lost| Loss {
        cause: lost.cause,
        after,
        until: lost.until.max(reach).filter(is_later),
        commands: lost.commands,
    });
    match (&recovered.lost, losses) {
        (Some(loss), Losses::Refuse) => Err(ReadJournalError::Lost {
            path: path.to_owned(),
            loss: Box::new(loss.clone()),
        }),
        (Some(_), Losses::Accept) | (None, _) => Ok(recovered),
    }
}

/// Returns the newest checkpoint that is whole and that the other files of the run reach.
fn last_checkpoint(
    listing: &Listing,
    reach: Option<Iteration>,
    problems: &mut Vec<String>,
) -> Option<Saved> {
    for (_, file) in listing.checkpoints.iter().rev() {
        match crate::checkpoint_file::read(file) {
            Ok(saved) if reach.is_some_and(|reach| saved.checkpoint.iteration > reach) => {
                let iteration = saved.checkpoint.iteration;
                problems.push(format!(
                    "files of the run do not reach iteration {iteration}, at which the last \
                     checkpoint is"
                ));
            }
            Ok(saved) => return Some(saved),
            Err(error) => problems.push(format!("{}: {}", file.display(), protocol::Chain(&error))),
        }
    }
    None
}

fn recovered(
    manifest: Manifest,
    saved: Option<Saved>,
    tail: Tail,
    problems: Vec<String>,
) -> Recovered {
    let base = saved.as_ref().map_or_else(Mark::default, |one| one.mark);
    let begins = saved.as_ref().map_or(0, |one| one.checkpoint.iteration.0);
    let advances = tail.commits.iter().filter(|commit| !commit.is_paused);
    let digests: Vec<_> = advances.map(|commit| commit.digest).collect();
    Recovered {
        manifest,
        saved,
        base,
        committed: Iteration(begins + digests.len() as u64),
        end: Mark {
            commits: base.commits + tail.commits.len() as u64,
            commands: base.commands + tail.commands.len() as u64,
        },
        replay: Replay {
            digests,
            commands: tail.commands,
            schedule_left: tail.commits.last().map(|commit| commit.schedule_left),
            target: tail.target,
        },
        lost: None,
        problems,
    }
}

fn listed(problems: &[String]) -> String {
    match problems {
        [] => String::new(),
        problems => format!(": {}", problems.join("; ")),
    }
}

#[cfg(test)]
mod tests;
