//! SDF text as an untyped tree that keeps every element, attribute and text with its place.
//!
//! It knows nothing of SDF's meaning: [`crate::convert`] and [`crate::include`] rewrite it, and
//! [`crate::read`] reads it. Comments and processing instructions say nothing and are left out.

mod parse;

use std::borrow::Cow;
use std::sync::Arc;

use compact_str::CompactString;

pub use parse::{DEPTH_MAX, TEXT_BYTES_MAX, parse};

use crate::problem::{Problem, SourceSpan};

/// One element.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its name, with its prefix.
    pub name: CompactString,
    /// Names and values of its attributes in file order, entities resolved.
    pub attributes: Vec<(CompactString, CompactString)>,
    /// Its content, in file order.
    pub nodes: Vec<Node>,
    /// The file that it stands in.
    pub file: Arc<str>,
    /// The line of its `<`, from 1.
    pub line: u32,
    /// The column of its `<` in characters, from 1.
    pub column: u32,
}

/// Content of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An element.
    Element(Element),
    /// Text with entities resolved, or what a CDATA section held.
    Text(CompactString),
}

impl Element {
    /// Makes an empty element at the place of another one, for rewriting trees.
    #[must_use]
    pub fn new_at(name: &str, other: &Self) -> Self {
        Self {
            name: name.into(),
            attributes: Vec::new(),
            nodes: Vec::new(),
            file: Arc::clone(&other.file),
            line: other.line,
            column: other.column,
        }
    }

    /// Makes an element that holds text alone.
    #[must_use]
    pub fn with_text_at(name: &str, text: &str, other: &Self) -> Self {
        let mut element = Self::new_at(name, other);
        element.nodes.push(Node::Text(text.into()));
        element
    }

    /// Returns where it stands.
    pub fn place(&self) -> SourceSpan {
        SourceSpan {
            file: Arc::clone(&self.file),
            line: self.line,
            column: self.column,
        }
    }

    /// Makes a problem at its place.
    pub fn problem(&self, code: &'static str, message: impl Into<String>) -> Problem {
        Problem {
            code,
            message: message.into(),
            place: self.place(),
        }
    }

    /// Returns an attribute's value.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns an attribute's value unless it is missing or blank.
    pub fn filled_attribute(&self, name: &str) -> Option<&str> {
        self.attribute(name)
            .map(str::trim)
            .filter(|value| !value.is_empty())
    }

    /// Sets an attribute.
    pub fn set_attribute(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value.into(),
            None => self.attributes.push((name.into(), value.into())),
        }
    }

    /// Removes an attribute and returns its value.
    pub fn take_attribute(&mut self, name: &str) -> Option<CompactString> {
        let index = self.attributes.iter().position(|(key, _)| key == name)?;
        Some(self.attributes.remove(index).1)
    }

    /// Returns the elements in it.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// Returns the elements in it, to be rewritten.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        self.nodes.iter_mut().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// Returns the elements in it that have this name.
    pub fn children_named<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Self> {
        self.children().filter(move |child| child.name == name)
    }

    /// Returns the first element in it that has this name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children().find(|child| child.name == name)
    }

    /// Returns the first element in it that has this name, to be rewritten.
    pub fn child_mut(&mut self, name: &str) -> Option<&mut Self> {
        self.children_mut().find(|child| child.name == name)
    }

    /// Returns the element at the end of a path of first children.
    pub fn descendant(&self, path: &[&str]) -> Option<&Self> {
        path.iter()
            .try_fold(self, |element, name| element.child(name))
    }

    /// Removes the first element in it that has this name and returns it.
    pub fn take_child(&mut self, name: &str) -> Option<Self> {
        let is_it = |node: &Node| matches!(node, Node::Element(child) if child.name == name);
        let index = self.nodes.iter().position(is_it)?;
        match self.nodes.remove(index) {
            Node::Element(child) => Some(child),
            Node::Text(_) => None,
        }
    }

    /// Puts an element in the place of the first one of its name, or at the end.
    pub fn replace_child(&mut self, child: Self) {
        match self.child_mut(&child.name) {
            Some(old) => *old = child,
            None => self.nodes.push(Node::Element(child)),
        }
    }

    /// Returns the text that it begins with, up to a comment or an element, with single spaces:
    /// what tinyxml2 takes as the text of an element.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.nodes.iter().map_while(|node| match node {
            Node::Text(text) => Some(text.trim_ascii()),
            Node::Element(_) => None,
        });
        let text = texts.find(|text| !text.is_empty());
        with_single_spaces(text.unwrap_or_default())
    }

    /// Returns the number of elements in it, itself included.
    pub fn element_count(&self) -> usize {
        1 + self.children().map(Self::element_count).sum::<usize>()
    }

    /// Tells whether it holds another program's content, as `custom:element` and `<plugin>` do.
    pub fn is_foreign(&self) -> bool {
        self.name == "plugin" || self.name.contains(':')
    }
}

/// Returns trimmed text with a single space in place of any other space in it.
fn with_single_spaces(text: &str) -> Cow<'_, str> {
    let mut is_after_space = false;
    let is_single = text.bytes().all(|byte| {
        let is_space = byte.is_ascii_whitespace();
        let is_fine = !is_space || (byte == b' ' && !is_after_space);
        is_after_space = is_space;
        is_fine
    });
    if is_single {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    Cow::Owned(words.join(" "))
}
