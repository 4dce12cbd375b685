//! [`Outbox`]: hands the view's requests to its link without waiting.
//!
//! If the queue is full, commands are refused, but the newest steering command and the newest topic
//! subscription are kept until there is room: a robot that shall stand must not go on.

use std::convert::Infallible;

use protocol::Command;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use client::feed::CommandError;
use client::observer_request::{ObserverRequest, Twisting};

/// The sending end of the view's requests.
pub(super) struct Outbox {
    requests: Sender<ObserverRequest>,
    drive: Option<ObserverRequest>,
    listen: Option<ObserverRequest>,
}

/// A command that is not handed on, and why.
pub(super) type Refused = (Command, CommandError);

impl Outbox {
    /// Makes one with nothing in it.
    pub(super) fn new(requests: Sender<ObserverRequest>) -> Self {
        Self {
            requests,
            drive: None,
            listen: None,
        }
    }

    /// Hands a request on, or keeps it in the place of an older one of its kind.
    ///
    /// # Errors
    /// Fails if it is a command, and there is no room for it or nobody who takes it.
    pub(super) fn send(&mut self, request: ObserverRequest) -> Result<(), Refused> {
        if let Some(kept) = self.place(&request)
            && kept.is_some()
        {
            *kept = Some(request);
            return Ok(());
        }
        match self.requests.try_send(request) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(request)) => match self.place(&request) {
                Some(kept) => {
                    *kept = Some(request);
                    Ok(())
                }
                None => refused(request, CommandError::Busy),
            },
            Err(TrySendError::Closed(request)) => refused(request, CommandError::LinkEnded),
        }
    }

    /// Hands on what is kept as soon as there is room; never returns. May be dropped and called
    /// again.
    pub(super) async fn deliver(&mut self) -> Infallible {
        while self.drive.is_some() || self.listen.is_some() {
            let Ok(room) = self.requests.reserve().await else {
                break;
            };
            if let Some(request) = self.drive.take().or_else(|| self.listen.take()) {
                room.send(request);
            }
        }
        std::future::pending().await
    }

    /// Returns where a request of such a kind is kept, if it is.
    fn place(&mut self, request: &ObserverRequest) -> Option<&mut Option<ObserverRequest>> {
        match request {
            ObserverRequest::Drive(_) => Some(&mut self.drive),
            ObserverRequest::Listen(_) => Some(&mut self.listen),
            ObserverRequest::Send(_) | ObserverRequest::Replay(_) => None,
        }
    }
}

fn refused(request: ObserverRequest, error: CommandError) -> Result<(), Refused> {
    match request {
        ObserverRequest::Send(command) | ObserverRequest::Drive(Twisting { command, .. }) => {
            Err((command, error))
        }
        // A recording that cannot be read any more says so itself.
        ObserverRequest::Listen(_) | ObserverRequest::Replay(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    fn twist(command: Command) -> ObserverRequest {
        ObserverRequest::Drive(Twisting {
            command,
            halt: None,
        })
    }

    fn listen(topic: &str) -> ObserverRequest {
        ObserverRequest::Listen(Some(topic.to_owned()))
    }

    fn deliver_now(outbox: &mut Outbox) {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let delivery = std::pin::pin!(outbox.deliver());
        assert!(delivery.poll(&mut context).is_pending());
    }

    #[test]
    fn a_halt_reaches_a_link_that_had_no_room_for_it() {
        let (sender, mut requests) = mpsc::channel(1);
        let mut outbox = Outbox::new(sender);
        for request in [
            ObserverRequest::Send(Command::Play),
            twist(Command::Step { count: 1 }),
            listen("/a"),
            twist(Command::Pause),
            listen("/b"),
        ] {
            assert_eq!(outbox.send(request), Ok(()));
        }
        let refused = outbox
            .send(ObserverRequest::Send(Command::Stop))
            .unwrap_err();
        assert_eq!(refused.0, Command::Stop);
        for expected in [
            ObserverRequest::Send(Command::Play),
            twist(Command::Pause),
            listen("/b"),
        ] {
            deliver_now(&mut outbox);
            assert_eq!(requests.try_recv(), Ok(expected));
        }
        deliver_now(&mut outbox);
        assert!(requests.try_recv().is_err(), "all was handed on once");
    }

    #[test]
    fn a_command_is_refused_when_nobody_takes_it() {
        let (sender, requests) = mpsc::channel(1);
        drop(requests);
        let mut outbox = Outbox::new(sender);
        let refused = outbox.send(twist(Command::Pause)).unwrap_err();
        assert_eq!(refused.1, CommandError::LinkEnded);
        assert_eq!(outbox.send(listen("/a")), Ok(()));
    }
}
