//! [`TopicSubscription`]: what is said on the one topic that the view listens to.

use std::collections::VecDeque;
use std::time::Duration;

use protocol::SessionTime;

use client::feed::Heard;

/// Time for which a rate looks back.
const RATE_TIME: Duration = Duration::from_secs(5);
/// The most counts that a rate is made of.
const COUNTS_MAX: usize = 128;

/// The messages on a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicSubscription {
    /// The topic.
    pub topic: String,
    /// Number of messages received.
    pub count: u64,
    /// The last message and the time at which it came.
    pub last: Option<(SessionTime, Heard)>,
    /// Samples of the number of messages: real time, simulated time \[s\] and messages so far.
    counts: VecDeque<(SessionTime, f64, u64)>,
}

impl TopicSubscription {
    /// Begins to listen.
    pub fn new(topic: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            count: 0,
            last: None,
            counts: VecDeque::new(),
        }
    }

    /// Takes what was said; what is of another topic is late and left out.
    pub fn hear(&mut self, heard: Heard, now: SessionTime) {
        if heard.topic != self.topic {
            return;
        }
        self.count += heard.count;
        self.counts.push_back((now, heard.sim_time_s, self.count));
        while self.counts.len() > COUNTS_MAX
            || (self.counts.len() > 2 && now.since(self.counts[0].0) > RATE_TIME)
        {
            self.counts.pop_front();
        }
        self.last = Some((now, heard));
    }

    /// Returns how often something is said \[Hz\], of real and of simulated time.
    pub fn rates(&self) -> (Option<f64>, Option<f64>) {
        let (Some(first), Some(last)) = (self.counts.front(), self.counts.back()) else {
            return (None, None);
        };
        let messages = (last.2 - first.2) as f64;
        let rate = |seconds: f64| (seconds > 0.0 && messages > 0.0).then(|| messages / seconds);
        (
            rate(last.0.since(first.0).as_secs_f64()),
            rate(last.1 - first.1),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(topic: &str, sim_time_s: f64, count: u64) -> Heard {
        Heard {
            topic: topic.to_owned(),
            sim_time_s,
            count,
            ..Heard::default()
        }
    }

    #[test]
    fn rates_are_messages_over_the_last_seconds() {
        let mut hearing = TopicSubscription::new("/odom");
        assert_eq!(hearing.rates(), (None, None));
        for index in 0..100_u64 {
            let now = SessionTime(index * 200_000_000);
            hearing.hear(heard("/odom", index as f64 * 0.1, 5), now);
        }
        let (real, simulated) = hearing.rates();
        assert!((real.unwrap() - 25.0).abs() < 1e-6);
        assert!((simulated.unwrap() - 50.0).abs() < 1e-6);
        assert_eq!(hearing.count, 500);
    }

    #[test]
    fn messages_on_other_topics_are_not_counted() {
        let mut hearing = TopicSubscription::new("/odom");
        hearing.hear(heard("/scan", 0.0, 5), SessionTime(1));
        assert_eq!((hearing.count, hearing.last), (0, None));
    }
}
