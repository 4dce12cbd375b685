//! `<scene>`: light and colours around everything.

use super::{look, part};
use crate::tree::Element;
use crate::world::{Fog, Sky, Surroundings};

/// Reads the `<scene>` of a world.
pub(super) fn read(world: &Element) -> Surroundings {
    let default = Surroundings::default();
    let Some(scene) = world.child("scene") else {
        return default;
    };
    Surroundings {
        ambient: look::color(scene, "ambient").unwrap_or(default.ambient),
        background: look::color(scene, "background").unwrap_or(default.background),
        sky: scene.child("sky").map(sky),
        fog: scene.child("fog").and_then(fog),
        shadows: look::truth(scene, "shadows", default.shadows),
        grid: look::truth(scene, "grid", default.grid),
    }
}

fn sky(sky: &Element) -> Sky {
    Sky {
        time: look::size(sky, "time", 10.0).min(24.0),
        sunrise: look::size(sky, "sunrise", 6.0).min(24.0),
        sunset: look::size(sky, "sunset", 20.0).min(24.0),
    }
}

/// Reads a `<fog>`, unless it is of a kind that is none.
fn fog(fog: &Element) -> Option<Fog> {
    let kind = part::text(fog, "type")?;
    if !matches!(kind.as_str(), "linear" | "exp" | "exp2") {
        return None;
    }
    Some(Fog {
        kind,
        color: look::color(fog, "color").unwrap_or([1.0; 4]),
        start: look::size(fog, "start", 1.0),
        end: look::size(fog, "end", 100.0),
        density: look::size(fog, "density", 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    #[test]
    fn a_scene_has_what_it_says_and_else_the_defaults_of_sdf() {
        let world = |scene: &str| read(&parse(&format!("<world>{scene}</world>"), "f").unwrap());
        assert_eq!(world(""), Surroundings::default());
        let found = world(
            "<scene><ambient>1 0 2 1</ambient><background>nothing</background><grid>0</grid>\
             <shadows>false</shadows><sky><time>30</time></sky>\
             <fog><type>exp</type><density>0.1</density></fog></scene>",
        );
        assert_eq!(found.ambient, [1.0, 0.0, 1.0, 1.0]);
        assert_eq!(found.background, [0.7, 0.7, 0.7, 1.0]);
        assert_eq!((found.grid, found.shadows), (false, false));
        assert_eq!(found.sky.unwrap().time, 24.0);
        let fog = found.fog.unwrap();
        assert_eq!((fog.kind.as_str(), fog.density), ("exp", 0.1));
        assert_eq!(
            world("<scene><fog><type>none</type></fog></scene>").fog,
            None
        );
    }
}
