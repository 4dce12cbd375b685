//! A program in a real pseudo-terminal, with what a person would see of it.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::processes::{TIMEOUT, wait_for};

/// Begin of a synchronized update: what follows is shown as one, with its end.
const UPDATE_BEGIN: &[u8] = b"\x1b[?2026h";
/// End of a synchronized update.
const UPDATE_END: &[u8] = b"\x1b[?2026l";

/// A program in a pseudo-terminal; killed when dropped.
pub struct Screen {
    terminal: vt100::Parser,
    output: Receiver<Vec<u8>>,
    /// Bytes of a synchronized update that has not ended.
    held: Vec<u8>,
    /// The terminal itself; `None` once it is closed.
    master: Option<Box<dyn MasterPty + Send>>,
    keyboard: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
}

impl Screen {
    /// Starts a program on a screen of this size.
    ///
    /// # Panics
    /// Panics if there is no pseudo-terminal or the program does not start.
    pub fn start(command: CommandBuilder, rows: u16, columns: u16) -> Self {
        let pair = native_pty_system()
            .openpty(size(rows, columns))
            .expect("a pseudo-terminal");
        let child = pair
            .slave
            .spawn_command(command)
            .expect("the program starts");
        drop(pair.slave);
        let mut reader = pair
            .master
            .try_clone_reader()
            .expect("the terminal can be read");
        let keyboard = pair
            .master
            .take_writer()
            .expect("the terminal can be written");
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let terminal = vt100::Parser::new(positive(rows), positive(columns), 0);
        Self {
            terminal,
            output,
            held: Vec::new(),
            master: Some(pair.master),
            keyboard: Some(keyboard),
            child,
        }
    }

    /// Presses keys.
    ///
    /// # Panics
    /// Panics if the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().expect("the terminal is open");
        keyboard
            .write_all(keys.as_bytes())
            .expect("the terminal takes keys");
        keyboard.flush().expect("the terminal takes keys");
    }

    /// Changes the size of the terminal.
    ///
    /// # Panics
    /// Panics if the terminal is gone.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        let master = self.master.as_ref().expect("the terminal is open");
        master
            .resize(size(rows, columns))
            .expect("the terminal can be resized");
        self.terminal
            .screen_mut()
            .set_size(positive(rows), positive(columns));
    }

    /// Waits until the screen holds `text`, and returns the whole screen: as it is, or as it was in
    /// the last update that held the text, if others have come since.
    ///
    /// # Panics
    /// Panics if that does not happen in time.
    pub fn wait_for(&mut self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let mut found = None;
            let written = self.take_whole();
            for update in updates(&written) {
                self.terminal.process(update);
                let contents = self.contents();
                if contents.contains(text) {
                    found = Some(contents);
                }
            }
            let contents = self.contents();
            if contents.contains(text) {
                return contents;
            }
            if let Some(found) = found {
                return found;
            }
            let is_patient = begin.elapsed() < TIMEOUT;
            assert!(
                is_patient,
                "waited {TIMEOUT:?} in vain for {text:?} in\n{contents}"
            );
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits until the terminal is as a condition wants it.
    ///
    /// # Panics
    /// Panics if that does not happen in time.
    pub fn wait_until(&mut self, what: &str, mut holds: impl FnMut(&vt100::Screen) -> bool) {
        wait_for(what, || {
            self.read();
            holds(self.terminal.screen())
        });
    }

    /// Waits for the program's end and returns its exit code and whether the terminal is as it was:
    /// the main screen, with a cursor.
    ///
    /// # Panics
    /// Panics if the program does not end in time.
    pub fn wait(&mut self) -> (u32, bool) {
        let mut status = None;
        wait_for("the program ends", || {
            self.read();
            status = self.child.try_wait().expect("a child can be asked");
            status.is_some()
        });
        self.terminal.process(&std::mem::take(&mut self.held));
        while let Ok(bytes) = self.output.recv() {
            self.terminal.process(&bytes);
        }
        let screen = self.terminal.screen();
        let restored = !screen.alternate_screen() && !screen.hide_cursor();
        (status.expect("it has ended").exit_code(), restored)
    }

    /// Closes the terminal, as a lost connection does, and waits for the program's end.
    ///
    /// # Panics
    /// Panics if the program does not end in time.
    pub fn hang_up(mut self) {
        self.keyboard = None;
        self.master = None;
        // With the next bytes the thread that reads sees that nobody listens, and closes its end.
        self.output = mpsc::channel().1;
        wait_for("the program notices that its terminal is gone", || {
            let status = self.child.try_wait().expect("a child can be asked");
            status.is_some()
        });
    }

    /// Returns the program's process id.
    ///
    /// # Panics
    /// Panics if it has ended.
    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("the program runs")
    }

    /// Returns everything on the screen.
    pub fn contents(&self) -> String {
        self.terminal.screen().contents()
    }

    /// Returns the terminal as it is.
    pub fn terminal(&self) -> &vt100::Screen {
        self.terminal.screen()
    }

    /// Shows what the program has written, but for an update whose end is not there yet.
    fn read(&mut self) {
        let written = self.take_whole();
        self.terminal.process(&written);
    }

    /// Returns what the program has written and is not shown, but for an update whose end is not
    /// there yet.
    fn take_whole(&mut self) -> Vec<u8> {
        while let Ok(bytes) = self.output.try_recv() {
            self.held.extend(bytes);
        }
        let rest = self.held.split_off(whole(&self.held));
        std::mem::replace(&mut self.held, rest)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Cuts what is written after each synchronized update; what is outside of any is one part.
fn updates(written: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = written;
    let end = |bytes: &[u8]| {
        let mut windows = bytes.windows(UPDATE_END.len());
        windows.position(|window| window == UPDATE_END)
    };
    while let Some(at) = end(rest) {
        let (part, after) = rest.split_at(at + UPDATE_END.len());
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Returns the number of bytes before a synchronized update that has not ended.
fn whole(bytes: &[u8]) -> usize {
    let last = |sequence: &[u8]| {
        let mut windows = bytes.windows(sequence.len());
        windows.rposition(|window| window == sequence)
    };
    if let Some(begin) = last(UPDATE_BEGIN)
        && last(UPDATE_END).is_none_or(|end| end < begin)
    {
        return begin;
    }
    // The begin itself may come in two parts.
    let mut parts = (1..UPDATE_BEGIN.len()).rev();
    let cut = parts.find(|count| bytes.ends_with(&UPDATE_BEGIN[..*count]));
    bytes.len() - cut.unwrap_or(0)
}

fn size(rows: u16, columns: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn positive(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a screen has rows and columns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synchronized_update_is_held_until_its_end() {
        let check = |bytes: &str, expected: &str| {
            assert_eq!(
                &bytes.as_bytes()[..whole(bytes.as_bytes())],
                expected.as_bytes()
            );
        };
        check("", "");
        check("plain", "plain");
        check("a\x1b[?2026hb", "a");
        check("a\x1b[?2026hb\x1b[?2026l", "a\x1b[?2026hb\x1b[?2026l");
        check(
            "a\x1b[?2026hb\x1b[?2026lc\x1b[?2026hd",
            "a\x1b[?2026hb\x1b[?2026lc",
        );
        check("a\x1b[?20", "a");
        check("a\x1b", "a");
        check("a\x1b[?25", "a\x1b[?25");
    }

    #[test]
    fn each_synchronized_update_is_shown_by_itself() {
        let check = |bytes: &str, expected: &[&str]| {
            let parts: Vec<&[u8]> = expected.iter().map(|part| part.as_bytes()).collect();
            assert_eq!(updates(bytes.as_bytes()), parts);
        };
        check("", &[""]);
        check("plain", &["plain"]);
        check(
            "a\x1b[?2026hb\x1b[?2026l\x1b[?2026hc\x1b[?2026ld",
            &["a\x1b[?2026hb\x1b[?2026l", "\x1b[?2026hc\x1b[?2026l", "d"],
        );
    }
}
