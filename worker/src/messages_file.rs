//! The file of messages: one line for every message of every topic, in order, and a last line that
//! stands for all of them.
//!
//! A line is `ITERATION TOPIC PUBLISHER DIGEST`, the last one `end COUNT DIGEST`. Equal files mean
//! that the same was said, in the same order, by the same systems.

use std::io::{self, Write};
use std::path::Path;

use protocol::{Digest, DigestBuilder, TopicMessage};

use crate::output_file::{Output, OutputFile, OutputWriter};

/// A file that messages are written to.
#[derive(Debug)]
pub struct MessagesFile {
    file: OutputFile,
    count: u64,
    /// Of the digest before each line, and the line.
    digest: Digest,
    builder: DigestBuilder,
    content: Vec<u8>,
}

impl MessagesFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// Fails if it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: OutputFile::create("messages", path)?,
            count: 0,
            digest: Digest::default(),
            builder: DigestBuilder::default(),
            content: Vec::new(),
        })
    }

    /// Writes a line for a message.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&mut self, message: &TopicMessage) -> io::Result<()> {
        self.content.clear();
        self.content.extend_from_slice(message.kind.as_bytes());
        self.content.push(0);
        self.content.extend_from_slice(&message.body);
        let line = format!(
            "{} {} {} {}",
            message.iteration,
            message.topic,
            message.publisher,
            Digest::of_bytes(&self.content)
        );
        self.count += 1;
        self.builder.clear();
        self.builder.digest(self.digest);
        self.builder.text(&line);
        self.digest = self.builder.finish();
        writeln!(self.file, "{line}")
    }
}

impl Output for MessagesFile {
    fn file(&mut self) -> &mut OutputFile {
        &mut self.file
    }

    fn written_by(self, writer: &OutputWriter) -> Self {
        Self {
            file: self.file.written_by(writer),
            ..self
        }
    }

    /// Writes the last line, too.
    fn complete(&mut self) -> io::Result<()> {
        writeln!(self.file, "end {} {}", self.count, self.digest)?;
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Iteration, ModelId, Publisher, SimTime};

    use super::*;

    fn message(body: &[u8]) -> TopicMessage {
        TopicMessage {
            topic: "/model/rover/odometry".to_owned(),
            kind: "gz.msgs.Odometry".to_owned(),
            publisher: Publisher::Model {
                model: ModelId { world: 1, model: 2 },
                part: 3,
            },
            iteration: Iteration(7),
            sim_time: SimTime(7_000_000),
            body: body.to_vec(),
        }
    }

    fn written(bodies: &[&[u8]]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("messages");
        let mut file = MessagesFile::create(&path).unwrap();
        for body in bodies {
            file.write(&message(body)).unwrap();
        }
        file.complete().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_message_has_a_line_and_the_end_stands_for_all() {
        let lines = written(&[b"a", b"b", b"a"]);
        assert!(lines[0].starts_with("7 /model/rover/odometry model:1:2:3 "));
        assert_eq!((lines.len(), &lines[0]), (4, &lines[2]));
        assert_ne!(lines[0], lines[1]);
        assert!(lines[3].starts_with("end 3 "));
        assert_ne!(lines[3], written(&[b"a", b"a", b"b"])[3], "order counts");
    }

    #[test]
    fn silence_has_an_end_too() {
        let lines = written(&[]);
        assert_eq!(lines, [format!("end 0 {}", Digest::default())]);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut file = MessagesFile::create(Path::new("/dev/full")).unwrap();
        file.write(&message(b"a")).unwrap();
        assert!(file.complete().is_err());
    }
}
