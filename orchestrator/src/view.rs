//! The view: the loop that brings news, keys and time to the model and the model to the screen.
//!
//! It owns no state of the simulation. What it decides is in [`crate::app`], what it shows in
//! [`crate::ui`]; here is only what waits and what talks to the terminal.

mod aside;
mod outbox;

use std::io;
use std::time::Duration;

use protocol::SessionTime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};

pub use crate::app::command::{ViewEnd, Wish};
pub use crate::app::event::{Feed, LogLine};

use crate::app::command::Effect;
use crate::app::event::Event;
use crate::app::keymap::Keymap;
use crate::app::model::Model;
use crate::app::update::update;
use crate::config::{Colors, Config, REFRESH_HZ_MAX, ViewConfig};
use crate::terminal::{Input, Screen};
use aside::Aside;
use outbox::Outbox;

/// How often ages on the screen grow when nothing else happens.
const TICK_TIME: Duration = Duration::from_secs(1);
/// How often it is drawn anew while something on it changes with time.
const QUICK_TICK_TIME: Duration = Duration::from_millis(250);

/// How a view is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// The run's name.
    pub run: String,
    /// Whether this view started the run, so that leaving it asks what becomes of the run.
    pub owns_run: bool,
    /// How it is shown.
    pub view: ViewConfig,
    /// Its keys.
    pub keymap: Keymap,
}

impl ViewOptions {
    /// Makes the options of a run's view from settings.
    pub fn new(run: String, owns_run: bool, config: &Config) -> Self {
        Self {
            run,
            owns_run,
            view: config.view.clone(),
            keymap: config.keymap.clone(),
        }
    }

    /// Makes the model of a view in an environment of these variables.
    fn model(self, variable: impl Fn(&str) -> Option<String>) -> Model {
        let colors = self.view.theme.colors(&variable);
        let mut model = Model::new(self.run, self.owns_run);
        model.has_color = colors != Colors::Mono;
        model.has_many_colors = colors == Colors::Many;
        model.has_unicode = self.view.unicode.has_unicode(&variable);
        model.has_mouse = self.view.has_mouse;
        model.is_read_only = self.view.is_read_only;
        model.keymap = self.keymap;
        model
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
    let refresh_hz = options.view.refresh_hz.clamp(1, REFRESH_HZ_MAX);
    let frame_time = Duration::from_secs(1) / refresh_hz;
    let mut model = options.model(|name| std::env::var(name).ok());
    let mut aside = Aside::open(&mut model);
    let mut signals = Signals::new()?;
    let mut screen = Screen::enter()?;
    if model.has_mouse {
        screen.set_mouse(true)?;
    }
    let mut input = Input::start()?;
    let start = Instant::now();
    let mut outbox = Outbox::new(wishes);
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
            never = outbox.deliver() => match never {},
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
            Some(Effect::Send(command)) => send(&mut model, &mut outbox, Wish::Send(command), now),
            Some(Effect::Drive(twist)) => send(&mut model, &mut outbox, Wish::Drive(twist), now),
            Some(Effect::Listen(topic)) => send(&mut model, &mut outbox, Wish::Listen(topic), now),
            Some(Effect::ListFiles(folder)) => aside.list(folder),
            Some(Effect::Repaint) => screen.clear()?,
            Some(Effect::Mouse(is_heard)) => screen.set_mouse(is_heard)?,
            Some(Effect::Copy(text)) => screen.copy(&text)?,
            Some(Effect::End(end)) => return Ok(end),
        }
    }
}

fn tick_time(model: &Model) -> Duration {
    if model.recent.is_empty() {
        TICK_TIME
    } else {
        QUICK_TICK_TIME
    }
}

/// Hands a wish on without waiting; a command that cannot be handed on is answered here.
fn send(model: &mut Model, outbox: &mut Outbox, wish: Wish, now: SessionTime) {
    if let Err((command, reason)) = outbox.send(wish) {
        let result = Err(reason.to_owned());
        update(model, Event::Feed(Feed::Reply { command, result }), now);
    }
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
    use super::*;
    use crate::app::event::Key;
    use crate::config::ThemeName;

    #[test]
    fn settings_reach_the_model() {
        let mut config = Config::default();
        config.view.has_mouse = false;
        config.view.is_read_only = true;
        config
            .keymap
            .replace("step", &[Key::Char('.')])
            .expect("step has keys");
        let options = ViewOptions::new("a".to_owned(), false, &config);
        let none = |_: &str| None;
        let model = options.clone().model(none);
        assert!(model.has_color && !model.has_many_colors && !model.has_unicode);
        assert!(model.is_read_only && !model.has_mouse && !model.owns_run);
        assert_eq!(model.keymap.keys_of("step"), [Key::Char('.')]);
        config.view.theme = ThemeName::Many;
        let model = ViewOptions::new("a".to_owned(), true, &config).model(none);
        assert!(model.has_many_colors && model.owns_run);
    }
}
