//! [`Assets`]: meshes and textures of scenes, by their content.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use protocol::Digest;

/// The format of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MediaType {
    /// A mesh with materials and textures, as GLB.
    Glb,
    /// A texture, as PNG.
    Png,
    /// A texture, as JPEG.
    Jpeg,
}

impl MediaType {
    const ALL: [Self; 3] = [Self::Glb, Self::Png, Self::Jpeg];

    /// Returns its name in HTTP: `model/gltf-binary`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Glb => "model/gltf-binary",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// Returns the end of a file's name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }
}

/// The content of an asset, and its format: as text `0123...cdef.glb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AssetId {
    /// Fingerprint of its bytes.
    pub digest: Digest,
    /// Its format.
    pub media_type: MediaType,
}

impl AssetId {
    /// Returns the path by which scenes refer to it: `/assets/ID.glb`.
    pub fn path(&self) -> String {
        format!("/assets/{self}")
    }
}

impl fmt::Display for AssetId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.digest, self.media_type.extension())
    }
}

/// Text that names no asset.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("an asset is 32 hexadecimal digits with .glb, .png or .jpg, and {0:?} is not")]
pub struct ParseAssetIdError(String);

impl FromStr for AssetId {
    type Err = ParseAssetIdError;

    /// Reads a name, with or without `/assets/` before it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseAssetIdError(text.chars().take(60).collect());
        let name = text.strip_prefix("/assets/").unwrap_or(text);
        let (digest, extension) = name.split_once('.').ok_or_else(error)?;
        let mut types = MediaType::ALL.into_iter();
        let media_type = types.find(|media_type| media_type.extension() == extension);
        Ok(Self {
            digest: digest.parse().map_err(|_| error())?,
            media_type: media_type.ok_or_else(error)?,
        })
    }
}

/// A mesh or texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// Its name by content.
    pub id: AssetId,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// The most bytes that all assets have together.
const BYTES_MAX: usize = 1 << 30;

/// Reason why an asset is left out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AssetsError {
    /// All together would be too large.
    #[error("a file is not drawn, since all files together would have more than {BYTES_MAX} bytes")]
    Full,
}

/// Meshes and textures of scenes, each once.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    by_id: BTreeMap<AssetId, Arc<[u8]>>,
    bytes: usize,
}

impl Assets {
    /// Keeps some bytes, and returns their name.
    ///
    /// # Errors
    /// Fails if all assets together would have too many bytes.
    pub fn keep(&mut self, media_type: MediaType, bytes: Vec<u8>) -> Result<AssetId, AssetsError> {
        let id = AssetId {
            digest: Digest::of_bytes(&bytes),
            media_type,
        };
        if !self.by_id.contains_key(&id) {
            if self.bytes + bytes.len() > BYTES_MAX {
                return Err(AssetsError::Full);
            }
            self.bytes += bytes.len();
            self.by_id.insert(id, bytes.into());
        }
        Ok(id)
    }

    /// Keeps an asset of others; one for which there is no room is not drawn.
    pub(crate) fn share(&mut self, asset: Asset) {
        let length = asset.bytes.len();
        if !self.by_id.contains_key(&asset.id) && self.bytes + length <= BYTES_MAX {
            self.bytes += length;
            self.by_id.insert(asset.id, asset.bytes);
        }
    }

    /// Drops all assets that a scene does not name.
    pub fn retain(&mut self, is_named: impl Fn(&AssetId) -> bool) {
        self.by_id.retain(|id, _| is_named(id));
        self.bytes = self.by_id.values().map(|bytes| bytes.len()).sum();
    }

    /// Returns an asset.
    pub fn get(&self, id: &AssetId) -> Option<Asset> {
        let bytes = Arc::clone(self.by_id.get(id)?);
        Some(Asset { id: *id, bytes })
    }

    /// Returns the names of all assets.
    pub fn ids(&self) -> impl Iterator<Item = AssetId> {
        self.by_id.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_found_by_the_name_that_its_content_gives_it() {
        let mut assets = Assets::default();
        let id = assets.keep(MediaType::Png, vec![1, 2, 3]).unwrap();
        assert_eq!(Ok(id), assets.keep(MediaType::Png, vec![1, 2, 3]));
        assert_eq!(assets.ids().count(), 1);
        let back: AssetId = id.path().parse().unwrap();
        assert_eq!(back, id);
        assert_eq!(&*assets.get(&back).unwrap().bytes, [1, 2, 3]);
        for wrong in ["", "x.png", "../../etc/passwd", "/assets/00.glb"] {
            assert!(wrong.parse::<AssetId>().is_err(), "{wrong}");
        }
    }
}
