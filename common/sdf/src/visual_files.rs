//! [`VisualFile`]: meshes and images that visuals and skins of actors name, kept with a world for
//! sensors that draw.
//!
//! A mesh is kept as GLB with its materials and textures, whatever format its file has: who has a
//! world needs no other file to draw it. What is not found or not read is left out, with a reason.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use mesh::{ImageFile, VisualMesh};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::resolve::{ResolveError, ResolvedData, ResolvedFile, Resolver, UsedFile};
use crate::vocabulary::find_sensor;
use crate::world::{Actor, Animation, Geometry, MeshShape, Model, Visual, World};

/// The most bytes that all files of the worlds of a run, or of a model that comes, have together.
pub const VISUAL_FILES_BYTES_MAX: usize = 96 << 20;

/// A mesh or image that a visual names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisualFile {
    /// Its name in the visual, with that of the submesh that is taken; see [`mesh_name`].
    pub uri: String,
    /// The file that the visual stands in, as the visual says; see [`World::place`].
    pub file: String,
    /// Its content: GLB of a mesh, PNG or JPEG of an image.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Meshes and images that visuals name, as they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisualFiles {
    /// Each file once, in the order of visuals.
    pub files: Vec<VisualFile>,
    /// The files that they were read from, and those beside them that meshes refer to.
    pub used: BTreeSet<UsedFile>,
    /// Files that are of no use, and why, for people.
    pub problems: Vec<String>,
    /// Least and greatest corner of what visuals take of mesh files \[m\], by the names under which
    /// that is kept and the files that these stand in.
    bounds: BTreeMap<(String, String), [[f64; 3]; 2]>,
}

/// Kind of a file.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Mesh(&'a MeshShape),
    Image,
    Skin(&'a Actor),
}

/// A file that is named.
#[derive(Clone, Copy)]
struct Named<'a> {
    uri: &'a str,
    /// The file that the name stands in.
    file: &'a str,
    kind: Kind<'a>,
}

impl Named<'_> {
    /// Returns the name under which it is kept.
    fn kept_name(&self) -> String {
        match self.kind {
            Kind::Mesh(shape) => mesh_name(shape),
            Kind::Image => self.uri.to_owned(),
            Kind::Skin(actor) => actor.skin_name().unwrap_or_default(),
        }
    }
}

/// Returns the name under which what a visual takes of a mesh file is kept: GLB holds no names of
/// submeshes.
pub fn mesh_name(shape: &MeshShape) -> String {
    if shape.submesh.is_empty() {
        return shape.uri.clone();
    }
    let place = if shape.center_submesh { " centred" } else { "" };
    format!("{}#{}{place}", shape.uri, shape.submesh)
}

impl Model {
    /// Tells whether a sensor of it draws what it sees.
    pub fn draws(&self) -> bool {
        let of_links = self.links.iter().flat_map(|link| &link.sensors);
        let of_joints = self.joints.iter().flat_map(|joint| &joint.sensors);
        let mut kinds = of_links.chain(of_joints).map(|sensor| &sensor.kind);
        kinds.any(|kind| find_sensor(kind).is_some_and(|kind| kind.draws))
    }
}

impl World {
    /// Tells whether a sensor of it draws what it sees; so do those that measure distances where
    /// these are to visuals.
    pub fn draws(&self) -> bool {
        self.measures_visuals() || self.models.iter().any(Model::draws)
    }

    /// Tells whether lidars and depth cameras measure distances to visuals and not to collisions,
    /// as `<phalanx:distances>` of the system `Sensors` says.
    fn measures_visuals(&self) -> bool {
        self.plugins.iter().any(|plugin| {
            let distances = plugin.content.child("phalanx:distances");
            plugin.name.rsplit("::").next() == Some("Sensors")
                && distances.is_some_and(|found| found.text().trim() == "visuals")
        })
    }

    /// Reads the meshes and images that its visuals name, and keeps them; returns what became of
    /// each. They are counted off the bytes that are `left`, at first
    /// [`VISUAL_FILES_BYTES_MAX`] for all worlds of a run.
    pub fn keep_visual_files(&mut self, resolver: &dyn Resolver, left: &mut usize) -> VisualFiles {
        let of_models = self.models.iter().flat_map(named_files);
        let named = of_models.chain(self.actors.iter().flat_map(named_by_actor));
        let mut found = VisualFiles::read_all(named, resolver, left);
        found.bound(&mut self.models);
        self.visual_files = std::mem::take(&mut found.files);
        found
    }
}

impl VisualFiles {
    /// Tells visuals of models how large the meshes are that they name and that were read.
    pub(crate) fn bound(&self, models: &mut [Model]) {
        let links = models.iter_mut().flat_map(|model| &mut model.links);
        for visual in links.flat_map(|link| &mut link.visuals) {
            if let Geometry::Mesh(shape) = &mut visual.geometry {
                let key = (mesh_name(shape), visual.file.clone());
                shape.take_bounds(self.bounds.get(&key).copied());
            }
        }
    }

    /// Reads the meshes and images that the visuals of models name, and counts them off the bytes
    /// that are `left`.
    pub fn read(models: &[Model], resolver: &dyn Resolver, left: &mut usize) -> Self {
        Self::read_all(models.iter().flat_map(named_files), resolver, left)
    }

    fn read_all<'a>(
        all: impl Iterator<Item = Named<'a>>,
        resolver: &dyn Resolver,
        left: &mut usize,
    ) -> Self {
        let mut own = Self::default();
        let mut known = BTreeSet::new();
        for named in all {
            let Named { uri, file, .. } = named;
            let name = named.kept_name();
            if !known.insert((name.clone(), file.to_owned())) {
                continue;
            }
            let mut sides = BTreeSet::new();
            match read(&named, resolver, &mut sides, &mut own.problems) {
                Ok(kept) if kept.bytes.len() > *left => own.problems.push(format!(
                    "{uri:?} is not drawn by sensors, since all files that visuals name would \
                     take more than {} MiB",
                    VISUAL_FILES_BYTES_MAX >> 20
                )),
                Ok(Kept { bytes, bounds }) => {
                    *left -= bytes.len();
                    own.used.append(&mut sides);
                    own.used.insert(used_file(uri, file));
                    let bounds = bounds.map(|bounds| ((name.clone(), file.to_owned()), bounds));
                    own.bounds.extend(bounds);
                    own.files.push(VisualFile {
                        uri: name,
                        file: file.to_owned(),
                        bytes,
                    });
                }
                Err(problem) => own
                    .problems
                    .push(format!("{uri:?} is not drawn by sensors: {problem}")),
            }
        }
        own
    }
}

/// Files that visuals name, each looked at once.
#[derive(Debug, Default)]
pub struct UsedFiles {
    /// Names and files of the visuals that were looked at.
    known: BTreeSet<(String, String)>,
}

impl UsedFiles {
    /// Returns the files from which the visuals of a model are drawn, and those beside them that
    /// meshes refer to, but for those that another model names, too. Nothing is converted.
    pub fn of(&mut self, model: &Model, resolver: &dyn Resolver) -> BTreeSet<UsedFile> {
        self.add(named_files(model), resolver)
    }

    /// Returns the same of an actor, whose skin and animations are files, too.
    pub fn of_actor(&mut self, actor: &Actor, resolver: &dyn Resolver) -> BTreeSet<UsedFile> {
        let mut used = self.add(named_by_actor(actor), resolver);
        let uris = actor.animations.iter().map(|animation| &animation.uri);
        for uri in uris.filter(|uri| !uri.is_empty()) {
            let is_new = self.known.insert((uri.clone(), actor.file.clone()));
            if is_new && resolver.read_data(uri, &actor.file).is_ok() {
                used.insert(used_file(uri, &actor.file));
            }
        }
        used
    }

    fn add<'a>(
        &mut self,
        all: impl Iterator<Item = Named<'a>>,
        resolver: &dyn Resolver,
    ) -> BTreeSet<UsedFile> {
        let mut used = BTreeSet::new();
        for named in all {
            let Named { uri, file, .. } = named;
            if !self.known.insert((uri.to_owned(), file.to_owned())) {
                continue;
            }
            let mut sides = BTreeSet::new();
            if look(&named, resolver, &mut sides).is_ok() {
                used.append(&mut sides);
                used.insert(used_file(uri, file));
            }
        }
        used
    }
}

/// Content of a file that a visual names.
enum Content {
    Image(Vec<u8>),
    Mesh(VisualMesh),
}

/// Returns the files that the visuals of a model name.
fn named_files(model: &Model) -> impl Iterator<Item = Named<'_>> {
    let visuals = model.links.iter().flat_map(|link| &link.visuals);
    visuals.flat_map(named_by)
}

/// Returns the files that the visuals of an actor name, and its skin.
fn named_by_actor(actor: &Actor) -> impl Iterator<Item = Named<'_>> {
    let skin = actor.skin.iter().filter(|skin| !skin.uri.is_empty());
    let skin = skin.map(|skin| Named {
        uri: &skin.uri,
        file: &actor.file,
        kind: Kind::Skin(actor),
    });
    skin.chain(actor.visuals.iter().flat_map(named_by))
}

/// Returns the files that a visual names.
fn named_by(visual: &Visual) -> impl Iterator<Item = Named<'_>> {
    let shape = match &visual.geometry {
        Geometry::Mesh(mesh) => Some((mesh.uri.as_str(), Kind::Mesh(mesh))),
        Geometry::Heightmap(map) => Some((map.uri.as_str(), Kind::Image)),
        _ => None,
    };
    let pbr = visual.material.iter().flat_map(|material| &material.pbr);
    let maps = pbr.flat_map(|pbr| [&*pbr.albedo_map, &*pbr.emissive_map, &*pbr.normal_map]);
    let ground = visual.ground.iter().map(|ground| ground.diffuse.as_str());
    let images = maps.chain(ground).map(|uri| (uri, Kind::Image));
    let named = shape.into_iter().chain(images);
    let named = named.filter(|(uri, _)| !uri.is_empty());
    named.map(|(uri, kind)| Named {
        uri,
        file: &visual.file,
        kind,
    })
}

fn used_file(uri: &str, file: &str) -> UsedFile {
    UsedFile {
        uri: uri.to_owned(),
        from_file: file.to_owned(),
        is_data: true,
    }
}

/// Makes what all files of a model hold a part of the names under which they are kept and that its
/// visuals have for them: files of the same names that other models bring may hold something else.
pub(crate) fn name_by_content(model: &mut Model, files: &mut [VisualFile]) {
    let mut contents = Vec::new();
    for VisualFile { uri, file, bytes } in files.iter() {
        for part in [uri.as_bytes(), file.as_bytes(), bytes] {
            contents.extend(XxHash3_128::oneshot(part).to_le_bytes());
        }
    }
    let content = XxHash3_128::oneshot(&contents);
    let links = model.links.iter_mut();
    let visuals = links.flat_map(|link| &mut link.visuals);
    let drawn = visuals.filter(|visual| named_by(visual).next().is_some());
    let names = drawn.map(|visual| &mut visual.file);
    for name in names.chain(files.iter_mut().map(|file| &mut file.file)) {
        *name = format!("{name} {content:032x}");
    }
}

/// Tells whether a visual of a model names a file.
pub(crate) fn is_named(file: &VisualFile, models: &[Model]) -> bool {
    let mut named = models.iter().flat_map(named_files);
    named.any(|named| named.kept_name() == file.uri && named.file == file.file)
}

/// Reason why a file of a visual or a skin is not kept.
#[derive(Debug, thiserror::Error)]
pub enum VisualFileError {
    /// It is not where it is looked for.
    #[error("it is not found: {0}")]
    NotFound(ResolveError),
    /// It is neither a texture nor heights.
    #[error("it is no image that is read")]
    NoImage,
    /// It is no mesh.
    #[error(transparent)]
    NoMesh(#[from] mesh::ReadMeshError),
    /// It has no part of this name.
    #[error("it has no submesh {0:?}")]
    NoSubmesh(String),
}

/// A file as it is kept.
struct Kept {
    bytes: Vec<u8>,
    /// Least and greatest corner of a mesh \[m\].
    bounds: Option<[[f64; 3]; 2]>,
}

/// Reads a file as it is kept, and notes those beside it that it refers to.
fn read(
    named: &Named<'_>,
    resolver: &dyn Resolver,
    sides: &mut BTreeSet<UsedFile>,
    problems: &mut Vec<String>,
) -> Result<Kept, VisualFileError> {
    let mut mesh = match look(named, resolver, sides)? {
        Content::Image(bytes) => {
            let bounds = None;
            return Ok(Kept { bytes, bounds });
        }
        Content::Mesh(mesh) => mesh,
    };
    match named.kind {
        Kind::Mesh(shape) if !shape.submesh.is_empty() => {
            let part = mesh.submesh(&shape.submesh);
            let part = part.ok_or_else(|| VisualFileError::NoSubmesh(shape.submesh.clone()))?;
            mesh = if shape.center_submesh {
                part.centered()
            } else {
                part
            };
        }
        Kind::Skin(actor) => add_motions(&mut mesh, actor, resolver, sides, problems),
        Kind::Mesh(_) | Kind::Image => {}
    }
    Ok(Kept {
        bounds: mesh
            .bounds()
            .map(|corners| corners.map(|at| at.map(f64::from))),
        bytes: mesh.to_glb(),
    })
}

/// Reads a file, and notes those beside it that it refers to.
fn look(
    named: &Named<'_>,
    resolver: &dyn Resolver,
    sides: &mut BTreeSet<UsedFile>,
) -> Result<Content, VisualFileError> {
    let Named { uri, file, kind } = *named;
    let data = resolver.read_data(uri, file);
    let data = data.map_err(VisualFileError::NotFound)?;
    if matches!(kind, Kind::Image) {
        // What is neither a texture nor heights may be anything, and stays where it is.
        let is_image = ImageFile::new(data.bytes.clone()).is_ok();
        return if is_image || mesh::read_height_grid(&data.bytes, uri).is_ok() {
            Ok(Content::Image(data.bytes))
        } else {
            Err(VisualFileError::NoImage)
        };
    }
    let found = RefCell::new(sides);
    let side_file = |name: &str| {
        let side = resolver.read_side(name, &data.file).ok()?;
        found.borrow_mut().insert(used_file(name, &data.file));
        Some(side.bytes)
    };
    let read = match kind {
        Kind::Skin(_) => mesh::read_skinned_mesh,
        Kind::Mesh(_) | Kind::Image => mesh::read_visual_mesh,
    };
    Ok(Content::Mesh(read(&data.bytes, &data.file, &side_file)?))
}

/// Reads the skin of an actor with all motions that it has: the first is that of the skin's own
/// file, if it has one, under an empty name, the others are those of the actor's animations.
/// Returns what could not be had of these, for people, too.
///
/// # Errors
/// Fails if there is no such skin, or it cannot be read.
pub fn read_skin(
    actor: &Actor,
    resolver: &dyn Resolver,
) -> Result<(VisualMesh, Vec<String>), VisualFileError> {
    let skin = actor.skin.as_ref();
    let named = Named {
        uri: skin.map_or("", |skin| &skin.uri),
        file: &actor.file,
        kind: Kind::Skin(actor),
    };
    let (mut sides, mut problems) = (BTreeSet::new(), Vec::new());
    match look(&named, resolver, &mut sides)? {
        Content::Mesh(mut mesh) => {
            add_motions(&mut mesh, actor, resolver, &mut sides, &mut problems);
            Ok((mesh, problems))
        }
        Content::Image(_) => Err(VisualFileError::NoImage),
    }
}

/// Adds the motions of an actor to its skin.
fn add_motions(
    skin: &mut VisualMesh,
    actor: &Actor,
    resolver: &dyn Resolver,
    sides: &mut BTreeSet<UsedFile>,
    problems: &mut Vec<String>,
) {
    let of_actor = |problem: String| format!("actor {}: {problem}", actor.name);
    let Some(skeleton) = &mut skin.skeleton else {
        problems.push(of_actor(
            "its skin has no bones, and stays as it is".to_owned(),
        ));
        return;
    };
    skeleton.clips.truncate(1);
    for clip in &mut skeleton.clips {
        clip.name.clear();
    }
    for animation in actor.animations.iter().filter(|one| !one.uri.is_empty()) {
        let Animation { name, uri, .. } = animation;
        let motion = resolver
            .read_data(uri, &actor.file)
            .map_err(VisualFileError::NotFound)
            .and_then(|data| Ok(mesh::read_clips(&data.bytes, &data.file, &|_| None)?));
        let problem = match motion {
            Ok(motion) => {
                sides.insert(used_file(uri, &actor.file));
                let is_found = skeleton.take_clip(name, &motion);
                (!is_found).then(|| "no bone of the skin moves in it".to_owned())
            }
            Err(problem) => Some(problem.to_string()),
        };
        if let Some(problem) = problem {
            problems.push(of_actor(format!("the animation {uri:?}: {problem}")));
        }
    }
}

/// The files of a world's visuals, by the names that these have for them.
#[derive(Clone, Copy, Debug)]
pub struct KeptFiles<'a>(pub &'a [VisualFile]);

impl Resolver for KeptFiles<'_> {
    fn read(&self, _uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let reason = "a world that is read includes nothing";
        Err(ResolveError::NotFound(reason.to_owned()))
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let mut files = self.0.iter();
        let found = files.find(|file| file.uri == uri && file.file == from_file);
        let found = found
            .ok_or_else(|| ResolveError::NotFound("it did not come with the world".to_owned()))?;
        let is_mesh = found.bytes.starts_with(b"glTF");
        Ok(ResolvedData {
            bytes: found.bytes.clone(),
            // The format is that of the content, whatever the name says.
            file: if is_mesh {
                format!("{uri}.glb")
            } else {
                uri.to_owned()
            },
            identity: format!("{from_file} {uri}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJ: &str = "o lid\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

    struct OneFile;

    impl Resolver for OneFile {
        fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
            Err(ResolveError::NotFound(uri.to_owned()))
        }

        fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
            match uri {
                "lid.obj" => Ok(ResolvedData {
                    bytes: OBJ.as_bytes().to_vec(),
                    file: uri.to_owned(),
                    identity: uri.to_owned(),
                }),
                _ => Err(ResolveError::NotFound("nowhere".to_owned())),
            }
        }
    }

    fn world(sensor: &str) -> World {
        let visual = |name: &str, uri: &str| {
            format!(
                "<visual name='{name}'><geometry><mesh><uri>{uri}</uri></mesh></geometry></visual>"
            )
        };
        let visuals = visual("a", "lid.obj") + &visual("b", "lid.obj") + &visual("c", "no.obj");
        let text = format!(
            "<sdf version='1.11'><world name='w'><model name='m'><link name='l'>{visuals}\
             <sensor name='s' type='{sensor}'/></link></model></world></sdf>"
        );
        let read = crate::read_worlds(&text, "w.sdf", &crate::NoFiles).unwrap();
        read.worlds.into_iter().next().unwrap()
    }

    #[test]
    fn a_world_keeps_each_file_of_its_visuals_once_as_a_mesh_that_stands_alone() {
        let mut world = world("camera");
        let mut left = VISUAL_FILES_BYTES_MAX;
        let found = world.keep_visual_files(&OneFile, &mut left);
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        assert!(found.problems[0].contains("no.obj"), "{:?}", found.problems);
        assert_eq!((world.visual_files.len(), found.used.len()), (1, 1));
        let kept = KeptFiles(&world.visual_files);
        let data = kept.read_data("lid.obj", "w.sdf").unwrap();
        let mesh = mesh::read_visual_mesh(&data.bytes, &data.file, &|_| None).unwrap();
        assert_eq!(mesh.triangle_count(), 1);
        assert!(kept.read_data("lid.obj", "elsewhere.sdf").is_err());
    }

    #[test]
    fn visuals_are_told_how_large_their_meshes_are() {
        let mut world = world("camera");
        let visuals = &mut world.models[0].links[0].visuals;
        let Geometry::Mesh(scaled) = &mut visuals[1].geometry else {
            panic!("it is a mesh")
        };
        scaled.scale = [-20.0, 3.0, 1.0];
        let mut left = VISUAL_FILES_BYTES_MAX;
        world.keep_visual_files(&OneFile, &mut left);
        let visuals = &world.models[0].links[0].visuals;
        let bounds = visuals.iter().map(|visual| match &visual.geometry {
            Geometry::Mesh(shape) => shape.bounds,
            other => panic!("it is a mesh: {other:?}"),
        });
        let bounds: Vec<_> = bounds.collect();
        let whole = Some([[0.0; 3], [1.0, 1.0, 0.0]]);
        let scaled = Some([[-20.0, 0.0, 0.0], [0.0, 3.0, 0.0]]);
        assert_eq!(bounds, [whole, scaled, None], "the last one is not found");
        assert_eq!(world.models[0].sight().size, 20.0_f64.hypot(3.0));
    }

    #[test]
    fn all_worlds_of_a_run_share_one_limit() {
        let mut worlds = [world("camera"), world("camera"), world("camera")];
        let mut left = VISUAL_FILES_BYTES_MAX;
        worlds[0].keep_visual_files(&OneFile, &mut left);
        let bytes = worlds[0].visual_files[0].bytes.len();
        assert_eq!(left, VISUAL_FILES_BYTES_MAX - bytes);
        left = 2 * bytes - 1;
        let kept = worlds.each_mut().map(|world| {
            let found = world.keep_visual_files(&OneFile, &mut left);
            let is_told = found.problems[0].contains("\"lid.obj\" is not drawn");
            assert_eq!(is_told, world.visual_files.is_empty());
            world.visual_files.len()
        });
        assert_eq!((kept, left), ([1, 0, 0], bytes - 1));
    }

    #[test]
    fn only_cameras_draw() {
        assert!(world("camera").draws());
        assert!(!world("imu").draws());
        let mut world = world("gpu_lidar");
        assert!(!world.draws());
        let text = "<sdf version='1.11'><world name='w'>\
                    <plugin filename='gz-sim-sensors-system' name='gz::sim::systems::Sensors'>\
                    <phalanx:distances>visuals</phalanx:distances></plugin></world></sdf>";
        let read = crate::read_worlds(text, "w.sdf", &crate::NoFiles).unwrap();
        world.plugins.clone_from(&read.worlds[0].plugins);
        assert!(world.draws());
    }

    #[test]
    fn files_that_several_models_name_are_looked_at_once() {
        struct Counting(std::cell::Cell<u32>);
        impl Resolver for Counting {
            fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
                OneFile.read(uri, from_file)
            }
            fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
                self.0.set(self.0.get() + 1);
                OneFile.read_data(uri, from_file)
            }
        }
        let world = world("camera");
        let files = Counting(std::cell::Cell::default());
        let mut all = UsedFiles::default();
        let used = all.of(&world.models[0], &files);
        let names: Vec<&str> = used.iter().map(|file| &*file.uri).collect();
        assert_eq!(names, ["lid.obj"]);
        let looked = files.0.get();
        assert_eq!(looked, 2, "one that is there, and one that is not");
        assert!(all.of(&world.models[0], &files).is_empty());
        assert_eq!(files.0.get(), looked);
    }
}
