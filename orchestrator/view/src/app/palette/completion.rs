//! Completes a line of the palette: commands, then levels, peers, performers, topics and files by
//! name.

use client::control::{Named, reset_kinds};
use protocol::Role;

use super::{Word, words};
use crate::app::drive;
use crate::app::model::Model;

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

/// Kind of argument that follows a command.
#[derive(Clone, Copy)]
enum Slot {
    Named(Named),
    /// A file; a folder of its path is completed at a time.
    File,
    Topic,
    /// The kind of the topic before it.
    Kind,
    /// A model that can be driven.
    Drivable,
}

/// The part of a line that is being typed, and its possible completions.
struct Open<'a, 'b> {
    /// Text before it.
    before: &'b str,
    /// All its possible completions, in order.
    choices: Vec<Candidate<'a>>,
    /// True if something follows it once it is whole.
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
    if let Some(word) = named_word(model, line) {
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

/// Returns the folder whose files the line may be completed with, as it was typed.
pub fn folder(model: &Model, line: &str) -> Option<String> {
    let word = named_word(model, line).filter(|word| word.name == "spawn")?;
    let start = line.len() - line.trim_start().len() + word.name.len();
    let path = line[start..].trim_start();
    if path.contains(char::is_whitespace) {
        return None;
    }
    let length = path.rfind('/').map_or(0, |at| at + 1);
    Some(path[..length].to_owned())
}

/// Returns the command of a line on which something follows it.
fn named_word(model: &Model, line: &str) -> Option<&'static Word> {
    let (name, _) = line.trim_start().split_once(char::is_whitespace)?;
    words(model).find(|word| word.name == name.to_ascii_lowercase())
}

fn open<'a, 'b>(model: &'a Model, line: &'b str) -> Open<'a, 'b> {
    let start = line.len() - line.trim_start().len();
    let Some(word) = named_word(model, line) else {
        let typed = line[start..].to_ascii_lowercase();
        let passing = |word: &&Word| word.name.starts_with(&typed);
        return Open {
            before: &line[..start],
            choices: words(model).filter(passing).map(Candidate::Word).collect(),
            has_more: false,
        };
    };
    let mut at = start + word.name.len();
    at += line[at..].len() - line[at..].trim_start().len();
    let slots = slots(word);
    for (index, slot) in slots.iter().enumerate() {
        let rest = &line[at..];
        let names = names(model, *slot, line[..at].trim_end());
        // A name that is whole and followed by a blank is done with; names may hold blanks.
        let whole = names
            .iter()
            .filter(|name| rest.strip_prefix(**name).is_some_and(begins_blank))
            .max_by_key(|name| name.len());
        let has_more = index + 1 < slots.len();
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

fn slots(word: &Word) -> Vec<Slot> {
    match word.name {
        "spawn" => vec![Slot::File],
        "pub" => vec![Slot::Topic, Slot::Kind],
        "drive" => vec![Slot::Drivable],
        _ => word.takes.iter().copied().map(Slot::Named).collect(),
    }
}

/// Returns what may stand in a place of the line; `before` is what stands before it.
fn names<'a>(model: &'a Model, slot: Slot, before: &str) -> Vec<&'a str> {
    let named = match slot {
        Slot::Named(named) => named,
        Slot::File => {
            let files = model.prompt.files.iter().flat_map(|files| &files.names);
            return files.map(String::as_str).collect();
        }
        Slot::Drivable => return drive::drivable(&model.heard.topics),
        Slot::Topic => {
            let topics = model.heard.topics.iter();
            return topics.map(|topic| topic.topic.as_str()).collect();
        }
        Slot::Kind => {
            let is_its = |topic: &&protocol::report::TopicReport| {
                before.rsplit(char::is_whitespace).next() == Some(&topic.topic)
            };
            let topics = model.heard.topics.iter().filter(is_its);
            return topics.map(|topic| topic.kind.as_str()).collect();
        }
    };
    match named {
        Named::Level => model
            .heard
            .levels
            .iter()
            .map(|level| level.name.as_str())
            .collect(),
        Named::Secondary => {
            let peers = model.heard.peers.iter();
            peers
                .filter(|peer| peer.role == Role::Secondary)
                .map(|peer| peer.name.as_str())
                .collect()
        }
        Named::Performer => {
            let performers = model.heard.performers.iter();
            performers
                .map(|performer| performer.name.as_str())
                .collect()
        }
        Named::ResetKind => reset_kinds().map(|(name, _)| name).to_vec(),
        // Views are not told who else is there.
        Named::Key => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::event::FileList;
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
        check("pu", "pub ");
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
        check("drive r", "drive rover_");
        check("pub /model/rover_1/c", "pub /model/rover_1/cmd_vel ");
        let twist = "pub /model/rover_1/cmd_vel gz.msgs.Twist";
        check("pub /model/rover_1/cmd_vel ", twist);
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
    fn files_are_completed_a_folder_at_a_time() {
        let mut model = fixture::model();
        assert_eq!(folder(&model, "spawn wor").as_deref(), Some(""));
        assert_eq!(folder(&model, "spawn /a/b/c").as_deref(), Some("/a/b/"));
        assert_eq!(folder(&model, "spawn a.sdf --name"), None);
        assert_eq!(folder(&model, "remove a"), None);
        model.prompt.files = Some(FileList {
            folder: String::new(),
            names: vec!["worlds/".to_owned(), "wheel.sdf".to_owned()],
        });
        assert_eq!(complete(&model, "spawn w"), "spawn w");
        assert_eq!(complete(&model, "spawn wo"), "spawn worlds/");
        assert_eq!(complete(&model, "spawn wh"), "spawn wheel.sdf");
    }

    #[test]
    fn a_view_that_only_watches_is_offered_nothing_that_changes_the_run() {
        let mut model = fixture::model();
        model.session.is_read_only = true;
        assert_eq!(complete(&model, "pl"), "pl");
        assert_eq!(complete(&model, "q"), "quit");
    }

    #[test]
    fn a_level_of_several_words_is_completed_whole() {
        let mut model = fixture::model();
        model.heard.levels[0].name = "the west wing".to_owned();
        assert_eq!(
            complete(&model, "move-cell the w"),
            "move-cell the west wing "
        );
        let line = "move-cell the west wing s";
        assert_eq!(complete(&model, line), line);
        model.heard.peers.pop();
        assert_eq!(complete(&model, line), "move-cell the west wing s1");
    }

    #[test]
    fn of_many_names_few_are_offered() {
        let mut model = fixture::model();
        let one = model.heard.performers[0].clone();
        let robot = |number: u32| protocol::report::PerformerReport {
            name: format!("robot_{number}"),
            ..one.clone()
        };
        model.heard.performers = (0..1_000).map(robot).collect();
        assert_eq!(candidates(&model, "set-performer ro").len(), 1 + NAMES_MAX);
        assert_eq!(complete(&model, "set-performer ro"), "set-performer robot_");
    }
}
