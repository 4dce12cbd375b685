//! Models: links and joints that belong together.

use serde::{Deserialize, Serialize};

use super::{Collision, Content, Geometry, Joint, JointKind, JointParent, Link, Plugin};
use crate::pose::Pose;
use crate::topic_namespace::TopicNamespace;

/// A top-level model.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an element of the file"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its name, unique among the models of its world.
    pub name: String,
    /// True if it never moves. A static model that is a performer is none of these: commands move
    /// it, and each of its links is static.
    pub is_static: bool,
    /// True if its links collide with each other.
    pub self_collide: bool,
    /// True if it may fall asleep.
    pub allow_auto_disable: bool,
    /// True if wind acts on its links.
    pub enable_wind: bool,
    /// Pose of its origin, world frame.
    pub pose: Pose,
    /// Its links; those of nested models are named `nested::link`. The first is the canonical one
    /// unless the file names another. Only a static model can be without links.
    pub links: Vec<Link>,
    /// Index into `links` of the link that the model's pose is attached to.
    pub canonical_link: usize,
    /// Its joints; those of nested models are named `nested::joint`.
    pub joints: Vec<Joint>,
    /// Its explicit frames; those of nested models are named `nested::frame`.
    pub frames: Vec<NamedFrame>,
    /// The models in it, outer before inner.
    pub nested: Vec<NestedModel>,
    /// Its plugins.
    pub plugins: Vec<Plugin>,
    /// Custom elements (`name:space`) and grippers.
    pub custom: Vec<Content>,
    /// Text of the URDF robot that it was read from.
    pub urdf: Option<String>,
    /// Namespace of its topics that whoever brought it asked for.
    #[serde(default)]
    pub namespace: Option<TopicNamespace>,
}

impl Model {
    /// Makes a model that moves, of links and joints; its origin is that of its first link.
    pub fn new(name: &str, links: Vec<Link>, joints: Vec<Joint>) -> Self {
        Self {
            name: name.to_owned(),
            is_static: false,
            self_collide: false,
            allow_auto_disable: true,
            enable_wind: false,
            pose: links.first().map_or(Pose::IDENTITY, |link| link.pose),
            links,
            canonical_link: 0,
            joints,
            frames: Vec::new(),
            nested: Vec::new(),
            plugins: Vec::new(),
            custom: Vec::new(),
            urdf: None,
            namespace: None,
        }
    }
}

impl Model {
    /// Tells whether it moves by commands alone, as one piece: it has links, and none ever moves by
    /// itself.
    pub fn moves_by_command_alone(&self) -> bool {
        !self.is_static && !self.links.is_empty() && self.links.iter().all(|link| link.is_static)
    }

    /// Says which index in it leads to nothing, if any does; there are so many meshes and height
    /// grids.
    pub(crate) fn dangling(&self, [meshes, grids]: [usize; 2]) -> Option<String> {
        let is_there = |link: usize| link < self.links.len();
        let holds_links = |joint: &Joint| {
            let parent = match joint.parent {
                JointParent::World => true,
                JointParent::Link(link) => is_there(link),
            };
            let reference = match joint.kind {
                JointKind::Gearbox { reference_body, .. } => reference_body.is_none_or(is_there),
                _ => true,
            };
            parent && reference && is_there(joint.child)
        };
        let has_its_data = |collision: &Collision| match &collision.geometry {
            Geometry::Mesh(shape) => shape.mesh.is_none_or(|mesh| mesh < meshes),
            Geometry::Heightmap(shape) => shape.grid.is_none_or(|grid| grid < grids),
            _ => true,
        };
        let is_bare = self.links.is_empty() && self.is_static;
        let is_canonical_there = is_bare || is_there(self.canonical_link);
        let mut nested = self.nested.iter();
        let mut collisions = self.links.iter().flat_map(|link| &link.collisions);
        let what = if !self.joints.iter().all(holds_links) {
            "a joint holds no link of it"
        } else if !is_canonical_there || !nested.all(|one| one.canonical_link.is_none_or(is_there))
        {
            "its canonical link is not there"
        } else if !collisions.all(has_its_data) {
            "it refers to meshes or heights that are not there"
        } else {
            return None;
        };
        Some(format!("the model {:?} is broken: {what}", self.name))
    }
}

/// A model within a top-level model; its links and joints are among those of the latter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestedModel {
    /// Its name within the top-level model: `nested` or `nested::inner`.
    pub name: String,
    /// True if it never moves.
    pub is_static: bool,
    /// True if its links collide with each other.
    pub self_collide: bool,
    /// Pose of its origin, world frame.
    pub pose: Pose,
    /// Index into the top-level model's links; `None` for a static model without links.
    pub canonical_link: Option<usize>,
    /// Its plugins.
    pub plugins: Vec<Plugin>,
}

/// An explicit `<frame>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedFrame {
    /// Its name within the world or top-level model.
    pub name: String,
    /// Pose, world frame.
    pub pose: Pose,
    /// Name that it is attached to, as the file says; empty for the world or model around it.
    pub attached_to: String,
    /// The link that it moves with, named as in the scope around it, or `world`.
    pub body: String,
}
