//! [`JsonProcess`]: a program that is told by lines of its input, and tells by lines of JSON.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::processes::TIMEOUT;

/// A program that speaks in lines; gone when dropped.
pub struct JsonProcess {
    child: Child,
    commands: ChildStdin,
    lines: Receiver<Value>,
}

impl JsonProcess {
    /// Starts it.
    ///
    /// # Panics
    /// Panics if it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let commands = child.stdin.take().expect("its input is a pipe");
        let output = child.stdout.take().expect("its output is a pipe");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).expect("each line is JSON");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            commands,
            lines,
        }
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells it a line.
    ///
    /// # Panics
    /// Panics if it has ended.
    pub fn tell(&mut self, line: &impl Display) {
        writeln!(self.commands, "{line}").expect("the program listens");
    }

    /// Returns the next line, if one comes in this time.
    pub fn next(&mut self, timeout: Duration) -> Option<Value> {
        self.lines.recv_timeout(timeout).ok()
    }

    /// Returns the next line that fits; lines before it are dropped.
    ///
    /// # Panics
    /// Panics if none comes in time.
    pub fn hear(&mut self, what: &str, mut fits: impl FnMut(&Value) -> bool) -> Value {
        let until = Instant::now() + TIMEOUT;
        loop {
            let line = self.next(until.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|| panic!("no {what} in {TIMEOUT:?}"));
            if fits(&line) {
                return line;
            }
        }
    }
}

impl Drop for JsonProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
