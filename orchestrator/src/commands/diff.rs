//! `phalanx diff`: whether two runs computed the same, and if not, where they part.
//!
//! Files are read side by side, so that no more of them is held than one iteration.
//! [`digests`], [`states`] and [`messages`] read the kinds; this says what was found.

mod digests;
mod messages;
mod states;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use protocol::states_file::{MAGIC, ReadStatesError};
use protocol::{Digest, ExitCode, Iteration, counted};
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

/// Reason why files cannot be compared.
#[derive(Debug, thiserror::Error)]
enum DiffError {
    /// The operating system cannot read one.
    #[error("cannot read {file}")]
    Unreadable {
        /// The file.
        file: String,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// One has nothing in it.
    #[error("{file} is empty: the run that wrote it ended before its first iteration")]
    Empty {
        /// The file.
        file: String,
    },
    /// One is of no kind that can be compared.
    #[error(
        "{file} is neither a file of digests nor one of states or messages: --digests, --states \
         and --messages of `phalanx run` write them"
    )]
    UnknownKind {
        /// The file.
        file: String,
    },
    /// They are of two kinds.
    #[error(
        "{} holds {}, {} holds {}: only files of one kind can be compared",
        files[0],
        kinds[0].name(),
        files[1],
        kinds[1].name()
    )]
    Kinds {
        /// The files.
        files: [String; 2],
        /// Their kinds.
        kinds: [Kind; 2],
    },
    /// One ends before the other.
    #[error(
        "{short} ends after iteration {iterations} and {long} goes on; they are the same as far as \
         both go"
    )]
    Shorter {
        /// The file that ends.
        short: String,
        /// Number of its iterations.
        iterations: u64,
        /// The other file.
        long: String,
    },
    /// The last line of one of digests is incomplete.
    #[error("{file} is cut off in line {line}; it is the same up to iteration {}", line - 1)]
    DigestsCut {
        /// The file.
        file: String,
        /// The line, which is that of the iteration of its number.
        line: u64,
    },
    /// A line is none of a file of digests.
    #[error("{file}:{line}: not iteration {line} and its digest of 32 hexadecimal digits")]
    NoDigest {
        /// The file.
        file: String,
        /// The line, which is that of the iteration of its number.
        line: u64,
    },
    /// The last line of one of messages is incomplete.
    #[error("{file} is cut off in line {line}: the run that wrote it did not end in order")]
    MessagesCut {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// A line is none of a file of messages.
    #[error("{file}:{line}: neither a message (ITERATION TOPIC PUBLISHER DIGEST) nor the end")]
    NoMessage {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// A line follows the last one of a file of messages.
    #[error("{file}:{line}: something follows the end")]
    AfterEnd {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// One of states ends before its end is marked.
    #[error("{file} {error}; the files are the same up to iteration {same}")]
    StatesCut {
        /// The file.
        file: String,
        /// The last iteration that is whole.
        same: Iteration,
        /// Error of its reader, which is told with it.
        error: ReadStatesError,
    },
    /// One is no file of states that can be read.
    #[error("{file} {error}")]
    States {
        /// The file.
        file: String,
        /// Error of its reader, which is told with it.
        error: ReadStatesError,
    },
    /// One of states has nothing of the first iteration of the other.
    #[error("{file} does not begin at iteration {iteration}")]
    LateBeginning {
        /// The file.
        file: String,
        /// The iteration.
        iteration: u64,
    },
    /// Their iterations are of different length.
    #[error(
        "{} has steps of {} ns and {} of {} ns: they cannot be compared",
        files[0],
        steps_ns[0],
        files[1],
        steps_ns[1]
    )]
    StepSizes {
        /// The files.
        files: [String; 2],
        /// Their steps \[ns\].
        steps_ns: [u64; 2],
    },
    /// A performer is in one alone.
    #[error("{has} has the performer {performer} and {lacks} does not: they are of two worlds")]
    Performer {
        /// The performer.
        performer: String,
        /// The file that it is in.
        has: String,
        /// The other file.
        lacks: String,
    },
    /// Two performers have one name.
    #[error("a name of a performer stands twice in {} or {}", files[0], files[1])]
    PerformerTwice {
        /// The files.
        files: [String; 2],
    },
}

impl DiffError {
    /// Makes the error of a file that the operating system cannot read.
    fn unreadable(file: &str, source: io::Error) -> Self {
        let file = file.to_owned();
        Self::Unreadable { file, source }
    }

    /// Makes the error of a file that ends before another.
    fn shorter(short: &str, iterations: u64, long: &str) -> Self {
        Self::Shorter {
            short: short.to_owned(),
            iterations,
            long: long.to_owned(),
        }
    }
}

/// Number of bytes that are read to tell the kind of a file from its first line \[bytes\].
const START_BYTES: u64 = 2048;
/// Number of words that a line of a message has at least; one of a digest has two.
const MESSAGE_WORDS: usize = 4;

/// Compares two files.
pub(super) fn diff(arguments: &DiffArguments) -> CommandResult {
    let paths = [arguments.first.as_path(), arguments.second.as_path()];
    let names = paths.map(|path| path.display().to_string());
    let verdict = compare(paths, &names);
    let verdict = verdict.map_err(|error| Failed::new(ExitCode::Configuration, error))?;
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

fn compare(paths: [&Path; 2], names: &[String; 2]) -> Result<Verdict, DiffError> {
    let first = Input::open(paths[0], &names[0])?;
    let second = Input::open(paths[1], &names[1])?;
    match (first.kind, second.kind) {
        (Kind::Digests, Kind::Digests) => digests::compare(first, second),
        (Kind::States, Kind::States) => states::compare(first, second),
        (Kind::Messages, Kind::Messages) => messages::compare(first, second),
        (Kind::Digests | Kind::States | Kind::Messages, _) => Err(DiffError::Kinds {
            files: names.clone(),
            kinds: [first.kind, second.kind],
        }),
    }
}

/// A file that is compared.
struct Input<'a> {
    name: &'a str,
    kind: Kind,
    source: BufReader<File>,
}

impl<'a> Input<'a> {
    /// Opens a file and tells its kind from its first bytes.
    fn open(path: &Path, name: &'a str) -> Result<Self, DiffError> {
        let unreadable = |source| DiffError::unreadable(name, source);
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
                let file = name.to_owned();
                return Err(DiffError::Empty { file });
            }
            Some(_) => {
                let file = name.to_owned();
                return Err(DiffError::UnknownKind { file });
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
                None => format!("equal: {}\n", counted(self.iterations, "iteration")),
                Some(messages) => format!("equal: {}\n", counted(messages, "message")),
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

#[cfg(test)]
mod tests;
