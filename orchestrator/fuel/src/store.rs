//! [`Store`]: the folder in which fetched models and worlds are kept, with a record of each.
//!
//! A version is a folder that appears whole or not at all; beside it `VERSION.json` records its
//! address, the SHA-256 of its zip and of each file. Processes that fetch the same thing wait for
//! each other at a lock.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sdf::{CachedFuel, FuelAddress, FuelCaches, FuelResource};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::unpack::hex;

/// The folder below the store for what is not whole yet.
const PARTIAL: &str = ".partial";
/// The file beside the versions at which processes wait for each other.
const LOCK: &str = ".lock";
/// The file beside the versions that names the newest one.
const TIP: &str = "tip";
/// Age from which what is in [`PARTIAL`] belongs to no living process.
const PARTIAL_AGE_MAX: Duration = Duration::from_hours(24);
/// The most bytes of a record.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// A cache that belongs to Phalanx.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Record of a version that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its address, with the version.
    pub address: String,
    /// The SHA-256 of its zip.
    pub sha256: String,
    /// The number of bytes of its zip.
    pub packed_bytes: u64,
    /// The server's tag of the zip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Time at which it was fetched \[s since 1970\].
    pub fetched_unix_s: u64,
    /// Its files by name.
    pub files: Vec<RecordedFile>,
}

/// Record of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFile {
    /// Its path below the folder of the version.
    pub path: String,
    /// The number of its bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// A version in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its address.
    pub address: FuelAddress,
    /// Its folder.
    pub folder: PathBuf,
    /// True if addresses without a version mean it.
    pub is_tip: bool,
    /// Its record.
    pub record: Record,
}

/// A file that is not as it was fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Change {
    /// It is gone.
    #[error("{} is gone", .0.display())]
    Gone(PathBuf),
    /// It has other bytes.
    #[error("{} has changed", .0.display())]
    Changed(PathBuf),
    /// It was not there.
    #[error("{} was added", .0.display())]
    Added(PathBuf),
}

/// Reason why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no folder for it.
    #[error("there is no folder for models: this user has no home; set PHALANX_FUEL_CACHE to one")]
    NoFolder,
    /// The system refuses.
    #[error("cannot use {}; PHALANX_FUEL_CACHE names another folder", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
}

/// A place in the store that no other process changes as long as this lives.
#[derive(Debug)]
pub(crate) struct Locked {
    _file: File,
}

impl Store {
    /// Returns the store of this user, which need not be there yet.
    ///
    /// # Errors
    /// Fails if there is no place for it.
    pub fn of_user() -> Result<Self, StoreError> {
        let root = FuelCaches::own_folder().ok_or(StoreError::NoFolder)?;
        Ok(Self::new(root))
    }

    /// Returns the store in a folder.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the number of the version that addresses without one mean, if it was asked for.
    pub(crate) fn tip(&self, resource: &FuelResource) -> Option<u32> {
        let text = fs::read_to_string(self.place(resource).join(TIP)).ok()?;
        text.trim().parse().ok()
    }

    /// Waits until no other process fetches or removes a resource.
    pub(crate) fn lock(
        &self,
        resource: &FuelResource,
        waits: impl FnOnce(),
    ) -> Result<Locked, StoreError> {
        let place = self.place(resource);
        let path = place.join(LOCK);
        let failed = |source| StoreError::Io {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(&place).map_err(failed)?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waits();
                file.lock().map_err(failed)?;
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Locked { _file: file })
    }

    /// Makes a folder for what is not whole yet, and removes those that were left.
    pub(crate) fn partial(&self) -> Result<TempDir, StoreError> {
        let path = self.root.join(PARTIAL);
        let failed = |source| StoreError::Io {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(&path).map_err(failed)?;
        for entry in fs::read_dir(&path).map_err(failed)?.filter_map(Result::ok) {
            let changed = entry.metadata().and_then(|data| data.modified());
            let age = changed.map(|changed| SystemTime::now().duration_since(changed));
            if matches!(age, Ok(Ok(age)) if age > PARTIAL_AGE_MAX) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        TempDir::new_in(&path).map_err(failed)
    }

    /// Puts a version in its place, with its record; one that is there already is replaced. Who
    /// looks at it in between, without the lock, finds none or one that differs from its record.
    pub(crate) fn install(
        &self,
        address: &FuelAddress,
        unpacked: &Path,
        record: &Record,
    ) -> Result<CachedFuel, StoreError> {
        let version = address.version.unwrap_or(1);
        let place = self.place(&address.resource);
        let folder = place.join(version.to_string());
        let text = serde_json::to_string_pretty(record).unwrap_or_default();
        let failed = |source| StoreError::Io {
            path: folder.clone(),
            source,
        };
        if folder.exists() {
            fs::rename(&folder, unpacked.with_extension("replaced")).map_err(failed)?;
        }
        fs::rename(unpacked, &folder).map_err(failed)?;
        write_whole(&place.join(format!("{version}.json")), &text)?;
        Ok(CachedFuel {
            root: self.root.clone(),
            folder,
            version,
        })
    }

    /// Has addresses without a version mean this one.
    pub(crate) fn set_tip(&self, resource: &FuelResource, version: u32) -> Result<(), StoreError> {
        write_whole(&self.place(resource).join(TIP), &format!("{version}\n"))
    }

    /// Returns the record of a version, if it is in this store.
    pub fn record(&self, found: &CachedFuel) -> Option<Record> {
        let file = found
            .folder
            .with_file_name(format!("{}.json", found.version));
        if found.root != self.root || fs::metadata(&file).ok()?.len() > RECORD_BYTES_MAX {
            return None;
        }
        serde_json::from_slice(&fs::read(&file).ok()?).ok()
    }

    /// Tells whether a version that was found has no record where one belongs: it is not whole.
    pub(crate) fn lacks_record(&self, found: &CachedFuel) -> bool {
        found.root == self.root && self.record(found).is_none()
    }

    /// Compares the files of a version with its record.
    ///
    /// # Errors
    /// Returns the first difference, and files that cannot be read as changed.
    pub fn verify(folder: &Path, record: &Record) -> Result<(), Change> {
        let known: BTreeSet<PathBuf> = record
            .files
            .iter()
            .map(|file| folder.join(&file.path))
            .collect();
        for file in &record.files {
            let path = folder.join(&file.path);
            let Ok(data) = fs::symlink_metadata(&path) else {
                return Err(Change::Gone(path));
            };
            let is_same = data.is_file()
                && data.len() == file.bytes
                && digest_of(&path).is_ok_and(|digest| digest == file.sha256);
            if !is_same {
                return Err(Change::Changed(path));
            }
        }
        find_other(folder, &known).map_or(Ok(()), |added| Err(Change::Added(added)))
    }

    /// Returns all versions that it has, by address.
    pub fn list(&self) -> Vec<Stored> {
        let mut records = Vec::new();
        find_records(&self.root, 5, &mut records);
        let mut all: Vec<Stored> = records
            .into_iter()
            .filter_map(|file| self.stored(&file))
            .collect();
        all.sort_by(|one, other| one.address.cmp(&other.address));
        all
    }

    /// Removes a version, or all of a resource if the address has none; returns those removed.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn remove(&self, address: &FuelAddress) -> Result<Vec<Stored>, StoreError> {
        let is_meant = |stored: &Stored| {
            stored.address.resource == address.resource
                && (address.version.is_none() || address.version == stored.address.version)
        };
        let place = self.place(&address.resource);
        if !place.is_dir() {
            return Ok(Vec::new());
        }
        let _locked = self.lock(&address.resource, || {})?;
        let meant: Vec<Stored> = self.list().into_iter().filter(is_meant).collect();
        for stored in &meant {
            let failed = |source| StoreError::Io {
                path: stored.folder.clone(),
                source,
            };
            // Without its record a folder is no version of ours.
            if let Err(error) = fs::remove_dir_all(&stored.folder)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(failed(error));
            }
            let version = stored.address.version.unwrap_or_default();
            fs::remove_file(place.join(format!("{version}.json"))).map_err(failed)?;
            if stored.is_tip {
                fs::remove_file(place.join(TIP)).map_err(failed)?;
            }
        }
        Ok(meant)
    }

    fn stored(&self, file: &Path) -> Option<Stored> {
        let folder = file.with_extension("");
        let found = CachedFuel {
            root: self.root.clone(),
            version: folder.file_name()?.to_str()?.parse().ok()?,
            folder,
        };
        let record = self.record(&found)?;
        let address = FuelAddress::parse(&record.address)?;
        Some(Stored {
            is_tip: self.tip(&address.resource) == Some(found.version),
            address,
            folder: found.folder,
            record,
        })
    }

    fn place(&self, resource: &FuelResource) -> PathBuf {
        self.root.join(resource.folder())
    }
}

/// Writes a file that is there as a whole or not at all, for all who may read its folder.
fn write_whole(path: &Path, text: &str) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::Builder::new();
    let file = file.permissions(fs::Permissions::from_mode(0o666));
    let mut file = file.tempfile_in(folder).map_err(failed)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&digest.finalize())),
            count => digest.update(&piece[..count]),
        }
    }
}

/// Returns a file below a folder that is not among those known, if there is one.
fn find_other(folder: &Path, known: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    entries.map(|entry| entry.path()).find_map(|path| {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
        if is_folder {
            find_other(&path, known)
        } else {
            (!known.contains(&path)).then_some(path)
        }
    })
}

/// Finds the records so many folders deep: `HOST/OWNER/models/NAME/VERSION.json`.
fn find_records(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden {
            continue;
        }
        let is_record = path.extension().is_some_and(|end| end == "json");
        if depth == 1 && is_record && path.is_file() {
            found.push(path);
        } else if depth > 1 && path.is_dir() {
            find_records(&path, depth - 1, found);
        }
    }
}
