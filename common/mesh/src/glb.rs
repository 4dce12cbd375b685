//! [`VisualMesh`]es as GLB, the binary form of glTF 2.0, with their images in it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::color::linear;
use crate::image::ImageFormat;
use crate::skeleton::{Clip, Grip, Key, Skeleton, Track};
use crate::transform::Transform;
use crate::visual_mesh::{Alpha, VisualMaterial, VisualMesh, VisualPart};

/// Numbers of the format: kinds of buffer views, and types of components.
const ARRAY_BUFFER: u32 = 34_962;
const ELEMENT_ARRAY_BUFFER: u32 = 34_963;
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const UNSIGNED_SHORT: u32 = 5123;

impl VisualMesh {
    /// Returns the mesh as GLB; all parts of one material are one primitive of one node. Axes are
    /// those of the mesh: z is up if it is there, whatever glTF says of axes. Its bones are nodes,
    /// their clips animations.
    pub fn to_glb(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let mut by_material: BTreeMap<Option<usize>, Vec<&VisualPart>> = BTreeMap::new();
        for part in &self.parts {
            by_material.entry(part.material).or_default().push(part);
        }
        let primitives: Vec<Value> = by_material
            .iter()
            .map(|(material, parts)| writer.primitive(*material, parts))
            .collect();
        let images: Vec<Value> = self
            .images
            .iter()
            .map(|image| {
                let media_type = match image.format {
                    ImageFormat::Png => "image/png",
                    ImageFormat::Jpeg => "image/jpeg",
                };
                let view = writer.view(&image.bytes, None);
                json!({ "bufferView": view, "mimeType": media_type })
            })
            .collect();
        let mut nodes = vec![json!({ "mesh": 0 })];
        let (mut skins, mut animations) = (Vec::new(), Vec::new());
        if let Some(skeleton) = &self.skeleton {
            nodes[0]["skin"] = json!(0);
            nodes.extend(bone_nodes(skeleton));
            skins.push(writer.skin(skeleton));
            let clips = skeleton.clips.iter();
            let clips = clips.filter(|clip| !clip.tracks.is_empty());
            animations = clips.map(|clip| writer.clip(clip)).collect();
        }
        let is_root = |index: &usize| match &self.skeleton {
            Some(skeleton) if *index > 0 => skeleton.bones[index - 1].parent.is_none(),
            _ => *index == 0,
        };
        let shown: Vec<usize> = (0..nodes.len()).filter(is_root).collect();
        let textures = (0..images.len()).map(|image| json!({ "source": image, "sampler": 0 }));
        let mut document = Map::new();
        document.insert("asset".to_owned(), json!({ "version": "2.0" }));
        document.insert("scene".to_owned(), json!(0));
        document.insert("scenes".to_owned(), json!([{ "nodes": shown }]));
        document.insert("nodes".to_owned(), Value::Array(nodes));
        add(&mut document, "skins", skins);
        add(&mut document, "animations", animations);
        document.insert("meshes".to_owned(), json!([{ "primitives": primitives }]));
        let materials = self.materials.iter().map(material).collect();
        add(&mut document, "materials", materials);
        if !images.is_empty() {
            document.insert("samplers".to_owned(), json!([{}]));
        }
        add(&mut document, "textures", textures.collect());
        add(&mut document, "images", images);
        writer.finish(document)
    }
}

/// Returns the nodes of bones, whose numbers are greater by one.
fn bone_nodes(skeleton: &Skeleton) -> impl Iterator<Item = Value> {
    let mut children = vec![Vec::new(); skeleton.bones.len()];
    for (index, bone) in skeleton.bones.iter().enumerate() {
        if let Some(parent) = bone.parent {
            children[parent].push(index + 1);
        }
    }
    let tracks = skeleton.clips.iter().flat_map(|clip| &clip.tracks);
    let moving: BTreeSet<usize> = tracks.map(|track| track.bone).collect();
    let bones = skeleton.bones.iter().zip(children).enumerate();
    bones.map(move |(index, (bone, children))| {
        // In the format only what never moves may have a matrix.
        let mut node = if moving.contains(&index) {
            let rest = Key::of(0.0, &bone.rest);
            json!({
                "name": bone.name, "translation": rest.position,
                "rotation": rest.orientation_xyzw, "scale": rest.scale,
            })
        } else {
            json!({ "name": bone.name, "matrix": columns(&bone.rest) })
        };
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        node
    })
}

/// Returns the columns of a matrix with all four rows.
fn columns(transform: &Transform) -> Vec<f32> {
    let rows = transform.rows();
    let column = |i: usize| {
        [
            rows[0][i],
            rows[1][i],
            rows[2][i],
            f64::from(u8::from(i == 3)),
        ]
    };
    (0..4).flat_map(column).map(|x| x as f32).collect()
}

/// Adds a list, which must not be empty in the format.
fn add(document: &mut Map<String, Value>, name: &str, list: Vec<Value>) {
    if !list.is_empty() {
        document.insert(name.to_owned(), Value::Array(list));
    }
}

fn material(material: &VisualMaterial) -> Value {
    let [red, green, blue, alpha] = material.color;
    let mut pbr = json!({
        "baseColorFactor": [linear(red), linear(green), linear(blue), alpha],
        "metallicFactor": material.metalness,
        "roughnessFactor": material.roughness,
    });
    if let Some(image) = material.color_image {
        pbr["baseColorTexture"] = json!({ "index": image });
    }
    if let Some(image) = material.metal_rough_image {
        pbr["metallicRoughnessTexture"] = json!({ "index": image });
    }
    let mut own = json!({
        "name": material.name,
        "pbrMetallicRoughness": pbr,
        "emissiveFactor": material.emissive.map(linear),
        "doubleSided": material.is_double_sided,
    });
    if let Some(image) = material.normal_image {
        own["normalTexture"] = json!({ "index": image });
        if material.normal_scale != 1.0 {
            own["normalTexture"]["scale"] = json!(material.normal_scale);
        }
    }
    if let Some(image) = material.emissive_image {
        own["emissiveTexture"] = json!({ "index": image });
    }
    match material.alpha {
        Alpha::Opaque => {}
        Alpha::Mask(cutoff) => {
            own["alphaMode"] = json!("MASK");
            own["alphaCutoff"] = json!(cutoff);
        }
        Alpha::Blend => own["alphaMode"] = json!("BLEND"),
    }
    own
}

/// The binary chunk, and the lists of the document that refer to it.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Writer {
    /// Writes parts as one primitive.
    fn primitive(&mut self, material: Option<usize>, parts: &[&VisualPart]) -> Value {
        let positions: Vec<[f32; 3]> = joined(parts, |part| &part.positions);
        let normals: Vec<[f32; 3]> = joined(parts, |part| &part.normals);
        let has_texcoords = parts.iter().any(|part| !part.texcoords.is_empty());
        let mut attributes = json!({
            "POSITION": self.vectors(&positions, true),
            "NORMAL": self.vectors(&normals, false),
        });
        if has_texcoords {
            let texcoords: Vec<[f32; 2]> = parts
                .iter()
                .flat_map(|part| {
                    let lacks = part.texcoords.is_empty();
                    let none = if lacks { part.positions.len() } else { 0 };
                    let zeros = std::iter::repeat_n([0.0; 2], none);
                    part.texcoords.iter().copied().chain(zeros)
                })
                .collect();
            attributes["TEXCOORD_0"] = json!(self.vectors(&texcoords, false));
        }
        if parts.iter().any(|part| !part.grips.is_empty()) {
            let grips: Vec<Grip> = joined(parts, |part| &part.grips);
            let weights: Vec<[f32; 4]> = grips.iter().map(|grip| grip.parts).collect();
            attributes["JOINTS_0"] = json!(self.joints(&grips));
            attributes["WEIGHTS_0"] = json!(self.vectors(&weights, false));
        }
        let mut bytes = Vec::new();
        let (mut before, mut count) = (0, 0);
        for part in parts {
            for index in part.triangles.iter().flatten() {
                bytes.extend_from_slice(&(before + index).to_le_bytes());
                count += 1;
            }
            before += part.positions.len() as u32;
        }
        let view = self.view(&bytes, Some(ELEMENT_ARRAY_BUFFER));
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "count": count, "type": "SCALAR",
        }));
        let mut primitive = json!({
            "attributes": attributes, "indices": self.accessors.len() - 1,
        });
        if let Some(material) = material {
            primitive["material"] = json!(material);
        }
        primitive
    }

    /// Writes the bones of vertices, and returns the number of their accessor.
    fn joints(&mut self, grips: &[Grip]) -> usize {
        let numbers = grips.iter().flat_map(|grip| grip.bones);
        let bytes: Vec<u8> = numbers.flat_map(u16::to_le_bytes).collect();
        let view = self.view(&bytes, Some(ARRAY_BUFFER));
        self.accessors.push(json!({
            "bufferView": view, "componentType": UNSIGNED_SHORT, "count": grips.len(),
            "type": "VEC4",
        }));
        self.accessors.len() - 1
    }

    /// Writes plain numbers of an accessor, and returns its number.
    fn numbers(&mut self, numbers: &[f32], kind: &str, count: usize) -> usize {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&bytes, None);
        self.accessors.push(json!({
            "bufferView": view, "componentType": FLOAT, "count": count, "type": kind,
        }));
        self.accessors.len() - 1
    }

    /// Writes the skin, whose joints are all bones.
    fn skin(&mut self, skeleton: &Skeleton) -> Value {
        let binds = skeleton.bones.iter();
        let binds: Vec<f32> = binds.flat_map(|bone| columns(&bone.inverse_bind)).collect();
        let joints: Vec<usize> = (1..=skeleton.bones.len()).collect();
        let binds = self.numbers(&binds, "MAT4", joints.len());
        json!({ "joints": joints, "inverseBindMatrices": binds, "skeleton": skeleton.root + 1 })
    }

    /// Writes a motion.
    fn clip(&mut self, clip: &Clip) -> Value {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for Track { bone, keys } in &clip.tracks {
            let times: Vec<f32> = keys.iter().map(|key| key.time_s).collect();
            let input = self.numbers(&times, "SCALAR", keys.len());
            self.accessors[input]["min"] = json!([times.first()]);
            self.accessors[input]["max"] = json!([times.last()]);
            let positions: Vec<f32> = keys.iter().flat_map(|key| key.position).collect();
            let turns: Vec<f32> = keys.iter().flat_map(|key| key.orientation_xyzw).collect();
            let scales: Vec<f32> = keys.iter().flat_map(|key| key.scale).collect();
            let parts = [
                ("translation", &positions, "VEC3"),
                ("rotation", &turns, "VEC4"),
                ("scale", &scales, "VEC3"),
            ];
            for (path, numbers, kind) in parts {
                let output = self.numbers(numbers, kind, keys.len());
                channels.push(json!({
                    "sampler": samplers.len(), "target": { "node": bone + 1, "path": path },
                }));
                samplers.push(json!({ "input": input, "output": output }));
            }
        }
        json!({ "name": clip.name, "channels": channels, "samplers": samplers })
    }

    /// Writes vectors, and returns the number of their accessor.
    fn vectors<const N: usize>(&mut self, vectors: &[[f32; N]], is_bounded: bool) -> usize {
        let numbers = vectors.iter().flatten();
        let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        let view = self.view(&bytes, Some(ARRAY_BUFFER));
        let mut accessor = json!({
            "bufferView": view,
            "componentType": FLOAT,
            "count": vectors.len(),
            "type": format!("VEC{N}"),
        });
        if is_bounded {
            let bound = |i: usize, start: f32, pick: fn(f32, f32) -> f32| {
                vectors.iter().map(|vector| vector[i]).fold(start, pick)
            };
            let least: Vec<f32> = (0..N).map(|i| bound(i, f32::INFINITY, f32::min)).collect();
            let most: Vec<f32> = (0..N)
                .map(|i| bound(i, f32::NEG_INFINITY, f32::max))
                .collect();
            accessor["min"] = json!(least);
            accessor["max"] = json!(most);
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Writes bytes, and returns the number of their view.
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let mut view = json!({
            "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len(),
        });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Returns the file.
    fn finish(self, mut document: Map<String, Value>) -> Vec<u8> {
        let length = self.bytes.len();
        document.insert("buffers".to_owned(), json!([{ "byteLength": length }]));
        add(&mut document, "bufferViews", self.views);
        add(&mut document, "accessors", self.accessors);
        let mut text = Value::Object(document).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let whole = 12 + 8 + text.len() + 8 + length;
        let mut file = Vec::with_capacity(whole);
        file.extend_from_slice(b"glTF");
        file.extend_from_slice(&2_u32.to_le_bytes());
        file.extend_from_slice(&(whole as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.bytes)] {
            file.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
            file.extend_from_slice(kind);
            file.extend_from_slice(chunk);
        }
        file
    }
}

fn joined<'p, T: Copy + 'p>(
    parts: &[&'p VisualPart],
    list: impl Fn(&'p VisualPart) -> &'p Vec<T>,
) -> Vec<T> {
    parts
        .iter()
        .flat_map(|part| list(part).iter().copied())
        .collect()
}
