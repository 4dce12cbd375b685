//! [`Authorized`]: who may connect to a primary, and as what.
//!
//! A file has a line `ROLE KEY NAME # comment` for each key; a folder has files whose names end in
//! `.pub`, with such lines. After the name `valid-until=TIME` ends a key, `allow=PATTERN,...`
//! limits what it may command, and `keep` keeps others from disconnecting it. While a run goes on
//! the files are read again: what cannot be read then, or could be changed by others, lets nobody
//! in.

mod pattern;
pub mod utc;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::Access;
use protocol::access::ParseAccessError;

use crate::keys::{KeyError, ParseKeyError, PublicKey, at, read_text};
use crate::ownership::{OwnershipError, check_path};

pub use pattern::fits;
pub use utc::to_text as time_text;

/// The most keys that one primary knows.
pub const KEYS_MAX: usize = 4096;

/// The longest name of a key, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Form of a line.
const LINE_FORM: &str =
    "write ROLE KEY NAME [valid-until=TIME] [allow=PATTERN,...] [keep], and after # what you like";

/// Peers that may connect, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorized {
    keys: BTreeMap<PublicKey, Holder>,
    source: Option<Source>,
}

/// Holder of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Rights of the key.
    pub access: Access,
    /// Name for people.
    pub name: String,
    /// Time when the key ends, if ever \[s since 1970\].
    pub valid_until: Option<u64>,
    /// The topics, services and models that it may command, as patterns; empty for all.
    pub allow: Vec<String>,
    /// True if no command disconnects it.
    pub is_kept: bool,
}

impl Holder {
    /// Tells whether the key has not ended.
    pub fn is_valid(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.valid_until.is_none_or(|end| now < end)
    }
}

/// Reason why nobody can be let in.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizedError {
    /// A file or folder cannot be read.
    #[error(transparent)]
    Unreadable(#[from] KeyError),
    /// Others can change it, or a folder above it, and so let in anybody.
    #[error(transparent)]
    Exposed(#[from] OwnershipError),
    /// A line is wrong.
    #[error("{}:{line}: {cause}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Cause of the error, which is told with it.
        cause: LineError,
    },
}

/// Reason why a line lets nobody in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Its role is none that a key can have.
    #[error(transparent)]
    Role(#[from] ParseAccessError),
    /// A word is missing, or is none that a line has.
    #[error("{LINE_FORM}")]
    Form,
    /// Its key is none.
    #[error("{0}; {LINE_FORM}")]
    Key(ParseKeyError),
    /// Its name is too long, or has characters other than plain ones.
    #[error("a name is 1 to {NAME_BYTES_MAX} plain characters")]
    Name,
    /// It allows what is no pattern.
    #[error("{pattern:?} is no pattern: write such as /model/r1/**")]
    Pattern {
        /// The word in its place.
        pattern: String,
    },
    /// Its key ends at what is no time.
    #[error("{time:?} is no time: write 2030-12-31 or 2030-12-31T12:00:00Z")]
    Time {
        /// The word in its place.
        time: String,
    },
    /// There are enough keys before it.
    #[error("there are more than {KEYS_MAX} keys")]
    TooMany,
    /// Another line has its key.
    #[error("the key of {name} is here twice: a key has one role")]
    Twice {
        /// The name in the other line.
        name: String,
    },
}

/// Paths that the keys were read from, and how those looked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    paths: Vec<PathBuf>,
    stamps: Vec<Stamp>,
}

/// Look of a file or folder: its inode, its size, its mode and when it was changed last.
type Stamp = (PathBuf, Option<[i64; 4]>);

impl Authorized {
    /// Reads files and folders.
    ///
    /// # Errors
    /// Fails if one cannot be read, others may change it, or a line is wrong.
    pub fn read(paths: &[PathBuf]) -> Result<Self, AuthorizedError> {
        let (read, errors) = Self::read_what_can_be(paths);
        errors.into_iter().next().map_or(Ok(read), Err)
    }

    /// Reads the lines that are right in files that nobody else can change; returns what is wrong
    /// with the others.
    fn read_what_can_be(paths: &[PathBuf]) -> (Self, Vec<AuthorizedError>) {
        // What changes while it is read is read again.
        let stamps = stamps(paths);
        let (mut read, mut errors) = (Self::default(), Vec::new());
        for path in paths {
            let found = check_path(path).map_err(AuthorizedError::from);
            let found = found.and_then(|_| Ok(files(path)?));
            match found {
                Ok(files) => files
                    .iter()
                    .for_each(|file| read.add_file(file, &mut errors)),
                Err(error) => errors.push(error),
            }
        }
        read.source = Some(Source {
            paths: paths.to_vec(),
            stamps,
        });
        (read, errors)
    }

    fn add_file(&mut self, path: &Path, errors: &mut Vec<AuthorizedError>) {
        let text = check_path(path).map_err(AuthorizedError::from);
        let text = text.and_then(|_| Ok(read_text(path).map_err(at(path))?));
        let text = match text {
            Ok(text) => text,
            Err(error) => return errors.push(error),
        };
        for (number, line) in text.lines().enumerate() {
            if let Err(cause) = self.add_line(line) {
                let (path, line) = (path.to_owned(), number + 1);
                errors.push(AuthorizedError::Line { path, line, cause });
            }
        }
    }

    /// Lets somebody in.
    #[must_use]
    pub fn with(mut self, key: PublicKey, access: Access, name: &str) -> Self {
        let holder = Holder {
            access,
            name: name.to_owned(),
            valid_until: None,
            allow: Vec::new(),
            is_kept: false,
        };
        self.keys.insert(key, holder);
        self
    }

    /// Returns who holds a key.
    pub fn holder(&self, key: &PublicKey) -> Option<&Holder> {
        self.keys.get(key)
    }

    /// Returns the keys of this name; several may have it.
    pub fn named(&self, name: &str) -> BTreeSet<PublicKey> {
        let keys = self.keys.iter();
        let named = keys.filter(|(_, holder)| holder.name == name);
        named.map(|(key, _)| *key).collect()
    }

    /// Returns the names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.values().map(|holder| &*holder.name)
    }

    /// Returns how many keys are known.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Tells whether nobody can be let in.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns what its files say now, if they have changed, and what is wrong with them: a key is
    /// not in it that could not be read.
    pub(crate) fn reread(&self) -> Option<(Self, Vec<AuthorizedError>)> {
        let source = self.source.as_ref()?;
        (stamps(&source.paths) != source.stamps).then(|| Self::read_what_can_be(&source.paths))
    }

    fn add_line(&mut self, line: &str) -> Result<(), LineError> {
        let mut words = line.split_whitespace();
        let Some(role) = words.next().filter(|word| !word.starts_with('#')) else {
            return Ok(());
        };
        let access: Access = role.parse()?;
        let key = words.next().ok_or(LineError::Form)?;
        let key: PublicKey = key.parse().map_err(LineError::Key)?;
        let name = words.next().filter(|word| !word.starts_with('#'));
        let name = name.ok_or(LineError::Form)?;
        let is_plain = name.chars().all(|c| c.is_ascii_graphic());
        if !is_plain || name.len() > NAME_BYTES_MAX {
            return Err(LineError::Name);
        }
        let (mut valid_until, mut allow, mut is_kept) = (None, Vec::new(), false);
        for word in words.take_while(|word| !word.starts_with('#')) {
            if let Some(patterns) = word.strip_prefix("allow=") {
                allow = read_patterns(patterns)?;
                continue;
            }
            if word == "keep" {
                is_kept = true;
                continue;
            }
            let time = word.strip_prefix("valid-until=").ok_or(LineError::Form)?;
            let end = utc::of_text(time);
            let wrong = || LineError::Time {
                time: time.to_owned(),
            };
            valid_until = Some(end.ok_or_else(wrong)?);
        }
        if self.keys.len() >= KEYS_MAX {
            return Err(LineError::TooMany);
        }
        let holder = Holder {
            access,
            name: name.to_owned(),
            valid_until,
            allow,
            is_kept,
        };
        match self.keys.insert(key, holder) {
            None => Ok(()),
            Some(before) => {
                // Nobody knows which of them is meant.
                self.keys.remove(&key);
                Err(LineError::Twice { name: before.name })
            }
        }
    }
}

fn read_patterns(text: &str) -> Result<Vec<String>, LineError> {
    let one = |pattern: &str| {
        let pattern = pattern.to_owned();
        if pattern.starts_with('/') {
            Ok(pattern)
        } else {
            Err(LineError::Pattern { pattern })
        }
    };
    text.split(',').map(one).collect()
}

/// Returns the files of keys at a path: itself, or those of a folder by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, KeyError> {
    if !fs::metadata(path).map_err(at(path))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(at(path))? {
        let file = entry.map_err(at(path))?.path();
        if file.extension().is_some_and(|kind| kind == "pub") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns how all looks that says who may connect, the folders above it as well.
fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    let mut seen = Vec::new();
    for path in paths {
        let files = files(path).unwrap_or_default();
        let above = path.ancestors().map(Path::to_owned);
        seen.extend(above.chain(files).map(stamp));
    }
    seen
}

fn stamp(path: PathBuf) -> Stamp {
    // Much goes on in /tmp that says nothing of who may change what is below.
    let is_shared = |data: &fs::Metadata| data.is_dir() && data.mode() & 0o1000 != 0;
    let seen = fs::metadata(&path).ok().map(|data| {
        let changed = if is_shared(&data) {
            [0, i64::from(data.mode())]
        } else {
            [data.ctime(), data.ctime_nsec()]
        };
        let size = data.size().cast_signed();
        [changed[0], changed[1], data.ino().cast_signed(), size]
    });
    (path, seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyPair;
    use std::os::unix::fs::PermissionsExt;

    fn key() -> PublicKey {
        KeyPair::generate().unwrap().public()
    }

    fn read(text: &str) -> Result<Authorized, AuthorizedError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("authorized");
        fs::write(&path, text).unwrap();
        Authorized::read(&[path])
    }

    #[test]
    fn each_line_gives_a_key_a_role_and_a_name() {
        let [first, second] = [key(), key()];
        let text = format!("# ours\n\nsecondary {first} lab # third floor\nobserver {second} ann");
        let read = read(&text).unwrap();
        let lab = Holder {
            access: Access::Secondary,
            name: "lab".to_owned(),
            valid_until: None,
            allow: Vec::new(),
            is_kept: false,
        };
        assert_eq!(read.holder(&first), Some(&lab));
        assert_eq!(read.holder(&second).unwrap().access, Access::Observer);
        assert_eq!((read.holder(&key()), read.len()), (None, 2));
    }

    fn refused(text: &str, line: usize, part: &str) {
        let error = read(text).unwrap_err().to_string();
        assert!(
            error.contains(&format!(":{line}: ")) && error.contains(part),
            "{error}"
        );
    }

    #[test]
    fn an_invalid_line_is_named_with_its_number() {
        let key = key();
        refused(
            &format!("\nprimary {key} p"),
            2,
            "use secondary, controller or observer",
        );
        refused("observer abc x", 1, "40 characters of Z85");
        refused(&format!("observer {key}"), 1, "write ROLE KEY NAME");
        refused(&format!("observer {key} a b"), 1, "write ROLE KEY NAME");
        refused(
            &format!("observer {key} a\ncontroller {key} b"),
            2,
            "of a is here twice",
        );
    }

    #[test]
    fn a_folder_of_public_keys_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let add = |name: &str| {
            let key = KeyPair::generate().unwrap();
            key.write(folder.path(), name, "controller", false).unwrap();
            key.public()
        };
        let first = add("a");
        let read = Authorized::read(&[folder.path().to_owned()]).unwrap();
        assert_eq!((read.len(), read.reread().is_none()), (1, true));
        let second = add("b");
        let (again, errors) = read.reread().expect("it has changed");
        assert!(errors.is_empty());
        assert!(again.holder(&first).is_some() && again.holder(&second).is_some());
    }

    #[test]
    fn a_list_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("authorized");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        let error = Authorized::read(&[path]).unwrap_err().to_string();
        assert!(error.contains("chmod go-w"), "{error}");
    }

    /// A folder with the keys `a` and `b`.
    struct Two {
        folder: tempfile::TempDir,
        keys: [PublicKey; 2],
        read: Authorized,
    }

    impl Two {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let keys = ["a", "b"].map(|name| {
                let key = KeyPair::generate().unwrap();
                key.write(folder.path(), name, "controller", false).unwrap();
                key.public()
            });
            let read = Authorized::read(&[folder.path().to_owned()]).unwrap();
            Self { folder, keys, read }
        }

        fn file(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// Returns whether each of the keys is in after a change, and what is said.
        fn after(&self, change: impl FnOnce()) -> ([bool; 2], String) {
            change();
            let (now, errors) = self.read.reread().expect("it has changed");
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            let is_in = self.keys.map(|key| now.holder(&key).is_some());
            (is_in, errors.join("; "))
        }
    }

    #[test]
    fn a_key_that_is_taken_away_is_out_whatever_is_wrong_with_others() {
        let two = Two::new();
        let (is_in, errors) = two.after(|| {
            fs::remove_file(two.file("a.pub")).unwrap();
            fs::write(two.file("c.pub"), "nonsense\n").unwrap();
        });
        assert_eq!(is_in, [false, true]);
        assert!(errors.contains("c.pub:1: "), "{errors}");
    }

    #[test]
    fn keys_that_others_could_have_written_are_out() {
        let two = Two::new();
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let (is_in, errors) = two.after(|| set_mode(&two.file("b.pub"), 0o664));
        assert_eq!(is_in, [true, false]);
        assert!(errors.contains("chmod go-w"), "{errors}");
        let (is_in, _) = two.after(|| set_mode(two.folder.path(), 0o777));
        assert_eq!(is_in, [false, false]);
        set_mode(two.folder.path(), 0o700);
    }

    #[test]
    fn without_the_folder_all_are_out() {
        let two = Two::new();
        let (is_in, errors) = two.after(|| fs::remove_dir_all(two.folder.path()).unwrap());
        assert_eq!(is_in, [false, false]);
        assert!(!errors.is_empty());
    }

    #[test]
    fn a_folder_above_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys/authorized");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        Authorized::read(std::slice::from_ref(&path)).unwrap();
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path().join("keys"), open).unwrap();
        let error = Authorized::read(&[path]).unwrap_err().to_string();
        assert!(error.contains("chmod go-w"), "{error}");
    }

    #[test]
    fn a_key_ends_when_its_line_says() {
        let key = key();
        let line = |end: &str| format!("observer {key} ann valid-until={end} # till then");
        let holder = read(&line("2001-09-09T01:46:40Z")).unwrap();
        let holder = holder.holder(&key).unwrap();
        let at = |seconds| UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        assert!(holder.is_valid(at(999_999_999)) && !holder.is_valid(at(1_000_000_000)));
        refused(&line("soon"), 1, "is no time");
    }

    #[test]
    fn a_line_says_what_a_key_may_command() {
        let key = key();
        let line = |allow: &str| format!("controller {key} ann allow={allow} # one robot");
        let holder = read(&line("/model/r1/**,/x")).unwrap();
        assert_eq!(holder.holder(&key).unwrap().allow, ["/model/r1/**", "/x"]);
        refused(&line("/a,"), 1, "is no pattern");
        refused(&line("r1"), 1, "is no pattern");
    }
}
