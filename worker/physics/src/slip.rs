//! Slip of links: how fast their surfaces slip per force, said anew before each step.

use rapier3d_f64::dynamics::RigidBodyHandle;
use sdf::Surface;

use super::access::ModelRef;
use super::cell::Cell;

/// Slip of the surfaces of a link in a step, in place of what the world says.
#[derive(Clone, Copy)]
pub(super) struct LinkSlip {
    body: RigidBodyHandle,
    /// Along both directions of friction \[m/s/N\].
    slip: [f64; 2],
}

impl Cell {
    /// Has the surfaces of a link slip in the next step by so much along both directions of their
    /// friction \[m/s/N\], and not as the world says. What is negative or not finite is left out.
    pub fn slip_link(&mut self, of: ModelRef, link: usize, slip: [f64; 2]) {
        let Some(body) = self.body_handle(of, link) else {
            return;
        };
        if slip.iter().any(|one| !one.is_finite() || *one < 0.0) {
            return;
        }
        // A cell at rest takes no step, so that what was said before may still be here.
        self.slips.retain(|one| one.body != body);
        self.slips.push(LinkSlip { body, slip });
    }
}

/// Returns how the surface of a body slips, if that was said for this step.
pub(super) fn said_of(slips: &[LinkSlip], body: Option<RigidBodyHandle>) -> Option<[f64; 2]> {
    let body = body?;
    let mut slips = slips.iter();
    slips.find(|one| one.body == body).map(|one| one.slip)
}

/// Returns how a surface slips: as was said, or else as the world says.
pub(super) fn of_surface(said: Option<[f64; 2]>, surface: &Surface) -> [f64; 2] {
    said.unwrap_or(surface.slip)
}
