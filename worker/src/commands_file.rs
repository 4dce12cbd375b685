//! The files of commands: what is done at which iteration, and what was done.
//!
//! Their lines are those of [`lockstep::commands_file`].

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use protocol::ScheduledCommand;

/// The commands of a run that is recorded.
#[derive(Debug)]
pub struct CommandsRecord {
    path: PathBuf,
    writer: BufWriter<File>,
}

/// Returns the commands in a file.
///
/// # Errors
/// Fails if it cannot be read, or a line of it is no command; with file and line.
pub fn read(path: &Path) -> anyhow::Result<Vec<ScheduledCommand>> {
    let text = sdf::read_bounded(path, lockstep::commands_file::BYTES_MAX)
        .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        .with_context(|| format!("cannot read commands from {}", path.display()))?;
    let commands = lockstep::commands_file::read(&text);
    commands.map_err(|error| anyhow::anyhow!("{}:{error}", path.display()))
}

impl CommandsRecord {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// Fails if it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(File::create(path)?),
        })
    }

    /// Goes on with a file after so many commands; what it has of later ones is taken away.
    ///
    /// # Errors
    /// Fails if it cannot be read or written, or has fewer.
    pub fn resume(path: &Path, count: u64) -> io::Result<Self> {
        let mut lines = BufReader::new(File::open(path)?);
        let mut length = 0;
        for number in 0..count {
            let mut line = Vec::new();
            let read = lines.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Err(io::Error::other(format!(
                    "it has {number} commands, and {count} were done when the run is taken up"
                )));
            }
            length += read as u64;
        }
        let mut file = File::options().write(true).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(file),
        })
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file.
    pub fn file(&self) -> &File {
        self.writer.get_ref()
    }

    /// Writes down a command.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&mut self, command: &ScheduledCommand) -> io::Result<()> {
        let line = lockstep::commands_file::line_of(command);
        writeln!(self.writer, "{line}")
    }

    /// Makes sure that everything is in the file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Command, Iteration};

    use super::*;

    #[test]
    fn what_is_recorded_can_be_scheduled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commands.jsonl");
        let command = ScheduledCommand {
            iteration: Iteration(3),
            paused_round: Some(1),
            command: Command::SetSeed { seed: 9 },
        };
        let mut record = CommandsRecord::create(&path).unwrap();
        record.write(&command).unwrap();
        record.finish().unwrap();
        assert_eq!(read(&path).unwrap(), [command]);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        std::fs::write(&path, "\n{}\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("c.jsonl:2: missing field"), "{error}");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut record = CommandsRecord::create(Path::new("/dev/full")).unwrap();
        let command = ScheduledCommand {
            iteration: Iteration(0),
            paused_round: None,
            command: Command::SetSeed { seed: 1 },
        };
        record.write(&command).unwrap();
        assert!(record.finish().is_err());
    }
}
