//! [`EntityRegistry`]: the models of all worlds by name, with their links and joints.
//!
//! It holds what commands must know to be refused before anything changes, and follows what is
//! spawned and removed.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{LinkId, ModelId};
use sdf::{Model, Pose, World};
use serde::{Deserialize, Serialize};

use crate::numbers::Numbers;
use crate::saved_state_error::SavedStateError;

/// The models of all worlds by name.
#[derive(Clone, Debug)]
pub struct EntityRegistry {
    worlds: Vec<WorldEntry>,
    /// Those that are there, by their names as reports have them.
    by_name: BTreeMap<String, ModelId>,
}

/// Changes since the start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedRegistry {
    /// For each world, the models that came and are there, in order of their numbers.
    came: Vec<Vec<(u32, ModelEntry)>>,
    /// Models of the start that are gone.
    gone: Vec<ModelId>,
}

#[derive(Clone, Debug)]
struct WorldEntry {
    name: String,
    /// By their numbers; `None` where nobody has one.
    models: Vec<Option<ModelEntry>>,
    numbers: Numbers,
}

/// Entry of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelEntry {
    /// Its name within its world.
    pub name: String,
    /// True if it never moves.
    pub is_static: bool,
    /// Pose in which its origin was put, world frame.
    pub pose: Pose,
    canonical_link: usize,
    links: Vec<String>,
    /// Names of joints with how many axes they have.
    joints: Vec<(String, usize)>,
}

/// A name that nothing has, or that is of something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There are several worlds, and none is named.
    #[error("say which world is meant: {}", .worlds.join(", "))]
    WorldNotNamed {
        /// Their names.
        worlds: Vec<String>,
    },
    /// No world has this name.
    #[error("no world is named {name:?}: {}", .worlds.join(", "))]
    NoWorld {
        /// The name.
        name: String,
        /// The names that worlds have.
        worlds: Vec<String>,
    },
    /// No model has this name.
    #[error("no model is named {name:?}")]
    NoModel {
        /// The name.
        name: String,
    },
    /// No model has a name with which this one begins.
    #[error("no model or part is named {name:?}: write MODEL, MODEL::LINK or MODEL::JOINT")]
    NoModelOfPart {
        /// The name of a part.
        name: String,
    },
    /// The model never moves.
    #[error("model {name:?} is static: it never moves")]
    Static {
        /// Its name.
        name: String,
    },
    /// The model has no link or joint of this name.
    #[error("model {model:?} has no {kind} {part:?}: {there}")]
    NoPart {
        /// Kind of the part.
        kind: &'static str,
        /// Its name.
        part: String,
        /// The model.
        model: String,
        /// The parts that it has, for people.
        there: String,
    },
    /// The joint has fewer axes.
    #[error("joint {joint:?} has {count} axes: there is no axis {axis}")]
    NoAxis {
        /// Its name.
        joint: String,
        /// Number of its axes.
        count: usize,
        /// The axis that was asked for.
        axis: u32,
    },
}

impl EntityRegistry {
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
                numbers: Numbers::default(),
            });
        }
        for (index, world) in worlds.iter().enumerate() {
            for model in &world.models {
                register.add(index, model);
            }
            register.worlds[index].numbers = Numbers::new(world.models.len() as u32);
        }
        register
    }

    /// Adds a model under the lowest number of its world that is free, and returns it.
    ///
    /// # Panics
    /// Panics when there is no such world.
    pub fn add(&mut self, world: usize, model: &Model) -> ModelId {
        let number = self.worlds[world].numbers.upcoming(0);
        let entry = ModelEntry {
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
        };
        self.place(world, number, entry)
    }

    fn place(&mut self, world: usize, number: u32, entry: ModelEntry) -> ModelId {
        let id = ModelId {
            world: world as u32,
            model: number,
        };
        self.by_name.insert(self.full_name(world, &entry.name), id);
        let WorldEntry {
            models, numbers, ..
        } = &mut self.worlds[world];
        numbers.occupy(number);
        models.resize(numbers.end(), None);
        models[number as usize] = Some(entry);
        id
    }

    /// Tells whether a world has as many models as it can.
    pub fn is_full(&self, world: usize) -> bool {
        let numbers = &self.worlds[world].numbers;
        !numbers.is_free(numbers.upcoming(0))
    }

    /// Returns what has changed since the start: which models came, world by world, and which are
    /// gone.
    pub(crate) fn save(&self, start: &Self) -> SavedRegistry {
        let worlds = self.worlds.iter().zip(&start.worlds);
        let there: BTreeSet<ModelId> = self.by_name.values().copied().collect();
        let is_there = |world: usize, model: usize| {
            there.contains(&ModelId {
                world: world as u32,
                model: model as u32,
            })
        };
        let came = worlds.enumerate().map(|(world, (now, then))| {
            let entries = now.models.iter().enumerate().skip(then.models.len());
            let there = entries.filter(|(number, _)| is_there(world, *number));
            let entry = |(number, entry): (usize, &Option<ModelEntry>)| {
                Some((number as u32, entry.clone()?))
            };
            there.filter_map(entry).collect()
        });
        let of_start = start.by_name.values().copied();
        let mut gone: Vec<ModelId> = of_start.filter(|id| !there.contains(id)).collect();
        gone.sort_unstable();
        SavedRegistry {
            came: came.collect(),
            gone,
        }
    }

    /// Lets the same models come and go in the register of the start.
    ///
    /// # Errors
    /// Fails when there are more or fewer worlds.
    pub(crate) fn restore(&mut self, saved: SavedRegistry) -> Result<(), SavedStateError> {
        if saved.came.len() != self.worlds.len() {
            return Err(SavedStateError::ModelWorlds);
        }
        for (world, entries) in saved.came.into_iter().enumerate() {
            for (number, entry) in entries {
                if entry.canonical_link >= entry.links.len().max(1) {
                    return Err(SavedStateError::ModelLink);
                }
                if !self.worlds[world].numbers.is_free(number) {
                    return Err(SavedStateError::ModelNumber);
                }
                self.place(world, number, entry);
            }
        }
        let gone: BTreeSet<ModelId> = saved.gone.into_iter().collect();
        self.by_name.retain(|_, id| !gone.contains(id));
        Ok(())
    }

    /// Forgets the name of a model that is gone; after [`Self::give_back`] another may get its
    /// number, unless it is of the start.
    pub fn remove(&mut self, id: ModelId) {
        self.by_name.retain(|_, other| *other != id);
        self.worlds[id.world as usize].numbers.give_up(id.model);
    }

    /// Lets the numbers of those who left be given again; comes between two steps.
    pub(crate) fn give_back(&mut self) {
        for world in self
            .worlds
            .iter_mut()
            .filter(|one| one.numbers.has_leaving())
        {
            for number in world.numbers.give_back() {
                world.models[number as usize] = None;
            }
            world.models.truncate(world.numbers.end());
        }
    }

    /// Returns what is known of a model.
    ///
    /// # Panics
    /// Panics when there is no such model.
    pub fn entry(&self, id: ModelId) -> &ModelEntry {
        let entry = &self.worlds[id.world as usize].models[id.model as usize];
        entry.as_ref().expect("who asks has just found its number")
    }

    /// Returns the name of a model as reports have it.
    pub fn name(&self, id: ModelId) -> String {
        self.full_name(id.world as usize, &self.entry(id).name)
    }

    /// Returns the name of a model as reports have it, if anyone has this number.
    pub fn find(&self, id: ModelId) -> Option<String> {
        let world = self.worlds.get(id.world as usize)?;
        let entry = world.models.get(id.model as usize)?.as_ref()?;
        Some(self.full_name(id.world as usize, &entry.name))
    }

    /// Returns the index of a world by its name, or the only one.
    ///
    /// # Errors
    /// Fails when there is no such world, or there are several and none is named.
    pub fn world(&self, name: Option<&str>) -> Result<usize, RegistryError> {
        let names = || self.worlds.iter().map(|world| world.name.clone()).collect();
        match name {
            None if self.worlds.len() == 1 => Ok(0),
            None => Err(RegistryError::WorldNotNamed { worlds: names() }),
            Some(name) => {
                let found = self.worlds.iter().position(|other| other.name == name);
                found.ok_or_else(|| RegistryError::NoWorld {
                    name: name.to_owned(),
                    worlds: names(),
                })
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
    /// Fails when there is none.
    pub fn model(&self, name: &str) -> Result<ModelId, RegistryError> {
        let found = self.by_name.get(name).copied();
        found.ok_or_else(|| RegistryError::NoModel {
            name: name.to_owned(),
        })
    }

    /// Returns a model that moves.
    ///
    /// # Errors
    /// Fails when there is none of this name, or it is static.
    pub fn mover(&self, name: &str) -> Result<ModelId, RegistryError> {
        let id = self.model(name)?;
        if self.entry(id).is_static {
            let name = name.to_owned();
            return Err(RegistryError::Static { name });
        }
        Ok(id)
    }

    /// Returns a link of a model that moves, by `MODEL::LINK`, or the canonical link of a model.
    ///
    /// # Errors
    /// Fails when there is none, or its model is static.
    pub fn link(&self, name: &str) -> Result<LinkId, RegistryError> {
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
    /// Fails when there is no such model or link, or the model is static.
    pub fn model_or_link(&self, name: &str) -> Result<(ModelId, Option<u32>), RegistryError> {
        let (id, part) = self.split(name)?;
        let link = self.link(name)?;
        Ok((id, (!part.is_empty()).then_some(link.link)))
    }

    /// Returns an axis of a joint of a model that moves, by `MODEL::JOINT`.
    ///
    /// # Errors
    /// Fails when there is none, or its model is static.
    pub fn axis(&self, name: &str, axis: u32) -> Result<(ModelId, u32), RegistryError> {
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
            let joint = name.to_owned();
            return Err(RegistryError::NoAxis { joint, count, axis });
        }
        Ok((id, index as u32))
    }

    /// Splits the name of a part into its model, which moves, and the rest.
    fn split<'n>(&self, name: &'n str) -> Result<(ModelId, &'n str), RegistryError> {
        if self.by_name.contains_key(name) {
            return Ok((self.mover(name)?, ""));
        }
        let ends = name.match_indices("::").map(|(end, _)| end);
        let model = ends
            .filter(|end| self.by_name.contains_key(&name[..*end]))
            .last();
        match model {
            Some(end) => Ok((self.mover(&name[..end])?, &name[end + 2..])),
            None => Err(RegistryError::NoModelOfPart {
                name: name.to_owned(),
            }),
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

/// Most names of parts that an error lists.
const LISTED_MAX: usize = 8;

fn no_part(kind: &'static str, part: &str, model: &str, there: &[String]) -> RegistryError {
    let mut names: Vec<&str> = there.iter().map(String::as_str).take(LISTED_MAX).collect();
    if there.len() > LISTED_MAX {
        names.push("...");
    }
    let there = match names.as_slice() {
        [] => format!("it has no {kind}s"),
        names => format!("it has {}", names.join(", ")),
    };
    RegistryError::NoPart {
        kind,
        part: part.to_owned(),
        model: model.to_owned(),
        there,
    }
}
