//! Shows that the table of Gazebo's worlds in `docs/gazebo.md` is true: what it calls full is read
//! without a word, what has gaps is read with warnings, and what cannot run is refused. It uses the
//! corpus beside the repository, and without it shows only that the table can be read.

use std::path::Path;

use sdf::SearchPaths;
use tests::repository;

/// A world with the verdict of the table.
struct Row {
    world: String,
    verdict: String,
}

fn rows() -> Vec<Row> {
    let table = repository::root().join("docs/gazebo.md");
    let text = std::fs::read_to_string(table).expect("the table is there");
    let cells = |line: &str| -> Vec<String> {
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells = cells(line);
            Row {
                world: cells[1].trim_matches('`').to_owned(),
                verdict: cells[2].clone(),
            }
        })
        .collect()
}

/// Returns what is found of a world: its verdict, and what was said.
fn judge(path: &Path, models: &SearchPaths) -> (&'static str, String) {
    let bytes = std::fs::read(path).expect("a world of the corpus is readable");
    let Ok(text) = sdf::decode_text(bytes) else {
        return ("cannot", "it is no text".to_owned());
    };
    let name = path.display().to_string();
    let read = match sdf::read_worlds(&text, &name, models) {
        Ok(read) => read,
        Err(error) => return ("cannot", error.to_string()),
    };
    if let Err(error) = sdf::check_for_run(&read.worlds) {
        return ("cannot", error.to_string());
    }
    let is_gap = |code: &str| code.starts_with("UNSUPPORTED");
    let gaps: Vec<String> = read
        .warnings
        .iter()
        .filter(|warning| is_gap(warning.code))
        .map(ToString::to_string)
        .collect();
    let verdict = if gaps.is_empty() { "full" } else { "gaps" };
    (verdict, gaps.join("\n"))
}

#[test]
fn every_world_of_the_table_is_as_it_says() {
    let rows = rows();
    assert!(rows.len() > 150, "the table has {} rows", rows.len());
    let Some(corpus) = repository::corpus() else {
        return;
    };
    let corpus = corpus.join("gz-sim");
    let models = SearchPaths::new([corpus.join("test/worlds/models")]);
    let mut wrong = Vec::new();
    for row in &rows {
        let (verdict, said) = judge(&corpus.join(&row.world), &models);
        // Physics names gaps that the reader does not know.
        let agrees = verdict == row.verdict || (verdict == "full" && row.verdict == "gaps");
        if !agrees {
            wrong.push(format!(
                "{} is {verdict}, not {}: {said}",
                row.world, row.verdict
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
