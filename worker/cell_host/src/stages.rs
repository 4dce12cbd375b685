//! [`Stages`]: the worlds as sensors draw them, and what draws them.

use systems::{MakeRenderer, SharedStage};

/// The worlds of a process as sensors draw them.
#[derive(Default)]
pub(super) struct Stages {
    of_worlds: Vec<SharedStage>,
    make_renderer: Option<MakeRenderer>,
}

impl Stages {
    /// Begins with so many worlds as they are at the start.
    pub(super) fn begin(&mut self, count: usize) {
        let stage = || SharedStage::drawn_by(self.make_renderer.clone());
        self.of_worlds = std::iter::repeat_with(stage).take(count).collect();
    }

    /// Has sensors draw by renderers of a maker.
    pub(super) fn draw_by(&mut self, make_renderer: MakeRenderer) {
        self.make_renderer = Some(make_renderer);
        self.begin(self.of_worlds.len());
    }

    /// Returns a world.
    pub(super) fn of(&self, world: usize) -> &SharedStage {
        &self.of_worlds[world]
    }

    /// Returns a world that models come to, or leave.
    pub(super) fn of_mut(&mut self, world: usize) -> &mut SharedStage {
        &mut self.of_worlds[world]
    }
}
