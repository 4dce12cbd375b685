//! Meshes and height images that collisions name: each file is read once per world.
//!
//! A file that is missing or broken is a warning, as libsdformat never opens any: the collision
//! stays, without data. Visuals' files are never asked for.

use std::collections::{BTreeMap, BTreeSet};

use mesh::{HeightGrid, MassProperties, MeshFile, TriangleMesh};

use crate::report::Report;
use crate::resolve::{ResolvedData, Resolver};
use crate::tree::Element;
use crate::world::{HeightmapShape, MeshShape};

/// The most submeshes that a warning names.
const NAMES_MAX: usize = 20;

/// The most bytes that all files of a world may hold together.
const BYTES_MAX: usize = 1 << 30;

/// The files of one world.
pub(super) struct Files<'r> {
    resolver: &'r dyn Resolver,
    /// The file's own name, by URI and the file that names it; `None` where it cannot be read.
    names: BTreeMap<(String, String), Option<String>>,
    /// Files that are not found, by the same keys.
    missing: BTreeMap<(String, String), Missing>,
    /// What mesh files hold, by their own names; `None` for those that are broken.
    parsed: BTreeMap<String, Option<MeshFile>>,
    /// Indices into `meshes`, by file, submesh, and whether that is centred.
    parts: BTreeMap<(String, String, bool), Option<usize>>,
    grids: BTreeMap<String, Option<usize>>,
    /// Mass properties at a density of 1, by mesh and bits of its scale; meshes are large, and
    /// included many times.
    solids: BTreeMap<(usize, [u64; 3]), Option<MassProperties>>,
    /// Where the polylines stand that have been looked at.
    outlines: BTreeSet<String>,
    bytes_read: usize,
    /// What the world is to hold.
    pub(super) meshes: Vec<TriangleMesh>,
    /// What the world is to hold.
    pub(super) height_grids: Vec<HeightGrid>,
}

/// Who asks for a file, for warnings.
#[derive(Clone, Copy)]
pub(super) struct Asker<'t> {
    /// Where the URI stands.
    pub(super) element: &'t Element,
    /// The collision, scoped.
    pub(super) collision: &'t str,
}

/// A file that is not found.
struct Missing {
    /// The first place that names it.
    place: Element,
    /// The first collision that names it, scoped.
    collision: String,
    /// Number of collisions that name it.
    count: usize,
    /// Why it is not found.
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
            bytes_read: 0,
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
        let index = self.parts.get(&key).copied().unwrap_or_else(|| {
            let mesh = self.cut(&file, shape);
            mesh.map(|mesh| push(&mut self.meshes, mesh))
        });
        self.parts.insert(key, index);
        let Some(index) = index else {
            let names = self.parsed.get(&file).and_then(Option::as_ref);
            let mut names = names.map(MeshFile::names).unwrap_or_default();
            let more = if names.len() > NAMES_MAX { ", ..." } else { "" };
            names.truncate(NAMES_MAX);
            let (submesh, names) = (&shape.submesh, names.join(", "));
            let what = format!("has no submesh {submesh:?}; it has: {names}{more}");
            warn(UNREADABLE, &shape.uri, &what, asker, report);
            return;
        };
        shape.mesh = Some(index);
        shape.bounds = self.meshes[index].bounds().map(|corners| {
            let [a, b] = corners
                .map(|corner| -> [f64; 3] { std::array::from_fn(|i| corner[i] * shape.scale[i]) });
            [
                std::array::from_fn(|i| a[i].min(b[i])),
                std::array::from_fn(|i| a[i].max(b[i])),
            ]
        });
    }

    /// Finds the heights of a heightmap.
    pub(super) fn attach_heights(
        &mut self,
        shape: &mut HeightmapShape,
        asker: Asker<'_>,
        report: &mut Report,
    ) {
        let (name, data) = self.open(&shape.uri, asker, report);
        let Some(name) = name else { return };
        if let Some(index) = self.grids.get(&name) {
            shape.grid = *index;
            return;
        }
        let Some(data) = data.or_else(|| self.reopen(&shape.uri, asker)) else {
            return;
        };
        shape.grid = match mesh::read_height_grid(&data.bytes, &name) {
            Ok(grid) => Some(push(&mut self.height_grids, grid)),
            Err(error) => {
                warn(UNREADABLE, &shape.uri, &error.to_string(), asker, report);
                None
            }
        };
        self.grids.insert(name, shape.grid);
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

    /// Returns the name of a mesh file that has been read.
    fn mesh_file(&mut self, uri: &str, asker: Asker<'_>, report: &mut Report) -> Option<String> {
        let (name, data) = self.open(uri, asker, report);
        let name = name?;
        if let Some(known) = self.parsed.get(&name) {
            return known.is_some().then_some(name);
        }
        let data = data.or_else(|| self.reopen(uri, asker))?;
        let resolver = self.resolver;
        let beside = |uri: &str| resolver.read_data(uri, &name).ok().map(|data| data.bytes);
        let read = mesh::read_mesh(&data.bytes, &name, &beside);
        let file = match read {
            Ok(file) => Some(file),
            Err(error) => {
                warn(UNREADABLE, uri, &error.to_string(), asker, report);
                None
            }
        };
        let is_read = file.is_some();
        self.parsed.insert(name.clone(), file);
        is_read.then_some(name)
    }

    /// Returns the own name of the file that a URI means, and, the first time, what it holds.
    fn open(
        &mut self,
        uri: &str,
        asker: Asker<'_>,
        report: &mut Report,
    ) -> (Option<String>, Option<ResolvedData>) {
        let key = (uri.to_owned(), asker.element.file.to_string());
        if let Some(name) = self.names.get(&key) {
            if let Some(missing) = self.missing.get_mut(&key) {
                missing.count += 1;
            }
            return (name.clone(), None);
        }
        let (name, data) = match self.resolver.read_data(uri, &asker.element.file) {
            Ok(data) if self.bytes_read.saturating_add(data.bytes.len()) > BYTES_MAX => {
                let what =
                    format!("would make more than {BYTES_MAX} bytes of mesh and image files");
                warn(UNREADABLE, uri, &what, asker, report);
                (None, None)
            }
            Ok(data) => {
                self.bytes_read += data.bytes.len();
                (Some(data.file.clone()), Some(data))
            }
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
    fn reopen(&self, uri: &str, asker: Asker<'_>) -> Option<ResolvedData> {
        self.resolver.read_data(uri, &asker.element.file).ok()
    }

    /// Returns what a shape means of a file.
    fn cut(&self, file: &str, shape: &MeshShape) -> Option<TriangleMesh> {
        let file = self.parsed.get(file)?.as_ref()?;
        if shape.submesh.is_empty() {
            return Some(file.whole());
        }
        let mesh = file.submesh(&shape.submesh)?;
        Some(if shape.center_submesh {
            mesh.centered()
        } else {
            mesh
        })
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> usize {
    list.push(item);
    list.len() - 1
}

fn warn(code: &'static str, uri: &str, what: &str, asker: Asker<'_>, report: &mut Report) {
    report.warn_once(code, uri, asker.element, || {
        format!(
            "the collision {:?} touches nothing, since {uri:?} cannot be used: {what}",
            asker.collision
        )
    });
}
