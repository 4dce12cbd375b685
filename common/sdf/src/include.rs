//! Puts the models that `<include>`s name in their place in the tree.
//!
//! Each file is read, upgraded and expanded once, however often it is included. Cycles and
//! explosive growth are errors.

use std::collections::BTreeMap;

use crate::convert;
use crate::merge;
use crate::report::Report;
use crate::resolve::Resolver;
use crate::tree::{self, Element, Node};
use crate::urdf;

/// The deepest chain of files that include each other.
const CHAIN_MAX: usize = 32;
/// The deepest nesting of models in models, across files.
const NESTING_MAX: usize = 64;
/// The most elements that all includes of a file may add.
const ADDED_ELEMENTS_MAX: usize = 20_000_000;

/// Replaces all `<include>`s under an upgraded `<sdf>` element.
pub(crate) fn expand(root: &mut Element, resolver: &dyn Resolver, report: &mut Report) {
    let chain = vec![root.file.to_string()];
    let mut expander = Expander {
        resolver,
        report,
        chain,
        known: BTreeMap::new(),
        added: 0,
        nesting: 0,
    };
    expander.expand(root);
}

struct Expander<'r> {
    resolver: &'r dyn Resolver,
    report: &'r mut Report,
    /// The files being read, each included by the one before.
    chain: Vec<String>,
    /// What was included, by URI and including file; `None` where it failed.
    known: BTreeMap<(String, String), Option<Entity>>,
    added: usize,
    nesting: usize,
}

/// A model, light or actor that a file holds.
#[derive(Clone)]
struct Entity {
    element: Element,
    element_count: usize,
    nesting: usize,
}

impl Expander<'_> {
    fn expand(&mut self, parent: &mut Element) {
        if !matches!(parent.name.as_str(), "sdf" | "world" | "model") {
            return;
        }
        self.nesting += 1;
        let mut nodes = Vec::with_capacity(parent.nodes.len());
        for node in std::mem::take(&mut parent.nodes) {
            match node {
                Node::Element(include) if include.name == "include" => {
                    self.include(&include, &parent.name, &mut nodes);
                }
                Node::Element(mut child) => {
                    self.expand(&mut child);
                    nodes.push(Node::Element(child));
                }
                Node::Text(_) => nodes.push(node),
            }
        }
        parent.nodes = nodes;
        self.nesting -= 1;
    }

    fn include(&mut self, include: &Element, parent: &str, nodes: &mut Vec<Node>) {
        let uri = include.child("uri").map(Element::text).unwrap_or_default();
        if uri.is_empty() {
            self.report
                .error("ELEMENT_MISSING", include, "<include> needs a <uri>");
            return;
        }
        let Some(entity) = self.load(include, &uri) else {
            return;
        };
        if self.nesting + entity.nesting > NESTING_MAX {
            let message = format!("models are nested more than {NESTING_MAX} deep");
            self.report.error("ELEMENT_INVALID", include, message);
            return;
        }
        self.added += entity.element_count;
        if self.added > ADDED_ELEMENTS_MAX {
            if self.added - entity.element_count <= ADDED_ELEMENTS_MAX {
                let message = format!("includes add more than {ADDED_ELEMENTS_MAX} elements");
                self.report.error("ELEMENT_INVALID", include, message);
            }
            return;
        }
        if let Some(params) = include.child("experimental:params") {
            self.report
                .warn_once("UNSUPPORTED_ELEMENT", "experimental:params", params, || {
                    "<experimental:params> is not supported: the model is included unchanged"
                        .to_owned()
                });
        }
        let mut element = entity.element;
        override_parts(&mut element, include);
        if include
            .filled_attribute("merge")
            .is_some_and(|merge| merge == "true" || merge == "1")
        {
            match merge::into_parent(element, include, parent) {
                Ok(merged) => nodes.extend(merged),
                Err(problem) => self.report.errors.push(problem),
            }
        } else {
            nodes.push(Node::Element(element));
        }
    }

    fn load(&mut self, include: &Element, uri: &str) -> Option<Entity> {
        let key = (uri.to_owned(), include.file.to_string());
        if !self.known.contains_key(&key) {
            let entity = self.read(include, uri).map(|element| {
                let element_count = element.element_count();
                let nesting = model_nesting(&element);
                Entity {
                    element,
                    element_count,
                    nesting,
                }
            });
            self.known.insert(key.clone(), entity);
        } else if self.known[&key].is_none() {
            let message = format!("the model {uri:?} cannot be included, as said before");
            self.report.error("URI_LOOKUP", include, message);
        }
        self.known[&key].clone()
    }

    fn read(&mut self, include: &Element, uri: &str) -> Option<Element> {
        let found = match self.resolver.read(uri, &include.file) {
            Ok(found) => found,
            Err(error) => {
                let message = format!("cannot include {uri:?}: {error}");
                self.report.error("URI_LOOKUP", include, message);
                return None;
            }
        };
        if self.chain.contains(&found.file) || self.chain.len() == CHAIN_MAX {
            let message = format!("{uri:?} is included by itself: {}", self.chain.join(" > "));
            self.report.error("URI_LOOKUP", include, message);
            return None;
        }
        let parsed = tree::parse(&found.text, &found.file)
            .and_then(|root| {
                if urdf::is_robot(&root) {
                    urdf::to_sdf(&found.text, &found.file)
                } else {
                    Ok(root)
                }
            })
            .and_then(|mut root| convert::upgrade(&mut root).map(|()| root));
        let mut root = match parsed {
            Ok(root) => root,
            Err(problem) => {
                self.report.errors.push(problem);
                return None;
            }
        };
        self.chain.push(found.file);
        self.expand(&mut root);
        self.chain.pop();
        self.only_entity(root, include)
    }

    fn only_entity(&mut self, root: Element, include: &Element) -> Option<Element> {
        let is_entity =
            |element: &Element| matches!(element.name.as_str(), "model" | "light" | "actor");
        let mut entities: Vec<Element> = root
            .nodes
            .into_iter()
            .filter_map(|node| match node {
                Node::Element(element) if is_entity(&element) => Some(element),
                _ => None,
            })
            .collect();
        if entities.len() > 1 {
            let message = "a file that is included must hold one model, light or actor";
            self.report
                .error("ELEMENT_INCORRECT_TYPE", &entities[1], message);
        }
        if entities.is_empty() {
            let message = "the file included holds no model, light or actor";
            self.report.error("ELEMENT_MISSING", include, message);
            return None;
        }
        Some(entities.swap_remove(0))
    }
}

fn model_nesting(element: &Element) -> usize {
    1 + element
        .children_named("model")
        .map(model_nesting)
        .max()
        .unwrap_or(0)
}

/// Lets an `<include>` have the last word on name, pose, placement, static and plugins.
fn override_parts(entity: &mut Element, include: &Element) {
    if let Some(name) = include
        .child("name")
        .map(Element::text)
        .filter(|name| !name.is_empty())
    {
        entity.set_attribute("name", &name);
    }
    // An error found in the model is shown at its own line, the entity itself at the include.
    (entity.file, entity.line, entity.column) =
        (include.file.clone(), include.line, include.column);
    for part in ["pose", "static"] {
        if let Some(element) = include.child(part) {
            entity.replace_child(element.clone());
        }
    }
    if let Some(frame) = include.child("placement_frame").map(Element::text) {
        entity.set_attribute("placement_frame", &frame);
    }
    for plugin in include.children_named("plugin") {
        entity.nodes.push(Node::Element(plugin.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{ResolveError, ResolvedFile};

    /// Files by name.
    struct Files(Vec<(&'static str, &'static str)>);

    impl Resolver for Files {
        fn read(&self, uri: &str, _from: &str) -> Result<ResolvedFile, ResolveError> {
            let file = self.0.iter().find(|(name, _)| *name == uri);
            let (name, text) =
                file.ok_or_else(|| ResolveError::NotFound("no such file".to_owned()))?;
            Ok(ResolvedFile {
                text: (*text).to_owned(),
                file: (*name).to_owned(),
            })
        }
    }

    fn expanded(content: &str, files: &[(&'static str, &'static str)]) -> (Element, Report) {
        let text = format!("<sdf version='1.10'><world name='w'>{content}</world></sdf>");
        let mut root = tree::parse(&text, "top.sdf").unwrap();
        let mut report = Report::default();
        expand(&mut root, &Files(files.to_vec()), &mut report);
        (root, report)
    }

    #[test]
    fn an_include_overrides_name_pose_and_static() {
        let model = "<sdf version='1.6'><model name='m'><pose frame='x'>9 9 9 0 0 0</pose>\
                     <link name='l'/></model></sdf>";
        let include = "<include><uri>m</uri><name>n</name><pose>1 2 3 0 0 0</pose>\
                       <static>true</static></include>";
        let (root, report) = expanded(include, &[("m", model)]);
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        let model = root.descendant(&["world", "model"]).unwrap();
        assert_eq!(model.attribute("name"), Some("n"));
        assert_eq!(model.child("pose").unwrap().text(), "1 2 3 0 0 0");
        assert_eq!(model.child("static").unwrap().text(), "true");
        assert!(model.child("link").is_some());
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_the_uri_at_each_include() {
        let (_, report) = expanded("<include><uri>gone</uri></include>".repeat(2).as_str(), &[]);
        assert_eq!(report.errors.len(), 2);
        assert!(report.errors.iter().all(|error| error.code == "URI_LOOKUP"));
        assert!(
            report
                .errors
                .iter()
                .all(|error| error.message.contains("\"gone\""))
        );
    }

    #[test]
    fn a_file_that_includes_itself_is_an_error() {
        let model = "<sdf version='1.10'><model name='m'><include><uri>m</uri></include>\
                     </model></sdf>";
        let (_, report) = expanded("<include><uri>m</uri></include>", &[("m", model)]);
        assert_eq!(report.errors.len(), 1, "{:?}", report.errors);
        assert!(
            report.errors[0].message.contains("by itself"),
            "{}",
            report.errors[0]
        );
    }

    #[test]
    fn a_file_with_two_models_or_none_cannot_be_included() {
        for (text, code) in [
            (
                "<sdf version='1.10'><model/><model/></sdf>",
                "ELEMENT_INCORRECT_TYPE",
            ),
            ("<sdf version='1.10'/>", "ELEMENT_MISSING"),
            ("<sdf", "XML_ERROR"),
        ] {
            let (_, report) = expanded("<include><uri>m</uri></include>", &[("m", text)]);
            assert_eq!(report.errors[0].code, code, "{text}");
        }
    }
}
