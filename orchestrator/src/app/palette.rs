//! The palette: commands by name, with completion.

use protocol::Command;

/// A command of the palette.
pub struct Word {
    /// Its name.
    pub name: &'static str,
    /// What follows it, empty for nothing.
    pub argument: &'static str,
    /// What it does.
    pub text: &'static str,
    /// Whether only a view that does not own its run has it.
    pub is_detached_only: bool,
}

/// What a line of the palette asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command to the primary.
    Command(Command),
    /// Leave the view.
    Quit,
    /// Leave the view and let the run go on.
    Detach,
    /// Show the keys.
    Help,
}

/// All commands, in the order in which they are offered.
pub const WORDS: &[Word] = &[
    word("play", "", "let time run"),
    word("pause", "", "stop time"),
    word("step", "[N]", "advance N iterations while paused"),
    word("stop", "", "end the run in order"),
    word(
        "quit",
        "",
        "leave the view; stop the run if the view started it",
    ),
    Word {
        is_detached_only: true,
        ..word("detach", "", "leave the view; the run goes on")
    },
    word("help", "", "show all keys"),
];

const fn word(name: &'static str, argument: &'static str, text: &'static str) -> Word {
    Word {
        name,
        argument,
        text,
        is_detached_only: false,
    }
}

/// Returns the commands that the line may become.
pub fn candidates(line: &str, owns_run: bool) -> impl Iterator<Item = &'static Word> {
    let name = first_word(line).to_lowercase();
    let is_named = line.trim_start().contains(char::is_whitespace);
    let is_open = move |word: &&Word| !(owns_run && word.is_detached_only);
    WORDS.iter().filter(is_open).filter(move |word| {
        if is_named {
            word.name == name
        } else {
            word.name.starts_with(&name)
        }
    })
}

/// Returns the line as far as it can be completed: to what all candidates have in common.
pub fn complete(line: &str, owns_run: bool) -> String {
    let mut names = candidates(line, owns_run);
    let Some(first) = names.next() else {
        return line.to_owned();
    };
    if line.trim_start().contains(char::is_whitespace) {
        return line.to_owned();
    }
    let rest: Vec<_> = names.collect();
    if rest.is_empty() {
        let space = if first.argument.is_empty() { "" } else { " " };
        return format!("{}{space}", first.name);
    }
    let is_common = |length: &usize| {
        rest.iter().all(|word| {
            word.name.as_bytes().get(..*length) == first.name.get(..*length).map(str::as_bytes)
        })
    };
    let length = (0..=first.name.len()).rev().find(is_common).unwrap_or(0);
    first.name[..length].to_owned()
}

/// Returns what the line asks for.
///
/// # Errors
/// A sentence for the user when it asks for nothing that there is.
pub fn parse(line: &str, owns_run: bool) -> Result<Request, String> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default().to_lowercase();
    let argument = words.next();
    if name != "step" && argument.is_some() || words.next().is_some() {
        return Err(format!(
            "{name} takes {} more",
            if name == "step" {
                "one number, not"
            } else {
                "nothing"
            }
        ));
    }
    match name.as_str() {
        "play" => Ok(Request::Command(Command::Play)),
        "pause" => Ok(Request::Command(Command::Pause)),
        "stop" => Ok(Request::Command(Command::Stop)),
        "step" => parse_count(argument).map(|count| Request::Command(Command::Step { count })),
        "quit" | "q" => Ok(Request::Quit),
        "detach" if owns_run => Err("this view started the run and cannot detach".to_owned()),
        "detach" => Ok(Request::Detach),
        "help" => Ok(Request::Help),
        "" => Err("type a command, such as step 100".to_owned()),
        _ => {
            let names: Vec<_> = candidates("", owns_run).map(|word| word.name).collect();
            Err(format!(
                "there is no {name:?}; there are {}",
                names.join(", ")
            ))
        }
    }
}

fn parse_count(argument: Option<&str>) -> Result<u64, String> {
    let Some(text) = argument else { return Ok(1) };
    match text.replace([',', '_'], "").parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("step takes a whole number from 1, not {text:?}")),
    }
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Request, &str>) {
        match (parse(line, true), expected) {
            (Ok(request), Ok(expected)) => assert_eq!(request, expected, "{line}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{line}: {error}"),
            (result, _) => panic!("{line}: {result:?}"),
        }
    }

    #[test]
    fn lines_are_commands_or_say_what_is_wrong() {
        check("play", Ok(Request::Command(Command::Play)));
        check("  PAUSE ", Ok(Request::Command(Command::Pause)));
        check("step", Ok(Request::Command(Command::Step { count: 1 })));
        check(
            "step 1,000",
            Ok(Request::Command(Command::Step { count: 1_000 })),
        );
        check("quit", Ok(Request::Quit));
        check("step 0", Err("whole number from 1"));
        check("step -1", Err("whole number from 1"));
        check("step 1 2", Err("one number"));
        check("play now", Err("nothing more"));
        check("detach", Err("cannot detach"));
        check("fly", Err("there is no \"fly\"; there are play, pause"));
        check("", Err("type a command"));
    }

    #[test]
    fn completion_goes_as_far_as_it_is_certain() {
        assert_eq!(complete("pl", true), "play");
        assert_eq!(complete("ste", true), "step ");
        assert_eq!(complete("s", true), "st");
        assert_eq!(complete("x", true), "x");
        assert_eq!(complete("step 5", true), "step 5");
        assert_eq!(complete("d", true), "d");
        assert_eq!(complete("d", false), "detach");
    }
}
