//! [`Viewers`]: the clients that are connected, with all that each wants to be told.

use std::collections::{BTreeMap, BTreeSet};

use crate::outbox::{Keep, Outbox};
use crate::protocol::client_to_server::{ClientChannel, Subscription};
use crate::protocol::server_to_client::{ChannelMessage, ServerText};
use crate::protocol::{Agreement, ChannelId, SubscriptionId};
use crate::viewer::ViewerId;

/// The most subscriptions of a client.
const SUBSCRIPTIONS_MAX: usize = 4096;
/// The most channels of a client.
const CHANNELS_MAX: usize = 256;

/// A client that is connected.
#[derive(Debug, Default)]
pub(crate) struct Viewer {
    pub(crate) outbox: Outbox,
    pub(crate) agreement: Agreement,
    subscriptions: BTreeMap<SubscriptionId, ChannelId>,
    /// Subscriptions whose next message must have all, and not what has changed alone.
    whole_due: BTreeSet<SubscriptionId>,
    channels: BTreeMap<u32, ClientChannel>,
    /// Parameters of whose changes it is told.
    pub(crate) parameters: BTreeSet<String>,
    /// Warnings about what it looks at, as it was told them last.
    warnings: Vec<String>,
    /// True if it is told who publishes and who listens.
    pub(crate) follows_graph: bool,
    /// Topics on which it said last that a robot moves.
    pub(crate) driven: BTreeSet<String>,
}

/// All clients that are connected.
#[derive(Debug, Default)]
pub(crate) struct Viewers(BTreeMap<ViewerId, Viewer>);

/// Reason why a client does not get what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AskError {
    #[error("channel {0} does not exist")]
    NoChannel(u32),
    #[error("subscription {0} exists already")]
    SubscriptionTaken(u32),
    #[error("a client has at most {SUBSCRIPTIONS_MAX} subscriptions")]
    TooManySubscriptions,
    #[error("channel {0} is advertised already")]
    ChannelTaken(u32),
    #[error("a client has at most {CHANNELS_MAX} channels")]
    TooManyChannels,
}

impl Viewer {
    /// Begins a subscription to a channel that exists.
    ///
    /// # Errors
    /// Fails if its number is taken, or there are too many.
    pub(crate) fn subscribe(&mut self, subscription: Subscription) -> Result<(), AskError> {
        let Subscription { id, channel_id } = subscription;
        if self.subscriptions.contains_key(&id) {
            return Err(AskError::SubscriptionTaken(id.0));
        }
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX {
            return Err(AskError::TooManySubscriptions);
        }
        self.subscriptions.insert(id, channel_id);
        self.whole_due.insert(id);
        Ok(())
    }

    /// Ends a subscription.
    pub(crate) fn unsubscribe(&mut self, id: SubscriptionId) {
        self.subscriptions.remove(&id);
        self.whole_due.remove(&id);
        self.outbox.forget(id);
    }

    /// Tells whether it has just begun to listen to a channel.
    fn is_new(&self, channel: ChannelId) -> bool {
        let mut due = self.whole_due.iter();
        due.any(|id| self.subscriptions.get(id) == Some(&channel))
    }

    /// Opens a channel of its own.
    ///
    /// # Errors
    /// Fails if its number is taken, or there are too many.
    pub(crate) fn advertise(&mut self, channel: ClientChannel) -> Result<(), AskError> {
        if self.channels.contains_key(&channel.id) {
            return Err(AskError::ChannelTaken(channel.id));
        }
        if self.channels.len() >= CHANNELS_MAX {
            return Err(AskError::TooManyChannels);
        }
        self.channels.insert(channel.id, channel);
        Ok(())
    }

    /// Closes a channel of its own.
    pub(crate) fn unadvertise(&mut self, id: u32) {
        self.channels.remove(&id);
    }

    /// Returns a channel of its own.
    ///
    /// # Errors
    /// Fails if it has none with this number.
    pub(crate) fn channel(&self, id: u32) -> Result<&ClientChannel, AskError> {
        self.channels.get(&id).ok_or(AskError::NoChannel(id))
    }
}

impl Viewers {
    pub(crate) fn insert(&mut self, id: ViewerId, outbox: Outbox, agreement: Agreement) {
        let viewer = Viewer {
            outbox,
            agreement,
            ..Viewer::default()
        };
        self.0.insert(id, viewer);
    }

    pub(crate) fn remove(&mut self, id: ViewerId) -> Option<Viewer> {
        self.0.remove(&id)
    }

    pub(crate) fn get(&mut self, id: ViewerId) -> Option<&mut Viewer> {
        self.0.get_mut(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Viewer> {
        self.0.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the channels to which anyone listens.
    pub(crate) fn wanted(&self) -> BTreeSet<ChannelId> {
        let each = self
            .0
            .values()
            .flat_map(|viewer| viewer.subscriptions.values());
        each.copied().collect()
    }

    /// Tells whether anyone listens to a channel.
    pub(crate) fn want(&self, channel: ChannelId) -> bool {
        let mut each = self
            .0
            .values()
            .flat_map(|viewer| viewer.subscriptions.values());
        each.any(|one| *one == channel)
    }

    /// Tells whether anyone has just begun to listen to a channel.
    pub(crate) fn has_new(&self, channel: ChannelId) -> bool {
        self.iter().any(|viewer| viewer.is_new(channel))
    }

    /// Warns those who have just begun to listen to a channel, of what they were not told last.
    pub(crate) fn warn_new(&mut self, channel: ChannelId, warnings: &[String]) {
        for viewer in self.0.values_mut().filter(|viewer| viewer.is_new(channel)) {
            for warning in warnings.iter().filter(|one| !viewer.warnings.contains(one)) {
                viewer
                    .outbox
                    .text(ServerText::warning(warning.clone()).text());
            }
            viewer.warnings = warnings.to_vec();
        }
    }

    /// Ends all subscriptions to channels that are gone.
    pub(crate) fn forget(&mut self, channels: &[ChannelId]) {
        for viewer in self.0.values_mut() {
            let gone = viewer.subscriptions.iter();
            let gone = gone.filter(|(_, channel)| channels.contains(channel));
            let gone: Vec<SubscriptionId> = gone.map(|(id, _)| *id).collect();
            for id in gone {
                viewer.unsubscribe(id);
            }
        }
    }

    /// Tells all clients a text.
    pub(crate) fn tell(&self, text: &str) {
        self.iter()
            .for_each(|viewer| viewer.outbox.text(text.to_owned()));
    }

    /// Sends a message to all who listen to a channel.
    pub(crate) fn publish(&mut self, channel: ChannelId, message: &ChannelMessage, keep: Keep) {
        for viewer in self.0.values_mut() {
            for (id, _) in viewer
                .subscriptions
                .iter()
                .filter(|(_, one)| **one == channel)
            {
                viewer.outbox.message(*id, message, keep);
                viewer.whole_due.remove(id);
            }
        }
    }

    /// Sends a message to those who have just begun to listen to a channel; tells whether there
    /// are any.
    pub(crate) fn publish_to_new(
        &mut self,
        channel: ChannelId,
        keep: Keep,
        make: impl FnOnce() -> ChannelMessage,
    ) {
        let mut make = Some(make);
        let mut shared = None;
        for viewer in self.0.values_mut() {
            for (id, _) in viewer
                .subscriptions
                .iter()
                .filter(|(_, one)| **one == channel)
            {
                if viewer.whole_due.remove(id) {
                    let message = shared.get_or_insert_with(|| {
                        let make = make.take().expect("it is made once");
                        make()
                    });
                    viewer.outbox.message(*id, message, keep);
                }
            }
        }
    }

    /// Sends each of several messages to all who listen to a channel, and to those who have just
    /// begun to listen those that came before.
    pub(crate) fn publish_each<'a, T: 'a, A: Iterator<Item = &'a T>>(
        &mut self,
        channel: ChannelId,
        new: &'a [T],
        all: impl Fn() -> A,
        message: impl Fn(&T) -> ChannelMessage,
    ) {
        let mut made: Option<Vec<ChannelMessage>> = None;
        let mut made_of_all: Option<Vec<ChannelMessage>> = None;
        for viewer in self.0.values_mut() {
            for (id, _) in viewer
                .subscriptions
                .iter()
                .filter(|(_, one)| **one == channel)
            {
                let due = if viewer.whole_due.remove(id) {
                    made_of_all.get_or_insert_with(|| all().map(&message).collect())
                } else {
                    made.get_or_insert_with(|| new.iter().map(&message).collect())
                };
                for message in due.iter() {
                    viewer.outbox.message(*id, message, Keep::Each);
                }
            }
        }
    }

    /// Sends what has changed to all who listen to a channel, and everything to those who have not
    /// got all that was before. A client that has not read the last message gets everything once it
    /// has.
    pub(crate) fn publish_changes(
        &mut self,
        channel: ChannelId,
        changes: Option<&ChannelMessage>,
        mut whole: impl FnMut() -> ChannelMessage,
    ) {
        let mut made = None;
        for viewer in self.0.values_mut() {
            for (id, _) in viewer
                .subscriptions
                .iter()
                .filter(|(_, one)| **one == channel)
            {
                if viewer.outbox.has_waiting(*id) {
                    if changes.is_some() {
                        viewer.whole_due.insert(*id);
                    }
                } else if viewer.whole_due.remove(id) {
                    let whole = made.get_or_insert_with(&mut whole);
                    viewer.outbox.message(*id, whole, Keep::Newest);
                } else if let Some(changes) = changes {
                    viewer.outbox.message(*id, changes, Keep::Newest);
                }
            }
        }
    }

    /// Has the next message on a channel tell everything to everyone.
    pub(crate) fn make_whole(&mut self, channel: ChannelId) {
        for viewer in self.0.values_mut() {
            let of_channel = viewer
                .subscriptions
                .iter()
                .filter(|(_, one)| **one == channel);
            viewer.whole_due.extend(of_channel.map(|(id, _)| *id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::Outgoing;

    const CHANNEL: ChannelId = ChannelId(1);

    fn message(text: &'static str) -> ChannelMessage {
        ChannelMessage {
            time_ns: 0,
            payload: text.as_bytes().into(),
        }
    }

    async fn read(viewers: &mut Viewers) -> String {
        let outbox = viewers.get(ViewerId(1)).unwrap().outbox.clone();
        match outbox.next().await {
            Some(Outgoing::Binary(frame)) => String::from_utf8(frame[13..].to_vec()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn whoever_has_missed_a_change_gets_everything() {
        let mut viewers = Viewers::default();
        viewers.insert(ViewerId(1), Outbox::default(), Agreement::default());
        let subscription = Subscription {
            id: SubscriptionId(5),
            channel_id: CHANNEL,
        };
        let viewer = viewers.get(ViewerId(1)).unwrap();
        viewer.subscribe(subscription).unwrap();
        assert_eq!(
            viewer.subscribe(subscription),
            Err(AskError::SubscriptionTaken(5))
        );
        let whole = || message("whole");
        viewers.publish_changes(CHANNEL, Some(&message("one")), whole);
        assert_eq!(read(&mut viewers).await, "whole");
        viewers.publish_changes(CHANNEL, Some(&message("two")), whole);
        viewers.publish_changes(CHANNEL, Some(&message("missed")), whole);
        assert_eq!(read(&mut viewers).await, "two");
        viewers.publish_changes(CHANNEL, None, whole);
        assert_eq!(read(&mut viewers).await, "whole");
        viewers.publish_changes(CHANNEL, None, whole);
        viewers.publish_changes(CHANNEL, Some(&message("three")), whole);
        assert_eq!(read(&mut viewers).await, "three");
    }

    #[test]
    fn channels_that_are_gone_have_no_subscriptions() {
        let mut viewers = Viewers::default();
        viewers.insert(ViewerId(1), Outbox::default(), Agreement::default());
        for number in 0..=SUBSCRIPTIONS_MAX as u32 {
            let subscription = Subscription {
                id: SubscriptionId(number),
                channel_id: CHANNEL,
            };
            let begun = viewers.get(ViewerId(1)).unwrap().subscribe(subscription);
            assert_eq!(begun.is_ok(), number < SUBSCRIPTIONS_MAX as u32);
        }
        assert!(viewers.want(CHANNEL));
        viewers.forget(&[CHANNEL]);
        assert!(!viewers.want(CHANNEL) && viewers.wanted().is_empty());
    }
}
