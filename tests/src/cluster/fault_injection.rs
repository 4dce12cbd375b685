//! Injection of faults into a simulated cluster, and their repair.

use std::time::Duration;

use lockstep::PeerLossPolicy;
use protocol::PeerName;
use protocol::exit::Outcome;
use protocol::report::RunState;

use super::Cluster;
use super::delivery::Event;
use super::fault::Fault;
use super::network::Stream;
use super::process::Life;

/// Time for which a secondary hears its primary out once the connection is broken.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl Cluster {
    /// Stops a secondary dead, as `kill -9` does; the network brings what it has sent.
    pub fn crash(&mut self, index: usize) {
        self.crash_process(index, false);
    }

    /// Begins a fault.
    pub(super) fn strike(&mut self, number: usize) {
        let planned = self.links.faults[number].clone();
        self.setup
            .trace
            .note(self.schedule.now, || format!("fault: {planned}"));
        let is_meant = |name: &PeerName| *name == planned.peer;
        let victim = self.living().find(|(_, name, _)| is_meant(name));
        let victim = victim.map(|(index, _, _)| index);
        match (planned.fault, victim) {
            (Fault::Join, _) => {
                self.start(planned.peer);
            }
            (Fault::StallOfPrimary(_), _) => {
                self.primary_process.stalls += 1;
                if self.primary_process.life == Life::Running {
                    self.primary_process.life = Life::Stopped;
                }
            }
            (Fault::StallOfStepper(_), _) => self.primary_process.stepper_stalls += 1,
            (Fault::CrashOfPrimary { is_torn, .. }, _) => self.crash_primary(is_torn),
            (Fault::PowerLoss { .. }, _) => self.lose_power(),
            (Fault::FullDisk(_), _) => self.fill_disk(true),
            (Fault::HungDisk(duration), _) => {
                let until = self.schedule.now + duration;
                if let Some(journal) = &mut self.saved.journal {
                    journal.hang(until);
                }
            }
            (_, None) => return,
            (Fault::Crash { loses_messages }, Some(index)) => {
                self.crash_process(index, loses_messages);
            }
            (Fault::Stall(_), Some(index)) => {
                self.processes[index].stalls += 1;
                self.processes[index].life = Life::Stopped;
            }
            (Fault::Cut { ways, .. }, Some(index)) => self.links.network.cut(index, number, ways),
            (Fault::Reset(_), Some(index)) => self.break_connection(index),
            (Fault::Slow { factor, .. }, Some(index)) => {
                let process = &mut self.processes[index];
                process.step_us = process.step_us.max(1) * factor;
            }
        }
        if let Some(duration) = self.links.faults[number].duration() {
            let mend = Event::Mend(number, victim.unwrap_or_default());
            self.push(self.schedule.now + duration, mend);
        }
    }

    fn fill_disk(&mut self, is_full: bool) {
        if let Some(journal) = &self.saved.journal {
            journal.set_full(is_full);
        }
    }

    /// Ends a fault, for the process that it struck.
    pub(super) fn mend(&mut self, number: usize, index: usize) {
        let planned = self.links.faults[number].clone();
        self.setup
            .trace
            .note(self.schedule.now, || format!("over: {planned}"));
        match planned.fault {
            Fault::StallOfPrimary(_) => {
                self.primary_process.stalls = self.primary_process.stalls.saturating_sub(1);
                if self.primary_process.stalls > 0 || self.primary_process.life != Life::Stopped {
                    return;
                }
                self.primary_process.life = Life::Running;
                self.catch_up_on_inbox();
            }
            Fault::StallOfStepper(_) => {
                self.primary_process.stepper_stalls =
                    self.primary_process.stepper_stalls.saturating_sub(1);
                self.catch_up_on_inbox();
            }
            Fault::Stall(_) => {
                let process = &mut self.processes[index];
                process.stalls -= 1;
                if process.stalls == 0 && process.life == Life::Stopped {
                    process.life = Life::Running;
                    self.drain_heart(index);
                    self.drain(index);
                }
            }
            Fault::Cut { .. } => {
                self.links.network.mend(index, number);
                self.release(index);
            }
            Fault::Reset(_) => {
                if self.links.broken.remove(&index) && self.processes[index].life != Life::Gone {
                    self.send_presence(index, true);
                }
                self.release(index);
            }
            Fault::Slow { factor, .. } => self.processes[index].step_us /= factor,
            Fault::CrashOfPrimary { .. } | Fault::PowerLoss { .. } => self.resume_primary(),
            Fault::FullDisk(_) => self.fill_disk(false),
            Fault::Crash { .. } | Fault::Join | Fault::HungDisk(_) => {}
        }
    }

    /// Has the primary read what has arrived while it did nothing.
    fn catch_up_on_inbox(&mut self) {
        while self.is_primary_awake()
            && let Some(input) = self.primary_process.inbox.pop_front()
        {
            self.give_primary(input);
        }
    }

    /// Sends on what was held back while a link was cut.
    fn release(&mut self, index: usize) {
        for (stream, event) in self.links.held.remove(&index).unwrap_or_default() {
            self.send(index, stream, event);
        }
    }

    fn crash_process(&mut self, index: usize, loses_messages: bool) {
        if loses_messages {
            let is_lost = |event: &Event| event.is_under_way(index, true);
            self.schedule.queue.retain(|_, event| !is_lost(event));
        }
        self.end_process(index);
    }

    /// The primary's process is gone, and those see it whose link holds.
    pub(super) fn end_primary(&mut self) {
        self.primary_process.life = Life::Gone;
        for index in 0..self.processes.len() {
            let is_cut = self.links.network.is_cut(index, Stream::Status);
            let secondary = self.processes[index].engine.secondary();
            let is_member = secondary.session() != protocol::SessionId::UNKNOWN;
            if self.processes[index].life != Life::Gone && is_member && !is_cut {
                let how = "the primary is gone: its connection closed";
                self.push(
                    self.schedule.now + LAST_WORDS,
                    Event::PrimaryLost(index, how),
                );
            }
        }
    }

    /// Looks whether observers have all that was said, once all have ended.
    ///
    /// # Panics
    /// Panics if data is missing. Data may be missing of a lost secondary whose steps nobody has
    /// done again, since the run stops without it or nobody has seen its loss, of a secondary whose
    /// link is still cut, and where it was under way when a connection broke: nobody sends data
    /// twice.
    pub fn end_delivery(&mut self) {
        let is_data = |_: &_, event: &mut Event| matches!(event, Event::Data(..));
        let left: Vec<_> = self.schedule.queue.extract_if(.., is_data).collect();
        for ((at, _), event) in left {
            self.schedule.now = self.schedule.now.max(at);
            self.happen(event);
        }
        let stops = self.settings.recovery.on_peer_loss == PeerLossPolicy::Stop;
        let indices = 0..self.processes.len();
        let final_losses = indices.filter(|index| {
            let end = self.outcome.secondaries_finished.get(index);
            let is_completed = end.is_some_and(|reason| reason.outcome == Outcome::Completed);
            !is_completed && (stops || self.is_member(*index))
        });
        // The primary ends without those whose links are still cut.
        let is_data = |(_, event): &(Stream, Event)| matches!(event, Event::Data(..));
        let held = self.links.held.iter();
        let held = held.filter(|(_, messages)| messages.iter().any(is_data));
        let lost: Vec<PeerName> = final_losses
            .chain(held.map(|(index, _)| *index))
            .map(|index| self.processes[index].name.clone())
            .collect();
        let cut = &self.links.cut_data;
        self.checks
            .delivery
            .on_end(self.schedule.now, |name, sequence| {
                lost.contains(name) || cut.contains(&(name.clone(), sequence))
            });
    }

    /// A process is gone, and the primary sees it.
    pub(super) fn end_process(&mut self, index: usize) {
        self.processes[index].life = Life::Gone;
        self.send_presence(index, false);
        let reason = self.outcome.secondaries_finished.get(&index);
        let is_orderly = reason.is_some_and(|reason| reason.outcome == Outcome::Completed);
        let name = self.processes[index].name.clone();
        if let Some(delay) = self.setup.restart_after.filter(|_| !is_orderly) {
            self.push(self.schedule.now + delay, Event::Start(name));
        }
    }

    /// Starts a secondary that has ended, while there is a run to join.
    pub(super) fn start_again(&mut self, name: PeerName) {
        let is_over = matches!(self.primary.run_state(), RunState::Stopping);
        let is_down = self.primary_process.life == Life::Gone;
        // Who belongs to an earlier primary is on its own.
        let is_there = self.processes.iter().any(|one| {
            one.name == name && one.life != Life::Gone && one.of_primary == self.saved.primaries
        });
        if self.outcome.finished.is_none() && !is_over && !is_down && !is_there {
            self.start(name);
        }
    }

    /// A connection breaks: what is under way is lost, and both sides see it.
    fn break_connection(&mut self, index: usize) {
        let is_lost = |_: &_, event: &mut Event| event.is_under_way(index, false);
        for (_, event) in self.schedule.queue.extract_if(.., is_lost) {
            if let Event::Data(index, batch) = event {
                let name = self.processes[index].name.clone();
                self.links.cut_data.insert((name, batch.sequence));
            }
        }
        self.links.broken.insert(index);
        self.send_presence(index, false);
        // A process that is not welcomed yet goes on asking.
        let secondary = self.processes[index].engine.secondary();
        if secondary.session() != protocol::SessionId::UNKNOWN {
            let how = "the primary is gone: its connection closed";
            self.push(
                self.schedule.now + LAST_WORDS,
                Event::PrimaryLost(index, how),
            );
        }
    }
}
