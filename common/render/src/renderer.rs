//! [`Renderer`]: what draws views, on the processor or elsewhere.

use mesh::Image;

use crate::view::View;

/// The visual of a pixel that shows none.
pub const NO_VISUAL: u32 = u32::MAX;

/// Visuals of a view, by pixels from the top left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The visual that is nearest, counted over all links of all models, or [`NO_VISUAL`].
    pub visuals: Vec<u32>,
    /// Its depth along the view \[m\]; infinite where there is none.
    pub depths: Vec<f32>,
}

/// Drawing of the views of one stage, on the processor or elsewhere.
pub trait Renderer: Send + Sync {
    /// Draws a view in colours.
    fn paint(&mut self, view: &View<'_>) -> Image;

    /// Finds which visual each pixel shows at its middle, whatever its look.
    fn look(&mut self, view: &View<'_>) -> Seen;

    /// Returns what has gone wrong since the last call, for people.
    fn take_problem(&mut self) -> Option<String> {
        None
    }
}
