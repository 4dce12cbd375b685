//! `[[host]]` and `--hosts`: other machines that secondaries are started on, over ssh.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most secondaries of one host.
pub const SLOTS_MAX: u32 = 1000;

/// The longest name of a host \[bytes\].
const NAME_BYTES_MAX: usize = 300;

/// A machine that secondaries are started on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name as ssh takes it: an address, `USER@ADDRESS`, or a `Host` of the user's ssh
    /// configuration.
    pub name: String,
    /// Number of secondaries on it.
    pub slots: u32,
    /// The worker program there; `None` looks for one of this build.
    #[serde(default)]
    pub worker: Option<String>,
    /// Address under which the primary is reached from there; `None` is that of this end of the
    /// ssh connection.
    #[serde(default)]
    pub primary_address: Option<String>,
    /// CPUs that its secondaries may run on; `None` is all.
    #[serde(default)]
    pub cpus: Option<Vec<u32>>,
    /// Variables of their environment.
    #[serde(rename = "env", default)]
    pub environment: BTreeMap<String, String>,
}

/// Hosts with their slots, written `a,b:4,user@c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostList(Vec<(String, Option<u32>)>);

/// Text that is no list of hosts. It follows the name of the setting in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// A name that ssh would not take for one.
    #[error("has `{0}`, which is no name of a host")]
    Name(String),
    /// A number of secondaries that no host may have.
    #[error("has `{0}`: a host has 1 to {SLOTS_MAX} secondaries, as in `{1}:4`")]
    Slots(String, String),
    /// A host that stands in the list already.
    #[error("has `{0}` twice: `{0}:2` starts two secondaries there")]
    Twice(String),
}

impl Host {
    /// Returns a host with one secondary and nothing else said.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            slots: 1,
            worker: None,
            primary_address: None,
            cpus: None,
            environment: BTreeMap::new(),
        }
    }
}

/// Makes sure that ssh takes a text for the name of a host, and never for an option.
///
/// # Errors
/// Fails if it would not.
pub fn check_host_name(name: &str) -> Result<(), HostError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@.-_:%[]".contains(c);
    let is_name = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('-')
        && name.chars().all(is_plain);
    if is_name {
        Ok(())
    } else {
        Err(HostError::Name(name.chars().take(80).collect()))
    }
}

impl HostList {
    /// Returns a list of hosts, each with its number of secondaries.
    pub fn of(hosts: impl IntoIterator<Item = (String, u32)>) -> Self {
        let host = |(name, slots)| (name, Some(slots));
        Self(hosts.into_iter().map(host).collect())
    }

    /// Returns the hosts of the list: each as a section of the run file says, or as one that
    /// nothing is said of.
    pub fn with_sections(&self, sections: &[Host]) -> Vec<Host> {
        let host = |(name, slots): &(String, Option<u32>)| {
            let mut found = sections.iter().filter(|host| host.name == *name);
            let host = found.next().cloned();
            let host = host.unwrap_or_else(|| Host::named(name));
            Host {
                slots: slots.unwrap_or(host.slots),
                ..host
            }
        };
        self.0.iter().map(host).collect()
    }
}

impl FromStr for HostList {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let mut hosts: Vec<(String, Option<u32>)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (name, slots) = match part.rsplit_once(':') {
                // The last group of an address of IPv6 is no number of secondaries.
                Some((name, slots)) if !name.contains(':') || name.ends_with(']') => {
                    let count = slots.parse().ok();
                    let count = count.filter(|count| (1..=SLOTS_MAX).contains(count));
                    let count = count.ok_or_else(|| HostError::Slots(part.into(), name.into()))?;
                    (name, Some(count))
                }
                _ => (part, None),
            };
            let name = name.trim_start_matches('[').trim_end_matches(']');
            check_host_name(name)?;
            if hosts.iter().any(|(other, _)| other == name) {
                return Err(HostError::Twice(name.to_owned()));
            }
            hosts.push((name.to_owned(), slots));
        }
        Ok(Self(hosts))
    }
}

impl fmt::Display for HostList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, slots)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match (slots, name.contains(':')) {
                (Some(slots), true) => write!(formatter, "{comma}[{name}]:{slots}")?,
                (Some(slots), false) => write!(formatter, "{comma}{name}:{slots}")?,
                (None, _) => write!(formatter, "{comma}{name}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, u32)]) {
        let list: HostList = text.parse().unwrap();
        let hosts = list.with_sections(&[]);
        let hosts: Vec<_> = hosts
            .iter()
            .map(|host| (host.name.as_str(), host.slots))
            .collect();
        assert_eq!(hosts, expected, "{text}");
        assert_eq!(list.to_string().parse(), Ok(list), "{text}");
    }

    #[test]
    fn hosts_have_slots() {
        check("a", &[("a", 1)]);
        check("a,b:4,user@c", &[("a", 1), ("b", 4), ("user@c", 1)]);
        check("fe80::1%eth0, [::1]:2", &[("fe80::1%eth0", 1), ("::1", 2)]);
    }

    #[test]
    fn a_list_is_made_of_hosts_with_their_slots() {
        let list = HostList::of([("a".to_owned(), 2), ("::1".to_owned(), 1)]);
        assert_eq!(list.to_string(), "a:2,[::1]:1");
        assert_eq!(list.to_string().parse(), Ok(list));
    }

    #[test]
    fn options_and_nonsense_are_no_hosts() {
        for text in [
            "",
            "a,",
            "-oProxyCommand=x",
            "a b",
            "a;b",
            "a:0",
            "a:x",
            "a,a:2",
            "$(x)",
        ] {
            assert!(text.parse::<HostList>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_section_says_more_of_a_host() {
        let section = Host {
            slots: 3,
            worker: Some("/opt/worker".to_owned()),
            ..Host::named("b")
        };
        let list: HostList = "a,b".parse().unwrap();
        let hosts = list.with_sections(std::slice::from_ref(&section));
        assert_eq!(hosts, [Host::named("a"), section.clone()]);
        let list: HostList = "b:1".parse().unwrap();
        assert_eq!(list.with_sections(&[section])[0].slots, 1);
    }
}
