//! [`Texture`]: an image with smaller copies of itself, in amounts of light.

use mesh::Image;

/// An image, and copies of half, a quarter and further parts of its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    levels: Vec<Level>,
}

#[derive(Clone, Debug, PartialEq)]
struct Level {
    width: usize,
    height: usize,
    /// Red, green, blue as amounts of light, and alpha.
    pixels: Vec<[f32; 4]>,
}

impl Texture {
    /// Makes a texture; colours are as screens show them, those of `plain` numbers as they are.
    pub(crate) fn new(image: &Image, is_plain: bool) -> Self {
        let table: Vec<f32> = (0..=255_u8)
            .map(|value| {
                let part = f32::from(value) / 255.0;
                if is_plain {
                    part
                } else {
                    mesh::color::linear(part)
                }
            })
            .collect();
        let pixel = |[red, green, blue, alpha]: &[u8; 4]| {
            let [red, green, blue] = [red, green, blue].map(|value| table[usize::from(*value)]);
            [red, green, blue, f32::from(*alpha) / 255.0]
        };
        let mut levels = vec![Level {
            width: image.width,
            height: image.height,
            pixels: image.pixels.iter().map(pixel).collect(),
        }];
        while let Some(next) = levels.last().and_then(Level::halved) {
            levels.push(next);
        }
        Self { levels }
    }

    /// Returns the columns and rows of the image.
    pub fn size(&self) -> [usize; 2] {
        let first = &self.levels[0];
        [first.width, first.height]
    }

    /// Returns the image by rows: red, green and blue as amounts of light, and alpha.
    pub fn pixels(&self) -> &[[f32; 4]] {
        &self.levels[0].pixels
    }

    /// Returns the colour at a place; `footprint` is how much of the texture along u and v a sample
    /// covers.
    pub(crate) fn sample(&self, [u, v]: [f32; 2], footprint: [f32; 2]) -> [f32; 4] {
        let first = &self.levels[0];
        let covered = (footprint[0] * first.width as f32).max(footprint[1] * first.height as f32);
        let (mut number, mut left) = (0, covered);
        while left >= 2.0 && number + 1 < self.levels.len() {
            (number, left) = (number + 1, left / 2.0);
        }
        let below = &self.levels[number];
        let near = below.bilinear(u, v);
        if left <= 1.0 || number + 1 == self.levels.len() {
            return near;
        }
        let far = self.levels[number + 1].bilinear(u, v);
        let part = (left - 1.0).min(1.0);
        std::array::from_fn(|i| near[i] + (far[i] - near[i]) * part)
    }
}

impl Level {
    fn halved(&self) -> Option<Self> {
        if self.width == 1 && self.height == 1 {
            return None;
        }
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let at = |right: usize, down: usize| {
                    let x = (2 * x + right).min(self.width - 1);
                    let y = (2 * y + down).min(self.height - 1);
                    self.pixels[y * self.width + x]
                };
                let four = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
                let mean = |i: usize| (four[0][i] + four[1][i] + four[2][i] + four[3][i]) / 4.0;
                pixels.push(std::array::from_fn(mean));
            }
        }
        Some(Self {
            width,
            height,
            pixels,
        })
    }

    /// Returns the mean of the four nearest pixels; the texture repeats.
    fn bilinear(&self, u: f32, v: f32) -> [f32; 4] {
        let (x, right) = nearest(u, self.width);
        let (y, down) = nearest(v, self.height);
        let pixel = |x: usize, y: usize| self.pixels[y * self.width + x];
        let row = |y: usize| [pixel(x[0], y), pixel(x[1], y)];
        let (above, below) = (row(y[0]), row(y[1]));
        std::array::from_fn(|i| {
            let between = |[west, east]: [[f32; 4]; 2]| west[i] + (east[i] - west[i]) * right;
            let (above, below) = (between(above), between(below));
            above + (below - above) * down
        })
    }
}

/// Returns the two nearest of so many pixels, and how far the place is towards the second.
fn nearest(coordinate: f32, count: usize) -> ([usize; 2], f32) {
    let whole = coordinate - coordinate.floor();
    let place = whole * count as f32 - 0.5;
    let floor = place.floor();
    let first = if floor < 0.0 {
        count - 1
    } else {
        (floor as usize).min(count - 1)
    };
    ([first, (first + 1) % count], place - floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_far_away_a_texture_is_its_mean() {
        let image = Image {
            width: 2,
            height: 2,
            pixels: vec![[0, 0, 0, 255], [255; 4], [255; 4], [0, 0, 0, 255]],
        };
        let texture = Texture::new(&image, false);
        assert_eq!(texture.sample([0.25, 0.25], [0.0; 2]), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(
            texture.sample([1.75, -0.75], [0.0; 2]),
            [1.0; 4],
            "it repeats"
        );
        assert_eq!(texture.sample([0.3, 0.7], [1.0; 2])[0], 0.5);
        assert_eq!(
            texture.sample([0.5, 0.5], [0.0; 2])[0],
            0.5,
            "between all four"
        );
    }
}
