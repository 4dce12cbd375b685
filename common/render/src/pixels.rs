//! Samples to pixels: means of samples, as screens show them.

use mesh::Image;
use mesh::color::shown;

/// Steps of the table of amounts of light.
const STEPS: usize = 4096;

/// Makes an image of samples, so many along each edge of a pixel.
pub(crate) fn image(samples: &[[f32; 3]], [width, height]: [usize; 2], per_edge: usize) -> Image {
    let table: Vec<u8> = (0..STEPS)
        .map(|step| (shown(step as f32 / (STEPS - 1) as f32) * 255.0 + 0.5) as u8)
        .collect();
    let value = |light: f32| {
        let step = light.clamp(0.0, 1.0) * (STEPS - 1) as f32 + 0.5;
        table[step as usize]
    };
    let stride = width * per_edge;
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let mut sum = [0.0_f32; 3];
            for row in 0..per_edge {
                let first = (y * per_edge + row) * stride + x * per_edge;
                for sample in &samples[first..first + per_edge] {
                    for (sum, part) in sum.iter_mut().zip(sample) {
                        *sum += part.clamp(0.0, 1.0);
                    }
                }
            }
            let count = (per_edge * per_edge) as f32;
            let [red, green, blue] = sum.map(|sum| value(sum / count));
            pixels.push([red, green, blue, 255]);
        }
    }
    Image {
        width,
        height,
        pixels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_the_mean_of_its_samples() {
        let (black, white) = ([0.0; 3], [7.0; 3]);
        let samples = [black, white, white, black, white, white, white, white];
        let found = image(&[&samples[..4], &samples[4..]].concat(), [2, 1], 2);
        assert_eq!(found.pixels[0][0], 225, "three quarters of the light");
        let found = image(&[white, black], [2, 1], 1);
        assert_eq!(found.pixels, [[255; 4], [0, 0, 0, 255]]);
    }
}
