//! How long the others are waited for, in three stages: who blocks is named, then what is known of
//! it is told, then it is given up. A process that a debugger has stopped may be waited for.
//!
//! What a process does is known to the driver alone, which answers [`PrimaryOutput::Diagnose`] with
//! [`PrimaryInput::Diagnosed`](crate::primary::PrimaryInput::Diagnosed) where it can; without an
//! answer only what is heard of a peer is told.

use crate::primary::peers::Peers;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::Severity;
use protocol::{PeerName, SessionTime, StopReason};

use crate::primary::context::Context;
use crate::primary::{Primary, PrimaryOutput, ProcessReport};
use crate::roster::Member;

/// Time between two looks at a process that is stopped.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Time between two reminders of a process that is stopped.
const REMIND: Duration = Duration::from_secs(10);

/// Time-out of one that hosts nothing and is alive: it has nothing to compute.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// How many levels of a peer are named.
const LEVELS_NAMED: usize = 3;

/// The longest that is told of how a process ended \[characters\].
const HOW_CHARS_MAX: usize = 300;

impl Peers {
    pub(crate) fn look_at(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        let Some(member) = self.roster.get_mut(name) else {
            return;
        };
        member.watch.looked_at = Some(cx.now);
        cx.push(PrimaryOutput::Diagnose {
            peer: name.clone(),
            pid: member.info.pid,
            host: member.info.host.clone(),
        });
    }

    /// The process of a secondary has ended, as who started it saw.
    pub(crate) fn on_process_ended(
        &mut self,
        peer: &PeerName,
        pid: u32,
        how: &str,
        now: SessionTime,
    ) {
        let member = self.roster.get_mut(peer);
        if let Some(member) = member.filter(|member| member.info.pid == pid) {
            let plain = how.chars().filter(|c| !c.is_control());
            member.watch.ended = Some(plain.take(HOW_CHARS_MAX).collect());
            // Its last words may still be on their way, as when its connection closes.
            member.closed_at.get_or_insert(now);
        }
    }
}

impl Primary {
    /// A step has waited for some: they are named, and examined, as is due.
    pub(crate) fn escalate(&mut self, missing: &[PeerName], cx: &mut Context<'_>) {
        let Some(round) = &mut self.barrier.round else {
            return;
        };
        let waited = cx.now.since(round.published_at);
        let iteration = round.step.iteration;
        let warned = round.patience.take_warning(waited);
        let is_examined = round.patience.take_diagnosis(waited);
        if let Some(after) = warned {
            let seconds = after.as_secs_f64();
            let blockers: Vec<String> = missing.iter().map(|name| self.blocker(name)).collect();
            let text = format!(
                "iteration {iteration} has waited {seconds} s for {}",
                blockers.join(", ")
            );
            cx.event(Severity::Warning, "step", text);
            for name in missing {
                if let Some(member) = self.peers.roster.get_mut(name) {
                    let noted = (member.heard_at, member.heartbeat.cpu_time_us);
                    member.watch.cpu_noted.get_or_insert(noted);
                }
            }
        }
        if is_examined {
            for name in missing {
                self.peers.look_at(name, cx);
            }
        }
    }

    /// Returns those who have not answered in time and are not waited for any longer.
    pub(crate) fn expired(&mut self, missing: &[PeerName], now: SessionTime) -> Vec<PeerName> {
        let Some(round) = &mut self.barrier.round else {
            return Vec::new();
        };
        let waited = now.since(round.published_at);
        // Those who are given up are waited for no more; who is stopped is looked at again.
        if !round.patience.take_loss(waited, self.settings.step_timeout) {
            return Vec::new();
        }
        let is_held = |name: &PeerName| {
            let member = self.peers.roster.get(name);
            member.is_some_and(|member| member.watch.is_held())
        };
        let given_up = missing.iter().filter(|name| !is_held(name));
        given_up.cloned().collect()
    }

    /// Returns one that hosts nothing and beats, and has not answered in its time.
    pub(crate) fn idle_without_answer(
        &self,
        missing: &[PeerName],
        now: SessionTime,
    ) -> Option<PeerName> {
        let Some(round) = &self.barrier.round else {
            return None;
        };
        // Who was kept from the step by a job has its whole time after that.
        let since = round.published_at + round.patience.kept(self.settings.step_timeout);
        if !self.can_recover() || now < since + IDLE_TIMEOUT {
            return None;
        }
        let is_idle = |name: &&PeerName| {
            let is_given = round.snapshots.iter().any(|(to, _)| to == *name);
            let is_asked = self.is_host(name) || is_given || self.recovery.jobs.has(name);
            let member = self.peers.roster.get(name);
            let beats = member.is_some_and(|member| {
                !member.watch.is_held() && member.heard_at >= since + IDLE_TIMEOUT / 2
            });
            beats && !is_asked
        };
        missing.iter().find(is_idle).cloned()
    }

    /// Tells whether the step under way has waited long for somebody who is lost now.
    pub(crate) fn has_held_the_run(&self, name: &PeerName, now: SessionTime) -> bool {
        let Some(round) = &self.barrier.round else {
            return false;
        };
        let is_missing = round.missing().any(|missing| missing == name);
        is_missing && now.since(round.published_at) >= IDLE_TIMEOUT / 2
    }

    /// Goes on without one that only beats.
    pub(crate) fn drop_idle(&mut self, name: &PeerName, cx: &mut Context<'_>) {
        let cause = format!(
            "{} hosts nothing, beats, and did not acknowledge a step in {} s",
            self.peers.described(name),
            IDLE_TIMEOUT.as_secs()
        );
        self.on_lost(name, StopReason::new(Outcome::PeerLost, cause), cx);
    }

    /// Returns when a process is to be looked at for its silence.
    pub(crate) fn look_deadline(&self) -> Option<SessionTime> {
        let timeout = self.settings.heartbeat_timeout;
        let members = self.peers.roster.members();
        let looks = members.filter_map(|(_, member)| next_look(member, timeout));
        looks.min()
    }

    /// Has the processes looked at that are silent for half of their time, and those that are
    /// stopped.
    pub(crate) fn look_at_silent(&mut self, cx: &mut Context<'_>) {
        let timeout = self.settings.heartbeat_timeout;
        let due: Vec<PeerName> = self
            .peers
            .roster
            .members()
            .filter(|(_, member)| next_look(member, timeout).is_some_and(|at| at <= cx.now))
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            self.peers.look_at(&name, cx);
        }
    }

    /// The driver has looked at a process.
    pub(crate) fn on_diagnosed(
        &mut self,
        peer: &PeerName,
        process: &ProcessReport,
        cx: &mut Context<'_>,
    ) {
        let is_waited_for = self.settings.patience.wait_for_debugger && process.is_stopped;
        let text = self.diagnosis(peer, process, cx.now);
        let Some(member) = self.peers.roster.get_mut(peer) else {
            return;
        };
        let watch = &mut member.watch;
        watch.found = Some(process.state.clone());
        let was_held = watch.held_since.is_some();
        if !is_waited_for {
            watch.held_since = None;
            if was_held {
                member.heard_at = cx.now;
                if let Some(round) = &mut self.barrier.round {
                    let waited = cx.now.since(round.published_at);
                    round.patience.restart(waited, self.settings.step_timeout);
                }
                let text = format!("{peer} goes on: {}", process.state);
                return cx.event(Severity::Info, "peer", text);
            }
            return cx.event(Severity::Warning, "peer", text);
        }
        let since = *watch.held_since.get_or_insert(cx.now);
        if was_held && cx.now.since(watch.told_at) < REMIND {
            return;
        }
        watch.told_at = cx.now;
        let seconds = cx.now.since(since).as_secs();
        let text = format!("{text}; it is waited for, for {seconds} s so far");
        cx.event(Severity::Warning, "peer", text);
    }

    /// Says how a peer was lost whose connection closed.
    pub(crate) fn how_it_went(member: &Member) -> String {
        match &member.watch.ended {
            Some(how) => how.clone(),
            None => "is gone: its connection closed".to_owned(),
        }
    }

    /// Says how a peer was lost that was not heard of for so long.
    pub(crate) fn how_it_fell_silent(member: &Member, silence: Duration) -> String {
        let seconds = silence.as_secs_f64();
        let found = member.watch.found.as_ref();
        let found = found.map_or_else(String::new, |found| format!("; {found}"));
        format!("fell silent: no heartbeat for {seconds:.1} s{found}")
    }

    /// Names a peer that blocks a step, with what it hosts.
    fn blocker(&self, name: &PeerName) -> String {
        match self.levels_of(name) {
            Some(levels) => format!("{name}, which hosts {levels}"),
            None => name.to_string(),
        }
    }

    /// Returns the names of the levels of a peer's cells, for people.
    fn levels_of(&self, name: &PeerName) -> Option<String> {
        let cells = self.hosted(name);
        let names = cells.iter().take(LEVELS_NAMED);
        let names: Vec<&str> = names
            .map(|cell| self.world.topology.cell(*cell).name.as_str())
            .collect();
        match cells.len().saturating_sub(names.len()) {
            _ if names.is_empty() => None,
            0 => Some(names.join(" and ")),
            more => Some(format!("{} and {more} more", names.join(", "))),
        }
    }

    /// Says all that is known of a peer.
    fn diagnosis(&self, name: &PeerName, process: &ProcessReport, now: SessionTime) -> String {
        let Some(member) = self.peers.roster.get(name) else {
            return name.to_string();
        };
        let silence = now.since(member.heard_at);
        let mut parts = vec![process.state.clone()];
        let (noted_at, noted_us) = member
            .watch
            .cpu_noted
            .unwrap_or((member.heard_at, member.heartbeat.cpu_time_us));
        let used = process.cpu_time_us.unwrap_or(member.heartbeat.cpu_time_us);
        parts.push(format!(
            "{:.1} s of CPU time in the last {:.1} s",
            Duration::from_micros(used.saturating_sub(noted_us)).as_secs_f64(),
            now.since(noted_at).as_secs_f64()
        ));
        if self.settings.heartbeat_timeout.is_some() {
            parts.push(format!("last heartbeat {:.1} s ago", silence.as_secs_f64()));
        }
        if let Some(round_trip) = member.heartbeat.round_trip_us {
            parts.push(format!("round trip {round_trip} us"));
        }
        let is_missing = self.blocking().any(|missing| missing == name);
        if is_missing {
            parts.push(format!("has answered iteration {}", self.clock.iteration));
        }
        let hosts = self.levels_of(name);
        let hosts = hosts.map_or_else(String::new, |levels| format!("; hosts {levels}"));
        let (pid, host) = (member.info.pid, &member.info.host);
        format!("{name} (pid {pid} on {host}): {}{hosts}", parts.join(", "))
    }
}

/// Returns when the process of a peer is to be looked at next for its silence.
fn next_look(member: &Member, timeout: Option<Duration>) -> Option<SessionTime> {
    if member.closed_at.is_some() {
        return None;
    }
    let watch = &member.watch;
    if let Some(looked_at) = watch.looked_at.filter(|_| watch.is_held()) {
        return Some(looked_at + LOOK_AGAIN);
    }
    let silent = member.heard_at + timeout? / 2;
    match watch.looked_at {
        // Once for each silence.
        Some(looked_at) if looked_at >= silent => None,
        _ => Some(silent),
    }
}
