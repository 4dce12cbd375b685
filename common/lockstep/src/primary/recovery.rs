//! Secondaries that are lost: their cells are restored on others, from the last checkpoint and the
//! steps since, and the run goes on as if nothing had been.
//!
//! A loss is over when every cell that the lost one hosted has been brought up to date elsewhere,
//! and when the answer that it may have owed has been given in its place. Until then the round
//! under way is not complete and no other begins. The new hosts are told with the next step.
//! **Invariant:** what is done again has the digests that were acknowledged, or the run ends.

pub(crate) mod checkpoints;
pub(crate) mod jobs;
pub(crate) mod losses;
pub(crate) mod republish;
pub(crate) mod step_log;

use crate::primary::world::WorldState;
use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::{AffinityChange, CellSource, PrimaryToSecondary, Step};
use protocol::secondary_to_primary::{CellDigests, StepAck};
use protocol::{CellId, PeerName, Sequence, SessionTime, StopReason};

use crate::checkpoint::Checkpoint;

use crate::primary::barrier::acks::shortfall;
use crate::primary::context::Context;
use crate::primary::recovery::checkpoints::Checkpoints;
use crate::primary::recovery::jobs::{Job, Jobs, Task};
use crate::primary::recovery::losses::{Loss, Losses};
use crate::primary::recovery::step_log::StepLog;
use crate::primary::{PeerLossPolicy, Phase, Primary, PrimaryOutput};

/// State of recovery.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    pub(crate) losses: Losses,
    pub(crate) step_log: StepLog,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) jobs: Jobs,
    /// The last step of which observers have all that was said.
    /// `None` while nobody says so: then they lack nothing.
    pub(crate) delivered: Option<Sequence>,
}

impl Recovery {
    pub(crate) fn give_back(&mut self, task: Task) {
        let Task::Replay {
            loss,
            cells,
            speaks,
            again,
            ..
        } = task
        else {
            return;
        };
        if let Some(loss) = self.losses.loss_mut(loss) {
            loss.left.extend(cells);
            loss.speaks |= speaks;
            loss.jobs -= 1;
            if let (Some(known), Some(again)) = (&mut loss.again, again) {
                known.of_worlds |= again.of_worlds;
            }
        }
    }

    /// Tells whether the round under way cannot be complete, and no other can begin.
    pub(crate) fn is_held(&self) -> bool {
        self.losses.is_under_way() || self.jobs.holds()
    }

    /// Tells with a step which restored cells are where, unless it gives them up.
    pub(crate) fn announce_restored(&mut self, step: &mut Step) {
        let arriving = std::mem::take(&mut self.losses.arriving);
        if step.anew {
            return;
        }
        for change in arriving {
            let mut others = step.affinities.iter();
            if !others.any(|other| other.cell == change.cell) {
                step.affinities.push(change);
            }
        }
        step.affinities.sort_by_key(|change| change.cell);
    }

    /// What somebody was to do again and does not is left for others.
    pub(crate) fn give_back_jobs_of(&mut self, name: &PeerName) {
        for task in self.jobs.take_of(name) {
            self.give_back(task);
        }
    }
}

impl WorldState {
    /// Returns a cell's name, for people.
    pub(crate) fn cell_name(&self, cell: CellId) -> &str {
        &self.topology.cell(cell).name
    }
}

impl Primary {
    /// Tells whether the run goes on without a secondary that is lost.
    pub(crate) fn can_recover(&self) -> bool {
        self.settings.on_peer_loss == PeerLossPolicy::Recover
            && (self.keeps_past() || self.phase == Phase::Gathering)
            && !self.phase.is_over()
    }

    /// A secondary is lost, and `how` says how that shows: its work goes to others, or the run
    /// ends.
    pub(crate) fn on_lost(&mut self, name: &PeerName, reason: StopReason, cx: &mut Context<'_>) {
        let takes_part = self.peers.secondaries.contains(name);
        let is_gathering = self.phase == Phase::Gathering;
        let left = Announce::Left {
            name: name.clone(),
            reason: reason.clone(),
        };
        cx.announce(left);
        if !(self.can_recover() || !takes_part && !is_gathering) {
            let why = self.recovery.no_recovery().filter(|_| takes_part);
            let cause = why.map(|why| format!("{} (not recovered: {why})", reason.cause));
            let reason = StopReason::new(reason.outcome, cause.unwrap_or(reason.cause));
            return self.begin_stopping(reason, cx);
        }
        let Some(member) = self.peers.roster.remove(name) else {
            return;
        };
        // It may only be slow, or have connected again, and must not go on alone.
        cx.push(PrimaryOutput::Send {
            to: member.routing,
            message: PrimaryToSecondary::Stop(reason.clone()),
        });
        self.barrier.speculation.forget();
        self.peers.forget_joiner(name);
        self.recovery.give_back_jobs_of(name);
        let text = if takes_part {
            let mut cells = self.hosted_now(name);
            let restored = self.recovery.losses.restored.iter();
            cells.extend(
                restored
                    .filter(|(_, host)| *host == name)
                    .map(|(cell, _)| *cell),
            );
            let cells: Vec<&str> = cells
                .iter()
                .map(|cell| self.world.cell_name(*cell))
                .collect();
            let cells = match cells.as_slice() {
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

    fn lose(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        if !self.is_host(name) && self.has_held_the_run(name, cx.now) {
            self.peers.handshakes.close(cx.now);
        }
        self.peers.secondaries.retain(|other| other != name);
        self.recovery.drop_coming_checkpoint();
        // Another of this name may be lost and not replaced yet: what that one hosted, owed and
        // said is being restored already.
        let cells = self.hosted_now(name);
        let is_first = !self.recovery.losses.has_lost(name);
        let reason = "the secondary was lost before the cell could move";
        self.placement.drop_migrations_of(&cells, reason, cx);
        self.placement.drop_migrations_to(name, reason, cx);
        self.peers.fail_drain(name, cx);
        self.recovery
            .losses
            .arriving
            .retain(|change| change.secondary.as_ref() != Some(name));
        self.lose_restored(name, cx.now);
        let (owes, speaks) = match &mut self.barrier.round {
            Some(round) => {
                let is_missing = round.acks.get(name).is_some_and(Option::is_none);
                let owes = is_missing && !self.recovery.losses.owes(name);
                let speaks = owes && round.step.speaker.as_ref() == Some(name);
                if owes && cells.is_empty() && !speaks {
                    round.acks.remove(name);
                }
                (owes, speaks)
            }
            None => (false, false),
        };
        self.recovery.losses.lose(Loss {
            owes,
            speaks,
            again: (is_first || !cells.is_empty()).then(|| self.republish(name, &cells)),
            is_counted: true,
            ..Loss::of(name, cells, cx.now)
        });
    }

    /// Returns the cells that a secondary hosts, without those that were hosted by another of its
    /// name and are restored elsewhere.
    pub(crate) fn hosted_now(&self, name: &PeerName) -> Vec<CellId> {
        let cells = self.placement.host_map.hosted(name).iter().copied();
        cells
            .filter(|cell| !self.recovery.losses.has(*cell))
            .collect()
    }

    /// Tells whether cells of a secondary are part of the run, so that its word counts.
    pub(crate) fn is_host(&self, name: &PeerName) -> bool {
        let mut restored = self.recovery.losses.restored.values();
        !self.hosted_now(name).is_empty() || restored.any(|host| host == name)
    }

    /// Tells whether the run goes on without doubt when the word of a secondary is not believed:
    /// it hosts nothing, and somebody else is there to do what it was asked for.
    pub(crate) fn is_dispensable(&self, name: &PeerName) -> bool {
        let hosts = self.peers.hosts_for_lost_cells();
        self.can_recover() && !self.is_host(name) && hosts.iter().any(|other| other != name)
    }

    /// Turns away somebody whose work on a job is wrong; others do it.
    pub(crate) fn discard(&mut self, job: Job, reason: StopReason, cx: &mut Context<'_>) {
        self.peers.refused.malformed += 1;
        self.recovery.give_back(job.task);
        self.on_lost(&job.peer, reason, cx);
    }

    /// Loses again the cells that were up to date at a host that is lost now, and not told to be
    /// there. That is a loss of its own, since the answer about them is here already. In a run that
    /// was resumed they had no host before.
    fn lose_restored(&mut self, name: &PeerName, now: SessionTime) {
        let is_there = |_: &CellId, host: &mut PeerName| host == name;
        let again = self.recovery.losses.restored.extract_if(.., is_there);
        let mut of: BTreeMap<PeerName, Vec<CellId>> = BTreeMap::new();
        for (cell, _) in again {
            let former = self.placement.host_map.host(cell).cloned();
            let former = former.unwrap_or_else(PeerName::primary);
            of.entry(former).or_default().push(cell);
        }
        for (former, cells) in of {
            let is_resumed = former == PeerName::primary();
            self.recovery.losses.lose(Loss {
                again: (!is_resumed).then(|| self.republish(&former, &cells)),
                ..Loss::of(&former, cells, now)
            });
        }
    }

    /// Gives what nobody restores to those who are there, and goes on when nothing is left.
    pub(crate) fn go_on_with_recovery(&mut self, cx: &mut Context<'_>) {
        self.assign_lost_cells(cx);
        self.close_losses(cx);
        if self.recovery.is_held() {
            return;
        }
        match &self.barrier.round {
            Some(round) if round.missing().next().is_none() => self.complete_round(cx),
            None if self.phase == Phase::Running => self.continue_stepping(cx),
            Some(_) | None => {}
        }
    }

    /// A run that was taken up again begins: all its cells are to be restored by those who came.
    pub(crate) fn begin_from(&mut self, checkpoint: Checkpoint, cx: &mut Context<'_>) {
        let cells: Vec<CellId> = checkpoint.cells.iter().map(|cell| cell.cell).collect();
        self.recovery.step_log = StepLog::since(Arc::new(checkpoint));
        self.phase = Phase::Running;
        let all = std::mem::take(&mut self.peers.secondaries);
        self.recovery
            .losses
            .lose(Loss::of(&PeerName::primary(), cells, cx.now));
        for name in &all {
            self.peers.expect(name);
        }
        self.go_on_with_recovery(cx);
        for name in &all {
            if !self.recovery.jobs.has(name) && !self.takes_part(name) {
                self.introduce(name, cx);
            }
        }
    }

    fn assign_lost_cells(&mut self, cx: &mut Context<'_>) {
        if !self.recovery.losses.has_unassigned() {
            self.recovery.losses.alone_since = None;
            return;
        }
        let hosts = self.peers.hosts_for_lost_cells();
        if hosts.is_empty() {
            if self.recovery.losses.alone_since.is_none() {
                self.recovery.losses.alone_since = Some(cx.now);
                let text = "no secondary is left: the run waits for one to join".to_owned();
                cx.event(Severity::Warning, "recovery", text);
            }
            return;
        }
        self.recovery.losses.alone_since = None;
        let mut affinity = self.placement.host_map.affinity().clone();
        affinity.extend(self.recovery.losses.restored.clone());
        for place in 0..self.recovery.losses.open.len() {
            let loss = &mut self.recovery.losses.open[place];
            if !loss.is_unassigned() {
                continue;
            }
            let left = std::mem::take(&mut loss.left);
            let mut speaks = std::mem::take(&mut loss.speaks);
            let (number, name) = (loss.number, loss.name.clone());
            let counted: Vec<(CellId, u32)> = left
                .iter()
                .map(|cell| (*cell, self.placement.host_map.owned(*cell).len() as u32))
                .collect();
            let mut shares: BTreeMap<PeerName, Vec<CellId>> = BTreeMap::new();
            if left.is_empty() {
                shares.insert(hosts[0].clone(), Vec::new());
            }
            let hosts = self
                .placement
                .balance
                .hosts_for(&counted, &affinity, &hosts);
            for (cell, host) in left.into_iter().zip(hosts) {
                affinity.insert(cell, host.clone());
                shares.entry(host).or_default().push(cell);
            }
            for (peer, mut cells) in shares {
                cells.sort_unstable();
                let loss = &mut self.recovery.losses.open[place];
                let again = loss.again.clone();
                if let Some(again) = &mut loss.again {
                    // One of those who do it again is enough.
                    again.of_worlds = false;
                }
                let task = Task::Replay {
                    loss: number,
                    lost: name.clone(),
                    cells,
                    speaks: std::mem::take(&mut speaks),
                    again,
                };
                self.recovery.losses.open[place].jobs += 1;
                self.begin_job(peer, task, cx);
            }
        }
    }

    /// A job has done again what lost cells did.
    pub(crate) fn on_redone(
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
        // A run that goes on right after its checkpoint has no step to do again.
        let is_compared = job.from < job.until;
        if is_compared && let Err(violation) = compare(&cells, job.until, &ack) {
            let cause = format!("{} broke the protocol: {violation}", job.peer);
            let reason = StopReason::new(Outcome::PeerLost, cause);
            if self.is_dispensable(&job.peer) {
                return self.discard(job, reason, cx);
            }
            return self.begin_stopping(reason, cx);
        }
        let owes = self
            .recovery
            .losses
            .loss_mut(loss)
            .is_some_and(|loss| loss.owes);
        if let Some(report) = self.divergence_of(&job.peer, digests, &ack, owes) {
            if self.is_dispensable(&job.peer) {
                let reason = StopReason::new(Outcome::DigestMismatch, report.sentence());
                return self.discard(job, reason, cx);
            }
            return self.diverge(report, cx);
        }
        if owes && let Err(violation) = self.accept_for(&cells, ack, &lost, cx) {
            let cause = format!("{} broke the protocol: {violation}", job.peer);
            let reason = StopReason::new(Outcome::PeerLost, cause);
            if self.is_dispensable(&job.peer) {
                return self.discard(job, reason, cx);
            }
            self.peers.refused.malformed += 1;
            return self.begin_stopping(reason, cx);
        }
        let restored = cells.iter().map(|cell| (*cell, job.peer.clone()));
        self.recovery.losses.restored.extend(restored);
        if let Some(loss) = self.recovery.losses.loss_mut(loss) {
            loss.jobs -= 1;
        }
        self.go_on_with_recovery(cx);
    }

    /// Takes over the answer about some cells that was given in the place of a lost secondary.
    fn accept_for(
        &mut self,
        cells: &[CellId],
        ack: StepAck,
        lost: &PeerName,
        cx: &mut Context<'_>,
    ) -> Result<(), String> {
        let Some(round) = &self.barrier.round else {
            return Err("no step waits for its answer".to_owned());
        };
        if ack.sequence != round.step.sequence || ack.iteration != round.step.iteration {
            return Err("its answer is about another step".to_owned());
        }
        let mut reading = std::mem::take(&mut self.barrier.reader);
        self.read_states(cells, &ack, &mut reading)?;
        if let Some(violation) = shortfall(&round.step.wanted, &ack, &self.placement.host_map) {
            return Err(violation.to_owned());
        }
        let published = ack.published;
        self.take_over(ack, reading, cx);
        if let Some(round) = &mut self.barrier.round {
            round.note_published(lost, published);
        }
        Ok(())
    }

    /// Ends the losses of which nothing is left.
    fn close_losses(&mut self, cx: &mut Context<'_>) {
        let is_over = |loss: &mut Loss| loss.jobs == 0 && !loss.is_unassigned();
        let over: Vec<Loss> = self.recovery.losses.open.extract_if(.., is_over).collect();
        for loss in over {
            if loss.owes
                && let Some(round) = &mut self.barrier.round
            {
                round.forgive(&loss.name);
            }
            let is_resumed = loss.name == PeerName::primary();
            self.events.recoveries += u64::from(loss.is_counted);
            let took = cx.now.since(loss.since).as_secs_f64();
            let restored = loss.cells.iter().map(|cell| {
                let host = self.recovery.losses.restored.get(cell);
                let host = host.map_or("nobody", PeerName::as_str);
                format!("{} ({host})", self.world.cell_name(*cell))
            });
            let restored: Vec<String> = restored.collect();
            let what = match restored.as_slice() {
                [] => "nothing was to be restored".to_owned(),
                some => format!("restored {}", some.join(", ")),
            };
            let text = if is_resumed {
                format!("the run is restored after {took:.3} s: {what}")
            } else {
                format!("{} is replaced after {took:.3} s: {what}", loss.name)
            };
            cx.event(Severity::Info, "recovery", text);
        }
    }

    /// No step is under way: restored cells count as hosted where they are.
    pub(crate) fn take_restored(&mut self) {
        for (cell, host) in std::mem::take(&mut self.recovery.losses.restored) {
            self.placement.host_map.place(cell, Some(&host));
            let arriving = &mut self.recovery.losses.arriving;
            arriving.retain(|other| other.cell != cell);
            arriving.push(AffinityChange {
                cell,
                secondary: Some(host),
                source: CellSource::Snapshot,
            });
        }
    }
}

/// Tells what is wrong with an answer that is not about the cells and the step of its job.
fn compare(cells: &[CellId], until: Sequence, ack: &StepAck) -> Result<(), &'static str> {
    let acked = ack.cells.iter().map(|one| one.cell);
    if ack.sequence == until && acked.eq(cells.iter().copied()) {
        Ok(())
    } else {
        Err("its job is about other cells")
    }
}
