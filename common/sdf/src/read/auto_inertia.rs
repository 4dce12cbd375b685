//! Inertias that follow from collisions (`<inertial auto="true">`), as libsdformat computes them.
//!
//! The sum has the axes of the link, at the common centre of mass. A mass that the file names
//! scales the sum. Meshes that bound no solid count as libsdformat counts all meshes: 1 kg.

use std::f64::consts::PI;

use mesh::MassProperties;

use super::files::Files;
use super::{inertial, part, shape};
use crate::pose::Pose;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Geometry, Inertial, Link};

/// Density of what names none: that of water \[kg/m^3\].
const WATER: f64 = 1000.0;

/// A rigid mass: ixx, ixy, ixz, iyy, iyz, izz about its centre.
#[derive(Clone, Copy, Debug)]
struct Body {
    mass: f64,
    center: [f64; 3],
    inertia: [f64; 6],
}

/// Computes the inertia of a link from its collisions.
pub(super) fn resolve(
    element: &Element,
    link: &mut Link,
    files: &mut Files<'_>,
    report: &mut Report,
) {
    let name = element.attribute("name").unwrap_or_default();
    let place = element.child("inertial").unwrap_or(element);
    if link.collisions.is_empty() {
        let message =
            format!("the inertia of {name:?} is to follow from its collisions: it has none");
        report.error("ELEMENT_MISSING", place, message);
        return;
    }
    let mut total: Option<Body> = None;
    for (collision, solid) in part::named(element, "collision")
        .into_iter()
        .zip(&link.collisions)
    {
        let geometry = collision.1.child("geometry");
        if geometry.is_some_and(|geometry| shape::without_extent(geometry).is_some()) {
            continue;
        }
        let density = density(collision.1, place, report);
        let Some(body) = body(&solid.geometry, density, files, collision, report) else {
            let message = format!(
                "the inertia of {name:?} is to follow from its collisions, and that of {:?} has no \
                 mass: give an <inertia>, or another shape or density",
                solid.name
            );
            report.error("LINK_INERTIA_INVALID", collision.1, message);
            return;
        };
        let body = body.placed(&solid.pose);
        total = Some(total.map_or(body, |total| total.joined(&body)));
    }
    let Some(total) = total else { return };
    let total = match inertial::given_mass(element, link.inertial.mass) {
        Some(mass) => total.scaled(mass / total.mass),
        None => total,
    };
    if let Err(error) = inertial::check(total.mass, total.inertia) {
        let message = format!("the link {name:?} has an invalid inertia: {error}");
        report.error("LINK_INERTIA_INVALID", place, message);
        return;
    }
    link.inertial = Inertial {
        mass: total.mass,
        pose: Pose {
            position: total.center,
            ..Pose::IDENTITY
        },
        inertia: total.inertia,
        ..link.inertial
    };
}

fn density(collision: &Element, inertial: &Element, report: &mut Report) -> f64 {
    let of_link = value::number(inertial, "density", WATER, report);
    value::number(collision, "density", of_link, report)
}

/// Returns the mass of a shape in its own frame; `None` for shapes without a volume.
fn body(
    geometry: &Geometry,
    density: f64,
    files: &mut Files<'_>,
    (name, element): (&str, &Element),
    report: &mut Report,
) -> Option<Body> {
    let (volume, center, moments) = match *geometry {
        Geometry::Box { size: [x, y, z] } => {
            let moments = [y * y + z * z, x * x + z * z, x * x + y * y];
            (x * y * z, 0.0, moments.map(|moment| moment / 12.0))
        }
        Geometry::Sphere { radius } => (
            4.0 / 3.0 * PI * radius.powi(3),
            0.0,
            [0.4 * radius * radius; 3],
        ),
        Geometry::Ellipsoid { radii: [x, y, z] } => {
            let moments = [y * y + z * z, x * x + z * z, x * x + y * y];
            (
                4.0 / 3.0 * PI * x * y * z,
                0.0,
                moments.map(|moment| moment / 5.0),
            )
        }
        Geometry::Cylinder { radius, length } => {
            let (square, side) = (radius * radius, length * length);
            let across = square / 4.0 + side / 12.0;
            (PI * square * length, 0.0, [across, across, square / 2.0])
        }
        Geometry::Cone { radius, length } => {
            // Its centre of mass is a quarter of its length above its base.
            let (square, side) = (radius * radius, length * length);
            let across = 3.0 / 80.0 * (4.0 * square + side);
            (
                PI * square * length / 3.0,
                -length / 4.0,
                [across, across, 0.3 * square],
            )
        }
        Geometry::Capsule { radius, length } => capsule(radius, length),
        Geometry::Mesh(ref shape) => {
            return Some(mesh_body(
                files.solid(shape),
                density,
                name,
                element,
                report,
            ));
        }
        Geometry::Empty
        | Geometry::Plane { .. }
        | Geometry::Polyline { .. }
        | Geometry::Heightmap(_) => return None,
    };
    let mass = density * volume;
    let [ixx, iyy, izz] = moments.map(|moment| moment * mass);
    (mass > 0.0 && mass.is_finite()).then_some(Body {
        mass,
        center: [0.0, 0.0, center],
        inertia: [ixx, 0.0, 0.0, iyy, 0.0, izz],
    })
}

/// Returns volume, height of the centre, and moments per mass of a capsule.
fn capsule(radius: f64, length: f64) -> (f64, f64, [f64; 3]) {
    let (square, side) = (radius * radius, length * length);
    let (middle, ends) = (PI * square * length, 4.0 / 3.0 * PI * square * radius);
    let volume = middle + ends;
    // Each half ball has its centre 3/8 of its radius beyond the cylinder's end.
    let of_ends = 0.4 * square + side / 4.0 + 0.375 * radius * length;
    let across = middle * (square / 4.0 + side / 12.0) + ends * of_ends;
    let along = middle * square / 2.0 + ends * 0.4 * square;
    (
        volume,
        0.0,
        [across / volume, across / volume, along / volume],
    )
}

fn mesh_body(
    solid: Option<MassProperties>,
    density: f64,
    name: &str,
    element: &Element,
    report: &mut Report,
) -> Body {
    if let Some(solid) = solid.filter(|_| density > 0.0) {
        return Body {
            mass: solid.mass * density,
            center: solid.center,
            inertia: solid.inertia.map(|moment| moment * density),
        };
    }
    let key = element.place().to_string();
    report.warn_once("MESH_WITHOUT_VOLUME", &key, element, || {
        format!("the mesh of {name:?} bounds no solid, or was not found: it counts as 1 kg")
    });
    Body {
        mass: 1.0,
        center: [0.0; 3],
        inertia: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0],
    }
}

impl Body {
    /// Returns it in the frame that its own frame is placed in.
    fn placed(&self, pose: &Pose) -> Self {
        let turned = pose.rotate(self.center);
        Self {
            mass: self.mass,
            center: std::array::from_fn(|i| pose.position[i] + turned[i]),
            inertia: inertial::turned(self.inertia, pose),
        }
    }

    /// Returns both as one body.
    fn joined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let center: [f64; 3] = std::array::from_fn(|i| {
            (self.mass * self.center[i] + other.mass * other.center[i]) / mass
        });
        let mut inertia = [0.0; 6];
        for body in [self, other] {
            let [x, y, z] = std::array::from_fn(|i| body.center[i] - center[i]);
            // The parallel axis theorem.
            let shift = [
                y * y + z * z,
                -x * y,
                -x * z,
                x * x + z * z,
                -y * z,
                x * x + y * y,
            ];
            for (sum, (own, shift)) in inertia.iter_mut().zip(body.inertia.iter().zip(shift)) {
                *sum += own + body.mass * shift;
            }
        }
        Self {
            mass,
            center,
            inertia,
        }
    }

    fn scaled(&self, factor: f64) -> Self {
        Self {
            mass: self.mass * factor,
            center: self.center,
            inertia: self.inertia.map(|moment| moment * factor),
        }
    }
}
