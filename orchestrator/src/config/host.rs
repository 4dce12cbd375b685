//! `[[host]]`s of a run file: other machines that secondaries are started on.

use std::collections::BTreeMap;

use run::{Host, SLOTS_MAX, check_host_name};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::document::{Reader, SourceSpan, ValueError};
use super::process;
use super::section_list::{SectionList, check_keys, environment, need, take, text};

/// The most hosts of one run.
const HOSTS_MAX: usize = 1000;

/// The keys of a host.
pub(super) const KEYS: [&str; 6] = ["name", "slots", "worker", "primary_address", "cpus", "env"];

/// Reads hosts.
pub(super) fn read(
    reader: &mut Reader<'_>,
    content: &Spanned<DeValue<'_>>,
) -> Vec<(Host, SourceSpan)> {
    let list = SectionList {
        section: "host",
        count_max: HOSTS_MAX,
    };
    list.read(reader, content, |reader, at, table| {
        let host = read_one(reader, at, table)?;
        Some((host.name.clone(), host))
    })
}

fn read_one(reader: &mut Reader<'_>, at: usize, table: &DeTable<'_>) -> Option<Host> {
    check_keys(reader, "host", table, &KEYS);
    need(reader, at, table, "host", &["name"]);
    let name = take(reader, table, "name", name);
    let host = Host {
        slots: take(reader, table, "slots", slots).unwrap_or(1),
        worker: take(reader, table, "worker", text),
        primary_address: take(reader, table, "primary_address", name_of_machine),
        cpus: take(reader, table, "cpus", process::cpus),
        environment: take(reader, table, "env", variables).unwrap_or_default(),
        name: name?,
    };
    Some(host)
}

fn name(value: &Value) -> Result<String, ValueError> {
    let name = text(value)?;
    check_host_name(&name)?;
    Ok(name)
}

fn name_of_machine(value: &Value) -> Result<String, ValueError> {
    let name = name(value)?;
    if name.contains('@') {
        return Err(ValueError::Host(run::HostError::Name(name)));
    }
    Ok(name)
}

fn slots(value: &Value) -> Result<u32, ValueError> {
    let slots = value
        .as_integer()
        .and_then(|slots| u32::try_from(slots).ok());
    let slots = slots.filter(|slots| (1..=SLOTS_MAX).contains(slots));
    slots.ok_or(ValueError::NoSlots)
}

/// Reads variables that a shell can be told.
fn variables(value: &Value) -> Result<BTreeMap<String, String>, ValueError> {
    let variables = environment(value)?;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |name: &String| {
        name.chars().all(is_letter) && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    if variables.keys().all(is_name) {
        Ok(variables)
    } else {
        Err(ValueError::NoEnvironment)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_error, parse};
    use super::*;

    #[test]
    fn hosts_are_read_in_order() {
        let text = "[[host]]\nname = 'me@a'\nslots = 4\nworker = '/opt/worker'\ncpus = [0, 1]\n\
                    env = { A = 'x y' }\nprimary_address = '10.0.0.1'\n[[host]]\nname = 'b'\n";
        let spec = parse(text).unwrap().spec;
        let first = Host {
            slots: 4,
            worker: Some("/opt/worker".to_owned()),
            primary_address: Some("10.0.0.1".to_owned()),
            cpus: Some(vec![0, 1]),
            environment: BTreeMap::from([("A".to_owned(), "x y".to_owned())]),
            ..Host::named("me@a")
        };
        assert_eq!(spec.hosts, [first, Host::named("b")]);
        assert_eq!(spec.secondaries_of_hosts(), 5);
    }

    #[test]
    fn a_wrong_host_is_named_with_its_line() {
        check_error("[[host]]\nslots = 2\n", "1:1", "needs `name`");
        check_error("[[host]]\nname = '-oX=y'\n", "2:8", "no name of a host");
        check_error("[[host]]\nname = 'a'\nslots = 0\n", "3:9", "1 to 1000");
        check_error(
            "[[host]]\nname = 'a'\nenv = { 'a b' = 'x' }\n",
            "3:7",
            "env",
        );
        check_error(
            "[[host]]\nname = 'a'\n[[host]]\nname = 'a'\n",
            "4:8",
            "another host",
        );
        check_error("[[host]]\nname = 'a'\nport = 22\n", "3:1", "no key `port`");
    }
}
