//! [`Trails`]: where performers that move have been, as far back as a map needs.
//!
//! Places are kept by distance and not by time: what stands still keeps nothing, and what turns
//! on the spot does not forget where it came from.

use std::collections::{BTreeMap, VecDeque};

use protocol::report::PerformerReport;

use super::map_view::Bounds;

/// Number of places that a performer's trail has at most.
pub const PLACES_MAX: usize = 48;
/// The distance between two places of a trail, as a part of the world's greatest extent.
const SPACING: f64 = 1.0 / 240.0;
/// That distance while the world's extent is unknown \[m\].
const SPACING_DEFAULT_M: f64 = 0.1;

/// The trails of all performers.
#[derive(Clone, Debug, Default)]
pub struct Trails {
    by_name: BTreeMap<String, Trail>,
}

#[derive(Clone, Debug)]
struct Trail {
    last: [f64; 2],
    places: VecDeque<[f64; 2]>,
}

impl Trails {
    /// Takes where the performers are now; those that are gone lose their trails.
    pub fn record(&mut self, performers: &[PerformerReport], bounds: Option<&Bounds>) {
        let spacing = bounds.map_or(SPACING_DEFAULT_M, |bounds| {
            let [width, height] = bounds.size();
            (width.max(height) * SPACING).max(1e-3)
        });
        for performer in performers {
            let place = [performer.position[0], performer.position[1]];
            if !place.iter().all(|number| number.is_finite()) {
                continue;
            }
            match self.by_name.get_mut(&performer.name) {
                Some(trail) => trail.extend(place, spacing),
                None => {
                    self.by_name
                        .insert(performer.name.clone(), Trail::new(place));
                }
            }
        }
        if self.by_name.len() > performers.len() {
            self.forget_all_but(performers);
        }
    }

    /// Returns where a performer has been, the newest place first, at most so many.
    pub fn of(&self, name: &str, count: usize) -> impl Iterator<Item = [f64; 2]> {
        let places = self.by_name.get(name).map(|trail| &trail.places);
        places.into_iter().flatten().rev().take(count).copied()
    }

    fn forget_all_but(&mut self, performers: &[PerformerReport]) {
        let mut kept = BTreeMap::new();
        for performer in performers {
            if let Some((name, trail)) = self.by_name.remove_entry(&performer.name) {
                kept.insert(name, trail);
            }
        }
        self.by_name = kept;
    }
}

impl Trail {
    fn new(place: [f64; 2]) -> Self {
        Self {
            last: place,
            places: VecDeque::new(),
        }
    }

    fn extend(&mut self, place: [f64; 2], spacing: f64) {
        let distance = (place[0] - self.last[0]).hypot(place[1] - self.last[1]);
        if distance < spacing {
            return;
        }
        // Nothing moves that far between two reports: it was put there, by a reset or by hand.
        if distance > spacing * PLACES_MAX as f64 {
            self.places.clear();
        } else {
            if self.places.len() == PLACES_MAX {
                self.places.pop_front();
            }
            self.places.push_back(self.last);
        }
        self.last = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn at(name: &str, x: f64) -> PerformerReport {
        PerformerReport {
            name: name.to_owned(),
            position: [x, 0.0, 0.0],
            ..fixture::performers().remove(0)
        }
    }

    fn moved(places: impl IntoIterator<Item = f64>) -> Trails {
        let mut trails = Trails::default();
        for x in places {
            trails.record(&[at("ball", x)], None);
        }
        trails
    }

    fn check(trails: &Trails, expected: &[f64]) {
        let places: Vec<f64> = trails.of("ball", PLACES_MAX).map(|[x, _]| x).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn a_trail_has_places_a_distance_apart_the_newest_first() {
        check(&moved([0.0, 0.05, 0.09]), &[]);
        check(&moved([0.0, 0.05, 0.12, 0.15, 0.30]), &[0.12, 0.0]);
        check(&moved([0.0, f64::NAN, 0.2]), &[0.0]);
    }

    #[test]
    fn a_trail_is_of_bounded_length() {
        let trails = moved((0..1_000).map(|place| f64::from(place) * 0.2));
        assert_eq!(trails.of("ball", usize::MAX).count(), PLACES_MAX);
        assert_eq!(trails.of("ball", 3).count(), 3);
    }

    #[test]
    fn a_jump_leaves_no_trail_and_what_is_gone_has_none() {
        check(&moved([0.0, 0.2, 50.0]), &[]);
        let mut trails = moved([0.0, 0.2]);
        trails.record(&[at("box", 0.0)], None);
        check(&trails, &[]);
        assert_eq!(trails.by_name.len(), 1);
    }
}
