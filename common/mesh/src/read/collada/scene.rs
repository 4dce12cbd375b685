//! The nodes of a Collada scene, and the geometry that they show.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::geometry::{Geometries, OfCorners, Part};
use super::material::Materials;
use super::skin::Rig;
use super::tree::{DEPTH_MAX, Document, Element};
use crate::read::gathering::Gathering;
use crate::read::looks::{Corners, Looks};
use crate::read::{MeshProblem, SideFile};
use crate::skeleton::Grip;
use crate::transform::Transform;

/// The most nodes in a scene, those that are shown repeatedly counted each time.
const NODES_MAX: usize = 100_000;

/// The most geometries that nodes show.
const SHOWN_MAX: usize = 1_000_000;

/// Number of controllers that may stand on one another.
const CONTROLLERS_MAX: usize = 8;

/// Gathers the geometry of all nodes of the scene.
pub(super) fn gather(
    document: &Document<'_>,
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let unit = unit(document.root)?;
    let scale = Transform::scale([unit; 3]);
    let mut walk = Walk {
        document,
        geometries: Geometries::new(document, gathering.wants_looks()),
        materials: Materials::new(document, side_file),
        known: BTreeMap::new(),
        open: Vec::new(),
        nodes: 0,
        shown: 0,
        unit: scale,
        rig: None,
        gathering,
    };
    let Some(scene) = visual_scene(document)? else {
        return walk.show_all(&scale);
    };
    if walk.gathering.wants_skeleton() {
        walk.rig = Some(Rig::of_scene(scene, unit)?);
    }
    walk.open_nodes(scene.children("node"), "", &scale, 0)?;
    while let Some(visit) = walk.open.pop() {
        walk.visit(&visit)?;
    }
    if let Some(rig) = walk.rig {
        walk.gathering.set_skeleton(rig.finish(document)?);
    }
    Ok(())
}

/// Returns the length of the file's unit \[m\].
fn unit(root: &Element) -> Result<f64, MeshProblem> {
    let Some(unit) = root.child("asset").and_then(|asset| asset.child("unit")) else {
        return Ok(1.0);
    };
    let meter = unit.number("meter")?.unwrap_or(1.0);
    if meter > 0.0 {
        Ok(meter)
    } else {
        Err(unit.malformed("its length must be positive"))
    }
}

/// Returns the scene that the document shows, or else the first one, if there is any.
fn visual_scene<'e>(document: &Document<'e>) -> Result<Option<&'e Element>, MeshProblem> {
    let scene = document.root.child("scene");
    if let Some(shown) = scene.and_then(|scene| scene.child("instance_visual_scene")) {
        return document.referred(shown, "url", "visual_scene").map(Some);
    }
    let mut libraries = document.root.children("library_visual_scenes");
    Ok(libraries.find_map(|library| library.child("visual_scene")))
}

/// A node that is to be visited.
struct Visit<'e> {
    node: &'e Element,
    /// The name of the nearest node above that has one.
    name: &'e str,
    parent: Transform,
    depth: usize,
}

struct Walk<'e, 'd, 'g> {
    document: &'d Document<'e>,
    geometries: Geometries<'e, 'd>,
    materials: Materials<'e, 'd>,
    known: BTreeMap<&'e str, Rc<Vec<Part>>>,
    open: Vec<Visit<'e>>,
    nodes: usize,
    shown: usize,
    /// Places of the file in metres.
    unit: Transform,
    /// The bones, where they are asked for.
    rig: Option<Rig<'e>>,
    gathering: &'g mut Gathering,
}

/// Manner in which a geometry is shown.
struct Showing<'a> {
    /// The element that shows it, which binds materials.
    instance: Option<&'a Element>,
    name: &'a str,
    transform: Transform,
    /// The bones that positions go with.
    grips: Option<Vec<Grip>>,
}

impl<'e> Walk<'e, '_, '_> {
    fn open_nodes(
        &mut self,
        nodes: impl DoubleEndedIterator<Item = &'e Element>,
        name: &'e str,
        parent: &Transform,
        depth: usize,
    ) -> Result<(), MeshProblem> {
        for node in nodes.rev() {
            self.nodes += 1;
            if self.nodes > NODES_MAX {
                return Err(MeshProblem::TooMany {
                    what: "nodes",
                    maximum: NODES_MAX,
                });
            }
            if depth > DEPTH_MAX {
                let message = format!("nested more than {DEPTH_MAX} deep, or within itself");
                return Err(node.malformed(message));
            }
            self.open.push(Visit {
                node,
                name,
                parent: *parent,
                depth,
            });
        }
        Ok(())
    }

    fn visit(&mut self, visit: &Visit<'e>) -> Result<(), MeshProblem> {
        let node = visit.node;
        let name = node.attribute("name").unwrap_or(visit.name);
        let transform = visit.parent.after(&transform(node)?);
        for child in &node.children {
            let mut showing = Showing {
                instance: Some(child),
                name,
                transform,
                grips: None,
            };
            let geometry = match child.name.as_str() {
                "instance_geometry" => self.document.referred(child, "url", "geometry")?,
                "instance_controller" => {
                    let controller = self.document.referred(child, "url", "controller")?;
                    if let Some(rig) = &mut self.rig {
                        showing.grips = rig.grips(self.document, controller)?;
                        // Bones say where a skin is, and not its node.
                        if showing.grips.is_some() {
                            showing.transform = self.unit;
                        }
                    }
                    self.skinned(controller)?
                }
                _ => continue,
            };
            self.show(geometry, &showing)?;
        }
        let below = visit.depth + 1;
        for instance in node.children("instance_node") {
            let shown = self.document.referred(instance, "url", "node")?;
            self.open_nodes(std::iter::once(shown), name, &transform, below)?;
        }
        self.open_nodes(node.children("node"), name, &transform, below)
    }

    /// Returns the geometry under a skin or a morph.
    fn skinned(&self, mut controller: &'e Element) -> Result<&'e Element, MeshProblem> {
        for _ in 0..CONTROLLERS_MAX {
            let skin = controller.child("skin").or(controller.child("morph"));
            let skin = skin.ok_or_else(|| controller.malformed("it has no skin"))?;
            match self.document.referred(skin, "source", "geometry") {
                Ok(geometry) => return Ok(geometry),
                Err(problem) => {
                    let under = self.document.referred(skin, "source", "controller");
                    controller = under.map_err(|_| problem)?;
                }
            }
        }
        Err(controller.malformed("too many controllers stand on one another"))
    }

    fn show(&mut self, geometry: &'e Element, showing: &Showing<'_>) -> Result<(), MeshProblem> {
        let id = geometry.attribute("id").unwrap_or_default();
        let parts = if let Some(parts) = self.known.get(id) {
            Rc::clone(parts)
        } else {
            let parts = Rc::new(self.geometries.parts(geometry)?);
            self.known.insert(id, Rc::clone(&parts));
            parts
        };
        self.shown += 1 + parts.len();
        if self.shown > SHOWN_MAX {
            return Err(MeshProblem::TooMany {
                what: "shown geometries",
                maximum: SHOWN_MAX,
            });
        }
        for part in parts.iter() {
            self.add(part, showing)?;
        }
        Ok(())
    }

    fn add(&mut self, part: &Part, showing: &Showing<'_>) -> Result<(), MeshProblem> {
        let Showing {
            instance,
            name,
            transform,
            grips,
        } = showing;
        let gathering = &mut *self.gathering;
        let material = if gathering.wants_looks() && !part.material.is_empty() {
            self.materials.bound(*instance, &part.material, gathering)
        } else {
            None
        };
        let looks = Looks {
            normals: part.normals.as_ref().map(OfCorners::borrowed),
            texcoords: part.texcoords.as_ref().map(OfCorners::borrowed),
            material,
            grips: grips.as_deref(),
        };
        let (vertices, triangles) = (&part.vertices, &part.triangles);
        gathering.add_looking((name, &part.place), vertices, triangles, transform, &looks)
    }

    /// Gathers all geometry, of a file without scenes.
    fn show_all(&mut self, transform: &Transform) -> Result<(), MeshProblem> {
        for library in self.document.root.children("library_geometries") {
            for geometry in library.children("geometry") {
                let showing = Showing {
                    instance: None,
                    name: geometry.attribute("name").unwrap_or_default(),
                    transform: *transform,
                    grips: None,
                };
                for part in self.geometries.parts(geometry)? {
                    self.add(&part, &showing)?;
                }
            }
        }
        Ok(())
    }
}

impl<const N: usize> OfCorners<N> {
    fn borrowed(&self) -> Corners<'_, N> {
        Corners {
            values: &self.values,
            triangles: &self.triangles,
        }
    }
}

/// Returns where a node is in its parent: its transforms in the order of the file, the last one
/// first. `<lookat>` and `<skew>`, which Gazebo does not read, are passed over.
pub(super) fn transform(node: &Element) -> Result<Transform, MeshProblem> {
    let mut whole = Transform::IDENTITY;
    for child in &node.children {
        if let Some(part) = part_of_transform(child, |_| {})? {
            whole = whole.after(&part);
        }
    }
    Ok(whole)
}

/// Returns the transform that a child of a node is, once its numbers are changed; `None` if it is
/// none.
pub(super) fn part_of_transform(
    child: &Element,
    change: impl Fn(&mut [f64]),
) -> Result<Option<Transform>, MeshProblem> {
    Ok(Some(match child.name.as_str() {
        "matrix" => Transform::from_rows(changed(child, change)?),
        "translate" => Transform::translation(changed(child, change)?),
        "rotate" => {
            let [x, y, z, degrees] = changed(child, change)?;
            Transform::rotation([x, y, z], f64::to_radians(degrees))
        }
        "scale" => Transform::scale(changed(child, change)?),
        _ => return Ok(None),
    }))
}

fn changed<const N: usize>(
    element: &Element,
    change: impl Fn(&mut [f64]),
) -> Result<[f64; N], MeshProblem> {
    let mut numbers = exactly(element)?;
    change(&mut numbers);
    Ok(numbers)
}

pub(super) fn exactly<const N: usize>(element: &Element) -> Result<[f64; N], MeshProblem> {
    let numbers = element.numbers()?;
    let message = format!("{N} numbers are expected, and {} stand here", numbers.len());
    numbers.try_into().map_err(|_| element.malformed(message))
}
