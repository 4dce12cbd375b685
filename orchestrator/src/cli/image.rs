//! The options of `phalanx show RUN image`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// Options of images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ImageArguments {
    /// Topic of the images of a sensor, with `/compressed` behind it for JPEG; it may stand right
    /// behind `image`, without the flag [default: that of the only one]
    #[arg(long, value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Draw the image as text of a terminal; without it that is done on a terminal alone, in the
    /// best way that it has
    #[arg(long, value_enum)]
    pub graphics: Option<GraphicsName>,
}

/// A way of drawing an image in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphicsName {
    /// The best one that the terminal says it has
    Auto,
    /// Half a cell for each pixel
    Blocks,
    /// Sixels
    Sixel,
    /// The protocol of kitty
    Kitty,
}

impl ImageArguments {
    /// Tells whether any of the options is given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

/// Has the topic that stands behind `phalanx show [RUN] image` be that of the flag. It begins with
/// a slash, as no panel does.
pub(super) fn with_topic_flag(words: &mut Vec<OsString>) {
    let text = |at: usize| words.get(at).and_then(|word| word.to_str());
    if text(1) != Some("show") {
        return;
    }
    let place = (3..words.len()).find(|at| {
        text(at - 1) == Some("image") && text(*at).is_some_and(|one| one.starts_with('/'))
    });
    if let Some(place) = place {
        words.insert(place, "--topic".into());
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::{CliCommand, parse};

    #[test]
    fn the_topic_of_images_may_stand_behind_the_panel() {
        let topic = |line: &str| {
            let words = line.split_whitespace().map(Into::into).collect();
            let Ok(Some(CliCommand::Show(arguments))) = parse(words).map(|cli| cli.command) else {
                return None;
            };
            Some((arguments.run, arguments.image.topic))
        };
        let eye = Some("/eye".to_owned());
        for (line, run) in [
            ("phalanx show r image /eye", Some("r")),
            ("phalanx show image /eye --follow", None),
            ("phalanx show r image --topic /eye", Some("r")),
        ] {
            let run = run.map(str::to_owned);
            assert_eq!(topic(line), Some((run, eye.clone())), "{line}");
        }
        for line in [
            "phalanx show r image /eye --topic /other",
            "phalanx show r stats /eye",
            "phalanx show r image eye",
        ] {
            assert_eq!(topic(line), None, "{line}");
        }
    }
}
