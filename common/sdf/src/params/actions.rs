//! The actions on elements that were found.

use super::{Refusal, described, find};
use crate::report::Report;
use crate::schema::specification::ElementRule;
use crate::tree::{Element, Node};

/// The attributes that say what is to be done.
const OWN_ATTRIBUTES: [&str; 2] = ["element_id", "action"];

/// Makes the element that a change describes.
pub(super) fn new_element(change: &Element) -> Element {
    let mut element = change.clone();
    for name in OWN_ATTRIBUTES {
        element.take_attribute(name);
    }
    element
}

/// Puts what a change describes in the place of an element.
pub(super) fn replace(target: &mut Element, change: &Element) -> Result<(), Refusal> {
    if target.attribute("name").is_some() && change.attribute("name").is_none() {
        let message = format!("the <{}> that replaces another needs a name", change.name);
        return Err(("ATTRIBUTE_MISSING", message));
    }
    *target = new_element(change);
    Ok(())
}

/// Removes the children that a change names.
pub(super) fn remove(target: &mut Element, change: &Element, report: &mut Report) {
    for child in change.children() {
        if let Some(index) = find::child(target, child, false) {
            find::take(target, &[index]);
        } else {
            let message = format!("<{}> has no such <{}> to remove", target.name, child.name);
            report.error("ELEMENT_MISSING", child, message);
        }
    }
}

/// Sets attributes, text and, in depth, children that are there already.
pub(super) fn modify(
    target: &mut Element,
    rule: Option<&'static ElementRule>,
    change: &Element,
    report: &mut Report,
) {
    set_attributes(target, rule, change, report);
    if has_text(change) {
        set_text(target, &change.text());
        return;
    }
    for child in change.children() {
        let Some(index) = find::child(target, child, true) else {
            let message = format!("<{}> has no <{}> to modify", target.name, child.name);
            report.error("ELEMENT_MISSING", child, message);
            continue;
        };
        let inner_rule = described::child_rule(rule, &child.name);
        let inner = find::at(target, &[index]);
        if has_text(child) || child.children().next().is_some() {
            modify(inner, inner_rule, child, report);
        } else if inner.children().next().is_none() {
            // Nothing instead of a value is the default of the specification.
            set_attributes(inner, inner_rule, child, report);
            let value = inner_rule.and_then(|rule| rule.value);
            set_text(inner, value.map_or("", |value| value.default));
        } else {
            let once = child.place().to_string();
            report.warn_once("EMPTY_MODIFICATION", &once, child, || {
                format!("<{}> says nothing that could be modified", child.name)
            });
        }
    }
}

fn has_text(element: &Element) -> bool {
    !element.text().is_empty()
}

fn set_text(target: &mut Element, text: &str) {
    target.nodes.retain(|node| matches!(node, Node::Element(_)));
    if !text.is_empty() {
        target.nodes.push(Node::Text(text.into()));
    }
}

fn set_attributes(
    target: &mut Element,
    rule: Option<&'static ElementRule>,
    change: &Element,
    report: &mut Report,
) {
    for (name, value) in &change.attributes {
        if OWN_ATTRIBUTES.contains(&name.as_str()) {
            continue;
        }
        let is_known = target.attribute(name).is_some()
            || name.contains(':')
            || described::has_attribute(rule, name);
        if is_known {
            target.set_attribute(name, value);
        } else {
            let message = format!("<{}> has no attribute {name:?}", target.name);
            report.error("ATTRIBUTE_INVALID", change, message);
        }
    }
}
