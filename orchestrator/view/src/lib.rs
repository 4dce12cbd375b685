//! The view: the loop that brings news, keys and time to the model and the model to the screen.
//!
//! It owns no state of the simulation. What it decides is in [`crate::app`], what it shows in
//! [`crate::ui`]; here is only what waits and what talks to the terminal.

pub mod app;
mod background_io;
pub mod graphics;
pub mod options;
mod outbox;
pub mod panels;
pub mod show;
pub mod terminal;
pub mod ui;

use std::io;
use std::time::Duration;

use protocol::SessionTime;
use rustix::process::{self, getpid, getppid, getsid, kill_current_process_group, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};

pub use client::feed::{Feed, LogLine};
pub use client::observer_request::ObserverRequest;

pub use crate::app::command::ViewEnd;

use crate::app::command::Effect;
use crate::app::event::Event;
use crate::app::keymap::Keymap;
use crate::app::model::Model;
use crate::app::update::update;
use crate::options::{Colors, REFRESH_HZ_MAX, ViewConfig};
use crate::terminal::{Input, Screen};
use background_io::BackgroundIo;
use outbox::Outbox;

/// Interval at which ages on the screen grow if nothing else happens.
const TICK_TIME: Duration = Duration::from_secs(1);
/// Interval at which the screen is drawn while something on it changes with time.
const QUICK_TICK_TIME: Duration = Duration::from_millis(250);

/// Options of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// The run's name.
    pub run: String,
    /// True if this view started the run, so that leaving it asks what becomes of the run.
    pub owns_run: bool,
    /// Its look.
    pub view: ViewConfig,
    /// Its keys.
    pub keymap: Keymap,
}

impl ViewOptions {
    /// Makes the options of a run's view from settings.
    pub fn new(run: String, owns_run: bool, view: &ViewConfig, keymap: &Keymap) -> Self {
        Self {
            run,
            owns_run,
            view: view.clone(),
            keymap: keymap.clone(),
        }
    }

    /// Makes the model of a view in an environment of these variables.
    fn model(self, variable: impl Fn(&str) -> Option<String>) -> Model {
        let colors = self.view.theme.colors(&variable);
        let mut model = Model::new(self.run, self.owns_run);
        model.terminal.has_color = colors != Colors::Mono;
        model.terminal.has_many_colors = colors == Colors::Many;
        model.terminal.has_unicode = self.view.unicode.has_unicode(&variable);
        model.terminal.has_mouse = self.view.has_mouse;
        model.session.is_read_only = self.view.is_read_only;
        model.keymap = self.keymap;
        model
    }
}

/// Shows a run until the user leaves or a signal comes; the terminal is given back in any case.
/// Must run in a tokio runtime with time and IO.
///
/// # Errors
/// Fails if there is no terminal, or it cannot be written to any more.
pub async fn run(
    options: ViewOptions,
    mut feed: Receiver<Feed>,
    requests: Sender<ObserverRequest>,
) -> io::Result<ViewEnd> {
    let refresh_hz = options.view.refresh_hz.clamp(1, REFRESH_HZ_MAX);
    let frame_time = Duration::from_secs(1) / refresh_hz;
    let mut model = options.model(|name| std::env::var(name).ok());
    let aside = BackgroundIo::open(&mut model);
    let signals = Signals::new()?;
    let mut screen = Screen::enter()?;
    if model.terminal.has_mouse {
        screen.set_mouse(true)?;
    }
    let mut outside = Outside {
        screen,
        aside,
        signals,
        outbox: Outbox::new(requests),
    };
    let mut input = Input::start()?;
    let start = Instant::now();
    let mut last_tick = start;
    let mut next_frame = start;
    let mut is_feed_open = true;
    loop {
        // The order matters: neither a flood of news nor a slow screen keeps keys from acting.
        let event = tokio::select! {
            biased;
            told = outside.signals.next() => match told {
                SignalReaction::End(end) => return Ok(end),
                SignalReaction::Suspend => {
                    outside.suspend(&mut model, |stop| kill_process(getpid(), stop)).await?;
                    continue;
                }
                SignalReaction::Resume => {
                    outside.retake(&mut model)?;
                    continue;
                }
            },
            event = input.next() => match event {
                Some(event) => event,
                None => return Ok(ViewEnd::HungUp),
            },
            () = sleep_until(next_frame), if model.screen.has_changed => {
                outside.screen.draw(&mut model)?;
                next_frame = Instant::now() + frame_time;
                continue;
            }
            files = outside.aside.next() => files,
            never = outside.outbox.deliver() => match never {},
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
        outside.aside.remember(&mut model);
        let Some(effect) = effect else { continue };
        if let Some(end) = outside.perform(&mut model, effect, now).await? {
            return Ok(end);
        }
    }
}

/// The outer parts of the loop: screen, files, signals and the link to the run.
struct Outside {
    screen: Screen,
    aside: BackgroundIo,
    signals: Signals,
    outbox: Outbox,
}

impl Outside {
    /// Does what the model asks for; returns why the view ends, if it does.
    async fn perform(
        &mut self,
        model: &mut Model,
        effect: Effect,
        now: SessionTime,
    ) -> io::Result<Option<ViewEnd>> {
        match effect {
            Effect::Send(command) => {
                send(model, &mut self.outbox, ObserverRequest::Send(command), now);
            }
            Effect::Drive(twisting) => send(
                model,
                &mut self.outbox,
                ObserverRequest::Drive(twisting),
                now,
            ),
            Effect::Listen(topic) => {
                send(model, &mut self.outbox, ObserverRequest::Listen(topic), now);
            }
            Effect::Replay(request) => send(
                model,
                &mut self.outbox,
                ObserverRequest::Replay(request),
                now,
            ),
            Effect::ListFiles(folder) => self.aside.list(folder),
            Effect::Load(asked) => {
                if let Err(error) = self.aside.load(asked) {
                    model.notify(format!("no file can be read: {error}"), true);
                }
            }
            Effect::Repaint => self.screen.clear()?,
            Effect::Mouse(is_heard) => self.screen.set_mouse(is_heard)?,
            Effect::Copy(text) => self.screen.copy(&text)?,
            Effect::Suspend if has_shell() => {
                // As the terminal's own Ctrl-Z does: a script around the view stops with it.
                self.suspend(model, kill_current_process_group).await?;
            }
            Effect::Suspend => {
                model.notify("no shell would wake this view; d leaves it", true);
            }
            Effect::End(end) => return Ok(Some(end)),
        }
        Ok(None)
    }

    /// Gives the terminal back and stops the process; takes it again when told to go on.
    async fn suspend(
        &mut self,
        model: &mut Model,
        send: impl FnOnce(process::Signal) -> rustix::io::Result<()>,
    ) -> io::Result<()> {
        self.screen.leave();
        send(process::Signal::STOP)?;
        self.signals.resume.recv().await;
        self.retake(model)
    }

    /// Takes the terminal after the process was stopped, whatever it was used for meanwhile.
    fn retake(&mut self, model: &mut Model) -> io::Result<()> {
        self.screen.retake()?;
        if model.terminal.has_mouse {
            self.screen.set_mouse(true)?;
        }
        model.screen.has_changed = true;
        Ok(())
    }
}

/// Tells whether there is a shell that sees this process stop: its parent, in the same session.
fn has_shell() -> bool {
    let session = |pid| getsid(pid).ok();
    getppid().is_some_and(|parent| session(Some(parent)) == session(None))
}

fn tick_time(model: &Model) -> Duration {
    if model.trends.recent.is_empty() {
        TICK_TIME
    } else {
        QUICK_TICK_TIME
    }
}

/// Hands a request on without waiting; a command that cannot be handed on is answered here.
fn send(model: &mut Model, outbox: &mut Outbox, request: ObserverRequest, now: SessionTime) {
    if let Err((command, error)) = outbox.send(request) {
        let result = Err(error);
        update(model, Event::Feed(Feed::Reply { command, result }), now);
    }
}

/// Reaction that a signal asks for.
enum SignalReaction {
    End(ViewEnd),
    Suspend,
    Resume,
}

/// Signals that would end or stop the process and leave the terminal as the view has it.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    user: [Signal; 2],
    alarm: Signal,
    hang_up: Signal,
    stop: Signal,
    resume: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            user: [
                signal(SignalKind::user_defined1())?,
                signal(SignalKind::user_defined2())?,
            ],
            alarm: signal(SignalKind::alarm())?,
            hang_up: signal(SignalKind::hangup())?,
            stop: signal(kind(process::Signal::TSTP))?,
            resume: signal(kind(process::Signal::CONT))?,
        })
    }

    async fn next(&mut self) -> SignalReaction {
        let [user_1, user_2] = &mut self.user;
        tokio::select! {
            _ = self.terminate.recv() => SignalReaction::End(ViewEnd::Interrupted),
            _ = self.interrupt.recv() => SignalReaction::End(ViewEnd::Interrupted),
            _ = self.quit.recv() => SignalReaction::End(ViewEnd::Interrupted),
            _ = user_1.recv() => SignalReaction::End(ViewEnd::Interrupted),
            _ = user_2.recv() => SignalReaction::End(ViewEnd::Interrupted),
            _ = self.alarm.recv() => SignalReaction::End(ViewEnd::Interrupted),
            _ = self.hang_up.recv() => SignalReaction::End(ViewEnd::HungUp),
            _ = self.stop.recv() => SignalReaction::Suspend,
            _ = self.resume.recv() => SignalReaction::Resume,
        }
    }
}

fn kind(signal: process::Signal) -> SignalKind {
    SignalKind::from_raw(signal.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::event::Key;
    use crate::options::ThemeName;

    #[test]
    fn settings_reach_the_model() {
        let mut view = ViewConfig {
            has_mouse: false,
            is_read_only: true,
            ..ViewConfig::default()
        };
        let mut keymap = Keymap::default();
        keymap
            .replace("step", &[Key::Char('.')])
            .expect("step has keys");
        let options = ViewOptions::new("a".to_owned(), false, &view, &keymap);
        let none = |_: &str| None;
        let model = options.clone().model(none);
        assert!(
            model.terminal.has_color
                && !model.terminal.has_many_colors
                && !model.terminal.has_unicode
        );
        assert!(model.session.is_read_only && !model.terminal.has_mouse && !model.session.owns_run);
        assert_eq!(model.keymap.keys_of("step"), [Key::Char('.')]);
        view.theme = ThemeName::Many;
        let model = ViewOptions::new("a".to_owned(), true, &view, &keymap).model(none);
        assert!(model.terminal.has_many_colors && model.session.owns_run);
    }
}
