//! The clocks of a process: the session's, which never goes back, and the wall's.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use protocol::SessionTime;

/// Measures time since the process began its session.
#[derive(Clone, Copy, Debug)]
pub struct SessionClock {
    start: Instant,
}

impl SessionClock {
    /// Starts the clock.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Returns when it was started.
    pub fn started(&self) -> Instant {
        self.start
    }

    /// Returns the time since the start.
    pub fn now(&self) -> SessionTime {
        SessionTime(self.start.elapsed().as_nanos() as u64)
    }
}

/// Returns the wall clock \[us since 1970\].
pub fn wall_clock_us() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_micros() as u64)
}
