//! A recording that is shown as if it were a run: where it is played, and what can be asked of it.

use protocol::SimTime;

/// The slowest and the fastest that it is played, simulated over real time.
pub const SPEED_MIN: f64 = 0.1;
/// See [`SPEED_MIN`].
pub const SPEED_MAX: f64 = 100.0;

/// Position in a recording that is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordingPlace {
    /// The first simulated time in it.
    pub start: SimTime,
    /// The last one.
    pub end: SimTime,
    /// The one that is shown.
    pub now: SimTime,
    /// Share of the recording before that time, 0 to 1.
    pub share: f64,
    /// Simulated over real time that it is played with.
    pub speed: f64,
    /// True if it is played.
    pub is_playing: bool,
}

/// A request to the player of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplayRequest {
    /// Play it, from the start if it is at its end.
    Play,
    /// Stand still.
    Pause,
    /// Go so many frames on, or back.
    Step(i64),
    /// Go to a simulated time \[s\].
    Seek(f64),
    /// Play until a simulated time \[s\].
    RunTo(f64),
    /// Go on or back by such a part of the recording.
    SeekBy(f64),
    /// Go to the first frame.
    Start,
    /// Go to the last frame.
    End,
    /// Play with another speed.
    Speed(f64),
}
