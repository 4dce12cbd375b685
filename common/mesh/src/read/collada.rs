//! Collada: the geometry of the nodes of the scene, as the nodes place it.
//!
//! As in Gazebo, submeshes are named by nodes, `<unit>` scales, `<up_axis>` is passed over, and
//! skins show their geometry as it was drawn, without bind shape and joints, unless these are asked
//! for.

mod geometry;
mod material;
mod scene;
mod skin;
mod tree;

use super::gathering::Gathering;
use super::{MeshProblem, SideFile};
use tree::Document;

/// Reads a file.
pub(super) fn read(
    bytes: &[u8],
    side_file: &SideFile<'_>,
    gathering: &mut Gathering,
) -> Result<(), MeshProblem> {
    let text = String::from_utf8_lossy(bytes);
    let root = tree::parse(&text, gathering.wants_looks(), gathering.wants_skeleton())?;
    if root.name != "COLLADA" {
        let message = format!("the root element is <{}>, not <COLLADA>", root.name);
        return Err(root.malformed(message));
    }
    scene::gather(&Document::new(&root), side_file, gathering)
}
