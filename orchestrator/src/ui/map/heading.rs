//! Where a performer's front points, seen from above.

use std::f64::consts::TAU;

use protocol::report::PerformerReport;

use crate::ui::theme::Theme;

/// The least horizontal part of a front that points somewhere on the map.
const HORIZONTAL_MIN: f64 = 0.5;
/// How far from a unit a quaternion may be.
const UNIT_TOLERANCE: f64 = 0.1;

/// Returns the direction of the model's x axis in the x-y plane of the world, from 0 to 2 pi
/// \[rad\], against the clock from the x axis; `None` when it points up or down or is unknown.
pub fn yaw(performer: &PerformerReport) -> Option<f64> {
    let [x, y, z, w] = performer.orientation_xyzw;
    let norm = (x * x + y * y + z * z + w * w).sqrt();
    let ahead = [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w)];
    let is_known = (norm - 1.0).abs() < UNIT_TOLERANCE && ahead[0].hypot(ahead[1]) > HORIZONTAL_MIN;
    is_known.then(|| ahead[1].atan2(ahead[0]).rem_euclid(TAU))
}

/// Returns the arrow of a performer's heading.
pub(super) fn arrow(theme: Theme, performer: &PerformerReport) -> Option<&'static str> {
    let arrows = &theme.glyphs().headings;
    let eighth = (yaw(performer)? / TAU * 8.0).round() as usize;
    Some(arrows[eighth % arrows.len()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;
    use crate::app::model::Model;

    fn turned(orientation_xyzw: [f64; 4]) -> PerformerReport {
        PerformerReport {
            orientation_xyzw,
            ..fixture::performers().remove(0)
        }
    }

    fn check(degrees: f64, unicode: &str, ascii: &str) {
        let half = degrees.to_radians() / 2.0;
        let performer = turned([0.0, 0.0, half.sin(), half.cos()]);
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

    #[test]
    fn what_points_up_or_nowhere_has_no_heading() {
        let upward = turned([0.0, -0.5_f64.sqrt(), 0.0, 0.5_f64.sqrt()]);
        assert_eq!(yaw(&upward), None);
        assert_eq!(yaw(&turned([0.0; 4])), None);
        assert_eq!(yaw(&turned([f64::NAN; 4])), None);
    }
}
