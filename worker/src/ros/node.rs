//! [`RosNode`]: the thread that has a secondary's node of ROS 2.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use protocol::{RosMessage, RosSettings};
use ros2_node::{Domain, OnArrival, Participant};

use super::endpoints::Endpoints;
use super::{OnMessages, RosError, RosNews, mapping};

/// Number of pieces of news that may wait; then the stepper waits for the node.
const NEWS_MAX: usize = 1024;

/// Number of messages of nodes that a secondary remembers while another speaks for the run.
const REMEMBERED_MAX: usize = 4096;
/// Time for which it does: longer than it takes to notice a loss and to recover from it.
const REMEMBERED_FOR: Duration = Duration::from_mins(1);

/// Time for which readers may still acknowledge the last messages when a run ends.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A secondary's node of ROS 2, which leaves when it is dropped.
pub struct RosNode {
    sender: Option<SyncSender<Event>>,
    thread: Option<JoinHandle<()>>,
}

enum Event {
    News(Vec<RosNews>),
    Arrived,
}

/// Tells the thread of arrivals, once until it looks.
struct Bell {
    rings: AtomicBool,
    sender: SyncSender<Event>,
}

impl OnArrival for Bell {
    fn on_arrival(&self) {
        if !self.rings.swap(true, Ordering::AcqRel) {
            // A thread that is busy looks when it is done with what waits.
            drop(self.sender.try_send(Event::Arrived));
        }
    }
}

impl RosNode {
    /// Joins the domain as the node of a secondary by its name; messages of other nodes go to
    /// `on_messages`.
    ///
    /// # Errors
    /// Fails if the settings are wrong or the domain cannot be joined.
    pub fn start(
        settings: &RosSettings,
        name: &str,
        on_messages: OnMessages,
    ) -> Result<Self, RosError> {
        let mapping = mapping(settings)?;
        let (sender, events) = mpsc::sync_channel(NEWS_MAX);
        let bell = Arc::new(Bell {
            rings: AtomicBool::new(false),
            sender: sender.clone(),
        });
        let domain = Domain {
            id: settings.domain,
            is_local: settings.localhost_only,
        };
        let node_name = format!("/phalanx/{}", ros2::names::valid(name).trim_matches('/'));
        let ears: Arc<dyn OnArrival> = bell.clone();
        let participant = Participant::join(&domain, &node_name, ears);
        let participant = participant.map_err(|error| RosError::Join(error.to_string()))?;
        tracing::info!("{node_name} is in domain {} of ROS 2", settings.domain);
        let node = Node {
            endpoints: Endpoints::new(participant, mapping, settings.jpeg_quality, name),
            bell,
            on_messages,
            speaks: false,
            remembered: VecDeque::new(),
        };
        let thread = std::thread::Builder::new()
            .name("ros2".to_owned())
            .spawn(move || node.run(&events))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    /// Hands news over; waits while too much does.
    pub fn tell(&self, news: Vec<RosNews>) {
        if let Some(sender) = &self.sender
            && !news.is_empty()
        {
            drop(sender.send(Event::News(news)));
        }
    }
}

impl Drop for RosNode {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            // The bell keeps the channel open.
            drop(sender.send(Event::News(Vec::new())));
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The thread's own.
struct Node {
    endpoints: Endpoints,
    bell: Arc<Bell>,
    on_messages: OnMessages,
    /// True if the secondary speaks for the run.
    speaks: bool,
    /// The last messages of nodes that another secondary should have passed on.
    remembered: VecDeque<(Instant, RosMessage)>,
}

impl Node {
    fn run(mut self, events: &Receiver<Event>) {
        while let Ok(event) = events.recv() {
            match event {
                Event::News(news) if news.is_empty() => return self.endpoints.finish(LAST_WORDS),
                Event::News(news) => news.into_iter().for_each(|one| self.on_news(one)),
                Event::Arrived => {}
            }
            if self.bell.rings.swap(false, Ordering::AcqRel) {
                self.on_arrivals();
            }
        }
    }

    fn on_news(&mut self, news: RosNews) {
        match news {
            RosNews::Topics(uses, robots) => self.endpoints.follow(&uses, robots),
            RosNews::Step(step) if step.was_answered() => self.endpoints.publish(&step),
            RosNews::Step(step) => {
                let begins = step.speaks && !self.speaks;
                self.speaks = step.speaks;
                if begins {
                    self.pass_on_remembered();
                }
                self.endpoints.publish(&step);
            }
        }
    }

    fn on_arrivals(&mut self) {
        let messages = self.endpoints.take();
        if messages.is_empty() {
            return;
        }
        if self.speaks {
            return (self.on_messages)(messages);
        }
        let now = Instant::now();
        self.remembered
            .extend(messages.into_iter().map(|message| (now, message)));
        self.forget_old(now);
    }

    /// Passes on what the secondary that spoke so far may not have: the primary knows what it has.
    fn pass_on_remembered(&mut self) {
        self.forget_old(Instant::now());
        let remembered = self.remembered.drain(..).map(|(_, message)| message);
        let messages: Vec<RosMessage> = remembered.collect();
        if !messages.is_empty() {
            (self.on_messages)(messages);
        }
    }

    fn forget_old(&mut self, now: Instant) {
        while let Some((at, _)) = self.remembered.front()
            && (self.remembered.len() > REMEMBERED_MAX || now - *at > REMEMBERED_FOR)
        {
            self.remembered.pop_front();
        }
    }
}
