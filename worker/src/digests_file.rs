//! The file of digests: one line per iteration, `<iteration> <digest>`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use protocol::{Digest, Iteration};

/// A file that digests are written to.
#[derive(Debug)]
pub struct DigestsFile {
    path: PathBuf,
    writer: BufWriter<File>,
}

impl DigestsFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(File::create(path)?),
        })
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one iteration's digest.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, iteration: Iteration, digest: Digest) -> io::Result<()> {
        writeln!(self.writer, "{iteration} {digest}")
    }

    /// Makes sure that all lines are in the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
