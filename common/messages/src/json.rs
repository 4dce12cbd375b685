//! Messages as JSON, in which numbers that are not finite are texts: `"inf"`, `"-inf"`, `"nan"`.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::{Error, Map, Number, Value};

/// A value read from a `MessagePack` map, as JSON.
pub(crate) struct JsonValue(pub(crate) Value);

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Show::Numbers.deserialize(deserializer).map(Self)
    }
}

/// The same, with bytes as base64.
pub(crate) struct Recorded(pub(crate) Value);

impl<'de> Deserialize<'de> for Recorded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Show::Base64.deserialize(deserializer).map(Self)
    }
}

/// Form in which bytes are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    Numbers,
    Base64,
}

impl<'de> DeserializeSeed<'de> for Show {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Show {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of a message")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(match Number::from_f64(value) {
            Some(number) => Value::Number(number),
            None if value.is_nan() => "nan".into(),
            None if value > 0.0 => "inf".into(),
            None => "-inf".into(),
        })
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(match self {
            Self::Numbers => value.into(),
            Self::Base64 => BASE64_STANDARD.encode(value).into(),
        })
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key()? {
            map.insert(name, fields.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

/// JSON from which a message is read, with bytes in this form.
pub(crate) struct Given(pub(crate) Value, pub(crate) Show);

impl Given {
    fn float(&self) -> Option<f64> {
        match self.0.as_str()? {
            "nan" | "NaN" => Some(f64::NAN),
            "inf" | "Infinity" => Some(f64::INFINITY),
            "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }
}

impl IntoDeserializer<'_, Error> for Given {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Given {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let show = self.1;
        // Not by the reader of `Value`, which would be compiled for all messages besides.
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => {
                let items = items.into_iter().map(|value| Given(value, show));
                visitor.visit_seq(SeqDeserializer::new(items))
            }
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| (name, Given(value, show)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.float() {
            Some(float) => visitor.visit_f64(float),
            None => self.0.deserialize_f64(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match (self.1, &self.0) {
            (Show::Base64, Value::String(text)) => {
                let bytes = BASE64_STANDARD.decode(text).map_err(Error::custom)?;
                visitor.visit_byte_buf(bytes)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Named(name)),
            _ => Err(Error::invalid_type(Unexpected::Other("value"), &"a name")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The name of a value of an enumeration.
pub(crate) struct Named(pub(crate) String);

impl<'de> EnumAccess<'de> for Named {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: serde::de::DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), Error> {
        let value = seed.deserialize(self.0.clone().into_deserializer())?;
        Ok((value, self))
    }
}

impl<'de> VariantAccess<'de> for Named {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: serde::de::DeserializeSeed<'de>>(
        self,
        _seed: T,
    ) -> Result<T::Value, Error> {
        Err(Error::custom("the names of enumerations have no values"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("the names of enumerations have no values"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(Error::custom("the names of enumerations have no values"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn numbers_that_are_not_finite_are_texts_and_come_back() {
        let scan = crate::find("gz.msgs.LaserScan").unwrap();
        let ranges = json!(["inf", "-inf", "nan", 0.1]);
        let request = json!({"ranges": ranges, "range_max": "Infinity", "frame": "inf"});
        let bytes = scan.from_json(request).unwrap();
        let back: crate::sensor::LaserScan = crate::decode(&bytes).unwrap();
        assert!(back.ranges[0].is_infinite() && back.ranges[2].is_nan());
        assert_eq!(
            (back.range_max, back.frame.as_str()),
            (f64::INFINITY, "inf")
        );
        let json = scan.to_json(&bytes).unwrap();
        assert_eq!(json.get("ranges"), Some(&ranges));
        assert_eq!(json.get("range_max"), Some(&json!("inf")));
        assert!(scan.from_json(json!({"range_max": "far"})).is_err());
        assert!(scan.from_json(json!({"count": "inf"})).is_err());
    }

    #[test]
    fn every_number_comes_back_bit_for_bit() {
        let double = crate::find("gz.msgs.Double").unwrap();
        for number in [0.1, -0.0, 1e-310, 1.0 / 3.0, f64::MAX, 8.41e21] {
            let data = crate::Double {
                data: number,
                ..crate::Double::default()
            };
            let json = double.to_json(&crate::encode(&data)).unwrap().to_string();
            let bytes = double.from_json(serde_json::from_str(&json).unwrap());
            let back: crate::Double = crate::decode(&bytes.unwrap()).unwrap();
            assert_eq!(back.data.to_bits(), number.to_bits(), "{json}");
        }
    }

    #[test]
    fn bytes_and_options_come_back() {
        let image = crate::find("gz.msgs.Image").unwrap();
        let bytes = image.from_json(json!({"data": [1, 255]})).unwrap();
        assert_eq!(image.to_json(&bytes).unwrap()["data"], json!([1, 255]));
        let recorded = image.to_recorded_json(&bytes).unwrap();
        assert_eq!(recorded["data"], json!("Af8="));
        assert_eq!(image.from_recorded_json(recorded).unwrap(), bytes);
        assert!(image.from_recorded_json(json!({"data": "?"})).is_err());
        let factory = crate::find("gz.msgs.EntityFactory").unwrap();
        let given = json!({"pose": {"position": {"x": 1.0}}});
        let json = factory.to_json(&factory.from_json(given).unwrap()).unwrap();
        assert_eq!(json["pose"]["position"]["x"], json!(1.0));
        let none = factory.from_json(json!({"pose": null})).unwrap();
        assert_eq!(factory.to_json(&none).unwrap()["pose"], json!(null));
    }
}
