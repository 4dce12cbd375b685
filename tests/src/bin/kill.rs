//! Kills or stops secondaries of a real run at random, or kills its primary and resumes the run,
//! and prints how soon each blow was seen and made good, and whether a digest has changed, as one
//! line of JSON.
//!
//! `cargo build --release -p worker` first, then
//! `cargo run --release -p tests --bin kill -- --times 50`. The exit code is 1 when a digest
//! differs, and 2 for wrong arguments.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use tests::kills::{Blow, Kills};

const USAGE: &str = "\
Usage: kill [OPTIONS]
  --times N        how many blows [50]
  --signal SIGNAL  KILL, or STOP with a time-out of 1 s [KILL]
  --victim VICTIM  secondary, or primary, after which the run is resumed [secondary]
  --robots N       how large the fleet is [24]
  --seed S         what victims and moments are drawn from [1]
";

fn kills(mut words: impl Iterator<Item = String>) -> Result<Kills, String> {
    let mut kills = Kills {
        times: 50,
        blow: Blow::Kill,
        seed: 1,
        robots: 24,
        heartbeat_timeout: Duration::from_secs(2),
    };
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        let number = || {
            let number = value.parse::<u32>();
            number.map_err(|_| format!("{word} takes a number, not {value:?}"))
        };
        match (word.as_str(), value.as_str()) {
            ("--times", _) => kills.times = number()?,
            ("--robots", _) => kills.robots = number()?,
            ("--seed", _) => kills.seed = u64::from(number()?),
            ("--signal", "KILL") => kills.blow = Blow::Kill,
            ("--signal", "STOP") => {
                kills.blow = Blow::Stop;
                kills.heartbeat_timeout = Duration::from_secs(1);
            }
            ("--victim", "primary") => kills.blow = Blow::Primary,
            ("--victim", "secondary") => {}
            ("--victim", _) => {
                return Err(format!("a victim is primary or secondary, not {value:?}"));
            }
            ("--signal", _) => return Err(format!("a signal is KILL or STOP, not {value:?}")),
            _ => return Err(format!("{word} is not known")),
        }
    }
    Ok(kills)
}

fn main() -> ExitCode {
    let kills = match kills(std::env::args().skip(1)) {
        Ok(kills) => kills,
        Err(wrong) => {
            eprint!("error: {wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let figures = kills.run();
    // Nobody who reads may be left: that changes nothing.
    let _ = writeln!(std::io::stdout(), "{}", figures.json());
    if figures.differs_at.is_none() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
