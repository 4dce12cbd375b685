//! The settings of a run's nodes: those of the run, its file of rules, and ROS 2's own variables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::report::TopicReport;
use protocol::{AwaitedReaders, RosSettings};
use ros2::{RuleError, Rules, Used};
use run::{Ros2, RosReach, RosVariableError};

/// The variable of the domain.
const DOMAIN: &str = "ROS_DOMAIN_ID";

/// The word for one of all topics.
const ANY: &str = "any";
/// The topic that secondaries read, too.
const CLOCK: &str = "/clock";
/// Number of topics that are named where another one is not known.
const KNOWN_NAMED: usize = 8;

/// Reason why readers of a topic cannot be waited for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AwaitedError {
    /// It is no name.
    #[error("{0:?} is no name of a topic of ROS 2, such as /model/rover/odometry, and not `any`")]
    Name(String),
    /// All secondaries read it.
    #[error("/clock is read by the secondaries themselves: name another topic")]
    Clock,
    /// The run does not publish on it.
    #[error("the run does not publish on {topic}, but on {}", .known.join(", "))]
    Unknown {
        /// The topic.
        topic: String,
        /// Some that it does publish on.
        known: Vec<String>,
    },
    /// The run publishes on none.
    #[error("the run has no topics that leave it for ROS 2")]
    NoTopics,
}

/// Reason why a run cannot have a part in ROS 2.
#[derive(Debug, thiserror::Error)]
pub enum RosSettingsError {
    /// This build has no ROS 2.
    #[error(transparent)]
    NotBuilt(#[from] super::RosError),
    /// A variable has no such value.
    #[error(transparent)]
    Variable(#[from] RosVariableError),
    /// The file of rules cannot be read.
    #[error("cannot read the rules of ROS 2 topics in {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The file of rules is none.
    #[error("{}: {source}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The fault, with its place.
        source: Box<toml::de::Error>,
    },
    /// A rule cannot hold.
    #[error("{}: {source}", .path.display())]
    Rule {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: RuleError,
    },
    /// Readers cannot be waited for on a topic of this name.
    #[error("await_reader: {0}")]
    Awaited(#[from] AwaitedError),
    /// A rule of the run file cannot hold.
    #[error("[ros2] of the run file: {0}")]
    OwnRule(#[source] RuleError),
}

/// Returns the settings of a run's nodes, if it has any; `jpeg_quality` is that of compressed
/// images, `variable` the environment.
///
/// # Errors
/// Fails if this build has no ROS 2, or a variable or a rule is wrong.
///
/// # Panics
/// Never: rules can be written as JSON.
pub fn settings_of(
    spec: &Ros2,
    jpeg_quality: u8,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<RosSettings>, RosSettingsError> {
    if !spec.enabled {
        return Ok(None);
    }
    if !super::IS_BUILT {
        return Err(super::RosError::NotBuilt.into());
    }
    let rules = rules_of(spec)?;
    let awaited = spec.await_reader.as_deref();
    let awaited = awaited.map(|topics| awaited_of(topics, spec.await_reader_timeout));
    let domain = match spec.domain {
        Some(domain) => domain,
        None => domain_of(variable(DOMAIN))?,
    };
    let localhost_only = match spec.localhost_only {
        Some(is_so) => is_so,
        None => RosReach::of(&variable)?.is_local,
    };
    Ok(Some(RosSettings {
        domain,
        localhost_only,
        rules: serde_json::to_string(&rules).expect("rules are texts, numbers and words"),
        jpeg_quality,
        awaited: awaited.transpose()?,
    }))
}

/// Returns the readers that are waited for on topics with commas between them.
fn awaited_of(topics: &str, timeout: Duration) -> Result<AwaitedReaders, AwaitedError> {
    let names = topics.split(',').map(str::trim);
    let names = names.filter(|name| *name != ANY);
    let topics: Vec<String> = names.map(str::to_owned).collect();
    let is_name = |name: &String| name.starts_with('/') && ros2::names::valid(name) == *name;
    if let Some(wrong) = topics.iter().find(|name| !is_name(name)) {
        return Err(AwaitedError::Name(wrong.clone()));
    }
    if topics.iter().any(|name| name == CLOCK) {
        return Err(AwaitedError::Clock);
    }
    Ok(AwaitedReaders { topics, timeout })
}

/// Tells whether a run has the topics whose readers it waits for.
///
/// # Errors
/// Fails with the first one that it does not have, or if it has none at all.
pub fn check_awaited(settings: &RosSettings, topics: &[TopicReport]) -> Result<(), AwaitedError> {
    let Some(awaited) = &settings.awaited else {
        return Ok(());
    };
    let mapping = super::mapping(settings).map_err(|_| AwaitedError::NoTopics)?;
    let known = topics.iter().flat_map(|topic| {
        let ways = mapping.ways(&Used {
            topic: &topic.topic,
            kind: &topic.kind,
            is_published: !topic.publishers.is_empty(),
            is_subscribed: !topic.subscribers.is_empty(),
        });
        let frames = mapping.frames(&topic.topic, &topic.kind);
        let frames = frames.map(|frames| mapping.transforms(frames).name);
        ways.outbound
            .map(|topic| topic.name)
            .into_iter()
            .chain(frames)
    });
    let known: BTreeSet<String> = known.collect();
    if known.is_empty() {
        return Err(AwaitedError::NoTopics);
    }
    let unknown = awaited.topics.iter().find(|name| !known.contains(*name));
    unknown.map_or(Ok(()), |topic| {
        Err(AwaitedError::Unknown {
            topic: topic.clone(),
            known: known.iter().take(KNOWN_NAMED).cloned().collect(),
        })
    })
}

/// Returns the rules of topics, of nodes and of recordings alike.
///
/// # Errors
/// Fails if the file cannot be read, or has no rules.
pub fn rules_of(spec: &Ros2) -> Result<Rules, RosSettingsError> {
    let path = spec.rules.as_deref();
    path.map_or_else(|| own_rules(spec), read_rules)
}

/// Returns the rules that stand in the run file itself.
fn own_rules(spec: &Ros2) -> Result<Rules, RosSettingsError> {
    let rules = spec.own_rules.clone().unwrap_or_default();
    ros2::Mapping::new(&rules).map_err(RosSettingsError::OwnRule)?;
    Ok(rules)
}

fn read_rules(path: &Path) -> Result<Rules, RosSettingsError> {
    let owned = || path.to_owned();
    let text = std::fs::read_to_string(path).map_err(|source| RosSettingsError::Read {
        path: owned(),
        source,
    })?;
    let rules: Rules = toml::from_str(&text).map_err(|source| RosSettingsError::Syntax {
        path: owned(),
        source: Box::new(source),
    })?;
    ros2::Mapping::new(&rules).map_err(|source| RosSettingsError::Rule {
        path: owned(),
        source,
    })?;
    Ok(rules)
}

fn domain_of(value: Option<String>) -> Result<u16, RosSettingsError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Ok(0);
    };
    let domain = value.parse().ok().filter(|domain| *domain <= 232);
    let domain = domain.ok_or(RosVariableError {
        variable: DOMAIN,
        value,
        wanted: "a whole number from 0 to 232",
    });
    Ok(domain?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_those_of_ros() {
        let domain = |value: &str| domain_of(Some(value.to_owned())).ok();
        assert_eq!(domain_of(None).ok(), Some(0));
        assert_eq!(
            [domain(""), domain("7"), domain("232")],
            [Some(0), Some(7), Some(232)]
        );
        assert_eq!(
            [domain("233"), domain("-1"), domain("x")],
            [None, None, None]
        );
        let error = domain_of(Some("x".to_owned())).unwrap_err().to_string();
        assert!(error.contains("ROS_DOMAIN_ID is \"x\""), "{error}");
    }

    #[test]
    fn a_fault_in_the_rules_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        let error_of = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_rules(&path).unwrap_err().to_string()
        };
        let error = error_of("[[topic]]\ntopic = \"/a\"\nrate = 3\n");
        assert!(
            error.contains("rules.toml") && error.contains("line 3"),
            "{error}"
        );
        let error = error_of("[[topic]]\ntopic = \"a\"\n");
        assert!(error.contains("rule 1"), "{error}");
        std::fs::write(&path, "[[topic]]\ntopic = \"/a\"\nrate_hz = 3\n").unwrap();
        assert_eq!(read_rules(&path).unwrap().topics.len(), 1);
    }

    #[test]
    fn rules_of_the_run_file_hold_unless_a_file_of_rules_is_named() {
        let rules = |topic: &str| Rules {
            topics: vec![ros2::Rule {
                topic: topic.to_owned(),
                ..ros2::Rule::default()
            }],
            ..Rules::default()
        };
        let mut spec = Ros2 {
            own_rules: Some(rules("/a")),
            ..Ros2::default()
        };
        assert_eq!(rules_of(&spec).unwrap(), rules("/a"));
        spec.rules = Some("/does/not/exist".into());
        assert!(rules_of(&spec).is_err());
        spec.rules = None;
        spec.own_rules = Some(rules("a"));
        let error = rules_of(&spec).unwrap_err().to_string();
        assert!(error.contains("[ros2] of the run file: rule 1"), "{error}");
    }

    #[test]
    fn a_build_without_ros_says_which_one_has_it() {
        let spec = Ros2 {
            enabled: true,
            ..Ros2::default()
        };
        match settings_of(&spec, 80, |_| None) {
            Ok(settings) => assert!(super::super::IS_BUILT && settings.is_some()),
            Err(error) => assert!(
                error.to_string().contains("--features worker/ros2"),
                "{error}"
            ),
        }
        assert!(matches!(
            settings_of(&Ros2::default(), 80, |_| None),
            Ok(None)
        ));
    }
}
