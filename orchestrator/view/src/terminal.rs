//! The terminal: raw mode and the alternate screen, given back whatever happens, and its keys.
//!
//! [`Screen`] restores the terminal when it is dropped, and a panic of any thread restores it
//! before the message is printed.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossterm::cursor::Show;
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use crate::app::event::{Event, Key, Mouse, MouseAction};
use crate::app::model::Model;
use crate::ui;

/// Interval at which the thread that reads keys checks whether it is to end, and for a new size.
const WAIT_TIME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// Time until it looks again for input that nobody hears of.
const REST_TIME: Duration = Duration::from_millis(50);
/// Time for which the end of that thread is waited for.
const END_TIME: Duration = Duration::from_millis(200);
/// Number of keys that may wait to be acted on.
const KEYS_MAX: usize = 64;

/// Makes the terminal tell of buttons and the wheel, and of motion while a button is down: less
/// than crossterm's own command, which also asks for every motion without one.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1002h\u{1b}[?1006h";

/// True if the terminal is in raw mode on the alternate screen.
static IS_HELD: AtomicBool = AtomicBool::new(false);
/// Held by who changes the settings of the terminal.
static SETTINGS: Mutex<()> = Mutex::new(());

/// The terminal while the view has it.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

/// Keys and sizes as they come, read by a thread of its own; dropping it ends the thread.
pub struct Input {
    events: mpsc::Receiver<Event>,
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Returns the columns and rows of the terminal, if there is one.
pub fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Fails if stdin or stdout is no terminal or cannot be put into raw mode.
    pub fn enter() -> io::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            let text = "the view needs a terminal as stdin and stdout";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        restore_on_panic();
        let entered = take().and_then(|()| {
            let writer = BufWriter::with_capacity(1 << 16, io::stdout());
            let mut terminal = Terminal::new(CrosstermBackend::new(writer))?;
            repaint(&mut terminal)?;
            Ok(terminal)
        });
        match entered {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Gives the terminal back until it is taken again.
    pub fn leave(&mut self) {
        restore();
    }

    /// Takes the terminal again, whether it was given back or something else had it unasked.
    ///
    /// # Errors
    /// Fails if it cannot be put into raw mode or written to.
    pub fn retake(&mut self) -> io::Result<()> {
        {
            // What is held as raw need not be so any more.
            let _settings = settings();
            disable_raw_mode()?;
        }
        take()?;
        repaint(&mut self.terminal)
    }

    /// Draws the model, in a synchronized update: a terminal that knows them never shows half a
    /// frame, however its bytes come in.
    ///
    /// # Errors
    /// Fails if the terminal cannot be written to, or a panic elsewhere has given it back.
    pub fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        if !IS_HELD.load(Ordering::SeqCst) {
            return Err(io::Error::other("the terminal was given back by a panic"));
        }
        self.terminal.autoresize()?;
        let size = self.terminal.size()?;
        model.settle();
        ui::measure(model, size.into());
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| ui::draw(model, frame))?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        model.screen.has_changed = model.is_sifting();
        Ok(())
    }

    /// Puts a text on the user's clipboard, by the terminal's own means (OSC 52). Within tmux it is
    /// put into a buffer of tmux, too, which by default takes nothing from programs.
    ///
    /// # Errors
    /// Fails if the terminal cannot be written to.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        if std::env::var_os("TMUX").is_some() {
            copy_to_tmux(text.to_owned());
        }
        execute!(
            io::stdout(),
            crossterm::clipboard::CopyToClipboard::to_clipboard_from(text)
        )
    }

    /// Hears the mouse from now on, or leaves it to the terminal.
    ///
    /// # Errors
    /// Fails if the terminal cannot be written to.
    pub fn set_mouse(&mut self, is_heard: bool) -> io::Result<()> {
        if is_heard {
            execute!(io::stdout(), Print(MOUSE_ON))
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }

    /// Makes the next drawing paint every cell.
    ///
    /// # Errors
    /// Fails if the terminal cannot be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        repaint(&mut self.terminal)
    }
}

/// Clears the screen without asking the terminal where its cursor is: a terminal that is slow to
/// answer, or never does, must not hold the view up.
fn repaint<B: Backend<Error = io::Error>>(terminal: &mut Terminal<B>) -> io::Result<()> {
    let size = terminal.size()?;
    terminal.resize(size.into())
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

impl Input {
    /// Begins to read keys.
    ///
    /// # Errors
    /// Fails if no thread can be started.
    pub fn start() -> io::Result<Self> {
        let (sender, events) = mpsc::channel(KEYS_MAX);
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_stopped);
        let thread = std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || read_keys(&sender, &stop))?;
        Ok(Self {
            events,
            is_stopped,
            thread,
        })
    }

    /// Waits for the next key or size; `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.events.close();
        // A key that was begun and never ended keeps the thread in a read: it is left behind.
        let deadline = Instant::now() + END_TIME;
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Hands a text to tmux, in a thread that may wait for it; where there is no tmux the terminal has
/// the text already.
fn copy_to_tmux(text: String) {
    let copy = move || -> io::Result<()> {
        let mut tmux = Command::new("tmux")
            .args(["load-buffer", "-w", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = tmux.stdin.take() {
            stdin.write_all(text.as_bytes())?;
        }
        tmux.wait().map(|_| ())
    };
    let _ = std::thread::Builder::new()
        .name("copy".to_owned())
        .spawn(copy);
}

/// Takes the terminal.
fn take() -> io::Result<()> {
    {
        let _settings = settings();
        enable_raw_mode()?;
        IS_HELD.store(true, Ordering::SeqCst);
    }
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Gives the terminal back, once.
fn restore() {
    if IS_HELD.swap(false, Ordering::SeqCst) {
        // There is nobody left to tell when this fails.
        let _ = execute!(
            io::stdout(),
            EndSynchronizedUpdate,
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen,
            Show
        );
        let _settings = settings();
        let _ = disable_raw_mode();
    }
}

fn settings() -> MutexGuard<'static, ()> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn restore_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            previous(info);
        }));
    });
}

fn read_keys(sender: &mpsc::Sender<Event>, is_stopped: &AtomicBool) {
    let mut is_announced = false;
    while !is_stopped.load(Ordering::SeqCst) {
        let waits = match wait_for_input() {
            Waited::Gone => return,
            Waited::InVain => false,
            Waited::HasInput => true,
        };
        let mut is_read = false;
        while event::poll(Duration::ZERO).unwrap_or(false) {
            let Ok(read) = event::read() else { return };
            is_read = true;
            let Some(event) = translate(&read) else {
                continue;
            };
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
        let is_unheard = waits && !is_read;
        if is_unheard && (is_announced || announce_input(io::stdin()).is_err()) {
            // Somebody else has the terminal, or nobody reads it.
            std::thread::sleep(REST_TIME);
        }
        is_announced = is_unheard;
    }
}

/// Result of waiting for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    HasInput,
    InVain,
    /// The terminal is gone.
    Gone,
}

/// Waits until there is input, but not for long. Crossterm is never asked to wait: it does not
/// return when the terminal goes while it does.
fn wait_for_input() -> Waited {
    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    match rustix::event::poll(&mut polled, Some(&WAIT_TIME)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Waited::InVain,
        Err(_) => return Waited::Gone,
    }
    let found = polled[0].revents();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if found.intersects(gone) {
        Waited::Gone
    } else if found.contains(PollFlags::IN) {
        Waited::HasInput
    } else {
        Waited::InVain
    }
}

/// Has the system announce input of a terminal that was announced before: setting the terminal to
/// what it is wakes all who wait for it. Crossterm hears of input once, and forgets it where the
/// size of the terminal changed at the same moment: a key would wait for the next one.
fn announce_input(terminal: impl AsFd) -> rustix::io::Result<()> {
    let _settings = settings();
    if !IS_HELD.load(Ordering::SeqCst) {
        return Err(rustix::io::Errno::NOTTY);
    }
    set_anew(terminal)
}

fn set_anew(terminal: impl AsFd) -> rustix::io::Result<()> {
    let settings = tcgetattr(&terminal)?;
    tcsetattr(&terminal, OptionalActions::Now, &settings)
}

fn translate(read: &event::Event) -> Option<Event> {
    match read {
        event::Event::Key(pressed) => key(*pressed).map(Event::Key),
        event::Event::Resize(width, height) => Some(Event::Resized {
            width: *width,
            height: *height,
        }),
        event::Event::Mouse(used) => mouse(*used).map(Event::Mouse),
        event::Event::Paste(text) => Some(Event::Paste(text.clone())),
        event::Event::FocusGained | event::Event::FocusLost => None,
    }
}

fn mouse(used: MouseEvent) -> Option<Mouse> {
    let action = match used.kind {
        MouseEventKind::Down(MouseButton::Left) => MouseAction::Press,
        MouseEventKind::Drag(MouseButton::Left) => MouseAction::Drag,
        MouseEventKind::ScrollUp => MouseAction::ScrollUp,
        MouseEventKind::ScrollDown => MouseAction::ScrollDown,
        _ => return None,
    };
    Some(Mouse {
        action,
        x: used.column,
        y: used.row,
    })
}

fn key(pressed: KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    let has = |modifier| pressed.modifiers.contains(modifier);
    match pressed.code {
        // What terminals send for backspace and for a line feed where keys are scripted.
        KeyCode::Char('h') if has(KeyModifiers::CONTROL) => Some(Key::Backspace),
        KeyCode::Char('j') if has(KeyModifiers::CONTROL) => Some(Key::Enter),
        KeyCode::Char(c) if has(KeyModifiers::CONTROL) => Some(Key::Ctrl(c.to_ascii_lowercase())),
        KeyCode::Char(_) if has(KeyModifiers::ALT) => None,
        KeyCode::Char(c) => Some(Key::Char(c)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Esc),
        KeyCode::Tab if has(KeyModifiers::SHIFT) => Some(Key::BackTab),
        KeyCode::Tab => Some(Key::Tab),
        KeyCode::BackTab => Some(Key::BackTab),
        KeyCode::Backspace => Some(Key::Backspace),
        // Shells take both alike.
        KeyCode::Delete => Some(Key::Ctrl('d')),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::Left => Some(Key::Left),
        KeyCode::Right => Some(Key::Right),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Home => Some(Key::Home),
        KeyCode::End => Some(Key::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::ffi::OsStrExt;

    use rustix::event::epoll;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// Returns both ends of a terminal that hands on each byte.
    fn terminal() -> (File, File) {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&outer).unwrap();
        unlockpt(&outer).unwrap();
        let name = ptsname(&outer, Vec::new()).unwrap();
        let path = std::ffi::OsStr::from_bytes(name.to_bytes());
        let inner = File::options().read(true).write(true).open(path).unwrap();
        let mut raw = tcgetattr(&inner).unwrap();
        raw.make_raw();
        tcsetattr(&inner, OptionalActions::Now, &raw).unwrap();
        (outer.into(), inner)
    }

    #[test]
    fn input_that_was_heard_of_and_not_read_is_announced_again() {
        let (mut outer, inner) = terminal();
        let waiting = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&waiting, &inner, epoll::EventData::new_u64(1), flags).unwrap();
        let hear = |time: Timespec| {
            let mut heard = Vec::with_capacity(1);
            let buffer = rustix::buffer::spare_capacity(&mut heard);
            epoll::wait(&waiting, buffer, Some(&time)).unwrap();
            heard.len()
        };
        let soon = Timespec {
            tv_sec: 10,
            tv_nsec: 0,
        };
        let now = Timespec::default();
        outer.write_all(b"d").unwrap();
        assert_eq!((hear(soon), hear(now)), (1, 0), "it is told once");
        set_anew(&inner).unwrap();
        assert_eq!(hear(soon), 1);
        assert!(set_anew(File::open("/dev/null").unwrap()).is_err());
        assert!(announce_input(&inner).is_err(), "it is not held");
    }

    fn check(code: KeyCode, modifiers: KeyModifiers, expected: Option<Key>) {
        assert_eq!(
            key(KeyEvent::new(code, modifiers)),
            expected,
            "{code:?} {modifiers:?}"
        );
    }

    #[test]
    fn keys_are_translated_with_their_modifiers() {
        check(
            KeyCode::Char('S'),
            KeyModifiers::SHIFT,
            Some(Key::Char('S')),
        );
        check(
            KeyCode::Char('c'),
            KeyModifiers::CONTROL,
            Some(Key::Ctrl('c')),
        );
        check(
            KeyCode::Char('h'),
            KeyModifiers::CONTROL,
            Some(Key::Backspace),
        );
        check(KeyCode::Char('q'), KeyModifiers::ALT, None);
        check(KeyCode::Tab, KeyModifiers::SHIFT, Some(Key::BackTab));
        check(KeyCode::F(1), KeyModifiers::NONE, None);
    }

    #[test]
    fn the_left_button_and_the_wheel_are_heard() {
        let check = |kind, expected| {
            let used = MouseEvent {
                kind,
                column: 7,
                row: 3,
                modifiers: KeyModifiers::NONE,
            };
            let found = mouse(used).map(|mouse| (mouse.action, mouse.x, mouse.y));
            assert_eq!(found, expected, "{kind:?}");
        };
        let left = MouseButton::Left;
        check(MouseEventKind::Down(left), Some((MouseAction::Press, 7, 3)));
        check(MouseEventKind::Drag(left), Some((MouseAction::Drag, 7, 3)));
        check(
            MouseEventKind::ScrollUp,
            Some((MouseAction::ScrollUp, 7, 3)),
        );
        check(MouseEventKind::Moved, None);
        check(MouseEventKind::Up(left), None);
        check(MouseEventKind::Down(MouseButton::Right), None);
    }

    #[test]
    fn a_released_key_does_nothing() {
        let released = KeyEvent::new_with_kind(
            KeyCode::Char('q'),
            KeyModifiers::NONE,
            KeyEventKind::Release,
        );
        assert_eq!(key(released), None);
    }
}
