//! `<level>`s and `<performer>`s in the world plugin `gz::sim`, which any file name may provide.
//!
//! libsdformat reads no plugin, so that nothing in one makes a file wrong but text that is no
//! number where one belongs: what cannot be is told, and left out or replaced.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Level, Model, Performer};

/// Names of the plugin, present and past.
pub(crate) const PLUGIN_NAMES: [&str; 2] = ["gz::sim", "ignition::gazebo"];

/// Reason why a level or performer has no box of its own. The text follows it in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum BoxError {
    /// It has no geometry at all.
    #[error("it has no <geometry>")]
    NoGeometry,
    /// It has no box.
    #[error("it has no <geometry> with a <box>")]
    NoBox,
    /// The box has no size.
    #[error("its <box> has no <size>")]
    NoSize,
    /// An edge of the box has no length.
    #[error("the edges of its <box> are not greater than zero")]
    Edges,
}

/// Reason why a performer is of no model. The text follows it in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PerformerError {
    /// It names none.
    #[error("it needs a <ref> to a model")]
    NoReference,
    /// It names one within another.
    #[error(
        "it refers to {reference:?}, and a performer is a model of the world, with all that is in \
         it; refer to {outer:?}"
    )]
    Nested {
        /// The name.
        reference: String,
        /// The model of the world that it is in.
        outer: String,
    },
    /// It names one that is not there.
    #[error("it refers to {reference:?}, and the world has no such model")]
    NoModel {
        /// The name.
        reference: String,
    },
    /// Another performer is of this model.
    #[error("another performer refers to the model {reference:?} already")]
    Duplicate {
        /// The name.
        reference: String,
    },
    /// Nothing of the model can be moved.
    #[error("{reference:?} is static and has no link that could be moved")]
    Immovable {
        /// The name.
        reference: String,
    },
}

impl PerformerError {
    /// Returns the code of the warning.
    fn code(&self) -> &'static str {
        match self {
            Self::NoReference => "ELEMENT_MISSING",
            Self::Nested { .. } | Self::NoModel { .. } => "ELEMENT_INVALID",
            Self::Duplicate { .. } => "DUPLICATE_NAME",
            Self::Immovable { .. } => "PERFORMER_STATIC",
        }
    }
}

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
    names: BTreeSet<(&'t str, String)>,
    /// Models that are performers.
    performing: BTreeSet<String>,
    levels: Vec<Level>,
    performers: Vec<Performer>,
}

impl<'t> Reader<'t> {
    fn level(&mut self, element: &'t Element, report: &mut Report) {
        let name = self.new_name(element, report);
        let size = match box_size(element, report) {
            Ok(size) => size,
            Err(error) => {
                report.warn_once("ELEMENT_MISSING", &format!("level {name}"), element, || {
                    format!("the level {name:?} is left out: {error}")
                });
                return;
            }
        };
        let mut models = Vec::new();
        for reference in element.children_named("ref") {
            let model = reference.text();
            if self.models.contains_key(&*model) {
                if !models.iter().any(|known| *known == model) {
                    models.push(model.into_owned());
                }
            } else if !self.others.contains(&*model) {
                let key = format!("level {name} ref {model}");
                report.warn_once("ELEMENT_INVALID", &key, reference, || {
                    format!(
                        "the level {name:?} refers to {model:?}, and the world has no such model: \
                         nothing follows from it"
                    )
                });
            }
        }
        let (pose, _) = value::pose(element, report);
        let buffer = buffer(element, &name, report);
        let center = pose.position;
        self.levels.push(Level {
            name,
            center,
            size,
            buffer,
            models,
        });
    }

    fn performer(&mut self, element: &'t Element, report: &mut Report) {
        let name = self.new_name(element, report);
        let reference = element.child("ref").map(Element::text).unwrap_or_default();
        let reference = reference.into_owned();
        let model = match self.model_of_performer(&reference) {
            Ok(model) => model,
            Err(error) => {
                report.warn_once(error.code(), &format!("performer {name}"), element, || {
                    format!("the performer {name:?} is left out: {error}")
                });
                return;
            }
        };
        let declared = match element.child("geometry") {
            Some(_) => box_size(element, report),
            None => Err(BoxError::NoGeometry),
        };
        let size = match declared {
            Ok(size) => Some(size),
            Err(error) => box_of_collisions(element, model, error, report),
        };
        self.performing.insert(reference.clone());
        self.performers.extend(size.map(|size| Performer {
            name,
            model: reference,
            size,
        }));
    }

    /// Returns the model that a performer refers to.
    fn model_of_performer(&self, name: &str) -> Result<&'t Model, PerformerError> {
        let reference = name.to_owned();
        let Some(model) = self.models.get(name).copied() else {
            let outer = name.split("::").next().unwrap_or_default();
            return Err(if name.is_empty() {
                PerformerError::NoReference
            } else if outer != name && self.models.contains_key(outer) {
                let outer = outer.to_owned();
                PerformerError::Nested { reference, outer }
            } else {
                PerformerError::NoModel { reference }
            });
        };
        if self.performing.contains(name) {
            return Err(PerformerError::Duplicate { reference });
        }
        if model.is_static && model.links.is_empty() {
            return Err(PerformerError::Immovable { reference });
        }
        Ok(model)
    }

    /// Returns the name of a level or performer, another one where it has none of its own.
    fn new_name(&mut self, element: &'t Element, report: &mut Report) -> String {
        let kind = element.name.as_str();
        let own = element.filled_attribute("name");
        let is_new = |name: &str| !self.names.contains(&(kind, name.to_owned()));
        let name = match own {
            Some(name) if is_new(name) => name.to_owned(),
            _ => {
                let base = own.unwrap_or(kind);
                let mut names = (2..).map(|number| format!("{base}_{number}"));
                let name = names.find(|name| is_new(name));
                let name = name.expect("numbers go on for longer than elements");
                let code = if own.is_some() {
                    "DUPLICATE_NAME"
                } else {
                    "ATTRIBUTE_MISSING"
                };
                report.warn_once(code, &format!("{kind} {name}"), element, || match own {
                    Some(own) => format!("there are two {kind}s named {own:?}: this is {name:?}"),
                    None => format!("a <{kind}> needs a name: this is {name:?}"),
                });
                name
            }
        };
        self.names.insert((kind, name.clone()));
        name
    }
}

/// Returns the width of a level's buffer \[m\].
fn buffer(element: &Element, name: &str, report: &mut Report) -> f64 {
    let buffer = value::number(element, "buffer", 0.0, report);
    if buffer >= 0.0 {
        return buffer;
    }
    let place = element.child("buffer").unwrap_or(element);
    let key = format!("level {name} buffer");
    report.warn_once("ELEMENT_INVALID", &key, place, || {
        format!("the <buffer> of the level {name:?} cannot be negative: it is 0")
    });
    0.0
}

/// Returns the box about a model's origin that holds its collisions as the file places them.
fn box_of_collisions(
    element: &Element,
    model: &Model,
    error: BoxError,
    report: &mut Report,
) -> Option<[f64; 3]> {
    let origin = model.pose.position;
    let half: [f64; 3] = model.collision_bounds().map_or([0.0; 3], |(low, high)| {
        std::array::from_fn(|i| (origin[i] - low[i]).max(high[i] - origin[i]))
    });
    let name = &model.name;
    if half.iter().any(|length| !length.is_finite()) {
        report.warn_once("ELEMENT_MISSING", name, element, || {
            format!(
                "the performer of {name:?} is left out: {error}, and the model has no end; \
                 give it a <geometry> with a <box>"
            )
        });
        return None;
    }
    let size = half.map(|length| 2.0 * length);
    report.warn_once("ELEMENT_MISSING", name, element, || {
        let [x, y, z] = size;
        format!(
            "the performer of {name:?}: {error}; its box is {x:.3} {y:.3} {z:.3}, which holds \
             the collisions of the model"
        )
    });
    Some(size)
}

/// Returns the edge lengths of the box of a level or performer \[m\].
fn box_size(element: &Element, report: &mut Report) -> Result<[f64; 3], BoxError> {
    let shape = element.descendant(&["geometry", "box"]);
    let shape = shape.ok_or(BoxError::NoBox)?;
    if shape.child("size").is_none() {
        return Err(BoxError::NoSize);
    }
    let size = value::numbers(shape, "size", [1.0; 3], report);
    if size.iter().any(|edge| *edge <= 0.0) {
        return Err(BoxError::Edges);
    }
    Ok(size)
}
