//! One file: its text as a tree of the newest SDF version, includes not yet expanded.

use crate::convert;
use crate::problem::Problem;
use crate::tree::{self, Element};

/// Up to this version (without it) a link, joint, frame and model may have the same name.
const NAMES_ARE_UNIQUE: (u32, u32) = (1, 7);

/// A file as a tree.
pub(crate) struct Document {
    /// Its `<sdf>` element.
    pub(crate) root: Element,
    /// Whether its version lets siblings of different kinds have one name.
    pub(crate) names_may_clash: bool,
}

/// Reads the text of a file.
///
/// # Errors
/// When it is no XML, no SDF, or of a version that is not read.
pub(crate) fn read(text: &str, file: &str) -> Result<Document, Problem> {
    let mut root = tree::parse(text, file)?;
    let names_may_clash = version(&root).is_some_and(|version| version < NAMES_ARE_UNIQUE);
    convert::upgrade(&mut root)?;
    Ok(Document {
        root,
        names_may_clash,
    })
}

fn version(root: &Element) -> Option<(u32, u32)> {
    let (major, minor) = root.filled_attribute("version")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
