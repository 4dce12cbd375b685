//! [`Jobs`]: steps that secondaries do again, to restore cells or to join.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{CatchUp, CatchUpContent, PrimaryToSecondary, Step};
use protocol::secondary_to_primary::{StepAck, WorkProgress};
use protocol::{CellId, PeerName, Sequence, SessionTime};

use crate::primary::barrier::state_reader::AckError;
use crate::primary::context::Context;
use crate::primary::io::PrimaryOutput;
use crate::primary::peers::Peers;
use crate::primary::peers::liveness::IDLE_TIMEOUT;
use crate::primary::recovery::Recovery;
use crate::primary::recovery::step_log::{self, StepLog};
use crate::primary::recovery::task::Task;

/// Most steps that go into one part.
const STEPS_PER_PART: usize = 256;
/// Time after which the progress of a job is told, and its parts are sent again to a peer that has
/// not begun it; doubled each time.
const FIRST_REMINDER: Duration = Duration::from_secs(1);
/// Factor by which replaying steps may take longer than they took, where no progress is heard:
/// one host may replay what several did side by side.
const SLOWDOWN: u32 = 4;

/// Jobs under way.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    next: u64,
    under_way: BTreeMap<u64, Job>,
}

/// A job under way.
#[derive(Debug)]
pub(crate) struct Job {
    /// Secondary that does it.
    pub(crate) peer: PeerName,
    pub(crate) task: Task,
    /// Step after which it begins, and with which it ends.
    pub(crate) from: Sequence,
    pub(crate) until: Sequence,
    /// True if it goes on from where its peer is.
    goes_on: bool,
    /// True if its peer takes part from the next step on.
    pub(crate) joins: bool,
    /// True if its peer takes no part yet.
    becomes_host: bool,
    begun_at: SessionTime,
    /// Time until which the run waits for one whom it does not need, whatever is heard of it.
    held_until: Option<SessionTime>,
    remind_after: Duration,
    progress: Progress,
}

/// Progress of a job, as heartbeats tell.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// The last step that is replayed; `None` before its peer says that it has begun.
    replayed: Option<Sequence>,
    /// True if its peer says that it has answered.
    is_answered: bool,
    /// Time when that was heard, or since which the peer has had nothing else to do.
    since: SessionTime,
    /// Time-out: for all steps, and for each one once progress is heard.
    timeout: Duration,
    timeout_of_step: Duration,
}

/// A secondary that makes no progress with a job.
#[derive(Debug)]
pub(crate) struct Hung {
    pub(crate) peer: PeerName,
    pub(crate) waited: Duration,
    /// True if the run waits for it and does not need it.
    pub(crate) is_in_way: bool,
}

/// State of the run that jobs follow from.
#[derive(Debug)]
pub(crate) struct JobTerms<'a> {
    pub(crate) peers: &'a Peers,
    /// The step under way.
    pub(crate) under_way: Option<&'a Step>,
    /// The last step that was published.
    pub(crate) sequence: Sequence,
    pub(crate) step_timeout: Duration,
    /// True if the run goes on without a secondary that is lost.
    pub(crate) can_recover: bool,
}

impl Jobs {
    /// Tells whether a job under way is for somebody.
    pub(crate) fn has(&self, name: &PeerName) -> bool {
        self.under_way.values().any(|job| job.peer == *name)
    }

    /// Tells whether the run waits for one who joins.
    pub(crate) fn holds(&self) -> bool {
        let mut jobs = self.under_way.values();
        jobs.any(|job| matches!(job.task, Task::Introduce { holds: true }))
    }

    /// Takes the jobs of somebody who is gone.
    pub(crate) fn take_of(&mut self, name: &PeerName) -> Vec<Task> {
        let is_theirs = |_: &u64, job: &mut Job| job.peer == *name;
        let jobs = self.under_way.extract_if(.., is_theirs);
        jobs.map(|(_, job)| job.task).collect()
    }

    /// Returns the time when something is to be done about a job that is not answered.
    pub(crate) fn deadline(&self) -> Option<SessionTime> {
        let jobs = self.under_way.values();
        jobs.map(|job| (job.begun_at + job.remind_after).min(job.given_up_at()))
            .min()
    }

    /// Tells whether somebody has begun a job and has not answered it.
    pub(crate) fn is_at_work(&self, name: &PeerName) -> bool {
        let mut jobs = self.under_way.values();
        jobs.any(|job| {
            let progress = &job.progress;
            job.peer == *name && progress.replayed.is_some() && !progress.is_answered
        })
    }

    /// Takes the progress that a heartbeat tells of its sender's job.
    pub(crate) fn note_progress(&mut self, peer: &PeerName, work: WorkProgress, now: SessionTime) {
        let job = self.under_way.get_mut(&work.job);
        let Some(job) = job.filter(|job| job.peer == *peer) else {
            return;
        };
        let progress = &mut job.progress;
        progress.is_answered = work.answered_job >= work.job;
        if progress
            .replayed
            .is_none_or(|before| work.replayed > before)
        {
            progress.replayed = Some(work.replayed);
            progress.timeout = progress.timeout_of_step;
            self.note_free(peer, now);
        }
    }

    /// Takes note that somebody has done something: its jobs wait for each other and for the step
    /// under way.
    pub(crate) fn note_free(&mut self, peer: &PeerName, now: SessionTime) {
        for job in self.under_way.values_mut() {
            if job.peer == *peer {
                job.progress.since = now;
            }
        }
    }

    /// Takes a job that its peer has answered.
    pub(crate) fn take_answered(
        &mut self,
        peer: &PeerName,
        number: u64,
        now: SessionTime,
    ) -> Option<Job> {
        let is_its = |job: &Job| job.peer == *peer;
        if !self.under_way.get(&number).is_some_and(is_its) {
            return None;
        }
        let job = self.under_way.remove(&number);
        self.note_free(peer, now);
        job
    }

    /// Looks at all jobs: who makes no progress is hung, and who takes long is to be reminded.
    fn look(&mut self, peers: &Peers, now: SessionTime) -> (Option<Hung>, Vec<u64>) {
        let mut hung = None;
        let mut reminded = Vec::new();
        for (number, job) in &mut self.under_way {
            if peers.is_held(&job.peer) {
                job.progress.since = now;
                job.held_until = job.held_until.map(|_| now + 2 * IDLE_TIMEOUT);
            } else if now >= job.given_up_at() {
                hung = Some(Hung {
                    peer: job.peer.clone(),
                    waited: now.since(job.progress.since),
                    is_in_way: job.held_until.is_some_and(|until| now >= until),
                });
            } else if now >= job.begun_at + job.remind_after {
                job.remind_after *= 2;
                reminded.push(*number);
            }
        }
        (hung, reminded)
    }

    /// Moves all deadlines by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        for job in self.under_way.values_mut() {
            job.begun_at = job.begun_at + by;
            job.held_until = job.held_until.map(|at| at + by);
            job.progress.since = job.progress.since + by;
        }
    }
}

impl Job {
    /// Sends its first parts.
    fn send(
        &self,
        number: u64,
        parts: usize,
        step_log: &StepLog,
        terms: &JobTerms<'_>,
        cx: &mut Context<'_>,
    ) {
        let Some(to) = terms.peers.routing(&self.peer) else {
            return;
        };
        let (cells, speaks, again) = match &self.task {
            Task::Replay {
                cells,
                speaks,
                again,
                ..
            } => (cells.clone(), *speaks, again.clone()),
            Task::Introduce { .. } => (Vec::new(), false, None),
        };
        let base = step_log.base().filter(|_| !self.goes_on);
        let snapshots = base.into_iter().flat_map(|base| &base.cells);
        let snapshots = snapshots
            .filter(|snapshot| cells.binary_search(&snapshot.cell).is_ok())
            .cloned()
            .map(CatchUpContent::Cell);
        let mut contents: Vec<CatchUpContent> = snapshots.collect();
        let steps = self.steps(step_log, terms.under_way).into_iter();
        contents.extend(steps.map(CatchUpContent::Steps));
        let begin = CatchUpContent::Begin {
            parts: contents.len() as u32 + 1,
            from: self.from,
            until: self.until,
            scene: base.map(|base| base.scene.clone()),
            cells,
            speaks,
            again,
            joins: self.joins,
            becomes_host: self.becomes_host,
        };
        contents.insert(0, begin);
        for (part, content) in (0..).zip(contents).take(parts) {
            cx.push(PrimaryOutput::Send {
                to: to.clone(),
                message: PrimaryToSecondary::CatchUp(Box::new(CatchUp {
                    job: number,
                    part,
                    content,
                })),
            });
        }
    }

    /// Returns its steps, as many together as fit into a message.
    fn steps(&self, step_log: &StepLog, under_way: Option<&Step>) -> Vec<Vec<Step>> {
        let steps = step_log.after(self.from).chain(under_way);
        let mut parts: Vec<Vec<Step>> = Vec::new();
        let mut bytes = 0;
        for step in steps.take_while(|step| step.sequence <= self.until) {
            let size = step_log::size(step);
            let is_full = |part: &Vec<Step>| {
                part.len() >= STEPS_PER_PART || bytes + size > step_log::PART_BYTES_MAX
            };
            if parts.last().is_none_or(is_full) {
                parts.push(Vec::new());
                bytes = 0;
            }
            bytes += size;
            if let Some(part) = parts.last_mut() {
                part.push(step.clone());
            }
        }
        parts
    }

    /// Checks that its answer is about its cells and its last step. A run that goes on right after
    /// its checkpoint has no step to do again.
    ///
    /// # Errors
    /// Fails when it is about others.
    pub(crate) fn check_answer(&self, cells: &[CellId], ack: &StepAck) -> Result<(), AckError> {
        let acked = ack.cells.iter().map(|one| one.cell);
        let agrees = ack.sequence == self.until && acked.eq(cells.iter().copied());
        if agrees || self.from >= self.until {
            Ok(())
        } else {
            Err(AckError::OtherCells)
        }
    }

    /// Returns the time when its peer counts as lost, unless progress is heard before.
    fn given_up_at(&self) -> SessionTime {
        let at = self.progress.since + self.progress.timeout;
        self.held_until.map_or(at, |until| until.min(at))
    }
}

impl Recovery {
    /// Has a secondary do a task.
    pub(crate) fn begin_job(
        &mut self,
        peer: PeerName,
        task: Task,
        terms: &JobTerms<'_>,
        cx: &mut Context<'_>,
    ) {
        let position = terms.peers.position_of(&peer);
        let is_introduction = matches!(task, Task::Introduce { .. });
        let base = self.step_log.from();
        let goes_on = is_introduction && position.is_some_and(|at| at >= base);
        let holds = matches!(task, Task::Replay { .. } | Task::Introduce { holds: true });
        let from = position.filter(|_| goes_on).unwrap_or(base);
        let until = if holds {
            terms.sequence
        } else {
            self.step_log.until()
        };
        let becomes_host = !terms.peers.takes_part(&peer);
        let took = SLOWDOWN * self.step_log.took_after(from);
        let is_needed = self.losses.is_under_way() || !terms.can_recover;
        let is_in_way = matches!(task, Task::Introduce { holds: true }) && !is_needed;
        let job = Job {
            held_until: is_in_way.then(|| cx.now + 2 * IDLE_TIMEOUT + took),
            joins: holds && becomes_host,
            becomes_host,
            peer,
            task,
            from,
            until,
            goes_on,
            begun_at: cx.now,
            remind_after: FIRST_REMINDER,
            progress: Progress {
                replayed: None,
                is_answered: false,
                since: cx.now,
                timeout: terms.step_timeout + took,
                timeout_of_step: terms.step_timeout,
            },
        };
        self.jobs.next += 1;
        let number = self.jobs.next;
        job.send(number, usize::MAX, &self.step_log, terms, cx);
        self.jobs.under_way.insert(number, job);
    }

    /// Tells how far jobs are that take long, and sends those again that their peers have not
    /// begun although they have nothing else to do. Returns one that makes no progress.
    pub(crate) fn continue_jobs(
        &mut self,
        terms: &JobTerms<'_>,
        is_missing: impl Fn(&PeerName) -> bool,
        cx: &mut Context<'_>,
    ) -> Option<Hung> {
        let (hung, reminded) = self.jobs.look(terms.peers, cx.now);
        for number in reminded {
            self.remind_of_job(number, terms, &is_missing, cx);
        }
        hung
    }

    fn remind_of_job(
        &self,
        number: u64,
        terms: &JobTerms<'_>,
        is_missing: impl Fn(&PeerName) -> bool,
        cx: &mut Context<'_>,
    ) {
        let Some(job) = self.jobs.under_way.get(&number) else {
            return;
        };
        let peer = &job.peer;
        // It reads nothing meanwhile, and what is sent to it again would only pile up.
        let owes_step = is_missing(peer) && !self.losses.owes(peer);
        let mut earlier = self.jobs.under_way.range(..number);
        let is_busy = owes_step || earlier.any(|(_, other)| other.peer == *peer);
        let text = match job.progress.replayed {
            Some(_) if job.progress.is_answered => {
                // The answer was lost; any part of the job makes it come again.
                job.send(number, 1, &self.step_log, terms, cx);
                format!("{peer} has replayed its steps, and is asked for its answer again")
            }
            Some(replayed) => {
                let steps = job.until.0 - job.from.0;
                let done = replayed.0.saturating_sub(job.from.0).min(steps);
                format!("{peer} has replayed {done} of {steps} steps")
            }
            None if is_busy => format!("{peer} is still busy before it replays"),
            None => {
                job.send(number, usize::MAX, &self.step_log, terms, cx);
                format!("{peer} has not begun to replay")
            }
        };
        cx.event(Severity::Info, "recovery", text);
    }
}
