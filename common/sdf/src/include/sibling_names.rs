//! Up to SDF 1.6 siblings of different kinds could have one name: the later one gets another, as
//! in libsdformat's `Model::Load`. From 1.7 on the same is an error, told where frames are read.

use std::collections::BTreeSet;

use crate::report::Report;
use crate::tree::Element;

/// Gives new names to the links, joints and frames of a model, and to the frames of a world, that
/// have the name of an earlier sibling of another kind.
pub(super) fn separate(parent: &mut Element, report: &mut Report) {
    let is_world = parent.name == "world";
    if !is_world && parent.name != "model" {
        return;
    }
    let mut taken = BTreeSet::new();
    if is_world {
        let models = parent.children_named("model");
        taken.extend(models.filter_map(|model| model.filled_attribute("name").map(str::to_owned)));
    }
    // Kind and name: two siblings of one kind keep their name, and are an error.
    let mut seen = BTreeSet::new();
    for child in parent.children_mut() {
        let kind = match child.name.as_str() {
            "frame" => "frame",
            "model" if !is_world => "model",
            "link" if !is_world => "link",
            "joint" if !is_world => "joint",
            _ => continue,
        };
        let Some(name) = child.filled_attribute("name").map(str::to_owned) else {
            continue;
        };
        if !seen.insert((kind, name.clone())) {
            continue;
        }
        let free = free_name(kind, &name, &taken);
        if free != name {
            let once = child.place().to_string();
            report.warn_once("NAME_CLASH", &once, child, || {
                format!("the {kind} {name:?} has the name of a sibling, and becomes {free:?}")
            });
            child.set_attribute("name", &free);
        }
        taken.insert(free);
    }
}

/// Returns the name itself, or what libsdformat makes of it where it is taken.
fn free_name(kind: &str, name: &str, taken: &BTreeSet<String>) -> String {
    if kind == "model" || !taken.contains(name) {
        return name.to_owned();
    }
    let with_kind = format!("{name}_{kind}");
    if !taken.contains(&with_kind) {
        return with_kind;
    }
    let mut numbered = (0..).map(|number| format!("{with_kind}{number}"));
    numbered
        .find(|name| !taken.contains(name))
        .expect("finitely many names are taken")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn check(text: &str, expect: &[&str]) {
        let mut root = parse(text, "f").unwrap();
        let mut report = Report::default();
        separate(&mut root, &mut report);
        let names: Vec<_> = root
            .children()
            .filter_map(|child| child.attribute("name"))
            .collect();
        assert_eq!(names, expect, "{text}");
        let renamed = expect.iter().filter(|name| name.contains('_')).count();
        assert!(report.warnings.len() <= renamed, "{:?}", report.warnings);
    }

    #[test]
    fn later_parts_give_way_to_earlier_ones() {
        check(
            "<model name='m'><frame name='a'/><model name='b'/><link name='a'/>\
             <link name='a_link'/><joint name='a'/><link name='b'/></model>",
            &["a", "b", "a_link", "a_link_link", "a_joint", "b_link"],
        );
    }

    #[test]
    fn a_frame_of_a_world_gives_way_to_all_models() {
        check(
            "<world name='w'><frame name='a'/><model name='a'/></world>",
            &["a_frame", "a"],
        );
    }

    #[test]
    fn two_of_one_kind_keep_their_name() {
        check(
            "<model name='m'><link name='a'/><link name='a'/></model>",
            &["a", "a"],
        );
    }
}
