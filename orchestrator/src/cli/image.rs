//! The options of `phalanx show RUN image`.

use clap::Args;

/// Options of images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ImageArguments {
    /// Topic of the images of a sensor [default: the only one]
    #[arg(long, value_name = "TOPIC")]
    pub topic: Option<String>,
}

impl ImageArguments {
    /// Tells whether any of the options is given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }
}
