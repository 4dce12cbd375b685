//! Runs seeds of the simulated cluster: one, many, or for some minutes.
//!
//! `cargo run -p tests --bin cluster -- --seeds 1000` runs the seeds from 0 on, `--seed 7 --trace`
//! one of them with all that happens. A seed that fails is printed with its scenario and with
//! the command that runs it again; the exit code is 1 then, and 2 for wrong arguments.

use std::process::ExitCode;
use std::time::Duration;

use tests::cluster::soak::{Policies, Soak};

const USAGE: &str = "\
Usage: cluster [OPTIONS]
  --seeds N        how many seeds to run [1000]
  --first S        the first of them [0]
  --seed S         run this one alone
  --minutes M      run seeds from the first on for so long
  --policy POLICY  stop, recover or both: even seeds stop, odd ones recover [both]
  --threads N      how many run at the same time [2]
  --trace          print everything that happens, one seed at a time
";

fn soak(words: impl Iterator<Item = String>) -> Result<Soak, String> {
    let mut soak = Soak {
        first: 0,
        seeds: 1000,
        duration: None,
        policies: Policies::Both,
        threads: 2,
        is_traced: false,
    };
    let mut words = words;
    while let Some(word) = words.next() {
        if word == "--trace" {
            soak.is_traced = true;
            soak.threads = 1;
            continue;
        }
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        let number = || {
            let number = value.parse::<u64>();
            number.map_err(|_| format!("{word} takes a number, not {value:?}"))
        };
        match word.as_str() {
            "--seeds" => soak.seeds = number()?,
            "--first" => soak.first = number()?,
            "--seed" => (soak.first, soak.seeds) = (number()?, 1),
            "--minutes" => {
                soak.duration = Some(Duration::from_secs(number()?.saturating_mul(60)));
                soak.seeds = u64::MAX;
            }
            "--threads" => soak.threads = number()?.clamp(1, 256) as usize,
            "--policy" => soak.policies = value.parse()?,
            _ => return Err(format!("{word} is not known")),
        }
    }
    Ok(soak)
}

fn main() -> ExitCode {
    let soak = match soak(std::env::args().skip(1)) {
        Ok(soak) => soak,
        Err(wrong) => {
            eprint!("error: {wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let tally = soak.run();
    eprintln!("{tally}");
    if tally.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
