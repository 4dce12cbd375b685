//! The arrow that shows where a performer's front points, seen from above.

use std::f64::consts::TAU;

use protocol::report::PerformerReport;

use crate::app::orientation::heading;
use crate::ui::theme::Theme;

/// Returns the arrow of a performer's heading.
pub(super) fn arrow(theme: Theme, performer: &PerformerReport) -> Option<&'static str> {
    let arrows = &theme.glyphs().headings;
    let eighth = (heading(performer)? / TAU * 8.0).round() as usize;
    Some(arrows[eighth % arrows.len()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;
    use crate::app::model::Model;

    fn check(degrees: f64, unicode: &str, ascii: &str) {
        let half = degrees.to_radians() / 2.0;
        let performer = PerformerReport {
            orientation_xyzw: [0.0, 0.0, half.sin(), half.cos()],
            ..fixture::performers().remove(0)
        };
        let mut model = Model::new("run".to_owned(), true);
        assert_eq!(
            arrow(Theme::of(&model), &performer),
            Some(unicode),
            "{degrees}"
        );
        model.has_unicode = false;
        assert_eq!(
            arrow(Theme::of(&model), &performer),
            Some(ascii),
            "{degrees}"
        );
    }

    #[test]
    fn the_arrow_is_the_nearest_of_eight() {
        check(0.0, "→", ">");
        check(44.0, "↗", "^");
        check(90.0, "↑", "^");
        check(180.0, "←", "<");
        check(-91.0, "↓", "v");
        check(-22.0, "→", ">");
        check(359.0, "→", ">");
    }
}
