//! Commands that bring models as texts, as the primary's driver handles them.

use std::time::Instant;

use lockstep::PrimaryInput;
use protocol::Chain;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::report::RunState;
use protocol::{FailureCode, RequestId, RoutingId};
use transport::Link;

use super::PrimaryDriver;
use super::text_queue::Admission;
use super::text_reader::TextReader;

impl<L: Link> PrimaryDriver<L> {
    /// Handles a message, or has it wait while its text is read, or one before it of the same
    /// connection.
    pub(super) fn handle_in_turn(&mut self, input: PrimaryInput) {
        let state = self.primary.run_state();
        let may_wait = matches!(input, PrimaryInput::Client { .. })
            && !matches!(state, RunState::Waiting | RunState::Stopping);
        if !may_wait || !self.can_read(&input) {
            return self.handle(input);
        }
        let key = self.link.sender().map_or_else(String::new, |it| it.name);
        match self.texts.admit(&key, input) {
            Admission::Now(input) => self.handle(input),
            Admission::Later => {}
            Admission::Full(input) => {
                if let PrimaryInput::Client { from, message, .. } = input {
                    let reason = "too many texts wait to be read: ask again later";
                    self.refuse(from, message.request, (FailureCode::TooMuch, reason));
                }
            }
        }
    }

    /// Tells whether there is a thread to read its texts, or need not be.
    fn can_read(&mut self, input: &PrimaryInput) -> bool {
        if self.text_reader.is_none() && input.brings_texts() {
            let worlds = self.primary.plan().worlds.clone();
            let library = self.primary.library();
            match TextReader::start(library, worlds, self.inputs.clone()) {
                Ok(reader) => self.text_reader = Some(reader),
                Err(error) => {
                    let cause = Chain(&error);
                    self.malformed
                        .warn(&format!("steps wait while a text is read: {cause}"));
                    return false;
                }
            }
        }
        true
    }

    /// Handles what waited long enough, and has the next text read.
    pub(super) fn handle_texts(&mut self) {
        let Some(reader) = &self.text_reader else {
            return;
        };
        while let Some((ticket, input)) = reader.take() {
            self.texts.on_read(ticket, input);
        }
        if self.texts.is_empty() {
            return;
        }
        if self.finished.is_some() || self.primary.run_state() == RunState::Stopping {
            return self.refuse_texts();
        }
        while let Some((key, input)) = self.texts.next() {
            if self.link.is_let_in(&key) {
                self.handle(input);
            } else {
                let dropped = 1 + self.texts.drop_of(&key);
                self.tell_dropped(&key, dropped);
            }
        }
        let all = self.primary.run_state() != RunState::Running;
        if let Some((ticket, input)) = self.texts.next_unread(Instant::now(), all)
            && let Some(reader) = &self.text_reader
        {
            reader.read(ticket, input);
        }
    }

    /// Refuses all that waits, since the run ends.
    pub(super) fn refuse_texts(&mut self) {
        for (to, request) in self.texts.drop_all() {
            self.refuse(to, request, (FailureCode::Ending, "the run is ending"));
        }
    }

    fn refuse(&mut self, to: RoutingId, request: RequestId, (code, reason): (FailureCode, &str)) {
        let reason = reason.to_owned();
        let reply = Reply::Failed { code, reason };
        self.reply(to, PrimaryToClient { request, reply });
    }
}
