//! [`ModelTable`]: the models that came and left in a recording, up to a place in it.

use std::io::{Read, Seek};

use recording::{Channel, ModelChanges, ReadError, Recording};

use super::loaded::parse;
use super::survey::MessagePosition;

/// Number of messages with changes that are kept; later ones in a file are not shown.
const MESSAGES_MAX: usize = 200_000;

/// Changes to which models there are, as far as the recording was looked at.
#[derive(Debug, Default)]
pub(super) struct ModelTable {
    told: Vec<(MessagePosition, ModelChanges)>,
    /// The first chunk that was not looked at.
    next: usize,
}

impl ModelTable {
    /// Returns the changes up to a place, each with the place where it is told. A message that
    /// cannot be read is passed over.
    ///
    /// # Errors
    /// Fails if a part of the recording with changes cannot be read.
    pub(super) fn up_to<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        position: MessagePosition,
    ) -> Result<&[(MessagePosition, ModelChanges)], ReadError> {
        let Some(id) = recording.channel(Channel::Models) else {
            return Ok(&[]);
        };
        while self.next <= position.0 && self.told.len() < MESSAGES_MAX {
            let chunk = self.next;
            if recording.chunks()[chunk].has(id) {
                let messages = recording.messages(chunk)?;
                let all = messages.iter().enumerate();
                for (index, message) in all.filter(|(_, one)| one.channel == id) {
                    if let Ok(changes) = parse(Channel::Models, message) {
                        self.told.push(((chunk, index), changes));
                    }
                }
            }
            self.next += 1;
        }
        let count = self.told.partition_point(|(at, _)| *at <= position);
        Ok(&self.told[..count])
    }
}
