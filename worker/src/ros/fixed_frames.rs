//! [`FixedFrames`]: the frames that stay of the models here, for `/tf_static`.
//!
//! Each message has what is new. DDS keeps the last ones for readers who come later, but of all
//! models together: so before older ones are forgotten, one message has all frames again.

use std::collections::BTreeMap;

use protocol::Publisher;
use ros2::types::geometry_msgs::TransformStamped;

/// Frames that stay, as they were last said.
#[derive(Debug)]
pub(super) struct FixedFrames {
    /// By their names, with the models that said them.
    last: BTreeMap<String, (Publisher, TransformStamped)>,
    /// Number of messages after which one has all.
    interval: u32,
    /// Number of messages since one had all.
    since_all: u32,
}

impl FixedFrames {
    /// Knows of none, where so many messages are kept.
    pub(super) fn new(depth: u32) -> Self {
        Self {
            last: BTreeMap::new(),
            interval: (depth / 2).max(1),
            since_all: 0,
        }
    }

    /// Notes frames of a model that are about to be said.
    pub(super) fn note(&mut self, origin: Publisher, frames: &[TransformStamped]) {
        for frame in frames {
            let name = frame.child_frame_id.clone();
            self.last.insert(name, (origin, frame.clone()));
        }
    }

    /// Returns the frames of the next message, in which these are new.
    pub(super) fn complete(&mut self, new: Vec<TransformStamped>) -> Vec<TransformStamped> {
        if new.is_empty() {
            return new;
        }
        self.since_all += 1;
        if self.since_all < self.interval {
            return new;
        }
        self.since_all = 0;
        self.last.values().map(|(_, frame)| frame.clone()).collect()
    }

    /// Forgets the frames of models that are gone.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Publisher) -> bool) {
        self.last.retain(|_, (origin, _)| !is_gone(origin));
    }
}

#[cfg(test)]
mod tests {
    use protocol::ModelId;

    use super::*;

    fn model(model: u32) -> Publisher {
        let model = ModelId { world: 0, model };
        Publisher::Model { model, part: 0 }
    }

    fn say(frames: &mut FixedFrames, number: u32) -> Vec<String> {
        let frame = TransformStamped {
            child_frame_id: format!("r{number}"),
            ..TransformStamped::default()
        };
        frames.note(model(number), std::slice::from_ref(&frame));
        let said = frames.complete(vec![frame]).into_iter();
        said.map(|frame| frame.child_frame_id).collect()
    }

    #[test]
    fn the_last_messages_have_the_frames_of_all_models_that_are_here() {
        const DEPTH: usize = 10;
        let mut frames = FixedFrames::new(DEPTH as u32);
        let mut kept = Vec::new();
        for number in 0..100 {
            kept.push(say(&mut frames, number));
            if number == 7 {
                frames.forget(|origin| *origin == model(7));
            }
            let later: Vec<&String> = kept.iter().rev().take(DEPTH).flatten().collect();
            let is_missing = |one: &u32| *one != 7 && !later.contains(&&format!("r{one}"));
            assert_eq!((0..=number).find(is_missing), None, "after {number}");
        }
        assert!(!kept[99].contains(&"r7".to_owned()), "it is gone");
        assert!(frames.complete(Vec::new()).is_empty(), "nothing is new");
    }
}
