//! URDF robots as SDF trees, as libsdformat's `parser_urdf.cc` makes them.
//!
//! `robot`, `link` and `joint` read the robot by urdfdom's rules, `control` what is for ROS,
//! `extension` its `<gazebo>` elements, `lump` merges links that fixed joints hold together,
//! `write` puts out the tree. They read our own tree because the crate `urdf-rs` drops `<gazebo>`
//! elements and places.

mod control;
mod description;
mod extension;
mod inertial;
mod joint;
mod link;
mod lump;
mod number;
mod origin;
mod robot;
mod write;
pub(crate) mod xacro;

use crate::problem::Problem;
use crate::report::Report;
use crate::tree::Element;
use extension::Extensions;
use robot::Robot;

pub use description::{DescriptionError, with_prefix};

/// Attribute of a model's element that keeps the text of its robot. No file can give it: names of
/// attributes have no spaces.
pub(crate) const TEXT: &str = "text of URDF";

/// Tells whether a document is a URDF robot.
pub(crate) fn is_robot(document: &Element) -> bool {
    document.name == "robot"
}

/// Returns the `<sdf>` element that a `<robot>` element means.
///
/// # Errors
/// Fails if libsdformat refuses the robot; all that it drops without a word is a warning.
pub(crate) fn convert(element: &Element, report: &mut Report) -> Result<Element, Problem> {
    let mut robot = Robot::read(element, report)?;
    control::read(&mut robot, report);
    let mut extensions = Extensions::read(element)?;
    let reduced = extensions.reduced_joints(&robot);
    lump::reduce(&mut robot, &mut extensions, &reduced);
    write::sdf(&robot, &extensions, &reduced, report)
}

#[cfg(test)]
mod tests;
