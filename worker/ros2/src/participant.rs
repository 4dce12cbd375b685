//! [`Participant`]: this process in a domain of DDS, as one node of ROS 2.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::time::Instant;

use rustdds::dds::statusevents::DataWriterStatus;
use rustdds::dds::{CreateError, WriteError};
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::policy::{Durability, History, ResourceLimits};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, Duration, Publisher, QosPolicies,
    QosPolicyBuilder, RTPSEntity, StatusEvented, Subscriber, TopicDescription, TopicKind,
};

use crate::graph::{self, NodeEntities, NodeName};
use crate::names::{self, NameError};
use crate::payload::{Payload, Raw};

/// The largest number of a domain whose ports exist.
pub const DOMAIN_MAX: u16 = 232;

/// Number of messages of one topic that may wait for a reliable reader to acknowledge them.
const WINDOW: i32 = 4096;

/// Number of bytes of one topic that may wait so, unless a single message has more \[bytes\].
const WINDOW_BYTES: usize = 128 << 20;

/// Time in which a reader that is behind has to acknowledge all, once that many wait.
const CATCH_UP_TIME: std::time::Duration = std::time::Duration::from_millis(100);

/// Number of endpoints that are made at once; `rustdds` silently announces none beyond 500 that
/// its discovery has not got to yet.
const BURST: usize = 100;

/// Number of changes that `rustdds` keeps for a writer until they are taken.
const STATUSES_MAX: usize = 4;

/// Time that its discovery takes for so many, with much to spare.
const BURST_TIME: std::time::Duration = std::time::Duration::from_millis(50);

/// A domain, whose participants alone meet each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Its number, as in `ROS_DOMAIN_ID`.
    pub id: u16,
    /// True if participants of this machine alone meet there, as with `ROS_LOCALHOST_ONLY`.
    pub is_local: bool,
}

/// Quality of service of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// True if what is lost on the way is sent again.
    pub is_reliable: bool,
    /// True if readers that come later get the last messages.
    pub is_kept: bool,
    /// Number of messages that are kept.
    pub depth: u32,
}

/// A topic of ROS 2.
#[derive(Clone, Copy, Debug)]
pub struct Topic<'a> {
    /// Its name: `/model/robot/odometry`.
    pub name: &'a str,
    /// Type of its messages: `nav_msgs/msg/Odometry`.
    pub type_name: &'a str,
    /// Quality of service.
    pub quality: Quality,
}

/// Reason why a process cannot take part.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// No domain has this number.
    #[error("ROS 2 has no domain {0}: domains are numbered 0 to {DOMAIN_MAX}")]
    Domain(u16),
    /// The node cannot be named so.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The network does not allow it.
    #[error("cannot take part in domain {domain} of ROS 2: {source}")]
    Network {
        /// The domain.
        domain: u16,
        /// The cause.
        source: Box<CreateError>,
    },
}

/// Reason why a topic has no publisher or subscription.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A topic or its type cannot be named so.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The middleware refuses.
    #[error("{topic} cannot be made known to ROS 2: {source}")]
    Refused {
        /// The topic.
        topic: String,
        /// The cause.
        source: Box<CreateError>,
    },
}

/// Reason why a message is not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The bytes are in another encoding.
    #[error("message is not in plain little-endian CDR")]
    Encoding,
    /// A reliable reader acknowledges nothing.
    #[error(
        "a reader has not acknowledged the last {WINDOW} messages, or {} MiB of them",
        WINDOW_BYTES >> 20
    )]
    Full,
    /// The middleware has stopped.
    #[error("middleware has stopped")]
    Broken,
}

/// Something that is told when a message arrives. It is told by threads of the middleware.
pub trait OnArrival: Send + Sync {
    /// Notes that a subscription has something to receive.
    fn on_arrival(&self);
}

struct Arrivals(Arc<dyn OnArrival>);

impl Wake for Arrivals {
    fn wake(self: Arc<Self>) {
        self.0.on_arrival();
    }
}

/// This process as one node of ROS 2. Dropping it leaves the domain.
pub struct Participant {
    name: NodeName,
    entities: NodeEntities,
    is_announced: bool,
    announcer: DataWriter<Payload, Raw>,
    publisher: Publisher,
    subscriber: Subscriber,
    waker: Waker,
    /// Number of endpoints of the burst under way, and when it began.
    burst: (usize, Instant),
    // The last to go: endpoints refer to it.
    domain: DomainParticipant,
}

/// The right to publish on a topic, which ends with it.
pub struct Publication {
    writer: DataWriter<Payload, Raw>,
    /// Name of the topic in DDS.
    topic: String,
    publisher: Publisher,
    /// Readers, as far as the middleware has told of them.
    readers: Mutex<Readers>,
    unacknowledged: Mutex<Unacknowledged>,
}

/// Number of readers of a topic.
#[derive(Debug, Default)]
struct Readers {
    all: usize,
    /// Those of this process, of which the middleware tells by chance.
    own: usize,
    /// True if it may have told of some while nobody took that.
    misses_some: bool,
}

/// Messages that reliable readers have not acknowledged.
#[derive(Debug, Default)]
struct Unacknowledged {
    /// Bytes that were published since they had all.
    bytes: usize,
    /// True if a reader was waited for in vain since.
    is_stuck: bool,
}

/// Messages of others on a topic, until it is dropped.
pub struct Subscription {
    reader: SimpleDataReader<Payload, Raw>,
    waker: Waker,
}

/// A message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Global number of the writer.
    pub writer: [u8; 16],
    /// Number of the message among those of its writer, which grows.
    pub number: i64,
    /// The message, in CDR with its header.
    pub cdr: Vec<u8>,
}

impl Participant {
    /// Joins a domain as the node `name`, such as `/phalanx/s1`; `arrivals` is told of messages.
    ///
    /// # Errors
    /// Fails if there is no such domain, the name is none, or no socket can be opened.
    pub fn join(
        domain: &Domain,
        name: &str,
        arrivals: Arc<dyn OnArrival>,
    ) -> Result<Self, JoinError> {
        if domain.id > DOMAIN_MAX {
            return Err(JoinError::Domain(domain.id));
        }
        let name = NodeName::parse(name)?;
        let failed = |source| JoinError::Network {
            domain: domain.id,
            source: Box::new(source),
        };
        let mut builder = DomainParticipantBuilder::new(domain.id);
        if domain.is_local {
            builder = builder.with_only_networks([IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        }
        let participant = builder.build().map_err(failed)?;
        let qos = QosPolicies::builder().build();
        let publisher = participant.create_publisher(&qos).map_err(failed)?;
        let subscriber = participant.create_subscriber(&qos).map_err(failed)?;
        let kept = quality_of_graph();
        let topic = participant.create_topic(
            graph::TOPIC.to_owned(),
            graph::TYPE.to_owned(),
            &kept,
            TopicKind::NoKey,
        );
        let topic = topic.map_err(failed)?;
        let announcer = publisher.create_datawriter_no_key(&topic, None);
        Ok(Self {
            name,
            entities: NodeEntities::default(),
            is_announced: false,
            announcer: announcer.map_err(failed)?,
            publisher,
            subscriber,
            waker: Waker::from(Arc::new(Arrivals(arrivals))),
            burst: (0, Instant::now()),
            domain: participant,
        })
    }

    /// Makes a publisher of a topic. Readers hear of it within some tenths of a second.
    ///
    /// # Errors
    /// Fails if the topic cannot be named so, or the middleware has stopped.
    pub fn advertise(&mut self, topic: &Topic<'_>) -> Result<Publication, EndpointError> {
        let (dds, qos) = self.topic(topic)?;
        let writer = self.publisher.create_datawriter_no_key(&dds, Some(qos));
        let writer: DataWriter<Payload, Raw> = writer.map_err(|error| refused(topic, error))?;
        self.entities.writers.push(writer.guid().to_bytes());
        self.is_announced = false;
        Ok(Publication {
            writer,
            topic: dds.name(),
            publisher: self.publisher.clone(),
            readers: Mutex::default(),
            unacknowledged: Mutex::default(),
        })
    }

    /// Makes a subscription to a topic.
    ///
    /// # Errors
    /// Fails if the topic cannot be named so, or the middleware has stopped.
    pub fn subscribe(&mut self, topic: &Topic<'_>) -> Result<Subscription, EndpointError> {
        let subscription = self.subscribe_quietly(topic)?;
        let waker = Some(subscription.waker.clone());
        subscription.reader.set_waker(waker);
        Ok(subscription)
    }

    /// Makes a subscription to a topic whose messages nobody is told of: they wait to be taken.
    ///
    /// # Errors
    /// Fails if the topic cannot be named so, or the middleware has stopped.
    pub fn subscribe_quietly(&mut self, topic: &Topic<'_>) -> Result<Subscription, EndpointError> {
        let (dds, qos) = self.topic(topic)?;
        let subscriber = &self.subscriber;
        let reader = subscriber.create_simple_datareader_no_key(&dds, Some(qos));
        let reader: SimpleDataReader<Payload, Raw> =
            reader.map_err(|error| refused(topic, error))?;
        self.entities.readers.push(reader.guid().to_bytes());
        self.is_announced = false;
        let waker = self.waker.clone();
        Ok(Subscription { reader, waker })
    }

    /// Forgets a publisher, which no longer counts among those of the node.
    pub fn withdraw(&mut self, publication: &Publication) {
        let guid = publication.writer.guid().to_bytes();
        self.entities.writers.retain(|writer| *writer != guid);
        self.is_announced = false;
    }

    /// Forgets a subscription, which no longer counts among those of the node.
    pub fn unsubscribe(&mut self, subscription: Subscription) {
        let guid = subscription.reader.guid().to_bytes();
        drop(subscription);
        self.entities.readers.retain(|reader| *reader != guid);
        self.is_announced = false;
    }

    /// Tells others which publishers and subscriptions are those of this node, if that changed.
    ///
    /// # Errors
    /// Fails if the middleware has stopped.
    pub fn announce(&mut self) -> Result<(), PublishError> {
        if self.is_announced {
            return Ok(());
        }
        let guid = self.domain.guid().to_bytes();
        let message = graph::message(&guid, &self.name, &self.entities);
        write(&self.announcer, message)?;
        self.is_announced = true;
        Ok(())
    }

    /// Tells on how many topics others subscribe or publish that this node knows of.
    pub fn counts(&self) -> (usize, usize) {
        let readers = self.domain.discovered_readers().len();
        (readers, self.domain.discovered_writers().len())
    }

    /// Makes a writer of a topic by its names in DDS.
    pub(crate) fn raw_writer(
        &mut self,
        name: &str,
        type_name: &str,
        quality: Quality,
    ) -> Result<DataWriter<Payload, Raw>, CreateError> {
        self.pace();
        let qos = qos_of(quality);
        let topic = self.domain.create_topic(
            name.to_owned(),
            type_name.to_owned(),
            &qos,
            TopicKind::NoKey,
        )?;
        let writer: DataWriter<Payload, Raw> =
            self.publisher.create_datawriter_no_key(&topic, Some(qos))?;
        self.entities.writers.push(writer.guid().to_bytes());
        self.is_announced = false;
        Ok(writer)
    }

    /// Makes a reader of a topic by its names in DDS.
    pub(crate) fn raw_reader(
        &mut self,
        name: &str,
        type_name: &str,
        quality: Quality,
    ) -> Result<SimpleDataReader<Payload, Raw>, CreateError> {
        self.pace();
        let qos = qos_of(quality);
        let topic = self.domain.create_topic(
            name.to_owned(),
            type_name.to_owned(),
            &qos,
            TopicKind::NoKey,
        )?;
        let reader: SimpleDataReader<Payload, Raw> = self
            .subscriber
            .create_simple_datareader_no_key(&topic, Some(qos))?;
        reader.set_waker(Some(self.waker.clone()));
        self.entities.readers.push(reader.guid().to_bytes());
        self.is_announced = false;
        Ok(reader)
    }

    /// Returns who is told of arrivals.
    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn topic(&mut self, topic: &Topic<'_>) -> Result<(rustdds::Topic, QosPolicies), EndpointError> {
        let name = names::topic(topic.name)?;
        let type_name = names::message_type(topic.type_name)?;
        self.pace();
        let qos = qos_of(topic.quality);
        let made = self
            .domain
            .create_topic(name, type_name, &qos, TopicKind::NoKey);
        Ok((made.map_err(|error| refused(topic, error))?, qos))
    }

    /// Gives discovery time for the endpoints that were made.
    fn pace(&mut self) {
        let (count, since) = self.burst;
        if count < BURST {
            self.burst.0 += 1;
            return;
        }
        let left = BURST_TIME.saturating_sub(since.elapsed());
        std::thread::sleep(left);
        self.burst = (0, Instant::now());
    }
}

impl Publication {
    /// Publishes a message: plain little-endian CDR with its header. Waits for 100 ms at most, and
    /// only for a reliable reader that acknowledges nothing, once.
    ///
    /// # Errors
    /// Fails if the bytes are in another encoding, a reliable reader acknowledges nothing any more,
    /// or the middleware has stopped; then nobody receives it.
    pub fn publish(&self, cdr: Vec<u8>) -> Result<(), PublishError> {
        let mut waiting = self
            .unacknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let size = cdr.len();
        let is_over = |waiting: &Unacknowledged| {
            waiting.bytes > 0 && waiting.bytes.saturating_add(size) > WINDOW_BYTES
        };
        if waiting.bytes > 0 && self.wait_until_received(std::time::Duration::ZERO) {
            *waiting = Unacknowledged::default();
        }
        // One that is a message behind at each of these moments is sound all the same.
        if is_over(&waiting) && !waiting.is_stuck {
            if self.wait_until_received(CATCH_UP_TIME) {
                *waiting = Unacknowledged::default();
            } else {
                waiting.is_stuck = true;
            }
        }
        if is_over(&waiting) {
            return Err(PublishError::Full);
        }
        write(&self.writer, cdr)?;
        waiting.bytes += size;
        Ok(())
    }

    /// Returns the number of readers of other processes that are known.
    pub fn reader_count(&self) -> usize {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = 0;
        while let Some(status) = self.writer.try_recv_status() {
            told += 1;
            if let DataWriterStatus::PublicationMatched {
                current, reader, ..
            } = status
            {
                readers.all = usize::try_from(current.count()).unwrap_or_default();
                let is_own = reader.prefix == self.writer.guid().prefix;
                readers.own += usize::from(is_own && current.count_change() > 0);
            }
        }
        // The middleware drops changes that do not fit, among them perhaps one of its own.
        readers.misses_some |= told >= STATUSES_MAX;
        if readers.misses_some && told > 0 {
            readers.all = readers.own + self.discovered_reader_count();
        }
        readers.all.saturating_sub(readers.own)
    }

    /// Counts the readers of the topic that other processes have announced, also those whose
    /// quality of service does not fit.
    fn discovered_reader_count(&self) -> usize {
        let participant = self.publisher.participant();
        let readers = participant.map(|participant| participant.discovered_readers());
        let readers = readers.iter().flatten();
        let on_topic =
            readers.filter(|one| *one.subscription_topic_data.topic_name() == self.topic);
        on_topic.count()
    }

    /// Waits until all reliable readers have acknowledged what was published; tells whether they
    /// did so in that time.
    pub fn wait_until_received(&self, timeout: std::time::Duration) -> bool {
        matches!(self.writer.wait_for_acknowledgments(timeout), Ok(true))
    }
}

impl Subscription {
    /// Takes the next message that has arrived. Bytes that cannot be read are skipped.
    pub fn take(&self) -> Option<Sample> {
        loop {
            match self.reader.try_take_one() {
                Ok(Some(change)) => {
                    return Some(Sample {
                        writer: change.writer_guid.to_bytes(),
                        number: change.sequence_number.into(),
                        cdr: change.into_value().into_bytes(),
                    });
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!("a message of ROS 2 is skipped: {error}");
                    if matches!(error, rustdds::dds::ReadError::Poisoned { .. }) {
                        return None;
                    }
                }
            }
        }
    }

    /// Has arrivals told again; to be called before what is here is taken.
    pub fn listen(&self) {
        self.reader.drain_read_notifications();
        self.reader.set_waker(Some(self.waker.clone()));
    }
}

fn write(writer: &DataWriter<Payload, Raw>, cdr: Vec<u8>) -> Result<(), PublishError> {
    let payload = Payload::new(cdr).ok_or(PublishError::Encoding)?;
    match writer.write(payload, None) {
        Ok(()) => Ok(()),
        Err(WriteError::WouldBlock { .. }) => Err(PublishError::Full),
        Err(_) => Err(PublishError::Broken),
    }
}

fn refused(topic: &Topic<'_>, source: CreateError) -> EndpointError {
    EndpointError::Refused {
        topic: topic.name.to_owned(),
        source: Box::new(source),
    }
}

fn qos_of(quality: Quality) -> QosPolicies {
    let depth = i32::try_from(quality.depth).map_or(WINDOW, |depth| depth.clamp(1, WINDOW));
    let durability = if quality.is_kept {
        Durability::TransientLocal
    } else {
        Durability::Volatile
    };
    let builder = QosPolicyBuilder::new()
        .durability(durability)
        .history(History::KeepLast { depth })
        .resource_limits(ResourceLimits {
            max_samples: WINDOW,
            max_instances: 1,
            max_samples_per_instance: WINDOW,
        });
    if quality.is_reliable {
        builder.reliable(Duration::ZERO).build()
    } else {
        builder.best_effort().build()
    }
}

/// Returns the quality of service of the topic that nodes describe themselves on.
fn quality_of_graph() -> QosPolicies {
    qos_of(Quality {
        is_reliable: true,
        is_kept: true,
        depth: 1,
    })
}

#[cfg(test)]
mod tests;
