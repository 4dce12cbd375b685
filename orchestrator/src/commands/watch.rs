//! Watching a run in a view, whoever started it: news from its primary, the logs in its folder, and
//! how it starts and ends.

use std::time::Duration;

use anyhow::Context;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::feeder::Feeder;
use super::target::Target;
use crate::app::ended::RunEnded;
use crate::app::start_up::{StartUp, StartedProcess};
use crate::client::Observer;
use crate::run_directory::{FoundRun, LogFiles, now_unix_s};
use crate::view::{self, Feed, ViewEnd, ViewOptions, Wish};

/// How often it is looked whether a run that is not reached is still living, and whether one that
/// has not begun has all its processes.
const LIVENESS_PERIOD: Duration = Duration::from_millis(250);

/// How often it is looked whether logs have grown.
const LOG_PERIOD: Duration = Duration::from_millis(200);

/// How many commands of the view may wait.
const WISHES_MAX: usize = 64;

/// Shows a run until the user leaves or a signal comes.
///
/// # Errors
/// When there is no link to be had, or the terminal cannot be used.
pub(super) async fn watch(target: &Target, options: ViewOptions) -> anyhow::Result<ViewEnd> {
    let (mut feeder, feeds) = Feeder::new();
    let (wish_sender, mut wishes) = mpsc::channel::<Wish>(WISHES_MAX);
    let mut watched = Watched::new(target)?;
    let view = view::run(options, feeds, wish_sender);
    tokio::pin!(view);
    let (mut looks, mut log_looks) = (ticks(LIVENESS_PERIOD), ticks(LOG_PERIOD));
    loop {
        tokio::select! {
            end = &mut view => return end.context("the terminal cannot be used"),
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
            Some(wish) = wishes.recv() => watched.observer.act(wish),
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
struct Watched<'a> {
    target: &'a Target,
    observer: Observer,
    logs: Option<LogFiles>,
    is_connected: bool,
    has_begun: bool,
    has_ended: bool,
    shown: Option<Vec<StartedProcess>>,
}

impl<'a> Watched<'a> {
    fn new(target: &'a Target) -> anyhow::Result<Self> {
        let found = target.found.as_ref();
        Ok(Self {
            target,
            observer: Observer::open(&target.endpoints)?,
            logs: found.map(|found| LogFiles::new(found.logs(), None)),
            is_connected: false,
            has_begun: false,
            has_ended: false,
            shown: None,
        })
    }

    /// Takes in what the view is told.
    fn note(&mut self, feed: &Feed) {
        match feed {
            Feed::Connected => self.is_connected = true,
            Feed::Disconnected => self.is_connected = false,
            // By hand, another run may begin where one has ended.
            Feed::StartedAnew => self.has_ended = false,
            Feed::Status(_) | Feed::Snapshot(_) => {
                self.has_begun |= super::run::has_begun(feed);
            }
            _ => {}
        }
    }

    /// Looks how the run is by what this machine knows of it.
    fn look(&mut self) -> Vec<Feed> {
        let mut feeds = Vec::new();
        if !self.has_begun && !self.has_ended {
            feeds.extend(self.start_up());
        }
        if !self.is_connected
            && !self.has_ended
            && let Some(ended) = self.end()
        {
            self.has_ended = true;
            // What was printed last is seen beside how the run ended.
            let lines = self.logs.as_mut().map(LogFiles::read).unwrap_or_default();
            feeds.push(Feed::Logs(lines));
            feeds.push(Feed::Ended(Box::new(ended)));
        }
        feeds
    }

    fn start_up(&mut self) -> Option<Feed> {
        let record = &self.target.found.as_ref()?.record;
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
        match &self.target.found {
            Some(found) => found.end(),
            None => self.observer.stopping().cloned().map(RunEnded::new),
        }
    }
}
