//! Topics: asked for while they are looked at, and listened to while one is shown.

use std::time::Duration;

use protocol::Command;

use crate::app::command::Effect;
use crate::app::detail::Subject;
use crate::app::model::{Connection, Mode, Model};
use crate::app::topic_subscription::TopicSubscription;
use crate::panels::Panel;

/// Interval between requests for topics while their panel has the keys.
const ASK_TIME: Duration = Duration::from_secs(3);

/// Returns what is to be asked for or listened to now, if it is not yet.
pub(super) fn follow(model: &mut Model) -> Option<Effect> {
    listen(model).or_else(|| ask(model))
}

/// Listens to the topic whose detail is shown, and to no other.
fn listen(model: &mut Model) -> Option<Effect> {
    let wanted = match (&model.mode, &model.details.subject) {
        (Mode::Detail { .. }, Some(Subject::Row(Panel::Topics, topic))) => Some(topic),
        _ => None,
    };
    if model.details.hearing.as_ref().map(|hearing| &hearing.topic) == wanted {
        return None;
    }
    let wanted = wanted.cloned();
    model.details.hearing = wanted.clone().map(TopicSubscription::new);
    Some(Effect::Listen(wanted))
}

fn ask(model: &mut Model) -> Option<Effect> {
    let is_due = model
        .details
        .topics_asked
        .is_none_or(|asked| model.now.since(asked) >= ASK_TIME);
    let is_seen =
        model.screen.focus == Panel::Topics && model.session.connection == Connection::Connected;
    if !is_seen || !is_due || model.is_over() {
        return None;
    }
    model.details.topics_asked = Some(model.now);
    Some(Effect::Send(Command::Topics))
}
