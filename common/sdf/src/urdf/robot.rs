//! `<robot>`: links and joints as one tree of links, with the checks that urdfdom makes.

use std::collections::{BTreeMap, BTreeSet};

use super::joint::Joint;
use super::link::{self, Link, Material};
use super::number::{self, UNREADABLE};
use super::origin;
use crate::pose::Pose;
use crate::problem::Problem;
use crate::report::Report;
use crate::tree::Element;

/// The longest chain of joints from the root.
const CHAIN_MAX: usize = 1000;

/// The link that stands for the world.
pub(super) const WORLD: &str = "world";

/// A robot whose links are a tree.
#[derive(Debug)]
pub(super) struct Robot<'t> {
    pub(super) element: &'t Element,
    pub(super) name: &'t str,
    /// Its links in file order.
    pub(super) links: Vec<Link<'t>>,
    /// The index of the link without a parent.
    pub(super) root: Option<usize>,
    /// Pose of the model, if the robot says so.
    pub(super) origin: Option<Pose>,
}

impl<'t> Robot<'t> {
    /// Reads a robot.
    pub(super) fn read(element: &'t Element, report: &mut Report) -> Result<Self, Problem> {
        let name = element.attribute("name");
        let name = name.ok_or_else(|| number::missing(element, "name"))?;
        let mut materials = materials(element)?;
        let mut links = Vec::new();
        for link in element.children_named("link") {
            let mut link = Link::read(link, report)?;
            for visual in &mut link.visuals {
                if let Some(material) = &mut visual.material {
                    share(material, &mut materials);
                }
            }
            links.push(link);
        }
        let mut robot = Self {
            element,
            name,
            links,
            root: None,
            origin: element.child("origin").map(placement),
        };
        robot.hang_links()?;
        robot.find_root(report)?;
        Ok(robot)
    }

    fn hang_links(&mut self) -> Result<(), Problem> {
        let mut indices = BTreeMap::new();
        for (index, link) in self.links.iter().enumerate() {
            if indices.insert(link.name, index).is_some() {
                let message = format!("two links are named {:?}", link.name);
                return Err(link.element.problem(UNREADABLE, message));
            }
        }
        let mut joints = BTreeMap::new();
        for element in self.element.children_named("joint") {
            let joint = Joint::read(element)?;
            if joints.contains_key(joint.name) {
                let message = format!("two joints are named {:?}", joint.name);
                return Err(element.problem(UNREADABLE, message));
            }
            joints.insert(joint.name, joint);
        }
        for joint in joints.into_values() {
            let find = |name: &str| {
                indices.get(name).copied().ok_or_else(|| {
                    let message = format!(
                        "the joint {:?} names the link {name:?}: there is none",
                        joint.name
                    );
                    joint.element.problem(UNREADABLE, message)
                })
            };
            let (child, parent) = (find(joint.child)?, find(joint.parent)?);
            if let Some((other, _)) = &self.links[child].joint {
                let message = format!(
                    "the link {:?} is the child of two joints, {:?} and {:?}: a robot is a tree",
                    joint.child, other.name, joint.name
                );
                return Err(joint.element.problem(UNREADABLE, message));
            }
            self.links[parent].children.push(child);
            self.links[child].joint = Some((joint, parent));
        }
        Ok(())
    }

    fn find_root(&mut self, report: &mut Report) -> Result<(), Problem> {
        let mut roots = (0..self.links.len()).filter(|index| self.links[*index].joint.is_none());
        let Some(root) = roots.next() else {
            let message = if self.links.is_empty() {
                "a robot needs a <link>"
            } else {
                "every link is the child of a joint: a robot is a tree and needs a root"
            };
            return Err(self.element.problem(UNREADABLE, message));
        };
        if let Some(other) = roots.next() {
            let (root, other) = (&self.links[root], &self.links[other]);
            let message = format!(
                "the links {:?} and {:?} both have no parent: a robot has one root",
                root.name, other.name
            );
            return Err(other.element.problem(UNREADABLE, message));
        }
        self.root = Some(root);
        let mut hanging = BTreeSet::new();
        let mut open = vec![(root, 0)];
        while let Some((index, depth)) = open.pop() {
            if depth > CHAIN_MAX {
                let message = format!("more than {CHAIN_MAX} joints follow each other");
                return Err(self.links[index].element.problem(UNREADABLE, message));
            }
            hanging.insert(index);
            let children = self.links[index].children.iter().rev();
            open.extend(children.map(|child| (*child, depth + 1)));
        }
        for (index, link) in self.links.iter().enumerate() {
            if !hanging.contains(&index) {
                report.warn_once("URDF_LINK_IGNORED", link.name, link.element, || {
                    format!(
                        "the link {:?} does not hang on the root and is ignored",
                        link.name
                    )
                });
            }
        }
        Ok(())
    }
}

/// Returns the colours of materials of the robot, by name.
fn materials(root: &Element) -> Result<BTreeMap<&str, [f64; 4]>, Problem> {
    let mut materials = BTreeMap::new();
    for element in root.children_named("material") {
        let name = element.attribute("name").unwrap_or_default();
        let color = link::color(element).unwrap_or(link::BLACK);
        if materials.insert(name, color).is_some() {
            let message = format!("two materials are named {name:?}");
            return Err(element.problem(UNREADABLE, message));
        }
    }
    Ok(materials)
}

/// The first material of a name holds for all that have this name.
fn share<'t>(material: &mut Material<'t>, known: &mut BTreeMap<&'t str, [f64; 4]>) {
    if !material.name.is_empty() {
        material.color = *known.entry(material.name).or_insert(material.color);
    }
}

/// Returns the `<origin>` of a robot, zeros where it is wrong, as in libsdformat.
fn placement(origin: &Element) -> Pose {
    let vector = |name| {
        let text = origin.attribute(name);
        text.and_then(number::parse_vector).unwrap_or_default()
    };
    let pose = Pose::from_xyz_rpy(vector("xyz"), vector("rpy"));
    Pose::from_xyz_rpy(pose.position, origin::angles(&pose))
}
