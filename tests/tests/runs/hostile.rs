//! Shows that peers that misbehave, also without a key, end no run, change none of its bits, and
//! cost it no more memory and log than is promised: all attacks of the table, one after the other.

use std::time::Duration;

use tests::hostile::{self, Bounds, Campaign, Way};
use tests::repository;

/// Real-time factor of the runs, which have other things to do on a machine that is shared.
const PACE: f64 = 0.2;

fn survives(way: Way) {
    let mut campaign = Campaign::start(way, PACE);
    let lasts = Duration::from_millis(20);
    let mut failed = Vec::new();
    for attack in hostile::table() {
        if !attack.ways.contains(&way) {
            continue;
        }
        let name = &attack.name;
        let damage = match campaign.attack(&attack, lasts) {
            Ok(damage) => damage,
            Err(cause) => panic!("{way:?} {name}: {cause}\n{failed:#?}"),
        };
        eprintln!("{}", damage.report());
        let exceeded = Bounds::ANYWHERE.exceeded(&damage);
        if !exceeded.is_empty() {
            failed.push(format!("{name}: {}", exceeded.join(", ")));
        }
    }
    let (digests, count, whole) = campaign.finish().unwrap_or_else(|cause| panic!("{cause}"));
    eprintln!("{}", whole.report());
    assert!(failed.is_empty(), "{way:?}: {failed:#?}");
    let exceeded = Bounds::ANYWHERE.exceeded(&whole);
    assert!(exceeded.is_empty(), "{way:?}: {exceeded:?}");
    assert!(
        digests == hostile::undisturbed(count),
        "{way:?}: other bits"
    );
}

#[test]
fn processes_of_the_user_that_misbehave_harm_no_run() {
    survives(Way::Ipc);
}

#[test]
fn strangers_at_an_open_port_harm_no_run() {
    survives(Way::Tcp);
}

#[test]
fn holders_of_keys_that_misbehave_harm_no_run() {
    survives(Way::Keys);
}

#[test]
fn the_table_has_many_attacks_each_with_a_name_of_its_own() {
    let table = hostile::table();
    let mut names: Vec<&str> = table.iter().map(|attack| attack.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), table.len());
    assert!(table.len() >= 130, "{}", table.len());
    assert!(table.iter().all(|attack| !attack.what.is_empty()));
    let mut families: Vec<&str> = table.iter().map(|attack| attack.family).collect();
    families.sort_unstable();
    families.dedup();
    let promised = std::fs::read_to_string(repository::root().join("docs/security.md"));
    let number = format!("{} attacks in {} families", table.len(), families.len());
    let promised = promised.expect("it is a text");
    assert!(promised.contains(&number), "docs/security.md: {number}");
    for family in families {
        assert!(promised.contains(&format!("`{family}`")), "{family}");
    }
}
