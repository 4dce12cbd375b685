//! [`Geometries`]: the triangles of Collada geometry, from every kind of primitive with area.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::tree::{Document, Element};
use crate::read::MeshProblem;
use crate::read::polygon::{PolygonCutter, fan, strip};
use crate::triangle_mesh::TRIANGLES_MAX;

/// The most numbers in all sources that are read.
const NUMBERS_MAX: usize = 9 * TRIANGLES_MAX;

/// The greatest place of an index among those of a corner.
const OFFSET_MAX: usize = 255;

/// Triangles and the positions that they refer to.
pub(super) struct Part {
    pub(super) place: String,
    pub(super) vertices: Rc<[[f64; 3]]>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Reads geometries.
pub(super) struct Geometries<'e, 'd> {
    document: &'d Document<'e>,
    cutter: PolygonCutter,
    sources: BTreeMap<&'e str, Rc<[[f64; 3]]>>,
    numbers: usize,
}

impl<'e, 'd> Geometries<'e, 'd> {
    pub(super) fn new(document: &'d Document<'e>) -> Self {
        Self {
            document,
            cutter: PolygonCutter::new(),
            sources: BTreeMap::new(),
            numbers: 0,
        }
    }

    /// Returns the triangles of each primitive of a geometry.
    pub(super) fn parts(&mut self, geometry: &'e Element) -> Result<Vec<Part>, MeshProblem> {
        let mut parts = Vec::new();
        for mesh in geometry.children("mesh") {
            for primitive in &mesh.children {
                let kind = primitive.name.as_str();
                let is_read = matches!(
                    kind,
                    "triangles" | "polylist" | "polygons" | "tristrips" | "trifans"
                );
                if is_read && let Some(part) = self.part(primitive)? {
                    parts.push(part);
                }
            }
        }
        Ok(parts)
    }

    fn part(&mut self, primitive: &'e Element) -> Result<Option<Part>, MeshProblem> {
        if primitive.child("ph").is_some() {
            let message = "polygons with holes are not read; triangulate the mesh";
            return Err(primitive.malformed(message));
        }
        let Some((offset, stride, vertices)) = self.inputs(primitive)? else {
            return Ok(None);
        };
        let mut triangles = Vec::new();
        for list in primitive.children("p") {
            let indices: Vec<u32> = list.numbers()?;
            let corners = indices.chunks_exact(stride).map(|corner| corner[offset]);
            let corners: Vec<u32> = corners.collect();
            match primitive.name.as_str() {
                "triangles" => triangles.extend_from_slice(corners.as_chunks().0),
                "tristrips" => triangles.extend(strip(&corners)),
                "trifans" => triangles.extend(fan(&corners)),
                "polygons" => self.cutter.cut(&corners, &vertices, &mut triangles),
                _ => self.cut_list(primitive, &corners, &vertices, &mut triangles)?,
            }
        }
        Ok(Some(Part {
            place: primitive.place(),
            vertices,
            triangles,
        }))
    }

    /// Cuts the polygons of a `<polylist>`, whose `<vcount>` says how many corners each has.
    fn cut_list(
        &mut self,
        primitive: &Element,
        mut corners: &[u32],
        vertices: &[[f64; 3]],
        triangles: &mut Vec<[u32; 3]>,
    ) -> Result<(), MeshProblem> {
        let Some(counts) = primitive.child("vcount") else {
            return Err(primitive.malformed("it has no <vcount>"));
        };
        for count in counts.numbers()? {
            let Some((polygon, rest)) = corners.split_at_checked(count) else {
                return Err(counts.malformed("the polygons have more corners than there are"));
            };
            self.cutter.cut(polygon, vertices, triangles);
            corners = rest;
        }
        Ok(())
    }

    /// Returns at which of how many indices of a corner that of its position stands, and the
    /// positions; nothing when the primitive has none.
    fn inputs(&mut self, primitive: &'e Element) -> Result<Option<Inputs>, MeshProblem> {
        let mut stride = 1;
        let mut found = None;
        for input in primitive.children("input") {
            let offset: usize = input.number("offset")?.unwrap_or(0);
            if offset > OFFSET_MAX {
                return Err(input.malformed(format!("its offset is more than {OFFSET_MAX}")));
            }
            stride = stride.max(offset + 1);
            let source = match input.attribute("semantic") {
                Some("VERTEX") => self.document.referred(input, "source", "vertices")?,
                Some("POSITION") => primitive,
                _ => continue,
            };
            let mut inputs = source.children("input");
            let position = inputs.find(|input| input.attribute("semantic") == Some("POSITION"));
            let position = position.ok_or_else(|| source.malformed("no input is a POSITION"))?;
            let source = self.document.referred(position, "source", "source")?;
            found = Some((offset, self.positions(source)?));
        }
        Ok(found.map(|(offset, vertices)| (offset, stride, vertices)))
    }

    fn positions(&mut self, source: &'e Element) -> Result<Rc<[[f64; 3]]>, MeshProblem> {
        let id = source.attribute("id").unwrap_or_default();
        if let Some(known) = self.sources.get(id) {
            return Ok(Rc::clone(known));
        }
        let accessor = source.child("technique_common");
        let accessor = accessor.and_then(|technique| technique.child("accessor"));
        let accessor = accessor.ok_or_else(|| source.malformed("it has no <accessor>"))?;
        let array = match source.child("float_array") {
            Some(array) => array,
            None => self.document.referred(accessor, "source", "float_array")?,
        };
        let stride: usize = accessor.number("stride")?.unwrap_or(1);
        if stride < 3 {
            return Err(accessor.malformed("its stride is less than the 3 of a position"));
        }
        let offset: usize = accessor.number("offset")?.unwrap_or(0);
        let count: usize = accessor.number("count")?.unwrap_or(usize::MAX);
        let numbers: Vec<f64> = array.numbers()?;
        self.numbers += numbers.len();
        if self.numbers > NUMBERS_MAX {
            return Err(MeshProblem::TooMany {
                what: "numbers in sources",
                maximum: NUMBERS_MAX,
            });
        }
        let items = numbers.get(offset..).unwrap_or_default().chunks(stride);
        let items = items.filter(|item| item.len() >= 3).take(count);
        let positions: Rc<[[f64; 3]]> = items.map(|item| [item[0], item[1], item[2]]).collect();
        self.sources.insert(id, Rc::clone(&positions));
        Ok(positions)
    }
}

/// The offset of the position's index, the number of indices of a corner, and the positions.
type Inputs = (usize, usize, Rc<[[f64; 3]]>);
