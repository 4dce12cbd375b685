//! [`Light`]: lights of worlds and links.

use serde::{Deserialize, Serialize};

use crate::scene::Pose;

/// A light of a world or link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Light {
    /// Its name.
    pub name: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: LightKind,
    /// The number of the link that it is attached to, if any.
    pub link: Option<u32>,
    /// Pose: frame of its link, or else world frame.
    pub pose: Pose,
    /// Colour of its light on dull surfaces, 0 to 1.
    pub diffuse: [f64; 3],
    /// Amounts of its light in highlights, red, green and blue, 0 to 1.
    pub specular: [f64; 3],
    /// Unit vector along which it shines, frame of the light; point lights have none.
    pub direction: [f64; 3],
    /// Factor of its colours.
    pub intensity: f64,
    /// Distance beyond which it lights nothing \[m\].
    pub range: f64,
    /// Decrease with distance.
    pub attenuation: Attenuation,
    /// The cone of a spot light.
    pub spot: Option<Spot>,
    /// True if what it lights casts shadows.
    pub cast_shadows: bool,
}

/// Kind of a light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LightKind {
    /// From one place to all sides.
    Point,
    /// From far away, as the sun.
    Directional,
    /// From one place in a cone.
    Spot,
}

/// Decrease of a light with the distance d: 1 / (constant + linear d + quadratic d^2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attenuation {
    /// Without distance.
    pub constant: f64,
    /// Per metre \[1/m\].
    pub linear: f64,
    /// Per square metre \[1/m^2\].
    pub quadratic: f64,
}

/// The cone of a spot light.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// Full angle of the cone that is lit wholly \[rad\].
    pub inner_angle: f64,
    /// Full angle of the cone outside of which nothing is lit \[rad\].
    pub outer_angle: f64,
    /// Exponent of the decrease between both.
    pub falloff: f64,
}
