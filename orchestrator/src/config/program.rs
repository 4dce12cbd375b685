//! `[[program]]`s of a run file: what runs beside the simulation.

use std::path::Path;

use protocol::PeerName;
use run::{Program, check_program_name};
use toml::Spanned;
use toml::Value;
use toml::de::{DeTable, DeValue};

use super::document::{Reader, SourceSpan, ValueError};
use super::section_list::{SectionList, check_keys, environment, need, take, text};

/// The most programs of one run.
const PROGRAMS_MAX: usize = 100;

/// The keys of a program.
pub(super) const KEYS: [&str; 9] = [
    "name",
    "command",
    "args",
    "env",
    "working_directory",
    "world",
    "joins",
    "restart",
    "critical",
];

/// Reads programs; paths become relative to `folder`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    content: &Spanned<DeValue<'_>>,
    folder: &Path,
) -> Vec<(Program, SourceSpan)> {
    let list = SectionList {
        section: "program",
        count_max: PROGRAMS_MAX,
    };
    list.read(reader, content, |reader, at, table| {
        let program = read_one(reader, at, table, folder)?;
        Some((program.name.clone(), program))
    })
}

fn read_one(
    reader: &mut Reader<'_>,
    at: usize,
    table: &DeTable<'_>,
    folder: &Path,
) -> Option<Program> {
    check_keys(reader, "program", table, &KEYS);
    let name = take(reader, table, "name", name);
    let command = take(reader, table, "command", text);
    need(reader, at, table, "program", &["name", "command"]);
    take(reader, table, "restart", restart);
    let working_directory = take(reader, table, "working_directory", text);
    let plan = Program {
        name: name?,
        command: Program::resolve_command(&command?, folder),
        arguments: take(reader, table, "args", arguments).unwrap_or_default(),
        environment: take(reader, table, "env", environment).unwrap_or_default(),
        folder: working_directory.map(|path| folder.join(path)),
        world: take(reader, table, "world", text),
        joins: take(reader, table, "joins", participant),
        is_critical: take(reader, table, "critical", flag).unwrap_or(false),
    };
    Some(plan)
}

fn name(value: &Value) -> Result<String, ValueError> {
    let name = text(value)?;
    check_program_name(&name)?;
    Ok(name)
}

fn participant(value: &Value) -> Result<PeerName, ValueError> {
    text(value)?.parse().map_err(ValueError::Participant)
}

fn restart(value: &Value) -> Result<(), ValueError> {
    match value.as_str() {
        Some("never") => Ok(()),
        _ => Err(ValueError::NoRestart),
    }
}

fn flag(value: &Value) -> Result<bool, ValueError> {
    value.as_bool().ok_or(ValueError::NoFlag)
}

fn arguments(value: &Value) -> Result<Vec<String>, ValueError> {
    let list = value.as_array().map(Vec::as_slice);
    let texts = list.and_then(|list| {
        let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    });
    texts.ok_or(ValueError::NoTexts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("/folder/run.toml")).map_err(|error| error.to_string())
    }

    fn check_error(text: &str, part: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }

    #[test]
    fn programs_are_read_in_order_with_paths_of_the_file() {
        let text = "[[program]]\nname = 'joy'\ncommand = './joy'\nargs = ['-v', '']\n\
                    env = { DEVICE = 'js0' }\nworking_directory = 'work'\ncritical = true\n\
                    joins = 'pilot'\n\
                    [[program]]\nname = 'log'\ncommand = 'logger'\nrestart = 'never'\n";
        let programs = parse(text).unwrap().spec.programs;
        let joy = Program {
            name: "joy".to_owned(),
            command: "/folder/joy".into(),
            arguments: vec!["-v".to_owned(), String::new()],
            environment: BTreeMap::from([("DEVICE".to_owned(), "js0".to_owned())]),
            folder: Some("/folder/work".into()),
            world: None,
            joins: Some("pilot".parse().unwrap()),
            is_critical: true,
        };
        assert_eq!(programs[0], joy);
        assert_eq!(programs[1].command, Path::new("logger").to_owned());
    }

    #[test]
    fn an_error_is_named_with_its_line() {
        check_error(
            "[[program]]\ncommand = 'x'\n",
            "1:1: a program needs `name`",
        );
        check_error(
            "[[program]]\nname = 'x'\n",
            "1:1: a program needs `command`",
        );
        check_error(
            "[[program]]\nname = 's1'\ncommand = 'x'\n",
            "2:8: `name` must not be",
        );
        let one = "[[program]]\nname = 'x'\ncommand = 'x'\n";
        check_error(&format!("{one}{one}"), "5:8: `name` is that of another");
        for (line, part) in [
            ("args = ['a', 5]", "4:8: `args` must be a list"),
            ("env = { A = 5 }", "4:7: `env` must be a table"),
            ("env = { 'A=' = 'x' }", "`env` must be a table"),
            ("restart = 'always'", "must be \"never\""),
            ("critical = 'yes'", "true or false"),
            ("joins = 'a b'", "4:9: `joins`"),
            ("kommand = 'y'", "kommand"),
        ] {
            check_error(&format!("{one}{line}\n"), part);
        }
    }
}
