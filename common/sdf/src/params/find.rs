//! Finds the elements that changes are about.

use super::described;
use crate::tree::{Element, Node};

/// Meaning of an element id.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'n> {
    /// An element of this name.
    Element(&'n str),
    /// Any element, to add to.
    Parent,
}

/// Returns the way, as indices of nodes, to the element of an id: names from the outside in, with
/// `::` between them. Names may hold `::` themselves; the longest that fits leads on.
pub(super) fn path(entity: &Element, id: &str, wanted: Wanted<'_>) -> Option<Vec<usize>> {
    let (mut parent, mut rest) = (entity, id);
    let mut path = Vec::new();
    loop {
        let (mut onward, mut longest) = (None, 0);
        for (index, node) in parent.nodes.iter().enumerate() {
            let Node::Element(child) = node else { continue };
            let Some(name) = child.filled_attribute("name") else {
                continue;
            };
            let is_kind = match wanted {
                Wanted::Element(kind) => child.name == kind,
                Wanted::Parent => true,
            };
            if rest == name && is_kind {
                path.push(index);
                return Some(path);
            }
            let after = rest.strip_prefix(name);
            if let Some(after) = after.and_then(|after| after.strip_prefix("::"))
                && name.len() > longest
            {
                longest = name.len();
                onward = Some((index, child, after));
            }
        }
        let (index, child, after) = onward?;
        path.push(index);
        (parent, rest) = (child, after);
    }
}

/// Returns the element at the end of a way.
pub(super) fn at<'e>(entity: &'e mut Element, path: &[usize]) -> &'e mut Element {
    path.iter()
        .fold(entity, |element, index| match &mut element.nodes[*index] {
            Node::Element(child) => child,
            Node::Text(_) => unreachable!("ways lead through elements"),
        })
}

/// Removes the element at the end of a way.
pub(super) fn take(entity: &mut Element, path: &[usize]) {
    if let Some((last, way)) = path.split_last() {
        at(entity, way).nodes.remove(*last);
    }
}

/// Returns the index of the child that a change is about: the first of its name and, if the change
/// has a name attribute, with that; a modification may give that name to the first one. A child
/// that the specification demands and the file leaves out is put there to be modified.
pub(super) fn child(parent: &mut Element, change: &Element, is_modified: bool) -> Option<usize> {
    let is_meant = |node: &Node, name: Option<&str>| match node {
        Node::Element(child) => {
            child.name == change.name && (name.is_none() || child.attribute("name") == name)
        }
        Node::Text(_) => false,
    };
    let first = |name: Option<&str>| parent.nodes.iter().position(|node| is_meant(node, name));
    let named = first(change.attribute("name"));
    if let Some(index) = named.or_else(|| first(None).filter(|_| is_modified)) {
        return Some(index);
    }
    if first(None).is_some() || !described::is_demanded(&parent.name, &change.name) {
        return None;
    }
    let element = Element::new_at(&change.name, parent);
    parent.nodes.push(Node::Element(element));
    Some(parent.nodes.len() - 1)
}
