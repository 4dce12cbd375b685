//! Rules of topics in `[ros2]` of a run file: what a file of rules has, with `[[ros2.topic]]` for
//! each topic's.

use std::borrow::Cow;

use run::{RosMapping, RosRuleError, RosRules};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::document::{Reader, SourceSpan};

/// The keys of rules in the section.
pub(super) const KEYS: [&str; 4] = ["namespace", "robot_namespaces", "plain_descriptions", TOPIC];

/// The key of the rules of topics.
const TOPIC: &str = "topic";
/// The key that names a file of rules.
const FILE: &str = "rules";

/// The most rules of one run.
const RULES_MAX: usize = 10_000;

/// Reads the rules of the section, if there are any, with the place of the first.
pub(super) fn read(
    reader: &mut Reader<'_>,
    section: &DeTable<'_>,
) -> Option<(RosRules, SourceSpan)> {
    let is_rule = |key: &Spanned<Cow<'_, str>>| KEYS.contains(&&**key.get_ref());
    let given: Vec<_> = section.iter().filter(|(key, _)| is_rule(key)).collect();
    let offsets = given.iter().map(|(key, _)| key.span().start);
    let first = offsets.min()?;
    if section.contains_key(FILE) {
        let message = "rules stand here and in the file that `rules` names: use one of both";
        reader.report(first, message);
        return None;
    }
    let before = reader.problems.len();
    let mut rules = RosRules::default();
    let mut places = Vec::new();
    for (key, value) in given {
        if key.get_ref() == TOPIC {
            places = read_topics(reader, value, &mut rules);
        } else if let Some(one) = read_part(reader, key.get_ref(), value, |value| value) {
            match &**key.get_ref() {
                "namespace" => rules.namespace = one.namespace,
                "robot_namespaces" => rules.robot_namespaces = one.robot_namespaces,
                _ => rules.plain_descriptions = one.plain_descriptions,
            }
        }
    }
    if reader.problems.len() > before {
        return None;
    }
    if let Err(error) = RosMapping::new(&rules) {
        let at = match &error {
            RosRuleError::Topic { number, .. } => places.get(number - 1).copied(),
            RosRuleError::Namespace { .. } => {
                section.get("namespace").map(|value| value.span().start)
            }
        };
        reader.report(at.unwrap_or(first), error.to_string());
        return None;
    }
    Some((rules, reader.place(first)))
}

/// Reads the rules of topics, and returns where each stands.
fn read_topics(
    reader: &mut Reader<'_>,
    value: &Spanned<DeValue<'_>>,
    rules: &mut RosRules,
) -> Vec<usize> {
    let at = value.span().start;
    let Some(list) = value.get_ref().as_array() else {
        reader.report(at, "a rule of a topic is a section: [[ros2.topic]]");
        return Vec::new();
    };
    if list.len() > RULES_MAX {
        reader.report(at, format!("there are more than {RULES_MAX} rules"));
        return Vec::new();
    }
    let mut places = Vec::new();
    for one in list {
        let read = read_part(reader, TOPIC, one, |value| Value::Array(vec![value]));
        rules
            .topics
            .extend(read.into_iter().flat_map(|one| one.topics));
        places.push(one.span().start);
    }
    places
}

/// Reads rules of which there is no more than this value, so that a fault has its place.
fn read_part(
    reader: &mut Reader<'_>,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    wrap: impl FnOnce(Value) -> Value,
) -> Option<RosRules> {
    let read = match reader.value(value) {
        Ok(placed) => {
            let table = Table::from_iter([(key.to_owned(), wrap(placed.value))]);
            let rules = Value::Table(table).try_into::<RosRules>();
            rules.map_err(|error| error.message().to_owned())
        }
        Err(error) => Err(error.to_string()),
    };
    read.map_err(|error| reader.report(value.span().start, format!("`{key}` of [ros2]: {error}")))
        .ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("/folder/run.toml")).map_err(|error| error.to_string())
    }

    fn check_error(text: &str, place: &str, part: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
        assert!(error.contains(&format!("run.toml:{place}: ")), "{error}");
    }

    #[test]
    fn rules_of_a_run_file_are_those_of_a_file_of_rules() {
        let rules = "namespace = \"/sim\"\nrobot_namespaces = true\n";
        let of_topics = [
            "topic = \"/model/*/cmd_vel\"\nname = \"/{1}/drive\"\nrate_hz = 5\n",
            "topic = \"/debug/**\"\ndirection = \"off\"\n",
        ];
        let in_file: run::RosRules = toml::from_str(&format!(
            "{rules}[[topic]]\n{}[[topic]]\n{}",
            of_topics[0], of_topics[1]
        ))
        .unwrap();
        let config = parse(&format!(
            "[ros2]\nenabled = true\n{rules}[[ros2.topic]]\n{}[[ros2.topic]]\n{}",
            of_topics[0], of_topics[1]
        ));
        let ros2 = config.unwrap().spec.ros2;
        assert!(ros2.enabled);
        assert_eq!(ros2.own_rules, Some(in_file));
        assert_eq!(
            parse("[ros2]\nenabled = true\n")
                .unwrap()
                .spec
                .ros2
                .own_rules,
            None
        );
    }

    #[test]
    fn rules_reach_the_processes_of_a_run() {
        let text = "[ros2]\nenabled = true\n[[ros2.topic]]\ntopic = \"/a\"\nrate_hz = 2.5\n";
        let spec = parse(text).unwrap().spec;
        let read: run::RunSpec = serde_json::from_str(&spec.to_text().unwrap()).unwrap();
        assert_eq!(read.ros2, spec.ros2);
        assert_eq!(read.ros2.own_rules.unwrap().topics[0].rate_hz, Some(2.5));
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        let rule = "[ros2]\n[[ros2.topic]]\ntopic = \"/a\"\n";
        check_error(&format!("{rule}rate = 3\n"), "2:1", "unknown field `rate`");
        check_error(
            &format!("{rule}rate_hz = 0\n"),
            "2:1",
            "rate_hz must be above 0",
        );
        let second = format!("{rule}[[ros2.topic]]\ntopic = \"b\"\n");
        check_error(&second, "4:1", "must begin with `/`");
        check_error("[ros2]\nnamespace = 'a'\n", "2:13", "must be empty or like");
        check_error("[ros2]\nnamespace = 3\n", "2:13", "expected a string");
        check_error("[ros2]\ntopic = 3\n", "2:9", "[[ros2.topic]]");
        let both = "[ros2]\nrules = 'r.toml'\nrobot_namespaces = true\n";
        check_error(both, "3:1", "use one of both");
    }
}
