//! [`Observer`]: what the view is fed, made of a connection's news.
//!
//! Asks for the full state whenever the primary is reached, unless it only follows how the run
//! goes. Matches replies with the commands they answer, and gives up on commands whose answer can
//! no longer come.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::{Announce, Event};
use protocol::{Command, PrimaryToObservers, RequestId, StopReason};
use tokio::time::{Instant, sleep_until};
use transport::zeromq::ConnectError;

use super::listener::Listener;
use super::{ALL_STATUS, COURSE, Connection, News, Reach};
use crate::feed::{CommandError, Feed, LogLine};
use crate::observer_request::{ObserverRequest, Twisting};

/// Time before a link that has failed is set up again.
const REOPEN_TIME: Duration = Duration::from_secs(1);

/// The least time between two questions about which models there are, and the time that is given
/// to a change of them of which an event tells.
const MODELS_TIME: Duration = Duration::from_secs(1);

/// A client that watches a run and sends commands to it.
pub struct Observer {
    reach: Reach,
    interest: Interest,
    connection: Connection,
    listener: Option<Listener>,
    /// Time when the link that has failed is set up again; while this is set there is none.
    reopen_at: Option<Instant>,
    halt: Halt,
    /// True if the past is asked for as soon as something is heard.
    is_past_due: bool,
    pending: Pending,
    models: ModelsQuestion,
    unreadable: Option<String>,
    stopping: Option<StopReason>,
    /// True if there was a link, and it is gone.
    is_lost: bool,
}

/// The part of a run that an observer subscribes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interest {
    /// All of it, from the beginning.
    All,
    /// Its progress, from now on.
    Course,
}

/// Command that stops the robot that is driven; sent when the link or the observer ends.
#[derive(Debug, Default)]
struct Halt {
    command: Option<Command>,
    /// True if the link was lost since, so that the command is sent as soon as the same run
    /// answers.
    is_due: bool,
}

/// Question which models there are.
#[derive(Debug, Default)]
struct ModelsQuestion {
    /// Time when it is asked, after they have changed.
    due: Option<Instant>,
    /// Time when it was asked last.
    asked: Option<Instant>,
}

/// Commands without an answer of the primary.
#[derive(Debug, Default)]
struct Pending {
    /// Commands that were sent and not answered.
    sent: BTreeMap<RequestId, Command>,
    /// Answers to those that were refused here.
    refused: Vec<Feed>,
}

impl Observer {
    /// Begins to connect to a primary.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; an absent primary is no error.
    pub fn open(reach: &Reach) -> Result<Self, ConnectError> {
        Self::with(reach, Interest::All)
    }

    /// Begins to connect to a primary, to be told of its run and not of what is in the world: that
    /// report would have to be made for this observer alone.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; an absent primary is no error.
    pub fn follow(reach: &Reach) -> Result<Self, ConnectError> {
        Self::with(reach, Interest::Course)
    }

    fn with(reach: &Reach, interest: Interest) -> Result<Self, ConnectError> {
        Ok(Self {
            reach: reach.clone(),
            interest,
            connection: interest.connect(reach)?,
            listener: None,
            reopen_at: None,
            halt: Halt::default(),
            is_past_due: false,
            pending: Pending::default(),
            models: ModelsQuestion::default(),
            unreadable: None,
            stopping: None,
            is_lost: false,
        })
    }

    /// Sends a command; its answer comes as [`Feed::Reply`], at once when there is no link.
    pub fn send(&mut self, command: Command) {
        if self.reopen_at.is_some() {
            if !command.only_asks() {
                let result = Err(CommandError::NoLink);
                self.pending.refused.push(Feed::Reply { command, result });
            }
            return;
        }
        let request = self.connection.request(command.clone());
        self.pending.sent.insert(request, command);
    }

    /// Does what the view asks for.
    pub fn act(&mut self, request: ObserverRequest) {
        match request {
            ObserverRequest::Send(command) => self.send(command),
            ObserverRequest::Drive(Twisting { command, halt }) => {
                self.halt.command = halt;
                self.send(command);
            }
            ObserverRequest::Listen(topic) => self.listen(topic.as_deref()),
            // This is a run; nobody asks for that.
            ObserverRequest::Replay(_) => {}
        }
    }

    /// Listens to a topic and to no other.
    fn listen(&mut self, topic: Option<&str>) {
        let topic = topic.filter(|topic| protocol::topic::is_message_name(topic));
        // A topic that cannot be listened to says nothing, as one on which nothing is said.
        self.listener = topic.and_then(|topic| Listener::open(&self.reach, topic).ok());
    }

    /// Tells whether there was a link that is gone: nothing more comes of this primary.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns why the primary said that the run ends, if it did.
    pub fn stopping(&self) -> Option<&StopReason> {
        self.stopping.as_ref()
    }

    /// Waits for what the view is to be told next. May be dropped and called again.
    pub async fn feed(&mut self) -> Vec<Feed> {
        loop {
            if !self.pending.refused.is_empty() {
                return std::mem::take(&mut self.pending.refused);
            }
            let (reopen_at, ask_at) = (self.reopen_at, self.models.due);
            let news = tokio::select! {
                biased;
                news = self.connection.news(), if reopen_at.is_none() => news,
                heard = Listener::heard(&mut self.listener) => {
                    return vec![Feed::Message(Box::new(heard))];
                }
                () = until(reopen_at) => {
                    self.reopen();
                    continue;
                }
                () = until(ask_at), if reopen_at.is_none() => {
                    self.ask_for_models();
                    continue;
                }
            };
            // A link that has failed has said so; another one may do better.
            let Some(news) = news else {
                self.reopen_at = Some(Instant::now() + REOPEN_TIME);
                continue;
            };
            let feeds = self.on_news(news);
            if !feeds.is_empty() {
                return feeds;
            }
        }
    }

    fn reopen(&mut self) {
        self.reopen_at = match self.connection.reopen(&self.reach, self.interest.topics()) {
            Ok(()) => None,
            Err(_) => Some(Instant::now() + REOPEN_TIME),
        };
    }

    fn ask_for_all(&mut self) {
        self.is_past_due = true;
        if self.interest == Interest::All {
            self.send(Command::Snapshot);
            self.ask_for_models();
        }
    }

    fn ask_for_models(&mut self) {
        self.models.due = None;
        self.models.asked = Some(Instant::now());
        self.send(Command::Layout);
        self.send(Command::Topics);
    }

    /// Has it asked which models there are after some time, and not too often.
    fn ask_for_models_after(&mut self, time: Duration) {
        if self.interest != Interest::All {
            return;
        }
        let now = Instant::now();
        let soonest = self.models.asked.map_or(now, |asked| asked + MODELS_TIME);
        let at = soonest.max(now + time);
        self.models.due = Some(self.models.due.map_or(at, |due| due.min(at)));
    }

    fn on_news(&mut self, news: News) -> Vec<Feed> {
        match news {
            News::Connected => {
                self.is_lost = false;
                self.ask_for_all();
                vec![Feed::Connected]
            }
            News::Disconnected => self.on_lost("the connection was lost"),
            News::Status(status) => self.on_status(*status),
            News::StartedAnew => {
                self.stopping = None;
                // What is driven is of the run that is gone.
                self.halt.command = None;
                // What was asked before may have named the run that is gone, and was refused.
                self.ask_for_all();
                vec![Feed::StartedAnew]
            }
            News::Reply { request, reply } => {
                self.halt_if_due();
                let feed = self.pending.on_reply(request, reply);
                if feed.as_ref().is_some_and(changes_models) {
                    self.ask_for_models_after(Duration::ZERO);
                }
                feed.into_iter().collect()
            }
            News::Message(_) => Vec::new(),
            News::Unreadable(text) => self.on_unreadable(text),
            News::Failed(text) => {
                self.reopen_at = Some(Instant::now() + REOPEN_TIME);
                let mut feeds = self.on_lost(&text);
                feeds.push(Feed::Denied(text.clone()));
                feeds.push(own_line(text));
                feeds
            }
        }
    }

    fn on_lost(&mut self, reason: &str) -> Vec<Feed> {
        self.is_lost = true;
        self.halt.is_due = self.halt.command.is_some();
        let mut feeds = self.pending.give_up(reason);
        feeds.push(Feed::Disconnected);
        feeds
    }

    fn on_status(&mut self, status: PrimaryToObservers) -> Vec<Feed> {
        // Only now is heard all that comes, so that nothing lies between the past and it.
        if std::mem::take(&mut self.is_past_due) {
            self.send(Command::History);
        }
        self.halt_if_due();
        match &status {
            PrimaryToObservers::Announce(Announce::Stopping(reason)) => {
                self.stopping = Some(reason.clone());
            }
            PrimaryToObservers::Event(event) if tells_of_models(event) => {
                self.ask_for_models_after(MODELS_TIME);
            }
            _ => {}
        }
        vec![Feed::Status(status)]
    }

    /// Stops what was driven before the link was lost: another run would have said so before.
    fn halt_if_due(&mut self) {
        if std::mem::take(&mut self.halt.is_due)
            && let Some(halt) = self.halt.command.take()
        {
            self.send(halt);
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
        if let Some(halt) = self.halt.command.take() {
            self.connection.request(halt);
        }
    }
}

impl Interest {
    fn connect(self, reach: &Reach) -> Result<Connection, ConnectError> {
        match self {
            Self::All => Connection::open(reach, true),
            Self::Course => Connection::follow(reach),
        }
    }

    /// Returns the topics that are listened to.
    fn topics(self) -> &'static [&'static str] {
        match self {
            Self::All => ALL_STATUS,
            Self::Course => COURSE,
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

/// Tells whether an event says that models came or went, whoever wished for it.
fn tells_of_models(event: &Event) -> bool {
    let verb = event.text.split_whitespace().next();
    event.kind == "command" && matches!(verb, Some("spawn" | "remove" | "reset"))
}

/// Waits for a moment; forever for none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

impl Pending {
    fn on_reply(&mut self, request: RequestId, reply: Reply) -> Option<Feed> {
        let command = self.sent.remove(&request)?;
        match reply {
            Reply::Snapshot(snapshot) => Some(Feed::Snapshot(snapshot)),
            Reply::History(history) => Some(Feed::History(history)),
            Reply::Layout(layout) => Some(Feed::Layout(layout)),
            Reply::Topics(topics) => Some(Feed::Topics(topics)),
            // The view has no place for it, and does not ask.
            Reply::Clients(_) | Reply::Barrier(_) | Reply::Participants(_) | Reply::Scene(_) => {
                None
            }
            Reply::Done { iteration, .. } => Some(Feed::Reply {
                command,
                result: Ok(iteration),
            }),
            Reply::Failed { code, reason } => Some(Feed::Reply {
                command,
                result: Err(CommandError::Refused { code, reason }),
            }),
        }
    }

    fn give_up(&mut self, reason: &str) -> Vec<Feed> {
        std::mem::take(&mut self.sent)
            .into_values()
            .filter(|command| !command.only_asks())
            .map(|command| Feed::Reply {
                command,
                result: Err(CommandError::Lost {
                    reason: reason.to_owned(),
                }),
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
mod tests;
