//! xacro that was not expanded: macros that only its own program understands, and half a robot
//! without them.

use std::path::Path;

use crate::problem::Problem;
use crate::tree::Element;

/// The code of a file that is still to be expanded.
const NOT_EXPANDED: &str = "XACRO_NOT_EXPANDED";

/// Elements whose attributes may hold anything.
const FOREIGN: [&str; 2] = ["gazebo", "ros2_control"];

/// Refuses a document that holds xacro, whatever else is in it, by its root and its text.
///
/// # Errors
/// At the first element of xacro; at the root of a file that is named as one.
pub(crate) fn refuse(root: &Element, text: &str, file: &str) -> Result<(), Problem> {
    let extension = Path::new(file)
        .extension()
        .and_then(|extension| extension.to_str());
    let is_named_so = extension == Some("xacro");
    let is_robot = root.name == "robot";
    // Large worlds hold none, and are not looked through for it.
    let may_hold_some = is_robot || text.contains("xacro:");
    let found = may_hold_some.then(|| first(root, is_robot)).flatten();
    let (place, what) = match found {
        Some(found) => found,
        None if is_named_so => (root, "the file is named so".to_owned()),
        None => return Ok(()),
    };
    let source = if is_named_so || extension == Some("urdf") {
        file
    } else {
        "FILE"
    };
    let message = format!(
        "this is xacro that was not expanded ({what}): run `xacro {source} > robot.urdf` and use \
         robot.urdf"
    );
    Err(place.problem(NOT_EXPANDED, message))
}

/// Returns the first element that only xacro understands, and what is in it.
fn first(element: &Element, is_robot: bool) -> Option<(&Element, String)> {
    if element.name.starts_with("xacro:") {
        return Some((element, format!("<{}>", element.name)));
    }
    let is_open = |value: &str| value.contains("${") || value.contains("$(");
    let mut attributes = element.attributes.iter();
    let open = attributes.find(|(_, value)| is_robot && is_open(value));
    if let Some((name, value)) = open {
        let value: String = value.chars().take(60).collect();
        return Some((element, format!("{name}={value:?}")));
    }
    let inner = |child| first(child, is_robot && !is_foreign(child));
    element.children().find_map(inner)
}

fn is_foreign(element: &Element) -> bool {
    FOREIGN.contains(&element.name.as_str())
}

#[cfg(test)]
mod tests {
    use crate::{NoFiles, read_worlds};

    const LINK: &str = "<link name='l'><inertial><mass value='1'/><inertia ixx='1' iyy='1' \
        izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>";

    fn check(content: &str, file: &str, expected: Option<(u32, &str)>) {
        let space = "xmlns:xacro='http://www.ros.org/wiki/xacro'";
        let text = format!("<robot name='r' {space}>\n{LINK}\n{content}</robot>");
        let read = read_worlds(&text, file, &NoFiles);
        let Some((line, part)) = expected else {
            assert!(read.is_ok(), "{content}: {read:?}");
            return;
        };
        let error = read.unwrap_err();
        let problem = &error.errors[0];
        assert_eq!(problem.code, "XACRO_NOT_EXPANDED", "{content}");
        assert_eq!(problem.place.line, line, "{content}");
        assert!(problem.message.contains(part), "{content}: {problem}");
    }

    #[test]
    fn xacro_that_was_not_expanded_is_refused_where_it_stands() {
        let run = "xacro r.urdf > robot.urdf";
        check("<xacro:include filename='f'/>", "r.urdf", Some((3, run)));
        check("\n<xacro:arm/>", "r.urdf", Some((4, "<xacro:arm>")));
        let open = "<link name='${prefix}tool'/>";
        check(open, "r.urdf", Some((3, "${prefix}tool")));
        check("", "r.urdf.xacro", Some((1, "xacro r.urdf.xacro > ")));
        check("<xacro:arm/>", "the text", Some((3, "xacro FILE > ")));
    }

    #[test]
    fn a_robot_that_was_expanded_is_read() {
        check("", "r.urdf", None);
        let plugin = "<gazebo><plugin name='$(arg x)' filename='f'/></gazebo>";
        check(plugin, "r.urdf", None);
    }

    #[test]
    fn xacro_in_sdf_is_refused_and_dollars_are_not() {
        let read = |content: &str| {
            let text = format!(
                "<sdf version='1.9'><model name='m'><link name='l'/>{content}</model></sdf>"
            );
            read_worlds(&text, "m.sdf", &NoFiles)
        };
        assert!(read("<xacro:arm/>").is_err());
        assert!(read("<frame name='${f}'/>").is_ok());
    }
}
