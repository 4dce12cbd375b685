//! Puts the files of the page into the program, each with a digest of its content.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folder of the page.
const PAGE: &str = "page";
/// Its first file.
const INDEX: &str = "index.html";
/// The file that is shown where there is no page.
const INSTEAD: &str = "src/no_page.html";
/// Folders in it that no browser asks for.
const NOT_SERVED: &[&str] = &["test", "node_modules"];
/// Files in it that no browser asks for.
const NOT_SERVED_FILES: &[&str] = &["package.json", "package-lock.json", "tsconfig.json"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PAGE}");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo names the folder"));
    let mut files = Vec::new();
    if root.join(PAGE).join(INDEX).exists() {
        collect(&root.join(PAGE), &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for path in files {
        let inner = path
            .strip_prefix(root.join(PAGE))
            .expect("it was found there");
        let digest = digest(&fs::read(&path)?);
        writeln!(
            table,
            "    PageFile {{ path: {:?}, digest: \"{digest:016x}\", content: include_bytes!({:?}) }},",
            inner.display().to_string(),
            path.display().to_string(),
        )
        .expect("a text takes all");
    }
    if !table.contains(INDEX) {
        let instead = root.join(INSTEAD);
        let row = format!(
            "    PageFile {{ path: {INDEX:?}, digest: \"0\", content: include_bytes!({instead:?}) }},\n"
        );
        table.push_str(&row);
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo names the folder"));
    fs::write(out.join("page_files.rs"), table)
}

/// Finds the files that browsers ask for.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if !NOT_SERVED.contains(&&*name) {
                collect(&path, files)?;
            }
        } else if !name.starts_with('.') && !NOT_SERVED_FILES.contains(&&*name) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the FNV-1a digest of bytes, by which browsers see that a file has changed.
fn digest(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
