//! [`PeerNumbers`]: numbers of secondaries, by which the rules find all that they know of one.
//!
//! A message names its sender. The name is looked up once, and whatever concerns the sender is then
//! an element of a list. Outside of the rules there are names alone.

use protocol::PeerName;

/// Bytes of a name that are compared as one number; few names are longer.
const PREFIX_BYTES: usize = 16;

/// Number of a secondary. It belongs to the name: another secondary that takes the name later,
/// after the first was lost, has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PeerNumber(u32);

/// Names that secondaries of a run have had, numbered from 0 in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerNumbers {
    /// By their numbers.
    names: Vec<PeerName>,
    /// The beginnings of the names, in order of the names.
    prefixes: Vec<u128>,
    /// The numbers in the same order.
    sorted: Vec<PeerNumber>,
}

/// A list with an element for each number; those that were not set have the default.
#[derive(Clone, Debug)]
pub(crate) struct ByPeer<T>(Vec<T>);

impl PeerNumber {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl PeerNumbers {
    /// Returns the number of a name, which has one from now on.
    pub(crate) fn number(&mut self, name: &PeerName) -> PeerNumber {
        let place = self.place(name);
        let number = PeerNumber(self.names.len() as u32);
        match place {
            Ok(known) => self.sorted[known],
            Err(place) => {
                self.names.push(name.clone());
                self.prefixes.insert(place, prefix(name));
                self.sorted.insert(place, number);
                number
            }
        }
    }

    /// Returns the number of a name, if it has one.
    pub(crate) fn find(&self, name: &PeerName) -> Option<PeerNumber> {
        self.place(name).ok().map(|place| self.sorted[place])
    }

    /// Returns the name that a number belongs to.
    pub(crate) fn name(&self, number: PeerNumber) -> &PeerName {
        &self.names[number.index()]
    }

    /// Returns all numbers, in order of their names.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = PeerNumber> {
        self.sorted.iter().copied()
    }

    /// Returns the place of a name among the sorted ones, or the place where it belongs.
    fn place(&self, name: &PeerName) -> Result<usize, usize> {
        let wanted = prefix(name);
        let first = self.prefixes.partition_point(|known| *known < wanted);
        let is_prefix = |known: &&u128| **known == wanted;
        if name.as_str().len() < PREFIX_BYTES {
            // No other name begins like this with a zero byte.
            let found = self.prefixes.get(first).filter(is_prefix);
            return found.map(|_| first).ok_or(first);
        }
        let alike = self.prefixes[first..].iter().take_while(is_prefix).count();
        let alike = &self.sorted[first..first + alike];
        let place = alike.binary_search_by(|number| self.name(*number).cmp(name));
        place
            .map(|place| first + place)
            .map_err(|place| first + place)
    }
}

/// Returns the beginning of a name as a number that is ordered as names are: no name has a zero
/// byte, so that a shorter name comes first.
fn prefix(name: &PeerName) -> u128 {
    let bytes = name.as_str().as_bytes();
    let mut first = [0; PREFIX_BYTES];
    let count = bytes.len().min(PREFIX_BYTES);
    first[..count].copy_from_slice(&bytes[..count]);
    u128::from_be_bytes(first)
}

impl<T> Default for ByPeer<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> ByPeer<T> {
    /// Returns what is known of a secondary, if anything was set for it or one of a later number.
    pub(crate) fn get(&self, number: PeerNumber) -> Option<&T> {
        self.0.get(number.index())
    }

    /// Returns the element of a secondary to change.
    pub(crate) fn entry(&mut self, number: PeerNumber) -> &mut T {
        let index = number.index();
        if index >= self.0.len() {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }

    /// Returns all elements to change, by number.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PeerName {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_stay_with_their_names_and_come_in_order_of_names() {
        let mut names: Vec<String> = (0..300).map(|number| format!("s{number}")).collect();
        // Some agree in all bytes that are compared at once.
        let long = ["x", "x-y", "", "y"].map(|end| format!("abcdefghijklmnop{end}"));
        names.extend(long);
        names.extend(["a", "Z", "s", "s-1", "abcdefghijklmno"].map(str::to_owned));
        let mut numbers = PeerNumbers::default();
        let given: Vec<PeerNumber> = names.iter().map(|one| numbers.number(&name(one))).collect();
        for (text, number) in names.iter().zip(&given) {
            assert_eq!(numbers.find(&name(text)), Some(*number), "{text}");
            assert_eq!(numbers.number(&name(text)), *number, "{text} has one");
            assert_eq!(numbers.name(*number).as_str(), text);
        }
        assert_eq!(numbers.find(&name("abcdefghijklmnopz")), None);
        assert_eq!(numbers.find(&name("s300")), None);
        let order = numbers.by_name().map(|number| numbers.name(number).clone());
        let mut expected: Vec<PeerName> = names.iter().map(|one| name(one)).collect();
        expected.sort();
        assert_eq!(order.collect::<Vec<_>>(), expected);
    }
}
