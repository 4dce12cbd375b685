//! One file: its text as a tree of the newest SDF version, includes not yet expanded.

use crate::problem::Problem;
use crate::report::Report;
use crate::tree::{self, Element};
use crate::{convert, schema, urdf};

/// Up to this version (without it) a link, joint, frame and model may have the same name.
const NAMES_ARE_UNIQUE: (u32, u32) = (1, 7);

/// A file as a tree.
pub(crate) struct Document {
    /// Its `<sdf>` element.
    pub(crate) root: Element,
    /// True if its version lets siblings of different kinds have one name.
    pub(crate) names_may_clash: bool,
}

/// Reads the text of a file and holds it against the specification.
///
/// # Errors
/// Fails if it is no XML, no SDF nor URDF, or of a version that is not read.
pub(crate) fn read(text: &str, file: &str, report: &mut Report) -> Result<Document, Problem> {
    let mut root = tree::parse(text, file)?;
    urdf::xacro::refuse(&root, text, file)?;
    let is_robot = urdf::is_robot(&root);
    if is_robot {
        root = urdf::convert(&root, report)?;
    }
    let names_may_clash = version(&root).is_some_and(|version| version < NAMES_ARE_UNIQUE);
    convert::upgrade(&mut root)?;
    schema::check(&mut root, report);
    if is_robot && let Some(model) = root.child_mut("model") {
        model.set_attribute(urdf::TEXT, text);
    }
    Ok(Document {
        root,
        names_may_clash,
    })
}

fn version(root: &Element) -> Option<(u32, u32)> {
    let (major, minor) = root.filled_attribute("version")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
