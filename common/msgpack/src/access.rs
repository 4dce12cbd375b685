//! Values within a value: elements of arrays, entries of maps, the data of variants.

use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, Visitor,
};

use crate::head::Elements;
use crate::{Deserializer, Error};

/// Elements of an array that is being read.
pub(crate) struct Sequence<'a, 'de> {
    deserializer: &'a mut Deserializer<'de>,
    is_bytes: bool,
    count: u32,
    left: u32,
}

impl<'a, 'de> Sequence<'a, 'de> {
    /// Begins to read an array that was entered.
    #[inline]
    pub(crate) fn new(deserializer: &'a mut Deserializer<'de>, elements: Elements) -> Self {
        let (is_bytes, count) = match elements {
            Elements::Values(count) => (false, count),
            Elements::Bytes(count) => (true, count),
        };
        Self {
            deserializer,
            is_bytes,
            count,
            left: count,
        }
    }

    #[inline]
    pub(crate) fn leave(self) -> Result<(), Error> {
        self.deserializer.bytes.leave(self.count, self.left)
    }

    /// Goes to the next element, if there is one.
    #[inline]
    fn advance(&mut self) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        if self.is_bytes {
            self.deserializer.bytes.expect_byte();
        }
        true
    }
}

impl<'de> SeqAccess<'de> for Sequence<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.advance() {
            seed.deserialize(&mut *self.deserializer).map(Some)
        } else {
            Ok(None)
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.deserializer.bytes.bound(self.left))
    }
}

/// Entries of a map that is being read.
pub(crate) struct Entries<'a, 'de> {
    deserializer: &'a mut Deserializer<'de>,
    count: u32,
    left: u32,
}

impl<'a, 'de> Entries<'a, 'de> {
    /// Begins to read a map that was entered.
    #[inline]
    pub(crate) fn new(deserializer: &'a mut Deserializer<'de>, count: u32) -> Self {
        Self {
            deserializer,
            count,
            left: count,
        }
    }

    #[inline]
    pub(crate) fn leave(self) -> Result<(), Error> {
        self.deserializer.bytes.leave(self.count, self.left)
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.deserializer).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.deserializer)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.deserializer.bytes.bound(self.left))
    }
}

/// A variant that is being read: a name, or the entry of a map from the name to its data.
pub(crate) struct Variant<'a, 'de> {
    deserializer: &'a mut Deserializer<'de>,
    has_data: bool,
}

impl<'a, 'de> Variant<'a, 'de> {
    pub(crate) fn new(deserializer: &'a mut Deserializer<'de>, has_data: bool) -> Self {
        Self {
            deserializer,
            has_data,
        }
    }

    /// Returns where to read the data from.
    fn data(self, expected: &'static str) -> Result<&'a mut Deserializer<'de>, Error> {
        if self.has_data {
            Ok(self.deserializer)
        } else {
            Err(Error::invalid_type(Unexpected::UnitVariant, &expected))
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name = seed.deserialize(&mut *self.deserializer)?;
        Ok((name, self))
    }
}

impl<'de> serde::de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if self.has_data {
            self.deserializer.bytes.nil(&"a variant without data")?;
        }
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.data("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Error> {
        serde::Deserializer::deserialize_tuple(self.data("tuple variant")?, count, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.data("struct variant")?.visit_fields(visitor)
    }
}
