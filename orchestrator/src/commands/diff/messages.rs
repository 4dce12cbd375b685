//! Two files of messages, line by line.

use std::io::{BufRead, Read};

use protocol::Digest;

use super::{DiffError, Difference, Input, Kind, MessageDifference, Verdict};

/// The longest line: a topic of 1024 bytes and what stands around it \[bytes\].
const LINE_BYTES_MAX: u64 = 2048;

/// Compares two files.
pub(super) fn compare(first: Input<'_>, second: Input<'_>) -> Result<Verdict, DiffError> {
    let (mut first, mut second) = (Lines::new(first), Lines::new(second));
    let mut iterations = 0;
    loop {
        let (a, b) = (first.next()?, second.next()?);
        if a.text == b.text {
            let Some(iteration) = a.iteration else {
                first.check_end()?;
                second.check_end()?;
                let messages = Some(first.number - 1);
                return Ok(Verdict {
                    messages,
                    ..Verdict::equal(Kind::Messages, iterations)
                });
            };
            iterations = iteration;
            continue;
        }
        // Where one file ends, the other one's message is the difference.
        let iteration = [a.iteration, b.iteration].into_iter().flatten().min();
        return Ok(Verdict::differ(
            Kind::Messages,
            Difference {
                iteration: iteration.unwrap_or(iterations),
                digests: [a.digest, b.digest],
                performers_differing: None,
                first: None,
                message: Some(MessageDifference {
                    number: first.number,
                    lines: [a.text, b.text],
                }),
            },
        ));
    }
}

/// A line that is one of a file of messages.
struct Line {
    text: String,
    /// `None` in the last line.
    iteration: Option<u64>,
    digest: Digest,
}

struct Lines<'a> {
    input: Input<'a>,
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(input: Input<'a>) -> Self {
        Self { input, number: 0 }
    }

    /// Sees that nothing follows the end.
    fn check_end(&mut self) -> Result<(), DiffError> {
        let name = self.input.name;
        let rest = self.input.source.fill_buf();
        let rest = rest.map_err(|source| DiffError::unreadable(name, source))?;
        if rest.is_empty() {
            return Ok(());
        }
        Err(DiffError::AfterEnd {
            file: name.to_owned(),
            line: self.number + 1,
        })
    }

    fn next(&mut self) -> Result<Line, DiffError> {
        let name = self.input.name;
        let mut line = Vec::new();
        let mut source = (&mut self.input.source).take(LINE_BYTES_MAX);
        source
            .read_until(b'\n', &mut line)
            .map_err(|source| DiffError::unreadable(name, source))?;
        self.number += 1;
        let number = self.number;
        let is_short = (line.len() as u64) < LINE_BYTES_MAX;
        if line.pop() != Some(b'\n') && is_short {
            return Err(DiffError::MessagesCut {
                file: name.to_owned(),
                line: number,
            });
        }
        parse(line).ok_or_else(|| DiffError::NoMessage {
            file: name.to_owned(),
            line: number,
        })
    }
}

fn parse(line: Vec<u8>) -> Option<Line> {
    let text = String::from_utf8(line).ok()?;
    let (begin, digest) = text.rsplit_once(' ')?;
    let digest = digest.parse().ok()?;
    let (number, rest) = begin.split_once(' ')?;
    let iteration = if number == "end" {
        rest.parse::<u64>().ok()?;
        None
    } else {
        rest.contains(' ').then_some(())?;
        Some(number.parse().ok()?)
    };
    Some(Line {
        text,
        iteration,
        digest,
    })
}
