//! [`TraceFile`]: a JSON array of events, one per line, that is readable wherever it ends.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Size of the buffer from which it is written \[bytes\].
const BUFFER_BYTES: usize = 64 << 10;
/// The largest file \[bytes\].
pub(super) const FILE_BYTES_MAX: u64 = 2 << 30;

/// A file of events; whole lines are written alone, so that it lacks no more than its `]`.
#[derive(Debug)]
pub(super) struct TraceFile<W = File> {
    path: PathBuf,
    sink: W,
    buffer: Vec<u8>,
    is_empty: bool,
    /// Size of the file so far \[bytes\].
    written: u64,
}

/// A file that may be cut short.
pub(super) trait Sink: Write {
    /// Drops what comes after so many bytes.
    ///
    /// # Errors
    /// Fails if the system refuses.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }
}

impl TraceFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// Fails if it cannot be created or written.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Self::on(File::create(path)?, path)
    }
}

impl<W: Sink> TraceFile<W> {
    fn on(mut sink: W, path: &Path) -> io::Result<Self> {
        let begin = b"[\n";
        sink.write_all(begin)?;
        Ok(Self {
            path: path.to_owned(),
            sink,
            buffer: Vec::with_capacity(2 * BUFFER_BYTES),
            is_empty: true,
            written: begin.len() as u64,
        })
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether it may not grow any more.
    pub(super) fn is_full(&self) -> bool {
        self.written + self.buffer.len() as u64 >= FILE_BYTES_MAX
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: &serde_json::Value) {
        if !std::mem::take(&mut self.is_empty) {
            self.buffer.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut self.buffer, event).expect("memory takes every value");
    }

    /// Writes the buffer once it is large enough.
    ///
    /// # Errors
    /// Fails if the write fails; earlier contents stay readable.
    pub(super) fn write_when_due(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        self.write()
    }

    /// Writes everything and ends the array.
    ///
    /// # Errors
    /// Fails if the write fails; earlier contents stay readable.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.buffer.extend_from_slice(b"\n]\n");
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let result = self.sink.write_all(&self.buffer);
        if result.is_ok() {
            self.written += self.buffer.len() as u64;
        } else {
            // Half an event would be no JSON; a disk that is full lets go of room.
            self.sink.cut(self.written)?;
        }
        self.buffer.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Memory that takes so many bytes.
    struct Small {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room - self.bytes.len());
            if count == 0 {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            self.bytes.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink for Small {
        fn cut(&mut self, bytes: u64) -> io::Result<()> {
            self.bytes.truncate(bytes as usize);
            Ok(())
        }
    }

    /// Writes events until there is no room, and returns how many of them are in the file.
    fn written(room: usize, events: usize) -> (usize, bool) {
        let bytes = Vec::new();
        let mut file = TraceFile::on(Small { bytes, room }, Path::new("t")).unwrap();
        let mut is_whole = true;
        for number in 0..events {
            file.push(&json!({"name": "x".repeat(1000), "number": number}));
            is_whole &= file.write_when_due().is_ok();
            if !is_whole {
                break;
            }
        }
        is_whole = is_whole && file.finish().is_ok();
        let mut text = String::from_utf8(file.sink.bytes).unwrap();
        if !is_whole {
            text.push(']');
        }
        let read: Vec<Value> = serde_json::from_str(&text).unwrap();
        (read.len(), is_whole)
    }

    #[test]
    fn a_file_is_readable_wherever_the_disk_was_full() {
        assert_eq!(written(1 << 20, 0), (0, true));
        assert_eq!(written(1 << 20, 500), (500, true));
        for room in [2, 3, 70_000, 200_000] {
            let (count, is_whole) = written(room, 500);
            assert!(!is_whole && count < 500, "{room}: {count}");
        }
    }
}
