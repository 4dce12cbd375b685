//! [`follow`]: a live run as a source of data.
//!
//! It has a connection that observes, one that sends commands, so that each answer is known by its
//! number, and others that listen to topics and to where links are, while any client does.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use client::feed::Feed;
use client::{Connection, News, Observer, Reach};
use protocol::groups::{self, Groups};
use protocol::link_frame::LinkFrame;
use protocol::primary_to_client::Reply;
use protocol::{Command, FailureCode, RequestId, TopicMessage, link_frame};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};
use transport::zeromq::ConnectError;

use crate::listening::Listening;
use crate::scenes::Scenes;
use crate::source::{Body, CallId, Order, Outcome, Said, SourceEnd, SourceNews};

/// Time before a connection that has failed is set up again.
pub(crate) const REOPEN_TIME: Duration = Duration::from_secs(1);
/// The most commands that are not answered yet.
const CALLS_MAX: usize = 256;

/// Follows a run until the hub is gone.
///
/// # Errors
/// Fails if no connection can be set up; an absent primary is no error.
pub async fn follow(reach: Reach, end: SourceEnd) -> Result<(), ConnectError> {
    let mut live = Live {
        observer: Observer::follow(&reach)?,
        is_watched: false,
        commands: Commands::open(&reach)?,
        topics: Listening::default(),
        links: Listening::default(),
        scenes: Scenes::default(),
        reach,
    };
    let SourceEnd { news, mut orders } = end;
    loop {
        let told = tokio::select! {
            order = orders.recv() => match order {
                Some(order) => live.obey(order)?,
                None => return Ok(()),
            },
            feeds = live.observer.feed() => {
                feeds.into_iter().map(|feed| live.on_feed(feed)).collect()
            }
            done = live.commands.next(&live.reach) => done,
            shown = live.scenes.next(&live.reach) => vec![SourceNews::Scene(Box::new(shown))],
            message = live.topics.next(&live.reach) => match lose_or_tell(&news, said(message)) {
                ControlFlow::Continue(()) => continue,
                ControlFlow::Break(()) => return Ok(()),
            },
            message = live.links.next(&live.reach) => match links(&message) {
                Some(links) => vec![links],
                None => continue,
            },
        };
        for one in told {
            if news.send(one).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// Tells the hub a message, which is lost if the hub is behind; breaks if the hub is gone.
fn lose_or_tell(news: &Sender<SourceNews>, message: SourceNews) -> ControlFlow<()> {
    match news.try_send(message) {
        Ok(()) | Err(TrySendError::Full(_)) => ControlFlow::Continue(()),
        Err(TrySendError::Closed(_)) => ControlFlow::Break(()),
    }
}

struct Live {
    reach: Reach,
    observer: Observer,
    is_watched: bool,
    commands: Commands,
    topics: Listening,
    links: Listening,
    scenes: Scenes,
}

impl Live {
    fn obey(&mut self, order: Order) -> Result<Vec<SourceNews>, ConnectError> {
        match order {
            Order::Watch(is_watched) => {
                if self.is_watched != is_watched {
                    self.is_watched = is_watched;
                    self.observer = if is_watched {
                        Observer::open(&self.reach)?
                    } else {
                        Observer::follow(&self.reach)?
                    };
                }
            }
            Order::Listen(mut topics) => {
                // A connection of its own: frames build on one another.
                let links = topics.take(link_frame::TOPIC);
                self.links.listen(links.into_iter().collect());
                let left_out = self.topics.listen(topics);
                if left_out > 0 {
                    let text = format!("{left_out} topics are not heard: their names are too long");
                    return Ok(vec![SourceNews::Lack(text)]);
                }
            }
            Order::Send { call, command } => return Ok(self.commands.send(call, *command)),
            Order::Replay { call, .. } => {
                let outcome = Outcome::refused("this is a run and no recording");
                return Ok(vec![SourceNews::Done { call, outcome }]);
            }
        }
        Ok(Vec::new())
    }

    fn on_feed(&mut self, feed: Feed) -> SourceNews {
        if matches!(feed, Feed::StartedAnew) {
            self.scenes.start_anew();
        } else if let Feed::Layout(layout) = &feed {
            self.scenes.fetch_after(layout);
        }
        SourceNews::Feed(Box::new(feed))
    }
}

/// The connection for commands.
struct Commands {
    connection: Connection,
    /// Commands that are not answered, with what is said when they are done.
    pending: BTreeMap<RequestId, (CallId, &'static str)>,
    reopen_at: Option<Instant>,
    /// True if there was a link, and it is gone: what is sent now would reach another run.
    is_lost: bool,
}

impl Commands {
    fn open(reach: &Reach) -> Result<Self, ConnectError> {
        Ok(Self {
            connection: Connection::open(reach, false)?,
            pending: BTreeMap::new(),
            reopen_at: None,
            is_lost: false,
        })
    }

    fn send(&mut self, call: CallId, command: Command) -> Vec<SourceNews> {
        let refusal = if self.is_lost || self.reopen_at.is_some() {
            Some("there is no link to the primary")
        } else if self.pending.len() >= CALLS_MAX {
            Some("earlier commands are not answered yet")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            let outcome = Outcome::refused(refusal);
            return vec![SourceNews::Done { call, outcome }];
        }
        let done = command.row().done;
        let request = self.connection.request(command);
        self.pending.insert(request, (call, done));
        Vec::new()
    }

    /// Waits for ends of commands. May be dropped and called again.
    async fn next(&mut self, reach: &Reach) -> Vec<SourceNews> {
        loop {
            if let Some(at) = self.reopen_at {
                sleep_until(at).await;
                self.reopen_at = match Connection::open(reach, false) {
                    Ok(connection) => {
                        self.connection = connection;
                        None
                    }
                    Err(_) => Some(Instant::now() + REOPEN_TIME),
                };
                continue;
            }
            match self.connection.news().await {
                Some(News::Reply { request, reply }) => {
                    if let Some((call, done)) = self.pending.remove(&request) {
                        let outcome = outcome(reply, done);
                        return vec![SourceNews::Done { call, outcome }];
                    }
                }
                Some(News::Connected) => self.is_lost = false,
                Some(News::Disconnected) => {
                    self.is_lost = true;
                    return self.give_up("the connection was lost");
                }
                Some(News::Failed(reason)) => {
                    self.reopen_at = Some(Instant::now() + REOPEN_TIME);
                    return self.give_up(&reason);
                }
                Some(
                    News::Unreadable(_) | News::StartedAnew | News::Status(_) | News::Message(_),
                ) => {}
                None => self.reopen_at = Some(Instant::now() + REOPEN_TIME),
            }
        }
    }

    fn give_up(&mut self, reason: &str) -> Vec<SourceNews> {
        let pending = std::mem::take(&mut self.pending).into_values();
        let lost = pending.map(|(call, _)| SourceNews::Done {
            call,
            outcome: Outcome::refused(reason),
        });
        lost.collect()
    }
}

fn outcome(reply: Reply, done: &str) -> Outcome {
    match reply {
        Reply::Done {
            iteration,
            name,
            warnings,
        } => {
            let mut message = format!("the run {done}");
            for part in name.iter().chain(&warnings) {
                message.push_str("; ");
                message.push_str(part);
            }
            Outcome::done(message, Some(iteration.0))
        }
        Reply::Failed {
            code: FailureCode::Forbidden,
            reason,
        } => Outcome::forbidden(reason),
        Reply::Failed { reason, .. } => Outcome::refused(reason),
        Reply::Clients(clients) => {
            let list = serde_json::to_string(&clients).unwrap_or_default();
            Outcome::done(list, None)
        }
        Reply::Participants(participants) => {
            let list = serde_json::to_string(&participants).unwrap_or_default();
            Outcome::done(list, None)
        }
        Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Topics(_)
        | Reply::Scene(_)
        | Reply::Barrier(_) => Outcome::refused("the primary answered something else"),
    }
}

fn said(message: TopicMessage) -> SourceNews {
    if message.kind == groups::KIND
        && let Some(groups) = Groups::decode(&message.body)
    {
        return SourceNews::Groups(groups);
    }
    SourceNews::Said(Box::new(Said {
        topic: message.topic,
        kind: message.kind,
        time_ns: message.sim_time.0,
        body: Body::Packed(message.body),
    }))
}

fn links(message: &TopicMessage) -> Option<SourceNews> {
    let is_frame = message.kind == link_frame::KIND;
    let frame = is_frame
        .then(|| LinkFrame::decode(&message.body))
        .flatten()?;
    Some(SourceNews::Links {
        frame,
        time_ns: message.sim_time.0,
        iteration: message.iteration.0,
    })
}
