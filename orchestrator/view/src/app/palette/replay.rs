//! The palette of a recording.

use client::control::own_verb;
use client::recorded::{ReplayRequest, SPEED_MAX, SPEED_MIN};

use super::{PaletteError, Word};

/// Commands for a recording.
pub(super) const WORDS: &[Word] = &[
    own_verb("play", "", "play the recording"),
    own_verb("pause", "", "stand still"),
    own_verb("step", "[N]", "go one frame on, or N"),
    own_verb("back", "[N]", "go one frame back, or N"),
    own_verb("seek", "T", "go to a simulated time [s]"),
    own_verb("run-to", "T", "play until a simulated time [s]"),
    own_verb(
        "speed",
        "X",
        "play so many times as fast as it was simulated, 0.1 to 100",
    ),
];

/// Returns what a line asks of a recording, if it is a word of recordings.
pub(super) fn parse(name: &str, rest: &str) -> Option<Result<ReplayRequest, PaletteError>> {
    let alone = |request| match rest {
        "" => Ok(request),
        _ => Err(PaletteError::wants(name, "nothing more")),
    };
    let number = |least: f64, most: f64, wanted| {
        let number = rest.trim_end_matches('s').trim_end().parse::<f64>().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| PaletteError::wants(name, wanted))
    };
    let count = || match rest {
        "" => Ok(1),
        _ => rest
            .parse::<u32>()
            .map(i64::from)
            .map_err(|_| PaletteError::wants(name, "a number of frames")),
    };
    let time = || number(0.0, f64::MAX, "a simulated time in seconds");
    Some(match name {
        "play" => alone(ReplayRequest::Play),
        "pause" => alone(ReplayRequest::Pause),
        "step" => count().map(ReplayRequest::Step),
        "back" => count().map(|count| ReplayRequest::Step(-count)),
        "seek" => time().map(ReplayRequest::Seek),
        "run-to" => time().map(ReplayRequest::RunTo),
        "speed" | "set-real-time-factor" => {
            number(SPEED_MIN, SPEED_MAX, "a number from 0.1 to 100").map(ReplayRequest::Speed)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_recordings_take_times_frames_and_speeds() {
        for (line, expected) in [
            (("seek", "1.5"), ReplayRequest::Seek(1.5)),
            (("seek", "2 s"), ReplayRequest::Seek(2.0)),
            (("run-to", "3"), ReplayRequest::RunTo(3.0)),
            (("back", ""), ReplayRequest::Step(-1)),
            (("step", "10"), ReplayRequest::Step(10)),
            (("speed", "0.5"), ReplayRequest::Speed(0.5)),
        ] {
            assert_eq!(parse(line.0, line.1).unwrap().unwrap(), expected);
        }
        for (name, rest) in [
            ("seek", "-1"),
            ("seek", "nan"),
            ("speed", "0"),
            ("play", "x"),
        ] {
            assert!(parse(name, rest).unwrap().is_err(), "{name} {rest}");
        }
        assert!(parse("spawn", "x").is_none());
    }
}
