//! Long lists of numbers as one byte string each: element-wise `MessagePack` costs 50 times more.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_bytes::{ByteBuf, Bytes};

/// A number of fixed width.
pub(crate) trait Number: Copy {
    /// Its width \[bytes\].
    const WIDTH: usize;
    /// Appends its little-endian bytes.
    fn write(self, bytes: &mut Vec<u8>);
    /// Reads it from exactly [`Self::WIDTH`] bytes.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($kind:ty) => {
        impl Number for $kind {
            const WIDTH: usize = size_of::<$kind>();

            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$kind>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    };
}

number!(f32);
number!(f64);
number!(u32);

/// Triples, for `#[serde(with = "packed::triples")]`.
pub(crate) mod triples {
    use super::{ByteBuf, Bytes, Deserialize, Deserializer, Error, Number, Serializer};

    pub(crate) fn serialize<N: Number, S: Serializer>(
        list: &[[N; 3]],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(list.len() * 3 * N::WIDTH);
        for number in list.iter().flatten() {
            number.write(&mut bytes);
        }
        serde::Serialize::serialize(Bytes::new(&bytes), serializer)
    }

    pub(crate) fn deserialize<'de, N: Number, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<[N; 3]>, D::Error> {
        let bytes = ByteBuf::deserialize(deserializer)?;
        let width = 3 * N::WIDTH;
        if !bytes.len().is_multiple_of(width) {
            return Err(D::Error::custom("a list of triples is cut short"));
        }
        let triple = |bytes: &[u8]| {
            std::array::from_fn(|i| N::read(&bytes[i * N::WIDTH..(i + 1) * N::WIDTH]))
        };
        Ok(bytes.chunks_exact(width).map(triple).collect())
    }
}

/// Single numbers, for `#[serde(with = "packed::singles")]`.
pub(crate) mod singles {
    use super::{ByteBuf, Bytes, Deserialize, Deserializer, Error, Number, Serializer};

    pub(crate) fn serialize<N: Number, S: Serializer>(
        list: &[N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(list.len() * N::WIDTH);
        for number in list {
            number.write(&mut bytes);
        }
        serde::Serialize::serialize(Bytes::new(&bytes), serializer)
    }

    pub(crate) fn deserialize<'de, N: Number, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<N>, D::Error> {
        let bytes = ByteBuf::deserialize(deserializer)?;
        if !bytes.len().is_multiple_of(N::WIDTH) {
            return Err(D::Error::custom("a list of numbers is cut short"));
        }
        Ok(bytes.chunks_exact(N::WIDTH).map(N::read).collect())
    }
}
