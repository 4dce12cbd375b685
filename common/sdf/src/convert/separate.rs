//! Up to 1.6 parts of a model could share a name; as in libsdformat's `Model` the later one of two
//! different kinds gets a suffix, and what refers to the name means the other.

use std::collections::BTreeSet;

use crate::tree::Element;

/// Renames links, joints and frames that have the name of another kind of part.
pub(super) fn separate_names(element: &mut Element) {
    match element.name.as_str() {
        "model" => separate(element, BTreeSet::new()),
        // A frame of a world gives way to later models too.
        "world" => {
            let models = element.children_named("model");
            let names = models.filter_map(|model| model.attribute("name"));
            let taken = names.map(|name| name.trim().to_owned()).collect();
            separate(element, taken);
        }
        _ => {}
    }
    for child in element.children_mut().filter(|child| !child.is_foreign()) {
        separate_names(child);
    }
}

/// Renames the parts of a model or world of which the name is taken when they come.
fn separate(parent: &mut Element, mut taken: BTreeSet<String>) {
    let mut seen: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for child in parent.children_mut() {
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
