//! Colours as screens show them (sRGB), and as light adds up (linear), to the same bits anywhere.

/// Returns the amount of light of a value that screens show, 0 to 1.
pub fn linear(shown: f32) -> f32 {
    if shown <= 0.040_45 {
        shown / 12.92
    } else {
        libm::powf((shown + 0.055) / 1.055, 2.4)
    }
}

/// Returns the value by which screens show an amount of light, 0 to 1.
pub fn shown(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * libm::powf(linear, 1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_and_what_is_shown_of_it_undo_each_other() {
        for step in 0..=100_u8 {
            let value = f32::from(step) / 100.0;
            assert!((shown(linear(value)) - value).abs() < 1e-5, "{value}");
        }
        assert!((linear(0.5) - 0.214).abs() < 1e-3);
    }
}
