//! [`SharedStage`]: a world as sensors draw it, made when one does for the first time, and shared
//! by all cells of a process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use physics::Cell;
use render::{Painter, Renderer, Stage};
use scene::{Assets, Pose, Scene};
use sdf::{Actor, Link, Model, NoFiles, Plugin, World};

use crate::configuration::text_of;

/// Maker of renderers, of which each sensor has its own.
pub type MakeRenderer = Arc<dyn Fn() -> Box<dyn Renderer> + Send + Sync>;

/// A world as sensors draw it, which is made on request.
#[derive(Default)]
pub struct SharedStage {
    /// Maker of what draws it; the processor does without.
    make_renderer: Option<MakeRenderer>,
    /// Models of the world's description that are not there any more.
    gone: BTreeSet<usize>,
    made: Mutex<Made>,
}

/// Stages that were made of a world.
#[derive(Default)]
struct Made {
    now: Option<Arc<DrawnWorld>>,
    /// The one before models came or left, until the next is made of it.
    before: Option<Arc<DrawnWorld>>,
}

/// A world as sensors draw it, and how its parts are numbered.
pub(crate) struct DrawnWorld {
    pub(crate) stage: Stage,
    /// The models that are drawn.
    models: Vec<DrawnModel>,
    /// Visuals that are drawn, in the order of the stage's numbers.
    pub(crate) visuals: Vec<DrawnVisual>,
}

/// A model that is drawn.
struct DrawnModel {
    /// Its index among the world's models; those of actors follow.
    index: usize,
    /// The number that its first link has on the stage; the others follow.
    first_link: u32,
    /// True if it is where it was at the start.
    is_fixed: bool,
}

/// A visual that is drawn.
pub(crate) struct DrawnVisual {
    /// The index of its model among the world's models; those of actors follow.
    model: usize,
    /// The index of its link in the model.
    link: usize,
    /// Pose in the frame of its link.
    pose: sdf::Pose,
    /// The labelled thing that it is a part of.
    thing: Option<Thing>,
    /// True if its thing is it alone, and not its model.
    is_whole: bool,
    /// The temperature that a plugin gives to it \[K\].
    pub(crate) temperature: Option<f64>,
}

/// A thing with a label: a visual, or a model whose visuals have the label of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Thing {
    /// Its label.
    pub(crate) label: u8,
    /// Its number among those with the label, from 1.
    pub(crate) number: u16,
}

/// Poses of the links of models that move, by their indices in the world; actors have one, and
/// their indices follow those of models.
pub(crate) struct MovingLinks(BTreeMap<usize, Vec<Pose>>);

impl SharedStage {
    /// Makes a stage that is drawn by renderers of this maker, or else by the processor.
    pub fn drawn_by(make_renderer: Option<MakeRenderer>) -> Self {
        Self {
            make_renderer,
            ..Self::default()
        }
    }

    /// Returns a renderer for a sensor.
    pub(crate) fn renderer(&self) -> Box<dyn Renderer> {
        match &self.make_renderer {
            Some(make) => make(),
            None => Box::<Painter>::default(),
        }
    }

    /// Takes note that models came or left.
    pub fn renew(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        made.before = made.now.take().or(made.before.take());
    }

    /// Takes note that a model is not there any more, and will not come back.
    pub fn remove(&mut self, model: usize) {
        self.gone.insert(model);
        self.renew();
    }

    /// Returns the world as it is drawn, by its description.
    pub(crate) fn of(&self, world: &World) -> Arc<DrawnWorld> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let Made { now, before } = &mut *made;
        let made = now.get_or_insert_with(|| {
            let before = before.take();
            let stage = before.as_ref().map(|before| &before.stage);
            Arc::new(DrawnWorld::new(world, &self.gone, stage))
        });
        Arc::clone(made)
    }
}

impl DrawnWorld {
    fn new(world: &World, gone: &BTreeSet<usize>, before: Option<&Stage>) -> Self {
        let mut assets = Assets::default();
        let mut scene = Scene::from_worlds(std::slice::from_ref(world), &NoFiles, &mut assets);
        let is_there = |index: &usize| match world.models.get(*index) {
            Some(model) => !model.is_vacant(),
            None => true,
        };
        let all = world.models.len() + world.actors.len();
        let indices = (0..all).filter(is_there);
        let numbered = indices.zip(scene.worlds[0].models.iter().map(|model| model.id));
        let numbered: Vec<(usize, u32)> = numbered.collect();
        for (_, id) in numbered.iter().filter(|(index, _)| gone.contains(index)) {
            scene.remove_model(*id);
        }
        let there = numbered.iter().map(|(index, _)| *index);
        let there: Vec<usize> = there.filter(|index| !gone.contains(index)).collect();
        light_for_sensors(&mut scene.worlds[0], &world.plugins);
        let drawn = &scene.worlds[0];
        let models = there
            .iter()
            .zip(&drawn.models)
            .map(|(index, model)| DrawnModel {
                index: *index,
                first_link: model.links.first().map_or(0, |link| link.id),
                is_fixed: model.is_static && !model.performer,
            });
        let stage = Stage::after(drawn, &assets, before);
        for problem in stage.problems() {
            tracing::debug!("sensors do not draw everything: {problem}");
        }
        Self {
            models: models.collect(),
            visuals: visuals(world, &there),
            stage,
        }
    }

    /// Returns the things that visuals are parts of, in the order of the stage's numbers.
    pub(crate) fn things(&self) -> Vec<Option<Thing>> {
        self.visuals.iter().map(|visual| visual.thing).collect()
    }

    /// Returns the frame along whose axes the box around a thing is, world frame: that of its only
    /// visual, or of the link of the first.
    pub(crate) fn frame_of(
        &self,
        thing: Thing,
        moving: &MovingLinks,
        world: &World,
    ) -> Option<sdf::Pose> {
        let mut visuals = self.visuals.iter();
        let visual = visuals.find(|visual| visual.thing == Some(thing))?;
        let link = match moving.0.get(&visual.model) {
            Some(links) => pose_of(links.get(visual.link)?),
            None => world.models.get(visual.model)?.links[visual.link].pose,
        };
        Some(if visual.is_whole {
            link.then(&visual.pose)
        } else {
            link
        })
    }

    /// Returns where a link of a model is that was somewhere at the start, by the numbers of the
    /// stage; none if the cell does not know of it.
    pub(crate) fn place(
        &self,
        moving: &MovingLinks,
        (model, link): (usize, u32),
        start: &Pose,
    ) -> Option<Pose> {
        let model = &self.models[model];
        if model.is_fixed {
            return Some(*start);
        }
        let links = moving.0.get(&model.index)?;
        links
            .get(link.checked_sub(model.first_link)? as usize)
            .copied()
    }
}

impl MovingLinks {
    /// Notes where all links are that a cell knows of.
    pub(crate) fn of(cell: &Cell) -> Self {
        let movers = cell.links_of_movers().into_iter();
        let movers = movers.map(|(model, links)| (model, links.iter().map(numbers).collect()));
        let world = cell.world();
        let time_s = cell.actor_time().seconds();
        let actors = (world.models.len()..).zip(&world.actors);
        let actors = actors.map(|(index, actor)| (index, vec![numbers(&actor.place(time_s))]));
        Self(movers.chain(actors).collect())
    }
}

/// Returns the visuals of models, by their indices in the world.
fn visuals(world: &World, models: &[usize]) -> Vec<DrawnVisual> {
    let mut visuals = Vec::new();
    // How many things there are with each label.
    let mut counts = [0_u16; 256];
    let mut next = |label: u8| {
        let count = &mut counts[usize::from(label)];
        *count = count.saturating_add(1);
        Thing {
            label,
            number: *count,
        }
    };
    for model in models {
        let Some(description) = world.models.get(*model) else {
            let actor = &world.actors[*model - world.models.len()];
            visuals.extend(visuals_of_actor(actor, *model, &mut next));
            continue;
        };
        let mut of_models: BTreeMap<String, Thing> = BTreeMap::new();
        for (link, owner) in description.links.iter().enumerate() {
            for visual in &owner.visuals {
                let own = label_in(&visual.plugins).map(&mut next);
                let thing = own.or_else(|| {
                    let (scope, label) = label_of(description, owner)?;
                    let known = of_models.entry(scope.to_owned());
                    Some(*known.or_insert_with(|| next(label)))
                });
                visuals.push(DrawnVisual {
                    model: *model,
                    link,
                    pose: visual.pose,
                    thing,
                    is_whole: own.is_some(),
                    temperature: temperature_in(&visual.plugins),
                });
            }
        }
    }
    visuals
}

/// Returns the visuals of an actor, its skin first: all without a label of their own are one thing.
fn visuals_of_actor(
    actor: &Actor,
    index: usize,
    next: &mut impl FnMut(u8) -> Thing,
) -> Vec<DrawnVisual> {
    let label = label_in(&actor.plugins);
    let mut of_actor = None;
    let mut visual = |pose: sdf::Pose, plugins: &[Plugin]| {
        let own = label_in(plugins).map(&mut *next);
        let thing = own.or_else(|| {
            let label = label?;
            Some(*of_actor.get_or_insert_with(|| next(label)))
        });
        DrawnVisual {
            model: index,
            link: 0,
            pose,
            thing,
            is_whole: own.is_some(),
            temperature: temperature_in(plugins).or_else(|| temperature_in(&actor.plugins)),
        }
    };
    let skin = actor.skin_name().map(|_| visual(sdf::Pose::IDENTITY, &[]));
    let mut visuals: Vec<DrawnVisual> = skin.into_iter().collect();
    let others = actor.visuals.iter();
    visuals.extend(others.map(|own| visual(own.pose, &own.plugins)));
    visuals
}

/// Gives a scene the ambient light and the background that the plugin `Sensors` asks for: they hold
/// for what sensors see, in the place of those of the world. Source: gz-sim, `Sensors.hh`.
fn light_for_sensors(drawn: &mut scene::World, plugins: &[Plugin]) {
    for plugin in named(plugins, "Sensors") {
        let color = |name: &str| color_in(&text_of(&plugin.content, name)?);
        drawn.ambient = color("ambient_light").unwrap_or(drawn.ambient);
        drawn.background = color("background_color").unwrap_or(drawn.background);
    }
}

/// Returns red, green and blue of a text of three or four numbers, each brought between 0 and 1.
fn color_in(text: &str) -> Option<[f64; 3]> {
    let numbers = text.split_whitespace().map(|word| word.parse::<f64>().ok());
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    match numbers[..] {
        [red, green, blue] | [red, green, blue, _] => {
            let color = [red, green, blue];
            let is_known = color.iter().all(|part| !part.is_nan());
            is_known.then(|| color.map(|part| part.clamp(0.0, 1.0)))
        }
        _ => None,
    }
}

/// Returns the label that a plugin `Label` gives to the innermost model around a link, with the
/// scope of that. Source: gz-sim, `Label.cc`.
fn label_of<'a>(model: &Model, link: &'a Link) -> Option<(&'a str, u8)> {
    let outer = |scope: &'a str| scope.rsplit_once("::").map_or("", |(outer, _)| outer);
    let mut scopes = std::iter::successors(Some(outer(&link.name)), |scope| {
        (!scope.is_empty()).then(|| outer(scope))
    });
    scopes.find_map(|scope| {
        let nested = model.nested.iter().find(|nested| nested.name == scope);
        let plugins = match nested {
            Some(nested) => &nested.plugins,
            None if scope.is_empty() => &model.plugins,
            None => return None,
        };
        Some((scope, label_in(plugins)?))
    })
}

fn label_in(plugins: &[Plugin]) -> Option<u8> {
    let mut labels = named(plugins, "Label");
    labels.find_map(|plugin| text_of(&plugin.content, "label")?.parse().ok())
}

/// Returns the temperature that a plugin `Thermal` gives: that of all of a visual, or the mean of
/// its pattern \[K\].
fn temperature_in(plugins: &[Plugin]) -> Option<f64> {
    named(plugins, "Thermal").find_map(|plugin| {
        let number = |name: &str| {
            let number = text_of(&plugin.content, name)?.parse::<f64>().ok()?;
            (number.is_finite() && number >= 0.0).then_some(number)
        };
        number("temperature")
            .or_else(|| Some(f64::midpoint(number("min_temp")?, number("max_temp")?)))
    })
}

/// Returns the plugins of a system, by the last part of its name.
pub(crate) fn named<'a>(plugins: &'a [Plugin], name: &str) -> impl Iterator<Item = &'a Plugin> {
    let is_it = move |plugin: &&Plugin| plugin.name.rsplit("::").next() == Some(name);
    plugins.iter().filter(is_it)
}

/// Returns a pose as scenes have it.
pub(crate) fn numbers(pose: &sdf::Pose) -> Pose {
    let mut numbers = [0.0; 7];
    numbers[..3].copy_from_slice(&pose.position);
    numbers[3..].copy_from_slice(&pose.orientation_xyzw);
    numbers
}

/// Returns a pose of a scene.
fn pose_of(numbers: &Pose) -> sdf::Pose {
    sdf::Pose {
        position: std::array::from_fn(|axis| numbers[axis]),
        orientation_xyzw: std::array::from_fn(|part| numbers[3 + part]),
    }
}

#[cfg(test)]
mod tests {
    use sdf::NoFiles;

    use super::*;

    const WORLD: &str = "<sdf version='1.11'><world name='w'><model name='ball'><link name='l'>\
        <visual name='v'><geometry><sphere><radius>1</radius></sphere></geometry></visual></link>\
        </model></world></sdf>";

    #[test]
    fn a_world_that_changes_is_let_go_once_the_next_is_made_of_it() {
        let world = sdf::read_worlds(WORLD, "w.sdf", &NoFiles).unwrap().worlds;
        let mut shared = SharedStage::default();
        let made = shared.of(&world[0]);
        let surface = Arc::downgrade(&made.stage.surfaces()[0]);
        let first = Arc::downgrade(&made);
        drop(made);
        // Changes while nobody looks keep what was drawn last, and no more.
        shared.renew();
        shared.renew();
        assert!(first.upgrade().is_some());
        let second = shared.of(&world[0]);
        assert!(first.upgrade().is_none());
        assert_eq!(surface.as_ptr(), Arc::as_ptr(&second.stage.surfaces()[0]));
    }
}
