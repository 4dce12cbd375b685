//! [`Observer`]: what the view is fed, made of a connection's news.
//!
//! Asks for the full state whenever the primary is reached, matches replies with the commands
//! they answer, and gives up on commands whose answer can no longer come.

use std::collections::BTreeMap;

use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Announce;
use protocol::{Command, PrimaryToObservers, RequestId, StopReason};
use transport::Endpoints;
use transport::zeromq::ConnectError;

use super::{Connection, News};
use crate::app::command::Wish;
use crate::app::event::{Feed, LogLine};

/// A client that watches a run and sends commands to it.
pub struct Observer {
    connection: Connection,
    pending: Pending,
    unreadable: Option<String>,
    stopping: Option<StopReason>,
}

/// Commands that were sent and not answered.
#[derive(Debug, Default)]
struct Pending(BTreeMap<RequestId, Command>);

impl Observer {
    /// Begins to connect to a primary.
    ///
    /// # Errors
    /// When the link cannot be set up; not when the primary is not there.
    pub fn open(endpoints: &Endpoints) -> Result<Self, ConnectError> {
        Ok(Self {
            connection: Connection::open(endpoints, true)?,
            pending: Pending::default(),
            unreadable: None,
            stopping: None,
        })
    }

    /// Sends a command; its answer comes as [`Feed::Reply`].
    pub fn send(&mut self, command: Command) {
        let request = self.connection.request(command.clone());
        self.pending.0.insert(request, command);
    }

    /// Does what the view asks for.
    pub fn act(&mut self, wish: Wish) {
        match wish {
            Wish::Send(command) => self.send(command),
            Wish::Listen(_) => {}
        }
    }

    /// Returns why the primary said that the run ends, if it did.
    pub fn stopping(&self) -> Option<&StopReason> {
        self.stopping.as_ref()
    }

    /// Waits for what the view is to be told next. May be dropped and called again.
    pub async fn feed(&mut self) -> Vec<Feed> {
        loop {
            let Some(news) = self.connection.news().await else {
                return std::future::pending().await;
            };
            let feeds = self.on_news(news);
            if !feeds.is_empty() {
                return feeds;
            }
        }
    }

    fn on_news(&mut self, news: News) -> Vec<Feed> {
        match news {
            News::Connected => {
                self.send(Command::Layout);
                self.send(Command::Snapshot);
                self.send(Command::History);
                vec![Feed::Connected]
            }
            News::Disconnected => {
                let mut feeds = self.pending.give_up("the connection was lost");
                feeds.push(Feed::Disconnected);
                feeds
            }
            News::Status(status) => {
                if let PrimaryToObservers::Announce(Announce::Stopping(reason)) = &*status {
                    self.stopping = Some(reason.clone());
                }
                vec![Feed::Status(*status)]
            }
            News::Reply { request, reply } => {
                self.pending.on_reply(request, reply).into_iter().collect()
            }
            News::Message(_) => Vec::new(),
            News::Unreadable(text) => self.on_unreadable(text),
            News::Failed(text) => {
                let mut feeds = self.pending.give_up(&text);
                feeds.push(own_line(text));
                feeds.push(Feed::Disconnected);
                feeds
            }
        }
    }

    /// Says what is wrong once, however often it comes.
    fn on_unreadable(&mut self, text: String) -> Vec<Feed> {
        if self.unreadable.as_ref() == Some(&text) {
            return Vec::new();
        }
        self.unreadable = Some(text.clone());
        vec![own_line(text)]
    }
}

impl Pending {
    fn on_reply(&mut self, request: RequestId, reply: Reply) -> Option<Feed> {
        let command = self.0.remove(&request)?;
        match reply {
            Reply::Snapshot(snapshot) => Some(Feed::Snapshot(snapshot)),
            Reply::History(history) => Some(Feed::History(history)),
            Reply::Layout(layout) => Some(Feed::Layout(layout)),
            Reply::Topics(topics) => Some(Feed::Topics(topics)),
            Reply::Done { iteration, .. } => Some(Feed::Reply {
                command,
                result: Ok(iteration),
            }),
            Reply::Failed { reason } => Some(Feed::Reply {
                command,
                result: Err(reason),
            }),
        }
    }

    fn give_up(&mut self, reason: &str) -> Vec<Feed> {
        std::mem::take(&mut self.0)
            .into_values()
            .filter(|command| !command.only_asks())
            .map(|command| Feed::Reply {
                command,
                result: Err(reason.to_owned()),
            })
            .collect()
    }
}

fn own_line(text: String) -> Feed {
    Feed::Log(LogLine {
        process: "phalanx".to_owned(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Iteration;

    fn pending(commands: &[Command]) -> Pending {
        Pending(
            commands
                .iter()
                .zip(1..)
                .map(|(command, id)| (RequestId(id), command.clone()))
                .collect(),
        )
    }

    #[test]
    fn replies_are_matched_with_their_commands() {
        let mut pending = pending(&[Command::Play, Command::Pause]);
        let done = Reply::Done {
            name: None,
            iteration: Iteration(7),
        };
        assert_eq!(
            pending.on_reply(RequestId(2), done.clone()),
            Some(Feed::Reply {
                command: Command::Pause,
                result: Ok(Iteration(7))
            })
        );
        assert_eq!(pending.on_reply(RequestId(2), done), None);
        let failed = Reply::Failed {
            reason: "no".to_owned(),
        };
        assert_eq!(
            pending.on_reply(RequestId(1), failed),
            Some(Feed::Reply {
                command: Command::Play,
                result: Err("no".to_owned())
            })
        );
    }

    #[test]
    fn commands_without_an_answer_fail_when_the_connection_is_lost() {
        let mut pending = pending(&[Command::Snapshot, Command::Play]);
        let lost = || "lost".to_owned();
        let expected = vec![Feed::Reply {
            command: Command::Play,
            result: Err(lost()),
        }];
        assert_eq!(pending.give_up(&lost()), expected);
        assert_eq!(pending.give_up(&lost()), Vec::new());
    }
}
