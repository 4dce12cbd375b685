//! [`Keymap`]: the table of bindings with the keys that a user gave to some of them.

use std::collections::BTreeMap;

use super::{Action, BINDINGS, Binding, Context, action_name, key_name};
use crate::app::event::Key;
use crate::panels::Panel;

/// The keys in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    /// For some bindings, by their places in the table, the keys that replace theirs.
    replaced: BTreeMap<usize, Vec<Key>>,
}

/// Reason why keys cannot be given to an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// There is no such action.
    #[error("there is no action `{0}`")]
    Unknown(String),
    /// Without a key there would be no way out.
    #[error("`{0}` needs a key: there is no other way out")]
    NoWayOut(String),
    /// The key is text where the action is wanted.
    #[error("`{name}` cannot be {key}, which is text to be typed there")]
    Typed {
        /// The action.
        name: String,
        /// The key.
        key: String,
    },
    /// The key means something else in the same place.
    #[error("{key} is both `{name}` and `{other}` {place}")]
    Twice {
        /// The action.
        name: String,
        /// The other action.
        other: String,
        /// The key.
        key: String,
        /// The context in which both hold.
        place: String,
    },
}

impl Keymap {
    /// Returns all bindings with the keys in force.
    pub fn bindings(&self) -> impl Iterator<Item = Binding<'_>> {
        BINDINGS.iter().enumerate().map(|(index, binding)| {
            let keys = self.replaced.get(&index);
            let keys = keys.map_or(binding.keys, Vec::as_slice);
            Binding { keys, ..*binding }
        })
    }

    /// Returns the names of all actions, in the order of the table.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in BINDINGS.iter().map(action_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the keys of an action of this name, those of its first place.
    pub fn keys_of(&self, name: &str) -> Vec<Key> {
        let mut bindings = self.bindings();
        let found = bindings.find(|binding| action_name(binding) == name);
        found.map_or_else(Vec::new, |binding| binding.keys.to_vec())
    }

    /// Returns what the first key of an action is called, if it has one.
    pub fn name_of_key(&self, action: Action) -> Option<String> {
        let mut bindings = self.bindings();
        let found = bindings.find(|binding| binding.action == action)?;
        found.keys.first().map(|key| key_name(*key))
    }

    /// Tells whether every panel is reached by its number.
    pub fn has_panel_numbers(&self) -> bool {
        let reaches = |panel: Panel| {
            let name = format!("focus-{}", panel.name());
            self.keys_of(&name) == [panel.row().key]
        };
        Panel::ALL
            .into_iter()
            .filter(|panel| panel.has_number())
            .all(reaches)
    }

    /// Gives an action these keys instead of its own, wherever it is bound.
    ///
    /// # Errors
    /// Fails if there is no such action, or it cannot have these keys.
    pub fn replace(&mut self, name: &str, keys: &[Key]) -> Result<(), OverrideError> {
        let named: Vec<(usize, &Binding<'_>)> = BINDINGS
            .iter()
            .enumerate()
            .filter(|(_, binding)| action_name(binding) == name)
            .collect();
        if named.is_empty() {
            return Err(OverrideError::Unknown(name.to_owned()));
        }
        for (index, binding) in named {
            if keys.is_empty() && is_way_out(binding) {
                return Err(OverrideError::NoWayOut(name.to_owned()));
            }
            if let Some(typed) = keys.iter().find(|key| is_typed(binding.context, **key)) {
                return Err(OverrideError::Typed {
                    name: name.to_owned(),
                    key: key_name(*typed),
                });
            }
            if keys == binding.keys {
                self.replaced.remove(&index);
            } else {
                self.replaced.insert(index, keys.to_vec());
            }
        }
        Ok(())
    }

    /// Returns every key that a user's change gave two meanings in one place.
    pub fn clashes(&self) -> Vec<OverrideError> {
        let bindings: Vec<Binding<'_>> = self.bindings().collect();
        let is_replaced = |index: usize| self.replaced.contains_key(&index);
        let mut clashes = Vec::new();
        for (index, binding) in bindings.iter().enumerate() {
            for (after, other) in bindings.iter().enumerate().skip(index + 1) {
                let is_changed = is_replaced(index) || is_replaced(after);
                if !is_changed || !hold_together(binding.context, other.context) {
                    continue;
                }
                // What hides a key of a wider place from the start may go on doing so.
                let is_hidden = share(&BINDINGS[index], &BINDINGS[after]).is_some();
                let is_same = action_name(binding) == action_name(other);
                let key = share(binding, other);
                if let (Some(key), false) = (key, is_same || is_hidden) {
                    let (changed, kept) = if is_replaced(index) {
                        (binding, other)
                    } else {
                        (other, binding)
                    };
                    let place = if is_general(changed.context) {
                        kept.context
                    } else {
                        changed.context
                    };
                    clashes.push(OverrideError::Twice {
                        name: action_name(changed),
                        other: action_name(kept),
                        key: key_name(key),
                        place: place_name(place),
                    });
                }
            }
        }
        clashes
    }
}

/// Tells whether a view could not be left, or a question not be answered, without this.
fn is_way_out(binding: &Binding<'_>) -> bool {
    matches!(
        binding.action,
        Action::Quit | Action::Accept | Action::Cancel | Action::Leave
    )
}

/// Returns a key that two bindings have both.
fn share(binding: &Binding<'_>, other: &Binding<'_>) -> Option<Key> {
    let mut keys = binding.keys.iter();
    keys.find(|key| other.keys.contains(key)).copied()
}

/// Tells whether keys of two places may be pressed at the same moment.
fn hold_together(one: Context, other: Context) -> bool {
    let is_within = |one, other| match one {
        Context::Panel(panel) => {
            panel.contexts().contains(&other) && matches!(other, Context::Table | Context::Text)
        }
        Context::Detail => matches!(other, Context::Run | Context::Recording),
        Context::Cursor => other == Context::Panel(Panel::Map),
        Context::Everywhere
        | Context::Run
        | Context::Recording
        | Context::Drive
        | Context::Table
        | Context::Text
        | Context::Filter
        | Context::Palette
        | Context::Confirm
        | Context::Quit
        | Context::Help
        | Context::Ended
        | Context::Over => false,
    };
    // What is shown is either a run or a recording.
    let is_either = |one, other| one == Context::Run && other == Context::Recording;
    if is_either(one, other) || is_either(other, one) {
        return false;
    }
    let are_browsed = is_browsed(one) && is_browsed(other);
    one == other
        || is_within(one, other)
        || is_within(other, one)
        || (are_browsed && (is_general(one) || is_general(other)))
}

/// Tells whether keys of a place work in every panel.
fn is_general(context: Context) -> bool {
    matches!(context, Context::Everywhere | Context::Run | Context::Over)
}

/// Tells whether a place is in panels, with nothing over them.
fn is_browsed(context: Context) -> bool {
    !matches!(
        context,
        Context::Detail
            | Context::Drive
            | Context::Filter
            | Context::Palette
            | Context::Confirm
            | Context::Quit
            | Context::Help
            | Context::Ended
    )
}

fn is_typed(context: Context, key: Key) -> bool {
    matches!(context, Context::Filter | Context::Palette)
        && matches!(key, Key::Char(_) | Key::Backspace)
}

fn place_name(context: Context) -> String {
    let name = match context {
        Context::Panel(panel) => return format!("in {}", panel.title()),
        Context::Everywhere | Context::Run => "everywhere",
        Context::Recording => "in recordings",
        Context::Detail => "in details",
        Context::Drive => "while a robot is driven",
        Context::Table => "in tables",
        Context::Cursor => "in Map with its cursor",
        Context::Text => "in Logs and Events",
        Context::Filter => "while a filter is typed",
        Context::Palette => "while a command is typed",
        Context::Confirm => "where a question is asked",
        Context::Quit => "where it is asked what becomes of the run",
        Context::Help => "in help",
        Context::Ended => "on the last screen",
        Context::Over => "after the end",
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keymap::{action, parse_key};
    use crate::app::model::Model;

    fn keymap(name: &str, keys: &[&str]) -> Result<Keymap, OverrideError> {
        let keys: Vec<Key> = keys.iter().map(|key| parse_key(key).unwrap()).collect();
        let mut keymap = Keymap::default();
        keymap.replace(name, &keys)?;
        match keymap.clashes().into_iter().next() {
            Some(clash) => Err(clash),
            None => Ok(keymap),
        }
    }

    fn check_error(name: &str, keys: &[&str], expected: &str) {
        let error = keymap(name, keys).unwrap_err().to_string();
        assert_eq!(error, expected);
    }

    #[test]
    fn new_keys_replace_the_old_ones() {
        let mut model = Model::new("run".to_owned(), true);
        model.keymap = keymap("toggle-play", &["P", "Ctrl-P"]).unwrap();
        assert_eq!(action(&model, Key::Char('P')), Some(Action::TogglePlay));
        assert_eq!(action(&model, Key::Ctrl('p')), Some(Action::TogglePlay));
        assert_eq!(action(&model, Key::Char(' ')), None);
        assert_eq!(action(&model, Key::Char('n')), Some(Action::Step(1)));
        model.keymap = keymap("step", &[]).unwrap();
        assert_eq!(action(&model, Key::Char('n')), None);
    }

    #[test]
    fn an_action_of_several_places_has_its_keys_in_all_of_them() {
        let keymap = keymap("up", &["u"]).unwrap();
        let ups = keymap
            .bindings()
            .filter(|one| one.action == Action::Move(-1));
        let keys: Vec<_> = ups.map(|one| one.keys.to_vec()).collect();
        assert!(keys.len() >= 2 && keys.iter().all(|keys| *keys == [Key::Char('u')]));
    }

    #[test]
    fn impossible_key_overrides_are_refused_by_name() {
        check_error("jump", &["x"], "there is no action `jump`");
        check_error("quit", &[], "`quit` needs a key: there is no other way out");
        check_error(
            "filter-accept",
            &["x"],
            "`filter-accept` cannot be x, which is text to be typed there",
        );
        check_error(
            "step",
            &["Space"],
            "Space is both `step` and `toggle-play` everywhere",
        );
        check_error(
            "toggle-play",
            &["s"],
            "s is both `toggle-play` and `sort-next` in tables",
        );
    }

    #[test]
    fn a_cursor_may_go_on_hiding_the_keys_of_its_map() {
        assert!(keymap("cursor-left", &["h"]).is_ok());
        check_error(
            "cursor-left",
            &["f"],
            "f is both `cursor-left` and `follow` in Map with its cursor",
        );
    }

    #[test]
    fn keys_may_be_exchanged() {
        let mut keymap = Keymap::default();
        keymap.replace("toggle-play", &[Key::Char('n')]).unwrap();
        keymap.replace("step", &[Key::Char(' ')]).unwrap();
        assert_eq!(keymap.clashes(), []);
        assert!(keymap.has_panel_numbers());
        keymap.replace("focus-map", &[Key::Char('m')]).unwrap();
        assert!(!keymap.has_panel_numbers());
        assert_eq!(keymap.name_of_key(Action::TogglePlay).as_deref(), Some("n"));
    }

    #[test]
    fn the_keys_that_come_with_the_program_do_not_clash() {
        assert_eq!(Keymap::default().clashes(), []);
        for name in Keymap::names() {
            let mut keymap = Keymap::default();
            let keys = keymap.keys_of(&name);
            keymap.replace(&name, &keys).unwrap();
        }
    }
}
