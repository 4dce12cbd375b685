//! The file of states: who moved in each iteration, and in which cell; see
//! [`protocol::states_file`] for its format.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use lockstep::{Primary, StepReport, Topology};
use protocol::action::ModelChange;
use protocol::primary_to_secondary::Step;
use protocol::states_file::{
    self, RecordedState, StatesFrame, StatesHeader, StatesReader, StatesRecord,
};
use protocol::{CellId, Digest, Iteration, PerformerId, PerformerState};

use crate::output_file::{Output, OutputFile, OutputWriter};

/// Contents of the file, for people.
const WHAT: &str = "states";

/// A file that states are written to.
#[derive(Debug)]
pub struct StatesFile<W = OutputFile> {
    writer: W,
    /// True if performers have come or gone since the last step was done, and whether all is as at
    /// the start.
    renewal: Option<bool>,
    /// The cell that owns each performer.
    cells: Vec<CellId>,
    header: StatesHeader,
    /// Each performer as it was last written.
    written: Vec<Option<RecordedState>>,
    digest: Option<Digest>,
    iterations: Iteration,
    frame: StatesFrame,
    bytes: Vec<u8>,
}

impl StatesFile {
    /// Creates the file, or empties it, and writes what its numbers mean.
    ///
    /// # Errors
    /// Fails if it cannot be created or written.
    pub fn create(path: &Path, plan: &Topology, step_size: Duration) -> io::Result<Self> {
        Self::begin(OutputFile::create(WHAT, path)?, plan, step_size)
    }

    /// Resumes a file after an iteration; its frames of later iterations are cut off. `primary` is
    /// in its state after that iteration.
    ///
    /// # Errors
    /// Fails if it cannot be read or written, or is none of this run.
    pub fn resume(path: &Path, primary: &Primary, after: Iteration) -> io::Result<Self> {
        let plan = primary.topology();
        let performers = (0..plan.performers.len() as u32).map(PerformerId);
        let standing = Standing {
            iteration: after,
            digest: primary.digest(),
            performers: plan.performer_names(),
            cells: performers.map(|one| primary.performer(one).0).collect(),
        };
        Self::resume_at(path, standing)
    }

    fn resume_at(path: &Path, standing: Standing) -> io::Result<Self> {
        let after = standing.iteration;
        let Written {
            header,
            last,
            digest,
            length,
        } = Written::read(path, after)?;
        let mut behind = File::open(path)?;
        behind.seek(SeekFrom::Start(length))?;
        let headers = states_file::reader::leading_headers(BufReader::new(behind));
        let is_same = |header: &StatesHeader| header.performers == standing.performers;
        // Performers came, or all began anew, while time stood still after the last frame: then the
        // names stand behind it, and every performer is written after them.
        let renewed = headers.into_iter().rfind(|(header, _)| is_same(header));
        let is_reached = digest.is_some() || after == Iteration(0);
        let is_here = is_reached && digest.is_none_or(|at| at == standing.digest);
        let (header, last, length) = match renewed {
            _ if is_here && is_same(&header) => (header, last, length),
            Some((header, end)) if is_reached => {
                let last = vec![None; header.performers.len()];
                (header, last, length + end)
            }
            Some(_) | None => {
                return Err(io::Error::other(format!(
                    "it does not have iteration {after}, where the run is taken up"
                )));
            }
        };
        Ok(Self {
            writer: OutputFile::resume(WHAT, path, length)?,
            renewal: None,
            cells: standing.cells,
            header,
            written: last,
            digest,
            iterations: after,
            frame: StatesFrame::default(),
            bytes: Vec::new(),
        })
    }
}

impl Output for StatesFile {
    fn file(&mut self) -> &mut OutputFile {
        &mut self.writer
    }

    fn written_by(self, writer: &OutputWriter) -> Self {
        Self {
            writer: self.writer.written_by(writer),
            ..self
        }
    }

    fn complete(&mut self) -> io::Result<()> {
        self.finish()
    }
}

/// State of a run where it is taken up.
#[derive(Clone, Debug)]
struct Standing {
    iteration: Iteration,
    digest: Digest,
    /// Names, by their ids.
    performers: Vec<String>,
    /// The cell that owns each performer.
    cells: Vec<CellId>,
}

/// Contents of a file up to an iteration.
#[derive(Debug)]
struct Written {
    header: StatesHeader,
    /// Each performer as it was last written.
    last: Vec<Option<RecordedState>>,
    digest: Option<Digest>,
    /// Offset of the end of the last frame \[bytes\].
    length: u64,
}

impl Written {
    fn read(path: &Path, after: Iteration) -> io::Result<Self> {
        let counted = Counted::new(BufReader::new(File::open(path)?));
        let position = Rc::clone(&counted.position);
        let mut reader = StatesReader::open(counted).map_err(io::Error::other)?;
        let header = reader.header().clone();
        let mut written = Self {
            last: vec![None; header.performers.len()],
            header,
            digest: None,
            length: position.get(),
        };
        // What is cut or damaged ends what there is; whether that is enough is seen by who asks.
        while let Ok(StatesRecord::Frame(frame)) = reader.read()
            && frame.iteration <= after
        {
            if *reader.header() != written.header {
                written.header = reader.header().clone();
                written.last = vec![None; written.header.performers.len()];
            }
            for change in frame.changes {
                written.last[change.performer.0 as usize] = Some(change);
            }
            written.digest = Some(frame.digest);
            written.length = position.get();
        }
        Ok(written)
    }
}

impl StatesFile<Vec<u8>> {
    /// Begins a file that is passed on part by part.
    ///
    /// # Panics
    /// Never: memory takes everything.
    pub fn in_parts(plan: &Topology, step_size: Duration) -> Self {
        let begun = Self::begin(Vec::new(), plan, step_size);
        begun.expect("memory takes everything")
    }

    /// Returns what was written since the last time.
    pub fn take_part(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.writer)
    }
}

impl<W: Write> StatesFile<W> {
    fn begin(mut writer: W, plan: &Topology, step_size: Duration) -> io::Result<Self> {
        let header = StatesHeader {
            step_size_ns: step_size.as_nanos() as u64,
            cells: plan.cells.iter().map(|cell| cell.name.clone()).collect(),
            performers: plan.performer_names(),
        };
        writer.write_all(&states_file::encode_header(&header))?;
        Ok(Self {
            writer,
            renewal: None,
            header,
            cells: plan.performers.iter().map(|one| one.home).collect(),
            written: vec![None; plan.performers.len()],
            digest: None,
            iterations: Iteration(0),
            frame: StatesFrame::default(),
            bytes: Vec::new(),
        })
    }

    /// Writes a step that is done, if anything has changed in it: the names anew where performers
    /// have come or gone, and every performer after them, and what an iteration changed.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn on_step_done(&mut self, report: &StepReport, primary: &Primary) -> io::Result<()> {
        if let Some(reset) = self.renewal.take() {
            let plan = primary.topology();
            let homes: Vec<CellId> = plan.performers.iter().map(|one| one.home).collect();
            self.renew_names(plan.performer_names(), &homes, reset)?;
        }
        if report.paused {
            return Ok(());
        }
        // The step after this iteration may be under way, with performers that come.
        let all = primary.states_after(report.iteration).iter();
        let all = all.take(self.header.performers.len());
        self.write(report.iteration, report.digest, all)
    }

    fn renew_names(&mut self, names: Vec<String>, homes: &[CellId], reset: bool) -> io::Result<()> {
        if reset {
            self.cells.clear();
        }
        let count = names.len();
        self.cells.truncate(count);
        let known = self.cells.len();
        self.cells.extend_from_slice(&homes[known..count]);
        self.written = vec![None; count];
        self.header.performers = names;
        self.writer
            .write_all(&states_file::encode_header(&self.header)[states_file::START_BYTES..])
    }

    /// Notes who changes cell, comes or goes with the step that is published.
    pub fn note_step(&mut self, step: &Step) {
        if changes_models(step) {
            self.renewal = Some(step.reset || self.renewal == Some(true));
        }
        for hand_off in &step.hand_offs {
            self.cells[hand_off.performer.0 as usize] = hand_off.to;
        }
        for stamped in &step.actions {
            if let ModelChange::Comes(spawn) = stamped.action.model_change()
                && let (Some(performer), Some(cell)) = (spawn.performer, spawn.cell)
            {
                let index = performer.0 as usize;
                self.cells.resize(self.cells.len().max(index + 1), cell);
                self.cells[index] = cell;
            }
        }
    }

    /// Writes what an iteration changed; `states` are those of all numbers of performers, of which
    /// some may be gone, or come only with the next step.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    fn write<'a>(
        &mut self,
        iteration: Iteration,
        digest: Digest,
        states: impl IntoIterator<Item = &'a PerformerState>,
    ) -> io::Result<()> {
        self.iterations = iteration;
        self.frame.changes.clear();
        for state in states {
            let index = state.performer.0 as usize;
            let is_there = !self.header.performers[index].is_empty();
            let now = if is_there {
                RecordedState::new(state, self.cells[index])
            } else {
                nobody(state.performer)
            };
            let written = &mut self.written[index];
            if !written.is_some_and(|last| last.is_same(&now)) {
                *written = Some(now);
                self.frame.changes.push(now);
            }
        }
        if self.frame.changes.is_empty() && self.digest == Some(digest) {
            return Ok(());
        }
        self.digest = Some(digest);
        self.frame.iteration = iteration;
        self.frame.digest = digest;
        self.bytes.clear();
        states_file::encode_frame(&self.frame, &mut self.bytes);
        self.writer.write_all(&self.bytes)
    }

    /// Marks the end, and makes sure that everything is in the file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.bytes.clear();
        states_file::encode_end(self.iterations, &mut self.bytes);
        self.writer.write_all(&self.bytes)?;
        self.writer.flush()
    }
}

/// Tells whether models come or go with a step, or all begins anew.
pub fn changes_models(step: &Step) -> bool {
    let mut changes = step
        .actions
        .iter()
        .map(|stamped| stamped.action.model_change());
    step.reset || changes.any(|change| change != ModelChange::None)
}

/// Counts the bytes that are read.
struct Counted<R> {
    source: R,
    position: Rc<Cell<u64>>,
}

impl<R> Counted<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            position: Rc::default(),
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.position.set(self.position.get() + count as u64);
        Ok(count)
    }
}

/// Returns what stands for a performer that is gone, whoever it was.
fn nobody(performer: PerformerId) -> RecordedState {
    RecordedState::new(&PerformerState::at_rest(performer, [0.0; 3]), CellId(0))
}

#[cfg(test)]
mod tests;
