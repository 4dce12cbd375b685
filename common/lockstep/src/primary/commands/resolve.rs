//! Resolution of commands: each is made into actions by the state that it changes.

use protocol::report::TopicReport;
use protocol::{Action, Command, Publisher, SimTime, TopicMessage};

use crate::primary::context::Context;
use crate::primary::run_clock::RunClock;
use crate::primary::settings::Settings;
use crate::primary::spawn_text::ReadText;
use crate::primary::world::WorldState;
use crate::primary::world::resolve::{CommandError, ResolvedCommand};
use crate::publication;

/// State that commands change.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) world: &'a mut WorldState,
    pub(crate) clock: &'a mut RunClock,
    pub(crate) settings: &'a mut Settings,
}

/// Notes what a command changes here, and returns what it changes in cells; its text may have been
/// read.
pub(crate) fn resolve(
    command: &Command,
    text: Option<ReadText>,
    scope: &mut Scope<'_>,
    cx: &mut Context<'_>,
) -> Result<ResolvedCommand, CommandError> {
    match command {
        Command::Spawn(request) => scope.world.resolve_spawn(request, text, cx),
        Command::Remove { model } => scope.world.resolve_remove(model),
        Command::SetPoses { poses } => scope.world.resolve_poses(poses),
        Command::SetStates { states } => scope.world.resolve_states(states),
        Command::SetPerformer { model, size } => scope.world.resolve_performer(model, *size),
        Command::ApplyWrench {
            link,
            force,
            torque,
            duration_s,
        } => {
            let next = (scope.clock.elapsed(), scope.settings.pace.step_size);
            scope
                .world
                .resolve_wrench(link, [*force, *torque], *duration_s, next)
        }
        Command::SetJoint {
            joint,
            axis,
            position,
            velocity,
        } => scope
            .world
            .resolve_joint(joint, *axis, *position, *velocity),
        Command::SetJoints { model, positions } => scope.world.resolve_joints(model, positions),
        Command::SetCollisions { entity, enabled } => {
            scope.world.resolve_collisions(entity, *enabled)
        }
        Command::Attach { parent, child } => scope.world.resolve_attach(parent, child),
        Command::Detach { parent, child } => scope.world.resolve_detach(parent, child),
        Command::SetSeed { seed } => {
            scope.settings.seed = *seed;
            Ok(ResolvedCommand::of(Action::SetSeed(*seed)))
        }
        Command::SetStepSize { step_size_s } => {
            let step_size = scope.world.set_step_size(*step_size_s)?;
            scope.settings.pace.step_size = step_size;
            scope
                .clock
                .set_step_size(step_size, scope.settings.pace.real_time_factor);
            let nanoseconds = step_size.as_nanos() as u64;
            Ok(ResolvedCommand::of(Action::SetStepSize(nanoseconds)))
        }
        // Commands of the run, and those of worlds that change no model of a cell.
        _ => Err(CommandError::NotForSystems),
    }
}

/// Returns what a client says on a topic, once it is a message of its kind.
pub(crate) fn message_of(
    topic: String,
    kind: &str,
    body: Vec<u8>,
    topics: &[TopicReport],
    cx: &Context<'_>,
) -> Result<TopicMessage, CommandError> {
    let checked = publication::check(topics, &topic, kind, &body);
    let kind = checked.map_err(CommandError::Publication)?;
    Ok(TopicMessage {
        topic,
        kind: kind.name.to_owned(),
        publisher: Publisher::Client,
        iteration: cx.iteration,
        sim_time: SimTime(0),
        body,
    })
}

#[cfg(test)]
mod tests;
