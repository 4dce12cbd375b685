//! [`Raster`]: pixels, and fewer of them.

/// An image of red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Raster {
    /// Makes it of rows of pixels, from the top; `None` if they are not as many as its size says,
    /// or there are none.
    pub fn new(width: usize, height: usize, pixels: Vec<[u8; 3]>) -> Option<Self> {
        let is_whole = width.checked_mul(height) == Some(pixels.len()) && !pixels.is_empty();
        is_whole.then_some(Self {
            width,
            height,
            pixels,
        })
    }

    /// Makes one of a single colour.
    ///
    /// # Panics
    /// Panics if it has no pixels.
    pub fn filled(width: usize, height: usize, color: [u8; 3]) -> Self {
        assert!(width > 0 && height > 0, "an image has pixels");
        Self {
            width,
            height,
            pixels: vec![color; width * height],
        }
    }

    /// Returns the number of pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns a row.
    ///
    /// # Panics
    /// Panics if there is no such row.
    pub fn row(&self, row: usize) -> &[[u8; 3]] {
        &self.pixels[row * self.width..][..self.width]
    }

    /// Returns all pixels, row by row.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// Returns it made so small that it fits, with the same ratio of sides; each pixel is the mean
    /// of those in its place.
    #[must_use]
    pub fn fitted(&self, width_max: usize, height_max: usize) -> Self {
        let (width_max, height_max) = (width_max.max(1), height_max.max(1));
        if self.width <= width_max && self.height <= height_max {
            return self.clone();
        }
        // The side that must shrink more decides.
        let (width, height) = if self.width * height_max >= self.height * width_max {
            (width_max, self.height * width_max / self.width)
        } else {
            (self.width * height_max / self.height, height_max)
        };
        let (width, height) = (width.max(1), height.max(1));
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = part(y, height, self.height);
            for x in 0..width {
                let columns = part(x, width, self.width);
                let mut sum = [0_usize; 3];
                for row in rows.clone() {
                    for pixel in &self.row(row)[columns.clone()] {
                        for (sum, value) in sum.iter_mut().zip(pixel) {
                            *sum += usize::from(*value);
                        }
                    }
                }
                let count = rows.len() * columns.len();
                pixels.push(sum.map(|sum| ((sum + count / 2) / count) as u8));
            }
        }
        Self {
            width,
            height,
            pixels,
        }
    }
}

/// Returns the pixels of a side that become the one with this index of fewer; at least one.
fn part(index: usize, of: usize, all: usize) -> std::ops::Range<usize> {
    let start = (index * all / of).min(all - 1);
    let end = ((index + 1) * all / of).max(start + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_the_mean_of_their_place() {
        let pixels = vec![
            [0; 3],
            [10; 3],
            [20; 3],
            [30; 3],
            [40, 0, 0],
            [50, 0, 0],
            [60; 3],
            [71; 3],
        ];
        let image = Raster::new(4, 2, pixels).unwrap();
        let small = image.fitted(2, 9);
        assert_eq!((small.width(), small.height()), (2, 1));
        assert_eq!(small.row(0), [[25, 3, 3], [45, 45, 45]]);
        assert_eq!(image.fitted(4, 2), image);
        assert_eq!(image.fitted(1, 1).pixels().len(), 1);
    }

    #[test]
    fn thin_images_keep_a_pixel() {
        let image = Raster::filled(1000, 1, [7; 3]);
        let small = image.fitted(10, 10);
        assert_eq!((small.width(), small.height()), (10, 1));
        assert_eq!(Raster::new(2, 2, vec![[0; 3]; 3]), None);
        assert_eq!(Raster::new(0, 2, Vec::new()), None);
    }
}
