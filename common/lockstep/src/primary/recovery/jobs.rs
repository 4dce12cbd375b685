//! Jobs: who does again what, and who is told what it has missed.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{
    CatchUp, CatchUpContent, DataAgain, PrimaryToSecondary, Step,
};
use protocol::secondary_to_primary::{CaughtUp, WorkProgress};
use protocol::{CellId, PeerName, Sequence, SessionTime, StopReason};

use crate::primary::context::Context;
use crate::primary::peers::liveness::IDLE_TIMEOUT;
use crate::primary::recovery::step_log;
use crate::primary::{Primary, PrimaryOutput};

/// How many steps go into one part at most.
const STEPS_PER_PART: usize = 256;
/// After how long the progress of a job is told, and its parts are sent again to a peer that has
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
    /// Who does it.
    pub(crate) peer: PeerName,
    pub(crate) task: Task,
    /// After which step it begins and with which it ends.
    pub(crate) from: Sequence,
    pub(crate) until: Sequence,
    /// True if it goes on from where its peer is.
    goes_on: bool,
    /// True if its peer takes part from the next step on.
    joins: bool,
    /// True if its peer takes no part yet.
    becomes_host: bool,
    begun_at: SessionTime,
    /// Until when the run waits for one whom it does not need, whatever is heard of it.
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
    /// Time when that was heard, or since when the peer has had nothing else to do.
    since: SessionTime,
    /// For how long it is waited for: for all steps, and for each one once progress is heard.
    patience: Duration,
    patience_of_step: Duration,
}

/// What a job is for.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Do again what a lost secondary did.
    Replay {
        /// The number of the loss.
        loss: u64,
        lost: PeerName,
        /// Ascending.
        cells: Vec<CellId>,
        speaks: bool,
        /// What observers may lack of what the lost one said.
        again: Option<DataAgain>,
    },
    /// Bring who joins up to date; with `holds` the next step waits for it.
    Introduce { holds: bool },
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

    /// Returns when something is to be done about a job that is not answered.
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

    /// Takes note of what a heartbeat says of the jobs of its sender.
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
            progress.patience = progress.patience_of_step;
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
    /// Returns when its peer counts as lost, unless progress is heard before.
    fn given_up_at(&self) -> SessionTime {
        let at = self.progress.since + self.progress.patience;
        self.held_until.map_or(at, |until| until.min(at))
    }
}

impl Primary {
    pub(crate) fn begin_job(&mut self, peer: PeerName, task: Task, cx: &mut Context<'_>) {
        let position = self.peers.position_of(&peer);
        let is_introduction = matches!(task, Task::Introduce { .. });
        let goes_on =
            is_introduction && position.is_some_and(|at| at >= self.recovery.step_log.from());
        let holds = matches!(task, Task::Replay { .. } | Task::Introduce { holds: true });
        let (from, until) = (
            position
                .filter(|_| goes_on)
                .unwrap_or(self.recovery.step_log.from()),
            if holds {
                self.clock.sequence
            } else {
                self.recovery.step_log.until()
            },
        );
        let becomes_host = !self.peers.secondaries.contains(&peer);
        let took = SLOWDOWN * self.recovery.step_log.took_after(from);
        let is_needed = self.recovery.losses.is_under_way() || !self.can_recover();
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
                patience: self.settings.step_timeout + took,
                patience_of_step: self.settings.step_timeout,
            },
        };
        self.recovery.jobs.next += 1;
        let number = self.recovery.jobs.next;
        self.send_job(number, &job, usize::MAX, cx);
        self.recovery.jobs.under_way.insert(number, job);
    }

    /// Sends the first parts of a job.
    fn send_job(&self, number: u64, job: &Job, parts: usize, cx: &mut Context<'_>) {
        let Some(member) = self.peers.roster.get(&job.peer) else {
            return;
        };
        let (cells, speaks, again) = match &job.task {
            Task::Replay {
                cells,
                speaks,
                again,
                ..
            } => (cells.clone(), *speaks, again.clone()),
            Task::Introduce { .. } => (Vec::new(), false, None),
        };
        let base = self.recovery.step_log.base().filter(|_| !job.goes_on);
        let snapshots = base.into_iter().flat_map(|base| &base.cells);
        let snapshots = snapshots
            .filter(|snapshot| cells.binary_search(&snapshot.cell).is_ok())
            .cloned()
            .map(CatchUpContent::Cell);
        let mut contents: Vec<CatchUpContent> = snapshots.collect();
        contents.extend(self.steps_of(job).into_iter().map(CatchUpContent::Steps));
        let begin = CatchUpContent::Begin {
            parts: contents.len() as u32 + 1,
            from: job.from,
            until: job.until,
            scene: base.map(|base| base.scene.clone()),
            cells,
            speaks,
            again,
            joins: job.joins,
            becomes_host: job.becomes_host,
        };
        contents.insert(0, begin);
        for (part, content) in (0..).zip(contents).take(parts) {
            cx.push(PrimaryOutput::Send {
                to: member.routing.clone(),
                message: PrimaryToSecondary::CatchUp(Box::new(CatchUp {
                    job: number,
                    part,
                    content,
                })),
            });
        }
    }

    /// Returns the steps of a job, as many together as fit into a message.
    fn steps_of(&self, job: &Job) -> Vec<Vec<Step>> {
        let under_way = self.barrier.round.as_ref().map(|round| &*round.step);
        let steps = self.recovery.step_log.after(job.from).chain(under_way);
        let mut parts: Vec<Vec<Step>> = Vec::new();
        let mut bytes = 0;
        for step in steps.take_while(|step| step.sequence <= job.until) {
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

    pub(crate) fn on_caught_up(
        &mut self,
        sender: &PeerName,
        answer: CaughtUp,
        cx: &mut Context<'_>,
    ) {
        let is_its = |job: &Job| job.peer == *sender;
        if !self
            .recovery
            .jobs
            .under_way
            .get(&answer.job)
            .is_some_and(is_its)
        {
            self.peers.refused.stale += 1;
            return;
        }
        let Some(job) = self.recovery.jobs.under_way.remove(&answer.job) else {
            return;
        };
        self.recovery.jobs.note_free(sender, cx.now);
        self.wait_anew_for(sender, cx.now);
        let (digests, ack) = match answer.result {
            Ok(done) => done,
            Err(why) => return self.on_job_failed(job, &why, cx),
        };
        if job.joins {
            self.take_part(sender, cx);
        }
        match job.task {
            Task::Replay { .. } => self.on_redone(job, &digests, ack, cx),
            Task::Introduce { .. } => self.on_introduced(&job, cx),
        }
    }

    fn on_job_failed(&mut self, job: Job, why: &str, cx: &mut Context<'_>) {
        let peer = &job.peer;
        match &job.task {
            Task::Replay { lost, .. } => {
                let cause = format!("{peer} could not restore the cells of {lost}: {why}");
                let reason = StopReason::new(Outcome::Failed, cause);
                if self.is_dispensable(peer) {
                    return self.discard(job, reason, cx);
                }
                self.begin_stopping(reason, cx);
            }
            Task::Introduce { .. } => {
                let cause = format!("{peer} could not be brought up to date: {why}");
                let reason = StopReason::new(Outcome::Failed, cause);
                self.on_lost(peer, reason, cx);
            }
        }
    }

    /// Tells how far jobs are that take long, and sends those again that their peers have not
    /// begun although they have nothing else to do. Who makes no progress is lost.
    pub(crate) fn continue_jobs(&mut self, cx: &mut Context<'_>) {
        let mut hung = None;
        let mut reminded = Vec::new();
        for (number, job) in &mut self.recovery.jobs.under_way {
            let member = self.peers.roster.get(&job.peer);
            if member.is_some_and(|member| member.watch.is_held()) {
                job.progress.since = cx.now;
                job.held_until = job.held_until.map(|_| cx.now + 2 * IDLE_TIMEOUT);
            } else if cx.now >= job.given_up_at() {
                let is_in_way = job.held_until.is_some_and(|until| cx.now >= until);
                hung = Some((
                    job.peer.clone(),
                    cx.now.since(job.progress.since),
                    is_in_way,
                ));
            } else if cx.now >= job.begun_at + job.remind_after {
                job.remind_after *= 2;
                reminded.push(*number);
            }
        }
        for number in reminded {
            self.remind_of_job(number, cx);
        }
        if let Some((name, waited, is_in_way)) = hung {
            if is_in_way {
                self.peers.handshakes.close(cx.now);
            }
            let seconds = waited.as_secs_f64();
            let cause = format!("{name} made no progress in {seconds:.1} s with what it replays");
            self.on_lost(&name, StopReason::new(Outcome::PeerLost, cause), cx);
        }
    }

    fn remind_of_job(&mut self, number: u64, cx: &mut Context<'_>) {
        let Some(job) = self.recovery.jobs.under_way.get(&number) else {
            return;
        };
        let peer = &job.peer;
        let text = match job.progress.replayed {
            Some(_) if job.progress.is_answered => {
                // The answer was lost; any part of the job makes it come again.
                self.send_job(number, job, 1, cx);
                format!("{peer} has replayed its steps, and is asked for its answer again")
            }
            Some(replayed) => {
                let steps = job.until.0 - job.from.0;
                let done = replayed.0.saturating_sub(job.from.0).min(steps);
                format!("{peer} has replayed {done} of {steps} steps")
            }
            None if self.is_busy(peer, number) => format!("{peer} is still busy before it replays"),
            None => {
                self.send_job(number, job, usize::MAX, cx);
                format!("{peer} has not begun to replay")
            }
        };
        cx.event(Severity::Info, "recovery", text);
    }

    /// Tells whether a peer has something else to do than a job: it reads nothing meanwhile, and
    /// what is sent to it again would only pile up.
    fn is_busy(&self, peer: &PeerName, number: u64) -> bool {
        let mut jobs = self.recovery.jobs.under_way.range(..number);
        let owes_step = self.blocking().any(|name| name == peer);
        owes_step && !self.recovery.losses.owes(peer) || jobs.any(|(_, other)| other.peer == *peer)
    }
}
