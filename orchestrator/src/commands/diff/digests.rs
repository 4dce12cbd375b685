//! Two files of digests, line by line.

use std::io::{BufRead, Read};

use protocol::Digest;

use super::{DiffError, Difference, Input, Kind, Verdict};

/// The longest line: an iteration, a digest and what stands between and behind them \[bytes\].
const LINE_BYTES_MAX: u64 = 20 + 1 + 32 + 1;

/// Compares two files.
pub(super) fn compare(first: Input<'_>, second: Input<'_>) -> Result<Verdict, DiffError> {
    let (mut first, mut second) = (Lines::new(first), Lines::new(second));
    loop {
        match (first.next()?, second.next()?) {
            (None, None) => return Ok(Verdict::equal(Kind::Digests, first.iteration)),
            (Some(_), None) => {
                let iterations = second.iteration;
                return Err(DiffError::shorter(second.name(), iterations, first.name()));
            }
            (None, Some(_)) => {
                let iterations = first.iteration;
                return Err(DiffError::shorter(first.name(), iterations, second.name()));
            }
            (Some(a), Some(b)) if a != b => {
                let difference = Difference {
                    iteration: first.iteration,
                    digests: [a, b],
                    performers_differing: None,
                    first: None,
                    message: None,
                };
                return Ok(Verdict::differ(Kind::Digests, difference));
            }
            (Some(_), Some(_)) => {}
        }
    }
}

struct Lines<'a> {
    input: Input<'a>,
    iteration: u64,
}

impl<'a> Lines<'a> {
    fn new(input: Input<'a>) -> Self {
        Self {
            input,
            iteration: 0,
        }
    }

    fn name(&self) -> &'a str {
        self.input.name
    }

    /// Returns the digest of the next iteration; `None` at the end.
    fn next(&mut self) -> Result<Option<Digest>, DiffError> {
        let name = self.input.name;
        let mut line = Vec::new();
        let mut source = (&mut self.input.source).take(LINE_BYTES_MAX);
        source
            .read_until(b'\n', &mut line)
            .map_err(|source| DiffError::unreadable(name, source))?;
        if line.is_empty() {
            return Ok(None);
        }
        let expected = self.iteration + 1;
        if line.pop() != Some(b'\n') && (line.len() as u64) < LINE_BYTES_MAX - 1 {
            return Err(DiffError::DigestsCut {
                file: name.to_owned(),
                line: expected,
            });
        }
        let digest = str::from_utf8(&line)
            .ok()
            .and_then(|line| line.split_once(' '))
            .filter(|(iteration, _)| iteration.parse() == Ok(expected))
            .and_then(|(_, digest)| digest.parse().ok());
        let Some(digest) = digest else {
            return Err(DiffError::NoDigest {
                file: name.to_owned(),
                line: expected,
            });
        };
        self.iteration = expected;
        Ok(Some(digest))
    }
}
