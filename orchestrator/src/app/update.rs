//! The only place where the model changes: one event in, at most one effect out.

mod feed;
mod history;
mod keys;
mod map;
mod mouse;

use protocol::SessionTime;

use super::command::Effect;
use super::event::Event;
use super::model::Model;

/// Changes the model by an event at a time, and returns what is to be done outside.
pub fn update(model: &mut Model, event: Event, now: SessionTime) -> Option<Effect> {
    model.now = now;
    model.has_changed = true;
    model.recent.forget(now);
    match event {
        Event::Feed(feed) => feed::on_feed(model, feed),
        Event::FeedClosed => feed::on_closed(model),
        Event::Key(key) => return keys::on_key(model, key),
        Event::Mouse(mouse) => return mouse::on_mouse(model, mouse),
        Event::Resized { .. } | Event::Tick => {}
    }
    None
}

#[cfg(test)]
mod tests;
