//! [`Accessors`]: lists of positions and indices in the buffers of a glTF document, read once each.
//!
//! The crate's iterators believe what the document states, so that all of it is checked here first.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use ::gltf::accessor::{Accessor, DataType, Dimensions, Item, Iter};
use ::gltf::buffer::View;

use crate::read::MeshProblem;
use crate::transform::Transform;
use crate::triangle_mesh::TRIANGLES_MAX;

/// The most numbers in all accessors that are read.
const NUMBERS_MAX: usize = 9 * TRIANGLES_MAX;

/// Reads accessors.
pub(super) struct Accessors<'d> {
    buffers: &'d [Cow<'d, [u8]>],
    positions: BTreeMap<usize, Rc<[[f64; 3]]>>,
    texcoords: BTreeMap<usize, Rc<[[f64; 2]]>>,
    indices: BTreeMap<usize, Rc<[u32]>>,
    numbers: usize,
}

impl<'d> Accessors<'d> {
    pub(super) fn new(buffers: &'d [Cow<'d, [u8]>]) -> Self {
        Self {
            buffers,
            positions: BTreeMap::new(),
            texcoords: BTreeMap::new(),
            indices: BTreeMap::new(),
            numbers: 0,
        }
    }

    /// Returns positions; integers are parts of their greatest value where the accessor says so.
    pub(super) fn positions(
        &mut self,
        accessor: &Accessor<'_>,
    ) -> Result<Rc<[[f64; 3]]>, MeshProblem> {
        if let Some(known) = self.positions.get(&accessor.index()) {
            return Ok(Rc::clone(known));
        }
        self.check(accessor, Dimensions::Vec3)?;
        let is_normalized = accessor.normalized();
        let part = |number: f64, greatest: f64| {
            if is_normalized {
                (number / greatest).max(-1.0)
            } else {
                number
            }
        };
        let positions: Rc<[[f64; 3]]> = match accessor.data_type() {
            DataType::I8 => self.list(accessor, |p: [i8; 3]| {
                p.map(|n| part(n.into(), i8::MAX.into()))
            }),
            DataType::U8 => self.list(accessor, |p: [u8; 3]| {
                p.map(|n| part(n.into(), u8::MAX.into()))
            }),
            DataType::I16 => self.list(accessor, |p: [i16; 3]| {
                p.map(|n| part(n.into(), i16::MAX.into()))
            }),
            DataType::U16 => self.list(accessor, |p: [u16; 3]| {
                p.map(|n| part(n.into(), u16::MAX.into()))
            }),
            DataType::U32 => self.list(accessor, |p: [u32; 3]| {
                p.map(|n| part(n.into(), u32::MAX.into()))
            }),
            DataType::F32 => self.list(accessor, |p: [f32; 3]| p.map(f64::from)),
        };
        self.positions
            .insert(accessor.index(), Rc::clone(&positions));
        Ok(positions)
    }

    /// Returns texture coordinates; integers are parts of their greatest value.
    pub(super) fn texcoords(
        &mut self,
        accessor: &Accessor<'_>,
    ) -> Result<Rc<[[f64; 2]]>, MeshProblem> {
        if let Some(known) = self.texcoords.get(&accessor.index()) {
            return Ok(Rc::clone(known));
        }
        self.check(accessor, Dimensions::Vec2)?;
        let texcoords: Rc<[[f64; 2]]> = match accessor.data_type() {
            DataType::U8 => self.list(accessor, |p: [u8; 2]| {
                p.map(|n| f64::from(n) / f64::from(u8::MAX))
            }),
            DataType::U16 => self.list(accessor, |p: [u16; 2]| {
                p.map(|n| f64::from(n) / f64::from(u16::MAX))
            }),
            DataType::F32 => self.list(accessor, |p: [f32; 2]| p.map(f64::from)),
            DataType::I8 | DataType::I16 | DataType::U32 => {
                return Err(malformed(
                    accessor,
                    "its numbers cannot be texture coordinates",
                ));
            }
        };
        self.texcoords
            .insert(accessor.index(), Rc::clone(&texcoords));
        Ok(texcoords)
    }

    /// Returns indices.
    pub(super) fn indices(&mut self, accessor: &Accessor<'_>) -> Result<Rc<[u32]>, MeshProblem> {
        if let Some(known) = self.indices.get(&accessor.index()) {
            return Ok(Rc::clone(known));
        }
        self.check(accessor, Dimensions::Scalar)?;
        let indices: Rc<[u32]> = match accessor.data_type() {
            DataType::U8 => self.list::<u8, _>(accessor, u32::from),
            DataType::U16 => self.list::<u16, _>(accessor, u32::from),
            DataType::U32 => self.list(accessor, |index: u32| index),
            DataType::I8 | DataType::I16 | DataType::F32 => {
                return Err(malformed(accessor, "its numbers cannot be indices"));
            }
        };
        self.indices.insert(accessor.index(), Rc::clone(&indices));
        Ok(indices)
    }

    /// Returns the joints of vertices, as their numbers in a skin.
    pub(super) fn joints(&mut self, accessor: &Accessor<'_>) -> Result<Vec<[u16; 4]>, MeshProblem> {
        self.check(accessor, Dimensions::Vec4)?;
        match accessor.data_type() {
            DataType::U8 => Ok(self.list(accessor, |j: [u8; 4]| j.map(u16::from)).to_vec()),
            DataType::U16 => Ok(self.list(accessor, |j: [u16; 4]| j).to_vec()),
            DataType::I8 | DataType::I16 | DataType::U32 | DataType::F32 => {
                Err(malformed(accessor, "its numbers cannot be joints"))
            }
        }
    }

    /// Returns the weights of vertices.
    pub(super) fn weights(
        &mut self,
        accessor: &Accessor<'_>,
    ) -> Result<Vec<[f64; 4]>, MeshProblem> {
        self.check(accessor, Dimensions::Vec4)?;
        let part = |number: f64, greatest: f64| number / greatest;
        match accessor.data_type() {
            DataType::U8 => Ok(self
                .list(accessor, |w: [u8; 4]| {
                    w.map(|n| part(n.into(), u8::MAX.into()))
                })
                .to_vec()),
            DataType::U16 => Ok(self
                .list(accessor, |w: [u16; 4]| {
                    w.map(|n| part(n.into(), u16::MAX.into()))
                })
                .to_vec()),
            DataType::F32 => Ok(self.list(accessor, |w: [f32; 4]| w.map(f64::from)).to_vec()),
            DataType::I8 | DataType::I16 | DataType::U32 => {
                Err(malformed(accessor, "its numbers cannot be weights"))
            }
        }
    }

    /// Returns unit quaternions; integers are parts of their greatest value.
    pub(super) fn quaternions(
        &mut self,
        accessor: &Accessor<'_>,
    ) -> Result<Vec<[f32; 4]>, MeshProblem> {
        self.check(accessor, Dimensions::Vec4)?;
        let part = |number: f32, greatest: f32| (number / greatest).max(-1.0);
        let quaternions = match accessor.data_type() {
            DataType::I8 => self.list(accessor, |q: [i8; 4]| q.map(|n| part(n.into(), 127.0))),
            DataType::U8 => self.list(accessor, |q: [u8; 4]| q.map(|n| part(n.into(), 255.0))),
            DataType::I16 => self.list(accessor, |q: [i16; 4]| {
                q.map(|n| part(n.into(), i16::MAX.into()))
            }),
            DataType::U16 => self.list(accessor, |q: [u16; 4]| {
                q.map(|n| part(n.into(), u16::MAX.into()))
            }),
            DataType::F32 => self.list(accessor, |q: [f32; 4]| q),
            DataType::U32 => {
                return Err(malformed(accessor, "its numbers cannot be quaternions"));
            }
        };
        let unit = quaternions.iter().map(|own| {
            let length = own.iter().map(|x| x * x).sum::<f32>().sqrt();
            own.map(|x| x / length)
        });
        Ok(unit.collect())
    }

    /// Returns times \[s\].
    pub(super) fn times(&mut self, accessor: &Accessor<'_>) -> Result<Vec<f32>, MeshProblem> {
        self.check(accessor, Dimensions::Scalar)?;
        if accessor.data_type() != DataType::F32 {
            return Err(malformed(accessor, "its numbers cannot be times"));
        }
        Ok(self.list(accessor, |time: f32| time).to_vec())
    }

    /// Returns matrices.
    pub(super) fn matrices(
        &mut self,
        accessor: &Accessor<'_>,
    ) -> Result<Vec<Transform>, MeshProblem> {
        self.check(accessor, Dimensions::Mat4)?;
        if accessor.data_type() != DataType::F32 {
            return Err(malformed(
                accessor,
                "its numbers cannot be those of matrices",
            ));
        }
        let matrices = self.list(accessor, |columns: Matrix| {
            let numbers = columns.0.as_flattened();
            Transform::from_columns(std::array::from_fn(|i| numbers[i].into()))
        });
        Ok(matrices.to_vec())
    }

    /// Reads a list that [`Self::check`] has let pass.
    fn list<T: Item, U>(&self, accessor: &Accessor<'_>, convert: impl Fn(T) -> U) -> Rc<[U]> {
        // The crate subtracts one from the count.
        if accessor.count() == 0 {
            return Rc::new([]);
        }
        let buffer = |buffer: ::gltf::Buffer<'_>| Some(&*self.buffers[buffer.index()]);
        let items = Iter::<T>::new(accessor.clone(), buffer);
        items.into_iter().flatten().map(convert).collect()
    }

    fn check(
        &mut self,
        accessor: &Accessor<'_>,
        dimensions: Dimensions,
    ) -> Result<(), MeshProblem> {
        if accessor.dimensions() != dimensions {
            let kind = format!("{dimensions:?}").to_uppercase();
            return Err(malformed(accessor, &format!("its type is not {kind}")));
        }
        let numbers = accessor.count().saturating_mul(dimensions.multiplicity());
        self.numbers = self.numbers.saturating_add(numbers);
        if self.numbers > NUMBERS_MAX {
            return Err(MeshProblem::TooMany {
                what: "numbers in accessors",
                maximum: NUMBERS_MAX,
            });
        }
        if !self.holds(accessor) {
            return Err(malformed(accessor, "it reaches beyond its buffer"));
        }
        Ok(())
    }

    /// Returns whether all bytes of an accessor are there.
    fn holds(&self, accessor: &Accessor<'_>) -> bool {
        let (count, item) = (accessor.count(), accessor.size());
        let view = accessor.view();
        let holds_base =
            view.is_none_or(|view| self.view_holds(&view, accessor.offset(), count, item));
        let holds_sparse = accessor.sparse().is_none_or(|sparse| {
            let (indices, values) = (sparse.indices(), sparse.values());
            let index = indices.index_type().size();
            let changed = sparse.count();
            (1..=count).contains(&changed)
                && self.view_holds(&indices.view(), indices.offset(), changed, index)
                && self.view_holds(&values.view(), values.offset(), changed, item)
        });
        holds_base && holds_sparse
    }

    /// Returns whether so many items of so many bytes are in a view, and the view in its buffer.
    fn view_holds(&self, view: &View<'_>, offset: usize, count: usize, item: usize) -> bool {
        let Some(last) = count.checked_sub(1) else {
            return true;
        };
        let stride = view.stride().unwrap_or(item);
        let needed = last
            .checked_mul(stride)
            .and_then(|bytes| bytes.checked_add(item)?.checked_add(offset));
        let end = view.offset().checked_add(view.length());
        stride >= item
            && needed.is_some_and(|needed| needed <= view.length())
            && end.is_some_and(|end| end <= self.buffers[view.buffer().index()].len())
    }
}

/// The columns of a matrix of four rows.
#[derive(Clone, Copy)]
struct Matrix([[f32; 4]; 4]);

impl Item for Matrix {
    fn from_slice(slice: &[u8]) -> Self {
        let column = |i: usize| Item::from_slice(&slice[16 * i..16 * i + 16]);
        Self(std::array::from_fn(column))
    }

    fn zero() -> Self {
        Self([[0.0; 4]; 4])
    }
}

fn malformed(accessor: &Accessor<'_>, message: &str) -> MeshProblem {
    MeshProblem::malformed(format!("accessor {}", accessor.index()), message)
}
