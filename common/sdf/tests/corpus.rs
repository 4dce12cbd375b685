//! Shows that what is read is what libsdformat reads: poses, masses, shapes, joints and all else.
//! Reads each file of the corpus that it accepts, and compares every part with what it made of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![expect(clippy::print_stdout, reason = "agreement is a figure to be seen")]

#[path = "corpus/agreement.rs"]
mod agreement;
#[path = "corpus/described.rs"]
mod described;
#[path = "corpus/open.rs"]
mod open;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Read;

use agreement::Agreement;
use open::{Corpus, Verdict};
use sdf::{
    ReadWorldError, ReadWorlds, ResolveError, ResolvedData, ResolvedFile, Resolver, SearchPaths,
    read_worlds,
};
use serde_json::Value;

/// Kinds of parts, and the least share \[percent\] that must agree in everything.
const KINDS: [(&str, usize); 7] = [
    ("world", 99),
    ("model", 99),
    ("link", 99),
    ("collision", 99),
    ("sensor", 99),
    ("joint", 97),
    ("frame", 97),
];

#[test]
fn parsed_worlds_equal_those_of_libsdformat() {
    let Some(corpus) = Corpus::open() else { return };
    let expected = expected(&corpus);
    let mut agreement = Agreement::default();
    for Verdict { said, file, errors } in corpus.verdicts() {
        if said == "reject" {
            continue;
        }
        match read_with_stand_ins(&corpus, &file) {
            Ok(read) => {
                let found: Vec<Value> = read.worlds.iter().flat_map(described::world).collect();
                agreement.add_file(&file, &expected[&file], &found);
            }
            // Whether a file is to be read is for another test.
            Err(error) => println!("{file}: {said} [{errors}], and not compared:\n{error}"),
        }
    }
    let differences = agreement.differences.join("\n");
    println!("{}{differences}", agreement.table());
    for (kind, least) in KINDS {
        let (agree, all) = agreement.of(kind);
        assert!(
            agree * 100 >= all * least,
            "only {agree} of {all} of the kind {kind} agree:\n{differences}"
        );
    }
    let (_, links) = agreement.of("link");
    assert!(links > 1100, "only {links} links were compared");
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

/// Returns what libsdformat made of each file: one object per part.
fn expected(corpus: &Corpus) -> BTreeMap<String, Vec<Value>> {
    let file = std::fs::File::open(corpus.root.join("expected.jsonl.gz")).unwrap();
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(file);
    decoder.read_to_string(&mut text).unwrap();
    let mut by_file: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines() {
        let part: Value = serde_json::from_str(line).unwrap();
        let file = part["file"].as_str().unwrap().to_owned();
        let parts = by_file.entry(file).or_default();
        if part["kind"] != "file" {
            parts.push(part);
        }
    }
    by_file
}

/// Reads a file with a stand-in for each model that is on a server, as was done for the corpus.
fn read_with_stand_ins(corpus: &Corpus, file: &str) -> Result<ReadWorlds, ReadWorldError> {
    let path = corpus.root.join(file);
    let bytes = std::fs::read(&path).unwrap();
    let resolver = StandIns {
        resolver: &corpus.resolver,
        count: Cell::new(0),
    };
    let text = String::from_utf8_lossy(&bytes);
    read_worlds(&text, &path.to_string_lossy(), &resolver)
}

/// Finds files, and a model of one link in the place of each model that is not there.
struct StandIns<'c> {
    resolver: &'c SearchPaths,
    count: Cell<usize>,
}

impl Resolver for StandIns<'_> {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        self.resolver.read(uri, from_file).or_else(|_| {
            let name = format!("stub~{}", self.count.get());
            self.count.set(self.count.get() + 1);
            let link = "<link name='link'/>";
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
