//! The file of digests: one line per iteration, `<iteration> <digest>`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use protocol::{Digest, Iteration};

use crate::output_file::{Output, OutputFile, OutputWriter};

/// Contents of the file, for people.
const WHAT: &str = "digests";

/// The longest line \[bytes\].
const LINE_BYTES_MAX: u64 = 64;

/// A file that digests are written to.
#[derive(Debug)]
pub struct DigestsFile {
    file: OutputFile,
}

impl DigestsFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// Fails if it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: OutputFile::create(WHAT, path)?,
        })
    }

    /// Goes on with a file after an iteration; what it has of later ones is taken away.
    ///
    /// # Errors
    /// Fails if it cannot be read or written, or does not reach so far.
    pub fn resume(path: &Path, after: Iteration) -> io::Result<Self> {
        let (reach, length) = scan(path, after)?;
        if reach != after {
            return Err(io::Error::other(format!(
                "it does not go on up to iteration {after}, where the run is taken up"
            )));
        }
        Ok(Self {
            file: OutputFile::resume(WHAT, path, length)?,
        })
    }

    /// Returns the last iteration that a file has whole; the first one has number 1.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn reach(path: &Path) -> io::Result<Iteration> {
        Ok(scan(path, Iteration(u64::MAX))?.0)
    }

    /// Writes one iteration's digest.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&mut self, iteration: Iteration, digest: Digest) -> io::Result<()> {
        writeln!(self.file, "{iteration} {digest}")
    }
}

impl Output for DigestsFile {
    fn file(&mut self) -> &mut OutputFile {
        &mut self.file
    }

    fn written_by(self, writer: &OutputWriter) -> Self {
        Self {
            file: self.file.written_by(writer),
        }
    }

    fn complete(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the last iteration, at most `most`, up to which lines are whole and in order, and where
/// its line ends.
fn scan(path: &Path, most: Iteration) -> io::Result<(Iteration, u64)> {
    let mut lines = BufReader::new(File::open(path)?);
    let (mut reach, mut length) = (0, 0);
    let mut line = String::new();
    while reach < most.0 {
        line.clear();
        // A line is a number and 32 digits; what is longer is none.
        let read = (&mut lines).take(LINE_BYTES_MAX).read_line(&mut line)?;
        let number = line.split(' ').next().and_then(|word| word.parse().ok());
        if !line.ends_with('\n') || number != Some(reach + 1) {
            break;
        }
        reach += 1;
        length += read as u64;
    }
    Ok((Iteration(reach), length))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const DIGEST: Digest = Digest(7);

    fn written(folder: &Path, iterations: u64) -> PathBuf {
        let path = folder.join("digests");
        let mut file = DigestsFile::create(&path).unwrap();
        for iteration in 1..=iterations {
            file.write(Iteration(iteration), DIGEST).unwrap();
        }
        file.complete().unwrap();
        path
    }

    #[test]
    fn a_file_goes_on_where_its_run_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 12);
        let whole = std::fs::read(&path).unwrap();
        for cut in [whole.len(), whole.len() - 1, whole.len() - 50] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let reach = DigestsFile::reach(&path).unwrap();
            let mut file = DigestsFile::resume(&path, Iteration(9)).unwrap();
            for iteration in 10..=12 {
                file.write(Iteration(iteration), DIGEST).unwrap();
            }
            file.complete().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole);
            assert!((10..=12).contains(&reach.0), "{reach}");
        }
    }

    #[test]
    fn a_file_that_does_not_reach_so_far_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 5);
        let error = DigestsFile::resume(&path, Iteration(6)).unwrap_err();
        assert!(error.to_string().contains("iteration 6"), "{error}");
        std::fs::write(&path, b"1 x\n3 y\n").unwrap();
        assert_eq!(DigestsFile::reach(&path).unwrap(), Iteration(1));
        assert!(DigestsFile::reach(&folder.path().join("none")).is_err());
    }
}
