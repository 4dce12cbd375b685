//! [`ImageQueue`]: images that wait to be encoded and sent, by topics.
//!
//! The queue is bounded in bytes: an image for which there is no room takes the place of the
//! oldest one of its topic. Topics have turns, so that none waits for what waits of another.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{Sequence, TopicMessage};

/// Number of bytes of images that may wait, unless a single one is larger \[bytes\].
const BYTES_MAX: usize = 256 << 20;

/// An image that waits to be sent to a topic of ROS 2.
pub(super) struct WaitingImage<T> {
    pub(super) to: T,
    pub(super) message: TopicMessage,
    /// The step that said it, unless it is said again in place of a lost secondary.
    pub(super) step: Option<Sequence>,
}

/// Images that wait.
pub(super) struct ImageQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// By topic, the oldest first.
    topics: BTreeMap<String, VecDeque<WaitingImage<T>>>,
    bytes: usize,
    /// The topic whose image was taken last; the next one is that after it.
    last: String,
    /// True while an image that was taken is not sent yet.
    is_at_work: bool,
    /// Its step.
    step_at_work: Option<Sequence>,
    is_ending: bool,
}

impl<T> WaitingImage<T> {
    fn size(&self) -> usize {
        self.message.body.len() + self.message.topic.len()
    }
}

impl<T> Default for ImageQueue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                topics: BTreeMap::new(),
                bytes: 0,
                last: String::new(),
                is_at_work: false,
                step_at_work: None,
                is_ending: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<T> ImageQueue<T> {
    /// Adds an image; returns how many others were left out for it.
    pub(super) fn push(&self, image: WaitingImage<T>) -> usize {
        let mut state = self.state();
        let mut left_out = 0;
        while state.bytes + image.size() > BYTES_MAX && state.leave_out(&image.message.topic) {
            left_out += 1;
        }
        state.bytes += image.size();
        let topic = image.message.topic.clone();
        state.topics.entry(topic).or_default().push_back(image);
        self.changed.notify_all();
        left_out
    }

    /// Waits for an image, by turns of topics; the one that was taken before is sent by then. None
    /// at the end.
    pub(super) fn take(&self) -> Option<WaitingImage<T>> {
        let mut state = self.state();
        (state.is_at_work, state.step_at_work) = (false, None);
        self.changed.notify_all();
        loop {
            if let Some(image) = state.take() {
                (state.is_at_work, state.step_at_work) = (true, image.step);
                return Some(image);
            }
            if state.is_ending {
                return None;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the first step of which an image is not sent yet.
    pub(super) fn first_step(&self) -> Option<Sequence> {
        let state = self.state();
        let first = |images: &VecDeque<WaitingImage<T>>| images.iter().find_map(|one| one.step);
        let waiting = state.topics.values().filter_map(first);
        waiting.chain(state.step_at_work).min()
    }

    /// Says that no more will come, and waits until all are sent, for this time at most; returns
    /// how many are left out, since time is up.
    pub(super) fn end(&self, timeout: Duration) -> usize {
        let mut state = self.state();
        state.is_ending = true;
        self.changed.notify_all();
        let is_busy = |state: &mut State<T>| state.is_at_work || !state.topics.is_empty();
        let waited = self.changed.wait_timeout_while(state, timeout, is_busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.bytes = 0;
        let left = std::mem::take(&mut state.topics);
        left.values().map(VecDeque::len).sum()
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// Leaves out the oldest image of a topic, or of the next one that has any.
    fn leave_out(&mut self, topic: &str) -> bool {
        let topic = if self.topics.contains_key(topic) {
            Some(topic.to_owned())
        } else {
            self.next(topic)
        };
        topic.is_some_and(|topic| self.pop(&topic).is_some())
    }

    /// Takes the oldest image of the topic whose turn it is.
    fn take(&mut self) -> Option<WaitingImage<T>> {
        let topic = self.next(&self.last)?;
        let image = self.pop(&topic);
        self.last = topic;
        image
    }

    /// Returns the topic after this one, in a circle.
    fn next(&self, topic: &str) -> Option<String> {
        let after = (Bound::Excluded(topic), Bound::Unbounded);
        let next = self.topics.range::<str, _>(after).next();
        let next = next.or_else(|| self.topics.iter().next());
        next.map(|(topic, _)| topic.clone())
    }

    fn pop(&mut self, topic: &str) -> Option<WaitingImage<T>> {
        let images = self.topics.get_mut(topic)?;
        let image = images.pop_front()?;
        if images.is_empty() {
            self.topics.remove(topic);
        }
        self.bytes -= image.size();
        Some(image)
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Iteration, Publisher, SimTime};

    use super::*;

    fn image(topic: &str, step: u64, bytes: usize) -> WaitingImage<()> {
        WaitingImage {
            to: (),
            message: TopicMessage {
                topic: topic.to_owned(),
                kind: String::new(),
                publisher: Publisher::Client,
                sim_time: SimTime(step),
                iteration: Iteration(step),
                body: vec![0; bytes],
            },
            step: Some(Sequence(step)),
        }
    }

    fn taken(queue: &ImageQueue<()>) -> (String, u64) {
        let image = queue.take().expect("one waits");
        (image.message.topic, image.message.sim_time.0)
    }

    #[test]
    fn the_oldest_image_of_the_same_topic_makes_room_and_is_counted() {
        let queue = ImageQueue::default();
        let third = BYTES_MAX / 3 - 100;
        assert_eq!(queue.push(image("/small", 1, 10)), 0);
        for step in 2..5 {
            assert_eq!(queue.push(image("/large", step, third)), 0);
        }
        assert_eq!(queue.push(image("/large", 5, third)), 1);
        assert_eq!(queue.push(image("/large", 6, 2 * third)), 2);
        let all: Vec<_> = (0..3).map(|_| taken(&queue)).collect();
        let expected = [("/large", 5), ("/small", 1), ("/large", 6)];
        assert_eq!(all, expected.map(|(topic, step)| (topic.to_owned(), step)));
        assert_eq!(queue.state().bytes, 0);
    }

    #[test]
    fn a_topic_that_fills_the_queue_keeps_no_other_out() {
        let queue = ImageQueue::default();
        queue.push(image("/large", 1, BYTES_MAX / 2));
        queue.push(image("/large", 2, BYTES_MAX / 2 - 100));
        assert_eq!(queue.push(image("/other", 3, 1000)), 1);
        assert_eq!(taken(&queue), ("/large".to_owned(), 2));
        assert_eq!(taken(&queue), ("/other".to_owned(), 3));
        // An image that is larger than everything is sent all the same, alone.
        queue.push(image("/other", 4, 1000));
        assert_eq!(queue.push(image("/huge", 5, BYTES_MAX + 1)), 1);
        assert_eq!(taken(&queue), ("/huge".to_owned(), 5));
    }

    #[test]
    fn a_step_has_left_once_its_images_are_sent() {
        let queue = ImageQueue::default();
        assert_eq!(queue.first_step(), None);
        queue.push(image("/b", 1, 1));
        queue.push(image("/a", 2, 1));
        let again = WaitingImage {
            step: None,
            ..image("/again", 0, 1)
        };
        queue.push(again);
        assert_eq!(queue.first_step(), Some(Sequence(1)));
        assert_eq!(taken(&queue).0, "/a");
        assert_eq!(taken(&queue).0, "/again");
        assert_eq!(queue.first_step(), Some(Sequence(1)));
        assert_eq!(taken(&queue).0, "/b");
        assert_eq!(queue.first_step(), Some(Sequence(1)), "it is being sent");
        queue.push(image("/a", 3, 1));
        taken(&queue);
        assert_eq!(queue.first_step(), Some(Sequence(3)));
    }

    #[test]
    fn the_end_waits_for_what_is_sent_in_time_and_counts_the_rest() {
        let queue = ImageQueue::default();
        queue.push(image("/a", 1, 1));
        queue.push(image("/a", 2, 1));
        assert_eq!(queue.end(Duration::ZERO), 2);
        assert!(queue.take().is_none());
        let queue = ImageQueue::default();
        queue.push(image("/a", 1, 1));
        std::thread::scope(|scope| {
            scope.spawn(|| while queue.take().is_some() {});
            assert_eq!(queue.end(Duration::from_mins(1)), 0);
        });
    }
}
