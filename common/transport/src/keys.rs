//! Keys: identities of processes at the ends of an encrypted connection, and the files they are in.
//!
//! `NAME.key` is a secret, readable by its owner alone: lines `public KEY` and `secret KEY`.
//! `NAME.pub` is for the other end: one line `ROLE KEY NAME`, the form of [`crate::authorized`].
//! Keys are 32 bytes, written as the 40 characters of Z85 (ZeroMQ RFC 32).

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::ownership::{OwnershipError, check_path};

/// The most bytes that a file of keys may have.
const KEY_FILE_BYTES_MAX: u64 = 1 << 20;

/// The most keys that one primary may prove.
const SERVER_KEYS_MAX: usize = 4;

/// The most lines of a stream that a key is looked for in, and the longest of them \[bytes\].
const KEY_LINES_MAX: usize = 16;
const KEY_LINE_BYTES_MAX: u64 = 1024;

/// Number of characters that a key has.
const KEY_CHARACTERS: usize = 40;

/// The key that says who somebody is; it is no secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// The keys that a primary may prove: its own, and beside that the next one while it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerKeys(Vec<PublicKey>);

/// A public key and the secret that proves it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyPair {
    public: PublicKey,
    secret: [u8; 32],
}

/// Text that is no key.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("a key is {KEY_CHARACTERS} characters of Z85, and {given:?} is none")]
pub struct ParseKeyError {
    /// The beginning of what was given.
    given: String,
}

/// Reason why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("cannot use the key {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Others than its owner can use it.
    #[error(
        "the secret key {} can be read by others (mode {mode:03o}): `chmod 600 {}` protects it; \
         if others may have read it, make a new one with `phalanx keygen`",
        path.display(), path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Others can change it, or a folder above it.
    #[error(transparent)]
    Foreign(#[from] OwnershipError),
    /// Its content is something else.
    #[error("{} is no {what}: `phalanx keygen` makes one", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Content that was expected.
        what: &'static str,
    },
    /// It is there already.
    #[error("{} exists: choose another name, or replace the key with --force", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// No random numbers can be had, or libzmq cannot encrypt.
    #[error("cannot make a key")]
    Generate(#[source] zmq::Error),
}

impl PublicKey {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads a `.pub` file.
    ///
    /// # Errors
    /// Fails if it cannot be read or holds no public key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let text = read_text(path).map_err(at(path))?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut keys = lines.filter_map(|line| line.split_whitespace().nth(1));
        let key = keys.next().and_then(|key| key.parse().ok());
        key.filter(|_| keys.next().is_none())
            .ok_or_else(|| KeyError::Content {
                path: path.to_owned(),
                what: "file of one public key",
            })
    }
}

impl ServerKeys {
    /// Returns the key in the text, or the keys in the `.pub` file that the text names.
    ///
    /// # Errors
    /// Fails if it is neither.
    pub fn of_text_or_file(text: &str) -> Result<Self, KeyError> {
        match text.parse::<PublicKey>() {
            Ok(key) => Ok(key.into()),
            Err(_) => Self::read(Path::new(text)),
        }
    }

    /// Reads a `.pub` file of one line for each key.
    ///
    /// # Errors
    /// Fails if it cannot be read, or holds something else or too many keys.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let text = read_text(path).map_err(at(path))?;
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let key = |line: &str| line.split_whitespace().nth(1)?.parse().ok();
        let keys: Option<Vec<PublicKey>> = lines.map(key).collect();
        let is_some = |keys: &Vec<PublicKey>| (1..=SERVER_KEYS_MAX).contains(&keys.len());
        let keys = keys.filter(is_some).ok_or_else(|| KeyError::Content {
            path: path.to_owned(),
            what: "file of one public key in each line, four at most",
        })?;
        Ok(Self(keys))
    }

    /// Returns all of them.
    pub fn all(&self) -> &[PublicKey] {
        &self.0
    }

    /// Returns the one that is tried first.
    pub(crate) fn first(&self) -> &PublicKey {
        self.0.first().expect("there is one at least")
    }
}

impl From<PublicKey> for ServerKeys {
    fn from(key: PublicKey) -> Self {
        Self(vec![key])
    }
}

impl KeyPair {
    /// Makes a key that nobody else has.
    ///
    /// # Errors
    /// Fails if the system gives no random numbers.
    pub fn generate() -> Result<Self, KeyError> {
        let made = zmq::CurveKeyPair::new().map_err(KeyError::Generate)?;
        Ok(Self {
            public: PublicKey(made.public_key),
            secret: made.secret_key,
        })
    }

    /// Returns what the other end may know.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    pub(crate) fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Reads a `.key` file.
    ///
    /// # Errors
    /// Fails if it cannot be read, others can read it, or it holds no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let file = File::open(path).map_err(at(path))?;
        let mode = file.metadata().map_err(at(path))?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let path = path.to_owned();
            return Err(KeyError::Exposed { path, mode });
        }
        check_path(path)?;
        let text = text_of(file).map_err(at(path))?;
        Self::of_text(&text).ok_or_else(|| KeyError::Content {
            path: path.to_owned(),
            what: "secret key",
        })
    }

    /// Reads the two lines of a `.key` file from a stream, and nothing after them.
    ///
    /// # Errors
    /// Fails if they are not among the first lines, or the stream fails.
    pub fn read_lines(stream: &mut impl BufRead) -> Result<Self, KeyError> {
        let path = || PathBuf::from("standard input");
        let mut text = String::new();
        for _ in 0..KEY_LINES_MAX {
            let mut line = Vec::new();
            let mut bounded = stream.by_ref().take(KEY_LINE_BYTES_MAX);
            bounded.read_until(b'\n', &mut line).map_err(at(&path()))?;
            text.push_str(&String::from_utf8_lossy(&line));
            if let Some(key) = Self::of_text(&text) {
                return Ok(key);
            }
        }
        Err(KeyError::Content {
            path: path(),
            what: "secret key",
        })
    }

    /// Returns the lines of a `.key` file that have the key.
    pub fn lines(&self) -> String {
        let secret = PublicKey(self.secret);
        format!("public {}\nsecret {secret}\n", self.public)
    }

    fn of_text(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let mut lines = text.lines().map(str::split_whitespace);
            lines.find_map(|mut words| words.next().filter(|word| *word == name).and(words.next()))
        };
        let public = value("public")?.parse().ok()?;
        let PublicKey(secret) = value("secret")?.parse().ok()?;
        Some(Self { public, secret })
    }

    /// Writes `NAME.key` and `NAME.pub` into a folder that is there, and returns their paths; what
    /// is there already stays unless it is to be replaced.
    ///
    /// # Errors
    /// Fails if one is there already, or cannot be written.
    pub fn write(
        &self,
        folder: &Path,
        name: &str,
        role: &str,
        replaces: bool,
    ) -> Result<[PathBuf; 2], KeyError> {
        self.write_limited(folder, name, role, "", replaces)
    }

    /// Writes them as [`Self::write`] does, with more words in the line for others.
    ///
    /// # Errors
    /// Fails if one is there already, or cannot be written.
    pub fn write_limited(
        &self,
        folder: &Path,
        name: &str,
        role: &str,
        limits: &str,
        replaces: bool,
    ) -> Result<[PathBuf; 2], KeyError> {
        let paths = ["key", "pub"].map(|kind| folder.join(format!("{name}.{kind}")));
        let [secret, public] = &paths;
        if let Some(path) = paths.iter().find(|path| !replaces && path.exists()) {
            let path = path.clone();
            return Err(KeyError::Exists { path });
        }
        let text = format!(
            "# The secret key of {name}: it stays on this machine. {name}.pub is for others.\n\
             public {}\nsecret {}\n",
            self.public,
            PublicKey(self.secret)
        );
        write_new(secret, &text, 0o600).map_err(at(secret))?;
        let line = format!("{role} {} {name} {limits}", self.public);
        let text = format!("{}\n", line.trim_end());
        write_new(public, &text, 0o644).map_err(at(public))?;
        Ok(paths)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = zmq::z85_encode(&self.0).map_err(|_| fmt::Error)?;
        formatter.write_str(&text)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Without the secret, so that no log ever has it.
impl fmt::Debug for KeyPair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyPair({})", self.public)
    }
}

impl FromStr for PublicKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_key = text.len() == KEY_CHARACTERS && text.is_ascii();
        let bytes = is_key.then(|| zmq::z85_decode(text).ok()).flatten();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            // libzmq reads some text that it would not write.
            .map(Self)
            .filter(|key| key.to_string() == text)
            .ok_or_else(|| ParseKeyError {
                given: text.chars().take(8).collect(),
            })
    }
}

/// Reads a small file of text.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    text_of(File::open(path)?)
}

fn text_of(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(KEY_FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > KEY_FILE_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// Writes a file that is new, so that nobody holds it open who could read an older one.
fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(mode)
        .open(path)?;
    file.write_all(text.as_bytes())
}

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> KeyError {
    move |source| KeyError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_from_its_files_and_the_secret_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let [secret, public] = key.write(folder.path(), "s9", "secondary", false).unwrap();
        assert_eq!(KeyPair::read(&secret).unwrap(), key);
        assert_eq!(PublicKey::read(&public).unwrap(), key.public());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&secret), 0o600);
        let text = public.to_str().unwrap();
        let read = |text: &str| ServerKeys::of_text_or_file(text).unwrap();
        assert_eq!(read(text), key.public().into());
        assert_eq!(read(&key.public().to_string()), key.public().into());
    }

    #[test]
    fn the_keys_of_a_primary_are_the_lines_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("primary.pub");
        let keys: Vec<PublicKey> = (0..5)
            .map(|_| KeyPair::generate().unwrap().public())
            .collect();
        let line = |key: &PublicKey| format!("primary {key} lab\n");
        let check = |text: &str, expected: Option<&[PublicKey]>| {
            fs::write(&path, text).unwrap();
            let read = ServerKeys::read(&path).ok();
            assert_eq!(read.as_ref().map(ServerKeys::all), expected, "{text:?}");
        };
        let all: Vec<String> = keys.iter().map(line).collect();
        check(&all[0], Some(&keys[..1]));
        check(&format!("# two\n{}\n{}", all[0], all[1]), Some(&keys[..2]));
        check(&all[..4].concat(), Some(&keys[..4]));
        check(&all.concat(), None);
        check(&format!("{}primary nothing lab\n", all[0]), None);
        check("# nothing\n", None);
    }

    #[test]
    fn a_key_that_is_there_is_replaced_only_when_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let write = |key: &KeyPair, replaces| key.write(folder.path(), "a", "observer", replaces);
        let [first, second] = [(); 2].map(|()| KeyPair::generate().unwrap());
        write(&first, false).unwrap();
        assert!(matches!(
            write(&second, false),
            Err(KeyError::Exists { .. })
        ));
        let [secret, _] = write(&second, true).unwrap();
        assert_eq!(KeyPair::read(&secret).unwrap(), second);
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let [secret, _] = key.write(folder.path(), "a", "observer", false).unwrap();
        for mode in [0o640, 0o604, 0o666] {
            fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
            let error = KeyPair::read(&secret).unwrap_err().to_string();
            assert!(error.contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn invalid_keys_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.key");
        for text in ["", "secret 1\npublic 2\n", "\u{0}\u{1}", "public\nsecret\n"] {
            write_new(&path, text, 0o600).unwrap();
            assert!(
                matches!(KeyPair::read(&path), Err(KeyError::Content { .. })),
                "{text:?}"
            );
            assert!(PublicKey::read(&path).is_err(), "{text:?}");
        }
        for text in ["", "short", &"~".repeat(40), &"\u{e9}".repeat(20)] {
            assert!(text.parse::<PublicKey>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn no_secret_is_shown_by_debug() {
        let key = KeyPair::generate().unwrap();
        let secret = PublicKey(key.secret).to_string();
        assert!(!format!("{key:?}").contains(&secret));
    }
}
