//! [`Seats`]: the secondaries that take part in the steps, in order of their names.

use protocol::PeerName;

use crate::peer_numbers::{ByPeer, PeerNumber, PeerNumbers};

/// Those who take part. A seat is a place in the order of names: it holds until somebody comes or
/// goes, and what is noted of a step has a place for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seats {
    names: Vec<PeerName>,
    numbers: Vec<PeerNumber>,
    seat_of: ByPeer<Option<u32>>,
}

impl Seats {
    /// Seats secondaries of these numbers, which are in order of their names.
    pub(crate) fn new(numbers: Vec<PeerNumber>, known: &PeerNumbers) -> Self {
        let names = numbers.iter().map(|number| known.name(*number).clone());
        let mut seats = Self {
            names: names.collect(),
            numbers,
            seat_of: ByPeer::default(),
        };
        seats.count_anew();
        seats
    }

    /// Returns the names of all.
    pub(crate) fn names(&self) -> &[PeerName] {
        &self.names
    }

    /// Returns the numbers of all, in the same order.
    pub(crate) fn numbers(&self) -> &[PeerNumber] {
        &self.numbers
    }

    /// Returns the seat of a secondary, if it takes part.
    pub(crate) fn seat(&self, number: PeerNumber) -> Option<usize> {
        let seat = self.seat_of.get(number).copied().flatten()?;
        Some(seat as usize)
    }

    /// Returns the seat of the secondary of a name, if it takes part.
    pub(crate) fn find(&self, name: &PeerName) -> Option<usize> {
        self.names.binary_search(name).ok()
    }

    /// Has one more take part.
    pub(super) fn admit(&mut self, name: &PeerName, number: PeerNumber) {
        if let Err(seat) = self.names.binary_search(name) {
            self.names.insert(seat, name.clone());
            self.numbers.insert(seat, number);
            self.count_anew();
        }
    }

    /// Takes one out.
    pub(super) fn withdraw(&mut self, name: &PeerName) {
        if let Some(seat) = self.find(name) {
            self.names.remove(seat);
            self.numbers.remove(seat);
            self.count_anew();
        }
    }

    fn count_anew(&mut self) {
        self.seat_of.clear();
        for (seat, number) in (0..).zip(&self.numbers) {
            *self.seat_of.entry(*number) = Some(seat);
        }
    }
}

#[cfg(test)]
impl Seats {
    /// Seats secondaries of these names, which get numbers.
    pub(crate) fn of(names: &[PeerName], known: &mut PeerNumbers) -> Self {
        let mut seats = Self::default();
        for name in names {
            seats.admit(name, known.number(name));
        }
        seats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seats: &Seats, known: &PeerNumbers, expected: &[&str]) {
        let names: Vec<&str> = seats.names().iter().map(PeerName::as_str).collect();
        assert_eq!(names, expected);
        for (seat, name) in seats.names().iter().enumerate() {
            let number = known.find(name).unwrap();
            assert_eq!(seats.find(name), Some(seat));
            assert_eq!(seats.seat(number), Some(seat));
            assert_eq!(seats.numbers()[seat], number);
        }
    }

    #[test]
    fn seats_are_in_order_of_names_whoever_comes_and_goes() {
        let mut known = PeerNumbers::default();
        let [s1, s2, s10]: [PeerName; 3] = ["s1", "s2", "s10"].map(|name| name.parse().unwrap());
        let mut seats = Seats::of(&[s2.clone(), s1.clone()], &mut known);
        check(&seats, &known, &["s1", "s2"]);
        let number = known.number(&s10);
        assert_eq!(seats.seat(number), None);
        seats.admit(&s10, number);
        seats.admit(&s10, number);
        check(&seats, &known, &["s1", "s10", "s2"]);
        seats.withdraw(&s1);
        seats.withdraw(&s1);
        check(&seats, &known, &["s10", "s2"]);
        assert_eq!(seats.seat(known.number(&s1)), None);
    }
}
