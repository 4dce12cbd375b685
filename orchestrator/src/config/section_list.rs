//! [`SectionList`]: sections of a run file of which there may be several, such as `[[program]]`.

use std::collections::{BTreeMap, BTreeSet};

use run::suggestion::advice;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::document::{Reader, SourceSpan, ValueError, shown};

/// Sections of one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionList {
    /// Their name, which is also the word for one of them.
    pub(super) section: &'static str,
    /// The most of them.
    pub(super) count_max: usize,
}

impl SectionList {
    /// Reads them in order; `read_one` returns one with its name, which no other may have.
    pub(super) fn read<T>(
        self,
        reader: &mut Reader<'_>,
        content: &Spanned<DeValue<'_>>,
        mut read_one: impl FnMut(&mut Reader<'_>, usize, &DeTable<'_>) -> Option<(String, T)>,
    ) -> Vec<(T, SourceSpan)> {
        let word = self.section;
        let mut all = Vec::new();
        let mut names = BTreeSet::new();
        let Some(list) = content.get_ref().as_array() else {
            reader.report(
                content.span().start,
                format!("a {word} is a section: [[{word}]]"),
            );
            return all;
        };
        for one in list {
            let at = one.span().start;
            if all.len() >= self.count_max {
                let message = format!("there are more than {} {word}s", self.count_max);
                reader.report(at, message);
                return all;
            }
            let Some(table) = one.get_ref().as_table() else {
                reader.report(at, format!("a {word} is a section: [[{word}]]"));
                continue;
            };
            let before = reader.problems.len();
            let read = read_one(reader, at, table);
            let Some((name, read)) = read.filter(|_| reader.problems.len() == before) else {
                continue;
            };
            if names.insert(name) {
                all.push((read, reader.place(at)));
            } else {
                let name = table.get("name").map_or(at, |name| name.span().start);
                reader.report(name, format!("`name` is that of another {word}"));
            }
        }
        all
    }
}

/// Reports keys that a section does not have.
pub(super) fn check_keys(reader: &mut Reader<'_>, word: &str, table: &DeTable<'_>, keys: &[&str]) {
    for key in table.keys() {
        if !keys.contains(&&**key.get_ref()) {
            let (name, hint) = (
                shown(key.get_ref()),
                advice(key.get_ref(), keys.iter().copied()),
            );
            let message = format!("a {word} has no key `{name}`{hint}");
            reader.report(key.span().start, message);
        }
    }
}

/// Reports keys that a section lacks.
pub(super) fn need(
    reader: &mut Reader<'_>,
    at: usize,
    table: &DeTable<'_>,
    word: &str,
    keys: &[&str],
) {
    for key in keys {
        if !table.contains_key(*key) {
            reader.report(at, format!("a {word} needs `{key}`"));
        }
    }
}

/// Returns the value of a key, unless it is missing or wrong.
pub(super) fn take<T>(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    key: &str,
    read: fn(&Value) -> Result<T, ValueError>,
) -> Option<T> {
    let given = table.get(key)?;
    let value = reader.value(given).and_then(|placed| read(&placed.value));
    value
        .map_err(|error| reader.report(given.span().start, format!("`{key}` {error}")))
        .ok()
}

/// Reads a text that is not empty.
pub(super) fn text(value: &Value) -> Result<String, ValueError> {
    let text = value.as_str().filter(|text| !text.is_empty());
    Ok(text.ok_or(ValueError::NoText)?.to_owned())
}

/// Reads variables of an environment.
pub(super) fn environment(value: &Value) -> Result<BTreeMap<String, String>, ValueError> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let texts = value.as_table().and_then(|table| {
        let pairs = table.iter().map(|(name, text)| {
            let text = text.as_str().filter(|text| !text.contains('\0'))?;
            is_name(name).then(|| (name.clone(), text.to_owned()))
        });
        pairs.collect::<Option<BTreeMap<String, String>>>()
    });
    texts.ok_or(ValueError::NoEnvironment)
}
