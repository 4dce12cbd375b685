//! [`CellRuns`]: many cells in few bytes.

use serde::{Deserialize, Serialize};

use crate::CellId;

/// Cells in ascending order, as runs of consecutive numbers, each with its first and its last one.
///
/// Runs from the wire may be in no order and of any size: [`CellRuns::iter`] is to be compared with
/// cells that are known, and not to be collected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellRuns(Vec<(CellId, CellId)>);

impl CellRuns {
    /// Adds a cell that comes after all others.
    pub fn push(&mut self, cell: CellId) {
        match self.0.last_mut() {
            Some((_, last)) if last.0.checked_add(1) == Some(cell.0) => *last = cell,
            _ => self.0.push((cell, cell)),
        }
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a cell is among them, when they are in order.
    pub fn contains(&self, cell: CellId) -> bool {
        let behind = self.0.partition_point(|(_, last)| *last < cell);
        self.0.get(behind).is_some_and(|(first, _)| *first <= cell)
    }

    /// Returns the cells.
    pub fn iter(&self) -> impl Iterator<Item = CellId> + '_ {
        let runs = self.0.iter();
        runs.flat_map(|(first, last)| (first.0..=last.0).map(CellId))
    }
}

impl FromIterator<CellId> for CellRuns {
    fn from_iter<I: IntoIterator<Item = CellId>>(cells: I) -> Self {
        let mut runs = Self::default();
        cells.into_iter().for_each(|cell| runs.push(cell));
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_the_cells_that_were_pushed() {
        let cells = [0, 1, 2, 5, 7, 8, u32::MAX].map(CellId);
        let runs: CellRuns = cells.into_iter().collect();
        assert_eq!(runs.0.len(), 4);
        assert!(runs.iter().eq(cells));
        for number in (0..10).chain([u32::MAX - 1, u32::MAX]) {
            let cell = CellId(number);
            assert_eq!(runs.contains(cell), cells.contains(&cell), "{cell}");
        }
        assert!(CellRuns::default().is_empty() && !runs.is_empty());
    }

    #[test]
    fn a_run_that_ends_before_it_begins_is_empty() {
        let runs = CellRuns(vec![(CellId(3), CellId(1))]);
        assert_eq!(runs.iter().count(), 0);
    }
}
