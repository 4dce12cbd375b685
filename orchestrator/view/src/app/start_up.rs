//! The start of a run: which processes were started, who is there, and whom the primary waits for.

use client::feed::{StartUp, StartedProcess};
use protocol::report::{PeerReport, PeerState};
use protocol::{PeerName, Role, SessionTime};

use super::model::Model;

/// The same, as the model keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starting {
    /// The processes, the primary first.
    pub processes: Vec<StartedProcess>,
    /// Time when they were started.
    pub since: SessionTime,
}

/// Progress of a process on its way into the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It does not answer yet, or was not heard.
    Missing,
    /// It is the primary and waits for others.
    Waiting,
    /// It was welcomed and reads the world.
    Loading,
    /// It is about to take part.
    Syncing,
    /// It is there.
    Ready,
    /// It ended.
    Ended,
}

impl Starting {
    /// Notes a start that was told now.
    pub fn new(start_up: StartUp, now: SessionTime) -> Self {
        Self {
            processes: start_up.processes,
            since: now - start_up.age,
        }
    }
}

impl Stage {
    /// Says it in words.
    pub fn text(self, role: Role) -> &'static str {
        match (self, role) {
            (Self::Missing, Role::Secondary) => "started, has not joined yet",
            (Self::Missing, Role::Relay) => "started, no secondary has come through it yet",
            (Self::Missing, Role::Primary | Role::Standalone | Role::Participant) => {
                "loads the world, does not answer yet"
            }
            (Self::Ready, Role::Relay) => "passes messages on",
            (Self::Waiting, _) => "answers, waits for its secondaries",
            (Self::Loading, _) => "joined, loads the world",
            (Self::Syncing, _) => "has the world, subscribes to steps",
            (Self::Ready, _) => "ready",
            (Self::Ended, _) => "ended before the run began",
        }
    }
}

/// Returns how far a process is.
pub fn stage(model: &Model, process: &StartedProcess) -> Stage {
    if !process.is_running {
        return Stage::Ended;
    }
    if process.role == Role::Relay {
        // It is no peer itself, but those behind it are.
        let is_behind = |peer: &PeerReport| peer.relay.as_ref() == Some(&process.name);
        let has_peers = model.heard.peers.iter().any(is_behind);
        return if has_peers {
            Stage::Ready
        } else {
            Stage::Missing
        };
    }
    let is_it = |name: &PeerName| name.as_str() == process.name;
    let Some(peer) = model.heard.peers.iter().find(|peer| is_it(&peer.name)) else {
        return match (process.role, &model.heard.stats) {
            (Role::Primary | Role::Standalone, Some(_)) => Stage::Waiting,
            _ => Stage::Missing,
        };
    };
    match peer.state {
        _ if process.role == Role::Primary => Stage::Waiting,
        PeerState::Joining => Stage::Loading,
        PeerState::Syncing => Stage::Syncing,
        PeerState::Active | PeerState::Standby | PeerState::CatchingUp | PeerState::Draining => {
            Stage::Ready
        }
        PeerState::Lost | PeerState::Gone => Stage::Ended,
    }
}

/// Says in one line what the run waits for, if it has not begun.
pub fn waits_for(model: &Model) -> Option<String> {
    let starting = model.session.starting.as_ref()?;
    let of = |wanted: Stage| {
        let names: Vec<&str> = starting
            .processes
            .iter()
            // Nobody waits for a relay that lives, but for the secondaries behind it.
            .filter(|process| process.role != Role::Relay || wanted == Stage::Ended)
            .filter(|process| stage(model, process) == wanted)
            .map(|process| process.name.as_str())
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    if let Some(names) = of(Stage::Ended) {
        return Some(format!("{names} ended before the run began"));
    }
    if model.heard.stats.is_none() {
        let first = starting.processes.first()?;
        return Some(format!("waiting for the {} to answer", first.name));
    }
    let missing = of(Stage::Missing).map(|names| format!("waiting for {names} to join"));
    missing
        .or_else(|| of(Stage::Loading).map(|names| format!("{names}: loading the world")))
        .or_else(|| of(Stage::Syncing).map(|names| format!("{names}: subscribing to steps")))
        .or_else(|| Some("all are here; the first step builds the world".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::app::fixture::{self, feed};
    use client::feed::Feed;
    use protocol::PrimaryToObservers;
    use protocol::report::{RunState, Stats};

    fn start_up(is_running: bool) -> Feed {
        let process = |name: &str, role| StartedProcess {
            name: name.to_owned(),
            role,
            pid: 7,
            is_running: is_running || name != "s2",
        };
        Feed::StartUp(StartUp {
            processes: vec![
                process("primary", Role::Primary),
                process("s1", Role::Secondary),
                process("s2", Role::Secondary),
            ],
            age: Duration::from_secs(3),
        })
    }

    fn gathers(model: &mut Model, states: &[PeerState]) {
        let peers = fixture::peers().into_iter().zip(states);
        let peers = peers.map(|(mut peer, state)| {
            peer.state = *state;
            peer
        });
        let message = PrimaryToObservers::Stats {
            stats: Box::new(Stats {
                state: RunState::Waiting,
                ..fixture::stats()
            }),
            peers: peers.collect(),
        };
        feed(model, Feed::Status(message));
    }

    #[test]
    fn the_start_says_who_is_waited_for() {
        let mut model = Model::new("r".to_owned(), true);
        let check = |model: &Model, expected: &str| {
            let said = waits_for(model).unwrap_or_default();
            assert!(said.contains(expected), "{said:?} and not {expected:?}");
        };
        check(&model, "");
        feed(&mut model, start_up(true));
        check(&model, "waiting for the primary to answer");
        gathers(&mut model, &[PeerState::Active]);
        check(&model, "waiting for s1, s2 to join");
        gathers(&mut model, &[PeerState::Active, PeerState::Joining]);
        check(&model, "waiting for s2 to join");
        let joining = PeerState::Joining;
        gathers(&mut model, &[PeerState::Active, PeerState::Active, joining]);
        check(&model, "s2: loading the world");
        gathers(&mut model, &[PeerState::Active; 3]);
        check(&model, "all are here");
        feed(&mut model, start_up(false));
        check(&model, "s2 ended before the run began");
    }

    #[test]
    fn a_relay_is_waited_for_through_its_secondaries_alone() {
        let mut model = Model::new("r".to_owned(), true);
        let relay = |is_running| StartedProcess {
            name: "relay1".to_owned(),
            role: Role::Relay,
            pid: 8,
            is_running,
        };
        let start = |is_running| {
            let Feed::StartUp(mut start) = start_up(true) else {
                panic!("it is a start");
            };
            start.processes.insert(1, relay(is_running));
            Feed::StartUp(start)
        };
        feed(&mut model, start(true));
        gathers(&mut model, &[PeerState::Active]);
        let said = |model: &Model| waits_for(model).unwrap_or_default();
        assert_eq!(said(&model), "waiting for s1, s2 to join");
        assert_eq!(stage(&model, &relay(true)), Stage::Missing);
        gathers(&mut model, &[PeerState::Active; 3]);
        model.heard.peers[1].relay = Some("relay1".to_owned());
        assert!(said(&model).starts_with("all are here"), "{}", said(&model));
        assert_eq!(stage(&model, &relay(true)), Stage::Ready);
        feed(&mut model, start(false));
        assert_eq!(said(&model), "relay1 ended before the run began");
    }

    #[test]
    fn a_run_that_has_begun_is_not_starting() {
        let mut model = fixture::model();
        feed(&mut model, start_up(true));
        assert_eq!(waits_for(&model), None);
    }
}
