//! Reads the corpus of public SDF files and compares with what libsdformat made of them.
//!
//! The corpus is not part of this repository; without it the tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
#![expect(
    clippy::print_stdout,
    reason = "a test that passes without looking must say so"
)]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use sdf::{Pose, ReadWorldError, ReadWorlds, SearchPaths, read_worlds};
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
fn poses_of_models_and_links_are_those_of_libsdformat() {
    let Some(corpus) = Corpus::open() else { return };
    let mut by_file: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in corpus.expected() {
        let file = line["file"].as_str().unwrap().to_owned();
        by_file.entry(file).or_default().push(line);
    }
    let (mut compared, mut wrong) = (0, Vec::new());
    for (file, lines) in by_file {
        if !corpus.root.join(&file).is_file() {
            continue;
        }
        let Ok(read) = corpus.read(&file) else {
            continue;
        };
        if read
            .warnings
            .iter()
            .any(|warning| warning.message.contains("experimental:params"))
        {
            // libsdformat changes included models by these; here a warning says that they do not.
            continue;
        }
        let poses = poses_by_name(&read);
        for line in lines {
            let name = line["name"].as_str().unwrap_or_default();
            let is_link = line["kind"] == "link";
            if !is_link && (line["kind"] != "model" || name.contains("::")) {
                continue;
            }
            compared += 1;
            let expect: Vec<f64> = serde_json::from_value(line["world_pose"].clone()).unwrap();
            match poses.get(&(is_link, name.to_owned())) {
                Some(found) if found.iter().any(|pose| is_close(pose, &expect)) => {}
                found => wrong.push(format!("{file}: {name}: {found:?} is not {expect:?}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared > 1300, "only {compared} poses were compared");
}

/// Poses of links (`true`) and models, by scoped name; several worlds may use one name.
fn poses_by_name(read: &ReadWorlds) -> BTreeMap<(bool, String), Vec<Pose>> {
    let mut poses: BTreeMap<_, Vec<Pose>> = BTreeMap::new();
    for model in read.worlds.iter().flat_map(|world| &world.models) {
        poses
            .entry((false, model.name.clone()))
            .or_default()
            .push(model.pose);
        for link in &model.links {
            let name = format!("{}::{}", model.name, link.name);
            poses.entry((true, name)).or_default().push(link.pose);
        }
    }
    poses
}

/// Compares with x, y, z, then w, x, y, z of the quaternion, whose sign means nothing.
fn is_close(pose: &Pose, expect: &[f64]) -> bool {
    let [x, y, z, w] = pose.orientation_xyzw;
    let near = |found: &[f64], sign: f64, expect: &[f64]| {
        found
            .iter()
            .zip(expect)
            .all(|(a, b)| (sign * a - b).abs() < 1e-6)
    };
    near(&pose.position, 1.0, &expect[..3])
        && (near(&[w, x, y, z], 1.0, &expect[3..]) || near(&[w, x, y, z], -1.0, &expect[3..]))
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
