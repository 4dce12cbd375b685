//! The arrow that shows where a performer's front points, or where it goes that has none, seen from
//! above.

use std::f64::consts::TAU;

use protocol::report::PerformerReport;

use crate::app::orientation::heading;
use crate::ui::theme::Theme;

/// The least speed of what has a direction \[m/s\].
const SPEED_MIN: f64 = 0.05;

/// Returns the arrow of a performer's heading; of what rolls or lies, that of its way.
pub(super) fn arrow(theme: Theme, performer: &PerformerReport) -> Option<&'static str> {
    let arrows = &theme.glyphs().headings;
    let angle = heading(performer).or_else(|| way(performer))?;
    let eighth = (angle / TAU * 8.0).round() as usize;
    Some(arrows[eighth % arrows.len()])
}

/// Returns the direction in which a performer moves over the ground, from 0 to 2 pi \[rad\].
fn way(performer: &PerformerReport) -> Option<f64> {
    let [x, y, _] = performer.linear_velocity;
    (x.hypot(y) >= SPEED_MIN).then(|| y.atan2(x).rem_euclid(TAU))
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
        model.terminal.has_unicode = false;
        assert_eq!(
            arrow(Theme::of(&model), &performer),
            Some(ascii),
            "{degrees}"
        );
    }

    #[test]
    fn a_rolling_performer_has_the_arrow_of_its_motion() {
        let mut barrel = fixture::performers().remove(0);
        barrel.orientation_xyzw = [0.8_f64.sqrt(), 0.0, 0.0, 0.2_f64.sqrt()];
        barrel.linear_velocity = [0.0, -2.0, 0.0];
        let model = Model::new("run".to_owned(), true);
        assert_eq!(arrow(Theme::of(&model), &barrel), Some("↓"));
        barrel.linear_velocity = [0.0, -0.01, 0.0];
        assert_eq!(arrow(Theme::of(&model), &barrel), None);
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
