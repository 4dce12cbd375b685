//! What a line of the palette may become: commands, then levels, peers and performers by name.

use protocol::Role;

use super::{Named, Word, words};
use crate::app::model::Model;
use crate::control::reset_kinds;

/// The most names that are offered at once.
const NAMES_MAX: usize = 8;

/// The most commands that are offered at once.
const WORDS_MAX: usize = 40;

/// Something that the line may become.
#[derive(Clone, Copy)]
pub enum Candidate<'a> {
    /// A command.
    Word(&'static Word),
    /// A name that a command takes.
    Name(&'a str),
}

/// The part of a line that is being typed, and what it may become.
struct Open<'a, 'b> {
    /// What stands before it.
    before: &'b str,
    /// All that it may become, in order.
    choices: Vec<Candidate<'a>>,
    /// Whether something follows it once it is whole.
    has_more: bool,
}

impl<'a> Candidate<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Word(word) => word.name,
            Self::Name(name) => name,
        }
    }
}

/// Returns what the line may become: the commands, or the command itself and names after it.
pub fn candidates<'a>(model: &'a Model, line: &str) -> Vec<Candidate<'a>> {
    let mut candidates = open(model, line).choices;
    candidates.truncate(WORDS_MAX);
    if let Some(word) = named_word(line) {
        candidates.truncate(NAMES_MAX);
        candidates.insert(0, Candidate::Word(word));
    }
    candidates
}

/// Returns the line as far as it can be completed: to what all candidates have in common.
pub fn complete(model: &Model, line: &str) -> String {
    let open = open(model, line);
    let Some(first) = open.choices.first().map(|choice| choice.text()) else {
        return line.to_owned();
    };
    let space = match open.choices.as_slice() {
        [Candidate::Word(word)] if !word.argument.is_empty() => " ",
        [Candidate::Name(_)] if open.has_more => " ",
        _ => "",
    };
    let is_common = |length: &usize| {
        let mut all = open
            .choices
            .iter()
            .map(|choice| choice.text().get(..*length));
        all.all(|start| start.is_some() && start == first.get(..*length))
    };
    let length = (0..=first.len()).rev().find(is_common).unwrap_or(0);
    format!("{}{}{space}", open.before, &first[..length])
}

/// Returns the command of a line on which something follows it.
fn named_word(line: &str) -> Option<&'static Word> {
    let (name, _) = line.trim_start().split_once(char::is_whitespace)?;
    words().find(|word| word.name == name.to_ascii_lowercase())
}

fn open<'a, 'b>(model: &'a Model, line: &'b str) -> Open<'a, 'b> {
    let start = line.len() - line.trim_start().len();
    let Some(word) = named_word(line) else {
        let typed = line[start..].to_ascii_lowercase();
        let passing = |word: &&Word| word.name.starts_with(&typed);
        return Open {
            before: &line[..start],
            choices: words().filter(passing).map(Candidate::Word).collect(),
            has_more: false,
        };
    };
    let mut at = start + word.name.len();
    at += line[at..].len() - line[at..].trim_start().len();
    for (index, named) in word.takes.iter().enumerate() {
        let rest = &line[at..];
        let names = names(model, *named);
        // A name that is whole and followed by a blank is done with; names may hold blanks.
        let whole = names
            .iter()
            .filter(|name| rest.strip_prefix(**name).is_some_and(begins_blank))
            .max_by_key(|name| name.len());
        let has_more = index + 1 < word.takes.len();
        if let (Some(whole), true) = (whole, has_more) {
            at += whole.len();
            at += line[at..].len() - line[at..].trim_start().len();
            continue;
        }
        let passing = |name: &&str| name.starts_with(rest);
        return Open {
            before: &line[..at],
            choices: names
                .into_iter()
                .filter(passing)
                .map(Candidate::Name)
                .collect(),
            has_more,
        };
    }
    Open {
        before: line,
        choices: Vec::new(),
        has_more: false,
    }
}

fn begins_blank(rest: &str) -> bool {
    rest.starts_with(char::is_whitespace)
}

fn names(model: &Model, named: Named) -> Vec<&str> {
    match named {
        Named::Level => model
            .levels
            .iter()
            .map(|level| level.name.as_str())
            .collect(),
        Named::Secondary => {
            let peers = model.peers.iter();
            peers
                .filter(|peer| peer.role == Role::Secondary)
                .map(|peer| peer.name.as_str())
                .collect()
        }
        Named::Performer => {
            let performers = model.performers.iter();
            performers
                .map(|performer| performer.name.as_str())
                .collect()
        }
        Named::ResetKind => reset_kinds().map(|(name, _)| name).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn check(line: &str, expected: &str) {
        assert_eq!(complete(&fixture::model(), line), expected, "{line}");
    }

    fn check_candidates(line: &str, expected: &[&str]) {
        let model = fixture::model();
        let found: Vec<_> = candidates(&model, line)
            .into_iter()
            .map(Candidate::text)
            .collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn completion_goes_as_far_as_it_is_certain() {
        check("pl", "play");
        check("ste", "step ");
        check("s", "s");
        check("st", "st");
        check("run", "run-to ");
        check("x", "x");
        check("step 5", "step 5");
        check("d", "d");
        check("de", "detach");
    }

    #[test]
    fn names_are_completed_where_they_stand() {
        check("move-cell w", "move-cell west ");
        check("move-cell west s", "move-cell west s");
        check("move-cell west s2", "move-cell west s2");
        check("MOVE-CELL e", "MOVE-CELL east ");
        check("move-cell nowhere s", "move-cell nowhere s");
        check("set-performer r", "set-performer rover_");
        check("set-performer bo", "set-performer box");
        check("set-performer box 1", "set-performer box 1");
        check("reset t", "reset time");
        check("remove bo", "remove box");
        check("set-pose r", "set-pose rover_");
    }

    #[test]
    fn candidates_are_what_may_come_next() {
        check_candidates("pa", &["pause"]);
        check_candidates("set-performer b", &["set-performer", "ball", "box"]);
        check_candidates("move-cell west ", &["move-cell", "s1", "s2"]);
        check_candidates("step 5", &["step"]);
        check_candidates("fly", &[]);
    }

    #[test]
    fn a_level_of_several_words_is_completed_whole() {
        let mut model = fixture::model();
        model.levels[0].name = "the west wing".to_owned();
        assert_eq!(
            complete(&model, "move-cell the w"),
            "move-cell the west wing "
        );
        let line = "move-cell the west wing s";
        assert_eq!(complete(&model, line), line);
        model.peers.pop();
        assert_eq!(complete(&model, line), "move-cell the west wing s1");
    }

    #[test]
    fn of_many_names_few_are_offered() {
        let mut model = fixture::model();
        let one = model.performers[0].clone();
        let robot = |number: u32| protocol::report::PerformerReport {
            name: format!("robot_{number}"),
            ..one.clone()
        };
        model.performers = (0..1_000).map(robot).collect();
        assert_eq!(candidates(&model, "set-performer ro").len(), 1 + NAMES_MAX);
        assert_eq!(complete(&model, "set-performer ro"), "set-performer robot_");
    }
}
