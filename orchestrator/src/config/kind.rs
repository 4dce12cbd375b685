//! Kinds of values of settings, and the sentences that describe them.

use toml::Value;

use super::suggestion::advice;

/// Kind of the values of a setting.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A whole number within bounds.
    Whole(i64, i64),
    /// A number within bounds.
    Number(f64, f64),
    /// True or false.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A name of a run.
    RunName,
    /// One path or more.
    Paths,
    /// A path.
    Path,
    /// An address of a primary.
    Endpoint,
    /// Log levels, for everything or by target.
    LogFilter,
}

/// The levels of logs.
pub(super) const LOG_LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

/// The longest filter of logs \[bytes\].
const LOG_FILTER_MAX: usize = 1000;

impl Kind {
    /// Makes sure that a value is one of these; the error follows the key's name in a sentence.
    pub(super) fn check(self, value: &Value) -> Result<(), String> {
        let is_right = match self {
            Self::Whole(least, most) => value
                .as_integer()
                .is_some_and(|number| (least..=most).contains(&number)),
            Self::Number(least, most) => {
                number(value).is_some_and(|number| (least..=most).contains(&number))
            }
            Self::Flag => value.is_bool(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Paths => paths(value).is_some(),
            Self::Path => value.as_str().is_some_and(|text| !text.is_empty()),
            Self::Endpoint => {
                let Some(address) = value.as_str() else {
                    return Err(self.wanted());
                };
                let parsed = address.parse::<transport::Endpoints>();
                return parsed
                    .map(drop)
                    .map_err(|error| format!("is wrong: {error}"));
            }
            Self::RunName => {
                let Some(name) = value.as_str() else {
                    return Err(self.wanted());
                };
                return crate::run_directory::check_run_name(name)
                    .map_err(|error| error.to_string());
            }
            Self::LogFilter => {
                let Some(filter) = value.as_str() else {
                    return Err(self.wanted());
                };
                return check_log_filter(filter);
            }
        };
        match (is_right, self, value.as_str()) {
            (true, ..) => Ok(()),
            (false, Self::Word(words), Some(word)) => {
                let hint = super::suggestion::nearest(word, words)
                    .map_or_else(String::new, |meant| format!("; did you mean \"{meant}\"?"));
                Err(self.wanted() + &hint)
            }
            (false, ..) => Err(self.wanted()),
        }
    }

    fn wanted(self) -> String {
        match self {
            Self::Whole(least, i64::MAX) => format!("must be a whole number from {least}"),
            Self::Whole(least, most) => format!("must be a whole number from {least} to {most}"),
            Self::Number(least, f64::MAX) => format!("must be a number from {least}"),
            Self::Number(least, most) => format!("must be a number from {least} to {most}"),
            Self::Flag => "must be true or false".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match words.split_last() {
                    Some((last, [])) => format!("must be {last}"),
                    Some((last, rest)) => format!("must be {} or {last}", rest.join(", ")),
                    None => String::new(),
                }
            }
            Self::RunName | Self::LogFilter | Self::Path | Self::Endpoint => {
                "must be a text in quotes".to_owned()
            }
            Self::Paths => "must be a text in quotes, or a list of such".to_owned(),
        }
    }
}

/// Returns a number, written with a point or without.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// Returns one text, or those of a list; none may be empty.
pub(super) fn paths(value: &Value) -> Option<Vec<&str>> {
    let one = |value: &'_ Value| value.as_str().is_some_and(|text| !text.is_empty());
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(one) => {
            Some(list.iter().filter_map(Value::as_str).collect())
        }
        _ if one(value) => value.as_str().map(|text| vec![text]),
        _ => None,
    }
}

/// Checks levels such as `warn` or `info,worker::heartbeat=debug`.
pub(crate) fn check_log_filter(filter: &str) -> Result<(), String> {
    if filter.is_empty() || filter.len() > LOG_FILTER_MAX {
        return Err(format!("must be a level: {}", LOG_LEVELS.join(", ")));
    }
    for part in filter.split(',') {
        let (target, level) = part.rsplit_once('=').unwrap_or(("any", part));
        let is_target = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        if target.is_empty() || !target.chars().all(is_target) {
            return Err(format!("has no target named `{target}`"));
        }
        if !LOG_LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
            let known = LOG_LEVELS.iter().copied();
            return Err(format!("has no level `{level}`{}", advice(level, known)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, value: impl Into<Value>, expected: Result<(), &str>) {
        let got = kind.check(&value.into());
        assert_eq!(got, expected.map_err(str::to_owned), "{kind:?}");
    }

    #[test]
    fn what_is_wanted_is_said() {
        check(Kind::Whole(0, 9), 9, Ok(()));
        check(
            Kind::Whole(0, 9),
            10,
            Err("must be a whole number from 0 to 9"),
        );
        check(
            Kind::Whole(1, i64::MAX),
            0,
            Err("must be a whole number from 1"),
        );
        check(
            Kind::Whole(0, 9),
            1.0,
            Err("must be a whole number from 0 to 9"),
        );
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
        assert!(check_log_filter("inof").unwrap_err().contains("`info`?"));
    }
}
