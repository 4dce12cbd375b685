//! Before the start: secondaries join, read the world and prove that they hear every step.

use crate::primary::peers::Peers;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::{PrimaryToSecondary, Welcome};
use protocol::secondary_to_primary::Loaded;
use protocol::{PeerInfo, PeerName, Role, RoutingId, SessionTime, StopReason};

use crate::primary::context::Context;
use crate::primary::{Phase, Primary, PrimaryOutput};
use crate::roster::Progress;

/// Time between syncs: a subscription that is seen may still miss the first messages.
const SYNC_INTERVAL: Duration = Duration::from_millis(50);

/// The longest name of a machine \[bytes\], as the domain name system has it.
const HOST_BYTES_MAX: usize = 255;

/// Times of those who join.
#[derive(Clone, Debug, Default)]
pub(crate) struct Startup {
    /// Time since which the run waits for its secondaries.
    since: Option<SessionTime>,
    /// Time of the next sync of those who hear steps and have not answered one.
    pub(crate) next_sync: SessionTime,
}

impl Startup {
    /// Moves the wait by a time in which the primary itself did nothing.
    pub(crate) fn postpone(&mut self, by: Duration) {
        self.since = self.since.map(|since| since + by);
    }

    /// Notes that all are ready.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }
}

impl Peers {
    /// Returns the time by which something is to be done about those who are not ready.
    pub(crate) fn startup_deadline(&self, peer_timeout: Duration) -> SessionTime {
        let since = self.startup.since;
        let timeout = since.map_or(SessionTime(0), |at| at + peer_timeout);
        let sync = self.has_peer_to_sync().then_some(self.startup.next_sync);
        sync.map_or(timeout, |at| at.min(timeout))
    }

    pub(crate) fn has_peer_to_sync(&self) -> bool {
        self.roster
            .members()
            .any(|(_, member)| self.roster.is_ready_to_sync(member))
    }
}

impl Primary {
    pub(crate) fn on_join(&mut self, from: RoutingId, info: PeerInfo, cx: &mut Context<'_>) {
        if self
            .peers
            .roster
            .get(&info.name)
            .is_some_and(|member| member.routing == from)
        {
            return; // It repeats itself; the welcome is on its way.
        }
        if !self.hears_joins(cx.now) {
            self.peers.refused.excess += 1;
            return; // It asks again.
        }
        if info.host.len() > HOST_BYTES_MAX {
            let reason = format!("the name of its machine has more than {HOST_BYTES_MAX} bytes");
            self.peers.refused.malformed += 1;
            return cx.refuse(from, reason);
        }
        if let Some(reason) = self.reason_to_refuse(&info) {
            if !self.peers.handshakes.tells_of_refusal(cx.now) {
                self.peers.refused.excess += 1;
                return cx.refuse(from, reason);
            }
            let text = format!(
                "{} (pid {} on {}) was refused: {reason}",
                info.name, info.pid, info.host
            );
            cx.event(Severity::Warning, "peer", text);
            return cx.refuse(from, reason);
        }
        if !self.peers.roster.is_subscribed(&from) {
            return self.peers.roster.keep_waiting(from, info);
        }
        let welcome = Welcome {
            worlds: self.start.worlds.clone(),
            world_digest: self.start.world_digest,
            step_size_ns: self.start.step_size.as_nanos() as u64,
            seed: self.start.seed,
            heartbeat_interval: self.settings.heartbeat_interval,
            heartbeat_timeout: self.settings.heartbeat_timeout.unwrap_or(Duration::MAX),
            threads: self.settings.threads,
            verify: self.settings.verify,
            publish_all: self.settings.publish_all,
            trace: self.settings.trace,
            has_begun: self.phase != Phase::Gathering,
        };
        cx.push(PrimaryOutput::Send {
            to: from.clone(),
            message: PrimaryToSecondary::Welcome(Box::new(welcome)),
        });
        let text = format!("{} (pid {} on {}) joined", info.name, info.pid, info.host);
        cx.event(Severity::Info, "peer", text);
        cx.announce(Announce::Joined(info.clone()));
        self.peers.roster.admit(info, from, cx.now);
    }

    fn reason_to_refuse(&self, info: &PeerInfo) -> Option<String> {
        if info.role == Role::Primary {
            return Some("a primary cannot join another primary".to_owned());
        }
        if info.name == PeerName::primary() {
            return Some("the name primary is taken by the primary itself".to_owned());
        }
        if info.build != self.settings.build {
            return Some(format!(
                "it runs another build, {}, than the primary, {}; use the same binary everywhere",
                info.build, self.settings.build
            ));
        }
        if let Some(member) = self.peers.roster.get(&info.name) {
            return Some(format!(
                "the name {} is taken by pid {} on {}; choose another with --name",
                info.name, member.info.pid, member.info.host
            ));
        }
        let room = self.settings.secondaries as usize + self.settings.stand_bys as usize;
        if self.peers.roster.len() >= room {
            return Some(format!(
                "the run has all of its {} secondaries",
                self.settings.secondaries
            ));
        }
        match self.phase {
            Phase::Gathering => None,
            Phase::Running if self.keeps_past() => None,
            Phase::Running => Some("the run has begun".to_owned()),
            Phase::Stopping | Phase::Finished => Some("the run is ending".to_owned()),
        }
    }

    pub(crate) fn on_subscribed(&mut self, routing: RoutingId, cx: &mut Context<'_>) {
        match self.peers.roster.note_subscribed(routing.clone()) {
            Some(info) => self.on_join(routing, info, cx),
            None => self.sync(cx),
        }
    }

    pub(crate) fn on_loaded(&mut self, sender: &PeerName, loaded: &Loaded, cx: &mut Context<'_>) {
        if loaded.world_digest != self.start.world_digest {
            let cause = format!(
                "{sender} read world {}, the primary {}",
                loaded.world_digest, self.start.world_digest
            );
            self.peers.refused.malformed += 1;
            let reason = StopReason::new(Outcome::DigestMismatch, cause);
            return self.on_lost(sender, reason, cx);
        }
        let member = self
            .peers
            .roster
            .get_mut(sender)
            .expect("senders are checked to be members");
        if member.progress == Progress::Welcomed {
            member.progress = Progress::Loaded;
            self.sync(cx);
        } else {
            self.peers.refused.duplicate += 1;
        }
    }

    pub(crate) fn on_synced(&mut self, sender: &PeerName, cx: &mut Context<'_>) {
        let member = self
            .peers
            .roster
            .get_mut(sender)
            .expect("senders are checked to be members");
        if member.progress != Progress::Loaded {
            return; // It answers every sync that it hears; one is enough.
        }
        member.progress = Progress::Synced;
        let complete = self
            .peers
            .roster
            .is_complete(self.settings.secondaries as usize);
        match self.phase {
            Phase::Gathering if complete => self.begin_stepping(cx),
            Phase::Running => self.introduce(sender, cx),
            Phase::Gathering | Phase::Stopping | Phase::Finished => {}
        }
    }

    /// Returns when those who join during the run are to be synced again.
    pub(crate) fn sync_deadline(&self) -> Option<SessionTime> {
        let is_running = self.phase == Phase::Running;
        (is_running && self.peers.has_peer_to_sync()).then_some(self.peers.startup.next_sync)
    }

    /// Nobody takes part any more, or somebody waits to: both end.
    pub(crate) fn continue_waiting(&mut self, cx: &mut Context<'_>) {
        if self.sync_deadline().is_some_and(|at| at <= cx.now) {
            self.sync(cx);
        }
        let patience = self.settings.peer_timeout;
        if let Some(since) = self.recovery.losses.alone_since
            && cx.now >= since + patience
        {
            let seconds = patience.as_secs_f64();
            let cause = format!("all secondaries are lost, and none joined within {seconds} s");
            self.begin_stopping(StopReason::new(Outcome::PeerLost, cause), cx);
        }
    }

    fn sync(&mut self, cx: &mut Context<'_>) {
        if !self.peers.has_peer_to_sync() {
            return;
        }
        if self.phase.is_over() {
            return;
        }
        self.peers.startup.next_sync = cx.now + SYNC_INTERVAL;
        cx.push(PrimaryOutput::Publish(PrimaryToSecondary::Sync));
    }

    pub(crate) fn continue_gathering(&mut self, cx: &mut Context<'_>) {
        let startup = &mut self.peers.startup;
        let began = *startup.since.get_or_insert(cx.now);
        let sync_is_due = cx.now >= startup.next_sync;
        if cx.now >= began + self.settings.peer_timeout {
            let seconds = self.settings.peer_timeout.as_secs_f64();
            let missing = self
                .peers
                .roster
                .missing(self.settings.secondaries as usize);
            let cause = format!("not ready after {seconds} s: {missing}");
            return self.begin_stopping(StopReason::new(Outcome::TimedOut, cause), cx);
        }
        if sync_is_due {
            self.sync(cx);
        }
    }
}
