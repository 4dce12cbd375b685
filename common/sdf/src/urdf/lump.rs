//! Fixed joints hold two links together as one body: the child becomes part of its parent, and two
//! frames keep the names and places of joint and child.

use super::extension::Extensions;
use super::link::Shape;
use super::origin;
use super::robot::{Robot, WORLD};
use crate::pose::Pose;
use crate::tree::{Element, Node};

/// Marks the names of shapes that came from another link.
pub(super) const LUMPED: &str = "_fixed_joint_lump__";

/// Makes one link of each group of links that `reduced` joints hold together. The children stay in
/// the tree, empty but for their names.
pub(super) fn reduce<'t>(robot: &mut Robot<'t>, extensions: &mut Extensions<'t>, reduced: &[bool]) {
    for step in steps(robot, reduced) {
        let Some((_, parent)) = robot.links[step].joint else {
            continue;
        };
        if reduced[step] && robot.links[parent].name != WORLD {
            merge(robot, extensions, reduced, step);
        }
    }
}

/// Returns all links in libsdformat's order: what is fixed to a link, itself, what moves.
fn steps(robot: &Robot<'_>, reduced: &[bool]) -> Vec<usize> {
    enum Task {
        Visit(usize),
        Take(usize),
    }
    let mut steps = Vec::with_capacity(robot.links.len());
    let mut open: Vec<Task> = robot.root.map(Task::Visit).into_iter().collect();
    while let Some(task) = open.pop() {
        match task {
            Task::Take(link) => steps.push(link),
            Task::Visit(link) => {
                let children = || robot.links[link].children.iter().rev().copied();
                open.extend(children().filter(|child| !reduced[*child]).map(Task::Visit));
                open.push(Task::Take(link));
                open.extend(children().filter(|child| reduced[*child]).map(Task::Visit));
            }
        }
    }
    steps
}

fn merge<'t>(
    robot: &mut Robot<'t>,
    extensions: &mut Extensions<'t>,
    reduced: &[bool],
    index: usize,
) {
    let link = &mut robot.links[index];
    let (joint, parent) = link
        .joint
        .as_ref()
        .expect("only links with a joint are merged");
    let (parent, pose, name) = (*parent, joint.origin, link.name);
    let mut joint_frame = Element::new_at("frame", joint.element);
    joint_frame.set_attribute("name", joint.name);
    joint_frame
        .nodes
        .push(Node::Element(origin::element(&pose, joint.element)));
    let mut link_frame = Element::new_at("frame", link.element);
    link_frame.set_attribute("name", name);
    link_frame.set_attribute("attached_to", joint.name);
    let at = link.element;

    let inertial = link.inertial.clone();
    let visuals = std::mem::take(&mut link.visuals);
    let collisions = std::mem::take(&mut link.collisions);
    let parent_link = &mut robot.links[parent];
    joint_frame.set_attribute("attached_to", parent_link.name);
    extensions.add_to_model(vec![joint_frame, link_frame], at);
    extensions.move_to_parent(name, parent_link.name, &pose);
    if let Some(inertial) = inertial {
        parent_link
            .inertial
            .get_or_insert_default()
            .add(&inertial, &pose);
    }
    parent_link
        .visuals
        .extend(visuals.into_iter().map(|shape| moved(shape, name, &pose)));
    parent_link.collisions.extend(
        collisions
            .into_iter()
            .map(|shape| moved(shape, name, &pose)),
    );
    hang_on_body(robot, reduced, index);
}

fn moved<'t>(shape: Shape<'t>, link: &str, pose: &Pose) -> Shape<'t> {
    let name = if shape.name.is_empty() {
        link.to_owned()
    } else {
        shape.name
    };
    let origin = pose.then(&shape.origin);
    Shape {
        name,
        origin,
        ..shape
    }
}

/// Hangs what moves against a merged link on the link that stays.
fn hang_on_body(robot: &mut Robot<'_>, reduced: &[bool], index: usize) {
    let (mut body, mut pose) = (index, Pose::IDENTITY);
    while let Some((joint, parent)) = &robot.links[body].joint {
        if !reduced[body] || robot.links[*parent].name == WORLD {
            break;
        }
        pose = joint.origin.then(&pose);
        body = *parent;
    }
    for child in robot.links[index].children.clone() {
        if !reduced[child]
            && let Some((joint, parent)) = &mut robot.links[child].joint
        {
            joint.origin = pose.then(&joint.origin);
            *parent = body;
        }
    }
}
