//! Walks through the view: keys, mouse, news and time go in, and the screen says what came of it.
//!
//! [`Walk`] is the user at the terminal; the walks below read as what one does and sees.

mod keys;
mod map;
mod replay;

use std::time::Duration;

use client::ended::RunEnded;
use client::feed::Feed;
use expect_test::expect_file;
use protocol::{Outcome, SessionTime, StopReason};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::command::{Effect, ViewEnd};
use crate::app::event::{Event, Key, Mouse, MouseAction};
use crate::app::fixture::{self, NOW};
use crate::app::keymap;
use crate::app::model::Model;
use crate::app::update::update;
use crate::panels::Panel;

/// Keys that scripts name; all others are single characters.
const NAMED_KEYS: [Key; 17] = [
    Key::Char(' '),
    Key::Enter,
    Key::Esc,
    Key::Tab,
    Key::BackTab,
    Key::Backspace,
    Key::Up,
    Key::Down,
    Key::Left,
    Key::Right,
    Key::PageUp,
    Key::PageDown,
    Key::Home,
    Key::End,
    Key::Ctrl('c'),
    Key::Ctrl('l'),
    Key::Ctrl('u'),
];

/// A user before a terminal of some size, and all that they asked of the loop so far.
pub(crate) struct Walk {
    pub(crate) model: Model,
    pub(crate) effects: Vec<Effect>,
    size: (u16, u16),
    now: SessionTime,
}

impl Walk {
    /// Begins with the fixture's run and no message.
    pub(crate) fn new(width: u16, height: u16) -> Self {
        let mut model = fixture::model();
        model.prompt.notice = None;
        Self::with(model, (width, height))
    }

    /// Begins with a model.
    pub(crate) fn with(model: Model, size: (u16, u16)) -> Self {
        let mut walk = Self {
            model,
            effects: Vec::new(),
            size,
            now: NOW,
        };
        walk.buffer();
        walk
    }

    /// Presses keys by their names as help shows them, with spaces between them: `4 c Right Enter`.
    pub(crate) fn keys(&mut self, keys: &str) -> &mut Self {
        for name in keys.split_whitespace() {
            self.event(Event::Key(key(name)));
        }
        self
    }

    /// Types text.
    pub(crate) fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.event(Event::Key(Key::Char(c)));
        }
        self
    }

    /// Brings news.
    pub(crate) fn feed(&mut self, feed: Feed) -> &mut Self {
        self.event(Event::Feed(feed))
    }

    /// Lets time pass, with the ticks of the loop.
    pub(crate) fn waits(&mut self, time: Duration) -> &mut Self {
        self.now = self.now + time;
        self.event(Event::Tick)
    }

    /// Uses the mouse at a place.
    pub(crate) fn mouse(&mut self, action: MouseAction, (x, y): (u16, u16)) -> &mut Self {
        self.event(Event::Mouse(Mouse { action, x, y }))
    }

    /// Clicks on the first place that shows a text.
    pub(crate) fn clicks(&mut self, text: &str) -> &mut Self {
        let place = self.place(text);
        self.mouse(MouseAction::Press, place)
    }

    /// Returns where a text is on the screen.
    pub(crate) fn place(&mut self, text: &str) -> (u16, u16) {
        let screen = self.screen();
        let found = screen.lines().zip(0..).find_map(|(line, y)| {
            let start = line.find(text)?;
            Some((super::text::columns(&line[..start]) as u16, y))
        });
        found.unwrap_or_else(|| panic!("no {text:?} on\n{screen}"))
    }

    /// Returns the screen as text.
    pub(crate) fn screen(&mut self) -> String {
        super::screens::text(&self.buffer())
    }

    /// Returns the screen with its colours and looks.
    pub(crate) fn buffer(&mut self) -> Buffer {
        let (width, height) = self.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        self.model.settle();
        super::measure(&mut self.model, Rect::new(0, 0, width, height));
        terminal
            .draw(|frame| super::draw(&self.model, frame))
            .unwrap();
        terminal.backend().buffer().clone()
    }

    /// Holds that the screen shows a text.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> &mut Self {
        let screen = self.screen();
        assert!(screen.contains(text), "no {text:?} on\n{screen}");
        self
    }

    /// Holds that the screen does not show a text.
    #[track_caller]
    pub(crate) fn misses(&mut self, text: &str) -> &mut Self {
        let screen = self.screen();
        assert!(!screen.contains(text), "{text:?} on\n{screen}");
        self
    }

    /// Holds that the screen is as it was kept in `snapshots/`; `UPDATE_EXPECT=1` keeps it anew.
    #[track_caller]
    pub(crate) fn is_as_kept(&mut self, name: &str) -> &mut Self {
        let (width, height) = self.size;
        expect_file![format!("snapshots/{name}_{width}x{height}.txt")].assert_eq(&self.screen());
        self
    }

    /// Gives the terminal another size.
    pub(crate) fn resizes(&mut self, width: u16, height: u16) -> &mut Self {
        self.size = (width, height);
        self.event(Event::Resized { width, height })
    }

    /// Takes an event as the loop does, and draws.
    fn event(&mut self, event: Event) -> &mut Self {
        self.effects
            .extend(update(&mut self.model, event, self.now));
        self.buffer();
        self
    }
}

fn key(name: &str) -> Key {
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) => Key::Char(c),
        _ => NAMED_KEYS
            .into_iter()
            .find(|key| keymap::key_name(*key) == name)
            .unwrap_or_else(|| panic!("{name} is no key")),
    }
}

#[test]
fn keys_are_named_as_help_names_them() {
    assert_eq!(key("c"), Key::Char('c'));
    assert_eq!(key("Space"), Key::Char(' '));
    assert_eq!(key("PgUp"), Key::PageUp);
    assert_eq!(key("Ctrl-C"), Key::Ctrl('c'));
}

#[test]
fn a_row_is_found_sorted_filtered_and_left() {
    let mut walk = Walk::new(120, 40);
    walk.keys("5 Down s / r o v Enter").sees("/rov");
    assert_eq!(walk.model.tables[Panel::Performers].rows().len(), 2);
    walk.keys("Esc").misses("/rov").sees("ball");
    assert_eq!(walk.effects, []);
}

#[test]
fn the_end_of_the_run_is_seen_from_wherever_one_is() {
    let mut walk = Walk::new(80, 24);
    let reason = StopReason::new(Outcome::PeerLost, "s2 was lost");
    walk.keys("4 z").clicks("dock").types(":pau");
    walk.feed(Feed::Ended(Box::new(RunEnded::new(reason))))
        .waits(Duration::from_secs(1))
        .sees("s2 was lost");
    walk.keys("Enter");
    assert_eq!(walk.effects, [Effect::End(ViewEnd::Ended)]);
}
