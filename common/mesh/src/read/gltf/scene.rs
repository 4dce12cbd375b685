//! The nodes of a glTF scene, and the meshes that they show.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::accessor::Accessors;
use super::document::{Document, Node, Primitive};
use crate::read::MeshProblem;
use crate::read::gathering::Gathering;
use crate::read::polygon::{fan, strip};
use crate::read::transform::Transform;

/// Extensions without which the positions of a document cannot be read.
const COMPRESSIONS: [&str; 2] = ["KHR_draco_mesh_compression", "EXT_meshopt_compression"];

/// The most primitives that the nodes of a scene show.
const PRIMITIVES_MAX: usize = 1_000_000;

/// Gathers the meshes of all nodes of the scene.
pub(super) fn gather(
    document: &Document,
    buffers: &[Cow<'_, [u8]>],
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let required = &document.extensions_required;
    if let Some(name) = required.iter().find(|n| COMPRESSIONS.contains(&n.as_str())) {
        let message = format!("{name} is not read; export without compression");
        return Err(MeshProblem::malformed("extensionsRequired", message));
    }
    let mut accessors = Accessors::new(document, buffers);
    let mut primitives = 0;
    let mut seen = BTreeSet::new();
    let mut open: Vec<(usize, Transform)> = Vec::new();
    let roots = roots(document)?;
    open.extend(roots.iter().rev().map(|root| (*root, Transform::IDENTITY)));
    while let Some((number, parent)) = open.pop() {
        let malformed = |message: &str| MeshProblem::malformed(format!("node {number}"), message);
        let node = document.nodes.get(number);
        let node = node.ok_or_else(|| malformed("it is referred to and not there"))?;
        if !seen.insert(number) {
            return Err(malformed(
                "it stands in the scene twice, and nodes form a tree",
            ));
        }
        let transform = parent.after(&transform(node));
        if let Some(mesh) = node.mesh {
            let mesh = document.meshes.get(mesh);
            let mesh = mesh.ok_or_else(|| malformed("its mesh is not there"))?;
            let name = if node.name.is_empty() {
                &mesh.name
            } else {
                &node.name
            };
            primitives += mesh.primitives.len();
            if primitives > PRIMITIVES_MAX {
                return Err(MeshProblem::TooMany {
                    what: "primitives",
                    maximum: PRIMITIVES_MAX,
                });
            }
            for primitive in &mesh.primitives {
                if let Some((vertices, triangles)) = triangles(primitive, &mut accessors)? {
                    let (vertices, _) = vertices.as_chunks();
                    let place = format!("node {number}");
                    gathering.add_moved(name, &place, vertices, &triangles, &transform)?;
                }
            }
        }
        open.extend(node.children.iter().rev().map(|child| (*child, transform)));
    }
    Ok(())
}

/// The roots of the scene that the document shows; without any scene, all nodes without a parent.
fn roots(document: &Document) -> Result<Vec<usize>, MeshProblem> {
    let number = document.scene.unwrap_or(0);
    if let Some(scene) = document.scenes.get(number) {
        return Ok(scene.nodes.clone());
    }
    if document.scene.is_some() || !document.scenes.is_empty() {
        let place = format!("scene {number}");
        return Err(MeshProblem::malformed(
            place,
            "it is referred to and not there",
        ));
    }
    let children = document.nodes.iter().flat_map(|node| &node.children);
    let children: BTreeSet<usize> = children.copied().collect();
    let is_root = |number: &usize| !children.contains(number);
    Ok((0..document.nodes.len()).filter(is_root).collect())
}

fn transform(node: &Node) -> Transform {
    if let Some(matrix) = node.matrix {
        return Transform::from_columns(matrix);
    }
    let translation = Transform::translation(node.translation.unwrap_or([0.0; 3]));
    let rotation = Transform::quaternion(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    let scale = Transform::scale(node.scale.unwrap_or([1.0; 3]));
    translation.after(&rotation).after(&scale)
}

/// Reads the coordinates and the triangles of a primitive; points and lines have none.
fn triangles(primitive: &Primitive, accessors: &mut Accessors<'_>) -> Result<Shape, MeshProblem> {
    let mode = primitive.mode.unwrap_or(4);
    let position = primitive.attributes.position;
    let Some(position) = position.filter(|_| (4..=6).contains(&mode)) else {
        return Ok(None);
    };
    let vertices = accessors.numbers(position, "VEC3")?;
    let corners: Vec<u32> = match primitive.indices {
        Some(indices) => {
            let numbers = accessors.numbers(indices, "SCALAR")?;
            numbers.iter().map(|number| *number as u32).collect()
        }
        None => (0..vertices.len() as u32 / 3).collect(),
    };
    let triangles = match mode {
        4 => corners.as_chunks().0.to_vec(),
        5 => strip(&corners),
        _ => fan(&corners),
    };
    Ok(Some((vertices, triangles)))
}

/// The coordinates of vertices one after the other, and triangles between them.
type Shape = Option<(Rc<[f64]>, Vec<[u32; 3]>)>;
