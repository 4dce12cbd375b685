//! [`RosNode`]: the thread that has a secondary's node of ROS 2.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use protocol::{RosSettings, SessionId};
use ros2_node::{Domain, OnArrival, Participant};

use super::endpoints::Endpoints;
use super::readers::{Awaited, Readers};
use super::remembered::Remembered;
use super::{Hearers, OnMessages, RosError, RosNews, mapping};

/// Number of pieces of news that may wait; then the stepper waits for the node.
const NEWS_MAX: usize = 1024;
/// Number of bytes of messages that may wait with them, unless a single piece has more \[bytes\].
const NEWS_BYTES_MAX: usize = 256 << 20;

/// Time for which readers may still acknowledge the last messages when a run ends.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Time for which the last images may still be sent then.
const LAST_IMAGES: Duration = Duration::from_secs(5);

/// Time without news after which no step is done again any more, and messages are said again that
/// later readers are to get.
const SETTLED: Duration = Duration::from_millis(200);

/// Time between two looks for readers that are waited for.
const GLANCE: Duration = Duration::from_millis(20);

/// A secondary's node of ROS 2, which leaves when it is dropped.
pub struct RosNode {
    sender: Option<SyncSender<Event>>,
    room: Arc<Room>,
    thread: Option<JoinHandle<()>>,
}

/// Bytes of news that wait, and who waits for fewer.
struct Room {
    /// None once nobody takes news any more.
    taken: Mutex<Option<usize>>,
    changed: Condvar,
}

/// Closes a room when the thread ends, however it does.
struct Closing(Arc<Room>);

enum Event {
    News(Vec<RosNews>),
    Arrived,
    /// Some time has passed.
    Nothing,
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
    /// Joins the domain as the node of a run's secondary, by its name.
    ///
    /// # Errors
    /// Fails if the settings are wrong or the domain cannot be joined.
    pub fn start(
        settings: &RosSettings,
        (run, name): (SessionId, &str),
        hearers: Hearers,
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
            endpoints: Endpoints::new(participant, mapping, settings.jpeg_quality, (run, name))?,
            bell,
            on_messages: hearers.messages,
            speaks: false,
            remembered: Remembered::default(),
            readers: Readers::default(),
            awaited: Awaited::new(settings.awaited.as_ref(), hearers.readers),
        };
        let room = Arc::new(Room::new());
        let closing = Closing(Arc::clone(&room));
        let thread = std::thread::Builder::new()
            .name("ros2".to_owned())
            .spawn(move || node.run(&events, &closing.0))?;
        Ok(Self {
            sender: Some(sender),
            room,
            thread: Some(thread),
        })
    }

    /// Hands news over; waits while too much does.
    pub fn tell(&self, news: Vec<RosNews>) {
        if let Some(sender) = &self.sender
            && !news.is_empty()
        {
            self.room.take(size(&news));
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

impl Room {
    fn new() -> Self {
        Self {
            taken: Mutex::new(Some(0)),
            changed: Condvar::new(),
        }
    }

    /// Takes room for news; waits while there is none.
    fn take(&self, bytes: usize) {
        let is_full = |taken: &mut Option<usize>| {
            taken.is_some_and(|taken| taken > 0 && taken + bytes > NEWS_BYTES_MAX)
        };
        let waited = self.changed.wait_while(self.taken(), is_full);
        let mut taken = waited.unwrap_or_else(PoisonError::into_inner);
        *taken = taken.map(|taken| taken + bytes);
    }

    fn give_back(&self, bytes: usize) {
        let mut taken = self.taken();
        *taken = taken.map(|taken| taken.saturating_sub(bytes));
        self.changed.notify_all();
    }

    fn taken(&self) -> MutexGuard<'_, Option<usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        *self.0.taken() = None;
        self.0.changed.notify_all();
    }
}

/// Returns the room that news take \[bytes\].
fn size(news: &[RosNews]) -> usize {
    let messages = news.iter().map(|one| match one {
        RosNews::Topics(..) => [&[][..], &[]],
        RosNews::Kept(messages) => [&messages[..], &[]],
        RosNews::Step(step) => [&step.messages[..], &step.beyond_rate],
    });
    let messages = messages.flatten().flatten();
    messages.map(|message| message.body.len()).sum()
}

/// Returns the next event, none once there is no sender; one after this time if it is given.
fn next(events: &Receiver<Event>, timeout: Option<Duration>) -> Option<Event> {
    let Some(timeout) = timeout else {
        return events.recv().ok();
    };
    match events.recv_timeout(timeout) {
        Ok(event) => Some(event),
        Err(RecvTimeoutError::Timeout) => Some(Event::Nothing),
        Err(RecvTimeoutError::Disconnected) => None,
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
    remembered: Remembered,
    readers: Readers,
    awaited: Option<Awaited>,
}

impl Node {
    fn run(mut self, events: &Receiver<Event>, room: &Room) {
        let look = Readers::interval();
        let mut heard_at = Instant::now();
        while let Some(event) = next(events, self.timeout(look)) {
            match event {
                Event::News(news) if news.is_empty() => {
                    return self.endpoints.finish(LAST_IMAGES, LAST_WORDS);
                }
                Event::News(news) => {
                    heard_at = Instant::now();
                    let size = size(&news);
                    for one in news {
                        self.on_news(one);
                    }
                    room.give_back(size);
                }
                Event::Nothing if heard_at.elapsed() >= SETTLED && self.endpoints.owes_kept() => {
                    self.endpoints.say_kept();
                }
                Event::Arrived | Event::Nothing => {}
            }
            if look.is_some() {
                self.readers.tell(self.endpoints.publications());
            }
            if let Some(awaited) = &mut self.awaited
                && awaited.is_over(self.endpoints.publications(), Instant::now())
            {
                self.awaited = None;
            }
            if self.bell.rings.swap(false, Ordering::AcqRel) {
                self.on_arrivals();
            }
        }
    }

    /// Returns the time to wait for an event, where there is something to do without one.
    fn timeout(&self, look: Option<Duration>) -> Option<Duration> {
        let glance = self.awaited.as_ref().map(|_| GLANCE);
        let settles = self.endpoints.owes_kept().then_some(SETTLED);
        [look, glance, settles].into_iter().flatten().min()
    }

    fn on_news(&mut self, news: RosNews) {
        match news {
            RosNews::Topics(uses, robots) => self.endpoints.follow(&uses, robots),
            RosNews::Kept(messages) => self.endpoints.keep(messages),
            RosNews::Step(step) if step.was_answered() => self.endpoints.publish(step),
            RosNews::Step(step) => {
                let begins = step.speaks && !self.speaks;
                if self.speaks && !step.speaks && step.again.is_none() {
                    self.endpoints.forget_worlds();
                }
                self.speaks = step.speaks;
                if begins {
                    self.pass_on_remembered();
                }
                self.endpoints.publish(step);
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
        self.remembered.add(messages, Instant::now());
    }

    /// Passes on what the secondary that spoke so far may not have: the primary knows what it has.
    fn pass_on_remembered(&mut self) {
        for part in self.remembered.take(Instant::now()) {
            (self.on_messages)(part);
        }
    }
}

#[cfg(test)]
mod tests;
