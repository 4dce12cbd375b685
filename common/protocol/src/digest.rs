//! Digests: 128-bit fingerprints of states, worlds and builds (XXH3, not cryptographic).
//!
//! They find divergence, not forgery. Numbers enter as their little-endian bits, so that `-0.0`
//! and `0.0` differ: a digest stands for bits, not for values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

/// A 128-bit fingerprint, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u128);

impl Digest {
    /// Returns the digest of some bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// Text that is not 32 hexadecimal digits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a digest is 32 hexadecimal digits, and {0:?} is not")]
pub struct ParseDigestError(String);

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseDigestError(text.chars().take(40).collect());
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error());
        }
        u128::from_str_radix(text, 16)
            .map(Self)
            .map_err(|_| error())
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.0.to_le_bytes())
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?
                .parse()
                .map_err(D::Error::custom);
        }
        let bytes = serde_bytes::ByteBuf::deserialize(deserializer)?;
        let array: [u8; 16] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| D::Error::invalid_length(bytes.len(), &"16 bytes of digest"))?;
        Ok(Self(u128::from_le_bytes(array)))
    }
}

/// Collects the bits of a state and ends in a [`Digest`].
#[derive(Debug, Default, Clone)]
pub struct DigestBuilder {
    bytes: Vec<u8>,
}

impl DigestBuilder {
    /// Starts with nothing, keeping the memory of the last use.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds a number's bits.
    pub fn number(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    /// Adds the bits of several numbers.
    pub fn numbers(&mut self, values: &[f64]) {
        for value in values {
            self.number(*value);
        }
    }

    /// Adds another digest.
    pub fn digest(&mut self, digest: Digest) {
        self.bytes.extend_from_slice(&digest.0.to_le_bytes());
    }

    /// Adds text, ended so that `"ab", "c"` and `"a", "bc"` differ.
    pub fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    /// Returns the digest of all that was added.
    pub fn finish(&self) -> Digest {
        Digest::of_bytes(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_the_same_on_every_build() {
        assert_eq!(
            Digest::of_bytes(b"phalanx").to_string(),
            Digest::of_bytes(b"phalanx").to_string().to_lowercase()
        );
        assert_eq!(
            Digest::of_bytes(b"").to_string(),
            "99aa06d3014798d86001c324468d497f"
        );
    }

    #[test]
    fn a_digest_survives_text_and_wire() {
        let digest = Digest(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
        let bytes = msgpack::to_vec(&digest).unwrap();
        assert_eq!(bytes.len(), 18);
        assert_eq!(msgpack::from_slice::<Digest>(&bytes).unwrap(), digest);
    }

    #[test]
    fn zero_and_negative_zero_differ() {
        let (mut a, mut b) = (DigestBuilder::default(), DigestBuilder::default());
        a.number(0.0);
        b.number(-0.0);
        assert_ne!(a.finish(), b.finish());
    }
}
