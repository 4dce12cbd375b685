//! [`AuditTrail`]: who came, who asked for what and who was turned away, for a file and for
//! observers.

use std::time::Duration;

use lockstep::PrimaryInput;
use lockstep::access::Attempt;
use protocol::{Command, SecondaryToPrimary, SessionTime};
use transport::Client;

use crate::audit::{AuditLog, Deed};

/// Number of events in a second about what is done with keys; the file of the audit has all.
const DEEDS_PER_SECOND: u32 = 10;

/// The audit log, if there is one, and the limit of what observers are told.
#[derive(Debug, Default)]
pub(super) struct AuditTrail {
    log: Option<AuditLog>,
    told: DeedsTold,
}

/// Limit of what is told of what is done with keys.
#[derive(Debug, Default)]
struct DeedsTold {
    since: SessionTime,
    count: u32,
}

/// Returns what a message is and what it is about, if that is worth a line.
pub(super) fn deed_of(input: &PrimaryInput) -> Option<(Deed, String)> {
    match input {
        // Its join has a line; an answer to each of many iterations would hide all else.
        PrimaryInput::Client { message, .. }
            if matches!(message.command, Command::AnswerBarrier(_)) =>
        {
            None
        }
        PrimaryInput::Client { message, .. } if !message.command.only_asks() => {
            let text = message.command.text();
            let text = text.unwrap_or_else(|| "a message of the run daemon".to_owned());
            Some((Deed::Commanded, text))
        }
        PrimaryInput::Secondary { envelope, .. } => match &envelope.body {
            SecondaryToPrimary::Join(info) => Some((Deed::Joined, info.name.to_string())),
            _ => None,
        },
        PrimaryInput::Forbidden(forbidden) => {
            let attempt = match &forbidden.attempt {
                Attempt::Command(_) => "a command".to_owned(),
                Attempt::Join(name) => format!("to join as {name}"),
                Attempt::Simulate(name) => format!("to speak as {name}"),
            };
            Some((Deed::Refused, attempt))
        }
        _ => None,
    }
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

impl AuditTrail {
    /// Has it written down who does what.
    pub(super) fn keep(&mut self, log: AuditLog) {
        self.log = Some(log);
    }

    /// Notes a deed; tells whether it gets a line, or would get one if anything were written down.
    pub(super) fn note(
        &mut self,
        deed: Deed,
        client: Option<&Client>,
        about: &str,
        now: SessionTime,
    ) -> bool {
        let log = self.log.as_mut();
        log.is_none_or(|log| log.note(deed, client, about, now))
    }

    /// Notes the deed of a message, and returns what observers are told of it: whose key it was
    /// that commands, unless so much was told just now.
    pub(super) fn on_deed(
        &mut self,
        deed: Deed,
        client: Option<Client>,
        about: &str,
        now: SessionTime,
    ) -> Option<String> {
        let is_new = self.note(deed, client.as_ref(), about, now);
        let Client { name, access, .. } = client.filter(|_| is_new && deed == Deed::Commanded)?;
        self.told.admits(now).then(|| match about {
            "stop" => format!("stopped by {name} ({access})"),
            about => format!("{about}, by {name} ({access})"),
        })
    }

    /// Notes that a client was refused a command by the limits of its key, and returns what
    /// observers are told of it.
    pub(super) fn on_limited(
        &mut self,
        client: &Client,
        command: &str,
        now: SessionTime,
    ) -> Option<String> {
        let is_new = self.note(Deed::Refused, Some(client), command, now);
        let Client { name, access, .. } = client;
        (is_new && self.told.admits(now))
            .then(|| format!("{name} ({access}) was refused {command}"))
    }

    /// Notes who was let in, and returns what is to be told of the file.
    pub(super) fn on_admitted(&mut self, clients: &[Client], now: SessionTime) -> Option<String> {
        for client in clients {
            self.note(Deed::Joined, Some(client), "connected", now);
        }
        let log = self.log.as_mut()?;
        log.settle(now, false);
        log.news()
    }

    /// Notes what is left at the end, waits until it is written, and returns what is to be told of
    /// the file.
    pub(super) fn finish(&mut self, now: SessionTime) -> Option<String> {
        let mut log = self.log.take()?;
        log.settle(now, true);
        log.finish()
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
