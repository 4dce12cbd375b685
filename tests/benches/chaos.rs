//! Disturbs real runs in ways drawn from seeds, for as long as asked, and compares what they come
//! to with runs that nothing disturbed.
//!
//! Prints one JSON line. Exits with 1 when a digest or a command differs, a run stands still, ends
//! otherwise than it must or leaves something behind; the seed, the command that does that run
//! again and the folder that is kept are on stderr. Exits with 2 for arguments that mean nothing.
//! Run it with `cargo bench -p tests --bench chaos -- --minutes 10`, after `cargo build --release
//! -p worker -p orchestrator`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tests::chaos::{self, Outcome};

const USAGE: &str = "cargo bench -p tests --bench chaos -- \
                     [--minutes M] [--seed S | --first S] [--runs N] [--jobs N] [--verbose yes]";

/// Runs to make.
struct Arguments {
    time: Option<Duration>,
    runs: Option<u64>,
    first: u64,
    /// Number of runs made at once.
    jobs: u64,
    /// True if all that is done is told.
    is_verbose: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            time: None,
            runs: None,
            first: 1,
            jobs: 1,
            is_verbose: false,
        };
        while let Some(word) = words.next() {
            // Cargo says it to every bench.
            if word == "--bench" {
                continue;
            }
            let value = words.next().ok_or(format!("{word} needs a value"))?;
            let wrong = || format!("{word} {value:?} is no number that it can have");
            let number = || value.parse::<u64>().map_err(|_| wrong());
            match word.as_str() {
                "--minutes" => {
                    let minutes: f64 = value.parse().map_err(|_| wrong())?;
                    let time = Duration::try_from_secs_f64(minutes * 60.0);
                    read.time = Some(time.map_err(|_| wrong())?);
                }
                "--runs" => read.runs = Some(number()?),
                // Every run has the seed after that of the one before.
                "--seed" | "--first" => read.first = number()?,
                "--verbose" => read.is_verbose = value == "yes",
                "--jobs" => read.jobs = number()?.clamp(1, 64),
                _ => return Err(format!("{word:?} means nothing here")),
            }
        }
        if read.time.is_none() && read.runs.is_none() {
            read.time = Some(Duration::from_mins(10));
        }
        Ok(read)
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    eprintln!("the first seed is {}", arguments.first);
    let shared = chaos::names_in_shared_memory();
    let mut all = run(&arguments);
    all.look_for_shared_memory(&shared);
    let _ = writeln!(io::stdout(), "{}", all.json());
    ExitCode::from(u8::from(!all.failures.is_empty()))
}

fn run(arguments: &Arguments) -> Outcome {
    let begin = Instant::now();
    let next = AtomicU64::new(0);
    let all = Mutex::new(Outcome::default());
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_late = arguments.time.is_some_and(|time| begin.elapsed() >= time);
                    if is_late || arguments.runs.is_some_and(|runs| number >= runs) {
                        return;
                    }
                    let outcome = chaos::run(arguments.first + number);
                    if arguments.is_verbose {
                        let seed = arguments.first + number;
                        eprintln!("seed {seed}:\n  {}", outcome.history.join("\n  "));
                    }
                    for failure in &outcome.failures {
                        tell(failure);
                    }
                    all.lock().expect("nobody panics with it").add(outcome);
                }
            });
        }
    });
    all.into_inner().expect("nobody panics with it")
}

fn tell((seed, failure, folder): &(u64, chaos::Failure, std::path::PathBuf)) {
    eprintln!("error: seed {seed}: {failure:?}");
    eprintln!("  its folder is {}; again:", folder.display());
    eprintln!("  cargo bench -p tests --bench chaos -- --first {seed} --runs 1");
}
