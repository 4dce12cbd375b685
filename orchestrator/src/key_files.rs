//! Places of keys: those of a user in a folder of their own, those of a run in the run's folder.
//!
//! A folder of keys has `primary.key`, by which its runs prove themselves; `authorized`, a folder
//! of the public keys of others; and `controller.key` or `observer.key` with `primary.pub`, by
//! which runs of other machines are reached. Nothing here opens a socket.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use client::Reach;
use run::Security;
use serde::{Deserialize, Serialize};
use transport::{Endpoints, KeyError, KeyPair};

use crate::private_file::write_private;

/// The variable that names the folder of a user's keys.
pub const KEYS_VARIABLE: &str = "PHALANX_KEYS";

/// The folder of a run's keys, in its own.
const KEYS_FOLDER: &str = "keys";

/// The keys by which a run of this machine is viewed, in the folder of its keys.
const VIEW_KEY: &str = "view.key";
const PRIMARY_PUBLIC: &str = "primary.pub";

/// Keys that a client was told to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenKeys {
    /// Its own.
    pub key: Option<PathBuf>,
    /// The primary's: a key or a file.
    pub server_key: Option<String>,
    /// The folder where those are that were not named.
    pub folder: Option<PathBuf>,
    /// True if another machine is reached without encryption where no key is found.
    pub is_insecure: bool,
}

/// The files of keys of a run that is started here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKeys {
    /// Secret key by which the primary proves itself.
    pub primary: PathBuf,
    /// Public key of the primary.
    pub primary_public: PathBuf,
    /// Public keys, or folders of them, of those that may connect.
    pub authorized: Vec<PathBuf>,
    /// The key of the secondaries that are started here.
    pub secondary: PathBuf,
    /// The key of views and commands of this machine.
    pub view: PathBuf,
}

/// Reason why a run has no keys.
#[derive(Debug, thiserror::Error)]
pub enum RunKeysError {
    /// One cannot be made or read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system refused something.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl RunKeys {
    /// Makes the keys of a run in its folder; the primary has that of the user's folder if there is
    /// one, so that other machines need to know only that.
    ///
    /// # Errors
    /// Fails if one cannot be made or read.
    pub fn make(run: &Path, user: Option<&Path>) -> Result<Self, RunKeysError> {
        let folder = run.join(KEYS_FOLDER);
        make_private_folder(&folder)?;
        let make = |name: &str, role: &str| {
            let key = KeyPair::generate()?;
            let [secret, _] = key.write(&folder, name, role, true)?;
            Ok::<_, KeyError>((secret, key))
        };
        let users = |name: &str| {
            user.map(|user| user.join(name))
                .filter(|file| file.exists())
        };
        let (secondary, key_of_secondary) = make("secondary", "secondary")?;
        let (view, key_of_view) = make("view", "controller")?;
        let own = folder.join("authorized");
        let lines = format!(
            "secondary {} secondaries keep # of this machine\n\
             controller {} views keep # of this machine\n",
            key_of_secondary.public(),
            key_of_view.public()
        );
        write(&own, &lines)?;
        let mut authorized = vec![own];
        authorized.extend(users("authorized"));
        let primary_public = folder.join(PRIMARY_PUBLIC);
        let primary = if let Some(primary) = users("primary.key") {
            let line = format!("primary {} primary\n", KeyPair::read(&primary)?.public());
            write(&primary_public, &line)?;
            primary
        } else {
            make("primary", "primary")?.0
        };
        Ok(Self {
            primary,
            primary_public,
            authorized,
            secondary,
            view,
        })
    }
}

/// Tells whether a run of this machine, which has a folder and an endpoint, lets in anybody who
/// reaches it.
pub fn is_insecure(run_folder: &Path, endpoint: &str) -> bool {
    let key = run_folder.join(KEYS_FOLDER).join(VIEW_KEY);
    endpoint.starts_with("tcp://") && !key.exists()
}

/// Returns how a run of this machine is reached, by the keys in its folder.
///
/// # Errors
/// Fails if its keys cannot be read.
pub fn reach_of_run(run_folder: &Path, endpoints: Endpoints) -> Result<Reach, KeyError> {
    let folder = run_folder.join(KEYS_FOLDER);
    let key = folder.join(VIEW_KEY);
    if endpoints.directory().is_some() || !key.exists() {
        // A run without keys was started with --insecure.
        return Ok(Reach::unencrypted(endpoints, true));
    }
    let primary = folder.join(PRIMARY_PUBLIC);
    Reach::with_keys(endpoints, &key, &primary.to_string_lossy())
}

/// Returns how a primary is reached that was named by its address: by the keys that were chosen,
/// else by those of the user's folder, if it is on another machine and there are any.
///
/// # Errors
/// Fails if a chosen one is missing, or one cannot be read.
pub fn reach_of_address(endpoints: Endpoints, chosen: &ChosenKeys) -> Result<Reach, KeyError> {
    let is_chosen = chosen.key.is_some() || chosen.server_key.is_some();
    if endpoints.directory().is_some() || (endpoints.is_loopback() && !is_chosen) {
        return Ok(endpoints.into());
    }
    let folder = chosen.folder.clone().unwrap_or_default();
    let own = ["controller.key", "observer.key"].map(|name| folder.join(name));
    let own = own.iter().find(|file| file.exists()).unwrap_or(&own[0]);
    let key = chosen.key.clone().unwrap_or_else(|| own.clone());
    let public = folder.join(PRIMARY_PUBLIC);
    let is_there = key.exists() && public.exists();
    if !(is_chosen || is_there) {
        return Ok(Reach::unencrypted(endpoints, chosen.is_insecure));
    }
    let primary = chosen.server_key.clone();
    let primary = primary.unwrap_or_else(|| public.to_string_lossy().into_owned());
    Reach::with_keys(endpoints, &key, &primary)
}

/// Returns the folder of the user's keys that the environment or a file names.
pub fn keys_folder(security: &Security) -> Option<PathBuf> {
    let variable = std::env::var_os(KEYS_VARIABLE).filter(|path| !path.is_empty());
    variable
        .map(PathBuf::from)
        .or_else(|| security.keys.clone())
}

/// Returns the folder of a user's keys that is named, or that of every user; `None` without a home.
pub fn user_folder(named: Option<&Path>) -> Option<PathBuf> {
    let named = named.filter(|path| !path.as_os_str().is_empty());
    named.map(Path::to_owned).or_else(|| {
        let folders = directories::ProjectDirs::from("", "", "phalanx")?;
        Some(folders.config_dir().join("keys"))
    })
}

/// Makes a folder for its owner alone, unless it is there.
///
/// # Errors
/// Fails if it cannot be made.
pub fn make_private_folder(path: &Path) -> Result<(), RunKeysError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| RunKeysError::Io {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &str) -> Result<(), RunKeysError> {
    write_private(path, text).map_err(|source| RunKeysError::Io {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use transport::{Authorized, PublicKey};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_run_has_keys_of_its_own_that_others_cannot_read() {
        let run = tempfile::tempdir().unwrap();
        let keys = RunKeys::make(run.path(), None).unwrap();
        assert_eq!(mode(&run.path().join(KEYS_FOLDER)), 0o700);
        for secret in [&keys.primary, &keys.secondary, &keys.view] {
            assert_eq!(mode(secret), 0o600, "{}", secret.display());
        }
        let authorized = Authorized::read(&keys.authorized).unwrap();
        let access = |path: &Path| {
            let key = KeyPair::read(path).unwrap().public();
            authorized
                .holder(&key)
                .map(|holder| holder.access.to_string())
        };
        assert_eq!(access(&keys.secondary).as_deref(), Some("secondary"));
        assert_eq!(access(&keys.view).as_deref(), Some("controller"));
        assert_eq!(access(&keys.primary), None);
        let other = RunKeys::make(tempfile::tempdir().unwrap().path(), None);
        assert!(other.is_ok());
    }

    #[test]
    fn a_run_on_tcp_without_keys_is_insecure() {
        let folder = tempfile::tempdir().unwrap();
        let tcp = "tcp://127.0.0.1:5000";
        assert!(is_insecure(folder.path(), tcp));
        RunKeys::make(folder.path(), None).unwrap();
        assert!(!is_insecure(folder.path(), tcp));
        assert!(!is_insecure(Path::new("/nonexistent"), "ipc:///run/a"));
    }

    #[test]
    fn the_users_primary_key_and_list_serve_all_runs() {
        let user = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        key.write(user.path(), "primary", "primary", false).unwrap();
        std::fs::create_dir(user.path().join("authorized")).unwrap();
        let run = tempfile::tempdir().unwrap();
        let keys = RunKeys::make(run.path(), Some(user.path())).unwrap();
        assert_eq!(keys.primary, user.path().join("primary.key"));
        assert_eq!(PublicKey::read(&keys.primary_public).unwrap(), key.public());
        assert_eq!(keys.authorized[1], user.path().join("authorized"));
    }

    #[test]
    fn an_address_is_reached_by_the_keys_that_are_there() {
        let user = tempfile::tempdir().unwrap();
        let chosen = ChosenKeys {
            folder: Some(user.path().to_owned()),
            ..ChosenKeys::default()
        };
        let reach = |address: &str, chosen: &ChosenKeys| {
            let endpoints: Endpoints = address.parse().unwrap();
            let plain = Reach::from(endpoints.clone());
            reach_of_address(endpoints, chosen).map(|reach| reach != plain)
        };
        let (near, far) = ("tcp://127.0.0.1:5000", "tcp://192.0.2.1:5000");
        assert!(!reach(far, &chosen).unwrap(), "there are no keys");
        let named = ChosenKeys {
            key: Some(user.path().join("nowhere.key")),
            ..chosen.clone()
        };
        assert!(reach(far, &named).is_err(), "that key is not there");
        for name in ["observer", "primary"] {
            let key = KeyPair::generate().unwrap();
            key.write(user.path(), name, name, false).unwrap();
        }
        assert!(reach(far, &chosen).unwrap());
        assert!(!reach(near, &chosen).unwrap());
        assert!(!reach("ipc:///run/a", &chosen).unwrap());
        let named = ChosenKeys {
            key: Some(user.path().join("observer.key")),
            ..chosen
        };
        assert!(reach(near, &named).unwrap());
    }
}
