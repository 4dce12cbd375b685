//! Shapes, named as SDF names them.

use sdf::{Geometry, MeshApproximation};
use serde_json::{Value, json};

/// Returns a shape as an object with its type.
pub(super) fn value(geometry: &Geometry) -> Value {
    match geometry {
        Geometry::Empty => json!({ "type": "empty" }),
        Geometry::Box { size } => json!({ "type": "box", "size": size }),
        Geometry::Sphere { radius } => json!({ "type": "sphere", "radius": radius }),
        Geometry::Cylinder { radius, length } => {
            json!({ "type": "cylinder", "radius": radius, "length": length })
        }
        Geometry::Capsule { radius, length } => {
            json!({ "type": "capsule", "radius": radius, "length": length })
        }
        Geometry::Ellipsoid { radii } => json!({ "type": "ellipsoid", "radii": radii }),
        Geometry::Cone { radius, length } => {
            json!({ "type": "cone", "radius": radius, "length": length })
        }
        Geometry::Plane { normal, size } => {
            json!({ "type": "plane", "normal": normal, "size": size })
        }
        Geometry::Polyline { outlines, height } => {
            json!({ "type": "polyline", "outlines": outlines, "height": height })
        }
        Geometry::Mesh(mesh) => json!({
            "type": "mesh",
            "uri": mesh.uri,
            "submesh": mesh.submesh,
            "center_submesh": mesh.center_submesh,
            "scale": mesh.scale,
            "optimization": optimization(mesh.approximation),
            "bounds": mesh.bounds,
        }),
        Geometry::Heightmap(map) => json!({
            "type": "heightmap",
            "uri": map.uri,
            "size": map.size,
            "pos": map.position,
        }),
    }
}

/// Returns what stands in for a mesh, as `//mesh/@optimization` names it.
const fn optimization(approximation: MeshApproximation) -> &'static str {
    match approximation {
        MeshApproximation::Automatic => "",
        MeshApproximation::Triangles => "mesh",
        MeshApproximation::ConvexHull => "convex_hull",
        MeshApproximation::ConvexDecomposition(_) => "convex_decomposition",
    }
}
