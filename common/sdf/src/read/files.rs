//! Meshes and height images that collisions name: each file is read once per world.
//!
//! A file that is missing or broken is a warning, as libsdformat never opens any: the collision
//! stays, without data. Visuals' files are never asked for. A file is told from others by what it
//! is, not by how it is named, and all of them share one [`Budget`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use mesh::{HeightGrid, MassProperties, MeshFile, ReadImageError, ReadMeshError, TriangleMesh};

use crate::report::Report;
use crate::resolve::{ResolvedData, Resolver, UsedFile};
use crate::tree::Element;
use crate::world::{HeightmapShape, MeshShape};

/// The most submeshes that a warning names.
const NAMES_MAX: usize = 20;

/// The most bytes that all files of data may hold together, for all that one reads.
const BYTES_MAX: usize = 1 << 30;
/// The most samples in all height images together: two of the largest.
const SAMPLES_MAX: usize = 2 * mesh::HEIGHT_SAMPLES_MAX;
/// The most triangles in all mesh files together, and in all that is taken of them: four of the
/// largest.
const TRIANGLES_MAX: usize = 4 * mesh::TRIANGLES_MAX;

/// Reason why a file of data is of no use to a collision. The text follows the file's name in a
/// sentence.
#[derive(Debug, thiserror::Error)]
enum DataFileError {
    /// All files together hold too much.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// It is no mesh file.
    #[error(transparent)]
    Mesh(#[from] ReadMeshError),
    /// It is no height image.
    #[error(transparent)]
    Image(#[from] ReadImageError),
    /// It is a mesh file without the submesh that is named.
    #[error("has no submesh {submesh:?}; it has: {known}")]
    NoSubmesh {
        /// The submesh.
        submesh: String,
        /// The first of those that there are.
        known: String,
    },
}

/// Bound that all files of data together exceed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum BudgetError {
    /// Content of files.
    #[error("all files together would have more than {BYTES_MAX} bytes")]
    Bytes,
    /// Samples of height images.
    #[error("all files together would have more than {SAMPLES_MAX} samples of heights")]
    Samples,
    /// Triangles of mesh files.
    #[error("all files together would have more than {TRIANGLES_MAX} triangles")]
    Triangles,
}

/// Sums over files of data; whatever is beyond a bound is left out, and all that follows.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    bytes: Sum,
    samples: Sum,
    triangles_of_files: Sum,
    triangles: Sum,
}

/// A sum that stays beyond its bound once it was.
#[derive(Debug, Default)]
struct Sum(usize);

impl Sum {
    /// Adds; fails with `beyond` if that is more than the maximum.
    fn add(
        &mut self,
        number: usize,
        maximum: usize,
        beyond: BudgetError,
    ) -> Result<(), BudgetError> {
        self.0 = self.0.saturating_add(number);
        if self.0 > maximum {
            return Err(beyond);
        }
        Ok(())
    }
}

impl Budget {
    fn add_bytes(&mut self, bytes: usize) -> Result<(), BudgetError> {
        self.bytes.add(bytes, BYTES_MAX, BudgetError::Bytes)
    }

    fn add_samples(&mut self, samples: usize) -> Result<(), BudgetError> {
        self.samples.add(samples, SAMPLES_MAX, BudgetError::Samples)
    }

    fn add_triangles_of_file(&mut self, triangles: usize) -> Result<(), BudgetError> {
        let sum = &mut self.triangles_of_files;
        sum.add(triangles, TRIANGLES_MAX, BudgetError::Triangles)
    }

    fn add_triangles(&mut self, triangles: usize) -> Result<(), BudgetError> {
        let sum = &mut self.triangles;
        sum.add(triangles, TRIANGLES_MAX, BudgetError::Triangles)
    }
}

/// The files of one world.
pub(super) struct Files<'r> {
    resolver: &'r dyn Resolver,
    /// The file's own name, by URI and the file that names it; `None` where it cannot be read.
    names: BTreeMap<(String, String), Option<FileName>>,
    /// Files that are not found, by the same keys.
    missing: BTreeMap<(String, String), Missing>,
    /// Contents of mesh files by their identities; `None` for those that are broken.
    parsed: BTreeMap<String, Option<MeshFile>>,
    /// Indices into `meshes`, by file, submesh, and whether that is centred.
    parts: BTreeMap<(String, String, bool), Option<usize>>,
    grids: BTreeMap<String, Option<usize>>,
    /// Mass properties at a density of 1, by mesh and bits of its scale; meshes are large, and
    /// included many times.
    solids: BTreeMap<(usize, [u64; 3]), Option<MassProperties>>,
    /// Places of the polylines that have been looked at.
    outlines: BTreeSet<String>,
    /// Meshes of the world.
    pub(super) meshes: Vec<TriangleMesh>,
    /// Height grids of the world.
    pub(super) height_grids: Vec<HeightGrid>,
}

/// Collision that refers to a file, for warnings.
#[derive(Clone, Copy)]
pub(super) struct Asker<'t> {
    /// Element that holds the URI.
    pub(super) element: &'t Element,
    /// The collision, scoped.
    pub(super) collision: &'t str,
}

/// A file that was found.
#[derive(Clone)]
struct FileName {
    /// Its name, for what it refers to, and its format.
    file: String,
    /// The same for all names of the file.
    identity: String,
}

/// A file that is not found.
struct Missing {
    /// The first place that names it.
    place: Element,
    /// The first collision that names it, scoped.
    collision: String,
    /// Number of collisions that name it.
    count: usize,
    /// Reason why it is not found.
    why: String,
}

/// Codes of warnings: the file is missing; it is there and cannot be used.
const NOT_FOUND: &str = "MESH_NOT_FOUND";
const UNREADABLE: &str = "MESH_UNREADABLE";

impl<'r> Files<'r> {
    /// Starts without any file read.
    pub(super) fn new(resolver: &'r dyn Resolver) -> Self {
        Self {
            resolver,
            names: BTreeMap::new(),
            missing: BTreeMap::new(),
            parsed: BTreeMap::new(),
            parts: BTreeMap::new(),
            grids: BTreeMap::new(),
            solids: BTreeMap::new(),
            outlines: BTreeSet::new(),
            meshes: Vec::new(),
            height_grids: Vec::new(),
        }
    }

    /// Finds the triangles of a mesh, and what room they take.
    pub(super) fn attach_mesh(
        &mut self,
        shape: &mut MeshShape,
        asker: Asker<'_>,
        report: &mut Report,
    ) {
        let Some(file) = self.mesh_file(&shape.uri, asker, report) else {
            return;
        };
        let key = (file.clone(), shape.submesh.clone(), shape.center_submesh);
        let index = match self.parts.get(&key) {
            Some(index) => *index,
            None => match self.cut(&file, shape, report).transpose() {
                Ok(mesh) => mesh.map(|mesh| push(&mut self.meshes, mesh)),
                Err(error) => return warn_unusable(&shape.uri, &error.into(), asker, report),
            },
        };
        self.parts.insert(key, index);
        let Some(index) = index else {
            let names = self.parsed.get(&file).and_then(Option::as_ref);
            let mut names = names.map(MeshFile::names).unwrap_or_default();
            let more = if names.len() > NAMES_MAX { ", ..." } else { "" };
            names.truncate(NAMES_MAX);
            let error = DataFileError::NoSubmesh {
                submesh: shape.submesh.clone(),
                known: names.join(", ") + more,
            };
            warn_unusable(&shape.uri, &error, asker, report);
            return;
        };
        shape.mesh = Some(index);
        shape.take_bounds(self.meshes[index].bounds());
    }

    /// Finds the heights of a heightmap.
    pub(super) fn attach_heights(
        &mut self,
        shape: &mut HeightmapShape,
        asker: Asker<'_>,
        report: &mut Report,
    ) {
        let (name, data) = self.open(&shape.uri, asker, report);
        let Some(FileName { file, identity }) = name else {
            return;
        };
        let grid = if let Some(grid) = self.grids.get(&identity) {
            *grid
        } else {
            let data = data.or_else(|| self.reopen(&shape.uri, asker, report));
            let Some(data) = data else { return };
            let grid = match read_grid(&data.bytes, &file, &mut report.budget) {
                Ok(grid) => Some(push(&mut self.height_grids, grid)),
                Err(error) => {
                    warn_unusable(&shape.uri, &error, asker, report);
                    None
                }
            };
            self.grids.insert(identity, grid);
            grid
        };
        if grid.is_some() {
            note(&shape.uri, &asker.element.file, report);
        }
        shape.grid = grid;
    }

    /// Warns of outlines that bound nothing.
    pub(super) fn check_outlines(
        &mut self,
        outlines: &[Vec<[f64; 2]>],
        height: f64,
        asker: Asker<'_>,
        report: &mut Report,
    ) {
        let place = asker.element.place().to_string();
        if self.outlines.contains(&place) {
            return;
        }
        if let Err(error) = TriangleMesh::extrude(outlines, height) {
            report.warn_once("POLYLINE_INVALID", &place, asker.element, || {
                format!(
                    "the collision {:?} touches nothing: {error}",
                    asker.collision
                )
            });
        }
        self.outlines.insert(place);
    }

    /// Returns the mass properties of the solid in a mesh at a density of 1 kg/m^3, if it bounds
    /// one.
    pub(super) fn solid(&mut self, shape: &MeshShape) -> Option<MassProperties> {
        let index = shape.mesh?;
        let mesh = &self.meshes[index];
        let key = (index, shape.scale.map(f64::to_bits));
        let solid = || mesh.clone().scaled(shape.scale).mass_properties(1.0);
        *self.solids.entry(key).or_insert_with(solid)
    }

    /// Returns what tells a mesh file from others, once it has been read.
    fn mesh_file(&mut self, uri: &str, asker: Asker<'_>, report: &mut Report) -> Option<String> {
        let (name, data) = self.open(uri, asker, report);
        let FileName { file, identity } = name?;
        let is_read = if let Some(known) = self.parsed.get(&identity) {
            known.is_some()
        } else {
            let data = data.or_else(|| self.reopen(uri, asker, report))?;
            let parsed = match self.parse(&data.bytes, &file, report) {
                Ok(parsed) => Some(parsed),
                Err(error) => {
                    warn_unusable(uri, &error, asker, report);
                    None
                }
            };
            let is_read = parsed.is_some();
            self.parsed.insert(identity.clone(), parsed);
            is_read
        };
        if is_read {
            note(uri, &asker.element.file, report);
        }
        is_read.then_some(identity)
    }

    /// Reads a mesh file, and the files that it refers to.
    fn parse(
        &self,
        bytes: &[u8],
        file: &str,
        report: &mut Report,
    ) -> Result<MeshFile, DataFileError> {
        // What is beyond the bound is not even looked at.
        report.budget.add_triangles_of_file(0)?;
        let budget = RefCell::new(&mut report.budget);
        let beside = RefCell::new(Vec::new());
        let side_file = |name: &str| {
            let data = self.resolver.read_side(name, file).ok()?;
            budget.borrow_mut().add_bytes(data.bytes.len()).ok()?;
            beside.borrow_mut().push(name.to_owned());
            Some(data.bytes)
        };
        let parsed = mesh::read_mesh(bytes, file, &side_file)?;
        let counts = parsed
            .submeshes
            .iter()
            .map(|part| part.mesh.triangles.len());
        report.budget.add_triangles_of_file(counts.sum())?;
        for name in beside.into_inner() {
            note(&name, file, report);
        }
        Ok(parsed)
    }

    /// Returns the own name of the file that a URI means, and, the first time, what it holds.
    fn open(
        &mut self,
        uri: &str,
        asker: Asker<'_>,
        report: &mut Report,
    ) -> (Option<FileName>, Option<ResolvedData>) {
        let key = (uri.to_owned(), asker.element.file.to_string());
        if let Some(name) = self.names.get(&key) {
            if let Some(missing) = self.missing.get_mut(&key) {
                missing.count += 1;
            }
            return (name.clone(), None);
        }
        let (name, data) = match self.resolver.read_data(uri, &asker.element.file) {
            Ok(data) => match report.budget.add_bytes(data.bytes.len()) {
                Ok(()) => (Some(FileName::of(&data)), Some(data)),
                Err(error) => {
                    warn_unusable(uri, &error.into(), asker, report);
                    (None, None)
                }
            },
            Err(error) => {
                let missing = Missing {
                    place: Element::new_at(&asker.element.name, asker.element),
                    collision: asker.collision.to_owned(),
                    count: 1,
                    why: error.to_string(),
                };
                self.missing.insert(key.clone(), missing);
                (None, None)
            }
        };
        self.names.insert(key, name.clone());
        (name, data)
    }

    /// Warns of files that are not found, once each however many collisions name it.
    pub(super) fn tell_missing(&mut self, report: &mut Report) {
        for ((uri, _), missing) in std::mem::take(&mut self.missing) {
            report.warn_once(NOT_FOUND, &uri, &missing.place, || {
                let touching = match missing.count {
                    1 => format!("the collision {:?} touches", missing.collision),
                    count => format!("{count} collisions ({:?}, ...) touch", missing.collision),
                };
                format!(
                    "{uri:?} is not found, and {touching} nothing without it: {}",
                    missing.why
                )
            });
        }
    }

    /// Reads a file again that was used as another kind before.
    fn reopen(&self, uri: &str, asker: Asker<'_>, report: &mut Report) -> Option<ResolvedData> {
        let data = self.resolver.read_data(uri, &asker.element.file).ok()?;
        report.budget.add_bytes(data.bytes.len()).ok()?;
        Some(data)
    }

    /// Returns what a shape means of a file, unless there is too much.
    fn cut(
        &self,
        file: &str,
        shape: &MeshShape,
        report: &mut Report,
    ) -> Option<Result<TriangleMesh, BudgetError>> {
        let file = self.parsed.get(file)?.as_ref()?;
        let mesh = if shape.submesh.is_empty() {
            file.whole()
        } else {
            let mesh = file.submesh(&shape.submesh)?;
            if shape.center_submesh {
                mesh.centered()
            } else {
                mesh
            }
        };
        let added = report.budget.add_triangles(mesh.triangles.len());
        Some(added.map(|()| mesh))
    }
}

impl FileName {
    fn of(data: &ResolvedData) -> Self {
        Self {
            file: data.file.clone(),
            identity: data.identity.clone(),
        }
    }
}

fn read_grid(bytes: &[u8], file: &str, budget: &mut Budget) -> Result<HeightGrid, DataFileError> {
    budget.add_samples(0)?;
    let grid = mesh::read_height_grid(bytes, file)?;
    budget.add_samples(grid.heights.len())?;
    Ok(grid)
}

/// Notes that what is read rests on a file.
fn note(uri: &str, from_file: &str, report: &mut Report) {
    report.files.insert(UsedFile {
        uri: uri.to_owned(),
        from_file: from_file.to_owned(),
        is_data: true,
    });
}

fn push<T>(list: &mut Vec<T>, item: T) -> usize {
    list.push(item);
    list.len() - 1
}

fn warn_unusable(uri: &str, error: &DataFileError, asker: Asker<'_>, report: &mut Report) {
    report.warn_once(UNREADABLE, uri, asker.element, || {
        format!(
            "the collision {:?} touches nothing, since {uri:?} cannot be used: {error}",
            asker.collision
        )
    });
}

#[cfg(test)]
mod tests;
