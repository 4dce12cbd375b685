//! [`Rig`]: the bones of a Collada file, the skins that go with them, and their motion.
//!
//! Source: COLLADA 1.4.1, "Skinning" and "Animation". As in Gazebo all that moves in a file is one
//! motion.

use std::collections::BTreeMap;

use super::scene::{exactly, part_of_transform, transform};
use super::tree::{Document, Element};
use crate::read::MeshProblem;
use crate::skeleton::{BONES_MAX, Bone, Clip, Grip, KEYS_MAX, Key, Skeleton, Track};
use crate::transform::Transform;

/// Number of parts that a node of a skeleton may have to count as one that is usual.
const PARTS_USUAL: usize = 64;

/// The bone that all others hang on, which never moves.
const GROUND: u16 = 0;

/// The most skins of a file.
const SKINS_MAX: usize = 1000;

/// Bones of a file, with the nodes that they are.
pub(super) struct Rig<'e> {
    /// True if a skin goes with the bones, or something moves.
    is_of_use: bool,
    skins: usize,
    skeleton: Skeleton,
    /// Nodes of bones; the first bone is none.
    nodes: Vec<Option<&'e Element>>,
    /// Bones whose place in the pose in which the mesh was drawn is known.
    is_bound: Vec<bool>,
    /// Length of the file's unit \[m\].
    unit: f64,
}

/// A value of a node's transform that changes.
struct Channel {
    /// Number of the transform among the children of the node.
    child: usize,
    /// Number of the part of the transform that changes; all of it without.
    part: Option<usize>,
    times: Vec<f64>,
    values: Vec<f64>,
    /// Number of values at each time.
    width: usize,
}

impl<'e> Rig<'e> {
    /// Finds the bones of a scene: nodes that are joints, and those that they are in.
    pub(super) fn of_scene(scene: &'e Element, unit: f64) -> Result<Self, MeshProblem> {
        let ground = Bone {
            name: String::new(),
            parent: None,
            rest: Transform::IDENTITY,
            inverse_bind: Transform::IDENTITY,
        };
        let mut own = Self {
            is_of_use: false,
            skins: 0,
            skeleton: Skeleton {
                bones: vec![ground],
                root: 0,
                clips: Vec::new(),
            },
            nodes: vec![None],
            is_bound: vec![true],
            unit,
        };
        for node in scene.children("node") {
            own.add(node, 0)?;
        }
        let mut nodes = own.nodes.iter();
        own.skeleton.root = nodes
            .position(|node| node.is_some_and(is_joint))
            .unwrap_or(0);
        Ok(own)
    }

    /// Adds a node and those in it, as far as they are bones.
    fn add(&mut self, node: &'e Element, parent: usize) -> Result<(), MeshProblem> {
        if !holds_joint(node) {
            return Ok(());
        }
        let bone = Bone {
            name: name_of(node).to_owned(),
            parent: Some(parent),
            rest: transform(node)?.enlarged(self.unit),
            inverse_bind: Transform::IDENTITY,
        };
        let index = self.push(bone, Some(node))?;
        for child in node.children("node") {
            self.add(child, index)?;
        }
        Ok(())
    }

    fn push(&mut self, bone: Bone, node: Option<&'e Element>) -> Result<usize, MeshProblem> {
        if self.skeleton.bones.len() == BONES_MAX {
            return Err(MeshProblem::TooMany {
                what: "bones",
                maximum: BONES_MAX,
            });
        }
        if !bone.rest.is_finite() || !bone.inverse_bind.is_finite() {
            let message = format!("the bone {:?} is nowhere", bone.name);
            return Err(MeshProblem::malformed("skeleton", message));
        }
        self.skeleton.bones.push(bone);
        self.nodes.push(node);
        self.is_bound.push(false);
        Ok(self.skeleton.bones.len() - 1)
    }

    /// Returns the bones that each position of the geometry under a controller goes with, of which
    /// there are so many; `None` if it has no skin.
    pub(super) fn grips(
        &mut self,
        document: &Document<'e>,
        controller: &'e Element,
    ) -> Result<Option<Vec<Grip>>, MeshProblem> {
        let Some(skin) = controller.child("skin") else {
            return Ok(None);
        };
        let (Some(joints), Some(weights)) = (skin.child("joints"), skin.child("vertex_weights"))
        else {
            return Ok(None);
        };
        self.skins += 1;
        if self.skins > SKINS_MAX {
            return Err(MeshProblem::TooMany {
                what: "skins",
                maximum: SKINS_MAX,
            });
        }
        let bones = self.bound_bones(document, skin, joints)?;
        self.is_of_use = true;
        grips(document, weights, &bones).map(Some)
    }

    /// Returns the bones of the joints of a skin, by their numbers there.
    fn bound_bones(
        &mut self,
        document: &Document<'e>,
        skin: &'e Element,
        joints: &'e Element,
    ) -> Result<Vec<u16>, MeshProblem> {
        let shape = skin.child("bind_shape_matrix");
        let shape = shape.map(|shape| Ok(Transform::from_rows(exactly(shape)?)));
        let shape = shape.transpose()?.unwrap_or(Transform::IDENTITY);
        let names = source_of(document, joints, "JOINT")?;
        let names = names.child("Name_array").or(names.child("IDREF_array"));
        let names = names.ok_or_else(|| joints.malformed("its joints have no names"))?;
        let binds = source_of(document, joints, "INV_BIND_MATRIX")?;
        let binds = binds.child("float_array");
        let binds = binds.ok_or_else(|| joints.malformed("its joints have no bind matrices"))?;
        let binds: Vec<f64> = binds.numbers()?;
        let (binds, _) = binds.as_chunks::<16>();
        let mut bones = Vec::new();
        for (number, name) in names.text.split_ascii_whitespace().enumerate() {
            let Some(bind) = binds.get(number).filter(|_| number < BONES_MAX) else {
                return Err(joints.malformed("it has more joints than bind matrices"));
            };
            let Some(bone) = self.find(name) else {
                return Err(joints.malformed(format!("there is no node for the joint {name:?}")));
            };
            let bind = Transform::from_rows(*bind).after(&shape);
            bones.push(self.bind(bone, bind.enlarged(self.unit))? as u16);
        }
        Ok(bones)
    }

    /// Binds a bone, or one on it where it is bound already for another skin.
    fn bind(&mut self, bone: usize, inverse_bind: Transform) -> Result<usize, MeshProblem> {
        let known = &mut self.skeleton.bones[bone];
        if !self.is_bound[bone] && inverse_bind.is_finite() {
            known.inverse_bind = inverse_bind;
            self.is_bound[bone] = true;
            return Ok(bone);
        }
        if known.inverse_bind == inverse_bind {
            return Ok(bone);
        }
        let name = String::new();
        self.push(
            Bone {
                name,
                parent: Some(bone),
                rest: Transform::IDENTITY,
                inverse_bind,
            },
            None,
        )
    }

    /// Returns the bone that a skin calls so.
    fn find(&self, name: &str) -> Option<usize> {
        let by = |attribute: &str| {
            let mut nodes = self.nodes.iter();
            nodes.position(|node| {
                let own = node.and_then(|node| node.attribute(attribute));
                own == Some(name)
            })
        };
        by("sid").or_else(|| by("id")).or_else(|| by("name"))
    }

    /// Reads how bones move, and returns them all; `None` if no skin goes with them and nothing
    /// moves.
    pub(super) fn finish(
        mut self,
        document: &Document<'e>,
    ) -> Result<Option<Skeleton>, MeshProblem> {
        let mut channels = BTreeMap::new();
        for library in document.root.children("library_animations") {
            self.find_channels(document, library, &mut channels)?;
        }
        let mut clip = Clip::default();
        let mut left = KEYS_MAX;
        for (bone, channels) in channels {
            let Some(node) = self.nodes[bone] else {
                continue;
            };
            let keys = keys(node, &channels, self.unit, &mut left)?;
            if !keys.is_empty() {
                clip.tracks.push(Track { bone, keys });
            }
        }
        if !clip.tracks.is_empty() {
            self.skeleton.clips.push(clip);
            self.is_of_use = true;
        }
        Ok(self.is_of_use.then_some(self.skeleton))
    }

    fn find_channels(
        &self,
        document: &Document<'e>,
        animations: &'e Element,
        channels: &mut BTreeMap<usize, Vec<Channel>>,
    ) -> Result<(), MeshProblem> {
        for animation in animations.children("animation") {
            self.find_channels(document, animation, channels)?;
            for element in animation.children("channel") {
                if let Some((bone, channel)) = self.channel(document, element)? {
                    channels.entry(bone).or_default().push(channel);
                }
            }
        }
        Ok(())
    }

    /// Reads a channel; `None` if it moves no bone.
    fn channel(
        &self,
        document: &Document<'e>,
        element: &'e Element,
    ) -> Result<Option<(usize, Channel)>, MeshProblem> {
        let target = element.attribute("target").unwrap_or_default();
        let Some((node, address)) = target.split_once('/') else {
            return Ok(None);
        };
        let mut nodes = self.nodes.iter();
        let is_it = |own: &Element| own.attribute("id") == Some(node);
        let Some(bone) = nodes.position(|own| own.is_some_and(is_it)) else {
            return Ok(None);
        };
        let Some((child, part)) = self.nodes[bone].and_then(|node| found_part(node, address))
        else {
            return Ok(None);
        };
        let sampler = document.referred(element, "source", "sampler")?;
        let numbers = |semantic: &str| -> Result<Vec<f64>, MeshProblem> {
            let source = source_of(document, sampler, semantic)?;
            match source.child("float_array") {
                Some(array) => array.numbers(),
                None => Err(source.malformed("it has no <float_array>")),
            }
        };
        let (times, values) = (numbers("INPUT")?, numbers("OUTPUT")?);
        let is_ascending = times.is_sorted_by(|one, next| one < next);
        if times.is_empty() || !is_ascending || values.len() < times.len() {
            return Err(sampler.malformed("its times do not ascend, or have no values"));
        }
        let width = values.len() / times.len();
        let channel = Channel {
            child,
            part,
            times,
            values,
            width,
        };
        Ok(Some((bone, channel)))
    }
}

impl Channel {
    /// Changes the numbers of its transform to what they are at a time \[s\].
    fn apply(&self, time: f64, numbers: &mut [f64]) {
        let next = self.times.partition_point(|own| *own <= time);
        let (from, to) = (next.max(1) - 1, next.min(self.times.len() - 1));
        let span = self.times[to] - self.times[from];
        let part = if span > 0.0 {
            (time - self.times[from]) / span
        } else {
            0.0
        };
        let value = |i: usize| {
            let [from, to] = [from, to].map(|key| self.values[key * self.width + i]);
            from + (to - from) * part
        };
        match self.part {
            Some(part) => {
                if let Some(number) = numbers.get_mut(part) {
                    *number = value(0);
                }
            }
            None => {
                for (i, number) in numbers.iter_mut().enumerate().take(self.width) {
                    *number = value(i);
                }
            }
        }
    }
}

/// Returns where a node is at each time of its channels.
fn keys(
    node: &Element,
    channels: &[Channel],
    unit: f64,
    left: &mut usize,
) -> Result<Vec<Key>, MeshProblem> {
    let times = channels
        .iter()
        .flat_map(|channel| channel.times.iter().copied());
    let mut times: Vec<f64> = times.filter(|time| time.is_finite()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let too_many = MeshProblem::TooMany {
        what: "keys of bones",
        maximum: KEYS_MAX,
    };
    // A node of very many parts counts for more: all are gone through for each key.
    let parts = 1 + (node.children.len() + channels.len()) / PARTS_USUAL;
    let work = times.len().saturating_mul(parts);
    *left = left.checked_sub(work).ok_or(too_many)?;
    let mut keys = Vec::with_capacity(times.len());
    for time in times {
        let mut whole = Transform::IDENTITY;
        for (number, child) in node.children.iter().enumerate() {
            let own = channels.iter().filter(|channel| channel.child == number);
            let change = |numbers: &mut [f64]| own.clone().for_each(|one| one.apply(time, numbers));
            if let Some(part) = part_of_transform(child, change)? {
                whole = whole.after(&part);
            }
        }
        let key = Key::of(time as f32, &whole.enlarged(unit));
        if !key.is_sound() {
            return Err(node.malformed(format!("at {time} s it is nowhere")));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Returns the bones that each position goes with.
fn grips(
    document: &Document<'_>,
    weights: &Element,
    bones: &[u16],
) -> Result<Vec<Grip>, MeshProblem> {
    let mut stride = 1;
    let (mut joint_offset, mut weight_offset, mut values) = (0, 1, Vec::new());
    for input in weights.children("input") {
        let offset = input.number::<usize>("offset")?.unwrap_or(0);
        if offset > 255 {
            return Err(input.malformed("its offset is more than 255"));
        }
        stride = stride.max(offset + 1);
        match input.attribute("semantic") {
            Some("JOINT") => joint_offset = offset,
            Some("WEIGHT") => {
                weight_offset = offset;
                let source = document.referred(input, "source", "source")?;
                let array = source.child("float_array");
                values = array.map_or(Ok(Vec::new()), Element::numbers::<f64>)?;
            }
            _ => {}
        }
    }
    stride = stride.max(joint_offset.max(weight_offset) + 1);
    let list = |name: &str| weights.child(name).map(|list| (list, list.text.as_str()));
    let (Some((counts, _)), Some((pairs, _))) = (list("vcount"), list("v")) else {
        return Err(weights.malformed("it has no <vcount> or no <v>"));
    };
    let pairs: Vec<i64> = pairs.numbers()?;
    let mut rest = pairs.as_slice();
    let mut grips = Vec::new();
    for count in counts.numbers::<usize>()? {
        let length = count.saturating_mul(stride);
        let Some((own, after)) = rest.split_at_checked(length) else {
            return Err(counts.malformed("the positions have more weights than there are"));
        };
        rest = after;
        let weights = own.chunks_exact(stride).filter_map(|pair| {
            // What stays where it was drawn has the number -1.
            let bone = usize::try_from(pair[joint_offset]).ok();
            let bone = bone.map_or(Some(GROUND), |bone| bones.get(bone).copied())?;
            let weight = usize::try_from(pair[weight_offset]).ok()?;
            Some((bone, *values.get(weight)?))
        });
        grips.push(Grip::strongest(weights).unwrap_or(Grip::of(GROUND)));
    }
    Ok(grips)
}

/// Returns the source of the input with this meaning.
fn source_of<'e>(
    document: &Document<'e>,
    owner: &Element,
    semantic: &str,
) -> Result<&'e Element, MeshProblem> {
    let mut inputs = owner.children("input");
    let input = inputs.find(|input| input.attribute("semantic") == Some(semantic));
    let input = input.ok_or_else(|| owner.malformed(format!("no input is a {semantic}")))?;
    document.referred(input, "source", "source")
}

/// Returns the child of a node, and the part of it, that the address of a channel names: `matrix`,
/// `location.X`, `rotationZ.ANGLE`, `matrix(3)`.
fn found_part(node: &Element, address: &str) -> Option<(usize, Option<usize>)> {
    let end = address.find(['.', '(']).unwrap_or(address.len());
    let (sid, part) = address.split_at(end);
    let mut children = node.children.iter();
    let child = children.position(|child| child.attribute("sid") == Some(sid))?;
    let part = match part {
        "" => None,
        ".X" => Some(0),
        ".Y" => Some(1),
        ".Z" => Some(2),
        ".W" | ".ANGLE" => Some(3),
        indices => {
            let indices = indices.strip_prefix('(')?.strip_suffix(')')?;
            let indices = indices
                .split(")(")
                .map(|one| one.trim().parse::<usize>().ok());
            match indices.collect::<Option<Vec<usize>>>()?[..] {
                [index] => Some(index),
                // A matrix: the column, then the row.
                [column, row] if column < 4 && row < 4 => Some(4 * row + column),
                _ => return None,
            }
        }
    };
    Some((child, part))
}

fn is_joint(node: &Element) -> bool {
    node.attribute("type") == Some("JOINT")
}

fn holds_joint(node: &Element) -> bool {
    is_joint(node) || node.children("node").any(holds_joint)
}

/// Returns the name by which the motions of other files find a bone.
fn name_of(node: &Element) -> &str {
    let names = ["name", "sid", "id"];
    let mut names = names.iter().filter_map(|name| node.attribute(name));
    names.next().unwrap_or_default()
}
