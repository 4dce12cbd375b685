//! Topics of a world in ROS 2, described for people.

use std::fmt::Write;

use protocol::report::{RosEndpointReport, RosMappingReport, RosTopicReport};

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
