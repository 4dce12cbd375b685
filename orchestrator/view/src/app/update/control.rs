//! Commands that change the run: sent at once, or after a question.

use client::control::Asked;
use protocol::Command;
use protocol::client_to_primary::ResetKind;
use protocol::report::RunState;

use super::typing::open_palette;
use crate::app::command::Effect;
use crate::app::model::{Mode, Model, Question};
use crate::panels::Panel;

/// Reason why a view that only watches changes nothing.
pub(super) const READ_ONLY: &str =
    "this view only watches; leave it and attach without --read-only";

/// The real-time factors between which keys go.
const PACE_MIN: f64 = 1.0 / 64.0;
const PACE_MAX: f64 = 64.0;

pub(super) fn on_toggle_play(model: &mut Model) -> Option<Effect> {
    match model.run_state() {
        RunState::Paused => send(model, Command::Play),
        RunState::Running | RunState::Recovering => send(model, Command::Pause),
        RunState::Waiting => refuse(model, "the run has not begun; it waits for its secondaries"),
        RunState::Stopping => refuse(model, "the run ends"),
    }
}

pub(super) fn on_step(model: &mut Model, count: u64) -> Option<Effect> {
    match model.run_state() {
        RunState::Paused => send(model, Command::Step { count }),
        RunState::Running | RunState::Recovering => {
            refuse(model, "single steps are for a paused run; Space pauses")
        }
        RunState::Waiting => refuse(model, "the run has not begun; it waits for its secondaries"),
        RunState::Stopping => refuse(model, "the run ends"),
    }
}

/// Doubles or halves the real-time factor that is asked for.
pub(super) fn on_pace(model: &mut Model, is_faster: bool) -> Option<Effect> {
    let Some(stats) = &model.heard.stats else {
        return refuse(model, "the pace is not known yet");
    };
    // What was asked for and is not answered yet counts: keys may come faster than answers.
    let asked = model
        .prompt
        .pending
        .iter()
        .rev()
        .find_map(|command| match command {
            Command::SetRealTimeFactor { factor } => Some(*factor),
            _ => None,
        });
    let asked = asked.unwrap_or(stats.real_time_factor_asked);
    let measured = stats.real_time_factor;
    if asked <= 0.0 && is_faster {
        return refuse(model, "the run goes as fast as possible already");
    }
    let base = if asked > 0.0 {
        asked
    } else if measured.is_finite() && measured > 0.0 {
        // From as fast as possible to the next power of two below what that is.
        2.0_f64.powf(measured.log2().ceil())
    } else {
        2.0
    };
    let wanted = if is_faster { base * 2.0 } else { base / 2.0 };
    let factor = wanted.clamp(PACE_MIN, PACE_MAX);
    if factor == asked {
        let reason =
            "that is as far as keys go; `:set-real-time-factor X` sets any, 0 is unbounded";
        return refuse(model, reason);
    }
    let effect = send(model, Command::SetRealTimeFactor { factor });
    if effect.is_some() {
        model.notify(format!("pace: {factor} x real time (was {asked})"), false);
    }
    effect
}

pub(super) fn on_reset(model: &mut Model) {
    ask_for(
        model,
        "Reset",
        "Set time and all models back to the start?".to_owned(),
        Command::Reset {
            what: ResetKind::All,
        },
    );
}

pub(super) fn ask_to_stop(model: &mut Model) {
    let text = "Stop the run on all its peers?".to_owned();
    ask_for(model, "Stop", text, Command::Stop);
}

pub(super) fn on_remove(model: &mut Model) {
    let Some(name) = model.tables[Panel::Performers]
        .selected()
        .map(str::to_owned)
    else {
        model.notify("no performer is selected", true);
        return;
    };
    let text = format!("Take {name} out of the world for good?");
    ask_for(model, "Remove", text, Command::Remove { model: name });
}

pub(super) fn on_move_cell(model: &mut Model) {
    match model.tables[Panel::Levels].selected().map(str::to_owned) {
        Some(level) => open_palette(model, &format!("move-cell {level} ")),
        None => model.notify("no level is selected", true),
    }
}

pub(super) fn on_publish(model: &mut Model) {
    let selected = model.tables[Panel::Topics].selected();
    let topic =
        selected.and_then(|name| model.heard.topics.iter().find(|topic| topic.topic == name));
    match topic.map(|topic| format!("pub {} {} ", topic.topic, topic.kind)) {
        Some(line) => open_palette(model, &line),
        None => open_palette(model, "pub "),
    }
}

/// Sends a command, unless it could not be.
pub(super) fn send(model: &mut Model, command: Command) -> Option<Effect> {
    if let Some(reason) = refusal(model) {
        return refuse(model, reason);
    }
    model.prompt.pending.push(command.clone());
    model.prompt.notice = None;
    Some(Effect::Send(command))
}

/// Has the file of a command read, unless the command could not be sent.
pub(super) fn load(model: &mut Model, asked: Asked) -> Option<Effect> {
    if let Some(reason) = refusal(model) {
        return refuse(model, reason);
    }
    if let Some(file) = asked.file() {
        model.notify(format!("reading {}", file.display()), false);
    }
    Some(Effect::Load(asked))
}

/// Returns why no command can be sent now, if none can.
fn refusal(model: &Model) -> Option<&'static str> {
    if model.session.recording.is_some() {
        Some(super::replay::RECORDED)
    } else if model.session.is_read_only {
        Some(READ_ONLY)
    } else if model.is_over() {
        Some("the run is over")
    } else if model.is_stale() {
        Some("the primary cannot be reached")
    } else {
        None
    }
}

/// Says why nothing is done.
pub(super) fn refuse(model: &mut Model, reason: &str) -> Option<Effect> {
    model.notify(reason, true);
    None
}

pub(super) fn ask(model: &mut Model, question: Question) {
    model.mode = Mode::Confirm(question);
}

fn ask_for(model: &mut Model, title: &str, text: String, command: Command) {
    ask(
        model,
        Question::Command {
            title: title.to_owned(),
            text,
            command,
        },
    );
}
