//! [`Migration`]: cells that change host, by hand or for the sake of balance.
//!
//! A migration takes two steps: one asks the present host for a snapshot, the next gives it to the
//! new one. Neither changes any result.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{AffinityChange, CellSnapshot, CellSource};
use protocol::{CellId, FailureCode, Iteration, PeerName, RequestId, RoutingId};

use crate::peer_numbers::PeerNumbers;
use crate::primary::context::{CodedError, Context, Failure};
use crate::primary::placement::Placement;
use crate::primary::purpose::Purpose;
use crate::primary::world::WorldState;

/// A cell that is to change host.
#[derive(Debug)]
pub(crate) struct Migration {
    cell: CellId,
    to: PeerName,
    progress: Progress,
    /// The client that asked for it, if one did.
    client: Option<(RoutingId, RequestId)>,
}

/// Migrations that the next step makes.
#[derive(Debug)]
pub(crate) struct ReadyMigrations {
    /// Cells, ascending, with their new hosts.
    cells: Vec<(CellId, PeerName, CellSnapshot)>,
    /// Hosts of cells that were to migrate and are too large for it.
    pub(crate) hosts_of_too_large: BTreeSet<PeerName>,
}

/// A cell that cannot migrate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MigrationError {
    #[error("level {level} has no cell now: no performer is in it or near it")]
    NoCell { level: String },
    #[error("the cell of level {level} is being moved already")]
    UnderWay { level: String },
}

impl CodedError for MigrationError {
    fn code(&self) -> FailureCode {
        match self {
            Self::NoCell { .. } | Self::UnderWay { .. } => FailureCode::WrongState,
        }
    }
}

/// Progress of a migration.
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

    /// Notes a migration that nobody waits for.
    pub(crate) fn want_migration(&mut self, cell: CellId, to: PeerName) {
        self.push_migration(cell, to, None);
    }

    /// Notes a migration that a client waits for; answers at once when the cell is there already,
    /// and tells whether it is to move. A lost cell is nowhere.
    pub(crate) fn on_move_cell(
        &mut self,
        cell: CellId,
        to: PeerName,
        client: (RoutingId, RequestId),
        is_lost: bool,
        cx: &mut Context<'_>,
    ) -> bool {
        let is_there = self.host_map.host(cell) == Some(&to) && !is_lost;
        if is_there {
            cx.done(client.0, client.1);
        } else {
            self.push_migration(cell, to, Some(client));
        }
        !is_there
    }

    fn push_migration(
        &mut self,
        cell: CellId,
        to: PeerName,
        client: Option<(RoutingId, RequestId)>,
    ) {
        self.migrations.push(Migration {
            cell,
            to,
            progress: Progress::Wanted,
            client,
        });
    }

    /// Checks that the cell of a level can move.
    ///
    /// # Errors
    /// Fails when nobody hosts it, or it moves already.
    pub(crate) fn check_movable(&self, cell: CellId, level: &str) -> Result<(), MigrationError> {
        let level = level.to_owned();
        if self.host_map.host(cell).is_none() {
            return Err(MigrationError::NoCell { level });
        }
        if self.is_migrating(cell) {
            return Err(MigrationError::UnderWay { level });
        }
        Ok(())
    }

    /// Tells whether cells are to migrate, or do.
    pub(crate) fn has_migrations(&self) -> bool {
        !self.migrations.is_empty()
    }

    /// Notes migrations for the sake of balance, of cells that do not migrate already.
    pub(crate) fn balance_cells(&mut self, iteration: Iteration, hosts: &[PeerName]) {
        if hosts.len() < 2 {
            return;
        }
        let affinity = self.host_map.affinity();
        for wanted in self.balance.moves(iteration, affinity, hosts) {
            if !self.is_migrating(wanted.cell) {
                self.want_migration(wanted.cell, wanted.to);
            }
        }
    }

    /// Gives all cells of a secondary that migrate nowhere yet to others.
    pub(crate) fn empty(&mut self, cells: Vec<CellId>, hosts: &[PeerName]) {
        let cells = cells.into_iter();
        let unmoved: Vec<CellId> = cells.filter(|cell| !self.is_migrating(*cell)).collect();
        let counted = self.counted(&unmoved);
        let affinity = self.host_map.affinity();
        let to = self.balance.hosts_for(&counted, affinity, hosts);
        for (cell, to) in unmoved.into_iter().zip(to) {
            self.want_migration(cell, to);
        }
    }

    /// Takes the migrations whose snapshots are here, for the next step, and gives up those of
    /// cells that are too large.
    pub(crate) fn take_ready(
        &mut self,
        world: &mut WorldState,
        cx: &mut Context<'_>,
    ) -> ReadyMigrations {
        let mut ready = Vec::new();
        let mut too_large = Vec::new();
        for asked in &mut self.migrations {
            if asked.progress != Progress::Asked {
                continue;
            }
            match world.take_snapshot(asked.cell) {
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
            self.balance.note_moved(*cell, cx.iteration);
        }
        let reason = "the cell is too large to travel in one message";
        let failure = Failure::new(FailureCode::TooMuch, reason);
        self.drop_migrations_of(&too_large, &failure, cx);
        ready.sort_by_key(|(cell, _, _)| *cell);
        let hosts = too_large
            .iter()
            .filter_map(|cell| self.host_map.host(*cell));
        ReadyMigrations {
            hosts_of_too_large: hosts.cloned().collect(),
            cells: ready,
        }
    }

    /// Gives cells to their new hosts, and returns the snapshots that go there.
    pub(crate) fn migrate(
        &mut self,
        ready: ReadyMigrations,
        affinities: &mut Vec<AffinityChange>,
        (world, known): (&mut WorldState, &PeerNumbers),
        cx: &mut Context<'_>,
    ) -> Vec<(PeerName, CellSnapshot)> {
        let mut snapshots = Vec::new();
        for (cell, to, snapshot) in ready.cells {
            self.place(cell, &to, known);
            world.count_migration();
            self.balance.note_moved(cell, cx.iteration);
            let text = format!("cell {} moves to {to}", world.cell_name(cell));
            cx.event(Severity::Info, "level", text);
            affinities.push(AffinityChange {
                cell,
                secondary: Some(to.clone()),
                source: CellSource::Snapshot,
            });
            snapshots.push((to, snapshot));
        }
        affinities.sort_by_key(|change| change.cell);
        snapshots
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

    /// Tells the balance for how long a step with migrations has held up the run.
    pub(crate) fn note_duration(
        &mut self,
        purpose: Purpose,
        snapshots: &[(PeerName, CellSnapshot)],
        took: Duration,
    ) {
        for (_, one) in snapshots {
            let longer = took.saturating_sub(self.last_advance);
            let bytes = one.bytes.len() as u64;
            self.balance.note_move(one.cell, bytes, longer);
        }
        if purpose == Purpose::Advance && snapshots.is_empty() {
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

    fn drop_migrations_that(
        &mut self,
        is_meant: impl Fn(&Migration) -> bool,
        failure: &Failure,
        cx: &mut Context<'_>,
    ) {
        let void: Vec<Migration> = self
            .migrations
            .extract_if(.., |one| is_meant(one))
            .collect();
        for (from, request) in void.into_iter().filter_map(|one| one.client) {
            cx.fail(from, request, failure);
        }
    }

    /// Gives up the moves of some cells.
    pub(crate) fn drop_migrations_of(
        &mut self,
        cells: &[CellId],
        failure: &Failure,
        cx: &mut Context<'_>,
    ) {
        self.drop_migrations_that(|one| cells.contains(&one.cell), failure, cx);
    }

    /// Gives up the moves to somebody who is gone.
    pub(crate) fn drop_migrations_to(
        &mut self,
        name: &PeerName,
        failure: &Failure,
        cx: &mut Context<'_>,
    ) {
        self.drop_migrations_that(|one| one.to == *name, failure, cx);
    }

    /// Gives up the moves to somebody who is to leave, but those that the step under way makes.
    pub(crate) fn drop_coming_migrations_to(
        &mut self,
        name: &PeerName,
        failure: &Failure,
        cx: &mut Context<'_>,
    ) {
        let is_coming = |one: &Migration| one.to == *name && one.progress != Progress::Moving;
        self.drop_migrations_that(is_coming, failure, cx);
    }

    /// Gives up all moves, since the run ends.
    pub(crate) fn drop_migrations(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        self.drop_migrations_that(|_| true, failure, cx);
    }
}
