//! [`Startup`]: secondaries join, read the world and prove that they hear every step.

use std::sync::Arc;
use std::time::Duration;

use protocol::exit::Outcome;
use protocol::primary_to_observers::{Announce, Severity};
use protocol::primary_to_secondary::{PrimaryToSecondary, Welcome};
use protocol::secondary_to_primary::Loaded;
use protocol::{
    AwaitedReaders, Digest, PeerInfo, PeerName, Role, RosSettings, RoutingId, SessionTime,
    StopReason,
};

use crate::primary::context::Context;
use crate::primary::io::PrimaryOutput;
use crate::primary::peers::Peers;
use crate::primary::settings::{PeerSettings, Settings};
use crate::roster::Progress;

/// Time between syncs: a subscription that is seen may still miss the first messages.
const SYNC_INTERVAL: Duration = Duration::from_millis(50);

/// The longest name of a machine \[bytes\], as the domain name system has it.
const HOST_BYTES_MAX: usize = 255;
/// Longest name of a GPU \[bytes\]: that of Vulkan.
const GPU_BYTES_MAX: usize = 256;

/// Times of those who join.
#[derive(Clone, Debug, Default)]
pub(crate) struct Startup {
    /// Time since which the run waits for its secondaries.
    since: Option<SessionTime>,
    /// Time of the next sync of those who hear steps and have not answered one.
    next_sync: SessionTime,
}

/// Terms of a run that the welcome tells: the worlds as it began with them, whatever commands have
/// set since.
#[derive(Clone, Debug)]
pub(crate) struct WelcomeTerms {
    /// The worlds as they travel to secondaries.
    worlds: Arc<[u8]>,
    world_digest: Digest,
    seed: u64,
    step_size: Duration,
}

/// Conditions of joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The run waits for its secondaries.
    Gathering,
    /// The run has begun.
    Running {
        /// True if the past is kept, from which those who join are brought up to date.
        keeps_past: bool,
        /// True if cells are lost, for which somebody is needed.
        is_needed: bool,
    },
    /// The run ends.
    Over,
}

/// Outcome of a message that says that a secondary has read the world.
#[derive(Debug, PartialEq)]
pub(crate) enum LoadVerdict {
    /// Noted, or known already.
    Noted,
    /// It has read another world, and cannot take part.
    OtherWorld(StopReason),
}

/// Outcome of a message that says that a secondary hears steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncVerdict {
    /// It says so once more: it answers every sync that it hears, and one is enough.
    Known,
    /// It is ready; so are all that the run needs if `all`.
    Ready { all: bool },
}

impl Startup {
    /// Moves the wait by a time in which the primary itself did nothing.
    pub(super) fn postpone(&mut self, by: Duration) {
        self.since = self.since.map(|since| since + by);
    }
}

impl WelcomeTerms {
    pub(crate) fn new(worlds: Vec<u8>, settings: &Settings) -> Self {
        Self {
            world_digest: Digest::of_bytes(&worlds),
            worlds: worlds.into(),
            seed: settings.seed,
            step_size: settings.pace.step_size,
        }
    }

    /// Returns the worlds as they travel to secondaries.
    pub(crate) fn worlds(&self) -> Arc<[u8]> {
        Arc::clone(&self.worlds)
    }

    fn welcome(&self, settings: &Settings, has_begun: bool) -> Welcome {
        Welcome {
            worlds: self.worlds.to_vec(),
            world_digest: self.world_digest,
            step_size_ns: self.step_size.as_nanos() as u64,
            seed: self.seed,
            heartbeat_interval: settings.peers.heartbeat_interval,
            heartbeat_timeout: settings.peers.heartbeat_timeout.unwrap_or(Duration::MAX),
            threads: settings.cells.threads,
            verify: settings.cells.verify,
            publish_all: settings.outputs.publish_all,
            link_record_hz: settings.outputs.link_record_hz,
            ros2: ros2_of(settings, has_begun),
            renderer: settings.cells.renderer,
            trace: settings.outputs.trace,
            has_begun,
        }
    }
}

/// Returns the settings of a secondary's node; time waits for readers only at the beginning.
fn ros2_of(settings: &Settings, has_begun: bool) -> Option<RosSettings> {
    let mut ros2 = settings.outputs.ros2.clone()?;
    if has_begun {
        ros2.awaited = None;
    }
    Some(ros2)
}

/// Returns the readers outside the run that are waited for at the beginning.
fn awaited(settings: &Settings) -> Option<&AwaitedReaders> {
    settings.outputs.ros2.as_ref()?.awaited.as_ref()
}

/// Returns the time for which secondaries are waited for, with the readers that they wait for.
fn timeout(settings: &Settings) -> Duration {
    let readers = awaited(settings).map_or(Duration::ZERO, |awaited| awaited.timeout);
    settings.peers.peer_timeout.saturating_add(readers)
}

impl Peers {
    /// Welcomes or refuses a secondary; one that does not hear steps yet waits.
    pub(crate) fn on_join(
        &mut self,
        from: RoutingId,
        info: PeerInfo,
        entry: Entry,
        settings: &Settings,
        cx: &mut Context<'_>,
    ) {
        let known = self.roster.get(&info.name);
        if known.is_some_and(|member| member.routing == from) {
            return; // It repeats itself; the welcome is on its way.
        }
        if !self.hears_joins(entry, cx.now) {
            self.refused.excess += 1;
            return; // It asks again.
        }
        if info.host.len() > HOST_BYTES_MAX {
            let reason = format!("the name of its machine has more than {HOST_BYTES_MAX} bytes");
            self.refused.malformed += 1;
            return cx.refuse(from, reason);
        }
        if let Some(reason) = self.reason_to_refuse(&info, entry, settings) {
            if !self.handshakes.tells_of_refusal(cx.now) {
                self.refused.excess += 1;
                return cx.refuse(from, reason);
            }
            let text = format!(
                "{} (pid {} on {}) was refused: {reason}",
                info.name, info.pid, info.host
            );
            cx.event(Severity::Warning, "peer", text);
            return cx.refuse(from, reason);
        }
        if !self.roster.is_subscribed(&from) {
            return self.roster.keep_waiting(from, info);
        }
        let welcome = self.welcome.welcome(settings, entry != Entry::Gathering);
        cx.push(PrimaryOutput::Send {
            to: from.clone(),
            message: PrimaryToSecondary::Welcome(Box::new(welcome)),
        });
        let text = format!("{} (pid {} on {}) joined", info.name, info.pid, info.host);
        cx.event(Severity::Info, "peer", text);
        cx.announce(Announce::Joined(info.clone()));
        self.roster.admit(info, from, cx.now);
    }

    fn reason_to_refuse(
        &self,
        info: &PeerInfo,
        entry: Entry,
        settings: &Settings,
    ) -> Option<String> {
        if info.role == Role::Primary {
            return Some("a primary cannot join another primary".to_owned());
        }
        if info.name == PeerName::primary() {
            return Some("the name primary is taken by the primary itself".to_owned());
        }
        if info.build != settings.build {
            return Some(format!(
                "it runs another build, {}, than the primary, {}; use the same binary everywhere",
                info.build, settings.build
            ));
        }
        if let Some(member) = self.roster.get(&info.name) {
            return Some(format!(
                "the name {} is taken by pid {} on {}; choose another with --name",
                info.name, member.info.pid, member.info.host
            ));
        }
        let room = settings.peers.secondaries as usize + settings.recovery.stand_bys as usize;
        if self.roster.len() >= room {
            return Some(format!(
                "the run has all of its {} secondaries",
                settings.peers.secondaries
            ));
        }
        let reason = match entry {
            Entry::Gathering => return None,
            Entry::Running { keeps_past, .. } if keeps_past => return None,
            Entry::Running { .. } => "the run has begun",
            Entry::Over => "the run is ending",
        };
        Some(reason.to_owned())
    }

    /// Notes that somebody hears steps: it may have asked to join before.
    pub(crate) fn on_subscribed(
        &mut self,
        routing: RoutingId,
        entry: Entry,
        settings: &Settings,
        cx: &mut Context<'_>,
    ) {
        match self.roster.note_subscribed(routing.clone()) {
            Some(info) => self.on_join(routing, info, entry, settings, cx),
            None => self.sync(entry != Entry::Over, cx),
        }
    }

    /// Notes that a secondary has read the world.
    ///
    /// # Panics
    /// Panics when the sender is no member.
    pub(crate) fn on_loaded(
        &mut self,
        sender: &PeerName,
        loaded: &Loaded,
        is_over: bool,
        cx: &mut Context<'_>,
    ) -> LoadVerdict {
        let ours = self.welcome.world_digest;
        if loaded.world_digest != ours {
            let theirs = loaded.world_digest;
            let cause = format!("{sender} read world {theirs}, the primary {ours}");
            self.refused.malformed += 1;
            return LoadVerdict::OtherWorld(StopReason::new(Outcome::DigestMismatch, cause));
        }
        let member = self.roster.get_mut(sender);
        let member = member.expect("senders are checked to be members");
        if member.progress == Progress::Welcomed {
            member.progress = Progress::Loaded;
            let gpu = loaded.gpu.clone();
            member.gpu = gpu.filter(|name| name.len() <= GPU_BYTES_MAX);
            self.sync(!is_over, cx);
        } else {
            self.refused.duplicate += 1;
        }
        LoadVerdict::Noted
    }

    /// Notes that a secondary hears every step from now on.
    ///
    /// # Panics
    /// Panics when the sender is no member.
    pub(crate) fn on_synced(&mut self, sender: &PeerName, settings: &PeerSettings) -> SyncVerdict {
        let member = self.roster.get_mut(sender);
        let member = member.expect("senders are checked to be members");
        if member.progress != Progress::Loaded {
            return SyncVerdict::Known;
        }
        member.progress = Progress::Synced;
        SyncVerdict::Ready {
            all: self.roster.is_complete(settings.secondaries as usize),
        }
    }

    fn has_peer_to_sync(&self) -> bool {
        let mut members = self.roster.members();
        members.any(|(_, member)| self.roster.is_ready_to_sync(member))
    }

    /// Has those who have read the world prove that they hear steps.
    fn sync(&mut self, is_possible: bool, cx: &mut Context<'_>) {
        if is_possible && self.has_peer_to_sync() {
            self.startup.next_sync = cx.now + SYNC_INTERVAL;
            cx.push(PrimaryOutput::Publish(PrimaryToSecondary::Sync));
        }
    }

    /// Returns the time of the next sync of those who join during the run.
    pub(super) fn sync_deadline(&self, is_running: bool) -> Option<SessionTime> {
        (is_running && self.has_peer_to_sync()).then_some(self.startup.next_sync)
    }

    /// Syncs those who join during the run, if that is due.
    pub(crate) fn sync_joining(&mut self, cx: &mut Context<'_>) {
        let is_any_due = self.is_any_due(cx.now);
        if is_any_due && self.sync_deadline(true).is_some_and(|at| at <= cx.now) {
            self.sync(true, cx);
        }
    }

    /// Returns the time by which something is to be done about those who are not ready.
    pub(crate) fn startup_deadline(&self, settings: &Settings) -> SessionTime {
        let since = self.startup.since;
        let timeout = since.map_or(SessionTime(0), |at| at + timeout(settings));
        let sync = self.has_peer_to_sync().then_some(self.startup.next_sync);
        sync.map_or(timeout, |at| at.min(timeout))
    }

    /// Waits on for secondaries before the run begins; returns the reason to give up, if their
    /// time is over.
    pub(crate) fn continue_gathering(
        &mut self,
        settings: &Settings,
        cx: &mut Context<'_>,
    ) -> Option<StopReason> {
        if let Some(awaited) = awaited(settings).filter(|_| self.startup.since.is_none()) {
            let seconds = awaited.timeout.as_secs_f64();
            let text = format!("time waits up to {seconds} s for nodes that read {awaited}");
            cx.event(Severity::Info, "run", text);
        }
        let began = *self.startup.since.get_or_insert(cx.now);
        let sync_is_due = cx.now >= self.startup.next_sync;
        if cx.now >= began + timeout(settings) {
            let seconds = timeout(settings).as_secs_f64();
            let missing = self.roster.missing(settings.peers.secondaries as usize);
            let cause = format!("not ready after {seconds} s: {missing}");
            return Some(StopReason::new(Outcome::TimedOut, cause));
        }
        if sync_is_due {
            self.sync(true, cx);
        }
        None
    }
}
