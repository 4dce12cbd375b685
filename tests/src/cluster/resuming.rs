//! A primary that is killed, and another process that takes the run up again from its journal.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstep::{Primary, Settings};
use protocol::primary_to_client::Reply;
use protocol::primary_to_secondary::Step;
use protocol::{Command, Iteration, PrimaryToClient, RequestId, Sequence, SessionId};

use super::Cluster;
use super::delivery::Event;
use super::journaling::Journal;
use super::output_files::{OutputFiles, Outputs};
use super::process::Life;
use super::scenario::name_of;
use crate::checkers::{Barrier, Delivery, Ownership, Publishers};

/// Time for which a client waits before it asks again.
const ASK_AGAIN: Duration = Duration::from_millis(50);
/// Difference between the number of a request and that of the same request made again.
const AGAIN: u64 = 1000;
/// Beyond all numbers of requests that are asked again; each pause has its own numbers.
const PLAYS: u64 = 1 << 40;
/// Time from a pause that was asked for again until time is let run.
const PLAYED_AFTER: Duration = Duration::from_secs(2);

/// State of the checkers at steps of which checkpoints are made.
#[derive(Debug, Default)]
pub(super) struct Past {
    known: BTreeMap<Sequence, (Ownership, Barrier)>,
}

impl Past {
    pub(super) fn note(&mut self, step: &Step, ownership: &Ownership, barrier: &Barrier) {
        if step.checkpoint {
            let known = (ownership.clone(), barrier.clone());
            self.known.insert(step.sequence, known);
        }
    }
}

impl Cluster {
    /// Has the run write a journal, where each record takes so long to be written.
    pub fn keep_journal(&mut self, delay: Duration) {
        let worlds = sdf::encode_worlds(&self.worlds);
        self.saved.journal = Some(Journal::new(&self.settings, worlds, delay));
    }

    /// Has the run write digests, states and commands.
    pub fn write_outputs(&mut self) {
        self.saved.outputs = Some(OutputFiles::new(&self.primary));
    }

    /// Has `digests`, `states` or `commands` miss an iteration, to show that it is seen.
    pub fn leave_out_of_outputs(&mut self, name: &'static str, iteration: Iteration) {
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.leave_out(name, iteration);
        }
    }

    /// Marks the end of what the run wrote, and reads it; nothing if it was not to write anything.
    ///
    /// # Panics
    /// Panics if the files are not what such files are.
    pub fn finish_outputs(&mut self) -> Option<Outputs> {
        self.saved.outputs.as_mut().map(OutputFiles::finish)
    }

    /// Writes what is due, and tells the primary what it must know of it.
    pub(super) fn write_journal(&mut self) {
        let Some(journal) = &mut self.saved.journal else {
            return;
        };
        for input in journal.write(self.schedule.now) {
            self.setup
                .trace
                .note(self.schedule.now, || format!("disk: {input:?}"));
            self.give_primary(input);
        }
        let journal = self.saved.journal.as_mut();
        if let Some(lengths) = journal.and_then(Journal::take_beside_synced)
            && let Some(outputs) = &mut self.saved.outputs
        {
            outputs.note_synced(lengths);
        }
        self.answer_held();
    }

    /// Kills the primary's process.
    pub(super) fn crash_primary(&mut self, is_torn: bool) {
        if self.primary_process.life == Life::Gone {
            return;
        }
        self.primary_process.inbox.clear();
        self.primary_process.stalls = 0;
        self.primary_process.stepper_stalls = 0;
        self.clients.held_replies.clear();
        self.checks.answers.forget_open();
        if let Some(journal) = &mut self.saved.journal {
            journal.crash(is_torn);
        }
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.crash();
        }
        self.end_primary();
    }

    /// Ends all processes, and what the disk has not synced.
    pub(super) fn lose_power(&mut self) {
        if self.primary_process.life == Life::Gone {
            return;
        }
        self.crash_primary(false);
        if let Some(journal) = &mut self.saved.journal {
            journal.lose_power();
        }
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.lose_power();
        }
        // Who asked may have heard of what is lost now.
        self.clients.done_commands = 0;
        let living: Vec<usize> = self.living().map(|(index, _, _)| index).collect();
        for index in living {
            self.crash(index);
        }
    }

    /// Takes the run up again, with as many new secondaries as it began with.
    ///
    /// # Panics
    /// Panics if the journal cannot be read, or has lost what was written.
    pub(super) fn resume_primary(&mut self) {
        let Some(journal) = &mut self.saved.journal else {
            return;
        };
        if self.outcome.finished.is_some() || self.primary_process.life != Life::Gone {
            return;
        }
        let reach = self.saved.outputs.as_ref().map(OutputFiles::reach);
        let (folder, recovered) = journal.read(reach);
        assert!(
            recovered.committed >= journal.written,
            "iteration {} was written, and the journal ends with {}",
            journal.written,
            recovered.committed
        );
        self.saved.primaries += 1;
        self.checks.delivery = Delivery::default();
        self.checks.publishers = Publishers::default();
        let settings = Settings {
            session: SessionId(0xf00d + u64::from(self.saved.primaries)),
            ..self.settings.clone()
        };
        let (committed, end) = (recovered.committed, recovered.end);
        let done = recovered.saved.as_ref();
        let done = done.map(|saved| (saved.checkpoint.iteration, saved.mark.commands));
        let checkpoint = recovered.saved.map(|saved| (*saved.checkpoint).clone());
        let sequence = checkpoint.as_ref().map(|one| one.sequence);
        self.primary = if let Some(checkpoint) = checkpoint {
            let resumed = Primary::resume(settings, &self.worlds, checkpoint, recovered.replay);
            resumed.unwrap_or_else(|error| panic!("the checkpoint is of this run: {error}"))
        } else {
            let mut primary = Primary::new(settings, &self.worlds);
            primary.begin_replay(recovered.replay);
            primary
        };
        if let Some(outputs) = &mut self.saved.outputs {
            outputs.resume(&self.primary, done);
        }
        let is_replaying = self.primary.is_replaying();
        journal.resume(folder, end, is_replaying);
        self.setup.trace.note(self.schedule.now, || {
            format!("resumed after step {sequence:?}, up to iteration {committed}")
        });
        assert!(
            end.commands >= self.clients.done_commands,
            "{} commands were answered as done, and the journal ends with {}",
            self.clients.done_commands,
            end.commands
        );
        self.checks.commits.on_resumed(committed);
        self.clients.stamped.truncate(end.commands as usize);
        self.clients.complete_commands = self.clients.stamped.len() as u64;
        self.recall(sequence);
        self.primary_process.life = Life::Running;
        for number in 1..=self.settings.peers.secondaries {
            self.start(name_of(u64::from(number)));
        }
        // Who finds the run paused lets it go on.
        let request = RequestId(AGAIN / 2 + u64::from(self.saved.primaries));
        let play = Event::Request(request, Box::new(Command::Play));
        self.push(self.schedule.now + Duration::from_millis(300), play);
    }

    /// The checkers go back to where the primary does.
    fn recall(&mut self, sequence: Option<Sequence>) {
        let known = sequence.map(|sequence| {
            let known = self.saved.past.known.get(&sequence);
            known.expect("checkpoints are of steps that asked for them")
        });
        let (mut ownership, mut barrier) = known.cloned().unwrap_or_default();
        ownership.on_resumed();
        barrier.on_resumed();
        let before = &self.checks.witness.ownership;
        ownership.hand_offs = before.hand_offs;
        ownership.migrations = before.migrations;
        ownership.restored = before.restored;
        self.checks.witness.ownership = ownership;
        self.checks.witness.effects.on_resumed();
        self.checks.barrier = barrier;
    }

    /// Asks for something again after a while.
    pub(super) fn ask_later(&mut self, request: u64, command: Command) {
        let at = self.schedule.now + ASK_AGAIN;
        self.push(at, Event::Request(RequestId(request), Box::new(command)));
    }

    /// A client that is told to wait asks again.
    pub(super) fn ask_again(&mut self, message: &PrimaryToClient) {
        let Reply::Failed { reason, .. } = &message.reply else {
            return;
        };
        if reason.contains("until that is mended")
            && let Some(command) = self.clients.asked.remove(&message.request)
        {
            let again = message.request.0 + AGAIN;
            if matches!(command, Command::Pause | Command::Step { .. }) {
                // It may come after all that let time run again.
                let at = self.schedule.now + PLAYED_AFTER;
                let number = again + again / AGAIN * PLAYS;
                let play = Box::new(Command::Play);
                self.push(at, Event::Request(RequestId(number), play));
            }
            self.ask_later(again, command);
        }
    }

    /// Tells the journal what steps aim at now.
    pub(super) fn note_aim(&mut self) {
        if let Some(journal) = &mut self.saved.journal {
            journal.note_aim(self.primary.run_target(), self.schedule.now);
        }
    }
}
