//! A robot that the keys steer.

use client::observer_request::Twisting;
use protocol::Command;

use super::control::{READ_ONLY, refuse};
use crate::app::command::Effect;
use crate::app::drive::{self, Drive};
use crate::app::model::{Mode, Model};
use crate::panels::Panel;

/// Takes the wheel of the robot that is meant: the selected one, else the one that is followed,
/// else the only one that there is.
pub(super) fn on_drive(model: &mut Model) -> Option<Effect> {
    let drivable = drive::drivable(&model.heard.topics);
    let is_drivable = |name: &&str| drivable.contains(name);
    let selected = model.tables[Panel::Performers].selected();
    let followed = model.map.follow.as_deref();
    let name = if model.screen.focus == Panel::Performers {
        selected
    } else {
        let only = drivable.first().copied().filter(|_| drivable.len() == 1);
        followed
            .or(selected.filter(is_drivable))
            .or(only)
            .or(selected)
    };
    match name.map(str::to_owned) {
        Some(name) => begin(model, &name),
        None => refuse(model, "there is nothing to drive"),
    }
}

/// Takes the wheel of a robot.
pub(super) fn begin(model: &mut Model, name: &str) -> Option<Effect> {
    if model.session.is_read_only {
        return refuse(model, READ_ONLY);
    }
    if model.is_over() {
        return refuse(model, "the run is over");
    }
    if model.is_stale() {
        return refuse(model, "the primary cannot be reached");
    }
    match Drive::new(name, &model.heard.topics) {
        Ok(drive) => model.mode = Mode::Drive(drive),
        Err(error) => {
            model.notify(error.to_string(), true);
            // It may have come since topics were last asked for: another try knows.
            return Some(Effect::Send(Command::Topics));
        }
    }
    None
}

pub(super) fn on_accelerate(model: &mut Model, ahead: i8, left: i8) -> Option<Effect> {
    say(model, |drive| drive.accelerate(ahead, left))
}

pub(super) fn on_halt(model: &mut Model) -> Option<Effect> {
    say(model, Drive::halt)
}

pub(super) fn on_next_topic(model: &mut Model) -> Option<Effect> {
    say(model, Drive::next_topic)
}

pub(super) fn on_change_step(model: &mut Model, by: i8) {
    if let Mode::Drive(drive) = &mut model.mode {
        drive.change_step(by);
    }
}

/// Stops the robot and drives no longer.
pub(super) fn leave(model: &mut Model) -> Option<Effect> {
    let halt = say(model, Drive::halt);
    if let Mode::Drive(drive) = &model.mode {
        let name = drive.model.clone();
        model.notify(
            format!("{name} is told to stop and driven no longer"),
            false,
        );
    }
    model.mode = Mode::Browse;
    halt
}

/// Drives no longer when the link is lost; the link itself stops the robot when it is back.
pub(super) fn on_disconnected(model: &mut Model) {
    if let Mode::Drive(drive) = &model.mode {
        let text = format!(
            "{} is told to stop as soon as the primary is reached",
            drive.model
        );
        model.notify(text, true);
        model.mode = Mode::Browse;
    }
}

/// Drives no longer when the robot is not there any more.
pub(super) fn on_performers(model: &mut Model) {
    let Mode::Drive(drive) = &model.mode else {
        return;
    };
    if !model
        .heard
        .performers
        .iter()
        .any(|one| one.name == drive.model)
    {
        let text = format!("{} is gone", drive.model);
        model.notify(text, true);
        model.mode = Mode::Browse;
    }
}

fn say(model: &mut Model, change: impl FnOnce(&mut Drive) -> Twisting) -> Option<Effect> {
    let Mode::Drive(drive) = &mut model.mode else {
        return None;
    };
    Some(Effect::Drive(change(drive)))
}
