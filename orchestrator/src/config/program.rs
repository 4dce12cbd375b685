//! `[[program]]`s of a run file: what runs beside the simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::raw::{Problem, Value, flag, problem, text};
use crate::launch::programs::{ProgramPlan, check_name, resolve_command};

/// The most programs of one run.
const PROGRAMS_MAX: usize = 100;

/// A program as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawProgram {
    name: Value,
    command: Value,
    args: Value,
    env: Value,
    working_directory: Value,
    world: Value,
    restart: Value,
    critical: Value,
}

/// Checks programs; paths become relative to `folder`.
pub(super) fn resolve(
    programs: Vec<Spanned<RawProgram>>,
    folder: &Path,
) -> Result<Vec<ProgramPlan>, Problem> {
    let mut names = BTreeSet::new();
    let mut plans = Vec::new();
    for program in programs {
        let offset = program.span().start;
        let at = |message: String| Problem { offset, message };
        if plans.len() >= PROGRAMS_MAX {
            return Err(at(format!("there are more than {PROGRAMS_MAX} programs")));
        }
        let name = program.get_ref().name.clone();
        let plan = program.into_inner().resolve(offset, folder)?;
        if !names.insert(plan.name.clone()) {
            return Err(problem("name", name.as_ref(), "is that of another program"));
        }
        plans.push(plan);
    }
    Ok(plans)
}

impl RawProgram {
    fn resolve(self, offset: usize, folder: &Path) -> Result<ProgramPlan, Problem> {
        let missing = |key: &str| Problem {
            offset,
            message: format!("a program needs `{key}`"),
        };
        let name = text("name", self.name.as_ref())?.ok_or_else(|| missing("name"))?;
        check_name(&name).map_err(|error| problem("name", self.name.as_ref(), &error))?;
        let command = text("command", self.command.as_ref())?.ok_or_else(|| missing("command"))?;
        if text("restart", self.restart.as_ref())?.is_some_and(|policy| policy != "never") {
            return Err(problem(
                "restart",
                self.restart.as_ref(),
                "must be \"never\"",
            ));
        }
        let working_directory = text("working_directory", self.working_directory.as_ref())?;
        Ok(ProgramPlan {
            name,
            command: resolve_command(&command, folder),
            arguments: arguments(self.args.as_ref())?,
            environment: environment(self.env.as_ref())?,
            folder: working_directory.map(|path| folder.join(path)),
            world: text("world", self.world.as_ref())?,
            is_critical: flag("critical", self.critical)?.unwrap_or(false),
        })
    }

    /// Tells whether every key is given.
    #[cfg(test)]
    pub(super) fn is_complete(&self) -> bool {
        let Self {
            name,
            command,
            args,
            env,
            working_directory,
            world,
            restart,
            critical,
        } = self;
        [
            name,
            command,
            args,
            env,
            working_directory,
            world,
            restart,
            critical,
        ]
        .into_iter()
        .all(Option::is_some)
    }
}

fn arguments(value: Option<&Spanned<toml::Value>>) -> Result<Vec<String>, Problem> {
    let Some(given) = value else {
        return Ok(Vec::new());
    };
    let list = given.get_ref().as_array().map(Vec::as_slice);
    let texts = list.and_then(|list| {
        let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    });
    texts.ok_or_else(|| problem("args", value, "must be a list of texts in quotes"))
}

fn environment(value: Option<&Spanned<toml::Value>>) -> Result<BTreeMap<String, String>, Problem> {
    let Some(given) = value else {
        return Ok(BTreeMap::new());
    };
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let table = given.get_ref().as_table();
    let texts = table.and_then(|table| {
        let pairs = table.iter().map(|(name, text)| {
            let text = text.as_str().filter(|text| !text.contains('\0'))?;
            is_name(name).then(|| (name.clone(), text.to_owned()))
        });
        pairs.collect::<Option<BTreeMap<String, String>>>()
    });
    texts.ok_or_else(|| {
        problem(
            "env",
            value,
            "must be a table of texts: { NAME = \"text\" }",
        )
    })
}

#[cfg(test)]
mod tests {
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
                    [[program]]\nname = 'log'\ncommand = 'logger'\nrestart = 'never'\n";
        let programs = parse(text).unwrap().programs;
        let joy = ProgramPlan {
            name: "joy".to_owned(),
            command: "/folder/joy".into(),
            arguments: vec!["-v".to_owned(), String::new()],
            environment: BTreeMap::from([("DEVICE".to_owned(), "js0".to_owned())]),
            folder: Some("/folder/work".into()),
            world: None,
            is_critical: true,
        };
        assert_eq!(programs[0], joy);
        assert_eq!(programs[1].command, Path::new("logger").to_owned());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
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
            ("kommand = 'y'", "kommand"),
        ] {
            check_error(&format!("{one}{line}\n"), part);
        }
    }
}
