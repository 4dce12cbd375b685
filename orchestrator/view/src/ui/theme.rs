//! Colours and glyphs, by what they mean; nothing else in the view names a colour.
//!
//! [`colors`] has the colours that a meaning has in each theme. Whatever a colour says is also said
//! by a word, a glyph or a letter.

mod colors;

use protocol::primary_to_observers::Severity;
use protocol::report::{PeerState, RunState};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::{Marker, border};

use self::colors::{Meaning, Palette};
use crate::app::model::Model;
use crate::graphics;

/// Colours and glyphs of the view.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    palette: &'static Palette,
    has_many_colors: bool,
    has_unicode: bool,
}

/// Characters with a meaning.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each is named for its meaning")]
pub struct Glyphs {
    pub running: &'static str,
    pub paused: &'static str,
    pub waiting: &'static str,
    pub stopping: &'static str,
    pub good: &'static str,
    pub idle: &'static str,
    pub bad: &'static str,
    pub warning: &'static str,
    pub blocking: &'static str,
    pub ascending: &'static str,
    pub descending: &'static str,
    pub bar: &'static str,
    pub bar_rest: &'static str,
    pub cut: char,
    pub separator: &'static str,
    pub cursor: &'static str,
    pub scale: [&'static str; 3],
    pub fresh: &'static str,
    pub cross: &'static str,
    pub followed: &'static str,
    /// From the east, against the clock.
    pub headings: [&'static str; 8],
    /// From nothing to the most.
    pub loads: [&'static str; 9],
}

const UNICODE: Glyphs = Glyphs {
    running: "▶",
    paused: "‖",
    waiting: "◌",
    stopping: "■",
    good: "●",
    idle: "○",
    bad: "✖",
    warning: "▲",
    blocking: "◀",
    ascending: "▲",
    descending: "▼",
    bar: "█",
    bar_rest: "░",
    cut: '…',
    separator: "│",
    cursor: "▏",
    scale: ["├", "─", "┤"],
    fresh: "»",
    cross: "┼",
    followed: "◎",
    headings: ["→", "↗", "↑", "↖", "←", "↙", "↓", "↘"],
    loads: [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
};

const ASCII: Glyphs = Glyphs {
    running: ">",
    paused: "=",
    waiting: ".",
    stopping: "#",
    good: "*",
    idle: "o",
    bad: "x",
    warning: "!",
    blocking: "<",
    ascending: "^",
    descending: "v",
    bar: "#",
    bar_rest: ".",
    cut: '~',
    separator: "|",
    cursor: "_",
    scale: ["|", "-", "|"],
    fresh: "!",
    cross: "+",
    followed: "@",
    headings: [">", "^", "^", "^", "<", "v", "v", "v"],
    loads: [" ", "_", ".", ":", "-", "=", "+", "*", "#"],
};

const OWNER_MARKS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Theme {
    /// Returns the theme for a model's terminal.
    pub fn of(model: &Model) -> Self {
        Self {
            palette: match (model.terminal.has_color, model.terminal.has_many_colors) {
                (false, _) => &colors::MONO,
                (true, false) => &colors::SIXTEEN,
                (true, true) => &colors::MANY,
            },
            has_many_colors: model.terminal.has_color && model.terminal.has_many_colors,
            has_unicode: model.terminal.has_unicode,
        }
    }

    /// Returns the characters that the terminal can show.
    pub fn glyphs(self) -> &'static Glyphs {
        if self.has_unicode { &UNICODE } else { &ASCII }
    }

    /// Tells whether more than ASCII is shown.
    pub fn has_unicode(self) -> bool {
        self.has_unicode
    }

    /// Returns two pixels, one above the other, as a character and its style: half a cell for each
    /// where there are many colours, else a character that is as bright.
    pub fn pixels(self, upper: [u8; 3], lower: [u8; 3]) -> (char, Style) {
        if !self.has_unicode || !self.has_many_colors {
            return (graphics::shade(upper, lower), self.text());
        }
        let color = |color| Color::Indexed(graphics::in_table(color));
        ('▀', Style::new().fg(color(upper)).bg(color(lower)))
    }

    /// Plain text.
    pub fn text(self) -> Style {
        Style::new()
    }

    /// The name of a figure.
    pub fn label(self) -> Style {
        self.style(Meaning::Label)
    }

    /// A figure that matters.
    pub fn value(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The heading of a column.
    pub fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED)
    }

    /// Something that is there and does not matter now.
    pub fn muted(self) -> Style {
        self.style(Meaning::Muted)
    }

    /// As it should be.
    pub fn healthy(self) -> Style {
        self.style(Meaning::Healthy)
    }

    /// Not as it should be.
    pub fn warning(self) -> Style {
        self.style(Meaning::Warning)
    }

    /// Wrong.
    pub fn error(self) -> Style {
        self.style(Meaning::Error)
    }

    /// A message that must be seen.
    pub fn alarm(self) -> Style {
        self.error().add_modifier(Modifier::REVERSED)
    }

    /// Figures of a time that is over.
    pub fn stale(self) -> Style {
        // Colours of a time that is over would still say something of now.
        let style = self.muted().remove_modifier(Modifier::BOLD);
        style.fg(style.fg.unwrap_or(Color::Reset)).bg(Color::Reset)
    }

    /// The selected row.
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A part of a text that was looked for.
    pub fn found(self) -> Style {
        self.warning()
            .add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// Returns the style of a recent change, in one of its two looks.
    pub fn fresh(self, is_lit: bool) -> Style {
        let look = if is_lit {
            Modifier::REVERSED
        } else {
            Modifier::UNDERLINED
        };
        Style::new().add_modifier(Modifier::BOLD | look)
    }

    /// The name of a key.
    pub fn key(self) -> Style {
        self.style(Meaning::Key)
    }

    /// The frame of a panel.
    pub fn border(self, is_focused: bool) -> Style {
        if is_focused {
            self.style(Meaning::Focus)
        } else {
            self.muted()
        }
    }

    /// The title of a panel.
    pub fn title(self, is_focused: bool) -> Style {
        if is_focused { self.key() } else { self.value() }
    }

    /// The lines of a panel's frame; thicker when keys go to it.
    pub fn border_set(self, is_focused: bool) -> border::Set<'static> {
        match (self.has_unicode, is_focused) {
            (true, true) => border::THICK,
            (true, false) => border::PLAIN,
            (false, true) => ascii_border("=", "#"),
            (false, false) => ascii_border("-", "|"),
        }
    }

    /// Something of the secondary at this place.
    pub fn owner(self, index: Option<usize>) -> Style {
        match index {
            Some(index) => self.palette.owner(index),
            None => self.text(),
        }
    }

    /// One of the parts that time goes to.
    pub fn part(self, index: usize) -> Style {
        self.palette.part(index)
    }

    /// The letter of the secondary at this place.
    pub fn owner_mark(self, index: Option<usize>) -> char {
        index
            .and_then(|index| OWNER_MARKS.get(index))
            .map_or('*', |mark| char::from(*mark))
    }

    /// Returns the marker for dots of maps and charts.
    pub fn dots(self) -> Marker {
        if self.has_unicode {
            Marker::Braille
        } else {
            Marker::Custom('.')
        }
    }

    /// Returns the marker for points that stand out from those dots.
    pub fn points(self) -> Marker {
        if self.has_unicode {
            Marker::Dot
        } else {
            Marker::Custom('*')
        }
    }

    /// Glyph, word and style of what the run is doing.
    pub fn run_state(self, state: RunState) -> (&'static str, &'static str, Style) {
        let glyphs = self.glyphs();
        match state {
            RunState::Waiting => (glyphs.waiting, "WAITING", self.warning()),
            RunState::Paused => (glyphs.paused, "PAUSED", self.warning()),
            RunState::Running => (glyphs.running, "RUNNING", self.healthy()),
            RunState::Recovering => (glyphs.waiting, "RECOVERING", self.warning()),
            RunState::Stopping => (glyphs.stopping, "STOPPING", self.error()),
        }
    }

    /// Glyph, word and style of where a peer is in its life.
    pub fn peer_state(self, state: PeerState) -> (&'static str, &'static str, Style) {
        let glyphs = self.glyphs();
        match state {
            PeerState::Joining => (glyphs.waiting, "joining", self.warning()),
            PeerState::Syncing => (glyphs.waiting, "syncing", self.warning()),
            PeerState::CatchingUp => (glyphs.waiting, "catch-up", self.warning()),
            PeerState::Active => (glyphs.good, "active", self.healthy()),
            PeerState::Standby => (glyphs.idle, "stand-by", self.text()),
            PeerState::Draining => (glyphs.waiting, "draining", self.warning()),
            PeerState::Lost => (glyphs.bad, "lost", self.error()),
            PeerState::Gone => (glyphs.bad, "gone", self.error()),
        }
    }

    /// Glyph and style of how much an event matters.
    pub fn severity(self, severity: Severity) -> (&'static str, Style) {
        match severity {
            Severity::Info => (" ", self.text()),
            Severity::Warning => (self.glyphs().warning, self.warning()),
            Severity::Error => (self.glyphs().bad, self.error()),
        }
    }

    fn style(self, meaning: Meaning) -> Style {
        self.palette.style(meaning)
    }
}

fn ascii_border(horizontal: &'static str, vertical: &'static str) -> border::Set<'static> {
    border::Set {
        top_left: "+",
        top_right: "+",
        bottom_left: "+",
        bottom_right: "+",
        vertical_left: vertical,
        vertical_right: vertical,
        horizontal_top: horizontal,
        horizontal_bottom: horizontal,
    }
}
