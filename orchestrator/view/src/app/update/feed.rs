//! News of the run, taken into the model.

use std::time::Duration;

use client::feed::StartUp;
use client::feed::{CommandError, Feed, LogLine};
use client::plain_text::plain;
use protocol::primary_to_observers::{Announce, Clock, Event, HeartbeatRelay, Severity};
use protocol::report::{
    Layout, LevelReport, PeerReport, PeerState, PerformerReport, RunState, Snapshot, Stats,
};
use protocol::{Command, Iteration, Outcome, PeerInfo, PeerName, PrimaryToObservers, StopReason};

use super::driving;
use crate::app::model::{Connection, Mode, Model};
use crate::app::start_up::Starting;
use crate::app::verdict::Verdict;

/// The most bytes of a line that are kept.
const LINE_BYTES_MAX: usize = 4096;

/// Takes one piece of news.
pub(super) fn on_feed(model: &mut Model, feed: Feed) {
    match feed {
        Feed::Status(message) => on_status(model, message),
        Feed::Snapshot(snapshot) => on_snapshot(model, *snapshot),
        Feed::History(history) => super::history::on_history(model, *history),
        Feed::Layout(layout) => on_layout(model, *layout),
        Feed::Topics(topics) => {
            model.heard.topics = topics;
            model.tables.mark_stale();
        }
        Feed::Message(heard) => {
            if let Some(hearing) = &mut model.details.hearing {
                hearing.hear(*heard, model.now);
            }
        }
        Feed::Connected => on_connected(model),
        Feed::Disconnected => on_disconnected(model),
        Feed::Denied(reason) => model.session.denial = Some(reason),
        Feed::Log(line) => on_log(model, &line),
        Feed::Logs(lines) => lines.iter().for_each(|line| on_log(model, line)),
        Feed::StartUp(start_up) => on_start_up(model, start_up),
        Feed::StartedAnew => on_started_anew(model),
        Feed::Recording(place) => model.session.recording = Some(place),
        Feed::Rewound => model.rewind(),
        Feed::Reply { command, result } => on_reply(model, &command, result),
        Feed::Ended(ended) => {
            model.mode = Mode::Ended { scroll: 0 };
            model.session.ended = Some(ended);
            model.session.over_since.get_or_insert(model.now);
        }
    }
}

/// Notes that no more news will come.
pub(super) fn on_closed(model: &mut Model) {
    if !model.is_over() {
        on_disconnected(model);
    }
}

fn on_start_up(model: &mut Model, start_up: StartUp) {
    if model.run_state() == RunState::Waiting && !model.session.has_begun {
        model.session.starting = Some(Starting::new(start_up, model.now));
    }
}

fn on_heartbeat(model: &mut Model, relay: HeartbeatRelay) {
    if relay.has_begun {
        model.session.has_begun = true;
        model.session.starting = None;
    }
    model.heard.heartbeats.insert(relay.name, model.now);
}

fn on_started_anew(model: &mut Model) {
    model.forget_run();
    model.notify("another run has begun here", false);
}

fn on_log(model: &mut Model, line: &LogLine) {
    let text = plain(&line.text[..line.text.floor_char_boundary(LINE_BYTES_MAX)]);
    model.heard.logs.push(LogLine {
        process: plain(&line.process),
        text,
    });
}

fn on_status(model: &mut Model, message: PrimaryToObservers) {
    match message {
        PrimaryToObservers::Announce(announce) => on_announce(model, announce),
        PrimaryToObservers::Heartbeat(relay) => {
            on_heartbeat(model, relay);
        }
        PrimaryToObservers::Stats { stats, peers } => on_stats(model, *stats, peers),
        PrimaryToObservers::Clock(clock) => on_clock(model, clock),
        PrimaryToObservers::Affinity(levels) => on_levels(model, levels),
        PrimaryToObservers::Poses(performers) => on_performers(model, performers),
        PrimaryToObservers::Event(event) => on_event(model, event),
    }
}

fn on_snapshot(model: &mut Model, snapshot: Snapshot) {
    on_levels(model, snapshot.levels);
    on_performers(model, snapshot.performers);
    on_stats(model, snapshot.stats, snapshot.peers);
}

fn on_levels(model: &mut Model, levels: Vec<LevelReport>) {
    model
        .trends
        .recent
        .note_levels(&model.heard.levels, &levels, model.now);
    model.trends.level_loads.record(&levels, model.now);
    model.heard.levels = levels;
    model.tables.mark_stale();
}

fn on_performers(model: &mut Model, performers: Vec<PerformerReport>) {
    let before = &model.heard.performers;
    model
        .trends
        .recent
        .note_performers(before, &performers, model.now);
    model.heard.performers = performers;
    model.tables.mark_stale();
    driving::on_performers(model);
    if model.map.bounds.is_none() {
        model
            .map
            .measure(&model.heard.layout, &model.heard.performers);
    }
    model
        .trends
        .trails
        .record(&model.heard.performers, model.map.bounds.as_ref());
}

fn on_layout(model: &mut Model, layout: Layout) {
    model.heard.layout = layout;
    model
        .map
        .measure(&model.heard.layout, &model.heard.performers);
}

fn on_stats(model: &mut Model, stats: Stats, peers: Vec<PeerReport>) {
    model.trends.latency.record(&stats, model.now);
    if stats.state != RunState::Waiting {
        model.session.starting = None;
    }
    model.heard.stats = Some(stats);
    model.heard.figures_at = Some(model.now);
    for peer in &peers {
        note_age(model, peer);
    }
    model.trends.recent.note_peers(&peers, model.now);
    model.heard.peers = peers;
    model.tables.mark_stale();
    model.note_owners();
    let verdict = Verdict::judge(model);
    model.trends.verdict.note(verdict, model.now);
}

/// Takes the age from a report, unless a relayed heartbeat was younger.
fn note_age(model: &mut Model, peer: &PeerReport) {
    if !peer.heartbeat_age_ms.is_finite() || peer.heartbeat_age_ms < 0.0 {
        return;
    }
    let heard = model.now - Duration::from_secs_f64((peer.heartbeat_age_ms / 1e3).min(1e9));
    let known = model
        .heard
        .heartbeats
        .entry(peer.name.clone())
        .or_insert(heard);
    *known = heard.max(*known);
}

fn on_clock(model: &mut Model, clock: Clock) {
    let Some(stats) = &mut model.heard.stats else {
        return;
    };
    stats.iteration = clock.iteration.0;
    stats.sim_time_s = clock.sim_time.seconds();
    stats.paused = clock.paused;
    if matches!(stats.state, RunState::Paused | RunState::Running) {
        stats.state = if clock.paused {
            RunState::Paused
        } else {
            RunState::Running
        };
    }
}

fn on_announce(model: &mut Model, announce: Announce) {
    match announce {
        Announce::Joined(info) => on_joined(model, info),
        Announce::Left { name, reason } => on_left(model, &name, &reason),
        Announce::Stopping(reason) => {
            if let Some(stats) = &mut model.heard.stats {
                stats.state = RunState::Stopping;
            }
            model.notify(format!("the run ends: {reason}"), false);
        }
    }
}

fn on_joined(model: &mut Model, info: PeerInfo) {
    model.heard.heartbeats.insert(info.name.clone(), model.now);
    let report = joining(info);
    match model
        .heard
        .peers
        .iter_mut()
        .find(|peer| peer.name == report.name)
    {
        Some(peer) => *peer = report,
        None => model.heard.peers.push(report),
    }
    model.tables.mark_stale();
}

fn on_left(model: &mut Model, name: &PeerName, reason: &StopReason) {
    if let Some(peer) = model.heard.peers.iter_mut().find(|peer| peer.name == *name) {
        peer.state = match reason.outcome {
            Outcome::PeerLost => PeerState::Lost,
            Outcome::Completed
            | Outcome::ConfigurationError
            | Outcome::DigestMismatch
            | Outcome::TimedOut
            | Outcome::Interrupted
            | Outcome::Failed => PeerState::Gone,
        };
        peer.blocking = false;
    }
    model.tables.mark_stale();
    model.notify(format!("{name} left: {reason}"), true);
}

fn on_event(model: &mut Model, mut event: Event) {
    event.kind = plain(&event.kind);
    event.text = plain(&event.text);
    // That a loss is made good takes the place of what was said of it.
    if event.severity != Severity::Info || event.kind == "recovery" {
        model.notify(event.text.clone(), event.severity == Severity::Error);
    }
    model.heard.events.push(event);
}

fn on_connected(model: &mut Model) {
    if model.is_stale() {
        model.notify("connected again", false);
    }
    model.session.connection = Connection::Connected;
    model.session.denial = None;
    // One that is stuck already publishes nothing at all.
    model.heard.figures_at = Some(model.now);
}

fn on_disconnected(model: &mut Model) {
    if !matches!(model.session.connection, Connection::Lost { .. }) {
        model.session.connection = Connection::Lost { since: model.now };
    }
    model.prompt.pending.clear();
    driving::on_disconnected(model);
}

fn on_reply(model: &mut Model, command: &Command, result: Result<Iteration, CommandError>) {
    let pending = model
        .prompt
        .pending
        .iter()
        .position(|pending| pending == command);
    if let Some(index) = pending {
        model.prompt.pending.remove(index);
    }
    let Some(name) = command.text() else {
        return;
    };
    match result {
        // A robot that is driven shows that it hears; nobody waits for such an answer.
        Ok(_) if pending.is_none() && matches!(command, Command::Publish { .. }) => {}
        Ok(iteration) => model.notify(format!("{name}: done at iteration {iteration}"), false),
        Err(error) => model.notify(format!("{name} failed: {error}"), true),
    }
}

/// Returns the report of a peer that has only just joined.
fn joining(info: PeerInfo) -> PeerReport {
    PeerReport {
        name: info.name,
        role: info.role,
        state: PeerState::Joining,
        pid: info.pid,
        host: info.host,
        heartbeat_age_ms: 0.0,
        round_trip_us: None,
        clock_offset_us: None,
        levels: Vec::new(),
        performers: Vec::new(),
        physics_us: 0.0,
        systems_us: 0.0,
        sensors_us: 0.0,
        busy_us: 0.0,
        network_us: 0.0,
        blocked_us: 0.0,
        wait_us: 0.0,
        last_share: 0.0,
        blocking: false,
        cpu: 0.0,
        memory_bytes: 0,
        host_load: None,
        relay: None,
        relay_age_ms: None,
        gpu: None,
        participant: None,
    }
}
