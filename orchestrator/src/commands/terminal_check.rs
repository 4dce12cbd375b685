//! Whether there is a terminal for the view.

use std::io::IsTerminal;

use protocol::ExitCode;

use super::Failed;

/// Makes sure that the view can be drawn; `instead` says what to use where it cannot.
pub(super) fn require_terminal(instead: &str) -> Result<(), Failed> {
    let terminal = std::env::var("TERM").ok();
    match problem(std::io::stdout().is_terminal(), terminal.as_deref()) {
        None => Ok(()),
        Some(problem) => Err(Failed::message(
            ExitCode::Usage,
            format!("{problem}: use {instead}"),
        )),
    }
}

fn problem(stdout_is_terminal: bool, term: Option<&str>) -> Option<&'static str> {
    match term {
        _ if !stdout_is_terminal => Some("the view needs a terminal, and stdout is none"),
        Some("dumb") => {
            Some("the view needs a terminal that can move its cursor, and TERM is dumb")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_and_dumb_terminals_have_no_view() {
        assert!(problem(false, Some("xterm")).is_some());
        assert!(problem(true, Some("dumb")).is_some());
        assert!(problem(true, Some("xterm-256color")).is_none());
        assert!(problem(true, None).is_none());
    }
}
