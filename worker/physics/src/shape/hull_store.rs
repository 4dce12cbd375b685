//! [`HullStore`]: the hulls of meshes, kept in memory and, where there is a folder for them, on
//! disk.
//!
//! It changes when hulls are made, and never which: they are named by all that they are made of,
//! and what is read is what was computed, bit for bit. A file that is damaged is made anew, and a
//! folder that cannot be used is told once.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use protocol::Digest;
use rapier3d_f64::math::Vector;
use sdf::ConvexDecomposition;
use serde::{Deserialize, Serialize};

use super::decomposition;
use super::hull::Hull;
use super::triangles::Triangles;

/// Counts the changes of what hulls come out; part of their names.
const VERSION: u32 = 1;

/// The most bytes that files may take up before the oldest are removed.
const BYTES_MAX: u64 = 64 << 20;

/// Number of meshes whose hulls are kept in memory before they are read or made anew.
const KEPT_MAX: usize = 1024;

/// The store of this process.
static STORE: OnceLock<HullStore> = OnceLock::new();

/// Lets this process keep the hulls of meshes in a folder, which is made when it is needed. Comes
/// before any mesh, or has no effect.
pub fn keep_hulls_in(folder: PathBuf) {
    let store = HullStore {
        folder: Some(folder),
        ..HullStore::default()
    };
    if STORE.set(store).is_err() {
        tracing::debug!("hulls of meshes were made already: they are kept in memory alone");
    }
}

/// Returns the hulls of a mesh in pieces as fine as asked for; none when it spans no volume.
pub(super) fn decomposed(triangles: &Triangles, fineness: ConvexDecomposition) -> Arc<[Hull]> {
    let store = STORE.get_or_init(HullStore::default);
    store.hulls(triangles, Some(fineness), |_| ())
}

/// Returns as few hulls as a mesh needs that moves and of which nothing else was asked, and tells
/// of them the first time; none when it spans no volume.
pub(super) fn approximated(triangles: &Triangles, name: &str) -> Arc<[Hull]> {
    let store = STORE.get_or_init(HullStore::default);
    store.hulls(triangles, None, |hulls| {
        let corners: usize = hulls.iter().map(|hull| hull.corners.len()).sum();
        let what = match hulls.len() {
            1 => "its convex hull".to_owned(),
            count => format!("{count} convex hulls"),
        };
        tracing::info!(
            "mesh {name} moves and collides as {what}: {} triangles, {corners} corners; \
             optimization=\"mesh\" asks for the triangles",
            triangles.indices.len()
        );
    })
}

/// Hulls that one asks for first and others wait for.
type Entry = Arc<OnceLock<Arc<[Hull]>>>;

/// Hulls by the digest of all that they are made of.
#[derive(Default)]
struct HullStore {
    folder: Option<PathBuf>,
    made: Mutex<BTreeMap<Digest, Entry>>,
    was_told: AtomicBool,
}

/// What digests are made of.
#[derive(Serialize)]
struct Recipe<'a> {
    version: u32,
    fineness: Option<(u32, u32)>,
    vertices: &'a [[f64; 3]],
    triangles: &'a [[u32; 3]],
}

/// A hull in a file.
#[derive(Serialize, Deserialize)]
struct StoredHull {
    corners: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl HullStore {
    fn hulls(
        &self,
        triangles: &Triangles,
        fineness: Option<ConvexDecomposition>,
        tell: impl FnOnce(&[Hull]),
    ) -> Arc<[Hull]> {
        let digest = digest(triangles, fineness);
        let entry = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            if made.len() >= KEPT_MAX && !made.contains_key(&digest) {
                // Those that others wait for stay.
                made.retain(|_, entry| Arc::strong_count(entry) > 1);
            }
            Arc::clone(made.entry(digest).or_default())
        };
        // Others who need the same hulls wait for them here.
        let hulls = entry.get_or_init(|| {
            let hulls = self.read(digest).unwrap_or_else(|| {
                let hulls = match fineness {
                    None => decomposition::approximate(triangles),
                    Some(fineness) => decomposition::decompose(triangles, fineness),
                };
                self.write(digest, &hulls);
                hulls
            });
            tell(&hulls);
            hulls.into()
        });
        Arc::clone(hulls)
    }

    fn path(&self, digest: Digest) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.join(format!("{digest}.hulls")))
    }

    fn read(&self, digest: Digest) -> Option<Vec<Hull>> {
        decoded(&fs::read(self.path(digest)?).ok()?)
    }

    fn write(&self, digest: Digest, hulls: &[Hull]) {
        let (Some(path), Some(folder)) = (self.path(digest), &self.folder) else {
            return;
        };
        let written = encoded(hulls).and_then(|bytes| replace(folder, &path, &bytes));
        if let Err(error) = written.and_then(|()| remove_oldest(folder, BYTES_MAX))
            && !self.was_told.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "hulls of meshes are made in each run: cannot keep them in {}: {error}",
                folder.display()
            );
        }
    }
}

fn digest(triangles: &Triangles, fineness: Option<ConvexDecomposition>) -> Digest {
    let vertices: Vec<[f64; 3]> = triangles.vertices.iter().map(Vector::to_array).collect();
    let recipe = Recipe {
        version: VERSION,
        fineness: fineness.map(|f| (f.max_convex_hulls, f.voxel_resolution)),
        vertices: &vertices,
        triangles: &triangles.indices,
    };
    let bytes = postcard::to_stdvec(&recipe).expect("postcard can express lists of numbers");
    Digest::of_bytes(&bytes)
}

/// Returns the bytes of a file: the digest of the rest, then postcard.
fn encoded(hulls: &[Hull]) -> std::io::Result<Vec<u8>> {
    let hulls = hulls.iter().map(|hull| StoredHull {
        corners: hull.corners.iter().map(Vector::to_array).collect(),
        triangles: hull.triangles.clone(),
    });
    let hulls: Vec<StoredHull> = hulls.collect();
    let payload = postcard::to_stdvec(&hulls).map_err(std::io::Error::other)?;
    let mut bytes = Digest::of_bytes(&payload).0.to_le_bytes().to_vec();
    bytes.extend(payload);
    Ok(bytes)
}

/// Returns the hulls of a file; `None` when it is not whole.
fn decoded(bytes: &[u8]) -> Option<Vec<Hull>> {
    let (digest, payload) = bytes.split_first_chunk()?;
    if Digest::of_bytes(payload).0 != u128::from_le_bytes(*digest) {
        return None;
    }
    let stored: Vec<StoredHull> = postcard::from_bytes(payload).ok()?;
    let hulls = stored.into_iter().map(|hull| {
        let count = hull.corners.len();
        let is_there = |corner: &u32| (*corner as usize) < count;
        let is_whole = hull.triangles.iter().flatten().all(is_there);
        is_whole.then(|| Hull {
            corners: hull.corners.into_iter().map(Vector::from_array).collect(),
            triangles: hull.triangles,
        })
    });
    hulls.collect()
}

/// Writes a file as a whole or not at all.
fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// Removes the oldest files of a folder until the rest is small enough. Other processes may do the
/// same at the same time.
fn remove_oldest(folder: &Path, bytes_max: u64) -> std::io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
        {
            files.push((metadata.modified()?, entry.path(), metadata.len()));
        }
    }
    files.sort();
    let mut total: u64 = files.iter().map(|(_, _, bytes)| bytes).sum();
    for (_, path, bytes) in files {
        if total <= bytes_max {
            break;
        }
        // One that is gone already takes up nothing either.
        let _ = fs::remove_file(path);
        total -= bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mesh::TriangleMesh;

    use super::*;

    fn triangles() -> Triangles {
        let outline = [
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 0.5],
            [0.5, 0.5],
            [0.5, 3.0],
            [0.0, 3.0],
        ];
        let angle = TriangleMesh::extrude(&[outline.to_vec()], 1.0).unwrap();
        Triangles::new(&angle, [1.0; 3]).unwrap()
    }

    fn store(folder: &Path) -> HullStore {
        HullStore {
            folder: Some(folder.to_owned()),
            ..HullStore::default()
        }
    }

    fn only_file(folder: &Path) -> PathBuf {
        let mut files = fs::read_dir(folder).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none());
        file
    }

    #[test]
    fn what_is_read_is_what_was_computed() {
        let folder = tempfile::tempdir().unwrap();
        let computed = HullStore::default().hulls(&triangles(), None, |_| ());
        assert!(computed.len() > 1);
        assert_eq!(
            store(folder.path()).hulls(&triangles(), None, |_| ()),
            computed
        );
        let file = only_file(folder.path());
        let read = store(folder.path()).read(digest(&triangles(), None));
        assert_eq!(read.as_deref(), Some(&*computed));
        // It is read indeed: a file with another hull in it gives that one.
        fs::write(&file, encoded(&computed[..1]).unwrap()).unwrap();
        assert_eq!(
            *store(folder.path()).hulls(&triangles(), None, |_| ()),
            computed[..1]
        );
    }

    /// Stored hulls are read as long as this holds: where it must change, [`VERSION`] must too.
    #[test]
    fn hulls_come_out_as_their_version_says() {
        let computed = HullStore::default().hulls(&triangles(), None, |_| ());
        let digest = Digest::of_bytes(&encoded(&computed).unwrap());
        assert_eq!(
            (VERSION, digest.to_string().as_str()),
            (1, "bf90f4e97a8ab433d3f5805bb99114e8")
        );
    }

    #[test]
    fn damaged_files_are_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let computed = store(folder.path()).hulls(&triangles(), None, |_| ());
        let file = only_file(folder.path());
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for damaged in [&[], &whole[..7], &whole[..whole.len() - 1], &flipped] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(
                store(folder.path()).hulls(&triangles(), None, |_| ()),
                computed
            );
            assert_eq!(fs::read(&file).unwrap(), whole);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_used_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let store = store(&file.join("folder"));
        let computed = HullStore::default().hulls(&triangles(), None, |_| ());
        assert_eq!(store.hulls(&triangles(), None, |_| ()), computed);
        assert!(store.was_told.load(Ordering::Relaxed));
    }

    #[test]
    fn other_settings_are_other_hulls() {
        let fineness = |max_convex_hulls| ConvexDecomposition {
            max_convex_hulls,
            voxel_resolution: 10_000,
        };
        let store = HullStore::default();
        assert_eq!(
            store.hulls(&triangles(), Some(fineness(1)), |_| ()).len(),
            1
        );
        assert_eq!(
            store.hulls(&triangles(), Some(fineness(2)), |_| ()).len(),
            2
        );
        let mut wider = triangles();
        wider.vertices[0].x -= 1e-9;
        assert_ne!(digest(&wider, None), digest(&triangles(), None));
    }

    #[test]
    fn the_oldest_files_make_room() {
        let folder = tempfile::tempdir().unwrap();
        for age_s in [3, 1, 2, 4] {
            let path = folder.path().join(age_s.to_string());
            let file = fs::File::create(&path).unwrap();
            file.set_len(10).unwrap();
            let modified = SystemTime::now() - std::time::Duration::from_secs(age_s);
            file.set_modified(modified).unwrap();
        }
        remove_oldest(folder.path(), 25).unwrap();
        let left = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["1", "2"]);
    }
}
