//! Tells the program which target it was built for and what sources it was built from, so that a
//! handshake can refuse a peer that could compute other bits.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .parent()
        .expect("the worker is in a workspace")
        .to_path_buf();
    let mut files = Vec::new();
    for place in ["common", "worker", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(place).display());
        collect(&root.join(place), &mut files);
    }
    files.sort();
    let mut bytes = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("files are below the root");
        bytes.extend_from_slice(name.to_string_lossy().as_bytes());
        bytes.extend_from_slice(&fs::read(&file).expect("a file that was just listed is there"));
    }
    let digest = twox_hash::XxHash3_128::oneshot(&bytes);
    println!("cargo::rustc-env=PHALANX_SOURCES={digest:032x}");
    let target = std::env::var("TARGET").expect("cargo sets it");
    println!("cargo::rustc-env=PHALANX_TARGET={target}");
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) {
    if place.is_file() {
        files.push(place.to_path_buf());
        return;
    }
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_source = path
            .extension()
            .is_some_and(|kind| kind == "rs" || kind == "toml");
        if path.is_dir() || is_source {
            collect(&path, files);
        }
    }
}
