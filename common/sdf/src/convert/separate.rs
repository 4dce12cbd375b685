//! Up to 1.6 parts of a model could share a name; as in libsdformat's `Model` the later one of two
//! different kinds gets a suffix, and what refers to the name means the other.

use std::collections::BTreeSet;

use crate::tree::Element;

/// Renames links, joints and frames that have the name of another kind of part.
pub(super) fn separate_names(element: &mut Element) {
    if element.name == "model" {
        separate_in_model(element);
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        separate_names(child);
    }
}

fn separate_in_model(model: &mut Element) {
    let mut taken = BTreeSet::new();
    let mut seen: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for child in model.children_mut() {
        let kind = match child.name.as_str() {
            "model" => "model",
            "include" => {
                taken.extend(child.child("name").map(Element::text));
                continue;
            }
            "link" => "link",
            "joint" => "joint",
            "frame" => "frame",
            _ => continue,
        };
        let Some(name) = child.attribute("name").map(|name| name.trim().to_owned()) else {
            continue;
        };
        // Two of one kind are an error that is found later.
        if !seen.insert((kind, name.clone())) {
            continue;
        }
        if kind == "model" || taken.insert(name.clone()) {
            taken.insert(name);
            continue;
        }
        let mut free = format!("{name}_{kind}");
        let mut number = 0;
        while taken.contains(&free) {
            free = format!("{name}_{kind}{number}");
            number += 1;
        }
        child.set_attribute("name", &free);
        taken.insert(free);
    }
}
