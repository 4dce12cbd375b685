//! The values of a tree as what a message's fields ask for, by serde.
//!
//! Only the message knows its fields and which of them hold lists, so that it drives the reading: a
//! field of one value takes the last that is given, messages in it are merged, and a list takes
//! all.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::tree::{Field, Value};

/// Description of an error in a value.
#[derive(Debug)]
pub(super) struct ValueError(String);

impl fmt::Display for ValueError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ValueError {}

impl serde::de::Error for ValueError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

/// All values that a field is given.
pub(super) struct Values(pub(super) Vec<Value>);

impl Values {
    /// Makes the value of a whole message.
    pub(super) fn of_message(fields: Vec<Field>) -> Self {
        Self(vec![Value::Fields(fields)])
    }

    fn word(self) -> Result<String, ValueError> {
        match self.last()? {
            Value::Word(word) => Ok(word),
            Value::Text(_) => Err(ValueError::custom("a number or word, not a text")),
            Value::Fields(_) => Err(ValueError::custom("a number or word, not a message")),
        }
    }

    fn text(self) -> Result<Vec<u8>, ValueError> {
        match self.last()? {
            // The names of enumerations are texts here.
            Value::Word(word) if word.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                Ok(word.into_bytes())
            }
            Value::Word(word) => {
                let what = format!("a text in quotes, not {word}");
                Err(ValueError::custom(what))
            }
            Value::Text(text) => Ok(text),
            Value::Fields(_) => Err(ValueError::custom("a text, not a message")),
        }
    }

    fn last(mut self) -> Result<Value, ValueError> {
        let missing = || ValueError::custom("one value, not an empty list");
        self.0.pop().ok_or_else(missing)
    }

    fn whole(self) -> Result<i128, ValueError> {
        let word = self.word()?;
        let (sign, digits) = match word.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, word.as_str()),
        };
        let hexadecimal = digits
            .strip_prefix("0x")
            .or_else(|| digits.strip_prefix("0X"));
        let number = match hexadecimal {
            Some(digits) => u64::from_str_radix(digits, 16),
            None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
            None => digits.parse(),
        };
        let number = number.map_err(|_| ValueError(format!("{word:?} is no whole number")))?;
        Ok(sign * i128::from(number))
    }

    fn real(self) -> Result<f64, ValueError> {
        let word = self.word()?;
        let lower = word.to_ascii_lowercase();
        let number = match lower.strip_suffix('f') {
            Some(rest) if rest.ends_with(|last: char| last.is_ascii_digit() || last == '.') => rest,
            _ => lower.as_str(),
        };
        if number.starts_with("0x") || number.starts_with("-0x") {
            return Self(vec![Value::Word(word)])
                .whole()
                .map(|whole| whole as f64);
        }
        let wrong = |_| ValueError(format!("{word:?} is no number"));
        number.parse().map_err(wrong)
    }

    fn flag(self) -> Result<bool, ValueError> {
        let word = self.word()?;
        match word.as_str() {
            "true" | "True" | "t" | "1" => Ok(true),
            "false" | "False" | "f" | "0" => Ok(false),
            _ => Err(ValueError(format!("{word:?} is neither true nor false"))),
        }
    }

    /// Returns the fields of all messages in it as those of one.
    fn fields(self) -> Result<Vec<Field>, ValueError> {
        let mut merged: Vec<Field> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for value in self.0 {
            let Value::Fields(fields) = value else {
                return Err(ValueError::custom("a message in braces"));
            };
            for field in fields {
                if let Some(place) = places.get(&field.name).copied() {
                    merged[place].values.extend(field.values);
                } else {
                    places.insert(field.name.clone(), merged.len());
                    merged.push(field);
                }
            }
        }
        Ok(merged)
    }
}

macro_rules! whole_numbers {
    ($($method:ident: $type:ty => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            let number = self.whole()?;
            let outside = |_| ValueError(format!("{number} is outside of what fits here"));
            visitor.$visit(<$type>::try_from(number).map_err(outside)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Values {
    type Error = ValueError;

    whole_numbers! {
        deserialize_i8: i8 => visit_i8,
        deserialize_i16: i16 => visit_i16,
        deserialize_i32: i32 => visit_i32,
        deserialize_i64: i64 => visit_i64,
        deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16,
        deserialize_u32: u32 => visit_u32,
        deserialize_u64: u64 => visit_u64,
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ValueError> {
        Err(ValueError::custom("a value of unknown type"))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_bool(self.flag()?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_f32(self.real()? as f32)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_f64(self.real()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let text = String::from_utf8(self.text()?);
        visitor.visit_string(text.map_err(|_| ValueError::custom("the text is no UTF-8"))?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_byte_buf(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_seq(List(self.0.into_iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_map(Fields {
            rest: self.fields()?.into_iter(),
            field: None,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 char unit unit_struct newtype_struct tuple tuple_struct enum identifier
        ignored_any
    }
}

struct List(std::vec::IntoIter<Value>);

impl<'de> SeqAccess<'de> for List {
    type Error = ValueError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueError> {
        let next = self.0.next();
        next.map(|value| seed.deserialize(Values(vec![value])))
            .transpose()
    }
}

struct Fields {
    rest: std::vec::IntoIter<Field>,
    field: Option<Field>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        self.field = self.rest.next();
        let name = self.field.as_ref().map(|field| field.name.clone());
        name.map(|name| seed.deserialize(StringDeserializer::new(name)))
            .transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ValueError> {
        let field = self.field.take();
        let field = field.expect("serde asks for a value after its key");
        let within = |ValueError(what)| ValueError(format!("{}: {what}", field.name));
        seed.deserialize(Values(field.values)).map_err(within)
    }
}
