//! Measures how far Phalanx is from what mechanics demands: closed forms, other engines' solutions
//! where there is none, and the exact dynamics of real robots.
//!
//! Prints one JSON line, and a table on stderr. All of it is a measurement: the bench exits with 0
//! whatever fails, and with 2 for arguments that mean nothing. Run it with `cargo bench -p tests
//! --bench truth`; the closed forms need nothing else, the rest needs Python and its packages,
//! which the bench installs in the target folder. What is compared is in `docs/physics.md`.

// The root of a bench looks for modules beside itself, where Cargo would take them for benches.
#[path = "truth/arms.rs"]
mod arms;
#[path = "truth/drops.rs"]
mod drops;
#[path = "truth/tumbling.rs"]
mod tumbling;

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use tests::truth::robots::{PeerCase, Peers};
use tests::truth::{self, Effort, ErrorKind, FINE, Quantity, dart};

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
    let mut cases: Vec<Case> = truth::cases().into_iter().map(Case::Closed).collect();
    if !arguments.closed_forms_only {
        let peers = [
            tumbling::cases(),
            arms::cases(),
            drops::cases(),
            dart::cases::cases(),
        ];
        cases.extend(peers.into_iter().flatten().map(Case::Peer));
    }
    if arguments.lists {
        for case in &cases {
            let _ = writeln!(io::stdout(), "{:24} {}", case.name(), case.source());
        }
        return ExitCode::SUCCESS;
    }
    cases.retain(|case| arguments.asks(case.name()));
    if cases.is_empty() {
        eprintln!("error: no case has such a name; --list names all\nusage: {USAGE}");
        return ExitCode::from(2);
    }
    let mut report = Report::default();
    let mut peers = None;
    for case in &cases {
        let begin = Instant::now();
        let measure = AssertUnwindSafe(|| match case {
            Case::Closed(case) => Ok((case.run)(arguments.effort)),
            Case::Peer(case) => match peers.get_or_insert_with(Peers::prepare) {
                Ok(peers) => (case.run)(peers),
                Err(error) => Err(error.clone()),
            },
        });
        // A scene that comes apart is a failure of the case alone.
        let measured = panic::catch_unwind(measure).unwrap_or_else(|_| Ok(vec![came_apart()]));
        report.add(case, measured, begin);
    }
    let _ = writeln!(io::stdout(), "{}", report.line());
    ExitCode::SUCCESS
}

/// A case of either kind.
enum Case {
    Closed(truth::Case),
    Peer(PeerCase),
}

impl Case {
    fn name(&self) -> &str {
        match self {
            Self::Closed(case) => case.name,
            Self::Peer(case) => &case.name,
        }
    }

    fn source(&self) -> &'static str {
        match self {
            Self::Closed(case) => case.source,
            Self::Peer(case) => case.source,
        }
    }
}

/// Stands for the quantities of a case that panicked.
fn came_apart() -> Quantity {
    Quantity::absolute("the case ran to its end", FINE, [1.0, 0.0]).within(0.0, "1")
}

struct Arguments {
    lists: bool,
    closed_forms_only: bool,
    names: Vec<String>,
    effort: Effort,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            lists: false,
            closed_forms_only: false,
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
                "--closed-forms-only" => read.closed_forms_only = true,
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
    fn add(&mut self, case: &Case, measured: Result<Vec<Quantity>, String>, begin: Instant) {
        let seconds = begin.elapsed().as_secs_f64();
        let (name, source) = (case.name(), case.source());
        eprintln!("{name} ({source}), {seconds:.1} s");
        let (quantities, skipped) = match measured {
            Ok(quantities) => (quantities, None),
            Err(reason) => {
                eprintln!("  skipped: {reason}");
                (Vec::new(), Some(reason))
            }
        };
        for quantity in &quantities {
            let is_passed = quantity.is_passed();
            self.passed += u64::from(is_passed);
            self.failed += u64::from(!is_passed);
            tell(quantity);
        }
        self.cases.push(json!({
            "case": name,
            "source": source,
            "seconds": seconds,
            "skipped": skipped,
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
        kind,
        tolerance,
    } = quantity;
    let verdict = if quantity.is_passed() { "ok  " } else { "FAIL" };
    let step_ms = step_s * 1e3;
    let error = quantity.error();
    let error = if *kind == ErrorKind::Relative {
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
        "error_is": match quantity.kind {
            ErrorKind::Relative => "relative",
            ErrorKind::Absolute => "absolute",
            ErrorKind::Shortfall => "shortfall",
        },
        "tolerance": quantity.tolerance,
        "passed": quantity.is_passed(),
    })
}
