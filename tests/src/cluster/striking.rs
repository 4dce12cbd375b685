//! How things go wrong in a simulated cluster, and how they are mended.

use std::time::Duration;

use protocol::PeerName;
use protocol::exit::Outcome;
use protocol::report::RunState;

use super::Cluster;
use super::delivery::Event;
use super::fault::Fault;
use super::network::{Stream, Ways};
use super::process::Life;

/// How long a secondary hears its primary out once the connection is broken.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl Cluster {
    /// Stops a secondary dead, as `kill -9` does; the network brings what it has sent.
    pub fn crash(&mut self, index: usize) {
        self.crash_process(index, false);
    }

    /// Begins a fault.
    pub(super) fn strike(&mut self, number: usize) {
        let planned = self.faults[number].clone();
        self.trace.note(self.now, || format!("fault: {planned}"));
        if let Fault::Join = planned.fault {
            self.start(planned.peer);
            return;
        }
        if let Fault::StallOfPrimary(_) = planned.fault {
            if self.primary_life == Life::Running {
                self.primary_life = Life::Stopped;
            }
            return self.mend_later(number, 0);
        }
        match planned.fault {
            Fault::CrashOfPrimary { is_torn, .. } => {
                self.crash_primary(is_torn);
                return self.mend_later(number, 0);
            }
            Fault::FullDisk(_) => {
                if let Some(journal) = &self.journal {
                    journal.set_full(true);
                }
                return self.mend_later(number, 0);
            }
            _ => {}
        }
        let is_meant = |name: &PeerName| *name == planned.peer;
        let victim = self.living().find(|(_, name, _)| is_meant(name));
        let Some((index, _, _)) = victim else {
            return;
        };
        match planned.fault {
            Fault::Crash { loses_messages } => self.crash_process(index, loses_messages),
            Fault::Stall(_) => self.processes[index].life = Life::Stopped,
            Fault::Cut { ways, .. } => self.network.cut(index, ways),
            Fault::Reset(_) => self.break_connection(index),
            Fault::Slow { factor, .. } => {
                let process = &mut self.processes[index];
                process.step_us = process.step_us.max(1) * factor;
            }
            Fault::StallOfPrimary(_)
            | Fault::CrashOfPrimary { .. }
            | Fault::FullDisk(_)
            | Fault::Join => unreachable!("these have no victim"),
        }
        self.mend_later(number, index);
    }

    fn mend_later(&mut self, number: usize, process: usize) {
        if let Some(duration) = self.faults[number].duration() {
            self.push(self.now + duration, Event::Mend(number, process));
        }
    }

    /// Ends a fault, for the process that it struck.
    pub(super) fn mend(&mut self, number: usize, index: usize) {
        let planned = self.faults[number].clone();
        self.trace.note(self.now, || format!("over: {planned}"));
        match planned.fault {
            Fault::StallOfPrimary(_) => {
                if self.primary_life == Life::Stopped {
                    self.primary_life = Life::Running;
                }
                while let Some(input) = self.primary_inbox.pop_front() {
                    self.give_primary(input);
                }
            }
            Fault::Stall(_) => {
                if self.processes[index].life == Life::Stopped {
                    self.processes[index].life = Life::Running;
                    self.drain_heart(index);
                    self.drain(index);
                }
            }
            Fault::Cut { .. } => {
                self.network.cut(index, Ways::default());
                self.release(index);
            }
            Fault::Reset(_) => {
                if self.broken.remove(&index) && self.processes[index].life != Life::Gone {
                    self.send_presence(index, true);
                }
                self.release(index);
            }
            Fault::Slow { factor, .. } => self.processes[index].step_us /= factor,
            Fault::CrashOfPrimary { .. } => self.resume_primary(),
            Fault::FullDisk(_) => {
                if let Some(journal) = &self.journal {
                    journal.set_full(false);
                }
            }
            Fault::Crash { .. } | Fault::Join => {}
        }
    }

    /// Sends on what was held back while a link was cut.
    fn release(&mut self, index: usize) {
        for (stream, event) in self.held.remove(&index).unwrap_or_default() {
            self.send(index, stream, event);
        }
    }

    fn crash_process(&mut self, index: usize, loses_messages: bool) {
        if loses_messages {
            let is_lost = |event: &Event| event.is_under_way(index, true);
            self.queue.retain(|_, event| !is_lost(event));
        }
        self.end_process(index);
    }

    /// The primary's process is gone, and those see it whose link holds.
    pub(super) fn end_primary(&mut self) {
        self.primary_life = Life::Gone;
        for index in 0..self.processes.len() {
            let is_cut = self.network.is_cut(index, Stream::Status);
            let secondary = self.processes[index].engine.secondary();
            let is_member = secondary.session() != protocol::SessionId::UNKNOWN;
            if self.processes[index].life != Life::Gone && is_member && !is_cut {
                let how = "the primary is gone: its connection closed";
                self.push(self.now + LAST_WORDS, Event::PrimaryLost(index, how));
            }
        }
    }

    /// A process is gone, and the primary sees it.
    pub(super) fn end_process(&mut self, index: usize) {
        self.processes[index].life = Life::Gone;
        self.send_presence(index, false);
        let reason = self.secondaries_finished.get(&index);
        let is_orderly = reason.is_some_and(|reason| reason.outcome == Outcome::Completed);
        let name = self.processes[index].name.clone();
        if let Some(delay) = self.restart_after.filter(|_| !is_orderly) {
            self.push(self.now + delay, Event::Start(name));
        }
    }

    /// Starts a secondary that has ended, while there is a run to join.
    pub(super) fn start_again(&mut self, name: PeerName) {
        let is_over = matches!(self.primary.run_state(), RunState::Stopping);
        let is_down = self.primary_life == Life::Gone;
        // Who belongs to an earlier primary is on its own.
        let is_there = self.processes.iter().any(|one| {
            one.name == name && one.life != Life::Gone && one.of_primary == self.primaries
        });
        if self.finished.is_none() && !is_over && !is_down && !is_there {
            self.start(name);
        }
    }

    /// A connection breaks: what is under way is lost, and both sides see it.
    fn break_connection(&mut self, index: usize) {
        let is_lost = |event: &Event| event.is_under_way(index, false);
        self.queue.retain(|_, event| !is_lost(event));
        self.broken.insert(index);
        self.send_presence(index, false);
        // A process that is not welcomed yet goes on asking.
        let secondary = self.processes[index].engine.secondary();
        if secondary.session() != protocol::SessionId::UNKNOWN {
            let how = "the primary is gone: its connection closed";
            self.push(self.now + LAST_WORDS, Event::PrimaryLost(index, how));
        }
    }
}
