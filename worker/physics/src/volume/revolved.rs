//! Round shapes as polyhedra of the same volume.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use mesh::TriangleMesh;
use sdf::Geometry;

/// The number of corners around the axis.
const COLUMNS: u32 = 48;

/// The number of rings of half a ball.
const RINGS: u32 = 12;

/// Returns a cylinder, capsule or cone as a polyhedron of its volume; `None` for other shapes.
pub(super) fn revolved(geometry: &Geometry) -> Option<TriangleMesh> {
    let (profile, volume) = match *geometry {
        Geometry::Cylinder { radius, length } => (
            vec![[radius, -length / 2.0], [radius, length / 2.0]],
            PI * radius * radius * length,
        ),
        Geometry::Cone { radius, length } => (
            vec![[radius, -length / 2.0], [0.0, length / 2.0]],
            PI * radius * radius * length / 3.0,
        ),
        Geometry::Capsule { radius, length } => (
            capsule(radius, length),
            PI * radius * radius * (length + 4.0 / 3.0 * radius),
        ),
        _ => return None,
    };
    let mesh = turned(&profile);
    let factor = libm::sqrt(volume / mesh.mass_properties(1.0)?.mass);
    Some(mesh.scaled([factor, factor, 1.0]))
}

fn capsule(radius: f64, length: f64) -> Vec<[f64; 2]> {
    let half = |sign: f64| {
        (0..=RINGS).map(move |ring| {
            let angle = FRAC_PI_2 * f64::from(ring) / f64::from(RINGS);
            let (sine, cosine) = libm::sincos(angle);
            [radius * cosine, sign * (length / 2.0 + radius * sine)]
        })
    };
    let mut profile: Vec<[f64; 2]> = half(-1.0).collect();
    profile.reverse();
    profile.extend(half(1.0));
    profile
}

/// Turns a profile of radius and height, from below to above, about the z axis.
fn turned(profile: &[[f64; 2]]) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let (first, last) = (profile[0], profile[profile.len() - 1]);
    let rings: Vec<[f64; 2]> = std::iter::once([0.0, first[1]])
        .chain(profile.iter().copied())
        .chain([[0.0, last[1]]])
        .collect();
    for [radius, height] in &rings {
        for column in 0..COLUMNS {
            let (sine, cosine) = libm::sincos(TAU * f64::from(column) / f64::from(COLUMNS));
            mesh.vertices
                .push([radius * cosine, radius * sine, *height]);
        }
    }
    for ring in 0..rings.len() as u32 - 1 {
        for column in 0..COLUMNS {
            let here = ring * COLUMNS + column;
            let beside = ring * COLUMNS + (column + 1) % COLUMNS;
            let (above, above_beside) = (here + COLUMNS, beside + COLUMNS);
            mesh.triangles.push([here, beside, above_beside]);
            mesh.triangles.push([here, above_beside, above]);
        }
    }
    mesh
}
