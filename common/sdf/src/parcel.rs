//! [`ModelParcel`]: a model with all the data that it refers to, to be put into a running world.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::pose::Pose;
use crate::visual_files::{VisualFile, is_named, name_by_content};
use crate::world::{Geometry, Joint, Model, World};

/// A model with the meshes and height grids of its collisions, which count from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelParcel {
    /// The model; its poses are in the world frame.
    pub model: Model,
    /// The meshes that its collisions refer to.
    pub meshes: Vec<mesh::TriangleMesh>,
    /// The height grids that its collisions refer to.
    pub height_grids: Vec<mesh::HeightGrid>,
    /// The meshes and images that its visuals name, where a sensor draws them.
    #[serde(default)]
    pub visual_files: Vec<VisualFile>,
}

impl ModelParcel {
    /// Returns it as bytes, for the wire.
    ///
    /// # Panics
    /// Never: models hold only what `MessagePack` can express.
    pub fn encode(&self) -> Vec<u8> {
        msgpack::to_vec(self).expect("models hold only what MessagePack can express")
    }

    /// Returns the parcel in bytes made by [`Self::encode`].
    ///
    /// # Errors
    /// Fails if the bytes are no parcel, or its parts do not belong together.
    pub fn decode(bytes: &[u8]) -> Result<Self, msgpack::Error> {
        let parcel: Self = msgpack::from_slice(bytes)?;
        let data = [parcel.meshes.len(), parcel.height_grids.len()];
        match parcel.model.dangling(data) {
            Some(what) => Err(serde::de::Error::custom(what)),
            None => Ok(parcel),
        }
    }

    /// Returns the model under another name, and at another pose \[m\] with everything in it.
    #[must_use]
    pub fn placed(mut self, name: Option<String>, pose: Option<Pose>) -> Self {
        if let Some(name) = name {
            self.model.name = name;
        }
        if let Some(pose) = pose {
            let way = pose.then(&self.model.pose.inverse());
            move_model(&mut self.model, &way);
            self.model.pose = pose;
        }
        self
    }

    /// Has a joint start at a position along or about its first axis \[rad or m\], and those that
    /// mimic it where that puts them.
    ///
    /// # Errors
    /// Fails if there is no such joint, it has no position, or that is no finite number.
    pub fn start_joint(&mut self, name: &str, position: f64) -> Result<(), StartJointError> {
        let joints = &mut self.model.joints;
        let error = |what| StartJointError {
            joint: name.to_owned(),
            what,
        };
        let Some(joint) = joints.iter_mut().find(|joint| joint.name == name) else {
            let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
            return Err(error(format!("there are {}", names.join(", "))));
        };
        let kind = joint.kind.name();
        let Some(axis) = joint.kind.axes_mut().first_mut() else {
            return Err(error(format!("it is {kind} and has no position")));
        };
        if !position.is_finite() {
            return Err(error("its position is no finite number".to_owned()));
        }
        axis.initial_position = position;
        lead(joints, name);
        Ok(())
    }
}

/// A joint that cannot start where it is to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the joint {joint:?} cannot start elsewhere: {what}")]
pub struct StartJointError {
    /// Its name.
    pub joint: String,
    /// Reason for the refusal, and what there is.
    pub what: String,
}

/// Starts the joints that mimic a joint, and those that mimic them, where it puts them.
fn lead(joints: &mut [Joint], leader: &str) {
    let mut leaders = vec![leader.to_owned()];
    // A ring of them ends with the joints.
    for _ in 0..joints.len() {
        let Some(leader) = leaders.pop() else { return };
        for index in 0..joints.len() {
            for axis in 0..joints[index].kind.axes().len() {
                let follower = joints[index].kind.axes()[axis].mimic.as_ref();
                let follows = follower.is_some_and(|mimic| mimic.joint == leader);
                let start = start_of_follower(joints, index, axis).filter(|_| follows);
                if let Some(start) = start {
                    joints[index].kind.axes_mut()[axis].initial_position = start;
                    leaders.push(joints[index].name.clone());
                }
            }
        }
    }
}

/// Returns where an axis that mimics another starts if it does what that says \[rad or m\].
pub(crate) fn start_of_follower(joints: &[Joint], index: usize, axis: usize) -> Option<f64> {
    let mimic = joints[index].kind.axes()[axis].mimic.as_ref()?;
    let leader = joints.iter().find(|joint| joint.name == mimic.joint)?;
    let lead = leader.kind.axes().get(mimic.axis)?.initial_position;
    let start = mimic.multiplier * (lead - mimic.reference) + mimic.offset;
    start.is_finite().then_some(start)
}

/// Moves everything of a model that is in the world frame.
fn move_model(model: &mut Model, way: &Pose) {
    for link in &mut model.links {
        link.pose = way.then(&link.pose);
    }
    for frame in &mut model.frames {
        frame.pose = way.then(&frame.pose);
    }
    for nested in &mut model.nested {
        nested.pose = way.then(&nested.pose);
    }
    for joint in &mut model.joints {
        joint.pose = way.then(&joint.pose);
        for axis in joint.kind.axes_mut() {
            axis.xyz = way.rotate(axis.xyz);
        }
    }
}

impl World {
    /// Adds a model at the end of the world's models, with its data, and returns its index.
    pub fn append(&mut self, parcel: ModelParcel) -> usize {
        let index = self.models.len();
        self.place(index, parcel);
        index
    }

    /// Puts a model, with its data, where none is; places before it that never had one are vacant.
    ///
    /// Its visuals take the files that it brings, and no others of the same names: which models
    /// came before it, and are gone, makes no difference.
    ///
    /// # Panics
    /// Panics if a model is there.
    pub fn place(&mut self, index: usize, parcel: ModelParcel) {
        let ModelParcel {
            mut model,
            meshes,
            height_grids,
            mut visual_files,
        } = parcel;
        let [used_meshes, used_grids] = data_of(&self.models);
        let is_free = |index: usize, mesh: &mesh::TriangleMesh| {
            *mesh == mesh::TriangleMesh::default() && !used_meshes.contains(&index)
        };
        let meshes = store(&mut self.meshes, meshes, is_free);
        let is_free = |index: usize, grid: &mesh::HeightGrid| {
            *grid == mesh::HeightGrid::default() && !used_grids.contains(&index)
        };
        let grids = store(&mut self.height_grids, height_grids, is_free);
        let collisions = model.links.iter_mut().flat_map(|link| &mut link.collisions);
        for collision in collisions {
            match &mut collision.geometry {
                Geometry::Mesh(shape) => shape.mesh = shape.mesh.map(|mesh| meshes[mesh]),
                Geometry::Heightmap(shape) => shape.grid = shape.grid.map(|grid| grids[grid]),
                _ => {}
            }
        }
        name_by_content(&mut model, &mut visual_files);
        for file in visual_files {
            let is_it = |known: &VisualFile| known.uri == file.uri && known.file == file.file;
            if !self.visual_files.iter().any(is_it) {
                self.visual_files.push(file);
            }
        }
        while self.models.len() <= index {
            self.models.push(Model::vacant());
        }
        assert!(
            self.models[index].is_vacant(),
            "a model comes where none is"
        );
        self.models[index] = model;
    }

    /// Takes a model out that came after the start, with its data; its place is vacant. Of models,
    /// meshes, height grids and files of visuals, the first `at_start` stay as they are.
    pub fn vacate(&mut self, index: usize, at_start: [usize; 4]) {
        let [meshes, grids] = data_of(&self.models[index..=index]);
        self.models[index] = Model::vacant();
        for mesh in meshes.into_iter().filter(|mesh| *mesh >= at_start[1]) {
            self.meshes[mesh] = mesh::TriangleMesh::default();
        }
        for grid in grids.into_iter().filter(|grid| *grid >= at_start[2]) {
            self.height_grids[grid] = mesh::HeightGrid::default();
        }
        let [used_meshes, used_grids] = data_of(&self.models);
        let end = |used: &BTreeSet<usize>, at_start: usize| {
            let end = used.last().map_or(0, |last| last + 1);
            end.max(at_start)
        };
        self.meshes.truncate(end(&used_meshes, at_start[1]));
        self.height_grids.truncate(end(&used_grids, at_start[2]));
        let came = self
            .visual_files
            .drain(at_start[3].min(self.visual_files.len())..);
        let models = &self.models;
        let needed: Vec<VisualFile> = came.filter(|file| is_named(file, models)).collect();
        self.visual_files.extend(needed);
        let is_there = |model: &Model| !model.is_vacant();
        let end = self.models.iter().rposition(is_there);
        self.models
            .truncate(end.map_or(0, |last| last + 1).max(at_start[0]));
    }
}

impl Model {
    /// Placeholder for a model that is gone: nothing, which never moves.
    fn vacant() -> Self {
        Self {
            is_static: true,
            ..Self::new("", Vec::new(), Vec::new())
        }
    }

    /// Tells whether there is no model in this place.
    pub fn is_vacant(&self) -> bool {
        self.name.is_empty() && self.links.is_empty()
    }
}

/// Returns the meshes and the height grids that collisions of models refer to.
fn data_of(models: &[Model]) -> [BTreeSet<usize>; 2] {
    let [mut meshes, mut grids] = [BTreeSet::new(), BTreeSet::new()];
    let links = models.iter().flat_map(|model| &model.links);
    for collision in links.flat_map(|link| &link.collisions) {
        match &collision.geometry {
            Geometry::Mesh(shape) => meshes.extend(shape.mesh),
            Geometry::Heightmap(shape) => grids.extend(shape.grid),
            _ => {}
        }
    }
    [meshes, grids]
}

/// Puts data where none is, or at the end, and returns where each is.
fn store<T>(list: &mut Vec<T>, data: Vec<T>, is_free: impl Fn(usize, &T) -> bool) -> Vec<usize> {
    let mut next = 0;
    let mut places = Vec::with_capacity(data.len());
    for one in data {
        while next < list.len() && !is_free(next, &list[next]) {
            next += 1;
        }
        if next < list.len() {
            list[next] = one;
        } else {
            list.push(one);
        }
        places.push(next);
        next += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::Resolver;
    use crate::visual_files::KeptFiles;
    use crate::world::{Collision, Link, MeshApproximation, MeshShape};

    fn parcel(name: &str, meshes: usize) -> ModelParcel {
        let shape = |mesh| {
            let shape = MeshShape {
                uri: String::new(),
                submesh: String::new(),
                center_submesh: false,
                scale: [1.0; 3],
                approximation: MeshApproximation::Automatic,
                mesh: Some(mesh),
                bounds: None,
            };
            Collision::new("c", Pose::IDENTITY, Geometry::Mesh(shape))
        };
        let mesh = |number: usize| mesh::TriangleMesh {
            vertices: vec![[number as f64; 3]; 3],
            triangles: vec![[0, 1, 2]],
        };
        let link = Link {
            collisions: (0..meshes).map(shape).collect(),
            ..Link::new("link", Pose::IDENTITY)
        };
        ModelParcel {
            model: Model::new(name, vec![link], Vec::new()),
            meshes: (0..meshes).map(mesh).collect(),
            height_grids: Vec::new(),
            visual_files: Vec::new(),
        }
    }

    fn drawn(name: &str, mesh: Option<&[u8]>) -> ModelParcel {
        let file = "m.sdf".to_owned();
        let text = format!(
            "<sdf version='1.11'><model name='{name}'><link name='l'><visual name='v'><geometry>\
             <mesh><uri>a.obj</uri></mesh></geometry></visual></link></model></sdf>"
        );
        let read = crate::read_model(&text, &file, &crate::NoFiles).unwrap();
        let kept = mesh.map(|bytes| VisualFile {
            uri: "a.obj".to_owned(),
            file,
            bytes: bytes.to_vec(),
        });
        ModelParcel {
            visual_files: kept.into_iter().collect(),
            ..read.parcel
        }
    }

    /// Returns what the visual of a model is drawn from.
    fn look(world: &World, model: usize) -> Option<Vec<u8>> {
        let visual = &world.models[model].links[0].visuals[0];
        let data = KeptFiles(&world.visual_files).read_data("a.obj", &visual.file);
        data.ok().map(|data| data.bytes)
    }

    #[test]
    fn a_model_is_drawn_from_its_own_files_whoever_came_before() {
        let mut start = World::default();
        start.append(drawn("of the file", Some(b"zero")));
        let at_start = [1, 0, 0, start.visual_files.len()];
        let mut world = start.clone();
        world.place(1, drawn("first", Some(b"one")));
        world.place(2, drawn("second", Some(b"two")));
        world.place(3, drawn("without", None));
        world.place(4, drawn("third", Some(b"two")));
        assert_eq!(world.visual_files.len(), 3, "the same content is kept once");
        let mut late = start.clone();
        world.vacate(1, at_start);
        for (model, name, mesh) in [
            (2, "second", Some(b"two")),
            (3, "without", None),
            (4, "third", Some(b"two")),
        ] {
            late.place(model, drawn(name, mesh.map(|mesh| &mesh[..])));
            assert_eq!(look(&world, model).as_deref(), mesh.map(|mesh| &mesh[..]));
        }
        assert_eq!(look(&world, 0).as_deref(), Some(&b"zero"[..]));
        assert_eq!(world, late, "who joins late has the same");
        for model in 2..5 {
            world.vacate(model, at_start);
        }
        assert_eq!(world, start);
    }

    #[test]
    fn a_removed_model_leaves_its_numbers_and_meshes_to_the_next() {
        let mut world = World::default();
        world.append(parcel("of the file", 1));
        let at_start = [world.models.len(), world.meshes.len(), 0, 0];
        let start = world.clone();
        for turn in 0..100 {
            world.place(1, parcel("one", 2));
            world.place(3, parcel("two", 1));
            world.place(2, parcel("three", 3));
            assert_eq!((world.models.len(), world.meshes.len()), (4, 7), "{turn}");
            world.vacate(1, at_start);
            assert!(world.models[1].is_vacant() && !world.models[2].is_vacant());
            world.place(1, parcel("again", 3));
            assert_eq!(world.meshes.len(), 8);
            let [used, _] = data_of(&world.models);
            assert_eq!(used.len(), 8, "no mesh is of two models");
            world.vacate(1, at_start);
            world.vacate(2, at_start);
            world.vacate(3, at_start);
            assert_eq!(world, start, "{turn}");
        }
    }
}
