//! `<level>`s and `<performer>`s in the world plugin `gz::sim`, which any file name may provide.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Level, Model, Performer};

/// Names of the plugin, present and past.
pub(crate) const PLUGIN_NAMES: [&str; 2] = ["gz::sim", "ignition::gazebo"];

/// Reads all levels and performers of a world.
pub(super) fn read<'t>(
    world: &'t Element,
    models: &'t [Model],
    report: &mut Report,
) -> (Vec<Level>, Vec<Performer>) {
    let mut reader = Reader {
        models: models
            .iter()
            .map(|model| (model.name.as_str(), model))
            .collect(),
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
    models: BTreeMap<&'t str, &'t Model>,
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
            if self.models.contains_key(model.as_str()) {
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
        let reference = element.child("ref").map(Element::text).unwrap_or_default();
        let (code, message) = match self.models.get(reference.as_str()) {
            _ if reference.is_empty() => {
                let message = format!("the performer {name:?} needs a <ref> to a model");
                ("ELEMENT_MISSING", message)
            }
            None => ("ELEMENT_INVALID", self.no_model(name, &reference)),
            Some(model) if model.is_static => {
                report.warn_once("PERFORMER_STATIC", name, element, || {
                    format!(
                        "the performer {name:?} is left out: {reference:?} is static and never \
                         moves; make it a <ref> of a level, or remove its <static>"
                    )
                });
                return;
            }
            Some(_) if self.performing.contains(&reference) => {
                let message = format!("two performers refer to the model {reference:?}");
                ("DUPLICATE_NAME", message)
            }
            Some(model) => {
                let size = if element.child("geometry").is_some() {
                    box_size(element, report)
                } else {
                    box_of_collisions(element, model, report)
                };
                self.performing.insert(reference.clone());
                self.performers.extend(size.map(|size| Performer {
                    name: name.to_owned(),
                    model: reference,
                    size,
                }));
                return;
            }
        };
        report.error(code, element, message);
    }

    fn no_model(&self, performer: &str, reference: &str) -> String {
        let outer = reference.split("::").next().unwrap_or_default();
        if outer != reference && self.models.contains_key(outer) {
            return format!(
                "the performer {performer:?} refers to {reference:?}: a performer is a model of \
                 the world, with all that is in it; refer to {outer:?}"
            );
        }
        format!(
            "the performer {performer:?} refers to {reference:?}, and the world has no such model"
        )
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

/// Returns the box about a model's origin that holds its collisions as the file places them.
fn box_of_collisions(element: &Element, model: &Model, report: &mut Report) -> Option<[f64; 3]> {
    let origin = model.pose.position;
    let half: [f64; 3] = model.collision_bounds().map_or([0.0; 3], |(low, high)| {
        std::array::from_fn(|i| (origin[i] - low[i]).max(high[i] - origin[i]))
    });
    let name = &model.name;
    if half.iter().any(|length| !length.is_finite()) {
        let message = format!(
            "the performer of {name:?} needs a <geometry> with a <box>: the model has no end"
        );
        report.error("ELEMENT_MISSING", element, message);
        return None;
    }
    let size = half.map(|length| 2.0 * length);
    report.warn_once("ELEMENT_MISSING", name, element, || {
        let [x, y, z] = size;
        format!(
            "the performer of {name:?} has no <geometry>: its box is {x:.3} {y:.3} {z:.3}, which \
             holds the collisions of the model"
        )
    });
    Some(size)
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
