//! [`Seldom`]: a line of the log that others can bring about as often as they like, told once per
//! second at most.

use std::time::{Duration, Instant};

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// Length of what somebody else said in a line \[bytes\].
const TEXT_BYTES_MAX: usize = 300;

/// A line of the log that others can bring about.
#[derive(Debug, Default)]
pub struct Seldom {
    told_at: Option<Instant>,
    left_out: u64,
}

impl Seldom {
    /// Tells it, unless one like it was told just now; the next one says how many were not.
    pub fn warn(&mut self, text: &str) {
        if let Some(line) = self.line(text, Instant::now()) {
            tracing::warn!("{line}");
        }
    }

    fn line(&mut self, text: &str, now: Instant) -> Option<String> {
        let is_early = |at: Instant| now.saturating_duration_since(at) < INTERVAL;
        if self.told_at.is_some_and(is_early) {
            self.left_out += 1;
            return None;
        }
        self.told_at = Some(now);
        let text = shortened(text);
        Some(match std::mem::take(&mut self.left_out) {
            0 => text.to_owned(),
            more => format!("{text} (and {more} more like it)"),
        })
    }
}

/// Returns as much of a text of somebody else as is worth telling.
pub fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_told_once_per_second_and_counted() {
        let mut seldom = Seldom::default();
        let start = Instant::now();
        assert_eq!(seldom.line("a", start).as_deref(), Some("a"));
        for _ in 0..1000 {
            assert_eq!(seldom.line("b", start + INTERVAL / 2), None);
        }
        let line = seldom.line(&"é".repeat(1000), start + INTERVAL).unwrap();
        assert!(line.ends_with("(and 1000 more like it)"), "{line}");
        assert!(line.len() < 400);
    }
}
