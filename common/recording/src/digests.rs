//! Digests and commands of a recording: a run that is done again gets these commands and is
//! compared with these digests.

use std::io::{Read, Seek};

use protocol::Digest;
use serde_json::Error;

use crate::channel::Channel;
use crate::content::IterationDigest;
use crate::reader::{Message, ReadError, Recording};

impl<R: Read + Seek> Recording<R> {
    /// Returns the digests of iterations 1, 2 and so on, as far as they follow each other.
    ///
    /// # Errors
    /// Fails if the recording cannot be read, or one of them is no digest.
    pub fn digests(&mut self) -> Result<Vec<Digest>, ReadError> {
        let mut digests = Vec::new();
        let mut wrong = None;
        self.each(
            Channel::Digests,
            &mut |message| match serde_json::from_slice::<IterationDigest>(&message.data) {
                Ok(read) if read.iteration.0 == digests.len() as u64 + 1 => {
                    digests.push(read.digest);
                    true
                }
                Ok(read) if digests.is_empty() => {
                    wrong = Some(format!(
                        "it begins with iteration {}, as of a run that was resumed: only a \
                         recording from the first iteration on can be simulated again",
                        read.iteration
                    ));
                    false
                }
                Ok(read) => {
                    wrong = Some(format!(
                        "the digest of iteration {} follows that of {}",
                        read.iteration,
                        digests.len()
                    ));
                    false
                }
                Err(error) => {
                    wrong = Some(wrong_message(Channel::Digests, &message, &error));
                    false
                }
            },
        )?;
        wrong.map_or(Ok(digests), |reason| Err(ReadError::Content(reason)))
    }

    /// Returns the commands that were done, as lines of a file of commands.
    ///
    /// # Errors
    /// Fails if the recording cannot be read, or one of them is no text.
    pub fn commands(&mut self) -> Result<String, ReadError> {
        let mut lines = String::new();
        let mut is_text = true;
        self.each(Channel::Commands, &mut |message| {
            match str::from_utf8(&message.data) {
                Ok(line) => {
                    lines.push_str(line);
                    lines.push('\n');
                }
                Err(_) => is_text = false,
            }
            is_text
        })?;
        if !is_text {
            return Err(ReadError::Content("a command is no text".to_owned()));
        }
        Ok(lines)
    }
}

/// Says what is wrong with a message.
pub fn wrong_message(channel: Channel, message: &Message, error: &Error) -> String {
    format!(
        "message {} of {}: {error}",
        message.sequence,
        channel.topic()
    )
}
