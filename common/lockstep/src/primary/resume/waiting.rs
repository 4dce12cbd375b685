//! [`WaitingCommands`]: commands of clients that wait until a resumed run has replayed its past.

use std::collections::VecDeque;

use protocol::{Command, FailureCode, RequestId, RoutingId};

use crate::primary::commands::{WAITERS_MAX, WAITING_BYTES_MAX, batch};
use crate::primary::context::{Context, Failure};
use crate::primary::resume::Resume;
use crate::primary::spawn_text::ReadText;

/// Command of a client, with those of its texts that were read beside the steps.
#[derive(Debug)]
pub(crate) struct WaitingCommand {
    /// Address of the client.
    pub from: RoutingId,
    /// Its request.
    pub request: RequestId,
    /// Command and texts.
    pub command: (Command, Vec<ReadText>),
}

/// Commands in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct WaitingCommands {
    commands: VecDeque<WaitingCommand>,
    bytes: usize,
}

impl Resume {
    /// Returns a command that can be done or refused now; keeps one that has to wait until the
    /// replay ends, and refuses it where too many wait already.
    pub(crate) fn admit(
        &mut self,
        waiting: WaitingCommand,
        cx: &mut Context<'_>,
    ) -> Option<WaitingCommand> {
        if !self.has_to_wait(&waiting.command.0) {
            return Some(waiting);
        }
        let bytes = batch::size(&waiting.command.0);
        let kept = &mut self.waiting;
        if kept.commands.len() >= WAITERS_MAX || kept.bytes + bytes > WAITING_BYTES_MAX {
            let reason = "too many commands wait until the run has replayed its past";
            cx.fail(
                waiting.from,
                waiting.request,
                (FailureCode::TooMuch, reason),
            );
            return None;
        }
        kept.bytes += bytes;
        kept.commands.push_back(waiting);
        None
    }

    /// Takes the first command that has waited, once the replay has ended.
    pub(crate) fn take_admitted(&mut self) -> Option<WaitingCommand> {
        if self.is_replaying() {
            return None;
        }
        let first = self.waiting.commands.pop_front()?;
        self.waiting.bytes -= batch::size(&first.command.0);
        Some(first)
    }

    /// Answers all commands that wait: they will not be done.
    pub(crate) fn fail_waiting(&mut self, failure: &Failure, cx: &mut Context<'_>) {
        for command in std::mem::take(&mut self.waiting).commands {
            cx.fail(command.from, command.request, failure);
        }
    }
}
