//! The nodes of a glTF scene, and the meshes that they show.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use ::gltf::mesh::Mode;
use ::gltf::scene::Transform as NodeTransform;
use ::gltf::{Document, Node, Primitive, Semantic};

use super::accessor::Accessors;
use super::material::{Materials, has_whole_images};
use super::skin::Rig;
use crate::read::gathering::Gathering;
use crate::read::looks::{Corners, Looks};
use crate::read::polygon::{fan, strip};
use crate::read::{MeshProblem, SideFile};
use crate::transform::Transform;

/// The most primitives that the nodes of a scene show.
const PRIMITIVES_MAX: usize = 1_000_000;

/// Gathers the meshes of all nodes of the scene.
pub(super) fn gather(
    document: &Document,
    buffers: &[Cow<'_, [u8]>],
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let mut accessors = Accessors::new(buffers);
    let mut materials = Materials::new(buffers, side_file);
    let has_looks = gathering.wants_looks() && has_whole_images(document);
    let mut rig = None;
    if gathering.wants_skeleton() {
        rig = Some(Rig::of_document(document)?);
    }
    let mut primitives = 0;
    let mut seen = BTreeSet::new();
    let roots = roots(document).into_iter().rev();
    let mut open: Vec<(Node<'_>, Transform)> =
        roots.map(|root| (root, Transform::IDENTITY)).collect();
    while let Some((node, parent)) = open.pop() {
        let place = format!("node {}", node.index());
        if !seen.insert(node.index()) {
            let message = "it stands in the scene twice, and nodes form a tree";
            return Err(MeshProblem::malformed(place, message));
        }
        let transform = parent.after(&transform(&node));
        if let Some(mesh) = node.mesh() {
            let name = node.name().filter(|name| !name.is_empty()).or(mesh.name());
            primitives += mesh.primitives().len();
            if primitives > PRIMITIVES_MAX {
                return Err(MeshProblem::TooMany {
                    what: "primitives",
                    maximum: PRIMITIVES_MAX,
                });
            }
            for primitive in mesh.primitives() {
                let Some((vertices, triangles)) = shape(&primitive, &mut accessors)? else {
                    continue;
                };
                let (mut normals, mut texcoords, mut material) = (None, None, None);
                if has_looks {
                    let accessor = primitive.get(&Semantic::Normals);
                    normals = accessor.map(|own| accessors.positions(&own)).transpose()?;
                    let accessor = primitive.get(&Semantic::TexCoords(0));
                    texcoords = accessor.map(|own| accessors.texcoords(&own)).transpose()?;
                    material = materials.number(&primitive.material(), gathering);
                }
                let grips = match &mut rig {
                    Some(rig) => rig.grips(&node, &primitive, &mut accessors)?,
                    None => None,
                };
                // Bones say where a skin is, and not its node.
                let skinned = grips.as_ref().map(|_| Transform::IDENTITY);
                let looks = Looks {
                    normals: normals.as_deref().map(|values| Corners {
                        values,
                        triangles: &triangles,
                    }),
                    texcoords: texcoords.as_deref().map(|values| Corners {
                        values,
                        triangles: &triangles,
                    }),
                    material,
                    grips: grips.as_deref(),
                };
                let transform = skinned.unwrap_or(transform);
                let place = (name.unwrap_or_default(), place.as_str());
                gathering.add_looking(place, &vertices, &triangles, &transform, &looks)?;
            }
        }
        let first_child = open.len();
        open.extend(node.children().map(|child| (child, transform)));
        open[first_child..].reverse();
    }
    if let Some(rig) = rig {
        gathering.set_skeleton(rig.finish(document, &mut accessors)?);
    }
    Ok(())
}

/// The roots of the scene that the document shows; without any scene, all nodes without a parent.
pub(super) fn roots(document: &Document) -> Vec<Node<'_>> {
    let scene = document.default_scene();
    if let Some(scene) = scene.or_else(|| document.scenes().next()) {
        return scene.nodes().collect();
    }
    let children = document.nodes().flat_map(|node| node.children());
    let children: BTreeSet<usize> = children.map(|child| child.index()).collect();
    let nodes = document.nodes();
    nodes
        .filter(|node| !children.contains(&node.index()))
        .collect()
}

pub(super) fn transform(node: &Node<'_>) -> Transform {
    match node.transform() {
        NodeTransform::Matrix { matrix } => {
            let numbers = matrix.as_flattened();
            Transform::from_columns(std::array::from_fn(|i| numbers[i].into()))
        }
        NodeTransform::Decomposed {
            translation,
            rotation,
            scale,
        } => {
            let translation = Transform::translation(translation.map(f64::from));
            let rotation = Transform::quaternion(rotation.map(f64::from));
            let scale = Transform::scale(scale.map(f64::from));
            translation.after(&rotation).after(&scale)
        }
    }
}

/// Reads the vertices and the triangles of a primitive; points and lines have none.
fn shape(primitive: &Primitive<'_>, accessors: &mut Accessors<'_>) -> Result<Shape, MeshProblem> {
    let cut: fn(&[u32]) -> Vec<[u32; 3]> = match primitive.mode() {
        Mode::Triangles => |corners| corners.as_chunks().0.to_vec(),
        Mode::TriangleStrip => strip,
        Mode::TriangleFan => fan,
        Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => return Ok(None),
    };
    let Some(positions) = primitive.get(&Semantic::Positions) else {
        return Ok(None);
    };
    let vertices = accessors.positions(&positions)?;
    let corners = match primitive.indices() {
        Some(indices) => accessors.indices(&indices)?,
        None => (0..vertices.len() as u32).collect(),
    };
    let triangles = cut(&corners);
    Ok(Some((vertices, triangles)))
}

/// Vertices, and triangles between them.
type Shape = Option<(Rc<[[f64; 3]]>, Vec<[u32; 3]>)>;
