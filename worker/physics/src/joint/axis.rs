//! Bounds, springs and friction along an axis of a joint, as SDFormat describes them.

use sdf::Axis;

use super::super::mechanism::control::{AxisControl, Spring};

/// Limits that files write for "none", and the stiffness from which on a limit is rigid, SDF's
/// default \[N/m or N m/rad\].
pub(in super::super) const NO_LIMIT: f64 = 1e15;
const RIGID_LIMIT: f64 = 1e8;

/// Fills in everything that an axis asks for; an endless one has no limits.
pub(super) fn fill(control: &mut AxisControl, axis: &Axis, is_endless: bool) {
    control.limits = limits(axis).filter(|_| !is_endless);
    if axis.limit_stiffness > 0.0 && axis.limit_stiffness < RIGID_LIMIT {
        control.stop = control.limits.map(|_| Spring {
            stiffness: axis.limit_stiffness,
            damping: axis.limit_dissipation.max(0.0),
            reference: 0.0,
        });
    }
    let has_spring = axis.spring_reference.is_finite();
    let spring = Spring {
        stiffness: if has_spring {
            positive(axis.spring_stiffness)
        } else {
            0.0
        },
        damping: positive(axis.damping),
        reference: if has_spring {
            axis.spring_reference
        } else {
            0.0
        },
    };
    control.spring = (spring.stiffness > 0.0 || spring.damping > 0.0).then_some(spring);
    control.friction = positive(axis.friction);
    let has_speed = axis.velocity >= 0.0 && axis.velocity < NO_LIMIT;
    control.speed = has_speed.then_some(axis.velocity);
}

/// Returns the limits of an axis, infinite where it is open; `None` when it has none, or the upper
/// is below the lower.
fn limits(axis: &Axis) -> Option<[f64; 2]> {
    let is_bounded = axis.lower > -NO_LIMIT || axis.upper < NO_LIMIT;
    let lower = if axis.lower > -NO_LIMIT {
        axis.lower
    } else {
        f64::NEG_INFINITY
    };
    let upper = if axis.upper < NO_LIMIT {
        axis.upper
    } else {
        f64::INFINITY
    };
    (is_bounded && axis.lower <= axis.upper).then_some([lower, upper])
}

fn positive(number: f64) -> f64 {
    if number.is_finite() {
        number.max(0.0)
    } else {
        0.0
    }
}
