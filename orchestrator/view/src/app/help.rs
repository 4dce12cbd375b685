//! Contents of help: the keys of each context, a glossary, and instructions for usual tasks.

use super::keymap::{self, Action, Context};
use super::model::Model;
use crate::panels::Panel;

/// A part of help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// Keys, words or questions, and what is said of each.
    pub lines: Vec<(String, String)>,
}

/// Returns the places of keys in the order in which help names them.
fn places() -> Vec<(Context, String)> {
    let named = |places: &[(Context, &str)]| -> Vec<(Context, String)> {
        let owned = |(context, title): &(Context, &str)| (*context, (*title).to_owned());
        places.iter().map(owned).collect()
    };
    let own = |is_such: fn(Panel) -> bool| {
        let panels = Panel::ALL.into_iter().filter(move |panel| is_such(*panel));
        panels.map(|panel| (Context::Panel(panel), format!("In {}", panel.title())))
    };
    let mut places = named(&FIRST_PLACES);
    places.extend(own(Panel::is_table));
    places.extend(own(|panel| !panel.is_table() && !panel.is_text()));
    places.extend(named(&[(Context::Cursor, "In Map with a cursor")]));
    places.push((Context::Text, format!("In {}", keymap::titles_of_texts())));
    places.extend(own(Panel::is_text));
    places.extend(named(&LAST_PLACES));
    let has_keys = |place: &(Context, String)| {
        let mut bindings = keymap::BINDINGS.iter();
        bindings.any(|binding| binding.context == place.0)
    };
    places.retain(has_keys);
    places
}

const FIRST_PLACES: [(Context, &str); 4] = [
    (Context::Everywhere, "Everywhere"),
    (Context::Run, "The run"),
    (Context::Recording, "A recording"),
    (Context::Table, "In tables"),
];

const LAST_PLACES: [(Context, &str); 9] = [
    (Context::Detail, "In a detail"),
    (Context::Drive, "While driving"),
    (Context::Filter, "While a filter is typed"),
    (Context::Palette, "In the command line"),
    (Context::Confirm, "At a question"),
    (Context::Help, "In this help"),
    (Context::Quit, "When the view that started the run is left"),
    (Context::Ended, "On the last screen"),
    (Context::Over, "Behind the last screen"),
];

const WORDS: [(&str, &str); 12] = [
    (
        "primary",
        "the process that distributes the work and keeps time",
    ),
    (
        "secondary",
        "a process that runs physics; stand-by while it has nothing to do",
    ),
    (
        "level",
        "a box of the world; what is in it is simulated in one place",
    ),
    (
        "cell",
        "the physics world of a level; it can move to another secondary",
    ),
    ("performer", "a model that moves"),
    (
        "buffer",
        "the rim around a level in which its models are loaded already",
    ),
    (
        "ghost",
        "a read-only copy of a performer in a neighbouring cell",
    ),
    ("hand-off", "a performer changes cell, with its whole state"),
    ("migration", "a cell changes secondary"),
    ("inactive", "a level that no performer keeps active"),
    ("iteration", "one round: all step, all acknowledge"),
    (
        "digest",
        "a hash of all states; the same on any number of secondaries",
    ),
];

const RECIPES: [(&str, &str); 7] = [
    (
        "slowest peer",
        "1 says who holds the step back, and by what; 2 and Enter say more of each",
    ),
    (
        "follow a robot",
        "5, choose it, f; 4 shows it in the middle of the map",
    ),
    (
        "pause and step",
        "Space pauses, n and N step, t goes to a time, Space plays",
    ),
    ("drive a robot", "5, choose it, D, arrows; Esc stops it"),
    ("hear a topic", "7, choose it, Enter; y copies the message"),
    (
        "find an error",
        "9, then / and `error|warn`; Enter shows the whole line",
    ),
    (
        "leave",
        "d detaches and the run goes on; q leaves, and may stop it",
    ),
];

/// Returns what help says now; that of the place where one is comes first. `search` are words that
/// lines must have; lines that have them nearly are shown when none has.
pub fn sections(model: &Model, search: &str) -> Vec<Section> {
    let mut sections = all(model);
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return sections;
    }
    let found = |holds: fn(&str, &str) -> bool| -> Vec<Section> {
        let keep = |section: &Section| Section {
            title: section.title.clone(),
            lines: section
                .lines
                .iter()
                .filter(|(name, text)| {
                    let line = format!("{name} {text} {}", section.title).to_lowercase();
                    words.iter().all(|word| holds(&line, word))
                })
                .cloned()
                .collect(),
        };
        let kept = sections.iter().map(keep);
        kept.filter(|section| !section.lines.is_empty()).collect()
    };
    let exact = found(|line, word| line.contains(word));
    if exact.is_empty() {
        sections = found(is_scattered);
        return sections;
    }
    exact
}

fn all(model: &Model) -> Vec<Section> {
    // What is shown is either a run or a recording.
    let (own, other) = if model.session.recording.is_some() {
        (Context::Recording, Context::Run)
    } else {
        (Context::Run, Context::Recording)
    };
    let mut here = model.screen.focus.contexts();
    here.iter_mut()
        .filter(|context| **context == other)
        .for_each(|context| *context = own);
    let places = places()
        .into_iter()
        .filter(|(context, _)| *context != other);
    let (mut first, others): (Vec<_>, Vec<_>) =
        places.partition(|(context, _)| here.contains(context));
    first.sort_by_key(|(context, _)| here.iter().position(|one| one == context));
    let keys = |(context, title)| Section {
        title,
        lines: keys_of(model, context),
    };
    let section = |title: &str, lines: &[(&str, &str)]| Section {
        title: title.to_owned(),
        lines: lines
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect(),
    };
    let words = [section("How to", &RECIPES), section("Words", &WORDS)];
    let all = first.into_iter().map(keys).chain(words);
    all.chain(others.into_iter().map(keys))
        .filter(|section| !section.lines.is_empty())
        .collect()
}

fn keys_of(model: &Model, context: Context) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let has_numbers = model.keymap.has_panel_numbers();
    let bindings = model.keymap.bindings();
    for binding in bindings.filter(|binding| binding.context == context) {
        if binding.keys.is_empty() || !keymap::is_offered(model, binding.action) {
            continue;
        }
        match binding.action {
            Action::Focus(panel) if has_numbers && panel.has_number() => {
                if panel == Panel::ALL[0] {
                    let numbers = Panel::ALL.iter().filter(|panel| panel.has_number());
                    let numbers = format!("1 to {}", numbers.count());
                    lines.push((numbers, "the panel with that number".to_owned()));
                }
            }
            _ => lines.push((keymap::key_names(&binding), binding.text.to_owned())),
        }
    }
    lines
}

/// Tells whether the letters of a word come in a line in their order.
fn is_scattered(line: &str, word: &str) -> bool {
    let mut rest = line.chars();
    word.chars().all(|letter| rest.any(|c| c == letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;
    use crate::app::keymap::BINDINGS;

    #[test]
    fn keys_of_the_place_come_first() {
        let mut model = fixture::model();
        model.screen.focus = Panel::Performers;
        let sections_now = sections(&model, "");
        let titles: Vec<&str> = sections_now.iter().map(|one| one.title.as_str()).collect();
        let first = [
            "In Performers",
            "In tables",
            "The run",
            "Everywhere",
            "How to",
            "Words",
        ];
        assert_eq!(titles[..6], first);
        model.screen.focus = Panel::Logs;
        assert_eq!(sections(&model, "")[0].title, "In Events and Logs");
    }

    #[test]
    fn words_find_lines_and_letters_find_what_is_nearly_right() {
        let model = fixture::model();
        let found = sections(&model, "move cell");
        let has = |part: &str| {
            let mut lines = found.iter().flat_map(|section| &section.lines);
            lines.any(|(_, text)| text.contains(part))
        };
        assert!(has("another secondary") && !has("zoom out"), "{found:?}");
        let nearly = sections(&model, "rltmfctr");
        assert!(!nearly.is_empty());
        assert_eq!(sections(&model, "qqqqqq"), []);
    }

    #[test]
    fn help_leaves_out_unavailable_actions() {
        let mut model = fixture::model();
        model.session.is_read_only = true;
        let text = format!("{:?}", sections(&model, ""));
        assert!(
            !text.contains("play or pause") && text.contains("detail"),
            "{text}"
        );
        assert!(!text.contains("stop the run on"), "{text}");
    }

    /// Returns all keys as the document of the view has them.
    fn documented() -> String {
        let mut model = fixture::model();
        model.session.owns_run = false;
        let place = |(context, title): &(Context, String)| {
            let rows = keys_of(&model, *context).into_iter();
            let row = |(keys, text): (String, String)| {
                let keys: Vec<String> = keys.split(' ').map(|key| format!("`{key}`")).collect();
                let keys = keys.join(" ").replace("`1` `to` `9`", "`1` to `9`");
                format!("| {keys} | {text} |\n")
            };
            let rows: Vec<String> = rows.map(row).collect();
            let heading = "| key | what it does |\n|---|---|\n";
            format!("### {title}\n\n{heading}{}\n", rows.concat())
        };
        let places: Vec<String> = places().iter().map(place).collect();
        places.concat()
    }

    #[test]
    fn the_document_of_the_view_has_all_keys() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/view.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (begin, end) = (
            "<!-- keys: made from the table -->\n\n",
            "<!-- end of keys -->",
        );
        let (before, rest) = text.split_once(begin).unwrap();
        let (keys, after) = rest.split_once(end).unwrap();
        if keys != documented() && std::env::var_os("UPDATE_EXPECT").is_some() {
            let text = format!("{before}{begin}{}{end}{after}", documented());
            return std::fs::write(path, text).unwrap();
        }
        assert_eq!(keys, documented(), "UPDATE_EXPECT=1 writes them anew");
    }

    #[test]
    fn every_place_of_keys_has_a_section() {
        for binding in BINDINGS.iter() {
            let places = places();
            let mut contexts = places.iter().map(|(context, _)| *context);
            assert!(contexts.any(|context| context == binding.context));
        }
    }
}
