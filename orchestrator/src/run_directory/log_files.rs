//! [`LogFiles`]: the logs of a run's processes, read as they grow, whoever writes them.
//!
//! Files may be missing, come later, be cut short or be replaced. What is read at once is bounded,
//! however large they are.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use client::feed::LogLine;
use protocol::counted;

/// The most lines that one look brings \[lines\]; of more, the newest.
const LINES_MAX: usize = 10_000;

/// The most that is read of one file at once \[bytes\]; of more, the newest.
const READ_BYTES_MAX: u64 = 2 << 20;

/// The longest line that is waited for \[bytes\]; what is longer is told in parts.
const LINE_BYTES_MAX: usize = 64 << 10;

/// The most files that are followed; a run has a few hundred processes at most.
const FILES_MAX: usize = 8192;

/// The logs in one folder.
#[derive(Debug)]
pub struct LogFiles {
    folder: PathBuf,
    only: Option<String>,
    files: BTreeMap<String, LogFile>,
}

/// A file that was read up to a place.
#[derive(Debug, Default)]
struct LogFile {
    /// Device and inode of the file, to notice that another one has its name.
    identity: (u64, u64),
    offset: u64,
    /// A line that has not ended yet.
    rest: Vec<u8>,
    /// Time when its last line with a time was written.
    time: String,
}

/// Lines that were written and are left out.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    lines: usize,
    /// Of lines that were not even read \[bytes\].
    bytes: u64,
}

/// A line with the time that stands in it, or in the last one before it that has one.
type Timed = (String, LogLine);

impl LogFiles {
    /// Begins with the logs in a folder, those of all processes or of one.
    pub fn new(folder: PathBuf, only: Option<String>) -> Self {
        Self {
            folder,
            only,
            files: BTreeMap::new(),
        }
    }

    /// Returns what was written since the last look, in the order of the times in the lines; at
    /// the first look the newest lines of each file. Where that is not all, the first line says
    /// so.
    pub fn read(&mut self) -> Vec<LogLine> {
        let mut found: Vec<Timed> = Vec::new();
        let mut left_out = LeftOut::default();
        for name in self.names() {
            let path = self.folder.join(format!("{name}.log"));
            let is_new = !self.files.contains_key(&name);
            let file = self.files.entry(name.clone()).or_default();
            // A file that cannot be read now may be there at the next look.
            if let Ok(lines) = file.read(&name, &path, is_new, &mut left_out) {
                found.extend(lines);
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        let surplus = found.len().saturating_sub(LINES_MAX);
        left_out.lines += surplus;
        let told = found.into_iter().skip(surplus).map(|(_, line)| line);
        let only = self.only.as_deref();
        let gap = left_out.text().map(|text| LogLine {
            process: only.unwrap_or("phalanx").to_owned(),
            text,
        });
        gap.into_iter().chain(told).collect()
    }

    /// Returns the processes that have logs, by name.
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".log")?.to_owned()))
            .filter(|name| self.only.as_ref().is_none_or(|only| only == name))
            .take(FILES_MAX)
            .collect();
        names.sort();
        names
    }
}

impl LogFile {
    fn read(
        &mut self,
        name: &str,
        path: &Path,
        is_new: bool,
        left_out: &mut LeftOut,
    ) -> io::Result<Vec<Timed>> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        if !is_new && (identity != self.identity || metadata.len() < self.offset) {
            *self = Self::default();
        }
        self.identity = identity;
        let mut is_cut = false;
        let fresh = metadata.len().saturating_sub(self.offset);
        if fresh > READ_BYTES_MAX {
            self.offset = metadata.len() - READ_BYTES_MAX;
            left_out.bytes += fresh - READ_BYTES_MAX + self.rest.len() as u64;
            self.rest.clear();
            is_cut = true;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = std::mem::take(&mut self.rest);
        let read = file.take(READ_BYTES_MAX).read_to_end(&mut bytes)?;
        self.offset += read as u64;
        if is_cut {
            // It begins within a line.
            let begin = bytes.iter().position(|byte| *byte == b'\n');
            let begin = begin.map_or(0, |at| at + 1);
            left_out.bytes += begin as u64;
            bytes.drain(..begin);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let end = match whole.map_or(0, |at| at + 1) {
            0 if bytes.len() > LINE_BYTES_MAX => bytes.len(),
            end => end,
        };
        self.rest = bytes.split_off(end);
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<&str> = text.lines().collect();
        let surplus = lines.len().saturating_sub(LINES_MAX);
        left_out.lines += surplus;
        Ok(lines
            .drain(surplus..)
            .map(|line| self.timed(name, line))
            .collect())
    }

    fn timed(&mut self, name: &str, line: &str) -> Timed {
        if let Some(time) = time_of(line) {
            time.clone_into(&mut self.time);
        }
        let (process, text) = (name.to_owned(), line.trim_end().to_owned());
        (self.time.clone(), LogLine { process, text })
    }
}

impl LeftOut {
    /// Returns what to say of it; nothing when all was told.
    fn text(self) -> Option<String> {
        let (lines, kib) = (self.lines, self.bytes.div_ceil(1 << 10));
        let what = match (lines, kib) {
            (0, 0) => return None,
            (_, 0) => counted(lines, "line"),
            (0, _) => format!("{kib} KiB of lines"),
            _ => format!("{} and {kib} KiB before them", counted(lines, "line")),
        };
        Some(format!("{what} left out: they are in the log files alone"))
    }
}

/// Returns the time at the beginning of a line, as tracing writes it; such times sort as text.
fn time_of(line: &str) -> Option<&str> {
    let first = line.split_whitespace().next()?;
    let bytes = first.as_bytes();
    let has = |at: usize, wanted: u8| bytes.get(at) == Some(&wanted);
    (has(4, b'-') && has(7, b'-') && has(10, b'T') && first.ends_with('Z')).then_some(first)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn append(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn texts(files: &mut LogFiles) -> Vec<String> {
        let lines = files.read().into_iter();
        lines
            .map(|line| format!("{} {}", line.process, line.text))
            .collect()
    }

    #[test]
    fn logs_are_merged_by_time_and_read_as_they_grow() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = LogFiles::new(folder.path().to_owned(), None);
        assert_eq!(texts(&mut files), [""; 0]);
        append(
            folder.path(),
            "s1.log",
            "2026-01-01T00:00:02Z INFO b\n  more of b\n",
        );
        append(
            folder.path(),
            "s2.log",
            "2026-01-01T00:00:01Z INFO a\nno end",
        );
        append(folder.path(), "notes.txt", "no log\n");
        let first = [
            "s2 2026-01-01T00:00:01Z INFO a",
            "s1 2026-01-01T00:00:02Z INFO b",
        ];
        assert_eq!(texts(&mut files)[..2], first);
        assert_eq!(texts(&mut files), [""; 0]);
        append(folder.path(), "s2.log", " yet\n");
        assert_eq!(texts(&mut files), ["s2 no end yet"]);
    }

    #[test]
    fn replaced_and_shortened_files_are_read_from_their_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = LogFiles::new(folder.path().to_owned(), None);
        append(folder.path(), "s1.log", "old and long\n");
        assert_eq!(texts(&mut files), ["s1 old and long"]);
        fs::write(folder.path().join("s1.log"), "new\n").unwrap();
        assert_eq!(texts(&mut files), ["s1 new"]);
        append(folder.path(), "next", "rotated, and longer\n");
        fs::rename(folder.path().join("next"), folder.path().join("s1.log")).unwrap();
        assert_eq!(texts(&mut files), ["s1 rotated, and longer"]);
        fs::remove_file(folder.path().join("s1.log")).unwrap();
        assert_eq!(texts(&mut files), [""; 0]);
    }

    #[test]
    fn of_large_logs_only_the_newest_lines_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let line = |number| format!("line {number} of many\n");
        let text: String = (0..LINES_MAX * 30).map(line).collect();
        assert!(text.len() as u64 > READ_BYTES_MAX);
        append(folder.path(), "s1.log", &text);
        let mut files = LogFiles::new(folder.path().to_owned(), None);
        let lines = texts(&mut files);
        assert_eq!(lines.len(), 1 + LINES_MAX);
        assert!(
            lines[0].contains(" KiB before them left out"),
            "{}",
            lines[0]
        );
        assert_eq!(lines.last().unwrap(), "s1 line 299999 of many");
    }

    #[test]
    fn the_number_of_dropped_lines_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = LogFiles::new(folder.path().to_owned(), None);
        append(folder.path(), "s1.log", &"a\n".repeat(LINES_MAX));
        append(folder.path(), "s2.log", &"b\n".repeat(7));
        let told = "phalanx 7 lines left out: they are in the log files alone";
        assert_eq!(texts(&mut files)[0], told);
        assert_eq!(texts(&mut files), [""; 0]);
        append(folder.path(), "s2.log", "c\n");
        assert_eq!(texts(&mut files), ["s2 c"]);
        append(folder.path(), "s1.log", &"a\n".repeat(LINES_MAX + 3));
        let lines = texts(&mut files);
        assert!(
            lines[0].starts_with("phalanx 3 lines left out"),
            "{}",
            lines[0]
        );
        assert_eq!(lines.len(), 1 + LINES_MAX);
    }

    #[test]
    fn a_line_without_end_is_told_in_parts_and_bytes_may_be_anything() {
        let folder = tempfile::tempdir().unwrap();
        append(folder.path(), "s1.log", &"x".repeat(LINE_BYTES_MAX + 1));
        let mut files = LogFiles::new(folder.path().to_owned(), Some("s1".to_owned()));
        assert_eq!(files.read().len(), 1);
        let path = folder.path().join("s1.log");
        File::options()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(b"\xff\xfe\n")
            .unwrap();
        append(folder.path(), "s2.log", "of another\n");
        assert_eq!(texts(&mut files), ["s1 \u{fffd}\u{fffd}"]);
    }
}
