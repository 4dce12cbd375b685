//! [`Shown`]: amounts of light as screens show them.

use mesh::color::shown;

/// Steps of the table of amounts of light.
const STEPS: usize = 4096;

/// A table of what screens show of amounts of light.
pub(crate) struct Shown {
    table: Vec<u8>,
}

impl Default for Shown {
    fn default() -> Self {
        let step = |step| (shown(step as f32 / (STEPS - 1) as f32) * 255.0 + 0.5) as u8;
        Self {
            table: (0..STEPS).map(step).collect(),
        }
    }
}

impl Shown {
    /// Returns an opaque pixel of so much red, green and blue light.
    pub(crate) fn pixel(&self, light: [f32; 3]) -> [u8; 4] {
        let shown = |light: f32| {
            let step = light.clamp(0.0, 1.0) * (STEPS - 1) as f32 + 0.5;
            self.table[step as usize]
        };
        [shown(light[0]), shown(light[1]), shown(light[2]), 255]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_what_screens_show_of_the_light() {
        let shown = Shown::default();
        assert_eq!(shown.pixel([0.75, 7.0, 0.0]), [225, 255, 0, 255]);
    }
}
