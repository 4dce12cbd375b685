//! [`Numbers`]: content of buffers, laid out as shaders read it.

/// Words of a buffer.
#[derive(Default)]
pub(crate) struct Numbers(Vec<u32>);

impl Numbers {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds numbers.
    pub(crate) fn floats<const N: usize>(&mut self, numbers: [f32; N]) {
        self.0.extend(numbers.map(f32::to_bits));
    }

    /// Adds three numbers, and one in the place that they leave.
    pub(crate) fn three_and(&mut self, three: [f32; 3], last: f32) {
        self.floats(three);
        self.floats([last]);
    }

    /// Adds whole numbers.
    pub(crate) fn words<const N: usize>(&mut self, words: [u32; N]) {
        self.0.extend(words);
    }

    /// Adds rows of a rule from places to places.
    pub(crate) fn rows(&mut self, rows: &[[f32; 4]; 3]) {
        self.0
            .extend(rows.as_flattened().iter().map(|x| x.to_bits()));
    }

    /// Fills a struct up, to a whole number of vectors of four.
    pub(crate) fn end_struct(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_filled_up_to_vectors_of_four() {
        let mut numbers = Numbers::default();
        numbers.three_and([1.0, 2.0, 3.0], 4.0);
        numbers.words([5]);
        numbers.end_struct();
        assert_eq!(numbers.bytes().len(), 32);
        assert_eq!(numbers.bytes()[16], 5);
    }
}
