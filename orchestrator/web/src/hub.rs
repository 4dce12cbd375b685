//! [`Hub`]: between one source of data and all clients.
//!
//! It owns no socket and reads no clock but for its ticks: news of the source and of clients come
//! in, messages go to the outboxes of clients and orders to the source.

mod answers;
mod publishing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use client::feed::Feed;
use protocol::PerformerId;
use protocol::groups;
use protocol::link_frame::{self, LinkFrame};
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{MissedTickBehavior, interval};

use crate::assets::Assets;
use crate::channels::{ChannelChange, Channels, Content};
use crate::compressor::Compressor;
use crate::foxglove::{self, SensorPlace};
use crate::pose_table::PoseTable;
use crate::protocol::server_to_client::ServerText;
use crate::run_log::RunLog;
use crate::run_state::RunState;
use crate::services::Circumstances;
use crate::shown_scene::ShownScene;
use crate::source::{CallId, Order, Source, SourceNews};
use crate::viewer::{ViewerId, ViewerNews};
use crate::viewers::Viewers;
use answers::Call;

/// Time between two messages with poses.
const POSE_TIME: Duration = Duration::from_millis(33);
/// Time between two messages about the run.
const RUN_TIME: Duration = Duration::from_millis(100);

/// Details of things, as a terminal shows them.
pub trait Details {
    /// Takes in news of the run.
    fn note(&mut self, feed: &Feed);
    /// Returns what is known of a thing: its title, and names with values.
    ///
    /// # Errors
    /// Fails if there is no such kind of thing, or none of this name was ever known.
    fn describe(&self, subject: &str, name: &str) -> Result<Described, DescribeError>;
    /// Tells whoever runs the server that something is amiss.
    fn warn(&mut self, text: &str);
}

/// Reason why nothing can be told of a thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// There is no such kind of thing.
    #[error("{subject:?} is none of {}", known.join(", "))]
    Subject {
        /// The kind that was asked for.
        subject: String,
        /// The kinds that there are.
        known: Vec<&'static str>,
    },
    /// Nothing is known of it.
    #[error("nothing is known of {subject} {name}")]
    Unknown {
        /// Its kind.
        subject: String,
        /// Its name.
        name: String,
    },
}

/// All that is known of a thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// The thing, such as `performer rover`.
    pub title: String,
    /// Properties: a name and a value each; a line without a name continues the one before.
    pub lines: Vec<(String, String)>,
}

/// Settings of a hub.
#[derive(Clone, Copy, Debug)]
pub struct HubSettings<'a> {
    /// Name of the run or the recording.
    pub name: &'a str,
    /// Name of this server, which no other one ever has.
    pub server: &'a str,
    /// True for a recording.
    pub is_recording: bool,
    /// Quality of images that are compressed as JPEG, from 1 to 100.
    pub jpeg_quality: u8,
}

/// Between a source of data and clients.
pub struct Hub {
    /// True for a recording.
    is_recording: bool,
    session: Session,
    orders: Orders,
    state: RunState,
    log: RunLog,
    drawn: Drawn,
    channels: Channels,
    viewers: Viewers,
    calls: BTreeMap<CallId, Call>,
    details: Box<dyn Details>,
    compressor: Compressor,
    /// Values of parameters as they were told last.
    parameters: BTreeMap<&'static str, Value>,
}

/// Session of clients: after a reconnection to the same one they go on.
#[derive(Debug)]
struct Session {
    server: String,
    /// Number of the run, of those that answered one after the other.
    run: u64,
}

/// Everything that is drawn.
#[derive(Debug)]
struct Drawn {
    shown: Option<ShownScene>,
    poses: PoseTable,
    assets: Assets,
    /// Places of sensors by their frames.
    sensors: BTreeMap<String, SensorPlace>,
    /// Reasons why something of the scene is not drawn.
    gaps: Vec<String>,
    /// Names of performers by their numbers, if poses of links come by themselves, so that reports
    /// of models place none.
    link_names: BTreeMap<PerformerId, String>,
}

/// The way to the source, with what it was told last.
#[derive(Debug)]
struct Orders {
    sender: Sender<Order>,
    next_call: u64,
    is_watching: bool,
    listens: BTreeSet<String>,
    /// True if a client of a recording has begun to listen, to topics that were ordered or not: it
    /// is to hear what was said last.
    has_new_listener: bool,
}

impl Hub {
    /// Makes a hub of a run or a recording, and returns the receiver of its news.
    ///
    /// # Errors
    /// Fails if the system has no thread left for images.
    pub fn new(
        settings: HubSettings<'_>,
        source: Source,
        assets: Assets,
        details: Box<dyn Details>,
    ) -> io::Result<(Self, Receiver<SourceNews>)> {
        let HubSettings {
            name,
            server,
            is_recording,
            jpeg_quality,
        } = settings;
        let hub = Self {
            is_recording,
            session: Session {
                server: server.to_owned(),
                run: 0,
            },
            orders: Orders {
                sender: source.orders,
                next_call: 0,
                is_watching: false,
                listens: BTreeSet::new(),
                has_new_listener: false,
            },
            state: RunState::new(name),
            log: RunLog::default(),
            drawn: Drawn {
                shown: None,
                poses: PoseTable::default(),
                assets,
                sensors: BTreeMap::new(),
                gaps: Vec::new(),
                link_names: BTreeMap::new(),
            },
            channels: Channels::new(is_recording),
            viewers: Viewers::default(),
            calls: BTreeMap::new(),
            details,
            compressor: Compressor::start(jpeg_quality)?,
            parameters: BTreeMap::new(),
        };
        Ok((hub, source.news))
    }

    /// Serves clients until the server or the source is gone.
    pub async fn run(
        mut self,
        mut news: Receiver<SourceNews>,
        mut viewers: Receiver<(ViewerId, ViewerNews)>,
    ) {
        let (mut pose_ticks, mut run_ticks) = (interval(POSE_TIME), interval(RUN_TIME));
        pose_ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        run_ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                told = news.recv() => match told {
                    Some(told) => self.on_source(told),
                    None => return,
                },
                told = viewers.recv(), if self.is_ready() => match told {
                    Some((id, told)) => self.on_viewer(id, told),
                    None => return,
                },
                Some(image) = self.compressor.next() => self.publish_compressed(&image),
                _ = pose_ticks.tick(), if !self.viewers.is_empty() => self.publish_poses(),
                _ = run_ticks.tick() => {
                    self.give_orders();
                    self.publish_run();
                    self.publish_log();
                }
            }
        }
    }

    /// Tells whether clients are served: of a recording they are told at once how long it is.
    fn is_ready(&self) -> bool {
        !self.is_recording || self.state.recording().is_some() || self.state.problem().is_some()
    }

    fn circumstances(&self) -> Circumstances {
        Circumstances {
            is_recording: self.is_recording,
            iteration: self.state.iteration(),
        }
    }

    /// Takes in news of the source.
    fn on_source(&mut self, news: SourceNews) {
        match news {
            SourceNews::Feed(feed) => self.on_feed(&feed),
            SourceNews::Said(said) => self.publish_said(&said),
            SourceNews::Done { call, outcome } => self.on_done(call, &outcome),
            SourceNews::Links {
                frame,
                time_ns,
                iteration,
            } => self.drawn.place_links(frame, time_ns, iteration),
            SourceNews::Groups(groups) => self.publish_groups(&groups),
            SourceNews::Offsets(offsets) => self.drawn.poses.set_offsets(offsets),
            SourceNews::Scene(shown) => self.on_scene(*shown),
            SourceNews::Lack(text) => {
                self.details.warn(&text);
                self.viewers.tell(&ServerText::warning(text).text());
            }
        }
    }

    fn on_feed(&mut self, feed: &Feed) {
        self.details.note(feed);
        let changed = self.state.note(feed);
        self.log.note(feed, self.state.time_ns());
        if changed.all {
            self.compressor.forget();
            self.drawn.poses.forget();
            self.drawn.link_names.clear();
        }
        if matches!(feed, Feed::StartedAnew) {
            self.begin_session();
        } else if changed.all {
            self.draw_anew();
        }
        if changed.poses {
            self.note_performers();
        }
        if changed.topics {
            let change = self.channels.set_topics(self.state.topics());
            self.offer(change);
        }
        if matches!(feed, Feed::Topics(_)) {
            self.make_layout();
        }
    }

    /// Has clients forget the run that is gone.
    fn begin_session(&mut self) {
        self.session.run += 1;
        self.drawn.assets.set_layout(None);
        // Nothing is drawn until it is known what this run has.
        self.drawn.shown = None;
        self.drawn.sensors.clear();
        self.drawn.gaps.clear();
        // Viewers look at the channels that they know again after each offer, if an empty one.
        let channels = Vec::new();
        let offer = ServerText::Advertise { channels }.text();
        for viewer in self.viewers.iter() {
            let info = self.server_info(viewer.agreement.dialect);
            viewer.outbox.text(info.text());
            viewer.outbox.text(offer.clone());
        }
    }

    /// Takes over where performers are, and who owns them.
    fn note_performers(&mut self) {
        let places_links = self.drawn.link_names.is_empty();
        if places_links {
            self.drawn.poses.time_ns = self.state.time_ns();
            self.drawn.poses.iteration = self.state.iteration();
        }
        let performers = self.state.take_performers();
        for performer in &performers {
            let belonging = self.state.belonging(performer);
            self.drawn.poses.report(performer, belonging, places_links);
        }
        self.state.put_performers(performers);
    }

    /// Offers channels that have come and withdraws those that are gone.
    fn offer(&mut self, change: ChannelChange) {
        if !change.gone.is_empty() {
            self.viewers.forget(&change.gone);
            let channel_ids = change.gone;
            self.viewers
                .tell(&ServerText::Unadvertise { channel_ids }.text());
        }
        if !change.come.is_empty() {
            let channels = change.come;
            self.viewers
                .tell(&ServerText::Advertise { channels }.text());
        }
        self.tell_graph();
    }

    fn on_scene(&mut self, shown: ShownScene) {
        self.drawn.assets.replace(shown.assets.clone());
        self.drawn.poses.set_models(shown.moving());
        self.drawn.sensors = shown.sensors();
        self.note_gaps(foxglove::gaps(&shown));
        self.drawn.shown = Some(shown);
        self.make_layout();
        self.note_performers();
        self.make_whole(Content::is_of_models);
        self.publish_scene();
    }

    /// Makes the layout for Foxglove anew, once topics and scene are known.
    fn make_layout(&self) {
        let shown = self.drawn.shown.as_ref();
        if let Some(shown) = shown.filter(|_| self.state.knows_topics()) {
            let layout = foxglove::layout(&self.channels.offers(false), shown);
            self.drawn.assets.set_layout(Some(layout));
        }
    }

    /// Tells viewers all that is drawn once more: they forget it when time jumps.
    fn draw_anew(&mut self) {
        self.make_whole(|content| matches!(content, Content::SceneUpdate | Content::Transforms));
        self.publish_scene();
    }

    /// Has the next messages on some channels tell everything to everyone.
    fn make_whole(&mut self, is_meant: impl Fn(&Content) -> bool) {
        for (id, _) in self.channels.iter().filter(|(_, one)| is_meant(one)) {
            self.viewers.make_whole(id);
        }
    }

    /// Notes why something is not drawn, and tells what is new of that to who runs the server.
    fn note_gaps(&mut self, gaps: Vec<String>) {
        for gap in gaps.iter().filter(|gap| !self.drawn.gaps.contains(gap)) {
            self.details.warn(gap);
        }
        self.drawn.gaps = gaps;
    }

    /// Tells the source what is wanted of it, as far as it does not know.
    fn give_orders(&mut self) {
        let is_watching = !self.viewers.is_empty();
        if is_watching != self.orders.is_watching
            && self
                .orders
                .sender
                .try_send(Order::Watch(is_watching))
                .is_ok()
        {
            self.orders.is_watching = is_watching;
        }
        let wanted = self.viewers.wanted().into_iter();
        let topics = wanted.filter_map(|id| match self.channels.content(id)? {
            Content::Topic(topic, _) | Content::Typed(topic, _, _) | Content::Compressed(topic) => {
                Some(topic.clone())
            }
            Content::Poses | Content::Transforms => Some(link_frame::TOPIC.to_owned()),
            Content::Groups => Some(groups::TOPIC.to_owned()),
            Content::Scene | Content::Run | Content::Log | Content::SceneUpdate => None,
        });
        let topics: BTreeSet<String> = topics.collect();
        if (topics != self.orders.listens || self.orders.has_new_listener)
            && self
                .orders
                .sender
                .try_send(Order::Listen(topics.clone()))
                .is_ok()
        {
            (self.orders.listens, self.orders.has_new_listener) = (topics, false);
        }
    }
}

impl Session {
    fn text(&self) -> String {
        format!("{}-{}", self.server, self.run)
    }
}

impl Drawn {
    /// Takes over where links are.
    fn place_links(&mut self, frame: LinkFrame, time_ns: u64, iteration: u64) {
        self.link_names.extend(frame.names);
        for model in &frame.models {
            if let Some(name) = self.link_names.get(&model.performer) {
                self.poses.place_links(name, model.poses());
            }
        }
        (self.poses.time_ns, self.poses.iteration) = (time_ns, iteration);
    }
}

impl Content {
    /// Tells whether messages change with the models that there are.
    fn is_of_models(&self) -> bool {
        match self {
            Self::Scene | Self::Poses | Self::SceneUpdate | Self::Transforms => true,
            Self::Run
            | Self::Groups
            | Self::Log
            | Self::Topic(..)
            | Self::Typed(..)
            | Self::Compressed(_) => false,
        }
    }
}
