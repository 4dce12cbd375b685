//! Materials and images of a glTF document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ::gltf::Document;
use ::gltf::image::Source;
use ::gltf::material::{AlphaMode, Material};
use ::gltf::texture::Texture;

use super::buffers;
use crate::color;
use crate::read::SideFile;
use crate::read::gathering::Gathering;
use crate::visual_mesh::{Alpha, VisualMaterial};

/// Roughness and metalness that the format gives to a material that says nothing.
const GLTF_DEFAULT: f32 = 1.0;

/// Finds the materials of primitives, each once.
pub(super) struct Materials<'d> {
    buffers: &'d [Cow<'d, [u8]>],
    side_file: &'d SideFile<'d>,
    numbers: BTreeMap<usize, Option<usize>>,
    images: BTreeMap<usize, Option<usize>>,
}

impl<'d> Materials<'d> {
    pub(super) fn new(buffers: &'d [Cow<'d, [u8]>], side_file: &'d SideFile<'d>) -> Self {
        Self {
            buffers,
            side_file,
            numbers: BTreeMap::new(),
            images: BTreeMap::new(),
        }
    }

    /// Returns the number of a material; none of the default material.
    pub(super) fn number(
        &mut self,
        material: &Material<'_>,
        gathering: &mut Gathering,
    ) -> Option<usize> {
        let index = material.index()?;
        if let Some(known) = self.numbers.get(&index) {
            return *known;
        }
        let own = self.read(material, gathering);
        let number = gathering.add_material(own);
        self.numbers.insert(index, number);
        number
    }

    fn read(&mut self, material: &Material<'_>, gathering: &mut Gathering) -> VisualMaterial {
        let pbr = material.pbr_metallic_roughness();
        let mut image = |texture: Option<Texture<'_>>| self.image(&texture?, gathering);
        let part = |x: f32| {
            if x.is_finite() {
                x.clamp(0.0, 1.0)
            } else {
                GLTF_DEFAULT
            }
        };
        VisualMaterial {
            name: material.name().unwrap_or_default().to_owned(),
            color: as_shown(pbr.base_color_factor().map(part)),
            emissive: material.emissive_factor().map(part).map(color::shown),
            metalness: part(pbr.metallic_factor()),
            roughness: part(pbr.roughness_factor()),
            color_image: image(pbr.base_color_texture().map(|info| info.texture())),
            normal_image: image(material.normal_texture().map(|info| info.texture())),
            normal_scale: normal_scale(material),
            metal_rough_image: image(pbr.metallic_roughness_texture().map(|info| info.texture())),
            emissive_image: image(material.emissive_texture().map(|info| info.texture())),
            alpha: match material.alpha_mode() {
                AlphaMode::Opaque => Alpha::Opaque,
                AlphaMode::Mask => Alpha::Mask(part(material.alpha_cutoff().unwrap_or(0.5))),
                AlphaMode::Blend => Alpha::Blend,
            },
            is_double_sided: material.double_sided(),
        }
    }

    /// Returns the number of the image of a texture, if it can be drawn.
    fn image(&mut self, texture: &Texture<'_>, gathering: &mut Gathering) -> Option<usize> {
        let image = texture.source()?;
        if let Some(known) = self.images.get(&image.index()) {
            return *known;
        }
        let name = format!("image {}", image.index());
        let number = match image.source() {
            Source::View { view, .. } => {
                let buffer = self.buffers.get(view.buffer().index());
                let end = view.offset().checked_add(view.length());
                let bytes = buffer
                    .zip(end)
                    .and_then(|(b, end)| b.get(view.offset()..end));
                bytes.and_then(|bytes| gathering.add_image(&name, bytes.to_vec()))
            }
            Source::Uri { uri, .. } if uri.starts_with("data:") => {
                let bytes = buffers::spelled_out(uri);
                bytes.and_then(|bytes| gathering.add_image(&name, bytes))
            }
            Source::Uri { uri, .. } => {
                gathering.add_image_file(&[&buffers::percent_decoded(uri)], self.side_file)
            }
        };
        self.images.insert(image.index(), number);
        number
    }
}

/// Returns a colour whose alpha is no light.
fn as_shown([red, green, blue, alpha]: [f32; 4]) -> [f32; 4] {
    let [red, green, blue] = [red, green, blue].map(color::shown);
    [red, green, blue, alpha]
}

/// Tells whether the sources of all images are said, which the crate takes for granted.
pub(super) fn has_whole_images(document: &Document) -> bool {
    let mut images = document.as_json().images.iter();
    images.all(|image| {
        let has_view = image.buffer_view.is_some() && image.mime_type.is_some();
        has_view || (image.buffer_view.is_none() && image.uri.is_some())
    })
}
/// Returns the factor by which normals of an image lean; what is no number is none.
fn normal_scale(material: &Material<'_>) -> f32 {
    let scale = material.normal_texture().map_or(1.0, |info| info.scale());
    if scale.is_finite() { scale } else { 1.0 }
}
