//! Holds a tree against SDF's specification, as libsdformat does before it reads anything.
//!
//! [`check()`] judges one file as it stands, upgraded and before its includes: values, required
//! attributes and unknown names. [`rules::check`] judges the whole with its includes by the rules
//! that the specification does not say. Neither resolves names: [`crate::frames`] does.

mod check;
pub(crate) mod rules;
pub(crate) mod specification;
pub(crate) mod value_kind;

pub(crate) use check::{check, check_entity};
