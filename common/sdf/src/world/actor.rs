//! Actors: people and other things that move by a script and not by forces.

use serde::{Deserialize, Serialize};

use super::{Collision, Content, Plugin, Script, Visual};
use crate::pose::Pose;

/// An `<actor>` of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actor {
    /// Its name.
    pub name: String,
    /// Pose, world frame; its script is relative to it.
    pub pose: Pose,
    /// Its look, if the file says so.
    pub skin: Option<Skin>,
    /// Motions of its limbs.
    pub animations: Vec<Animation>,
    /// Its path.
    pub script: Script,
    /// The collisions of all its links; poses are in its frame.
    pub collisions: Vec<Collision>,
    /// The element with everything in it.
    pub content: Content,
    /// The visuals of all its links; poses are in its frame.
    #[serde(default)]
    pub visuals: Vec<Visual>,
    /// Plugins that say what it is, such as its label.
    #[serde(default)]
    pub plugins: Vec<Plugin>,
    /// The file that it stands in, beside which the files of skin and animations are looked for.
    #[serde(default)]
    pub file: String,
}

impl Actor {
    /// Returns where it is at an elapsed time \[s\], world frame.
    pub fn place(&self, elapsed_s: f64) -> Pose {
        self.pose.then(&self.script.place(elapsed_s))
    }

    /// Returns the name under which its skin is kept, with the motions that go with it; `None`
    /// without a skin.
    pub fn skin_name(&self) -> Option<String> {
        let skin = self.skin.as_ref().filter(|skin| !skin.uri.is_empty())?;
        let motions = self.animations.iter().map(|animation| {
            let Animation { name, uri, .. } = animation;
            format!(" {name:?} {uri:?}")
        });
        // The same mesh may be that of a visual, which has no bones.
        Some(format!(
            "{} with bones{}",
            skin.uri,
            motions.collect::<String>()
        ))
    }
}

/// The mesh of an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skin {
    /// The file, as the world names it.
    pub uri: String,
    /// Factor.
    pub scale: f64,
}

/// Motion of an actor's limbs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Animation {
    /// Its name, which trajectories refer to.
    pub name: String,
    /// The file, as the world names it.
    pub uri: String,
    /// Factor of files in BVH, which are not read.
    pub scale: f64,
    /// True if it goes on with the distance that the actor covers, and not with time.
    pub interpolate_x: bool,
}
