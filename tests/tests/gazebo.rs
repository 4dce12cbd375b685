//! Shows that the table of Gazebo's worlds in `docs/gazebo.md` is true: what it calls full is read
//! without a word and gains no energy while nothing drives it, what has gaps is read with warnings,
//! and what cannot run is refused. It uses the corpus beside the repository, and without it shows
//! only that the table can be read.

use std::path::Path;

use sdf::{SearchPaths, World};
use tests::repository;
use tests::truth::GRAVITY;
use tests::truth::simulation::Simulation;
use worker::physics::{self, Limitation, LimitationKind};

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

/// Verdict on a world, and its reasons.
struct Judgement {
    verdict: &'static str,
    said: String,
}

/// Reads a world, and leaves its physics to itself for a while if nothing of it is without effect.
fn judge(path: &Path, models: &SearchPaths) -> Judgement {
    let cannot = |said: String| Judgement {
        verdict: "cannot",
        said,
    };
    let bytes = std::fs::read(path).expect("a world of the corpus is readable");
    let Ok(text) = sdf::decode_text(bytes) else {
        return cannot("it is no text".to_owned());
    };
    let name = path.display().to_string();
    let read = match sdf::read_worlds(&text, &name, models) {
        Ok(read) => read,
        Err(error) => return cannot(error.to_string()),
    };
    if let Err(error) = sdf::check_for_run(&read.worlds) {
        return cannot(error.to_string());
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
        };
    }
    let wrong: Vec<String> = read.worlds.into_iter().filter_map(energy_gain).collect();
    let verdict = if wrong.is_empty() { "full" } else { "wrong" };
    let said = wrong.join("\n");
    Judgement { verdict, said }
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
fn energy_gain(world: World) -> Option<String> {
    if has_springs(&world) {
        // What they store is not counted.
        return None;
    }
    let name = world.name.clone();
    let moving = world.models.iter().filter(|model| !model.is_static);
    let links = moving.flat_map(|model| &model.links);
    let mass: f64 = links.map(|link| link.inertial.mass).sum();
    let step_s = world.physics.max_step_size_s;
    let mut simulation = Simulation::of(world, step_s);
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
        let found = judge(&corpus.join(&row.world), &models);
        let is_known = row.verdict == "gaps" && GAPS_ELSEWHERE.contains(&row.world.as_str());
        if found.verdict != row.verdict && !is_known {
            let (world, verdict) = (&row.world, &row.verdict);
            let Judgement { verdict: is, said } = found;
            wrong.push(format!("{world} is {is}, not {verdict}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
