//! Files of commands, one JSON object per line: what is done at which iteration, so that a run can
//! be scripted, and what was recorded of one can be repeated bit for bit.
//!
//! A line has `iteration`, `paused_round` where time stood still, and either `command` or `topic`,
//! `type` and `message`. Commands are named with dashes and have the fields of [`Command`]:
//! `{"set-seed": {"seed": 5}}`. Blank lines and those that begin with `#` mean nothing.

use protocol::{Command, Iteration, ScheduledCommand};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most commands that a file may have.
const COMMANDS_MAX: usize = 1_000_000;

/// The most bytes of a file.
pub const BYTES_MAX: u64 = 1 << 30;

/// A file that is none of commands.
#[derive(Debug, thiserror::Error)]
#[error("{line}: {error}")]
pub struct CommandsFileError {
    /// The line, from 1.
    pub line: usize,
    /// Its error.
    pub error: LineError,
}

/// A line that is no command.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not JSON, or has other fields.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It comes before its time.
    #[error("iteration {iteration} comes after {last}: lines stand in ascending order")]
    OutOfOrder {
        /// Its iteration.
        iteration: Iteration,
        /// That of the line before.
        last: Iteration,
    },
    /// The file has more lines than it may.
    #[error("a file has at most {COMMANDS_MAX} commands")]
    TooMany,
    /// No topic can be named so.
    #[error("no topic can be named {0:?}")]
    Topic(String),
    /// It has neither a command nor a message, or both.
    #[error("a line has either command, or topic, type and message")]
    Fields,
    /// The command is not for files.
    #[error("{0} changes nothing within the worlds, and cannot stand in a file")]
    NotScheduled(String),
    /// The command has no name.
    #[error("command is a name, or an object with one name")]
    NoName,
    /// There is no such command.
    #[error("there is no command {0:?}")]
    Unknown(String),
    /// The fields are not those of the command.
    #[error("command {name}: {error}")]
    Command {
        /// Its name.
        name: String,
        /// The error in its fields.
        error: serde_json::Error,
    },
    /// The message has no type.
    #[error("the type is missing")]
    NoType,
    /// There is no such type of message.
    #[error("there is no type {0}")]
    UnknownType(String),
    /// The fields are not those of the message.
    #[error("the message is {error}: {}", cause_of(.error))]
    Message {
        /// The error in its fields.
        error: messages::MessageError,
    },
}

/// Returns the cause of an error, for people.
fn cause_of(error: &messages::MessageError) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    cause.unwrap_or_default()
}

/// A line as it is written.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    iteration: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_round: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Value>,
}

/// Returns the commands of a file, in its order, which is that of their iterations.
///
/// # Errors
/// Fails when a line is no command, or comes before its time.
pub fn read(text: &str) -> Result<Vec<ScheduledCommand>, CommandsFileError> {
    let mut commands: Vec<ScheduledCommand> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |error| CommandsFileError {
            line: number,
            error,
        };
        let command = read_line(line).map_err(wrong)?;
        let iteration = command.iteration;
        let last = commands.last().map_or(Iteration(0), |last| last.iteration);
        if iteration < last {
            return Err(wrong(LineError::OutOfOrder { iteration, last }));
        }
        if commands.len() >= COMMANDS_MAX {
            return Err(wrong(LineError::TooMany));
        }
        commands.push(command);
    }
    Ok(commands)
}

/// Returns a command as a line of a file, without its end.
///
/// # Panics
/// Never: names and values are JSON.
pub fn line_of(scheduled: &ScheduledCommand) -> String {
    let mut line = Line {
        iteration: scheduled.iteration.0,
        paused_round: scheduled.paused_round,
        ..Line::default()
    };
    let shown = match &scheduled.command {
        Command::Publish { topic, kind, body } => messages::find(kind)
            .and_then(|kind| kind.to_json(body).ok())
            .map(|message| (topic, kind, message)),
        _ => None,
    };
    if let Some((topic, kind, message)) = shown {
        line.topic = Some(topic.clone());
        line.kind = Some(kind.clone());
        line.message = Some(message);
    } else {
        let value = serde_json::to_value(&scheduled.command);
        line.command = Some(renamed(value.unwrap_or_default(), kebab));
    }
    serde_json::to_string(&line).expect("names and values are JSON")
}

fn read_line(text: &str) -> Result<ScheduledCommand, LineError> {
    let line: Line = serde_json::from_str(text)?;
    let (iteration, paused_round) = (Iteration(line.iteration), line.paused_round);
    let command = match (line.command, line.topic) {
        (Some(command), None) if line.kind.is_none() && line.message.is_none() => {
            read_command(command)?
        }
        (None, Some(topic)) => {
            if !protocol::topic::is_message_name(&topic) {
                return Err(LineError::Topic(topic));
            }
            let (kind, body) = read_message(line.kind, line.message)?;
            Command::Publish { topic, kind, body }
        }
        _ => return Err(LineError::Fields),
    };
    if !command.is_of_worlds() {
        let name = command.text().unwrap_or_else(|| "this command".to_owned());
        return Err(LineError::NotScheduled(name));
    }
    Ok(ScheduledCommand {
        iteration,
        paused_round,
        command,
    })
}

fn read_command(value: Value) -> Result<Command, LineError> {
    let name = match &value {
        Value::String(name) => name.clone(),
        Value::Object(map) => map.keys().next().cloned().unwrap_or_default(),
        _ => return Err(LineError::NoName),
    };
    serde_json::from_value(renamed(value, pascal)).map_err(|error| {
        if error.to_string().starts_with("unknown variant") {
            LineError::Unknown(name)
        } else {
            LineError::Command { name, error }
        }
    })
}

fn read_message(
    kind: Option<String>,
    message: Option<Value>,
) -> Result<(String, Vec<u8>), LineError> {
    let name = kind.ok_or(LineError::NoType)?;
    let Some(kind) = messages::find(&name) else {
        return Err(LineError::UnknownType(name));
    };
    let message = message.unwrap_or_else(|| Value::Object(Map::new()));
    let body = kind.from_json(message);
    let body = body.map_err(|error| LineError::Message { error })?;
    Ok((kind.name.to_owned(), body))
}

/// Gives a command another way of writing its name.
fn renamed(command: Value, rename: fn(&str) -> String) -> Value {
    match command {
        Value::String(name) => Value::String(rename(&name)),
        Value::Object(map) => map
            .into_iter()
            .map(|(name, fields)| (rename(&name), fields))
            .collect(),
        other => other,
    }
}

fn kebab(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

fn pascal(name: &str) -> String {
    let mut text = String::new();
    for word in name.split('-') {
        let mut letters = word.chars();
        text.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        text.push_str(letters.as_str());
    }
    text
}

#[cfg(test)]
mod tests {
    use protocol::action::ModelVelocity;
    use protocol::client_to_primary::{NamedPose, NamedState, ResetKind, SpawnRequest};

    use super::*;

    fn comes_back(command: Command, expected: &str) {
        let scheduled = ScheduledCommand {
            iteration: Iteration(7),
            paused_round: None,
            command,
        };
        let line = line_of(&scheduled);
        assert!(line.contains(expected), "{line}");
        assert_eq!(read(&line).unwrap(), vec![scheduled], "{line}");
    }

    fn check_error(text: &str, line: usize, part: &str) {
        let error = read(text).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.error.to_string().contains(part), "{error}");
    }

    #[test]
    fn every_command_comes_back_as_it_was_written() {
        let seed = Command::SetSeed { seed: u64::MAX };
        comes_back(seed, r#"{"set-seed":{"seed":18446744073709551615}}"#);
        let what = ResetKind::Models;
        comes_back(Command::Reset { what }, r#"{"reset":{"what":"models"}}"#);
        let spawn = SpawnRequest {
            sdf: "<sdf>\n\"</sdf>".to_owned(),
            pose: Some([0.1, -0.0, 1e-310, 0.0, 0.0, 0.6, 0.8]),
            ..SpawnRequest::default()
        };
        comes_back(
            Command::Spawn(Box::new(spawn)),
            r#""spawn":{"allow_renaming":false,"#,
        );
        let poses = vec![NamedPose {
            model: "box".to_owned(),
            pose: [1.0 / 3.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0],
        }];
        comes_back(Command::SetPoses { poses }, r#"{"set-poses":{"poses":["#);
        let states = vec![NamedState {
            model: "box".to_owned(),
            pose: None,
            velocity: Some(ModelVelocity {
                linear: [1.0 / 3.0, 0.0, 0.0],
                angular: [0.0; 3],
            }),
        }];
        comes_back(
            Command::SetStates { states },
            r#"{"set-states":{"states":["#,
        );
        comes_back(
            Command::SetCollisions {
                entity: "box".to_owned(),
                enabled: false,
            },
            r#""set-collisions""#,
        );
    }

    #[test]
    fn messages_are_written_with_their_fields() {
        let mut twist = messages::motion::Twist::default();
        twist.linear.x = 0.1;
        twist.angular.z = f64::INFINITY;
        let publish = Command::Publish {
            topic: "/cmd_vel".to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            body: messages::encode(&twist),
        };
        comes_back(publish, r#""topic":"/cmd_vel","type":"gz.msgs.Twist""#);
    }

    #[test]
    fn lines_say_when_and_some_mean_nothing() {
        let reset = "\"command\": {\"reset\": {\"what\": \"models\"}}}\n";
        let text = format!(
            "# a script\n\n{{\"iteration\": 3, {reset}{{\"iteration\": 3, \
             \"paused_round\": 2, {reset}"
        );
        let commands = read(&text).unwrap();
        let when = commands
            .iter()
            .map(|one| (one.iteration.0, one.paused_round));
        assert_eq!(when.collect::<Vec<_>>(), [(3, None), (3, Some(2))]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        check_error("{", 1, "EOF");
        check_error("\n{\"command\": \"play\"}", 2, "iteration");
        let unknown = "{\"iteration\": 1, \"command\": \"fly\"}";
        check_error(unknown, 1, "there is no command \"fly\"");
        let seed = "\"command\": {\"set-seed\": {\"seed\": 1}}}";
        let late = format!("{{\"iteration\": 5, {seed}\n{{\"iteration\": 4, {seed}");
        check_error(&late, 2, "ascending");
        let field = "{\"iteration\": 1, \"command\": {\"step\": {\"counts\": 1}}}";
        check_error(field, 1, "command step: missing field `count`");
        let twist = |message: &str| {
            format!(
                "{{\"iteration\": 1, \"topic\": \"/a\", \"type\": \"gz.msgs.Twist\", \
                 \"message\": {message}}}"
            )
        };
        assert!(read(&twist("{\"linear\": {\"x\": 1}}")).is_ok());
        check_error(&twist("{\"speed\": 1}"), 1, "speed");
        check_error(&twist("{}").replace("/a", "/a b"), 1, "no topic");
        check_error(&twist("{}").replace("Twist", "Twists"), 1, "no type");
        check_error("{\"iteration\": 1}", 1, "either command");
        for command in ["\"ping\"", "\"stop\"", "{\"step\": {\"count\": 5}}"] {
            let line = format!("{{\"iteration\": 1, \"command\": {command}}}");
            check_error(&line, 1, "cannot stand in a file");
        }
    }
}
