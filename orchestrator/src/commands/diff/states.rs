//! Two files of states, iteration by iteration.
//!
//! A file says only what changed, so each side keeps the last state of every performer. All were
//! the same before an iteration; so in it only those can differ that change in one of the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;

use protocol::states_file::{
    ReadStatesError, RecordedState, StatesFrame, StatesHeader, StatesReader, StatesRecord,
};
use protocol::{CellId, Digest, PerformerId};

use super::{DiffError, Difference, Input, Kind, PerformerDifference, Value, Verdict};

/// The numbers of a state, in their order.
const FIELDS: [&str; 13] = [
    "position x",
    "position y",
    "position z",
    "orientation x",
    "orientation y",
    "orientation z",
    "orientation w",
    "linear velocity x",
    "linear velocity y",
    "linear velocity z",
    "angular velocity x",
    "angular velocity y",
    "angular velocity z",
];

/// Compares two files.
pub(super) fn compare(first: Input<'_>, second: Input<'_>) -> Result<Verdict, DiffError> {
    let (mut a, mut b) = (Side::open(first)?, Side::open(second)?);
    let mut names = Names::of(&a, &b)?;
    loop {
        a.read_next()?;
        b.read_next()?;
        if a.is_renewed || b.is_renewed {
            names = Names::of(&a, &b)?;
        }
        let next = [&a, &b].map(|side| side.frame.as_ref().map(|frame| frame.iteration.0));
        let iteration = match next {
            [None, None] if a.end == b.end => return Ok(Verdict::equal(Kind::States, a.last())),
            [None, None] if a.end < b.end => return Err(a.shorter_than(&b)),
            [None, None] => return Err(b.shorter_than(&a)),
            [None, Some(n)] if n > a.last() => return Err(a.shorter_than(&b)),
            [Some(n), None] if n > b.last() => return Err(b.shorter_than(&a)),
            [a, b] => a.into_iter().chain(b).min().unwrap_or_default(),
        };
        let mut changed: BTreeSet<PerformerId> = a.advance_to(iteration).into_iter().collect();
        let in_first = |id: PerformerId| names.in_first[id.0 as usize];
        changed.extend(b.advance_to(iteration).into_iter().map(in_first));
        if a.states.len() != b.states.len() {
            let late = if a.states.is_empty() { &a } else { &b };
            let file = late.name.to_owned();
            return Err(DiffError::LateBeginning { file, iteration });
        }
        if let Some(difference) = names.difference(iteration, &changed, &a, &b) {
            return Ok(Verdict::differ(Kind::States, difference));
        }
    }
}

/// A file and where it stands.
struct Side<'a> {
    name: &'a str,
    reader: StatesReader<BufReader<File>>,
    /// The next frame; `None` once it is taken, and after the last.
    frame: Option<StatesFrame>,
    /// Number of iterations, once there is no next frame.
    end: Option<u64>,
    /// True if the next frame has performers of another list than the one before.
    is_renewed: bool,
    /// All performers, from the first frame on.
    states: Vec<RecordedState>,
    digest: Digest,
}

impl<'a> Side<'a> {
    fn open(input: Input<'a>) -> Result<Self, DiffError> {
        let name = input.name;
        let reader = StatesReader::open(input.source).map_err(|error| of_reader(name, error))?;
        Ok(Self {
            name,
            reader,
            frame: None,
            end: None,
            is_renewed: false,
            states: Vec::new(),
            digest: Digest::default(),
        })
    }

    /// Returns the last iteration, once it is known.
    fn last(&self) -> u64 {
        self.end.unwrap_or(u64::MAX)
    }

    /// Makes the error of this file if another goes on after its end.
    fn shorter_than(&self, other: &Self) -> DiffError {
        DiffError::shorter(self.name, self.last(), other.name)
    }

    /// Reads the next frame if it is not there yet.
    fn read_next(&mut self) -> Result<(), DiffError> {
        if self.frame.is_some() || self.end.is_some() {
            return Ok(());
        }
        let before = self.reader.header().performers.clone();
        let record = self.reader.read();
        self.is_renewed |= self.reader.header().performers != before;
        match record.map_err(|error| of_reader(self.name, error))? {
            StatesRecord::Frame(frame) => self.frame = Some(frame),
            StatesRecord::End { iterations } => self.end = Some(iterations.0),
        }
        Ok(())
    }

    /// Takes the next frame if it is that of this iteration, and returns who changes in it.
    fn advance_to(&mut self, iteration: u64) -> Vec<PerformerId> {
        let Some(frame) = self.frame.take_if(|frame| frame.iteration.0 == iteration) else {
            return Vec::new();
        };
        self.digest = frame.digest;
        let changed = frame
            .changes
            .iter()
            .map(|change| change.performer)
            .collect();
        if self.states.is_empty() || std::mem::take(&mut self.is_renewed) {
            self.states = frame.changes;
        } else {
            for change in frame.changes {
                self.states[change.performer.0 as usize] = change;
            }
        }
        changed
    }
}

/// Mapping between the ids of two files.
struct Names {
    /// Names of performers, by their ids in the first file.
    performers: Vec<String>,
    /// Ids in the first file, by ids in the second.
    in_first: Vec<PerformerId>,
    /// Ids in the second file, by ids in the first.
    in_second: Vec<PerformerId>,
    /// Names of cells in both files.
    cells: [Vec<String>; 2],
}

impl Names {
    fn of(a: &Side<'_>, b: &Side<'_>) -> Result<Self, DiffError> {
        let (first, second) = (a.reader.header(), b.reader.header());
        let files = [a.name, b.name].map(str::to_owned);
        let steps_ns = [first.step_size_ns, second.step_size_ns];
        if steps_ns[0] != steps_ns[1] {
            return Err(DiffError::StepSizes { files, steps_ns });
        }
        let by_name = |header: &StatesHeader| -> BTreeMap<String, PerformerId> {
            let ids = (0..).map(PerformerId);
            header.performers.iter().cloned().zip(ids).collect()
        };
        let missing = |name: &str, has: &str, lacks: &str| DiffError::Performer {
            performer: name.to_owned(),
            has: has.to_owned(),
            lacks: lacks.to_owned(),
        };
        let (by_first, by_second) = (by_name(first), by_name(second));
        let find = |names: &[String], ids: &BTreeMap<String, PerformerId>, has, lacks| {
            let id = |name: &String| {
                ids.get(name)
                    .copied()
                    .ok_or_else(|| missing(name, has, lacks))
            };
            names.iter().map(id).collect::<Result<Vec<_>, _>>()
        };
        let in_second = find(&first.performers, &by_second, a.name, b.name)?;
        let in_first = find(&second.performers, &by_first, b.name, a.name)?;
        if in_first.len() != in_second.len() {
            return Err(DiffError::PerformerTwice { files });
        }
        Ok(Self {
            performers: first.performers.clone(),
            in_first,
            in_second,
            cells: [first.cells.clone(), second.cells.clone()],
        })
    }

    /// Returns how the sides differ after an iteration in which these performers changed.
    fn difference(
        &self,
        iteration: u64,
        changed: &BTreeSet<PerformerId>,
        a: &Side<'_>,
        b: &Side<'_>,
    ) -> Option<Difference> {
        let differing: Vec<(&str, &RecordedState, &RecordedState)> = changed
            .iter()
            .map(|id| {
                let index = id.0 as usize;
                let second = self.in_second[index].0 as usize;
                (
                    self.performers[index].as_str(),
                    &a.states[index],
                    &b.states[second],
                )
            })
            .filter(|(_, first, second)| !self.is_same(first, second))
            .collect();
        if differing.is_empty() && a.digest == b.digest {
            return None;
        }
        let first = differing.iter().min_by_key(|(name, _, _)| *name);
        Some(Difference {
            iteration,
            digests: [a.digest, b.digest],
            performers_differing: Some(differing.len()),
            first: first.map(|(name, first, second)| self.performer(name, first, second)),
            message: None,
        })
    }

    fn is_same(&self, first: &RecordedState, second: &RecordedState) -> bool {
        let renamed = RecordedState {
            performer: first.performer,
            cell: first.cell,
            ..*second
        };
        self.cell(0, first.cell) == self.cell(1, second.cell) && first.is_same(&renamed)
    }

    fn cell(&self, side: usize, cell: CellId) -> &str {
        &self.cells[side][cell.0 as usize]
    }

    /// Returns the first field in which two states of a performer differ.
    fn performer(
        &self,
        name: &str,
        first: &RecordedState,
        second: &RecordedState,
    ) -> PerformerDifference {
        let found = |field, values, difference| PerformerDifference {
            performer: name.to_owned(),
            field,
            values,
            difference,
        };
        let cells = [self.cell(0, first.cell), self.cell(1, second.cell)];
        if cells[0] != cells[1] {
            return found("cell", cells.map(|cell| Value::Text(cell.to_owned())), None);
        }
        let pairs = first.numbers.iter().zip(&second.numbers);
        for (field, (a, b)) in FIELDS.into_iter().zip(pairs) {
            if a.to_bits() != b.to_bits() {
                let values = [Value::Number(*a), Value::Number(*b)];
                return found(field, values, Some(b - a));
            }
        }
        let links = [first.links, second.links];
        found(
            "links",
            links.map(|digest| Value::Text(digest.to_string())),
            None,
        )
    }
}

/// Makes the error of a file of states that its reader cannot read on.
fn of_reader(name: &str, error: ReadStatesError) -> DiffError {
    let file = name.to_owned();
    match error {
        ReadStatesError::Io(source) => DiffError::Unreadable { file, source },
        ReadStatesError::Cut(same) => DiffError::StatesCut { file, same, error },
        ReadStatesError::NotStates
        | ReadStatesError::Version(_)
        | ReadStatesError::Damaged { .. } => DiffError::States { file, error },
    }
}
