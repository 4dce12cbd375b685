//! [`Value`] and [`FieldValue`]: values and fields as CDR has them.

use crate::cdr::{CdrError, Reader, Writer};
use crate::schema::{Element, FieldKind};

/// A single value: a number, a text or a message.
pub trait Value: Sized + Default {
    /// Its type.
    const ELEMENT: Element;
    /// The fewest bytes that it takes.
    const SIZE_MIN: usize;

    /// Writes it.
    fn write(&self, writer: &mut Writer);

    /// Reads one.
    ///
    /// # Errors
    /// Fails if the bytes are none.
    fn read(reader: &mut Reader<'_>) -> Result<Self, CdrError>;

    /// Writes several without their count.
    fn write_all(values: &[Self], writer: &mut Writer) {
        for value in values {
            value.write(writer);
        }
    }

    /// Reads a number of them that fits in the bytes that are left.
    ///
    /// # Errors
    /// Fails if the bytes are none.
    fn read_all(count: usize, reader: &mut Reader<'_>) -> Result<Vec<Self>, CdrError> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(Self::read(reader)?);
        }
        Ok(values)
    }
}

/// The value of a field: one value or many.
pub trait FieldValue: Sized {
    /// Its type.
    const KIND: FieldKind;
    /// The fewest bytes that it takes.
    const FIELD_SIZE_MIN: usize;

    /// Returns the value of a field that nobody has set.
    fn nothing() -> Self;

    /// Writes it.
    fn write_field(&self, writer: &mut Writer);

    /// Reads one.
    ///
    /// # Errors
    /// Fails if the bytes are none.
    fn read_field(reader: &mut Reader<'_>) -> Result<Self, CdrError>;
}

macro_rules! numbers {
    ($($number:ty => $element:ident,)*) => {$(
        impl Value for $number {
            const ELEMENT: Element = Element::$element;
            const SIZE_MIN: usize = size_of::<$number>();

            fn write(&self, writer: &mut Writer) {
                writer.number(self.to_le_bytes());
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
                reader.number().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers! {
    i8 => Int8,
    i16 => Int16,
    u16 => Uint16,
    i32 => Int32,
    u32 => Uint32,
    i64 => Int64,
    u64 => Uint64,
    f32 => Float32,
    f64 => Float64,
}

impl Value for u8 {
    const ELEMENT: Element = Element::Uint8;
    const SIZE_MIN: usize = 1;

    fn write(&self, writer: &mut Writer) {
        writer.bytes(&[*self]);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
        Ok(reader.take(1)?[0])
    }

    fn write_all(values: &[Self], writer: &mut Writer) {
        writer.bytes(values);
    }

    fn read_all(count: usize, reader: &mut Reader<'_>) -> Result<Vec<Self>, CdrError> {
        reader.take(count).map(<[u8]>::to_vec)
    }
}

impl Value for bool {
    const ELEMENT: Element = Element::Bool;
    const SIZE_MIN: usize = 1;

    fn write(&self, writer: &mut Writer) {
        writer.bytes(&[u8::from(*self)]);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
        let at = reader.at();
        match u8::read(reader)? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(CdrError::Bool { at, value }),
        }
    }
}

impl Value for String {
    const ELEMENT: Element = Element::Text;
    const SIZE_MIN: usize = 4;

    fn write(&self, writer: &mut Writer) {
        writer.count(self.len() + 1);
        writer.bytes(self.as_bytes());
        writer.bytes(&[0]);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
        let length = reader.count(1)?;
        let at = reader.at();
        let bytes = reader.take(length)?;
        // Some writers leave the end mark out.
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| CdrError::Text { at })?;
        Ok(text.to_owned())
    }
}

impl<T: Value> FieldValue for T {
    const KIND: FieldKind = FieldKind::One(T::ELEMENT);
    const FIELD_SIZE_MIN: usize = T::SIZE_MIN;

    fn nothing() -> Self {
        T::default()
    }

    fn write_field(&self, writer: &mut Writer) {
        self.write(writer);
    }

    fn read_field(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
        Self::read(reader)
    }
}

impl<T: Value> FieldValue for Vec<T> {
    const KIND: FieldKind = FieldKind::Sequence(T::ELEMENT);
    const FIELD_SIZE_MIN: usize = 4;

    fn nothing() -> Self {
        Self::new()
    }

    fn write_field(&self, writer: &mut Writer) {
        writer.count(self.len());
        T::write_all(self, writer);
    }

    fn read_field(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
        let count = reader.count(T::SIZE_MIN)?;
        T::read_all(count, reader)
    }
}

impl<T: Value + Copy, const N: usize> FieldValue for [T; N] {
    const KIND: FieldKind = FieldKind::Array(T::ELEMENT, N);
    const FIELD_SIZE_MIN: usize = N * T::SIZE_MIN;

    fn nothing() -> Self {
        [T::default(); N]
    }

    fn write_field(&self, writer: &mut Writer) {
        T::write_all(self, writer);
    }

    fn read_field(reader: &mut Reader<'_>) -> Result<Self, CdrError> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::read(reader)?;
        }
        Ok(values)
    }
}
