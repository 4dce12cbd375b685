//! [`DigestOfAll`]: the digest of all performers in order of their names, with that of each at its
//! place in this order, so that they are read from end to end.

use protocol::{Digest, PerformerId};

/// Place of a performer that is not there.
const NOWHERE: u32 = u32::MAX;

/// Digest of all performers.
#[derive(Debug, Default)]
pub(crate) struct DigestOfAll {
    /// The place of each performer in the order of names.
    places: Vec<u32>,
    /// The digests of their last states in that order, as they enter the one of all.
    digests: Vec<[u8; 16]>,
    /// That after the last iteration.
    digest: Digest,
    /// True if it is that of the states as they are now.
    is_current: bool,
}

impl DigestOfAll {
    /// Begins with the digest after the last iteration, and nobody in it.
    pub(super) fn after(digest: Digest) -> Self {
        Self {
            digest,
            ..Self::default()
        }
    }

    /// Takes who is there, in order of names, with the digests of all by their numbers.
    pub(super) fn set_order(&mut self, by_name: &[PerformerId], digests: &[Digest]) {
        self.places.clear();
        self.places.resize(digests.len(), NOWHERE);
        self.digests.clear();
        for (place, id) in (0..).zip(by_name) {
            let index = id.0 as usize;
            self.places[index] = place;
            self.digests.push(digests[index].0.to_le_bytes());
        }
        self.is_current = false;
    }

    /// Takes the digest of a performer's state.
    pub(super) fn update(&mut self, performer: PerformerId, digest: Digest) {
        let place = self.places.get(performer.0 as usize);
        let own = place.and_then(|place| self.digests.get_mut(*place as usize));
        if let Some(own) = own {
            *own = digest.0.to_le_bytes();
        }
        self.is_current = false;
    }

    /// Returns the digest after the last iteration.
    pub(super) fn last(&self) -> Digest {
        self.digest
    }

    /// Makes the digest, unless all are as they were.
    pub(super) fn make(&mut self) {
        if !self.is_current {
            self.digest = Digest::of_bytes(self.digests.as_flattened());
            self.is_current = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::DigestBuilder;

    use super::*;

    #[test]
    fn it_is_that_of_the_digests_of_all_in_order_of_names() {
        let digests = [5, 6, 7].map(Digest);
        let mut all = DigestOfAll::after(Digest(1));
        assert_eq!(all.last(), Digest(1));
        let check = |all: &mut DigestOfAll, expected: &[u128]| {
            let mut builder = DigestBuilder::default();
            for digest in expected {
                builder.digest(Digest(*digest));
            }
            all.make();
            assert_eq!(all.last(), builder.finish(), "{expected:?}");
        };
        all.set_order(&[PerformerId(2), PerformerId(0)], &digests);
        check(&mut all, &[7, 5]);
        all.update(PerformerId(0), Digest(8));
        // One that is not there, and one that nobody knows.
        all.update(PerformerId(1), Digest(9));
        all.update(PerformerId(3), Digest(9));
        check(&mut all, &[7, 8]);
        all.set_order(&[], &[]);
        check(&mut all, &[]);
    }
}
