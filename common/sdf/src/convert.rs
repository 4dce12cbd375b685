//! Upgrades a tree of an older SDF version to 1.12, step by step as libsdformat's converter does.
//!
//! Each step has the changes of one `sdf/<version>/<version>.convert` that concern what is read.
//! A version that libsdformat has no step for is refused.

mod first;
mod steps;
mod unflatten;

use crate::problem::Problem;
use crate::tree::Element;

/// The versions with a step to the next one; 1.1 never had any.
const VERSIONS: [&str; 12] = [
    "1.0", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11", "1.12",
];

/// Upgrades the tree under an `<sdf>` element in place; its `version` stays as it was.
///
/// # Errors
/// Fails if the root is no `<sdf>`, or of a version that is not read.
pub(crate) fn upgrade(root: &mut Element) -> Result<(), Problem> {
    if root.name != "sdf" {
        let message = format!("the root element must be <sdf>, and is <{}>", root.name);
        return Err(root.problem("PARSING_ERROR", message));
    }
    let Some(text) = root.attribute("version") else {
        return Err(root.problem("ATTRIBUTE_MISSING", "<sdf> needs a version attribute"));
    };
    let Some(first) = position(text) else {
        let message = format!("SDF version {text:?} is not read; 1.0 and 1.2 to 1.12 are");
        return Err(root.problem("CONVERSION_ERROR", message));
    };
    for version in &VERSIONS[first..] {
        match *version {
            "1.0" => first::attributes_to_elements(root),
            "1.3" => steps::rename_steps(root),
            "1.4" => steps::say_axes_are_in_the_model_frame(root),
            "1.5" => {
                steps::move_gravity(root);
                steps::split_imu_noise(root);
            }
            "1.6" => {
                steps::rename_pose_frames(root);
                steps::name_axis_frames(root);
            }
            "1.7" => {
                unflatten_worlds(root);
                steps::drop_empty_inertial_frames(root);
            }
            "1.11" => steps::rename_states(root),
            _ => {}
        }
    }
    Ok(())
}

/// Tells whether `::` separates names in a file, as it does since 1.8.
pub(crate) fn has_scopes(root: &Element) -> bool {
    let version = root.attribute("version").and_then(position);
    version.is_some_and(|version| position("1.8").is_some_and(|first| version >= first))
}

fn position(version: &str) -> Option<usize> {
    VERSIONS.iter().position(|known| *known == version)
}

fn unflatten_worlds(root: &mut Element) {
    for world in root.children_mut().filter(|child| child.name == "world") {
        for model in world.children_mut().filter(|child| child.name == "model") {
            unflatten::unflatten(model);
        }
    }
}

#[cfg(test)]
mod tests;
