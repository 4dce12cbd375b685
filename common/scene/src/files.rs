//! [`Files`]: meshes and images that visuals name, each read once and kept as an asset.

use std::collections::{BTreeMap, BTreeSet};

use mesh::{
    HeightGrid, ImageFile, ImageFormat, ReadMeshError, TriangleMesh, VisualMaterial, VisualMesh,
    VisualPart,
};
use sdf::{
    Actor, GroundBlend, GroundTexture, HeightmapShape, KeptFiles, MeshShape, ResolveError,
    ResolvedData, Resolver, mesh_name,
};

use crate::assets::{Assets, MediaType};
use crate::ground::{self, Ground, GroundLayer, LAYERS_MAX};
use crate::material::{self, Material};

/// The most problems that are told of all worlds.
const PROBLEMS_MAX: usize = 200;

/// The most samples of heights along an edge of a heightmap that are drawn.
const HEIGHT_SAMPLES_MAX: usize = 513;

/// Files of visuals, as assets.
pub(crate) struct Files<'a> {
    /// Files that came with the world or the model, which are looked at first.
    kept: KeptFiles<'a>,
    resolver: &'a dyn Resolver,
    assets: &'a mut Assets,
    /// Content of mesh files by URI and the file that names it; the reason where there is none.
    meshes: BTreeMap<(String, String), Result<VisualMesh, MeshFileError>>,
    /// Assets of what is taken of mesh files: by URI, file, submesh and whether that is centred.
    parts: BTreeMap<(String, String, String, bool), Option<String>>,
    images: BTreeMap<(String, String), Option<String>>,
    /// Assets of skins of actors by their names and the files that name them.
    skins: BTreeMap<(String, String), Option<String>>,
    /// Assets of the meshes of collisions of one world, by their indices.
    collisions: BTreeMap<usize, Option<String>>,
    told: BTreeSet<String>,
    /// Files that are of no use, and why, for people.
    pub(crate) problems: Vec<String>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(resolver: &'a dyn Resolver, assets: &'a mut Assets) -> Self {
        Self {
            kept: KeptFiles(&[]),
            resolver,
            assets,
            meshes: BTreeMap::new(),
            parts: BTreeMap::new(),
            images: BTreeMap::new(),
            skins: BTreeMap::new(),
            collisions: BTreeMap::new(),
            told: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    /// Returns the asset of a mesh that a visual in a file names; `visual` is its scoped name.
    pub(crate) fn mesh(&mut self, shape: &MeshShape, file: &str, visual: &str) -> Option<String> {
        let key = (
            shape.uri.clone(),
            file.to_owned(),
            shape.submesh.clone(),
            shape.center_submesh,
        );
        if let Some(known) = self.parts.get(&key) {
            return known.clone();
        }
        let asset = self.read_part(shape, file, visual);
        self.parts.insert(key, asset.clone());
        asset
    }

    fn read_part(&mut self, shape: &MeshShape, file: &str, visual: &str) -> Option<String> {
        // A part that was kept is a file of its own.
        if let Ok(data) = self.kept.read_data(&mesh_name(shape), file) {
            return match mesh::read_visual_mesh(&data.bytes, &data.file, &|_| None) {
                Ok(mesh) => self.keep_mesh(&mesh),
                Err(error) => {
                    self.tell_of(visual, &error.to_string());
                    None
                }
            };
        }
        let key = (shape.uri.clone(), file.to_owned());
        if !self.meshes.contains_key(&key) {
            let mesh = read_mesh(self.resolver, &shape.uri, file);
            if let Ok(mesh) = &mesh {
                for problem in &mesh.problems {
                    self.tell(format!("{:?}: {problem}", shape.uri));
                }
            }
            self.meshes.insert(key.clone(), mesh);
        }
        let mesh = match &self.meshes[&key] {
            Ok(mesh) if shape.submesh.is_empty() => mesh.clone(),
            Ok(mesh) => {
                let Some(part) = mesh.submesh(&shape.submesh) else {
                    let known = mesh.names().join(", ");
                    let (uri, name) = (&shape.uri, &shape.submesh);
                    let problem = format!("{uri:?} has no submesh {name:?}; it has: {known}");
                    self.tell_of(visual, &problem);
                    return None;
                };
                if shape.center_submesh {
                    part.centered()
                } else {
                    part
                }
            }
            Err(error) => {
                let problem = error.to_string();
                self.tell_of(visual, &problem);
                return None;
            }
        };
        self.keep_mesh(&mesh)
    }

    /// Returns the asset of the skin of an actor, with the motions of its limbs; `visual` is its
    /// scoped name.
    pub(crate) fn skin(&mut self, actor: &Actor, visual: &str) -> Option<String> {
        let key = (actor.skin_name()?, actor.file.clone());
        if let Some(known) = self.skins.get(&key) {
            return known.clone();
        }
        let asset = self.read_skin(actor, &key.0, visual);
        self.skins.insert(key, asset.clone());
        asset
    }

    fn read_skin(&mut self, actor: &Actor, name: &str, visual: &str) -> Option<String> {
        let kept = self.kept.read_data(name, &actor.file);
        let read = match kept {
            Ok(data) => mesh::read_skinned_mesh(&data.bytes, &data.file, &|_| None)
                .map(|mesh| (mesh, Vec::new()))
                .map_err(|error| error.to_string()),
            Err(_) => sdf::read_skin(actor, self.resolver).map_err(|error| error.to_string()),
        };
        match read {
            Ok((mesh, problems)) => {
                for problem in problems.into_iter().chain(mesh.problems.iter().cloned()) {
                    self.tell_of(visual, &problem);
                }
                self.keep_mesh(&mesh)
            }
            Err(problem) => {
                self.tell_of(visual, &problem);
                None
            }
        }
    }

    /// Begins with another world, whose collisions have other meshes, and with the files that came
    /// with it.
    pub(crate) fn begin_world(&mut self, kept: KeptFiles<'a>) {
        self.collisions.clear();
        self.skins.clear();
        self.kept = kept;
    }

    fn read_data(&self, uri: &str, file: &str) -> Result<ResolvedData, ResolveError> {
        let kept = self.kept.read_data(uri, file);
        kept.or_else(|_| self.resolver.read_data(uri, file))
    }

    /// Returns the asset of a mesh of collisions, which many may refer to.
    pub(crate) fn collision(&mut self, index: usize, world: &sdf::World) -> Option<String> {
        if let Some(known) = self.collisions.get(&index) {
            return known.clone();
        }
        let mesh = world.meshes.get(index);
        let asset = mesh.and_then(|mesh| self.triangles(mesh));
        self.collisions.insert(index, asset.clone());
        asset
    }

    /// Returns the asset of bare triangles, such as outlines that are extruded.
    pub(crate) fn triangles(&mut self, mesh: &TriangleMesh) -> Option<String> {
        let mesh = VisualMesh::from_triangles(mesh);
        self.keep_mesh(&mesh)
    }

    fn keep_mesh(&mut self, mesh: &VisualMesh) -> Option<String> {
        if mesh.triangle_count() == 0 {
            return None;
        }
        self.keep(MediaType::Glb, mesh.to_glb())
    }

    fn keep(&mut self, media_type: MediaType, bytes: Vec<u8>) -> Option<String> {
        match self.assets.keep(media_type, bytes) {
            Ok(id) => Some(id.path()),
            Err(error) => {
                self.tell(error.to_string());
                None
            }
        }
    }

    /// Returns the asset of an image that a visual in a file names.
    pub(crate) fn image(&mut self, uri: &str, file: &str, visual: &str) -> Option<String> {
        if uri.is_empty() {
            return None;
        }
        let key = (uri.to_owned(), file.to_owned());
        if let Some(known) = self.images.get(&key) {
            return known.clone();
        }
        let image = self.read_image(uri, file, visual);
        let asset = image.and_then(|image| {
            let media_type = match image.format {
                ImageFormat::Png => MediaType::Png,
                ImageFormat::Jpeg => MediaType::Jpeg,
            };
            self.keep(media_type, image.bytes)
        });
        self.images.insert(key, asset.clone());
        asset
    }

    fn read_image(&mut self, uri: &str, file: &str, visual: &str) -> Option<ImageFile> {
        let data = match self.read_data(uri, file) {
            Ok(data) => data,
            Err(error) => {
                self.tell_of(visual, &format!("{uri:?} is not found: {error}"));
                return None;
            }
        };
        match ImageFile::new(data.bytes) {
            Ok(image) => Some(image),
            Err(problem) => {
                self.tell_of(visual, &format!("{uri:?} cannot be used: {problem}"));
                None
            }
        }
    }

    /// Returns the asset of the ground of a heightmap, whose image a visual in a file names, and
    /// its material, where that has layers.
    pub(crate) fn ground(
        &mut self,
        shape: &HeightmapShape,
        textures: &[GroundTexture],
        file: &str,
        visual: &str,
    ) -> Option<(String, Option<Material>)> {
        let data = match self.read_data(&shape.uri, file) {
            Ok(data) => data,
            Err(error) => {
                self.tell_of(visual, &format!("{:?} is not found: {error}", shape.uri));
                return None;
            }
        };
        let grid = match mesh::read_height_grid(&data.bytes, &shape.uri) {
            Ok(grid) => grid,
            Err(error) => {
                self.tell_of(visual, &error.to_string());
                return None;
            }
        };
        let Some((first, upper)) = textures.split_first() else {
            return Some((self.heights(shape, &grid, None, None)?, None));
        };
        let edge = Some(first.size);
        let named = Some(&first.diffuse).filter(|uri| !uri.is_empty());
        let image = named.and_then(|uri| self.read_image(uri, file, visual));
        // Viewers of the mesh alone see the first texture.
        let asset = self.heights(shape, &grid, image, edge)?;
        let layers = self.layers(first.size, upper, file, visual);
        if layers.is_empty() {
            return Some((asset, None));
        }
        let (blends, layers): (Vec<GroundBlend>, _) = layers.into_iter().unzip();
        let (shares, shares_at) = ground::shares(shape, &grid, first.size, &blends);
        let ground = Ground {
            shares: self.keep(MediaType::Png, shares.to_png())?,
            shares_at,
            layers,
        };
        let texture = self.image(&first.diffuse, file, visual);
        Some((asset, Some(material::of_ground(texture, ground))))
    }

    /// Returns the layers of a heightmap over its first texture, as far as they are drawn, with the
    /// heights at which they cover those below.
    fn layers(
        &mut self,
        edge: f64,
        textures: &[GroundTexture],
        file: &str,
        visual: &str,
    ) -> Vec<(GroundBlend, GroundLayer)> {
        let mut layers = Vec::new();
        for texture in textures {
            let uri = &texture.diffuse;
            let Some(blend) = texture.blend else {
                let problem = format!(
                    "texture {uri:?} has no <blend>: a heightmap has one for each texture but the \
                     first"
                );
                self.tell_of(visual, &problem);
                continue;
            };
            if layers.len() == LAYERS_MAX {
                let problem = format!("texture {uri:?} is one more than {}", LAYERS_MAX + 1);
                self.tell_of(visual, &problem);
                break;
            }
            if let Some(image) = self.image(uri, file, visual) {
                let repeat = edge / texture.size;
                let layer = GroundLayer {
                    texture: image,
                    repeat,
                };
                layers.push((blend, layer));
            }
        }
        layers
    }

    /// Returns the asset of the ground of a heightmap, with a texture, and with coordinates for
    /// copies of that with an edge length \[m\].
    pub(crate) fn heights(
        &mut self,
        shape: &HeightmapShape,
        grid: &HeightGrid,
        image: Option<ImageFile>,
        edge: Option<f64>,
    ) -> Option<String> {
        let mut part = ground_part(shape, grid, edge)?;
        let mut mesh = VisualMesh::default();
        if let Some(image) = image {
            part.material = Some(0);
            mesh.images.push(image);
            mesh.materials.push(VisualMaterial {
                color_image: Some(0),
                roughness: 1.0,
                ..VisualMaterial::default()
            });
        }
        mesh.parts.push(part);
        self.keep_mesh(&mesh)
    }

    fn tell_of(&mut self, visual: &str, problem: &str) {
        self.tell(format!("{visual} is not drawn as it should be: {problem}"));
    }

    /// Keeps a problem once.
    pub(crate) fn tell(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX && self.told.insert(problem.clone()) {
            self.problems.push(problem);
        }
    }
}

/// Reason why a mesh file is of no use.
#[derive(Clone, Debug, thiserror::Error)]
enum MeshFileError {
    /// It is not where it is looked for.
    #[error("{uri:?} is not found: {cause}")]
    NotFound {
        /// Its name.
        uri: String,
        /// Places where it was looked for.
        cause: String,
    },
    /// It is no mesh file.
    #[error(transparent)]
    Unreadable(#[from] ReadMeshError),
}

fn read_mesh(resolver: &dyn Resolver, uri: &str, file: &str) -> Result<VisualMesh, MeshFileError> {
    let data = resolver.read_data(uri, file);
    let data = data.map_err(|error| MeshFileError::NotFound {
        uri: uri.to_owned(),
        cause: error.to_string(),
    })?;
    let side_file = |name: &str| {
        let found = resolver.read_side(name, &data.file).ok()?;
        Some(found.bytes)
    };
    Ok(mesh::read_visual_mesh(&data.bytes, &data.file, &side_file)?)
}

/// Makes the triangles of the ground: samples are spread over its size from edge to edge, and of
/// more than are drawn every second, third or further one is taken.
fn ground_part(shape: &HeightmapShape, grid: &HeightGrid, edge: Option<f64>) -> Option<VisualPart> {
    let is_whole = grid.rows > 1 && grid.columns > 1;
    if !is_whole || grid.rows * grid.columns != grid.heights.len() {
        return None;
    }
    let (columns, rows) = (samples(grid.columns), samples(grid.rows));
    let [width, depth, height] = shape.size;
    let place = |column: usize, row: usize| -> [f64; 3] {
        let along = |index: usize, count: usize| index as f64 / (count - 1) as f64;
        let sample = grid.heights[row * grid.columns + column];
        [
            shape.position[0] + (along(column, grid.columns) - 0.5) * width,
            shape.position[1] + (0.5 - along(row, grid.rows)) * depth,
            shape.position[2] + f64::from(sample) * height,
        ]
    };
    let mut part = VisualPart::default();
    for (j, row) in rows.iter().enumerate() {
        for (i, column) in columns.iter().enumerate() {
            let here = place(*column, *row);
            let beside = |list: &[usize], at: usize| {
                [
                    list[at.saturating_sub(1)],
                    list[(at + 1).min(list.len() - 1)],
                ]
            };
            let [west, east] = beside(&columns, i).map(|column| place(column, *row));
            let [north, south] = beside(&rows, j).map(|row| place(*column, row));
            let slope = |low: [f64; 3], high: [f64; 3], axis: usize| {
                (high[2] - low[2]) / (high[axis] - low[axis])
            };
            let normal = [-slope(west, east, 0), -slope(south, north, 1), 1.0];
            let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
            part.positions.push(here.map(|x| x as f32));
            part.normals.push(normal.map(|x| (x / length) as f32));
            if let Some(edge) = edge {
                let [u, v] = [
                    (here[0] - shape.position[0] + width / 2.0) / edge,
                    (shape.position[1] + depth / 2.0 - here[1]) / edge,
                ];
                part.texcoords.push([u as f32, v as f32]);
            }
        }
    }
    let stride = columns.len();
    for row in 0..rows.len() - 1 {
        for column in 0..stride - 1 {
            let corner =
                |down: usize, right: usize| ((row + down) * stride + column + right) as u32;
            let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            part.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let numbers = part.positions.iter().chain(&part.normals).flatten();
    numbers.copied().all(f32::is_finite).then_some(part)
}

/// Returns the samples of an edge that are drawn, the first and the last among them.
fn samples(count: usize) -> Vec<usize> {
    let step = (count - 1).div_ceil(HEIGHT_SAMPLES_MAX - 1);
    let mut samples: Vec<usize> = (0..count - 1).step_by(step).collect();
    samples.push(count - 1);
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ground_reaches_from_edge_to_edge_whatever_is_left_out() {
        assert_eq!(samples(3), [0, 1, 2]);
        let many = samples(2000);
        assert!(many.len() <= HEIGHT_SAMPLES_MAX + 1, "{}", many.len());
        assert_eq!((many[0], many[many.len() - 1]), (0, 1999));
        let shape = HeightmapShape {
            uri: String::new(),
            size: [4.0, 2.0, 3.0],
            position: [1.0, 0.0, 0.5],
            grid: None,
        };
        let grid = HeightGrid {
            columns: 2,
            rows: 2,
            heights: vec![0.0, 1.0, 0.0, 1.0],
        };
        let part = ground_part(&shape, &grid, Some(2.0)).unwrap();
        assert_eq!(part.positions[0], [-1.0, 1.0, 0.5], "north-west is first");
        assert_eq!(part.positions[3], [3.0, -1.0, 3.5]);
        assert_eq!(part.texcoords[3], [2.0, 1.0]);
        assert_eq!(part.triangles, [[0, 2, 3], [0, 3, 1]]);
        let normal = part.normals[0];
        assert!(
            (normal[0] + 0.6).abs() < 1e-6 && normal[1].abs() < 1e-6,
            "{normal:?}"
        );
    }
}
