//! The report of two computations that gave different bits, for people and for programs: a JSON
//! file and a text beside it.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protocol::report::divergence::{BodyState, DivergenceReport, NamedState, StepResult};
use serde_json::{Value, json};

use crate::identity;
use crate::run_sink::RunSink;

/// Folder for reports of divergences, and what they hold besides the divergence.
#[derive(Debug, Default)]
pub struct DivergenceFile {
    folder: PathBuf,
    /// Settings of the run.
    settings: Value,
}

impl DivergenceFile {
    /// Makes the place for reports in a folder; no file is made before there is a divergence.
    pub fn new(folder: &Path, settings: Value) -> Self {
        Self {
            folder: folder.to_owned(),
            settings,
        }
    }

    /// Writes `divergence-ITERATION.json` and `.txt`; that one cannot be written is logged, since
    /// the run ends all the same.
    pub fn write(&self, report: &DivergenceReport) {
        let stem = self.folder.join(format!("divergence-{}", report.iteration));
        let path = stem.with_extension("json");
        match self.try_write(&stem, report) {
            Ok(()) => tracing::error!("the divergence is described in {}", path.display()),
            Err(error) => {
                tracing::error!("cannot write the divergence to {}: {error}", path.display());
            }
        }
    }

    fn try_write(&self, stem: &Path, report: &DivergenceReport) -> io::Result<()> {
        let json = serde_json::to_string_pretty(&self.json(report))?;
        fs::write(stem.with_extension("json"), json + "\n")?;
        fs::write(stem.with_extension("txt"), self.text(report))
    }

    fn json(&self, report: &DivergenceReport) -> Value {
        let results = report.results.iter().map(|result| {
            let states = result.states.iter().map(state_json);
            json!({
                "label": result.label,
                "digest": result.digest.map(|digest| digest.to_string()),
                "states": states.collect::<Vec<_>>(),
            })
        });
        json!({
            "iteration": report.iteration.0,
            "sequence": report.sequence.0,
            "peer": report.peer.as_str(),
            "cell": report.cell,
            "performer": report.performer,
            "field": report.field,
            "difference": report.difference,
            "found_by": report.found_by.text(),
            "results": results.collect::<Vec<_>>(),
            "settings": self.settings,
            "build": identity::build().to_string(),
            "command": command_line(),
            "reproduce": reproduce(report),
        })
    }

    fn text(&self, report: &DivergenceReport) -> String {
        let mut text = format!(
            "{}\n\nbuild: {}\ncommand: {}\nsettings: {}\nreproduce: {}\n",
            report.sentence(),
            identity::build(),
            command_line(),
            self.settings,
            reproduce(report)
        );
        for result in &report.results {
            let digest = result.digest.map(|digest| digest.to_string());
            let _ = writeln!(
                text,
                "\n{} (digest {})",
                result.label,
                digest.as_deref().unwrap_or("unknown")
            );
            describe(&mut text, result);
        }
        text
    }
}

impl RunSink for DivergenceFile {
    fn on_divergence(&mut self, report: &DivergenceReport) {
        self.write(report);
    }
}

fn describe(text: &mut String, result: &StepResult) {
    for state in &result.states {
        let _ = writeln!(text, "  {}: links {}", state.name, state.links);
        line(text, "position [m]", &state.position);
        line(text, "orientation xyzw", &state.orientation_xyzw);
        line(text, "linear velocity [m/s]", &state.linear_velocity);
        line(text, "angular velocity [rad/s]", &state.angular_velocity);
        for body in &state.bodies {
            let _ = writeln!(text, "    {}", body.link);
            line(text, "  pose xyz, xyzw", &body.pose);
            line(text, "  velocity", body.velocity.as_flattened());
        }
    }
}

/// Writes numbers with their bits.
fn line(text: &mut String, label: &str, numbers: &[f64]) {
    let numbers = numbers.iter();
    let shown: Vec<String> = numbers
        .map(|number| format!("{number} ({:#018x})", number.to_bits()))
        .collect();
    let _ = writeln!(text, "    {label}: {}", shown.join(", "));
}

fn state_json(state: &NamedState) -> Value {
    let reach = state.reach.as_flattened().iter();
    let reach =
        reach.map(|number| number_json(&number.to_string(), u64::from(number.to_bits()), 8));
    json!({
        "name": state.name,
        "performer": state.performer.0,
        "position_m": numbers(&state.position),
        "orientation_xyzw": numbers(&state.orientation_xyzw),
        "linear_velocity_m_s": numbers(&state.linear_velocity),
        "angular_velocity_rad_s": numbers(&state.angular_velocity),
        "reach_m": reach.collect::<Vec<_>>(),
        "links_digest": state.links.to_string(),
        "bodies": state.bodies.iter().map(body_json).collect::<Vec<_>>(),
    })
}

fn body_json(body: &BodyState) -> Value {
    json!({
        "link": body.link,
        "pose_m_xyzw": numbers(&body.pose),
        "linear_velocity_m_s": numbers(&body.velocity[0]),
        "angular_velocity_rad_s": numbers(&body.velocity[1]),
    })
}

fn numbers(numbers: &[f64]) -> Vec<Value> {
    let numbers = numbers.iter();
    numbers
        .map(|number| number_json(&number.to_string(), number.to_bits(), 16))
        .collect()
}

fn number_json(value: &str, bits: u64, digits: usize) -> Value {
    json!({ "value": value, "bits": format!("0x{bits:0digits$x}") })
}

/// Returns the command line of this process, as a shell mostly takes it.
fn command_line() -> String {
    let words: Vec<String> = std::env::args().collect();
    words.join(" ")
}

fn reproduce(report: &DivergenceReport) -> String {
    format!(
        "run the same worlds with the same seed, levels and commands to iteration {} with --verify \
         and --states FILE, once on one secondary and once as here, and compare the two files with \
         `phalanx diff`",
        report.iteration
    )
}

#[cfg(test)]
mod tests {
    use protocol::report::divergence::FoundBy;
    use protocol::{Digest, Iteration, PerformerId, PerformerState, Sequence};

    use super::*;

    fn report() -> DivergenceReport {
        let mut state = PerformerState::at_rest(PerformerId(0), [0.1, 0.0, -0.0]);
        state.digest = Digest(7);
        let result = StepResult {
            label: "in the cell".to_owned(),
            digest: Some(Digest(1)),
            states: vec![NamedState::new("main::box".to_owned(), &state)],
        };
        DivergenceReport {
            iteration: Iteration(42),
            sequence: Sequence(50),
            peer: "s1".parse().unwrap(),
            cell: "main::L0".to_owned(),
            performer: Some("main::box".to_owned()),
            field: Some("the position".to_owned()),
            difference: "0.1, and then 0.2".to_owned(),
            found_by: FoundBy::Verification,
            results: vec![result.clone(), result],
        }
    }

    #[test]
    fn a_divergence_is_written_with_every_number_and_its_bits() {
        let folder = tempfile::tempdir().unwrap();
        let file = DivergenceFile::new(folder.path(), json!({ "seed": 3 }));
        file.write(&report());
        let json = fs::read_to_string(folder.path().join("divergence-42.json")).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        let position = &json["results"][1]["states"][0]["position_m"];
        assert_eq!(position[0]["value"], "0.1");
        assert_eq!(position[0]["bits"], "0x3fb999999999999a");
        assert_eq!(position[2]["bits"], "0x8000000000000000");
        assert_eq!(json["settings"]["seed"], 3);
        assert_eq!(json["field"], "the position");
        let text = fs::read_to_string(folder.path().join("divergence-42.txt")).unwrap();
        for part in ["iteration 42", "s1", "0x3fb999999999999a", "phalanx diff"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_panic() {
        let file = DivergenceFile::new(Path::new("/nonexistent"), Value::Null);
        file.write(&report());
    }
}
