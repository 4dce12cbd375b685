//! [`AuditLog`]: who came, who asked for what, and who was turned away, a line each.
//!
//! A line has the time in UTC, what happened, the key's name, role and address, and what it was
//! about. What one key does again within a second is counted, so that no flood pushes out what
//! matters; beyond a size the file is put aside as `FILE.1`, in place of the one before.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::SessionTime;
use transport::Client;
use transport::authorized::time_text;

/// The size beyond which the file is put aside \[bytes\].
pub const AUDIT_BYTES_MAX: u64 = 1 << 20;

/// The time in which the same is told once.
const SAME_FOR: Duration = Duration::from_secs(1);

/// How much is told apart within that time.
const KINDS_MAX: usize = 1024;

/// The longest text of what something was about, in characters.
const ABOUT_MAX: usize = 512;

/// What somebody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// Came.
    Joined,
    /// Asked for a change.
    Commanded,
    /// Was turned away.
    Refused,
}

/// Writes down who did what.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// What was told within the last second: when, and how often it came again.
    recent: BTreeMap<(Deed, String, String), (SessionTime, u64)>,
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

impl AuditLog {
    /// Goes on with a file, or begins it, readable by its owner alone.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = append(path)?;
        let bytes = file.metadata()?.len();
        let path = path.to_owned();
        let recent = BTreeMap::new();
        Ok(Self {
            path,
            file,
            bytes,
            recent,
        })
    }

    /// Writes down what somebody did, `None` being whoever needs no key; tells whether it was
    /// written and not just counted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(
        &mut self,
        deed: Deed,
        client: Option<&Client>,
        about: &str,
        now: SessionTime,
    ) -> io::Result<bool> {
        let verb = about.split(' ').next().unwrap_or_default().to_owned();
        let who = client.map_or_else(|| "key=- role=owner address=-".to_owned(), described);
        let kind = (deed, who, verb);
        if let Some((_, again)) = self.recent.get_mut(&kind) {
            *again += 1;
            return Ok(false);
        }
        self.write(deed, &kind.1, about)?;
        if self.recent.len() < KINDS_MAX {
            self.recent.insert(kind, (now, 0));
        }
        Ok(true)
    }

    /// Writes down how often came again what was told more than a second ago, at the end of all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn settle(&mut self, now: SessionTime, is_last: bool) -> io::Result<()> {
        let is_over = |at: SessionTime| is_last || now.since(at) >= SAME_FOR;
        let over = self.recent.extract_if(.., |_, (at, _)| is_over(*at));
        let again: Vec<_> = over.filter(|(_, (_, again))| *again > 0).collect();
        for ((deed, who, verb), (_, again)) in again {
            self.write(deed, &who, &format!("{verb} ({again} times more)"))?;
        }
        Ok(())
    }

    fn write(&mut self, deed: Deed, who: &str, about: &str) -> io::Result<()> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut line = time_text(since.unwrap_or_default().as_secs());
        let _ = write!(line, " {} {who} ", deed.name());
        // Names of strangers may hold anything.
        let mut about = about.chars();
        line.extend(about.by_ref().take(ABOUT_MAX).flat_map(shown));
        line.push_str(if about.next().is_some() {
            "...\n"
        } else {
            "\n"
        });
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
        log.note(Deed::Joined, Some(&ann()), "", now).unwrap();
        let stop = "stop \u{1b}]0;owned\nrefused";
        log.note(Deed::Commanded, Some(&ann()), stop, now).unwrap();
        log.note(Deed::Commanded, None, "play", now).unwrap();
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
    fn what_is_done_again_within_a_second_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut log = AuditLog::open(&path).unwrap();
        for number in 0..1_000 {
            let about = format!("publish /x{number}");
            let is_new = log.note(Deed::Commanded, Some(&ann()), &about, SessionTime(number));
            assert_eq!(is_new.unwrap(), number == 0);
        }
        log.note(Deed::Commanded, Some(&ann()), "stop", SessionTime(1_000))
            .unwrap();
        log.settle(SessionTime(2_000_000_000), false).unwrap();
        let texts = lines(&path);
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert!(texts[1].ends_with("stop"), "{texts:?}");
        assert!(texts[2].ends_with("publish (999 times more)"), "{texts:?}");
    }

    #[test]
    fn the_file_is_put_aside_when_it_is_large() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let mut log = AuditLog::open(&path).unwrap();
        let about = "x".repeat(2 * ABOUT_MAX);
        for number in 0..3 * AUDIT_BYTES_MAX / ABOUT_MAX as u64 {
            let now = SessionTime(number * 2_000_000_000);
            log.settle(now, false).unwrap();
            log.note(Deed::Refused, Some(&ann()), &about, now).unwrap();
        }
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
        drop(log);
        assert_eq!(AuditLog::open(&path).unwrap().bytes, sizes[0]);
    }
}
