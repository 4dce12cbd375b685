//! A client of a primary: sends commands, hears replies and status.
//!
//! [`Connection`] is a thread that owns the link, bridged by channels both ways; [`Observer`]
//! makes of its news what the view is fed; [`ask`] is one question and its answer.

pub mod control;
pub mod ended;
pub mod feed;
pub mod link_poses;
mod listener;
pub mod log_level;
pub mod message_text;
mod observer;
pub mod observer_request;
pub mod plain_text;
pub mod raster;
mod reach;
pub mod recorded;
pub mod scene_fetch;
pub mod sensor_image;
pub mod units;

use std::collections::VecDeque;
use std::sync::{Arc, mpsc as threads};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use protocol::primary_to_client::Reply;
use protocol::{
    ClientToPrimary, Command, Envelope, PeerName, PrimaryToClient, PrimaryToObservers,
    ProtocolVersion, RequestId, SessionId, TopicMessage, topic,
};
use tokio::sync::mpsc;
use transport::zeromq::ConnectError;
use transport::{Arrival, Destination, Link, LinkError, Subscription, Waker};

pub use observer::Observer;
pub use reach::Reach;

/// Capacity of the queue of news; if it is full, messages on topics are dropped, replies are not.
const NEWS_MAX: usize = 4096;

/// Time for which a request that could not be sent waits before it is tried again.
const RETRY: Duration = Duration::from_millis(50);

/// Silence of a primary, whose heart beats every tenth of a second, after which it counts as not
/// reached although the link is up: it is stopped, or behind a network that is gone.
const SILENCE: Duration = Duration::from_secs(2);

/// The request by which a connection learns the session; its own requests count from 1.
const PING: RequestId = RequestId(0);

/// All topics of the status socket begin so.
const ALL_STATUS: &[&str] = &["/"];

/// Topics of the progress of a run, without the contents of its world.
const COURSE: &[&str] = &[
    topic::STATS,
    topic::ANNOUNCE,
    topic::EVENTS,
    topic::HEARTBEAT,
];

/// News of a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// The primary is reached.
    Connected,
    /// The primary is not reached any more; it is tried again.
    Disconnected,
    /// The primary was started again: the news from here on is of another run.
    StartedAnew,
    /// The primary published something.
    Status(Box<PrimaryToObservers>),
    /// Something was said on a topic of the simulated world.
    Message(Box<TopicMessage>),
    /// A request was answered.
    Reply {
        /// The request.
        request: RequestId,
        /// The answer.
        reply: Reply,
    },
    /// The primary said what this program does not understand.
    Unreadable(String),
    /// The link failed, and no more news will come.
    Failed(String),
}

/// Reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No link could be set up.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// No answer came in time.
    #[error("{endpoint} did not answer within {} s", limit.as_secs_f64())]
    TimedOut {
        /// Endpoint of the primary.
        endpoint: String,
        /// Time-out of the request.
        limit: Duration,
    },
    /// The primary went away after it was asked.
    #[error("the run ended before it answered")]
    Ended,
    /// The primary speaks another protocol, or the link failed.
    #[error("{0}")]
    Failed(String),
}

/// A link to a primary in a thread of its own; dropped, it ends that thread.
pub struct Connection {
    orders: Option<threads::Sender<LinkOrder>>,
    news: mpsc::Receiver<News>,
    waker: Arc<dyn Waker>,
    /// Returns the run that was heard last.
    thread: Option<JoinHandle<SessionId>>,
    next_request: RequestId,
}

impl Connection {
    /// Begins to connect to a primary, and to listen to all that it publishes if `observes`.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; an absent primary is no error.
    pub fn open(reach: &Reach, observes: bool) -> Result<Self, ConnectError> {
        let subscription = if observes {
            Subscription::Status(ALL_STATUS)
        } else {
            Subscription::None
        };
        let link = reach.connect(subscription)?;
        Ok(Self::after(link, SessionId::UNKNOWN, observes))
    }

    /// Begins to connect to a primary, and to listen to its figures alone.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; an absent primary is no error.
    pub fn glance(reach: &Reach) -> Result<Self, ConnectError> {
        let link = reach.connect(Subscription::Status(&[topic::STATS]))?;
        Ok(Self::over(link))
    }

    /// Begins to connect to a primary, and to listen to how the run goes.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; an absent primary is no error.
    pub fn follow(reach: &Reach) -> Result<Self, ConnectError> {
        let link = reach.connect(Subscription::Status(COURSE))?;
        Ok(Self::after(link, SessionId::UNKNOWN, true))
    }

    /// Begins to connect to a primary, and to listen to topics of the simulated world.
    ///
    /// # Errors
    /// Fails if the link cannot be set up; an absent primary is no error.
    pub fn listen(reach: &Reach, topics: &[&str]) -> Result<Self, ConnectError> {
        let frames = frames(topics);
        let heard: Vec<&str> = frames.iter().map(String::as_str).collect();
        Ok(Self::over(reach.connect(Subscription::Status(&heard))?))
    }

    /// Listens to other topics of the simulated world from now on; of those that stay, nothing is
    /// lost. It must have been made by [`Connection::listen`].
    pub fn listen_to(&mut self, topics: &[&str]) {
        self.order(LinkOrder::Listen(frames(topics)));
    }

    /// Connects again after the link has failed; the news of the new link says whether the same run
    /// is there.
    ///
    /// # Errors
    /// Fails if the link cannot be set up.
    pub fn reopen(&mut self, reach: &Reach, topics: &[&str]) -> Result<(), ConnectError> {
        let link = reach.connect(Subscription::Status(topics))?;
        let last_session = self.close();
        let hears_beats = topics.iter().any(|one| topic::HEARTBEAT.starts_with(one));
        *self = Self::after(link, last_session, hears_beats);
        Ok(())
    }

    /// Gives a link its thread.
    fn over(link: impl Link + Send + 'static) -> Self {
        Self::after(link, SessionId::UNKNOWN, false)
    }

    /// Gives a link its thread that knows which run was heard before, and whether the primary's
    /// beats are heard.
    fn after(link: impl Link + Send + 'static, last_session: SessionId, hears_beats: bool) -> Self {
        let waker = link.waker();
        let (orders, ordered) = threads::channel();
        let (teller, news) = mpsc::channel(NEWS_MAX);
        let worker = LinkThread {
            link,
            ordered,
            unsent: VecDeque::new(),
            session: SessionId::UNKNOWN,
            last_session,
            has_asked: false,
            heard_at: None,
            hears_beats,
            is_silent: false,
            teller,
        };
        let thread = std::thread::spawn(move || worker.run());
        Self {
            orders: Some(orders),
            news,
            waker,
            thread: Some(thread),
            next_request: RequestId(1),
        }
    }

    /// Sends a command as soon as the primary is reached, and returns the number of the request.
    pub fn request(&mut self, command: Command) -> RequestId {
        let request = self.next_request;
        self.next_request = RequestId(request.0 + 1);
        self.order(LinkOrder::Send(ClientToPrimary { request, command }));
        request
    }

    fn order(&self, order: LinkOrder) {
        if let Some(orders) = &self.orders {
            // A thread that has ended has said so by its last news.
            let _ = orders.send(order);
            self.waker.wake();
        }
    }

    /// Returns the next news; `None` when there is no more. May be dropped and called again.
    pub async fn news(&mut self) -> Option<News> {
        self.news.recv().await
    }

    /// Ends the thread, and returns the run that was heard last.
    fn close(&mut self) -> SessionId {
        self.orders = None;
        // The thread may wait for room among the news.
        self.news.close();
        self.waker.wake();
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or(SessionId::UNKNOWN)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// Asks a primary one thing.
///
/// # Errors
/// Fails if it does not answer in time, or cannot.
pub async fn ask(reach: &Reach, command: Command, limit: Duration) -> Result<Reply, AskError> {
    let mut connection = Connection::open(reach, false)?;
    ask_over(&mut connection, reach, command, limit).await
}

/// Asks one thing more over a connection that is there.
///
/// # Errors
/// Fails if the primary does not answer in time, or cannot.
pub async fn ask_over(
    connection: &mut Connection,
    reach: &Reach,
    command: Command,
    limit: Duration,
) -> Result<Reply, AskError> {
    let request = connection.request(command);
    let answer = tokio::time::timeout(limit, answer(connection, request));
    answer.await.unwrap_or_else(|_| {
        Err(AskError::TimedOut {
            endpoint: reach.to_string(),
            limit,
        })
    })
}

async fn answer(connection: &mut Connection, wanted: RequestId) -> Result<Reply, AskError> {
    let mut was_connected = false;
    while let Some(news) = connection.news().await {
        match news {
            News::Reply { request, reply } if request == wanted => return Ok(reply),
            News::Connected => was_connected = true,
            News::Disconnected if was_connected => return Err(AskError::Ended),
            News::Unreadable(text) | News::Failed(text) => return Err(AskError::Failed(text)),
            News::Reply { .. }
            | News::Disconnected
            | News::StartedAnew
            | News::Status(_)
            | News::Message(_) => {}
        }
    }
    Err(AskError::Ended)
}

/// Something that the thread of a link is to do.
enum LinkOrder {
    /// Send a request.
    Send(ClientToPrimary),
    /// Listen to what begins with these, and to nothing else.
    Listen(Vec<String>),
}

struct LinkThread<L> {
    link: L,
    ordered: threads::Receiver<LinkOrder>,
    unsent: VecDeque<ClientToPrimary>,
    /// The run that is reached: what changes it names it, so that it cannot hit another.
    session: SessionId,
    /// The run that was heard last, also while none is reached.
    last_session: SessionId,
    /// True if the session was asked for.
    has_asked: bool,
    /// Time when something was heard last, while the link is up.
    heard_at: Option<Instant>,
    /// True if the primary's beats are heard, so that silence says something.
    hears_beats: bool,
    /// True if it was told that the primary is silent.
    is_silent: bool,
    teller: mpsc::Sender<News>,
}

/// Reason why the thread ends.
enum LinkEnd {
    /// The connection was closed from this side.
    Closed,
    /// The link failed.
    Failed(LinkError),
}

impl<L: Link> LinkThread<L> {
    /// Serves the link until it ends, and returns the run that was heard last.
    fn run(mut self) -> SessionId {
        let error = loop {
            match self.turn() {
                Ok(()) => {}
                Err(LinkEnd::Closed) => return self.last_session,
                Err(LinkEnd::Failed(error)) => break error,
            }
        };
        let _ = self.teller.blocking_send(News::Failed(with_cause(&error)));
        self.last_session
    }

    /// Sends what is to be sent and waits for one arrival.
    fn turn(&mut self) -> Result<(), LinkEnd> {
        loop {
            match self.ordered.try_recv() {
                Ok(LinkOrder::Send(request)) => self.unsent.push_back(request),
                Ok(LinkOrder::Listen(topics)) => {
                    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
                    self.link.listen(&topics).map_err(LinkEnd::Failed)?;
                }
                Err(threads::TryRecvError::Empty) => break,
                Err(threads::TryRecvError::Disconnected) => {
                    // What was asked last, such as that a robot stops, is still to be said.
                    self.send_unsent()?;
                    return Err(LinkEnd::Closed);
                }
            }
        }
        self.send_unsent()?;
        let retry = (!self.unsent.is_empty()).then_some(RETRY);
        let silent_at = self.heard_at.map(|at| at + SILENCE);
        let silent_at = silent_at.filter(|_| self.hears_beats && !self.is_silent);
        let silence = silent_at.map(|at| at.saturating_duration_since(Instant::now()));
        let timeout = [retry, silence].into_iter().flatten().min();
        match self.link.receive(timeout) {
            Ok(Some(arrival)) => self.tell(arrival),
            Ok(None) if silent_at.is_some_and(|at| at <= Instant::now()) => {
                self.is_silent = true;
                let told = self.teller.blocking_send(News::Disconnected);
                told.map_err(|_| LinkEnd::Closed)
            }
            Ok(None) => Ok(()),
            Err(error) => Err(LinkEnd::Failed(error)),
        }
    }

    /// Notes that the primary is heard, and tells so if it was silent.
    fn note_heard(&mut self) -> Result<(), LinkEnd> {
        self.heard_at = Some(Instant::now());
        if !std::mem::take(&mut self.is_silent) {
            return Ok(());
        }
        let told = self.teller.blocking_send(News::Connected);
        told.map_err(|_| LinkEnd::Closed)
    }

    fn send_unsent(&mut self) -> Result<(), LinkEnd> {
        while let Some(request) = self.unsent.front() {
            if self.session == SessionId::UNKNOWN && !request.command.only_asks() {
                return self.ask_for_session();
            }
            if !self.send(&request.clone())? {
                return Ok(());
            }
            self.unsent.pop_front();
        }
        Ok(())
    }

    fn ask_for_session(&mut self) -> Result<(), LinkEnd> {
        if !self.has_asked {
            let ping = ClientToPrimary {
                request: PING,
                command: Command::Ping,
            };
            self.has_asked = self.send(&ping)?;
        }
        Ok(())
    }

    /// Sends a request, and tells whether it could be sent now.
    fn send(&mut self, request: &ClientToPrimary) -> Result<bool, LinkEnd> {
        let envelope = Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.session,
            sender: client_name(),
            body: request.clone(),
        };
        let bytes = protocol::encode(&envelope);
        match self.link.send(Destination::Primary, topic::REQUEST, &bytes) {
            Ok(()) => Ok(true),
            Err(LinkError::Full | LinkError::Unreachable(_)) => Ok(false),
            Err(error) => Err(LinkEnd::Failed(error)),
        }
    }

    /// Tells when another run is heard than before.
    fn note_session(&mut self, session: SessionId) -> Result<(), LinkEnd> {
        let last = std::mem::replace(&mut self.last_session, session);
        if last == SessionId::UNKNOWN || last == session {
            return Ok(());
        }
        let told = self.teller.blocking_send(News::StartedAnew);
        told.map_err(|_| LinkEnd::Closed)
    }

    /// Drops unsent requests: they were meant for the run that is gone.
    fn forget_session(&mut self) {
        self.session = SessionId::UNKNOWN;
        self.has_asked = false;
        self.unsent.clear();
    }

    fn tell(&mut self, arrival: Arrival) -> Result<(), LinkEnd> {
        let news = match arrival {
            Arrival::Message { topic, payload, .. } => {
                self.note_heard()?;
                let (session, news) = read(&topic, &payload);
                if let Some(session) = session {
                    self.session = session;
                    self.note_session(session)?;
                }
                if matches!(&news, News::Reply { request, .. } if *request == PING) {
                    return Ok(());
                }
                news
            }
            Arrival::Connected => {
                self.heard_at = Some(Instant::now());
                self.is_silent = false;
                // A primary knows whose a connection is once something came by it, and can then
                // cut it: who only listens is to notice that its key is out.
                self.ask_for_session()?;
                News::Connected
            }
            Arrival::Disconnected => {
                self.heard_at = None;
                self.forget_session();
                if std::mem::take(&mut self.is_silent) {
                    // That it is not reached is told already.
                    return Ok(());
                }
                News::Disconnected
            }
            Arrival::Denied(denial) if denial.is_final() => {
                return Err(LinkEnd::Failed(LinkError::Denied(denial)));
            }
            Arrival::Denied(denial) => News::Unreadable(denial.to_string()),
            Arrival::Woken | Arrival::Subscribed(_) | Arrival::Unsubscribed(_) => return Ok(()),
        };
        if matches!(news, News::Status(_) | News::Message(_)) {
            return match self.teller.try_send(news) {
                Ok(()) | Err(mpsc::error::TrySendError::Full(_)) => Ok(()),
                Err(mpsc::error::TrySendError::Closed(_)) => Err(LinkEnd::Closed),
            };
        }
        self.teller.blocking_send(news).map_err(|_| LinkEnd::Closed)
    }
}

/// Returns the beginnings of what is said on topics of the simulated world; the primary's own words
/// come with them.
fn frames(topics: &[&str]) -> Vec<String> {
    let mut frames: Vec<String> = topics.iter().map(|name| topic::of_message(name)).collect();
    frames.push(topic::ANNOUNCE.to_owned());
    frames
}

fn client_name() -> PeerName {
    "client".parse().expect("a plain word is a peer name")
}

/// Returns which run a message belongs to, and what it tells.
fn read(topic: &[u8], payload: &[u8]) -> (Option<SessionId>, News) {
    let read = if topic == topic::REQUEST.as_bytes() {
        protocol::decode::<PrimaryToClient>(payload).map(|envelope| {
            let PrimaryToClient { request, reply } = envelope.body;
            (envelope.session, News::Reply { request, reply })
        })
    } else if topic::message_name(topic).is_some() {
        protocol::decode::<TopicMessage>(payload)
            .map(|envelope| (envelope.session, News::Message(Box::new(envelope.body))))
    } else {
        protocol::decode::<PrimaryToObservers>(payload)
            .map(|envelope| (envelope.session, News::Status(Box::new(envelope.body))))
    };
    match read {
        Ok((session, news)) => (Some(session), news),
        Err(error) => {
            let text = format!("the primary is not understood: {}", with_cause(&error));
            (None, News::Unreadable(text))
        }
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
