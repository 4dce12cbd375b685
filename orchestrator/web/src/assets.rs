//! [`Assets`]: meshes and textures that clients fetch, by the digests of their contents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// A mesh or a texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its media type, such as `model/gltf-binary`.
    pub kind: &'static str,
    /// Its content.
    pub bytes: Bytes,
}

/// All assets of the scene that is shown, shared by the hub and by connections.
#[derive(Clone, Debug, Default)]
pub struct Assets(Arc<Mutex<BTreeMap<String, Asset>>>);

impl Assets {
    /// Returns an asset by its name, such as `0123abcd.glb`.
    pub fn find(&self, name: &str) -> Option<Asset> {
        self.lock().get(name).cloned()
    }

    /// Takes these assets in place of all others.
    pub fn replace(&self, assets: BTreeMap<String, Asset>) {
        *self.lock() = assets;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Asset>> {
        // Nothing that holds the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
