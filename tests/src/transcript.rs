//! Transcripts: files of commands, `----`, and what every node said.
//!
//! [`run`] executes a file's commands and compares; with `UPDATE=1` it rewrites what was said.

use std::fs;
use std::path::Path;

/// Executes every transcript in a folder; `node` makes a fresh interpreter for each file, which
/// returns what was said in answer to one command.
///
/// # Panics
/// Panics if a transcript says something else than the nodes, naming the file and the command.
pub fn run<F: FnMut(&str) -> String>(folder: &Path, mut node: impl FnMut() -> F) {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of transcripts is there")
        .map(|entry| entry.expect("its entries are readable").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no transcripts in {}", folder.display());
    let update = std::env::var_os("UPDATE").is_some();
    for file in files {
        let text = fs::read_to_string(&file).expect("a transcript is readable");
        let mut interpreter = node();
        let mut rewritten = String::new();
        for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
            let block = block.trim_end();
            let Some((command, expected)) = block.split_once("\n----") else {
                rewritten.push_str(block);
                rewritten.push_str("\n\n");
                assert!(
                    block.starts_with('#'),
                    "{}: no ---- in {block:?}",
                    file.display()
                );
                continue;
            };
            let said = interpreter(command.trim());
            if !update {
                let expected = expected.trim_start_matches('\n');
                assert_eq!(said.trim_end(), expected, "{}: {command}", file.display());
            }
            rewritten.push_str(format!("{command}\n----\n{said}").trim_end());
            rewritten.push_str("\n\n");
        }
        if update {
            let text = format!("{}\n", rewritten.trim_end());
            fs::write(&file, text).expect("a transcript is writable");
        }
    }
}
