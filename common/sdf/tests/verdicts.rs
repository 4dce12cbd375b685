//! Shows that files are accepted and refused as libsdformat does.
//! Reads each file of the corpus and compares with the verdict noted there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![expect(clippy::print_stdout, reason = "agreement is a figure to be seen")]

#[path = "corpus/open.rs"]
mod open;

use open::{Corpus, Verdict};
use sdf::ReadWorldError;

/// The least share of files with the same verdict.
const AGREEMENT_MIN: f64 = 0.97;

#[test]
fn verdicts_are_those_of_libsdformat() {
    let Some(corpus) = Corpus::open() else { return };
    let verdicts = corpus.verdicts();
    let mut differing = Vec::new();
    for verdict in &verdicts {
        let found = corpus.read(&verdict.file).map(|_| ());
        if !is_same(verdict, &found) {
            differing.push(describe(verdict, &found));
        }
    }
    let agreeing = verdicts.len() - differing.len();
    println!("verdicts: {agreeing} of {} agree", verdicts.len());
    println!("{}", differing.join("\n"));
    #[expect(clippy::cast_precision_loss, reason = "there are few files")]
    let share = agreeing as f64 / verdicts.len() as f64;
    assert!(share >= AGREEMENT_MIN, "{}", differing.join("\n"));
}

fn is_same(verdict: &Verdict, found: &Result<(), ReadWorldError>) -> bool {
    match (verdict.said.as_str(), found) {
        ("accept", Ok(())) | ("reject", Err(_)) => true,
        ("needs-resource", Err(error)) => error
            .errors
            .iter()
            .any(|problem| problem.code == "URI_LOOKUP"),
        _ => false,
    }
}

fn describe(verdict: &Verdict, found: &Result<(), ReadWorldError>) -> String {
    let Verdict { said, file, errors } = verdict;
    match found {
        Ok(()) => format!("{file}: {said} [{errors}], and is read"),
        Err(error) => format!("{file}: {said} [{errors}], and is refused:\n{error}"),
    }
}
