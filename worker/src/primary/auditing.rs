//! Audit log of the primary's driver: who came, who asked for what and who was turned away.

use std::time::Duration;

use lockstep::PrimaryInput;
use lockstep::access::Attempt;
use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::primary_to_observers::{Event, PrimaryToObservers, Severity};
use protocol::{FailureCode, SecondaryToPrimary, SessionTime};
use transport::{Client, Link};

use super::PrimaryDriver;
use crate::audit::{AuditLog, Deed};
use crate::limits;
use crate::seldom::shortened;

/// Number of events in a second about what is done with keys; the file of the audit has all.
const DEEDS_PER_SECOND: u32 = 10;

/// Limit of what is told of what is done with keys.
#[derive(Debug, Default)]
pub(super) struct DeedsTold {
    since: SessionTime,
    count: u32,
}

impl DeedsTold {
    fn admits(&mut self, now: SessionTime) -> bool {
        if now.since(self.since) >= Duration::from_secs(1) {
            (self.since, self.count) = (now, 0);
        }
        self.count += 1;
        self.count <= DEEDS_PER_SECOND
    }
}

impl<L: Link> PrimaryDriver<L> {
    /// Has it written down who does what.
    pub fn keep_audit(&mut self, log: AuditLog) {
        self.audit = Some(log);
    }

    /// Tells observers of something that is not of the rules.
    pub fn tell(&mut self, severity: Severity, kind: &str, text: &str) {
        self.observe(PrimaryToObservers::Event(Event {
            iteration: self.primary.iteration(),
            severity,
            kind: kind.to_owned(),
            text: shortened(text).to_owned(),
        }));
    }

    /// Tells observers what somebody did with a key, unless so much was told just now.
    fn tell_deed(&mut self, severity: Severity, text: &str) {
        if self.deeds_told.admits(self.clock.now()) {
            self.tell(severity, "security", text);
        }
    }

    /// Notes what the message that came last is, if that is worth a line, and tells observers whose
    /// key it was that commands.
    pub(super) fn audit(&mut self, input: &PrimaryInput) {
        let (deed, about) = match input {
            PrimaryInput::Client { message, .. } if !message.command.only_asks() => {
                let text = message.command.text();
                (
                    Deed::Commanded,
                    text.unwrap_or_else(|| "a message of the run daemon".to_owned()),
                )
            }
            PrimaryInput::Secondary { envelope, .. } => match &envelope.body {
                SecondaryToPrimary::Join(info) => (Deed::Joined, info.name.to_string()),
                _ => return,
            },
            PrimaryInput::Forbidden(forbidden) => (
                Deed::Refused,
                match &forbidden.attempt {
                    Attempt::Command(_) => "a command".to_owned(),
                    Attempt::Join(name) => format!("to join as {name}"),
                    Attempt::Simulate(name) => format!("to speak as {name}"),
                },
            ),
            _ => return,
        };
        if deed == Deed::Refused {
            self.link.refuse_last();
        }
        let client = self.link.sender();
        let is_new = self.note(deed, client.as_ref(), &about);
        if let (true, Deed::Commanded, Some(Client { name, access, .. })) = (is_new, deed, client) {
            let text = match about.as_str() {
                "stop" => format!("stopped by {name} ({access})"),
                about => format!("{about}, by {name} ({access})"),
            };
            self.tell_deed(Severity::Info, &text);
        }
    }

    /// Tells whether the message that came last is within the limits of its sender's key; answers
    /// it if it is not.
    pub(super) fn keeps_to_limits(&mut self, input: &PrimaryInput) -> bool {
        let PrimaryInput::Client { from, message, .. } = input else {
            return true;
        };
        if message.command.is_for_all() {
            return true;
        }
        let Some(client) = self.link.sender() else {
            return true;
        };
        let Err(reason) = limits::check(&message.command, &client.allow) else {
            return true;
        };
        self.link.refuse_last();
        let text = message.command.text().unwrap_or_default();
        if self.note(Deed::Refused, Some(&client), &text) {
            let Client { name, access, .. } = &client;
            let told = format!("{name} ({access}) was refused {text}");
            self.tell_deed(Severity::Warning, &told);
        }
        let (request, reply) = (
            message.request,
            Reply::Failed {
                code: FailureCode::Forbidden,
                reason,
            },
        );
        self.reply(from.clone(), PrimaryToClient { request, reply });
        false
    }

    /// Cuts all connections of a key, unless it is the one that asks, and tells observers.
    pub(super) fn disconnect(&mut self, key: &str) -> Reply {
        let is_own = self.link.sender().is_some_and(|client| client.name == key);
        let cut = if is_own {
            Err(format!("{key} is the key by which you ask"))
        } else if let Some(name) = self.host_with_key(key) {
            Err(format!(
                "{key} is the key of {name}, which computes cells of this run: `phalanx ctl RUN \
                 drain {name}` has others take them over"
            ))
        } else {
            let cut = self.link.disconnect(key);
            cut.map_err(|error| error.to_string())
        };
        match cut {
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
            Err(reason) => Reply::Failed {
                code: FailureCode::NotFound,
                reason,
            },
        }
    }

    /// Tells that commands which waited are not done, because their key is out.
    pub(super) fn tell_dropped(&mut self, key: &str, count: usize) {
        let what = format!("commands that waited: {count}, as the key is not let in any more");
        self.note(Deed::Refused, None, &format!("{key}: {what}"));
        self.tell(
            Severity::Warning,
            "security",
            &format!("{key} was refused {what}"),
        );
    }

    /// Returns a secondary that computes and has connected by a key.
    fn host_with_key(&self, key: &str) -> Option<String> {
        let members = self.primary.roster().members();
        let mut hosts = members.filter(|(name, _)| !self.primary.hosted(name).is_empty());
        let found =
            hosts.find(|(_, member)| self.link.key_of(&member.routing).as_deref() == Some(key));
        found.map(|(name, _)| name.to_string())
    }

    /// Notes who was let in since the last time, and tells what became of the file.
    pub(super) fn audit_admitted(&mut self) {
        for client in self.link.take_admitted() {
            self.note(Deed::Joined, Some(&client), "connected");
        }
        let now = self.clock.now();
        let news = self.audit.as_mut().and_then(|log| {
            log.settle(now, false);
            log.news()
        });
        self.tell_of_audit(news);
    }

    /// Notes what the link has turned away.
    pub(super) fn audit_refusals(&mut self, details: &str) {
        self.note(Deed::Refused, None, details);
    }

    /// Notes what is left at the end, and waits until it is written.
    pub(super) fn finish_audit(&mut self) {
        let now = self.clock.now();
        let news = self.audit.take().and_then(|mut log| {
            log.settle(now, true);
            log.finish()
        });
        self.tell_of_audit(news);
    }

    fn tell_of_audit(&mut self, news: Option<String>) {
        if let Some(text) = news {
            self.tell(Severity::Warning, "security", &text);
        }
    }

    /// Tells whether it gets a line, or would get one if anything were written down.
    fn note(&mut self, deed: Deed, client: Option<&Client>, about: &str) -> bool {
        let now = self.clock.now();
        let log = self.audit.as_mut();
        log.is_none_or(|log| log.note(deed, client, about, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_commands_is_told_ten_times_per_second() {
        let mut told = DeedsTold::default();
        let mut tell = |at: Duration| {
            let now = SessionTime(0) + at;
            (0..1000).filter(|_| told.admits(now)).count()
        };
        let count = DEEDS_PER_SECOND as usize;
        assert_eq!(tell(Duration::from_millis(5)), count);
        assert_eq!(tell(Duration::from_millis(900)), 0);
        assert_eq!(tell(Duration::from_secs(1)), count);
    }
}
