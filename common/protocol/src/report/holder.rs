//! [`holder()`]: which peer holds the others back, judged in one way for all who tell it.

use super::{PeerReport, PeerState};

/// The part of a step's work that a peer must cost until it holds the others.
const WORK_SHARE_MIN: f64 = 0.15;
/// The part of the steps in which it must answer last for that.
const LAST_SHARE_MIN: f64 = 0.5;

impl PeerReport {
    /// Tells whether it is a secondary that takes part now.
    pub fn is_worker(&self) -> bool {
        let takes_part = matches!(self.state, PeerState::Active | PeerState::Standby);
        takes_part && self.hosts_cells()
    }
}

/// Returns the peer that the others wait for, if one costs enough of the work of a step \[us\].
pub fn holder(peers: &[PeerReport], work_us: f64) -> Option<&PeerReport> {
    let workers = || peers.iter().filter(|peer| peer.is_worker());
    let worst = workers().max_by(|a, b| a.blocked_us.total_cmp(&b.blocked_us))?;
    let has_others = workers().nth(1).is_some();
    // Where the way to all is long, answers come last by turns.
    let is_far = |peer: &PeerReport| peer.network_us > peer.busy_us;
    let mut others = workers().filter(|other| other.name != worst.name);
    if is_far(worst) && others.all(|other| other.network_us * 2.0 > worst.network_us) {
        return None;
    }
    let costs = work_us > 0.0 && worst.blocked_us >= work_us * WORK_SHARE_MIN;
    (has_others && costs && worst.last_share >= LAST_SHARE_MIN).then_some(worst)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::peer::Role;

    /// A secondary that answers last in such a part of the steps and costs so much.
    pub(in super::super) fn peer(name: &str, last_share: f64, blocked_us: f64) -> PeerReport {
        PeerReport {
            name: name.parse().unwrap(),
            role: Role::Secondary,
            state: PeerState::Active,
            pid: 1,
            host: "lab".to_owned(),
            heartbeat_age_ms: 0.0,
            round_trip_us: None,
            clock_offset_us: None,
            levels: Vec::new(),
            performers: Vec::new(),
            physics_us: 0.0,
            systems_us: 0.0,
            sensors_us: 0.0,
            busy_us: 300.0,
            network_us: 50.0,
            blocked_us,
            wait_us: 0.0,
            last_share,
            blocking: false,
            cpu: 0.0,
            memory_bytes: 0,
            host_load: None,
            relay: None,
            relay_age_ms: None,
            gpu: None,
            participant: None,
        }
    }

    fn check(peers: &[PeerReport], work_us: f64, expected: Option<&str>) {
        let found = holder(peers, work_us).map(|peer| peer.name.as_str());
        assert_eq!(found, expected, "{peers:?}");
    }

    #[test]
    fn a_peer_that_is_mostly_last_and_costs_enough_holds_the_others() {
        let others = peer("s1", 0.4, 20.0);
        check(&[others.clone(), peer("s2", 0.6, 60.0)], 400.0, Some("s2"));
        check(&[others.clone(), peer("s2", 0.6, 59.0)], 400.0, None);
        check(&[others.clone(), peer("s2", 0.49, 200.0)], 400.0, None);
        check(&[others, peer("s2", 0.5, 60.0)], 400.0, Some("s2"));
    }

    #[test]
    fn peers_that_answer_last_by_turns_hold_nobody() {
        check(&[peer("s1", 0.5, 8.0), peer("s2", 0.5, 9.0)], 400.0, None);
    }

    #[test]
    fn a_lone_peer_and_a_paused_run_hold_nobody_up() {
        check(&[peer("s1", 1.0, 300.0)], 400.0, None);
        let gone = PeerReport {
            state: PeerState::Gone,
            ..peer("s1", 0.0, 0.0)
        };
        let primary = PeerReport {
            role: Role::Primary,
            ..peer("primary", 0.0, 0.0)
        };
        check(&[primary, gone, peer("s2", 1.0, 300.0)], 400.0, None);
        check(&[peer("s1", 0.0, 0.0), peer("s2", 1.0, 300.0)], 0.0, None);
        check(&[], 400.0, None);
    }

    #[test]
    fn where_the_way_to_all_is_long_nobody_holds_the_others() {
        let far = |one: PeerReport, network_us| PeerReport { network_us, ..one };
        let worst = far(peer("s2", 0.6, 300.0), 800.0);
        check(
            &[far(peer("s1", 0.4, 0.0), 700.0), worst.clone()],
            900.0,
            None,
        );
        check(&[peer("s1", 0.4, 0.0), worst], 900.0, Some("s2"));
    }
}
