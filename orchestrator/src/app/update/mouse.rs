//! The mouse, acted on by what is under it.

use crate::app::command::Effect;
use crate::app::event::Mouse;
use crate::app::model::Model;

/// Acts on the mouse.
pub(super) fn on_mouse(_: &mut Model, _: Mouse) -> Option<Effect> {
    None
}
