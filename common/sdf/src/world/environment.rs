//! Environment of models: time, air, and the place on earth.

use serde::{Deserialize, Serialize};

/// The `<physics>` profile in use: the one marked as default, or else the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Physics {
    /// Its name.
    pub name: String,
    /// The engine that the file asks for: `ode`, `bullet`, `dart`, `ignored`.
    pub kind: String,
    /// Simulated time per iteration \[s\].
    pub max_step_size_s: f64,
    /// Simulated over real time to aim for; 0 is as fast as possible.
    pub real_time_factor: f64,
    /// The most contacts between two collisions.
    pub max_contacts: u32,
    /// The effort of its solver; files say nothing of it.
    #[serde(default)]
    pub solver: Solver,
}

/// The effort of the solver of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Solver {
    /// As much as contacts and joints need to agree with each other.
    #[default]
    Exact,
    /// Less where many bodies touch: heaps settle more softly.
    Fast,
}

impl Default for Physics {
    fn default() -> Self {
        Self {
            name: "default_physics".to_owned(),
            kind: "ode".to_owned(),
            max_step_size_s: 0.001,
            real_time_factor: 1.0,
            max_contacts: 20,
            solver: Solver::default(),
        }
    }
}

/// The air of a world, an adiabatic atmosphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Atmosphere {
    /// Temperature at sea level \[K\].
    pub temperature: f64,
    /// Change of temperature with height \[K/m\].
    pub temperature_gradient: f64,
    /// Pressure at sea level \[Pa\].
    pub pressure: f64,
}

impl Default for Atmosphere {
    fn default() -> Self {
        Self {
            temperature: 288.15,
            temperature_gradient: -0.0065,
            pressure: 101_325.0,
        }
    }
}

/// Place of a world's origin on a celestial body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SphericalCoordinates {
    /// `EARTH_WGS84`, `MOON_SCS` or `CUSTOM_SURFACE`.
    pub surface_model: String,
    /// Latitude \[rad\].
    pub latitude: f64,
    /// Longitude \[rad\].
    pub longitude: f64,
    /// Height above the surface model \[m\].
    pub elevation: f64,
    /// Turn from east to the x axis of the world, counter-clockwise seen from above \[rad\].
    pub heading: f64,
    /// Equatorial and polar axis of a custom surface \[m\].
    pub axes: Option<[f64; 2]>,
}
