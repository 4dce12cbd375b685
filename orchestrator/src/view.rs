//! The view: the loop that brings news, keys and time to the model and the model to the screen.
//!
//! It owns no state of the simulation. What it decides is in [`crate::app`], what it shows in
//! [`crate::ui`]; here is only what waits and what talks to the terminal.

mod aside;

use std::io;
use std::time::Duration;

use protocol::SessionTime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};

pub use crate::app::command::{ViewEnd, Wish};
pub use crate::app::event::{Feed, LogLine};

use crate::app::command::Effect;
use crate::app::drive::Twisting;
use crate::app::event::Event;
use crate::app::model::Model;
use crate::app::update::update;
use crate::terminal::{Input, Screen};
use aside::Aside;

/// How often ages on the screen grow when nothing else happens.
const TICK_TIME: Duration = Duration::from_secs(1);
/// How often it is drawn anew while something on it changes with time.
const QUICK_TICK_TIME: Duration = Duration::from_millis(250);
/// The most frames per second that a user may ask for.
const REFRESH_HZ_MAX: u32 = 60;

/// How a view is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewOptions {
    /// The run's name.
    pub run: String,
    /// Whether this view started the run, so that leaving it asks what becomes of the run.
    pub owns_run: bool,
    /// Whether nothing of the run may be changed from here.
    pub is_read_only: bool,
    /// Whether colours may be used; not under `NO_COLOR`.
    pub color: bool,
    /// The most frames per second.
    pub refresh_hz: u32,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            run: String::new(),
            owns_run: false,
            is_read_only: false,
            color: true,
            refresh_hz: 10,
        }
    }
}

/// Shows a run until the user leaves or a signal comes; the terminal is given back in any case.
/// Must run in a tokio runtime with time and IO.
///
/// # Errors
/// When there is no terminal, or it cannot be written to any more.
pub async fn run(
    options: ViewOptions,
    mut feed: Receiver<Feed>,
    wishes: Sender<Wish>,
) -> io::Result<ViewEnd> {
    let refresh_hz = options.refresh_hz.clamp(1, REFRESH_HZ_MAX);
    let frame_time = Duration::from_secs(1) / refresh_hz;
    let mut model = model_of(options);
    let mut aside = Aside::open(&mut model);
    let mut signals = Signals::new()?;
    let mut screen = Screen::enter()?;
    model.has_mouse = true;
    if model.has_mouse {
        screen.set_mouse(true)?;
    }
    let mut input = Input::start()?;
    let start = Instant::now();
    let mut last_tick = start;
    let mut next_frame = start;
    let mut is_feed_open = true;
    loop {
        // The order matters: neither a flood of news nor a slow screen keeps keys from acting.
        let event = tokio::select! {
            biased;
            end = signals.next() => return Ok(end),
            event = input.next() => match event {
                Some(event) => event,
                None => return Ok(ViewEnd::HungUp),
            },
            () = sleep_until(next_frame), if model.has_changed => {
                screen.draw(&mut model)?;
                next_frame = Instant::now() + frame_time;
                continue;
            }
            files = aside.next() => files,
            news = feed.recv(), if is_feed_open => {
                is_feed_open = news.is_some();
                news.map_or(Event::FeedClosed, Event::Feed)
            }
            () = sleep_until(last_tick + tick_time(&model)) => {
                last_tick = Instant::now();
                Event::Tick
            }
        };
        let now = SessionTime(start.elapsed().as_nanos() as u64);
        let effect = update(&mut model, event, now);
        aside.remember(&mut model);
        match effect {
            None => {}
            Some(Effect::Send(command)) => {
                send(&mut model, &wishes, Wish::Send(command), now);
            }
            Some(Effect::Drive(twisting)) => {
                send(&mut model, &wishes, Wish::Drive(twisting), now);
            }
            Some(Effect::ListFiles(folder)) => aside.list(folder),
            Some(Effect::Listen(topic)) => {
                // A link that has ended, or has no room for more, says so when commands are sent.
                let _ = wishes.try_send(Wish::Listen(topic));
            }
            Some(Effect::Repaint) => screen.clear()?,
            Some(Effect::Mouse(is_heard)) => screen.set_mouse(is_heard)?,
            Some(Effect::Copy(text)) => screen.copy(&text)?,
            Some(Effect::End(end)) => return Ok(end),
        }
    }
}

fn model_of(options: ViewOptions) -> Model {
    let mut model = Model::new(options.run, options.owns_run);
    model.has_color = options.color;
    model.is_read_only = options.is_read_only;
    model.has_unicode = has_unicode(|name| std::env::var(name).ok());
    model
}

fn tick_time(model: &Model) -> Duration {
    if model.recent.is_empty() {
        TICK_TIME
    } else {
        QUICK_TICK_TIME
    }
}

/// Hands a command on without waiting; what cannot be handed on is answered here.
fn send(model: &mut Model, wishes: &Sender<Wish>, wish: Wish, now: SessionTime) {
    let Err(error) = wishes.try_send(wish) else {
        return;
    };
    let (wish, reason) = match error {
        TrySendError::Full(wish) => (wish, "earlier commands are not answered yet"),
        TrySendError::Closed(wish) => (wish, "the link to the primary has ended"),
    };
    let command = match wish {
        Wish::Send(command) | Wish::Drive(Twisting { command, .. }) => command,
        Wish::Listen(_) => return,
    };
    let result = Err(reason.to_owned());
    update(model, Event::Feed(Feed::Reply { command, result }), now);
}

/// Tells from the environment whether the terminal shows more than ASCII.
pub(crate) fn has_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    // The console of Linux knows UTF-8, but its fonts have no Braille.
    if set("TERM").is_some_and(|term| matches!(term.as_str(), "linux" | "dumb" | "vt100")) {
        return false;
    }
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"));
    let locale = locale.unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Signals that end the view.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> ViewEnd {
        tokio::select! {
            _ = self.terminate.recv() => ViewEnd::Interrupted,
            _ = self.interrupt.recv() => ViewEnd::Interrupted,
            _ = self.hang_up.recv() => ViewEnd::HungUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::has_unicode;

    fn check(variables: &[(&str, &str)], expected: bool) {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(has_unicode(find), expected, "{variables:?}");
    }

    #[test]
    fn the_locale_says_whether_there_is_more_than_ascii() {
        check(&[], false);
        check(&[("LANG", "C")], false);
        check(&[("LANG", "C.UTF-8")], true);
        check(&[("LANG", "de_DE.utf8"), ("TERM", "xterm")], true);
        check(&[("LC_ALL", "POSIX"), ("LANG", "C.UTF-8")], false);
        check(&[("LC_ALL", ""), ("LANG", "C.UTF-8")], true);
        check(&[("LANG", "C.UTF-8"), ("TERM", "linux")], false);
    }
}
