//! From a scene to what is drawn of it: surfaces, looks and textures, each once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use mesh::color::linear;
use mesh::{Alpha, ImageFile, ImageProblem, VisualMaterial};
use scene::{AssetId, Assets, Geometry, Ground, Link, Material, Visual, World};

use super::{Item, Stage, Traits};
use crate::limbs::Limbs;
use crate::lit::{Highlight, Layers, Look};
use crate::shape::Surface;
use crate::texture::Texture;
use crate::vector::{Vector, add, length, scale, subtract};

/// Extent beyond which a flat shape is the ground \[m\].
const GROUND_SIZE: f64 = 20.0;

/// Colour of shapes without a material, as screens show it.
const GREY: f32 = 0.7;

/// Alpha below which a texture shows nothing, unless it blends.
const CUTOFF: f32 = 0.5;

/// A surface and the look that it has by itself.
type Part = (usize, Option<usize>);

/// Meshes and images that were read for a stage, by their names: a stage that comes after it takes
/// over those that it needs.
#[derive(Default)]
pub(super) struct Sources {
    meshes: BTreeMap<String, Arc<ReadMesh>>,
    plain: BTreeMap<String, Arc<Surface>>,
    images: BTreeMap<String, ReadImage>,
}

/// A mesh that was read.
struct ReadMesh {
    /// Surfaces, with their materials.
    parts: Vec<(Arc<Surface>, Option<usize>)>,
    /// Bones of each, of a mesh that is read with them.
    limbs: Vec<Option<Arc<Limbs>>>,
    materials: Vec<VisualMaterial>,
    images: Vec<ReadImage>,
}

/// An image that was read, or the reason why it was not.
type ReadImage = Result<Arc<Texture>, ImageProblem>;

/// Owner of a visual.
struct Place<'a> {
    /// The model, as an index into those of the world.
    model: usize,
    /// True if the model never moves.
    is_fixed: bool,
    link: &'a Link,
    /// Number of the visual, counted over all links of all models.
    visual: u32,
    /// True if limbs of the model move.
    has_limbs: bool,
}

/// A stage that is being made.
struct Builder<'a> {
    assets: &'a Assets,
    before: Option<&'a Sources>,
    stage: Stage,
    /// Surfaces of assets and of plain shapes, by their names.
    shapes: BTreeMap<String, Vec<Part>>,
    /// Textures by asset, and whether they hold plain numbers.
    textures: BTreeMap<String, Option<usize>>,
}

impl Stage {
    /// Makes the stage of a world, whose meshes and textures are among the assets.
    pub fn new(world: &World, assets: &Assets) -> Self {
        Self::after(world, assets, None)
    }

    /// Makes the stage of a world that was another one before: the same as [`Stage::new`], but what
    /// both have is read, and brought to a device, once.
    pub fn after(world: &World, assets: &Assets, before: Option<&Self>) -> Self {
        let mut builder = Builder {
            assets,
            before: before.map(|before| &before.sources),
            stage: Self {
                world: world.clone(),
                items: Vec::new(),
                surfaces: Vec::new(),
                looks: Vec::new(),
                textures: Vec::new(),
                limbs: BTreeMap::new(),
                sources: Sources::default(),
                problems: Vec::new(),
                kept: OnceLock::new(),
                kept_before: Mutex::new(before.and_then(Self::last_kept)),
            },
            shapes: BTreeMap::new(),
            textures: BTreeMap::new(),
        };
        let mut visual_number = 0;
        for (number, model) in world.models.iter().enumerate() {
            for link in &model.links {
                for visual in &link.visuals {
                    let name = format!("{}::{}::{}", model.name, link.name, visual.name);
                    let place = Place {
                        model: number,
                        is_fixed: model.is_static && !model.performer,
                        link,
                        visual: visual_number,
                        has_limbs: model.motion.is_some(),
                    };
                    builder.add(&place, visual, &name);
                    visual_number += 1;
                }
            }
        }
        builder.stage
    }
}

impl Builder<'_> {
    fn add(&mut self, at: &Place<'_>, visual: &Visual, name: &str) {
        if visual.transparency >= 1.0 {
            return;
        }
        let look = visual.material.as_ref().map(|material| self.look(material));
        let (parts, scale) = self.parts(&visual.geometry, name, at.has_limbs);
        for (surface, own) in parts {
            let look = match (look.as_ref(), own) {
                (Some(look), _) => look.clone(),
                (None, Some(own)) => self.stage.looks[own].clone(),
                (None, None) => plain(),
            };
            let look = clearer(look, visual.transparency as f32);
            let look = self.keep_look(look);
            let ball = match self.stage.limbs.get(&surface) {
                Some(limbs) => ([0.0; 3], limbs.reach),
                None => ball(&self.stage.surfaces[surface]),
            };
            let is_flat = matches!(
                visual.geometry,
                Geometry::Plane { .. } | Geometry::Heightmap { .. }
            );
            self.stage.items.push(Item {
                link: at.link.id,
                model: at.model,
                visual: at.visual,
                start: at.link.pose,
                pose: visual.pose,
                scale,
                surface,
                look,
                traits: Traits {
                    casts_shadows: visual.cast_shadows,
                    is_ground: is_flat && 2.0 * ball.1 > GROUND_SIZE,
                    is_fixed: at.is_fixed,
                    visibility_flags: visual.visibility_flags,
                },
                ball,
            });
        }
    }

    /// Returns the surfaces of a shape, and the factors by which they are scaled.
    fn parts(&mut self, geometry: &Geometry, name: &str, has_limbs: bool) -> (Vec<Part>, [f64; 3]) {
        let (asset, factors) = match geometry {
            Geometry::Mesh { asset, scale } => (asset, *scale),
            Geometry::Heightmap { asset } => (asset, [1.0; 3]),
            _ => {
                let key = format!("{geometry:?}");
                if let Some(known) = self.shapes.get(&key) {
                    return (known.clone(), [1.0; 3]);
                }
                let surface = self.plain_surface(geometry, &key);
                let parts = surface.map(|surface| (self.keep_surface(surface), None));
                let parts: Vec<Part> = parts.into_iter().collect();
                self.shapes.insert(key, parts.clone());
                return (parts, [1.0; 3]);
            }
        };
        // The same mesh may be drawn with bones and without.
        let key = if has_limbs {
            format!("{asset} with limbs")
        } else {
            asset.clone()
        };
        if let Some(known) = self.shapes.get(&key) {
            return (known.clone(), factors);
        }
        let parts = self.read_mesh(asset, &key, name, has_limbs);
        self.shapes.insert(key, parts.clone());
        (parts, factors)
    }

    /// Returns the surface of a plain shape, if it has any.
    fn plain_surface(&mut self, geometry: &Geometry, key: &str) -> Option<Arc<Surface>> {
        let known = self.before.and_then(|before| before.plain.get(key));
        let surface = match known {
            Some(known) => Arc::clone(known),
            None => Arc::new(plain_surface(geometry)?),
        };
        let sources = &mut self.stage.sources.plain;
        sources.insert(key.to_owned(), Arc::clone(&surface));
        Some(surface)
    }

    fn read_mesh(&mut self, asset: &str, key: &str, name: &str, has_limbs: bool) -> Vec<Part> {
        let known = self.before.and_then(|before| before.meshes.get(key));
        let mesh = known.map(Arc::clone);
        let decode = |own: &mut Self| own.decode_mesh(asset, name, has_limbs).map(Arc::new);
        let mesh = mesh.or_else(|| decode(self));
        let Some(mesh) = mesh else {
            return Vec::new();
        };
        let sources = &mut self.stage.sources.meshes;
        sources.insert(key.to_owned(), Arc::clone(&mesh));
        let images = mesh.images.iter();
        let images: Vec<Option<usize>> = images
            .map(|image| self.keep_image(image.clone(), asset))
            .collect();
        let looks: Vec<usize> = mesh
            .materials
            .iter()
            .map(|material| self.keep_look(of_mesh(material, &images)))
            .collect();
        let parts = mesh.parts.iter().zip(&mesh.limbs);
        let parts = parts.map(|((surface, material), limbs)| {
            let surface = self.keep_surface(Arc::clone(surface));
            if let Some(limbs) = limbs {
                self.stage.limbs.insert(surface, Arc::clone(limbs));
            }
            (surface, material.map(|material| looks[material]))
        });
        parts.collect()
    }

    fn decode_mesh(&mut self, asset: &str, name: &str, has_limbs: bool) -> Option<ReadMesh> {
        let id = asset.parse::<AssetId>().ok();
        let Some(found) = id.and_then(|id| self.assets.get(&id)) else {
            self.tell(format!("{name} is not drawn: {asset} is missing"));
            return None;
        };
        let read = if has_limbs {
            mesh::read_skinned_mesh
        } else {
            mesh::read_visual_mesh
        };
        let mut mesh = match read(&found.bytes, asset, &|_| None) {
            Ok(mesh) => mesh,
            Err(error) => {
                self.tell(format!("{name} is not drawn: {error}"));
                return None;
            }
        };
        let surfaces = mesh.parts.iter();
        let surfaces = surfaces.map(|part| (Arc::new(Surface::of_part(part)), part.material));
        let surfaces: Vec<(Arc<Surface>, Option<usize>)> = surfaces.collect();
        let skeleton = mesh.skeleton.take().map(Arc::new);
        let parts = mesh.parts.iter().zip(&surfaces);
        let limbs = parts.map(|(part, (surface, _))| {
            let skeleton = skeleton.as_ref()?;
            Some(Arc::new(Limbs::new(skeleton, &part.grips, surface)))
        });
        let of_normals = |number: usize| {
            let mut materials = mesh.materials.iter();
            materials.any(|material| material.normal_image == Some(number))
        };
        let images = mesh.images.iter().enumerate();
        let images = images.map(|(number, image)| decoded(image, of_normals(number)));
        Some(ReadMesh {
            limbs: limbs.collect(),
            parts: surfaces,
            images: images.collect(),
            materials: mesh.materials,
        })
    }

    fn keep_surface(&mut self, surface: Arc<Surface>) -> usize {
        self.stage.surfaces.push(surface);
        self.stage.surfaces.len() - 1
    }

    fn keep_look(&mut self, look: Look) -> usize {
        let known = self.stage.looks.iter().position(|known| *known == look);
        known.unwrap_or_else(|| {
            self.stage.looks.push(look);
            self.stage.looks.len() - 1
        })
    }

    fn keep_image(&mut self, image: ReadImage, name: &str) -> Option<usize> {
        match image {
            Ok(texture) => {
                self.stage.textures.push(texture);
                Some(self.stage.textures.len() - 1)
            }
            Err(problem) => {
                self.tell(format!("a texture of {name} is not drawn: {problem}"));
                None
            }
        }
    }

    /// Returns the texture of an image of colours, or of `plain` numbers.
    fn texture(&mut self, asset: &str, is_plain: bool) -> Option<usize> {
        let key = if is_plain {
            format!("{asset} of numbers")
        } else {
            asset.to_owned()
        };
        if let Some(known) = self.textures.get(&key) {
            return *known;
        }
        let known = self.before.and_then(|before| before.images.get(&key));
        let image = known.cloned().or_else(|| {
            let id = asset.parse::<AssetId>().ok();
            let found = id.and_then(|id| self.assets.get(&id))?;
            let file = ImageFile::new(found.bytes.to_vec()).ok()?;
            Some(decoded(&file, is_plain))
        });
        let number = if let Some(image) = image {
            let sources = &mut self.stage.sources.images;
            sources.insert(key.clone(), image.clone());
            self.keep_image(image, asset)
        } else {
            self.tell(format!("a texture is not drawn: {asset} is missing"));
            None
        };
        self.textures.insert(key, number);
        number
    }

    fn look(&mut self, material: &Material) -> Look {
        let texture = material
            .texture
            .as_deref()
            .and_then(|asset| self.texture(asset, false));
        let emissive = material.emissive_map.as_deref();
        let emissive_texture = emissive.and_then(|asset| self.texture(asset, false));
        let normals = material.normal_map.as_deref();
        let normal_texture = normals.and_then(|asset| self.texture(asset, true));
        let light = |part: f64| linear(part as f32);
        let [red, green, blue, alpha] = material.diffuse;
        let [own_red, own_green, own_blue, _] = material.emissive;
        Look {
            color: [light(red), light(green), light(blue), alpha as f32],
            emissive: [light(own_red), light(own_green), light(own_blue)],
            metalness: material.metalness as f32,
            highlight: highlight(material),
            texture,
            emissive_texture,
            normal_texture,
            normal_scale: 1.0,
            // Alpha of textures of ground is no hole in it.
            cutoff: if texture.is_some() && material.ground.is_none() {
                CUTOFF
            } else {
                0.0
            },
            blends: alpha < 1.0,
            is_lit: material.lighting,
            has_back: material.double_sided,
            layers: material
                .ground
                .as_ref()
                .and_then(|ground| self.layers(ground)),
        }
    }

    /// Returns the layers of ground whose shares are there.
    fn layers(&mut self, ground: &Ground) -> Option<Layers> {
        let shares = self.texture(&ground.shares, true)?;
        let mut textures = [None; 3];
        for (place, layer) in textures.iter_mut().zip(&ground.layers) {
            let texture = self.texture(&layer.texture, false);
            *place = texture.map(|texture| (texture, layer.repeat as f32));
        }
        Some(Layers {
            shares,
            shares_at: ground.shares_at.map(|part| part as f32),
            textures,
        })
    }

    fn tell(&mut self, problem: String) {
        if !self.stage.problems.contains(&problem) {
            self.stage.problems.push(problem);
        }
    }
}

fn decoded(image: &ImageFile, is_plain: bool) -> ReadImage {
    let image = image.decode()?;
    Ok(Arc::new(Texture::new(&image, is_plain)))
}

fn highlight(material: &Material) -> Highlight {
    let [red, green, blue, _] = material.specular.map(|part| part as f32);
    let specular = [red, green, blue];
    if material.shininess > 0.0 {
        return Highlight::of_shininess(material.shininess as f32, specular);
    }
    let [roughness, metalness] = [material.roughness, material.metalness].map(|part| part as f32);
    Highlight::of_roughness(roughness, metalness, specular)
}

/// Returns the look of a material of a mesh.
fn of_mesh(material: &VisualMaterial, images: &[Option<usize>]) -> Look {
    let [red, green, blue, alpha] = material.color;
    let number = |image: Option<usize>| images.get(image?).copied().flatten();
    let texture = number(material.color_image);
    Look {
        color: [linear(red), linear(green), linear(blue), alpha],
        emissive: material.emissive.map(linear),
        metalness: material.metalness,
        highlight: Highlight::of_roughness(material.roughness, material.metalness, [1.0; 3]),
        texture,
        emissive_texture: number(material.emissive_image),
        normal_texture: number(material.normal_image),
        normal_scale: material.normal_scale,
        cutoff: match material.alpha {
            Alpha::Mask(cutoff) => cutoff,
            Alpha::Opaque | Alpha::Blend => 0.0,
        },
        blends: material.alpha == Alpha::Blend,
        is_lit: true,
        has_back: material.is_double_sided,
        layers: None,
    }
}

/// The look of shapes without a material.
fn plain() -> Look {
    let grey = linear(GREY);
    Look {
        color: [grey, grey, grey, 1.0],
        emissive: [0.0; 3],
        metalness: 0.0,
        highlight: Highlight::of_roughness(0.8, 0.0, [1.0; 3]),
        texture: None,
        emissive_texture: None,
        normal_texture: None,
        normal_scale: 1.0,
        cutoff: 0.0,
        blends: false,
        is_lit: true,
        has_back: false,
        layers: None,
    }
}

/// Returns a look through which more light passes.
fn clearer(mut look: Look, transparency: f32) -> Look {
    if transparency > 0.0 {
        if !look.blends {
            look.color[3] = 1.0;
        }
        look.color[3] *= 1.0 - transparency;
        look.blends = true;
    }
    look
}

fn plain_surface(geometry: &Geometry) -> Option<Surface> {
    Some(match geometry {
        Geometry::Box { size } => Surface::of_box(*size),
        Geometry::Sphere { radius } => Surface::of_ellipsoid([*radius; 3]),
        Geometry::Ellipsoid { radii } => Surface::of_ellipsoid(*radii),
        Geometry::Cylinder { radius, length } => Surface::of_cylinder(*radius, *length),
        Geometry::Capsule { radius, length } => Surface::of_capsule(*radius, *length),
        Geometry::Cone { radius, length } => Surface::of_cone(*radius, *length),
        Geometry::Plane { normal, size } => Surface::of_plane(*normal, *size),
        Geometry::Empty | Geometry::Mesh { .. } | Geometry::Heightmap { .. } => return None,
    })
}

/// Returns a ball around a surface.
fn ball(surface: &Surface) -> (Vector, f64) {
    let positions = || {
        surface
            .positions
            .iter()
            .map(|position| position.map(f64::from))
    };
    let Some(first) = positions().next() else {
        return ([0.0; 3], 0.0);
    };
    let (mut low, mut high) = (first, first);
    for position in positions() {
        for axis in 0..3 {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
    }
    let center = scale(add(low, high), 0.5);
    let distances = positions().map(|position| length(subtract(position, center)));
    (center, distances.fold(0.0, f64::max))
}
