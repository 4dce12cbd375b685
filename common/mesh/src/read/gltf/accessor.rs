//! [`Accessors`]: lists of numbers in the buffers of a glTF document, read once each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::document::{Accessor, Document};
use crate::read::MeshProblem;
use crate::triangle_mesh::TRIANGLES_MAX;

/// The most numbers in all accessors that are read.
const NUMBERS_MAX: usize = 9 * TRIANGLES_MAX;

/// Reads accessors.
pub(super) struct Accessors<'d> {
    document: &'d Document,
    buffers: &'d [Cow<'d, [u8]>],
    known: BTreeMap<usize, Rc<[f64]>>,
    numbers: usize,
}

impl<'d> Accessors<'d> {
    pub(super) fn new(document: &'d Document, buffers: &'d [Cow<'d, [u8]>]) -> Self {
        Self {
            document,
            buffers,
            known: BTreeMap::new(),
            numbers: 0,
        }
    }

    /// Returns the numbers of an accessor of this type (`SCALAR` or `VEC3`), one after the other.
    pub(super) fn numbers(&mut self, number: usize, kind: &str) -> Result<Rc<[f64]>, MeshProblem> {
        let malformed =
            |message: &str| MeshProblem::malformed(format!("accessor {number}"), message);
        let accessor = self.document.accessors.get(number);
        let accessor = accessor.ok_or_else(|| malformed("it is referred to and not there"))?;
        if accessor.kind != kind {
            return Err(malformed(&format!("its type is not {kind}")));
        }
        if let Some(known) = self.known.get(&number) {
            return Ok(Rc::clone(known));
        }
        let width = if kind == "VEC3" { 3 } else { 1 };
        self.numbers = self
            .numbers
            .saturating_add(accessor.count.saturating_mul(width));
        if self.numbers > NUMBERS_MAX {
            return Err(MeshProblem::TooMany {
                what: "numbers in accessors",
                maximum: NUMBERS_MAX,
            });
        }
        let numbers = self.read(accessor, width);
        let numbers = numbers.ok_or_else(|| {
            malformed("it reaches beyond its buffer or is of a type that glTF does not know")
        })?;
        let numbers: Rc<[f64]> = numbers.into();
        self.known.insert(number, Rc::clone(&numbers));
        Ok(numbers)
    }

    fn read(&self, accessor: &Accessor, width: usize) -> Option<Vec<f64>> {
        let component = Component::new(accessor.component_type, accessor.normalized)?;
        let list = |view, offset, count| List {
            view,
            offset,
            count,
            width,
            component,
        };
        let mut numbers = match accessor.buffer_view {
            Some(view) => self.list(&list(view, accessor.byte_offset, accessor.count))?,
            None => vec![0.0; accessor.count * width],
        };
        if let Some(sparse) = &accessor.sparse {
            if sparse.count > accessor.count {
                return None;
            }
            let part = &sparse.values;
            let values = self.list(&list(part.buffer_view, part.byte_offset, sparse.count))?;
            let part = &sparse.indices;
            let indices = self.list(&List {
                view: part.buffer_view,
                offset: part.byte_offset,
                count: sparse.count,
                width: 1,
                component: Component::new(part.component_type?, false)?,
            })?;
            for (index, value) in indices.iter().zip(values.chunks_exact(width)) {
                let start = (*index as usize).checked_mul(width)?;
                let own = numbers.get_mut(start..start.checked_add(width)?)?;
                own.copy_from_slice(value);
            }
        }
        Some(numbers)
    }

    fn list(&self, list: &List) -> Option<Vec<f64>> {
        let view = self.document.buffer_views.get(list.view)?;
        let buffer = self.buffers.get(view.buffer)?;
        let end = view.byte_offset.checked_add(view.byte_length)?;
        let bytes = buffer.get(view.byte_offset..end)?.get(list.offset..)?;
        let item = list.width * list.component.bytes();
        let stride = view.byte_stride.unwrap_or(item);
        if list.count == 0 {
            return Some(Vec::new());
        }
        let needed = (list.count - 1).checked_mul(stride)?.checked_add(item)?;
        if stride < item || bytes.len() < needed {
            return None;
        }
        let mut numbers = Vec::with_capacity(list.count * list.width);
        for start in (0..list.count).map(|i| i * stride) {
            let item = bytes[start..start + item].chunks_exact(list.component.bytes());
            numbers.extend(item.map(|bytes| list.component.number(bytes)));
        }
        Some(numbers)
    }
}

/// Where a list of numbers is and how it is written.
struct List {
    view: usize,
    offset: usize,
    count: usize,
    /// Numbers in an item.
    width: usize,
    component: Component,
}

/// How a number is written.
#[derive(Clone, Copy)]
struct Component {
    kind: ComponentKind,
    /// Integers mean parts of their greatest value.
    normalized: bool,
}

#[derive(Clone, Copy)]
enum ComponentKind {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn new(code: u32, normalized: bool) -> Option<Self> {
        let kind = match code {
            5120 => ComponentKind::I8,
            5121 => ComponentKind::U8,
            5122 => ComponentKind::I16,
            5123 => ComponentKind::U16,
            5125 => ComponentKind::U32,
            5126 => ComponentKind::F32,
            _ => return None,
        };
        Some(Self { kind, normalized })
    }

    fn bytes(self) -> usize {
        match self.kind {
            ComponentKind::I8 | ComponentKind::U8 => 1,
            ComponentKind::I16 | ComponentKind::U16 => 2,
            ComponentKind::U32 | ComponentKind::F32 => 4,
        }
    }

    /// Reads a number from as many bytes as it takes.
    fn number(self, bytes: &[u8]) -> f64 {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        let [a, b, ..] = four;
        let (number, greatest) = match self.kind {
            ComponentKind::I8 => (f64::from(a.cast_signed()), f64::from(i8::MAX)),
            ComponentKind::U8 => (f64::from(a), f64::from(u8::MAX)),
            ComponentKind::I16 => (f64::from(i16::from_le_bytes([a, b])), f64::from(i16::MAX)),
            ComponentKind::U16 => (f64::from(u16::from_le_bytes([a, b])), f64::from(u16::MAX)),
            ComponentKind::U32 => (f64::from(u32::from_le_bytes(four)), f64::from(u32::MAX)),
            ComponentKind::F32 => return f64::from(f32::from_le_bytes(four)),
        };
        if self.normalized {
            (number / greatest).max(-1.0)
        } else {
            number
        }
    }
}
