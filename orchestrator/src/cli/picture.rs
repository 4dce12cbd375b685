//! The options of `phalanx show RUN picture`.

use std::path::PathBuf;

use clap::Args;

/// Options of pictures.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct PictureArguments {
    /// Place of the camera in metres [default: whence the whole world is seen]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_place, allow_hyphen_values = true)]
    pub from: Option<[f64; 3]>,
    /// Place that the camera looks at [default: the origin]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_place, allow_hyphen_values = true)]
    #[arg(requires = "from")]
    pub look_at: Option<[f64; 3]>,
    /// Model that the camera follows from behind
    #[arg(long, value_name = "MODEL", conflicts_with = "from")]
    pub model: Option<String>,
    /// World of a picture, where the run has several [default: the first]
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// Horizontal angle of view in degrees [default: 60]
    #[arg(long, value_name = "DEGREES", value_parser = parse_angle)]
    pub angle: Option<f64>,
    /// Simulated time of the picture, or of the first one, in a recording [default: its end, or its
    /// start with --every]
    #[arg(long, value_name = "SECONDS", value_parser = parse_time)]
    pub at: Option<f64>,
    /// Take a picture after each so many simulated seconds until the run ends
    #[arg(long, value_name = "SECONDS", value_parser = parse_period, requires = "output")]
    pub every: Option<f64>,
    /// Take so many pictures and end
    #[arg(long, value_name = "N", requires = "every")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Folder for the pictures of --every: 000001.png, 000002.png, ...
    #[arg(long, value_name = "FOLDER", requires = "every")]
    pub output: Option<PathBuf>,
}

/// Reason why an option of a picture cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParsePictureError {
    /// Not a place.
    #[error("a place is three numbers with commas between them: 1,-2,0.5")]
    Place,
    /// Not an angle of view.
    #[error("an angle of view is from 1 to 160 degrees")]
    Angle,
    /// Not a simulated time.
    #[error("a simulated time is 0 or more seconds")]
    Time,
    /// Not a time between pictures.
    #[error("a time between pictures is more than 0 seconds")]
    Period,
}

impl PictureArguments {
    /// Tells whether any of the options is given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

fn parse_place(text: &str) -> Result<[f64; 3], ParsePictureError> {
    let words = text.split(',').map(|word| word.trim().parse::<f64>());
    let numbers: Vec<f64> = words.collect::<Result<_, _>>().unwrap_or_default();
    let place: [f64; 3] = numbers.try_into().map_err(|_| ParsePictureError::Place)?;
    // Farther away, a metre is less than a picture shows.
    let is_near = place.iter().all(|number| number.abs() <= 1e7);
    is_near.then_some(place).ok_or(ParsePictureError::Place)
}

fn parse_angle(text: &str) -> Result<f64, ParsePictureError> {
    let angle = text.parse().ok();
    let angle = angle.filter(|angle| (1.0..=160.0).contains(angle));
    angle.ok_or(ParsePictureError::Angle)
}

fn parse_time(text: &str) -> Result<f64, ParsePictureError> {
    let time = text.parse().ok();
    let time = time.filter(|time: &f64| *time >= 0.0 && time.is_finite());
    time.ok_or(ParsePictureError::Time)
}

fn parse_period(text: &str) -> Result<f64, ParsePictureError> {
    let period = text.parse().ok();
    let period = period.filter(|period: &f64| *period > 0.0 && period.is_finite());
    period.ok_or(ParsePictureError::Period)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, CliCommand};

    fn picture(line: &str) -> Option<PictureArguments> {
        let words = ["phalanx", "show", "r", "picture"];
        let words = words.into_iter().chain(line.split_whitespace());
        match Cli::try_parse_from(words).ok()?.command? {
            CliCommand::Show(arguments) => Some(arguments.picture),
            _ => None,
        }
    }

    #[test]
    fn a_camera_is_placed_by_numbers() {
        let found = picture("--from -1,2,0.5 --look-at 0,0,-1 --angle 45").unwrap();
        assert_eq!(found.from, Some([-1.0, 2.0, 0.5]));
        assert_eq!(found.look_at, Some([0.0, 0.0, -1.0]));
        assert_eq!(found.angle, Some(45.0));
        assert!(found.is_given() && !picture("").unwrap().is_given());
        assert_eq!(picture("--at 2.5").unwrap().at, Some(2.5));
        let lapse = picture("--every 0.5 --count 3 --output folder --model rover");
        assert_eq!(lapse.unwrap().count, Some(3));
    }

    #[test]
    fn options_that_make_no_picture_are_refused() {
        for line in [
            "--from 1,2",
            "--from 1,2,x",
            "--from 1,2,inf",
            "--look-at 1,2,3",
            "--from 1,2,3 --model rover",
            "--angle 0",
            "--every 1",
            "--every 0 --output folder",
            "--count 2",
            "--at -1",
            "--at soon",
        ] {
            assert_eq!(picture(line), None, "{line}");
        }
    }
}
