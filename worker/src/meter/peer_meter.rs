//! [`PeerMeter`]: what was measured of one secondary.

use std::time::Duration;

use lockstep::PeerTiming;
use protocol::secondary_to_primary::Heartbeat;

use super::{SMOOTHING, micros, smooth};

/// Measures one secondary.
#[derive(Clone, Debug, Default)]
pub struct PeerMeter {
    /// Its physics per step, smoothed \[us\].
    pub physics_us: f64,
    /// Its systems per step, smoothed \[us\].
    pub systems_us: f64,
    /// Its sensors per step, smoothed \[us\].
    pub sensors_us: f64,
    /// From receiving a step to answering it, smoothed \[us\].
    pub busy_us: f64,
    /// Time to its answer without that, smoothed \[us\].
    pub network_us: f64,
    /// Time by which steps would have been shorter without it, smoothed \[us\].
    pub blocked_us: f64,
    /// Time per step that it waited for others, smoothed \[us\].
    pub wait_us: f64,
    /// The part of recent steps in which it answered last, 0 to 1.
    pub last_share: f64,
    /// Its processor use, 1.0 is one core.
    pub cpu: f64,
    /// The heartbeat that `cpu` was computed from.
    beat: Heartbeat,
    /// Number of the last step that waited for it.
    at: u64,
}

/// A step as a secondary's part in it is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    /// The last answer.
    pub(super) last: Duration,
    /// The last answer but one; alone, the last.
    pub(super) second_last: Duration,
    /// From the beginning of the step until it was on its way.
    pub(super) lag: Duration,
}

impl Race {
    /// Returns the race of these answers.
    pub(super) fn of(peers: &[PeerTiming], lag: Duration) -> Self {
        let (mut last, mut second_last) = (Duration::ZERO, None);
        for (index, peer) in peers.iter().enumerate() {
            let after = peer.answered_after;
            if index == 0 {
                last = after;
            } else if after > last {
                second_last = Some(std::mem::replace(&mut last, after));
            } else {
                second_last = second_last.max(Some(after));
            }
        }
        Self {
            last,
            second_last: second_last.unwrap_or(last),
            lag,
        }
    }
}

impl PeerMeter {
    /// Takes its part in a step of this number.
    pub(super) fn on_step(&mut self, timing: &PeerTiming, race: Race, at: u64) {
        if at > self.at + 1 {
            *self = self.with_step(at - 1);
        }
        self.at = at;
        smooth(&mut self.physics_us, micros(timing.physics));
        smooth(&mut self.systems_us, micros(timing.systems));
        smooth(&mut self.sensors_us, micros(timing.sensors));
        smooth(&mut self.busy_us, micros(timing.busy));
        let answer = timing.answered_after.saturating_sub(race.lag);
        let network = answer.saturating_sub(timing.busy);
        smooth(&mut self.network_us, micros(network));
        let waited = race.last.saturating_sub(timing.answered_after);
        smooth(&mut self.wait_us, micros(waited));
        let is_last = timing.answered_after == race.last;
        smooth(&mut self.last_share, f64::from(u8::from(is_last)));
        let blocked = timing.answered_after.saturating_sub(race.second_last);
        smooth(&mut self.blocked_us, micros(blocked));
    }

    /// Returns it as it is with the step of this number: those that waited for it no longer took
    /// none of its time.
    pub(super) fn with_step(&self, at: u64) -> Self {
        let without = at.saturating_sub(self.at);
        let left = (1.0 - SMOOTHING).powi(i32::try_from(without).unwrap_or(i32::MAX));
        Self {
            physics_us: self.physics_us * left,
            systems_us: self.systems_us * left,
            sensors_us: self.sensors_us * left,
            busy_us: self.busy_us * left,
            blocked_us: self.blocked_us * left,
            wait_us: self.wait_us * left,
            last_share: self.last_share * left,
            ..self.clone()
        }
    }

    /// Takes its heartbeat.
    pub(super) fn on_heartbeat(&mut self, beat: &Heartbeat) {
        let elapsed = beat.sent_at_us.saturating_sub(self.beat.sent_at_us);
        if self.beat.count > 0 && elapsed > 0 {
            let used = beat.cpu_time_us.saturating_sub(self.beat.cpu_time_us);
            let weight = 0.2;
            self.cpu += weight * (used as f64 / elapsed as f64 - self.cpu);
        }
        self.beat = beat.clone();
    }
}
