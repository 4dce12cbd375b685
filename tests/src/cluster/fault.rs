//! Faults in a simulated cluster, and their times.

use std::fmt;
use std::time::Duration;

use protocol::{PeerName, SessionTime};

use super::network::Ways;

/// Something that goes wrong with the process that has a name at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A secondary is killed; what it has sent is lost or not.
    Crash {
        /// True if messages of it that are under way are lost.
        loses_messages: bool,
    },
    /// A secondary does nothing for a time, and everything waits.
    Stall(Duration),
    /// Messages wait until the link is mended, if it ever is.
    Cut {
        /// Directions that are cut.
        ways: Ways,
        /// For how long.
        duration: Option<Duration>,
    },
    /// The connection breaks: what is under way is lost, and it is made anew after a time.
    Reset(Duration),
    /// A secondary works so many times longer on each step, for a time.
    Slow {
        /// Number of times.
        factor: u64,
        /// For how long.
        duration: Duration,
    },
    /// The primary's process does nothing for a time.
    StallOfPrimary(Duration),
    /// The primary's stepper does nothing for a time, as one that waits for a disk; its status
    /// thread goes on.
    StallOfStepper(Duration),
    /// The primary is killed with all that it has not written, and the run is resumed after a time
    /// by another process, with secondaries of its own.
    CrashOfPrimary {
        /// After how long.
        resumed_after: Duration,
        /// True if it was writing a record.
        is_torn: bool,
    },
    /// The machine loses its power, with all processes and what was not synced; the run is resumed
    /// after a time.
    PowerLoss {
        /// After how long.
        resumed_after: Duration,
    },
    /// The disk of the journal is full for a time.
    FullDisk(Duration),
    /// The disk of the journal writes nothing for a time, and tells nothing of it.
    HungDisk(Duration),
    /// One more secondary joins.
    Join,
}

/// A fault with its time and victim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedFault {
    /// Time when it begins.
    pub at: SessionTime,
    /// Name of the process that it strikes.
    pub peer: PeerName,
    /// The fault.
    pub fault: Fault,
}

impl TimedFault {
    /// Returns how long it lasts, `None` for ever.
    pub fn duration(&self) -> Option<Duration> {
        match &self.fault {
            Fault::Crash { .. } => None,
            Fault::Cut { duration, .. } => *duration,
            Fault::Stall(duration)
            | Fault::Reset(duration)
            | Fault::StallOfPrimary(duration)
            | Fault::StallOfStepper(duration)
            | Fault::FullDisk(duration)
            | Fault::HungDisk(duration)
            | Fault::CrashOfPrimary {
                resumed_after: duration,
                ..
            }
            | Fault::PowerLoss {
                resumed_after: duration,
            }
            | Fault::Slow { duration, .. } => Some(*duration),
            Fault::Join => Some(Duration::ZERO),
        }
    }
}

impl fmt::Display for TimedFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peer = &self.peer;
        write!(formatter, "at {:.3} ms ", self.at.0 as f64 / 1e6)?;
        match &self.fault {
            Fault::Crash { loses_messages } => {
                let how = if *loses_messages { "lost" } else { "delivered" };
                write!(formatter, "{peer} is killed, its last messages are {how}")
            }
            Fault::Stall(duration) => write!(formatter, "{peer} stalls for {duration:?}"),
            Fault::Cut { ways, duration } => {
                let way = match (ways.to_primary, ways.to_secondary) {
                    (true, true) => "to and from",
                    (true, false) => "from",
                    (false, true) => "to",
                    (false, false) => "neither to nor from",
                };
                write!(formatter, "the link {way} {peer} is cut ")?;
                match duration {
                    Some(duration) => write!(formatter, "for {duration:?}"),
                    None => formatter.write_str("for good"),
                }
            }
            Fault::Reset(duration) => {
                write!(
                    formatter,
                    "the connection of {peer} breaks for {duration:?}"
                )
            }
            Fault::Slow { factor, duration } => {
                write!(
                    formatter,
                    "{peer} is {factor} times slower for {duration:?}"
                )
            }
            Fault::StallOfPrimary(duration) => write!(formatter, "the primary stalls {duration:?}"),
            Fault::StallOfStepper(duration) => {
                write!(formatter, "the primary's stepper stalls {duration:?}")
            }
            Fault::CrashOfPrimary {
                resumed_after,
                is_torn,
            } => {
                let how = if *is_torn { " while it writes" } else { "" };
                write!(
                    formatter,
                    "the primary is killed{how} and resumed after {resumed_after:?}"
                )
            }
            Fault::PowerLoss { resumed_after } => write!(
                formatter,
                "the power fails, and the run is resumed after {resumed_after:?}"
            ),
            Fault::FullDisk(duration) => write!(formatter, "the disk is full for {duration:?}"),
            Fault::HungDisk(duration) => write!(formatter, "the disk hangs for {duration:?}"),
            Fault::Join => write!(formatter, "{peer} joins"),
        }
    }
}
