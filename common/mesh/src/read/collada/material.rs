//! [`Materials`]: materials, effects and images of a Collada file.

use std::collections::BTreeMap;

use super::tree::{Document, Element};
use crate::read::SideFile;
use crate::read::gathering::Gathering;
use crate::read::gltf::percent_decoded;
use crate::visual_mesh::{Alpha, VisualMaterial};

/// Opacity below which a material is taken for opaque: exporters mix up 0 and 1.
const OPACITY_MIN: f32 = 0.01;

/// The shading models of an effect.
const SHADERS: [&str; 4] = ["phong", "blinn", "lambert", "constant"];

/// Finds materials by their ids, each once.
pub(super) struct Materials<'e, 'd> {
    document: &'d Document<'e>,
    side_file: &'d SideFile<'d>,
    numbers: BTreeMap<String, Option<usize>>,
}

impl<'e, 'd> Materials<'e, 'd> {
    pub(super) fn new(document: &'d Document<'e>, side_file: &'d SideFile<'d>) -> Self {
        Self {
            document,
            side_file,
            numbers: BTreeMap::new(),
        }
    }

    /// Returns the number of the material that an instance of a geometry binds to a symbol.
    pub(super) fn bound(
        &mut self,
        instance: Option<&Element>,
        symbol: &str,
        gathering: &mut Gathering,
    ) -> Option<usize> {
        let bound = instance.and_then(|instance| instance.child("bind_material"));
        let technique = bound.and_then(|bound| bound.child("technique_common"));
        let mut bindings = technique
            .iter()
            .flat_map(|technique| technique.children("instance_material"));
        let binding = bindings.find(|binding| binding.attribute("symbol") == Some(symbol));
        let target = binding.and_then(|binding| binding.attribute("target"));
        let id = target.map_or(symbol, |target| target.strip_prefix('#').unwrap_or(target));
        if let Some(known) = self.numbers.get(id) {
            return *known;
        }
        let material = self.read(id, gathering);
        let number = material.and_then(|material| gathering.add_material(material));
        self.numbers.insert(id.to_owned(), number);
        number
    }

    fn read(&self, id: &str, gathering: &mut Gathering) -> Option<VisualMaterial> {
        let material = self.document.find("material", id)?;
        let instance = material.child("instance_effect")?;
        let effect = self.document.referred(instance, "url", "effect").ok()?;
        let profile = effect.child("profile_COMMON")?;
        let technique = profile.child("technique")?;
        let shader = SHADERS.iter().find_map(|name| technique.child(name))?;
        let image = |name: &str, gathering: &mut Gathering| {
            let texture = shader.child(name)?.child("texture")?.attribute("texture")?;
            let file = self.image_file(effect, profile, texture)?;
            add_image(&file, self.side_file, gathering)
        };
        let color_image = image("diffuse", gathering);
        let emissive_image = image("emission", gathering);
        let plain = if color_image.is_some() { 1.0 } else { 0.8 };
        let [red, green, blue, _] = color(shader, "diffuse").unwrap_or([plain, plain, plain, 1.0]);
        let opacity = opacity(shader);
        let emission = color(shader, "emission").unwrap_or([0.0; 4]);
        let shininess = number(shader, "shininess").unwrap_or(10.0).max(0.0);
        Some(VisualMaterial {
            name: material.attribute("name").unwrap_or(id).to_owned(),
            color: [red, green, blue, opacity],
            emissive: if emissive_image.is_some() {
                [1.0; 3]
            } else {
                [emission[0], emission[1], emission[2]]
            },
            roughness: (2.0 / (shininess + 2.0)).sqrt().clamp(0.0, 1.0),
            color_image,
            emissive_image,
            alpha: if opacity < 1.0 {
                Alpha::Blend
            } else {
                Alpha::Opaque
            },
            is_double_sided: is_double_sided(effect, profile),
            ..VisualMaterial::default()
        })
    }

    /// Returns the file of a texture: by way of its sampler and its surface, or by its id alone.
    fn image_file(&self, effect: &Element, profile: &Element, texture: &str) -> Option<String> {
        let parameter = |sid: &str| {
            let own = profile
                .children("newparam")
                .chain(effect.children("newparam"));
            let mut own = own.filter(|parameter| parameter.attribute("sid") == Some(sid));
            own.next()
        };
        let sampler = parameter(texture).and_then(|found| found.child("sampler2D"));
        let by_url = sampler.and_then(|sampler| sampler.child("instance_image"));
        let url = by_url.and_then(|instance| instance.attribute("url"));
        let source = sampler.and_then(|sampler| sampler.child("source"));
        let surface = source.and_then(|source| parameter(source.text.trim()));
        let surface = surface.and_then(|found| found.child("surface"));
        let from = surface.and_then(|surface| surface.child("init_from"));
        let id = url
            .map(|url| url.strip_prefix('#').unwrap_or(url))
            .or(from.map(|from| from.text.trim()))
            .unwrap_or(texture);
        let from = self.document.find("image", id)?.child("init_from")?;
        let name = from.child("ref").unwrap_or(from).text.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }
}

/// Adds the image of a file, which exporters name by where it was on their machine: it is looked
/// for beside the mesh, too, and in the folder of textures of its model.
fn add_image(file: &str, side_file: &SideFile<'_>, gathering: &mut Gathering) -> Option<usize> {
    let name = percent_decoded(file.strip_prefix("file://").unwrap_or(file));
    let name = name.replace('\\', "/");
    let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
    let of_model = format!("../materials/textures/{last}");
    gathering.add_image_file(&[&name, &last, &of_model], side_file)
}

fn color(shader: &Element, name: &str) -> Option<[f32; 4]> {
    let numbers: Vec<f32> = shader.child(name)?.child("color")?.numbers().ok()?;
    let part = |i: usize| {
        let own = numbers.get(i).copied().filter(|x| x.is_finite());
        own.map(|x| x.clamp(0.0, 1.0))
    };
    Some([part(0)?, part(1)?, part(2)?, part(3).unwrap_or(1.0)])
}

fn number(shader: &Element, name: &str) -> Option<f32> {
    let numbers: Vec<f32> = shader.child(name)?.child("float")?.numbers().ok()?;
    numbers.first().copied().filter(|x| x.is_finite())
}

/// Returns the part of light that does not pass through.
fn opacity(shader: &Element) -> f32 {
    let factor = number(shader, "transparency")
        .unwrap_or(1.0)
        .clamp(0.0, 1.0);
    let Some(transparent) = shader.child("transparent") else {
        return 1.0;
    };
    let color = color(shader, "transparent").unwrap_or([1.0; 4]);
    let opacity = if transparent.attribute("opaque") == Some("RGB_ZERO") {
        1.0 - factor * (0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2])
    } else {
        factor * color[3]
    };
    if opacity < OPACITY_MIN { 1.0 } else { opacity }
}

fn is_double_sided(effect: &Element, profile: &Element) -> bool {
    let extras = profile.children("extra").chain(effect.children("extra"));
    let mut techniques = extras.flat_map(|extra| extra.children("technique"));
    techniques.any(|technique| {
        let told = technique.child("double_sided");
        told.is_some_and(|told| matches!(told.text.trim(), "1" | "true"))
    })
}
