//! Names of actions and keys in a user's files, in help and in the footer.

use std::fmt::Write as _;

use super::{Action, Binding, Context};
use crate::app::event::Key;

/// The names of keys that are no characters; the first of each is the one that is shown.
const NAMED: &[(Key, &[&str])] = &[
    (Key::Char(' '), &["Space"]),
    (Key::Enter, &["Enter", "Return"]),
    (Key::Esc, &["Esc", "Escape"]),
    (Key::Tab, &["Tab"]),
    (Key::BackTab, &["Shift-Tab", "BackTab"]),
    (Key::Backspace, &["Backspace"]),
    (Key::Up, &["Up"]),
    (Key::Down, &["Down"]),
    (Key::Left, &["Left"]),
    (Key::Right, &["Right"]),
    (Key::PageUp, &["PgUp", "PageUp"]),
    (Key::PageDown, &["PgDn", "PageDown"]),
    (Key::Home, &["Home"]),
    (Key::End, &["End"]),
];

/// A name that no key has. The text follows the name of an action in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyNameError {
    /// A control character.
    #[error("names a character that is no key; use a name such as Enter")]
    Control,
    /// Terminals send another key for this one.
    #[error("cannot be Ctrl-{letter}: terminals send another key for it")]
    Ambiguous {
        /// The letter.
        letter: char,
    },
    /// Ctrl- with something other than a letter.
    #[error("takes Ctrl- with a letter")]
    NoLetter,
    /// None of the names.
    #[error(
        "has no key `{name}`: a key is one character, Ctrl- and a letter, or one of {}",
        first_names()
    )]
    Unknown {
        /// The beginning of the name.
        name: String,
    },
}

fn first_names() -> String {
    let names: Vec<&str> = NAMED.iter().map(|(_, names)| names[0]).collect();
    names.join(", ")
}

/// Returns what a key is called.
pub fn key_name(key: Key) -> String {
    if let Some((_, names)) = NAMED.iter().find(|(named, _)| *named == key) {
        return names[0].to_owned();
    }
    match key {
        Key::Char(c) => c.to_string(),
        Key::Ctrl(c) => format!("Ctrl-{}", c.to_ascii_uppercase()),
        other => format!("{other:?}"),
    }
}

/// Finds the key that is called so; names in any capitalization, characters as they are.
///
/// # Errors
/// Fails if no key is called so.
pub fn parse_key(name: &str) -> Result<Key, KeyNameError> {
    let mut characters = name.chars();
    if let (Some(c), None) = (characters.next(), characters.next()) {
        return if c.is_control() {
            Err(KeyNameError::Control)
        } else {
            Ok(Key::Char(c))
        };
    }
    for (key, names) in NAMED {
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(*key);
        }
    }
    let letter = name
        .get(..5)
        .filter(|start| start.eq_ignore_ascii_case("ctrl-"))
        .map(|_| &name[5..]);
    if let Some([letter]) = letter.map(str::as_bytes) {
        let letter = letter.to_ascii_lowercase();
        return match letter {
            b'h' | b'i' | b'j' | b'm' => Err(KeyNameError::Ambiguous {
                letter: char::from(letter.to_ascii_uppercase()),
            }),
            b'a'..=b'z' => Ok(Key::Ctrl(char::from(letter))),
            _ => Err(KeyNameError::NoLetter),
        };
    }
    let name = client::plain_text::plain(name);
    let name = name.chars().take(20).collect();
    Err(KeyNameError::Unknown { name })
}

/// Returns what a binding's action is called. Bindings of one name have one meaning, and share the
/// keys that a user gives to it.
pub fn action_name(binding: &Binding<'_>) -> String {
    let name = match binding.action {
        Action::Step(1) => "step".to_owned(),
        Action::Step(count) => format!("step-{count}"),
        Action::Focus(panel) => format!("focus-{}", panel.name()),
        Action::Move(by) => direction(by, ["up", "down"], ["first", "last"]),
        Action::MovePages(by) => direction(by, ["page-up", "page-down"], ["page-up", "page-down"]),
        Action::MoveColumns(by) => direction(
            by,
            ["scroll-left", "scroll-right"],
            ["scroll-left", "scroll-right"],
        ),
        Action::Magnify(by) => if by > 0 { "zoom-in" } else { "zoom-out" }.to_owned(),
        Action::Pan(x, y) => format!("pan-{}", side(x, y)),
        Action::MoveCursor(x, y) => {
            let far = if x.abs().max(y.abs()) > 1 { "far-" } else { "" };
            format!("cursor-{far}{}", side(x, y))
        }
        Action::Select(by) => if by > 0 {
            "select-next"
        } else {
            "select-previous"
        }
        .to_owned(),
        Action::Accelerate(ahead, turn) => match (ahead, turn) {
            (1.., _) => "ahead",
            (..=-1, _) => "back",
            (0, 1..) => "left",
            (0, ..=0) => "right",
        }
        .to_owned(),
        Action::ChangeStep(by) => if by > 0 {
            "larger-steps"
        } else {
            "smaller-steps"
        }
        .to_owned(),
        Action::FramesBack(1) => "frame-back".to_owned(),
        Action::FramesBack(count) => format!("frame-back-{count}"),
        Action::SeekOn(by) => if by > 0 { "seek-on" } else { "seek-back" }.to_owned(),
        Action::Cursor if binding.context == Context::Cursor => "cursor-away".to_owned(),
        action => kebab(&format!("{action:?}")),
    };
    // Where a question is asked or a line is typed, keys are that place's own.
    let place = kebab(&format!("{:?}", binding.context));
    let is_own = ["filter", "palette", "confirm", "quit", "drive"].contains(&place.as_str());
    if is_own || binding.action == Action::Cancel {
        format!("{place}-{name}")
    } else {
        name
    }
}

fn side(x: i8, y: i8) -> &'static str {
    match (x, y) {
        (..=-1, _) => "left",
        (1.., _) => "right",
        (0, 1..) => "up",
        (0, ..=0) => "down",
    }
}

fn direction(by: isize, near: [&str; 2], far: [&str; 2]) -> String {
    let names = if by.unsigned_abs() > 1_000_000 {
        far
    } else {
        near
    };
    names[usize::from(by > 0)].to_owned()
}

/// Returns the name of a variant in lower case with dashes.
fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for c in variant.chars() {
        match c {
            'A'..='Z' if name.is_empty() => name.push(c.to_ascii_lowercase()),
            'A'..='Z' => {
                let _ = write!(name, "-{}", c.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' => name.push(c),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::BINDINGS;
    use super::*;

    #[test]
    fn the_name_of_a_key_parses_to_the_same_key() {
        for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
            assert_eq!(parse_key(&key_name(*key)), Ok(*key));
        }
        assert_eq!(parse_key("pageup"), Ok(Key::PageUp));
        assert_eq!(parse_key("CTRL-x"), Ok(Key::Ctrl('x')));
        assert_eq!(parse_key("ä"), Ok(Key::Char('ä')));
    }

    #[test]
    fn invalid_key_names_are_refused() {
        for name in [
            "", "F1", "Ctrl-", "Ctrl-1", "Ctrl-m", "Alt-x", "\t", "Ctrl-ä", "xy",
        ] {
            assert!(parse_key(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn every_action_has_a_plain_name_of_its_own_in_its_place() {
        let mut seen = BTreeMap::new();
        for binding in BINDINGS.iter() {
            let name = action_name(binding);
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit();
            assert!(name.chars().all(is_plain), "{name}");
            assert!(!name.contains("--") && !name.ends_with('-'), "{name}");
            let place = format!("{:?} {name}", binding.context);
            let before = seen.insert(place.clone(), binding.text);
            assert_eq!(before, None, "{place} is also {}", binding.text);
            let first = BINDINGS
                .iter()
                .find(|other| action_name(other) == name)
                .unwrap();
            assert_eq!(
                first.keys, binding.keys,
                "{name} has the same keys everywhere"
            );
        }
    }

    #[test]
    fn actions_are_called_what_they_do() {
        let names: Vec<String> = BINDINGS.iter().map(action_name).collect();
        for expected in [
            "toggle-play",
            "step",
            "step-10",
            "focus-peers",
            "up",
            "last",
            "page-down",
            "zoom-in",
            "pan-left",
            "sort-next",
            "confirm-accept",
            "help-cancel",
            "quit",
        ] {
            assert!(
                names.iter().any(|name| name == expected),
                "{expected}: {names:?}"
            );
        }
    }
}
