//! `phalanx diff`: whether two runs computed the same, and if not, where they part.
//!
//! Files are read side by side, so that no more of them is held than one iteration.
//! [`digests`], [`states`] and [`messages`] read the kinds; this says what was found.

mod digests;
mod messages;
mod states;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use protocol::states_file::MAGIC;
use protocol::{Digest, ExitCode};
use serde::Serialize;

use super::{CommandResult, Failed, output};
use crate::cli::{DiffArguments, Format};

/// Result of a comparison.
#[derive(Debug, PartialEq, Serialize)]
struct Verdict {
    /// True if all iterations are the same.
    equal: bool,
    /// Kind of the compared files.
    kind: Kind,
    /// Number of iterations that are the same; of messages, up to the last that has one.
    iterations: u64,
    /// Number of messages, when all are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<u64>,
    /// The first that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
}

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// A line for every iteration, by `--digests`.
    Digests,
    /// Changes of every iteration, by `--states`.
    States,
    /// Messages on topics, by `--messages`.
    Messages,
}

/// The first iteration that differs.
#[derive(Debug, PartialEq, Serialize)]
struct Difference {
    iteration: u64,
    digests: [Digest; 2],
    /// Number of performers that differ in it; unknown from digests alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    performers_differing: Option<usize>,
    /// The first of them by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<PerformerDifference>,
    /// The first message that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageDifference>,
}

/// A message that differs.
#[derive(Debug, PartialEq, Serialize)]
struct MessageDifference {
    /// Its number in the files, from 1.
    number: u64,
    /// Its line in both files.
    lines: [String; 2],
}

/// A performer that differs.
#[derive(Debug, PartialEq, Serialize)]
struct PerformerDifference {
    performer: String,
    /// The first of its fields that differs.
    field: &'static str,
    /// The field in both files; numbers in SI units.
    values: [Value; 2],
    /// The second value less the first, for numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
}

/// A field of a performer.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Value {
    /// A number with as many digits as tell it from all others.
    Number(f64),
    /// The name of a cell, or a digest.
    Text(String),
}

/// Number of bytes that are read to tell the kind of a file from its first line \[bytes\].
const START_BYTES: u64 = 2048;
/// Number of words that a line of a message has at least; one of a digest has two.
const MESSAGE_WORDS: usize = 4;

/// Compares two files.
pub(super) fn diff(arguments: &DiffArguments) -> CommandResult {
    let names = [&arguments.first, &arguments.second].map(|path| path.display().to_string());
    let [first, second] = [
        Input::open(&arguments.first, &names[0])?,
        Input::open(&arguments.second, &names[1])?,
    ];
    let verdict = match (first.kind, second.kind) {
        (Kind::Digests, Kind::Digests) => digests::compare(first, second),
        (Kind::States, Kind::States) => states::compare(first, second),
        (Kind::Messages, Kind::Messages) => messages::compare(first, second),
        (Kind::Digests | Kind::States | Kind::Messages, _) => Err(format!(
            "{} holds {}, {} holds {}: only files of one kind can be compared",
            names[0],
            first.kind.name(),
            names[1],
            second.kind.name()
        )),
    };
    let verdict = verdict.map_err(|error| Failed::message(ExitCode::Configuration, error))?;
    match arguments.format {
        Format::Text => output::print(&verdict.text(&names))?,
        Format::Json => output::print_json(&verdict)?,
    };
    Ok(if verdict.equal {
        ExitCode::Success
    } else {
        ExitCode::DigestMismatch
    })
}

/// A file that is compared.
struct Input<'a> {
    name: &'a str,
    kind: Kind,
    source: BufReader<File>,
}

impl<'a> Input<'a> {
    /// Opens a file and tells its kind from its first bytes.
    fn open(path: &Path, name: &'a str) -> Result<Self, Failed> {
        let unreadable = |error: std::io::Error| {
            let message = format!("cannot read {name}: {error}");
            Failed::message(ExitCode::Configuration, message)
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut start = Vec::new();
        let reader = (&mut file).take(START_BYTES);
        { reader }.read_to_end(&mut start).map_err(unreadable)?;
        let line = start.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        let words = line.split(|byte| *byte == b' ').count();
        let kind = match start.first() {
            _ if start.starts_with(MAGIC) => Kind::States,
            _ if start.starts_with(b"end ") => Kind::Messages,
            Some(b'0'..=b'9') if words >= MESSAGE_WORDS => Kind::Messages,
            Some(b'0'..=b'9') => Kind::Digests,
            None => {
                let message = format!(
                    "{name} is empty: the run that wrote it ended before its first iteration"
                );
                return Err(Failed::message(ExitCode::Configuration, message));
            }
            Some(_) => {
                let message = format!(
                    "{name} is neither a file of digests nor one of states or messages: \
                     --digests, --states and --messages of `phalanx run` write them"
                );
                return Err(Failed::message(ExitCode::Configuration, message));
            }
        };
        file.rewind().map_err(unreadable)?;
        let source = BufReader::new(file);
        Ok(Self { name, kind, source })
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Digests => "digests",
            Self::States => "states",
            Self::Messages => "messages",
        }
    }
}

impl Verdict {
    fn equal(kind: Kind, iterations: u64) -> Self {
        Self {
            equal: true,
            kind,
            iterations,
            messages: None,
            difference: None,
        }
    }

    fn differ(kind: Kind, difference: Difference) -> Self {
        Self {
            equal: false,
            kind,
            iterations: difference.iteration.saturating_sub(1),
            messages: None,
            difference: Some(difference),
        }
    }

    fn text(&self, names: &[String; 2]) -> String {
        let Some(difference) = &self.difference else {
            return match self.messages {
                None => format!("equal: {} iterations\n", self.iterations),
                Some(messages) => format!("equal: {messages} messages\n"),
            };
        };
        let mut lines = vec![format!("iteration {} differs", difference.iteration)];
        let mut field = |name: &str, values: [String; 2]| {
            lines.push(format!("  {name}:"));
            let width = names.iter().map(String::len).max().unwrap_or(0);
            for (file, value) in names.iter().zip(values) {
                lines.push(format!("    {file:width$}  {value}"));
            }
        };
        if let Some(message) = &difference.message {
            field(
                &format!("message {}", message.number),
                message.lines.clone(),
            );
            return lines.join("\n") + "\n";
        }
        field(
            "digest",
            difference.digests.map(|digest| digest.to_string()),
        );
        if let Some(first) = &difference.first {
            let values = [first.values[0].text(), first.values[1].text()];
            field(&format!("{} of {}", first.field, first.performer), values);
            if let Some(number) = first.difference {
                lines.push(format!("    difference  {number:e}"));
            }
        }
        lines.push(match difference.performers_differing {
            None => "  runs with --states name the performer and the field".to_owned(),
            Some(0) => "  all performers are the same: one of the files is damaged".to_owned(),
            Some(1) => "  no other performer differs in this iteration".to_owned(),
            Some(count) => format!("  {count} performers differ in this iteration"),
        });
        lines.join("\n") + "\n"
    }
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => format!("{number:?}"),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Says that one file ends before the other.
fn shorter(short: &str, iterations: u64, long: &str) -> String {
    format!(
        "{short} ends after iteration {iterations} and {long} goes on; they are the same as far \
         as both go"
    )
}

#[cfg(test)]
mod tests;
