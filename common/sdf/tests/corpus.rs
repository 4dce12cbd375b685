//! Reads the corpus of public SDF files and compares with what libsdformat made of them.
//!
//! The corpus is not part of this repository; without it the tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![expect(
    clippy::print_stdout,
    reason = "a test that passes without looking must say so"
)]

#[path = "corpus/agreement.rs"]
mod agreement;
#[path = "corpus/described.rs"]
mod described;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use agreement::Agreement;
use sdf::{
    ReadWorldError, ReadWorlds, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths,
    read_worlds,
};
use serde_json::Value;

/// Where libsdformat searched for models.
const MODEL_FOLDERS: [&str; 8] = [
    "sdformat/test/integration/model",
    "sdformat/test/sdf",
    "sdformat/test/integration",
    "gz-sim/test/worlds/models",
    "gz-sim/test/worlds",
    "gz-sim/examples/worlds",
    "gz-sim/test",
    "gz-sim/examples",
];

struct Corpus {
    root: PathBuf,
    resolver: SearchPaths,
}

struct Verdict {
    verdict: String,
    file: String,
}

impl Corpus {
    fn open() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
        if !root.join("verdicts.tsv").is_file() {
            println!("passes without the corpus: {} is absent", root.display());
            return None;
        }
        let resolver = SearchPaths::new(MODEL_FOLDERS.map(|folder| root.join(folder)));
        Some(Self { root, resolver })
    }

    /// Returns the verdicts on files that are there.
    fn verdicts(&self) -> Vec<Verdict> {
        let text = std::fs::read_to_string(self.root.join("verdicts.tsv")).unwrap();
        let verdicts = text.lines().skip(1).map(|line| {
            let mut fields = line.split('\t');
            let mut field = || fields.next().unwrap().to_owned();
            Verdict {
                verdict: field(),
                file: field(),
            }
        });
        verdicts
            .filter(|verdict| self.root.join(&verdict.file).is_file())
            .collect()
    }

    fn text(&self, file: &str) -> String {
        let bytes = std::fs::read(self.root.join(file)).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn read(&self, file: &str) -> Result<ReadWorlds, ReadWorldError> {
        let path = self.root.join(file).to_string_lossy().into_owned();
        read_worlds(&self.text(file), &path, &self.resolver)
    }

    /// Reads a file with a stand-in for each model that is on a server.
    fn read_with_stand_ins(&self, file: &str) -> Result<ReadWorlds, ReadWorldError> {
        let path = self.root.join(file).to_string_lossy().into_owned();
        let resolver = StandIns {
            resolver: &self.resolver,
            count: Cell::new(0),
        };
        read_worlds(&self.text(file), &path, &resolver)
    }

    fn expected(&self) -> Vec<Value> {
        let file = std::fs::File::open(self.root.join("expected.jsonl.gz")).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Finds files, and a model of one link in the place of each model that is not there.
struct StandIns<'c> {
    resolver: &'c SearchPaths,
    count: Cell<usize>,
}

impl Resolver for StandIns<'_> {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        self.resolver.read(uri, from_file).or_else(|_| {
            let number = self.count.get();
            self.count.set(number + 1);
            let link = "<link name='link'/>";
            let name = format!("stub~{number}");
            Ok(ResolvedFile {
                text: format!("<sdf version='1.12'><model name='{name}'>{link}</model></sdf>"),
                file: name,
            })
        })
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.resolver.read_data(uri, from_file)
    }
}

/// Tells whether an error says only that the file is a model and no world.
fn is_model_alone(error: &ReadWorldError) -> bool {
    error
        .errors
        .iter()
        .all(|problem| problem.message == "the file holds no <world>")
}

#[test]
fn no_file_makes_the_reader_panic_and_all_of_gazebos_worlds_are_read() {
    let Some(corpus) = Corpus::open() else { return };
    let (mut read, mut failed) = (0, Vec::new());
    for Verdict { verdict, file } in corpus.verdicts() {
        match corpus.read(&file) {
            Ok(_) => read += 1,
            Err(error) if is_model_alone(&error) => {}
            Err(error) if verdict == "accept" && file.starts_with("gz-sim/") => {
                failed.push(format!("{error}"));
            }
            Err(_) => {}
        }
    }
    assert!(
        failed.is_empty(),
        "{} worlds are not read:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(read >= 150, "only {read} files were read as worlds");
}

#[test]
fn missing_models_are_errors_that_name_the_uri() {
    let Some(corpus) = Corpus::open() else { return };
    for Verdict { verdict, file } in corpus.verdicts() {
        if verdict == "needs-resource" {
            let error = corpus.read(&file).unwrap_err();
            assert!(
                error
                    .errors
                    .iter()
                    .any(|problem| problem.code == "URI_LOOKUP"),
                "{error}"
            );
        }
    }
}

#[test]
fn what_is_read_is_what_libsdformat_reads() {
    let Some(corpus) = Corpus::open() else { return };
    let mut by_file: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in corpus.expected() {
        let file = line["file"].as_str().unwrap().to_owned();
        by_file.entry(file).or_default().push(line);
    }
    let mut agreement = Agreement::default();
    for (file, lines) in &by_file {
        if lines[0]["verdict"] == "reject" || !corpus.root.join(file).is_file() {
            continue;
        }
        let Ok(read) = corpus.read_with_stand_ins(file) else {
            continue;
        };
        let found: Vec<Value> = read.worlds.iter().flat_map(described::world).collect();
        let expected: Vec<&Value> = lines[1..].iter().collect();
        agreement.add_file(file, &expected, &found);
    }
    println!("{}{}", agreement.table(), agreement.differences.join("\n"));
    for kind in [
        "link",
        "model",
        "collision",
        "joint",
        "frame",
        "sensor",
        "world",
    ] {
        let (agree, all) = agreement.of(kind);
        assert!(
            agree * 100 >= all * 99,
            "only {agree} of {all} of the kind {kind} agree:\n{}",
            agreement.differences.join("\n")
        );
    }
    let (_, links) = agreement.of("link");
    assert!(links > 600, "only {links} links were compared");
}

#[test]
fn gazebos_distributed_levels_demo_has_its_levels_and_performers() {
    let Some(corpus) = Corpus::open() else { return };
    let read = corpus
        .read("gz-sim/examples/scripts/distributed_levels/standalone.sdf")
        .unwrap();
    let world = &read.worlds[0];
    assert!(world.levels.len() >= 11, "{} levels", world.levels.len());
    assert_eq!(world.performers.len(), 2);
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
}
