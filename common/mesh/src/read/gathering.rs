//! [`Gathering`]: the submeshes found so far, within bounds.

use super::looks::{Looks, visual_part};
use super::{MeshProblem, SideFile};
use crate::image::{IMAGE_BYTES_MAX, ImageFile};
use crate::mesh_file::{MeshFile, Submesh};
use crate::skeleton::{Grip, Skeleton};
use crate::transform::Transform;
use crate::triangle_mesh::{TRIANGLES_MAX, TriangleMesh};
use crate::visual_mesh::{VISUAL_TRIANGLES_MAX, VisualMaterial, VisualMesh};

/// The most submeshes in one file.
pub(super) const SUBMESHES_MAX: usize = 100_000;

/// The longest name of a submesh \[bytes\]; longer ones are cut.
const NAME_BYTES_MAX: usize = 1000;

/// The most materials in one file.
const MATERIALS_MAX: usize = 10_000;

/// The most bytes that all images of one file have together.
const IMAGES_BYTES_MAX: usize = 4 * IMAGE_BYTES_MAX;

/// The most problems that are told of one file.
const PROBLEMS_MAX: usize = 20;

/// The submeshes found so far.
#[derive(Default)]
pub(super) struct Gathering {
    file: MeshFile,
    /// The same as it is drawn, if that is asked for; then `file` stays empty.
    visual: Option<VisualMesh>,
    wants_skeleton: bool,
    skeleton: Option<Skeleton>,
    triangles: usize,
    image_bytes: usize,
    /// Names of the images that were asked for.
    images: Vec<(String, Option<usize>)>,
}

impl Gathering {
    /// Makes one that gathers what is drawn.
    pub(super) fn of_looks() -> Self {
        Self {
            visual: Some(VisualMesh::default()),
            ..Self::default()
        }
    }

    /// Makes one that gathers what is drawn, and the bones that move it.
    pub(super) fn of_skins() -> Self {
        Self {
            wants_skeleton: true,
            ..Self::of_looks()
        }
    }

    /// Tells whether bones are asked for.
    pub(super) fn wants_skeleton(&self) -> bool {
        self.wants_skeleton
    }

    /// Keeps the bones of the file, of which the first never moves.
    pub(super) fn set_skeleton(&mut self, skeleton: Option<Skeleton>) {
        self.skeleton = skeleton;
    }

    /// Returns the bones of the file, if it has any.
    pub(super) fn into_skeleton(self) -> Option<Skeleton> {
        self.skeleton
    }

    /// Tells whether materials, normals and texture coordinates are asked for.
    pub(super) fn wants_looks(&self) -> bool {
        self.visual.is_some()
    }

    /// Adds a material, and returns its number, unless none are asked for or there are too many.
    pub(super) fn add_material(&mut self, material: VisualMaterial) -> Option<usize> {
        let materials = &mut self.visual.as_mut()?.materials;
        if materials.len() == MATERIALS_MAX {
            return None;
        }
        materials.push(material);
        Some(materials.len() - 1)
    }

    /// Adds an image that stands beside the file under the first of some names, and returns its
    /// number, if it can be drawn.
    pub(super) fn add_image_file(
        &mut self,
        names: &[&str],
        side_file: &SideFile<'_>,
    ) -> Option<usize> {
        let name = *names.first()?;
        let known = self.images.iter().find(|(known, _)| known == name);
        if let Some((_, index)) = known {
            return *index;
        }
        let index = if let Some(bytes) = names.iter().find_map(|name| side_file(name)) {
            self.add_image(name, bytes)
        } else {
            self.tell(format!("the image {name:?} cannot be found beside it"));
            None
        };
        self.images.push((name.to_owned(), index));
        index
    }

    /// Adds an image, and returns its number, if it can be drawn.
    pub(super) fn add_image(&mut self, name: &str, bytes: Vec<u8>) -> Option<usize> {
        self.image_bytes = self.image_bytes.saturating_add(bytes.len());
        if self.image_bytes > IMAGES_BYTES_MAX {
            self.tell(format!(
                "the image {name:?} is left out: all images have more than {IMAGES_BYTES_MAX} bytes"
            ));
            return None;
        }
        match ImageFile::new(bytes) {
            Ok(image) => {
                let images = &mut self.visual.as_mut()?.images;
                images.push(image);
                Some(images.len() - 1)
            }
            Err(problem) => {
                self.tell(format!("the image {name:?} is left out: {problem}"));
                None
            }
        }
    }

    /// Keeps a problem of the looks of the file, which is no reason to refuse it.
    pub(super) fn tell(&mut self, problem: String) {
        if let Some(visual) = &mut self.visual
            && visual.problems.len() < PROBLEMS_MAX
        {
            visual.problems.push(problem);
        }
    }

    /// Adds a submesh; one without triangles is left out. `place` is where it stands in the file.
    pub(super) fn add(
        &mut self,
        name: &str,
        place: &str,
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
    ) -> Result<(), MeshProblem> {
        self.add_moved(name, place, vertices, triangles, &Transform::IDENTITY)
    }

    /// Adds a submesh as [`Self::add`] does, once it is moved.
    pub(super) fn add_moved(
        &mut self,
        name: &str,
        place: &str,
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
        transform: &Transform,
    ) -> Result<(), MeshProblem> {
        if self.wants_looks() {
            let bare = Looks::default();
            return self.add_looking((name, place), vertices, triangles, transform, &bare);
        }
        self.triangles += triangles.len();
        if self.triangles > TRIANGLES_MAX {
            return Err(too_many_triangles());
        }
        let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let mut moved = Vec::with_capacity(used.len());
        for index in &used {
            let Some(vertex) = vertices.get(*index as usize) else {
                let message = format!("index {index} is beyond the {} positions", vertices.len());
                return Err(MeshProblem::malformed(place, message));
            };
            let vertex = transform.apply(*vertex);
            if !vertex.iter().all(|number| number.is_finite()) {
                let message = format!("position {index} is not finite");
                return Err(MeshProblem::malformed(place, message));
            }
            moved.push(vertex);
        }
        let own = |index: u32| used.partition_point(|other| *other < index) as u32;
        let is_mirror = transform.is_mirror();
        let triangles = triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(own);
            if is_mirror { [a, c, b] } else { [a, b, c] }
        });
        let mesh = TriangleMesh::welded(&moved, triangles);
        if mesh.triangles.is_empty() {
            return Ok(());
        }
        if self.file.submeshes.len() == SUBMESHES_MAX {
            return Err(too_many_submeshes());
        }
        let name = name[..name.floor_char_boundary(NAME_BYTES_MAX)].to_owned();
        self.file.submeshes.push(Submesh { name, mesh });
        Ok(())
    }

    /// Adds a submesh as [`Self::add_moved`] does, with its looks if they are asked for.
    pub(super) fn add_looking(
        &mut self,
        (name, place): (&str, &str),
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
        transform: &Transform,
        looks: &Looks<'_>,
    ) -> Result<(), MeshProblem> {
        let Some(visual) = &mut self.visual else {
            return self.add_moved(name, place, vertices, triangles, transform);
        };
        self.triangles += triangles.len();
        if self.triangles > VISUAL_TRIANGLES_MAX {
            return Err(MeshProblem::TooMany {
                what: "triangles to draw",
                maximum: VISUAL_TRIANGLES_MAX,
            });
        }
        if visual.parts.len() == SUBMESHES_MAX {
            return Err(too_many_submeshes());
        }
        let mut part = visual_part(place, (vertices, triangles), transform, looks)?;
        if !part.triangles.is_empty() {
            name[..name.floor_char_boundary(NAME_BYTES_MAX)].clone_into(&mut part.name);
            visual.parts.push(part);
        }
        Ok(())
    }

    /// Returns what is drawn of the file, if it holds any triangle.
    pub(super) fn finish_looks(self) -> Result<VisualMesh, MeshProblem> {
        let mut visual = self.visual.unwrap_or_default();
        if visual.parts.is_empty() {
            return Err(MeshProblem::Empty);
        }
        if let Some(skeleton) = self.skeleton {
            let bones = skeleton.bones.len();
            for part in &mut visual.parts {
                let is_there = |bone: &u16| usize::from(*bone) < bones;
                let mut grips = part.grips.iter();
                let are_there = grips.all(|grip| grip.bones.iter().all(is_there));
                if part.grips.len() != part.positions.len() || !are_there {
                    // What goes with no bone stays.
                    part.grips = vec![Grip::of(0); part.positions.len()];
                }
            }
            visual.skeleton = Some(skeleton);
        }
        Ok(visual)
    }

    /// Returns the file, if it holds any triangle.
    pub(super) fn finish(self) -> Result<MeshFile, MeshProblem> {
        if self.file.submeshes.is_empty() {
            return Err(MeshProblem::Empty);
        }
        Ok(self.file)
    }
}

fn too_many_submeshes() -> MeshProblem {
    MeshProblem::TooMany {
        what: "submeshes",
        maximum: SUBMESHES_MAX,
    }
}

/// The problem of a file with more triangles than are read.
pub(super) fn too_many_triangles() -> MeshProblem {
    MeshProblem::TooMany {
        what: "triangles",
        maximum: TRIANGLES_MAX,
    }
}
