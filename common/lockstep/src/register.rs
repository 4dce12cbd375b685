//! [`Register`]: the models of all worlds by name, with their links and joints.
//!
//! It holds what commands must know to be refused before anything changes, and follows what is
//! spawned and removed.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{LinkId, ModelId};
use sdf::{Model, Pose, World};
use serde::{Deserialize, Serialize};

/// The models of all worlds by name.
#[derive(Clone, Debug)]
pub struct Register {
    worlds: Vec<WorldEntry>,
    /// Those that are there, by their names as reports have them.
    by_name: BTreeMap<String, ModelId>,
}

/// What has changed since the start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RegisterMemory {
    came: Vec<Vec<ModelEntry>>,
    gone: Vec<ModelId>,
}

#[derive(Clone, Debug)]
struct WorldEntry {
    name: String,
    models: Vec<ModelEntry>,
}

/// What is known of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelEntry {
    /// Its name within its world.
    pub name: String,
    /// Whether it never moves.
    pub is_static: bool,
    /// Where its origin was put, world frame.
    pub pose: Pose,
    canonical_link: usize,
    links: Vec<String>,
    /// Names of joints with how many axes they have.
    joints: Vec<(String, usize)>,
}

impl Register {
    /// Takes in all models of some worlds.
    pub fn new(worlds: &[World]) -> Self {
        let mut register = Self {
            worlds: Vec::new(),
            by_name: BTreeMap::new(),
        };
        for world in worlds {
            register.worlds.push(WorldEntry {
                name: world.name.clone(),
                models: Vec::new(),
            });
        }
        for (index, world) in worlds.iter().enumerate() {
            for model in &world.models {
                register.add(index, model);
            }
        }
        register
    }

    /// Adds a model at the end of its world's and returns its number.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn add(&mut self, world: usize, model: &Model) -> ModelId {
        let id = self.next(world);
        self.worlds[world].models.push(ModelEntry {
            name: model.name.clone(),
            is_static: model.is_static,
            pose: model.pose,
            canonical_link: model.canonical_link,
            links: model.links.iter().map(|link| link.name.clone()).collect(),
            joints: model
                .joints
                .iter()
                .map(|joint| (joint.name.clone(), joint.kind.axes().len()))
                .collect(),
        });
        self.by_name.insert(self.full_name(world, &model.name), id);
        id
    }

    /// Returns the number that the next model of a world gets.
    pub fn next(&self, world: usize) -> ModelId {
        ModelId {
            world: world as u32,
            model: self.worlds[world].models.len() as u32,
        }
    }

    /// Returns what has changed since the start: which models came, world by world, and which are
    /// gone.
    pub(crate) fn remember(&self, start: &Self) -> RegisterMemory {
        let worlds = self.worlds.iter().zip(&start.worlds);
        let came = worlds.map(|(now, then)| now.models[then.models.len()..].to_vec());
        let numbers = self.worlds.iter().enumerate().flat_map(|(world, entry)| {
            let models = 0..entry.models.len() as u32;
            models.map(move |model| ModelId {
                world: world as u32,
                model,
            })
        });
        let there: BTreeSet<ModelId> = self.by_name.values().copied().collect();
        RegisterMemory {
            came: came.collect(),
            gone: numbers.filter(|id| !there.contains(id)).collect(),
        }
    }

    /// Lets the same models come and go in the register of the start.
    ///
    /// # Errors
    /// When there are more or fewer worlds.
    pub(crate) fn recall(&mut self, memory: RegisterMemory) -> Result<(), &'static str> {
        if memory.came.len() != self.worlds.len() {
            return Err("it has models of more or fewer worlds than there are");
        }
        for (world, entries) in memory.came.into_iter().enumerate() {
            for entry in entries {
                if entry.canonical_link >= entry.links.len().max(1) {
                    return Err("a model has a link that there is not");
                }
                let id = self.next(world);
                self.by_name.insert(self.full_name(world, &entry.name), id);
                self.worlds[world].models.push(entry);
            }
        }
        let gone: BTreeSet<ModelId> = memory.gone.into_iter().collect();
        self.by_name.retain(|_, id| !gone.contains(id));
        Ok(())
    }

    /// Forgets the name of a model that is gone.
    pub fn remove(&mut self, id: ModelId) {
        self.by_name.retain(|_, other| *other != id);
    }

    /// Returns what is known of a model.
    ///
    /// # Panics
    /// When there never was such a model.
    pub fn entry(&self, id: ModelId) -> &ModelEntry {
        &self.worlds[id.world as usize].models[id.model as usize]
    }

    /// Returns the name of a model as reports have it.
    pub fn name(&self, id: ModelId) -> String {
        self.full_name(id.world as usize, &self.entry(id).name)
    }

    /// Returns the name of a model as reports have it, if there ever was such a model.
    pub fn find(&self, id: ModelId) -> Option<String> {
        let world = self.worlds.get(id.world as usize)?;
        world.models.get(id.model as usize)?;
        Some(self.name(id))
    }

    /// Returns the index of a world by its name, or the only one.
    ///
    /// # Errors
    /// When there is no such world, or there are several and none is named.
    pub fn world(&self, name: Option<&str>) -> Result<usize, String> {
        let names: Vec<&str> = self
            .worlds
            .iter()
            .map(|world| world.name.as_str())
            .collect();
        match name {
            None if names.len() == 1 => Ok(0),
            None => Err(format!("say which world is meant: {}", names.join(", "))),
            Some(name) => {
                let found = names.iter().position(|other| *other == name);
                let there_are = || format!("no world is named {name:?}: {}", names.join(", "));
                found.ok_or_else(there_are)
            }
        }
    }

    /// Tells whether a model of a world has a name already.
    pub fn is_taken(&self, world: usize, name: &str) -> bool {
        self.by_name.contains_key(&self.full_name(world, name))
    }

    /// Returns a model by its name as reports have it.
    ///
    /// # Errors
    /// When there is none.
    pub fn model(&self, name: &str) -> Result<ModelId, String> {
        let found = self.by_name.get(name).copied();
        found.ok_or_else(|| format!("no model is named {name:?}"))
    }

    /// Returns a model that moves.
    ///
    /// # Errors
    /// When there is none of this name, or it is static.
    pub fn mover(&self, name: &str) -> Result<ModelId, String> {
        let id = self.model(name)?;
        if self.entry(id).is_static {
            return Err(format!("model {name:?} is static: it never moves"));
        }
        Ok(id)
    }

    /// Returns a link of a model that moves, by `MODEL::LINK`, or the canonical link of a model.
    ///
    /// # Errors
    /// When there is none, or its model is static.
    pub fn link(&self, name: &str) -> Result<LinkId, String> {
        let (id, part) = self.split(name)?;
        let entry = self.entry(id);
        let link = match part {
            "" => entry.canonical_link,
            part => {
                let found = entry.links.iter().position(|link| link == part);
                found.ok_or_else(|| no_part("link", part, &entry.name, &entry.links))?
            }
        };
        Ok(LinkId {
            model: id,
            link: link as u32,
        })
    }

    /// Returns a model that moves and the index of a link, if `MODEL::LINK` names one.
    ///
    /// # Errors
    /// When there is no such model or link, or the model is static.
    pub fn model_or_link(&self, name: &str) -> Result<(ModelId, Option<u32>), String> {
        let (id, part) = self.split(name)?;
        let link = self.link(name)?;
        Ok((id, (!part.is_empty()).then_some(link.link)))
    }

    /// Returns an axis of a joint of a model that moves, by `MODEL::JOINT`.
    ///
    /// # Errors
    /// When there is none, or its model is static.
    pub fn axis(&self, name: &str, axis: u32) -> Result<(ModelId, u32), String> {
        let (id, part) = self.split(name)?;
        let entry = self.entry(id);
        let Some(index) = entry.joints.iter().position(|(joint, _)| joint == part) else {
            let names: Vec<String> = entry
                .joints
                .iter()
                .map(|(joint, _)| joint.clone())
                .collect();
            return Err(no_part("joint", part, &entry.name, &names));
        };
        let count = entry.joints[index].1;
        if axis as usize >= count {
            return Err(format!(
                "joint {name:?} has {count} axes: there is no axis {axis}"
            ));
        }
        Ok((id, index as u32))
    }

    /// Splits the name of a part into its model, which moves, and the rest.
    fn split<'n>(&self, name: &'n str) -> Result<(ModelId, &'n str), String> {
        if self.by_name.contains_key(name) {
            return Ok((self.mover(name)?, ""));
        }
        let ends = name.match_indices("::").map(|(end, _)| end);
        let model = ends
            .filter(|end| self.by_name.contains_key(&name[..*end]))
            .last();
        match model {
            Some(end) => Ok((self.mover(&name[..end])?, &name[end + 2..])),
            None => Err(format!("no model is named as {name:?} begins")),
        }
    }

    fn full_name(&self, world: usize, model: &str) -> String {
        if self.worlds.len() > 1 {
            format!("{}::{model}", self.worlds[world].name)
        } else {
            model.to_owned()
        }
    }
}

/// How many names of parts an error lists.
const LISTED_MAX: usize = 8;

fn no_part(kind: &str, part: &str, model: &str, there: &[String]) -> String {
    let mut names: Vec<&str> = there.iter().map(String::as_str).take(LISTED_MAX).collect();
    if there.len() > LISTED_MAX {
        names.push("...");
    }
    let names = match names.as_slice() {
        [] => format!("it has no {kind}s"),
        names => format!("it has {}", names.join(", ")),
    };
    format!("model {model:?} has no {kind} {part:?}: {names}")
}
