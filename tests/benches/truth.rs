//! Measures how far Phalanx is from what mechanics demands: closed forms, other engines' solutions
//! where there is none, and the exact dynamics of real robots.
//!
//! Prints one JSON line, and a table on stderr. All of it is a measurement: the bench exits with 0
//! whatever fails, and with 2 for arguments that mean nothing. Run it with `cargo bench -p tests
//! --bench truth`; the closed forms need nothing else, the rest needs Python and its packages, which
//! the bench installs in the target folder. What is compared is in `docs/physics.md`.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use tests::truth::{self, Case, Effort, FINE, Quantity};

const USAGE: &str = "cargo bench -p tests --bench truth -- [--list] [--case NAME]... \
                     [--closed-forms-only] [--quick]";

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    let cases: Vec<Case> = truth::cases();
    if arguments.lists {
        for case in &cases {
            let _ = writeln!(io::stdout(), "{:24} {}", case.name, case.source);
        }
        return ExitCode::SUCCESS;
    }
    let asked: Vec<&Case> = cases
        .iter()
        .filter(|case| arguments.asks(case.name))
        .collect();
    if asked.is_empty() {
        eprintln!("error: no case has such a name; --list names all\nusage: {USAGE}");
        return ExitCode::from(2);
    }
    let mut report = Report::default();
    for case in asked {
        let begin = Instant::now();
        let measure = AssertUnwindSafe(|| (case.run)(arguments.effort));
        // A scene that comes apart is a failure of the case alone.
        let quantities = panic::catch_unwind(measure).unwrap_or_else(|_| vec![came_apart()]);
        report.add(case.name, case.source, &quantities, begin);
    }
    let _ = writeln!(io::stdout(), "{}", report.line());
    ExitCode::SUCCESS
}

/// Stands for the quantities of a case that panicked.
fn came_apart() -> Quantity {
    Quantity::absolute("the case ran to its end", FINE, [1.0, 0.0]).within(0.0, "1")
}

struct Arguments {
    lists: bool,
    names: Vec<String>,
    effort: Effort,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            lists: false,
            names: Vec::new(),
            effort: Effort::FULL,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                // Cargo says it to every bench.
                "--bench" => {}
                "--list" => read.lists = true,
                "--case" => read.names.push(value()?),
                "--quick" => read.effort = Effort::QUICK,
                "--closed-forms-only" => {}
                _ => return Err(format!("{word:?} means nothing here")),
            }
        }
        Ok(read)
    }

    /// Tells whether a case is asked for: by its whole name, or by how it begins.
    fn asks(&self, name: &str) -> bool {
        let is_meant = |asked: &String| name.starts_with(asked.as_str());
        self.names.is_empty() || self.names.iter().any(is_meant)
    }
}

/// All that was measured, told while it comes.
#[derive(Default)]
struct Report {
    cases: Vec<Value>,
    passed: u64,
    failed: u64,
}

impl Report {
    fn add(&mut self, name: &str, source: &str, quantities: &[Quantity], begin: Instant) {
        let seconds = begin.elapsed().as_secs_f64();
        eprintln!("{name} ({source}), {seconds:.1} s");
        for quantity in quantities {
            let is_passed = quantity.is_passed();
            self.passed += u64::from(is_passed);
            self.failed += u64::from(!is_passed);
            tell(quantity);
        }
        self.cases.push(json!({
            "case": name,
            "source": source,
            "seconds": seconds,
            "quantities": quantities.iter().map(value_of).collect::<Vec<Value>>(),
        }));
    }

    fn line(self) -> Value {
        eprintln!("{} passed, {} failed", self.passed, self.failed);
        json!({
            "bench": "truth",
            "passed": self.passed,
            "failed": self.failed,
            "cases": self.cases,
        })
    }
}

fn tell(quantity: &Quantity) {
    let Quantity {
        name,
        step_s,
        unit,
        expected,
        measured,
        is_relative,
        tolerance,
    } = quantity;
    let verdict = if quantity.is_passed() { "ok  " } else { "FAIL" };
    let step_ms = step_s * 1e3;
    let error = quantity.error();
    let error = if *is_relative {
        format!("{:8.3} % of {:.3} %", error * 1e2, tolerance * 1e2)
    } else {
        format!("{error:10.3e} of {tolerance:.0e}")
    };
    eprintln!(
        "  {verdict} {step_ms:.0} ms  {name:48} {expected:>12.6} {measured:>12.6} {unit:5} {error}"
    );
}

fn value_of(quantity: &Quantity) -> Value {
    json!({
        "quantity": quantity.name,
        "step_ms": quantity.step_s * 1e3,
        "unit": quantity.unit,
        "expected": quantity.expected,
        "measured": quantity.measured,
        "error": quantity.error(),
        "error_is": if quantity.is_relative { "relative" } else { "absolute" },
        "tolerance": quantity.tolerance,
        "passed": quantity.is_passed(),
    })
}
