//! `<geometry>`: shapes of collisions and visuals, without the files that they name.
//!
//! A shape of no extent (a size that is zero or negative) is left out: a collision with a warning,
//! a visual without. Other sizes that cannot be are replaced by the default of SDF with a warning,
//! as libsdformat does; so is a missing one, without.

use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{ConvexDecomposition, Geometry, HeightmapShape, MeshApproximation, MeshShape};

use super::part;

/// Shapes in the order in which libsdformat looks for them; the first that is there holds.
const SHAPES: [&str; 10] = [
    "box",
    "capsule",
    "cone",
    "cylinder",
    "ellipsoid",
    "plane",
    "sphere",
    "mesh",
    "heightmap",
    "polyline",
];

/// The most hulls and voxels of a convex decomposition.
const HULLS_MAX: f64 = 1024.0;
const VOXELS_MAX: f64 = 1_000_000.0;

/// Reads the `<geometry>` of a collision; one without a shape that is known, or of no extent, is
/// [`Geometry::Empty`].
pub(super) fn read(geometry: &Element, report: &mut Report) -> Geometry {
    let Some((shape, name)) = without_extent(geometry) else {
        return read_shape(geometry, report);
    };
    let element = shape.child(name).unwrap_or(shape);
    let key = element.place().to_string();
    report.warn_once("ELEMENT_INVALID", &key, element, || {
        let (kind, value) = (&shape.name, element.text());
        format!(
            "the collision is left out, since <{name}> of its <{kind}> is {value:?}: it needs \
                 an extent"
        )
    });
    Geometry::Empty
}

/// Reads the `<geometry>` of a visual: what has no extent is not seen.
pub(super) fn read_visual(geometry: &Element, report: &mut Report) -> Geometry {
    match without_extent(geometry) {
        Some(_) => Geometry::Empty,
        None => read_shape(geometry, report),
    }
}

/// Returns the shape of a `<geometry>` that has a size that is zero or negative, and the name of
/// that size.
pub(super) fn without_extent(geometry: &Element) -> Option<(&Element, &'static str)> {
    let shape = SHAPES.iter().find_map(|name| geometry.child(name))?;
    let sizes: &[&str] = match shape.name.as_str() {
        "box" => &["size"],
        "capsule" | "cone" | "cylinder" => &["radius", "length"],
        "ellipsoid" => &["radii"],
        "polyline" => &["height"],
        "sphere" => &["radius"],
        _ => &[],
    };
    let is_nothing = |name: &&'static str| {
        let text = shape.child(name).map(Element::text).unwrap_or_default();
        let mut words = text.split_whitespace().map(str::parse::<f64>);
        words.any(|word| word.is_ok_and(|value| value <= 0.0))
    };
    let name = sizes.iter().copied().find(is_nothing)?;
    Some((shape, name))
}

fn read_shape(geometry: &Element, report: &mut Report) -> Geometry {
    let Some(shape) = SHAPES.iter().find_map(|name| geometry.child(name)) else {
        return Geometry::Empty;
    };
    let round = |report: &mut Report| {
        let [radius] = size(shape, "radius", [0.5], report);
        let [length] = size(shape, "length", [1.0], report);
        (radius, length)
    };
    match shape.name.as_str() {
        "box" => Geometry::Box {
            size: size(shape, "size", [1.0; 3], report),
        },
        "capsule" => {
            let (radius, length) = round(report);
            Geometry::Capsule { radius, length }
        }
        "cone" => {
            let (radius, length) = round(report);
            Geometry::Cone { radius, length }
        }
        "cylinder" => {
            let [radius] = size(shape, "radius", [1.0], report);
            let [length] = size(shape, "length", [1.0], report);
            Geometry::Cylinder { radius, length }
        }
        "ellipsoid" => Geometry::Ellipsoid {
            radii: size(shape, "radii", [1.0; 3], report),
        },
        "plane" => Geometry::Plane {
            normal: plane_normal(shape, report),
            size: size(shape, "size", [1.0; 2], report),
        },
        "sphere" => Geometry::Sphere {
            radius: size(shape, "radius", [1.0], report)[0],
        },
        "mesh" => mesh(shape, report),
        "heightmap" => heightmap(shape, report),
        _ => polyline(geometry, shape, report),
    }
}

fn normalized(vector: [f64; 3]) -> Option<[f64; 3]> {
    let norm = vector.iter().map(|c| c * c).sum::<f64>().sqrt();
    (norm > 0.0 && norm.is_finite()).then(|| vector.map(|coordinate| coordinate / norm))
}

fn plane_normal(plane: &Element, report: &mut Report) -> [f64; 3] {
    let up = [0.0, 0.0, 1.0];
    let normal = value::numbers(plane, "normal", up, report);
    normalized(normal).unwrap_or_else(|| {
        replaced(plane, "normal", "has no direction", "0 0 1", report);
        up
    })
}

/// Reads edge lengths, radii and the like.
fn size<const N: usize>(
    shape: &Element,
    name: &str,
    default: [f64; N],
    report: &mut Report,
) -> [f64; N] {
    let values = value::numbers_or_infinite(shape, name, default, report);
    if values.iter().all(|value| *value > 0.0 && value.is_finite()) {
        return values;
    }
    let instead = default.map(|value| value.to_string()).join(" ");
    replaced(
        shape,
        name,
        "must be greater than zero and finite",
        &instead,
        report,
    );
    default
}

fn replaced(shape: &Element, name: &str, what: &str, instead: &str, report: &mut Report) {
    let element = shape.child(name).unwrap_or(shape);
    let key = element.place().to_string();
    report.warn_once("ELEMENT_INVALID", &key, element, || {
        format!("<{name}> of <{}> {what}: {instead} is used", shape.name)
    });
}

fn mesh(mesh: &Element, report: &mut Report) -> Geometry {
    let submesh = mesh.child("submesh");
    let name = submesh.and_then(|submesh| part::text(submesh, "name"));
    Geometry::Mesh(MeshShape {
        uri: part::text(mesh, "uri").unwrap_or_default(),
        submesh: name.unwrap_or_default(),
        center_submesh: submesh
            .is_some_and(|submesh| value::truth(submesh, "center", false, report)),
        scale: value::numbers(mesh, "scale", [1.0; 3], report),
        approximation: approximation(mesh, report),
        mesh: None,
        bounds: None,
    })
}

/// Values that it does not know count as none, as in libsdformat (`Mesh::SetOptimization`).
fn approximation(mesh: &Element, report: &mut Report) -> MeshApproximation {
    match mesh.filled_attribute("optimization").unwrap_or_default() {
        "convex_hull" => MeshApproximation::ConvexHull,
        "convex_decomposition" => {
            let parameters = mesh.child("convex_decomposition");
            let mut number = |name: &str, default: f64, max: f64| {
                let value = parameters.map_or(default, |parameters| {
                    value::number(parameters, name, default, report)
                });
                value.clamp(1.0, max) as u32
            };
            MeshApproximation::ConvexDecomposition(ConvexDecomposition {
                max_convex_hulls: number("max_convex_hulls", 16.0, HULLS_MAX),
                voxel_resolution: number("voxel_resolution", 200_000.0, VOXELS_MAX),
            })
        }
        "mesh" => MeshApproximation::Triangles,
        _ => MeshApproximation::Automatic,
    }
}

fn heightmap(heightmap: &Element, report: &mut Report) -> Geometry {
    Geometry::Heightmap(HeightmapShape {
        uri: part::text(heightmap, "uri").unwrap_or_default(),
        size: size(heightmap, "size", [1.0; 3], report),
        position: value::numbers(heightmap, "pos", [0.0; 3], report),
        grid: None,
    })
}

fn polyline(geometry: &Element, first: &Element, report: &mut Report) -> Geometry {
    let outline = |polyline: &Element| -> Vec<[f64; 2]> {
        let points = polyline.children_named("point");
        let mut outline: Vec<_> = points.map(|point| corner(point, report)).collect();
        // A closed outline needs no second mention of its first corner.
        if outline.len() > 1 && outline.first() == outline.last() {
            outline.pop();
        }
        outline
    };
    let outlines = geometry.children_named("polyline").map(outline).collect();
    let [height] = size(first, "height", [1.0], report);
    Geometry::Polyline { outlines, height }
}

fn corner(point: &Element, report: &mut Report) -> [f64; 2] {
    let text = point.text();
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    match (words.next(), words.next()) {
        (None, _) => [0.0; 2],
        (Some(Ok(x)), Some(Ok(y))) if x.is_finite() && y.is_finite() => [x, y],
        _ => {
            let message = format!("<point> must hold two numbers, and {text:?} is not");
            report.error("ELEMENT_INVALID", point, message);
            [0.0; 2]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn check(content: &str, expect: &Geometry, warnings: usize) {
        let geometry = parse(&format!("<geometry>{content}</geometry>"), "f").unwrap();
        let mut report = Report::default();
        assert_eq!(read(&geometry, &mut report), *expect, "{content}");
        assert!(report.errors.is_empty(), "{content}: {report:?}");
        assert_eq!(report.warnings.len(), warnings, "{content}: {report:?}");
    }

    #[test]
    fn omitted_parameters_of_a_shape_have_the_defaults_of_sdf() {
        let size = [1.0; 3];
        check("", &Geometry::Empty, 0);
        check("<empty/>", &Geometry::Empty, 0);
        check("<image/>", &Geometry::Empty, 0);
        check("<box/>", &Geometry::Box { size }, 0);
        check("<ellipsoid/>", &Geometry::Ellipsoid { radii: size }, 0);
        check("<sphere/>", &Geometry::Sphere { radius: 1.0 }, 0);
        let length = 1.0;
        check(
            "<cylinder/>",
            &Geometry::Cylinder {
                radius: 1.0,
                length,
            },
            0,
        );
        check(
            "<capsule/>",
            &Geometry::Capsule {
                radius: 0.5,
                length,
            },
            0,
        );
        check(
            "<cone/>",
            &Geometry::Cone {
                radius: 0.5,
                length,
            },
            0,
        );
        let (normal, size) = ([0.0, 0.0, 1.0], [1.0; 2]);
        check("<plane/>", &Geometry::Plane { normal, size }, 0);
        check("<sphere/><box/>", &Geometry::Box { size: [1.0; 3] }, 0);
    }

    #[test]
    fn a_shape_of_no_extent_is_left_out_with_a_warning() {
        for shape in [
            "<sphere><radius>0</radius></sphere>",
            "<sphere><radius>-1</radius></sphere>",
            "<box><size>2 0 2</size></box>",
            "<cylinder><radius>1</radius><length>0</length></cylinder>",
        ] {
            check(shape, &Geometry::Empty, 1);
            let geometry = parse(&format!("<geometry>{shape}</geometry>"), "f").unwrap();
            let mut report = Report::default();
            assert_eq!(read_visual(&geometry, &mut report), Geometry::Empty);
            assert!(report.warnings.is_empty(), "{shape}: {report:?}");
        }
    }

    #[test]
    fn normals_and_sizes_of_planes_that_cannot_be_are_replaced_with_a_warning() {
        let (normal, size) = ([0.0, 0.0, 1.0], [1.0; 2]);
        let flat = "<plane><normal>0 0 0</normal><size>-1 1</size></plane>";
        check(flat, &Geometry::Plane { normal, size }, 2);
    }

    fn mesh_shape(approximation: MeshApproximation) -> Geometry {
        Geometry::Mesh(MeshShape {
            uri: "a.dae".to_owned(),
            submesh: String::new(),
            center_submesh: false,
            scale: [1.0; 3],
            approximation,
            mesh: None,
            bounds: None,
        })
    }

    #[test]
    fn meshes_say_what_stands_in_for_them() {
        let mesh = |optimization: &str, inner: &str| {
            format!("<mesh optimization='{optimization}'><uri>a.dae</uri>{inner}</mesh>")
        };
        let decomposition = |max_convex_hulls, voxel_resolution| {
            mesh_shape(MeshApproximation::ConvexDecomposition(
                ConvexDecomposition {
                    max_convex_hulls,
                    voxel_resolution,
                },
            ))
        };
        let unsaid = mesh_shape(MeshApproximation::Automatic);
        check(&mesh("", ""), &unsaid, 0);
        check(&mesh("other", ""), &unsaid, 0);
        check("<mesh><uri>a.dae</uri></mesh>", &unsaid, 0);
        let triangles = mesh_shape(MeshApproximation::Triangles);
        check(&mesh("mesh", ""), &triangles, 0);
        let hull = mesh_shape(MeshApproximation::ConvexHull);
        check(&mesh("convex_hull", ""), &hull, 0);
        let name = "convex_decomposition";
        check(&mesh(name, ""), &decomposition(16, 200_000), 0);
        let inner = "<convex_decomposition><max_convex_hulls>4</max_convex_hulls>\
                     <voxel_resolution>1e18</voxel_resolution></convex_decomposition>";
        check(&mesh(name, inner), &decomposition(4, 1_000_000), 0);
    }

    #[test]
    fn polylines_are_outlines_with_the_height_of_the_first() {
        let outline = |points: &[&str], height: &str| {
            let points: Vec<_> = points
                .iter()
                .map(|p| format!("<point>{p}</point>"))
                .collect();
            format!("<polyline>{}{height}</polyline>", points.join(""))
        };
        let first = outline(&["0 0", "1 0", "0 1", "0 0"], "<height>2</height>");
        let second = outline(&["0 0 7", "1 0", "0 1"], "<height>3</height>");
        let corners = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let expect = Geometry::Polyline {
            outlines: vec![corners.clone(), corners],
            height: 2.0,
        };
        check(&(first + &second), &expect, 0);
    }
}
