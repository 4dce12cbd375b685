//! [`ImageThread`]: a thread that encodes, compresses and sends images, so that nothing small waits
//! behind one.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use images::Compression;
use protocol::{Sequence, TopicMessage, counted};
use ros2::mapping::RosTopic;
use ros2_node::Publication;

use super::endpoints::{is_kept, note};
use super::image_queue::{ImageQueue, WaitingImage};
use crate::seldom::Seldom;

/// Topics of ROS 2 to which the images of a topic go.
pub(super) struct ImageTopic {
    /// As they are.
    pub(super) plain: Option<Outlet>,
    /// Compressed, with their topics in the run.
    pub(super) compressed: Vec<(String, Outlet)>,
}

/// A topic of ROS 2 with the right to publish on it.
pub(super) struct Outlet {
    pub(super) topic: RosTopic,
    pub(super) publication: Publication,
}

/// Thread that sends images.
pub(super) struct ImageThread {
    queue: Arc<ImageQueue<Arc<ImageTopic>>>,
    thread: Option<JoinHandle<()>>,
    /// True once there was an image.
    is_used: bool,
    crowded: Seldom,
    left_out: usize,
}

/// The thread's own.
#[derive(Default)]
struct Sending {
    unfit: Seldom,
    lost: Seldom,
}

impl Outlet {
    /// Tells whether it has readers, or may have some that want the last.
    pub(super) fn is_wanted(&self) -> bool {
        is_kept(&self.topic) || self.publication.reader_count() > 0
    }
}

impl ImageTopic {
    /// Tells whether anybody listens, or will and is to have the last.
    pub(super) fn is_wanted(&self) -> bool {
        self.outlets().any(Outlet::is_wanted)
    }

    /// Returns all topics to which they go.
    pub(super) fn outlets(&self) -> impl Iterator<Item = &Outlet> {
        let compressed = self.compressed.iter().map(|(_, outlet)| outlet);
        self.plain.iter().chain(compressed)
    }
}

impl ImageThread {
    /// Starts the thread; images become of this form for those who want them compressed.
    ///
    /// # Errors
    /// Fails if the system has no thread left.
    pub(super) fn start(form: Compression) -> io::Result<Self> {
        let queue = Arc::new(ImageQueue::default());
        let taken = Arc::clone(&queue);
        let run = move || {
            let mut sending = Sending::default();
            while let Some(image) = taken.take() {
                sending.send(&image, form);
            }
        };
        let thread = std::thread::Builder::new()
            .name("ros2-images".to_owned())
            .spawn(run)?;
        Ok(Self {
            queue,
            thread: Some(thread),
            is_used: false,
            crowded: Seldom::default(),
            left_out: 0,
        })
    }

    /// Has an image sent; older ones of its topic are left out if too much waits.
    pub(super) fn send(
        &mut self,
        to: Arc<ImageTopic>,
        message: TopicMessage,
        step: Option<Sequence>,
    ) {
        self.is_used = true;
        let topic = message.topic.clone();
        let image = WaitingImage { to, message, step };
        let left_out = self.queue.push(image);
        self.left_out += left_out;
        for _ in 0..left_out {
            self.crowded.warn(&format!(
                "an image of {topic} or one like it is left out for ROS 2, since images come \
                 faster than they are encoded: fewer or smaller images help"
            ));
        }
    }

    /// Returns the last step of which all images have left if all until `now` were handed over;
    /// none while there was never any.
    pub(super) fn left(&self, now: Sequence) -> Option<Sequence> {
        self.is_used.then(|| match self.queue.first_step() {
            Some(first) => Sequence(first.0.saturating_sub(1)).min(now),
            None => now,
        })
    }

    /// Waits until all are sent, for this time at most, and tells how many were left out.
    pub(super) fn finish(&mut self, timeout: Duration) {
        self.left_out += self.queue.end(timeout);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
            if self.left_out > 0 {
                tracing::warn!("left out for ROS 2: {}", counted(self.left_out, "image"));
            }
        }
    }
}

impl Drop for ImageThread {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

impl Sending {
    /// Sends an image in all forms that are wanted.
    fn send(&mut self, image: &WaitingImage<Arc<ImageTopic>>, form: Compression) {
        if let Some(outlet) = image.to.plain.as_ref().filter(|one| one.is_wanted()) {
            let message = &image.message;
            let encoded = ros2::encode(&message.kind, &message.body, outlet.topic.type_name);
            self.publish(outlet, message, encoded.map_err(Into::into));
        }
        let compressed = &image.to.compressed;
        if !compressed.iter().any(|(_, outlet)| outlet.is_wanted()) {
            return;
        }
        match images::topic_of(&image.message) {
            Ok(topic) => {
                let mut wanted = compressed.iter().filter(|(name, _)| *name == topic);
                if let Some((_, outlet)) = wanted.find(|(_, outlet)| outlet.is_wanted()) {
                    let encoded = compress(&image.message, form, outlet);
                    self.publish(outlet, &image.message, encoded);
                }
            }
            Err(error) => self
                .unfit
                .warn(&format!("{}: {error}", image.message.topic)),
        }
    }

    fn publish(
        &mut self,
        outlet: &Outlet,
        message: &TopicMessage,
        encoded: anyhow::Result<Vec<u8>>,
    ) {
        match encoded {
            Ok(cdr) => {
                let published = outlet.publication.publish(cdr);
                note(published, &outlet.topic.name, &mut self.lost);
            }
            Err(error) => self.unfit.warn(&format!("{}: {error:#}", message.topic)),
        }
    }
}

/// Compresses an image, and encodes it.
fn compress(message: &TopicMessage, form: Compression, to: &Outlet) -> anyhow::Result<Vec<u8>> {
    let image = images::compressed(message, form)?;
    Ok(ros2::encode(&image.kind, &image.body, to.topic.type_name)?)
}
