//! Access of roles to a primary: one rule for all that arrives, before it is looked at.

use protocol::{Access, SecondaryToPrimary};

use crate::primary::PrimaryInput;

pub use crate::primary::{Attempt, Forbidden};

/// Returns the input as it is if a sender with such access may give it, else what it tried.
pub fn admit(input: PrimaryInput, access: Access) -> PrimaryInput {
    match input {
        PrimaryInput::Secondary { from, envelope, .. } if !access.may_simulate() => {
            let attempt = match envelope.body {
                SecondaryToPrimary::Join(info) => Attempt::Join(info.name),
                _ => Attempt::Simulate(envelope.sender),
            };
            PrimaryInput::Forbidden(Forbidden {
                from,
                access,
                attempt,
            })
        }
        PrimaryInput::Client { from, message, .. }
            if !access.may_command() && !message.command.is_for_all() =>
        {
            let attempt = Attempt::Command(message.request);
            PrimaryInput::Forbidden(Forbidden {
                from,
                access,
                attempt,
            })
        }
        input => input,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{ClientToPrimary, Command, Envelope, ProtocolVersion, RequestId, SessionId};

    fn asks(command: Command) -> PrimaryInput {
        PrimaryInput::Client {
            from: "c".into(),
            session: SessionId(1),
            message: ClientToPrimary {
                request: RequestId(7),
                command,
            },
            texts: Vec::new(),
        }
    }

    fn says(body: SecondaryToPrimary) -> PrimaryInput {
        PrimaryInput::Secondary {
            from: "s".into(),
            envelope: Envelope {
                version: ProtocolVersion::CURRENT,
                session: SessionId(1),
                sender: "s1".parse().unwrap(),
                body,
            },
            wall_clock_us: 0,
        }
    }

    fn check(input: &PrimaryInput, allowed: &[Access]) {
        for access in [
            Access::Full,
            Access::Secondary,
            Access::Controller,
            Access::Observer,
        ] {
            let admitted = admit(input.clone(), access);
            let is_refused = matches!(admitted, PrimaryInput::Forbidden(_));
            assert_eq!(
                is_refused,
                !allowed.contains(&access),
                "{access}: {input:?}"
            );
        }
    }

    #[test]
    fn each_role_may_say_its_part() {
        let commanders = [Access::Full, Access::Controller];
        let simulators = [Access::Full, Access::Secondary];
        let all = [
            Access::Full,
            Access::Secondary,
            Access::Controller,
            Access::Observer,
        ];
        check(&asks(Command::Play), &commanders);
        check(&asks(Command::Stop), &commanders);
        check(&asks(Command::Checkpoint), &commanders);
        check(&asks(Command::Clients), &commanders);
        let key = "bob".to_owned();
        check(&asks(Command::Disconnect { key }), &commanders);
        check(&asks(Command::Ping), &all);
        check(&asks(Command::Snapshot), &all);
        check(&says(SecondaryToPrimary::Synced), &simulators);
        check(&PrimaryInput::Subscribed("s".into()), &all);
    }

    #[test]
    fn a_refused_attempt_is_reported() {
        let refused = admit(asks(Command::Pause), Access::Observer);
        let expected = Attempt::Command(RequestId(7));
        assert!(matches!(refused, PrimaryInput::Forbidden(it) if it.attempt == expected));
        let refused = admit(says(SecondaryToPrimary::Synced), Access::Controller);
        let expected = Attempt::Simulate("s1".parse().unwrap());
        assert!(matches!(refused, PrimaryInput::Forbidden(it) if it.attempt == expected));
    }
}
