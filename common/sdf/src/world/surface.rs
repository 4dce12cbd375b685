//! Friction, bounce and contact of shapes.

use serde::{Deserialize, Serialize};

/// Friction, bounce and contact of a shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Coulomb friction in the first direction (`//friction/ode/mu`).
    pub friction: f64,
    /// Coulomb friction across the first direction (`mu2`).
    pub friction2: f64,
    /// The first direction, in the frame of the collision or of the link named next; zeros for any.
    pub friction_direction: [f64; 3],
    /// The link of the model in whose frame the first direction is (`gz:expressed_in`).
    pub friction_frame: Option<String>,
    /// Slip in and across the first direction \[m/s/N\].
    pub slip: [f64; 2],
    /// Friction against turning about the normal (`//torsional/coefficient`).
    pub torsional_friction: f64,
    /// The radius of the patch on which it acts \[m\] (`patch_radius`); 0 for none.
    pub patch_radius: f64,
    /// The radius of the surface, from which that of the patch would follow with the depth of the
    /// contact \[m\] (`surface_radius`); 0 where `use_patch_radius` says otherwise.
    pub surface_radius: f64,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// The speed below which nothing bounces \[m/s\].
    pub restitution_threshold: f64,
    /// Two shapes collide when their masks have a bit in common.
    pub collide_bitmask: u16,
    /// The categories that the shape is in (`category_bitmask`).
    pub category_bitmask: u16,
    /// True if contacts are reported without forces.
    pub collide_without_contact: bool,
    /// Stiffness of the contact (`//contact/ode/kp`) \[N/m\].
    pub stiffness: f64,
    /// Damping of the contact (`//contact/ode/kd`) \[N s/m\].
    pub damping: f64,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            friction: 1.0,
            friction2: 1.0,
            friction_direction: [0.0; 3],
            friction_frame: None,
            slip: [0.0; 2],
            torsional_friction: 1.0,
            patch_radius: 0.0,
            surface_radius: 0.0,
            restitution: 0.0,
            restitution_threshold: 100_000.0,
            collide_bitmask: 0xff,
            category_bitmask: 0xff,
            collide_without_contact: false,
            stiffness: 1e12,
            damping: 1.0,
        }
    }
}

impl Surface {
    /// Tells whether its friction is more than one coefficient: it has directions, slips, or holds
    /// against turning about the normal.
    pub fn rubs_specially(&self) -> bool {
        let has_directions = self.friction_direction != [0.0; 3] || self.slip != [0.0; 2];
        has_directions || self.patch_radius > 0.0
    }
}
