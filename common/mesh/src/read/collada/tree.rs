//! [`Element`]: the elements of a Collada file, with an index of their ids.

use std::collections::BTreeMap;
use std::str::FromStr;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::read::MeshProblem;

/// The deepest nesting of elements that is read.
pub(super) const DEPTH_MAX: usize = 256;

/// The most elements that are read.
const ELEMENTS_MAX: usize = 2_000_000;

/// Libraries that shapes do not need; what is in them is passed over. Looks need all but the first,
/// which skeletons need, too.
const PASSED_OVER: [&str; 5] = [
    "library_animations",
    "extra",
    "library_effects",
    "library_images",
    "library_materials",
];

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    pub(super) text: String,
    line: usize,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let (_, value) = attributes.find(|(own, _)| own == name)?;
        Some(value)
    }

    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    pub(super) fn children(&self, name: &str) -> impl DoubleEndedIterator<Item = &Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Reads an attribute that is a number, if it is there.
    pub(super) fn number<N: FromStr>(&self, name: &str) -> Result<Option<N>, MeshProblem> {
        let Some(text) = self.attribute(name) else {
            return Ok(None);
        };
        let number = text.trim().parse();
        let number = number.map_err(|_| self.malformed(format!("{name}={text:?} is no number")))?;
        Ok(Some(number))
    }

    /// Reads the text as numbers.
    pub(super) fn numbers<N: FromStr>(&self) -> Result<Vec<N>, MeshProblem> {
        let read = |word: &str| {
            let number = word.parse();
            number.map_err(|_| self.malformed(format!("{word:?} is not a number that fits")))
        };
        self.text.split_ascii_whitespace().map(read).collect()
    }

    pub(super) fn malformed(&self, message: impl Into<String>) -> MeshProblem {
        MeshProblem::malformed(self.place(), message)
    }

    /// Returns where the element stands.
    pub(super) fn place(&self) -> String {
        format!("line {}, <{}>", self.line, self.name)
    }
}

/// A document and its elements by kind and id.
pub(super) struct Document<'e> {
    pub(super) root: &'e Element,
    by_id: BTreeMap<(&'e str, &'e str), &'e Element>,
}

impl<'e> Document<'e> {
    pub(super) fn new(root: &'e Element) -> Self {
        let mut by_id = BTreeMap::new();
        let mut open = vec![root];
        while let Some(element) = open.pop() {
            if let Some(id) = element.attribute("id") {
                by_id.entry((element.name.as_str(), id)).or_insert(element);
            }
            open.extend(element.children.iter().rev());
        }
        Self { root, by_id }
    }

    /// Returns the element of this kind that an attribute of another refers to, as `#id`.
    pub(super) fn referred(
        &self,
        from: &Element,
        attribute: &str,
        kind: &str,
    ) -> Result<&'e Element, MeshProblem> {
        let Some(url) = from.attribute(attribute) else {
            return Err(from.malformed(format!("it has no {attribute}")));
        };
        self.find(kind, url.strip_prefix('#').unwrap_or(url))
            .ok_or_else(|| from.malformed(format!("there is no <{kind}> with the id {url:?}")))
    }

    pub(super) fn find(&self, kind: &str, id: &str) -> Option<&'e Element> {
        self.by_id.get(&(kind, id)).copied()
    }
}

/// Reads a document into its root element, with what looks and skeletons need or without.
pub(super) fn parse(
    text: &str,
    has_looks: bool,
    has_skeleton: bool,
) -> Result<Element, MeshProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().allow_dangling_amp = true;
    let passed_over = match (has_looks, has_skeleton) {
        (_, true) => &[],
        (true, false) => &PASSED_OVER[..1],
        (false, false) => &PASSED_OVER[..],
    };
    let mut builder = Builder {
        libraries: passed_over,
        ..Builder::default()
    };
    let (mut line, mut counted) = (1, 0);
    loop {
        let start = (reader.buffer_position() as usize).min(text.len());
        let between = &text.as_bytes()[counted..start];
        line += between.split(|byte| *byte == b'\n').count() - 1;
        counted = start;
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => builder.take(event, line)?,
            Err(error) => {
                return Err(MeshProblem::malformed(
                    format!("line {line}"),
                    error.to_string(),
                ));
            }
        }
    }
    match (builder.open.pop(), builder.root) {
        (Some(element), _) => Err(element.malformed("it is never closed")),
        (None, Some(root)) => Ok(root),
        (None, None) => Err(MeshProblem::malformed(
            "line 1",
            "the file holds no element",
        )),
    }
}

#[derive(Default)]
struct Builder {
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
    /// Elements that are passed over.
    libraries: &'static [&'static str],
    /// Depth within such an element.
    passed_over: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), MeshProblem> {
        match event {
            Event::Start(tag) => self.start(&tag, line),
            Event::Empty(tag) => {
                self.start(&tag, line)?;
                self.end();
                Ok(())
            }
            Event::End(_) => {
                self.end();
                Ok(())
            }
            Event::Text(text) => {
                self.text(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                self.text(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::Eof => Ok(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, line: usize) -> Result<(), MeshProblem> {
        let name = tag.name().into_inner();
        if self.passed_over > 0 || self.libraries.contains(&name) {
            self.passed_over += 1;
            return Ok(());
        }
        let mut element = Element {
            name: name.to_owned(),
            line,
            ..Element::default()
        };
        self.elements += 1;
        if self.elements > ELEMENTS_MAX {
            return Err(MeshProblem::TooMany {
                what: "elements",
                maximum: ELEMENTS_MAX,
            });
        }
        if self.open.len() == DEPTH_MAX {
            return Err(element.malformed(format!("nested more than {DEPTH_MAX} deep")));
        }
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| element.malformed(error.to_string()))?;
            let value = unescape(&attribute.value);
            let value = value.map_or_else(|_| attribute.value.to_string(), String::from);
            let key = attribute.key.into_inner().to_owned();
            element.attributes.push((key, value));
        }
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self) {
        if self.passed_over > 0 {
            self.passed_over -= 1;
            return;
        }
        let Some(element) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => {
                self.root.get_or_insert(element);
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.passed_over == 0
            && let Some(element) = self.open.last_mut()
            && !text.trim_ascii().is_empty()
        {
            element.text.push_str(text);
        }
    }
}
