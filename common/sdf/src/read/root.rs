//! Checks the content of a file's `<sdf>` element as libsdformat's `Root::Load` does.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{complete, levels, world};
use crate::report::Report;
use crate::resolve::Resolver;
use crate::tree::{Element, Node};
use crate::world::World;

/// Elements that a file may hold instead of worlds, at most one of them.
const ENTITIES: [&str; 3] = ["model", "light", "actor"];
/// The name of the world around the only model, light or actor of a file, as in Gazebo.
const DEFAULT_WORLD: &str = "default";

/// Puts the only model, light or actor of a file without worlds into a world of its own, and tells
/// whether that was done.
pub(super) fn give_world(root: &mut Element, report: &mut Report) -> bool {
    check_entities(root, report);
    if root.child("world").is_some() {
        return false;
    }
    let entities = ENTITIES
        .into_iter()
        .filter_map(|name| root.take_child(name));
    let Some(entity) = entities.collect::<Vec<_>>().into_iter().next() else {
        report.warn_once("ELEMENT_MISSING", "world", root, || {
            "the file holds no world, model, light or actor: there is nothing to run".to_owned()
        });
        return false;
    };
    let mut world = Element::new_at("world", root);
    world.set_attribute("name", DEFAULT_WORLD);
    world.nodes.push(Node::Element(entity));
    root.nodes.push(Node::Element(world));
    true
}

fn check_entities(root: &Element, report: &mut Report) {
    let mut kind = None;
    for name in ENTITIES {
        let mut names = BTreeSet::new();
        for (index, element) in root.children_named(name).enumerate() {
            let own = element.attribute("name").unwrap_or_default();
            if !names.insert(own) {
                let message = format!("there are two {name}s named {own:?}");
                report.error("DUPLICATE_NAME", element, message);
            } else if index > 0 {
                let message = format!("a file holds at most one {name}; put more into a <world>");
                report.error("ELEMENT_INCORRECT_TYPE", element, message);
            }
        }
        if let Some(element) = root.child(name) {
            match kind {
                None => kind = Some(name),
                Some(kind) => {
                    let message = format!("a file with a {kind} cannot hold a {name} as well");
                    report.error("ELEMENT_INCORRECT_TYPE", element, message);
                }
            }
        }
    }
}

/// Reads all worlds of a file.
pub(super) fn read_worlds(
    root: &Element,
    resolver: &dyn Resolver,
    report: &mut Report,
) -> Vec<World> {
    let mut names = BTreeSet::new();
    let mut worlds = Vec::new();
    for element in root.children_named("world") {
        let world = read_world(element, resolver, report);
        if !names.insert(world.name.clone()) {
            let message = format!("there are two worlds named {:?}", world.name);
            report.error("DUPLICATE_NAME", element, message);
        }
        worlds.push(world);
    }
    if !worlds.is_empty() {
        check_stray_model(root, resolver, report);
    }
    worlds
}

fn read_world(element: &Element, resolver: &dyn Resolver, report: &mut Report) -> World {
    let mut world = world::read(element, report);
    complete::complete(element, &mut world, resolver, report);
    (world.levels, world.performers) = levels::read(element, &world.models, report);
    let performers = world.performers.iter();
    let performing: BTreeSet<&str> = performers.map(|one| one.model.as_str()).collect();
    for model in &mut world.models {
        // Commands move a static performer, and its links never move by themselves.
        model.is_static &= !performing.contains(model.name.as_str());
    }
    world
}

/// A model beside worlds is checked and not used.
fn check_stray_model(root: &Element, resolver: &dyn Resolver, report: &mut Report) {
    let Some(entity) = ENTITIES.into_iter().find_map(|name| root.child(name)) else {
        return;
    };
    let name = &entity.name;
    report.warn_once(
        "UNSUPPORTED_ELEMENT",
        &format!("sdf/{name}"),
        entity,
        || format!("the {name} beside the worlds of the file is in none of them and is left out"),
    );
    let mut world = Element::new_at("world", entity);
    world.set_attribute("name", DEFAULT_WORLD);
    world.nodes.push(Node::Element(entity.clone()));
    read_world(&world, resolver, report);
}
