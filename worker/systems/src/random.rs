//! [`Draw`]: random numbers that are a function of who asks and when, and of nothing else.
//!
//! There is no generator that goes on from step to step: a part of a model gets the same numbers at
//! the same time on any host, whatever else is drawn there. Mixing is that of `SplitMix64` (Steele,
//! Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).

use std::f64::consts::TAU;

/// The golden ratio as a part of 2^64: the distance between the states of `SplitMix64`.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The random numbers of a part of a model in one step, in order.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    state: u64,
    /// The second number of a pair of Gaussian ones.
    spare: Option<f64>,
}

impl Draw {
    /// Begins the numbers of a part (a sensor or a system, by its place in its model) at a time
    /// that has passed in the run \[ns\].
    pub(crate) fn new(seed: u64, model: u64, part: u64, elapsed_ns: u64) -> Self {
        let keys = [seed, model, part, elapsed_ns];
        let state = keys.into_iter().fold(0, |state: u64, key| {
            mixed(state.wrapping_add(GOLDEN) ^ mixed(key.wrapping_add(GOLDEN)))
        });
        Self { state, spare: None }
    }

    /// Returns 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mixed(self.state)
    }

    /// Returns a number of at least 0 and less than 1, all equally likely.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns a normally distributed number of mean 0 and deviation 1 (Box and Muller, 1958).
    pub(crate) fn gaussian(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let (sine, cosine) = libm::sincos(TAU * self.uniform());
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 100_000;

    /// Returns mean, variance and fourth moment about 0.
    fn moments(numbers: impl Iterator<Item = f64>) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for number in numbers {
            for (sum, power) in sums.iter_mut().zip([1, 2, 4]) {
                *sum += number.powi(power) / f64::from(COUNT);
            }
        }
        sums
    }

    #[test]
    fn uniform_numbers_have_the_moments_of_their_range() {
        let mut draw = Draw::new(1, 2, 3, 4);
        let numbers = (0..COUNT).map(|_| draw.uniform());
        let [mean, square, fourth] = moments(numbers);
        // Four deviations of each mean: sqrt(1/12/n), sqrt(4/45/n), sqrt(16/225/n).
        assert!((mean - 1.0 / 2.0).abs() < 4e-3, "{mean}");
        assert!((square - 1.0 / 3.0).abs() < 4e-3, "{square}");
        assert!((fourth - 1.0 / 5.0).abs() < 4e-3, "{fourth}");
    }

    #[test]
    fn gaussian_numbers_have_the_moments_of_the_normal_distribution() {
        for (at, draws) in [(0, COUNT), (1, 1), (2, 2)] {
            let times = u64::from(COUNT / draws);
            let numbers = (0..times).flat_map(|time| {
                let mut draw = Draw::new(7, at, 0, time * 1_000_000);
                (0..draws).map(move |_| draw.gaussian())
            });
            let [mean, square, fourth] = moments(numbers);
            // Four deviations of each mean: sqrt(1/n), sqrt(2/n), sqrt(96/n).
            assert!(mean.abs() < 0.013, "{draws}: {mean}");
            assert!((square - 1.0).abs() < 0.018, "{draws}: {square}");
            assert!((fourth - 3.0).abs() < 0.13, "{draws}: {fourth}");
        }
    }

    #[test]
    fn each_key_makes_other_numbers_and_the_same_keys_the_same() {
        let first = |keys: [u64; 4]| Draw::new(keys[0], keys[1], keys[2], keys[3]).bits();
        assert_eq!(first([1, 2, 3, 4]), first([1, 2, 3, 4]));
        let mut seen = std::collections::BTreeSet::new();
        for key in 0..256 {
            for place in 0..4 {
                let mut keys = [1_000; 4];
                keys[place] = key;
                assert!(seen.insert(first(keys)), "{keys:?} repeats another's");
            }
        }
    }

    #[test]
    fn numbers_are_the_same_on_every_machine() {
        let mut draw = Draw::new(0, 0, 0, 0);
        let bits = [draw.bits(), draw.bits()];
        let expected = [0xaf33_0ae1_cbf7_fc94, 0xe4d4_9131_f34c_a96c];
        assert_eq!(bits, expected, "the numbers changed");
    }
}
