//! [`Texts`]: commands that bring models as texts, with the thread that reads them.

use std::time::{Duration, Instant};

use lockstep::{Primary, PrimaryInput};
use protocol::{Chain, RequestId, RoutingId};

use super::text_queue::{Admission, TextQueue};
use super::text_reader::TextReader;
use crate::secondary::InputSender;
use crate::seldom::Seldom;

/// Commands that wait for texts, and their reader once there was a text.
#[derive(Default)]
pub(super) struct Texts {
    queue: TextQueue,
    reader: Option<TextReader>,
    unread: Seldom,
}

impl Texts {
    /// Takes in a command of a key, or hands it back to be handled now: also where there is no
    /// thread to read its texts.
    pub(super) fn admit(
        &mut self,
        key: &str,
        input: PrimaryInput,
        primary: &Primary,
        woken: impl FnOnce() -> InputSender<PrimaryInput>,
    ) -> Admission {
        if self.reader.is_none() && input.brings_texts() {
            let worlds = primary.topology().worlds.clone();
            match TextReader::start(primary.library(), worlds, woken()) {
                Ok(reader) => self.reader = Some(reader),
                Err(error) => {
                    let cause = Chain(&error);
                    let text = format!("steps wait while a text is read: {cause}");
                    self.unread.warn(&text);
                    return Admission::Now(input);
                }
            }
        }
        self.queue.admit(key, input)
    }

    /// Takes back what was read; tells whether any command waits.
    pub(super) fn take_read(&mut self) -> bool {
        let Some(reader) = &self.reader else {
            return false;
        };
        while let Some((ticket, input)) = reader.take() {
            self.queue.on_read(ticket, input);
        }
        !self.queue.is_empty()
    }

    /// Returns the next command that need not wait any more, with its key.
    pub(super) fn next(&mut self) -> Option<(String, PrimaryInput)> {
        self.queue.next()
    }

    /// Has the next text read; `all` are in turn, also those of keys that have no time left.
    pub(super) fn read_next(&mut self, all: bool) {
        if let Some(reader) = &self.reader
            && let Some((ticket, input)) = self.queue.next_unread(Instant::now(), all)
        {
            reader.read(ticket, input);
        }
    }

    /// Returns how long it takes until another text may be read, if one waits for that.
    pub(super) fn due_in(&self) -> Option<Duration> {
        if self.queue.is_empty() {
            return None;
        }
        self.queue.due_in(Instant::now())
    }

    /// Drops all that waits of a key; returns how many commands these are.
    pub(super) fn drop_of(&mut self, key: &str) -> usize {
        self.queue.drop_of(key)
    }

    /// Drops all that waits, and returns whose commands these are.
    pub(super) fn drop_all(&mut self) -> Vec<(RoutingId, RequestId)> {
        self.queue.drop_all()
    }
}
