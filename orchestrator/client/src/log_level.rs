//! [`LogLevel`]: how much a line of a log matters.

/// Severity of a line, read from the level that tracing writes near its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// An error, or the message of a panic.
    Error,
    /// A warning.
    Warning,
    /// Information for the user.
    Info,
    /// Information for finding faults.
    Debug,
    /// The line says nothing of it.
    Unknown,
}

impl LogLevel {
    /// Returns the level of a line.
    pub fn of(line: &str) -> Self {
        for word in line.split_whitespace().take(3) {
            match word {
                "ERROR" | "error:" => return Self::Error,
                "WARN" | "warning:" => return Self::Warning,
                "INFO" => return Self::Info,
                "DEBUG" | "TRACE" => return Self::Debug,
                _ => {}
            }
        }
        if line.contains("panicked at") {
            Self::Error
        } else {
            Self::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: LogLevel) {
        assert_eq!(LogLevel::of(line), expected, "{line}");
    }

    #[test]
    fn the_first_level_of_a_line_counts() {
        check(
            "2026-01-01T00:00:00Z  INFO primary: error: no",
            LogLevel::Info,
        );
        check(
            "2026-01-01T00:00:00Z  WARN primary: late",
            LogLevel::Warning,
        );
        check("warning: an old setting", LogLevel::Warning);
        check("error: cannot bind", LogLevel::Error);
        check(
            "thread 'main' panicked at src/main.rs:1:1:",
            LogLevel::Error,
        );
        check("2026-01-01T00:00:00Z TRACE s1: step", LogLevel::Debug);
        check("hello", LogLevel::Unknown);
        check("what happens after an ERROR", LogLevel::Unknown);
    }
}
