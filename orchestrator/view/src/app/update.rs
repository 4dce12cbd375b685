//! The only place where the model changes: one event in, at most one effect out.

mod control;
mod driving;
mod feed;
mod history;
mod keys;
mod map;
mod mouse;
mod navigation;
mod replay;
mod topics;
mod typing;

use protocol::SessionTime;

use super::command::Effect;
use super::event::Event;
use super::model::Model;

/// Changes the model by an event at a time, and returns what is to be done outside.
pub fn update(model: &mut Model, event: Event, now: SessionTime) -> Option<Effect> {
    model.now = now;
    model.screen.has_changed = true;
    model.trends.recent.forget(now);
    let effect = match event {
        Event::Feed(feed) => {
            feed::on_feed(model, feed);
            None
        }
        Event::FeedClosed => {
            feed::on_closed(model);
            None
        }
        Event::Key(key) => keys::on_key(model, key),
        Event::Paste(text) => typing::on_paste(model, &text),
        Event::Files(files) => {
            typing::on_files(model, files);
            None
        }
        Event::Loaded(command) => control::send(model, command),
        Event::LoadFailed { reason } => control::refuse(model, &reason),
        Event::Mouse(mouse) => mouse::on_mouse(model, mouse),
        Event::Resized { .. } | Event::Tick => None,
    };
    effect.or_else(|| topics::follow(model))
}

#[cfg(test)]
mod tests;
