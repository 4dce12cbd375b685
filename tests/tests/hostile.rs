//! Shows that peers that misbehave, also without a key, end no run, change none of its bits, and
//! cost it no more memory and log than is promised; and that others are heard meanwhile.

use tests::hostile::{self, Attack, Way};

/// Memory that a peer may have a primary keep \[MiB\].
const MEMORY_MAX: f64 = 64.0;

/// Text that a peer may have it write to its log \[MiB\].
const LOG_MAX: f64 = 1.0;

fn survives(way: Way) {
    let undisturbed = hostile::undisturbed();
    for attack in Attack::ALL {
        let damage = hostile::attack(attack, way, &undisturbed);
        eprintln!("{}", damage.report(attack, way));
        let words = &damage.last_words;
        assert_eq!(damage.exit_code, Some(0), "{attack:?} {way:?}: {words}");
        assert!(damage.same_digests, "{attack:?} {way:?}");
        assert!(
            damage.memory_mib < MEMORY_MAX,
            "{attack:?} {way:?}: {damage:?}"
        );
        assert!(damage.log_mib < LOG_MAX, "{attack:?} {way:?}: {damage:?}");
        assert!(damage.pings > 10, "{attack:?} {way:?}: {damage:?}");
        assert!(damage.figures > 5, "{attack:?} {way:?}: {damage:?}");
    }
}

#[test]
fn processes_of_the_user_that_misbehave_harm_no_run() {
    survives(Way::Ipc);
}

#[test]
fn observers_that_misbehave_harm_no_run() {
    survives(Way::Observer);
}
