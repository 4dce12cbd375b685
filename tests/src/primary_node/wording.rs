//! Wording of a primary's messages to secondaries, in transcripts.

use std::fmt::Write;

use protocol::primary_to_secondary::{CatchUp, CatchUpContent, HandOff, Suspension, Wanted};
use protocol::{Action, ModelId, PeerName, PrimaryToSecondary};

pub(super) fn secondary_message(message: &PrimaryToSecondary) -> String {
    match message {
        PrimaryToSecondary::Welcome(_) => "welcome".to_owned(),
        PrimaryToSecondary::Refused(refusal) => format!("refused: {}", refusal.reason),
        PrimaryToSecondary::Sync => "sync".to_owned(),
        PrimaryToSecondary::CellSnapshot(snapshot) => format!("snapshot of cell {}", snapshot.cell),
        PrimaryToSecondary::CatchUp(part) => part_of_job(part),
        PrimaryToSecondary::HeartbeatEcho(echo) => format!("echo {}", echo.count),
        PrimaryToSecondary::Stop(reason) => format!("stop {reason}"),
        PrimaryToSecondary::Dismiss(reason) => format!("dismiss {reason}"),
        PrimaryToSecondary::Step(step) => {
            let mut text = format!("step {} iteration {}", step.sequence, step.iteration);
            if step.paused {
                text.push_str(" paused");
            }
            if step.checkpoint {
                text.push_str(" checkpoint");
            }
            if step.reset {
                text.push_str(" anew");
            }
            for change in &step.affinities {
                let host = change.secondary.as_ref().map_or("nobody", PeerName::as_str);
                let _ = write!(text, " cell {}>{host}", change.cell);
            }
            for change in &step.level_changes {
                let sign = if change.loaded { '+' } else { '-' };
                let _ = write!(text, " cell {}{sign}level {}", change.cell, change.level);
            }
            for HandOff {
                performer,
                from,
                to,
                ..
            } in &step.hand_offs
            {
                let _ = write!(text, " performer {performer}: cell {from}>{to}");
            }
            for change in &step.ghost_changes {
                let sign = if change.present { '+' } else { '-' };
                let _ = write!(
                    text,
                    " cell {}{sign}ghost {}",
                    change.cell, change.performer
                );
            }
            for Suspension { cell, suspended } in &step.suspensions {
                let what = if *suspended { "suspended" } else { "resumed" };
                let _ = write!(text, " cell {cell} {what}");
            }
            for stamped in &step.actions {
                let _ = write!(text, " {}", action(&stamped.action));
            }
            if let Some(topics) = &step.participant_topics {
                let _ = write!(text, " programs hear [{}]", topics.join(" "));
            }
            for message in &step.messages {
                let _ = write!(text, " said on {}", message.topic);
            }
            let Wanted {
                poses,
                states,
                snapshots,
            } = &step.wanted;
            say_wanted(&mut text, "poses", poses);
            say_wanted(&mut text, "states", states);
            say_wanted(&mut text, "snapshots", snapshots);
            text
        }
    }
}

fn part_of_job(part: &CatchUp) -> String {
    match &part.content {
        CatchUpContent::Begin { until, cells, .. } => {
            let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
            format!("job {}: cells {} up to {until}", part.job, cells.join(" "))
        }
        CatchUpContent::Cell(snapshot) => format!("job {}: cell {}", part.job, snapshot.cell),
        CatchUpContent::Steps(steps) => format!("job {}: {} steps", part.job, steps.len()),
    }
}

fn say_wanted(text: &mut String, what: &str, ids: &[impl std::fmt::Display]) {
    if ids.is_empty() {
        return;
    }
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let _ = write!(text, " wants {what} {}", ids.join(","));
}

fn action(action: &Action) -> String {
    let name = |model: &ModelId| format!("model {}", model.model);
    match action {
        Action::Spawn(spawn) => {
            let cell = spawn
                .cell
                .map_or_else(String::new, |cell| format!(" in cell {cell}"));
            format!("spawn {}{cell}", name(&spawn.model))
        }
        Action::Remove { model } => format!("remove {}", name(model)),
        Action::SetState { model, pose, .. } => {
            let what = if pose.is_some() { "place" } else { "speed up" };
            format!("{what} {}", name(model))
        }
        Action::Attach { parent, child } => {
            format!("attach {} to {}", name(&child.model), name(&parent.model))
        }
        Action::Detach { parent, child } => {
            format!("detach {} from {}", name(&child.model), name(&parent.model))
        }
        Action::Wrench { link, .. } => format!("push {}", name(&link.model)),
        Action::SetJoint { model, .. } => format!("set joint of {}", name(model)),
        Action::SetCollisions { model, .. } => format!("set collisions of {}", name(model)),
        Action::SetSeed(seed) => format!("seed {seed}"),
        Action::SetStepSize(nanoseconds) => format!("steps of {nanoseconds} ns"),
    }
}
