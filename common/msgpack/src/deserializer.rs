//! [`Deserializer`]: reads values by the type that is asked for, and calls only those methods of a
//! visitor that such a type has. The functions here are compiled once for each type, so they are
//! short, and leave all reading to [`Bytes`].

use rmp::Marker;
use serde::de::{Deserialize, Visitor};

use crate::Error;
use crate::access::{Entries, Sequence, Variant};
use crate::head::{Blob, Bytes, Elements, Fields, Head, Integer, Name, Number};

/// Depth to which values may be nested, unless another is set.
const DEPTH_MAX: u16 = 1024;

/// Reads a value from its `MessagePack`; text and bytes may be borrowed from it. Bytes behind the
/// value are not looked at.
///
/// # Errors
/// Fails if the bytes are no `MessagePack`, or no value of this type.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    T::deserialize(&mut Deserializer::new(bytes))
}

/// Values of any type in `MessagePack`.
#[derive(Debug)]
pub struct Deserializer<'de> {
    pub(crate) bytes: Bytes<'de>,
}

impl<'de> Deserializer<'de> {
    /// Begins to read bytes.
    pub fn new(bytes: &'de [u8]) -> Self {
        Self::with_depth(bytes, DEPTH_MAX)
    }

    /// Begins to read bytes whose values are nested less deep than this.
    pub fn with_depth(bytes: &'de [u8], depth: u16) -> Self {
        Self {
            bytes: Bytes::new(bytes, depth),
        }
    }

    /// Visits an array that was entered.
    fn visit_elements<V: Visitor<'de>>(
        &mut self,
        elements: Elements,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut sequence = Sequence::new(self, elements);
        let value = visitor.visit_seq(&mut sequence)?;
        sequence.leave()?;
        Ok(value)
    }

    /// Visits a map that was entered.
    fn visit_entries<V: Visitor<'de>>(
        &mut self,
        count: u32,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut entries = Entries::new(self, count);
        let value = visitor.visit_map(&mut entries)?;
        entries.leave()?;
        Ok(value)
    }

    fn visit_integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.bytes.integer(&visitor)? {
            Integer::Unsigned(value) => visitor.visit_u64(value),
            Integer::Signed(value) => visitor.visit_i64(value),
        }
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.bytes.number(&visitor)? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Signed(value) => visitor.visit_i64(value),
            Number::Single(value) => visitor.visit_f32(value),
            Number::Double(value) => visitor.visit_f64(value),
        }
    }

    fn visit_text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let text = self.bytes.text(&visitor)?;
        visitor.visit_borrowed_str(text)
    }

    fn visit_blob<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.bytes.blob(&visitor)? {
            Blob::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Blob::Numbers(elements) => self.visit_elements(elements, visitor),
        }
    }

    fn visit_sequence<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let elements = self.bytes.elements(&visitor)?;
        self.visit_elements(elements, visitor)
    }

    /// Visits a struct, or a variant like one.
    pub(crate) fn visit_fields<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.bytes.fields(&visitor)? {
            Fields::Ordered(elements) => self.visit_elements(elements, visitor),
            Fields::Named(count) => self.visit_entries(count, visitor),
        }
    }
}

/// Defines methods that all do the same.
macro_rules! methods {
    ($($method:ident)* => $visit:ident) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$visit(visitor)
        }
    )*};
}

impl<'de> serde::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = Error;

    methods!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 => visit_integer);
    methods!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 => visit_integer);
    methods!(deserialize_f32 deserialize_f64 => visit_number);
    methods!(deserialize_str deserialize_string deserialize_char => visit_text);
    methods!(deserialize_bytes deserialize_byte_buf => visit_blob);
    methods!(deserialize_seq => visit_sequence);

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.bytes.bool(&visitor)?;
        visitor.visit_bool(value)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.bytes.wide_integer(&visitor)?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.bytes.wide_integer(&visitor)?;
        visitor.visit_u128(value as u128)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.bytes.take_nil()? {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.bytes.nil(&visitor)?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.bytes.nothing(&visitor)?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _count: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit_sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _count: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit_sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let count = self.bytes.entries(&visitor)?;
        self.visit_entries(count, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit_fields(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let has_data = self.bytes.take_variant()?;
        let value = visitor.visit_enum(Variant::new(self, has_data))?;
        if has_data {
            self.bytes.leave(1, 0)?;
        }
        Ok(value)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.bytes.name(&visitor)? {
            Name::Text(name) => visitor.visit_borrowed_str(name),
            Name::Place(place) => visitor.visit_u64(place),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.bytes.skip()?;
        visitor.visit_unit()
    }

    /// Reads a value by its marker, for types that take several kinds of values.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.bytes.head()? {
            Head::Nil => visitor.visit_unit(),
            Head::Bool(value) => visitor.visit_bool(value),
            Head::Integer(Integer::Unsigned(value)) => visitor.visit_u64(value),
            Head::Integer(Integer::Signed(value)) => visitor.visit_i64(value),
            Head::Single(value) => visitor.visit_f32(value),
            Head::Double(value) => visitor.visit_f64(value),
            Head::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => visitor.visit_borrowed_str(text),
                // Text of others may be any bytes, for a type that takes them.
                Err(error) => visitor
                    .visit_borrowed_bytes(text)
                    .map_err(|_: Error| Error::Utf8Error(error)),
            },
            Head::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Head::Array(count) => {
                self.bytes.enter()?;
                self.visit_elements(Elements::Values(count), visitor)
            }
            Head::Map(count) => {
                self.bytes.enter()?;
                self.visit_entries(count, visitor)
            }
            Head::Extension(marker) => Err(Error::TypeMismatch(Marker::from_u8(marker))),
        }
    }
}
