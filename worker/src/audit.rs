//! [`AuditLog`]: who came, who asked for what, and who was turned away, a line each.
//!
//! A line has the time in UTC, what happened, the key's name, role and address, and what it was
//! about. What one key does again within a second is counted, so that no flood pushes out what
//! matters; beyond a size the file is put aside as `FILE.1`, in place of the one before.
//!
//! A thread of its own writes, so that no disk holds up the one that steps. **Invariant:** a line
//! that cannot be written is counted; the count is told, and stands in the file as soon as that
//! takes lines again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::{SessionTime, counted};
use transport::Client;
use transport::authorized::time_text;

/// The size beyond which the file is put aside \[bytes\].
pub const AUDIT_BYTES_MAX: u64 = 1 << 20;

/// The time in which the same is told once.
const SAME_FOR: Duration = Duration::from_secs(1);

/// Number of kinds of events that are counted apart within that time.
const KINDS_MAX: usize = 1024;

/// The longest text of what something was about, in characters.
const ABOUT_MAX: usize = 512;

/// Number of lines that may wait for the thread that writes; further ones are lost and counted.
const WAITING_MAX: usize = 1024;

/// Time that the end of a run waits for a disk that takes nothing.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Time between two attempts to write down how many lines are missing.
const RETRY: Duration = Duration::from_millis(500);

/// Kind of action that a key's owner took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// Came.
    Joined,
    /// Asked for a change.
    Commanded,
    /// Was turned away.
    Refused,
}

/// Notes who did what, for a thread that writes it down.
#[derive(Debug)]
pub struct AuditLog {
    /// Deeds told within the last second: when, and how often each came again.
    recent: BTreeMap<(Deed, String, String), (SessionTime, u64)>,
    lines: Option<SyncSender<String>>,
    losses: Arc<Losses>,
    thread: Option<JoinHandle<()>>,
    /// Hears of nothing, and of its end when the thread has ended.
    ended: Receiver<()>,
    /// True from telling that lines cannot be written to telling that they can be again.
    told_of_losses: bool,
    /// Number of lines that were missing when that was told last.
    told_missing: u64,
}

/// Lines that could not be written.
#[derive(Debug, Default)]
struct Losses {
    /// Number of those that do not stand in the file as missing yet.
    unwritten: AtomicU64,
    /// Number of all of them.
    all: AtomicU64,
    /// Number of lines that wait, the one that is written included.
    waiting: AtomicU64,
    /// Reason why the last line could not be written; nothing once one could be.
    cause: Mutex<Option<String>>,
}

/// The file, as the thread has it.
#[derive(Debug)]
struct AuditFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    losses: Arc<Losses>,
}

impl Deed {
    fn name(self) -> &'static str {
        match self {
            Self::Joined => "joined",
            Self::Commanded => "commanded",
            Self::Refused => "refused",
        }
    }
}

impl Losses {
    fn add(&self, lines: u64) {
        self.unwritten.fetch_add(lines, Ordering::Relaxed);
        self.all.fetch_add(lines, Ordering::Relaxed);
    }

    fn cause(&self) -> MutexGuard<'_, Option<String>> {
        let cause = self.cause.lock();
        cause.expect("nobody panics while holding a cause")
    }
}

impl AuditLog {
    /// Goes on with a file, or begins it, readable by its owner alone.
    ///
    /// # Errors
    /// Fails if it cannot be opened, or the thread that writes cannot be started.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = append(path)?;
        let losses = Arc::new(Losses::default());
        let writer = AuditFile {
            path: path.to_owned(),
            bytes: file.metadata()?.len(),
            file,
            losses: Arc::clone(&losses),
        };
        let (lines, taken) = mpsc::sync_channel(WAITING_MAX);
        let (ends, ended) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || {
                writer.run(&taken);
                drop(ends);
            })?;
        Ok(Self {
            recent: BTreeMap::new(),
            lines: Some(lines),
            losses,
            thread: Some(thread),
            ended,
            told_of_losses: false,
            told_missing: 0,
        })
    }

    /// Notes what somebody did, `None` being whoever needs no key; tells whether it gets a line and
    /// is not just counted.
    pub fn note(
        &mut self,
        deed: Deed,
        client: Option<&Client>,
        about: &str,
        now: SessionTime,
    ) -> bool {
        let verb = about.split(' ').next().unwrap_or_default().to_owned();
        let who = client.map_or_else(|| "key=- role=owner address=-".to_owned(), described);
        let kind = (deed, who, verb);
        if let Some((_, again)) = self.recent.get_mut(&kind) {
            *again += 1;
            return false;
        }
        self.line(deed, &kind.1, about);
        if self.recent.len() < KINDS_MAX {
            self.recent.insert(kind, (now, 0));
        }
        true
    }

    /// Notes how often came again what was told more than a second ago, at the end of all.
    pub fn settle(&mut self, now: SessionTime, is_last: bool) {
        let is_over = |at: SessionTime| is_last || now.since(at) >= SAME_FOR;
        let over = self.recent.extract_if(.., |_, (at, _)| is_over(*at));
        let again: Vec<_> = over.filter(|(_, (_, again))| *again > 0).collect();
        for ((deed, who, verb), (_, again)) in again {
            self.line(deed, &who, &format!("{verb} ({again} times more)"));
        }
    }

    /// Returns what is to be told of lines that could not be written: once when it begins, and once
    /// when lines can be written again.
    pub fn news(&mut self) -> Option<String> {
        let missing = self.losses.all.load(Ordering::Relaxed);
        let is_over = self.losses.unwritten.load(Ordering::Relaxed) == 0;
        if missing == self.told_missing || (self.told_of_losses && !is_over) {
            return None;
        }
        self.told_of_losses = !is_over;
        if is_over {
            self.told_missing = missing;
            let text = "who does what is written down again";
            return Some(format!(
                "{text}; missing so far: {}",
                counted(missing, "line")
            ));
        }
        let cause = self.losses.cause().clone();
        let cause = cause.unwrap_or_else(|| "the disk is too slow".to_owned());
        Some(format!("who does what cannot be written down: {cause}"))
    }

    /// Waits until all is written that can be, a moment for a disk that takes nothing; returns what
    /// is to be told if some is not.
    pub fn finish(&mut self) -> Option<String> {
        self.lines = None;
        if let Some(thread) = self.thread.take() {
            match self.ended.recv_timeout(LAST_WAIT) {
                Err(RecvTimeoutError::Timeout) => {
                    // It stays behind, with what waits, and goes with the process.
                    let waiting = self.losses.waiting.load(Ordering::Relaxed);
                    self.losses.add(waiting);
                    *self.losses.cause() = Some("the disk takes nothing".to_owned());
                }
                Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                    let _ = thread.join();
                }
            }
        }
        let missing = self.losses.all.load(Ordering::Relaxed);
        let cause = self.losses.cause().clone();
        (missing > 0).then(|| {
            let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
            let missing = counted(missing, "line");
            format!("{missing} about who does what could not be written down{cause}")
        })
    }

    fn line(&self, deed: Deed, who: &str, about: &str) {
        let mut line = time_now();
        let _ = write!(line, " {} {who} ", deed.name());
        // Names of strangers may hold anything.
        let mut about = about.chars();
        line.extend(about.by_ref().take(ABOUT_MAX).flat_map(shown));
        line.push_str(if about.next().is_some() {
            "...\n"
        } else {
            "\n"
        });
        self.losses.waiting.fetch_add(1, Ordering::Relaxed);
        let sent = self.lines.as_ref().map(|lines| lines.try_send(line));
        if !matches!(sent, Some(Ok(()))) {
            self.losses.waiting.fetch_sub(1, Ordering::Relaxed);
            self.losses.add(1);
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.finish();
    }
}

impl AuditFile {
    /// Writes what comes until nothing can come any more.
    fn run(mut self, lines: &Receiver<String>) {
        loop {
            let line = match lines.recv_timeout(RETRY) {
                Ok(line) => Some(line),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => {
                    self.write_losses();
                    return;
                }
            };
            let is_whole = self.write_losses();
            if let Some(line) = line {
                if !(is_whole && self.write(&line)) {
                    self.losses.add(1);
                }
                self.losses.waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Writes down how many lines are missing; false if that cannot be written.
    fn write_losses(&mut self) -> bool {
        let missing = self.losses.unwritten.load(Ordering::Relaxed);
        if missing == 0 {
            return true;
        }
        let line = format!("{} lost {missing} lines\n", time_now());
        let is_written = self.write(&line);
        if is_written {
            self.losses.unwritten.fetch_sub(missing, Ordering::Relaxed);
        }
        is_written
    }

    fn write(&mut self, line: &str) -> bool {
        let written = self.try_to_write(line);
        if written.is_err() {
            // Nothing of a line that is not whole.
            let _ = self.file.set_len(self.bytes);
        }
        *self.losses.cause() = written.as_ref().err().map(ToString::to_string);
        written.is_ok()
    }

    fn try_to_write(&mut self, line: &str) -> io::Result<()> {
        if self.bytes + line.len() as u64 > AUDIT_BYTES_MAX {
            self.put_aside()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let mut aside = self.path.as_os_str().to_owned();
        aside.push(".1");
        fs::rename(&self.path, aside)?;
        self.file = append(&self.path)?;
        self.bytes = 0;
        Ok(())
    }
}

fn time_now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    time_text(since.unwrap_or_default().as_secs())
}

/// Returns a character as it is, or escaped if it is none that can be seen.
fn shown(c: char) -> impl Iterator<Item = char> {
    let escaped = (c != '"' && c != '\'').then(|| c.escape_debug());
    escaped
        .into_iter()
        .flatten()
        .chain((c == '"' || c == '\'').then_some(c))
}

fn described(client: &Client) -> String {
    let Client {
        name,
        access,
        address,
        ..
    } = client;
    let address = if address.is_empty() { "-" } else { address };
    format!("key={name} role={access} address={address}")
}

fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Access;
    use std::os::unix::fs::PermissionsExt;

    fn ann() -> Client {
        Client {
            name: "ann".to_owned(),
            access: Access::Controller,
            address: "192.0.2.7:4711".to_owned(),
            allow: Vec::new(),
        }
    }

    fn lines(path: &Path) -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        let after_time = |line: &str| line.split_once(' ').unwrap().1.to_owned();
        text.lines().map(after_time).collect()
    }

    #[test]
    fn a_line_names_time_key_role_address_and_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut log = AuditLog::open(&path).unwrap();
        let now = SessionTime(0);
        log.note(Deed::Joined, Some(&ann()), "", now);
        let stop = "stop \u{1b}]0;owned\nrefused";
        log.note(Deed::Commanded, Some(&ann()), stop, now);
        log.note(Deed::Commanded, None, "play", now);
        assert_eq!(log.finish(), None);
        let who = "key=ann role=controller address=192.0.2.7:4711";
        assert_eq!(
            lines(&path),
            [
                format!("joined {who} "),
                format!("commanded {who} stop \\u{{1b}}]0;owned\\nrefused"),
                "commanded key=- role=owner address=- play".to_owned(),
            ]
        );
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn repeated_entries_within_a_second_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut log = AuditLog::open(&path).unwrap();
        for number in 0..1_000 {
            let about = format!("publish /x{number}");
            let is_new = log.note(Deed::Commanded, Some(&ann()), &about, SessionTime(number));
            assert_eq!(is_new, number == 0);
        }
        log.note(Deed::Commanded, Some(&ann()), "stop", SessionTime(1_000));
        log.settle(SessionTime(2_000_000_000), false);
        assert_eq!(log.finish(), None);
        let texts = lines(&path);
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert!(texts[1].ends_with("stop"), "{texts:?}");
        assert!(texts[2].ends_with("publish (999 times more)"), "{texts:?}");
    }

    #[test]
    fn a_full_disk_is_told_once_with_what_is_missing() {
        let mut log = AuditLog::open(Path::new("/dev/full")).unwrap();
        assert_eq!(log.news(), None);
        let mut news = Vec::new();
        for number in 0..3 {
            let now = SessionTime(number * 2_000_000_000);
            log.settle(now, false);
            assert!(log.note(Deed::Commanded, Some(&ann()), "play", now));
        }
        while news.is_empty() {
            news.extend(log.news());
        }
        assert!(news[0].contains("No space left"), "{news:?}");
        assert_eq!(log.news(), None);
        let last = log.finish().unwrap();
        assert!(
            last.starts_with("3 lines ") && last.contains("No space left"),
            "{last}"
        );
    }

    #[test]
    fn a_disk_that_takes_nothing_holds_nobody_up_and_what_is_missing_stands_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        // A pipe that nobody reads: it takes 64 KiB, and then nothing.
        let mut options = OpenOptions::new();
        let reader = options.read(true).write(true).open(&path).unwrap();
        let mut log = AuditLog::open(&path).unwrap();
        let about = format!("publish {}", "x".repeat(ABOUT_MAX));
        let mut noted = 0;
        while log.losses.all.load(Ordering::Relaxed) < 10 {
            let now = SessionTime(noted * 2_000_000_000);
            log.settle(now, false);
            log.note(Deed::Refused, Some(&ann()), &about, now);
            noted += 1;
        }
        let news = log.news().unwrap();
        assert!(news.contains("the disk is too slow"), "{news}");
        let mut pipe = io::BufReader::new(reader);
        let (mut written, mut missing) = (0, 0);
        while written + missing < noted {
            let mut line = String::new();
            io::BufRead::read_line(&mut pipe, &mut line).unwrap();
            match line.split_once(" lost ") {
                Some((_, lost)) => {
                    let number = lost.split(' ').next().unwrap();
                    missing += number.parse::<u64>().unwrap();
                }
                None => written += 1,
            }
        }
        assert!(
            missing >= 10 && written > WAITING_MAX as u64,
            "{missing}, {written}"
        );
        let lost = log.finish().unwrap();
        assert!(lost.starts_with(&format!("{missing} lines ")), "{lost}");
    }

    #[test]
    fn a_disk_that_takes_nothing_does_not_hold_up_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let mut options = OpenOptions::new();
        let _nobody_reads = options.read(true).write(true).open(&path).unwrap();
        let mut log = AuditLog::open(&path).unwrap();
        let about = format!("publish {}", "x".repeat(ABOUT_MAX));
        for number in 0..WAITING_MAX as u64 {
            let now = SessionTime(number * 2_000_000_000);
            log.settle(now, false);
            log.note(Deed::Refused, Some(&ann()), &about, now);
        }
        let told = log.finish().unwrap();
        assert!(told.contains("the disk takes nothing"), "{told}");
    }

    #[test]
    fn the_file_is_put_aside_when_it_is_large() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut log = AuditLog::open(&path).unwrap();
        let about = "x".repeat(2 * ABOUT_MAX);
        for number in 0..3 * AUDIT_BYTES_MAX / ABOUT_MAX as u64 {
            let now = SessionTime(number * 2_000_000_000);
            log.settle(now, false);
            log.note(Deed::Refused, Some(&ann()), &about, now);
            if number % 500 == 0 {
                // No more lines wait than may.
                assert_eq!(log.finish(), None);
                log = AuditLog::open(&path).unwrap();
            }
        }
        assert_eq!(log.finish(), None);
        let sizes = ["audit.log", "audit.log.1"].map(|name| {
            let file = folder.path().join(name);
            file.metadata().unwrap().len()
        });
        assert!(
            sizes
                .iter()
                .all(|size| (1..=AUDIT_BYTES_MAX).contains(size)),
            "{sizes:?}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        // What was there is gone on with.
        let mut log = AuditLog::open(&path).unwrap();
        log.note(Deed::Joined, None, "", SessionTime(0));
        assert_eq!(log.finish(), None);
        assert!(fs::metadata(&path).unwrap().len() > sizes[0]);
    }
}
