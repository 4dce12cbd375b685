//! [`MachineNames`]: names by which a run tells machines apart.
//!
//! Ways, relays and loads go by the name of a machine, and people read it. Of two machines with the
//! same host name, the one that came later has a number behind it: `lab`, then `lab (2)`.

use std::collections::BTreeMap;

use protocol::PeerInfo;
use protocol::plain_text::OWN_WORD_BYTES_MAX;

/// Number of machines that are told apart.
const MACHINES_MAX: usize = 4096;

/// Machines that were met.
#[derive(Debug, Default)]
pub(super) struct MachineNames {
    /// By host names, in the order of their coming.
    known: BTreeMap<String, Vec<u64>>,
    count: usize,
}

impl MachineNames {
    /// Gives the machine of a process its name in the run.
    pub(super) fn name(&mut self, info: &mut PeerInfo) {
        if info.machine == 0 {
            return;
        }
        let found = self.known.get(&info.host);
        let place = found.and_then(|all| all.iter().position(|one| *one == info.machine));
        let place = match place {
            Some(place) => place,
            None if self.count >= MACHINES_MAX => return,
            None => {
                let all = self.known.entry(info.host.clone()).or_default();
                all.push(info.machine);
                self.count += 1;
                all.len() - 1
            }
        };
        let named = format!("{} ({})", info.host, place + 1);
        if place > 0 && named.len() <= OWN_WORD_BYTES_MAX {
            info.host = named;
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::Role;

    use super::*;
    use crate::identity;

    fn name(names: &mut MachineNames, host: &str, machine: u64) -> String {
        let secondary = "s1".parse().expect("a name");
        let mut info = identity::peer_info(secondary, Role::Secondary);
        (info.host, info.machine) = (host.to_owned(), machine);
        names.name(&mut info);
        info.host
    }

    #[test]
    fn machines_of_one_name_are_told_apart_and_others_keep_theirs() {
        let mut names = MachineNames::default();
        let met = [
            ("lab", 7, "lab"),
            ("lab", 8, "lab (2)"),
            ("desk", 8, "desk"),
            ("lab", 7, "lab"),
            ("lab", 9, "lab (3)"),
            ("lab", 8, "lab (2)"),
            ("lab", 0, "lab"),
        ];
        for (host, machine, expected) in met {
            assert_eq!(name(&mut names, host, machine), expected, "{machine}");
        }
        let long = "x".repeat(OWN_WORD_BYTES_MAX);
        assert_eq!(name(&mut names, &long, 1), long);
        assert_eq!(name(&mut names, &long, 2), long, "there is no room");
    }

    #[test]
    fn no_more_are_remembered_than_a_run_can_have() {
        let mut names = MachineNames::default();
        for machine in 1..=2 * MACHINES_MAX as u64 {
            name(&mut names, "lab", machine);
        }
        assert_eq!(names.known["lab"].len(), MACHINES_MAX);
        assert_eq!(name(&mut names, "lab", 2), "lab (2)");
    }
}
