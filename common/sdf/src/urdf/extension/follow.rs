//! Keeps `<gazebo>` elements right when their link becomes part of its parent: they move to the
//! parent, what has a pose in the link is placed in the parent, and names of the link are replaced.

use super::{Extension, Extensions, number, value};
use crate::pose::Pose;
use crate::tree::{Element, Node};
use crate::urdf::origin;

/// Children of a plugin or joint that name a link.
const LINK_NAMES: [(&str, [&str; 2]); 2] = [
    ("plugin", ["bodyName", "frameName"]),
    ("joint", ["parent", "child"]),
];

impl Extensions<'_> {
    /// Moves what is said of a link to its parent; `pose` is the link in the parent's frame.
    pub(in crate::urdf) fn move_to_parent(&mut self, link: &str, parent: &str, pose: &Pose) {
        if let Some(indices) = self.by_reference.remove(link) {
            for index in &indices {
                self.all[*index].move_by(pose);
            }
            self.by_reference
                .entry(parent.to_owned())
                .or_default()
                .extend(indices);
        }
        let Some(mentions) = self.mentions.remove(link) else {
            return;
        };
        for (index, number) in &mentions {
            let extension = &mut self.all[*index];
            let moved_by = extension.moved_by;
            rename(
                &mut extension.elements[*number],
                link,
                parent,
                &moved_by,
                pose,
            );
        }
        self.mentions
            .entry(parent.to_owned())
            .or_default()
            .extend(mentions);
    }
}

impl Extension<'_> {
    fn move_by(&mut self, pose: &Pose) {
        self.moved_by = *pose;
        for element in &mut self.elements {
            if matches!(element.name.as_str(), "light" | "projector" | "sensor") {
                move_element(element, pose);
            }
        }
    }
}

/// Returns the names of links in an element that follow when their link is moved.
pub(super) fn mentioned_links(element: &Element) -> Vec<String> {
    let mut names = Vec::new();
    for (holder, children) in LINK_NAMES {
        if element.name == holder {
            let found = children.iter().filter_map(|child| element.child(child));
            names.extend(found.map(value));
        }
    }
    if element.name == "projector"
        && let Some((link, _)) = value(element).split_once('/')
    {
        names.push(link.to_owned());
    }
    names.sort();
    names.dedup();
    names
}

fn rename(element: &mut Element, link: &str, parent: &str, moved_by: &Pose, pose: &Pose) {
    if element.name == "projector" {
        if let Some((_, rest)) = value(element).split_once('/') {
            let text = format!("{parent}/{rest}");
            *element = Element::with_text_at("projector", &text, element);
        }
        return;
    }
    for (holder, children) in LINK_NAMES {
        if element.name != holder {
            continue;
        }
        for child in children {
            if element
                .child(child)
                .is_none_or(|child| value(child) != link)
            {
                continue;
            }
            put(element, child, parent);
            if holder == "plugin" {
                move_offsets(element, moved_by, pose);
            }
        }
    }
}

/// Moves a sensor, light or projector, unless its pose is relative to a frame by name.
fn move_element(element: &mut Element, pose: &Pose) {
    let old = element.child("pose");
    if old.is_some_and(|old| old.attribute("relative_to").is_some()) {
        return;
    }
    let text = old.map(Element::text).unwrap_or_default();
    let numbers: Option<Vec<f64>> = text.split_whitespace().take(6).map(number::parse).collect();
    let own = match numbers.as_deref() {
        Some([x, y, z, roll, pitch, yaw]) => {
            Pose::from_xyz_rpy([*x, *y, *z], [*roll, *pitch, *yaw])
        }
        Some([]) => Pose::IDENTITY,
        // The reader of SDF tells what is wrong with it.
        _ => return,
    };
    put(element, "pose", &show_pose(&pose.then(&own)).join(" "));
}

/// Keeps the offsets by which plugins of Gazebo classic find where their link was.
fn move_offsets(plugin: &mut Element, moved_by: &Pose, pose: &Pose) {
    let vector = |name: &str| {
        let child = plugin.child(name)?;
        Some(number::parse_vector(&value(child)).unwrap_or_default())
    };
    let position = vector("xyzOffset").unwrap_or(moved_by.position);
    let angles = vector("rpyOffset").unwrap_or_else(|| moved_by.roll_pitch_yaw());
    let moved = pose.then(&Pose::from_xyz_rpy(position, angles));
    let [position, angles] = show_pose(&moved);
    put(plugin, "xyzOffset", &position);
    put(plugin, "rpyOffset", &angles);
    put(plugin, "gz::corrected_offsets", "1");
}

/// Returns position and angles as texts.
fn show_pose(pose: &Pose) -> [String; 2] {
    [pose.position, origin::angles(pose)]
        .map(|values| number::show_all(&values.map(number::six_digits)))
}

/// Replaces the child of a name by one at the end.
pub(in crate::urdf) fn put(element: &mut Element, name: &str, text: &str) {
    let child = Element::with_text_at(name, text, element);
    element.take_child(name);
    element.nodes.push(Node::Element(child));
}
