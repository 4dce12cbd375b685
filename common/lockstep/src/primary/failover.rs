//! Routes of secondaries that join, are lost, drained, or told to stop: what becomes of them
//! concerns the barrier, placement and recovery alike. The rules themselves are those of the
//! components.

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::{CellSnapshot, PrimaryToSecondary, SceneSnapshot, Step};
use protocol::report::divergence::DivergenceReport;
use protocol::secondary_to_primary::{CatchUpError, CaughtUp, CellDigests, Loaded, StepAck};
use protocol::{CellId, FailureCode, PeerName, Sequence, SessionTime, StopReason};

use crate::checkpoint::Checkpoint;
use crate::peer_numbers::PeerNumber;
use crate::primary::barrier::acks::StandbyAnswer;
use crate::primary::barrier::divergence::Replayed;
use crate::primary::barrier::round::Overdue;
use crate::primary::context::{Context, Failure};
use crate::primary::peers::handshake::DrainFailure;
use crate::primary::peers::liveness::{DiagnosisVerdict, IDLE_TIMEOUT, Part};
use crate::primary::peers::startup::{Entry, LoadVerdict, SyncVerdict};
use crate::primary::placement::Placement;
use crate::primary::purpose::Purpose;
use crate::primary::recovery::checkpoints::PartVerdict;
use crate::primary::recovery::jobs::{Job, JobTerms};
use crate::primary::recovery::losses::NewLoss;
use crate::primary::recovery::task::Task;
use crate::primary::{PeerLossPolicy, Phase, Primary, PrimaryOutput, ProcessReport};

/// Most steps by which one who joins may be behind for the run to wait for it, or twice as many as
/// the last window had.
const GAP_MAX: u64 = 64;

/// Joining.
impl Primary {
    /// Returns the conditions under which secondaries may join now.
    pub(super) fn entry(&self) -> Entry {
        match self.phase {
            Phase::Gathering => Entry::Gathering,
            Phase::Running => Entry::Running {
                keeps_past: self.recovery.keeps_past(&self.settings.recovery),
                is_needed: self.recovery.losses().is_under_way(),
            },
            Phase::Stopping | Phase::Finished => Entry::Over,
        }
    }

    pub(super) fn on_loaded(&mut self, sender: &PeerName, loaded: &Loaded, cx: &mut Context<'_>) {
        let is_over = self.phase.is_over();
        match self.peers.on_loaded(sender, loaded, is_over, cx) {
            LoadVerdict::Noted => {}
            LoadVerdict::OtherWorld(reason) => self.on_lost(sender, reason, cx),
        }
    }

    pub(super) fn on_synced(&mut self, sender: &PeerName, cx: &mut Context<'_>) {
        let verdict = self.peers.on_synced(sender, &self.settings.peers);
        match (verdict, self.phase) {
            (SyncVerdict::Ready { all: true }, Phase::Gathering) => self.begin_stepping(cx),
            (SyncVerdict::Ready { .. }, Phase::Running) => self.introduce(sender, cx),
            (SyncVerdict::Known | SyncVerdict::Ready { .. }, _) => {}
        }
    }

    /// Brings one who joins up to date; it hears every step from now on.
    fn introduce(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        self.peers.expect(name);
        if self.recovery.losses().has_unassigned() {
            return self.go_on_with_recovery(cx);
        }
        self.begin_introduction(name.clone(), cx);
    }

    fn begin_introduction(&mut self, name: PeerName, cx: &mut Context<'_>) {
        let from = self.recovery.step_log().from();
        let window = u64::from(self.barrier.speculation().last_window());
        let gap_max = GAP_MAX.max(2 * window);
        let is_near =
            |at: Sequence| at >= from && self.clock.sequence().0.saturating_sub(at.0) <= gap_max;
        let holds = self.peers.position_of(&name).is_some_and(is_near);
        self.begin_job(name, Task::Introduce { holds }, cx);
    }

    /// Goes on with one who joins and has come closer.
    fn on_introduced(&mut self, job: &Job, cx: &mut Context<'_>) {
        if self.peers.takes_part(&job.peer) {
            return self.go_on_with_recovery(cx);
        }
        self.peers.note_position(&job.peer, job.until);
        if self.recovery.jobs().has(&job.peer) {
            // It restores what is lost meanwhile, and takes part once that is done.
            return;
        }
        self.begin_introduction(job.peer.clone(), cx);
    }

    /// Begins a run that was resumed: all its cells are to be restored by those who came.
    pub(super) fn begin_from(&mut self, checkpoint: Checkpoint, cx: &mut Context<'_>) {
        self.recovery.begin_from(checkpoint, cx.now);
        let all = self.peers.join_again();
        self.go_on_with_recovery(cx);
        for name in &all {
            if !self.recovery.jobs().has(name) && !self.peers.takes_part(name) {
                self.introduce(name, cx);
            }
        }
    }

    /// Ends the wait of those who are to be synced, or for somebody to restore what is lost, and
    /// that for answers of those without cells.
    pub(super) fn continue_waiting(&mut self, cx: &mut Context<'_>) {
        self.drop_silent_standbys(cx);
        self.peers.sync_joining(cx);
        if let Some(reason) = self.recovery.gave_up(&self.settings.peers, cx.now) {
            self.begin_stopping(reason, cx);
        }
    }
}

/// Waiting for acks.
impl Primary {
    /// Decides who is waited for in a message that brings a step: those who host a cell, speak for
    /// the worlds or restore what is lost, and all where time is to stand still.
    pub(super) fn choose_awaited(&mut self, purpose: Purpose, step: &Step) {
        let all = match purpose {
            Purpose::Build | Purpose::Pause => true,
            Purpose::Fetch | Purpose::Advance | Purpose::Rearrange => false,
        };
        let (seats, known) = (self.peers.seats(), self.peers.numbers());
        let (placement, recovery) = (&self.placement, &self.recovery);
        let has_part = |number: PeerNumber| {
            let name = known.name(number);
            !placement.host_map().hosted(number).is_empty()
                || step.world_publisher.as_ref() == Some(name)
                || recovery.jobs().has(name)
        };
        self.barrier.choose_awaited(seats, all, has_part, known);
    }

    /// Takes note of the time that one took for a step of which nothing waits for it.
    pub(super) fn note_standby(
        &mut self,
        number: PeerNumber,
        answer: StandbyAnswer,
        now: SessionTime,
    ) {
        let StandbyAnswer {
            sequence,
            iteration,
            timing,
        } = answer;
        self.recovery.note_answered(number, Some(sequence));
        self.recovery.jobs_mut().note_free(&timing.name, now);
        if let Some(iteration) = iteration.filter(|_| self.settings.cells.balance) {
            self.placement.note_ways(iteration, &[timing], &self.peers);
        }
    }

    /// Waits on for a step: it is sent again, reported, and its blockers are given up in the end.
    pub(super) fn continue_round(&mut self, cx: &mut Context<'_>) {
        let (peers, recovery) = (&self.peers, &self.recovery);
        let is_waited_for = |name: &PeerName| {
            let is_here = peers.takes_part(name) && !recovery.losses().owes(name);
            is_here && !recovery.jobs().is_at_work(name)
        };
        let Some(Overdue { missing, resends }) = self.barrier.overdue(is_waited_for, cx.now) else {
            return;
        };
        if let Some(name) = self.idle_without_answer(&missing, cx) {
            return self.drop_idle(&name, cx);
        }
        let given_up = self.expired(&missing, cx);
        if !given_up.is_empty() {
            let round = self.barrier.round();
            let iteration = round.map_or(cx.iteration, |round| round.step().iteration);
            let step_timeout = self.settings.peers.step_timeout;
            let given_up_after =
                round.map_or(step_timeout, |round| round.given_up_after(step_timeout));
            let seconds = given_up_after.as_secs_f64();
            for name in given_up {
                let cause = format!(
                    "{} did not acknowledge iteration {iteration} in {seconds} s",
                    self.peers.described(&name)
                );
                self.on_lost(&name, StopReason::new(Outcome::PeerLost, cause), cx);
            }
            return;
        }
        if resends {
            self.send_again(&missing, cx);
        }
        self.escalate(&missing, cx);
    }

    /// Returns one that hosts nothing and beats, and has not answered in its time.
    fn idle_without_answer(&self, missing: &[PeerName], cx: &Context<'_>) -> Option<PeerName> {
        let round = self.barrier.round()?;
        let since = round.free_since();
        if !self.can_recover() || cx.now < since + IDLE_TIMEOUT {
            return None;
        }
        let is_idle = |name: &&PeerName| {
            let is_given = round.snapshots().iter().any(|(to, _)| to == *name);
            let is_asked = self.is_host(name) || is_given || self.recovery.jobs().has(name);
            self.peers.beats_since(name, since + IDLE_TIMEOUT / 2) && !is_asked
        };
        missing.iter().find(is_idle).cloned()
    }

    /// Drops those that host nothing and beat, and answer none of the steps that go on meanwhile.
    fn drop_silent_standbys(&mut self, cx: &mut Context<'_>) {
        for number in self.barrier.take_silent_standbys(IDLE_TIMEOUT, cx.now) {
            let name = self.peers.numbers().name(number).clone();
            let beats = self
                .peers
                .has_beaten_within(&name, IDLE_TIMEOUT / 2, cx.now);
            let is_suspect = self.barrier.suspect_standby(number, beats);
            let is_free = self.peers.takes_part(&name) && !self.recovery.jobs().has(&name);
            if is_suspect && is_free && !self.is_host(&name) && self.can_recover() {
                self.drop_idle(&name, cx);
            }
        }
    }

    fn drop_idle(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        let cause = format!(
            "{} hosts nothing, beats, and did not acknowledge a step in {} s",
            self.peers.described(name),
            IDLE_TIMEOUT.as_secs()
        );
        self.on_lost(name, StopReason::new(Outcome::PeerLost, cause), cx);
    }

    /// Returns those who have not answered in time and are not waited for any longer.
    fn expired(&mut self, missing: &[PeerName], cx: &Context<'_>) -> Vec<PeerName> {
        let step_timeout = self.settings.peers.step_timeout;
        let round = self.barrier.round_mut();
        if !round.is_some_and(|round| round.take_loss(step_timeout, cx.now)) {
            return Vec::new();
        }
        let given_up = missing.iter().filter(|name| !self.peers.is_held(name));
        given_up.cloned().collect()
    }

    /// Sends the step under way, with its snapshots, to those who have not answered and do not say
    /// that they are at work on it.
    fn send_again(&mut self, missing: &[PeerName], cx: &mut Context<'_>) {
        for name in missing {
            let Some(round) = self.barrier.round() else {
                return;
            };
            let sequence = round.step().sequence;
            let member = self.peers.roster().find(name);
            let (number, member) = member.expect("who is waited for is a member");
            let work = member.heartbeat.work;
            if work.step >= sequence && work.answered < sequence {
                // It works on it and reads nothing meanwhile.
                continue;
            }
            for (_, snapshot) in round.snapshots().iter().filter(|(to, _)| to == name) {
                self.peers.send_snapshot(name, snapshot, cx);
            }
            let mut steps = self.barrier.unanswered_before(number);
            steps.push(round.shared_step());
            for step in steps {
                cx.push(PrimaryOutput::Send {
                    to: member.routing.clone(),
                    message: PrimaryToSecondary::Step(step),
                });
            }
            self.barrier.note_sent_again(number);
        }
    }

    /// Names those for whom a step has waited, and has them examined, as is due.
    fn escalate(&mut self, missing: &[PeerName], cx: &mut Context<'_>) {
        let Some(round) = self.barrier.round_mut() else {
            return;
        };
        let iteration = round.step().iteration;
        let due = round.escalate(cx.now);
        if let Some(after) = due.warning {
            let seconds = after.as_secs_f64();
            let blockers = missing.iter().map(|name| match self.levels_of(name) {
                Some(levels) => format!("{name}, which hosts {levels}"),
                None => name.to_string(),
            });
            let blockers: Vec<String> = blockers.collect();
            let text = format!(
                "iteration {iteration} has waited {seconds} s for {}",
                blockers.join(", ")
            );
            cx.event(Severity::Warning, "step", text);
            self.peers.note_cpu_times(missing);
        }
        if due.examines {
            for name in missing {
                self.peers.look_at(name, cx);
            }
        }
    }

    pub(super) fn on_diagnosed(
        &mut self,
        peer: &PeerName,
        process: &ProcessReport,
        cx: &mut Context<'_>,
    ) {
        let is_missing = self.barrier.missing().any(|missing| missing == peer);
        let part = Part {
            answered: is_missing.then_some(cx.iteration),
            levels: self.levels_of(peer),
        };
        let settings = &self.settings.peers;
        let verdict = self.peers.on_diagnosed(peer, process, &part, settings, cx);
        if verdict == DiagnosisVerdict::GoesOn
            && let Some(round) = self.barrier.round_mut()
        {
            let given_up_after = round.given_up_after(settings.step_timeout);
            round.restart_timeout(given_up_after, cx.now);
        }
    }
}

/// Losses.
impl Primary {
    /// Tells whether the run goes on without a secondary that is lost.
    pub(super) fn can_recover(&self) -> bool {
        let keeps_past = self.recovery.keeps_past(&self.settings.recovery);
        self.settings.recovery.on_peer_loss == PeerLossPolicy::Recover
            && (keeps_past || self.phase == Phase::Gathering)
            && !self.phase.is_over()
    }

    /// Goes on without a secondary that is lost: its work goes to others, or the run ends.
    pub(super) fn on_lost(&mut self, name: &PeerName, reason: StopReason, cx: &mut Context<'_>) {
        let takes_part = self.peers.takes_part(name);
        let is_gathering = self.phase == Phase::Gathering;
        cx.announce(Announce::Left {
            name: name.clone(),
            reason: reason.clone(),
        });
        if !(self.can_recover() || !takes_part && !is_gathering) {
            let why = self.recovery.reason_against().filter(|_| takes_part);
            let cause = why.map(|why| format!("{} (not recovered: {why})", reason.cause));
            let reason = StopReason::new(reason.outcome, cause.unwrap_or(reason.cause));
            return self.begin_stopping(reason, cx);
        }
        if !self.peers.remove(name, reason.clone(), cx) {
            return;
        }
        self.barrier.forget(self.peers.numbers().find(name));
        self.peers.forget_joiner(name);
        self.recovery.give_back_jobs_of(name);
        let text = if takes_part {
            let mut cells = self.hosted_now(name);
            cells.extend(self.recovery.losses().restored_by(name));
            let names = cells.iter().map(|cell| self.world.cell_name(*cell));
            let names: Vec<&str> = names.collect();
            let cells = match names.as_slice() {
                [] => "it hosted no cell".to_owned(),
                some => format!("restoring {}", some.join(", ")),
            };
            format!("{}; {cells}", reason.cause)
        } else {
            reason.cause
        };
        cx.event(Severity::Warning, "recovery", text);
        if takes_part {
            self.lose(name, cx);
        }
        self.go_on_with_recovery(cx);
    }

    /// Has the cells of a secondary restored, and its answer given in its place.
    ///
    /// An example: s2 is lost while s1 has answered step 9 and s2 has not. The round of step 9
    /// stays open, its loss owes the answer. s1 gets a job: the snapshots of the last checkpoint,
    /// say of step 5, and steps 6 to 9. The digests of 6 to 8 must be those that s2 gave, and the
    /// answer to 9 counts as that of s2. Then the round is complete, and step 10 tells that the
    /// cells are at s1.
    fn lose(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        if !self.is_host(name) && self.has_held_the_run(name, cx) {
            self.peers.close(cx.now);
        }
        self.peers.withdraw(name);
        self.recovery.drop_coming_checkpoint();
        // Another of this name may be lost and not replaced yet: what that one hosted, owed and
        // said is being restored already.
        let cells = self.hosted_now(name);
        let is_first = !self.recovery.losses().has_lost(name);
        let reason = "the secondary was lost before the cell could move";
        let failure = Failure::new(FailureCode::Lost, reason);
        self.placement.drop_migrations_of(&cells, &failure, cx);
        self.placement.drop_migrations_to(name, &failure, cx);
        self.peers.fail_drain(name, DrainFailure::Lost, cx);
        self.recovery.losses_mut().forget_arriving_at(name);
        let known = self.peers.numbers();
        let host_map = self.placement.host_map();
        let under_way = self.barrier.step();
        self.recovery
            .lose_restored((name, known), host_map, under_way, cx.now);
        let is_missing = self.barrier.round().is_some_and(|one| one.is_missing(name));
        let owes = is_missing && !self.recovery.losses().owes(name);
        let world_publisher = under_way.and_then(|step| step.world_publisher.as_ref());
        let speaks = owes && world_publisher == Some(name);
        let again = (is_first || !cells.is_empty())
            .then(|| self.recovery.republish(name, &cells, under_way, known));
        if owes
            && cells.is_empty()
            && !speaks
            && let Some(round) = self.barrier.round_mut()
        {
            round.forgive(name);
        }
        let loss = NewLoss {
            name: name.clone(),
            cells,
            owes,
            speaks,
            again,
            is_counted: true,
        };
        self.recovery.losses_mut().lose(loss, cx.now);
    }

    /// Tells whether the step under way has waited long for somebody who is lost now.
    fn has_held_the_run(&self, name: &PeerName, cx: &Context<'_>) -> bool {
        let round = self.barrier.round();
        round.is_some_and(|one| one.is_missing(name) && one.waited(cx.now) >= IDLE_TIMEOUT / 2)
    }

    /// Returns the cells that a secondary hosts, without those that were hosted by another of its
    /// name and are restored elsewhere.
    fn hosted_now(&self, name: &PeerName) -> Vec<CellId> {
        let cells = self.placement.hosted_by(name, self.peers.numbers());
        let cells = cells.iter().copied();
        cells
            .filter(|cell| !self.recovery.losses().has(*cell))
            .collect()
    }

    /// Returns the names of the levels of a secondary's cells, for people.
    fn levels_of(&self, name: &PeerName) -> Option<String> {
        let cells = self.placement.hosted_by(name, self.peers.numbers());
        Placement::levels_of(cells, &self.world)
    }

    /// Tells whether cells of a secondary are part of the run, so that its word counts.
    pub(super) fn is_host(&self, name: &PeerName) -> bool {
        !self.hosted_now(name).is_empty() || self.recovery.losses().is_new_host(name)
    }

    /// Gives what nobody restores to those who are there, and goes on when nothing is left.
    fn go_on_with_recovery(&mut self, cx: &mut Context<'_>) {
        let hosts = self.peers.hosts_for_lost_cells();
        let losses = self.recovery.losses_mut();
        for (peer, task) in losses.assign(&hosts, &mut self.placement, cx) {
            self.begin_job(peer, task, cx);
        }
        for loss in self.recovery.losses_mut().close(&self.world, cx) {
            if loss.owes
                && let Some(round) = self.barrier.round_mut()
            {
                round.forgive(&loss.name);
            }
            if loss.is_counted {
                self.world.count_recovery();
            }
        }
        if self.recovery.is_held() {
            return;
        }
        if self.barrier.is_answered() {
            self.complete_step(cx);
        } else if self.barrier.is_free() {
            self.advance(cx);
        }
    }

    /// Has restored cells count as hosted where they are: no step is under way.
    pub(super) fn take_restored(&mut self) {
        for (cell, host) in self.recovery.losses_mut().take_restored() {
            self.placement.place(cell, &host, self.peers.numbers());
        }
    }
}

/// Jobs of secondaries that replay steps.
impl Primary {
    fn begin_job(&mut self, peer: PeerName, task: Task, cx: &mut Context<'_>) {
        let can_recover = self.can_recover();
        let terms = JobTerms {
            peers: &self.peers,
            under_way: self.barrier.step(),
            sequence: self.clock.sequence(),
            step_timeout: self.settings.peers.step_timeout,
            can_recover,
        };
        self.recovery.begin_job(peer, task, &terms, cx);
    }

    /// Reminds of jobs that take long. Who makes no progress is lost.
    pub(super) fn continue_jobs(&mut self, cx: &mut Context<'_>) {
        let can_recover = self.can_recover();
        let terms = JobTerms {
            peers: &self.peers,
            under_way: self.barrier.step(),
            sequence: self.clock.sequence(),
            step_timeout: self.settings.peers.step_timeout,
            can_recover,
        };
        let is_missing = |name: &PeerName| self.barrier.missing().any(|missing| missing == name);
        let Some(hung) = self.recovery.continue_jobs(&terms, is_missing, cx) else {
            return;
        };
        if hung.is_in_way {
            self.peers.close(cx.now);
        }
        let (name, seconds) = (&hung.peer, hung.waited.as_secs_f64());
        let cause = format!("{name} made no progress in {seconds:.1} s with what it replays");
        self.on_lost(name, StopReason::new(Outcome::PeerLost, cause), cx);
    }

    pub(super) fn on_caught_up(
        &mut self,
        sender: &PeerName,
        answer: CaughtUp,
        cx: &mut Context<'_>,
    ) {
        let jobs = self.recovery.jobs_mut();
        let Some(job) = jobs.take_answered(sender, answer.job, cx.now) else {
            return self.peers.count_stale();
        };
        let number = self.peers.numbers().find(sender);
        self.barrier
            .wait_again_for((sender, number), self.settings.peers.step_timeout, cx.now);
        let (digests, ack) = match answer.result {
            Ok(done) => done,
            Err(error) => return self.on_job_failed(job, &error, cx),
        };
        if job.joins {
            self.barrier.speculation_mut().forget();
            let next = self.clock.sequence().next();
            self.peers.take_part(sender, next, cx);
        }
        match job.task {
            Task::Replay { .. } => self.on_replayed(job, &digests, ack, cx),
            Task::Introduce { .. } => self.on_introduced(&job, cx),
        }
    }

    fn on_job_failed(&mut self, job: Job, error: &CatchUpError, cx: &mut Context<'_>) {
        let peer = &job.peer;
        match &job.task {
            Task::Replay { lost, .. } => {
                let cause = format!("{peer} could not restore the cells of {lost}: {error}");
                let reason = StopReason::new(Outcome::Failed, cause);
                if self.is_dispensable(peer) {
                    return self.discard(job, reason, cx);
                }
                self.begin_stopping(reason, cx);
            }
            Task::Introduce { .. } => {
                let cause = format!("{peer} could not be brought up to date: {error}");
                let reason = StopReason::new(Outcome::Failed, cause);
                self.on_lost(peer, reason, cx);
            }
        }
    }

    /// Takes over cells that a job has restored, once what it did agrees with what was
    /// acknowledged.
    fn on_replayed(
        &mut self,
        job: Job,
        digests: &[CellDigests],
        ack: StepAck,
        cx: &mut Context<'_>,
    ) {
        let Task::Replay {
            loss, lost, cells, ..
        } = job.task.clone()
        else {
            unreachable!("the caller has looked");
        };
        if let Err(error) = job.check_answer(&cells, &ack) {
            let cause = format!("{} broke the protocol: {error}", job.peer);
            let reason = StopReason::new(Outcome::PeerLost, cause);
            if self.is_dispensable(&job.peer) {
                return self.discard(job, reason, cx);
            }
            return self.begin_stopping(reason, cx);
        }
        let owes = self.recovery.losses().owes_answer(loss);
        let known = (&self.world, self.placement.host_map());
        let step_log = self.recovery.step_log();
        let replayed = Replayed {
            peer: &job.peer,
            digests,
            ack: &ack,
            owes,
            until: step_log.until(),
        };
        let logged = |sequence, cell| step_log.digest(sequence, cell);
        if let Some(report) = self.barrier.divergence_in(&replayed, logged, known) {
            if self.is_dispensable(&job.peer) {
                let reason = StopReason::new(Outcome::DigestMismatch, report.sentence());
                return self.discard(job, reason, cx);
            }
            return self.diverge(report, cx);
        }
        if owes {
            let mut ack = ack;
            match self.barrier.on_ack_for(&lost, &cells, &mut ack, known) {
                Ok(answer) => self.take_over(answer, &mut ack, cx),
                Err(error) => {
                    let cause = format!("{} broke the protocol: {error}", job.peer);
                    let reason = StopReason::new(Outcome::PeerLost, cause);
                    if self.is_dispensable(&job.peer) {
                        return self.discard(job, reason, cx);
                    }
                    self.peers.count_malformed();
                    return self.begin_stopping(reason, cx);
                }
            }
        }
        let losses = self.recovery.losses_mut();
        losses.note_restored(loss, &cells, &job.peer);
        self.go_on_with_recovery(cx);
    }

    /// Tells whether the run goes on without doubt when the word of a secondary is not believed:
    /// it hosts nothing, and somebody else is there to do what it was asked for.
    fn is_dispensable(&self, name: &PeerName) -> bool {
        let hosts = self.peers.hosts_for_lost_cells();
        self.can_recover() && !self.is_host(name) && hosts.iter().any(|other| other != name)
    }

    /// Turns away somebody whose work on a job is wrong; others do it.
    fn discard(&mut self, job: Job, reason: StopReason, cx: &mut Context<'_>) {
        self.peers.count_malformed();
        self.recovery.losses_mut().give_back(job.task);
        self.on_lost(&job.peer, reason, cx);
    }

    pub(super) fn on_cell_checkpoint(
        &mut self,
        sender: &PeerName,
        snapshot: CellSnapshot,
        cx: &mut Context<'_>,
    ) {
        let cell = snapshot.cell;
        let verdict = self.recovery.on_cell_checkpoint(sender, snapshot);
        if verdict == PartVerdict::TooLarge {
            let cell = self.world.cell_name(cell);
            let reason = format!("cell {cell} of {sender} is too large to be saved");
            return self.recovery.give_up_checkpoints(reason, cx);
        }
        self.on_checkpoint_part(verdict, cx);
    }

    pub(super) fn on_scene_checkpoint(
        &mut self,
        sender: &PeerName,
        scene: SceneSnapshot,
        cx: &mut Context<'_>,
    ) {
        let verdict = self.recovery.on_scene_checkpoint(sender, scene);
        self.on_checkpoint_part(verdict, cx);
    }

    fn on_checkpoint_part(&mut self, verdict: PartVerdict, cx: &mut Context<'_>) {
        match verdict {
            PartVerdict::Stale => self.peers.count_stale(),
            PartVerdict::Foreign => self.peers.count_foreign(),
            PartVerdict::Taken => {
                let is_journaled = self.settings.recovery.is_journaled;
                self.recovery.complete_checkpoint(is_journaled, cx);
            }
            PartVerdict::TooLarge | PartVerdict::LetGo => {}
        }
    }
}

/// Drains.
impl Primary {
    /// Moves what those who leave still host, and lets them go who host nothing.
    pub(super) fn continue_draining(&mut self, cx: &mut Context<'_>) {
        for name in self.peers.draining() {
            let cells = self.hosted_now(&name);
            if cells.is_empty() && self.is_idle() && !self.recovery.is_held() {
                self.barrier.speculation_mut().forget();
                // What it has not sent of a checkpoint would count as that of a stranger.
                self.recovery.drop_coming_checkpoint();
                self.peers.dismiss(&name, cx);
                continue;
            }
            let hosts = self.peers.hosts().into_owned();
            if hosts.is_empty() {
                self.peers.fail_drain(&name, DrainFailure::Lost, cx);
            } else {
                self.placement.empty(cells, &hosts);
            }
        }
    }
}

/// The end.
impl Primary {
    /// Ends the run because two results of a step differ, and has that written down.
    pub(super) fn diverge(&mut self, mut report: DivergenceReport, cx: &mut Context<'_>) {
        if self.phase.is_over() {
            return;
        }
        report.bound();
        let sentence = report.sentence();
        cx.event(Severity::Error, "divergence", sentence.clone());
        cx.push(PrimaryOutput::Diverged(Box::new(report)));
        self.begin_stopping(StopReason::new(Outcome::DigestMismatch, sentence), cx);
    }

    /// Ends the run because a secondary says that a step done twice gave two results, if its word
    /// counts.
    pub(super) fn on_diverged(
        &mut self,
        sender: &PeerName,
        report: DivergenceReport,
        cx: &mut Context<'_>,
    ) {
        if !self.is_host(sender) {
            let cause = format!("{sender} says that bits differ, and hosts no cell");
            self.peers.count_malformed();
            let reason = StopReason::new(Outcome::DigestMismatch, cause);
            return self.on_lost(sender, reason, cx);
        }
        let peer = sender.clone();
        self.diverge(DivergenceReport { peer, ..report }, cx);
    }

    pub(super) fn begin_stopping(&mut self, reason: StopReason, cx: &mut Context<'_>) {
        if self.phase.is_over() {
            return;
        }
        let severity = match reason.outcome {
            Outcome::Completed | Outcome::Interrupted => Severity::Info,
            Outcome::ConfigurationError
            | Outcome::PeerLost
            | Outcome::DigestMismatch
            | Outcome::TimedOut
            | Outcome::Failed => Severity::Error,
        };
        cx.event(severity, "run", reason.to_string());
        let why = format!("the run ended: {reason}");
        let why = Failure::new(FailureCode::Ending, why);
        self.commands.waiters_mut().fail_all(&why, cx);
        self.resume.fail_waiting(&why, cx);
        self.placement.drop_migrations(&why, cx);
        self.recovery.fail_checkpoints(&why, cx);
        self.peers.fail_drains(&why, cx);
        self.commands.drop_all(&why, self.barrier.drop_round(), cx);
        self.peers.begin_shutdown(reason, &self.settings.peers, cx);
        self.phase = Phase::Stopping;
        self.finish_if_alone(cx);
    }

    pub(super) fn on_leave(
        &mut self,
        sender: &PeerName,
        reason: &StopReason,
        cx: &mut Context<'_>,
    ) {
        match self.peers.on_leave(sender, reason, cx) {
            // Whom it waited for would not come to another one either.
            Some(reason)
                if self.phase == Phase::Gathering && reason.outcome == Outcome::TimedOut =>
            {
                self.begin_stopping(reason, cx);
            }
            Some(reason) => self.on_lost(sender, reason, cx),
            None => self.finish_if_alone(cx),
        }
    }

    pub(super) fn finish_if_alone(&mut self, cx: &mut Context<'_>) {
        if self.peers.finish_if_alone(cx) {
            self.phase = Phase::Finished;
        }
    }
}
