//! [`SceneFetch`]: what is drawn of a run, fetched from its primary part by part.

use std::time::Duration;

use protocol::primary_to_client::Reply;
use protocol::report::ScenePart;
use protocol::{Command, Digest, FailureCode};
use scene::{Assets, AssetsError, Scene};

use super::{AskError, Connection, Reach, ask_over};

/// Time that is given to one answer: the first makes the scene, which may have many meshes.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Time after which a question is asked again that came too soon.
const PAUSE: Duration = Duration::from_millis(100);

/// The most bytes of a scene as JSON, and of an asset.
const BYTES_MAX: u64 = 1 << 30;

/// Number of times that a scene which changes while it is fetched is begun anew.
const ATTEMPTS: u32 = 5;

/// Reason why a scene cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchSceneError {
    /// The primary does not answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The primary refuses.
    #[error("{0}")]
    Refused(String),
    /// Content that does not fit its announced digest or size.
    #[error("the primary sent a scene that is broken")]
    Broken,
    /// It changes faster than it is fetched.
    #[error("the scene changes faster than it is fetched")]
    Restless,
    /// It has too many meshes and textures.
    #[error(transparent)]
    Assets(#[from] AssetsError),
}

/// Drawn content of a run.
#[derive(Default)]
pub struct SceneFetch {
    digest: Option<Digest>,
    assets: Assets,
}

impl SceneFetch {
    /// Fetches the scene with all its assets, and returns it if it is another than the last time.
    /// Only assets that are not here are fetched.
    ///
    /// # Errors
    /// Fails if the primary does not answer, or what it sends is broken or too large.
    pub async fn fetch(&mut self, reach: &Reach) -> Result<Option<Scene>, FetchSceneError> {
        let mut asking = Asking::open(reach)?;
        'anew: for _ in 0..ATTEMPTS {
            let Some((digest, scene)) = asking.scene(self.digest).await? else {
                continue;
            };
            let Some(scene) = scene else {
                return Ok(None);
            };
            let named = scene.assets();
            for id in &named {
                if self.assets.get(id).is_some() {
                    continue;
                }
                let name = id.to_string();
                // It is gone with the model that it was of.
                let Some(first) = asking.part(Some(&name), 0).await? else {
                    continue 'anew;
                };
                let Some(bytes) = asking.rest(Some(&name), first).await? else {
                    continue 'anew;
                };
                if self.assets.keep(id.media_type, bytes)? != *id {
                    return Err(FetchSceneError::Broken);
                }
            }
            self.assets.retain(|id| named.contains(id));
            self.digest = Some(digest);
            return Ok(Some(scene));
        }
        Err(FetchSceneError::Restless)
    }

    /// Fetches the scene without its assets, and returns it if it is another than the last time.
    ///
    /// # Errors
    /// Fails if the primary does not answer, or what it sends is broken or too large.
    pub async fn fetch_alone(&mut self, reach: &Reach) -> Result<Option<Scene>, FetchSceneError> {
        let mut asking = Asking::open(reach)?;
        for _ in 0..ATTEMPTS {
            if let Some((digest, scene)) = asking.scene(self.digest).await? {
                self.digest = Some(digest);
                return Ok(scene);
            }
        }
        Err(FetchSceneError::Restless)
    }

    /// Has the next scene returned, be it that of before. Its assets need not be fetched again.
    pub fn forget(&mut self) {
        self.digest = None;
    }

    /// Returns the assets of the scene that was fetched last.
    pub fn assets(&self) -> &Assets {
        &self.assets
    }
}

/// A connection that asks for parts.
struct Asking<'r> {
    connection: Connection,
    reach: &'r Reach,
}

impl<'r> Asking<'r> {
    fn open(reach: &'r Reach) -> Result<Self, AskError> {
        let connection = Connection::open(reach, false)?;
        Ok(Self { connection, reach })
    }

    /// Asks for the scene, and returns its digest, and the scene itself if that is another than the
    /// one that is known; none if it changed meanwhile.
    async fn scene(
        &mut self,
        known: Option<Digest>,
    ) -> Result<Option<(Digest, Option<Scene>)>, FetchSceneError> {
        let Some(first) = self.part(None, 0).await? else {
            return Err(FetchSceneError::Broken);
        };
        let digest = first.digest;
        if known == Some(digest) {
            return Ok(Some((digest, None)));
        }
        let Some(text) = self.rest(None, first).await? else {
            return Ok(None);
        };
        let scene = serde_json::from_slice(&text).map_err(|_| FetchSceneError::Broken)?;
        Ok(Some((digest, Some(scene))))
    }

    /// Asks for a part; there is none if the primary has no such asset any more.
    async fn part(
        &mut self,
        asset: Option<&str>,
        offset: u64,
    ) -> Result<Option<ScenePart>, FetchSceneError> {
        loop {
            let command = Command::Scene {
                asset: asset.map(str::to_owned),
                offset,
            };
            let asked = ask_over(&mut self.connection, self.reach, command, TIMEOUT);
            match asked.await? {
                Reply::Scene(part) if part.offset == offset && part.total <= BYTES_MAX => {
                    return Ok(Some(*part));
                }
                Reply::Failed {
                    code: FailureCode::TooMuch,
                    ..
                } => tokio::time::sleep(PAUSE).await,
                Reply::Failed {
                    code: FailureCode::NotFound,
                    ..
                } => return Ok(None),
                Reply::Failed { reason, .. } => return Err(FetchSceneError::Refused(reason)),
                _ => return Err(FetchSceneError::Broken),
            }
        }
    }

    /// Asks for all that follows the first part, and returns the whole; none if it changed
    /// meanwhile.
    async fn rest(
        &mut self,
        asset: Option<&str>,
        first: ScenePart,
    ) -> Result<Option<Vec<u8>>, FetchSceneError> {
        let (digest, total) = (first.digest, first.total);
        let mut bytes = first.bytes;
        while (bytes.len() as u64) < total {
            let next = self.part(asset, bytes.len() as u64).await?;
            let Some(part) = next.filter(|part| part.digest == digest) else {
                return Ok(None);
            };
            if part.bytes.is_empty() {
                return Err(FetchSceneError::Broken);
            }
            bytes.extend_from_slice(&part.bytes);
        }
        if bytes.len() as u64 != total || Digest::of_bytes(&bytes) != digest {
            return Err(FetchSceneError::Broken);
        }
        Ok(Some(bytes))
    }
}
