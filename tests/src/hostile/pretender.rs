//! Secondaries that are none: they join a run as a real one does, and then do something else.

use std::time::{Duration, Instant};

use protocol::primary_to_secondary::{CatchUpContent, PrimaryToSecondary};
use protocol::secondary_to_primary::{CaughtUp, Heartbeat, Loaded, StepAck};
use protocol::{
    Digest, Outcome, Role, RoutingId, SecondaryToPrimary, Sequence, StopReason, decode, topic,
};

use worker::identity;

use super::attacker::Attacker;
use super::messages;
use super::table::{Pretence, TargetSocket};
use crate::processes::let_pass;

/// Time for which it tries to join.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Name of who pretends.
const NAME: &str = "eve";

/// Joins, in this way.
pub(super) fn pretend(attacker: &mut Attacker<'_>, pretence: Pretence) {
    match pretence {
        Pretence::IsPrimary
        | Pretence::TakesName
        | Pretence::OtherBuild
        | Pretence::LongHost
        | Pretence::ManyNames
        | Pretence::Unsubscribed => knock(attacker, pretence),
        Pretence::OtherWorld
        | Pretence::Leaves
        | Pretence::Diverges
        | Pretence::Acknowledges
        | Pretence::Fails
        | Pretence::OnlyBeats => {
            let until = attacker.until();
            loop {
                Pretender::join(attacker).play(attacker, pretence);
                if Instant::now() >= until {
                    return;
                }
            }
        }
    }
}

/// Asks to join with something that is wrong.
fn knock(attacker: &Attacker<'_>, pretence: Pretence) {
    let control = attacker.arrive(TargetSocket::Control, Some(b"eve-0123456789abcdef"));
    for number in 0_u64.. {
        let mut info = messages::info(NAME);
        match pretence {
            Pretence::IsPrimary => info.role = Role::Primary,
            Pretence::TakesName => info.name = messages::peer("s1"),
            Pretence::OtherBuild => info.build.sources = Digest(1),
            Pretence::LongHost => info.host = "h".repeat(10 << 20),
            Pretence::ManyNames => info.name = messages::peer(&format!("eve{number}")),
            _ => {}
        }
        let join = SecondaryToPrimary::Join(info);
        let message = messages::of(NAME, protocol::SessionId::UNKNOWN, &join);
        let _ = control.send_multipart([join.topic().as_bytes(), &message], 0);
        attacker.read(&control);
        let_pass(Duration::from_millis(if message.len() > 1000 {
            200
        } else {
            2
        }));
        if !attacker.goes_on() {
            return;
        }
    }
}

/// Somebody who pretends to be a secondary.
struct Pretender {
    control: zmq::Socket,
    beats: zmq::Socket,
    _step: zmq::Socket,
    world: Digest,
    count: u64,
}

impl Pretender {
    /// Connects as a secondary does.
    fn join(attacker: &Attacker<'_>) -> Self {
        let own = identity::new_address();
        let address = RoutingId::from(own.as_str());
        let control = attacker.arrive(TargetSocket::Control, Some(&address.0));
        let beats = attacker.connect(TargetSocket::Control, Some(&address.heartbeat().0));
        let step = attacker.connect(TargetSocket::Step, None);
        for topic in [
            topic::SESSION.as_bytes().to_vec(),
            topic::STEP.as_bytes().to_vec(),
            topic::step_presence(&address.0),
        ] {
            let _ = step.send([&[1][..], &topic].concat(), 0);
        }
        Self {
            control,
            beats,
            _step: step,
            world: Digest(0),
            count: 0,
        }
    }

    fn say(&self, attacker: &Attacker<'_>, message: &SecondaryToPrimary) {
        let bytes = messages::of(NAME, attacker.session, message);
        let frames = [message.topic().as_bytes(), &bytes];
        let _ = self.control.send_multipart(frames, zmq::DONTWAIT);
    }

    fn beat(&mut self, attacker: &Attacker<'_>) {
        self.count += 1;
        let heartbeat = Heartbeat {
            count: self.count,
            ..Heartbeat::default()
        };
        let message = SecondaryToPrimary::Heartbeat(heartbeat);
        let bytes = messages::of(NAME, attacker.session, &message);
        let frames = [message.topic().as_bytes(), &bytes];
        let _ = self.beats.send_multipart(frames, zmq::DONTWAIT);
    }

    /// Goes through the rules as far as it pretends to keep them.
    fn play(&mut self, attacker: &mut Attacker<'_>, pretence: Pretence) {
        let end = Instant::now() + TIMEOUT;
        let mut is_welcome = false;
        while Instant::now() < end && (!is_welcome || attacker.goes_on()) {
            if is_welcome {
                self.beat(attacker);
            } else {
                let join = SecondaryToPrimary::Join(messages::info(NAME));
                self.say(attacker, &join);
            }
            while let Ok(frames) = self.control.recv_multipart(zmq::DONTWAIT) {
                attacker.note_seen();
                let message = frames
                    .get(1)
                    .map(|bytes| decode::<PrimaryToSecondary>(bytes));
                let Some(Ok(envelope)) = message else {
                    continue;
                };
                if let PrimaryToSecondary::Welcome(welcome) = &envelope.body {
                    is_welcome = true;
                    self.world = welcome.world_digest;
                    attacker.stay(Duration::from_millis(200));
                }
                if matches!(envelope.body, PrimaryToSecondary::Refused(_)) {
                    return;
                }
                if self.on_message(attacker, pretence, envelope.body) {
                    return;
                }
            }
            let_pass(Duration::from_millis(10));
        }
    }

    /// Answers a message; tells whether it goes.
    fn on_message(
        &self,
        attacker: &mut Attacker<'_>,
        pretence: Pretence,
        message: PrimaryToSecondary,
    ) -> bool {
        match message {
            PrimaryToSecondary::Welcome(_) => {
                let world_digest = match pretence {
                    Pretence::OtherWorld => Digest(1),
                    _ => self.world,
                };
                let loaded = SecondaryToPrimary::Loaded(Loaded {
                    world_digest,
                    gpu: None,
                });
                self.say(attacker, &loaded);
                self.say(attacker, &SecondaryToPrimary::Synced);
                if pretence == Pretence::Leaves {
                    let reason = StopReason::new(Outcome::DigestMismatch, "\u{1b}[31mbye");
                    self.say(attacker, &SecondaryToPrimary::Leave(reason));
                    return true;
                }
            }
            PrimaryToSecondary::CatchUp(part) => {
                if let CatchUpContent::Begin { until, .. } = part.content {
                    self.answer_job(attacker, pretence, part.job, until);
                }
            }
            PrimaryToSecondary::Stop(_) | PrimaryToSecondary::Dismiss(_) => return true,
            _ => self.say(attacker, &SecondaryToPrimary::Synced),
        }
        false
    }

    fn answer_job(
        &self,
        attacker: &mut Attacker<'_>,
        pretence: Pretence,
        job: u64,
        until: Sequence,
    ) {
        let ack = StepAck {
            sequence: until,
            ..StepAck::default()
        };
        let result = match pretence {
            Pretence::Fails => Err("\u{1b}[31mit is too hard".to_owned().into()),
            _ => Ok((Vec::new(), ack)),
        };
        let answer = CaughtUp { job, result };
        self.say(attacker, &SecondaryToPrimary::CaughtUp(Box::new(answer)));
        let of_all = messages::of_secondaries().into_iter();
        match pretence {
            Pretence::OnlyBeats => attacker.stay(Duration::from_millis(1_500)),
            Pretence::Diverges | Pretence::Acknowledges => {
                let wanted = match pretence {
                    Pretence::Diverges => "diverged",
                    _ => "ack",
                };
                for (_, message) in of_all.filter(|(name, _)| *name == wanted) {
                    self.say(attacker, &message);
                }
            }
            _ => {}
        }
    }
}
