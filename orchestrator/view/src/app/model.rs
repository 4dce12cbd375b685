//! [`Model`]: everything that the screen is drawn from.

use std::collections::BTreeMap;
use std::mem;
use std::time::Duration;

use client::ended::RunEnded;
use client::feed::LogLine;
use client::recorded::RecordingPlace;
use protocol::primary_to_observers::{Event, Severity};
use protocol::report::{
    Layout, LevelReport, PeerReport, PerformerReport, RunState, Stats, TopicReport,
};
use protocol::{Command, PeerName, SessionTime};

use super::detail::{self, Detail, Subject};
use super::drive::Drive;
use super::event::FileList;
use super::keymap::Keymap;
use super::latency::LatencyHistory;
use super::level_loads::LevelLoads;
use super::line_edit::LineEdit;
use super::map_view::MapView;
use super::palette::history::History;
use super::places::Places;
use super::recent::Recent;
use super::rows::Tables;
use super::scrollback::{Line, Scrollback};
use super::start_up::Starting;
use super::topic_subscription::TopicSubscription;
use super::trails::Trails;
use super::verdict::SteadyVerdict;
use crate::panels::{Content, Panel};

/// Time for which a message in the footer stays.
const NOTICE_TIME: Duration = Duration::from_secs(8);

/// Silence of a primary that is worth a word; it publishes figures ten times a second.
const SILENCE_TIME: Duration = Duration::from_secs(3);

/// Everything that the screen is drawn from.
#[derive(Clone, Debug)]
pub struct Model {
    /// The run, and what became of it.
    pub session: Session,
    /// Abilities of the terminal.
    pub terminal: TerminalAbilities,
    /// The keys in force.
    pub keymap: Keymap,
    /// Time since the view began.
    pub now: SessionTime,
    /// Latest reports of the run.
    pub heard: Heard,
    /// Histories of earlier reports.
    pub trends: Trends,
    /// Which panels are where.
    pub screen: Screen,
    /// Shown rows of the tables.
    pub tables: Tables,
    /// Visible part of the map.
    pub map: MapView,
    /// The current meaning of keys.
    pub mode: Mode,
    /// The thing whose details are shown.
    pub details: Details,
    /// Words that are typed, and answers to them.
    pub prompt: Prompt,
}

/// The run that is shown, and what became of it.
#[derive(Clone, Debug)]
pub struct Session {
    /// The run's name.
    pub run: String,
    /// True if this view started the run, so that leaving it asks what becomes of the run.
    pub owns_run: bool,
    /// True if nothing of the run may be changed from here.
    pub is_read_only: bool,
    /// The link to the primary.
    pub connection: Connection,
    /// Reason why the primary does not let this view in, if it said so.
    pub denial: Option<String>,
    /// The processes that were started, while the run has not begun.
    pub starting: Option<Starting>,
    /// True if the primary has said that the run has begun, also one that publishes no figures.
    pub has_begun: bool,
    /// Position in the recording, if this view plays one instead of a run.
    pub recording: Option<RecordingPlace>,
    /// The end of the run, once it has ended.
    pub ended: Option<Box<RunEnded>>,
    /// Time when the view learnt of that.
    pub over_since: Option<SessionTime>,
}

/// Abilities of a terminal.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are facts of their own, not one state"
)]
pub struct TerminalAbilities {
    /// True if colours may be used.
    pub has_color: bool,
    /// True if there are the 256 colours of most terminals, besides the 16 of all.
    pub has_many_colors: bool,
    /// True if the terminal shows more than ASCII.
    pub has_unicode: bool,
    /// True if the mouse is heard.
    pub has_mouse: bool,
}

/// Latest reports of a run.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// Figures of the run, once known.
    pub stats: Option<Stats>,
    /// Its processes.
    pub peers: Vec<PeerReport>,
    /// Time when each process was last heard.
    pub heartbeats: BTreeMap<PeerName, SessionTime>,
    /// Time when figures of the run were heard last.
    pub figures_at: Option<SessionTime>,
    /// Hosts of cells in the order of their marks on the map.
    pub owners: Vec<PeerName>,
    /// Its levels.
    pub levels: Vec<LevelReport>,
    /// Its performers.
    pub performers: Vec<PerformerReport>,
    /// The topics of its worlds.
    pub topics: Vec<TopicReport>,
    /// The levels and static models of its worlds.
    pub layout: Layout,
    /// Output lines of its processes.
    pub logs: Scrollback<LogLine>,
    /// Events of the run.
    pub events: Scrollback<Event>,
}

/// Histories of earlier reports of a run.
#[derive(Clone, Debug, Default)]
pub struct Trends {
    /// The judgement of what limits the run's speed.
    pub verdict: SteadyVerdict,
    /// Recent step times.
    pub latency: LatencyHistory,
    /// Former positions of performers.
    pub trails: Trails,
    /// Recent changes.
    pub recent: Recent,
    /// Recent load of the levels' cells.
    pub level_loads: LevelLoads,
}

/// Which panels are where.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The panel that keys go to.
    pub focus: Panel,
    /// True if the focused panel has the whole screen.
    pub is_zoomed: bool,
    /// Panels that are seen besides the focused one.
    pub visible: Visible,
    /// Positions of panels on the screen.
    pub places: Places,
    /// Rows that the focused panel shows, for paging.
    pub page_rows: usize,
    /// True if the screen is behind the model.
    pub has_changed: bool,
}

/// The thing whose details are shown, and what is listened to for it.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The thing, if any.
    pub subject: Option<Subject>,
    /// The details, while they are shown.
    pub detail: Option<Detail>,
    /// The topic that is listened to.
    pub hearing: Option<TopicSubscription>,
    /// Time when topics were asked for last.
    pub topics_asked: Option<SessionTime>,
}

/// Words that are typed, and answers to them.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The filter that is typed.
    pub filter_line: LineEdit,
    /// Search in help.
    pub help: HelpSearch,
    /// Commands that were typed before.
    pub history: History,
    /// Files that the palette offers.
    pub files: Option<FileList>,
    /// The last message to the user.
    pub notice: Option<Notice>,
    /// Commands that are not answered yet.
    pub pending: Vec<Command>,
}

/// The link to the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Not there yet.
    Connecting,
    /// Up.
    Connected,
    /// Lost; figures are those of then.
    Lost {
        /// Since when.
        since: SessionTime,
    },
}

/// The panel that each shared place of the screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visible {
    /// On a large screen, left of the map.
    pub left: Panel,
    /// On a large screen, at the bottom right.
    pub bottom: Panel,
    /// On a small screen, below the panels that are always there.
    pub small: Panel,
}

/// The meaning of keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// The keymap of the focused panel.
    Browse,
    /// A filter is typed.
    Filter,
    /// A command is typed.
    Palette {
        /// Text typed so far.
        line: LineEdit,
        /// Error of the command, after Enter.
        error: Option<String>,
    },
    /// A question is asked.
    Confirm(Question),
    /// The keys steer a robot.
    Drive(Drive),
    /// All that is known of what is selected is shown.
    Detail {
        /// Lines scrolled out at the top.
        scroll: usize,
    },
    /// The keys are shown.
    Help {
        /// Lines scrolled out at the top.
        scroll: usize,
    },
    /// The end of the run is shown.
    Ended {
        /// Lines scrolled out at the top.
        scroll: usize,
    },
}

/// A question before something that cannot be undone.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Shall this be sent?
    Command {
        /// The action, in a word.
        title: String,
        /// The question.
        text: String,
        /// Command to send if the answer is yes.
        command: Command,
    },
    /// Stop the run, or leave it running, or stay?
    Quit,
}

/// Search in help.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelpSearch {
    /// The words.
    pub line: LineEdit,
    /// True if they are typed now.
    pub is_typed: bool,
}

/// A message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The message.
    pub text: String,
    /// True if something failed.
    pub is_error: bool,
    /// Since when it is shown.
    pub since: SessionTime,
}

impl Model {
    /// Makes the model of a view that has heard nothing yet.
    pub fn new(run: String, owns_run: bool) -> Self {
        Self {
            session: Session {
                run,
                owns_run,
                is_read_only: false,
                connection: Connection::Connecting,
                denial: None,
                starting: None,
                has_begun: false,
                recording: None,
                ended: None,
                over_since: None,
            },
            terminal: TerminalAbilities {
                has_color: true,
                has_many_colors: false,
                has_unicode: true,
                has_mouse: false,
            },
            keymap: Keymap::default(),
            now: SessionTime::default(),
            heard: Heard::default(),
            trends: Trends::default(),
            screen: Screen {
                focus: Panel::Peers,
                is_zoomed: false,
                visible: Visible {
                    left: Panel::Levels,
                    bottom: Panel::Logs,
                    small: Panel::Map,
                },
                places: Places::default(),
                page_rows: 1,
                has_changed: true,
            },
            tables: Tables::default(),
            map: MapView::default(),
            mode: Mode::Browse,
            details: Details::default(),
            prompt: Prompt::default(),
        }
    }

    /// Forgets what was seen of a recording that goes back to an earlier place.
    pub fn rewind(&mut self) {
        self.heard.events.clear();
        self.trends = Trends::default();
    }

    /// Brings derived rows and the detail up to date; called before each frame.
    pub fn settle(&mut self) {
        for panel in Panel::ALL {
            self.change_rows(panel, |data, rows| data.settle(rows));
            if let Content::Text { lines_mut, .. } = panel.row().content {
                lines_mut(self).settle();
            }
        }
        let is_shown = matches!(self.mode, Mode::Detail { .. });
        self.details.detail = is_shown.then(|| detail::detail(self)).flatten();
    }

    /// Tells whether a long text is not sifted to its end.
    pub fn is_sifting(&self) -> bool {
        Panel::ALL.iter().any(|panel| match panel.row().content {
            Content::Text { lines, .. } => lines(self).is_sifting(),
            Content::Table { .. } | Content::Picture { .. } => false,
        })
    }

    /// Returns what the run is doing; waiting until it says otherwise.
    pub fn run_state(&self) -> RunState {
        self.heard
            .stats
            .as_ref()
            .map_or(RunState::Waiting, |stats| stats.state)
    }

    /// Tells whether the run is over.
    pub fn is_over(&self) -> bool {
        self.session.ended.is_some()
    }

    /// Tells whether the figures are old because the link is lost.
    pub fn is_stale(&self) -> bool {
        matches!(self.session.connection, Connection::Lost { .. }) && !self.is_over()
    }

    /// Returns the time since a process was last heard, if it ever was.
    pub fn heartbeat_age(&self, name: &PeerName) -> Option<Duration> {
        if self.session.recording.is_some() {
            return None;
        }
        // After the end nobody is heard any more, and ages stay what they were.
        let now = self.session.over_since.unwrap_or(self.now);
        self.heard
            .heartbeats
            .get(name)
            .map(|heard| now.since(*heard))
    }

    /// Returns for how long the primary has published no figures though the link to it is up, once
    /// that is worth a word.
    pub fn silence(&self) -> Option<Duration> {
        let is_live =
            self.session.connection == Connection::Connected && self.session.recording.is_none();
        let is_ending = self.is_over() || self.run_state() == RunState::Stopping;
        let is_going = is_live && !is_ending && self.session.starting.is_none();
        let heard = self.heard.figures_at.filter(|_| is_going)?;
        Some(self.now.since(heard)).filter(|silence| *silence >= SILENCE_TIME)
    }

    /// Returns the place of a secondary among the owners, from which its mark is made.
    pub fn owner_index(&self, name: &PeerName) -> Option<usize> {
        self.heard.owners.iter().position(|owner| owner == name)
    }

    /// Returns the message to the user, while it is fresh.
    pub fn fresh_notice(&self) -> Option<&Notice> {
        self.prompt
            .notice
            .as_ref()
            .filter(|notice| self.now.since(notice.since) < NOTICE_TIME)
    }

    /// Returns where the middle of the map is, world frame \[m\].
    pub fn map_center(&self) -> [f64; 2] {
        let followed = self
            .map
            .follow
            .as_deref()
            .and_then(|name| self.performer(name));
        followed
            .map(|performer| [performer.position[0], performer.position[1]])
            .filter(|center| center.iter().all(|number| number.is_finite()))
            .or(self.map.center)
            .or_else(|| self.map.bounds.map(|bounds| bounds.middle()))
            .unwrap_or_default()
    }

    /// Tells the user something.
    pub fn notify(&mut self, text: impl Into<String>, is_error: bool) {
        self.prompt.notice = Some(Notice {
            text: text.into(),
            is_error,
            since: self.now,
        });
    }

    /// Gives every host of cells its place; places change only while the run gathers.
    pub fn note_owners(&mut self) {
        let is_gathering = self.run_state() == RunState::Waiting || self.heard.owners.is_empty();
        if is_gathering {
            self.heard.owners.clear();
        }
        let hosts = self.heard.peers.iter().filter(|peer| peer.hosts_cells());
        for peer in hosts {
            if !self.heard.owners.contains(&peer.name) {
                self.heard.owners.push(peer.name.clone());
            }
        }
        if is_gathering {
            // Who came first differs from view to view.
            self.heard
                .owners
                .sort_by_key(|name| (name.as_str().len(), name.clone()));
        }
    }

    /// Returns the performer that is selected, by table or map.
    pub fn selected_performer(&self) -> Option<&PerformerReport> {
        self.performer(self.tables[Panel::Performers].selected()?)
    }

    /// Forgets all that was known of the run, and nothing of what the user chose.
    pub fn forget_run(&mut self) {
        self.session.starting = None;
        self.session.has_begun = false;
        self.session.ended = None;
        self.session.over_since = None;
        let (mut logs, mut events) = (
            mem::take(&mut self.heard.logs),
            mem::take(&mut self.heard.events),
        );
        logs.clear();
        events.clear();
        self.heard = Heard {
            logs,
            events,
            ..Heard::default()
        };
        self.trends = Trends::default();
        self.map.bounds = None;
        self.prompt.pending.clear();
        self.tables.mark_stale();
        if matches!(self.mode, Mode::Ended { .. } | Mode::Detail { .. }) {
            self.mode = Mode::Browse;
        }
    }

    fn performer(&self, name: &str) -> Option<&PerformerReport> {
        self.heard
            .performers
            .iter()
            .find(|performer| performer.name == name)
    }
}

impl Line for LogLine {
    fn source(&self) -> &str {
        &self.process
    }

    fn text(&self) -> &str {
        &self.text
    }
}

impl Line for Event {
    fn source(&self) -> &str {
        &self.kind
    }

    fn text(&self) -> &str {
        &self.text
    }
}

/// Returns one word for how much an event matters.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
