//! `Breadcrumbs`: leaves copies of a model where its own model is, each time that it is told to.
//!
//! Source: gz-sim, `breadcrumbs/Breadcrumbs.hh`. A copy whose physics are to end is replaced, where
//! it is, by a static one. What it asks for is done before the next step.

mod markup;
#[cfg(test)]
mod tests;

use messages::Empty;
use messages::basic::Int32;
use protocol::client_to_primary::SpawnRequest;
use protocol::{Command, LinkPose, TopicMessage};
use sdf::{Pose, World};
use serde::{Deserialize, Serialize};

use super::configuration::text_of;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec, angle};

/// Time that a copy may take to appear \[ns\].
const PATIENCE_NS: u64 = 1_000_000_000;

/// The most copies in one step; more wait for the next ones.
const DEPLOYMENTS_PER_STEP: u32 = 16;

struct Breadcrumbs {
    scope: String,
    world: String,
    /// Prefix of names of models in commands.
    prefix: String,
    pattern: Pattern,
    /// Largest number of copies; `None` is no limit.
    most: Option<u32>,
    allows_renaming: bool,
    is_static: bool,
    /// Age at which a copy becomes static \[ns\].
    physics_ns: Option<u64>,
    /// Edge lengths of the box with which copies keep levels active \[m\].
    volume: Option<[f64; 3]>,
    remaining_topic: String,
    state: State,
}

/// Model that is copied.
struct Pattern {
    /// The name that copies are numbered with.
    name: String,
    /// SDF text of the copies.
    sdf: String,
    /// The same of copies that never move.
    static_sdf: String,
    /// Pose of new copies, frame of the model.
    offset: Pose,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Number of copies.
    deployed: u32,
    /// Number of copies that were asked for and are yet to come.
    pending: u32,
    /// Copies with which something is yet to be done.
    crumbs: Vec<Crumb>,
}

/// A copy with which something is yet to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Crumb {
    name: String,
    /// Time when it was asked for, in elapsed time \[ns\].
    since: u64,
    /// True if it is yet to become a performer.
    lacks_volume: bool,
    /// True if its physics are yet to end.
    is_to_stop: bool,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    configuration.model()?;
    let most = configuration.number("max_deployments", -1.0)?;
    let wrong = |what: &str| ConfigureError(what.to_owned());
    let crumb = configuration.elements("breadcrumb").next();
    let text = crumb.and_then(|crumb| crumb.child("sdf"));
    let text = text.ok_or_else(|| wrong("<breadcrumb><sdf> is missing"))?;
    let model = text.child("model");
    let model = model.ok_or_else(|| wrong("<breadcrumb><sdf> holds no <model>"))?;
    let name = model.attribute("name").unwrap_or_default().to_owned();
    if name.is_empty() {
        return Err(wrong("the <model> in <breadcrumb> has no name"));
    }
    let offset = match model.child("pose") {
        None => Some(Pose::IDENTITY),
        Some(pose) => angle::pose_of(pose),
    };
    let path = configuration.model_path();
    let topic = configuration.text("topic");
    let topic = topic.unwrap_or_else(|| format!("/model/{path}/breadcrumbs/{name}/deploy"));
    let topic = configuration.topic(&topic);
    let remaining_topic = format!("{topic}/remaining");
    let physics_s = configuration.number("disable_physics_time", 0.0)?;
    let is_static = text_of(model, "static").is_some_and(|text| text == "true" || text == "1");
    let system = Breadcrumbs {
        scope: configuration.scope.to_owned(),
        world: configuration.world.name.clone(),
        prefix: configuration.command_prefix(),
        pattern: Pattern {
            sdf: markup::write(text),
            static_sdf: markup::write(&markup::made_static(text)),
            offset: offset.ok_or_else(|| wrong("the <pose> in <breadcrumb> is no pose"))?,
            name,
        },
        most: (most >= 0.0).then_some(most as u32),
        allows_renaming: configuration.flag("allow_renaming", false)?,
        physics_ns: (physics_s > 0.0 && !is_static).then_some((physics_s * 1e9) as u64),
        is_static,
        volume: volume(configuration)?,
        remaining_topic: remaining_topic.clone(),
        state: State::default(),
    };
    let (mut subscriptions, mut publications) = (Vec::new(), Vec::new());
    // With no copies to leave, it is switched off.
    if system.most != Some(0) {
        subscriptions.push(TopicSpec::of::<Empty>(topic));
        publications.push(TopicSpec::of::<Int32>(remaining_topic));
    }
    Ok(Configured {
        system: Box::new(system),
        subscriptions,
        publications,
    })
}

fn volume(configuration: &Configuration<'_>) -> Result<Option<[f64; 3]>, ConfigureError> {
    let Some(volume) = configuration.elements("performer_volume").next() else {
        return Ok(None);
    };
    let geometry = volume.child("geometry");
    let shape = geometry.and_then(|geometry| geometry.child("box"));
    let size = shape.and_then(|shape| text_of(shape, "size"));
    let numbers = size.map(|text| text.split_whitespace().map(str::parse).collect());
    let numbers: Option<Result<Vec<f64>, _>> = numbers;
    let size = numbers
        .and_then(Result::ok)
        .and_then(|list| <[f64; 3]>::try_from(list).ok())
        .filter(|size| size.iter().all(|edge| edge.is_finite() && *edge > 0.0));
    let wrong = || ConfigureError("<performer_volume> holds no <geometry><box>".to_owned());
    size.map(Some).ok_or_else(wrong)
}

impl System for Breadcrumbs {
    fn on_message(&mut self, _: usize, _: &TopicMessage, _: &mut Context<'_>) {
        self.state.pending = self.state.pending.saturating_add(1);
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        for _ in 0..self.state.pending.min(DEPLOYMENTS_PER_STEP) {
            self.state.pending -= 1;
            self.deploy(context);
        }
        let crumbs = std::mem::take(&mut self.state.crumbs);
        let rest = crumbs
            .into_iter()
            .filter_map(|crumb| self.attend(crumb, context));
        self.state.crumbs = rest.collect();
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

impl Breadcrumbs {
    fn deploy(&mut self, context: &mut Context<'_>) {
        let deployed = self.state.deployed;
        if self.most.is_none_or(|most| deployed < most) {
            let Some(name) = self.free_name(context.world()) else {
                tracing::warn!(
                    breadcrumb = self.pattern.name,
                    number = deployed,
                    "a model has this breadcrumb's name already, and <allow_renaming> is false"
                );
                return;
            };
            let frame = context.cell.scope_pose(context.model, &self.scope);
            let pose = packed(&frame.then(&self.pattern.offset));
            context.request(self.spawn(&self.pattern.sdf, name.clone(), pose, None));
            self.state.deployed += 1;
            let crumb = Crumb {
                name,
                since: context.time.elapsed.0,
                lacks_volume: self.volume.is_some() && !self.is_static,
                is_to_stop: self.physics_ns.is_some(),
            };
            if crumb.is_attended() {
                self.state.crumbs.push(crumb);
            }
        }
        let most = self.most.map_or(-1, i64::from);
        let remaining = most - i64::from(self.state.deployed);
        let message = Int32 {
            header: context.header(),
            data: i32::try_from(remaining).unwrap_or(i32::MIN),
        };
        context.publish(&self.remaining_topic, &message);
    }

    fn spawn(&self, sdf: &str, name: String, pose: LinkPose, frame: Option<String>) -> Command {
        Command::Spawn(Box::new(SpawnRequest {
            sdf: sdf.to_owned(),
            name: Some(name),
            allow_renaming: self.allows_renaming,
            pose: Some(pose),
            relative_to: frame,
            world: Some(self.world.clone()),
            ..SpawnRequest::default()
        }))
    }

    /// Returns the name of the next copy; `None` when it is taken and there may be no other.
    fn free_name(&self, world: &World) -> Option<String> {
        let is_free = |name: &String| {
            let is_waiting = self.state.crumbs.iter().any(|crumb| crumb.name == *name);
            !is_there(world, name) && !is_waiting
        };
        let wanted = format!("{}_{}", self.pattern.name, self.state.deployed);
        if is_free(&wanted) {
            return Some(wanted);
        }
        let mut others = (1_u64..).map(|number| format!("{wanted}_{number}"));
        self.allows_renaming.then(|| others.find(is_free))?
    }

    /// Does what is to be done with a copy, and returns it unless that was all.
    fn attend(&self, mut crumb: Crumb, context: &mut Context<'_>) -> Option<Crumb> {
        let now = context.time.elapsed.0;
        let age = now.saturating_sub(crumb.since);
        if !is_there(context.world(), &crumb.name) {
            // Nobody knows whether a request was refused: it is given some time.
            return (age < PATIENCE_NS).then_some(crumb);
        }
        let model = format!("{}{}", self.prefix, crumb.name);
        if crumb.lacks_volume {
            crumb.lacks_volume = false;
            context.request(Command::SetPerformer {
                model: model.clone(),
                size: self.volume,
            });
        }
        if crumb.is_to_stop && self.physics_ns.is_some_and(|time| age > time) {
            crumb.is_to_stop = false;
            let name = format!("{}__static__", crumb.name);
            if is_there(context.world(), &name) {
                tracing::warn!(breadcrumb = crumb.name, "{name} is there already");
            } else {
                let here = packed(&Pose::IDENTITY);
                let frame = Some(model.clone());
                context.request(self.spawn(&self.pattern.static_sdf, name, here, frame));
                context.request(Command::Remove { model });
            }
        }
        crumb.is_attended().then_some(crumb)
    }
}

impl Crumb {
    fn is_attended(&self) -> bool {
        self.lacks_volume || self.is_to_stop
    }
}

fn is_there(world: &World, name: &str) -> bool {
    world.models.iter().any(|model| model.name == name)
}

fn packed(pose: &Pose) -> LinkPose {
    let mut packed = [0.0; 7];
    packed[..3].copy_from_slice(&pose.position);
    packed[3..].copy_from_slice(&pose.orientation_xyzw);
    packed
}
