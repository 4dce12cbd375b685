//! `[process.NAME]`s of a run file: environment and CPUs of single processes.

use std::collections::BTreeMap;

use run::suggestion::advice;
use run::{Process, SECONDARIES_MAX};
use toml::Value;
use toml::de::DeTable;

use super::document::{Reader, SourceSpan, ValueError, shown};
use super::section_list::environment;

/// The CPUs that a process can be given are numbered below this, as Linux's sets of CPUs are.
pub(super) const CPU_MAX: u32 = 1023;

/// A process as it is written.
#[derive(Clone, Debug)]
pub(super) struct RawProcess {
    pub(super) config: Process,
    pub(super) place: SourceSpan,
}

/// The process whose settings are those of all.
const DEFAULT: &str = "default";

/// The processes that keep time.
const FIRST: [&str; 2] = ["primary", "standalone"];

/// Reads the section.
pub(super) fn read(reader: &mut Reader<'_>, table: &DeTable<'_>) -> BTreeMap<String, RawProcess> {
    let mut processes = BTreeMap::new();
    for (name, content) in table {
        let at = name.span().start;
        let name: &str = name.get_ref();
        if !is_process(name) {
            let known = [DEFAULT, FIRST[0], FIRST[1], "s1", "s2"];
            let message = format!(
                "no process is named `{}`: there are {}, and so on",
                shown(name),
                known.join(", ")
            );
            reader.report(at, message);
            continue;
        }
        let Some(table) = content.get_ref().as_table() else {
            reader.report(at, format!("`{name}` must be a section: [process.{name}]"));
            continue;
        };
        let config = read_one(reader, name, table);
        let place = reader.place(at);
        processes.insert(name.to_owned(), RawProcess { config, place });
    }
    processes
}

fn read_one(reader: &mut Reader<'_>, process: &str, table: &DeTable<'_>) -> Process {
    let mut config = Process::default();
    for (key, value) in table {
        let at = value.span().start;
        let placed = reader.value(value);
        let result = match (&**key.get_ref(), placed) {
            ("env", Ok(placed)) => environment(&placed.value).map(|it| config.environment = it),
            ("cpus", Ok(placed)) => cpus(&placed.value).map(|it| config.cpus = Some(it)),
            ("env" | "cpus", Err(error)) => Err(error),
            (other, _) => {
                let hint = advice(other, ["env", "cpus"]);
                let name = shown(other);
                reader.report(
                    key.span().start,
                    format!("[process.{process}] has no key `{name}`{hint}"),
                );
                continue;
            }
        };
        if let Err(error) = result {
            reader.report(at, format!("`{}` {error}", key.get_ref()));
        }
    }
    config
}

pub(super) fn cpus(value: &Value) -> Result<Vec<u32>, ValueError> {
    let list = value.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or(ValueError::NoCpus)?;
    let mut cpus = Vec::new();
    for item in list {
        let cpu = item.as_integer().and_then(|cpu| u32::try_from(cpu).ok());
        let cpu = cpu.filter(|cpu| *cpu <= CPU_MAX);
        let cpu = cpu.ok_or(ValueError::NoCpus)?;
        if cpus.contains(&cpu) {
            return Err(ValueError::CpuTwice { cpu });
        }
        cpus.push(cpu);
    }
    Ok(cpus)
}

fn is_process(name: &str) -> bool {
    let number = name.strip_prefix('s');
    let number = number.filter(|digits| !digits.starts_with(['0', '+']));
    let number = number.and_then(|digits| digits.parse::<u32>().ok());
    name == DEFAULT
        || FIRST.contains(&name)
        || number.is_some_and(|number| (1..=SECONDARIES_MAX).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_error, parse};
    use super::*;

    #[test]
    fn a_process_has_its_own_settings_and_those_of_all() {
        let text = "[process.default]\nenv = { A = '1', B = '1' }\ncpus = [0]\n\
                    [process.s1]\nenv = { B = '2' }\n[process.s2]\ncpus = [2, 1]\n";
        let processes = parse(text).unwrap().spec.processes;
        let given = |name: &str| {
            let process = processes.of(name);
            let pairs = process.environment.iter();
            let pairs: Vec<_> = pairs.map(|(name, text)| format!("{name}={text}")).collect();
            (pairs.join(" "), process.cpus)
        };
        assert_eq!(given("s1"), ("A=1 B=2".to_owned(), Some(vec![0])));
        assert_eq!(given("s2"), ("A=1 B=1".to_owned(), Some(vec![2, 1])));
        assert_eq!(given("primary"), ("A=1 B=1".to_owned(), Some(vec![0])));
        assert_eq!(run::Processes::default().of("s1"), Process::default());
    }

    #[test]
    fn an_invalid_process_setting_is_named_with_its_line() {
        check_error("[process.s0]\n", "1:10", "no process is named `s0`");
        check_error("[process.s1001]\n", "1:10", "no process is named");
        check_error("[process.s1]\ncpu = [0]\n", "2:1", "did you mean `cpus`?");
        check_error("[process.s1]\ncpus = []\n", "2:8", "`cpus` must be a list");
        check_error("[process.s1]\ncpus = [0, 1024]\n", "2:8", "from 0 to 1023");
        check_error("[process.s1]\ncpus = [1, 1]\n", "2:8", "CPU 1 twice");
        check_error(
            "[process.s1]\nenv = { A = 1 }\n",
            "2:7",
            "`env` must be a table",
        );
        check_error("[process]\ns1 = 5\n", "2:1", "[process.s1]");
    }
}
