//! Reads the log: what its segments have after a mark, and what they have lost.
//!
//! Segments are numbered, each says what came before it, and the lock which was begun last.
//! So a log that ends within a record, as it does when its writer is killed, is told from one that
//! was damaged or lacks a segment. A segment of a run that was taken up again makes void what came
//! after its beginning before.

use std::io;
use std::path::{Path, PathBuf};

use lockstep::RunTarget;
use protocol::error_chain::chain;
use protocol::{Iteration, ScheduledCommand};

use crate::frame::{FrameError, HEAD_BYTES};
use crate::loss::Losses;
use crate::reader::ReadJournalError;
use crate::record::{Commit, Mark, Record};
use crate::segment::{Behind, SegmentHead, SegmentReader};

/// Records of the log after a mark.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    pub(crate) commits: Vec<Commit>,
    pub(crate) commands: Vec<ScheduledCommand>,
    /// Number of those that were part of steps that are done.
    committed_commands: usize,
    pub(crate) target: Option<RunTarget>,
}

/// Contents of the log as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Records after the mark.
    pub(crate) tail: Tail,
    /// True if what came right after the mark is there.
    pub(crate) is_begun: bool,
    /// Loss of what was there once, if anything.
    pub(crate) lost: Option<Lost>,
}

/// A place from which on the log cannot be read.
#[derive(Debug)]
pub(crate) struct Lost {
    /// Names the file that is damaged or missing, and the place in it.
    pub(crate) cause: String,
    /// The last iteration that is known of what is behind it.
    pub(crate) until: Option<Iteration>,
    /// Number of commands known to be lost.
    pub(crate) commands: u64,
    /// True if only records behind it show that something is lost that is needed.
    is_before_mark: bool,
}

/// Reads the segments of a log.
pub(crate) struct LogReader<'a> {
    segments: &'a [(u64, PathBuf)],
    /// Commits up to which each segment counts, where the run was taken up again before its end.
    void_from: Vec<Option<u64>>,
    losses: Losses,
    /// The mark after which everything matters.
    after: Mark,
    /// The iteration at that mark.
    begins: Iteration,
    tail: Tail,
    /// End of what was read.
    at: Option<Mark>,
    lost: Option<Lost>,
    problems: &'a mut Vec<String>,
}

impl<'a> LogReader<'a> {
    /// Prepares to read what segments have after a checkpoint's mark and iteration; without one,
    /// from the start.
    pub(crate) fn new(
        segments: &'a [(u64, PathBuf)],
        base: Option<(Mark, Iteration)>,
        losses: Losses,
        problems: &'a mut Vec<String>,
    ) -> Self {
        let is_whole = segments.first().is_none_or(|(number, _)| *number == 1);
        let start = (base.is_none() && is_whole).then(Mark::default);
        let (after, begins) = base.unwrap_or_default();
        let segments = first_that_matters(segments, after);
        Self {
            segments,
            void_from: void_from(segments),
            losses,
            after,
            begins,
            tail: Tail::default(),
            at: start,
            lost: None,
            problems,
        }
    }

    /// Reads all; `begun` is the number of the last segment that was begun, if that is known.
    ///
    /// # Errors
    /// Fails if a segment is there and cannot be read.
    pub(crate) fn read(mut self, begun: Option<u64>) -> Result<Log, ReadJournalError> {
        let mut before = None;
        for (index, (number, file)) in self.segments.iter().enumerate() {
            self.on_segment(index, *number, before, file)?;
            before = Some(*number);
        }
        let missing = before.unwrap_or(0) + 1;
        if begun.is_some_and(|begun| begun >= missing) && self.lost.is_none() {
            let cause = format!("log-{missing:010} is missing");
            self.lost = Some(Lost::new(cause, false));
        }
        if let Some(lost) = &mut self.lost {
            lost.commands += self.tail.uncommitted_commands();
        }
        self.tail.drop_uncommitted();
        let kept = self.tail.last_iteration().unwrap_or(self.begins);
        let lost = self.lost.filter(|lost| lost.matters(kept));
        Ok(Log {
            is_begun: self.at.is_some(),
            tail: self.tail,
            lost,
        })
    }

    fn on_segment(
        &mut self,
        index: usize,
        number: u64,
        before: Option<u64>,
        file: &Path,
    ) -> Result<(), ReadJournalError> {
        let mut reader = match SegmentReader::open(file) {
            Ok(reader) => reader,
            Err(error) => {
                let lost = self.break_off(file, HEAD_BYTES as u64, error, true)?;
                self.lose(lost);
                return Ok(());
            }
        };
        let head = reader.head;
        let limit = self.void_from[index];
        if limit.is_some_and(|limit| head.first.commits > limit) {
            return Ok(());
        }
        if !self.fits(head) {
            let missing = before.map_or(number - 1, |before| before + 1);
            let cause = if missing < number {
                format!("log-{missing:010} is missing")
            } else {
                format!("{}: what came before it is missing", file.display())
            };
            self.lose(Some(Lost::new(cause, false)));
            return self.count_lost(&mut reader, file);
        }
        if let Some(lost) = self.lost.take() {
            // The run went on without what is lost, or nothing that counts was there.
            self.problems.push(lost.cause);
        }
        if head.is_resumed {
            let kept = head.first.commands.saturating_sub(self.after.commands);
            self.tail.keep_commands(kept);
        }
        let mut mark = head.first;
        let read = self.tail.take(&mut reader, &mut mark, self.after, limit);
        self.at = Some(mark);
        if let Err(error) = read {
            let lost = self.break_off(file, reader.offset(), error, false)?;
            self.lose(lost);
        }
        Ok(())
    }

    /// Tells whether a segment goes on where what was read ends.
    fn fits(&self, head: SegmentHead) -> bool {
        match self.at {
            None => head.first.is_within(self.after),
            Some(at) if head.is_resumed => {
                head.first.commits == at.commits && head.first.commands <= at.commands
            }
            Some(at) => head.first == at,
        }
    }

    /// Returns what a segment that cannot be read from a place on has lost; `None` when that is
    /// what the death of a writer leaves.
    fn break_off(
        &self,
        file: &Path,
        offset: u64,
        error: FrameError,
        is_head: bool,
    ) -> Result<Option<Lost>, ReadJournalError> {
        let unreadable = |source: io::Error| ReadJournalError::Unreadable {
            path: file.to_owned(),
            source,
        };
        let cause = format!("{}: {}", file.display(), chain(&error));
        let is_before_mark = self.at.is_some_and(|at| at.commits < self.after.commits);
        let mut lost = Lost::new(cause, is_before_mark && !is_head);
        let behind = match error {
            FrameError::Io(source) => Err(source),
            _ => Behind::look(file, offset),
        };
        match behind {
            Ok(behind) if behind.is_torn && !is_head => return Ok(None),
            Ok(behind) => behind
                .records
                .iter()
                .for_each(|one| lost.note(one, self.begins)),
            Err(source) if self.losses == Losses::Refuse => return Err(unreadable(source)),
            Err(_) => {}
        }
        Ok(Some(lost))
    }

    /// Takes note that the log cannot be read from here on; what is known first counts.
    fn lose(&mut self, lost: Option<Lost>) {
        match (&mut self.lost, lost) {
            (Some(known), Some(more)) => known.add(&more),
            (known @ None, lost) => *known = lost,
            (Some(_), None) => {}
        }
    }

    /// Counts what a segment has that nothing leads to any more.
    fn count_lost<R: io::Read>(
        &mut self,
        reader: &mut SegmentReader<R>,
        file: &Path,
    ) -> Result<(), ReadJournalError> {
        loop {
            match reader.record() {
                Ok(Some(record)) => {
                    if let Some(lost) = &mut self.lost {
                        lost.note(&record, self.begins);
                    }
                }
                Ok(None) => return Ok(()),
                Err(error) => {
                    let lost = self.break_off(file, reader.offset(), error, false)?;
                    self.lose(lost);
                    return Ok(());
                }
            }
        }
    }
}

/// Returns for each segment the commit after which it is void, if the run was taken up again before
/// its end.
fn void_from(segments: &[(u64, PathBuf)]) -> Vec<Option<u64>> {
    let mut limit = None;
    let mut limits: Vec<Option<u64>> = Vec::new();
    for (_, file) in segments.iter().rev() {
        limits.push(limit);
        if let Ok(SegmentReader { head, .. }) = SegmentReader::open(file)
            && head.is_resumed
        {
            let first = head.first.commits;
            limit = Some(limit.map_or(first, |limit: u64| limit.min(first)));
        }
    }
    limits.reverse();
    limits
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

impl Lost {
    fn new(cause: String, is_before_mark: bool) -> Self {
        Self {
            cause,
            until: None,
            commands: 0,
            is_before_mark,
        }
    }

    /// Counts a record that nothing leads to; those before an iteration are not needed.
    fn note(&mut self, record: &Record, begins: Iteration) {
        match record {
            Record::Commit(commit) if commit.iteration > begins => {
                self.until = self.until.max(Some(commit.iteration));
            }
            Record::Command(command) if command.iteration >= begins => self.commands += 1,
            Record::Commit(_) | Record::Command(_) | Record::Target(_) => {}
        }
    }

    fn add(&mut self, more: &Self) {
        self.until = self.until.max(more.until);
        self.commands += more.commands;
        self.is_before_mark &= more.is_before_mark;
    }

    /// Tells whether something is lost that a run needs which goes on after an iteration.
    fn matters(&self, kept: Iteration) -> bool {
        let is_later = self.until.is_some_and(|until| until > kept);
        !self.is_before_mark || is_later || self.commands > 0
    }
}

impl Tail {
    /// Takes in what a segment has after a mark, up to the commit after which it is void.
    fn take<R: io::Read>(
        &mut self,
        reader: &mut SegmentReader<R>,
        mark: &mut Mark,
        after: Mark,
        void_from: Option<u64>,
    ) -> Result<(), FrameError> {
        while let Some(record) = reader.record()? {
            match record {
                Record::Commit(_) if void_from == Some(mark.commits) => return Ok(()),
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
                Record::Target(target) if mark.commits >= after.commits => {
                    self.target = Some(target);
                }
                Record::Target(_) => {}
            }
        }
        Ok(())
    }

    fn keep_commands(&mut self, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.commands.truncate(count);
        self.committed_commands = self.committed_commands.min(count);
    }

    /// Returns the last iteration that is complete.
    fn last_iteration(&self) -> Option<Iteration> {
        self.commits.last().map(|commit| commit.iteration)
    }

    fn uncommitted_commands(&self) -> u64 {
        (self.commands.len() - self.committed_commands) as u64
    }

    /// Drops the commands of a step that was under way.
    fn drop_uncommitted(&mut self) {
        self.commands.truncate(self.committed_commands);
        let last = self.last_iteration();
        // A step that fetches states may be done while the one that it is for is not.
        while let Some(command) = self.commands.last()
            && command.paused_round.is_none()
            && Some(command.iteration) == last
        {
            self.commands.pop();
        }
    }
}
