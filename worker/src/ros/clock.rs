//! [`ClockTopic`]: simulated time on `/clock`, from the secondary that speaks for the run.

use protocol::SimTime;
use ros2::to_cdr;
use ros2::types::builtin_interfaces::Time;
use ros2::types::rosgraph_msgs::Clock;
use ros2_node::{Publication, PublishError};

/// Simulated time between two messages, unless time stands still or jumps \[ns\].
const INTERVAL_NS: u64 = 1_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// The topic of simulated time.
pub(super) struct ClockTopic {
    publication: Option<Publication>,
    /// The last time that this or another secondary published.
    told: Option<SimTime>,
}

impl ClockTopic {
    pub(super) fn new(publication: Option<Publication>) -> Self {
        let told = None;
        Self { publication, told }
    }

    /// True if this or another secondary has published a time.
    pub(super) fn has_begun(&self) -> bool {
        self.told.is_some()
    }

    /// Returns the right to publish.
    pub(super) fn publication(&self) -> Option<&Publication> {
        self.publication.as_ref()
    }

    /// Notes the time of a step, so that whoever comes to speak knows what was published; tells
    /// whether it is published.
    pub(super) fn note(&mut self, now: SimTime) -> bool {
        let is_early = self.told.is_some_and(|last| {
            let passed = now.0.checked_sub(last.0);
            passed.is_some_and(|passed| passed < INTERVAL_NS)
        });
        if !is_early {
            self.told = Some(now);
        }
        !is_early
    }

    /// Publishes a time.
    ///
    /// # Errors
    /// Fails if readers acknowledge nothing any more.
    pub(super) fn publish(&self, now: SimTime) -> Result<(), PublishError> {
        let Some(publication) = &self.publication else {
            return Ok(());
        };
        let clock = Time {
            sec: (now.0 / NS_PER_S) as i32,
            nanosec: (now.0 % NS_PER_S) as u32,
        };
        publication.publish(to_cdr(&Clock { clock }))
    }
}
