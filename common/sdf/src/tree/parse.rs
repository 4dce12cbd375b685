//! XML to [`Element`]s by quick-xml, as lenient and as strict as tinyxml2, which libsdformat uses:
//! `--` in comments, undeclared prefixes, unknown entities and several roots are accepted, a
//! declaration after a comment is not. Entities that a document declares are never expanded, and
//! size and depth are bounded.

use std::sync::Arc;

use compact_str::CompactString;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Element, Node};
use crate::problem::{Problem, SourceSpan};

/// The longest text that is read \[bytes\].
pub const TEXT_BYTES_MAX: usize = 512 << 20;

/// The deepest nesting of elements that is read.
pub const DEPTH_MAX: usize = 256;

/// The most elements of a name in a file: a run has an account of each, so that they are refused
/// before the rest is read.
const COUNTS_MAX: [(&str, usize); 2] = [("performer", 100_000), ("world", 1000)];

/// Reads a document into its root element.
///
/// # Errors
/// Fails if the text is not well-formed, has no root element, is too long or too deep.
pub fn parse(text: &str, file: &str) -> Result<Element, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder {
        cursor: Cursor {
            text,
            offset: 0,
            line: 1,
            column: 1,
        },
        file: Arc::from(file),
        open: Vec::new(),
        root: None,
        has_begun: false,
        loose_text: None,
        splits_text: false,
        counts: [0; 2],
    };
    if text.len() > TEXT_BYTES_MAX {
        return Err(builder.error(0, format!("the file is larger than {TEXT_BYTES_MAX} bytes")));
    }
    if let Some(offset) = text.find('\0') {
        return Err(builder.error(offset, "the file holds a NUL byte, and is no text"));
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().allow_dangling_amp = true;
    reader.config_mut().allow_unmatched_ends = true;
    loop {
        let start = reader.buffer_position() as usize;
        match reader.read_event() {
            Ok(Event::Eof) => return builder.finish(text.len()),
            // tinyxml2 ends a document at a tag that closes nothing.
            Ok(Event::End(_)) if builder.open.is_empty() => return builder.finish(text.len()),
            Ok(event) => builder.take(event, start)?,
            Err(error) => {
                let offset = reader.error_position() as usize;
                return Err(builder.error(offset, error.to_string()));
            }
        }
    }
}

/// The elements that are open, and the finished root.
struct Builder<'t> {
    cursor: Cursor<'t>,
    file: Arc<str>,
    open: Vec<Element>,
    root: Option<Element>,
    /// Something but declarations was there.
    has_begun: bool,
    /// Offset of text that no element holds, if nothing followed it yet \[bytes\].
    loose_text: Option<usize>,
    /// A comment or section ended the text before.
    splits_text: bool,
    /// Number of elements so far, for each of [`COUNTS_MAX`].
    counts: [usize; 2],
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, start: usize) -> Result<(), Problem> {
        match event {
            Event::Start(tag) => {
                let element = self.element(&tag, start)?;
                if self.open.len() == DEPTH_MAX {
                    let message = format!("elements are nested more than {DEPTH_MAX} deep");
                    return Err(self.error(start, message));
                }
                self.open.push(element);
            }
            Event::Empty(tag) => {
                let element = self.element(&tag, start)?;
                self.close(element);
            }
            Event::End(_) => {
                if let Some(element) = self.open.pop() {
                    self.close(element);
                }
            }
            Event::Text(text) => self.text(&text.xml10_content(), start),
            Event::CData(text) => {
                self.splits_text = true;
                self.text(&text.xml10_content(), start);
                self.splits_text = true;
            }
            Event::GeneralRef(name) => {
                let mut text = CompactString::default();
                push_entity(&name.xml10_content(), &mut text);
                self.text(&text, start);
            }
            Event::Comment(_) => {
                self.begin();
                self.splits_text = true;
            }
            Event::DocType(_) => self.begin(),
            Event::Decl(_) | Event::PI(_) => {
                if self.has_begun {
                    let message = "a declaration (<?...?>) may only stand at the start of a file";
                    return Err(self.error(start, message));
                }
            }
            Event::Eof => {}
        }
        Ok(())
    }

    /// Notes that a tag, comment or the like is there.
    fn begin(&mut self) {
        self.has_begun = true;
        self.loose_text = None;
    }

    fn element(&mut self, tag: &BytesStart<'_>, start: usize) -> Result<Element, Problem> {
        self.begin();
        let name = CompactString::from(tag.name().into_inner());
        if !begins_as_name(&name) {
            return Err(self.error(start, format!("{name:?} is no name for an element")));
        }
        let counted = COUNTS_MAX.iter().zip(&mut self.counts);
        let mut counted = counted.filter(|((known, _), _)| *known == name);
        if let Some(((_, maximum), count)) = counted.next() {
            *count += 1;
            if *count > *maximum {
                let message = format!("a file has at most {maximum} elements <{name}>");
                return Err(self.error(start, message));
            }
        }
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| self.error(start, error.to_string()))?;
            let name = attribute.key.into_inner().into();
            attributes.push((name, resolve_entities(&attribute.value)));
        }
        let (line, column) = self.cursor.move_to(start);
        let file = Arc::clone(&self.file);
        Ok(Element {
            name,
            attributes,
            nodes: Vec::new(),
            file,
            line,
            column,
        })
    }

    /// Hands a finished element to its parent. Of several roots SDF counts, and then URDF.
    fn close(&mut self, element: Element) {
        self.splits_text = false;
        if let Some(parent) = self.open.last_mut() {
            parent.nodes.push(Node::Element(element));
            return;
        }
        let rank = |root: &Element| match root.name.as_str() {
            "sdf" => 2,
            "robot" => 1,
            _ => 0,
        };
        if self
            .root
            .as_ref()
            .is_none_or(|root| rank(&element) > rank(root))
        {
            self.root = Some(element);
        }
    }

    fn text(&mut self, text: &str, start: usize) {
        let is_blank = text.trim().is_empty();
        let splits = std::mem::take(&mut self.splits_text);
        let Some(parent) = self.open.last_mut() else {
            if !is_blank {
                self.has_begun = true;
                self.loose_text = Some(start);
            }
            return;
        };
        match parent.nodes.last_mut() {
            Some(Node::Text(before)) if !splits => before.push_str(text),
            // It says nothing, and most elements have some on both sides.
            _ if text.trim_ascii().is_empty() => self.splits_text = splits,
            _ => parent.nodes.push(Node::Text(text.into())),
        }
    }

    fn finish(mut self, end: usize) -> Result<Element, Problem> {
        if let Some(element) = self.open.last() {
            let message = format!("<{}> is never closed", element.name);
            return Err(element.problem("XML_ERROR", message));
        }
        if let Some(start) = self.loose_text {
            return Err(self.error(start, "text stands outside the root element"));
        }
        self.root
            .take()
            .ok_or_else(|| self.error(end, "the file holds no element"))
    }

    fn error(&mut self, offset: usize, message: impl Into<String>) -> Problem {
        let (line, column) = self.cursor.move_to(offset);
        let place = SourceSpan {
            file: Arc::clone(&self.file),
            line,
            column,
        };
        Problem {
            code: "XML_ERROR",
            message: message.into(),
            place,
        }
    }
}

/// Turns growing byte offsets into lines and columns in one pass over the text.
struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
    column: u32,
}

impl Cursor<'_> {
    fn move_to(&mut self, offset: usize) -> (u32, u32) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let passed = self.text.get(self.offset..end).unwrap_or_default();
        let last_line = match passed.rsplit_once('\n') {
            Some((lines, last_line)) => {
                let breaks = lines.bytes().filter(|byte| *byte == b'\n').count();
                self.line += 1 + breaks as u32;
                self.column = 1;
                last_line
            }
            None => passed,
        };
        self.column += last_line.chars().count() as u32;
        self.offset = self.offset.max(end);
        (self.line, self.column)
    }
}

fn resolve_entities(text: &str) -> CompactString {
    let mut whole = CompactString::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        whole.push_str(before);
        let entity = after
            .split_once(';')
            .filter(|(name, _)| is_entity_name(name));
        if let Some((name, after)) = entity {
            push_entity(name, &mut whole);
            rest = after;
        } else {
            whole.push('&');
            rest = after;
        }
    }
    whole.push_str(rest);
    whole
}

/// Tells whether tinyxml2 takes this as the start of a name.
fn begins_as_name(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|first| {
        first.is_ascii_alphabetic() || first == ':' || first == '_' || !first.is_ascii()
    })
}

fn is_entity_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
}

/// Adds the character of an entity; one that XML does not define stays as it was written.
fn push_entity(name: &str, text: &mut CompactString) {
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16)
                .ok()
                .and_then(char::from_u32),
            None => number.parse().ok().and_then(char::from_u32),
        },
        None => match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "apos" => Some('\''),
            "quot" => Some('"'),
            _ => None,
        },
    };
    // XML allows no control characters but these, and a terminal would act on the others.
    let is_text = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    if let Some(character) = code.filter(is_text) {
        text.push(character);
    } else {
        text.push('&');
        text.push_str(name);
        text.push(';');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(xml: &str, expect: &str) {
        let root = parse(xml, "a.sdf").unwrap();
        assert_eq!(root.text(), expect, "{xml}");
    }

    fn check_error(xml: &str, place: (u32, u32)) {
        let problem = parse(xml, "a.sdf").unwrap_err();
        assert_eq!(problem.code, "XML_ERROR");
        assert_eq!(
            (problem.place.line, problem.place.column),
            place,
            "{xml:?} gave {problem}"
        );
    }

    #[test]
    fn a_file_of_too_many_performers_or_worlds_is_refused_where_they_begin() {
        for (name, maximum) in COUNTS_MAX {
            let many = |count: usize| format!("<sdf>{}</sdf>", format!("<{name}/>").repeat(count));
            assert!(parse(&many(maximum), "f").is_ok());
            // What comes after is not looked at: it would be an error of its own.
            let text = many(maximum + 1).replace("</sdf>", "<1>");
            let error = parse(&text, "f").unwrap_err().to_string();
            assert!(
                error.contains(&format!("at most {maximum} elements <{name}>")),
                "{error}"
            );
        }
    }

    #[test]
    fn text_is_put_together_from_text_entities_and_cdata() {
        check_text("<a> x </a>", "x");
        check_text("<a>1 &lt; 2 &#38; &#x41;</a>", "1 < 2 & A");
        check_text("<a>m&#27;[2J</a>", "m&#27;[2J");
        check_text("<a><![CDATA[<b> &amp;]]> c</a>", "<b> &amp;");
        check_text("<a>x<!-- a -- b -->y</a>", "x");
        check_text("<a><!-- first --> x\n  y </a>", "x y");
        check_text("<a>x<!-- c --> &amp;</a>", "x");
        check_text("<a>\u{a0}</a>", "\u{a0}");
        check_text("<a>\n<b/>x</a>", "");
        check_text("<a>fish & chips &unknown;</a>", "fish & chips &unknown;");
    }

    #[test]
    fn a_byte_order_mark_a_declaration_and_undeclared_prefixes_are_accepted() {
        let root = parse(
            "\u{feff}<?xml version=\"1.0\"?>\n<a b:c='&quot;1'><d:e/></a>",
            "f",
        )
        .unwrap();
        assert_eq!(root.attribute("b:c"), Some("\"1"));
        assert_eq!(root.children().next().unwrap().name, "d:e");
    }

    #[test]
    fn elements_know_their_line_and_column_in_characters() {
        let root = parse("<a>\n  <!-- ä -->ö<b/>\n</a>", "f.sdf").unwrap();
        assert_eq!(root.child("b").unwrap().place().to_string(), "f.sdf:2:14");
    }

    #[test]
    fn broken_documents_are_errors_with_a_place() {
        check_error("", (1, 1));
        check_error("  text", (1, 1));
        check_error("<a>\n <b>\n", (2, 2));
        check_error("<a>\n<b></c></a>", (2, 4));
        check_error("<a/>\ntext", (1, 5));
        check_error("<1a/>", (1, 1));
        check_error("<a b=c/>", (1, 1));
        check_error("<!-- a --><?xml version='1.0'?><a/>", (1, 11));
        check_error("<a><?pi?></a>", (1, 4));
        check_error("<a>\0</a>", (1, 4));
        check_error("<a b='1' b='2'/>", (1, 1));
    }

    #[test]
    fn what_tinyxml2_accepts_around_the_root_is_accepted() {
        for xml in [
            "text<sdf/>",
            "<other/><sdf/><robot/>",
            "<sdf/></sdf> anything",
            "<robot/><sdf a='1'b='<'/>",
            "<?xml version='1.0'?><?pi?><!-- c --><sdf/>",
        ] {
            assert_eq!(parse(xml, "f").unwrap().name, "sdf", "{xml}");
        }
    }

    #[test]
    fn declared_entities_are_never_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>";
        check_text(bomb, "&c;");
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(parse(&deep(DEPTH_MAX), "f").is_ok());
        assert!(
            parse(&deep(DEPTH_MAX + 1), "f")
                .unwrap_err()
                .message
                .contains("nested")
        );
    }
}
