//! [`ModelTable`]: places in a recording where models come and leave.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

use protocol::ModelId;
use recording::{Channel, Message, ReadError, Recording};
use serde::Deserialize;

use super::loaded::parse;
use super::survey::MessagePosition;

/// The most changes of a recording. They take 160 MiB of memory.
const CHANGES_MAX: usize = 4_000_000;

/// Changes to which models there are, as far as the recording was looked at: their places, since
/// the models themselves may be large.
#[derive(Debug, Default)]
pub(super) struct ModelTable {
    changes: Vec<Change>,
    /// The first chunk that was not looked at.
    next: usize,
    there: ModelsThere,
    /// The number of changes that `there` is after.
    made: usize,
}

/// Models that are there after some changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelsThere {
    /// Those that came, with the place where each is told.
    pub(super) came: BTreeMap<ModelId, ChangePlace>,
    /// Those of the start that left, and others.
    pub(super) gone: BTreeSet<ModelId>,
}

/// Place of a change: the message, and the change in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChangePlace {
    pub(super) message: MessagePosition,
    pub(super) index: u32,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    place: ChangePlace,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All is set back to the start.
    Anew,
    Comes(ModelId),
    Leaves(ModelId),
}

/// A message of [`Channel::Models`] without the models.
#[derive(Deserialize)]
struct ToldChanges {
    anew: bool,
    changes: Vec<ToldChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToldChange {
    Comes { model: ModelId },
    Leaves { model: ModelId },
}

impl ModelTable {
    /// Looks at the recording up to a place, and returns the number of changes up to there.
    ///
    /// # Errors
    /// Fails if a part of the recording with changes cannot be read, or there are too many.
    pub(super) fn count<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        position: MessagePosition,
    ) -> Result<usize, ReadError> {
        let Some(id) = recording.channel(Channel::Models) else {
            return Ok(0);
        };
        while self.next <= position.0 {
            let chunk = self.next;
            if recording.chunks()[chunk].has(id) {
                let messages = recording.messages(chunk)?;
                self.note(chunk, id, &messages)?;
            }
            self.next = chunk + 1;
        }
        let is_before = |change: &Change| change.place.message <= position;
        Ok(self.changes.partition_point(is_before))
    }

    /// Takes the changes of a chunk, unless it was looked at; none that has any was left out. A
    /// message that cannot be read is passed over.
    ///
    /// # Errors
    /// Fails if there are too many changes.
    pub(super) fn note(
        &mut self,
        chunk: usize,
        channel: u16,
        messages: &[Message],
    ) -> Result<(), ReadError> {
        if chunk < self.next {
            return Ok(());
        }
        self.next = chunk + 1;
        let messages = messages.iter().enumerate();
        for (index, message) in messages.filter(|(_, one)| one.channel == channel) {
            let Ok(told) = parse::<ToldChanges>(Channel::Models, message) else {
                continue;
            };
            let place = |number: u32| ChangePlace {
                message: (chunk, index),
                index: number,
            };
            let anew = told.anew.then_some(Change {
                place: place(0),
                kind: Kind::Anew,
            });
            let changes = told.changes.into_iter().zip(0..);
            let changes = changes.map(|(change, number)| Change {
                place: place(number),
                kind: match change {
                    ToldChange::Comes { model } => Kind::Comes(model),
                    ToldChange::Leaves { model } => Kind::Leaves(model),
                },
            });
            self.changes.extend(anew.into_iter().chain(changes));
            if self.changes.len() > CHANGES_MAX {
                return Err(ReadError::Content(format!(
                    "models come and leave more than {CHANGES_MAX} times in it"
                )));
            }
        }
        Ok(())
    }

    /// Returns the models that are there after the first `count` changes.
    pub(super) fn there(&mut self, count: usize) -> &ModelsThere {
        if count < self.made {
            (self.made, self.there) = (0, ModelsThere::default());
        }
        for change in &self.changes[self.made..count] {
            self.there.take(*change);
        }
        self.made = count;
        &self.there
    }
}

impl ModelsThere {
    fn take(&mut self, change: Change) {
        match change.kind {
            Kind::Anew => *self = Self::default(),
            Kind::Comes(model) => {
                self.gone.insert(model);
                self.came.insert(model, change.place);
            }
            Kind::Leaves(model) => {
                self.gone.insert(model);
                self.came.remove(&model);
            }
        }
    }
}
