//! Compares what was read with what libsdformat made of a file, key by key, and counts.

use std::collections::BTreeMap;

use serde_json::Value;

/// Limits from here on are none.
const NO_LIMIT: f64 = 1e16;

/// Counts of what agrees, by kind of part and key.
#[derive(Default)]
pub(crate) struct Agreement {
    /// Kind and key, with how many agree and how many there are.
    counts: BTreeMap<(String, String), (usize, usize)>,
    /// Differences, for people.
    pub(crate) differences: Vec<String>,
}

impl Agreement {
    /// Compares the parts of a file. Worlds of one file may use a name twice: a part agrees when
    /// one of its name does.
    pub(crate) fn add_file(&mut self, file: &str, expected: &[Value], found: &[Value]) {
        let mut by_name: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
        for part in found {
            by_name.entry(key(part)).or_default().push(part);
        }
        let wind = winds(expected);
        for part in expected {
            let mut part = part.clone();
            translate(&mut part, &wind);
            let (kind, name) = key(&part);
            let candidates = by_name.get(&(kind, name)).map_or(&[][..], Vec::as_slice);
            let all = differing_keys(&part, candidates);
            let count = self.count(kind, "all");
            count.1 += 1;
            if all.is_empty() {
                count.0 += 1;
            } else {
                let place = format!("{file}: {kind} {name}: ");
                self.differences.push(place + &all.join("; "));
            }
            for key in compared_keys(&part, candidates) {
                let differs = all.iter().any(|text| text.starts_with(&format!("{key}:")));
                let count = self.count(kind, &key);
                count.0 += usize::from(!differs);
                count.1 += 1;
            }
        }
    }

    fn count(&mut self, kind: &str, key: &str) -> &mut (usize, usize) {
        self.counts
            .entry((kind.to_owned(), key.to_owned()))
            .or_default()
    }

    /// Returns how many parts of a kind agree in everything, and how many there are.
    pub(crate) fn of(&self, kind: &str) -> (usize, usize) {
        let key = (kind.to_owned(), "all".to_owned());
        self.counts.get(&key).copied().unwrap_or_default()
    }

    /// Returns the counts as lines.
    pub(crate) fn table(&self) -> String {
        let line = |((kind, key), (agree, all)): (&(String, String), &(usize, usize))| {
            format!("{kind:10} {key:20} {agree:5} of {all:5}\n")
        };
        self.counts.iter().map(line).collect()
    }
}

fn key(part: &Value) -> (&str, &str) {
    let text = |key: &str| part[key].as_str().unwrap_or_default();
    (text("kind"), text("name"))
}

/// Models that wind acts on.
fn winds(expected: &[Value]) -> Vec<String> {
    let models = expected.iter().filter(|part| part["kind"] == "model");
    models
        .filter(|model| model["enable_wind"] == true)
        .filter_map(|model| model["name"].as_str().map(str::to_owned))
        .collect()
}

/// Brings what libsdformat says into the words used here: wind acts on all links of a model that
/// it acts on, one profile of physics is in use, and links of joints have their whole names.
fn translate(part: &mut Value, winds: &[String]) {
    let name = part["name"].as_str().unwrap_or_default().to_owned();
    let scope = name.rsplit_once("::").map_or("", |(scope, _)| scope);
    match part["kind"].as_str().unwrap_or_default() {
        "link" if winds.iter().any(|model| model == scope) => part["enable_wind"] = true.into(),
        "world" => {
            let profiles = part["physics"].as_array().cloned().unwrap_or_default();
            let marked = profiles.iter().find(|profile| profile["default"] == true);
            part["physics"] = marked.or(profiles.first()).cloned().unwrap_or_default();
        }
        "joint" => {
            for end in ["parent", "child"] {
                let link = part[end].as_str().unwrap_or_default();
                if link != "world" && !scope.is_empty() {
                    part[end] = format!("{scope}::{link}").into();
                }
            }
        }
        _ => {}
    }
}

fn compared_keys(expected: &Value, candidates: &[&Value]) -> Vec<String> {
    let Some(found) = candidates.first().and_then(|found| found.as_object()) else {
        return Vec::new();
    };
    let is_compared = |key: &&String| {
        !matches!(key.as_str(), "kind" | "name") && expected.get(key.as_str()).is_some()
    };
    found.keys().filter(is_compared).cloned().collect()
}

/// Returns what differs from the candidate that differs least.
fn differing_keys(expected: &Value, candidates: &[&Value]) -> Vec<String> {
    let differences = candidates.iter().map(|found| {
        let keys = compared_keys(expected, &[found]);
        let differs = |key: &String| !is_close(key, &expected[key.as_str()], &found[key.as_str()]);
        keys.into_iter()
            .filter(differs)
            .map(|key| format!("{key}: {} is not {}", found[&key], expected[&key]))
            .collect::<Vec<_>>()
    });
    differences
        .min_by_key(Vec::len)
        .unwrap_or_else(|| vec!["missing".to_owned()])
}

fn is_close(key: &str, expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Array(expected), Value::Array(found)) if key.ends_with("pose") => {
            is_same_pose(expected, found)
        }
        // Axes of joints that have none here (fixed, ball) say nothing.
        (Value::Array(_), Value::Array(found)) if key == "axes" && found.is_empty() => true,
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(a, b)| is_close("", a, b))
        }
        (Value::Object(expected), Value::Object(found)) => found
            .iter()
            .all(|(key, found)| expected.get(key).is_none_or(|it| is_close(key, it, found))),
        _ => match (number(expected), number(found)) {
            (Some(expected), Some(found)) => {
                expected == found || (expected - found).abs() <= 1e-6 * expected.abs().max(1e-6)
            }
            _ => expected == found,
        },
    }
}

/// Numbers, of which limits may be infinite.
fn number(value: &Value) -> Option<f64> {
    let number = match value.as_str() {
        Some(text) => text.parse::<f64>().ok().filter(|value| value.is_infinite()),
        None => value.as_f64(),
    }?;
    Some(if number.abs() >= NO_LIMIT {
        number.signum() * f64::INFINITY
    } else {
        number
    })
}

/// Position within 1e-6 m; the sign of a quaternion means nothing.
fn is_same_pose(expected: &[Value], found: &[Value]) -> bool {
    let numbers = |values: &[Value]| values.iter().filter_map(Value::as_f64).collect::<Vec<_>>();
    let (expected, found) = (numbers(expected), numbers(found));
    let near = |sign: f64, range: std::ops::Range<usize>| {
        range
            .into_iter()
            .all(|i| (sign * found[i] - expected[i]).abs() < 1e-6)
    };
    expected.len() == 7
        && found.len() == 7
        && near(1.0, 0..3)
        && (near(1.0, 3..7) || near(-1.0, 3..7))
}
