//! JSON schemas of messages, found by letting each message read itself from nothing.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Visitor,
};
use serde_json::{Error, Map, Value, json};

use crate::json::Named;

/// Depth to which lists and optional values are followed; messages that hold themselves end there.
const DEPTH_MAX: u32 = 8;

/// Returns the JSON schema of a message, in which bytes are base64.
///
/// # Panics
/// Panics if the message cannot be read from the values that its own fields ask for.
pub(crate) fn schema<M: DeserializeOwned>() -> Value {
    let mut schema = Value::Null;
    let read = M::deserialize(Tracer {
        schema: &mut schema,
        depth: 0,
    });
    read.map_or_else(
        |error| panic!("a message takes the values that its fields ask for: {error}"),
        |_| schema,
    )
}

/// Gives whoever reads from it a value of the kind that it asks for, and notes the kind.
struct Tracer<'a> {
    schema: &'a mut Value,
    depth: u32,
}

impl Tracer<'_> {
    fn note(&mut self, kind: &str) {
        *self.schema = json!({ "type": kind });
    }
}

macro_rules! plain {
    ($($method:ident $visit:ident $value:expr, $kind:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
            self.note($kind);
            visitor.$visit($value)
        }
    )*};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = Error;

    plain! {
        deserialize_bool visit_bool false, "boolean";
        deserialize_i8 visit_i8 0, "integer";
        deserialize_i16 visit_i16 0, "integer";
        deserialize_i32 visit_i32 0, "integer";
        deserialize_i64 visit_i64 0, "integer";
        deserialize_u8 visit_u8 0, "integer";
        deserialize_u16 visit_u16 0, "integer";
        deserialize_u32 visit_u32 0, "integer";
        deserialize_u64 visit_u64 0, "integer";
        deserialize_f32 visit_f32 0.0, "number";
        deserialize_f64 visit_f64 0.0, "number";
        deserialize_char visit_char ' ', "string";
        deserialize_str visit_str "", "string";
        deserialize_string visit_str "", "string";
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("a field that takes anything has no schema"))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        *self.schema = json!({ "type": "string", "contentEncoding": "base64" });
        visitor.visit_bytes(&[])
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.depth >= DEPTH_MAX {
            *self.schema = json!({});
            return visitor.visit_none();
        }
        visitor.visit_some(Tracer {
            depth: self.depth + 1,
            ..self
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let count = usize::from(self.depth < DEPTH_MAX);
        self.deserialize_tuple(count, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut items = json!({});
        let read = visitor.visit_seq(Elements {
            items: &mut items,
            left: length,
            depth: self.depth + 1,
        });
        *self.schema = json!({ "type": "array", "items": items });
        read
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.note("object");
        visitor.visit_map(Fields {
            properties: &mut Map::new(),
            names: [].iter(),
            current: "",
            depth: self.depth,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut properties = Map::new();
        let read = visitor.visit_map(Fields {
            properties: &mut properties,
            names: fields.iter(),
            current: "",
            depth: self.depth,
        });
        *self.schema = json!({ "type": "object", "properties": properties });
        read
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
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.schema = json!({ "type": "string", "enum": variants });
        visitor.visit_enum(Named(
            variants.first().copied().unwrap_or_default().to_owned(),
        ))
    }

    serde::forward_to_deserialize_any! {
        i128 u128 unit unit_struct tuple_struct identifier ignored_any
    }
}

/// The elements of a list.
struct Elements<'a> {
    items: &'a mut Value,
    left: usize,
    depth: u32,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let schema = &mut *self.items;
        let depth = self.depth;
        seed.deserialize(Tracer { schema, depth }).map(Some)
    }
}

/// The fields of a message.
struct Fields<'a> {
    properties: &'a mut Map<String, Value>,
    names: std::slice::Iter<'static, &'static str>,
    current: &'static str,
    depth: u32,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.names.next() else {
            return Ok(None);
        };
        self.current = name;
        let key: StrDeserializer<'_, Error> = (*name).into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let schema = self.properties.entry(self.current).or_insert(Value::Null);
        let depth = self.depth;
        seed.deserialize(Tracer { schema, depth })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::kind::KINDS;

    /// Tells whether a value is as a schema says; what has no type may be anything.
    fn fits(value: &Value, schema: &Value) -> bool {
        match schema["type"].as_str() {
            Some("object") => value.as_object().is_some_and(|fields| {
                let mut fields = fields.iter();
                fields.all(|(name, value)| fits(value, &schema["properties"][name]))
            }),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            _ => false,
        }
    }

    #[test]
    fn every_message_is_as_its_schema_says() {
        for kind in KINDS {
            let empty = kind.from_json(serde_json::json!({})).unwrap();
            let mut shown = kind.to_recorded_json(&empty).unwrap();
            // An optional part that is not there is null.
            if let Some(fields) = shown.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
            let schema = kind.schema();
            assert!(fits(&shown, &schema), "{}: {shown} {schema}", kind.name);
        }
    }

    #[test]
    fn lists_say_what_is_in_them_and_bytes_are_base64() {
        let schema = crate::find("gz.msgs.Image").unwrap().schema();
        let data = &schema["properties"]["data"];
        assert_eq!(data["contentEncoding"], "base64");
        let schema = crate::find("gz.msgs.LaserScan").unwrap().schema();
        let ranges = &schema["properties"]["ranges"];
        assert_eq!(
            (&ranges["type"], &ranges["items"]["type"]),
            (&"array".into(), &"number".into())
        );
        let stamp = &schema["properties"]["header"]["properties"]["stamp"]["properties"];
        assert_eq!(stamp["sec"]["type"], "integer");
    }
}
