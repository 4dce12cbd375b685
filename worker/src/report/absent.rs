//! Secondaries that are lost and whose cells are not restored yet: shown as they were last.

use std::collections::BTreeMap;

use lockstep::Primary;
use protocol::report::{PeerReport, PeerState};
use protocol::{PeerName, Role};

/// Last reports of the secondaries.
#[derive(Debug, Default)]
pub(super) struct Absent {
    last: BTreeMap<PeerName, PeerReport>,
}

impl Absent {
    /// Adds the secondaries that are lost, in the order of names, with the levels that they had.
    pub(super) fn complete(&mut self, primary: &Primary, peers: &mut Vec<PeerReport>) {
        let lost: BTreeMap<&PeerName, Vec<String>> = primary
            .lost()
            .map(|(name, cells)| {
                let cells = cells.iter();
                let levels = cells.map(|cell| primary.topology().cell(*cell).name.clone());
                (name, levels.collect())
            })
            .collect();
        for (name, levels) in &lost {
            let is_here = peers.iter().any(|peer| peer.name == **name);
            if !is_here && let Some(last) = self.last.get(*name) {
                peers.push(PeerReport {
                    state: PeerState::Lost,
                    levels: levels.clone(),
                    ..last.clone()
                });
            }
        }
        self.last.retain(|name, _| lost.contains_key(name));
        for peer in peers.iter().filter(|peer| peer.state != PeerState::Lost) {
            self.last.insert(peer.name.clone(), peer.clone());
        }
        // The primary, or a standalone process, comes first.
        peers.sort_by(|one, other| {
            let key = |peer: &PeerReport| (peer.role == Role::Secondary, peer.name.clone());
            key(one).cmp(&key(other))
        });
    }
}
