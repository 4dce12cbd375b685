//! [`Earth`]: from the frame of a world to latitude, longitude and altitude on an ellipsoid.
//!
//! The world's frame is tangent to the ellipsoid at its origin, with x turned from east by the
//! heading, so that places go by straight lines. Source of the formulas: B. R. Bowring,
//! Transformation from spatial to geographical coordinates, 1976.

use sdf::SphericalCoordinates;

/// Equatorial and polar axis of WGS 84 \[m\].
const WGS84: [f64; 2] = [6_378_137.0, 6_356_752.314_245_179];

/// The same of the moon \[m\], as Gazebo has them.
const MOON: [f64; 2] = [1_738_100.0, 1_736_000.0];

/// Rounds after which Bowring's method stands still, up to any height.
const ROUNDS: usize = 4;

/// A world's place on an ellipsoid.
pub(super) struct Earth {
    /// Equatorial and polar axis \[m\].
    axes: [f64; 2],
    /// The world's origin from the centre \[m\], with z to the north pole and x to longitude 0.
    origin: [f64; 3],
    /// East, north and up at the origin, in the same frame.
    east_north_up: [[f64; 3]; 3],
    /// Sine and cosine of the turn from east to the world's x axis.
    heading: (f64, f64),
}

/// A place on an ellipsoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GeoPosition {
    /// \[rad\]
    pub(super) latitude: f64,
    /// \[rad\]
    pub(super) longitude: f64,
    /// Above the ellipsoid \[m\].
    pub(super) altitude: f64,
}

impl Earth {
    /// Makes that of a world.
    pub(super) fn new(coordinates: &SphericalCoordinates) -> Self {
        let axes = match (coordinates.surface_model.as_str(), coordinates.axes) {
            ("CUSTOM_SURFACE", Some(axes)) => axes,
            ("MOON_SCS", _) => MOON,
            _ => WGS84,
        };
        let (sin_lat, cos_lat) = libm::sincos(coordinates.latitude);
        let (sin_lon, cos_lon) = libm::sincos(coordinates.longitude);
        let normal = normal_radius(axes, sin_lat);
        let flat = (normal + coordinates.elevation) * cos_lat;
        let ratio = axes[1] * axes[1] / (axes[0] * axes[0]);
        let polar = (normal * ratio + coordinates.elevation) * sin_lat;
        Self {
            axes,
            origin: [flat * cos_lon, flat * sin_lon, polar],
            east_north_up: [
                [-sin_lon, cos_lon, 0.0],
                [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat],
                [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat],
            ],
            heading: libm::sincos(coordinates.heading),
        }
    }

    /// Returns a vector of the world frame along east, north and up at its origin.
    pub(super) fn east_north_up(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let (sine, cosine) = self.heading;
        [x * cosine - y * sine, x * sine + y * cosine, z]
    }

    /// Returns where a position of the world frame is \[m\].
    pub(super) fn place(&self, position: [f64; 3]) -> GeoPosition {
        let along = self.east_north_up(position);
        let [x, y, z]: [f64; 3] = std::array::from_fn(|axis| {
            let part = |which: usize| self.east_north_up[which][axis] * along[which];
            self.origin[axis] + part(0) + part(1) + part(2)
        });
        let [wide, high] = self.axes;
        let flat = libm::hypot(x, y);
        let difference = wide * wide - high * high;
        let first = difference / (wide * wide);
        let second = difference / (high * high);
        let mut reduced = libm::atan2(z * wide, flat * high);
        let mut latitude = reduced;
        for _ in 0..ROUNDS {
            let (sine, cosine) = libm::sincos(reduced);
            latitude = libm::atan2(
                z + second * high * sine * sine * sine,
                flat - first * wide * cosine * cosine * cosine,
            );
            let (sine, cosine) = libm::sincos(latitude);
            reduced = libm::atan2(high * sine, wide * cosine);
        }
        let (sine, cosine) = libm::sincos(latitude);
        let (sin_reduced, cos_reduced) = libm::sincos(reduced);
        // From the foot point along the normal, which holds at the poles too.
        let altitude = (flat - wide * cos_reduced) * cosine + (z - high * sin_reduced) * sine;
        GeoPosition {
            latitude,
            longitude: libm::atan2(y, x),
            altitude,
        }
    }
}

/// Returns the distance along the normal from the surface to the polar axis \[m\].
fn normal_radius([a, b]: [f64; 2], sin_lat: f64) -> f64 {
    let squash = (a * a - b * b) / (a * a);
    a / (1.0 - squash * sin_lat * sin_lat).sqrt()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    fn earth(latitude: f64, longitude: f64, elevation: f64, heading: f64) -> Earth {
        Earth::new(&SphericalCoordinates {
            surface_model: "EARTH_WGS84".to_owned(),
            latitude,
            longitude,
            elevation,
            heading,
            axes: None,
        })
    }

    #[test]
    fn the_origin_is_where_the_world_says() {
        for latitude in [-FRAC_PI_2, -1.2, -0.3, 0.0, 0.8, 1.5, FRAC_PI_2] {
            for elevation in [-400.0, 0.0, 8_848.0, 400_000.0] {
                let place = earth(latitude, 2.1, elevation, 0.7).place([0.0; 3]);
                assert!((place.latitude - latitude).abs() < 1e-14, "{place:?}");
                assert!((place.altitude - elevation).abs() < 1e-8, "{place:?}");
                if latitude.abs() < FRAC_PI_2 {
                    assert!((place.longitude - 2.1).abs() < 1e-14, "{place:?}");
                }
            }
        }
    }

    #[test]
    fn metres_north_and_east_are_arcs_of_the_two_radii_of_curvature() {
        let [a, b] = WGS84;
        let squash = (a * a - b * b) / (a * a);
        for latitude in [-0.9, 0.0, 0.4, 1.1] {
            let normal = normal_radius(WGS84, libm::sin(latitude));
            let meridian = normal * normal * normal * (1.0 - squash) / (a * a);
            let earth = earth(latitude, -0.5, 0.0, 0.0);
            let north = earth.place([0.0, 10.0, 0.0]);
            let east = earth.place([10.0, 0.0, 0.0]);
            let up = earth.place([0.0, 0.0, 10.0]);
            // A tangent leaves the arc by the square of the way over the radius: 2e-11 rad here.
            assert!((north.latitude - latitude - 10.0 / meridian).abs() < 1e-11);
            let turn = 10.0 / (normal * libm::cos(latitude));
            assert!((east.longitude + 0.5 - turn).abs() < 1e-11);
            assert!((up.altitude - 10.0).abs() < 1e-8);
            assert!((north.longitude + 0.5).abs() < 1e-14);
        }
    }

    #[test]
    fn a_heading_turns_the_worlds_x_axis_from_east_towards_north() {
        let turned = earth(0.4, 1.0, 0.0, FRAC_PI_2);
        let [east, north, up] = turned.east_north_up([3.0, 0.0, 1.0]);
        assert!(east.abs() < 1e-15 && (north - 3.0).abs() < 1e-15 && up == 1.0);
        assert!(turned.place([100.0, 0.0, 0.0]).latitude > 0.4);
        assert!(turned.place([0.0, 100.0, 0.0]).longitude < 1.0);
    }
}
