//! Puts out the SDF tree of a robot whose fixed joints are merged.

mod joint;
mod shape;

use std::collections::BTreeSet;

use super::extension::{Extension, Extensions, put};
use super::joint::{Joint, Kind};
use super::link::Link;
use super::number::show;
use super::origin;
use super::robot::{Robot, WORLD};
use crate::problem::Problem;
use crate::report::Report;
use crate::tree::{Element, Node};
use shape::Budget;

/// Returns the `<sdf>` element of a robot.
pub(super) fn sdf(
    robot: &Robot<'_>,
    extensions: &Extensions<'_>,
    reduced: &[bool],
    report: &mut Report,
) -> Result<Element, Problem> {
    let mut writer = Writer {
        robot,
        extensions,
        reduced,
        model: Element::new_at("model", robot.element),
        budget: Budget::default(),
        written: BTreeSet::new(),
    };
    writer.model.set_attribute("name", robot.name);
    let kept = writer.write_links(report)?;
    for extension in extensions.of("") {
        if let Some(is_static) = extension.truths.get("static") {
            put(&mut writer.model, "static", &is_static.to_string());
        }
        let elements = extension.elements.iter().cloned();
        writer.model.nodes.extend(elements.map(Node::Element));
    }
    if let Some(pose) = &robot.origin {
        put(&mut writer.model, "pose", &origin::show_angles(pose));
    }
    warn_of_unused(extensions, &writer.written, report);
    if kept < robot.links.len() {
        tell_lost(robot, kept, &writer.model, report)?;
    }
    let mut document = Element::new_at("sdf", robot.element);
    document.set_attribute("version", "1.12");
    document.nodes.push(Node::Element(writer.model));
    Ok(document)
}

struct Writer<'r, 't> {
    robot: &'r Robot<'t>,
    extensions: &'r Extensions<'t>,
    reduced: &'r [bool],
    model: Element,
    budget: Budget,
    /// Names of links and joints that the model has.
    written: BTreeSet<&'r str>,
}

impl<'r> Writer<'r, '_> {
    /// Writes each link with its joint; one without weight is left out with all that hangs on it.
    /// Returns the number of links that the file says and that are part of the model.
    fn write_links(&mut self, report: &mut Report) -> Result<usize, Problem> {
        let robot = self.robot;
        let mut kept = 0;
        let mut open: Vec<usize> = robot.root.into_iter().collect();
        while let Some(index) = open.pop() {
            let link = &robot.links[index];
            if link.name != WORLD && link.is_massless() && !self.reduced[index] {
                warn_of_massless(robot, link, report);
                continue;
            }
            kept += 1;
            let is_body = link.name != WORLD || link.joint.is_some();
            if is_body && !link.is_massless() && !self.is_part_of_parent(link, index) {
                self.write_link(link)?;
            }
            open.extend(link.children.iter().rev());
        }
        Ok(kept)
    }

    fn is_part_of_parent(&self, link: &Link<'_>, index: usize) -> bool {
        let parent = link.joint.as_ref().map(|(_, parent)| *parent);
        self.reduced[index] && parent.is_some_and(|parent| self.robot.links[parent].name != WORLD)
    }

    fn write_link(&mut self, link: &'r Link<'_>) -> Result<(), Problem> {
        let mut element = Element::new_at("link", link.element);
        element.set_attribute("name", link.name);
        self.written.insert(link.name);
        if let Some((joint, parent)) = &link.joint {
            self.write_joint(joint, self.robot.links[*parent].name)?;
            let mut pose = Element::new_at("pose", joint.element);
            pose.set_attribute("relative_to", joint.name);
            element.nodes.push(Node::Element(pose));
        }
        element.nodes.push(Node::Element(inertial(link)));
        let (extensions, budget) = (self.extensions, &mut self.budget);
        for (number, collision) in link.collisions.iter().enumerate() {
            let name = shape::name(link.name, collision, "_collision", number);
            let mut written = shape::element("collision", &name, collision);
            shape::extend_collision(&mut written, link.name, extensions, budget)?;
            element.nodes.push(Node::Element(written));
        }
        for (number, visual) in link.visuals.iter().enumerate() {
            let name = shape::name(link.name, visual, "_visual", number);
            let mut written = shape::element("visual", &name, visual);
            shape::extend_visual(&mut written, link.name, extensions, budget)?;
            shape::color(&mut written, visual);
            element.nodes.push(Node::Element(written));
        }
        for extension in extensions.of(link.name) {
            extend_link(&mut element, extension);
        }
        self.model.nodes.push(Node::Element(element));
        Ok(())
    }

    fn write_joint(&mut self, joint: &'r Joint<'_>, parent: &str) -> Result<(), Problem> {
        let is_locked = joint.kind == Kind::Fixed && self.extensions.locked.contains(joint.name);
        let mut element = joint::element(joint, parent, is_locked)?;
        self.written.insert(joint.name);
        for extension in self.extensions.of(joint.name) {
            joint::extend(&mut element, extension);
        }
        self.model.nodes.push(Node::Element(element));
        Ok(())
    }
}

fn inertial(link: &Link<'_>) -> Element {
    let source = link.element.child("inertial").unwrap_or(link.element);
    let mut element = Element::new_at("inertial", source);
    let inertial = link.inertial.clone().unwrap_or_default();
    element
        .nodes
        .push(Node::Element(origin::element(&inertial.origin, source)));
    put(&mut element, "mass", &show(inertial.mass));
    let mut inertia = Element::new_at("inertia", source);
    let names = [["ixx", "ixy", "ixz"], ["", "iyy", "iyz"], ["", "", "izz"]];
    for (names, values) in names.iter().zip(inertial.moments) {
        for (name, value) in names
            .iter()
            .zip(values)
            .filter(|(name, _)| !name.is_empty())
        {
            put(&mut inertia, name, &show(value));
        }
    }
    element.nodes.push(Node::Element(inertia));
    element
}

fn extend_link(link: &mut Element, extension: &Extension<'_>) {
    if let Some(gravity) = extension.truths.get("gravity") {
        put(link, "gravity", &gravity.to_string());
    }
    if let Some(factor) = extension.numbers.get("dampingFactor") {
        let mut decay = Element::new_at("velocity_decay", extension.element);
        put(&mut decay, "linear", &show(*factor));
        put(&mut decay, "angular", &show(*factor));
        link.nodes.push(Node::Element(decay));
    }
    if let Some(self_collide) = extension.truths.get("selfCollide") {
        put(link, "self_collide", &self_collide.to_string());
    }
    let elements = extension.elements.iter().cloned();
    link.nodes.extend(elements.map(Node::Element));
}

fn warn_of_massless(robot: &Robot<'_>, link: &Link<'_>, report: &mut Report) {
    let why = match &link.inertial {
        None => "has no <inertial>",
        Some(_) => "has no mass",
    };
    let joint = link.joint.as_ref();
    let joint_lost = joint.map_or(String::new(), |(joint, _)| {
        format!(", and with it its joint {:?}", joint.name)
    });
    let children_lost = match link.children.len() {
        0 => "",
        _ => ", and with it all that hangs on it",
    };
    let children = link
        .children
        .iter()
        .filter_map(|child| robot.links[*child].joint.as_ref());
    let mut joints = children.chain(link.joint.as_ref()).map(|(joint, _)| joint);
    let help = if joints.any(|joint| joint.kind == Kind::Fixed) {
        "give it a mass, or let its fixed joint make it a part of its neighbour"
    } else {
        "give it a mass"
    };
    report.warn_once("LINK_INERTIA_INVALID", link.name, link.element, || {
        format!(
            "the link {:?} {why} and is left out{joint_lost}{children_lost}; {help}",
            link.name
        )
    });
}

/// Tells how many links are lost; a root without weight is why a robot has none.
fn tell_lost(
    robot: &Robot<'_>,
    kept: usize,
    model: &Element,
    report: &mut Report,
) -> Result<(), Problem> {
    let (all, lost) = (robot.links.len(), robot.links.len() - kept);
    let is_empty = ["link", "model", "include"]
        .iter()
        .all(|name| model.child(name).is_none());
    let is_static = model.child("static").map(Element::text);
    let first = robot.root.map(|index| &robot.links[index]);
    if let Some(first) = first.filter(|first| first.name != WORLD && first.is_massless())
        && is_empty
        && is_static.as_deref() != Some("true")
    {
        let message = format!(
            "the root link {:?} has no mass and is left out, and with it all that hangs on it: \
             {lost} of {all} links, so that none is left; give it an <inertial> with a mass",
            first.name
        );
        return Err(first.element.problem("MODEL_WITHOUT_LINK", message));
    }
    report.warn_once("URDF_LINKS_LOST", robot.name, robot.element, || {
        format!("{lost} of {all} links are lost, since they or what they hang on have no mass")
    });
    Ok(())
}

fn warn_of_unused(extensions: &Extensions<'_>, written: &BTreeSet<&str>, report: &mut Report) {
    for extension in extensions
        .beyond(written)
        .filter(|extension| !extension.is_empty())
    {
        let name = extension.reference;
        report.warn_once("URDF_EXTENSION_IGNORED", name, extension.element, || {
            format!("<gazebo reference={name:?}> is ignored: the model has no such link or joint")
        });
    }
}
