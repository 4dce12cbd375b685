//! `[keys]`: which keys do what in the view.

use run::suggestion::nearest;
use toml::Value;
use toml::de::DeTable;
use view::app::event::Key;
use view::app::keymap::{Keymap, OverrideError, parse_key};

use super::document::{Problem, Reader, SourceSpan, ValueError, shown};

/// The most keys of one action.
pub(super) const KEYS_MAX: usize = 16;

/// An action with the keys that replace its own.
#[derive(Clone, Debug)]
pub(super) struct KeyLine {
    pub(super) name: String,
    pub(super) keys: Vec<Key>,
    pub(super) place: SourceSpan,
}

/// Reads the section.
pub(super) fn read(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<KeyLine> {
    let names = Keymap::names();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut lines = Vec::new();
    for (name, value) in table {
        if !known.contains(&&**name.get_ref()) {
            let hint = nearest(name.get_ref(), &known).map_or_else(
                || "; `phalanx config print` lists them".to_owned(),
                |meant| format!("; did you mean `{meant}`?"),
            );
            let name_shown = shown(name.get_ref());
            let message = format!("[keys] has no action `{name_shown}`{hint}");
            reader.report(name.span().start, message);
            continue;
        }
        let keys = reader.value(value).and_then(|placed| keys(&placed.value));
        match keys {
            Ok(keys) => lines.push(KeyLine {
                name: name.get_ref().clone().into_owned(),
                keys,
                place: reader.place(value.span().start),
            }),
            Err(error) => {
                reader.report(value.span().start, format!("`{}` {error}", name.get_ref()));
            }
        }
    }
    lines
}

/// Makes the keymap in force of the lines of all files, the strongest last.
pub(super) fn keymap(lines: &[KeyLine], problems: &mut Vec<Problem>) -> Keymap {
    let mut keymap = Keymap::default();
    for line in lines {
        if let Err(error) = keymap.replace(&line.name, &line.keys) {
            problems.push(Problem {
                place: line.place.clone(),
                message: error.to_string(),
            });
        }
    }
    for clash in keymap.clashes() {
        let OverrideError::Twice { name, .. } = &clash else {
            continue;
        };
        let of = lines.iter().rev().find(|line| line.name == *name);
        let message = clash.to_string();
        if let Some(line) = of
            && !problems.iter().any(|one| one.message == message)
        {
            let place = line.place.clone();
            problems.push(Problem { place, message });
        }
    }
    keymap
}

fn keys(value: &Value) -> Result<Vec<Key>, ValueError> {
    let names: Vec<&str> = match value {
        Value::String(name) => vec![name],
        Value::Array(list) => {
            let names = list.iter().map(Value::as_str);
            names.collect::<Option<_>>().ok_or(ValueError::NoKeys)?
        }
        _ => return Err(ValueError::NoKeys),
    };
    if names.len() > KEYS_MAX {
        return Err(ValueError::TooManyKeys);
    }
    let keys = names.into_iter().map(parse_key);
    keys.map(|key| key.map_err(ValueError::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_error, parse};
    use super::*;

    #[test]
    fn keys_are_replaced_by_the_names_of_actions() {
        let keymap = parse("[keys]\ntoggle-play = ['Space', 'P']\nstep = '.'\n")
            .unwrap()
            .keymap;
        assert_eq!(
            keymap.keys_of("toggle-play"),
            [Key::Char(' '), Key::Char('P')]
        );
        assert_eq!(keymap.keys_of("step"), [Key::Char('.')]);
    }

    #[test]
    fn wrong_names_and_keys_are_told_with_their_places() {
        check_error(
            "[keys]\ntogle-play = 'x'\n",
            "2:1",
            "did you mean `toggle-play`?",
        );
        check_error(
            "[keys]\nxyz = 'x'\n",
            "2:1",
            "`phalanx config print` lists them",
        );
        check_error("[keys]\nstep = 'F13'\n", "2:8", "`step` has no key `F13`");
        check_error("[keys]\nstep = 5\n", "2:8", "must be a key in quotes");
        check_error("[keys]\nquit = []\n", "2:8", "`quit` needs a key");
    }

    #[test]
    fn a_key_with_two_meanings_in_one_place_is_told_with_both() {
        let text = "[keys]\nstep = 'x'\nzoom = ['z', 'x']\n";
        check_error(text, "2:8", "x is both `step` and `zoom` everywhere");
        check_error(
            "[keys]\nstep = 's'\n",
            "2:8",
            "`step` and `sort-next` in tables",
        );
    }
}
