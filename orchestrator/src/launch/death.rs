//! [`Death`]: how a process of a run ended, in words: the signal by its name, or the exit code with
//! the last error that it printed.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use client::log_level::LogLevel;

/// Size of the end of a log that is searched for last words \[bytes\].
const TAIL_BYTES: u64 = 16 << 10;

/// Exit code of ssh when the connection fails or breaks, or a signal ends what it runs.
pub(super) const UNREACHABLE: i32 = 255;

/// The longest last words \[characters\].
const WORDS_CHARS_MAX: usize = 200;

/// A process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its name.
    pub name: String,
    /// Its process id: on another machine that of the connection.
    pub pid: u32,
    /// The other machine that it was on.
    pub host: Option<String>,
    /// Exit status.
    pub status: ExitStatus,
    /// The last error that it printed.
    pub last_words: Option<String>,
    /// True if it was killed here, since the run had lost it.
    pub was_replaced: bool,
}

impl Death {
    /// Says how it ended; follows its name.
    pub fn how(&self) -> String {
        let how = match (self.status.code(), self.status.signal()) {
            _ if self.was_replaced => "was killed to be replaced".to_owned(),
            (Some(UNREACHABLE), None) if self.host.is_some() => {
                "was killed, or the connection to it was lost".to_owned()
            }
            (_, Some(signal)) => format!("was killed by {}", signal_name(signal)),
            (Some(code), None) => format!("exited with code {code}"),
            (None, None) => "ended".to_owned(),
        };
        match &self.last_words {
            Some(words) if self.status.signal().is_none() => format!("{how}: {words}"),
            Some(_) | None => how,
        }
    }

    /// Says which process ended how.
    pub fn describe(&self) -> String {
        match &self.host {
            None => format!("{} (pid {}) {}", self.name, self.pid, self.how()),
            Some(host) => format!("{} (on {host}) {}", self.name, self.how()),
        }
    }

    /// Tells whether it ended as workers do, having said why: it did not crash.
    pub fn is_orderly(&self) -> bool {
        let code = self.status.code();
        code.is_some_and(|code| matches!(code, 0..=6 | 130))
    }
}

/// Returns the name of a signal of Linux.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

/// Returns the last error in a log from a place on, with the message of a panic.
pub(super) fn last_words(log: &Path, begin: u64) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    let begin = begin.max(length.saturating_sub(TAIL_BYTES));
    file.seek(SeekFrom::Start(begin)).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    words_of(&String::from_utf8_lossy(&tail))
}

fn words_of(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_error = |line: &&str| LogLevel::of(line) == LogLevel::Error;
    let last = lines.iter().rposition(is_error)?;
    let mut words = lines[last].to_owned();
    if let Some((_, place)) = words.split_once("panicked at ") {
        let message = lines.get(last + 1).copied().unwrap_or_default();
        words = format!("panicked at {place} {message}");
    } else if let Some((_, rest)) = words.split_once(" ERROR ") {
        words = rest.trim().to_owned();
    }
    let plain = words.trim().chars().filter(|c| !c.is_control());
    Some(plain.take(WORDS_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: i32, words: Option<&str>, expected: &str) {
        let death = Death {
            name: "s2".to_owned(),
            host: None,
            pid: 7,
            status: ExitStatus::from_raw(raw),
            last_words: words.map(str::to_owned),
            was_replaced: false,
        };
        assert_eq!(death.describe(), format!("s2 (pid 7) {expected}"));
    }

    #[test]
    fn a_signal_is_named_and_an_exit_code_has_the_last_words() {
        check(9, None, "was killed by SIGKILL");
        check(9, Some("old news"), "was killed by SIGKILL");
        check(64, None, "was killed by signal 64");
        check(
            101 << 8,
            Some("panicked at a.rs:1:1: b"),
            "exited with code 101: panicked at a.rs:1:1: b",
        );
        check(3 << 8, None, "exited with code 3");
    }

    #[test]
    fn last_words_are_the_last_error_with_the_message_of_a_panic() {
        let log = "2026-01-01T00:00:00.000000Z  INFO up\n\
                   2026-01-01T00:00:00.000000Z ERROR link broke\n";
        assert_eq!(words_of(log).as_deref(), Some("link broke"));
        let panic = format!("{log}thread 'main' panicked at src/a.rs:1:2:\nboom\nnote: run with\n");
        assert_eq!(
            words_of(&panic).as_deref(),
            Some("panicked at src/a.rs:1:2: boom")
        );
        assert_eq!(words_of("2026-01-01T00:00:00.000000Z  INFO up\n"), None);
    }

    #[test]
    fn workers_that_say_why_they_end_end_in_order() {
        let is_orderly = |raw| {
            let death = Death {
                name: String::new(),
                host: None,
                pid: 1,
                status: ExitStatus::from_raw(raw),
                last_words: None,
                was_replaced: false,
            };
            death.is_orderly()
        };
        assert!(is_orderly(0) && is_orderly(4 << 8) && is_orderly(130 << 8));
        assert!(!is_orderly(9) && !is_orderly(101 << 8) && !is_orderly(134 << 8));
    }
}
