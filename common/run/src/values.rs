//! Forms of values in files: times as numbers of a unit, choices as words.

use std::fmt::Display;
use std::time::Duration;

use lockstep::{LoadRule, PeerLossPolicy, SightRule};
use protocol::RendererKind;
use sdf::Solver;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// A choice that files and flags write as a word.
pub trait Word: Copy + PartialEq + 'static {
    /// Its words with their meanings.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the word of a choice.
    fn word(self) -> &'static str {
        let mut words = Self::WORDS.iter();
        let found = words.find(|(_, choice)| *choice == self);
        found.map_or("", |(word, _)| word)
    }
}

impl Word for PeerLossPolicy {
    const WORDS: &'static [(&'static str, Self)] =
        &[("stop", Self::Stop), ("recover", Self::Recover)];
}

impl Word for LoadRule {
    const WORDS: &'static [(&'static str, Self)] =
        &[("buffer", Self::Buffer), ("volume", Self::Volume)];
}

impl Word for SightRule {
    const WORDS: &'static [(&'static str, Self)] =
        &[("buffer", Self::Buffer), ("range", Self::Range)];
}

impl Word for Solver {
    const WORDS: &'static [(&'static str, Self)] = &[("exact", Self::Exact), ("fast", Self::Fast)];
}

impl Word for RendererKind {
    const WORDS: &'static [(&'static str, Self)] =
        &[("cpu", Self::Cpu), ("gpu", Self::Gpu), ("auto", Self::Auto)];
}

/// Choices as words.
pub mod word {
    use super::{Deserialize, Deserializer, Error, Serializer, Word};

    /// Writes a choice.
    ///
    /// # Errors
    /// Fails if the format does.
    pub fn serialize<T: Word, S: Serializer>(choice: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(choice.word())
    }

    /// Reads a choice.
    ///
    /// # Errors
    /// Fails if it is none of the words.
    pub fn deserialize<'de, T: Word, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        let mut words = T::WORDS.iter();
        let found = words.find(|(word, _)| *word == text);
        found
            .map(|(_, choice)| *choice)
            .ok_or_else(|| D::Error::custom(format!("{text:?} is no choice")))
    }
}

/// Times in whole milliseconds.
pub(crate) mod milliseconds {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.as_millis() as u64)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

/// Times in whole microseconds.
pub(crate) mod microseconds {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.as_micros() as u64)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_micros)
    }
}

/// Times in seconds, with fractions.
pub(crate) mod seconds {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(time.as_secs_f64())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(from)?;
        Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }
}

/// Values that are written as texts.
pub(crate) mod text {
    use std::str::FromStr;

    use super::{Deserialize, Deserializer, Display, Error, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands the field over as it is")]
    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let value = text.map(|text| text.parse().map_err(D::Error::custom));
        value.transpose()
    }
}
