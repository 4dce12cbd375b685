//! Shows that `docs/gazebo.md` is true of Gazebo's worlds: what it calls full is read without a
//! word, gains no energy while nothing drives it, and moves as in DART, Gazebo's default engine;
//! what has gaps is read with warnings, and what cannot run is refused. It uses the corpus beside
//! the repository and DART from `PyPI`, and says what it leaves out without them. With `UPDATE=1`
//! it writes the verdicts and the figures anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use physics::{self, Limitation, LimitationKind};
use sdf::{SearchPaths, World};
use tests::repository;
use tests::truth::GRAVITY;
use tests::truth::dart::{self, Comparison, Difference, Outcome, Scene};
use tests::truth::robots::Peers;
use tests::truth::simulation::Simulation;

/// Headings of both tables, by which they are found.
const VERDICTS: &str = "| world | verdict | what |";
const FIGURES: &str = "| world | compared | motion | difference | DART | not compared |";

/// Line that counts verdicts, by how it begins.
const COUNTS: &str = "unchanged: ";

/// Difference that is told without a figure \[m\] and \[rad\].
const NONE: [f64; 2] = [1e-6, 1e-6];

/// Difference by which figures may grow without being written anew \[mm\] and \[mrad\].
const LEAST: f64 = 0.01;

/// A row of a table: its cells.
type Row = Vec<String>;

fn table() -> PathBuf {
    repository::root().join("docs/gazebo.md")
}

/// Returns the rows below a heading.
fn rows(text: &str, heading: &str) -> Vec<Row> {
    let below = text.lines().skip_while(|line| *line != heading).skip(2);
    let rows = below.take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// Verdict on a world, its reasons, and what was read of it.
struct Judgement {
    verdict: &'static str,
    said: String,
    worlds: Vec<World>,
}

impl Judgement {
    fn cannot(said: String) -> Self {
        Self {
            verdict: "cannot",
            said,
            worlds: Vec::new(),
        }
    }

    /// Takes the comparisons of its worlds into account.
    fn compared(&mut self, comparisons: &[Comparison]) {
        if self.verdict != "full" {
            return;
        }
        let is = |wanted: fn(&Outcome) -> bool| {
            let mut outcomes = comparisons.iter().map(|comparison| &comparison.outcome);
            outcomes.any(wanted)
        };
        if is(|outcome| matches!(outcome, Outcome::Differs)) {
            self.verdict = "differs";
            let greatest = comparisons.iter().filter_map(Comparison::greatest);
            let all = greatest.map(|it| {
                let by = told(it.nearest());
                format!("{} after {} s by {by}", it.link, it.time_s)
            });
            self.said = all.collect::<Vec<_>>().join("; ");
        } else if is(|outcome| matches!(outcome, Outcome::NotCompared)) {
            self.verdict = "runs";
        }
    }
}

/// Reads a world, and leaves its physics to itself for a while if nothing of it is without effect.
fn judge(path: &Path, models: &SearchPaths) -> Judgement {
    let bytes = std::fs::read(path).expect("a world of the corpus is readable");
    let Ok(text) = sdf::decode_text(bytes) else {
        return Judgement::cannot("it is no text".to_owned());
    };
    let name = path.display().to_string();
    let read = match sdf::read_worlds(&text, &name, models) {
        Ok(read) => read,
        Err(error) => return Judgement::cannot(error.to_string()),
    };
    if let Err(error) = sdf::check_for_run(&read.worlds) {
        return Judgement::cannot(error.to_string());
    }
    let is_gap = |code: &str| code.starts_with("UNSUPPORTED") || code == "MESH_NOT_FOUND";
    let warnings = read.warnings.iter();
    let ignored = warnings.filter(|warning| is_gap(warning.code));
    let mut gaps: Vec<String> = ignored.map(ToString::to_string).collect();
    for world in &read.worlds {
        let limitations = physics::unsupported(world).into_iter();
        let counts = |limitation: &Limitation| !STAND_INS.contains(&limitation.kind);
        gaps.extend(limitations.filter(counts).map(|gap| gap.to_string()));
    }
    if !gaps.is_empty() {
        return Judgement {
            verdict: "gaps",
            said: gaps.join("\n"),
            worlds: read.worlds,
        };
    }
    let wrong: Vec<String> = read.worlds.iter().filter_map(energy_gain).collect();
    Judgement {
        verdict: if wrong.is_empty() { "full" } else { "wrong" },
        said: wrong.join("\n"),
        worlds: read.worlds,
    }
}

/// Worlds whose gaps are in commands that they are there to show, or in what nobody here draws.
const GAPS_ELSEWHERE: [&str; 4] = [
    "examples/worlds/empty.sdf",
    "examples/worlds/spherical_coordinates.sdf",
    "test/worlds/breadcrumbs.sdf",
    "test/worlds/projector.sdf",
];

/// Stand-ins for a shape or a number, as near to it as is told.
const STAND_INS: [LimitationKind; 2] = [
    LimitationKind::EllipsoidAsPolyhedron,
    LimitationKind::DegenerateInertia,
];

/// The time in which bodies part that the file has in each other \[s\].
const PARTING_S: f64 = 1.0;

/// The time for which a world is left to itself then \[s\].
const LEFT_TO_ITSELF_S: f64 = 0.5;

/// The greatest gain that rounding and impacts may leave, as a part of what a fall of this height
/// changes \[m\].
const HEIGHT: f64 = 1e-4;

/// Leaves the bodies of a world to themselves, without systems; tells when they gain energy, which
/// nothing that nothing drives does.
fn energy_gain(world: &World) -> Option<String> {
    if has_springs(world) {
        // What they store is not counted.
        return None;
    }
    let name = world.name.clone();
    let moving = world.models.iter().filter(|model| !model.is_static);
    let links = moving.flat_map(|model| &model.links);
    let mass: f64 = links.map(|link| link.inertial.mass).sum();
    let step_s = world.physics.max_step_size_s;
    let mut simulation = Simulation::of(world.clone(), step_s);
    // Some files have bodies in each other, which part first.
    simulation.run(PARTING_S);
    let begin = simulation.energy();
    let mut gain = 0.0_f64;
    simulation.run_with(LEFT_TO_ITSELF_S, |simulation| {
        gain = gain.max(simulation.energy() - begin);
    });
    let most = mass * GRAVITY * HEIGHT;
    (gain.is_nan() || gain > most).then(|| format!("{name} gains {gain} J, and {most} may be"))
}

fn has_springs(world: &World) -> bool {
    let joints = world.models.iter().flat_map(|model| &model.joints);
    let mut axes = joints.flat_map(|joint| joint.kind.axes());
    axes.any(|axis| axis.spring_stiffness > 0.0)
}

/// Compares worlds with DART, if it can be had: left to themselves, and those with vehicles driven.
fn compare(judgements: &[Judgement]) -> Option<Vec<[Vec<Comparison>; 2]>> {
    let worlds = || judgements.iter().flat_map(|it| &it.worlds);
    let alone = worlds().map(Scene::left_alone);
    let scenes: Vec<Scene> = alone.chain(worlds().filter_map(Scene::driven)).collect();
    let answers = Peers::prepare().and_then(|peers| dart::ask(&peers, &scenes));
    let answers = match answers {
        Ok(answers) => answers,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "not compared with DART: {error}");
            return None;
        }
    };
    let found = |of: &Judgement, is_driven: bool| {
        let is_of = |scene: &Scene| {
            of.worlds
                .iter()
                .any(|world| std::ptr::eq(world, scene.world))
        };
        let pairs = scenes.iter().zip(&answers);
        let pairs = pairs.filter(|(scene, _)| is_of(scene) && scene.is_driven() == is_driven);
        let all = pairs.map(|(scene, answer)| dart::compare(scene, answer));
        all.filter(|it| !is_driven || it.driven > 0).collect()
    };
    let both = |of: &Judgement| [found(of, false), found(of, true)];
    Some(judgements.iter().map(both).collect())
}

/// Returns a distance and an angle with one digit, without what is too small \[m\] and \[rad\].
fn told(both: [f64; 2]) -> String {
    let digit = |value: f64, unit: &str| {
        let value = value * 1e3;
        let places = (-value.log10().floor()).max(0.0) as usize;
        format!("{value:.places$} {unit}")
    };
    let parts = [(both[0], NONE[0], "mm"), (both[1], NONE[1], "mrad")];
    let parts = parts.into_iter().filter(|(value, none, _)| value >= none);
    let texts: Vec<String> = parts.map(|(value, _, unit)| digit(value, unit)).collect();
    if texts.is_empty() {
        "0".to_owned()
    } else {
        texts.join(", ")
    }
}

/// Returns the distance and the angle in a cell \[mm\] and \[mrad\].
fn heard(cell: &str) -> [f64; 2] {
    let mut both = [0.0; 2];
    for part in cell.split(", ") {
        let (value, unit) = part.split_once(' ').unwrap_or((part, ""));
        both[usize::from(unit == "mrad")] = value.parse().unwrap_or(0.0);
    }
    both
}

/// Returns the row of figures of a file.
fn figures(name: &str, comparisons: &[Comparison]) -> Row {
    let links: usize = comparisons.iter().map(|it| it.links).sum();
    let greatest = comparisons.iter().filter_map(Comparison::greatest);
    let greatest = greatest.max_by(|a, b| a.measure().total_cmp(&b.measure()));
    let way = |part: usize| {
        let ways = comparisons.iter().map(|it| it.way[part]);
        ways.fold(0.0, f64::max)
    };
    let is_still = |it: &Comparison| matches!(it.outcome, Outcome::Still);
    let motion = if comparisons.iter().all(is_still) {
        "nothing moves".to_owned()
    } else if links == 0 {
        String::new()
    } else if comparisons.iter().any(Comparison::has_motion) {
        format!("{:.2} m, {:.2} rad", way(0), way(1))
    } else {
        "at rest".to_owned()
    };
    let cell = |of: fn(&Difference) -> String| greatest.map_or_else(String::new, of);
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, why) in comparisons.iter().flat_map(|it| &it.left_out) {
        reasons.entry(why).or_default().push(name);
    }
    let remarks = reasons.into_iter().map(|(why, names)| match names.len() {
        1..=3 => format!("{}: {why}", names.join(", ")),
        count => format!("{count} models: {why}"),
    });
    vec![
        name.to_owned(),
        match links {
            0 => String::new(),
            1 => "1 link".to_owned(),
            count => format!("{count} links"),
        },
        motion,
        cell(|it| told(it.nearest())),
        cell(|it| told(it.dart)),
        remarks.collect::<Vec<_>>().join("; "),
    ]
}
/// Writes the rows below a heading anew.
fn replace(text: &str, heading: &str, rows: &[Row]) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        let _ = writeln!(out, "{line}");
        if line == heading {
            break;
        }
    }
    let _ = writeln!(out, "{}", lines.next().expect("a line below the heading"));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    for line in lines.skip_while(|line| line.starts_with('|')) {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Returns the line that counts the verdicts.
fn counts(verdicts: &[Row]) -> String {
    let count = |verdict: &str| verdicts.iter().filter(|row| row[1] == verdict).count();
    format!(
        "{COUNTS}{} run in full, {} run without a figure, {} differ, {} have gaps, {} cannot run.",
        count("full"),
        count("runs"),
        count("differs"),
        count("gaps"),
        count("cannot"),
    )
}

/// Writes verdicts, counts and figures anew.
fn update(text: &str, verdicts: &[Row], figures: &[Row]) {
    let text = replace(text, VERDICTS, verdicts);
    let mut text = replace(&text, FIGURES, figures);
    let old = text.lines().find(|line| line.starts_with(COUNTS));
    let old = old.expect("a line that counts").to_owned();
    text = text.replacen(&old, &counts(verdicts), 1);
    std::fs::write(table(), text).expect("the table can be written");
}

/// Tells whether a row of figures is as the table has it, with differences of up to twice as much.
fn is_as_told(row: &Row, told: &Row) -> bool {
    let is_figure = |cell: usize| (3..5).contains(&cell);
    let mut cells = row.iter().zip(told).enumerate();
    cells.all(|(cell, (is, was))| {
        let pairs = || heard(is).into_iter().zip(heard(was));
        is == was || is_figure(cell) && pairs().all(|(is, was)| is <= 2.0 * was + LEAST)
    })
}

#[test]
fn every_world_is_as_the_tables_say() {
    let text = std::fs::read_to_string(table()).expect("the tables are there");
    let mut verdicts = rows(&text, VERDICTS);
    assert!(verdicts.len() > 150, "{} rows", verdicts.len());
    let is_update = std::env::var_os("UPDATE").is_some();
    let counts = counts(&verdicts);
    assert!(
        is_update || text.contains(&counts),
        "it should say {counts:?}"
    );
    let Some(corpus) = repository::corpus() else {
        let _ = writeln!(std::io::stderr(), "skipped without the corpus");
        return;
    };
    let corpus = corpus.join("gz-sim");
    let models = SearchPaths::new([corpus.join("test/worlds/models")]);
    let file = |row: &Row| row[0].trim_matches('`').to_owned();
    let read = |row: &Row| judge(&corpus.join(file(row)), &models);
    let mut judgements: Vec<Judgement> = verdicts.iter().map(read).collect();
    let comparisons = compare(&judgements);
    let (mut wrong, mut found) = (Vec::new(), Vec::new());
    for (index, row) in verdicts.iter_mut().enumerate() {
        let judgement = &mut judgements[index];
        if let Some(comparisons) = comparisons.as_ref().map(|all| &all[index]) {
            let [alone, driven] = comparisons;
            for (comparisons, how) in [(alone, ""), (driven, ", driven")] {
                if !comparisons.is_empty() {
                    judgement.compared(comparisons);
                    found.push(figures(&format!("`{}`{how}", file(row)), comparisons));
                }
            }
        } else if ["runs", "differs"].contains(&row[1].as_str()) && judgement.verdict == "full" {
            continue;
        }
        let is_known = row[1] == "gaps" && GAPS_ELSEWHERE.contains(&file(row).as_str());
        if judgement.verdict != row[1] && !is_known {
            let Judgement { verdict, said, .. } = judgement;
            wrong.push(format!("{} is {verdict}, not {}: {said}", row[0], row[1]));
            verdict.clone_into(&mut row[1]);
        }
    }
    if comparisons.is_some() {
        let told = rows(&text, FIGURES);
        let differing = |row: &&Row| !told.iter().any(|told| is_as_told(row, told));
        if told.len() != found.len() {
            wrong.push(format!(
                "{} rows of figures, not {}",
                found.len(),
                told.len()
            ));
        }
        wrong.extend(found.iter().filter(differing).map(|row| row.join(" | ")));
        if is_update {
            return update(&text, &verdicts, &found);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
