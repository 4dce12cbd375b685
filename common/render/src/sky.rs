//! [`Sky`]: the sky that is behind everything, as light and as screens show it.

use mesh::color::linear;

use crate::pixels::Shown;
use crate::stage::{HORIZON, ZENITH};
use crate::vector::Vector;

/// Steps of the way from the horizon to overhead, of which most are of one colour on screens.
const STEPS: usize = 1 << 14;

/// Light by which the ends of a step must be away from another colour: more than rounding ever is.
const MARGIN: f32 = 1e-5;

/// Pixels of steps that are of one colour; of the others, none.
pub(crate) struct Sky {
    steps: Vec<Option<[u8; 4]>>,
}

impl Sky {
    /// Makes a table, by what screens show of light.
    pub(crate) fn new(shown: &Shown) -> Self {
        let pixels = |step: usize| {
            let light = Self::light(step as f32 / STEPS as f32);
            [-MARGIN, MARGIN].map(|margin| shown.pixel(light.map(|part| part + margin)))
        };
        let mut first = pixels(0);
        let step = |step: usize| {
            let second = pixels(step + 1);
            let is_one = first == [first[0]; 2] && first == second;
            let pixel = is_one.then_some(first[0]);
            first = second;
            pixel
        };
        Self {
            steps: (0..STEPS).map(step).collect(),
        }
    }

    /// Returns the part of the way from the horizon to overhead at which a ray looks, 0 to 1.
    pub(crate) fn part(ray: Vector) -> f32 {
        let height = ray[2].clamp(0.0, 1.0) as f32;
        height.sqrt()
    }

    /// Returns the light at a part of that way.
    pub(crate) fn light(part: f32) -> [f32; 3] {
        std::array::from_fn(|i| linear(HORIZON[i] + (ZENITH[i] - HORIZON[i]) * part))
    }

    /// Returns what screens show there: the same as of its light.
    pub(crate) fn pixel(&self, part: f32, shown: &Shown) -> [u8; 4] {
        let known = self.steps.get((part * STEPS as f32) as usize);
        let known = known.copied().flatten();
        known.unwrap_or_else(|| shown.pixel(Self::light(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_what_the_light_is() {
        let shown = Shown::default();
        let sky = Sky::new(&shown);
        assert!(sky.steps.iter().flatten().count() > STEPS * 8 / 10);
        for step in 0..=1_000_003_u32 {
            let part = step as f32 / 1_000_003.0;
            assert_eq!(
                sky.pixel(part, &shown),
                shown.pixel(Sky::light(part)),
                "{part}"
            );
        }
    }
}
