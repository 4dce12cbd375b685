//! [`Console`]: where the owner of a run says how it goes: on a terminal with one line that is
//! written anew, else line by line, or in the run's own log.

use std::io::IsTerminal;

use client::plain_text::plain;
use protocol::plain_text::escaped_line;

use super::super::output;
use super::progress::RunProgress;
use crate::run_directory::log_time;

/// Output of the progress of a run.
#[derive(Debug)]
pub(super) enum Console {
    /// On stderr, line by line.
    Lines {
        /// The last progress, which is not repeated.
        last: String,
    },
    /// On a terminal, with the progress in the last line.
    Terminal {
        /// The line that is shown now.
        shown: String,
    },
    /// In the log of the run daemon, with times.
    Log {
        /// The last state, so that only changes are noted.
        last: String,
    },
}

impl Console {
    /// Takes stderr as it is.
    pub(super) fn of_stderr() -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if std::io::stderr().is_terminal() && !is_dumb {
            return Self::Terminal {
                shown: String::new(),
            };
        }
        Self::Lines {
            last: String::new(),
        }
    }

    /// Makes one that writes lines of a log to stderr.
    pub(super) fn log() -> Self {
        Self::Log {
            last: String::new(),
        }
    }

    /// Says what the owner itself has to say.
    pub(super) fn note(&mut self, line: &str) {
        self.say(line, "INFO");
    }

    /// Says what is not as it should be.
    pub(super) fn warn(&mut self, line: &str) {
        self.say(line, "WARN");
    }

    /// Repeats what a process printed; that is in its own log, and need not be in this one.
    pub(super) fn repeat(&mut self, process: &str, text: &str) {
        if !matches!(self, Self::Log { .. }) {
            self.say(&format!("{process}: {text}"), "INFO");
        }
    }

    /// Says how far the run is, if that is news.
    pub(super) fn progress(&mut self, known: &RunProgress, iterations: Option<u64>) {
        match self {
            Self::Lines { last } => {
                let progress = known.progress();
                if progress != *last {
                    output::note(&escaped_line(&progress));
                    *last = progress;
                }
            }
            Self::Terminal { shown } => {
                let progress = known.progress_towards(iterations);
                if progress != *shown {
                    output::rewrite(&plain(&progress));
                    *shown = progress;
                }
            }
            Self::Log { last } => {
                let state = known.state();
                if state != *last {
                    let line = format!("{}  INFO phalanx: {state}", log_time());
                    output::note(&escaped_line(&line));
                    *last = state;
                }
            }
        }
    }

    /// Takes the progress off the terminal.
    pub(super) fn end(&mut self) {
        if let Self::Terminal { shown } = self
            && !shown.is_empty()
        {
            output::rewrite("");
            shown.clear();
        }
    }

    fn say(&mut self, line: &str, level: &str) {
        match self {
            Self::Lines { .. } => output::note(line),
            Self::Terminal { shown } => {
                output::rewrite("");
                output::note(line);
                output::rewrite(&plain(shown));
            }
            Self::Log { .. } => {
                output::note(&format!("{} {level:>5} phalanx: {line}", log_time()));
            }
        }
    }
}
