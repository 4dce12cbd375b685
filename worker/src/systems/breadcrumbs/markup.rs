//! SDF text of what breadcrumbs bring into a world.

use sdf::{Content, ContentNode};

/// The only link of what holds a copy in its place.
pub(super) const HOLDER_LINK: &str = "static_link";

/// Returns an element as text.
pub(super) fn write(element: &Content) -> String {
    let mut text = String::new();
    add(element, &mut text);
    text
}

/// Returns a static model without shapes.
pub(super) fn holder(name: &str) -> String {
    let mut text = "<sdf version='1.6'><model name='".to_owned();
    add_escaped(name, &mut text);
    text += "'><static>true</static><link name='";
    text += HOLDER_LINK;
    text += "'/></model></sdf>";
    text
}

fn add(element: &Content, text: &mut String) {
    text.push('<');
    text.push_str(&element.name);
    for (name, value) in &element.attributes {
        text.push(' ');
        text.push_str(name);
        text.push_str("='");
        add_escaped(value, text);
        text.push('\'');
    }
    text.push('>');
    for node in &element.nodes {
        match node {
            ContentNode::Element(child) => add(child, text),
            ContentNode::Text(content) => add_escaped(content, text),
        }
    }
    text.push_str("</");
    text.push_str(&element.name);
    text.push('>');
}

fn add_escaped(content: &str, text: &mut String) {
    for character in content.chars() {
        match character {
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            '\'' => text.push_str("&apos;"),
            '"' => text.push_str("&quot;"),
            // Blanks in attributes would be read as spaces.
            '\n' | '\r' | '\t' => {
                text.push_str("&#");
                text.push_str(&(character as u32).to_string());
                text.push(';');
            }
            other => text.push(other),
        }
    }
}
