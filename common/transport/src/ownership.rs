//! Accounts that could change a file or folder: its owner, and those of all folders above it.
//!
//! The rule is that of sshd's `StrictModes`: everything on the way belongs to root or to this
//! user, and nobody else may write to it. A folder in which everybody may make files but replace
//! only his own (the sticky bit, as `/tmp` has it) may be on the way. Folders above the user's
//! home are not looked at. Symbolic links on the way are followed if they are root's or the user's.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

/// The variable that names the folder of all runs of a user.
pub const RUNTIME_DIR_VARIABLE: &str = "PHALANX_RUNTIME_DIR";

/// Number of symbolic links that a path may lead through.
const LINKS_MAX: usize = 40;

const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Reason why a file or folder cannot be relied on.
#[derive(Debug, thiserror::Error)]
pub enum OwnershipError {
    /// It belongs to somebody else.
    #[error(
        "{} belongs to another user (id {owner}), who could replace what is in it: use a path of \
         your own",
        path.display()
    )]
    Foreign {
        /// The file, folder or link.
        path: PathBuf,
        /// The id of its owner.
        owner: u32,
    },
    /// Others than its owner can change it.
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
    /// A link where a folder is to be.
    #[error("{} is a symbolic link and must be a folder: remove it", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// Owners whose files are relied on.
#[derive(Clone, Debug)]
struct Trust {
    user: u32,
    /// Above it nothing is looked at.
    home: Option<PathBuf>,
}

/// Checks that nobody but root and this user could change what a path names, and returns the path
/// without links.
///
/// # Errors
/// Fails if somebody could, or the path leads nowhere.
pub fn check_path(path: &Path) -> Result<PathBuf, OwnershipError> {
    let (found, missing) = Trust::of_this_user().walk(path)?;
    match missing.first() {
        None => Ok(found),
        Some(_) => Err(at(path)(io::ErrorKind::NotFound.into())),
    }
}

/// Checks that nobody but root and this user could change what is there of a path: the rest may be
/// made later.
///
/// # Errors
/// Fails if somebody could.
pub fn check_what_is_there(path: &Path) -> Result<(), OwnershipError> {
    Trust::of_this_user().walk(path).map(|_| ())
}

/// Makes a folder for this user alone, unless it is there, and returns its path without links.
///
/// # Errors
/// Fails if it cannot be made, is not this user's own, or others could change it or a folder above.
pub fn own_folder(path: &Path) -> Result<PathBuf, OwnershipError> {
    Trust::of_this_user().own_folder(path)
}

/// Returns the folder of all runs of this user: `PHALANX_RUNTIME_DIR`, else the user's runtime
/// folder, else one in the system's temporary folder. It is made if it is missing.
///
/// # Errors
/// Fails if it cannot be made, is not this user's own, or others could change it or a folder above.
pub fn runtime_folder() -> Result<PathBuf, OwnershipError> {
    let named = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty());
    if let Some(given) = named(RUNTIME_DIR_VARIABLE) {
        return own_folder(Path::new(&given));
    }
    if let Some(users) = named("XDG_RUNTIME_DIR").filter(|path| Path::new(path).is_absolute()) {
        return own_folder(&Path::new(&users).join("phalanx"));
    }
    own_temporary_folder()
}

/// Returns a folder of this user on this machine alone, and makes it if it is missing: the folder
/// of runs may be on a file system that several machines share.
///
/// # Errors
/// Fails if it cannot be made, is not this user's own, or others could change it or a folder above.
pub fn machine_folder() -> Result<PathBuf, OwnershipError> {
    // Slurm brings variables of one machine to another, where their folders are not.
    let users = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match users.filter(|path| path.is_absolute() && path.is_dir()) {
        Some(users) => own_folder(&users.join("phalanx")),
        None => own_temporary_folder(),
    }
}

fn own_temporary_folder() -> Result<PathBuf, OwnershipError> {
    let user = rustix::process::geteuid().as_raw();
    let path = std::env::temp_dir().join(format!("phalanx-{user}"));
    // Everybody may make things there: what has this name must be what was made here.
    refuse_link(&path)?;
    own_folder(&path)
}

/// Opens a file of one's own to hold a lock on it, and makes it if it is missing; a link is not
/// followed.
///
/// # Errors
/// Fails if the system refuses, or it is a link.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.open(path)
}

/// Refuses a symbolic link.
fn refuse_link(path: &Path) -> Result<(), OwnershipError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink());
    if is_link {
        let path = path.to_owned();
        return Err(OwnershipError::Link { path });
    }
    Ok(())
}

impl Trust {
    fn of_this_user() -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Self {
            user: rustix::process::geteuid().as_raw(),
            home: home.and_then(|home| home.canonicalize().ok()),
        }
    }

    fn own_folder(&self, path: &Path) -> Result<PathBuf, OwnershipError> {
        // Nothing is made below a folder of somebody else.
        self.walk(path)?;
        let mut folder = DirBuilder::new();
        let made = folder.recursive(true).mode(0o700).create(path);
        made.map_err(at(path))?;
        let (found, missing) = self.walk(path)?;
        if !missing.is_empty() {
            // Somebody removed it just now.
            return Err(at(path)(io::ErrorKind::NotFound.into()));
        }
        let owner = fs::symlink_metadata(&found).map_err(at(&found))?.uid();
        if owner != self.user {
            return Err(OwnershipError::Foreign { path: found, owner });
        }
        Ok(found)
    }

    /// Goes down a path and checks all that is there; returns how far that was, without links, and
    /// what is missing below.
    fn walk(&self, path: &Path) -> Result<(PathBuf, Vec<PathBuf>), OwnershipError> {
        let path = std::path::absolute(path).map_err(at(path))?;
        let mut ahead = reversed(&path);
        let mut here = PathBuf::from("/");
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            let next = here.join(&name);
            if name.as_os_str() == ".." {
                here.pop();
                continue;
            }
            let data = match fs::symlink_metadata(&next) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    ahead.push(name);
                    ahead.reverse();
                    return Ok((here, ahead));
                }
                data => data.map_err(at(&next))?,
            };
            self.check(&next, &data, ahead.is_empty())?;
            if data.is_symlink() {
                links += 1;
                if links > LINKS_MAX {
                    return Err(at(&path)(io::Error::other("too many symbolic links")));
                }
                let target = fs::read_link(&next).map_err(at(&next))?;
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                ahead.extend(reversed(&target));
            } else {
                here = next;
            }
        }
        Ok((here, Vec::new()))
    }

    fn check(&self, path: &Path, data: &Metadata, is_last: bool) -> Result<(), OwnershipError> {
        let is_above_home = |home: &PathBuf| home != path && home.starts_with(path);
        if self.home.as_ref().is_some_and(is_above_home) {
            return Ok(());
        }
        let owner = data.uid();
        if owner != 0 && owner != self.user {
            let path = path.to_owned();
            return Err(OwnershipError::Foreign { path, owner });
        }
        // The mode of a link means nothing.
        let mode = data.mode() & 0o7777;
        let is_shared = data.is_dir() && mode & STICKY != 0 && !is_last;
        if data.is_symlink() || is_shared || mode & WRITABLE_BY_OTHERS == 0 {
            return Ok(());
        }
        let path = path.to_owned();
        Err(OwnershipError::Exposed {
            path,
            mode: mode & 0o777,
        })
    }
}

/// Returns the names of a path, the last one first.
fn reversed(path: &Path) -> Vec<PathBuf> {
    let names = path.components().rev();
    names
        .filter(|name| matches!(name, Component::Normal(_) | Component::ParentDir))
        .map(|name| PathBuf::from(name.as_os_str()))
        .collect()
}

fn at(path: &Path) -> impl Fn(io::Error) -> OwnershipError {
    let path = path.to_owned();
    move |source| OwnershipError::Io {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// Gives a path to somebody else, or, where only root could, looks as somebody else.
    fn given_away(path: &Path) -> Trust {
        let mut trust = Trust::of_this_user();
        trust.home = None;
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::lchown(path, Some(4711), None).unwrap();
        } else {
            trust.user += 1;
        }
        trust
    }

    fn refused(path: &Path, part: &str) {
        let error = own_folder(path).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn a_folder_of_ones_own_is_made_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        for _ in 0..2 {
            own_folder(&path).unwrap();
        }
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(
            folder.path().join("a").metadata().unwrap().mode() & 0o777,
            0o700
        );
        check_path(&path).unwrap();
    }

    #[test]
    fn folders_that_others_may_write_to_are_refused_along_the_whole_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c");
        own_folder(&path).unwrap();
        for open in ["a", "a/b", "a/b/c"] {
            let open = folder.path().join(open);
            set_mode(&open, 0o770);
            refused(&path, &format!("chmod go-w {}", open.display()));
            set_mode(&open, 0o700);
        }
        // In one like /tmp nobody can replace what is another's.
        set_mode(&folder.path().join("a"), 0o1777);
        own_folder(&path).unwrap();
        set_mode(&path, 0o1777);
        refused(&path, "can be changed by others");
    }

    #[test]
    fn nothing_of_somebody_else_is_used_or_made_into() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let trust = given_away(&theirs);
        for path in [theirs.clone(), theirs.join("new")] {
            let error = trust.own_folder(&path).unwrap_err();
            assert!(matches!(error, OwnershipError::Foreign { .. }), "{error}");
        }
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
    }

    #[test]
    fn a_link_of_somebody_else_is_not_followed_and_ones_own_is() {
        let folder = tempfile::tempdir().unwrap();
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        fs::create_dir(&target).unwrap();
        symlink("target", &link).unwrap();
        let found = own_folder(&link.join("x")).unwrap();
        assert_eq!(found, target.canonicalize().unwrap().join("x"));
        let trust = given_away(&link);
        let error = trust.own_folder(&link.join("y")).unwrap_err();
        assert!(matches!(error, OwnershipError::Foreign { .. }), "{error}");
        assert!(!target.join("y").exists());
        assert!(matches!(
            refuse_link(&link),
            Err(OwnershipError::Link { .. })
        ));
    }

    #[test]
    fn links_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        symlink(&a, &b).unwrap();
        symlink(&b, &a).unwrap();
        assert!(matches!(own_folder(&a), Err(OwnershipError::Io { .. })));
    }

    #[test]
    fn folders_above_the_home_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path().join("above");
        let home = above.join("home");
        own_folder(&home).unwrap();
        set_mode(&above, 0o777);
        let mut trust = Trust::of_this_user();
        trust.home = Some(home.canonicalize().unwrap());
        trust.own_folder(&home.join("keys")).unwrap();
        set_mode(&home, 0o777);
        assert!(trust.own_folder(&home.join("keys")).is_err());
    }

    #[test]
    fn a_lock_is_not_taken_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        symlink(&file, &link).unwrap();
        assert!(open_lock(&link).is_err());
        assert!(!file.exists());
        open_lock(&file).unwrap();
    }
}
