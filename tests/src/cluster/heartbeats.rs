//! Heartbeats in a simulated cluster: on threads of their own, by clocks of their own.

use std::time::Duration;

use lockstep::SecondaryInput;

use super::Cluster;
use super::delivery::Event;
use super::network::Stream;
use super::process::{Heart, Life, Sign};

impl Cluster {
    pub(super) fn send_sign(&mut self, index: usize, stream: Stream, sign: Sign) {
        if !self.links.broken.contains(&index) && self.processes[index].life != Life::Gone {
            self.send(index, stream, Event::ToHeart(index, stream, sign));
        }
    }

    pub(super) fn beat_of_primary(&mut self) {
        if self.outcome.finished.is_some() {
            return;
        }
        if self.primary_process.life == Life::Running {
            for index in 0..self.processes.len() {
                self.send_sign(index, Stream::Status, Sign::Alive);
            }
        }
        let interval = self.primary.settings().peers.heartbeat_interval;
        self.push(self.schedule.now + interval, Event::PrimaryBeats);
    }

    pub(super) fn start_heart(&mut self, index: usize, interval: Duration, timeout: Duration) {
        if timeout == Duration::MAX {
            return;
        }
        let process = &mut self.processes[index];
        let interval = process.by_its_clock(interval);
        let timeout = process.by_its_clock(timeout);
        process.heart = Some(Heart::new(interval, timeout, self.schedule.now));
        self.push(self.schedule.now, Event::Beat(index));
    }

    /// Has a heart hear what has arrived and beat when it is time.
    pub(super) fn drain_heart(&mut self, index: usize) {
        let process = &mut self.processes[index];
        let work = process.progress(self.schedule.now);
        let Some(heart) = &mut process.heart else {
            process.signs.clear();
            return;
        };
        if process.life != Life::Running {
            return;
        }
        let mut stopping = None;
        for sign in process.signs.drain(..) {
            match sign {
                Sign::Alive => heart.heard_at = self.schedule.now,
                Sign::Stopping(reason) => stopping = Some(reason),
            }
        }
        let is_due = std::mem::take(&mut process.is_beat_due);
        let beat = is_due.then(|| heart.beat(work));
        let interval = heart.interval;
        let is_silent = beat.is_some() && self.schedule.now.since(heart.heard_at) >= heart.timeout;
        let is_lost = is_silent && !heart.is_lost;
        heart.is_lost |= is_lost;
        if let Some(beat) = beat {
            self.send_to_primary(index, Stream::Beats, beat);
            self.push(self.schedule.now + interval, Event::Beat(index));
        }
        if let Some(reason) = stopping {
            let input = SecondaryInput::PrimaryStops(reason);
            self.processes[index].inbox.push_back(input);
        }
        if is_lost {
            let input = SecondaryInput::PrimaryLost("the primary fell silent".to_owned());
            self.processes[index].inbox.push_back(input);
        }
        self.drain(index);
    }
}
