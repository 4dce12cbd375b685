//! Checks that there is a terminal for the view.

use std::io::IsTerminal;

use protocol::ExitCode;

use super::Failed;

/// Properties of the terminal.
#[derive(Clone, Copy, Debug)]
struct TerminalFacts<'a> {
    is_output: bool,
    is_input: bool,
    term: Option<&'a str>,
    /// Columns and rows.
    size: (u16, u16),
}

/// Makes sure that the view can be drawn; `instead` says what to use where it cannot.
pub(super) fn require_terminal(instead: &str) -> Result<(), Failed> {
    let term = std::env::var("TERM").ok().filter(|term| !term.is_empty());
    let known = TerminalFacts {
        is_output: std::io::stdout().is_terminal(),
        is_input: std::io::stdin().is_terminal(),
        term: term.as_deref(),
        size: view::terminal::size().unwrap_or_default(),
    };
    match problem(known) {
        None => Ok(()),
        Some(problem) => Err(Failed::message(
            ExitCode::Usage,
            format!("{problem}, or use {instead}"),
        )),
    }
}

fn problem(known: TerminalFacts<'_>) -> Option<&'static str> {
    match (known.term, known.size) {
        _ if !known.is_output => {
            Some("the view needs a terminal, and stdout is none: send it to one")
        }
        _ if !known.is_input => {
            Some("the view needs a terminal, and stdin is none: take keys from one")
        }
        (None, _) => Some(
            "the view needs to know its terminal, and TERM is not set: set it, mostly to \
             xterm-256color",
        ),
        (Some("dumb"), _) => Some(
            "the view needs a terminal that can move its cursor, and TERM is dumb: set it to what \
             the terminal is, if it is more",
        ),
        (_, (0, _) | (_, 0)) => Some(
            "the view needs to know how large its terminal is: tell it, as in \
             `stty rows 24 columns 80`",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(known: TerminalFacts<'_>, part: Option<&str>) {
        let problem = problem(known);
        match part {
            None => assert_eq!(problem, None),
            Some(part) => assert!(problem.is_some_and(|text| text.contains(part)), "{known:?}"),
        }
    }

    #[test]
    fn pipes_and_terminals_that_cannot_show_it_have_no_view() {
        let good = TerminalFacts {
            is_output: true,
            is_input: true,
            term: Some("xterm-256color"),
            size: (80, 24),
        };
        let term = |term| TerminalFacts { term, ..good };
        check(good, None);
        check(term(Some("linux")), None);
        check(term(Some("dumb")), Some("TERM is dumb"));
        check(term(None), Some("TERM is not set"));
        let is_output = false;
        check(TerminalFacts { is_output, ..good }, Some("stdout"));
        let is_input = false;
        check(TerminalFacts { is_input, ..good }, Some("stdin"));
        let size = (0, 0);
        check(TerminalFacts { size, ..good }, Some("stty rows"));
    }
}
