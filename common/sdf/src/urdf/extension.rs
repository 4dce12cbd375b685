//! `<gazebo>` elements: what SDF says beyond URDF, kept per link or joint that it refers to.
//!
//! Elements that libsdformat knows by name become settings; all others are SDF already and are
//! copied into the link, the joint or the model.

use std::collections::{BTreeMap, BTreeSet};

use super::joint::Kind;
use super::link::Link;
use super::number;
use super::robot::{Robot, WORLD};
use crate::problem::Problem;
use crate::tree::{Element, Node};

mod follow;

pub(super) use follow::put;

/// Settings that are a number.
const NUMBERS: [&str; 14] = [
    "dampingFactor",
    "fudgeFactor",
    "kd",
    "kp",
    "laserRetro",
    "maxContacts",
    "maxVel",
    "minDepth",
    "mu1",
    "mu2",
    "springReference",
    "springStiffness",
    "stopCfm",
    "stopErp",
];

/// All `<gazebo>` elements of a robot.
#[derive(Debug, Default)]
pub(super) struct Extensions<'t> {
    all: Vec<Extension<'t>>,
    /// Indices into `all` by the link or joint; the empty name is the model.
    by_reference: BTreeMap<String, Vec<usize>>,
    /// Elements that name a link, by its name: indices into `all`, and into its elements.
    mentions: BTreeMap<String, Vec<(usize, usize)>>,
    /// Fixed joints that stay, as revolute joints that cannot move.
    pub(super) locked: BTreeSet<&'t str>,
    /// Fixed joints that stay fixed joints.
    preserved: BTreeSet<&'t str>,
}

/// One `<gazebo>` element.
#[derive(Debug)]
pub(super) struct Extension<'t> {
    pub(super) element: &'t Element,
    /// The link or joint that the file refers to.
    pub(super) reference: &'t str,
    pub(super) numbers: BTreeMap<&'t str, f64>,
    pub(super) truths: BTreeMap<&'t str, bool>,
    /// The script of the material; empty for none.
    pub(super) material: String,
    /// The first direction of friction; empty for none.
    pub(super) fdir1: String,
    /// Elements that go into each collision.
    pub(super) in_collisions: Vec<&'t Element>,
    /// Elements that go into each visual.
    pub(super) in_visuals: Vec<&'t Element>,
    /// Elements that go into the link, joint or model.
    pub(super) elements: Vec<Element>,
    /// From the link that it was moved to, to the link that it was moved from.
    moved_by: crate::pose::Pose,
}

impl<'t> Extensions<'t> {
    /// Reads the `<gazebo>` elements of a robot.
    pub(super) fn read(root: &'t Element) -> Result<Self, Problem> {
        let mut extensions = Self::default();
        for element in root.children_named("gazebo") {
            let mut extension = Extension::new(element);
            for child in element.children() {
                match child.name.as_str() {
                    "disableFixedJointLumping" if is_true(&value(child)) => {
                        extensions.locked.insert(extension.reference);
                    }
                    "preserveFixedJoint" if is_true(&value(child)) => {
                        extensions.preserved.insert(extension.reference);
                    }
                    "disableFixedJointLumping" | "preserveFixedJoint" | "canonicalBody" => {}
                    _ => extension.take(child)?,
                }
            }
            extensions.add(extension);
        }
        for joint in &extensions.preserved {
            extensions.locked.remove(joint);
        }
        Ok(extensions)
    }

    /// Tells of each link whether the joint to its parent makes both one body.
    pub(super) fn reduced_joints(&self, robot: &Robot<'_>) -> Vec<bool> {
        let is_reduced = |link: &Link<'_>| {
            link.joint.as_ref().is_some_and(|(joint, _)| {
                joint.kind == Kind::Fixed
                    && !self.locked.contains(joint.name)
                    && !self.preserved.contains(joint.name)
            })
        };
        robot.links.iter().map(is_reduced).collect()
    }

    /// Returns what is said of a link, a joint or, by the empty name, the model.
    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = &Extension<'t>> {
        let indices = self.by_reference.get(name).into_iter().flatten();
        indices.map(|index| &self.all[*index])
    }

    /// Returns what says something of names that are not among these.
    pub(super) fn beyond(&self, names: &BTreeSet<&str>) -> impl Iterator<Item = &Extension<'t>> {
        let unknown = |name: &str| !name.is_empty() && name != WORLD && !names.contains(name);
        let references = self.by_reference.iter();
        let unknown = references.filter(move |(name, _)| unknown(name));
        let indices = unknown.flat_map(|(_, indices)| indices);
        indices.map(|index| &self.all[*index])
    }

    /// Adds elements to the model, at the place of another element.
    pub(super) fn add_to_model(&mut self, elements: Vec<Element>, at: &'t Element) {
        let mut extension = Extension::new(at);
        extension.reference = "";
        extension.elements = elements;
        self.add(extension);
    }

    fn add(&mut self, extension: Extension<'t>) {
        let index = self.all.len();
        for (number, element) in extension.elements.iter().enumerate() {
            for name in follow::mentioned_links(element) {
                self.mentions.entry(name).or_default().push((index, number));
            }
        }
        let reference = extension.reference.to_owned();
        self.by_reference.entry(reference).or_default().push(index);
        self.all.push(extension);
    }
}

impl<'t> Extension<'t> {
    fn new(element: &'t Element) -> Self {
        Self {
            element,
            reference: element.attribute("reference").unwrap_or_default(),
            numbers: BTreeMap::new(),
            truths: BTreeMap::new(),
            material: String::new(),
            fdir1: String::new(),
            in_collisions: Vec::new(),
            in_visuals: Vec::new(),
            elements: Vec::new(),
            moved_by: crate::pose::Pose::IDENTITY,
        }
    }

    /// Tells whether it says nothing but how a joint is merged.
    pub(super) fn is_empty(&self) -> bool {
        let texts = [&self.material, &self.fdir1];
        let shapes = [&self.in_collisions, &self.in_visuals];
        self.elements.is_empty()
            && self.numbers.is_empty()
            && self.truths.is_empty()
            && texts.iter().all(|text| text.is_empty())
            && shapes.iter().all(|elements| elements.is_empty())
    }

    /// Takes one element of a `<gazebo>` element.
    fn take(&mut self, child: &'t Element) -> Result<(), Problem> {
        let name = child.name.as_str();
        match name {
            "material" => self.material = value(child),
            "fdir1" => self.fdir1 = value(child),
            "collision" => self.in_collisions.extend(child.children()),
            "visual" => self.in_visuals.extend(child.children()),
            "turnGravityOff" => {
                let text = value(child).to_ascii_lowercase();
                let is_on = matches!(text.as_str(), "false" | "no" | "0");
                self.truths.insert("gravity", is_on);
            }
            "static" | "selfCollide" | "provideFeedback" | "implicitSpringDamper" => {
                self.truths.insert(name, is_true(&value(child)));
            }
            "cfmDamping" => {
                self.truths
                    .insert("implicitSpringDamper", is_true(&value(child)));
            }
            _ if NUMBERS.contains(&name) => {
                let text = value(child);
                let number = leading_number(&text).ok_or_else(|| {
                    let text: String = text.chars().take(60).collect();
                    let message = format!("<{name}> must be a number, and {text:?} is not");
                    child.problem(number::UNREADABLE, message)
                })?;
                self.numbers.insert(name, number);
            }
            _ => self.elements.push(child.clone()),
        }
        Ok(())
    }
}

/// Returns the value attribute of an element, or else its text.
pub(super) fn value(element: &Element) -> String {
    if let Some(value) = element.attribute("value") {
        return value.trim().to_owned();
    }
    match element.nodes.first() {
        Some(Node::Text(text)) => text.trim().to_owned(),
        _ => String::new(),
    }
}

fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "1")
}

/// Reads the number that a text begins with, as C's `strtod` does.
fn leading_number(text: &str) -> Option<f64> {
    let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len()).min(400);
    let digits = &text[..end];
    let exact: Option<f64> = digits.parse().ok();
    exact.or_else(|| digits.trim_end_matches(['e', 'E', '+', '-']).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_followed_by_other_text() {
        for (text, expect) in [
            ("0.8", Some(0.8)),
            ("1e3m", Some(1e3)),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(leading_number(text), expect, "{text:?}");
        }
    }
}
