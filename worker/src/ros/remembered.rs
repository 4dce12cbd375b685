//! [`Remembered`]: messages of nodes that another secondary should have passed on, in case that it
//! is lost before it has.
//!
//! They are bounded in time and bytes, not in number: so the commands of a thousand robots are
//! remembered for as long as it takes to notice a loss. Where they have too many bytes, the topic
//! that has most of them loses its oldest, so that no node can make those of others be forgotten.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use protocol::RosMessage;

/// Number of bytes that are remembered \[bytes\].
const BYTES_MAX: usize = 128 << 20;
/// Time for which they are: longer than it takes to notice a loss and to recover from it.
const TIME: Duration = Duration::from_mins(1);
/// Time between two looks at what is older.
const INTERVAL: Duration = Duration::from_secs(1);
/// Number of bytes that are passed on at once \[bytes\].
const PART_BYTES: usize = 1 << 20;

/// The last messages of nodes, by topics.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    topics: BTreeMap<String, Topic>,
    bytes: usize,
    /// Number of messages that came.
    count: u64,
    looked_at: Option<Instant>,
}

#[derive(Debug, Default)]
struct Topic {
    /// The oldest first, with their place among all.
    messages: VecDeque<(u64, Instant, RosMessage)>,
    bytes: usize,
}

impl Remembered {
    /// Remembers messages that came now.
    pub(super) fn add(&mut self, messages: Vec<RosMessage>, now: Instant) {
        for message in messages {
            let size = size(&message);
            if !self.topics.contains_key(&message.topic) {
                let topic = message.topic.clone();
                self.topics.insert(topic, Topic::default());
            }
            let topic = self.topics.get_mut(&message.topic);
            let topic = topic.expect("it was just made");
            topic.messages.push_back((self.count, now, message));
            topic.bytes += size;
            self.bytes += size;
            self.count += 1;
            while self.bytes > BYTES_MAX {
                self.halve_largest();
            }
        }
        if self.looked_at.is_none_or(|at| now - at >= INTERVAL) {
            self.looked_at = Some(now);
            self.forget_old(now);
        }
    }

    /// Takes all that is remembered, in the order in which it came, in parts.
    pub(super) fn take(&mut self, now: Instant) -> Vec<Vec<RosMessage>> {
        self.forget_old(now);
        let topics = std::mem::take(&mut self.topics).into_values();
        self.bytes = 0;
        let mut all: Vec<_> = topics.flat_map(|topic| topic.messages).collect();
        all.sort_by_key(|(place, ..)| *place);
        let (mut parts, mut bytes) = (Vec::<Vec<RosMessage>>::new(), PART_BYTES);
        for (_, _, message) in all {
            if bytes >= PART_BYTES {
                parts.push(Vec::new());
                bytes = 0;
            }
            bytes += size(&message);
            parts.last_mut().expect("there is one").push(message);
        }
        parts
    }

    /// Forgets the older half of the topic that has most bytes.
    fn halve_largest(&mut self) {
        let Some(topic) = self.topics.values_mut().max_by_key(|topic| topic.bytes) else {
            return;
        };
        for _ in 0..topic.messages.len().div_ceil(2) {
            self.bytes -= topic.pop();
        }
    }

    fn forget_old(&mut self, now: Instant) {
        for topic in self.topics.values_mut() {
            while let Some((_, at, _)) = topic.messages.front()
                && now - *at > TIME
            {
                self.bytes -= topic.pop();
            }
        }
        self.topics.retain(|_, topic| !topic.messages.is_empty());
    }
}

impl Topic {
    /// Drops the oldest message, and returns its size \[bytes\].
    fn pop(&mut self) -> usize {
        let oldest = self.messages.pop_front();
        let size = oldest.map_or(0, |(_, _, message)| size(&message));
        self.bytes -= size;
        size
    }
}

/// Returns the size of a message with what keeps it \[bytes\].
fn size(message: &RosMessage) -> usize {
    let texts = message.topic.len() + message.kind.len();
    size_of::<(u64, Instant, RosMessage)>() + texts + message.body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(robot: u32, number: i64, bytes: usize) -> RosMessage {
        RosMessage {
            writer: [robot as u8; 16],
            number,
            topic: format!("/model/robot_{robot:04}/cmd_vel"),
            kind: "gz.msgs.Twist".to_owned(),
            body: vec![0; bytes],
        }
    }

    #[test]
    fn the_commands_of_a_thousand_robots_are_remembered_in_order() {
        let (mut remembered, begin) = (Remembered::default(), Instant::now());
        // 50 Hz for 4 s: twice the time in which a silent peer is noticed.
        for number in 0..200_i64 {
            let now = begin + Duration::from_millis(20 * number as u64);
            let messages = (0..1000).map(|robot| message(robot, number, 96));
            remembered.add(messages.collect(), now);
        }
        let parts = remembered.take(begin + Duration::from_secs(4));
        let is_small = |part: &Vec<RosMessage>| part.iter().map(size).sum::<usize>() < 2 << 20;
        assert!(parts.iter().all(is_small));
        let all = parts.iter().flatten();
        let expected = (0..200).flat_map(|number| (0..1000).map(move |robot| (robot, number)));
        let names = expected.map(|(robot, number)| (message(robot, 0, 0).topic, number));
        assert!(all.map(|one| (one.topic.clone(), one.number)).eq(names));
        assert!(remembered.take(begin).is_empty());
    }

    #[test]
    fn a_node_that_floods_makes_only_its_own_be_forgotten() {
        let (mut remembered, now) = (Remembered::default(), Instant::now());
        remembered.add(vec![message(1, 7, 100)], now);
        for number in 0..400 {
            remembered.add(vec![message(2, number, 1 << 20)], now);
            assert!(remembered.bytes <= BYTES_MAX);
        }
        let all: Vec<RosMessage> = remembered.take(now).into_iter().flatten().collect();
        assert_eq!(all[0].number, 7);
        assert_eq!(
            all.last().map(|one| one.number),
            Some(399),
            "the last of it"
        );
        assert!(all.len() >= 64, "{}", all.len());
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let (mut remembered, begin) = (Remembered::default(), Instant::now());
        remembered.add(vec![message(1, 1, 10)], begin);
        remembered.add(vec![message(2, 2, 10)], begin + TIME);
        remembered.add(Vec::new(), begin + TIME + INTERVAL);
        assert_eq!(remembered.topics.len(), 1);
        let all = remembered.take(begin + TIME + INTERVAL);
        assert_eq!(all[0][0].number, 2);
        assert_eq!((all.len(), remembered.bytes), (1, 0));
    }
}
