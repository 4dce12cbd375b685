//! Keys of a test: a primary's, and those of who may connect to it, in files of a folder.

use std::path::{Path, PathBuf};

use protocol::Access;
use transport::zeromq::Curve;
use transport::{KeyPair, PublicKey};

/// A folder with a primary's key and a list of who may connect, to which it adds.
#[derive(Debug)]
pub struct KeyRing {
    folder: PathBuf,
    primary: PublicKey,
}

impl KeyRing {
    /// Makes the folder.
    ///
    /// # Panics
    /// Panics if it cannot be made.
    pub fn new(folder: PathBuf) -> Self {
        std::fs::create_dir_all(folder.join("authorized")).expect("a folder can be made");
        let key = KeyPair::generate().expect("a key can be made");
        key.write(&folder, "primary", "primary", false)
            .expect("a key can be written");
        let primary = key.public();
        Self { folder, primary }
    }

    /// Makes a key that is let in with a role.
    ///
    /// # Panics
    /// Panics if it cannot be written.
    pub fn add(&self, name: &str, access: Access) -> KeyPair {
        let key = self.stranger(name);
        let line = format!("{access} {} {name}\n", key.public());
        let path = self.folder.join("authorized").join(format!("{name}.pub"));
        std::fs::write(path, line).expect("a line can be written");
        key
    }

    /// Makes a key that is not let in.
    ///
    /// # Panics
    /// Panics if it cannot be written.
    pub fn stranger(&self, name: &str) -> KeyPair {
        let key = KeyPair::generate().expect("a key can be made");
        key.write(&self.folder, name, "observer", false)
            .expect("a key can be written");
        key
    }

    /// Returns how the owner of a key reaches the primary.
    pub fn curve(&self, key: &KeyPair) -> Curve {
        Curve::Peer {
            key: key.clone(),
            primary: self.primary.into(),
        }
    }

    /// Returns the flags of the primary.
    pub fn of_primary(&self) -> Vec<String> {
        vec![
            flag("--key", &self.folder.join("primary.key")),
            flag("--authorized", &self.folder.join("authorized")),
        ]
    }

    /// Returns the flags of a secondary with one of the keys.
    pub fn of_secondary(&self, name: &str) -> Vec<String> {
        vec![
            flag("--key", &self.file(name)),
            flag("--server-key", &self.folder.join("primary.pub")),
        ]
    }

    /// Returns the file of a secret key.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.key"))
    }
}

fn flag(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}
