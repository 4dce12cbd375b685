//! Random numbers of a test, by its seed.

/// Draws by xorshift.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed; any will do.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// Draws a number of 53 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// Draws a number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }
}
