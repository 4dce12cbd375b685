//! [`Rig`]: the bones of a glTF document, the skins that go with them, and their motions.
//!
//! Source: glTF 2.0, "Skins" and "Animations". Of cubic splines the values are taken, between
//! which motions are even.

use std::collections::{BTreeMap, BTreeSet};

use ::gltf::json::Index;
use ::gltf::json::animation::{Interpolation, Property};
use ::gltf::json::validation::Checked;
use ::gltf::{Accessor, Document, Node, Primitive, Semantic};

use super::accessor::Accessors;
use super::scene::{roots, transform};
use crate::read::MeshProblem;
use crate::skeleton::{BONES_MAX, Bone, Clip, Grip, KEYS_MAX, Key, Skeleton, Track};
use crate::transform::Transform;

/// Number of channels that a bone may have to count as one that is usual.
const CHANNELS_USUAL: usize = 64;

/// Bones of a document.
pub(super) struct Rig {
    is_of_use: bool,
    skeleton: Skeleton,
    /// The bones that nodes are, by the numbers of these.
    of_nodes: BTreeMap<usize, usize>,
    /// Bones whose place in the pose in which the mesh was drawn is known.
    is_bound: Vec<bool>,
    /// The bones of the joints of skins, by the numbers of the skins.
    of_skins: BTreeMap<usize, Vec<u16>>,
}

/// Times and values of what moves a bone.
struct Channel {
    property: Property,
    times: Vec<f32>,
    values: Vec<[f32; 4]>,
}

impl Rig {
    /// Finds the bones of a document: nodes that are joints or move, and those that they are in.
    pub(super) fn of_document(document: &Document) -> Result<Self, MeshProblem> {
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        let root = document.as_json();
        for skin in &root.skins {
            wanted.extend(skin.joints.iter().map(Index::value));
        }
        let joints = wanted.clone();
        let channels = root.animations.iter().flat_map(|one| &one.channels);
        wanted.extend(channels.map(|channel| channel.target.node.value()));
        let stated = root.skins.iter().filter_map(|skin| skin.skeleton);
        let stated: BTreeSet<usize> = stated.map(|root| root.value()).collect();
        let mut parents = BTreeMap::new();
        for node in document.nodes() {
            parents.extend(node.children().map(|child| (child.index(), node.index())));
        }
        for node in wanted.clone() {
            let mut above = node;
            while let Some(parent) = parents.get(&above) {
                if !wanted.insert(*parent) {
                    break;
                }
                above = *parent;
            }
        }
        let ground = Bone {
            name: String::new(),
            parent: None,
            rest: Transform::IDENTITY,
            inverse_bind: Transform::IDENTITY,
        };
        let mut own = Self {
            is_of_use: false,
            skeleton: Skeleton {
                bones: vec![ground],
                root: 0,
                clips: Vec::new(),
            },
            of_nodes: BTreeMap::new(),
            is_bound: vec![true],
            of_skins: BTreeMap::new(),
        };
        let roots = roots(document).into_iter().rev();
        let mut open: Vec<(Node<'_>, usize)> = roots.map(|root| (root, 0)).collect();
        while let Some((node, parent)) = open.pop() {
            if !wanted.contains(&node.index()) || own.of_nodes.contains_key(&node.index()) {
                continue;
            }
            let index = own.push(Bone {
                name: node.name().unwrap_or_default().to_owned(),
                parent: Some(parent),
                rest: transform(&node),
                inverse_bind: Transform::IDENTITY,
            })?;
            own.of_nodes.insert(node.index(), index);
            let is_joint = joints.is_empty() || joints.contains(&node.index());
            let is_first = own.skeleton.root == 0 && is_joint;
            if is_first || (is_joint && stated.contains(&node.index())) {
                own.skeleton.root = index;
            }
            let first_child = open.len();
            open.extend(node.children().map(|child| (child, index)));
            open[first_child..].reverse();
        }
        Ok(own)
    }

    fn push(&mut self, bone: Bone) -> Result<usize, MeshProblem> {
        if self.skeleton.bones.len() == BONES_MAX {
            return Err(MeshProblem::TooMany {
                what: "bones",
                maximum: BONES_MAX,
            });
        }
        if !bone.rest.is_finite() || !bone.inverse_bind.is_finite() {
            let message = format!("the bone {:?} is nowhere", bone.name);
            return Err(MeshProblem::malformed("skin", message));
        }
        self.skeleton.bones.push(bone);
        self.is_bound.push(false);
        Ok(self.skeleton.bones.len() - 1)
    }

    /// Returns the bones that each position of a primitive of a node goes with; `None` if it has no
    /// skin.
    pub(super) fn grips(
        &mut self,
        node: &Node<'_>,
        primitive: &Primitive<'_>,
        accessors: &mut Accessors<'_>,
    ) -> Result<Option<Vec<Grip>>, MeshProblem> {
        let Some(skin) = node.skin() else {
            return Ok(None);
        };
        let (Some(joints), Some(weights)) = (
            primitive.get(&Semantic::Joints(0)),
            primitive.get(&Semantic::Weights(0)),
        ) else {
            return Ok(None);
        };
        if !self.of_skins.contains_key(&skin.index()) {
            let bones = self.bound_bones(&skin, accessors)?;
            self.of_skins.insert(skin.index(), bones);
        }
        let bones = &self.of_skins[&skin.index()];
        let joints = accessors.joints(&joints)?;
        let weights = accessors.weights(&weights)?;
        let grips = joints.iter().zip(&weights).map(|(joints, weights)| {
            let own = joints.iter().zip(weights);
            let own = own.filter_map(|(joint, weight)| {
                let bone = bones.get(usize::from(*joint))?;
                Some((*bone, *weight))
            });
            Grip::strongest(own).unwrap_or(Grip::of(0))
        });
        self.is_of_use = true;
        Ok(Some(grips.collect()))
    }

    /// Returns the bones of the joints of a skin, by their numbers there.
    fn bound_bones(
        &mut self,
        skin: &::gltf::Skin<'_>,
        accessors: &mut Accessors<'_>,
    ) -> Result<Vec<u16>, MeshProblem> {
        let binds = match skin.inverse_bind_matrices() {
            Some(accessor) => Some(accessors.matrices(&accessor)?),
            None => None,
        };
        let mut bones = Vec::new();
        for (number, joint) in skin.joints().enumerate() {
            let bind = match &binds {
                Some(binds) => binds.get(number).copied(),
                None => Some(Transform::IDENTITY),
            };
            let bone = self.of_nodes.get(&joint.index()).copied();
            let (Some(bind), Some(bone)) = (bind, bone) else {
                let place = format!("skin {}", skin.index());
                let message = "a joint is not in the scene, or has no matrix";
                return Err(MeshProblem::malformed(place, message));
            };
            bones.push(self.bind(bone, bind)? as u16);
        }
        Ok(bones)
    }

    /// Binds a bone, or one on it where it is bound already for another skin.
    fn bind(&mut self, bone: usize, inverse_bind: Transform) -> Result<usize, MeshProblem> {
        if !self.is_bound[bone] && inverse_bind.is_finite() {
            self.skeleton.bones[bone].inverse_bind = inverse_bind;
            self.is_bound[bone] = true;
            return Ok(bone);
        }
        if self.skeleton.bones[bone].inverse_bind == inverse_bind {
            return Ok(bone);
        }
        self.push(Bone {
            name: String::new(),
            parent: Some(bone),
            rest: Transform::IDENTITY,
            inverse_bind,
        })
    }

    /// Reads how bones move, and returns them all; `None` if no skin goes with them and nothing
    /// moves.
    pub(super) fn finish(
        mut self,
        document: &Document,
        accessors: &mut Accessors<'_>,
    ) -> Result<Option<Skeleton>, MeshProblem> {
        let mut left = KEYS_MAX;
        for (number, animation) in document.as_json().animations.iter().enumerate() {
            let place = format!("animation {number}");
            let mut channels: BTreeMap<usize, Vec<Channel>> = BTreeMap::new();
            for channel in &animation.channels {
                let Some(bone) = self.of_nodes.get(&channel.target.node.value()) else {
                    continue;
                };
                let (Checked::Valid(property), Some(sampler)) = (
                    channel.target.path,
                    animation.samplers.get(channel.sampler.value()),
                ) else {
                    continue;
                };
                let accessor = |index: usize| document.accessors().nth(index);
                let (Some(input), Some(output)) = (
                    accessor(sampler.input.value()),
                    accessor(sampler.output.value()),
                ) else {
                    let message = "an accessor that it refers to is not there";
                    return Err(MeshProblem::malformed(place, message));
                };
                let is_spline = sampler.interpolation == Checked::Valid(Interpolation::CubicSpline);
                let channel = Channel::read(property, &input, &output, is_spline, accessors)?;
                if let Some(channel) = channel {
                    channels.entry(*bone).or_default().push(channel);
                }
            }
            let mut clip = Clip {
                name: animation.name.clone().unwrap_or_default(),
                tracks: Vec::new(),
            };
            for (bone, channels) in channels {
                let rest = self.skeleton.bones[bone].rest;
                let keys = keys(&rest, &channels, &mut left, &place)?;
                clip.tracks.push(Track { bone, keys });
            }
            if !clip.tracks.is_empty() {
                self.is_of_use = true;
                self.skeleton.clips.push(clip);
            }
        }
        Ok(self.is_of_use.then_some(self.skeleton))
    }
}

impl Channel {
    /// Reads times and values; `None` for what does not move bones.
    fn read(
        property: Property,
        input: &Accessor<'_>,
        output: &Accessor<'_>,
        is_spline: bool,
        accessors: &mut Accessors<'_>,
    ) -> Result<Option<Self>, MeshProblem> {
        let values: Vec<[f32; 4]> = match property {
            Property::MorphTargetWeights => return Ok(None),
            Property::Rotation => accessors.quaternions(output)?,
            Property::Translation | Property::Scale => {
                let triples = accessors.positions(output)?;
                let triples = triples.iter().map(|triple| triple.map(|x| x as f32));
                triples.map(|[x, y, z]| [x, y, z, 0.0]).collect()
            }
        };
        let times = accessors.times(input)?;
        let values: Vec<[f32; 4]> = if is_spline {
            // The tangents are before and after each.
            values
                .as_chunks::<3>()
                .0
                .iter()
                .map(|[_, value, _]| *value)
                .collect()
        } else {
            values
        };
        let is_ascending = times.is_sorted_by(|one, next| one < next);
        if times.is_empty() || !is_ascending || values.len() != times.len() {
            let place = format!("accessor {}", input.index());
            let message = "the times of a motion do not ascend, or are not as many as its values";
            return Err(MeshProblem::malformed(place, message));
        }
        Ok(Some(Self {
            property,
            times,
            values,
        }))
    }

    /// Changes its part of a key to what it is at the time of that.
    fn apply(&self, key: &mut Key) {
        let next = self.times.partition_point(|own| *own <= key.time_s);
        let (from, to) = (next.max(1) - 1, next.min(self.times.len() - 1));
        let bare = |at: usize| {
            let [x, y, z, _] = self.values[at];
            let identity = [0.0, 0.0, 0.0, 1.0];
            let is_turn = self.property == Property::Rotation;
            Key {
                time_s: self.times[at],
                position: [x, y, z],
                orientation_xyzw: if is_turn { self.values[at] } else { identity },
                scale: [x, y, z],
            }
        };
        let track = Track {
            bone: 0,
            keys: if from == to {
                vec![bare(from)]
            } else {
                vec![bare(from), bare(to)]
            },
        };
        let own = track.at(f64::from(key.time_s));
        match self.property {
            Property::Translation => key.position = own.position,
            Property::Rotation => key.orientation_xyzw = own.orientation_xyzw,
            Property::Scale => key.scale = own.scale,
            Property::MorphTargetWeights => {}
        }
    }
}

/// Returns where a bone is at each time of its channels.
fn keys(
    rest: &Transform,
    channels: &[Channel],
    left: &mut usize,
    place: &str,
) -> Result<Vec<Key>, MeshProblem> {
    let times = channels
        .iter()
        .flat_map(|channel| channel.times.iter().copied());
    let mut times: Vec<f32> = times.collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    let too_many = MeshProblem::TooMany {
        what: "keys of bones",
        maximum: KEYS_MAX,
    };
    // A bone of very many channels counts for more: all are gone through for each key.
    let work = times
        .len()
        .saturating_mul(1 + channels.len() / CHANNELS_USUAL);
    *left = left.checked_sub(work).ok_or(too_many)?;
    let mut keys = Vec::with_capacity(times.len());
    for time in times {
        let mut key = Key::of(time, rest);
        for channel in channels {
            channel.apply(&mut key);
        }
        if !key.is_sound() {
            let message = format!("a bone is nowhere at {time} s");
            return Err(MeshProblem::malformed(place, message));
        }
        keys.push(key);
    }
    Ok(keys)
}
