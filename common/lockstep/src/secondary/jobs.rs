//! Jobs to catch up: put together from their parts, done once, answered again when asked again.
//!
//! **Invariant:** a job is done only when its steps follow each other without a gap, from what it
//! brings to where it ends.

use std::collections::BTreeMap;

use protocol::primary_to_secondary::{
    CatchUp, CatchUpContent, CellSnapshot, DataAgain, SceneSnapshot, Step,
};
use protocol::secondary_to_primary::CaughtUp;
use protocol::{CellId, Sequence};

/// Number of jobs that may be incomplete, and how many answers are kept.
const JOBS_MAX: usize = 64;

/// A job that is complete.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the job"
)]
#[derive(Clone, Debug, PartialEq)]
pub struct CatchUpWork {
    /// Its number.
    pub job: u64,
    /// The last step that is done again.
    pub until: Sequence,
    /// The scene to begin with; without it the scene of the start, or with `goes_on` the present
    /// one.
    pub scene: Option<SceneSnapshot>,
    /// The cells that are here at the end, ascending.
    pub cells: Vec<CellId>,
    /// Those that come with the job, as they were before its first step.
    pub snapshots: Vec<CellSnapshot>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// True if the last answer holds what systems of worlds say.
    pub speaks: bool,
    /// Topic data that is published once more on the data socket.
    pub again: Option<DataAgain>,
    /// True if it goes on from the present scene of a host that takes no part yet.
    pub goes_on: bool,
    /// True if who does it takes no part yet, so that its own scene is the one to bring up to date.
    pub becomes_host: bool,
    /// True if who does it takes part from the step after on.
    pub joins: bool,
}

/// State in which a job leaves the secondary that has done it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobEnd {
    /// The last step of the job.
    pub until: Sequence,
    /// True if who did it took no part so far, and is at that step now.
    pub becomes_host: bool,
    /// True if it takes part from the step after on.
    pub joins: bool,
}

impl CatchUpWork {
    /// Returns where it leaves who has done it.
    pub fn end(&self) -> JobEnd {
        JobEnd {
            until: self.until,
            becomes_host: self.becomes_host,
            joins: self.joins,
        }
    }
}

/// Jobs with their parts.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// The parts that are here, by job and number.
    parts: BTreeMap<u64, BTreeMap<u32, CatchUpContent>>,
    /// The answers to the last jobs; `None` while one is being done.
    answers: BTreeMap<u64, Option<CaughtUp>>,
}

/// A reason why parts do not make a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JobError {
    /// Its first part is not its beginning.
    #[error("the first part is no beginning")]
    NoBeginning,
    /// A step is missing, or is there twice.
    #[error("its steps do not follow each other")]
    StepOrder,
    /// A snapshot is not of the step that it begins at.
    #[error("a cell is of another step")]
    OtherStep,
    /// It has two beginnings.
    #[error("it begins twice")]
    BeginsTwice,
    /// Its last step is not the one that it names.
    #[error("its steps end elsewhere than it says")]
    OtherEnd,
    /// Its scene is not of the step that it begins at.
    #[error("its scene is of another step")]
    OtherScene,
}

/// Outcome of a part.
pub(super) enum PartVerdict {
    /// The job is complete, from step `from` on.
    Complete(Box<CatchUpWork>, Sequence),
    /// Other parts are missing.
    Kept,
    /// The job is done, with this answer, or is being done.
    Duplicate(Option<Box<CaughtUp>>),
    /// The parts do not make a job.
    Malformed(JobError),
}

impl Jobs {
    pub(super) fn on_part(&mut self, part: CatchUp) -> PartVerdict {
        let CatchUp { job, part, content } = part;
        if let Some(answer) = self.answers.get(&job) {
            return PartVerdict::Duplicate(answer.clone().map(Box::new));
        }
        let parts = self.parts.entry(job).or_default();
        parts.insert(part, content);
        let expected = match parts.get(&0) {
            Some(CatchUpContent::Begin { parts, .. }) => *parts as usize,
            Some(_) => return PartVerdict::Malformed(JobError::NoBeginning),
            None => usize::MAX,
        };
        if parts.len() < expected {
            while self.parts.len() > JOBS_MAX {
                self.parts.pop_first();
            }
            return PartVerdict::Kept;
        }
        let parts = self.parts.remove(&job).unwrap_or_default();
        match assemble(job, parts) {
            Ok((work, from)) => {
                self.note(job, None);
                PartVerdict::Complete(Box::new(work), from)
            }
            Err(reason) => PartVerdict::Malformed(reason),
        }
    }

    /// Keeps the answer to a job.
    pub(super) fn on_done(&mut self, answer: CaughtUp) {
        self.note(answer.job, Some(answer));
    }

    fn note(&mut self, job: u64, answer: Option<CaughtUp>) {
        self.answers.insert(job, answer);
        while self.answers.len() > JOBS_MAX {
            self.answers.pop_first();
        }
    }
}

fn assemble(
    job: u64,
    parts: BTreeMap<u32, CatchUpContent>,
) -> Result<(CatchUpWork, Sequence), JobError> {
    let mut parts = parts.into_values();
    let Some(CatchUpContent::Begin {
        from,
        until,
        scene,
        cells,
        speaks,
        again,
        joins,
        becomes_host,
        ..
    }) = parts.next()
    else {
        return Err(JobError::NoBeginning);
    };
    let mut work = CatchUpWork {
        job,
        until,
        goes_on: scene.is_none() && from > Sequence(0),
        scene,
        cells,
        snapshots: Vec::new(),
        steps: Vec::new(),
        speaks,
        again,
        becomes_host,
        joins,
    };
    let mut last = from;
    for part in parts {
        match part {
            CatchUpContent::Cell(snapshot) if snapshot.sequence == from => {
                work.snapshots.push(snapshot);
            }
            CatchUpContent::Steps(steps) => {
                for step in steps {
                    if step.sequence != last.next() {
                        return Err(JobError::StepOrder);
                    }
                    last = step.sequence;
                    work.steps.push(step);
                }
            }
            CatchUpContent::Cell(_) => return Err(JobError::OtherStep),
            CatchUpContent::Begin { .. } => return Err(JobError::BeginsTwice),
        }
    }
    if last != until {
        return Err(JobError::OtherEnd);
    }
    if work
        .scene
        .as_ref()
        .is_some_and(|scene| scene.sequence != from)
    {
        return Err(JobError::OtherScene);
    }
    Ok((work, from))
}
