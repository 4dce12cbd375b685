//! The file of states that a run may write: where every performer was, bit for bit.
//!
//! After [`MAGIC`] and a version come records: a length (`u32`), so many bytes, their digest. The
//! first is the [`StatesHeader`], which comes again when performers come or go or everything begins
//! anew, and the last says how many iterations there were. Between them stands
//! a [`StatesFrame`] for each iteration that changed anything, with the performers that changed.
//! All numbers are little-endian. [`reader`] reads it back without trusting a byte of it.

pub mod reader;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{CellId, Iteration, PerformerId};
use crate::state::PerformerState;

pub use reader::{ReadStatesError, StatesReader, StatesRecord};

/// The first bytes of every file of states.
pub const MAGIC: &[u8; 8] = b"PHXSTATE";

/// The version of the format, which follows as a `u32`.
pub const VERSION: u32 = 1;

/// Number of numbers that a state has.
pub const NUMBERS: usize = 13;

/// Number of bytes before the first record.
pub const START_BYTES: usize = MAGIC.len() + 4;

/// The size of one performer in a frame \[bytes\].
const CHANGE_BYTES: usize = 4 + 4 + NUMBERS * 8 + 16;
/// The size of a frame without performers \[bytes\].
const FRAME_BYTES: usize = 1 + 8 + 16 + 4;

const KIND_HEADER: u8 = 0;
const KIND_FRAME: u8 = 1;
const KIND_END: u8 = 2;

/// Meaning of the numbers in a file of states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatesHeader {
    /// Simulated time per iteration \[ns\].
    pub step_size_ns: u64,
    /// Names of cells, by their ids.
    pub cells: Vec<String>,
    /// Names of performers, by their ids; empty for ids that nobody has.
    pub performers: Vec<String>,
}

/// An iteration in which something changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatesFrame {
    /// The iteration.
    pub iteration: Iteration,
    /// Digest of all performers after it.
    pub digest: Digest,
    /// The performers that changed, in order of their ids.
    pub changes: Vec<RecordedState>,
}

/// A performer after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedState {
    /// The performer.
    pub performer: PerformerId,
    /// The cell that stepped it.
    pub cell: CellId,
    /// Position xyz \[m\], orientation xyzw, linear velocity xyz \[m/s\], angular velocity xyz
    /// \[rad/s\]; world frame.
    pub numbers: [f64; NUMBERS],
    /// Fingerprint of the state bits of all of its links.
    pub links: Digest,
}

impl RecordedState {
    /// Takes down a state of a performer in a cell.
    pub fn new(state: &PerformerState, cell: CellId) -> Self {
        Self {
            performer: state.performer,
            cell,
            numbers: state.numbers(),
            links: state.digest,
        }
    }

    /// Tells whether both are the same, bit for bit.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.performer, self.cell, self.links) == (other.performer, other.cell, other.links)
            && self.numbers.map(f64::to_bits) == other.numbers.map(f64::to_bits)
    }
}

/// Returns the beginning of a file.
///
/// # Panics
/// Never: names are text, which can always be encoded.
pub fn encode_header(header: &StatesHeader) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    let names = msgpack::to_vec_named(header).expect("numbers and text can be encoded");
    record(&mut bytes, |body| {
        body.push(KIND_HEADER);
        body.extend_from_slice(&names);
    });
    bytes
}

/// Adds a frame to the bytes of a file.
pub fn encode_frame(frame: &StatesFrame, bytes: &mut Vec<u8>) {
    record(bytes, |body| {
        body.push(KIND_FRAME);
        body.extend_from_slice(&frame.iteration.0.to_le_bytes());
        body.extend_from_slice(&frame.digest.0.to_le_bytes());
        body.extend_from_slice(&(frame.changes.len() as u32).to_le_bytes());
        for change in &frame.changes {
            body.extend_from_slice(&change.performer.0.to_le_bytes());
            body.extend_from_slice(&change.cell.0.to_le_bytes());
            for number in change.numbers {
                body.extend_from_slice(&number.to_le_bytes());
            }
            body.extend_from_slice(&change.links.0.to_le_bytes());
        }
    });
}

/// Adds the end to the bytes of a file.
pub fn encode_end(iterations: Iteration, bytes: &mut Vec<u8>) {
    record(bytes, |body| {
        body.push(KIND_END);
        body.extend_from_slice(&iterations.0.to_le_bytes());
    });
}

/// Adds a record: the length of its body, the body, the body's digest.
fn record(bytes: &mut Vec<u8>, write_body: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    write_body(bytes);
    let length = (bytes.len() - start - 4) as u32;
    bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    let digest = Digest::of_bytes(&bytes[start + 4..]);
    bytes.extend_from_slice(&digest.0.to_le_bytes());
}

#[cfg(test)]
mod tests;
