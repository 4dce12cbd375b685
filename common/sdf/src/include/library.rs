//! The files that were included, each read once.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::report::Report;
use crate::resolve::{ResolveError, ResolvedFile, Resolver, UsedFile};
use crate::tree::{Element, Node, TEXT_BYTES_MAX};

/// Kinds of elements that a file may hold to be included; of several the first in this order is
/// taken, as in libsdformat.
const KINDS: [&str; 3] = ["model", "actor", "light"];
/// The most bytes in all files that one includes, each as often as it is named in another way.
const BYTES_MAX: usize = 2 * TEXT_BYTES_MAX;

/// Reason why a file cannot be included.
#[derive(Debug, thiserror::Error)]
pub(super) enum IncludeError {
    /// It could not be had.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// All files together are too long.
    #[error("all files that are included have more than {BYTES_MAX} bytes")]
    TooLong,
}

/// A model, light or actor that a file holds.
pub(super) struct Entity {
    /// Its element, includes in it expanded.
    pub(super) element: Element,
    /// The number of elements in it.
    pub(super) element_count: usize,
    /// Depth to which models are nested in it.
    pub(super) nesting: usize,
}

/// Files by name, and names by URI.
#[derive(Default)]
pub(super) struct Library {
    /// File that a URI in a file means, or the reason why it means none.
    names: BTreeMap<(String, String), Result<String, Rc<IncludeError>>>,
    /// Contents of files; `None` for broken ones.
    entities: BTreeMap<String, Option<Rc<Entity>>>,
    /// The files that were found.
    pub(super) used: BTreeSet<UsedFile>,
    /// The number of bytes in all texts.
    bytes: usize,
}

impl Library {
    /// Returns the file that a URI means in a file, or else in the one that is read first, without
    /// its text when it is known.
    pub(super) fn find(
        &mut self,
        uri: &str,
        from_file: &str,
        first_file: &str,
        resolver: &dyn Resolver,
    ) -> Result<ResolvedFile, Rc<IncludeError>> {
        let key = (uri.to_owned(), from_file.to_owned());
        match self.names.get(&key) {
            Some(Ok(file)) if self.entities.contains_key(file) => {
                return Ok(ResolvedFile {
                    text: String::new(),
                    file: file.clone(),
                });
            }
            Some(Err(error)) => return Err(Rc::clone(error)),
            Some(Ok(_)) | None => {}
        }
        let mut place = from_file;
        let found = resolver.read(uri, from_file);
        let found = found.or_else(|error| {
            place = first_file;
            resolver.read(uri, first_file).map_err(|_| error)
        });
        let found = found.map_err(IncludeError::from);
        let found = found.and_then(|found| self.counted(found));
        let found = found.map_err(Rc::new);
        if found.is_ok() {
            self.used.insert(UsedFile {
                uri: uri.to_owned(),
                from_file: place.to_owned(),
                is_data: false,
            });
        }
        let name = found.as_ref().map(|found| found.file.clone());
        self.names.insert(key, name.map_err(Rc::clone));
        found
    }

    /// Returns a file, unless there is too much in all of them.
    fn counted(&mut self, found: ResolvedFile) -> Result<ResolvedFile, IncludeError> {
        self.bytes = self.bytes.saturating_add(found.text.len());
        if self.bytes > BYTES_MAX {
            return Err(IncludeError::TooLong);
        }
        Ok(found)
    }

    /// Tells whether a file was read.
    pub(super) fn knows(&self, file: &str) -> bool {
        self.entities.contains_key(file)
    }

    /// Returns what a file that was read holds; none for a broken one.
    pub(super) fn entity(&self, file: &str) -> Option<Rc<Entity>> {
        self.entities.get(file)?.clone()
    }

    /// Keeps what a file holds, and returns it.
    pub(super) fn keep(&mut self, file: String, entity: Option<Entity>) -> Option<Rc<Entity>> {
        let entity = entity.map(Rc::new);
        self.entities.insert(file, entity.clone());
        entity
    }
}

/// Returns the only model, actor or light of an expanded file.
pub(super) fn only_entity(root: Element, include: &Element, report: &mut Report) -> Option<Entity> {
    let is_entity = |element: &Element| KINDS.contains(&element.name.as_str());
    let mut entities: Vec<Element> = root
        .nodes
        .into_iter()
        .filter_map(|node| match node {
            Node::Element(element) if is_entity(&element) => Some(element),
            Node::Element(_) | Node::Text(_) => None,
        })
        .collect();
    if let Some(second) = entities.get(1) {
        let message = "a file that is included must hold one model, light or actor";
        report.error("ELEMENT_INCORRECT_TYPE", second, message);
    }
    let first = KINDS
        .iter()
        .find_map(|kind| entities.iter().position(|entity| entity.name == *kind));
    let Some(first) = first else {
        let message = "the file included holds no model, light or actor";
        report.error("ELEMENT_MISSING", include, message);
        return None;
    };
    let mut element = entities.swap_remove(first);
    drop_blank_text(&mut element);
    Some(Entity {
        element_count: element.element_count(),
        nesting: model_nesting(&element),
        element,
    })
}

/// Removes the text between elements, which says nothing and would be copied at each include.
fn drop_blank_text(element: &mut Element) {
    element.nodes.retain_mut(|node| match node {
        Node::Element(child) => {
            drop_blank_text(child);
            true
        }
        Node::Text(text) => !text.trim().is_empty(),
    });
    element.nodes.shrink_to_fit();
}

fn model_nesting(element: &Element) -> usize {
    let inner = element.children_named("model").map(model_nesting).max();
    1 + inner.unwrap_or(0)
}
