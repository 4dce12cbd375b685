//! Secondaries that come and go during a run, in order.
//!
//! Who joins is told what was so far while the run goes on, and takes part once it is as far as the
//! others; then it stands by until the balance, a hand or a loss gives it cells. Who is drained
//! gives all its cells away and is told to leave.

use crate::primary::peers::Peers;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::PrimaryToSecondary;
use protocol::{CellId, PeerName, RequestId, RoutingId, Sequence, SessionTime, StopReason};

use crate::primary::context::Context;
use crate::primary::recovery::jobs::{Job, Task};
use crate::primary::{Phase, Primary, PrimaryOutput};

/// How far behind one who joins may be for the run to wait for it \[steps\].
const GAP_MAX: u64 = 64;

/// Number of refused peers that are told of in so much time.
const REFUSALS_MAX: u32 = 32;
const REFUSALS_INTERVAL: Duration = Duration::from_secs(10);

/// For how long nobody is let in after one who joined only beat; doubled each time.
const CLOSED_FIRST: Duration = Duration::from_secs(20);
const CLOSED_MAX: Duration = Duration::from_secs(640);

/// Who is on the way in or out.
#[derive(Debug, Default)]
pub(crate) struct Handshakes {
    /// Those who join, with the step that they have come to.
    joining: BTreeMap<PeerName, Option<Sequence>>,
    /// Those who are to give all away, with who asked.
    draining: BTreeMap<PeerName, Vec<(RoutingId, RequestId)>>,
    /// Until when nobody is let in, and for how long that was.
    closed: (SessionTime, Duration),
    /// Number of refused peers told of, and since when.
    refusals_told: (u32, SessionTime),
}

impl Handshakes {
    pub(crate) fn is_draining(&self, name: &PeerName) -> bool {
        self.draining.contains_key(name)
    }

    /// Lets nobody in for a while.
    pub(crate) fn close(&mut self, now: SessionTime) {
        let (until, last) = &mut self.closed;
        *last = (*last * 2).clamp(CLOSED_FIRST, CLOSED_MAX);
        *until = now + *last;
    }

    /// Tells whether one more who was refused is told of: whoever asks again and again is not.
    pub(crate) fn tells_of_refusal(&mut self, now: SessionTime) -> bool {
        let (told, since) = &mut self.refusals_told;
        if now >= *since + REFUSALS_INTERVAL {
            (*told, *since) = (0, now);
        }
        *told += 1;
        *told <= REFUSALS_MAX
    }
}

impl Peers {
    /// Returns those who may be given cells, by name.
    pub(crate) fn hosts(&self) -> Vec<PeerName> {
        let stays = |name: &&PeerName| !self.handshakes.is_draining(name);
        self.secondaries.iter().filter(stays).cloned().collect()
    }

    /// Returns the step that one who joins has come to.
    pub(crate) fn position_of(&self, name: &PeerName) -> Option<Sequence> {
        self.handshakes.joining.get(name).copied().flatten()
    }

    /// Notes one who joins.
    pub(crate) fn expect(&mut self, name: &PeerName) {
        self.handshakes.joining.insert(name.clone(), None);
    }

    /// Forgets one who was on the way in.
    pub(crate) fn forget_joiner(&mut self, name: &PeerName) {
        self.handshakes.joining.remove(name);
    }

    /// Gives up to drain a secondary: it is lost, or its cells cannot move.
    pub(crate) fn fail_drain(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        let asked = self.handshakes.draining.remove(name).unwrap_or_default();
        for (from, request) in asked {
            let reason = format!("{name} could not give away its cells");
            cx.fail(from, request, &reason);
        }
    }

    /// Answers all who asked to drain, since the run ends.
    pub(crate) fn fail_drains(&mut self, reason: &str, cx: &mut Context<'_>) {
        let asked = std::mem::take(&mut self.handshakes.draining).into_values();
        for (from, request) in asked.flatten() {
            cx.fail(from, request, reason);
        }
    }

    /// Returns those who may restore lost cells: who takes part, else who joins.
    pub(crate) fn hosts_for_lost_cells(&self) -> Vec<PeerName> {
        let hosts = self.hosts();
        if !hosts.is_empty() {
            return hosts;
        }
        if !self.secondaries.is_empty() {
            return self.secondaries.clone();
        }
        self.handshakes.joining.keys().cloned().collect()
    }
}

impl Primary {
    /// Tells whether a secondary takes part in the steps; one that joins does so later.
    pub fn takes_part(&self, name: &PeerName) -> bool {
        self.peers.secondaries.contains(name)
    }

    /// Tells whether somebody may join: not for a while after one who only beat, unless somebody is
    /// needed.
    pub(crate) fn hears_joins(&self, now: SessionTime) -> bool {
        let is_running = self.phase == Phase::Running;
        !is_running || now >= self.peers.handshakes.closed.0 || self.recovery.losses.is_under_way()
    }

    /// Tells whether a secondary gives away its cells to leave.
    pub fn is_draining(&self, name: &PeerName) -> bool {
        self.peers.handshakes.is_draining(name)
    }

    /// Returns the secondaries that are lost and not replaced yet, with the cells that they had.
    pub fn lost(&self) -> impl Iterator<Item = (&PeerName, &[CellId])> {
        self.recovery.losses.lost()
    }

    /// One who joins hears every step from now on.
    pub(crate) fn introduce(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        self.peers.expect(name);
        if self.recovery.losses.has_unassigned() {
            return self.go_on_with_recovery(cx);
        }
        self.begin_introduction(name.clone(), cx);
    }

    fn begin_introduction(&mut self, name: PeerName, cx: &mut Context<'_>) {
        let is_near = |at: Sequence| {
            at >= self.recovery.step_log.from()
                && self.clock.sequence.0.saturating_sub(at.0) <= GAP_MAX
        };
        let holds = self.peers.position_of(&name).is_some_and(is_near);
        self.begin_job(name, Task::Introduce { holds }, cx);
    }

    /// One who joins has come closer.
    pub(crate) fn on_introduced(&mut self, job: &Job, cx: &mut Context<'_>) {
        if self.takes_part(&job.peer) {
            return self.go_on_with_recovery(cx);
        }
        self.peers
            .handshakes
            .joining
            .insert(job.peer.clone(), Some(job.until));
        if self.recovery.jobs.has(&job.peer) {
            // It restores what is lost meanwhile, and takes part once that is done.
            return;
        }
        self.begin_introduction(job.peer.clone(), cx);
    }

    /// One who joined is as far as the others.
    pub(crate) fn take_part(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        self.barrier.speculation.forget();
        self.peers.handshakes.joining.remove(name);
        if !self.peers.secondaries.contains(name) {
            self.peers.secondaries.push(name.clone());
            self.peers.secondaries.sort();
        }
        let text = format!(
            "{name} takes part from step {} on",
            self.clock.sequence.next()
        );
        cx.event(Severity::Info, "run", text);
    }

    pub(crate) fn on_drain(
        &mut self,
        from: RoutingId,
        request: RequestId,
        peer: &PeerName,
        cx: &mut Context<'_>,
    ) {
        let refusal = if self.phase == Phase::Gathering {
            Some("the secondaries are not ready yet".to_owned())
        } else if !self.takes_part(peer) {
            let names = self.peers.secondary_names();
            Some(format!("no secondary is named {peer}: there are {names}"))
        } else if self.peers.hosts().iter().all(|other| other == peer) {
            Some(format!(
                "{peer} is the last secondary: nobody could take its cells"
            ))
        } else {
            None
        };
        if let Some(reason) = refusal {
            return cx.fail(from, request, &reason);
        }
        let asked = self
            .peers
            .handshakes
            .draining
            .entry(peer.clone())
            .or_default();
        if asked.is_empty() {
            let text = format!("{peer} gives away its cells, to leave");
            self.placement.drop_coming_migrations_to(peer, &text, cx);
            cx.event(Severity::Info, "command", text);
        }
        let asked = self
            .peers
            .handshakes
            .draining
            .entry(peer.clone())
            .or_default();
        asked.push((from, request));
        self.continue_draining(cx);
        self.step_if_idle(cx);
    }

    /// Moves what those who leave still host, and lets them go who host nothing.
    pub(crate) fn continue_draining(&mut self, cx: &mut Context<'_>) {
        let names: Vec<PeerName> = self.peers.handshakes.draining.keys().cloned().collect();
        for name in names {
            let cells = self.hosted_now(&name);
            if cells.is_empty() && self.is_idle() && !self.recovery.is_held() {
                self.dismiss(&name, cx);
                continue;
            }
            let hosts = self.peers.hosts();
            if hosts.is_empty() {
                self.peers.fail_drain(&name, cx);
                continue;
            }
            let unmoved: Vec<CellId> = cells
                .into_iter()
                .filter(|cell| !self.placement.is_migrating(*cell))
                .collect();
            let counted: Vec<(CellId, u32)> = unmoved
                .iter()
                .map(|cell| (*cell, self.placement.host_map.owned(*cell).len() as u32))
                .collect();
            let affinity = self.placement.host_map.affinity();
            let to = self.placement.balance.hosts_for(&counted, affinity, &hosts);
            for (cell, to) in unmoved.into_iter().zip(to) {
                self.placement.want_migration(cell, to);
            }
        }
    }

    fn dismiss(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        self.barrier.speculation.forget();
        // What it has not sent of a checkpoint would count as that of a stranger.
        self.recovery.drop_coming_checkpoint();
        let asked = self
            .peers
            .handshakes
            .draining
            .remove(name)
            .unwrap_or_default();
        self.peers.secondaries.retain(|other| other != name);
        let cause = format!("{name} was drained: others have its cells");
        if let Some(member) = self.peers.roster.remove(name) {
            cx.push(PrimaryOutput::Send {
                to: member.routing,
                message: PrimaryToSecondary::Stop(StopReason::new(
                    Outcome::Completed,
                    cause.clone(),
                )),
            });
        }
        let reason = StopReason::new(Outcome::Completed, cause.clone());
        let left = protocol::primary_to_observers::Announce::Left {
            name: name.clone(),
            reason,
        };
        cx.announce(left);
        cx.event(Severity::Info, "peer", cause);
        for (from, request) in asked {
            cx.done(from, request);
        }
    }

    /// Gives up to drain those whose cells are too large to move.
    pub(crate) fn fail_drains_of(&mut self, cells: &[CellId], cx: &mut Context<'_>) {
        let hosts: BTreeSet<PeerName> = cells
            .iter()
            .filter_map(|cell| self.placement.host_map.host(*cell).cloned())
            .collect();
        for host in hosts {
            self.peers.fail_drain(&host, cx);
        }
    }
}
