//! Cells that change host, by hand or for the sake of balance.
//!
//! A move takes two steps: one asks the present host for a snapshot, the next gives it to the new
//! one. Neither changes any result.

use crate::primary::placement::Placement;
use std::time::Duration;

use protocol::primary_to_secondary::CellSnapshot;
use protocol::{CellId, PeerName, RequestId, RoutingId};

use crate::primary::barrier::rounds::Round;
use crate::primary::context::Context;
use crate::primary::purpose::Purpose;
use crate::primary::{Phase, Primary};

/// A cell that is to change host.
#[derive(Debug)]
pub(crate) struct Migration {
    cell: CellId,
    to: PeerName,
    progress: Progress,
    /// The client that asked for it, if one did.
    client: Option<(RoutingId, RequestId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Nothing is done yet.
    Wanted,
    /// The step under way asks for its snapshot.
    Asked,
    /// The step under way gives it to its new host.
    Moving,
}

impl Placement {
    /// Tells whether a cell is to change host.
    pub(crate) fn is_migrating(&self, cell: CellId) -> bool {
        self.migrations.iter().any(|one| one.cell == cell)
    }

    /// Notes a move that nobody waits for.
    pub(crate) fn want_migration(&mut self, cell: CellId, to: PeerName) {
        self.migrations.push(Migration {
            cell,
            to,
            progress: Progress::Wanted,
            client: None,
        });
    }

    /// Returns the cells whose snapshot the next step asks for, ascending. Those that are where
    /// they should be, since they were restored there, do not move.
    pub(crate) fn ask_for_snapshots(&mut self, cx: &mut Context<'_>) -> Vec<CellId> {
        let affinity = self.host_map.affinity();
        let is_there = |one: &mut Migration| {
            one.progress != Progress::Moving && affinity.get(&one.cell) == Some(&one.to)
        };
        let there: Vec<Migration> = self.migrations.extract_if(.., is_there).collect();
        for (from, request) in there.into_iter().filter_map(|one| one.client) {
            cx.done(from, request);
        }
        let mut cells = Vec::new();
        for wanted in &mut self.migrations {
            if wanted.progress == Progress::Wanted {
                wanted.progress = Progress::Asked;
                cells.push(wanted.cell);
            }
        }
        cells.sort_unstable();
        cells
    }

    /// Tells the balance for how long a step with moves has held up the run.
    pub(crate) fn note_cost_of_migrations(&mut self, round: &Round, took: Duration) {
        let bytes = round
            .snapshots
            .iter()
            .map(|(_, one)| (one.cell, one.bytes.len() as u64));
        for (cell, bytes) in bytes {
            let longer = took.saturating_sub(self.last_advance);
            self.balance.note_move(cell, bytes, longer);
        }
        if round.purpose == Purpose::Advance && round.snapshots.is_empty() {
            self.last_advance = took;
        }
    }

    /// Answers those whose moves the completed step has made.
    pub(crate) fn complete_migrations(&mut self, cx: &mut Context<'_>) {
        let is_made = |one: &mut Migration| one.progress == Progress::Moving;
        let made: Vec<Migration> = self.migrations.extract_if(.., is_made).collect();
        for (from, request) in made.into_iter().filter_map(|one| one.client) {
            cx.done(from, request);
        }
    }

    pub(crate) fn drop_migrations_that(
        &mut self,
        is_meant: impl Fn(&Migration) -> bool,
        reason: &str,
        cx: &mut Context<'_>,
    ) {
        let void: Vec<Migration> = self
            .migrations
            .extract_if(.., |one| is_meant(one))
            .collect();
        for (from, request) in void.into_iter().filter_map(|one| one.client) {
            cx.fail(from, request, reason);
        }
    }

    /// Gives up the moves of some cells.
    pub(crate) fn drop_migrations_of(
        &mut self,
        cells: &[CellId],
        reason: &str,
        cx: &mut Context<'_>,
    ) {
        self.drop_migrations_that(|one| cells.contains(&one.cell), reason, cx);
    }

    /// Gives up the moves to somebody who is gone.
    pub(crate) fn drop_migrations_to(
        &mut self,
        name: &PeerName,
        reason: &str,
        cx: &mut Context<'_>,
    ) {
        self.drop_migrations_that(|one| one.to == *name, reason, cx);
    }

    /// Gives up the moves to somebody who is to leave, but those that the step under way makes.
    pub(crate) fn drop_coming_migrations_to(
        &mut self,
        name: &PeerName,
        reason: &str,
        cx: &mut Context<'_>,
    ) {
        let is_coming = |one: &Migration| one.to == *name && one.progress != Progress::Moving;
        self.drop_migrations_that(is_coming, reason, cx);
    }

    /// Gives up all moves, since the run ends.
    pub(crate) fn drop_migrations(&mut self, reason: &str, cx: &mut Context<'_>) {
        self.drop_migrations_that(|_| true, reason, cx);
    }
}

impl Primary {
    pub(crate) fn on_move_cell(
        &mut self,
        from: RoutingId,
        request: RequestId,
        level: &str,
        peer: PeerName,
        cx: &mut Context<'_>,
    ) {
        let cell = match self.cell_to_move(level, &peer) {
            Ok(cell) => cell,
            Err(reason) => return cx.fail(from, request, &reason),
        };
        if self.placement.host_map.host(cell) == Some(&peer) && !self.recovery.losses.has(cell) {
            return cx.done(from, request);
        }
        self.placement.migrations.push(Migration {
            cell,
            to: peer,
            progress: Progress::Wanted,
            client: Some((from, request)),
        });
        self.step_if_idle(cx);
    }

    fn cell_to_move(&self, level: &str, peer: &PeerName) -> Result<CellId, String> {
        if self.phase == Phase::Gathering {
            return Err("the secondaries are not ready yet".to_owned());
        }
        let mut cells = self.world.topology.cells.iter();
        let Some(index) = cells.position(|cell| cell.name == level) else {
            return Err(format!("no level is named {level:?}"));
        };
        if !self.takes_part(peer) {
            let names = self.peers.secondary_names();
            return Err(format!("no secondary is named {peer}: there are {names}"));
        }
        if self.is_draining(peer) {
            return Err(format!("{peer} gives away its cells, to leave"));
        }
        let cell = CellId(index as u32);
        if self.placement.host_map.host(cell).is_none() {
            return Err(format!(
                "level {level} has no cell now: no performer is in it or near it"
            ));
        }
        if self.placement.is_migrating(cell) {
            return Err(format!("the cell of level {level} is being moved already"));
        }
        Ok(cell)
    }

    /// Notes moves for the sake of balance, of cells that do not move already.
    pub(crate) fn balance_cells(&mut self) {
        if !self.settings.balance || self.peers.secondaries.len() < 2 {
            return;
        }
        let hosts = self.peers.hosts();
        if hosts.len() < 2 {
            return;
        }
        let affinity = self.placement.host_map.affinity();
        for wanted in self
            .placement
            .balance
            .moves(self.clock.iteration, affinity, &hosts)
        {
            if !self.placement.is_migrating(wanted.cell) {
                self.placement.want_migration(wanted.cell, wanted.to);
            }
        }
    }

    /// Tells whether something waits for a step although time stands still.
    pub(crate) fn has_to_rearrange(&self) -> bool {
        !self.placement.migrations.is_empty()
            || self.commands.queue.has_said()
            || self.recovery.is_checkpoint_wanted()
    }

    /// Returns the moves whose snapshots are here, to be made by the next step.
    pub(crate) fn migrations_to_make(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Vec<(CellId, PeerName, CellSnapshot)> {
        let mut ready = Vec::new();
        let mut too_large = Vec::new();
        for asked in &mut self.placement.migrations {
            if asked.progress != Progress::Asked {
                continue;
            }
            match self.world.latest.take_snapshot(asked.cell) {
                Some(snapshot) if snapshot.bytes.is_empty() => too_large.push(asked.cell),
                Some(snapshot) => {
                    asked.progress = Progress::Moving;
                    ready.push((asked.cell, asked.to.clone(), snapshot));
                }
                None => asked.progress = Progress::Wanted,
            }
        }
        for cell in &too_large {
            // It counts as moved, so that balance lets it be for a while.
            self.placement
                .balance
                .note_moved(*cell, self.clock.iteration);
        }
        let reason = "the cell is too large to travel in one message";
        self.placement.drop_migrations_of(&too_large, reason, cx);
        self.fail_drains_of(&too_large, cx);
        ready.sort_by_key(|(cell, _, _)| *cell);
        ready
    }
}
