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
    /// Looks, where they are asked for.
    pub(super) normals: Option<OfCorners<3>>,
    pub(super) texcoords: Option<OfCorners<2>>,
    /// The symbol of its material; empty without one.
    pub(super) material: String,
}

/// Values of corners, and their indices for each triangle.
pub(super) struct OfCorners<const N: usize> {
    pub(super) values: Rc<[[f64; N]]>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Values of corners, and at which of the indices of a corner theirs stands.
struct Input<const N: usize> {
    offset: usize,
    values: Rc<[[f64; N]]>,
}

/// The inputs of a primitive.
struct Inputs {
    /// The number of indices of a corner.
    stride: usize,
    positions: Input<3>,
    normals: Option<Input<3>>,
    texcoords: Option<Input<2>>,
}

/// Reads geometries.
pub(super) struct Geometries<'e, 'd> {
    document: &'d Document<'e>,
    has_looks: bool,
    cutter: PolygonCutter,
    /// Positions and normals by the ids of their sources.
    sources: BTreeMap<&'e str, Rc<[[f64; 3]]>>,
    texcoords: BTreeMap<&'e str, Rc<[[f64; 2]]>>,
    numbers: usize,
}

impl<'e, 'd> Geometries<'e, 'd> {
    pub(super) fn new(document: &'d Document<'e>, has_looks: bool) -> Self {
        Self {
            document,
            has_looks,
            cutter: PolygonCutter::new(),
            sources: BTreeMap::new(),
            texcoords: BTreeMap::new(),
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
        let Some(inputs) = self.inputs(primitive)? else {
            return Ok(None);
        };
        let (stride, vertices) = (inputs.stride, Rc::clone(&inputs.positions.values));
        let (mut indices, mut places) = (Vec::new(), Vec::new());
        for list in primitive.children("p") {
            let own: Vec<u32> = list.numbers()?;
            let own = &own[..own.len() / stride * stride];
            let corners = own.chunks_exact(stride);
            let corners: Vec<u32> = corners
                .map(|corner| corner[inputs.positions.offset])
                .collect();
            let numbers: Vec<u32> = (0..corners.len() as u32).collect();
            let first = places.len();
            match primitive.name.as_str() {
                "triangles" => places.extend_from_slice(numbers.as_chunks().0),
                "tristrips" => places.extend(strip(&numbers)),
                "trifans" => places.extend(fan(&numbers)),
                "polygons" => self.cutter.cut_places(&corners, &vertices, &mut places),
                _ => self.cut_list(primitive, &corners, &vertices, &mut places)?,
            }
            let before = (indices.len() / stride) as u32;
            for place in places[first..].iter_mut().flatten() {
                *place += before;
            }
            indices.extend_from_slice(own);
        }
        let at = |offset: usize| -> Vec<[u32; 3]> {
            let index = |place: u32| indices[place as usize * stride + offset];
            places.iter().map(|triangle| triangle.map(index)).collect()
        };
        Ok(Some(Part {
            place: primitive.place(),
            vertices,
            triangles: at(inputs.positions.offset),
            normals: inputs.normals.map(|input| OfCorners {
                triangles: at(input.offset),
                values: input.values,
            }),
            texcoords: inputs.texcoords.map(|input| OfCorners {
                triangles: at(input.offset),
                values: input.values,
            }),
            material: primitive
                .attribute("material")
                .unwrap_or_default()
                .to_owned(),
        }))
    }

    /// Cuts the polygons of a `<polylist>`, whose `<vcount>` says how many corners each has, into
    /// places among all its corners.
    fn cut_list(
        &mut self,
        primitive: &Element,
        corners: &[u32],
        vertices: &[[f64; 3]],
        places: &mut Vec<[u32; 3]>,
    ) -> Result<(), MeshProblem> {
        let Some(counts) = primitive.child("vcount") else {
            return Err(primitive.malformed("it has no <vcount>"));
        };
        let (mut rest, mut before) = (corners, 0);
        for count in counts.numbers::<usize>()? {
            let Some((polygon, after)) = rest.split_at_checked(count) else {
                return Err(counts.malformed("the polygons have more corners than there are"));
            };
            let first = places.len();
            self.cutter.cut_places(polygon, vertices, places);
            for place in places[first..].iter_mut().flatten() {
                *place += before;
            }
            (rest, before) = (after, before + count as u32);
        }
        Ok(())
    }

    /// Returns the inputs of a primitive; nothing when it has no positions.
    fn inputs(&mut self, primitive: &'e Element) -> Result<Option<Inputs>, MeshProblem> {
        let mut stride = 1;
        let (mut positions, mut normals, mut texcoords) = (None, None, None);
        for input in primitive.children("input") {
            let offset: usize = input.number("offset")?.unwrap_or(0);
            if offset > OFFSET_MAX {
                return Err(input.malformed(format!("its offset is more than {OFFSET_MAX}")));
            }
            stride = stride.max(offset + 1);
            let semantic = input.attribute("semantic");
            if let Some("NORMAL" | "TEXCOORD") = semantic {
                if self.has_looks {
                    self.add_look(input, offset, &mut normals, &mut texcoords)?;
                }
                continue;
            }
            let source = match semantic {
                Some("VERTEX") => self.document.referred(input, "source", "vertices")?,
                Some("POSITION") => primitive,
                _ => continue,
            };
            let mut inputs = source.children("input");
            let position = inputs.find(|input| input.attribute("semantic") == Some("POSITION"));
            let position = position.ok_or_else(|| source.malformed("no input is a POSITION"))?;
            if self.has_looks && semantic == Some("VERTEX") {
                for input in source.children("input") {
                    self.add_look(input, offset, &mut normals, &mut texcoords)?;
                }
            }
            let source = self.document.referred(position, "source", "source")?;
            positions = Some(Input {
                offset,
                values: self.triples(source)?,
            });
        }
        Ok(positions.map(|positions| Inputs {
            stride,
            positions,
            normals,
            texcoords,
        }))
    }

    /// Takes normals, and the first texture coordinates.
    fn add_look(
        &mut self,
        input: &'e Element,
        offset: usize,
        normals: &mut Option<Input<3>>,
        texcoords: &mut Option<Input<2>>,
    ) -> Result<(), MeshProblem> {
        match input.attribute("semantic") {
            Some("NORMAL") => {
                let source = self.document.referred(input, "source", "source")?;
                let values = self.triples(source)?;
                *normals = Some(Input { offset, values });
            }
            Some("TEXCOORD") if texcoords.is_none() => {
                let source = self.document.referred(input, "source", "source")?;
                let values = self.pairs(source)?;
                *texcoords = Some(Input { offset, values });
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns positions or normals.
    fn triples(&mut self, source: &'e Element) -> Result<Rc<[[f64; 3]]>, MeshProblem> {
        let id = source.attribute("id").unwrap_or_default();
        if let Some(known) = self.sources.get(id) {
            return Ok(Rc::clone(known));
        }
        let triples = self.list::<3>(source, "the 3 of a position")?;
        self.sources.insert(id, Rc::clone(&triples));
        Ok(triples)
    }

    /// Returns texture coordinates; v is 0 in the last row of an image in the file, and in the
    /// first one here.
    fn pairs(&mut self, source: &'e Element) -> Result<Rc<[[f64; 2]]>, MeshProblem> {
        let id = source.attribute("id").unwrap_or_default();
        if let Some(known) = self.texcoords.get(id) {
            return Ok(Rc::clone(known));
        }
        let pairs = self.list::<2>(source, "the 2 of texture coordinates")?;
        let pairs: Rc<[[f64; 2]]> = pairs.iter().map(|[u, v]| [*u, 1.0 - v]).collect();
        self.texcoords.insert(id, Rc::clone(&pairs));
        Ok(pairs)
    }

    fn list<const N: usize>(
        &mut self,
        source: &'e Element,
        what: &str,
    ) -> Result<Rc<[[f64; N]]>, MeshProblem> {
        let accessor = source.child("technique_common");
        let accessor = accessor.and_then(|technique| technique.child("accessor"));
        let accessor = accessor.ok_or_else(|| source.malformed("it has no <accessor>"))?;
        let array = match source.child("float_array") {
            Some(array) => array,
            None => self.document.referred(accessor, "source", "float_array")?,
        };
        let stride: usize = accessor.number("stride")?.unwrap_or(1);
        if stride < N {
            return Err(accessor.malformed(format!("its stride is less than {what}")));
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
        let items = items.filter(|item| item.len() >= N).take(count);
        Ok(items.map(|item| std::array::from_fn(|i| item[i])).collect())
    }
}
