//! The folder of a model: which of its files is meant.

use std::path::{Path, PathBuf};

use super::read_text;
use crate::resolve::ResolveError;
use crate::tree::{self, Element};

/// The files that list those of a model, the present one and the old one.
pub(super) const LISTS: [&str; 2] = ["model.config", "manifest.xml"];
/// The newest SDF version that is read.
const NEWEST: [u32; 2] = [1, 12];

/// Returns the SDF file of a model's folder: the one of the newest version that can be read
/// (`getBestSupportedModelVersion` in libsdformat's parser.cc).
pub(super) fn best_file(folder: &Path) -> Result<PathBuf, ResolveError> {
    let mut lists = LISTS.iter().map(|name| folder.join(name));
    let list = lists.find(|list| list.is_file());
    let list = list.ok_or_else(|| no_list(folder))?;
    Ok(folder.join(listed(&read_text(&list)?, &list)?))
}

/// Says that a folder is not that of a model.
pub(super) fn no_list(folder: &Path) -> ResolveError {
    let folder = folder.display();
    ResolveError::NotFound(format!("the folder {folder} has no model.config"))
}

/// Returns the name that a list, with this text, gives the file.
pub(super) fn listed(text: &str, list: &Path) -> Result<String, ResolveError> {
    let unusable = |why: String| ResolveError::NotFound(format!("{}: {why}", list.display()));
    let root = tree::parse(text, &list.to_string_lossy())
        .map_err(|problem| ResolveError::NotFound(problem.to_string()))?;
    if root.name != "model" {
        return Err(unusable("the root element must be <model>".to_owned()));
    }
    best_name(&root)
        .ok_or_else(|| unusable("no <sdf> names a file of a version that is read".to_owned()))
}

fn best_name(root: &Element) -> Option<String> {
    let mut best = root.child("sdf")?;
    let mut best_version = Vec::new();
    for sdf in root.children_named("sdf") {
        let version = version(sdf);
        if version > best_version && version.as_slice() <= NEWEST.as_slice() {
            (best, best_version) = (sdf, version);
        }
    }
    let name = best.text();
    (!name.is_empty()).then(|| name.into_owned())
}

/// Returns the numbers of a version, none where it has none.
fn version(sdf: &Element) -> Vec<u32> {
    let text = sdf.filled_attribute("version").unwrap_or_default();
    let numbers = text.split('.').map_while(|part| part.parse().ok());
    numbers.collect()
}
