//! [`Document`]: the members of a glTF document that shapes need, and its buffers.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_PAD_INDIFFERENT;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::read::{MESH_FILE_BYTES_MAX, MeshProblem, SideFile};

/// The most members of a list of objects; two bytes of text can become hundreds in memory.
const MEMBERS_MAX: usize = 200_000;

/// A glTF document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: Asset,
    pub(super) scene: Option<usize>,
    #[serde(default, deserialize_with = "bounded")]
    pub(super) scenes: Vec<Scene>,
    #[serde(default, deserialize_with = "bounded")]
    pub(super) nodes: Vec<Node>,
    #[serde(default, deserialize_with = "bounded")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, deserialize_with = "bounded")]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default, deserialize_with = "bounded")]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(default, deserialize_with = "bounded")]
    buffers: Vec<Buffer>,
    #[serde(default)]
    pub(super) extensions_required: Vec<String>,
}

/// What the document is.
#[derive(Deserialize)]
pub(super) struct Asset {
    pub(super) version: String,
}

/// The nodes at the root of a scene.
#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) nodes: Vec<usize>,
}

/// A place in the scene.
#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) children: Vec<usize>,
    pub(super) mesh: Option<usize>,
    pub(super) matrix: Option<[f64; 16]>,
    pub(super) translation: Option<[f64; 3]>,
    pub(super) rotation: Option<[f64; 4]>,
    pub(super) scale: Option<[f64; 3]>,
}

/// A shape, which several nodes may show.
#[derive(Deserialize)]
pub(super) struct Mesh {
    #[serde(default)]
    pub(super) name: String,
    #[serde(deserialize_with = "bounded")]
    pub(super) primitives: Vec<Primitive>,
}

/// A part of a mesh.
#[derive(Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: Attributes,
    pub(super) indices: Option<usize>,
    /// 4 triangles, 5 a strip, 6 a fan; the others are points and lines.
    pub(super) mode: Option<u32>,
}

/// The accessors of a primitive.
#[derive(Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub(super) position: Option<usize>,
}

/// A list of numbers or of vectors in a buffer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<usize>,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sparse: Option<Sparse>,
}

/// Values that replace some of an accessor.
#[derive(Deserialize)]
pub(super) struct Sparse {
    pub(super) count: usize,
    pub(super) indices: SparsePart,
    pub(super) values: SparsePart,
}

/// Where the indices or the values of a [`Sparse`] are.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparsePart {
    pub(super) buffer_view: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    /// Only with indices; values are of the accessor's type.
    pub(super) component_type: Option<u32>,
}

/// A part of a buffer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    pub(super) byte_stride: Option<usize>,
}

#[derive(Deserialize)]
struct Buffer {
    uri: Option<String>,
}

impl Document {
    /// Brings the bytes of all buffers together; `chunk` is the buffer within a GLB file.
    pub(super) fn load_buffers<'b>(
        &self,
        chunk: Option<&'b [u8]>,
        side_file: &SideFile<'_>,
    ) -> Result<Vec<Cow<'b, [u8]>>, MeshProblem> {
        let mut buffers = Vec::new();
        let mut total = 0_usize;
        for (number, buffer) in self.buffers.iter().enumerate() {
            let bytes = match (&buffer.uri, chunk) {
                (Some(uri), _) => Cow::Owned(load(uri, number, side_file)?),
                (None, Some(chunk)) if number == 0 => Cow::Borrowed(chunk),
                (None, _) => Cow::Borrowed(&[][..]),
            };
            total = total.saturating_add(bytes.len());
            if total > MESH_FILE_BYTES_MAX {
                return Err(MeshProblem::TooMany {
                    what: "bytes in buffers",
                    maximum: MESH_FILE_BYTES_MAX,
                });
            }
            buffers.push(bytes);
        }
        Ok(buffers)
    }
}

fn load(uri: &str, number: usize, side_file: &SideFile<'_>) -> Result<Vec<u8>, MeshProblem> {
    let Some(data) = uri.strip_prefix("data:") else {
        return side_file(&percent_decoded(uri)).ok_or_else(|| MeshProblem::MissingSideFile {
            uri: uri.to_owned(),
        });
    };
    let encoded = data.split_once(";base64,").map(|(_, encoded)| encoded);
    let bytes = encoded.and_then(|encoded| STANDARD_PAD_INDIFFERENT.decode(encoded).ok());
    bytes.ok_or_else(|| {
        let place = format!("buffer {number}");
        MeshProblem::malformed(place, "a data URI that is not valid base64")
    })
}

fn percent_decoded(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(|_| *first == b'%') {
            bytes.push(code);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a list of at most [`MEMBERS_MAX`] members.
fn bounded<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct Bounded<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Bounded<T> {
        type Value = Vec<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = list.next_element()? {
                if members.len() == MEMBERS_MAX {
                    let message = format!("a list has more than {MEMBERS_MAX} members");
                    return Err(A::Error::custom(message));
                }
                members.push(member);
            }
            Ok(members)
        }
    }

    deserializer.deserialize_seq(Bounded(PhantomData))
}
