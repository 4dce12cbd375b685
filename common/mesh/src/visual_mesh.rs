//! [`VisualMesh`]: a mesh file as it is drawn: normals, texture coordinates, materials and images.

use crate::image::ImageFile;
use crate::read::flat_part;
use crate::skeleton::{Grip, Skeleton};
use crate::triangle_mesh::TriangleMesh;

/// The most triangles in one mesh that is drawn.
pub const VISUAL_TRIANGLES_MAX: usize = 1_000_000;

/// A mesh as it is drawn, in the frame of its file; z is up, as in SDF.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisualMesh {
    /// Its parts in the order of the file.
    pub parts: Vec<VisualPart>,
    /// The materials that parts refer to.
    pub materials: Vec<VisualMaterial>,
    /// The images that materials refer to.
    pub images: Vec<ImageFile>,
    /// The bones that move it, if they were asked for and there are any.
    pub skeleton: Option<Skeleton>,
    /// Names of images that could not be had or read, with the reason, for people.
    pub problems: Vec<String>,
}

/// Triangles of one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisualPart {
    /// The name that SDF's `<submesh>` refers to; empty when the file gives none.
    pub name: String,
    /// Positions \[m\], finite.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals, one for each position.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates u, v, one for each position or none at all; v is 0 in the first row of
    /// an image.
    pub texcoords: Vec<[f32; 2]>,
    /// Indices into `positions`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Index into [`VisualMesh::materials`].
    pub material: Option<usize>,
    /// The bones that positions go with: one for each position where the mesh has a skeleton, and
    /// none otherwise.
    pub grips: Vec<Grip>,
}

/// A material of a mesh file; images are indices into [`VisualMesh::images`].
#[derive(Clone, Debug, PartialEq)]
pub struct VisualMaterial {
    /// Its name.
    pub name: String,
    /// Red, green, blue as screens show them, and alpha, 0 to 1; it multiplies the image.
    pub color: [f32; 4],
    /// Colour that it sends out by itself.
    pub emissive: [f32; 3],
    /// 0 for plastic, 1 for metal.
    pub metalness: f32,
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f32,
    /// Image of colours.
    pub color_image: Option<usize>,
    /// Image of normals in the tangent frame.
    pub normal_image: Option<usize>,
    /// Factor of how far those lean.
    pub normal_scale: f32,
    /// Image of roughness (green) and metalness (blue).
    pub metal_rough_image: Option<usize>,
    /// Image of what it sends out by itself.
    pub emissive_image: Option<usize>,
    /// Use of alpha.
    pub alpha: Alpha,
    /// True if it is seen from behind, too.
    pub is_double_sided: bool,
}

/// Use of the alpha of a material.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Alpha {
    /// None: it is opaque.
    #[default]
    Opaque,
    /// Opaque where it is at least this, else invisible.
    Mask(f32),
    /// It blends with what is behind it.
    Blend,
}

impl Default for VisualMaterial {
    fn default() -> Self {
        Self {
            name: String::new(),
            color: [1.0; 4],
            emissive: [0.0; 3],
            metalness: 0.0,
            roughness: 0.8,
            color_image: None,
            normal_image: None,
            normal_scale: 1.0,
            metal_rough_image: None,
            emissive_image: None,
            alpha: Alpha::Opaque,
            is_double_sided: false,
        }
    }
}

impl VisualMesh {
    /// Makes one of bare triangles, each flat; those beyond [`VISUAL_TRIANGLES_MAX`] are left out.
    pub fn from_triangles(mesh: &TriangleMesh) -> Self {
        let count = mesh.triangles.len().min(VISUAL_TRIANGLES_MAX);
        let part = flat_part(&mesh.vertices, &mesh.triangles[..count]);
        let mut own = Self::default();
        if part.triangles.len() < count || count < mesh.triangles.len() {
            own.problems
                .push("some triangles have no area or are too many".to_owned());
        }
        own.parts.push(part);
        own
    }

    /// Returns the parts that bear this name, if there are any, with all materials and images that
    /// they need.
    pub fn submesh(&self, name: &str) -> Option<Self> {
        let parts = self.parts.iter().filter(|part| part.name == name);
        let parts: Vec<VisualPart> = parts.cloned().collect();
        if parts.is_empty() {
            return None;
        }
        let mut own = Self {
            parts,
            materials: self.materials.clone(),
            images: self.images.clone(),
            skeleton: self.skeleton.clone(),
            problems: self.problems.clone(),
        };
        own.drop_unused();
        Some(own)
    }

    /// Returns the names of the parts in the order of the file, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in &self.parts {
            if !part.name.is_empty() && !names.contains(&part.name.as_str()) {
                names.push(&part.name);
            }
        }
        names
    }

    /// Returns the number of triangles of all parts.
    pub fn triangle_count(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }

    /// Returns the least and the greatest corner of the box around all positions, if any.
    pub fn bounds(&self) -> Option<[[f32; 3]; 2]> {
        let mut positions = self.parts.iter().flat_map(|part| &part.positions);
        let first = *positions.next()?;
        Some(positions.fold([first, first], |[low, high], position| {
            [
                std::array::from_fn(|i| low[i].min(position[i])),
                std::array::from_fn(|i| high[i].max(position[i])),
            ]
        }))
    }

    /// Moves the mesh so that the middle of its bounds is the origin.
    #[must_use]
    pub fn centered(mut self) -> Self {
        let Some([low, high]) = self.bounds() else {
            return self;
        };
        let middle: [f32; 3] = std::array::from_fn(|i| f32::midpoint(low[i], high[i]));
        for position in self.parts.iter_mut().flat_map(|part| &mut part.positions) {
            *position = std::array::from_fn(|i| position[i] - middle[i]);
        }
        self
    }

    /// Drops materials that no part refers to, and images that no material refers to.
    fn drop_unused(&mut self) {
        let mut used = vec![false; self.materials.len()];
        for index in self.parts.iter().filter_map(|part| part.material) {
            used[index] = true;
        }
        let numbers = kept(&used);
        for part in &mut self.parts {
            part.material = part.material.map(|index| numbers[index]);
        }
        retain(&mut self.materials, &used);
        let mut used = vec![false; self.images.len()];
        for material in &mut self.materials {
            for index in material.images_mut().into_iter().flatten() {
                used[*index] = true;
            }
        }
        let numbers = kept(&used);
        for material in &mut self.materials {
            for index in material.images_mut().into_iter().flatten() {
                *index = numbers[*index];
            }
        }
        retain(&mut self.images, &used);
    }
}

impl VisualMaterial {
    fn images_mut(&mut self) -> [Option<&mut usize>; 4] {
        [
            self.color_image.as_mut(),
            self.normal_image.as_mut(),
            self.metal_rough_image.as_mut(),
            self.emissive_image.as_mut(),
        ]
    }
}

/// Returns the number that each item has once those that are not used are gone.
fn kept(used: &[bool]) -> Vec<usize> {
    let mut next = 0;
    let number = |used: &bool| {
        let own = next;
        next += usize::from(*used);
        own
    };
    used.iter().map(number).collect()
}

fn retain<T>(list: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    list.retain(|_| used.next() == Some(&true));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::ImageFormat;

    #[test]
    fn a_submesh_brings_its_own_materials_and_images_alone() {
        let part = |name: &str, material| VisualPart {
            name: name.to_owned(),
            positions: vec![[0.0; 3], [2.0, 0.0, 0.0], [0.0, 4.0, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            triangles: vec![[0, 1, 2]],
            material,
            ..VisualPart::default()
        };
        let image = |byte| ImageFile {
            format: ImageFormat::Png,
            bytes: vec![byte],
        };
        let material = |color_image| VisualMaterial {
            color_image,
            ..VisualMaterial::default()
        };
        let mesh = VisualMesh {
            parts: vec![part("a", Some(0)), part("b", Some(2)), part("a", None)],
            materials: vec![material(None), material(Some(0)), material(Some(1))],
            images: vec![image(0), image(1)],
            skeleton: None,
            problems: Vec::new(),
        };
        assert_eq!(mesh.names(), ["a", "b"]);
        let b = mesh.submesh("b").unwrap();
        assert_eq!(b.images, [image(1)]);
        assert_eq!(b.materials, [material(Some(0))]);
        assert_eq!(b.parts[0].material, Some(0));
        let bounds = b.centered().bounds();
        assert_eq!(bounds, Some([[-1.0, -2.0, 0.0], [1.0, 2.0, 0.0]]));
        assert_eq!(mesh.submesh("a").unwrap().triangle_count(), 2);
        assert_eq!(mesh.submesh("c"), None);
    }
}
