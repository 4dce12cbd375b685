//! [`Losses`]: secondaries that are lost, and cells that are not restored yet.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::primary_to_observers::Severity;
use protocol::primary_to_secondary::{AffinityChange, CellSource, DataAgain, Step};
use protocol::{CellId, PeerName, SessionTime};

use crate::primary::context::Context;
use crate::primary::placement::Placement;
use crate::primary::recovery::task::Task;
use crate::primary::world::WorldState;

/// Losses that are not over.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    open: Vec<Loss>,
    /// The number of the next loss: one name may be lost more than once.
    next: u64,
    /// Cells that are up to date at their new hosts, which take them with the next step.
    restored: BTreeMap<CellId, PeerName>,
    /// The same once no step is under way: they count as hosted there.
    arriving: Vec<AffinityChange>,
    /// Time since which nobody is there to restore what is lost.
    alone_since: Option<SessionTime>,
}

/// A secondary that is lost.
#[derive(Debug)]
pub(crate) struct Loss {
    number: u64,
    pub(crate) name: PeerName,
    since: SessionTime,
    /// All cells that it hosted.
    cells: Vec<CellId>,
    /// Those of them that nobody restores yet.
    left: Vec<CellId>,
    /// True if the step under way waits for its answer.
    pub(crate) owes: bool,
    /// True if somebody must still say what systems of worlds say in that step.
    speaks: bool,
    /// Topic data of it that observers may lack.
    again: Option<DataAgain>,
    /// Number of jobs that are under way for it.
    jobs: u32,
    /// True if it is one of the losses that are counted: not cells that are lost again.
    pub(crate) is_counted: bool,
}

/// A loss to be noted.
#[derive(Debug)]
pub(crate) struct NewLoss {
    pub(crate) name: PeerName,
    /// All cells that it hosted.
    pub(crate) cells: Vec<CellId>,
    /// True if the step under way waits for its answer.
    pub(crate) owes: bool,
    /// True if somebody must still say what systems of worlds say in that step.
    pub(crate) speaks: bool,
    /// Topic data of it that observers may lack.
    pub(crate) again: Option<DataAgain>,
    /// True if it is one of the losses that are counted: not cells that are lost again.
    pub(crate) is_counted: bool,
}

impl NewLoss {
    /// Makes one of a secondary with the cells that it had up to date, whose answer is here.
    pub(crate) fn of(name: &PeerName, cells: Vec<CellId>) -> Self {
        Self {
            name: name.clone(),
            cells,
            owes: false,
            speaks: false,
            again: None,
            is_counted: false,
        }
    }
}

impl Loss {
    /// Tells whether its cells had no host before, in a run that was resumed.
    fn is_of_resumed_run(&self) -> bool {
        self.name == PeerName::primary()
    }

    /// Makes the task to restore some of its cells.
    fn task(&mut self, cells: Vec<CellId>) -> Task {
        let again = self.again.clone();
        if let Some(again) = &mut self.again {
            // One of those who do it again is enough.
            again.of_worlds = false;
        }
        self.jobs += 1;
        Task::Replay {
            loss: self.number,
            lost: self.name.clone(),
            cells,
            speaks: std::mem::take(&mut self.speaks),
            again,
        }
    }

    /// Tells whether there is something that nobody has been asked to do again.
    fn is_unassigned(&self) -> bool {
        let of_worlds = self.again.as_ref().is_some_and(|again| again.of_worlds);
        !self.left.is_empty() || self.speaks || of_worlds
    }
}

impl Losses {
    /// Tells whether anything that is lost is not restored yet.
    pub(crate) fn is_under_way(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes a loss.
    pub(crate) fn lose(&mut self, loss: NewLoss, now: SessionTime) {
        let number = self.next;
        self.next += 1;
        self.open.push(Loss {
            number,
            name: loss.name,
            since: now,
            left: loss.cells.clone(),
            cells: loss.cells,
            owes: loss.owes,
            speaks: loss.speaks,
            again: loss.again,
            jobs: 0,
            is_counted: loss.is_counted,
        });
    }

    /// Tells whether the step under way waits for the answer of a loss.
    pub(crate) fn owes_answer(&self, number: u64) -> bool {
        let mut losses = self.open.iter();
        losses.any(|loss| loss.number == number && loss.owes)
    }

    fn loss_mut(&mut self, number: u64) -> Option<&mut Loss> {
        self.open.iter_mut().find(|loss| loss.number == number)
    }

    /// Tells whether cells wait for somebody to restore them.
    pub(crate) fn has_unassigned(&self) -> bool {
        self.open.iter().any(Loss::is_unassigned)
    }

    /// Tells whether the step under way waits for the answer of one of this name who is lost: not
    /// for that of another who has taken the name since.
    pub(crate) fn owes(&self, name: &PeerName) -> bool {
        let mut losses = self.open.iter();
        losses.any(|loss| loss.owes && loss.name == *name)
    }

    /// Tells whether a cell is not where the affinities say: its host is lost, and it is being
    /// restored elsewhere, or is and the next step tells.
    pub(crate) fn has(&self, cell: CellId) -> bool {
        let mut losses = self.open.iter();
        self.restored.contains_key(&cell) || losses.any(|loss| loss.cells.contains(&cell))
    }

    /// Tells whether somebody of this name is lost and not replaced yet.
    pub(crate) fn has_lost(&self, name: &PeerName) -> bool {
        self.open.iter().any(|loss| loss.name == *name)
    }

    /// Tells whether a secondary has restored cells that the next step tells of.
    pub(crate) fn is_new_host(&self, name: &PeerName) -> bool {
        self.restored.values().any(|host| host == name)
    }

    /// Returns the cells that a secondary has restored and the next step tells of.
    pub(crate) fn restored_by(&self, name: &PeerName) -> impl Iterator<Item = CellId> {
        let restored = self.restored.iter();
        restored
            .filter(move |(_, host)| *host == name)
            .map(|(cell, _)| *cell)
    }

    /// Returns the time since which nobody is there to restore what is lost.
    pub(crate) fn alone_since(&self) -> Option<SessionTime> {
        self.alone_since
    }

    /// Moves that by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        self.alone_since = self.alone_since.map(|since| since + by);
    }

    /// Has no cell arrive at a host that is lost.
    pub(crate) fn forget_arriving_at(&mut self, name: &PeerName) {
        self.arriving
            .retain(|change| change.secondary.as_ref() != Some(name));
    }

    /// Takes the cells out that were up to date at a host that is lost now, and not told to be
    /// there.
    pub(super) fn take_restored_by(&mut self, name: &PeerName) -> Vec<CellId> {
        let is_there = |_: &CellId, host: &mut PeerName| host == name;
        let cells = self.restored.extract_if(.., is_there);
        cells.map(|(cell, _)| cell).collect()
    }

    /// Notes that cells of a loss are up to date at a host.
    pub(crate) fn note_restored(&mut self, number: u64, cells: &[CellId], host: &PeerName) {
        let restored = cells.iter().map(|cell| (*cell, host.clone()));
        self.restored.extend(restored);
        if let Some(loss) = self.loss_mut(number) {
            loss.jobs -= 1;
        }
    }

    /// Takes the restored cells, which count as hosted where they are: no step is under way.
    pub(crate) fn take_restored(&mut self) -> Vec<(CellId, PeerName)> {
        let restored: Vec<_> = std::mem::take(&mut self.restored).into_iter().collect();
        for (cell, host) in &restored {
            self.arriving.retain(|other| other.cell != *cell);
            self.arriving.push(AffinityChange {
                cell: *cell,
                secondary: Some(host.clone()),
                source: CellSource::Snapshot,
            });
        }
        restored
    }

    /// Tells with a step which restored cells are where, unless it gives them up.
    pub(crate) fn announce_restored(&mut self, step: &mut Step) {
        let arriving = std::mem::take(&mut self.arriving);
        if step.reset {
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

    /// Gives back what a job was to do for a loss and does not: it is left for others.
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
        if let Some(loss) = self.loss_mut(loss) {
            loss.left.extend(cells);
            loss.speaks |= speaks;
            loss.jobs -= 1;
            if let (Some(known), Some(again)) = (&mut loss.again, again) {
                known.of_worlds |= again.of_worlds;
            }
        }
    }

    /// Gives what nobody restores to hosts; returns who is to do what.
    pub(crate) fn assign(
        &mut self,
        hosts: &[PeerName],
        placement: &mut Placement,
        cx: &mut Context<'_>,
    ) -> Vec<(PeerName, Task)> {
        let mut tasks = Vec::new();
        if !self.has_unassigned() {
            self.alone_since = None;
            return tasks;
        }
        if hosts.is_empty() {
            if self.alone_since.is_none() {
                self.alone_since = Some(cx.now);
                let text = "no secondary is left: the run waits for one to join".to_owned();
                cx.event(Severity::Warning, "recovery", text);
            }
            return tasks;
        }
        self.alone_since = None;
        let mut affinity = placement.host_map().affinity().clone();
        affinity.extend(self.restored.clone());
        for loss in &mut self.open {
            if !loss.is_unassigned() {
                continue;
            }
            let left = std::mem::take(&mut loss.left);
            let mut shares: BTreeMap<PeerName, Vec<CellId>> = BTreeMap::new();
            if left.is_empty() {
                shares.insert(hosts[0].clone(), Vec::new());
            }
            let of_cells = placement.hosts_for(&left, &affinity, hosts);
            for (cell, host) in left.into_iter().zip(of_cells) {
                affinity.insert(cell, host.clone());
                shares.entry(host).or_default().push(cell);
            }
            for (peer, mut cells) in shares {
                cells.sort_unstable();
                tasks.push((peer, loss.task(cells)));
            }
        }
        tasks
    }

    /// Takes the losses out of which nothing is left, and says so.
    pub(crate) fn close(&mut self, world: &WorldState, cx: &mut Context<'_>) -> Vec<Loss> {
        let is_over = |loss: &mut Loss| loss.jobs == 0 && !loss.is_unassigned();
        let over: Vec<Loss> = self.open.extract_if(.., is_over).collect();
        for loss in &over {
            let took = cx.now.since(loss.since).as_secs_f64();
            let restored = loss.cells.iter().map(|cell| {
                let host = self.restored.get(cell);
                let host = host.map_or("nobody", PeerName::as_str);
                format!("{} ({host})", world.cell_name(*cell))
            });
            let restored: Vec<String> = restored.collect();
            let what = match restored.as_slice() {
                [] => "nothing was to be restored".to_owned(),
                some => format!("restored {}", some.join(", ")),
            };
            let text = if loss.is_of_resumed_run() {
                format!("the run is restored after {took:.3} s: {what}")
            } else {
                format!("{} is replaced after {took:.3} s: {what}", loss.name)
            };
            cx.event(Severity::Info, "recovery", text);
        }
        over
    }

    /// Returns the lost secondaries with the cells that each of them hosted.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (&PeerName, &[CellId])> {
        let losses = self.open.iter();
        losses.map(|loss| (&loss.name, loss.cells.as_slice()))
    }
}
