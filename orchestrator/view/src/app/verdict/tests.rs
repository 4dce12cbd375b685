//! Tests verdicts on runs whose limit is known.

use protocol::report::{ParticipantReport, ParticipantState, PeerReport};
use protocol::{Command, PeerName, Role};

use super::*;
use crate::app::fixture;
use crate::app::palette::{Request, parse};

/// A run as fast as possible: the given times of physics, network and primary \[us\].
fn run(physics_us: f64, network_us: f64, primary_us: f64) -> Model {
    let mut model = fixture::model();
    let stats = model.heard.stats.as_mut().unwrap();
    stats.real_time_factor_asked = 0.0;
    stats.split = Split {
        physics_us,
        network_us,
        primary_us,
        ..Split::default()
    };
    for peer in &mut model.heard.peers {
        (peer.blocked_us, peer.last_share) = (1.0, 0.4);
    }
    model
}

fn check(model: &Model, culprit: &Culprit, headline: &str) -> Verdict {
    let verdict = Verdict::judge(model);
    assert_eq!(
        (&verdict.culprit, verdict.headline.as_str()),
        (culprit, headline)
    );
    verdict
}

fn commands(verdict: &Verdict) -> Vec<&str> {
    let commands = verdict.advice.iter();
    commands.filter_map(|one| one.command.as_deref()).collect()
}

#[test]
fn a_slow_peer_holds_the_others() {
    let mut model = run(300.0, 60.0, 40.0);
    model.heard.peers[2].last_share = 0.62;
    model.heard.peers[2].blocked_us = 180.0;
    let verdict = check(
        &model,
        &Culprit::Peer("s2".parse().unwrap()),
        "s2 holds the step: last in 62% of steps, 180 us after s1, 45% of the work",
    );
    assert_eq!(verdict.details[0], "its physics is 306 us of 340 us");
    assert!(verdict.details[1].contains("level east"), "{verdict:?}");
    assert!(
        verdict.advice[0].text.contains("smaller levels"),
        "{verdict:?}"
    );
}

#[test]
fn a_cell_that_fits_elsewhere_is_advised_to_move() {
    let mut model = run(300.0, 60.0, 40.0);
    let peer = &mut model.heard.peers[1];
    (peer.last_share, peer.blocked_us, peer.busy_us) = (0.9, 200.0, 400.0);
    (model.heard.peers[2].busy_us, model.heard.peers[2].wait_us) = (100.0, 200.0);
    model.heard.levels[0].physics_us = 220.0;
    let dock = &mut model.heard.levels[2];
    (dock.active, dock.physics_us) = (true, 130.0);
    dock.performers = vec!["crate".to_owned()];
    let verdict = Verdict::judge(&model);
    assert_eq!(commands(&verdict), ["move-cell dock s2"]);
    assert_eq!(verdict.advice[0].text, "saves about 130 us per step");
    for name in ["west wing", "the \"west\" wing", "bob's"] {
        model.heard.levels[2].name = name.to_owned();
        let verdict = Verdict::judge(&model);
        let advised = Request::Command(Command::MoveCell {
            level: name.to_owned(),
            peer: "s2".parse().unwrap(),
        });
        assert_eq!(parse(&model, commands(&verdict)[0]).unwrap(), advised);
    }
}

#[test]
fn a_far_peer_is_not_advised_to_work_less() {
    let mut model = run(100.0, 600.0, 40.0);
    let peer = &mut model.heard.peers[2];
    (peer.last_share, peer.blocked_us) = (0.9, 500.0);
    (peer.network_us, peer.busy_us) = (600.0, 90.0);
    let verdict = Verdict::judge(&model);
    assert_eq!(
        verdict.details[0],
        "600 us of its answer is on the way, 90 us is work"
    );
    assert!(
        verdict.advice[0].text.starts_with("s2 nearer"),
        "{verdict:?}"
    );
}

#[test]
fn when_the_way_to_all_is_long_no_peer_is_blamed() {
    let mut model = run(100.0, 900.0, 40.0);
    for peer in &mut model.heard.peers[1..] {
        (peer.network_us, peer.busy_us) = (800.0, 90.0);
    }
    model.heard.peers[1].network_us = 900.0;
    (
        model.heard.peers[2].last_share,
        model.heard.peers[2].blocked_us,
    ) = (0.6, 400.0);
    let verdict = Verdict::judge(&model);
    assert_eq!(verdict.culprit, Culprit::Part(Split::NETWORK));
    assert_eq!(
        verdict.details[1],
        "2 processes of the run share lab: each needs a free core"
    );
}

#[test]
fn a_pace_that_is_kept_holds_back() {
    let mut model = run(200.0, 50.0, 20.0);
    let stats = model.heard.stats.as_mut().unwrap();
    (stats.real_time_factor, stats.real_time_factor_asked) = (1.0, 1.0);
    stats.split.pace_us = 730.0;
    let verdict = check(
        &model,
        &Culprit::Pace,
        "the pace: 1.00 of 1.00 asked, 73% idle",
    );
    assert!(verdict.details[0].contains("about 3.7"), "{verdict:?}");
    assert_eq!(commands(&verdict), ["set-real-time-factor 0"]);
}

#[test]
fn a_pace_that_is_missed_is_not_what_holds_back() {
    let mut model = run(900.0, 50.0, 20.0);
    let stats = model.heard.stats.as_mut().unwrap();
    (stats.real_time_factor, stats.real_time_factor_asked) = (0.5, 1.0);
    stats.split.pace_us = 30.0;
    let verdict = check(
        &model,
        &Culprit::Part(0),
        "physics: 900 us of 970 us (93%) of an iteration's work",
    );
    let last = verdict.details.last().unwrap();
    assert_eq!(last, "0.50 of 1.00 asked: an iteration takes 1.0 ms");
}

#[test]
fn network_and_primary_are_named() {
    check(
        &run(100.0, 300.0, 100.0),
        &Culprit::Part(Split::NETWORK),
        "the network: 300 us of 500 us (60%) on the way or in queues",
    );
    check(
        &run(100.0, 100.0, 300.0),
        &Culprit::Part(Split::PRIMARY),
        "the primary: 300 us of 500 us (60%) are its own work",
    );
}

/// Adds a program that takes part in lockstep.
fn add_program(model: &mut Model, name: &str, every: u64, wait_p50_us: f64) {
    let name: PeerName = name.parse().unwrap();
    let participant = ParticipantReport {
        name: name.clone(),
        state: ParticipantState::Ready,
        every: Some(every),
        next: Some(100),
        policy: None,
        timeout_s: None,
        holds_us: None,
        wait_p50_us,
        wait_max_us: 2.0 * wait_p50_us,
        answers: 10,
        missed: 0,
    };
    let peer = model.heard.peers[1].clone();
    model.heard.peers.push(PeerReport {
        name,
        role: Role::Participant,
        participant: Some(participant),
        ..peer
    });
}

#[test]
fn a_program_whose_answers_take_long_is_named() {
    let mut model = run(100.0, 50.0, 50.0);
    add_program(&mut model, "pilot", 10, 3_000.0);
    add_program(&mut model, "scribe", 1_000, 9_000.0);
    model.heard.stats.as_mut().unwrap().split.participants_us = 300.0;
    let verdict = check(
        &model,
        &Culprit::Part(Split::PARTICIPANTS),
        "pilot: 300 us of 500 us (60%) are spent waiting for its answers",
    );
    assert_eq!(
        verdict.details[0],
        "it is asked every 10 iterations and answers after 3.0 ms, at most 6.0 ms"
    );
}

#[test]
fn when_nothing_stands_out_it_says_so() {
    let mut model = run(100.0, 90.0, 90.0);
    model.heard.stats.as_mut().unwrap().split.sensors_us = 80.0;
    check(
        &model,
        &Culprit::Spread,
        "nothing stands out: physics 28%, network 25%, primary 25%",
    );
}

#[test]
fn a_run_that_stands_still_is_not_held_back() {
    let mut model = fixture::model();
    model.heard.stats.as_mut().unwrap().state = RunState::Paused;
    check(&model, &Culprit::Nothing, "nothing: the run is paused");
    let waiting = "the start: waiting for s1, s2 to join";
    let mut model = fixture::waiting_model();
    check(&model, &Culprit::Nothing, "nothing is known yet");
    model.heard.stats = Some(Stats {
        state: RunState::Waiting,
        ..fixture::stats()
    });
    check(&model, &Culprit::Nothing, waiting);
}

#[test]
fn a_step_that_does_not_end_names_whom_it_waits_for() {
    let mut model = run(0.0, 0.0, 0.0);
    // The figures of peers are smoothed, and still those of the steps before.
    (
        model.heard.peers[1].last_share,
        model.heard.peers[1].blocked_us,
    ) = (0.9, 500.0);
    let verdict = check(
        &model,
        &Culprit::Peer("s2".parse().unwrap()),
        "s2 holds the step, which goes on for over a second",
    );
    assert_eq!(verdict.details, ["it is alive: its step is long"]);
    model.heard.peers[2].blocking = false;
    check(
        &model,
        &Culprit::Nothing,
        "no step was done in the last second",
    );
}

#[test]
fn a_silent_relay_is_named_with_all_behind_it() {
    let mut model = run(0.0, 0.0, 0.0);
    for peer in &mut model.heard.peers[1..] {
        (peer.relay, peer.relay_age_ms) = (Some("r1".to_owned()), Some(3_200.0));
        peer.host = "lab".to_owned();
    }
    let culprit = Culprit::Relay("r1".to_owned());
    let headline = "the relay r1 on lab is silent for 3.2 s, and holds the step";
    let verdict = check(&model, &culprit, headline);
    assert_eq!(verdict.details, ["s1, s2 are behind it"]);
    (
        model.heard.peers[2].relay,
        model.heard.peers[2].relay_age_ms,
    ) = (Some("r2".to_owned()), Some(1_500.0));
    let verdict = check(&model, &culprit, headline);
    let other = "the relay r2 on lab is silent for 1.5 s";
    assert_eq!(verdict.details, ["s1 is behind it", other]);
    model.heard.stats.as_mut().unwrap().state = RunState::Paused;
    let verdict = check(&model, &Culprit::Nothing, "nothing: the run is paused");
    assert_eq!(verdict.details.len(), 2);
    model.heard.stats.as_mut().unwrap().state = RunState::Running;
    for peer in &mut model.heard.peers[1..] {
        peer.relay_age_ms = Some(80.0);
    }
    assert_ne!(Verdict::judge(&model).culprit, culprit);
}

#[test]
fn broken_figures_make_no_panic() {
    let mut model = run(f64::NAN, f64::INFINITY, -1.0);
    Verdict::judge(&model);
    for peer in &mut model.heard.peers {
        (peer.relay, peer.relay_age_ms) = (Some("r1".to_owned()), Some(f64::INFINITY));
        (peer.blocked_us, peer.busy_us, peer.wait_us) = (f64::INFINITY, f64::NAN, f64::NAN);
    }
    for level in &mut model.heard.levels {
        level.physics_us = f64::NAN;
    }
    model.heard.stats.as_mut().unwrap().split.physics_us = 5.0;
    Verdict::judge(&model);
}
