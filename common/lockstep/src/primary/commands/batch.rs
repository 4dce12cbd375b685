//! [`Batch`]: commands that go into one step, no more than a message can carry.

use std::collections::BTreeMap;

use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Severity;
use protocol::{
    Command, FailureCode, PerformerId, Publisher, RequestId, RoutingId, ScheduledCommand,
    StampedAction, TopicMessage,
};

use crate::partition::Changes;
use crate::primary::commands::ros_inbox;
use crate::primary::context::{Context, Failure};
use crate::primary::io::PrimaryOutput;
use crate::primary::purpose::Purpose;
use crate::primary::world::WorldState;

/// Most bytes of commands without a bound of their own that go into one step; the rest waits for
/// the next one.
const BYTES_MAX: usize = 64 << 20;

/// A command that is part of a step under way.
#[derive(Debug)]
pub(crate) struct AppliedCommand {
    pub(crate) origin: Origin,
    /// The number of its actions.
    pub(crate) number: u64,
    /// The name of the model that it spawned.
    pub(crate) name: Option<String>,
    /// Warnings of that model: parts that are ignored or missing.
    pub(crate) warnings: Vec<String>,
    /// Performers that are no longer held together when it fails.
    pub(crate) joined: Option<[PerformerId; 2]>,
}

/// Commands that go into a step.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) actions: Vec<StampedAction>,
    pub(crate) messages: Vec<TopicMessage>,
    pub(crate) applied: Vec<AppliedCommand>,
    /// Performers that come with it.
    pub(crate) spawned: Vec<PerformerId>,
    /// Performers that go with it.
    pub(crate) removed: Vec<PerformerId>,
    /// True if a round must be made for it.
    pub(crate) is_needed: bool,
    /// Size of that in it that has no bound of its own \[bytes\].
    pub(crate) bytes: usize,
}

/// Changes of the next step that wait for states that are fetched first.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) purpose: Purpose,
    pub(crate) changes: Changes,
    pub(crate) batch: Batch,
}

/// Origin of a command.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A client, which waits for its reply.
    Client { to: RoutingId, request: RequestId },
    /// A node of ROS 2, which waits for nothing.
    Node,
    /// A system.
    System(Publisher),
    /// The schedule.
    Schedule,
}

impl Origin {
    /// Refuses a command, with the reason.
    pub(crate) fn refuse(&self, failure: impl Into<Failure>, cx: &mut Context<'_>) {
        let failure = failure.into();
        match self {
            Self::Client { to, request } => cx.fail(to.clone(), *request, &failure),
            Self::Schedule => {
                let text = format!("a scheduled command failed: {}", failure.reason);
                cx.event(Severity::Warning, "command", text);
            }
            Self::Node => {
                let text = format!("a message of ROS 2 is refused: {}", failure.reason);
                cx.event(Severity::Warning, ros_inbox::REFUSED, text);
            }
            Self::System(_) => {}
        }
    }

    /// Puts out what a run must be given to be repeated.
    pub(crate) fn record(&self, paused_round: Option<u32>, command: Command, cx: &mut Context<'_>) {
        if !matches!(self, Self::System(_)) {
            cx.push(PrimaryOutput::Stamped(ScheduledCommand {
                iteration: cx.iteration,
                paused_round,
                command,
            }));
        }
    }
}

impl Pending {
    /// Returns how many entries of the schedule go with an iteration that is not under way yet. In
    /// a round in which time is paused, those that were taken count as done.
    pub(crate) fn scheduled_for_time(&self) -> u64 {
        let applied = self.batch.applied.iter();
        match self.purpose {
            Purpose::Advance => applied.filter(|one| one.is_of_schedule()).count() as u64,
            Purpose::Build | Purpose::Pause | Purpose::Fetch | Purpose::Rearrange => 0,
        }
    }

    /// Returns its commands.
    pub(crate) fn into_applied(self) -> Vec<AppliedCommand> {
        self.batch.applied
    }
}

impl AppliedCommand {
    pub(crate) fn plain(origin: Origin, number: u64) -> Self {
        Self {
            origin,
            number,
            name: None,
            warnings: Vec::new(),
            joined: None,
        }
    }

    /// Tells the client that it is done, if a client asked for it.
    pub(crate) fn answer(self, cx: &mut Context<'_>) {
        if let Origin::Client { to, request } = self.origin {
            let reply = Reply::Done {
                iteration: cx.iteration,
                name: self.name,
                warnings: self.warnings,
            };
            cx.reply(to, request, reply);
        }
    }

    /// Tells whether the schedule has it done.
    fn is_of_schedule(&self) -> bool {
        matches!(self.origin, Origin::Schedule)
    }

    /// Returns who is held together by it, with the number of its actions.
    fn joined(&self) -> Option<(u64, [PerformerId; 2])> {
        Some((self.number, self.joined?))
    }
}

impl Batch {
    /// Tells whether nothing more fits into its step.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BYTES_MAX
    }

    /// Tells whether it changes models.
    pub(crate) fn changes_models(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Refuses attachments between performers that one cell cannot own.
    pub(crate) fn refuse_distant_attachments(
        &mut self,
        world: &mut WorldState,
        cx: &mut Context<'_>,
    ) {
        let applied = self.applied.iter();
        let attachments: Vec<(u64, [PerformerId; 2])> =
            applied.filter_map(AppliedCommand::joined).collect();
        for (number, ends) in attachments {
            if world.are_together(ends) {
                continue;
            }
            world.forget_attachment(&self.actions, number, ends);
            if let Some(origin) = self.take_out(number) {
                let reason = "the two are in levels that cannot be one cell now";
                origin.refuse((FailureCode::WrongState, reason), cx);
            }
        }
    }

    /// Takes a command that cannot be granted after all out of it.
    fn take_out(&mut self, number: u64) -> Option<Origin> {
        self.actions.retain(|stamped| stamped.number != number);
        let place = self.applied.iter().position(|one| one.number == number)?;
        Some(self.applied.remove(place).origin)
    }
}

/// Answers those whose commands a completed step has brought.
pub(crate) fn answer_applied(
    applied: Vec<AppliedCommand>,
    actions: &[StampedAction],
    failures: &BTreeMap<u64, String>,
    world: &mut WorldState,
    cx: &mut Context<'_>,
) {
    for one in applied {
        match failures.get(&one.number) {
            Some(reason) => {
                if let Some(ends) = one.joined {
                    world.forget_attachment(actions, one.number, ends);
                }
                one.origin.refuse((FailureCode::Other, reason.as_str()), cx);
            }
            None => one.answer(cx),
        }
    }
}

/// Returns the size of a command, where that has no bound of its own \[bytes\].
pub(crate) fn size(command: &Command) -> usize {
    match command {
        Command::Spawn(request) => request.sdf.len(),
        Command::Publish { body, .. } | Command::CallService { body, .. } => body.len(),
        _ => 0,
    }
}
