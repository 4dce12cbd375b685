//! Liveness: heartbeats, silence, closed connections, and processes that a debugger has stopped,
//! which may be waited for.
//!
//! The driver alone knows what a process does, and answers [`PrimaryOutput::Diagnose`] with
//! [`PrimaryInput::Diagnosed`](crate::primary::PrimaryInput::Diagnosed) where it can; without an
//! answer only what is heard of a peer is told.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{HeartbeatRelay, PrimaryToObservers, Severity};
use protocol::primary_to_secondary::{HeartbeatEcho, PrimaryToSecondary};
use protocol::secondary_to_primary::{Heartbeat, WorkProgress};
use protocol::{Iteration, PeerName, RoutingId, SessionTime, StopReason};

use crate::peer_numbers::PeerNumber;
use crate::primary::context::Context;
use crate::primary::io::{PrimaryOutput, ProcessReport};
use crate::primary::peers::{LEAVE_GRACE, Peers};
use crate::primary::settings::PeerSettings;
use crate::roster::{Member, Progress};

/// Time between two looks at a process that is stopped.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Time between two reminders of a process that is stopped.
const REMIND: Duration = Duration::from_secs(10);

/// Time-out of one that hosts nothing and is alive: it has nothing to compute.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Most characters that are told of how a process ended.
const HOW_CHARS_MAX: usize = 300;

/// Part of a peer in the run, for people.
#[derive(Debug)]
pub(crate) struct Part {
    /// Iteration that it has answered, while a step waits for it.
    pub(crate) answered: Option<Iteration>,
    /// Names of the levels that it hosts.
    pub(crate) levels: Option<String>,
}

/// Outcome of a look at a peer's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiagnosisVerdict {
    /// It was told of, no more.
    Reported,
    /// It was stopped and goes on: it has its whole time again.
    GoesOn,
}

impl Peers {
    /// Answers a heartbeat, relays it, and returns what it says of its sender's work.
    ///
    /// # Panics
    /// Panics when the sender is no member.
    pub(crate) fn on_heartbeat(
        &mut self,
        (from, number): (RoutingId, PeerNumber),
        heartbeat: Heartbeat,
        wall_clock_us: u64,
        has_begun: bool,
        cx: &mut Context<'_>,
    ) -> WorkProgress {
        let member = self.roster.numbered_mut(number);
        let member = member.expect("senders are checked to be members");
        let (count, work) = (heartbeat.count, heartbeat.work);
        cx.push(PrimaryOutput::Send {
            to: from,
            message: PrimaryToSecondary::HeartbeatEcho(HeartbeatEcho {
                count,
                sent_at_us: heartbeat.sent_at_us,
                answered_at_us: wall_clock_us,
            }),
        });
        member.heard_at = cx.now;
        member.heartbeat = heartbeat;
        let relay = HeartbeatRelay {
            name: member.info.name.clone(),
            count,
            has_begun,
        };
        cx.push(PrimaryOutput::Observe(PrimaryToObservers::Heartbeat(relay)));
        work
    }

    /// Notes that a connection is closed: a leave message may be on its way, and the deadline tells
    /// when the peer counts as lost.
    pub(crate) fn on_unsubscribed(&mut self, routing: &RoutingId, now: SessionTime) {
        self.roster.note_unsubscribed(routing, now);
    }

    /// Notes that a connection is closed since a relay is lost. All who are gone with that relay
    /// count as lost at the same time: that of the first.
    pub(crate) fn on_gone_with_relay(
        &mut self,
        secondary: &RoutingId,
        relay: String,
        now: SessionTime,
    ) {
        let members = self.roster.members();
        let others = members.filter(|(_, one)| one.watch.lost_relay.as_ref() == Some(&relay));
        let first = others.filter_map(|(_, one)| one.closed_at).min();
        let name = self.roster.note_unsubscribed(secondary, now);
        let member = name.and_then(|name| self.roster.get_mut(&name));
        if let Some(member) = member {
            member.closed_at = Some(first.unwrap_or(now));
            member.watch.lost_relay = Some(relay);
        }
    }

    /// Has observers told of each relay that is lost, with all who are gone with it.
    pub(crate) fn tell_lost_relays(&self, cx: &mut Context<'_>) {
        // Relays of two machines may have one name.
        let mut lost: BTreeMap<(&str, &str), Vec<&Member>> = BTreeMap::new();
        for (_, member) in self.roster.members().filter(|(_, one)| one.is_gone(cx.now)) {
            if let Some(relay) = &member.watch.lost_relay {
                let place = (&**relay, &*member.info.host);
                lost.entry(place).or_default().push(member);
            }
        }
        for ((relay, host), members) in lost {
            let names: Vec<&str> = members.iter().map(|one| one.info.name.as_str()).collect();
            let text = format!(
                "the relay {relay} on {host} is lost, and those behind it: {}",
                names.join(", ")
            );
            cx.event(Severity::Warning, "peer", text);
        }
    }

    /// Has the driver look at the process of a peer.
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

    /// Notes the processor time of peers that block a step, to tell later what they used since.
    pub(crate) fn note_cpu_times(&mut self, blockers: &[PeerName]) {
        for name in blockers {
            if let Some(member) = self.roster.get_mut(name) {
                let noted = (member.heard_at, member.heartbeat.cpu_time_us);
                member.watch.cpu_noted.get_or_insert(noted);
            }
        }
    }

    /// Notes that the process of a secondary has ended, as its parent saw.
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

    /// Tells whether a peer is waited for because its process is stopped.
    pub(crate) fn is_held(&self, name: &PeerName) -> bool {
        let member = self.roster.get(name);
        member.is_some_and(|member| member.watch.is_held())
    }

    /// Tells whether a peer that is not held has been heard of since.
    pub(crate) fn beats_since(&self, name: &PeerName, since: SessionTime) -> bool {
        let member = self.roster.get(name);
        member.is_some_and(|member| !member.watch.is_held() && member.heard_at >= since)
    }

    /// Tells whether a peer that is not held has been heard of within a time.
    pub(crate) fn has_beaten_within(
        &self,
        name: &PeerName,
        time: Duration,
        now: SessionTime,
    ) -> bool {
        let member = self.roster.get(name);
        member.is_some_and(|member| !member.watch.is_held() && now.since(member.heard_at) <= time)
    }

    /// Has the processes looked at that are silent for half of their time, and those that are
    /// stopped.
    pub(crate) fn look_at_silent(&mut self, settings: &PeerSettings, cx: &mut Context<'_>) {
        let timeout = settings.heartbeat_timeout;
        let members = self.roster.members();
        let due = members
            .filter(|(_, member)| next_look(member, timeout).is_some_and(|at| at <= cx.now))
            .map(|(name, _)| name.clone());
        for name in due.collect::<Vec<PeerName>>() {
            self.look_at(&name, cx);
        }
    }

    /// Tells of the process of a peer, as the driver found it.
    pub(crate) fn on_diagnosed(
        &mut self,
        peer: &PeerName,
        process: &ProcessReport,
        part: &Part,
        settings: &PeerSettings,
        cx: &mut Context<'_>,
    ) -> DiagnosisVerdict {
        let is_waited_for = settings.step_timeout_stages.wait_for_debugger && process.is_stopped;
        let Some(member) = self.roster.get_mut(peer) else {
            return DiagnosisVerdict::Reported;
        };
        let has_timeout = settings.heartbeat_timeout.is_some();
        let text = diagnosis(member, process, part, has_timeout, cx.now);
        let watch = &mut member.watch;
        watch.found = Some(process.state.clone());
        let was_held = watch.held_since.is_some();
        if !is_waited_for {
            watch.held_since = None;
            if was_held {
                member.heard_at = cx.now;
                let text = format!("{peer} goes on: {}", process.state);
                cx.event(Severity::Info, "peer", text);
                return DiagnosisVerdict::GoesOn;
            }
            cx.event(Severity::Warning, "peer", text);
            return DiagnosisVerdict::Reported;
        }
        let since = *watch.held_since.get_or_insert(cx.now);
        if was_held && cx.now.since(watch.told_at) < REMIND {
            return DiagnosisVerdict::Reported;
        }
        watch.told_at = cx.now;
        let seconds = cx.now.since(since).as_secs();
        let text = format!("{text}; it is waited for, for {seconds} s so far");
        cx.event(Severity::Warning, "peer", text);
        DiagnosisVerdict::Reported
    }

    /// Returns the time when the next peer whose connection closed counts as gone.
    pub(super) fn closed_deadline(&self) -> Option<SessionTime> {
        let members = self.roster.members();
        let closed = members.filter_map(|(_, member)| member.closed_at);
        closed.map(|at| at + LEAVE_GRACE).min()
    }

    /// Finds out anew when something is to be done about a peer: one that joins is to be synced or
    /// too late, or one is silent or closed.
    pub(crate) fn renew_deadline(&mut self, is_running: bool, settings: &PeerSettings) {
        let silence = self.silence_deadline(is_running, settings).into_iter();
        self.next_deadline = silence.chain(self.sync_deadline(is_running)).min();
    }

    /// Tells whether something may be to be done about a secondary by now. If not, nobody is looked
    /// at: with each step of a run that keeps its pace, a deadline passes.
    pub(crate) fn is_any_due(&self, now: SessionTime) -> bool {
        self.next_deadline.is_some_and(|at| at <= now)
    }

    /// Returns the earliest deadline of any secondary.
    pub(crate) fn next_deadline(&self) -> Option<SessionTime> {
        self.next_deadline
    }

    /// Returns the time when the next silent or closed peer is looked at or counts as lost.
    fn silence_deadline(&self, is_running: bool, settings: &PeerSettings) -> Option<SessionTime> {
        let timeout = settings.heartbeat_timeout;
        let members = || self.roster.members().map(|(_, member)| member);
        let silent = members()
            .filter(|member| !member.watch.is_held())
            .filter_map(|member| Some(member.heard_at + timeout?));
        let unready = members()
            .filter(|_| is_running)
            .filter(|member| member.progress != Progress::Synced && !member.watch.is_held())
            .map(|member| member.welcomed_at + settings.peer_timeout);
        let looks = members().filter_map(|member| next_look(member, timeout));
        let closed = self.closed_deadline().into_iter();
        silent.chain(closed).chain(looks).chain(unready).min()
    }

    /// Returns a peer that is lost by now, and the reason to stop. While messages wait to be read,
    /// a heartbeat may be among them, so that silence must be twice as long.
    pub(crate) fn lost_peer(
        &self,
        inbox_is_empty: bool,
        is_running: bool,
        settings: &PeerSettings,
        cx: &Context<'_>,
    ) -> Option<(PeerName, StopReason)> {
        let factor = if inbox_is_empty { 1 } else { 2 };
        self.roster.members().find_map(|(name, member)| {
            let silence = cx.now.since(member.heard_at);
            let how = if member.is_gone(cx.now) {
                how_it_went(member)
            } else if member.watch.is_held() {
                return None;
            } else if is_running
                && member.progress != Progress::Synced
                && cx.now >= member.welcomed_at + settings.peer_timeout
            {
                let seconds = settings.peer_timeout.as_secs_f64();
                format!("joined and was not ready after {seconds} s")
            } else if silence >= settings.heartbeat_timeout? * factor {
                how_it_fell_silent(member, silence)
            } else {
                return None;
            };
            let name_and_process = self.described(name);
            let cause = format!("{name_and_process} {how}, at iteration {}", cx.iteration);
            Some((name.clone(), StopReason::new(Outcome::PeerLost, cause)))
        })
    }
}

impl Member {
    /// Tells whether its connection is closed, and the time for its last words is over.
    fn is_gone(&self, now: SessionTime) -> bool {
        self.closed_at.is_some_and(|at| now >= at + LEAVE_GRACE)
    }
}

/// Says how a peer was lost whose connection closed.
fn how_it_went(member: &Member) -> String {
    let watch = &member.watch;
    match (&watch.lost_relay, &watch.ended) {
        (Some(relay), _) => {
            let host = &member.info.host;
            format!("is gone with its relay {relay} on {host}, which is lost")
        }
        (None, Some(how)) => how.clone(),
        (None, None) => "is gone: its connection closed".to_owned(),
    }
}

/// Says how a peer was lost that was not heard of for so long.
fn how_it_fell_silent(member: &Member, silence: Duration) -> String {
    let seconds = silence.as_secs_f64();
    let found = member.watch.found.as_ref();
    let found = found.map_or_else(String::new, |found| format!("; {found}"));
    format!("fell silent: no heartbeat for {seconds:.1} s{found}")
}

/// Says all that is known of a peer.
fn diagnosis(
    member: &Member,
    process: &ProcessReport,
    part: &Part,
    has_timeout: bool,
    now: SessionTime,
) -> String {
    let silence = now.since(member.heard_at);
    let mut parts = vec![process.state.clone()];
    let heard = (member.heard_at, member.heartbeat.cpu_time_us);
    let (noted_at, noted_us) = member.watch.cpu_noted.unwrap_or(heard);
    let used = process.cpu_time_us.unwrap_or(member.heartbeat.cpu_time_us);
    parts.push(format!(
        "{:.1} s of CPU time in the last {:.1} s",
        Duration::from_micros(used.saturating_sub(noted_us)).as_secs_f64(),
        now.since(noted_at).as_secs_f64()
    ));
    if has_timeout {
        parts.push(format!("last heartbeat {:.1} s ago", silence.as_secs_f64()));
    }
    if let Some(round_trip) = member.heartbeat.round_trip_us {
        parts.push(format!("round trip {round_trip} us"));
    }
    if let Some(iteration) = part.answered {
        parts.push(format!("has answered iteration {iteration}"));
    }
    let hosts = part.levels.as_ref();
    let hosts = hosts.map_or_else(String::new, |levels| format!("; hosts {levels}"));
    let info = &member.info;
    let (name, pid, host) = (&info.name, info.pid, &info.host);
    format!("{name} (pid {pid} on {host}): {}{hosts}", parts.join(", "))
}

/// Returns the time of the next look at the process of a peer for its silence.
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
