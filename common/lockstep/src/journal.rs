//! [`Journal`]: a note of what was so before changes began, to tell afterwards what has changed.

use protocol::CellId;

/// Notes about things in cells, each with whether it was there before.
#[derive(Debug)]
pub(crate) struct Journal<T> {
    notes: Vec<(CellId, T, bool)>,
}

impl<T: Copy + Ord> Journal<T> {
    pub(crate) fn new() -> Self {
        Self { notes: Vec::new() }
    }

    /// Notes whether something was in a cell, right before that changes; the first note counts.
    pub(crate) fn note(&mut self, cell: CellId, what: T, was_there: bool) {
        self.notes.push((cell, what, was_there));
    }

    /// Calls `each` with what may have changed since the last call, in order of cells and things,
    /// and whether it was there before.
    pub(crate) fn take(&mut self, mut each: impl FnMut(CellId, T, bool)) {
        self.notes.sort_by_key(|(cell, what, _)| (*cell, *what));
        self.notes.dedup_by_key(|(cell, what, _)| (*cell, *what));
        for (cell, what, was_there) in self.notes.drain(..) {
            each(cell, what, was_there);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_note_about_a_thing_counts() {
        let mut journal = Journal::new();
        let notes = [
            (2, 'a', true),
            (1, 'b', false),
            (1, 'a', true),
            (1, 'b', true),
        ];
        for (cell, what, was_there) in notes {
            journal.note(CellId(cell), what, was_there);
        }
        let mut taken = Vec::new();
        journal.take(|cell, what, was_there| taken.push((cell.0, what, was_there)));
        assert_eq!(taken, [(1, 'a', true), (1, 'b', false), (2, 'a', true)]);
        journal.take(|_, _, _| panic!("notes are taken once"));
    }
}
