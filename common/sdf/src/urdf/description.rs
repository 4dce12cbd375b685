//! A robot's URDF as a description for others, whose links are named as frames of the simulation.

use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};

/// Reason why a text is no description.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    /// It is not well-formed.
    #[error("URDF cannot be read")]
    Xml(#[from] quick_xml::Error),
    /// An element has an attribute that is not well-formed.
    #[error("URDF has an attribute that cannot be read")]
    Attribute(#[from] AttrError),
    /// It cannot be written.
    #[error("URDF cannot be written")]
    Write(#[from] std::io::Error),
}

/// Returns a URDF robot with a prefix before the names of its links, such as `rover/`: joints refer
/// to them, and keep their names. The rest is as it was.
///
/// # Errors
/// Fails if the text is no XML.
pub fn with_prefix(urdf: &str, prefix: &str) -> Result<String, DescriptionError> {
    let mut reader = Reader::from_str(urdf.trim_start_matches('\u{feff}'));
    let mut writer = Writer::new(Vec::with_capacity(urdf.len()));
    // Names of the elements around: links and joints of a robot stand in the outermost one.
    let mut open: Vec<String> = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Eof => break,
            Event::Start(start) => {
                let name = name_of(&start);
                let renamed = renamed(&start, &open, prefix)?;
                writer.write_event(Event::Start(renamed))?;
                open.push(name);
            }
            Event::Empty(start) => {
                let renamed = renamed(&start, &open, prefix)?;
                writer.write_event(Event::Empty(renamed))?;
            }
            Event::End(end) => {
                open.pop();
                writer.write_event(Event::End(end))?;
            }
            other => writer.write_event(other)?,
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

/// Returns an element with the link that it names renamed.
fn renamed<'a>(
    start: &BytesStart<'a>,
    open: &[String],
    prefix: &str,
) -> Result<BytesStart<'a>, AttrError> {
    let name = name_of(start);
    let around: Vec<&str> = open.iter().map(String::as_str).collect();
    let key = match (&around[..], name.as_str()) {
        (["robot"], "link") => "name",
        (["robot", "joint"], "parent" | "child") => "link",
        _ => return Ok(start.clone()),
    };
    let mut element = BytesStart::new(name);
    for attribute in start.attributes() {
        let mut attribute = attribute?;
        if attribute.key.as_ref() == key {
            attribute.value = format!("{prefix}{}", attribute.value).into();
        }
        element.push_attribute(attribute);
    }
    Ok(element)
}

fn name_of(start: &BytesStart<'_>) -> String {
    start.name().into_inner().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_get_the_prefix_wherever_joints_name_them() {
        let urdf = "<?xml version=\"1.0\"?>\n<robot name=\"r\"><!-- <link name=\"no\"/> -->\
            <link name=\"base\"><visual name=\"link\"/></link><link name='a&amp;b'/>\
            <joint name=\"j\" type=\"fixed\"><parent link=\"base\"/><child link=\"a&amp;b\"/>\
            <mimic joint=\"j\"/></joint><transmission><link name=\"base\"/></transmission></robot>";
        let expected = urdf
            .replace("<link name=\"base\"><vis", "<link name=\"r/base\"><vis")
            .replace("<link name='a&amp;b'/>", "<link name=\"r/a&amp;b\"/>")
            .replace("parent link=\"", "parent link=\"r/")
            .replace("child link=\"", "child link=\"r/");
        assert_eq!(with_prefix(urdf, "r/").unwrap(), expected);
        assert!(with_prefix("<robot><link name=></robot>", "r/").is_err());
    }
}
