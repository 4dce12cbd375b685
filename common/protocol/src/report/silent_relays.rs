//! [`silent_relays()`]: relays that have fallen silent, judged in one way for all who tell it.

use super::PeerReport;
use crate::PeerName;

/// Time without a word from which a relay counts as silent \[ms\]: it speaks ten times a second,
/// whatever its secondaries do.
pub const RELAY_SILENCE_MS: f64 = 1_000.0;

/// Relay that is silent, and with it all secondaries behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct SilentRelay<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its machine, that of its secondaries.
    pub host: &'a str,
    /// Time since anything came from it \[ms\].
    pub age_ms: f64,
    /// Secondaries that reach the primary through it.
    pub behind: Vec<&'a PeerName>,
}

impl PeerReport {
    /// Tells whether the relay that it is behind is silent.
    pub fn is_relay_silent(&self) -> bool {
        self.state.is_here() && self.relay_age_ms.is_some_and(|age| age >= RELAY_SILENCE_MS)
    }
}

/// Returns the relays that are silent, the one that is for longest first.
pub fn silent_relays(peers: &[PeerReport]) -> Vec<SilentRelay<'_>> {
    let mut found: Vec<SilentRelay<'_>> = Vec::new();
    for peer in peers.iter().filter(|peer| peer.is_relay_silent()) {
        let (Some(name), Some(age_ms)) = (peer.relay.as_deref(), peer.relay_age_ms) else {
            continue;
        };
        let is_its = |one: &&mut SilentRelay<'_>| one.name == name && one.host == peer.host;
        match found.iter_mut().find(is_its) {
            Some(relay) => relay.behind.push(&peer.name),
            None => found.push(SilentRelay {
                name,
                host: &peer.host,
                age_ms,
                behind: vec![&peer.name],
            }),
        }
    }
    found.sort_by(|a, b| b.age_ms.total_cmp(&a.age_ms));
    found
}

#[cfg(test)]
mod tests {
    use super::super::PeerState;
    use super::super::holder::tests::peer;
    use super::*;

    /// A secondary behind a relay that was heard so long ago \[ms\].
    fn behind(name: &str, relay: &str, age_ms: f64) -> PeerReport {
        PeerReport {
            relay: Some(relay.to_owned()),
            relay_age_ms: Some(age_ms),
            ..peer(name, 0.0, 0.0)
        }
    }

    fn check(peers: &[PeerReport], expected: &[(&str, &[&str])]) {
        let found = silent_relays(peers);
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|one| {
                let names = one.behind.iter().map(|name| name.as_str());
                (one.name, names.collect())
            })
            .collect();
        let expected: Vec<(&str, Vec<&str>)> =
            expected.iter().map(|one| (one.0, one.1.to_vec())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn relays_are_silent_with_all_behind_them_and_the_longest_is_first() {
        let peers = [
            peer("s1", 0.0, 0.0),
            behind("s2", "r1", 1_000.0),
            behind("s3", "r2", 7_000.0),
            behind("s4", "r1", 1_000.0),
            behind("s5", "r3", 999.0),
        ];
        check(&peers, &[("r2", &["s3"]), ("r1", &["s2", "s4"])]);
    }

    #[test]
    fn nobody_is_silent_through_one_that_is_gone_or_by_broken_figures() {
        let gone = PeerReport {
            state: PeerState::Gone,
            ..behind("s2", "r1", 5_000.0)
        };
        check(&[gone, behind("s3", "r2", f64::NAN)], &[]);
    }
}
