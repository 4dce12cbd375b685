//! [`Authorized`]: who may connect to a primary, and as what.
//!
//! A file has a line `ROLE KEY NAME # comment` for each key; a folder has files whose names end in
//! `.pub`, with such lines. What is added while a run goes on counts from the next handshake.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use protocol::Access;

use crate::keys::{KeyError, PublicKey, at, read_text};

/// The most keys that one primary knows.
pub const KEYS_MAX: usize = 4096;

/// The longest name of a key, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Who may connect, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorized {
    keys: BTreeMap<PublicKey, Holder>,
    source: Option<Source>,
}

/// Who holds a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// What it may do.
    pub access: Access,
    /// What people call it.
    pub name: String,
}

/// Why nobody can be let in.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizedError {
    /// A file or folder cannot be read.
    #[error(transparent)]
    Unreadable(#[from] KeyError),
    /// Others than its owner can change it, and so let in anybody.
    #[error(
        "{} can be changed by others (mode {mode:03o}): `chmod go-w {}` protects it",
        path.display(), path.display()
    )]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A line is wrong.
    #[error("{}:{line}: {cause}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
}

/// Where the keys were read, and how that looked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    paths: Vec<PathBuf>,
    stamps: Vec<(PathBuf, SystemTime)>,
}

impl Authorized {
    /// Reads files and folders.
    ///
    /// # Errors
    /// When one cannot be read, others may change it, or a line is wrong.
    pub fn read(paths: &[PathBuf]) -> Result<Self, AuthorizedError> {
        let mut read = Self::default();
        let mut stamps = Vec::new();
        for path in paths {
            check_writers(path)?;
        }
        for file in files(paths)? {
            check_writers(&file)?;
            let modified = fs::metadata(&file).and_then(|data| data.modified());
            stamps.push((file.clone(), modified.map_err(at(&file))?));
            let text = read_text(&file).map_err(at(&file))?;
            read.add_lines(&text).map_err(|(line, cause)| {
                let path = file.clone();
                AuthorizedError::Line { path, line, cause }
            })?;
        }
        read.source = Some(Source {
            paths: paths.to_vec(),
            stamps,
        });
        Ok(read)
    }

    /// Lets somebody in.
    #[must_use]
    pub fn with(mut self, key: PublicKey, access: Access, name: &str) -> Self {
        let name = name.to_owned();
        self.keys.insert(key, Holder { access, name });
        self
    }

    /// Returns who holds a key.
    pub fn holder(&self, key: &PublicKey) -> Option<&Holder> {
        self.keys.get(key)
    }

    /// Returns how many keys are known.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Tells whether nobody can be let in.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns what its files say now, if they have changed; `Err` leaves it as it is.
    pub(crate) fn reread(&self) -> Option<Result<Self, AuthorizedError>> {
        let source = self.source.as_ref()?;
        let stamp = |path: PathBuf| {
            let modified = fs::metadata(&path).and_then(|data| data.modified());
            modified.ok().map(|modified| (path, modified))
        };
        let now: Vec<_> = files(&source.paths)
            .unwrap_or_default()
            .into_iter()
            .filter_map(stamp)
            .collect();
        (now != source.stamps).then(|| Self::read(&source.paths))
    }

    fn add_lines(&mut self, text: &str) -> Result<(), (usize, String)> {
        for (number, line) in text.lines().enumerate() {
            self.add_line(line).map_err(|cause| (number + 1, cause))?;
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        let Some(role) = words.next().filter(|word| !word.starts_with('#')) else {
            return Ok(());
        };
        let access: Access = role
            .parse()
            .map_err(|error: protocol::access::ParseAccessError| error.to_string())?;
        let form = "write ROLE KEY NAME, and after # what you like";
        let key = words.next().ok_or(form)?;
        let key: PublicKey = key.parse().map_err(|error| format!("{error}; {form}"))?;
        let name = words.next().filter(|word| !word.starts_with('#'));
        let name = name.ok_or(form)?;
        let is_plain = name.chars().all(|c| c.is_ascii_graphic());
        if !is_plain || name.len() > NAME_BYTES_MAX {
            return Err(format!("a name is 1 to {NAME_BYTES_MAX} plain characters"));
        }
        if words.next().is_some_and(|word| !word.starts_with('#')) {
            return Err(form.to_owned());
        }
        if self.keys.len() >= KEYS_MAX {
            return Err(format!("there are more than {KEYS_MAX} keys"));
        }
        let name = name.to_owned();
        match self.keys.insert(key, Holder { access, name }) {
            None => Ok(()),
            Some(before) => Err(format!(
                "the key of {} is here twice: a key has one role",
                before.name
            )),
        }
    }
}

/// Returns the files of keys at some paths, those of a folder by name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, KeyError> {
    let mut files = Vec::new();
    for path in paths {
        if !fs::metadata(path).map_err(at(path))?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let first = files.len();
        for entry in fs::read_dir(path).map_err(at(path))? {
            let file = entry.map_err(at(path))?.path();
            if file.extension().is_some_and(|kind| kind == "pub") {
                files.push(file);
            }
        }
        files[first..].sort();
    }
    Ok(files)
}

fn check_writers(path: &Path) -> Result<(), AuthorizedError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).map_err(at(path))?.permissions().mode() & 0o777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    let path = path.to_owned();
    Err(AuthorizedError::Exposed { path, mode })
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
    fn what_is_wrong_with_a_line_is_said_with_its_number() {
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
        let again = read.reread().expect("it has changed").unwrap();
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
}
