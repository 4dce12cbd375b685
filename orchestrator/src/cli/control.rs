//! The words of `phalanx ctl`: a run, where it is named, then what to do.

use std::time::Duration;

use clap::Args;
use protocol::{Command, PeerName};

use super::parse_seconds;

/// The usage line, which says more than clap can.
pub(super) const USAGE: &str = "phalanx ctl [OPTIONS] [RUN] <play | pause | step [N] | \
    move-cell LEVEL PEER | set-performer MODEL [--size X Y Z] | stop>";

/// The arguments of `phalanx ctl`.
#[derive(Debug, Args)]
pub struct CtlArguments {
    /// The run, if more than one is living, then what to do
    #[arg(required = true, num_args = 1..=4, value_name = "RUN COMMAND")]
    pub words: Vec<String>,
    /// For set-performer: edge lengths of the box with which it touches levels, in metres
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true)]
    pub size: Option<Vec<f64>>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub timeout: Duration,
}

/// Words of `phalanx ctl` that are no command.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParseControlError {
    /// No word names a command.
    #[error(
        "no command in {0:?}: use [RUN] play, pause, step [N], move-cell LEVEL PEER, \
         set-performer MODEL or stop"
    )]
    NoCommand(String),
    /// Something follows the command.
    #[error("{0:?} is not understood after {1:?}")]
    Superfluous(String, String),
    /// Something must follow the command.
    #[error("{0} needs {1}")]
    Missing(&'static str, &'static str),
    /// A count of steps that is none.
    #[error("{0:?} is no number of steps: use a whole number from 1")]
    BadCount(String),
    /// A peer's name that is none.
    #[error(transparent)]
    BadPeer(#[from] protocol::id::PeerNameError),
    /// A size that is none.
    #[error("--size takes three finite edge lengths above 0, in metres")]
    BadSize,
    /// A size for what has none.
    #[error("--size goes with set-performer alone")]
    SizeOfNothing,
}

impl CtlArguments {
    /// Returns the run, if one is named, and the command.
    ///
    /// # Errors
    /// When the words are no command.
    pub fn parse(&self) -> Result<(Option<&str>, Command), ParseControlError> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let (run, command) = match words.as_slice() {
            [run, verb, rest @ ..] if is_verb(verb) => match command(verb, rest) {
                Ok(command) => (Some(*run), command),
                // What looks like a command may be the name of a level or a model.
                Err(error) => match command(run, &words[1..]) {
                    Ok(command) => (None, command),
                    Err(_) => return Err(error),
                },
            },
            [verb, rest @ ..] if is_verb(verb) => (None, command(verb, rest)?),
            _ => return Err(ParseControlError::NoCommand(words.join(" "))),
        };
        Ok((run, with_size(command, self.size.as_deref())?))
    }
}

fn is_verb(word: &str) -> bool {
    let verbs = [
        "play",
        "pause",
        "step",
        "move-cell",
        "set-performer",
        "stop",
    ];
    verbs.contains(&word)
}

fn command(verb: &str, rest: &[&str]) -> Result<Command, ParseControlError> {
    match (verb, rest) {
        ("play", []) => Ok(Command::Play),
        ("pause", []) => Ok(Command::Pause),
        ("stop", []) => Ok(Command::Stop),
        ("step", []) => Ok(Command::Step { count: 1 }),
        ("step", [count]) => Ok(Command::Step {
            count: parse_count(count)?,
        }),
        ("move-cell", [level, peer]) => Ok(Command::MoveCell {
            level: (*level).to_owned(),
            peer: peer.parse::<PeerName>()?,
        }),
        ("move-cell", [] | [_]) => Err(ParseControlError::Missing(
            "move-cell",
            "a level and the peer that is to host its cell",
        )),
        ("set-performer", [model]) => Ok(Command::SetPerformer {
            model: (*model).to_owned(),
            size: None,
        }),
        ("set-performer", []) => Err(ParseControlError::Missing("set-performer", "a model")),
        (verb, rest) if is_verb(verb) => Err(ParseControlError::Superfluous(
            rest.join(" "),
            verb.to_owned(),
        )),
        (verb, _) => Err(ParseControlError::NoCommand(verb.to_owned())),
    }
}

fn with_size(command: Command, given: Option<&[f64]>) -> Result<Command, ParseControlError> {
    let Some(given) = given else {
        return Ok(command);
    };
    let Command::SetPerformer { model, .. } = command else {
        return Err(ParseControlError::SizeOfNothing);
    };
    let size = <[f64; 3]>::try_from(given).ok();
    let is_size = |size: &[f64; 3]| size.iter().all(|edge| edge.is_finite() && *edge > 0.0);
    let size = size.filter(is_size).ok_or(ParseControlError::BadSize)?;
    Ok(Command::SetPerformer {
        model,
        size: Some(size),
    })
}

fn parse_count(text: &str) -> Result<u64, ParseControlError> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(ParseControlError::BadCount(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, CliCommand};

    fn control(line: &str) -> Result<(Option<String>, Command), ParseControlError> {
        let words = ["phalanx", "ctl"]
            .into_iter()
            .chain(line.split_whitespace());
        let Some(CliCommand::Ctl(arguments)) = Cli::try_parse_from(words).unwrap().command else {
            panic!("ctl was not named")
        };
        arguments
            .parse()
            .map(|(run, command)| (run.map(str::to_owned), command))
    }

    fn check(line: &str, run: Option<&str>, command: Command) {
        assert_eq!(
            control(line),
            Ok((run.map(str::to_owned), command)),
            "{line}"
        );
    }

    fn check_error(line: &str, part: &str) {
        let error = control(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }

    fn move_cell(level: &str, peer: &str) -> Command {
        Command::MoveCell {
            level: level.to_owned(),
            peer: peer.parse().unwrap(),
        }
    }

    fn set_performer(model: &str, size: Option<[f64; 3]>) -> Command {
        Command::SetPerformer {
            model: model.to_owned(),
            size,
        }
    }

    #[test]
    fn a_run_is_optional_before_a_control_command() {
        check("play", None, Command::Play);
        check("ramp-1 pause", Some("ramp-1"), Command::Pause);
        check("step 5", None, Command::Step { count: 5 });
        check("a step 5", Some("a"), Command::Step { count: 5 });
        check("play stop", Some("play"), Command::Stop);
        check("move-cell west s2", None, move_cell("west", "s2"));
        check(
            "a move-cell w::default s2",
            Some("a"),
            move_cell("w::default", "s2"),
        );
        check("set-performer box", None, set_performer("box", None));
    }

    #[test]
    fn a_level_may_be_named_as_a_command_is() {
        check("move-cell play s1", None, move_cell("play", "s1"));
        check("a move-cell stop s1", Some("a"), move_cell("stop", "s1"));
        check(
            "a set-performer stop",
            Some("a"),
            set_performer("stop", None),
        );
    }

    #[test]
    fn a_performer_may_be_given_a_size() {
        let size = Some([1.0, 2.0, 0.5]);
        check(
            "a set-performer box --size 1 2 0.5",
            Some("a"),
            set_performer("box", size),
        );
        check(
            "set-performer --size 1 2 0.5 -- box",
            None,
            set_performer("box", size),
        );
        check_error("set-performer box --size 1 0 1", "above 0");
        check_error("set-performer box --size 1 -1 1", "above 0");
        check_error("set-performer box --size 1 inf 1", "finite");
        check_error("play --size 1 1 1", "set-performer alone");
    }

    #[test]
    fn wrong_control_commands_are_refused() {
        check_error("a step 0", "no number of steps");
        check_error("a fly", "no command in");
        check_error("a play now", "is not understood after \"play\"");
        check_error("a move-cell west", "needs a level and the peer");
        check_error("move-cell west s/2", "a peer name is");
        check_error("a set-performer", "needs a model");
    }
}
