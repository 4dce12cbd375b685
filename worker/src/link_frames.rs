//! [`LinkFrames`]: where links are, told to observers while any wants to know.
//!
//! A frame is made after a published step whose iteration passes a multiple of a power of two, the
//! same on all secondaries as long as they see the same pace: so their frames are of one moment.
//! Speculative steps are never shown.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cell_host::CellHost;
use protocol::link_frame::{self, LinkFrame};
use protocol::primary_to_secondary::Step;
use protocol::{LinkPoses, PerformerId, Publisher, TopicMessage};

/// Frames that come faster than this are made half as often.
const FRAME_TIME_MIN: Duration = Duration::from_millis(24);
/// Frames that come slower than this are made twice as often.
const FRAME_TIME_MAX: Duration = Duration::from_millis(56);
/// Frames up to one that has all links again, for observers that have missed some.
const FRAMES_PER_WHOLE: u32 = 16;

/// Makes frames.
#[derive(Debug)]
pub(crate) struct LinkFrames {
    /// A frame is made whenever the iteration passes a multiple of this, a power of two.
    stride: u64,
    last_iteration: u64,
    made_at: Option<Instant>,
    /// Poses as they were told last.
    told: BTreeMap<PerformerId, LinkPoses>,
    until_whole: u32,
}

impl Default for LinkFrames {
    fn default() -> Self {
        Self {
            stride: 1,
            last_iteration: 0,
            made_at: None,
            told: BTreeMap::new(),
            until_whole: 0,
        }
    }
}

impl LinkFrames {
    /// Returns a frame after a step, if it is time for one and anyone observes.
    pub(crate) fn take(&mut self, host: &CellHost, step: &Step) -> Option<TopicMessage> {
        if !host.is_observed(link_frame::TOPIC) {
            if self.made_at.is_some() {
                *self = Self::default();
            }
            return None;
        }
        let mut changes = step.subscriptions.iter();
        if changes.any(|change| change.wanted && change.topic == link_frame::TOPIC) {
            // Others may have ceased to observe just before, so that no step was told of it: who
            // begins has no frame to go on from.
            *self = Self::default();
        }
        if !self.is_due(step, Instant::now()) {
            return None;
        }
        let frame = self.frame(host);
        Some(TopicMessage {
            topic: link_frame::TOPIC.to_owned(),
            kind: link_frame::KIND.to_owned(),
            publisher: Publisher::World { world: 0, part: 0 },
            iteration: step.iteration,
            sim_time: step.sim_time,
            body: frame.encode(),
        })
    }

    /// Tells whether a frame is due after a step, and adapts the pace. Paused steps change things
    /// out of turn.
    fn is_due(&mut self, step: &Step, now: Instant) -> bool {
        let iteration = step.iteration.0;
        let passes = iteration / self.stride != self.last_iteration / self.stride;
        let is_back = iteration < self.last_iteration;
        self.last_iteration = iteration;
        if !(passes || is_back || step.paused || step.reset) {
            return false;
        }
        if let Some(made_at) = self.made_at
            && !step.paused
        {
            let since = now - made_at;
            if since < FRAME_TIME_MIN {
                self.stride = self.stride.saturating_mul(2).min(1 << 40);
            } else if since > FRAME_TIME_MAX {
                self.stride = (self.stride / 2).max(1);
            }
        }
        self.made_at = Some(now);
        true
    }

    fn frame(&mut self, host: &CellHost) -> LinkFrame {
        let mut now = BTreeMap::new();
        for cell in host.cells() {
            let physics = cell.physics();
            now.extend(cell.performers().map(|id| (id, physics.link_poses(id))));
        }
        let has_others = !now.keys().eq(self.told.keys());
        let is_whole = self.until_whole == 0 || has_others;
        self.until_whole = if is_whole {
            FRAMES_PER_WHOLE
        } else {
            self.until_whole - 1
        };
        let mut frame = LinkFrame::default();
        if is_whole {
            let names = now
                .keys()
                .map(|id| (*id, host.performer_name(*id).to_owned()));
            frame.names = names.collect();
            frame.models = now.values().cloned().collect();
        } else {
            let moved = now
                .iter()
                .filter(|(id, poses)| self.told.get(id) != Some(*poses));
            frame.models = moved.map(|(_, poses)| poses.clone()).collect();
        }
        self.told = now;
        frame
    }
}

#[cfg(test)]
mod tests {
    use protocol::Iteration;

    use super::*;

    /// Returns how many frames are made in a second of so many steps.
    fn frames_per_second(steps: u32) -> usize {
        let mut frames = LinkFrames::default();
        let begin = Instant::now();
        let mut is_due = |number: u32| {
            let step = Step {
                iteration: Iteration(u64::from(number)),
                ..Step::default()
            };
            frames.is_due(&step, begin + Duration::from_secs(1) * number / steps)
        };
        // The first two seconds are for finding the pace.
        (1..2 * steps).for_each(|number| {
            is_due(number);
        });
        (2 * steps..3 * steps)
            .filter(|number| is_due(*number))
            .count()
    }

    #[test]
    fn frames_come_some_thirty_times_per_second_whatever_the_pace() {
        for steps in [20, 100, 1000, 5000, 12_345] {
            let frames = frames_per_second(steps);
            assert!((17..=42).contains(&frames), "{steps}: {frames}");
        }
    }

    #[test]
    fn what_a_command_changes_in_a_pause_is_shown_at_once() {
        let mut frames = LinkFrames {
            stride: 1 << 20,
            ..LinkFrames::default()
        };
        let mut step = Step::default();
        assert!(!frames.is_due(&step, Instant::now()));
        step.paused = true;
        assert!(frames.is_due(&step, Instant::now()));
    }
}
