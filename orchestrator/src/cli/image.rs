//! The options of `phalanx show RUN image`.

use clap::{Args, ValueEnum};

/// Options of images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ImageArguments {
    /// Topic of the images of a sensor, with `/compressed` behind it for JPEG [default: that of the
    /// only one]
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
