//! Log of a simulated cluster, line by line: the same for the same seed.

use protocol::SessionTime;

/// Log of events so far.
#[derive(Debug, Default)]
pub enum Trace {
    /// Nobody wants to know.
    #[default]
    Off,
    /// Lines are kept.
    RollbackPoint(Vec<String>),
    /// Lines go to standard error as they come.
    Printed,
}

impl Trace {
    /// Notes something; the text is made only when someone wants to know.
    pub fn note(&mut self, now: SessionTime, text: impl FnOnce() -> String) {
        let line = || format!("{:>12.3} ms  {}", now.0 as f64 / 1e6, text());
        match self {
            Self::Off => {}
            Self::RollbackPoint(lines) => lines.push(line()),
            Self::Printed => eprintln!("{}", line()),
        }
    }

    /// Returns the lines that were kept.
    pub fn lines(&self) -> &[String] {
        match self {
            Self::RollbackPoint(lines) => lines,
            Self::Off | Self::Printed => &[],
        }
    }
}
