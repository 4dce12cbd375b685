//! Puts the files of the page into the program, each with a digest of its content.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

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
    println!("cargo::rerun-if-changed={INSTEAD}");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo names the folder"));
    let mut files = Vec::new();
    if root.join(PAGE).join(INDEX).exists() {
        collect(&root.join(PAGE), &mut files)?;
    }
    if files.is_empty() {
        files.push(root.join(INSTEAD));
    }
    files.sort();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo names the folder"));
    let mut table = String::from("&[\n");
    for (number, path) in files.iter().enumerate() {
        let inner = path
            .strip_prefix(root.join(PAGE))
            .unwrap_or(Path::new(INDEX));
        let content = fs::read(path)?;
        let packed = out.join(format!("{number}.gz"));
        fs::write(&packed, pack(&content)?)?;
        writeln!(
            table,
            "    PageFile {{ path: {:?}, digest: \"{:016x}\", \
             packed: include_bytes!({:?}) }},",
            inner.display().to_string(),
            digest(&content),
            packed.display().to_string(),
        )
        .expect("a text takes all");
    }
    table.push_str("]\n");
    fs::write(out.join("page_files.rs"), table)
}

/// Compresses a file as browsers ask for it.
fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
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
        } else if !is_left_out(&name) {
            files.push(path);
        }
    }
    Ok(())
}

/// Tells whether no browser asks for a file.
fn is_left_out(name: &str) -> bool {
    let is_other = [".md", ".d.ts"].iter().any(|ending| name.ends_with(ending));
    name.starts_with('.') || is_other || NOT_SERVED_FILES.contains(&name)
}

/// Returns the FNV-1a digest of bytes, by which browsers see that a file has changed.
fn digest(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
