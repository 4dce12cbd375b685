//! Whole files to broken ones, for tests.

/// A small random generator (`SplitMix64`); the same numbers on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Changes, removes, repeats or exchanges some bytes.
pub(crate) fn broken(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] = b"0123456789-+.eE#<>/\"'{}[],: \n"[random.below(29)],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            4 => bytes.truncate(at),
            _ => {
                let other = random.below(bytes.len());
                bytes.swap(at, other);
            }
        }
    }
    bytes
}
