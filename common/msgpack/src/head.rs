//! [`Head`]: a value up to the values within it, and [`Bytes`], from which heads are read. Nothing
//! here depends on the type that is read, so all of it is compiled once.

use std::io;

use rmp::Marker;
use serde::de::{Error as _, Expected, Unexpected};

use crate::Error;

/// First bytes of values, by the specification of `MessagePack`; counts and small numbers are added
/// to those that begin with `FIX`.
mod marker {
    pub(super) const FIX_POSITIVE_MAX: u8 = 0x7f;
    pub(super) const FIX_MAP: u8 = 0x80;
    pub(super) const FIX_ARRAY: u8 = 0x90;
    pub(super) const FIX_STR: u8 = 0xa0;
    pub(super) const NIL: u8 = 0xc0;
    pub(super) const FALSE: u8 = 0xc2;
    pub(super) const TRUE: u8 = 0xc3;
    pub(super) const BIN_8: u8 = 0xc4;
    pub(super) const BIN_16: u8 = 0xc5;
    pub(super) const BIN_32: u8 = 0xc6;
    pub(super) const EXT_8: u8 = 0xc7;
    pub(super) const EXT_16: u8 = 0xc8;
    pub(super) const EXT_32: u8 = 0xc9;
    pub(super) const F32: u8 = 0xca;
    pub(super) const F64: u8 = 0xcb;
    pub(super) const U8: u8 = 0xcc;
    pub(super) const U16: u8 = 0xcd;
    pub(super) const U32: u8 = 0xce;
    pub(super) const U64: u8 = 0xcf;
    pub(super) const I8: u8 = 0xd0;
    pub(super) const I16: u8 = 0xd1;
    pub(super) const I32: u8 = 0xd2;
    pub(super) const I64: u8 = 0xd3;
    pub(super) const FIX_EXT_1: u8 = 0xd4;
    pub(super) const FIX_EXT_2: u8 = 0xd5;
    pub(super) const FIX_EXT_4: u8 = 0xd6;
    pub(super) const FIX_EXT_8: u8 = 0xd7;
    pub(super) const FIX_EXT_16: u8 = 0xd8;
    pub(super) const STR_8: u8 = 0xd9;
    pub(super) const STR_16: u8 = 0xda;
    pub(super) const STR_32: u8 = 0xdb;
    pub(super) const ARRAY_16: u8 = 0xdc;
    pub(super) const ARRAY_32: u8 = 0xdd;
    pub(super) const MAP_16: u8 = 0xde;
    pub(super) const MAP_32: u8 = 0xdf;
    pub(super) const FIX_NEGATIVE_MIN: u8 = 0xe0;
}

/// A whole number.
pub(crate) enum Integer {
    Unsigned(u64),
    Signed(i64),
}

/// A number.
pub(crate) enum Number {
    Unsigned(u64),
    Signed(i64),
    Single(f32),
    Double(f64),
}

/// Name of a field or a variant, or its place among them.
pub(crate) enum Name<'de> {
    Text(&'de str),
    Place(u64),
}

/// Values that follow each other.
#[derive(Clone, Copy)]
pub(crate) enum Elements {
    /// So many values.
    Values(u32),
    /// So many bytes, each of which is a number without a marker.
    Bytes(u32),
}

/// Fields of a struct.
pub(crate) enum Fields {
    /// In their order, without names.
    Ordered(Elements),
    /// So many, each after its name.
    Named(u32),
}

/// Bytes, or numbers in their place.
pub(crate) enum Blob<'de> {
    Bytes(&'de [u8]),
    Numbers(Elements),
}

/// A value, but of arrays and maps only how many values are in them.
pub(crate) enum Head<'de> {
    Nil,
    Bool(bool),
    Integer(Integer),
    Single(f32),
    Double(f64),
    /// Text, if it is UTF-8.
    Text(&'de [u8]),
    Bytes(&'de [u8]),
    Array(u32),
    Map(u32),
    Extension(u8),
}

impl Head<'_> {
    /// Returns the error that this stands where something else was expected.
    #[cold]
    fn mismatch(&self, expected: &dyn Expected) -> Error {
        let unexpected = match *self {
            Self::Nil => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(value),
            Self::Integer(Integer::Unsigned(value)) => Unexpected::Unsigned(value),
            Self::Integer(Integer::Signed(value)) => Unexpected::Signed(value),
            Self::Single(value) => Unexpected::Float(value.into()),
            Self::Double(value) => Unexpected::Float(value),
            Self::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Unexpected::Str(text),
                Err(error) => return Error::Utf8Error(error),
            },
            Self::Bytes(bytes) => Unexpected::Bytes(bytes),
            Self::Array(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
            Self::Extension(marker) => return Error::TypeMismatch(Marker::from_u8(marker)),
        };
        Error::invalid_type(unexpected, expected)
    }
}

/// Bytes that are left to be read, and how deep the values in them may be nested.
#[derive(Debug)]
pub(crate) struct Bytes<'de> {
    rest: &'de [u8],
    /// True if the next byte is a number of a byte string, without a marker.
    next_is_byte: bool,
    /// Levels of nesting that are left, and one.
    depth_left: u16,
}

impl<'de> Bytes<'de> {
    pub(crate) fn new(rest: &'de [u8], depth: u16) -> Self {
        Self {
            rest,
            next_is_byte: false,
            depth_left: depth,
        }
    }

    /// Enters an array, a map or the data of a variant.
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), Error> {
        match self.depth_left.checked_sub(1) {
            None | Some(0) => Err(Error::DepthLimitExceeded),
            Some(left) => {
                self.depth_left = left;
                Ok(())
            }
        }
    }

    /// Leaves what was entered, which had so many values of which some were not read.
    #[inline]
    pub(crate) fn leave(&mut self, count: u32, left: u32) -> Result<(), Error> {
        self.depth_left += 1;
        if left == 0 {
            Ok(())
        } else {
            Err(Error::LengthMismatch(count - left))
        }
    }

    /// Says that the next value is a byte of a byte string.
    #[inline]
    pub(crate) fn expect_byte(&mut self) {
        self.next_is_byte = true;
    }

    /// Returns how many of so many values can be there at most.
    pub(crate) fn bound(&self, count: u32) -> usize {
        self.rest.len().min(count as usize)
    }

    pub(crate) fn integer(&mut self, expected: &dyn Expected) -> Result<Integer, Error> {
        let marker = self.marker()?;
        let integer = self.integer_of(marker)?;
        integer.ok_or_else(|| self.mismatch(marker, expected))
    }

    /// Reads a number of 128 bits, which rmp-serde writes as bytes.
    pub(crate) fn wide_integer(&mut self, expected: &dyn Expected) -> Result<i128, Error> {
        match self.head()? {
            Head::Integer(Integer::Unsigned(value)) => Ok(value.into()),
            Head::Integer(Integer::Signed(value)) => Ok(value.into()),
            Head::Bytes(bytes) => match bytes.try_into() {
                Ok(bytes) => Ok(i128::from_be_bytes(bytes)),
                Err(_) => Err(Error::LengthMismatch(16)),
            },
            head => Err(head.mismatch(expected)),
        }
    }

    /// Reads a number, which may be whole: programs without types write 1 for 1.0.
    pub(crate) fn number(&mut self, expected: &dyn Expected) -> Result<Number, Error> {
        Ok(match self.marker()? {
            marker::F64 => Number::Double(f64::from_be_bytes(*self.array()?)),
            marker::F32 => Number::Single(f32::from_be_bytes(*self.array()?)),
            marker => match self.integer_of(marker)? {
                Some(Integer::Unsigned(value)) => Number::Unsigned(value),
                Some(Integer::Signed(value)) => Number::Signed(value),
                None => return Err(self.mismatch(marker, expected)),
            },
        })
    }

    pub(crate) fn bool(&mut self, expected: &dyn Expected) -> Result<bool, Error> {
        match self.head()? {
            Head::Bool(value) => Ok(value),
            head => Err(head.mismatch(expected)),
        }
    }

    pub(crate) fn nil(&mut self, expected: &dyn Expected) -> Result<(), Error> {
        match self.head()? {
            Head::Nil => Ok(()),
            head => Err(head.mismatch(expected)),
        }
    }

    /// Reads what stands for a struct without fields: an empty array, or nil.
    pub(crate) fn nothing(&mut self, expected: &dyn Expected) -> Result<(), Error> {
        match self.head()? {
            Head::Nil | Head::Array(0) => Ok(()),
            head => Err(head.mismatch(expected)),
        }
    }

    pub(crate) fn text(&mut self, expected: &dyn Expected) -> Result<&'de str, Error> {
        let marker = self.marker()?;
        match self.text_of(marker)? {
            Some(text) => std::str::from_utf8(text).map_err(Error::Utf8Error),
            None => Err(self.mismatch(marker, expected)),
        }
    }

    pub(crate) fn name(&mut self, expected: &dyn Expected) -> Result<Name<'de>, Error> {
        let marker = self.marker()?;
        if let Some(text) = self.text_of(marker)? {
            return match std::str::from_utf8(text) {
                Ok(text) => Ok(Name::Text(text)),
                Err(error) => Err(Error::Utf8Error(error)),
            };
        }
        match self.integer_of(marker)? {
            Some(Integer::Unsigned(place)) => Ok(Name::Place(place)),
            Some(integer) => Err(Head::Integer(integer).mismatch(expected)),
            None => Err(self.mismatch(marker, expected)),
        }
    }

    /// Reads bytes, or enters an array of them.
    pub(crate) fn blob(&mut self, expected: &dyn Expected) -> Result<Blob<'de>, Error> {
        let marker = self.marker()?;
        if let Some(bytes) = self.text_of(marker)? {
            return Ok(Blob::Bytes(bytes));
        }
        match self.array_of(marker)? {
            Some(count) => {
                self.enter()?;
                Ok(Blob::Numbers(Elements::Values(count)))
            }
            None => Err(self.mismatch(marker, expected)),
        }
    }

    /// Enters an array, or bytes in its place.
    pub(crate) fn elements(&mut self, expected: &dyn Expected) -> Result<Elements, Error> {
        let marker = self.marker()?;
        let elements = self.elements_of(marker)?;
        let elements = elements.ok_or_else(|| self.mismatch(marker, expected))?;
        self.enter()?;
        Ok(elements)
    }

    /// Enters a map of fields, or an array of them.
    pub(crate) fn fields(&mut self, expected: &dyn Expected) -> Result<Fields, Error> {
        let marker = self.marker()?;
        let fields = if let Some(count) = self.map_of(marker)? {
            Fields::Named(count)
        } else if let Some(elements) = self.elements_of(marker)? {
            Fields::Ordered(elements)
        } else {
            return Err(self.mismatch(marker, expected));
        };
        self.enter()?;
        Ok(fields)
    }

    /// Enters a map.
    pub(crate) fn entries(&mut self, expected: &dyn Expected) -> Result<u32, Error> {
        let marker = self.marker()?;
        let count = self.map_of(marker)?;
        let count = count.ok_or_else(|| self.mismatch(marker, expected))?;
        self.enter()?;
        Ok(count)
    }

    /// Passes over nil, if that is next.
    pub(crate) fn take_nil(&mut self) -> Result<bool, Error> {
        let is_nil = self.peek()? == marker::NIL;
        if is_nil {
            self.rest = &self.rest[1..];
        }
        Ok(is_nil)
    }

    /// Enters a map of one entry, if a map is next: a variant with data.
    pub(crate) fn take_variant(&mut self) -> Result<bool, Error> {
        let before = self.rest;
        let marker = self.peek()?;
        self.rest = &before[1..];
        match self.map_of(marker)? {
            Some(1) => self.enter().map(|()| true),
            Some(count) => Err(Error::LengthMismatch(count)),
            None => {
                self.rest = before;
                Ok(false)
            }
        }
    }

    /// Passes over a value with all that is in it.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        let count = match self.head()? {
            Head::Array(count) => u64::from(count),
            Head::Map(count) => u64::from(count) * 2,
            _ => return Ok(()),
        };
        self.enter()?;
        for _ in 0..count {
            self.skip()?;
        }
        self.leave(0, 0)
    }

    /// Reads a head.
    pub(crate) fn head(&mut self) -> Result<Head<'de>, Error> {
        let marker = self.marker()?;
        self.head_of(marker)
    }

    /// Reads a marker.
    #[inline]
    fn marker(&mut self) -> Result<u8, Error> {
        if self.next_is_byte {
            self.next_is_byte = false;
            return Ok(marker::U8);
        }
        let split = self.rest.split_first();
        let (first, rest) = split.ok_or_else(|| Error::InvalidMarkerRead(end()))?;
        self.rest = rest;
        Ok(*first)
    }

    /// Returns the error that a value with this marker stands where something else was expected.
    #[cold]
    fn mismatch(&mut self, marker: u8, expected: &dyn Expected) -> Error {
        match self.head_of(marker) {
            Ok(head) => head.mismatch(expected),
            Err(error) => error,
        }
    }

    /// Reads what belongs to a head behind its marker.
    fn head_of(&mut self, marker: u8) -> Result<Head<'de>, Error> {
        if let Some(integer) = self.integer_of(marker)? {
            return Ok(Head::Integer(integer));
        }
        if let Some(count) = self.array_of(marker)? {
            return Ok(Head::Array(count));
        }
        if let Some(count) = self.map_of(marker)? {
            return Ok(Head::Map(count));
        }
        Ok(match marker {
            marker::NIL => Head::Nil,
            marker::FALSE => Head::Bool(false),
            marker::TRUE => Head::Bool(true),
            marker::F32 => Head::Single(f32::from_be_bytes(*self.array()?)),
            marker::F64 => Head::Double(f64::from_be_bytes(*self.array()?)),
            _ => match self.text_of(marker)? {
                Some(bytes) => match marker {
                    marker::BIN_8 | marker::BIN_16 | marker::BIN_32 => Head::Bytes(bytes),
                    _ => Head::Text(bytes),
                },
                None => self.extension(marker)?,
            },
        })
    }

    /// Reads what belongs to a whole number.
    #[expect(clippy::inline_always, reason = "results stay in registers")]
    #[inline(always)]
    fn integer_of(&mut self, marker: u8) -> Result<Option<Integer>, Error> {
        Ok(Some(match marker {
            0..=marker::FIX_POSITIVE_MAX => Integer::Unsigned(marker.into()),
            marker::U8 => Integer::Unsigned(u8::from_be_bytes(*self.array()?).into()),
            marker::U16 => Integer::Unsigned(u16::from_be_bytes(*self.array()?).into()),
            marker::U32 => Integer::Unsigned(u32::from_be_bytes(*self.array()?).into()),
            marker::U64 => Integer::Unsigned(u64::from_be_bytes(*self.array()?)),
            marker::FIX_NEGATIVE_MIN.. => Integer::Signed(i64::from(marker) - 256),
            marker::I8 => Integer::Signed(i8::from_be_bytes(*self.array()?).into()),
            marker::I16 => Integer::Signed(i16::from_be_bytes(*self.array()?).into()),
            marker::I32 => Integer::Signed(i32::from_be_bytes(*self.array()?).into()),
            marker::I64 => Integer::Signed(i64::from_be_bytes(*self.array()?)),
            _ => return Ok(None),
        }))
    }

    /// Reads text, or bytes.
    #[expect(clippy::inline_always, reason = "results stay in registers")]
    #[inline(always)]
    fn text_of(&mut self, marker: u8) -> Result<Option<&'de [u8]>, Error> {
        let count = match marker {
            marker::FIX_STR..marker::NIL => u32::from(marker - marker::FIX_STR),
            marker::STR_8 | marker::BIN_8 => u8::from_be_bytes(*self.array()?).into(),
            marker::STR_16 | marker::BIN_16 => u16::from_be_bytes(*self.array()?).into(),
            marker::STR_32 | marker::BIN_32 => u32::from_be_bytes(*self.array()?),
            _ => return Ok(None),
        };
        self.take(count as usize).map(Some)
    }

    /// Reads what belongs to an array before its elements.
    #[expect(clippy::inline_always, reason = "results stay in registers")]
    #[inline(always)]
    fn array_of(&mut self, marker: u8) -> Result<Option<u32>, Error> {
        Ok(Some(match marker {
            marker::FIX_ARRAY..marker::FIX_STR => u32::from(marker - marker::FIX_ARRAY),
            marker::ARRAY_16 => u16::from_be_bytes(*self.array()?).into(),
            marker::ARRAY_32 => u32::from_be_bytes(*self.array()?),
            _ => return Ok(None),
        }))
    }

    /// Reads what belongs to an array before its elements, or to bytes in its place.
    #[expect(clippy::inline_always, reason = "results stay in registers")]
    #[inline(always)]
    fn elements_of(&mut self, marker: u8) -> Result<Option<Elements>, Error> {
        let is_bytes = matches!(marker, marker::BIN_8 | marker::BIN_16 | marker::BIN_32);
        if !is_bytes {
            return Ok(self.array_of(marker)?.map(Elements::Values));
        }
        let before = self.rest;
        let Some(bytes) = self.text_of(marker)? else {
            return Ok(None);
        };
        // All are there, and are read one by one.
        let head = before.len() - self.rest.len() - bytes.len();
        self.rest = &before[head..];
        Ok(Some(Elements::Bytes(bytes.len() as u32)))
    }

    /// Reads what belongs to a map before its entries.
    #[expect(clippy::inline_always, reason = "results stay in registers")]
    #[inline(always)]
    fn map_of(&mut self, marker: u8) -> Result<Option<u32>, Error> {
        Ok(Some(match marker {
            marker::FIX_MAP..marker::FIX_ARRAY => u32::from(marker - marker::FIX_MAP),
            marker::MAP_16 => u16::from_be_bytes(*self.array()?).into(),
            marker::MAP_32 => u32::from_be_bytes(*self.array()?),
            _ => return Ok(None),
        }))
    }

    /// Returns the next marker, or that of a byte if a byte of a byte string is next.
    fn peek(&self) -> Result<u8, Error> {
        match self.rest {
            [] => Err(Error::InvalidMarkerRead(end())),
            _ if self.next_is_byte => Ok(marker::U8),
            [first, ..] => Ok(*first),
        }
    }

    /// Passes over an extension: a byte for its type, and its data.
    fn extension(&mut self, marker: u8) -> Result<Head<'de>, Error> {
        let count = match marker {
            marker::FIX_EXT_1 => 1,
            marker::FIX_EXT_2 => 2,
            marker::FIX_EXT_4 => 4,
            marker::FIX_EXT_8 => 8,
            marker::FIX_EXT_16 => 16,
            marker::EXT_8 => u8::from_be_bytes(*self.array()?).into(),
            marker::EXT_16 => u16::from_be_bytes(*self.array()?).into(),
            marker::EXT_32 => u32::from_be_bytes(*self.array()?),
            _ => return Err(Error::TypeMismatch(Marker::from_u8(marker))),
        };
        self.take(count as usize + 1)?;
        Ok(Head::Extension(marker))
    }

    /// Reads so many bytes; a copy of them would be moved byte by byte.
    #[inline]
    fn array<const COUNT: usize>(&mut self) -> Result<&'de [u8; COUNT], Error> {
        let split = self.rest.split_first_chunk();
        let (taken, rest) = split.ok_or_else(|| Error::InvalidDataRead(end()))?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'de [u8], Error> {
        let split = self.rest.split_at_checked(count);
        let (taken, rest) = split.ok_or_else(|| Error::InvalidDataRead(end()))?;
        self.rest = rest;
        Ok(taken)
    }
}

#[cold]
fn end() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
