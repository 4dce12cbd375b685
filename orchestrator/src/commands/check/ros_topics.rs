//! Topics of a world in ROS 2, as the worker program tells them, which knows systems and sensors.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow};
use protocol::ExitCode;
use protocol::report::{RosEndpointReport, RosMappingReport, RosTopicReport};

use crate::commands::Failed;
use crate::launch::find_worker;

/// Asks the worker program for the topics of a world by a file of rules.
///
/// # Errors
/// Fails if there is no worker program, or the rules are wrong.
pub(super) fn read(world: &Path, rules: Option<&Path>) -> Result<RosMappingReport, Failed> {
    let worker = find_worker().map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    let mut command = Command::new(&worker);
    command.arg("--ros-topics").stdin(Stdio::null());
    if let Some(rules) = rules {
        command.arg("--ros-rules").arg(rules);
    }
    // What there is to say about the world has been said.
    command.arg("--").arg(world).env("PHALANX_LOG", "error");
    let output = command.output();
    let output = output
        .with_context(|| format!("cannot start {}", worker.display()))
        .map_err(failed)?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let told = told.trim();
        let reason = told.strip_prefix("error: ").unwrap_or(told).to_owned();
        return Err(failed(anyhow!(reason)));
    }
    let context = || format!("{} is another version", worker.display());
    let report = serde_json::from_slice(&output.stdout).with_context(context);
    report.map_err(failed)
}

/// Describes topics, a line for each, and what there is to say of them.
pub(super) fn describe(report: &RosMappingReport) -> String {
    let mut text = String::new();
    for topic in &report.topics {
        let _ = writeln!(text, "{}", line(topic));
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn line(report: &RosTopicReport) -> String {
    let mut line = report.topic.clone().unwrap_or_default();
    if let Some(kind) = &report.kind {
        let _ = write!(line, " ({kind})");
    }
    let way = match (report.out, report.inbound) {
        (true, true) => "<->",
        (false, true) => "<-",
        (_, false) => "->",
    };
    if !line.is_empty() {
        line.push(' ');
    }
    let _ = match &report.ros {
        Some(ros) => write!(line, "{way} {}", described(ros)),
        None if report.has_type => write!(line, "is left out by a rule"),
        None => write!(line, "has no type in ROS 2"),
    };
    if let Some(frames) = &report.frames {
        let _ = write!(line, ", frames of {frames}");
    }
    line
}

fn described(ros: &RosEndpointReport) -> String {
    let reliability = if ros.reliable {
        "reliable"
    } else {
        "best effort"
    };
    let latched = if ros.latched { ", latched" } else { "" };
    let rate = ros.max_rate_hz.map(|rate| format!(", at most {rate} Hz"));
    format!(
        "{} [{}] {reliability}{latched}, depth {}{}",
        ros.name,
        ros.type_name,
        ros.depth,
        rate.unwrap_or_default()
    )
}

fn failed(error: anyhow::Error) -> Failed {
    Failed {
        code: ExitCode::Configuration,
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_name_type_and_way() {
        let ros = RosEndpointReport {
            name: "/a/scan".to_owned(),
            type_name: "sensor_msgs/msg/LaserScan".to_owned(),
            reliable: false,
            latched: false,
            depth: 5,
            max_rate_hz: Some(2.5),
        };
        let mut topic = RosTopicReport {
            topic: Some("/a/scan".to_owned()),
            kind: Some("gz.msgs.LaserScan".to_owned()),
            out: true,
            ros: Some(ros),
            has_type: true,
            ..RosTopicReport::default()
        };
        let expected = "/a/scan (gz.msgs.LaserScan) -> /a/scan [sensor_msgs/msg/LaserScan] \
                        best effort, depth 5, at most 2.5 Hz";
        assert_eq!(line(&topic), expected);
        topic.ros = None;
        assert!(line(&topic).ends_with(") is left out by a rule"));
        topic.has_type = false;
        topic.frames = Some("/tf".to_owned());
        assert!(line(&topic).ends_with(") has no type in ROS 2, frames of /tf"));
    }
}
