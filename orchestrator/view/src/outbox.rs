//! [`Outbox`]: hands the view's wishes to its link without waiting.
//!
//! If the queue is full, commands are refused, but the newest steering command and the newest topic
//! subscription are kept until there is room: a robot that shall stand must not go on.

use std::convert::Infallible;

use protocol::Command;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use client::feed::CommandError;
use client::wish::{Twisting, Wish};

/// The sending end of the view's wishes.
pub(super) struct Outbox {
    wishes: Sender<Wish>,
    drive: Option<Wish>,
    listen: Option<Wish>,
}

/// A command that is not handed on, and why.
pub(super) type Refused = (Command, CommandError);

impl Outbox {
    /// Makes one with nothing in it.
    pub(super) fn new(wishes: Sender<Wish>) -> Self {
        Self {
            wishes,
            drive: None,
            listen: None,
        }
    }

    /// Hands a wish on, or keeps it in the place of an older one of its kind.
    ///
    /// # Errors
    /// Fails if it is a command, and there is no room for it or nobody who takes it.
    pub(super) fn send(&mut self, wish: Wish) -> Result<(), Refused> {
        if let Some(kept) = self.place(&wish)
            && kept.is_some()
        {
            *kept = Some(wish);
            return Ok(());
        }
        match self.wishes.try_send(wish) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(wish)) => match self.place(&wish) {
                Some(kept) => {
                    *kept = Some(wish);
                    Ok(())
                }
                None => refused(wish, CommandError::Busy),
            },
            Err(TrySendError::Closed(wish)) => refused(wish, CommandError::LinkEnded),
        }
    }

    /// Hands on what is kept as soon as there is room; never returns. May be dropped and called
    /// again.
    pub(super) async fn deliver(&mut self) -> Infallible {
        while self.drive.is_some() || self.listen.is_some() {
            let Ok(room) = self.wishes.reserve().await else {
                break;
            };
            if let Some(wish) = self.drive.take().or_else(|| self.listen.take()) {
                room.send(wish);
            }
        }
        std::future::pending().await
    }

    /// Returns where a wish of such a kind is kept, if it is.
    fn place(&mut self, wish: &Wish) -> Option<&mut Option<Wish>> {
        match wish {
            Wish::Drive(_) => Some(&mut self.drive),
            Wish::Listen(_) => Some(&mut self.listen),
            Wish::Send(_) | Wish::Replay(_) => None,
        }
    }
}

fn refused(wish: Wish, error: CommandError) -> Result<(), Refused> {
    match wish {
        Wish::Send(command) | Wish::Drive(Twisting { command, .. }) => Err((command, error)),
        // A recording that cannot be read any more says so itself.
        Wish::Listen(_) | Wish::Replay(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    fn twist(command: Command) -> Wish {
        Wish::Drive(Twisting {
            command,
            halt: None,
        })
    }

    fn listen(topic: &str) -> Wish {
        Wish::Listen(Some(topic.to_owned()))
    }

    fn deliver_now(outbox: &mut Outbox) {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let delivery = std::pin::pin!(outbox.deliver());
        assert!(delivery.poll(&mut context).is_pending());
    }

    #[test]
    fn a_halt_reaches_a_link_that_had_no_room_for_it() {
        let (sender, mut wishes) = mpsc::channel(1);
        let mut outbox = Outbox::new(sender);
        for wish in [
            Wish::Send(Command::Play),
            twist(Command::Step { count: 1 }),
            listen("/a"),
            twist(Command::Pause),
            listen("/b"),
        ] {
            assert_eq!(outbox.send(wish), Ok(()));
        }
        let refused = outbox.send(Wish::Send(Command::Stop)).unwrap_err();
        assert_eq!(refused.0, Command::Stop);
        for expected in [
            Wish::Send(Command::Play),
            twist(Command::Pause),
            listen("/b"),
        ] {
            deliver_now(&mut outbox);
            assert_eq!(wishes.try_recv(), Ok(expected));
        }
        deliver_now(&mut outbox);
        assert!(wishes.try_recv().is_err(), "all was handed on once");
    }

    #[test]
    fn a_command_is_refused_when_nobody_takes_it() {
        let (sender, wishes) = mpsc::channel(1);
        drop(wishes);
        let mut outbox = Outbox::new(sender);
        let refused = outbox.send(twist(Command::Pause)).unwrap_err();
        assert_eq!(refused.1, CommandError::LinkEnded);
        assert_eq!(outbox.send(listen("/a")), Ok(()));
    }
}
