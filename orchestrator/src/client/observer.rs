//! [`Observer`]: what the view is fed, made of a connection's news.
//!
//! Asks for the full state whenever the primary is reached, unless it only follows how the run
//! goes. Matches replies with the commands they answer, and gives up on commands whose answer can
//! no longer come.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Announce;
use protocol::{Command, PrimaryToObservers, RequestId, StopReason};
use tokio::time::sleep;
use transport::Endpoints;
use transport::zeromq::ConnectError;

use super::listener::Listener;
use super::{Connection, News};
use crate::app::command::Wish;
use crate::app::drive::Twisting;
use crate::app::event::{Feed, LogLine};

/// Time before a link that has failed is set up again.
const REOPEN_TIME: Duration = Duration::from_secs(1);

/// A client that watches a run and sends commands to it.
pub struct Observer {
    endpoints: Endpoints,
    interest: Interest,
    connection: Connection,
    listener: Option<Listener>,
    /// What stops the robot that is driven; said when the link or this ends.
    halt: Option<Command>,
    pending: Pending,
    unreadable: Option<String>,
    stopping: Option<StopReason>,
}

/// What an observer wants to know of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interest {
    /// All of it, from the beginning.
    All,
    /// How it goes, from now on.
    Course,
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
        Self::with(endpoints, Interest::All)
    }

    /// Begins to connect to a primary, to be told of its run and not of what is in the world: that
    /// would have to be made for this observer alone.
    ///
    /// # Errors
    /// When the link cannot be set up; not when the primary is not there.
    pub fn follow(endpoints: &Endpoints) -> Result<Self, ConnectError> {
        Self::with(endpoints, Interest::Course)
    }

    fn with(endpoints: &Endpoints, interest: Interest) -> Result<Self, ConnectError> {
        Ok(Self {
            endpoints: endpoints.clone(),
            interest,
            connection: interest.connect(endpoints)?,
            listener: None,
            halt: None,
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
            Wish::Drive(Twisting { command, halt }) => {
                self.halt = halt;
                self.send(command);
            }
            Wish::Listen(topic) => self.listen(topic.as_deref()),
        }
    }

    /// Listens to a topic and to no other.
    fn listen(&mut self, topic: Option<&str>) {
        let topic = topic.filter(|topic| protocol::topic::is_message_name(topic));
        // A topic that cannot be listened to says nothing, as one on which nothing is said.
        self.listener = topic.and_then(|topic| Listener::open(&self.endpoints, topic).ok());
    }

    /// Returns why the primary said that the run ends, if it did.
    pub fn stopping(&self) -> Option<&StopReason> {
        self.stopping.as_ref()
    }

    /// Waits for what the view is to be told next. May be dropped and called again.
    pub async fn feed(&mut self) -> Vec<Feed> {
        loop {
            let news = tokio::select! {
                biased;
                news = self.connection.news() => news,
                heard = Listener::heard(&mut self.listener) => {
                    return vec![Feed::Message(Box::new(heard))];
                }
            };
            let Some(news) = news else {
                // The link has failed, and said so; another one may do better.
                sleep(REOPEN_TIME).await;
                if let Ok(connection) = self.interest.connect(&self.endpoints) {
                    self.connection = connection;
                }
                continue;
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
                for question in self.interest.questions() {
                    self.send(question.clone());
                }
                if let Some(halt) = self.halt.take() {
                    self.send(halt);
                }
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
            News::StartedAnew => {
                self.stopping = None;
                vec![Feed::StartedAnew]
            }
            News::Reply { request, reply } => {
                let feed = self.pending.on_reply(request, reply);
                if self.interest == Interest::All && feed.as_ref().is_some_and(changes_models) {
                    self.send(Command::Topics);
                }
                feed.into_iter().collect()
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

impl Drop for Observer {
    fn drop(&mut self) {
        if let Some(halt) = self.halt.take() {
            self.connection.request(halt);
        }
    }
}

impl Interest {
    fn connect(self, endpoints: &Endpoints) -> Result<Connection, ConnectError> {
        match self {
            Self::All => Connection::open(endpoints, true),
            Self::Course => Connection::follow(endpoints),
        }
    }

    /// Returns what a primary is asked when it is reached.
    fn questions(self) -> &'static [Command] {
        match self {
            Self::All => &[
                Command::Layout,
                Command::Snapshot,
                Command::History,
                Command::Topics,
            ],
            Self::Course => &[],
        }
    }
}

/// Tells whether there may be other models, and so other topics, than before.
fn changes_models(feed: &Feed) -> bool {
    let Feed::Reply { command, result } = feed else {
        return false;
    };
    let is_such = matches!(
        command,
        Command::Spawn(_) | Command::Remove { .. } | Command::Reset { .. }
    );
    is_such && result.is_ok()
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

    #[tokio::test]
    async fn who_follows_a_run_asks_for_nothing_that_it_throws_away() {
        let folder = tempfile::tempdir().unwrap();
        let endpoints = format!("ipc://{}", folder.path().display());
        let endpoints: Endpoints = endpoints.parse().unwrap();
        let asked = |observer: Result<Observer, ConnectError>| {
            let mut observer = observer.unwrap();
            assert_eq!(observer.on_news(News::Connected), [Feed::Connected]);
            observer.pending.0.len()
        };
        assert_eq!(asked(Observer::open(&endpoints)), 4);
        assert_eq!(asked(Observer::follow(&endpoints)), 0);
    }

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
