//! Small histories: one bar per sample, in a line of text.

use super::theme::Theme;

/// Returns a bar for each part of the whole, from nothing for 0 to a full one for 1; whatever is
/// more than nothing is seen.
pub fn bars(theme: Theme, parts: impl Iterator<Item = f64>) -> String {
    let bars = &theme.glyphs().loads;
    let last = bars.len() - 1;
    let bar = |part: f64| {
        if part > 0.0 {
            bars[((part.min(1.0) * last as f64).round() as usize).max(1)]
        } else {
            bars[0]
        }
    };
    parts.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::Model;

    #[test]
    fn bars_are_as_high_as_their_parts() {
        let mut model = Model::new("run".to_owned(), true);
        let parts = || [0.0, 1e-9, 0.5, 1.0, 7.0, f64::NAN].into_iter();
        assert_eq!(bars(Theme::of(&model), parts()), " ▁▄██ ");
        model.terminal.has_unicode = false;
        assert_eq!(bars(Theme::of(&model), parts()), " _-## ");
    }
}
