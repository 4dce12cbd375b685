//! [`ClockTopic`]: simulated time on `/clock`, from the secondary that speaks for the run.
//!
//! Time never goes back, and lacks nothing when another secondary comes to speak: each hears what
//! the others publish, and keeps the moments that it has not heard. Whoever begins to speak waits
//! for those of the former publisher; if they do not come, since its process has ended, it
//! publishes them itself. A moment that a process was just sending when it ended may come twice.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use protocol::SimTime;
use ros2::mapping::RosTopic;
use ros2::types::builtin_interfaces::Time;
use ros2::types::rosgraph_msgs::Clock;
use ros2::{from_cdr, to_cdr};
use ros2_node::{
    EndpointError, Participant, Publication, PublishError, Quality, Subscription, Topic,
};

/// Simulated time between two messages, unless time is paused or jumps \[ns\].
const INTERVAL_NS: u64 = 1_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// Number of moments of others that may wait to be looked at.
const DEPTH: u32 = 8192;

/// Number of moments after which it is looked which of them others have published.
const LOOK_INTERVAL: usize = 32;

/// Number of moments that a process can take along: those of a window of speculation, and some that
/// it is just sending. Where more are not heard, others are not heard at all yet, and what they
/// have published is not known.
const GAP_MAX: usize = lockstep::limits::RUN_AHEAD_MAX as usize + 100;

/// Simulated time by which another secondary may be ahead; what is later is of a time before a
/// reset \[ns\].
const AHEAD_MAX_NS: u64 = 5 * NS_PER_S;

/// Time for which the former publisher is waited for, and between two looks.
const TIMEOUT: Duration = Duration::from_millis(200);
const GLANCE: Duration = Duration::from_micros(200);

/// The topic of simulated time.
pub(super) struct ClockTopic {
    publication: Publication,
    others: Subscription,
    moments: Moments,
    speaks: bool,
}

/// Moments of simulated time, and which of them others have published.
#[derive(Debug, Default)]
struct Moments {
    /// The last one.
    last: Option<SimTime>,
    /// The last one that another secondary has published.
    heard: Option<SimTime>,
    /// Those that nobody is known to have published, in order.
    unheard: VecDeque<SimTime>,
}

impl ClockTopic {
    /// Joins the topic.
    ///
    /// # Errors
    /// Fails if the middleware has stopped.
    pub(super) fn new(
        participant: &mut Participant,
        topic: &RosTopic,
    ) -> Result<Self, EndpointError> {
        let heard = Topic {
            name: &topic.name,
            type_name: topic.type_name,
            quality: Quality {
                is_reliable: false,
                is_kept: false,
                depth: DEPTH,
            },
        };
        Ok(Self {
            publication: super::endpoints::advertise(participant, topic)?,
            others: participant.subscribe_quietly(&heard)?,
            moments: Moments::default(),
            speaks: false,
        })
    }

    /// Returns the right to publish.
    pub(super) fn publication(&self) -> &Publication {
        &self.publication
    }

    /// Takes note of the time of a step, and publishes it if this secondary speaks for the run.
    ///
    /// # Errors
    /// Fails if readers acknowledge nothing any more.
    pub(super) fn follow(&mut self, now: SimTime, speaks: bool) -> Result<(), PublishError> {
        let spoke = std::mem::replace(&mut self.speaks, speaks);
        if speaks && !spoke {
            self.wait_for_former();
        }
        if self.moments.is_jump(now) {
            // What others have said so far is of another time.
            self.look();
        }
        self.moments.note(now);
        if speaks {
            while let Some(moment) = self.moments.unheard.pop_front() {
                self.publish(moment)?;
            }
        } else if self.moments.unheard.len().is_multiple_of(LOOK_INTERVAL) {
            self.look();
        }
        Ok(())
    }

    /// Takes note of a time that nodes have heard already, in a run that was resumed.
    pub(super) fn pass_over(&mut self, now: SimTime, speaks: bool) {
        self.speaks = speaks;
        self.moments.pass_over(now);
    }

    /// Waits until the former publisher has published all moments, or leaves those to this one.
    fn wait_for_former(&mut self) {
        let until = Instant::now() + TIMEOUT;
        loop {
            self.look();
            if self.moments.unheard.is_empty() {
                return;
            }
            if Instant::now() > until {
                return self.moments.forget_unknown();
            }
            std::thread::sleep(GLANCE);
        }
    }

    fn look(&mut self) {
        while let Some(sample) = self.others.take() {
            if let Ok(Clock { clock }) = from_cdr::<Clock>(&sample.cdr) {
                let seconds = u64::try_from(clock.sec).unwrap_or_default();
                let heard = seconds * NS_PER_S + u64::from(clock.nanosec);
                self.moments.hear(SimTime(heard));
            }
        }
        self.moments.forget_heard();
    }

    fn publish(&self, now: SimTime) -> Result<(), PublishError> {
        let clock = Time {
            sec: (now.0 / NS_PER_S) as i32,
            nanosec: (now.0 % NS_PER_S) as u32,
        };
        self.publication.publish(to_cdr(&Clock { clock }))
    }
}

impl Moments {
    /// Tells whether time goes back to this moment.
    fn is_jump(&self, now: SimTime) -> bool {
        self.last.is_some_and(|last| now < last)
    }

    /// Takes note of a time, unless it comes too soon after the last moment.
    fn note(&mut self, now: SimTime) {
        if self.is_jump(now) {
            (self.heard, self.unheard) = (None, VecDeque::new());
        } else if let Some(last) = self.last
            && now.0 - last.0 < INTERVAL_NS
        {
            return;
        }
        self.last = Some(now);
        self.unheard.push_back(now);
        if self.unheard.len() > DEPTH as usize {
            self.unheard.pop_front();
        }
    }

    /// Takes note of a time that has been published.
    fn pass_over(&mut self, now: SimTime) {
        self.note(now);
        self.unheard.clear();
    }

    /// Takes note of a moment that another one has published, perhaps before this one gets there.
    /// A process that knows no time yet hears none: it could be that of another run.
    fn hear(&mut self, heard: SimTime) {
        let is_of_this_time = |last: SimTime| heard.0 <= last.0.saturating_add(AHEAD_MAX_NS);
        if self.last.is_some_and(is_of_this_time) {
            self.heard = self.heard.max(Some(heard));
        }
    }

    /// Forgets moments that another one has published.
    fn forget_heard(&mut self) {
        let is_heard = |moment: &SimTime| self.heard.is_some_and(|heard| *moment <= heard);
        while self.unheard.front().is_some_and(is_heard) {
            self.unheard.pop_front();
        }
    }

    /// Forgets moments of which it is not known whether somebody has published them.
    fn forget_unknown(&mut self) {
        if self.heard.is_none() || self.unheard.len() > GAP_MAX {
            self.unheard.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(times: impl IntoIterator<Item = u64>) -> Moments {
        let mut moments = Moments::default();
        for time in times {
            moments.note(SimTime(time * 500_000));
        }
        moments
    }

    fn unheard(moments: &Moments) -> Vec<u64> {
        moments.unheard.iter().map(|it| it.0 / 500_000).collect()
    }

    #[test]
    fn moments_that_nobody_published_are_left_to_the_next_speaker() {
        let mut moments = moments(0..10);
        assert_eq!(unheard(&moments), [0, 2, 4, 6, 8]);
        moments.hear(SimTime(2_000_000));
        moments.forget_heard();
        moments.forget_unknown();
        assert_eq!(unheard(&moments), [6, 8]);
    }

    #[test]
    fn who_is_ahead_is_heard() {
        let mut moments = moments([0]);
        moments.hear(SimTime(2_000_000));
        moments.note(SimTime(1_000_000));
        moments.note(SimTime(2_000_000));
        moments.note(SimTime(3_000_000));
        moments.forget_heard();
        assert_eq!(unheard(&moments), [6]);
    }

    #[test]
    fn times_of_strangers_hide_no_moments() {
        let mut moments = Moments::default();
        moments.hear(SimTime(3600 * NS_PER_S));
        moments.note(SimTime(0));
        moments.hear(SimTime(3600 * NS_PER_S));
        moments.note(SimTime(1_000_000));
        moments.forget_heard();
        assert_eq!(unheard(&moments), [0, 2]);
    }

    #[test]
    fn where_nobody_is_heard_nothing_is_published_again() {
        let mut deaf = moments(0..10);
        deaf.forget_unknown();
        assert!(deaf.unheard.is_empty());
        let mut long = moments(0..2 * GAP_MAX as u64 + 4);
        long.hear(SimTime(0));
        long.forget_unknown();
        assert!(long.unheard.is_empty());
    }

    #[test]
    fn what_was_heard_before_a_run_was_resumed_is_passed_over() {
        let mut moments = Moments::default();
        for time in 0..10 {
            moments.pass_over(SimTime(time * 500_000));
        }
        // The run stands where it was, and then goes on.
        for time in [9, 9, 10, 12] {
            moments.note(SimTime(time * 500_000));
        }
        assert_eq!(unheard(&moments), [10, 12]);
    }

    #[test]
    fn a_reset_begins_another_time() {
        let mut moments = moments([8, 10, 0, 0, 2]);
        assert_eq!(unheard(&moments), [0, 2]);
        moments.hear(SimTime(9 * NS_PER_S));
        moments.forget_heard();
        assert_eq!(unheard(&moments), [0, 2]);
        moments.hear(SimTime(0));
        moments.forget_heard();
        assert_eq!(unheard(&moments), [2]);
    }
}
