//! [`HeartbeatSender`]: the thread by which secondaries hear that the primary's process lives.
//!
//! It does nothing else and shares no socket with observers, so that nothing they do keeps it up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use protocol::primary_to_observers::{Announce, HeartbeatRelay};
use protocol::{Envelope, PeerName, PrimaryToObservers, ProtocolVersion, SessionId, encode};
use transport::zeromq::Beats;

/// The thread, which ends when this is dropped.
pub(super) struct HeartbeatSender {
    announcements: Option<Sender<Announce>>,
    thread: Option<JoinHandle<()>>,
}

impl HeartbeatSender {
    /// Starts to beat every `interval`; `has_begun` tells whether the run has begun.
    pub(super) fn start(
        beats: Beats,
        session: SessionId,
        interval: Duration,
        has_begun: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let (announcements, taken) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("beats".to_owned())
            .spawn(move || {
                let publish = |body: PrimaryToObservers| {
                    let topic = body.topic();
                    let bytes = encode(&Envelope {
                        version: ProtocolVersion::CURRENT,
                        session,
                        sender: PeerName::primary(),
                        body,
                    });
                    if let Err(error) = beats.publish(topic, &bytes) {
                        tracing::debug!(topic, "not told to secondaries: {error}");
                    }
                };
                for count in 1.. {
                    publish(PrimaryToObservers::Heartbeat(HeartbeatRelay {
                        name: PeerName::primary(),
                        count,
                        has_begun: has_begun.load(Ordering::Relaxed),
                    }));
                    match taken.recv_timeout(interval) {
                        Ok(announce) => publish(PrimaryToObservers::Announce(announce)),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            })?;
        Ok(Self {
            announcements: Some(announcements),
            thread: Some(thread),
        })
    }

    /// Has secondaries told that somebody came or went, or that the run ends.
    pub(super) fn announce(&self, announce: Announce) {
        if let Some(announcements) = &self.announcements {
            // It is gone only after a panic, which says so.
            let _ = announcements.send(announce);
        }
    }
}

impl Drop for HeartbeatSender {
    fn drop(&mut self) {
        self.announcements = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that beats panicked");
        }
    }
}
