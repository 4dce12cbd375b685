//! [`RelayDriver`]: a process that passes messages on between a primary and the secondaries of its
//! machine, until the run is over.
//!
//! All that is passed on is the business of [`transport::zeromq::Relay`]; here is when it begins
//! and ends. It has no part in the rules: a primary that is gone is the end of it, as it is of the
//! secondaries behind it, and a new run has new ones.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use protocol::exit::Outcome;
use protocol::{Chain, PrimaryToSecondary, StopReason, counted, decode};
use transport::zeromq::{BindError, Relay, RelayError, RelayEvent};
use transport::{Denial, Waker};

/// Interval at which it reports what it turned away, and looks for the end of its time.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A relay at work.
pub struct RelayDriver {
    relay: Relay,
    /// Time for which it looks for the primary.
    peer_timeout: Duration,
    stops: (Sender<String>, Receiver<String>),
}

impl RelayDriver {
    /// Makes a driver of a relay.
    pub fn new(relay: Relay, peer_timeout: Duration) -> Self {
        Self {
            relay,
            peer_timeout,
            stops: mpsc::channel(),
        }
    }

    /// Returns a function that asks it to end, and says why.
    pub fn stopper(&self) -> impl Fn(String) + Clone + Send + Sync + 'static {
        let (sender, waker): (_, std::sync::Arc<dyn Waker>) =
            (self.stops.0.clone(), self.relay.waker());
        move |why| {
            if sender.send(why).is_ok() {
                waker.wake();
            }
        }
    }

    /// Passes on until the run is over; returns why it is.
    pub fn run(mut self) -> StopReason {
        let reason = self.work();
        if let Err(error) = self.relay.finish() {
            tracing::debug!("the last messages are not passed on: {}", Chain(&error));
        }
        reason
    }

    fn work(&mut self) -> StopReason {
        let started = Instant::now();
        let mut is_welcome = false;
        let mut stop = None;
        loop {
            let event = match self.relay.receive(Some(LOOK_INTERVAL)) {
                Ok(event) => event,
                Err(error) => return failed(&error),
            };
            if let Some(refusals) = self.relay.take_refusals() {
                tracing::warn!("refused: {}", refusals.details);
            }
            match event {
                Some(RelayEvent::Welcomed(endpoints)) => {
                    is_welcome = true;
                    tracing::info!("welcome; secondaries reach the primary at {endpoints}");
                }
                Some(RelayEvent::Refused(why)) => {
                    return StopReason::new(Outcome::ConfigurationError, why);
                }
                Some(RelayEvent::Session(payload)) => stop = stop_reason(&payload).or(stop),
                Some(RelayEvent::Secondaries(count)) => {
                    tracing::info!("connected now: {}", counted(count, "secondary"));
                }
                Some(RelayEvent::Lost) if is_welcome => {
                    let gone = || "the primary is gone: its connection closed".to_owned();
                    return stop.unwrap_or_else(|| StopReason::new(Outcome::PeerLost, gone()));
                }
                Some(RelayEvent::Silent(silence)) => {
                    let seconds = silence.as_secs_f64();
                    let how = format!("the primary fell silent: no heartbeat for {seconds:.1} s");
                    return stop.unwrap_or_else(|| StopReason::new(Outcome::PeerLost, how));
                }
                Some(RelayEvent::Denied(denial)) if !is_welcome && denial.is_final() => {
                    return denied(denial);
                }
                Some(RelayEvent::Denied(denial)) => tracing::warn!("{denial}"),
                Some(RelayEvent::Woken) => {
                    if let Ok(why) = self.stops.1.try_recv() {
                        return StopReason::new(Outcome::Interrupted, format!("ended by {why}"));
                    }
                }
                Some(RelayEvent::Lost) | None => {}
            }
            if !is_welcome && started.elapsed() >= self.peer_timeout {
                let seconds = self.peer_timeout.as_secs_f64();
                let why = format!(
                    "no primary welcomed this relay at {} within {seconds} s: is one of this \
                     version of the program there?",
                    self.relay.primary()
                );
                return StopReason::new(Outcome::TimedOut, why);
            }
        }
    }
}

/// Returns why the run ends, if a message on `/session` says so.
fn stop_reason(payload: &[u8]) -> Option<StopReason> {
    match decode::<PrimaryToSecondary>(payload).ok()?.body {
        PrimaryToSecondary::Stop(reason) => Some(reason),
        _ => None,
    }
}

fn denied(denial: Denial) -> StopReason {
    StopReason::new(Outcome::ConfigurationError, denial.to_string())
}

fn failed(error: &RelayError) -> StopReason {
    let chain = Chain(error);
    match error {
        RelayError::Bind(BindError::InUse { .. }) => StopReason::new(
            Outcome::ConfigurationError,
            format!(
                "{chain}: if that is another relay of this name, choose another one with --name, \
                 else another address with --bind"
            ),
        ),
        RelayError::Bind(_) => StopReason::new(Outcome::ConfigurationError, chain.to_string()),
        RelayError::Link(_) => StopReason::new(Outcome::Failed, chain.to_string()),
    }
}
