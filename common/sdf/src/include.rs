//! Puts the models, lights and actors that `<include>`s name in their place in the tree.
//!
//! Each file is read, upgraded and expanded once, however often it is included (`library`). Cycles
//! and explosive growth are errors. What an `<include>` says of its entity is in `overrides` and
//! [`crate::params`].

mod library;
mod overrides;
mod sibling_names;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use library::{Entity, Library};

use crate::merge;
use crate::params;
use crate::read::document::{self, Document};
use crate::report::Report;
use crate::resolve::Resolver;
use crate::tree::{Element, Node};

/// The deepest chain of files that include each other.
const CHAIN_MAX: usize = 32;
/// The deepest nesting of models in models, across files.
const NESTING_MAX: usize = 64;
/// The most elements that all includes of a file may add.
const ADDED_ELEMENTS_MAX: usize = 3_000_000;

/// Replaces all `<include>`s of a file, and returns its `<sdf>` element.
pub(crate) fn expand(document: Document, resolver: &dyn Resolver, report: &mut Report) -> Element {
    expand_within(document, ADDED_ELEMENTS_MAX, resolver, report)
}

fn expand_within(
    mut document: Document,
    added_max: usize,
    resolver: &dyn Resolver,
    report: &mut Report,
) -> Element {
    let mut expander = Expander {
        resolver,
        report,
        chain: vec![document.root.file.to_string()],
        library: Library::default(),
        added: 0,
        added_max,
        nesting: 0,
    };
    expander.expand(&mut document.root, document.names_may_clash);
    expander.report.files.append(&mut expander.library.used);
    document.root
}

struct Expander<'r> {
    resolver: &'r dyn Resolver,
    report: &'r mut Report,
    /// The files being read, each included by the one before.
    chain: Vec<String>,
    library: Library,
    /// The number of elements that includes have added, and the most that they may.
    added: usize,
    added_max: usize,
    nesting: usize,
}

impl Expander<'_> {
    fn expand(&mut self, parent: &mut Element, names_may_clash: bool) {
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
                    self.expand(&mut child, names_may_clash);
                    nodes.push(Node::Element(child));
                }
                Node::Text(_) => nodes.push(node),
            }
        }
        parent.nodes = nodes;
        if names_may_clash {
            sibling_names::separate(parent, self.report);
        }
        self.nesting -= 1;
    }

    fn include(&mut self, include: &Element, parent: &str, nodes: &mut Vec<Node>) {
        let uri = include.child("uri").map(Element::text).unwrap_or_default();
        if uri.is_empty() {
            self.report
                .error("ATTRIBUTE_MISSING", include, "<include> needs a <uri>");
            return;
        }
        let Some(entity) = self.load(include, &uri) else {
            return;
        };
        if !self.may_add(&entity, include) {
            return;
        }
        let mut element = entity.element.clone();
        overrides::apply(&mut element, include, self.report);
        if let Some(changes) = include.child("experimental:params") {
            params::apply(&mut element, changes, self.report);
        }
        if overrides::is_merged(include) {
            nodes.extend(merge::into_parent(element, include, parent, self.report));
        } else {
            nodes.push(Node::Element(element));
        }
    }

    fn may_add(&mut self, entity: &Entity, include: &Element) -> bool {
        if self.nesting + entity.nesting > NESTING_MAX {
            let message = format!("models are nested more than {NESTING_MAX} deep");
            self.report.error("ELEMENT_INVALID", include, message);
            return false;
        }
        let was_full = self.added > self.added_max;
        self.added = self.added.saturating_add(entity.element_count);
        let is_full = self.added > self.added_max;
        if is_full && !was_full {
            let message = format!("includes add more than {} elements", self.added_max);
            self.report.error("ELEMENT_INVALID", include, message);
        }
        !is_full
    }

    /// Returns what the file of an `<include>` holds. A file that is not found is an error at each
    /// include, the errors in one that is broken are told once.
    fn load(&mut self, include: &Element, uri: &str) -> Option<Rc<Entity>> {
        let first_file = &self.chain[0];
        let found = self
            .library
            .find(uri, &include.file, first_file, self.resolver);
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let message = format!("cannot include {uri:?}: {error}");
                self.report.error("URI_LOOKUP", include, message);
                return None;
            }
        };
        if self.library.knows(&found.file) {
            return self.library.entity(&found.file);
        }
        if self.chain.contains(&found.file) {
            let chain = self.chain.join(" > ");
            let message = format!("{uri:?} is included by itself: {chain} > {}", found.file);
            self.report.error("URI_LOOKUP", include, message);
            return None;
        }
        if self.chain.len() == CHAIN_MAX {
            let message = format!("files include each other more than {CHAIN_MAX} deep");
            self.report.error("URI_LOOKUP", include, message);
            return None;
        }
        let entity = self.read(&found.text, &found.file, include);
        self.library.keep(found.file, entity)
    }

    fn read(&mut self, text: &str, file: &str, include: &Element) -> Option<Entity> {
        let mut document = match document::read(text, file, self.report) {
            Ok(document) => document,
            Err(problem) => {
                self.report.errors.push(problem);
                return None;
            }
        };
        self.chain.push(file.to_owned());
        // What is around the include does not matter to a file that is kept for other includes.
        let outer_nesting = std::mem::take(&mut self.nesting);
        self.expand(&mut document.root, document.names_may_clash);
        self.nesting = outer_nesting;
        self.chain.pop();
        library::only_entity(document.root, include, self.report)
    }
}
