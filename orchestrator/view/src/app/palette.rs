//! The palette: commands by name. [`completion`] completes them and what they take, [`history`]
//! brings earlier ones back.

pub mod completion;
pub mod history;
mod publication;
mod replay;

use std::error::Error;

use clap::Parser;
use client::control::{self, Asked, ControlOptions, ParseControlError, VERBS, Verb, own_verb};
use client::message_text::ReadMessageError;
use client::recorded::ReplayRequest;
use protocol::{Command, PeerName};

use super::model::Model;

/// A command of the palette.
pub type Word = Verb;

/// Request that a line of the palette makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command to the primary.
    Command(Command),
    /// A command to the primary with a file that is still to be read.
    Load(Asked),
    /// Play the recording otherwise.
    Replay(ReplayRequest),
    /// Drive this robot.
    Drive(String),
    /// Leave the view.
    Quit,
    /// Leave the view and let the run go on.
    Detach,
    /// Show the keys, those with these words alone.
    Help(String),
}

/// A line of the palette that asks for nothing that there is.
#[derive(Debug, thiserror::Error)]
pub enum PaletteError {
    /// Nothing is typed.
    #[error("type a command, such as step 100")]
    Empty,
    /// Its first word is no command.
    #[error("there is no {name:?}; there are {}", known.join(", "))]
    Unknown {
        /// The word.
        name: String,
        /// The commands that there are.
        known: Vec<&'static str>,
    },
    /// The list of clients has no place in the view.
    #[error("who is connected is listed by `phalanx ctl clients`")]
    Clients,
    /// Hosts belong to whoever owns the run.
    #[error("`phalanx ctl {name}` in a shell of the machine that the run was started on does that")]
    Hosts {
        /// The command.
        name: String,
    },
    /// Participants are among the peers.
    #[error("programs that take part are among the peers; `phalanx ctl participants` lists them")]
    Participants,
    /// Something else follows the command than it takes.
    #[error("{name} takes {wanted}")]
    Wants {
        /// The command.
        name: String,
        /// Words that it takes.
        wanted: &'static str,
    },
    /// A quote has no end.
    #[error("a {quote} is not closed")]
    Quote {
        /// The quote.
        quote: char,
    },
    /// No peer can have such a name.
    #[error("{name:?} is no peer")]
    NoPeer {
        /// The name.
        name: String,
    },
    /// Lengths that no box has.
    #[error("the edges of a performer's box are finite and above 0 m")]
    Edges,
    /// An option that the commands of `phalanx ctl` do not have.
    #[error("{told}")]
    Options {
        /// The first line of what the parser of command lines tells.
        told: String,
    },
    /// It is no command of `phalanx ctl`.
    #[error(transparent)]
    Control(#[from] ParseControlError),
    /// No message is of this kind.
    #[error("there is no kind {kind}")]
    NoKind {
        /// The kind.
        kind: String,
    },
    /// The kind of a topic's messages is neither named nor known.
    #[error("the kind of {topic} is not known; name it before the message: gz.msgs.Twist")]
    UnknownKind {
        /// The topic.
        topic: String,
    },
    /// It is no message of its kind; the cause is told with it.
    #[error("{}", with_cause(.0))]
    Message(ReadMessageError),
}

impl PaletteError {
    fn wants(name: &str, wanted: &'static str) -> Self {
        let name = name.to_owned();
        Self::Wants { name, wanted }
    }
}

impl From<ReadMessageError> for PaletteError {
    fn from(error: ReadMessageError) -> Self {
        Self::Message(error)
    }
}

fn with_cause(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Commands for the run that the view carries out itself.
const RUN_WORDS: &[Word] = &[
    own_verb("pub", "TOPIC [KIND] MESSAGE", "say something on a topic"),
    own_verb("drive", "MODEL", "drive a robot with the arrows"),
];

/// Commands for the view itself, offered after those for the primary.
const VIEW_WORDS: &[Word] = &[
    own_verb(
        "quit",
        "",
        "leave the view; the one that started the run asks what becomes of it",
    ),
    own_verb("detach", "", "leave the view; the run goes on"),
    own_verb(
        "help",
        "[WORDS]",
        "show all keys, or those with these words",
    ),
];

/// Options of a command, as they are typed behind its words.
#[derive(Debug, Parser)]
#[command(name = "", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[arg(num_args = 0.., allow_negative_numbers = true)]
    words: Vec<String>,
    #[command(flatten)]
    options: ControlOptions,
}

/// Returns the commands of a view; one that only watches has those that change nothing.
pub fn words(model: &Model) -> impl Iterator<Item = &'static Word> + use<> {
    let (verbs, of_run): (&[Word], &[Word]) = if model.session.recording.is_some() {
        (replay::WORDS, &[])
    } else if model.session.is_read_only {
        (&[], &[])
    } else {
        (VERBS, RUN_WORDS)
    };
    let verbs = verbs.iter().filter(|verb| !verb.is_list);
    verbs.chain(of_run).chain(VIEW_WORDS)
}

/// Returns what the line asks for.
///
/// # Errors
/// Fails if it asks for nothing that there is.
pub fn parse(model: &Model, line: &str) -> Result<Request, PaletteError> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (name, rest) = (name.to_ascii_lowercase(), rest.trim());
    let alone = |request: Request| match rest {
        "" => Ok(request),
        _ => Err(PaletteError::wants(&name, "nothing more")),
    };
    if model.session.recording.is_some()
        && let Some(asked) = replay::parse(&name, rest)
    {
        return asked.map(Request::Replay);
    }
    match name.as_str() {
        "play" => alone(Request::Command(Command::Play)),
        "pause" => alone(Request::Command(Command::Pause)),
        "stop" => alone(Request::Command(Command::Stop)),
        "move-cell" => parse_move(rest).map(Request::Command),
        "set-performer" => parse_performer(rest).map(Request::Command),
        "pub" => publication::parse(rest, &model.heard.topics).map(Request::Command),
        "drive" if rest.is_empty() => Err(PaletteError::wants("drive", "a model")),
        "drive" => Ok(Request::Drive(rest.to_owned())),
        "quit" | "q" => alone(Request::Quit),
        "detach" if rest.is_empty() => Ok(Request::Detach),
        "help" | "?" => Ok(Request::Help(rest.to_owned())),
        "clients" => Err(PaletteError::Clients),
        "add-host" | "drain-host" => Err(PaletteError::Hosts { name }),
        "participants" => Err(PaletteError::Participants),
        "" => Err(PaletteError::Empty),
        _ if control::is_verb(&name) => parse_control(&name, rest),
        _ => {
            let known = words(model).map(|word| word.name).collect();
            Err(PaletteError::Unknown { name, known })
        }
    }
}

/// Reads a line as `phalanx ctl` does; a name of several words stands in quotes.
fn parse_control(name: &str, rest: &str) -> Result<Request, PaletteError> {
    let line = Line::try_parse_from(control::plain_numbers(
        split(rest)?.into_iter().map(Into::into),
    ))
    .map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let told = first.trim_start_matches("error: ").to_owned();
        PaletteError::Options { told }
    })?;
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    let asked = control::parse(name, &words, &line.options)?;
    Ok(asked.command().map_or_else(Request::Load, Request::Command))
}

/// Splits a line at blanks that are not within quotes.
fn split(line: &str) -> Result<Vec<String>, PaletteError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match quote {
        Some(quote) => Err(PaletteError::Quote { quote }),
        None => Ok(words),
    }
}

/// Returns a name as it is typed where several words are not one: in quotes if it has blanks.
pub fn quoted(name: &str) -> String {
    let quote = if name.contains('"') { '\'' } else { '"' };
    if name.contains(char::is_whitespace) {
        format!("{quote}{name}{quote}")
    } else {
        name.to_owned()
    }
}

/// Splits a name in quotes from what follows it; `None` where the line begins without a quote.
fn unquote(line: &str) -> Result<Option<(String, Vec<String>)>, PaletteError> {
    if !line.starts_with(['"', '\'']) {
        return Ok(None);
    }
    let mut words = split(line)?.into_iter();
    Ok(words.next().map(|name| (name, words.collect())))
}

/// Reads a level, which may be of several words, and a peer.
fn parse_move(rest: &str) -> Result<Command, PaletteError> {
    let wanted = "a level and the peer that is to host its cell";
    let usage = || PaletteError::wants("move-cell", wanted);
    let (level, peer) = if let Some((level, words)) = unquote(rest)? {
        let [peer] = <[String; 1]>::try_from(words).map_err(|_| usage())?;
        (level, peer)
    } else {
        let (level, peer) = rest.rsplit_once(char::is_whitespace).ok_or_else(usage)?;
        (level.trim_end().to_owned(), peer.to_owned())
    };
    match peer.parse::<PeerName>() {
        Ok(peer) => Ok(Command::MoveCell { level, peer }),
        Err(_) => Err(PaletteError::NoPeer { name: peer }),
    }
}

/// Reads a model, which may be of several words, and three edge lengths if they follow.
fn parse_performer(rest: &str) -> Result<Command, PaletteError> {
    let wanted = "a model, and the size of its box if you like";
    let usage = || PaletteError::wants("set-performer", wanted);
    if rest.is_empty() {
        return Err(usage());
    }
    let edges = |words: &[&str]| -> Option<[f64; 3]> {
        let edges: Option<Vec<f64>> = words.iter().map(|word| word.parse().ok()).collect();
        edges?.try_into().ok()
    };
    let (model, size) = if let Some((model, words)) = unquote(rest)? {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let size = edges(&words);
        if size.is_none() && !words.is_empty() {
            return Err(usage());
        }
        (model, size)
    } else {
        let mut words: Vec<&str> = rest.rsplitn(4, char::is_whitespace).collect();
        words.reverse();
        match (words.as_slice(), edges(words.get(1..).unwrap_or_default())) {
            ([model, ..], Some(size)) => (model.trim_end().to_owned(), Some(size)),
            _ => (rest.to_owned(), None),
        }
    };
    let is_edge = |edge: &f64| edge.is_finite() && *edge > 0.0;
    if size.is_some_and(|size| !size.iter().all(is_edge)) {
        return Err(PaletteError::Edges);
    }
    Ok(Command::SetPerformer { model, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Request, &str>) {
        match (parse(&crate::app::fixture::model(), line), expected) {
            (Ok(request), Ok(expected)) => assert_eq!(request, expected, "{line}"),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{line}: {error}");
            }
            (result, _) => panic!("{line}: {result:?}"),
        }
    }

    #[test]
    fn lines_are_commands_or_say_what_is_wrong() {
        check("play", Ok(Request::Command(Command::Play)));
        check("  PAUSE ", Ok(Request::Command(Command::Pause)));
        check("step", Ok(Request::Command(Command::Step { count: 1 })));
        check(
            "step 1,000",
            Ok(Request::Command(Command::Step { count: 1_000 })),
        );
        check("quit", Ok(Request::Quit));
        check("help move cell", Ok(Request::Help("move cell".to_owned())));
        check("drive my rover", Ok(Request::Drive("my rover".to_owned())));
        check("drive", Err("takes a model"));
        check("step 0", Err("whole number from 1"));
        check("step -1", Err("whole number from 1"));
        check("step 1 2", Err("\"2\" is not understood after \"step\""));
        check("play now", Err("nothing more"));
        check("detach", Ok(Request::Detach));
        check("fly", Err("there is no \"fly\"; there are play, pause"));
        check("", Err("type a command"));
    }

    #[test]
    fn levels_and_models_may_be_of_several_words() {
        let cell = |level: &str| {
            Ok(Request::Command(Command::MoveCell {
                level: level.to_owned(),
                peer: "s2".parse().unwrap(),
            }))
        };
        check("move-cell west s2", cell("west"));
        check("move-cell  the west wing  s2 ", cell("the west wing"));
        check("move-cell \"the west wing\" s2", cell("the west wing"));
        check(
            "move-cell 'the  \"west\" wing' s2",
            cell("the  \"west\" wing"),
        );
        check("move-cell bob's s2", cell("bob's"));
        check("move-cell 'west wing' s1 s2", Err("a level and the peer"));
        check("move-cell 'west s2", Err("a ' is not closed"));
        check("move-cell west", Err("a level and the peer"));
        check("move-cell west s/2", Err("\"s/2\" is no peer"));
        let performer = |model: &str, size| {
            let model = model.to_owned();
            Ok(Request::Command(Command::SetPerformer { model, size }))
        };
        check("set-performer box", performer("box", None));
        check("set-performer a box", performer("a box", None));
        let size = Some([1.0, 2.0, 0.5]);
        check("set-performer a box 1 2 .5", performer("a box", size));
        check("set-performer 'a box'", performer("a box", None));
        check("set-performer \"a box\" 1 2 .5", performer("a box", size));
        check("set-performer 'a box' 1 2", Err("takes a model"));
        check("set-performer box 1 0 1", Err("above 0 m"));
        check("set-performer", Err("takes a model"));
    }

    #[test]
    fn all_commands_of_ctl_are_here() {
        let run_to = Command::RunTo { sim_time_s: 1.5 };
        check("run-to 1.5", Ok(Request::Command(run_to)));
        let joint = Command::SetJoint {
            joint: "my arm::elbow".to_owned(),
            axis: 0,
            position: Some(-1.0),
            velocity: None,
        };
        let line = "set-joint 'my arm::elbow' --position -1";
        check(line, Ok(Request::Command(joint)));
        let detach = Command::Detach {
            parent: "a::l".to_owned(),
            child: "b::l".to_owned(),
        };
        check("detach a::l b::l", Ok(Request::Command(detach)));
        check("set-joint 'arm", Err("a ' is not closed"));
        check("remove box --warp 9", Err("--warp"));
        check("remove box --axis 1", Err("--axis goes with set-joint"));
    }

    #[test]
    fn a_file_is_named_and_not_read() {
        let request = parse(&crate::app::fixture::model(), "spawn /no/such.sdf");
        let Ok(Request::Load(asked)) = request else {
            panic!("{request:?}");
        };
        assert_eq!(asked.file(), Some("/no/such.sdf".as_ref()));
    }
}
