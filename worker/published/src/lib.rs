//! [`copy()`]: sources of a published crate in the build folder of one of ours, with [`Edit`]s.
//!
//! Cargo tells where the sources are: the optional dependency of the feature `sources` names them
//! and is never compiled. An edit whose text is not found exactly once ends the build, so that
//! another version of the sources cannot be built unseen.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A text of a file and the text that takes its place.
pub struct Edit {
    /// The file, in the folder of the sources.
    pub file: &'static str,
    /// The text, which is there once.
    pub from: &'static str,
    /// The text in its place.
    pub to: &'static str,
}

/// Copies the sources of a package to the build folder, applies edits, and returns the folder of
/// the copy. For build scripts.
///
/// # Panics
/// Panics, which ends the build, if the sources cannot be found or copied, or are others than those
/// that the edits are for.
#[expect(clippy::print_stdout, reason = "cargo reads what build scripts print")]
pub fn copy(package: &str, edits: &[Edit]) -> PathBuf {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=Cargo.toml");
    let sources = find_sources(package).join("src");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo names the folder")).join("src");
    let _ = fs::remove_dir_all(&target);
    copy_folder(&sources, &target).expect("the sources can be copied");
    for edit in edits {
        apply(edit, &target);
    }
    target
}

/// Leaves what may be included into another crate root: no inner attributes, no documentation of
/// the crate and no names of other crates, which `src/lib.rs` has. The rest begins with a text.
///
/// # Panics
/// Panics, which ends the build, if the root has no such text.
pub fn strip_root(folder: &Path, begin: &str) {
    let path = folder.join("lib.rs");
    let text = fs::read_to_string(&path).expect("the sources have a root");
    let (_, rest) = text
        .split_once(begin)
        .expect("the root has what it begins with");
    fs::write(path, format!("{begin}{rest}")).expect("the folder can be written");
}

/// Returns the folder of the published package, which cargo fetches where it is not here yet.
fn find_sources(name: &str) -> PathBuf {
    let metadata = |offline: &[&str]| {
        let cargo = env::var("CARGO").expect("cargo names itself");
        let output = Command::new(cargo)
            .args([
                "metadata",
                "--format-version=1",
                "--features=sources",
                "--manifest-path",
            ])
            .arg(
                Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo"))
                    .join("Cargo.toml"),
            )
            .args(offline)
            .output()
            .expect("cargo can be started");
        output.status.success().then_some(output.stdout)
    };
    let text = metadata(&["--offline"])
        .or_else(|| metadata(&[]))
        .expect("the sources can be fetched; `cargo fetch` does so beforehand");
    let metadata: serde_json::Value = serde_json::from_slice(&text).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages.iter().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.expect("the optional dependency is among the packages"));
    manifest
        .parent()
        .expect("a manifest is in a folder")
        .to_path_buf()
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // Copied by its contents: files of a registry may be read-only.
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn apply(edit: &Edit, folder: &Path) {
    let path = folder.join(edit.file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", edit.file));
    let found = text.matches(edit.from).count();
    assert_eq!(found, 1, "{} has {:?} {found} times", edit.file, edit.from);
    fs::write(path, text.replacen(edit.from, edit.to, 1)).expect("the build folder can be written");
}
