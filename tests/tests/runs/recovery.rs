//! Shows that secondaries of a real run can be killed, one after the other, at any moment, and that
//! the run goes on as if nothing had been: the digests of all iterations are those of a run that
//! nothing disturbed. Victims and moments are drawn from a seed, which is printed.

use std::time::Duration;

use tests::kills::{Blow, Kills};

/// Time within which a loss must be seen: the machine is busy with other tests.
const DETECTED_WITHIN: Duration = Duration::from_secs(1);
/// Time within which the run must go on.
const RESUMED_WITHIN: Duration = Duration::from_secs(10);

fn check(kills: Kills, heartbeat_timeout: Duration) {
    eprintln!("{kills:?}");
    let figures = kills.run();
    eprintln!("{}", figures.json());
    assert_eq!(figures.differs_at, None, "an iteration differs");
    assert_eq!(figures.message_differs_at, None, "a message differs");
    let detected = figures.detected.last().expect("there were blows");
    assert!(
        *detected < DETECTED_WITHIN + heartbeat_timeout,
        "{detected:?}"
    );
    let resumed = figures.resumed.last().expect("there were blows");
    assert!(*resumed < RESUMED_WITHIN + heartbeat_timeout, "{resumed:?}");
}

#[test]
fn killed_secondaries_change_no_bit() {
    let kills = Kills {
        times: 5,
        blow: Blow::Kill,
        seed: 7,
        robots: 12,
        heartbeat_timeout: Duration::from_secs(5),
    };
    check(kills, Duration::ZERO);
}

#[test]
fn a_secondary_that_hangs_is_replaced_and_goes_when_it_wakes() {
    let heartbeat_timeout = Duration::from_secs(1);
    let kills = Kills {
        times: 2,
        blow: Blow::Stop,
        seed: 8,
        robots: 12,
        heartbeat_timeout,
    };
    check(kills, heartbeat_timeout);
}
