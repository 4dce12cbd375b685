//! The files of commands: what is done at which iteration, and what was done.
//!
//! Their lines are those of [`lockstep::commands_file`].

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use anyhow::Context;
use protocol::ScheduledCommand;

use crate::output_file::{Output, OutputFile, OutputWriter};

/// Contents of the file that is written, for people.
const WHAT: &str = "commands";

/// The commands of a run that is recorded.
#[derive(Debug)]
pub struct CommandsRecord {
    file: OutputFile,
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
            file: OutputFile::create(WHAT, path)?,
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
        Ok(Self {
            file: OutputFile::resume(WHAT, path, length)?,
        })
    }

    /// Writes down a command.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&mut self, command: &ScheduledCommand) -> io::Result<()> {
        let line = lockstep::commands_file::line_of(command);
        writeln!(self.file, "{line}")
    }
}

impl Output for CommandsRecord {
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

#[cfg(test)]
mod tests {
    use protocol::{Command, Iteration};

    use super::*;

    #[test]
    fn recorded_commands_have_a_place_in_files_of_commands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commands.jsonl");
        let command = ScheduledCommand {
            iteration: Iteration(3),
            paused_round: Some(1),
            command: Command::SetSeed { seed: 9 },
        };
        let mut record = CommandsRecord::create(&path).unwrap();
        record.write(&command).unwrap();
        record.complete().unwrap();
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
        assert!(record.complete().is_err());
    }
}
