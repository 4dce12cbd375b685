//! Keys and commands in a recording: they only move the place that is shown.

use std::ops::ControlFlow;

use client::recorded::{ReplayRequest, SPEED_MAX, SPEED_MIN};

use super::control::refuse;
use super::typing::open_palette;
use crate::app::command::Effect;
use crate::app::keymap::{self, Action};
use crate::app::model::Model;

/// Reason why nothing in a recording is changed.
pub(super) const RECORDED: &str =
    "this is a recording: what happened in it cannot be changed; ? shows the keys that play it";

/// Distance of a seek by key, as a share of the recording.
const SEEK_SHARE: f64 = 0.05;

/// Acts on a key by its meaning for a recording, unless it means the same as everywhere.
pub(super) fn act(model: &mut Model, action: Action) -> ControlFlow<Option<Effect>> {
    let Some(place) = model.session.recording else {
        return ControlFlow::Continue(());
    };
    let request = match action {
        Action::TogglePlay if place.is_playing => ReplayRequest::Pause,
        Action::TogglePlay => ReplayRequest::Play,
        Action::Step(count) => ReplayRequest::Step(count.cast_signed()),
        Action::FramesBack(count) => ReplayRequest::Step(-count.cast_signed()),
        Action::PlaySlower => return ControlFlow::Break(on_speed(model, place.speed / 2.0)),
        Action::PlayFaster => return ControlFlow::Break(on_speed(model, place.speed * 2.0)),
        Action::SeekOn(by) => ReplayRequest::SeekBy(f64::from(by) * SEEK_SHARE),
        Action::SeekStart => ReplayRequest::Start,
        Action::SeekEnd => ReplayRequest::End,
        Action::SeekTo => {
            open_palette(model, "seek ");
            return ControlFlow::Break(None);
        }
        Action::RunTo => {
            open_palette(model, "run-to ");
            return ControlFlow::Break(None);
        }
        other if keymap::changes_run(other) => {
            return ControlFlow::Break(refuse(model, RECORDED));
        }
        _ => return ControlFlow::Continue(()),
    };
    ControlFlow::Break(Some(ask(model, request)))
}

/// Asks for something, and notes what is known of its outcome: keys may come faster than news.
pub(super) fn ask(model: &mut Model, request: ReplayRequest) -> Effect {
    if let Some(place) = &mut model.session.recording {
        match request {
            ReplayRequest::Play | ReplayRequest::RunTo(_) => place.is_playing = true,
            ReplayRequest::Pause | ReplayRequest::Step(_) => place.is_playing = false,
            ReplayRequest::Speed(speed) => place.speed = speed.clamp(SPEED_MIN, SPEED_MAX),
            ReplayRequest::Seek(_)
            | ReplayRequest::SeekBy(_)
            | ReplayRequest::Start
            | ReplayRequest::End => {}
        }
    }
    model.prompt.notice = None;
    Effect::Replay(request)
}

fn on_speed(model: &mut Model, wanted: f64) -> Option<Effect> {
    let speed = wanted.clamp(SPEED_MIN, SPEED_MAX);
    if model
        .session
        .recording
        .is_some_and(|place| place.speed == speed)
    {
        return refuse(
            model,
            "a recording is played 0.1 to 100 times as fast as it was simulated",
        );
    }
    Some(ask(model, ReplayRequest::Speed(speed)))
}
