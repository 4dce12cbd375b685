//! From [`sdf::World`]s to a [`Scene`].

use std::collections::BTreeMap;

use sdf::{KeptFiles, Light as SdfLight, Resolver};

use crate::assets::Assets;
use crate::files::Files;
use crate::geometry::Geometry;
use crate::light::{Attenuation, Light, LightKind, Spot};
use crate::material::{self, Material};
use crate::motion::Motion;
use crate::scene::{
    Collision, FRAME, Fog, FogKind, Frame, Level, Link, Model, Pose, Scene, Sensor, Sky, Visual,
    World,
};

/// A model that was taken out of a scene, with the lights and frames of its links.
#[derive(Clone, Debug)]
pub(crate) struct TakenModel {
    /// Its world, as an index.
    world: usize,
    pub(crate) model: Model,
    lights: Vec<Light>,
    frames: Vec<Frame>,
}

/// Names of the link of an actor, and of the visual that is its skin.
const ACTOR_LINK: &str = "body";
const SKIN: &str = "skin";

/// Name of the level of everything that no other level has.
const DEFAULT_LEVEL: &str = "default";

impl Scene {
    /// Makes the scene of worlds. Of the meshes and images that visuals name, `files` finds those
    /// that are not kept with a world; they come to the `assets`.
    pub fn from_worlds(worlds: &[sdf::World], files: &dyn Resolver, assets: &mut Assets) -> Self {
        let mut scene = Self {
            frame: FRAME.to_owned(),
            ..Self::default()
        };
        let mut files = Files::new(files, assets);
        scene.worlds = worlds
            .iter()
            .map(|world| empty(world, worlds.len()))
            .collect();
        for (number, world) in worlds.iter().enumerate() {
            files.begin_world(KeptFiles(&world.visual_files));
            for model in world.models.iter().filter(|model| !model.is_vacant()) {
                scene.add(number, model, world, &mut files);
            }
            for actor in &world.actors {
                scene.add_actor(number, actor, world, &mut files);
            }
            scene.add_frames(number, &world.frames);
        }
        scene.problems = files.problems;
        scene
    }

    /// Adds a model that comes into a world, with its data, and returns its number; none where
    /// there is no such world. `files` finds the meshes and images that visuals name and that do
    /// not come with it.
    pub fn add_model(
        &mut self,
        world: usize,
        parcel: sdf::ModelParcel,
        files: &dyn Resolver,
        assets: &mut Assets,
    ) -> Option<u32> {
        if world >= self.worlds.len() {
            return None;
        }
        let sdf::ModelParcel {
            model,
            meshes,
            height_grids,
            visual_files,
        } = parcel;
        // Its visuals keep the names of their files, by which they are looked for.
        let data = sdf::World {
            meshes,
            height_grids,
            ..sdf::World::default()
        };
        let mut files = Files::new(files, assets);
        files.begin_world(KeptFiles(&visual_files));
        let id = self.add(world, &model, &data, &mut files);
        self.problems.append(&mut files.problems);
        if let Some(added) = self.worlds[world].models.last_mut() {
            added.spawned = true;
        }
        Some(id)
    }

    /// Takes a model out, with the lights of its links.
    pub fn remove_model(&mut self, id: u32) {
        self.take_model(id);
    }

    /// Takes a model out, with the lights and frames of its links, and returns all of it.
    pub(crate) fn take_model(&mut self, id: u32) -> Option<TakenModel> {
        let mut worlds = self.worlds.iter_mut().enumerate();
        worlds.find_map(|(number, world)| {
            let index = world.models.iter().position(|model| model.id == id)?;
            let model = world.models.remove(index);
            let is_its = |link: Option<u32>| {
                let mut links = model.links.iter();
                link.is_some_and(|id| links.any(|link| link.id == id))
            };
            let lights = world
                .lights
                .extract_if(.., |light| is_its(light.link))
                .collect();
            let frames = world
                .frames
                .extract_if(.., |frame| is_its(frame.link))
                .collect();
            Some(TakenModel {
                world: number,
                model,
                lights,
                frames,
            })
        })
    }

    /// Puts a model back that was taken out of this scene or of one of the same worlds, as if it
    /// was added anew; returns its number.
    pub(crate) fn put_model(&mut self, taken: TakenModel) -> Option<u32> {
        let TakenModel {
            world,
            mut model,
            mut lights,
            mut frames,
        } = taken;
        let world = self.worlds.get_mut(world)?;
        model.id = self.next_model;
        self.next_model += 1;
        let mut numbers = BTreeMap::new();
        for link in &mut model.links {
            numbers.insert(link.id, self.next_link);
            link.id = self.next_link;
            self.next_link += 1;
        }
        let of_links = lights.iter_mut().map(|light| &mut light.link);
        let of_links = of_links.chain(frames.iter_mut().map(|frame| &mut frame.link));
        for link in of_links.flatten() {
            *link = numbers[link];
        }
        let id = model.id;
        world.lights.append(&mut lights);
        world.frames.append(&mut frames);
        world.models.push(model);
        Some(id)
    }

    /// Adds a model of a world that has its data.
    fn add(
        &mut self,
        world: usize,
        model: &sdf::Model,
        data: &sdf::World,
        files: &mut Files<'_>,
    ) -> u32 {
        let name = format!("{}{}", self.prefix(world), model.name);
        let id = self.next_model;
        self.next_model += 1;
        let mut links = Vec::with_capacity(model.links.len());
        for link in &model.links {
            let number = self.next_link;
            self.next_link += 1;
            let scope = format!("{name}::{}", link.name);
            let mut shown = self::link(link, number, &scope, data, files);
            name_topics(&mut shown, model, &data.name);
            links.push(shown);
            let lights = link.lights.iter();
            let lights = lights.filter_map(|own| light(own, Some(number)));
            self.worlds[world].lights.extend(lights);
        }
        if model.is_static {
            let frames = model.frames.iter();
            let frames = frames.map(|frame| fixed_frame(frame, &name, model, &links));
            self.worlds[world].frames.extend(frames);
        }
        let is_declared = |performer: &sdf::Performer| performer.model == model.name;
        self.worlds[world].models.push(Model {
            id,
            name,
            performer: !model.is_static || data.performers.iter().any(is_declared),
            is_static: model.is_static,
            spawned: false,
            pose: numbers(&model.pose),
            canonical_link: model.canonical_link,
            links,
            motion: None,
        });
        id
    }

    /// Adds an actor of a world that has its data: a model of one link, which goes by a script.
    fn add_actor(
        &mut self,
        world: usize,
        actor: &sdf::Actor,
        data: &sdf::World,
        files: &mut Files<'_>,
    ) {
        let name = format!("{}{}", self.prefix(world), actor.name);
        let scope = format!("{name}::{ACTOR_LINK}");
        let start = actor.place(0.0);
        let body = sdf::Link {
            visuals: actor.visuals.clone(),
            collisions: actor.collisions.clone(),
            ..sdf::Link::new(ACTOR_LINK, start)
        };
        let mut body = link(&body, self.next_link, &scope, data, files);
        let scale = actor.skin.as_ref().map_or(1.0, |skin| skin.scale);
        if actor.skin_name().is_some() {
            let asset = files.skin(actor, &format!("{scope}::{SKIN}"));
            body.visuals.insert(0, skin(asset, scale));
        }
        let by_distance = actor.animations.iter().filter(|own| own.interpolate_x);
        self.worlds[world].models.push(Model {
            id: self.next_model,
            name,
            performer: false,
            is_static: false,
            spawned: false,
            pose: numbers(&start),
            canonical_link: 0,
            links: vec![body],
            motion: Some(Motion {
                origin: numbers(&actor.pose),
                script: actor.script.clone(),
                by_distance: by_distance.map(|own| own.name.clone()).collect(),
                scale,
            }),
        });
        self.next_model += 1;
        self.next_link += 1;
    }

    /// Adds the frames of a world, whose models are there.
    fn add_frames(&mut self, world: usize, frames: &[sdf::NamedFrame]) {
        let prefix = self.prefix(world);
        let World {
            models,
            frames: own,
            ..
        } = &mut self.worlds[world];
        own.extend(frames.iter().map(|frame| {
            let body = format!("{prefix}{}", frame.body);
            let link = models.iter().find_map(|model| {
                let name = body.strip_prefix(&model.name)?.strip_prefix("::")?;
                model.links.iter().find(|link| link.name == name)
            });
            Frame {
                name: format!("{prefix}{}", frame.name),
                pose: numbers(&frame.pose),
                link: link.map(|link| link.id),
            }
        }));
    }

    /// Returns the text before names of a world, which is there if it is not the only one.
    fn prefix(&self, world: usize) -> String {
        match self.worlds.len() {
            1 => String::new(),
            _ => format!("{}::", self.worlds[world].world),
        }
    }
}

/// Makes a frame of a model that never moves.
fn fixed_frame(frame: &sdf::NamedFrame, scope: &str, model: &sdf::Model, links: &[Link]) -> Frame {
    let mut all = links.iter();
    let own = all.find(|link| link.name == frame.body);
    Frame {
        name: format!("{scope}::{}", frame.name),
        pose: numbers(&frame.pose),
        // It goes with its model, whatever it is attached to.
        link: own.or(links.get(model.canonical_link)).map(|link| link.id),
    }
}

/// Makes the scene of a world without its models.
fn empty(world: &sdf::World, worlds: usize) -> World {
    let look = &world.surroundings;
    let prefix = match worlds {
        1 => String::new(),
        _ => format!("{}::", world.name),
    };
    let levels = world.levels.iter().map(|level| Level {
        name: format!("{prefix}{}", level.name),
        pose: numbers(&sdf::Pose {
            position: level.center,
            ..sdf::Pose::IDENTITY
        }),
        size: level.size,
        buffer: level.buffer,
        default: false,
    });
    let everywhere = Level {
        name: format!("{prefix}{DEFAULT_LEVEL}"),
        pose: numbers(&sdf::Pose::IDENTITY),
        size: [0.0; 3],
        buffer: 0.0,
        default: true,
    };
    World {
        world: world.name.clone(),
        gravity: world.gravity,
        ambient: rgb(look.ambient),
        background: rgb(look.background),
        sky: look.sky.as_ref().map(|sky| Sky {
            time: sky.time,
            sunrise: sky.sunrise,
            sunset: sky.sunset,
        }),
        fog: look.fog.as_ref().map(|fog| Fog {
            kind: match fog.kind.as_str() {
                "linear" => FogKind::Linear,
                "exp" => FogKind::Exponential,
                _ => FogKind::Quadratic,
            },
            color: rgb(fog.color),
            start: fog.start,
            end: fog.end,
            density: fog.density,
        }),
        grid: look.grid,
        shadows: look.shadows,
        lights: world
            .lights
            .iter()
            .filter_map(|own| light(own, None))
            .collect(),
        models: Vec::with_capacity(world.models.len()),
        levels: std::iter::once(everywhere).chain(levels).collect(),
        frames: Vec::new(),
    }
}

fn link(link: &sdf::Link, id: u32, scope: &str, data: &sdf::World, files: &mut Files<'_>) -> Link {
    let visuals = link.visuals.iter().map(|visual| {
        let name = format!("{scope}::{}", visual.name);
        let (mut geometry, ground) = visual_geometry(visual, &name, files);
        if geometry == Geometry::Empty {
            geometry = like_a_collision(&visual.geometry, link, data, files);
        }
        let own = visual.material.as_ref();
        Visual {
            name: visual.name.clone(),
            pose: numbers(&visual.pose),
            geometry,
            material: own
                .map(|own| material::of(own, &visual.file, &name, files))
                .or(ground),
            transparency: visual.transparency,
            cast_shadows: visual.cast_shadows,
            visibility_flags: visual.visibility_flags,
        }
    });
    let visuals = visuals.collect();
    let collisions = link.collisions.iter().map(|collision| Collision {
        name: collision.name.clone(),
        pose: numbers(&collision.pose),
        geometry: collision_geometry(&collision.geometry, data, files),
        extent: extent(&collision.geometry),
    });
    Link {
        id,
        name: link.name.clone(),
        pose: numbers(&link.pose),
        visuals,
        collisions: collisions.collect(),
        sensors: link.sensors.iter().map(sensor).collect(),
    }
}

/// Makes the visual of the skin of an actor, by its asset; one that is not here shows nothing.
fn skin(asset: Option<String>, scale: f64) -> Visual {
    Visual {
        name: SKIN.to_owned(),
        pose: numbers(&sdf::Pose::IDENTITY),
        geometry: asset.map_or(Geometry::Empty, |asset| Geometry::Mesh {
            asset,
            scale: [scale; 3],
        }),
        material: None,
        transparency: 0.0,
        cast_shadows: true,
        visibility_flags: u32::MAX,
    }
}

/// Gives the sensors of a link the topics that they have in the namespace of their model, if it has
/// one.
fn name_topics(link: &mut Link, model: &sdf::Model, world: &str) {
    if model.namespace.is_none() {
        return;
    }
    let (scopes, link_name) = link.name.rsplit_once("::").unwrap_or(("", &link.name));
    let scopes = scopes.split("::").filter(|scope| !scope.is_empty());
    let path: Vec<&str> = std::iter::once(&*model.name).chain(scopes).collect();
    let path = path.join("/model/");
    for sensor in &mut link.sensors {
        let usual = || format!("/model/{path}/link/{link_name}/sensor/{}", sensor.name);
        let written = sensor.topic.take().unwrap_or_else(usual);
        let topic = model.topic_in_namespace(world, &written);
        sensor.topic = Some(topic.unwrap_or(written));
    }
}

fn sensor(sensor: &sdf::Sensor) -> Sensor {
    Sensor {
        name: sensor.name.clone(),
        kind: sensor.kind.clone(),
        pose: numbers(&sensor.pose),
        topic: (!sensor.topic.is_empty()).then(|| sensor.topic.clone()),
    }
}

/// Returns a shape that needs no file.
fn plain_geometry(geometry: &sdf::Geometry, files: &mut Files<'_>) -> Geometry {
    match geometry {
        sdf::Geometry::Box { size } => Geometry::Box { size: *size },
        sdf::Geometry::Sphere { radius } => Geometry::Sphere { radius: *radius },
        sdf::Geometry::Cylinder { radius, length } => Geometry::Cylinder {
            radius: *radius,
            length: *length,
        },
        sdf::Geometry::Capsule { radius, length } => Geometry::Capsule {
            radius: *radius,
            length: *length,
        },
        sdf::Geometry::Ellipsoid { radii } => Geometry::Ellipsoid { radii: *radii },
        sdf::Geometry::Cone { radius, length } => Geometry::Cone {
            radius: *radius,
            length: *length,
        },
        sdf::Geometry::Plane { normal, size } => Geometry::Plane {
            normal: *normal,
            size: *size,
        },
        sdf::Geometry::Polyline { outlines, height } => {
            // What bounds nothing has been warned of where the world was read.
            let mesh = mesh::TriangleMesh::extrude(outlines, *height).ok();
            let asset = mesh.and_then(|mesh| files.triangles(&mesh));
            asset.map_or(Geometry::Empty, |asset| Geometry::Mesh {
                asset,
                scale: [1.0; 3],
            })
        }
        sdf::Geometry::Empty | sdf::Geometry::Mesh(_) | sdf::Geometry::Heightmap(_) => {
            Geometry::Empty
        }
    }
}

/// Returns the shape of a visual, and the material that a heightmap has by itself.
fn visual_geometry(
    visual: &sdf::Visual,
    name: &str,
    files: &mut Files<'_>,
) -> (Geometry, Option<Material>) {
    let mut material = None;
    let asset = match &visual.geometry {
        sdf::Geometry::Mesh(shape) => {
            let asset = files.mesh(shape, &visual.file, name);
            asset.map(|asset| Geometry::Mesh {
                asset,
                scale: shape.scale,
            })
        }
        sdf::Geometry::Heightmap(shape) => {
            let ground = files.ground(shape, &visual.ground, &visual.file, name);
            ground.map(|(asset, layers)| {
                material = layers;
                Geometry::Heightmap { asset }
            })
        }
        other => return (plain_geometry(other, files), None),
    };
    (asset.unwrap_or(Geometry::Empty), material)
}

/// Returns the triangles of a collision of the same file, for a visual whose file is not here: they
/// came with the world.
fn like_a_collision(
    geometry: &sdf::Geometry,
    link: &sdf::Link,
    data: &sdf::World,
    files: &mut Files<'_>,
) -> Geometry {
    let is_same = |other: &sdf::Geometry| match (geometry, other) {
        (sdf::Geometry::Mesh(own), sdf::Geometry::Mesh(other)) => {
            own.uri == other.uri && own.submesh == other.submesh && own.scale == other.scale
        }
        (sdf::Geometry::Heightmap(own), sdf::Geometry::Heightmap(other)) => {
            own.uri == other.uri && own.size == other.size && own.position == other.position
        }
        _ => false,
    };
    let mut collisions = link.collisions.iter();
    let found = collisions.find(|collision| is_same(&collision.geometry));
    found.map_or(Geometry::Empty, |collision| {
        collision_geometry(&collision.geometry, data, files)
    })
}

fn collision_geometry(
    geometry: &sdf::Geometry,
    data: &sdf::World,
    files: &mut Files<'_>,
) -> Geometry {
    let asset = match geometry {
        sdf::Geometry::Mesh(shape) => {
            let asset = shape.mesh.and_then(|index| files.collision(index, data));
            asset.map(|asset| Geometry::Mesh {
                asset,
                scale: shape.scale,
            })
        }
        sdf::Geometry::Heightmap(shape) => {
            let grid = shape.grid.and_then(|index| data.height_grids.get(index));
            let asset = grid.and_then(|grid| files.heights(shape, grid, None, None));
            asset.map(|asset| Geometry::Heightmap { asset })
        }
        other => return plain_geometry(other, files),
    };
    asset.unwrap_or(Geometry::Empty)
}

/// Returns the box around a shape in its own frame, if it has an end.
fn extent(geometry: &sdf::Geometry) -> Option<[[f64; 3]; 2]> {
    let corners = geometry.bounds(&sdf::Pose::IDENTITY)?;
    let is_finite = corners.iter().flatten().all(|one| one.is_finite());
    is_finite.then_some(corners)
}

/// Returns a light that shines, if it is of a kind that is known.
fn light(light: &SdfLight, link: Option<u32>) -> Option<Light> {
    let kind = match light.kind.as_str() {
        "point" => LightKind::Point,
        "directional" => LightKind::Directional,
        "spot" => LightKind::Spot,
        _ => return None,
    };
    if !light.is_on {
        return None;
    }
    let length = light.direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let direction = if length > 0.0 && length.is_finite() {
        light.direction.map(|x| x / length)
    } else {
        [0.0, 0.0, -1.0]
    };
    let [constant, linear, quadratic] = light.attenuation;
    let [inner_angle, outer_angle, falloff] = light.spot;
    Some(Light {
        name: light.name.clone(),
        kind,
        link,
        pose: numbers(&light.pose),
        diffuse: rgb(light.diffuse),
        specular: rgb(light.specular),
        direction,
        intensity: light.intensity,
        range: light.range,
        attenuation: Attenuation {
            constant,
            linear,
            quadratic,
        },
        spot: (kind == LightKind::Spot).then_some(Spot {
            inner_angle,
            outer_angle,
            falloff,
        }),
        cast_shadows: light.cast_shadows,
    })
}

fn rgb([red, green, blue, _]: sdf::Color) -> [f64; 3] {
    [red, green, blue]
}

fn numbers(pose: &sdf::Pose) -> Pose {
    let (position, orientation) = (pose.position, pose.orientation_xyzw);
    std::array::from_fn(|i| {
        if i < 3 {
            position[i]
        } else {
            orientation[i - 3]
        }
    })
}

#[cfg(test)]
mod tests;
