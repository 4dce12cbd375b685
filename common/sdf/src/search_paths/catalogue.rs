//! [`FoundModel`]: the models that folders hold, for those who choose one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::model_folder::{LISTS, listed};
use super::{SearchPaths, read_text};
use crate::tree;

/// The most entries of a folder that are looked at.
const ENTRIES_MAX: usize = 10_000;
/// Ends of the names of files that may hold a model.
const MODEL_FILES: [&str; 2] = ["sdf", "urdf"];

/// A model that a folder holds; its file may be none, or be wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundModel {
    /// Its file.
    pub file: PathBuf,
    /// Text for people of its `model.config`; empty where there is none.
    pub description: String,
}

impl SearchPaths {
    /// Returns the folders in which it looks for models, in order.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Returns it with folders that are searched after the others.
    #[must_use]
    pub fn with_folders(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.folders.extend(folders);
        self
    }
}

/// Lists the models of a folder by the names of their files: those that are folders of their own,
/// and the SDF and URDF files in it.
///
/// # Errors
/// Fails if it is no folder, or the system refuses to list it.
pub fn models_in(folder: &Path) -> io::Result<Vec<FoundModel>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)?.take(ENTRIES_MAX) {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(of_folder(&path));
            continue;
        }
        let end = path.extension().and_then(|end| end.to_str());
        if path.is_file() && end.is_some_and(|end| MODEL_FILES.contains(&end)) {
            found.push(FoundModel {
                file: path,
                description: String::new(),
            });
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the model of a folder that is one.
fn of_folder(folder: &Path) -> Option<FoundModel> {
    let mut lists = LISTS.iter().map(|name| folder.join(name));
    let list = lists.find(|list| list.is_file())?;
    let text = read_text(&list).ok()?;
    let name = listed(&text, &list).ok()?;
    let root = tree::parse(&text, &list.to_string_lossy()).ok()?;
    let description = root.child("description").map(tree::Element::text);
    Some(FoundModel {
        file: folder.join(name),
        description: description.unwrap_or_default().into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_folders_with_a_list_and_files() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let config = "<model><name>Cup</name><sdf version='1.9'>cup.sdf</sdf>\
                      <description>\n  For\n  tea. </description></model>";
        write("cup/model.config", config);
        write("cup/cup.sdf", "");
        write("none/readme.sdf", "");
        write("arm.urdf", "");
        write("notes.txt", "");
        let found = models_in(root.path()).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|model| {
                let file = model.file.strip_prefix(root.path()).unwrap();
                (file.to_str().unwrap(), model.description.as_str())
            })
            .collect();
        assert_eq!(told, [("arm.urdf", ""), ("cup/cup.sdf", "For tea.")]);
        assert!(models_in(&root.path().join("notes.txt")).is_err());
    }
}
