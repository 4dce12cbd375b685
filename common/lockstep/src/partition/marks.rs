//! [`Marks`]: notes of the rules about each performer, in a byte, so that all can be gone through
//! quickly.

/// Notes about one performer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(pub(super) u8);

impl Marks {
    /// It keeps levels active.
    pub(super) const ACTIVATING: Self = Self(1);
    /// It is gone from the world.
    pub(super) const REMOVED: Self = Self(2);
    /// Another cell than its home owns it.
    pub(super) const AWAY: Self = Self(4);
    /// A performer of another cell may be near.
    pub(super) const BESIDE: Self = Self(8);
    /// Joints of the world hold it together with others.
    pub(super) const JOINED: Self = Self(16);
    /// It is in a group with others that matters.
    pub(super) const GROUPED: Self = Self(32);
    /// It may soon touch other levels.
    pub(super) const NEAR_LEVELS: Self = Self(64);
    /// Its home may soon change.
    pub(super) const NEAR_HOME: Self = Self(128);

    /// Tells whether any of these is noted.
    pub(super) fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Notes these or takes the notes back.
    pub(super) fn set(&mut self, which: Self, is_so: bool) {
        if is_so {
            self.0 |= which.0;
        } else {
            self.0 &= !which.0;
        }
    }
}

/// Number of performers of which it is asked at once whether any has a mark.
const AT_ONCE: usize = 64;

/// Adds to `found` the performers of which any of these is noted, ascending. Where it is of few, it
/// takes a byte to read for each of the others.
pub(super) fn find(marks: &[Marks], any: Marks, found: &mut Vec<usize>) {
    for (first, some) in (0..).step_by(AT_ONCE).zip(marks.chunks(AT_ONCE)) {
        let all = some.iter().fold(Marks::default(), |all, one| all | *one);
        if all.has(any) {
            let has = some.iter().enumerate().filter(|(_, one)| one.has(any));
            found.extend(has.map(|(place, _)| first + place));
        }
    }
}

impl std::ops::BitOr for Marks {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_who_have_a_mark_are_found_in_order() {
        let mut marks = vec![Marks::ACTIVATING; 1_000];
        for place in [0, 63, 64, 500, 999] {
            marks[place].set(Marks::AWAY, true);
        }
        marks[501].set(Marks::BESIDE, true);
        marks[502].set(Marks::GROUPED, true);
        let mut found = vec![7];
        find(&marks, Marks::AWAY | Marks::BESIDE, &mut found);
        assert_eq!(found, [7, 0, 63, 64, 500, 501, 999]);
        find(&[], Marks::AWAY, &mut found);
        assert_eq!(found.len(), 7);
    }
}
