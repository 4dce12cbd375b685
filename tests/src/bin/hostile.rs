//! Attacks real runs with peers that misbehave, one attack after the other, for some minutes.
//!
//! `cargo run --release -p tests --bin hostile -- --minutes 10` prints one JSON line for each run;
//! the exit code is 1 when a run ended otherwise than undisturbed, with other digests, or at a
//! greater cost than is promised, and 2 for wrong arguments. `cargo build --release` comes first:
//! the worker that is attacked is the one beside this program.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tests::hostile::{self, Attack, Way};

const USAGE: &str = "\
Usage: hostile [OPTIONS]
  --minutes M   go through all attacks for so long [once through all]
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let minutes = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Some(0),
        ["--minutes", value] => value.parse::<u64>().ok(),
        _ => None,
    };
    let Some(minutes) = minutes else {
        eprint!("error: the arguments are not understood\n{USAGE}");
        return ExitCode::from(2);
    };
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let undisturbed = hostile::undisturbed();
    let mut is_well = true;
    loop {
        for attack in Attack::ALL {
            for way in [Way::Ipc, Way::Observer] {
                let damage = hostile::attack(attack, way, &undisturbed);
                is_well &= damage.exit_code == Some(0)
                    && damage.same_digests
                    && damage.memory_mib < 64.0
                    && damage.log_mib < 1.0
                    && damage.pace > 0.9
                    && damage.slowest_ping_ms < 100.0;
                eprintln!("{}", damage.report(attack, way));
            }
        }
        if Instant::now() >= end {
            break;
        }
    }
    if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
