//! [`Kind`]: the values that a setting takes, read from a file or from a flag, and the sentence
//! that says so.

use serde_json::{Number, Value};
use transport::{EndpointError, Endpoints};

use crate::host::{HostError, HostList};
use crate::name::{RunNameError, check_run_name};
use crate::suggestion::{advice, nearest};

/// Values that a setting takes. Each is kept as JSON, whoever gave it.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number within bounds.
    Whole(u64, u64),
    /// A number within bounds.
    Number(f64, f64),
    /// True or false; its flag alone means true.
    Flag,
    /// True or false, `on` or `off` as a flag.
    Switch,
    /// One of some words.
    Word(&'static [&'static str]),
    /// The name of a run.
    RunName,
    /// One path or more; no flag takes it.
    Paths,
    /// A path.
    Path,
    /// `on`, `off`, or a path.
    Place,
    /// The address of a primary.
    Endpoint,
    /// A namespace of ROS 2, which is not the root.
    RosNamespace,
    /// A filter of logs: levels, for everything or by target.
    LogFilter,
    /// Any text.
    Text,
    /// Hosts with the number of their secondaries.
    Hosts,
}

/// A value that a setting does not take. The text follows the name of the setting in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// It is none of the values of the kind.
    #[error("{wanted}")]
    Other {
        /// The values of the kind.
        wanted: String,
    },
    /// It is none of the words of the kind.
    #[error("{wanted}{hint}")]
    Word {
        /// The words.
        wanted: String,
        /// The word that is likely meant.
        hint: String,
    },
    /// It is no name of a run.
    #[error(transparent)]
    RunName(#[from] RunNameError),
    /// It is no address of a primary.
    #[error("is wrong: {0}")]
    Endpoint(EndpointError),
    /// It is no filter of logs.
    #[error(transparent)]
    LogFilter(#[from] LogFilterError),
    /// It is no list of hosts.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Text that is no filter of logs. The text follows the name of the setting in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogFilterError {
    /// It is empty, or too long.
    #[error("must be a level: {}", LOG_LEVELS.join(", "))]
    Length,
    /// A target has no name, or a character that is in none.
    #[error("has no target named `{target}`")]
    Target {
        /// The target.
        target: String,
    },
    /// A level is not known.
    #[error("has no level `{level}`{}", advice(level, LOG_LEVELS.iter().copied()))]
    Level {
        /// The level.
        level: String,
    },
}

/// The levels of logs.
const LOG_LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

/// The longest namespace of ROS 2, which leaves room for names in it \[bytes\].
const ROS_NAMESPACE_MAX: usize = 128;

/// The longest filter of logs \[bytes\].
const LOG_FILTER_MAX: usize = 1000;

impl Kind {
    /// Makes sure that a value of a file is one of these.
    ///
    /// # Errors
    /// Fails if it is not, with what is wanted.
    pub fn check(self, value: &Value) -> Result<(), KindError> {
        let text = value.as_str();
        let is_right = match self {
            Self::Whole(least, most) => value
                .as_u64()
                .is_some_and(|number| (least..=most).contains(&number)),
            Self::Number(least, most) => value
                .as_f64()
                .is_some_and(|number| (least..=most).contains(&number)),
            Self::Flag | Self::Switch => value.is_boolean(),
            Self::Word(words) => text.is_some_and(|word| words.contains(&word)),
            Self::Paths => paths(value).is_some(),
            Self::Path | Self::Place | Self::Text => text.is_some_and(|text| !text.is_empty()),
            Self::RosNamespace => text.is_some_and(is_ros_namespace),
            Self::RunName | Self::Endpoint | Self::LogFilter | Self::Hosts => match text {
                Some(text) => return self.check_text(text),
                None => false,
            },
        };
        match (is_right, self, text) {
            (true, ..) => Ok(()),
            (false, Self::Word(words), Some(word)) => {
                let hint = nearest(word, words)
                    .map_or_else(String::new, |meant| format!("; did you mean \"{meant}\"?"));
                let wanted = self.wanted();
                Err(KindError::Word { wanted, hint })
            }
            (false, ..) => Err(KindError::Other {
                wanted: self.wanted(),
            }),
        }
    }

    /// Reads the text of a flag or of a variable.
    ///
    /// # Errors
    /// Fails if it is none of these values, with what is wanted.
    pub fn parse(self, text: &str) -> Result<Value, KindError> {
        let value = match self {
            Self::Whole(..) => text.parse::<u64>().map(Value::from).ok(),
            Self::Number(..) => text
                .parse()
                .ok()
                .and_then(Number::from_f64)
                .map(Value::Number),
            Self::Flag | Self::Switch => is_yes(text).map(Value::Bool),
            Self::Word(_)
            | Self::RunName
            | Self::Paths
            | Self::Path
            | Self::Place
            | Self::Endpoint
            | Self::RosNamespace
            | Self::LogFilter
            | Self::Text
            | Self::Hosts => Some(Value::from(text)),
        };
        let value = value.filter(|value| value.as_str() != Some(""));
        let value = value.ok_or_else(|| KindError::Other {
            wanted: self.wanted_of_flag(),
        })?;
        self.check(&value)?;
        Ok(value)
    }

    /// Returns what is wanted where no quotes are written.
    fn wanted_of_flag(self) -> String {
        match self {
            Self::Switch => "must be on or off".to_owned(),
            Self::Place => "must be on, off or a folder".to_owned(),
            Self::RunName
            | Self::LogFilter
            | Self::Path
            | Self::Paths
            | Self::Endpoint
            | Self::Text
            | Self::Hosts => "must not be empty".to_owned(),
            Self::Whole(..)
            | Self::Number(..)
            | Self::Flag
            | Self::Word(_)
            | Self::RosNamespace => self.wanted(),
        }
    }

    /// Checks a text whose form is more than that of a word or a path.
    fn check_text(self, text: &str) -> Result<(), KindError> {
        match self {
            Self::RunName => check_run_name(text)?,
            Self::Endpoint => drop(text.parse::<Endpoints>().map_err(KindError::Endpoint)?),
            Self::LogFilter => check_log_filter(text)?,
            Self::Hosts => drop(text.parse::<HostList>()?),
            Self::Whole(..)
            | Self::Number(..)
            | Self::Flag
            | Self::Switch
            | Self::Word(_)
            | Self::Paths
            | Self::Path
            | Self::Place
            | Self::Text
            | Self::RosNamespace => {}
        }
        Ok(())
    }

    fn wanted(self) -> String {
        match self {
            Self::Whole(least, u64::MAX) => format!("must be a whole number from {least}"),
            Self::Whole(least, most) => format!("must be a whole number from {least} to {most}"),
            Self::Number(least, f64::MAX) => format!("must be a number from {least}"),
            Self::Number(least, most) => format!("must be a number from {least} to {most}"),
            Self::Flag | Self::Switch => "must be true or false".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match words.split_last() {
                    Some((last, [])) => format!("must be {last}"),
                    Some((last, rest)) => format!("must be {} or {last}", rest.join(", ")),
                    None => String::new(),
                }
            }
            Self::Place => "must be \"on\", \"off\" or a folder".to_owned(),
            Self::RunName
            | Self::LogFilter
            | Self::Path
            | Self::Endpoint
            | Self::Text
            | Self::Hosts => "must be a text in quotes".to_owned(),
            Self::Paths => "must be a text in quotes, or a list of such".to_owned(),
            Self::RosNamespace => {
                "must be like \"/phalanx\": /, then letters, digits and _, no digit first"
                    .to_owned()
            }
        }
    }
}

/// Returns one text, or those of a list; none may be empty.
pub fn paths(value: &Value) -> Option<Vec<&str>> {
    let one = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(one) => {
            Some(list.iter().filter_map(Value::as_str).collect())
        }
        _ if one(value) => value.as_str().map(|text| vec![text]),
        _ => None,
    }
}

/// Reads a word that says yes or no.
fn is_yes(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "y" | "t" | "1" => Some(true),
        "off" | "false" | "no" | "n" | "f" | "0" => Some(false),
        _ => None,
    }
}

/// Tells whether a text is a namespace of ROS 2 other than the root.
fn is_ros_namespace(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(is_fine)
    };
    text.len() <= ROS_NAMESPACE_MAX
        && text
            .strip_prefix('/')
            .is_some_and(|rest| rest.split('/').all(is_part))
}

/// Checks levels such as `warn` or `info,worker::heartbeat=debug`.
fn check_log_filter(filter: &str) -> Result<(), LogFilterError> {
    if filter.is_empty() || filter.len() > LOG_FILTER_MAX {
        return Err(LogFilterError::Length);
    }
    for part in filter.split(',') {
        let (target, level) = part.rsplit_once('=').unwrap_or(("any", part));
        let is_target = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        if target.is_empty() || !target.chars().all(is_target) {
            let target = target.to_owned();
            return Err(LogFilterError::Target { target });
        }
        if !LOG_LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
            let level = level.to_owned();
            return Err(LogFilterError::Level { level });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, value: impl Into<Value>, expected: Result<(), &str>) {
        let got = kind.check(&value.into());
        let got = got.map_err(|error| error.to_string());
        assert_eq!(got, expected.map_err(str::to_owned), "{kind:?}");
    }

    #[test]
    fn what_is_wanted_is_said() {
        let nine = Kind::Whole(0, 9);
        check(nine, 9, Ok(()));
        check(nine, 10, Err("must be a whole number from 0 to 9"));
        check(nine, 1.0, Err("must be a whole number from 0 to 9"));
        check(nine, -1, Err("must be a whole number from 0 to 9"));
        let least = Kind::Whole(1, u64::MAX);
        check(least, 0, Err("must be a whole number from 1"));
        check(least, u64::MAX, Ok(()));
        check(Kind::Number(0.0, 1.0), 1, Ok(()));
        check(
            Kind::Number(0.0, 1.0),
            f64::NAN,
            Err("must be a number from 0 to 1"),
        );
        check(
            Kind::Number(0.0, f64::MAX),
            f64::INFINITY,
            Err("must be a number from 0"),
        );
        check(Kind::Flag, "on", Err("must be true or false"));
        check(Kind::Word(&["on", "off"]), "off", Ok(()));
        let words = "must be \"auto\", \"on\" or \"off\"";
        check(Kind::Word(&["auto", "on", "off"]), 1, Err(words));
        let hint = format!("{words}; did you mean \"auto\"?");
        check(Kind::Word(&["auto", "on", "off"]), "atuo", Err(&hint));
    }

    #[test]
    fn flags_take_the_same_values_as_files() {
        let parse = |kind: Kind, text: &str| kind.parse(text).ok();
        assert_eq!(parse(Kind::Whole(0, 9), "9"), Some(Value::from(9)));
        assert_eq!(parse(Kind::Whole(0, 9), "10"), None);
        assert_eq!(parse(Kind::Whole(0, 9), "-1"), None);
        assert_eq!(parse(Kind::Number(0.0, 1.0), "0.5"), Some(Value::from(0.5)));
        assert_eq!(parse(Kind::Number(0.0, f64::MAX), "nan"), None);
        assert_eq!(parse(Kind::Number(0.0, f64::MAX), "inf"), None);
        assert_eq!(parse(Kind::Switch, "off"), Some(Value::Bool(false)));
        assert_eq!(parse(Kind::Flag, "YES"), Some(Value::Bool(true)));
        assert_eq!(parse(Kind::Switch, "maybe"), None);
        assert_eq!(parse(Kind::Path, ""), None);
        assert_eq!(parse(Kind::Endpoint, "nonsense"), None);
    }

    #[test]
    fn namespaces_are_those_of_ros() {
        for namespace in ["/phalanx", "/a/b_1", "/_a"] {
            assert!(is_ros_namespace(namespace), "{namespace}");
        }
        for namespace in ["", "/", "a", "/a/", "/1a", "/a-b", "//a"] {
            assert!(!is_ros_namespace(namespace), "{namespace}");
        }
    }

    #[test]
    fn filters_of_logs_are_levels_with_or_without_targets() {
        for filter in [
            "info",
            "WARN",
            "info,worker::heartbeat=debug",
            "off,lockstep=trace",
        ] {
            assert_eq!(check_log_filter(filter), Ok(()), "{filter}");
        }
        for filter in [
            "",
            "inof",
            "info,",
            "=info",
            "a b=info",
            "worker=",
            "a\u{1b}=info",
        ] {
            assert!(check_log_filter(filter).is_err(), "{filter}");
        }
        let error = check_log_filter("inof").unwrap_err().to_string();
        assert!(error.contains("`info`?"), "{error}");
    }
}
