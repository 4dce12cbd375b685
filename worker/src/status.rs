//! The status publisher: a thread of its own that encodes and publishes what observers see, and
//! beats for the primary. It never holds a step back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use protocol::primary_to_observers::HeartbeatRelay;
use protocol::{Envelope, PeerName, PrimaryToObservers, ProtocolVersion, SessionId, encode};
use transport::Publisher;

/// How many messages may wait to be published; more are lost, as for any slow observer.
const QUEUE_MAX: usize = 4096;

/// Publishes to observers; everything handed over is published before it is dropped.
pub struct StatusThread {
    sender: Option<SyncSender<PrimaryToObservers>>,
    lost: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StatusThread {
    /// Starts to publish and to beat every `heartbeat_interval`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        publisher: impl Publisher + 'static,
        session: SessionId,
        heartbeat_interval: Duration,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(QUEUE_MAX);
        let worker = StatusWorker {
            publisher,
            session,
            receiver,
            beats: 0,
        };
        let thread = thread::Builder::new()
            .name("status".to_owned())
            .spawn(move || worker.run(heartbeat_interval))?;
        let lost = Arc::new(AtomicBool::new(false));
        Ok(Self {
            sender: Some(sender),
            lost,
            thread: Some(thread),
        })
    }

    /// Hands a message over to be published; never waits.
    pub fn observe(&self, message: PrimaryToObservers) {
        let Some(sender) = &self.sender else { return };
        if let Err(TrySendError::Full(_)) = sender.try_send(message)
            && !self.lost.swap(true, Ordering::Relaxed)
        {
            tracing::warn!("observers lose messages: {QUEUE_MAX} wait to be published");
        }
    }
}

impl Drop for StatusThread {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the status thread panicked");
        }
    }
}

struct StatusWorker<P> {
    publisher: P,
    session: SessionId,
    receiver: Receiver<PrimaryToObservers>,
    beats: u64,
}

impl<P: Publisher> StatusWorker<P> {
    fn run(mut self, heartbeat_interval: Duration) {
        let mut next_beat = Instant::now();
        loop {
            let now = Instant::now();
            if now >= next_beat {
                self.beats += 1;
                let relay = HeartbeatRelay {
                    name: PeerName::primary(),
                    count: self.beats,
                };
                self.publish(PrimaryToObservers::Heartbeat(relay));
                next_beat = now + heartbeat_interval;
            }
            match self
                .receiver
                .recv_timeout(next_beat.saturating_duration_since(now))
            {
                Ok(message) => self.publish(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn publish(&mut self, body: PrimaryToObservers) {
        let topic = body.topic();
        let bytes = encode(&Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.session,
            sender: PeerName::primary(),
            body,
        });
        if let Err(error) = self.publisher.publish(topic, &bytes) {
            tracing::debug!(topic, "status not published: {error}");
        }
    }
}
