//! Shows that the sources keep the rules that no compiler knows: sizes of files, words that pure
//! crates never say, paths that the documents name, and that every world and config is used.

use std::fs;
use std::path::{Path, PathBuf};

use tests::repository;

const FILE_LINES_MAX: usize = 1000;
const LINE_CHARS_MAX: usize = 100;

/// Returns all tracked kinds of files below a folder of the repository.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&repository::root().join(folder), extension, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository is readable") {
        let path = entry.expect("its entries are readable").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|kind| kind == extension) {
            found.push(path);
        }
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources() -> Vec<PathBuf> {
    files(".", "rs")
}

#[test]
fn source_files_are_short_and_so_are_their_lines() {
    for path in sources() {
        let text = text(&path);
        let lines = text.lines().count();
        assert!(
            lines <= FILE_LINES_MAX,
            "{} has {lines} lines",
            path.display()
        );
        for (number, line) in text.lines().enumerate() {
            let chars = line.chars().count();
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(chars <= LINE_CHARS_MAX, "{place} has {chars} characters");
        }
    }
}

#[test]
fn every_source_file_opens_with_what_it_is() {
    for path in sources() {
        assert!(
            text(&path).starts_with("//!"),
            "{} has no //! at its top",
            path.display()
        );
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        assert_ne!(name, "mod.rs", "{}", path.display());
    }
}

#[test]
fn doc_lines_begin_with_a_noun_or_a_verb() {
    const RELATIVE: [&str; 10] = [
        "What", "How", "Who", "Whom", "Whose", "Which", "Why", "Whether", "Where", "When",
    ];
    let (mut lines, mut relative) = (0, Vec::new());
    for path in sources() {
        for (number, line) in text(&path).lines().enumerate() {
            let line = line.trim_start();
            let doc = line.strip_prefix("/// ").or(line.strip_prefix("//! "));
            let Some(doc) = doc else {
                continue;
            };
            lines += 1;
            let word = doc.split(' ').next().unwrap_or_default();
            if RELATIVE.contains(&word) {
                relative.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    // In a hundred lines one may: some sentences are best said so.
    let count = relative.len();
    assert!(
        count * 100 <= lines,
        "{count} of {lines} doc lines begin with a relative clause: {relative:#?}"
    );
}

#[test]
fn nothing_unfinished_or_switched_off_is_in_the_sources() {
    let words = [
        ["to", "do!("],
        ["unimple", "mented!("],
        ["db", "g!("],
        ["#[ig", "nore]"],
    ];
    for path in sources() {
        let text = text(&path);
        for word in &words {
            let word = word.concat();
            assert!(!text.contains(&word), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn pure_crates_name_no_clock_thread_or_socket() {
    let words = [
        "Instant::",
        "SystemTime::",
        "thread::",
        "std::net",
        "zmq",
        "tokio",
        "rapier3d",
    ];
    for folder in [
        "common/mesh/src",
        "common/protocol/src",
        "common/sdf/src",
        "common/lockstep/src",
    ] {
        for path in files(folder, "rs") {
            let text = text(&path);
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                for word in words {
                    assert!(
                        !line.contains(word),
                        "{} names {word}: {line}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn the_primary_and_its_components_have_few_fields() {
    const FIELDS_MAX: usize = 12;
    let mut count_of_structs = 0;
    let components = files("common/lockstep/src/primary", "rs");
    let primary = repository::root().join("common/lockstep/src/primary.rs");
    for path in components.into_iter().chain([primary]) {
        let text = text(&path);
        let fields_of = |body: &str| {
            let lines = body.lines().take_while(|line| *line != "}");
            let is_field = |line: &&str| {
                let inner = line.strip_prefix("    ").unwrap_or_default();
                inner.starts_with(|c: char| c.is_ascii_lowercase()) && inner.contains(": ")
            };
            lines.filter(is_field).count()
        };
        for body in text.split("\npub(crate) struct ").skip(1) {
            let name = body.split([' ', '(', '<', ';']).next().unwrap_or_default();
            let is_component = [
                "RunClock",
                "Peers",
                "Barrier",
                "Commands",
                "WorldState",
                "Placement",
                "Recovery",
                "Resume",
            ];
            if is_component.contains(&name) {
                count_of_structs += 1;
                let fields = fields_of(body);
                let place = path.display();
                assert!(
                    fields <= FIELDS_MAX,
                    "{name} in {place} has {fields} fields"
                );
            }
        }
        if let Some((_, body)) = text.split_once("\npub struct Primary {") {
            count_of_structs += 1;
            let fields = fields_of(body);
            assert!(fields <= FIELDS_MAX, "Primary has {fields} fields");
        }
    }
    assert_eq!(count_of_structs, 9, "the primary and its eight components");
}

#[test]
fn tests_wait_for_conditions_and_never_sleep() {
    for folder in ["tests", "worker/tests", "orchestrator/tests", "common"] {
        for path in files(folder, "rs") {
            // A bench measures over a time, and a picture is taken after one.
            let is_in = |name| path.components().any(|part| part.as_os_str() == name);
            let is_test = is_in("tests") && !is_in("benches") && !is_in("examples");
            let word = ["thread::", "sleep"].concat();
            assert!(
                !is_test || !text(&path).contains(&word),
                "{} sleeps",
                path.display()
            );
        }
    }
}

#[test]
fn every_path_that_the_documents_name_exists() {
    for document in ["ARCHITECTURE.md", "README.md", "docs/protocol.md"] {
        let text = text(&repository::root().join(document));
        for quoted in text.split('`').skip(1).step_by(2) {
            let is_path = quoted.contains('/')
                && !quoted.starts_with(['/', '$', '-', '~', '<'])
                && !quoted.contains([' ', ':', '<', '{', '*', '|', '\n'])
                && !quoted.starts_with("target/");
            if is_path {
                let path = repository::root().join(quoted.trim_end_matches('/'));
                assert!(
                    path.exists(),
                    "{document} names {quoted}, which is not there"
                );
            }
        }
    }
}

#[test]
fn every_world_loads_says_what_it_shows_and_is_used() {
    let tests: String = sources().iter().map(|path| text(path)).collect();
    for path in files("worlds", "sdf") {
        let text = text(&path);
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let comment = text.find("<!--").expect("a world opens with a comment");
        assert!(comment < 60, "{name} says on its first line what it shows");
        let read = sdf::read_worlds(&text, name, &sdf::NoFiles);
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.warnings.is_empty(), "{name}: {:?}", read.warnings);
        assert!(tests.contains(name), "no test or program uses {name}");
    }
}

#[test]
fn every_config_is_toml_and_is_used() {
    let tests: String = sources().iter().map(|path| text(path)).collect();
    for path in files("configs", "toml") {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let parsed: Result<toml::Table, _> = text(&path).parse();
        assert!(parsed.is_ok(), "{name}: {parsed:?}");
        assert!(tests.contains(name), "no test or program uses {name}");
    }
}
