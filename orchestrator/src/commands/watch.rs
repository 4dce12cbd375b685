//! Watching a run in a view, whoever started it: news from its primary, the logs in its folder, and
//! how it starts and ends.

use std::time::Duration;

use anyhow::Context;
use client::Observer;
use client::ended::RunEnded;
use client::feed::{StartUp, StartedProcess};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval};
use view::{self, Feed, ObserverRequest, ViewEnd, ViewOptions};

use super::feeder::Feeder;
use super::target::Target;
use crate::run_directory::{FoundRun, LogFiles, now_unix_s};

/// Interval at which an unreachable run is checked for being alive, and a run that has not begun
/// for having all its processes.
const LIVENESS_PERIOD: Duration = Duration::from_millis(250);

/// Interval at which logs are checked for new lines.
const LOG_PERIOD: Duration = Duration::from_millis(200);

/// Number of commands of the view that may wait.
const REQUESTS_MAX: usize = 64;

/// Result of a view that was left.
pub(super) struct Left {
    /// Reason why it was left.
    pub(super) end: ViewEnd,
    /// The end of the run that was shown first, if that was seen.
    pub(super) first_ended: Option<RunEnded>,
    /// The end of the run that was shown last, if it has ended.
    pub(super) last_ended: Option<RunEnded>,
}

/// Shows a run until the user leaves or a signal comes.
///
/// # Errors
/// Fails if there is no link to be had, or the terminal cannot be used.
pub(super) async fn watch(target: &Target, options: ViewOptions) -> anyhow::Result<Left> {
    let (mut feeder, feeds) = Feeder::new();
    let (request_sender, mut requests) = mpsc::channel::<ObserverRequest>(REQUESTS_MAX);
    let mut watched = Watched::new(target)?;
    let view = view::run(options, feeds, request_sender);
    tokio::pin!(view);
    let (mut looks, mut log_looks) = (ticks(LIVENESS_PERIOD), ticks(LOG_PERIOD));
    loop {
        tokio::select! {
            end = &mut view => return Ok(Left {
                end: end.context("the terminal cannot be used")?,
                first_ended: watched.first_ended,
                last_ended: watched.last_ended,
            }),
            news = watched.observer.feed() => {
                for feed in news {
                    watched.note(&feed);
                    feeder.push(feed);
                }
            }
            _ = looks.tick() => {
                for feed in watched.look() {
                    feeder.push(feed);
                }
            }
            _ = log_looks.tick() => {
                let lines = watched.logs.as_mut().map(LogFiles::read).unwrap_or_default();
                if !lines.is_empty() {
                    feeder.push(Feed::Logs(lines));
                }
            }
            Some(request) = requests.recv() => watched.observer.act(request),
            never = feeder.deliver() => match never {},
        }
    }
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A run that is watched.
struct Watched {
    found: Option<FoundRun>,
    observer: Observer,
    logs: Option<LogFiles>,
    is_connected: bool,
    has_begun: bool,
    first_ended: Option<RunEnded>,
    last_ended: Option<RunEnded>,
    which: Which,
    shown: Option<Vec<StartedProcess>>,
}

/// The run that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// The one that was asked for.
    First,
    /// Another that has begun in its place; its record on this machine is still to be read.
    Unread,
    /// Another, whose record has been read.
    Successor,
}

impl Watched {
    fn new(target: &Target) -> anyhow::Result<Self> {
        let found = target.found.clone();
        Ok(Self {
            observer: Observer::open(&target.reach)?,
            logs: found.as_ref().map(logs_of),
            found,
            is_connected: false,
            has_begun: false,
            first_ended: None,
            last_ended: None,
            which: Which::First,
            shown: None,
        })
    }

    /// Takes in what the view is told.
    fn note(&mut self, feed: &Feed) {
        match feed {
            Feed::Connected => self.is_connected = true,
            Feed::Disconnected => self.is_connected = false,
            Feed::StartedAnew => self.on_started_anew(),
            Feed::Status(_) | Feed::Snapshot(_) => {
                self.has_begun |= super::run::has_begun(feed);
            }
            _ => {}
        }
    }

    /// Another run may begin where one has ended.
    fn on_started_anew(&mut self) {
        self.has_begun = false;
        self.last_ended = None;
        self.shown = None;
        self.which = Which::Unread;
        self.find_successor();
    }

    fn find_successor(&mut self) {
        let successor = self.found.as_ref().and_then(FoundRun::successor);
        if let Some(successor) = successor {
            // What it printed until now went with what was known of the other.
            self.logs = Some(logs_of(&successor));
            self.found = Some(successor);
            self.which = Which::Successor;
        }
    }

    /// Looks how the run is by what this machine knows of it.
    fn look(&mut self) -> Vec<Feed> {
        let mut feeds = Vec::new();
        if self.which == Which::Unread {
            self.find_successor();
        }
        if !self.has_begun && self.last_ended.is_none() && self.which != Which::Unread {
            feeds.extend(self.start_up());
        }
        if !self.is_connected
            && self.last_ended.is_none()
            && let Some(ended) = self.end()
        {
            self.note_end(&ended);
            // What was printed last is seen beside how the run ended.
            let lines = self.logs.as_mut().map(LogFiles::read).unwrap_or_default();
            feeds.push(Feed::Logs(lines));
            feeds.push(Feed::Ended(Box::new(ended)));
        }
        feeds
    }

    fn note_end(&mut self, ended: &RunEnded) {
        if self.which == Which::First {
            self.first_ended = Some(ended.clone());
        }
        self.last_ended = Some(ended.clone());
    }

    fn start_up(&mut self) -> Option<Feed> {
        let record = &self.found.as_ref()?.record;
        let processes: Vec<StartedProcess> = record
            .workers
            .iter()
            .map(|worker| StartedProcess {
                name: worker.name.clone(),
                role: worker.role,
                pid: worker.pid,
                is_running: FoundRun::is_running(worker.pid),
            })
            .collect();
        if self.shown.as_ref() == Some(&processes) {
            return None;
        }
        self.shown = Some(processes.clone());
        let age = now_unix_s().saturating_sub(record.started_unix_s);
        Some(Feed::StartUp(StartUp {
            processes,
            age: Duration::from_secs(age),
        }))
    }

    /// Returns how a run that is not reached ended, if it has.
    fn end(&self) -> Option<RunEnded> {
        match &self.found {
            Some(found) => found.end(),
            None => self.observer.stopping().cloned().map(RunEnded::new),
        }
    }
}

fn logs_of(found: &FoundRun) -> LogFiles {
    LogFiles::new(found.logs(), None)
}
