//! Content that the reader keeps without judging physics: plugins, sensors, and the untyped content
//! in them.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use crate::pose::Pose;
use crate::problem::WrittenAt;
use crate::tree::{Element, Node};

/// An element with everything in it, as the file has it after upgrades.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// Its name, with its prefix.
    pub name: CompactString,
    /// Names and values of its attributes in file order.
    pub attributes: Vec<(CompactString, CompactString)>,
    /// Its content, in file order; text between elements that is blank is left out.
    pub nodes: Vec<ContentNode>,
    /// Its place.
    #[serde(skip)]
    pub place: WrittenAt,
}

/// Content of an element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ContentNode {
    /// An element.
    Element(Content),
    /// Text, trimmed.
    Text(CompactString),
}

/// A `<plugin>`: behaviour attached to a world, model, link, joint, sensor or visual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plugin {
    /// Its function: `gz::sim::systems::DiffDrive`.
    pub name: String,
    /// The library that Gazebo would load.
    pub filename: String,
    /// The element with its parameters.
    pub content: Content,
}

/// A `<sensor>` of a link or joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensor {
    /// Its name within its link or joint.
    pub name: String,
    /// Its type: `imu`, `gpu_lidar`.
    pub kind: String,
    /// Pose in the frame of its link or joint.
    pub pose: Pose,
    /// Measurements per simulated second \[Hz\]; 0 is every step.
    pub update_rate: f64,
    /// Topic on which it publishes; empty for the one that follows from its name.
    pub topic: String,
    /// True if it measures without subscribers.
    pub always_on: bool,
    /// The element with its parameters.
    pub content: Content,
}

impl Content {
    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let (_, value) = attributes.find(|(key, _)| key == name)?;
        Some(value)
    }

    /// Returns the elements in it.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        self.nodes.iter().filter_map(|node| match node {
            ContentNode::Element(element) => Some(element),
            ContentNode::Text(_) => None,
        })
    }

    /// Returns the first element in it that has this name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children().find(|child| child.name == name)
    }

    /// Returns the text in it, without that of its children.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .nodes
            .iter()
            .filter_map(|node| match node {
                ContentNode::Element(_) => None,
                ContentNode::Text(text) => Some(text.as_str()),
            })
            .collect();
        texts.join(" ")
    }
}

impl From<&Element> for Content {
    fn from(element: &Element) -> Self {
        let nodes = element.nodes.iter().filter_map(|node| match node {
            Node::Element(child) => Some(ContentNode::Element(Self::from(child))),
            Node::Text(text) if text.trim().is_empty() => None,
            Node::Text(text) => Some(ContentNode::Text(text.trim().into())),
        });
        Self {
            name: element.name.clone(),
            attributes: element.attributes.clone(),
            nodes: nodes.collect(),
            place: element.place().into(),
        }
    }
}
