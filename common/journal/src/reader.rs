//! Reads a journal: from which checkpoint a run goes on, and what it does again before that.

use std::io;
use std::path::{Path, PathBuf};

use lockstep::{Aim, Redo};
use protocol::{Iteration, ScheduledCommand};

use crate::checkpoint_file::Saved;
use crate::folder;
use crate::frame::FrameError;
use crate::manifest::Manifest;
use crate::record::{Commit, Mark, Record};
use crate::segment::SegmentReader;

/// A journal from which nothing can be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum ReadJournalError {
    /// Its folder cannot be read.
    #[error("cannot read {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Its manifest is damaged.
    #[error("cannot use {}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: FrameError,
    },
    /// No checkpoint is whole, and the log does not begin at the start.
    #[error("{} has nothing to go on from{}", path.display(), listed(problems))]
    Nothing {
        /// The folder.
        path: PathBuf,
        /// What is wrong with what is there.
        problems: Vec<String>,
    },
}

/// What a journal says of a run.
#[derive(Debug)]
pub struct Recovered {
    /// What runs.
    pub manifest: Manifest,
    /// What the run goes on from; `None` is its start.
    pub saved: Option<Saved>,
    /// Where in its life the checkpoint was made.
    pub base: Mark,
    /// What was done since.
    pub redo: Redo,
    /// Where in its life the journal ends.
    pub end: Mark,
    /// The last iteration that was written down.
    pub committed: Iteration,
    /// Damage that was passed over, for people.
    pub problems: Vec<String>,
}

/// What the log says of what came after a mark.
#[derive(Debug, Default)]
struct Tail {
    commits: Vec<Commit>,
    commands: Vec<ScheduledCommand>,
    /// How many of those were part of steps that are done.
    committed_commands: usize,
    aim: Option<Aim>,
}

/// Reads a journal. Files that the run wrote besides may reach only so far: the checkpoint is none
/// after `reach`.
///
/// # Errors
/// When there is nothing to go on from.
pub fn read(path: &Path, reach: Option<Iteration>) -> Result<Recovered, ReadJournalError> {
    let file = folder::manifest(path);
    let manifest = Manifest::read(&file);
    let manifest = manifest.map_err(|source| ReadJournalError::Manifest { path: file, source })?;
    let listing = folder::list(path).map_err(|source| ReadJournalError::Folder {
        path: path.to_owned(),
        source,
    })?;
    let mut problems = Vec::new();
    for (_, file) in listing.checkpoints.iter().rev() {
        match crate::checkpoint_file::read(file) {
            Ok(saved) if reach.is_some_and(|reach| saved.checkpoint.iteration > reach) => {
                let iteration = saved.checkpoint.iteration;
                problems.push(format!(
                    "files of the run do not reach iteration {iteration}, at which the last \
                     checkpoint is"
                ));
            }
            Ok(saved) => {
                let tail = read_log(&listing.segments, Some(saved.mark), &mut problems);
                let tail = tail.unwrap_or_default();
                return Ok(recovered(manifest, Some(saved), tail, problems));
            }
            Err(error) => problems.push(format!("{}: {}", file.display(), chain(&error))),
        }
    }
    match read_log(&listing.segments, None, &mut problems) {
        Some(tail) => Ok(recovered(manifest, None, tail, problems)),
        None => Err(ReadJournalError::Nothing {
            path: path.to_owned(),
            problems,
        }),
    }
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
        redo: Redo {
            digests,
            commands: tail.commands,
            schedule_left: tail.commits.last().map(|commit| commit.schedule_left),
            aim: tail.aim,
        },
        problems,
    }
}

/// Reads what the segments have after a mark, or from the start; `None` when they do not have the
/// start. What cannot be read, and all after it, is left out.
fn read_log(
    segments: &[(u64, PathBuf)],
    base: Option<Mark>,
    problems: &mut Vec<String>,
) -> Option<Tail> {
    let after = base.unwrap_or_default();
    let mut tail = Tail::default();
    let mut at: Option<Mark> = None;
    let mut cut: Option<String> = None;
    for (_, file) in first_that_matters(segments, after) {
        let mut reader = match SegmentReader::open(file) {
            Ok(reader) => reader,
            Err(error) => {
                // Nothing was written to it before the end came, or all of it is lost.
                cut.get_or_insert(format!("{}: {}", file.display(), chain(&error)));
                continue;
            }
        };
        let head = reader.head;
        let fits = match at {
            None => head.first.is_within(after),
            Some(at) if head.is_resumed => {
                head.first.commits == at.commits && head.first.commands <= at.commands
            }
            Some(at) => head.first == at,
        };
        if !fits {
            let missing = format!("{}: what came before it is missing", file.display());
            problems.push(cut.unwrap_or(missing));
            break;
        }
        if head.is_resumed {
            tail.keep_commands(head.first.commands.saturating_sub(after.commands));
        }
        let mut mark = head.first;
        cut = tail
            .take(&mut reader, &mut mark, after)
            .err()
            .map(|error| format!("{}: {}", file.display(), chain(&error)));
        at = Some(mark);
    }
    if at.is_none() {
        // A run that was lost before its first step goes on from its start, too.
        let is_start = base.is_some() || segments.is_empty();
        return is_start.then(Tail::default);
    }
    tail.drop_uncommitted();
    Some(tail)
}

/// Returns the segments from the last one that begins at or before a mark. One may begin after the
/// same commit and a command more, when that was done before the checkpoint was saved.
fn first_that_matters(segments: &[(u64, PathBuf)], after: Mark) -> &[(u64, PathBuf)] {
    let begins_before = |(_, file): &(u64, PathBuf)| {
        let reader = SegmentReader::open(file);
        reader.is_ok_and(|reader| reader.head.first.is_within(after))
    };
    let first = segments.iter().rposition(begins_before).unwrap_or(0);
    &segments[first..]
}

impl Tail {
    /// Takes in what a segment has after a mark.
    fn take<R: io::Read>(
        &mut self,
        reader: &mut SegmentReader<R>,
        mark: &mut Mark,
        after: Mark,
    ) -> Result<(), FrameError> {
        while let Some(record) = reader.record()? {
            match record {
                Record::Commit(commit) => {
                    mark.commits += 1;
                    if mark.commits > after.commits {
                        self.commits.push(commit);
                        self.committed_commands = self.commands.len();
                    }
                }
                Record::Command(command) => {
                    mark.commands += 1;
                    if mark.commands > after.commands {
                        self.commands.push(*command);
                    }
                }
                Record::Aim(aim) if mark.commits >= after.commits => self.aim = Some(aim),
                Record::Aim(_) => {}
            }
        }
        Ok(())
    }

    fn keep_commands(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.commands.truncate(count);
        self.committed_commands = self.committed_commands.min(count);
    }

    /// Drops the commands of a step that was under way.
    fn drop_uncommitted(&mut self) {
        self.commands.truncate(self.committed_commands);
        let last = self.commits.last().map(|commit| commit.iteration);
        // A step that fetches states may be done while the one that it is for is not.
        while let Some(command) = self.commands.last()
            && command.paused_round.is_none()
            && Some(command.iteration) == last
        {
            self.commands.pop();
        }
    }
}

/// Returns an error with its causes in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn listed(problems: &[String]) -> String {
    match problems {
        [] => String::new(),
        problems => format!(": {}", problems.join("; ")),
    }
}

#[cfg(test)]
mod tests;
