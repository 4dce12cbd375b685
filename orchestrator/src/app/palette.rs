//! The palette: commands by name. [`completion`] completes them and what they take.

pub mod completion;

use protocol::{Command, PeerName};

/// A command of the palette.
pub struct Word {
    /// Its name.
    pub name: &'static str,
    /// What follows it, empty for nothing.
    pub argument: &'static str,
    /// What it does.
    pub text: &'static str,
    /// What is named after it, in this order.
    pub takes: &'static [Named],
    /// Whether only a view that does not own its run has it.
    pub is_detached_only: bool,
}

/// A kind of name that the palette knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A level or default cell.
    Level,
    /// A secondary.
    Secondary,
    /// A performer.
    Performer,
}

/// What a line of the palette asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command to the primary.
    Command(Command),
    /// Leave the view.
    Quit,
    /// Leave the view and let the run go on.
    Detach,
    /// Show the keys.
    Help,
}

/// All commands, in the order in which they are offered.
pub const WORDS: &[Word] = &[
    word("play", "", "let time run"),
    word("pause", "", "stop time"),
    word("step", "[N]", "advance N iterations while paused"),
    Word {
        takes: &[Named::Level, Named::Secondary],
        ..word("move-cell", "LEVEL PEER", "let a peer host a level's cell")
    },
    Word {
        takes: &[Named::Performer],
        ..word(
            "set-performer",
            "MODEL [X Y Z]",
            "let a model keep levels active",
        )
    },
    word("stop", "", "end the run in order"),
    word(
        "quit",
        "",
        "leave the view; stop the run if the view started it",
    ),
    Word {
        is_detached_only: true,
        ..word("detach", "", "leave the view; the run goes on")
    },
    word("help", "", "show all keys"),
];

const fn word(name: &'static str, argument: &'static str, text: &'static str) -> Word {
    Word {
        name,
        argument,
        text,
        takes: &[],
        is_detached_only: false,
    }
}

/// Returns the commands of a view.
pub fn words(owns_run: bool) -> impl Iterator<Item = &'static Word> {
    WORDS
        .iter()
        .filter(move |word| !(owns_run && word.is_detached_only))
}

/// Returns what the line asks for.
///
/// # Errors
/// A sentence for the user when it asks for nothing that there is.
pub fn parse(line: &str, owns_run: bool) -> Result<Request, String> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (name, rest) = (name.to_ascii_lowercase(), rest.trim());
    let alone = |request: Request| match rest {
        "" => Ok(request),
        _ => Err(format!("{name} takes nothing more")),
    };
    match name.as_str() {
        "play" => alone(Request::Command(Command::Play)),
        "pause" => alone(Request::Command(Command::Pause)),
        "stop" => alone(Request::Command(Command::Stop)),
        "step" => parse_count(rest).map(|count| Request::Command(Command::Step { count })),
        "move-cell" => parse_move(rest).map(Request::Command),
        "set-performer" => parse_performer(rest).map(Request::Command),
        "quit" | "q" => alone(Request::Quit),
        "detach" if owns_run => Err("this view started the run and cannot detach".to_owned()),
        "detach" => alone(Request::Detach),
        "help" => alone(Request::Help),
        "" => Err("type a command, such as step 100".to_owned()),
        _ => {
            let names: Vec<_> = words(owns_run).map(|word| word.name).collect();
            Err(format!(
                "there is no {name:?}; there are {}",
                names.join(", ")
            ))
        }
    }
}

fn parse_count(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(1);
    }
    match text.replace([',', '_'], "").parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("step takes a whole number from 1, not {text:?}")),
    }
}

/// Reads a level, which may be of several words, and a peer.
fn parse_move(rest: &str) -> Result<Command, String> {
    let Some((level, peer)) = rest.rsplit_once(char::is_whitespace) else {
        return Err("move-cell takes a level and the peer that is to host its cell".to_owned());
    };
    let peer: PeerName = peer.parse().map_err(|_| format!("{peer:?} is no peer"))?;
    Ok(Command::MoveCell {
        level: level.trim_end().to_owned(),
        peer,
    })
}

/// Reads a model, which may be of several words, and three edge lengths if they follow.
fn parse_performer(rest: &str) -> Result<Command, String> {
    if rest.is_empty() {
        return Err("set-performer takes a model, and the size of its box if you like".to_owned());
    }
    let mut words = rest.rsplitn(4, char::is_whitespace);
    let mut edge = || words.next().and_then(|word| word.parse::<f64>().ok());
    let (z, y, x) = (edge(), edge(), edge());
    let (model, size) = match (x, y, z, words.next()) {
        (Some(x), Some(y), Some(z), Some(model)) => (model.trim_end(), Some([x, y, z])),
        _ => (rest, None),
    };
    let is_edge = |edge: &f64| edge.is_finite() && *edge > 0.0;
    if size.is_some_and(|size| !size.iter().all(is_edge)) {
        return Err("the edges of a performer's box are finite and above 0 m".to_owned());
    }
    Ok(Command::SetPerformer {
        model: model.to_owned(),
        size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Request, &str>) {
        match (parse(line, true), expected) {
            (Ok(request), Ok(expected)) => assert_eq!(request, expected, "{line}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{line}: {error}"),
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
        check("step 0", Err("whole number from 1"));
        check("step -1", Err("whole number from 1"));
        check("step 1 2", Err("whole number from 1"));
        check("play now", Err("nothing more"));
        check("detach", Err("cannot detach"));
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
        check("set-performer box 1 0 1", Err("above 0 m"));
        check("set-performer", Err("takes a model"));
    }
}
