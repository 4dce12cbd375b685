//! The secondary's heartbeat: a thread of its own, so that a long honest step is not a death.
//!
//! It beats on a `control` connection of its own, listens to `status` for the primary's beats and
//! for the end of the run, and tells the stepper when the primary falls silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cell_host::progress::SharedProgress;
use lockstep::SecondaryInput;
use protocol::primary_to_observers::{Announce, HeartbeatRelay};
use protocol::primary_to_secondary::{HeartbeatEcho, PrimaryToSecondary};
use protocol::secondary_to_primary::Heartbeat;
use protocol::{
    Envelope, PeerName, PrimaryToObservers, ProtocolVersion, SecondaryToPrimary, SessionId, decode,
    encode, topic,
};
use transport::{Arrival, Destination, Link, Waker};

use crate::clock::wall_clock_us;
use crate::identity;
use crate::machine;
use crate::secondary::InputSender;

/// Time for which what was learned of this machine is true enough.
const MACHINE_INTERVAL: Duration = Duration::from_secs(1);

/// The topics of `status` that a heartbeat listens to.
pub const TOPICS: [&str; 2] = [topic::ANNOUNCE, topic::HEARTBEAT];

/// Sender and timing of the heartbeats.
#[derive(Clone, Debug)]
pub struct HeartbeatSettings {
    /// The secondary.
    pub name: PeerName,
    /// Its session.
    pub session: SessionId,
    /// Time between beats.
    pub interval: Duration,
    /// Silence of the primary after which it counts as lost.
    pub timeout: Duration,
    /// Progress of the stepper.
    pub progress: SharedProgress,
}

/// A heartbeat; it ends when this is dropped.
pub struct HeartbeatThread {
    stop: Arc<AtomicBool>,
    waker: Arc<dyn Waker>,
    thread: Option<JoinHandle<()>>,
}

impl HeartbeatThread {
    /// Starts to beat on a link that is subscribed to [`TOPICS`] of `status`.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn start(
        link: impl Link + Send + 'static,
        settings: HeartbeatSettings,
        stepper: InputSender<SecondaryInput>,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let waker = link.waker();
        let heart = Heart {
            link,
            settings,
            stepper,
            stop: Arc::clone(&stop),
            beat: Heartbeat::default(),
            machine_seen_at: None,
            heard_at: Instant::now(),
        };
        let thread = thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(|| heart.run())?;
        Ok(Self {
            stop,
            waker,
            thread: Some(thread),
        })
    }
}

impl Drop for HeartbeatThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the heartbeat thread panicked");
        }
    }
}

struct Heart<L> {
    link: L,
    settings: HeartbeatSettings,
    stepper: InputSender<SecondaryInput>,
    stop: Arc<AtomicBool>,
    beat: Heartbeat,
    machine_seen_at: Option<Instant>,
    heard_at: Instant,
}

impl<L: Link> Heart<L> {
    fn run(mut self) {
        let mut next = Instant::now();
        let mut lost = false;
        while !self.stop.load(Ordering::Acquire) {
            let now = Instant::now();
            if now >= next {
                self.send();
                next = now + self.settings.interval;
            }
            match self.link.receive(Some(next.saturating_duration_since(now))) {
                Ok(Some(Arrival::Message { payload, topic, .. })) => {
                    self.on_message(&topic, &payload);
                    continue;
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!("the heartbeat's link broke: {error}");
                    return;
                }
            }
            // Only once nothing is left to read: after a stall of our own, the primary's beats
            // wait in the queue and must be counted first.
            if !lost && self.heard_at.elapsed() >= self.settings.timeout {
                lost = true;
                let seconds = self.heard_at.elapsed().as_secs_f64();
                let how = format!("the primary fell silent: no heartbeat for {seconds:.1} s");
                self.stepper.send(SecondaryInput::PrimaryLost(how));
            }
        }
    }

    fn send(&mut self) {
        self.beat.count += 1;
        self.beat.sent_at_us = wall_clock_us();
        self.beat.cpu_time_us = identity::cpu_time_us();
        self.beat.memory_bytes = identity::memory_bytes();
        self.look_at_machine();
        self.beat.work = self.settings.progress.get();
        let bytes = encode(&Envelope {
            version: ProtocolVersion::CURRENT,
            session: self.settings.session,
            sender: self.settings.name.clone(),
            body: SecondaryToPrimary::Heartbeat(self.beat.clone()),
        });
        if let Err(error) = self
            .link
            .send(Destination::Primary, topic::HEARTBEAT, &bytes)
        {
            tracing::debug!("heartbeat not sent: {error}");
        }
    }

    /// Learns the load of this machine, not with every beat.
    fn look_at_machine(&mut self) {
        let is_due = |seen: Instant| seen.elapsed() >= MACHINE_INTERVAL;
        if self.machine_seen_at.is_none_or(is_due) {
            self.beat.machine = machine::load();
            self.machine_seen_at = Some(Instant::now());
        }
    }

    /// Takes an echo of our own beat, or what the primary says to all observers.
    fn on_message(&mut self, topic: &[u8], payload: &[u8]) {
        if topic == topic::HEARTBEAT.as_bytes()
            && let Ok(envelope) = decode::<PrimaryToSecondary>(payload)
        {
            if envelope.session == self.settings.session
                && let PrimaryToSecondary::HeartbeatEcho(echo) = envelope.body
            {
                self.on_echo(&echo);
            }
            return;
        }
        match decode::<PrimaryToObservers>(payload) {
            Ok(envelope) if envelope.session == self.settings.session => {
                self.on_status(envelope.body);
            }
            Ok(_) => {}
            Err(error) => tracing::debug!("status message refused: {error}"),
        }
    }

    fn on_echo(&mut self, echo: &HeartbeatEcho) {
        self.heard_at = Instant::now();
        let round_trip = wall_clock_us().saturating_sub(echo.sent_at_us);
        self.beat.round_trip_us = Some(round_trip);
        let midway = echo.sent_at_us + round_trip / 2;
        self.beat.clock_offset_us = Some(
            echo.answered_at_us
                .cast_signed()
                .wrapping_sub(midway.cast_signed()),
        );
    }

    fn on_status(&mut self, message: PrimaryToObservers) {
        match message {
            PrimaryToObservers::Heartbeat(HeartbeatRelay { name, .. }) => {
                if name == PeerName::primary() {
                    self.heard_at = Instant::now();
                }
            }
            PrimaryToObservers::Announce(Announce::Stopping(reason)) => {
                self.stepper.send(SecondaryInput::PrimaryStops(reason));
            }
            PrimaryToObservers::Announce(Announce::Joined(_) | Announce::Left { .. })
            | PrimaryToObservers::Stats { .. }
            | PrimaryToObservers::Clock(_)
            | PrimaryToObservers::Affinity(_)
            | PrimaryToObservers::Poses(_)
            | PrimaryToObservers::Event(_) => {}
        }
    }
}
