//! Attacks real runs with peers that misbehave, one attack after the other.
//!
//! `cargo run --release -p tests --bin hostile -- --minutes 10` goes through all attacks for ten
//! minutes and prints one JSON line for each family with the worst that came of it, one for all of
//! them together, and one for each attack that cost more than it may; the exit code is 1 then, or
//! when a run ended otherwise than its owner asked or with other digests, and 2 for wrong
//! arguments. `cargo build --release` comes first: the worker that is attacked is the one beside
//! this program.

#![expect(clippy::print_stdout, reason = "what it prints is its result")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use tests::hostile::{self, Attack, Bounds, Campaign, Damage, Way};

const USAGE: &str = "\
Usage: hostile [OPTIONS]
  --list            print the attacks: name, ways, what is done
  --attack NAME     carry out this one, or those whose names begin so [all]
  --minutes M       go through them for so long [once through all]
  --way WAY         ipc, tcp or keys [all of them]
";

/// Length of an attack.
const LASTS: Duration = Duration::from_secs(1);

struct Options {
    lists: bool,
    attack: Option<String>,
    minutes: u64,
    ways: Vec<Way>,
}

fn options(words: &[String]) -> Option<Options> {
    let mut options = Options {
        lists: false,
        attack: None,
        minutes: 0,
        ways: Way::ALL.to_vec(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => options.lists = true,
            "--attack" => options.attack = Some(words.next()?.clone()),
            "--minutes" => options.minutes = words.next()?.parse().ok()?,
            "--way" => {
                let wanted = words.next()?;
                let is_it = |way: &Way| format!("{way:?}").to_lowercase() == *wanted;
                options.ways = vec![Way::ALL.into_iter().find(is_it)?];
            }
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == [hostile::WITNESS] {
        hostile::testify();
        return ExitCode::SUCCESS;
    }
    let Some(options) = options(&words) else {
        eprint!("error: the arguments are not understood\n{USAGE}");
        return ExitCode::from(2);
    };
    let mut attacks = hostile::table();
    if let Some(name) = &options.attack {
        attacks.retain(|attack| attack.name.starts_with(name.as_str()));
    }
    if attacks.is_empty() {
        eprintln!("error: no attack is named so; --list names all");
        return ExitCode::from(2);
    }
    if options.lists {
        for attack in &attacks {
            let ways: Vec<String> = attack.ways.iter().map(|way| format!("{way:?}")).collect();
            println!("{}\t{}\t{}", attack.name, ways.join(","), attack.what);
        }
        return ExitCode::SUCCESS;
    }
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    let mut tally = Tally::default();
    loop {
        for way in &options.ways {
            go_through(
                *way,
                &attacks,
                &mut tally,
                (options.minutes > 0).then_some(end),
            );
        }
        if Instant::now() >= end {
            break;
        }
    }
    tally.print();
    if tally.is_well() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Carries out the attacks that make sense in a way, on one run.
fn go_through(way: Way, attacks: &[Attack], tally: &mut Tally, end: Option<Instant>) {
    let mut campaign = Campaign::start(way, 1.0);
    campaign.start_twin();
    for attack in attacks.iter().filter(|attack| attack.ways.contains(&way)) {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        match campaign.attack(attack, attack.lasts(LASTS)) {
            Ok(damage) => tally.note(&damage),
            Err(cause) => return tally.fail(&attack.name, way, &cause),
        }
    }
    match campaign.finish() {
        Ok((digests, count, whole)) => {
            tally.note(&whole);
            if digests != hostile::undisturbed(count) {
                tally.fail("all", way, "the digests are others");
            }
        }
        Err(cause) => tally.fail("all", way, &cause),
    }
}

/// The worst of each family, and what went wrong.
#[derive(Default)]
struct Tally {
    families: BTreeMap<&'static str, (u64, Damage)>,
    failures: u64,
}

impl Tally {
    fn note(&mut self, damage: &Damage) {
        let exceeded = Bounds::AT_REST.exceeded(damage);
        if !exceeded.is_empty() {
            let (attack, way) = (damage.attack.clone(), damage.way);
            self.fail(&attack, way, &exceeded.join(", "));
        }
        let (count, worst) = self
            .families
            .entry(damage.family)
            .or_insert_with(|| (0, damage.clone()));
        *count += 1;
        worst.memory_mib = worst.memory_mib.max(damage.memory_mib);
        worst.log_mib = worst.log_mib.max(damage.log_mib);
        worst.pace = worst.pace.min(damage.pace);
        worst.slowest_ping_ms = worst.slowest_ping_ms.max(damage.slowest_ping_ms);
    }

    fn fail(&mut self, attack: &str, way: Way, cause: &str) {
        self.failures += 1;
        let way = format!("{way:?}");
        println!("{}", json!({"attack": attack, "way": way, "failed": cause}));
    }

    fn is_well(&self) -> bool {
        self.failures == 0
    }

    fn print(&self) {
        for (family, (count, worst)) in &self.families {
            let line = json!({
                "family": family,
                "attacks": count,
                "memory_mib": worst.memory_mib,
                "log_mib": worst.log_mib,
                "pace": worst.pace,
                "slowest_ping_ms": worst.slowest_ping_ms,
            });
            println!("{line}");
        }
    }
}
