//! [`SearchPaths`]: files of this machine, found as Gazebo finds models. Never goes to a network.

use std::fs;
use std::path::{Path, PathBuf};

use crate::encoding::decode_text;
use crate::resolve::{ResolveError, ResolvedFile, Resolver};
use crate::tree;

/// Looks for a URI beside the including file, then in a list of folders.
///
/// `model://NAME/rest`, `file://...`, relative and bare names are understood. A folder stands for
/// the file that its `model.config` names, or else for its `model.sdf`.
#[derive(Clone, Debug, Default)]
pub struct SearchPaths {
    folders: Vec<PathBuf>,
}

impl SearchPaths {
    /// Makes a resolver that searches these folders in order.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
        }
    }

    /// Makes a resolver that searches the folders listed in `PHALANX_RESOURCE_PATH`, then those in
    /// `GZ_SIM_RESOURCE_PATH`.
    pub fn from_environment() -> Self {
        let lists = ["PHALANX_RESOURCE_PATH", "GZ_SIM_RESOURCE_PATH"];
        let lists: Vec<_> = lists.into_iter().filter_map(std::env::var_os).collect();
        let folders = lists.iter().flat_map(std::env::split_paths);
        Self::new(folders.filter(|folder| !folder.as_os_str().is_empty()))
    }

    fn candidates(&self, uri: &str, from_file: &str) -> Vec<PathBuf> {
        let path = ["model://", "package://", "file://"]
            .iter()
            .find_map(|scheme| uri.strip_prefix(scheme))
            .unwrap_or(uri);
        let beside = Path::new(from_file)
            .parent()
            .unwrap_or(Path::new(""))
            .to_owned();
        let mut candidates = vec![beside.join(path)];
        let relative = path.trim_start_matches('/');
        candidates.extend(self.folders.iter().map(|folder| folder.join(relative)));
        candidates
    }
}

impl Resolver for SearchPaths {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let known = ["model://", "package://", "file://"];
        if uri.contains("://") && !known.iter().any(|scheme| uri.starts_with(scheme)) {
            let message = "only files of this machine can be included".to_owned();
            return Err(ResolveError::NotFound(message));
        }
        for candidate in self.candidates(uri, from_file) {
            let file = if candidate.is_dir() {
                model_file(&candidate)?
            } else {
                Some(candidate)
            };
            if let Some(file) = file.filter(|file| file.is_file()) {
                return Ok(ResolvedFile {
                    text: read_text(&file)?,
                    file: file.to_string_lossy().into_owned(),
                });
            }
        }
        let searched = self.folders.len();
        let message = format!("no such model beside the file nor in {searched} model folders");
        Err(ResolveError::NotFound(message))
    }
}

/// Returns the SDF file of a model's folder: the one of the highest version in `model.config`.
fn model_file(folder: &Path) -> Result<Option<PathBuf>, ResolveError> {
    let config = folder.join("model.config");
    if config.is_file() {
        let text = read_text(&config)?;
        let root = tree::parse(&text, &config.to_string_lossy())
            .map_err(|problem| ResolveError::NotFound(problem.to_string()))?;
        let version = |sdf: &tree::Element| {
            let text = sdf.attribute("version").unwrap_or_default();
            text.split('.')
                .map(|part| part.parse::<u32>().unwrap_or(0))
                .collect::<Vec<_>>()
        };
        if let Some(sdf) = root.children_named("sdf").max_by_key(|sdf| version(sdf)) {
            return Ok(Some(folder.join(sdf.text())));
        }
    }
    let plain = folder.join("model.sdf");
    Ok(plain.is_file().then_some(plain))
}

fn read_text(file: &Path) -> Result<String, ResolveError> {
    let unreadable = |source| ResolveError::Unreadable {
        file: file.to_string_lossy().into_owned(),
        source,
    };
    let bytes = fs::metadata(file).map_err(unreadable)?.len();
    if bytes > tree::TEXT_BYTES_MAX as u64 {
        return Err(unreadable(std::io::ErrorKind::FileTooLarge.into()));
    }
    let bytes = fs::read(file).map_err(unreadable)?;
    decode_text(bytes).map_err(|error| unreadable(std::io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, expect: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        put("worlds/beside.sdf", "beside");
        put("models/plain/model.sdf", "plain");
        put("models/plain/part.sdf", "part");
        let sdf = |version: &str, file: &str| format!("<sdf version='{version}'>{file}</sdf>");
        let both = sdf("1.9", "old.sdf") + &sdf("1.10", "new.sdf");
        put(
            "models/listed/model.config",
            &format!("<model>{both}</model>"),
        );
        put("models/listed/new.sdf", "new");
        let resolver = SearchPaths::new([root.path().join("models")]);
        let from = root.path().join("worlds/world.sdf");
        let found = resolver.read(uri, &from.to_string_lossy());
        assert_eq!(
            found.map(|found| found.text).ok().as_deref(),
            expect,
            "{uri}"
        );
    }

    #[test]
    fn models_are_found_beside_the_file_and_in_the_folders() {
        check("beside.sdf", Some("beside"));
        check("file://beside.sdf", Some("beside"));
        check("model://plain", Some("plain"));
        check("plain", Some("plain"));
        check("model://plain/part.sdf", Some("part"));
        check("model://listed", Some("new"));
    }

    #[test]
    fn what_is_elsewhere_is_not_found() {
        check("model://gone", None);
        check("model://plain/gone.sdf", None);
        check("https://fuel.example.org/plain", None);
    }
}
