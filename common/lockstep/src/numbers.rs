//! [`Numbers`]: numbers that are given, taken back and given again, always the lowest that is free.
//!
//! A function of what was asked for, in its order, so that every process gives the same ones. A
//! number that is given up is free only after [`Numbers::give_back`], which comes between two
//! steps: within a step no number means two things. Those of the start are never given again, so
//! that everything can go back to the start.

use std::collections::BTreeSet;

use crate::limits::NUMBERS_MAX;

/// Numbers in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Count at the start.
    at_start: u32,
    /// The one after the greatest in use.
    end: u32,
    /// Those below the end that are free.
    free: BTreeSet<u32>,
    /// Those given up since the last step.
    leaving: Vec<u32>,
}

impl Numbers {
    /// Begins with so many numbers in use, from 0.
    pub fn new(at_start: u32) -> Self {
        Self {
            at_start,
            end: at_start,
            ..Self::default()
        }
    }

    /// Returns the number after the greatest in use.
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// Returns the number that is given after `count` others are.
    pub fn upcoming(&self, count: usize) -> u32 {
        let beyond = || self.end + (count - self.free.len()) as u32;
        self.free.iter().nth(count).copied().unwrap_or_else(beyond)
    }

    /// Gives the lowest number that is free.
    pub fn take(&mut self) -> u32 {
        let number = self.upcoming(0);
        self.occupy(number);
        number
    }

    /// Tells whether a number may be given: it is free, and not out of all bounds.
    pub fn is_free(&self, number: u32) -> bool {
        let is_beyond = number >= self.end && number < self.at_start.saturating_add(NUMBERS_MAX);
        is_beyond || self.free.contains(&number)
    }

    /// Gives a number that is free; those below it that were never given are free as well.
    pub fn occupy(&mut self, number: u32) {
        if !self.free.remove(&number) {
            self.free.extend(self.end..number);
            self.end = self.end.max(number + 1);
        }
    }

    /// Notes that a number is given up; those of the start are out of use for good.
    pub fn give_up(&mut self, number: u32) {
        if number >= self.at_start {
            self.leaving.push(number);
        }
    }

    /// Lets the numbers that were given up be given again, and returns those of them that are below
    /// the end: what is kept by number can end there.
    pub fn give_back(&mut self) -> Vec<u32> {
        let mut freed = std::mem::take(&mut self.leaving);
        self.free.extend(&freed);
        while self.end > self.at_start && self.free.remove(&(self.end - 1)) {
            self.end -= 1;
        }
        freed.retain(|number| *number < self.end);
        freed
    }

    /// Tells whether a number waits to be given back.
    pub fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_given_once_it_was_given_back() {
        let mut numbers = Numbers::new(2);
        assert_eq!([(); 3].map(|()| numbers.take()), [2, 3, 4]);
        numbers.give_up(3);
        assert_eq!(numbers.take(), 5, "3 is free with the next step only");
        assert_eq!(numbers.give_back(), [3]);
        assert_eq!([0, 1, 2].map(|count| numbers.upcoming(count)), [3, 6, 7]);
        assert_eq!([(); 2].map(|()| numbers.take()), [3, 6]);
    }

    #[test]
    fn numbers_of_the_start_are_never_reused() {
        let mut numbers = Numbers::new(2);
        numbers.give_up(1);
        assert!(!numbers.has_leaving());
        assert!(numbers.give_back().is_empty());
        assert_eq!((numbers.take(), numbers.end()), (2, 3));
    }

    #[test]
    fn the_end_comes_back_with_the_greatest_number() {
        let mut numbers = Numbers::new(1);
        for _ in 0..4 {
            numbers.take();
        }
        numbers.give_up(2);
        numbers.give_up(3);
        assert_eq!(numbers.give_back(), [2, 3]);
        numbers.give_up(4);
        assert!(numbers.give_back().is_empty(), "all from 2 on are gone");
        assert_eq!(numbers, {
            let mut others = Numbers::new(1);
            others.take();
            others
        });
    }

    #[test]
    fn restored_numbers_are_given_in_the_same_order() {
        let mut numbers = Numbers::new(1);
        for _ in 0..6 {
            numbers.take();
        }
        for number in [1, 4, 6] {
            numbers.give_up(number);
        }
        numbers.give_back();
        let mut again = Numbers::new(1);
        for number in [5, 2, 3] {
            assert!(again.is_free(number));
            again.occupy(number);
        }
        assert_eq!(again, numbers);
        assert!(!again.is_free(5) && again.is_free(4) && !again.is_free(u32::MAX));
    }
}
