//! [`Feeder`]: hands news to the view, which may be behind.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use view::Feed;

/// Capacity of the view's queue; if it is full, status, logs and messages on topics are dropped.
const FEEDS_MAX: usize = 4096;

/// Share of that in the channel itself.
const CHANNEL_MAX: usize = 256;

/// The sending end of the view's feed.
pub(super) struct Feeder {
    sender: mpsc::Sender<Feed>,
    queue: VecDeque<Feed>,
}

impl Feeder {
    /// Makes a feeder and the view's end of it.
    pub(super) fn new() -> (Self, mpsc::Receiver<Feed>) {
        let (sender, receiver) = mpsc::channel(CHANNEL_MAX);
        (
            Self {
                sender,
                queue: VecDeque::new(),
            },
            receiver,
        )
    }

    /// Queues news.
    pub(super) fn push(&mut self, feed: Feed) {
        let can_be_lost = matches!(
            feed,
            Feed::Status(_) | Feed::Log(_) | Feed::Logs(_) | Feed::Message(_)
        );
        if self.queue.len() < FEEDS_MAX || !can_be_lost {
            self.queue.push_back(feed);
        }
    }

    /// Queues several pieces of news.
    pub(super) fn extend(&mut self, feeds: impl IntoIterator<Item = Feed>) {
        feeds.into_iter().for_each(|feed| self.push(feed));
    }

    /// Tells whether the view is so far behind that it had better not be told more.
    pub(super) fn is_behind(&self) -> bool {
        self.queue.len() > CHANNEL_MAX / 4
    }

    /// Hands over what is queued; never returns. May be dropped and called again.
    pub(super) async fn deliver(&mut self) -> std::convert::Infallible {
        while !self.queue.is_empty() {
            let Ok(permit) = self.sender.reserve().await else {
                break;
            };
            if let Some(feed) = self.queue.pop_front() {
                permit.send(feed);
            }
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deliver_now(feeder: &mut Feeder) {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let delivery = std::pin::pin!(feeder.deliver());
        assert!(delivery.poll(&mut context).is_pending());
    }

    #[test]
    fn important_news_reaches_a_slow_view() {
        let (mut feeder, mut feeds) = Feeder::new();
        let line = || view::LogLine {
            process: "s1".to_owned(),
            text: String::new(),
        };
        for _ in 0..FEEDS_MAX + 10 {
            feeder.push(Feed::Log(line()));
        }
        feeder.push(Feed::Connected);
        let mut seen = Vec::new();
        while seen.last() != Some(&Feed::Connected) {
            deliver_now(&mut feeder);
            seen.push(feeds.try_recv().unwrap());
        }
        assert_eq!(seen.len(), FEEDS_MAX + 1);
    }
}
