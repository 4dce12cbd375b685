//! The file of one checkpoint: its head, then the process and rules of the primary, the scene and
//! every cell, a record each.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use lockstep::Checkpoint;
use protocol::primary_to_secondary::{CellSnapshot, SceneSnapshot};
use protocol::{Digest, Iteration, Sequence};
use serde::{Deserialize, Serialize};

use crate::disk::{self, Disk};
use crate::frame::{self, FrameError, FrameReader, HEAD_BYTES, Kind};
use crate::record::Mark;

/// First record of a checkpoint, before its parts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    sequence: Sequence,
    iteration: Iteration,
    digest: Digest,
    cells: u32,
}

/// A checkpoint as it is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Point in the life of the run at which it was made.
    pub mark: Mark,
    /// The checkpoint.
    pub checkpoint: Arc<Checkpoint>,
    /// State of the primary's process besides its rules, in an encoding of its own.
    pub driver: Vec<u8>,
}

impl Saved {
    /// Returns about how large its file is \[bytes\].
    pub(crate) fn size(&self) -> u64 {
        let checkpoint = &self.checkpoint;
        let cells = checkpoint.cells.iter().map(|cell| cell.bytes.len());
        let others = [&checkpoint.primary, &checkpoint.scene.bytes, &self.driver];
        let others = others.into_iter().map(Vec::len);
        cells.chain(others).sum::<usize>() as u64
    }
}

/// Writes a checkpoint, whole or not at all; returns the file's length \[bytes\].
pub(crate) fn write(disk: &dyn Disk, path: &Path, saved: &Saved) -> io::Result<u64> {
    disk::write_whole(disk, path, |file| write_to(file, saved))
}

/// Writes a checkpoint; returns the length \[bytes\].
///
/// # Errors
/// Fails if it cannot be written.
pub fn write_to(file: &mut dyn Write, saved: &Saved) -> io::Result<u64> {
    let checkpoint = &saved.checkpoint;
    let mut offset = HEAD_BYTES as u64;
    let mut framed = Vec::new();
    file.write_all(&frame::head(Kind::Checkpoint))?;
    let mut put = |record: &[u8]| {
        framed.clear();
        frame::push(&mut framed, offset, record);
        offset += framed.len() as u64;
        file.write_all(&framed)
    };
    put(&frame::encode(&Head {
        mark: saved.mark,
        sequence: checkpoint.sequence,
        iteration: checkpoint.iteration,
        digest: checkpoint.digest,
        cells: checkpoint.cells.len() as u32,
    }))?;
    put(&saved.driver)?;
    put(&checkpoint.primary)?;
    put(&frame::encode(&checkpoint.scene))?;
    for cell in &checkpoint.cells {
        put(&frame::encode(cell))?;
    }
    Ok(offset)
}

/// Reads a checkpoint of `length` bytes.
///
/// # Errors
/// Fails if it is none, or not whole.
pub fn read_from(input: impl io::Read, length: u64) -> Result<Saved, FrameError> {
    let mut reader = FrameReader::new(input, length, Kind::Checkpoint)?;
    let head: Head = reader.expect()?;
    let mut part = || {
        let offset = reader.offset();
        reader.bytes()?.ok_or(FrameError::Cut { offset })
    };
    let (driver, primary) = (part()?, part()?);
    let scene: SceneSnapshot = reader.expect()?;
    let mut cells: Vec<CellSnapshot> = Vec::new();
    for _ in 0..head.cells {
        cells.push(reader.expect()?);
    }
    let offset = reader.offset();
    if !cells.is_sorted_by(|one, other| one.cell < other.cell) || offset != length {
        return Err(FrameError::Damaged { offset });
    }
    let checkpoint = Checkpoint {
        sequence: head.sequence,
        iteration: head.iteration,
        digest: head.digest,
        primary,
        scene,
        cells,
    };
    Ok(Saved {
        mark: head.mark,
        checkpoint: Arc::new(checkpoint),
        driver,
    })
}

/// Reads the checkpoint in a file.
///
/// # Errors
/// Fails if it cannot be read, is none, or is not whole.
pub(crate) fn read(path: &Path) -> Result<Saved, FrameError> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    read_from(BufReader::new(file), length)
}
