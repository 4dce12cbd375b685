//! [`Remarks`]: what a user is to know about the topics of a run, in the log, each once.

use std::collections::BTreeSet;

use ros2::{Mapping, Note, Used};

/// Number of remarks that are told in all.
const TOLD_MAX: usize = 100;

/// Remarks about topics.
#[derive(Default)]
pub(super) struct Remarks {
    untold: Vec<Note>,
    told: BTreeSet<String>,
}

impl Remarks {
    /// Notes what there is to say about these topics.
    pub(super) fn follow(&mut self, mapping: &Mapping, topics: &[Used<'_>]) {
        self.untold = mapping.notes(topics);
    }

    /// Tells what was not told yet.
    pub(super) fn tell(&mut self) {
        for note in self.untold.drain(..) {
            let text = note.to_string();
            if self.told.len() < TOLD_MAX && self.told.insert(text.clone()) {
                match note {
                    Note::Renamed { .. } => tracing::info!("{text}"),
                    Note::SameName { .. } | Note::WrongType { .. } => tracing::warn!("{text}"),
                }
            }
        }
    }
}
