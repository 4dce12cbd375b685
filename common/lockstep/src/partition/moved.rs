//! [`Moved`]: performers whose states have changed since an update.

use protocol::PerformerId;

/// The part of all performers from which on they are not told one by one.
const MANY: usize = 4;

/// Performers whose states have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// True if anybody may have moved.
    are_all: bool,
    /// Those that have otherwise, in any order, some perhaps more than once.
    these: Vec<PerformerId>,
}

impl Moved {
    /// Returns a note that anybody may have moved.
    pub fn all() -> Self {
        Self {
            are_all: true,
            these: Vec::new(),
        }
    }

    /// Notes that one of so many performers has moved.
    pub fn note(&mut self, performer: PerformerId, count: usize) {
        if self.are_all {
            return;
        }
        self.these.push(performer);
        if self.these.len() * MANY > count {
            self.note_all();
        }
    }

    /// Notes that anybody may have moved.
    pub fn note_all(&mut self) {
        self.are_all = true;
        self.these.clear();
    }

    /// Takes the notes of another one over, which has none afterwards.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.these.append(&mut other.these);
        if std::mem::take(&mut other.are_all) || self.are_all {
            self.note_all();
        }
    }

    /// Forgets all notes; returns those that have moved if they are known one by one, in `list`,
    /// ascending.
    pub(super) fn take(&mut self, list: &mut Vec<PerformerId>) -> bool {
        list.clear();
        list.append(&mut self.these);
        list.sort_unstable();
        list.dedup();
        !std::mem::take(&mut self.are_all)
    }

    /// Tells whether anybody has moved.
    pub(super) fn is_any(&self) -> bool {
        self.are_all || !self.these.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(moved: &mut Moved) -> Option<Vec<u32>> {
        let mut list = Vec::new();
        let are_known = moved.take(&mut list);
        are_known.then(|| list.into_iter().map(|one| one.0).collect())
    }

    #[test]
    fn few_are_told_one_by_one_and_many_as_all() {
        let mut moved = Moved::default();
        assert!(!moved.is_any());
        for number in [5, 2, 5] {
            moved.note(PerformerId(number), 100);
        }
        assert!(moved.is_any());
        assert_eq!(taken(&mut moved), Some(vec![2, 5]));
        assert_eq!(taken(&mut moved), Some(vec![]));
        for number in 0..26 {
            moved.note(PerformerId(number), 100);
        }
        assert_eq!(taken(&mut moved), None);
        assert!(!moved.is_any());
    }

    #[test]
    fn notes_are_taken_over_once() {
        let (mut moved, mut others) = (Moved::default(), Moved::default());
        moved.note(PerformerId(1), 100);
        others.note(PerformerId(0), 100);
        moved.append(&mut others);
        assert!(!others.is_any());
        assert_eq!(taken(&mut moved), Some(vec![0, 1]));
        moved.append(&mut Moved::all());
        moved.note(PerformerId(1), 100);
        assert_eq!(taken(&mut moved), None);
    }
}
