//! Names of topics that ROS takes, and patterns of topics.

use std::fmt::Write;

/// The longest name of a topic that the middleware takes \[bytes\].
pub const NAME_MAX: usize = 247;
/// Number of hexadecimal digits that end a name that was cut.
const FINGERPRINT_DIGITS: usize = 16;

/// Returns the name of a topic with whatever ROS forbids replaced: other characters than letters,
/// digits and `_` become `_`, a part that begins with a digit gets one before it, and a name that
/// is too long ends with a fingerprint of the whole.
pub fn valid(topic: &str) -> String {
    let parts = topic.split('/').filter(|part| !part.is_empty());
    let mut name = String::with_capacity(topic.len());
    for part in parts {
        name.push('/');
        if part.starts_with(|first: char| first.is_ascii_digit()) {
            name.push('_');
        }
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.extend(part.chars().map(|c| if is_fine(c) { c } else { '_' }));
    }
    if name.len() > NAME_MAX {
        name.truncate(NAME_MAX - FINGERPRINT_DIGITS - 1);
        let end = name.trim_end_matches('/').len();
        name.truncate(end);
        write!(name, "_{:016x}", fingerprint(topic)).expect("texts take all");
    }
    name
}

/// Tells whether ROS takes a name as it is: absolute, without empty parts.
pub fn is_valid(name: &str) -> bool {
    name.len() > 1 && name == valid(name)
}

/// Returns 64 bits of a text, by FNV-1a.
fn fingerprint(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// A pattern of topics: `*` stands for any characters within one part of a name, `**` for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// Any characters, of several parts if true.
    Any(bool),
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("**") {
                pieces.push(Piece::Any(true));
                rest = after.trim_start_matches('*');
            } else if let Some(after) = rest.strip_prefix('*') {
                pieces.push(Piece::Any(false));
                rest = after;
            } else {
                let end = rest.find('*').unwrap_or(rest.len());
                pieces.push(Piece::Text(rest[..end].to_owned()));
                rest = &rest[end..];
            }
        }
        Self { pieces }
    }

    /// Returns the number of its stars; two in a row count as one.
    pub fn stars(&self) -> usize {
        let any = |piece: &&Piece| matches!(piece, Piece::Any(_));
        self.pieces.iter().filter(any).count()
    }

    /// Returns the texts that its stars stand for in a topic, if it fits.
    pub fn matches<'a>(&self, topic: &'a str) -> Option<Vec<&'a str>> {
        let mut found = Vec::new();
        fits(&self.pieces, topic, &mut found).then_some(found)
    }
}

/// Tells whether pieces make up a topic; what stars stand for, as short as possible, is added.
fn fits<'a>(pieces: &[Piece], topic: &'a str, found: &mut Vec<&'a str>) -> bool {
    let (is_long, rest) = match pieces {
        [] => return topic.is_empty(),
        [Piece::Text(text), rest @ ..] => {
            let after = topic.strip_prefix(text.as_str());
            return after.is_some_and(|after| fits(rest, after, found));
        }
        [Piece::Any(is_long), rest @ ..] => (*is_long, rest),
    };
    let ends = topic.char_indices().map(|(at, _)| at);
    for end in ends.chain([topic.len()]) {
        if !is_long && topic[..end].ends_with('/') {
            return false;
        }
        found.push(&topic[..end]);
        if fits(rest, &topic[end..], found) {
            return true;
        }
        found.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_only_characters_of_ros() {
        let check = |topic: &str, expected: &str| {
            assert_eq!(valid(topic), expected);
            assert!(is_valid(expected), "{expected}");
            assert_eq!(is_valid(topic), topic == expected, "{topic}");
        };
        check("/model/robot/cmd_vel", "/model/robot/cmd_vel");
        check("/model/robot-1/cmd_vel", "/model/robot_1/cmd_vel");
        check("/model/1st/a::b", "/model/_1st/a__b");
        check("//a//b/", "/a/b");
        check("/größe", "/gr__e");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = |last: char| format!("/{}{last}", "a".repeat(300));
        let (one, other) = (valid(&long('b')), valid(&long('c')));
        assert_eq!((one.len(), other.len()), (NAME_MAX, NAME_MAX));
        assert_ne!(one, other);
        assert!(is_valid(&one), "{one}");
    }

    #[test]
    fn stars_stand_for_parts_of_names() {
        let check = |pattern: &str, topic: &str, expected: Option<Vec<&str>>| {
            let got = Pattern::new(pattern).matches(topic);
            assert_eq!(got, expected, "{pattern} and {topic}");
        };
        check("/model/*/cmd_vel", "/model/r1/cmd_vel", Some(vec!["r1"]));
        check("/model/*/cmd_vel", "/model/r1/link/cmd_vel", None);
        check(
            "/model/**/cmd_vel",
            "/model/r1/link/cmd_vel",
            Some(vec!["r1/link"]),
        );
        check("**/cmd_vel", "/a/cmd_vel", Some(vec!["/a"]));
        check("/r*/*_vel", "/r12/cmd_vel", Some(vec!["12", "cmd"]));
        check("**", "/a/b", Some(vec!["/a/b"]));
        check("/a", "/a", Some(vec![]));
        check("/a", "/a/b", None);
    }
}
