//! Folders of the repository.

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
///
/// # Panics
/// Never: this crate is a folder below the root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is below the root")
        .to_path_buf()
}

/// Returns a folder of real Gazebo and SDFormat worlds that stands beside the repository where the
/// project is developed, if it is there.
pub fn corpus() -> Option<PathBuf> {
    let corpus = root().parent()?.join("shared/corpus");
    corpus.is_dir().then_some(corpus)
}
