//! A recording played as if it were a run: [`Player`] makes the feed of the view from a file.
//!
//! It reads a chunk at a time and never the whole file; a survey learns, chunk by chunk while
//! nothing else is to be done, what happened before the place that is shown. Nothing here knows a
//! clock or a thread: time comes in as durations.

mod drawn;
mod kept_models;
mod links;
mod loaded;
mod models;
mod player;
mod said;
mod stats;
mod survey;
mod topics;

pub use drawn::RecordedScene;
pub use player::Player;
pub use said::RecordedMessage;

#[cfg(test)]
mod tests;
