//! [`SourceNews`] and [`Order`]: between the hub and a source of data, which is a live run
//! ([`crate::live`]) or a recording.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use client::feed::Feed;
use client::recorded::ReplayRequest;
use protocol::groups::Groups;
use protocol::link_frame::LinkFrame;
use protocol::{Command, LinkPose};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::shown_scene::ShownScene;

/// Capacity of the queue of news; a hub that is behind holds the source, which loses messages.
const NEWS_MAX: usize = 256;
/// Capacity of the queue of orders.
const ORDERS_MAX: usize = 256;

/// News of a source.
#[derive(Debug)]
pub enum SourceNews {
    /// News of the run, live or recorded.
    Feed(Box<Feed>),
    /// A message on a topic that was ordered.
    Said(Box<Said>),
    /// The end of something that was ordered.
    Done {
        /// Number of the order.
        call: CallId,
        /// Its end.
        outcome: Outcome,
    },
    /// Poses of links.
    Links {
        /// Their poses.
        frame: LinkFrame,
        /// Simulated time \[ns\].
        time_ns: u64,
        /// The last completed iteration then.
        iteration: u64,
    },
    /// Performers that are groups, while [`protocol::groups::TOPIC`] is ordered.
    Groups(Groups),
    /// Poses of links as seen from their models, by their frames: `MODEL::LINK`; those that are not
    /// there are where they were at the start. For models that only reports place.
    Offsets(BTreeMap<String, LinkPose>),
    /// The reason why something that was ordered does not come.
    Lack(String),
    /// Drawn content, at the start and after it has changed.
    Scene(Box<ShownScene>),
}

/// A message on a topic.
#[derive(Clone, Debug)]
pub struct Said {
    /// The topic.
    pub topic: String,
    /// The kind of message.
    pub kind: String,
    /// Simulated time \[ns\].
    pub time_ns: u64,
    /// The message.
    pub body: Body,
}

/// A message itself.
#[derive(Clone, Debug)]
pub enum Body {
    /// As it travels: a `MessagePack` map.
    Packed(Vec<u8>),
    /// As recordings have it: JSON.
    Json(Bytes),
}

/// Number of an order that is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// End of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// True if it has taken effect.
    pub is_ok: bool,
    /// Description of what was done, or why not, for people.
    pub message: String,
    /// The iteration at which it had taken effect.
    pub iteration: Option<u64>,
    /// True if the run refuses all commands of this process: its key may only watch.
    pub is_forbidden: bool,
}

/// An order of the hub.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Follow everything, since somebody looks; else only the progress of the run.
    Watch(bool),
    /// Listen to these topics and to no others; [`protocol::link_frame::TOPIC`] among them stands
    /// for poses of links.
    /// A recording tells what was said last on each of them, also if it is told the same again.
    Listen(BTreeSet<String>),
    /// Send a command to the run.
    Send {
        /// Number of the order.
        call: CallId,
        /// The command.
        command: Box<Command>,
    },
    /// Change the playback of a recording.
    Replay {
        /// Number of the order.
        call: CallId,
        /// The change.
        request: ReplayRequest,
    },
}

/// The hub's end of the way to a source.
#[derive(Debug)]
pub struct Source {
    /// News of the source.
    pub(crate) news: Receiver<SourceNews>,
    /// Orders to the source.
    pub(crate) orders: Sender<Order>,
}

/// The source's end of the way to a hub.
#[derive(Debug)]
pub struct SourceEnd {
    /// News for the hub.
    pub news: Sender<SourceNews>,
    /// Orders of the hub.
    pub orders: Receiver<Order>,
}

/// Makes both ends of the way between a source and a hub.
pub fn pair() -> (SourceEnd, Source) {
    let (news_sender, news) = channel(NEWS_MAX);
    let (orders, order_receiver) = channel(ORDERS_MAX);
    let end = SourceEnd {
        news: news_sender,
        orders: order_receiver,
    };
    (end, Source { news, orders })
}

impl Outcome {
    /// Makes the end of an order that has taken effect.
    pub fn done(message: impl Into<String>, iteration: Option<u64>) -> Self {
        Self {
            is_ok: true,
            message: message.into(),
            iteration,
            is_forbidden: false,
        }
    }

    /// Makes the end of an order that has changed nothing.
    pub fn refused(message: impl Into<String>) -> Self {
        Self {
            is_ok: false,
            message: message.into(),
            iteration: None,
            is_forbidden: false,
        }
    }

    /// Makes the end of an order that was refused as all others will be.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self {
            is_forbidden: true,
            ..Self::refused(message)
        }
    }
}
