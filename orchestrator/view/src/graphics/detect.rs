//! [`detect`]: asks the terminal what it can draw.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec};

/// A request of kitty's protocol that shows nothing, one for the pixels of a cell, and one that
/// every terminal answers: with that the answers are complete.
const QUERY: &str = "\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}[16t\u{1b}[c";
/// The most bytes of answers.
const ANSWER_BYTES_MAX: usize = 4096;
/// Terminals that answer nothing, and may show the question.
const SILENT: [&str; 3] = ["", "dumb", "linux"];
/// The parameter by which a terminal says that it has sixels.
const SIXEL: &str = "4";

/// Abilities of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// True if it draws pixels by kitty's protocol.
    pub kitty: bool,
    /// True if it draws sixels.
    pub sixel: bool,
    /// Pixels of a cell, across and down, if it says so.
    pub cell: Option<(usize, usize)>,
}

/// Raw mode as long as the terminal is asked.
struct RawMode;

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// Asks the terminal of stdin and stdout, and waits so long for its answer. One that says nothing,
/// or is none, has no abilities; what is typed meanwhile is lost.
pub fn detect(timeout: Duration) -> Abilities {
    let term = std::env::var("TERM").unwrap_or_default();
    if SILENT.contains(&term.as_str()) || !io::stdin().is_terminal() || !io::stdout().is_terminal()
    {
        return Abilities::default();
    }
    let mut abilities = ask(timeout).unwrap_or_default();
    if abilities.cell.is_none() {
        abilities.cell = cell_of_window();
    }
    abilities
}

fn ask(timeout: Duration) -> io::Result<Abilities> {
    let _raw = RawMode::enter()?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(QUERY.as_bytes())?;
    stdout.flush()?;
    let deadline = Instant::now() + timeout;
    let mut answer = Vec::new();
    while !is_complete(&answer) && answer.len() < ANSWER_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        let stdin = io::stdin();
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        let time = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        if left.is_zero() || rustix::event::poll(&mut polled, Some(&time))? == 0 {
            break;
        }
        let mut piece = [0; 256];
        let count = rustix::io::read(&stdin, &mut piece)?;
        if count == 0 {
            break;
        }
        answer.extend_from_slice(&piece[..count]);
    }
    Ok(read(&answer))
}

/// Tells whether the answer that comes last is there: `CSI ? ... c`.
fn is_complete(answer: &[u8]) -> bool {
    attributes(answer).is_some()
}

/// Returns the parameters of `CSI ? ... c`.
fn attributes(answer: &[u8]) -> Option<String> {
    sequence(answer, "\u{1b}[?", 'c')
}

/// Returns what stands between a beginning and an end, if only digits and semicolons do.
fn sequence(answer: &[u8], begin: &str, end: char) -> Option<String> {
    let text = String::from_utf8_lossy(answer).into_owned();
    text.match_indices(begin).find_map(|(at, _)| {
        let rest = &text[at + begin.len()..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        rest[length..]
            .starts_with(end)
            .then(|| rest[..length].to_owned())
    })
}

fn read(answer: &[u8]) -> Abilities {
    let text = String::from_utf8_lossy(answer);
    let attributes = attributes(answer).unwrap_or_default();
    let cell = sequence(answer, "\u{1b}[6;", 't').and_then(|sizes| {
        let (height, width) = sizes.split_once(';')?;
        let (width, height) = (width.parse().ok()?, height.parse().ok()?);
        (width > 0 && height > 0).then_some((width, height))
    });
    Abilities {
        kitty: text.contains("\u{1b}_Gi=31;OK"),
        sixel: attributes.split(';').any(|attribute| attribute == SIXEL),
        cell,
    }
}

/// Returns the pixels of a cell as the system knows them.
fn cell_of_window() -> Option<(usize, usize)> {
    let window = crossterm::terminal::window_size().ok()?;
    let across = usize::from(window.width.checked_div(window.columns)?);
    let down = usize::from(window.height.checked_div(window.rows)?);
    (across > 0 && down > 0).then_some((across, down))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_tell_what_a_terminal_can_draw() {
        let check = |answer: &str, kitty, sixel, cell| {
            let expected = Abilities { kitty, sixel, cell };
            assert_eq!(read(answer.as_bytes()), expected, "{answer:?}");
            assert!(is_complete(answer.as_bytes()), "{answer:?}");
        };
        check(
            "\u{1b}_Gi=31;OK\u{1b}\\\u{1b}[6;20;10t\u{1b}[?62;c",
            true,
            false,
            Some((10, 20)),
        );
        check("\u{1b}[?62;4;22c", false, true, None);
        check("abc\u{1b}[?64;1;2;24c", false, false, None);
        check(
            "\u{1b}_Gi=31;ENOTSUPPORTED\u{1b}\\\u{1b}[?1;2c",
            false,
            false,
            None,
        );
        for partial in [
            "",
            "\u{1b}[?62;4",
            "\u{1b}_Gi=31;OK\u{1b}\\",
            "\u{1b}[?1;2h",
        ] {
            assert!(!is_complete(partial.as_bytes()), "{partial:?}");
        }
    }
}
