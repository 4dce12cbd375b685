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

/// All assets of the scene that is shown, and the layout that shows it in Foxglove, shared by the
/// hub and by connections.
#[derive(Clone, Debug, Default)]
pub struct Assets(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    assets: BTreeMap<String, Asset>,
    /// Nothing until it is known what the run has.
    layout: Option<Bytes>,
}

impl Assets {
    /// Returns an asset by its name, such as `0123abcd.glb`.
    pub fn find(&self, name: &str) -> Option<Asset> {
        self.lock().assets.get(name).cloned()
    }

    /// Takes these assets in place of all others.
    pub fn replace(&self, assets: BTreeMap<String, Asset>) {
        self.lock().assets = assets;
    }

    /// Returns the layout for Foxglove, as JSON, once it is known what the run has.
    pub fn layout(&self) -> Option<Bytes> {
        self.lock().layout.clone()
    }

    /// Takes another layout for Foxglove, or none.
    pub fn set_layout(&self, layout: Option<Bytes>) {
        self.lock().layout = layout;
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Nothing that holds the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
