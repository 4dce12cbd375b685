//! `MessagePack`: rmp-serde writes it, and [`Deserializer`] reads it.
//!
//! rmp-serde reads each value by its marker, so that for each type the code for all kinds of values
//! is compiled, 6 kB of it; [`Deserializer`] reads by the type that is asked for, as fast. Its
//! parts: `head` knows bytes and no types, `deserializer` types and no bytes, `access` the values
//! within a value.
//!
//! **Invariant:** no bytes make it panic, exhaust the stack or allocate by a count that they state.
//!
//! It takes what rmp-serde writes, and from others what rmp-serde takes, except that
//! - text and names of fields and variants are UTF-8, also where unknown names are passed over;
//! - values of extensions are passed over, and never read;
//! - of a byte string that stands for a tuple or a struct no byte may be left over;
//! - variants with data count as a level of nesting;
//! - a value of another kind than its type asks for is an error, also where a visitor takes it.

mod access;
mod deserializer;
mod head;

pub use deserializer::{Deserializer, from_slice};
pub use rmp_serde::decode::Error;
pub use rmp_serde::encode::write;
pub use rmp_serde::{to_vec, to_vec_named};
