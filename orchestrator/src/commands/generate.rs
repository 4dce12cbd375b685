//! `phalanx generate`: worlds made to measure.

use super::{CommandResult, output};
use crate::cli::{GenerateArguments, GeneratedWorld};

/// Writes a world to stdout.
pub(super) fn generate(arguments: &GenerateArguments) -> CommandResult {
    match arguments.world {
        GeneratedWorld::Fleet { robots, levels } => {
            output::print(&sdf::generate_fleet(robots, levels.0))
        }
        GeneratedWorld::Piles { boxes, levels } => {
            output::print(&sdf::generate_piles(boxes, levels.0))
        }
    }
}
