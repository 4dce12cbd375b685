//! What changes with the next step: performers change cell, cells open, close and change host.
//!
//! [`Partition`](crate::partition::Partition) says what must change, the balance what may. What
//! a change needs and the primary does not have, it asks for in a step in which time stands still.

use crate::primary::world::WorldState;
use std::collections::BTreeMap;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{
    AffinityChange, CellSnapshot, CellSource, HandOff, LevelChange, Step, Wanted,
};
use protocol::{CellId, LinkPoses, PeerName, PerformerId};

use crate::partition::{Changes, HandOffPlan};
use crate::primary::Primary;
use crate::primary::commands::batch::{AppliedCommand, Batch};
use crate::primary::context::Context;
use crate::primary::placement::given_up;
use crate::primary::purpose::Purpose;

/// How many hand-offs of one iteration are told one by one.
const TOLD_MAX: usize = 8;

/// Changes that wait for what was asked for.
#[derive(Debug)]
pub(crate) struct Pending {
    purpose: Purpose,
    changes: Changes,
    pub(crate) batch: Batch,
}

impl Pending {
    /// Returns how many entries of the schedule go with an iteration that is not under way yet. In
    /// a round in which time stands still, those that were taken count as done.
    pub(crate) fn scheduled_for_time(&self) -> u64 {
        let applied = self.batch.applied.iter();
        match self.purpose {
            Purpose::Advance => applied.filter(|one| one.is_of_schedule()).count() as u64,
            Purpose::Build | Purpose::Pause | Purpose::Fetch | Purpose::Rearrange => 0,
        }
    }
}

impl WorldState {
    pub(crate) fn watched_worlds(&self) -> usize {
        let watched = self.topology.watched.iter();
        watched.filter(|is_watched| **is_watched).count()
    }
}

impl Primary {
    /// Begins a step for a purpose, with all that changes by it. A pause changes nothing: it is no
    /// part of what commands did, and a run that repeats these has none.
    pub(crate) fn begin_step(&mut self, purpose: Purpose, cx: &mut Context<'_>) {
        if purpose == Purpose::Pause {
            return self.publish(purpose, Step::default(), Vec::new(), Vec::new(), cx);
        }
        if purpose == Purpose::Rearrange
            && !self.world.is_fresh
            && let Some((what, applied)) = self.take_reset(cx)
        {
            return self.begin_reset(what, applied, cx);
        }
        self.give_back_numbers();
        let watched = self.world.watched_worlds();
        let mut batch = if self.world.is_fresh {
            Batch::default()
        } else {
            self.stamp(purpose, cx)
        };
        let is_for_wishes = purpose == Purpose::Rearrange && !self.has_to_rearrange();
        if is_for_wishes && !batch.is_needed && !self.world.is_fresh {
            return;
        }
        if batch.changes_models() {
            self.world.partition.disturb();
        }
        self.world
            .partition
            .note_moved(self.world.latest.take_news());
        // A round for a migration or a checkpoint alone is none that a repeated run has.
        let is_unnumbered =
            purpose == Purpose::Rearrange && !batch.is_needed && !self.world.is_fresh;
        let changes = if is_unnumbered {
            Changes::default()
        } else {
            let states = &self.world.latest.states;
            self.world
                .partition
                .update(&self.world.topology, self.clock.iteration, states)
        };
        if batch.changes_models() {
            // What they do must be seen before anything moves on.
            self.world.partition.disturb();
            self.refuse_distant_attachments(&mut batch, cx);
        }
        // Where something begins to look, all ghosts that were there are seen.
        let seen = if self.world.watched_worlds() > watched {
            self.seen_ghosts()
        } else {
            Vec::new()
        };
        match self
            .world
            .latest
            .missing(&self.world.topology, &changes, seen)
        {
            Some(wanted) => {
                self.commands.pending = Some(Pending {
                    purpose,
                    changes,
                    batch,
                });
                let step = Step {
                    wanted,
                    ..Step::default()
                };
                self.publish(Purpose::Fetch, step, Vec::new(), Vec::new(), cx);
            }
            None => self.publish_changes(purpose, changes, batch, cx),
        }
    }

    /// Lets the numbers of models that left be given again: nothing of the steps before is under
    /// way any more.
    fn give_back_numbers(&mut self) {
        self.world.registry.give_back();
        if self.world.topology.has_leaving() {
            self.world.topology.give_back();
            self.world.partition.give_back(&self.world.topology);
            self.world.latest.give_back(&self.world.topology);
            self.placement.host_map.give_back(&self.world.topology);
        }
    }

    /// Refuses attachments between performers that one cell cannot own.
    fn refuse_distant_attachments(&mut self, batch: &mut Batch, cx: &mut Context<'_>) {
        let attachments: Vec<(u64, [PerformerId; 2])> = batch
            .applied
            .iter()
            .filter_map(AppliedCommand::joined)
            .collect();
        for (number, ends) in attachments {
            let [one, other] = ends.map(|end| self.world.partition.cell(end));
            if one != other {
                self.forget_attachment(&batch.actions, number, ends);
                if let Some(origin) = batch.take_out(number) {
                    let reason = "the two are in levels that cannot be one cell now";
                    origin.refuse(reason, cx);
                }
            }
        }
    }

    /// What was missing is here now.
    pub(crate) fn resume_step(&mut self, cx: &mut Context<'_>) {
        let Pending {
            purpose,
            changes,
            batch,
        } = self
            .commands
            .pending
            .take()
            .expect("states are fetched for changes that wait");
        self.publish_changes(purpose, changes, batch, cx);
    }

    fn publish_changes(
        &mut self,
        purpose: Purpose,
        changes: Changes,
        batch: Batch,
        cx: &mut Context<'_>,
    ) {
        self.count_levels(&changes.levels);
        for performer in &batch.spawned {
            self.placement
                .host_map
                .insert(&self.world.topology, *performer);
        }
        let (affinities, snapshots) = self.change_affinities(&changes, cx);
        self.tell_hand_offs(&changes.hand_offs, cx);
        let hand_offs: Vec<HandOff> = changes
            .hand_offs
            .into_iter()
            .map(|passage| {
                self.placement.host_map.hand_over(passage);
                self.events.hand_offs += 1;
                self.world.latest.hand_off(passage)
            })
            .collect();
        for change in &affinities {
            if change.secondary.is_none() {
                self.placement.host_map.place(change.cell, None);
                self.placement.balance.forget(change.cell);
            }
        }
        for performer in &batch.removed {
            self.placement.host_map.remove(*performer);
            self.world.latest.forget(*performer);
        }
        if !batch.spawned.is_empty() || !batch.removed.is_empty() {
            self.world.by_name = self.world.topology.performers_by_name();
        }
        self.world.is_fresh = false;
        let step = Step {
            affinities,
            actions: batch.actions,
            messages: batch.messages,
            hand_offs,
            level_changes: changes.levels,
            ghost_changes: changes.ghosts,
            ghost_poses: self.ghost_poses(),
            suspensions: changes.suspensions,
            wanted: Wanted {
                poses: self.world.partition.wanted_poses().to_vec(),
                states: self.world.partition.wanted_states().to_vec(),
                snapshots: self.placement.ask_for_snapshots(cx),
            },
            ..Step::default()
        };
        self.publish(purpose, step, snapshots, batch.applied, cx);
    }

    /// Opens, moves and closes cells; those that close keep their host until hand-offs are done.
    fn change_affinities(
        &mut self,
        changes: &Changes,
        cx: &mut Context<'_>,
    ) -> (Vec<AffinityChange>, Vec<(PeerName, CellSnapshot)>) {
        let mut closed = changes.cells_closed.clone();
        if self.world.is_fresh {
            // A cell of the start that is left at once was never open.
            let built = self.placement.host_map.affinity().keys().copied();
            closed.extend(built.filter(|cell| !self.world.partition.is_open(*cell)));
            closed.sort_unstable();
            closed.dedup();
        }
        let reason = "the cell was given up before it could move: nothing is in it";
        self.placement.drop_migrations_of(&closed, reason, cx);
        let mut affinities: Vec<AffinityChange> = closed.into_iter().map(given_up).collect();
        let opened = changes.cells_opened.iter().copied();
        let opening: Vec<CellId> = opened
            .filter(|cell| self.placement.host_map.host(*cell).is_none())
            .collect();
        for cell in opening {
            let host = self.host_for(cell);
            self.placement.host_map.place(cell, Some(&host));
            affinities.push(AffinityChange {
                cell,
                secondary: Some(host),
                source: CellSource::Empty,
            });
        }
        let mut snapshots = Vec::new();
        for (cell, to, snapshot) in self.migrations_to_make(cx) {
            self.placement.host_map.place(cell, Some(&to));
            self.events.migrations += 1;
            self.placement
                .balance
                .note_moved(cell, self.clock.iteration);
            let name = &self.world.topology.cell(cell).name;
            let text = format!("cell {name} moves to {to}");
            cx.event(Severity::Info, "level", text);
            affinities.push(AffinityChange {
                cell,
                secondary: Some(to.clone()),
                source: CellSource::Snapshot,
            });
            snapshots.push((to, snapshot));
        }
        affinities.sort_by_key(|change| change.cell);
        (affinities, snapshots)
    }

    /// Returns the host of a cell that opens: one that stands by, else that of those who are ghosts
    /// in it and so likely to enter it, which changes no load when they do.
    fn host_for(&mut self, cell: CellId) -> PeerName {
        let hosts = self.peers.hosts_for_lost_cells();
        let stands_by = |name: &PeerName| self.placement.host_map.hosted(name).is_empty();
        let mut owners: BTreeMap<&PeerName, usize> = BTreeMap::new();
        for ghost in self.world.partition.ghosts(cell) {
            if let Some(host) = self
                .placement
                .host_map
                .host(self.placement.host_map.cell(ghost))
                && hosts.contains(host)
            {
                *owners.entry(host).or_default() += 1;
            }
        }
        let most = owners.into_iter().rev().max_by_key(|(_, count)| *count);
        let is_empty = self.world.partition.owned(cell).is_empty();
        match most {
            Some((owner, _)) if is_empty && !hosts.iter().any(stands_by) => owner.clone(),
            _ => {
                let expected = self.world.partition.owned(cell).len();
                let expected = (expected + self.world.partition.ghosts(cell).count()) as u32;
                let affinity = self.placement.host_map.affinity();
                self.placement
                    .balance
                    .host_for(cell, expected, affinity, &hosts)
            }
        }
    }

    /// Returns the performers of which something may see a ghost, ascending.
    fn seen_ghosts(&self) -> Vec<PerformerId> {
        let open = self.placement.host_map.affinity().keys();
        let seen =
            open.filter(|cell| self.world.topology.watched[self.world.topology.cell(**cell).world]);
        let mut ghosts: Vec<PerformerId> = seen
            .flat_map(|cell| self.world.partition.ghosts(*cell))
            .collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        ghosts
    }

    fn ghost_poses(&self) -> Vec<LinkPoses> {
        self.seen_ghosts()
            .into_iter()
            .filter_map(|performer| self.world.latest.poses_of(performer).cloned())
            .collect()
    }

    fn count_levels(&mut self, changes: &[LevelChange]) {
        let loaded = changes.iter().filter(|change| change.loaded).count() as u64;
        self.events.levels_loaded += loaded;
        self.events.levels_unloaded += changes.len() as u64 - loaded;
    }

    fn tell_hand_offs(&self, passages: &[HandOffPlan], cx: &mut Context<'_>) {
        for passage in passages.iter().take(TOLD_MAX) {
            let name = &self.world.topology.performer(passage.performer).name;
            let [from, to] = [passage.from, passage.to].map(|cell| {
                let host = self.placement.host_map.host(cell);
                let host = host.map_or("nobody", PeerName::as_str);
                format!("{} ({host})", self.world.topology.cell(cell).name)
            });
            let text = format!("{name} passes from {from} to {to}");
            cx.event(Severity::Info, "hand-off", text);
        }
        if let Some(others) = passages.len().checked_sub(TOLD_MAX).filter(|n| *n > 0) {
            let text = format!("{others} more pass in the same iteration");
            cx.event(Severity::Info, "hand-off", text);
        }
    }
}
