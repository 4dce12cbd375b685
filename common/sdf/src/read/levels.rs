//! `<level>`s and `<performer>`s in the world plugin `gz::sim`, which any file name may provide.

use std::collections::BTreeSet;

use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Level, Model, Performer};

/// Names of the plugin, present and past.
pub(crate) const PLUGIN_NAMES: [&str; 2] = ["gz::sim", "ignition::gazebo"];

/// Reads all levels and performers of a world.
pub(super) fn read(
    world: &Element,
    models: &[Model],
    report: &mut Report,
) -> (Vec<Level>, Vec<Performer>) {
    let mut reader = Reader {
        models: models.iter().map(|model| model.name.as_str()).collect(),
        others: world
            .children()
            .filter(|child| child.name == "light" || child.name == "actor")
            .filter_map(|child| child.attribute("name"))
            .collect(),
        names: BTreeSet::new(),
        performing: BTreeSet::new(),
        levels: Vec::new(),
        performers: Vec::new(),
    };
    let is_it = |plugin: &&Element| {
        plugin
            .attribute("name")
            .is_some_and(|name| PLUGIN_NAMES.contains(&name))
    };
    for plugin in world.children_named("plugin").filter(is_it) {
        for element in plugin.children_named("performer") {
            reader.performer(element, report);
        }
        for element in plugin.children_named("level") {
            reader.level(element, report);
        }
    }
    (reader.levels, reader.performers)
}

struct Reader<'t> {
    models: BTreeSet<&'t str>,
    /// Lights and actors: a level may refer to them, and nothing follows from it.
    others: BTreeSet<&'t str>,
    /// Element name and name of what was read.
    names: BTreeSet<(&'t str, &'t str)>,
    /// Models that are performers.
    performing: BTreeSet<String>,
    levels: Vec<Level>,
    performers: Vec<Performer>,
}

impl<'t> Reader<'t> {
    fn level(&mut self, element: &'t Element, report: &mut Report) {
        let Some(name) = self.new_name(element, report) else {
            return;
        };
        let Some(size) = box_size(element, report) else {
            return;
        };
        let mut models = Vec::new();
        for reference in element.children_named("ref") {
            let model = reference.text();
            if self.models.contains(model.as_str()) {
                if !models.contains(&model) {
                    models.push(model);
                }
            } else if !self.others.contains(model.as_str()) {
                let message = format!(
                    "the level {name:?} refers to {model:?}, and the world has \
                    no such model"
                );
                report.error("ELEMENT_INVALID", reference, message);
            }
        }
        let (pose, _) = value::pose(element, report);
        let buffer = value::number_from_zero(element, "buffer", 0.0, report);
        let center = pose.position;
        self.levels.push(Level {
            name: name.to_owned(),
            center,
            size,
            buffer,
            models,
        });
    }

    fn performer(&mut self, element: &'t Element, report: &mut Report) {
        let Some(name) = self.new_name(element, report) else {
            return;
        };
        let size = box_size(element, report);
        let model = element.child("ref").map(Element::text).unwrap_or_default();
        if model.is_empty() {
            let message = format!("the performer {name:?} needs a <ref> to a model");
            report.error("ELEMENT_MISSING", element, message);
        } else if !self.models.contains(model.as_str()) {
            let message = format!(
                "the performer {name:?} refers to {model:?}, and the world has \
                no such model"
            );
            report.error("ELEMENT_INVALID", element, message);
        } else if !self.performing.insert(model.clone()) {
            let message = format!("two performers refer to the model {model:?}");
            report.error("DUPLICATE_NAME", element, message);
        } else if let Some(size) = size {
            self.performers.push(Performer {
                name: name.to_owned(),
                model,
                size,
            });
        }
    }

    fn new_name(&mut self, element: &'t Element, report: &mut Report) -> Option<&'t str> {
        let name = value::name(element, report)?;
        if self.names.insert((&element.name, name)) {
            return Some(name);
        }
        let message = format!("there are two {}s named {name:?}", element.name);
        report.error("DUPLICATE_NAME", element, message);
        None
    }
}

fn box_size(element: &Element, report: &mut Report) -> Option<[f64; 3]> {
    let Some(shape) = element.descendant(&["geometry", "box"]) else {
        let message = format!("<{}> needs a <geometry> with a <box>", element.name);
        report.error("ELEMENT_MISSING", element, message);
        return None;
    };
    if shape.child("size").is_none() {
        report.error("ELEMENT_MISSING", shape, "<box> needs a <size>");
        return None;
    }
    Some(value::positive(shape, "size", [1.0; 3], report))
}
