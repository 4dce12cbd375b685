//! Requests to a primary's driver: what clients may ask for, when it is handled, and their answers.

use lockstep::PrimaryInput;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::Severity;
use protocol::report::RunState;
use protocol::{Command, FailureCode, RequestId, RoutingId, topic};
use transport::{Destination, Link};

use super::PrimaryDriver;
use super::audit_trail;
use super::scene_thread::Ask;
use super::text_queue::Admission;
use crate::audit::Deed;
use crate::journaling::JournalError;
use crate::limits;

/// Number of messages that were here when the run ended and are looked at.
const LAST_REQUESTS_MAX: usize = 1000;

impl<L: Link> PrimaryDriver<L> {
    /// Answers a client, once what was done for it is written down.
    pub(super) fn reply(&mut self, to: RoutingId, message: PrimaryToClient) {
        let answer = self.held.admit((to, message), self.sinks.journal());
        if let Some((to, message)) = answer {
            self.answer(&to, message);
        }
    }

    /// Sends the answers that need not wait any more.
    pub(super) fn answer_held(&mut self) {
        while let Some((to, message)) = self.held.next(self.sinks.journal()) {
            self.answer(&to, message);
        }
    }

    /// Sends the answers that wait when the run has ended, with what became of its journal.
    pub(super) fn answer_held_at_the_end(&mut self, lost: Option<&JournalError>) {
        for (to, message) in self.held.end(lost) {
            self.answer(&to, message);
        }
    }

    fn answer(&mut self, to: &RoutingId, message: PrimaryToClient) {
        if matches!(message.reply, Reply::Failed { .. }) {
            self.line.charge(to);
        }
        let bytes = self.line.encode(message);
        self.line
            .send(Destination::Peer(to), topic::REQUEST, &bytes);
    }

    /// Answers those whose requests were here when the run ended.
    pub(super) fn answer_the_last(&mut self) {
        self.refuse_texts();
        for _ in 0..LAST_REQUESTS_MAX {
            let Some(received) = self.line.receive_at_once() else {
                return;
            };
            self.on_received(received);
        }
    }

    /// Answers a client with figures, unless it asks too often.
    pub(super) fn report(&mut self, to: &RoutingId, request: RequestId, command: &Command) {
        let reply = if self.reports.admits(to) {
            if let Command::Scene { asset, offset } = command {
                return self.ask_scene(to, request, asset.clone(), *offset);
            }
            self.figures(command)
        } else {
            Reply::Failed {
                code: FailureCode::TooMuch,
                reason: "figures are asked for too often: ask again later".to_owned(),
            }
        };
        self.answer(to, PrimaryToClient { request, reply });
    }

    /// Has a question for the scene answered by its thread.
    fn ask_scene(
        &mut self,
        to: &RoutingId,
        request: RequestId,
        asset: Option<String>,
        offset: u64,
    ) {
        let ask = Ask::new(to.clone(), request, asset, offset);
        let woken = || self.line.inputs();
        if let Some(reply) = self.scenes.ask(ask, &self.primary, woken) {
            self.answer(to, PrimaryToClient { request, reply });
        }
    }

    /// Sends the answers of the thread that makes scenes.
    pub(super) fn answer_scenes(&mut self) {
        while let Some((to, message)) = self.scenes.take() {
            self.answer(&to, message);
        }
    }

    fn figures(&mut self, command: &Command) -> Reply {
        let primary = &self.primary;
        if *command == Command::Layout {
            return Reply::Layout(Box::new(self.accounts.layout(primary)));
        }
        if *command == Command::Topics {
            return Reply::Topics(primary.settings().outputs.topics.clone());
        }
        if *command == Command::Clients {
            return Reply::Clients(Box::new(self.line.clients()));
        }
        let now = self.line.now();
        if *command == Command::Participants {
            return Reply::Participants(primary.participants(now));
        }
        if *command == Command::History {
            let stats = self.accounts.stats(primary, now);
            return Reply::History(Box::new(self.sinks.past(&stats, now)));
        }
        self.accounts.note_relays(self.line.relays(primary));
        Reply::Snapshot(Box::new(self.accounts.snapshot(primary, now)))
    }

    /// Handles a message that came just now, if it is within the limits of its sender's key.
    pub(super) fn on_message(&mut self, input: PrimaryInput) {
        if self.keeps_to_limits(&input) {
            self.audit(&input);
            if let PrimaryInput::Client { from, message, .. } = &input
                && matches!(message.command, Command::JoinBarrier(_))
            {
                self.line.watch_last(from);
            }
            self.handle_in_turn(input);
        }
    }

    /// Notes what the message that came last is, if that is worth a line, and tells observers whose
    /// key it was that commands.
    fn audit(&mut self, input: &PrimaryInput) {
        let Some((deed, about)) = audit_trail::deed_of(input) else {
            return;
        };
        if deed == Deed::Refused {
            self.line.refuse_last();
        }
        let (client, now) = (self.line.sender(), self.line.now());
        if let Some(text) = self.audit.on_deed(deed, client, &about, now) {
            self.tell(Severity::Info, "security", &text);
        }
    }

    /// Tells whether the message that came last is within the limits of its sender's key; answers
    /// it if it is not.
    fn keeps_to_limits(&mut self, input: &PrimaryInput) -> bool {
        let PrimaryInput::Client { from, message, .. } = input else {
            return true;
        };
        if message.command.is_for_all() {
            return true;
        }
        let Some(client) = self.line.sender() else {
            return true;
        };
        let Err(error) = limits::check(&message.command, &client.allow) else {
            return true;
        };
        self.line.refuse_last();
        let text = message.command.text().unwrap_or_default();
        if let Some(told) = self.audit.on_limited(&client, &text, self.line.now()) {
            self.tell(Severity::Warning, "security", &told);
        }
        let reason = error.to_string();
        self.refuse(
            from.clone(),
            message.request,
            (FailureCode::Forbidden, reason),
        );
        false
    }

    /// Handles a message, or has it wait while its text is read, or one before it of the same
    /// connection.
    fn handle_in_turn(&mut self, input: PrimaryInput) {
        let state = self.primary.run_state();
        let may_wait = matches!(input, PrimaryInput::Client { .. })
            && !matches!(state, RunState::Waiting | RunState::Stopping);
        if !may_wait {
            return self.handle(input);
        }
        let key = self.line.sender().map_or_else(String::new, |it| it.name);
        let woken = || self.line.inputs();
        match self.texts.admit(&key, input, &self.primary, woken) {
            Admission::Now(input) => self.handle(input),
            Admission::Later => {}
            Admission::Full(input) => {
                if let PrimaryInput::Client { from, message, .. } = input {
                    let reason = "too many texts wait to be read: ask again later".to_owned();
                    self.refuse(from, message.request, (FailureCode::TooMuch, reason));
                }
            }
        }
    }

    /// Handles what waited long enough, and has the next text read.
    pub(super) fn handle_texts(&mut self) {
        if !self.texts.take_read() {
            return;
        }
        if self.finished.is_some() || self.primary.run_state() == RunState::Stopping {
            return self.refuse_texts();
        }
        while let Some((key, input)) = self.texts.next() {
            if self.line.is_let_in(&key) {
                self.handle(input);
            } else {
                let dropped = 1 + self.texts.drop_of(&key);
                self.tell_dropped(&key, dropped);
            }
        }
        let all = self.primary.run_state() != RunState::Running;
        self.texts.read_next(all);
    }

    /// Refuses all that waits, since the run ends.
    fn refuse_texts(&mut self) {
        for (to, request) in self.texts.drop_all() {
            let reason = "the run is ending".to_owned();
            self.refuse(to, request, (FailureCode::Ending, reason));
        }
    }

    fn refuse(&mut self, to: RoutingId, request: RequestId, (code, reason): (FailureCode, String)) {
        let reply = Reply::Failed { code, reason };
        self.reply(to, PrimaryToClient { request, reply });
    }

    /// Tells that commands which waited are not done, because their key is out.
    fn tell_dropped(&mut self, key: &str, count: usize) {
        let what = format!("commands that waited: {count}, as the key is not let in any more");
        let (about, now) = (format!("{key}: {what}"), self.line.now());
        self.audit.note(Deed::Refused, None, &about, now);
        let told = format!("{key} was refused {what}");
        self.tell(Severity::Warning, "security", &told);
    }

    /// Cuts all connections of a key, unless it is the one that asks, tells observers, and answers.
    pub(super) fn disconnect(&mut self, to: RoutingId, request: RequestId, key: &str) {
        let reply = match self.line.cut(key, &self.primary) {
            Ok(count) => {
                let connections = if count == 1 {
                    "connection"
                } else {
                    "connections"
                };
                let text = format!(
                    "{key} is disconnected ({count} {connections}) and kept out of this run"
                );
                self.tell(Severity::Warning, "security", &text);
                Reply::Done {
                    iteration: self.primary.iteration(),
                    name: None,
                    warnings: Vec::new(),
                }
            }
            Err(error) => Reply::Failed {
                code: FailureCode::NotFound,
                reason: error.to_string(),
            },
        };
        self.reply(to, PrimaryToClient { request, reply });
    }
}
