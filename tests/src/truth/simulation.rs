//! [`Simulation`]: a world in one cell, stepped and looked at by names.

use std::sync::Arc;

use physics::{Branch, Cell, ModelRef};
use protocol::PerformerId;
use sdf::{Link, Pose, World};
use serde::Deserialize;

use crate::peers::inertia::in_link_axes;

/// Pose of a link, world frame, and its velocity.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct State {
    /// Pose of its frame.
    #[serde(flatten)]
    pub pose: Pose,
    /// Velocity of its origin \[m/s\].
    pub linear: [f64; 3],
    /// Rate of turn \[rad/s\].
    pub angular: [f64; 3],
}

impl State {
    fn at_rest(pose: Pose) -> Self {
        Self {
            pose,
            linear: [0.0; 3],
            angular: [0.0; 3],
        }
    }
}

/// A link of a model that moves.
#[derive(Clone, Copy, Debug)]
pub struct LinkRef {
    model: ModelRef,
    link: usize,
}

/// An axis of a joint of a model that moves.
#[derive(Clone, Copy, Debug)]
pub struct JointRef {
    model: ModelRef,
    joint: usize,
}

/// A world in one cell.
pub struct Simulation {
    cell: Cell,
    world: Arc<World>,
    step_s: f64,
    steps: u64,
}

impl Simulation {
    /// Reads a world and fills a cell with it.
    ///
    /// # Panics
    /// Panics if the text is no valid world.
    pub fn new(text: &str, step_s: f64) -> Self {
        let read = sdf::read_worlds(text, "case.sdf", &sdf::NoFiles);
        let mut worlds = read
            .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
            .worlds;
        Self::of(worlds.remove(0), step_s)
    }

    /// Fills a cell with a world.
    pub fn of(world: World, step_s: f64) -> Self {
        let world = Arc::new(world);
        let mut cell = Cell::new(Arc::clone(&world));
        for (index, model) in world.models.iter().enumerate() {
            if model.is_static {
                cell.insert_static(index);
            } else {
                cell.insert_performer(PerformerId(index as u32), index);
            }
        }
        Self {
            cell,
            world,
            step_s,
            steps: 0,
        }
    }

    /// Returns the world that it was made of.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the simulated time \[s\].
    pub fn time_s(&self) -> f64 {
        self.steps as f64 * self.step_s
    }

    /// Returns the size of its steps \[s\].
    pub fn step_s(&self) -> f64 {
        self.step_s
    }

    /// Advances by one step.
    pub fn step(&mut self) {
        self.cell.step(self.step_s);
        self.steps += 1;
    }

    /// Advances by a duration \[s\].
    pub fn run(&mut self, duration_s: f64) {
        self.run_with(duration_s, |_| {});
    }

    /// Advances by a duration \[s\] and calls a function before each step.
    pub fn run_with(&mut self, duration_s: f64, mut before: impl FnMut(&mut Self)) {
        for _ in 0..(duration_s / self.step_s).round() as u64 {
            before(self);
            self.step();
        }
    }

    /// Finds a link.
    ///
    /// # Panics
    /// Panics if there is none of that name.
    pub fn link(&self, model: &str, link: &str) -> LinkRef {
        let reference = self.model(model);
        let links = &self.world.models[reference.index].links;
        let link = links.iter().position(|it| it.name == link);
        LinkRef {
            model: reference,
            link: link.expect("the model has the link"),
        }
    }

    /// Finds the link of a model that has the model's name.
    pub fn body(&self, name: &str) -> LinkRef {
        self.link(name, name)
    }

    /// Finds a joint.
    ///
    /// # Panics
    /// Panics if there is none of that name.
    pub fn joint(&self, model: &str, joint: &str) -> JointRef {
        let reference = self.model(model);
        let joints = &self.world.models[reference.index].joints;
        let joint = joints.iter().position(|it| it.name == joint);
        JointRef {
            model: reference,
            joint: joint.expect("the model has the joint"),
        }
    }

    /// Returns the links of all models that move.
    pub fn links(&self) -> Vec<LinkRef> {
        let models = self.world.models.iter().enumerate();
        let moving = models.filter(|(_, model)| !model.is_static);
        moving
            .flat_map(|(index, model)| {
                let model_ref = ModelRef::moving(PerformerId(index as u32), index);
                (0..model.links.len()).map(move |link| LinkRef {
                    model: model_ref,
                    link,
                })
            })
            .collect()
    }

    /// Returns where a link is, world frame.
    pub fn pose(&self, link: LinkRef) -> Pose {
        self.cell.link_pose(link.model, link.link)
    }

    /// Returns where the links of each model are and how they move; a static one is where it was.
    pub fn states(&self) -> Vec<Vec<State>> {
        let models = self.world.models.iter().enumerate();
        models
            .map(|(index, model)| {
                let model_ref = ModelRef::moving(PerformerId(index as u32), index);
                let links = model.links.iter().enumerate();
                let state = |(link, described): (usize, &Link)| {
                    if model.is_static {
                        return State::at_rest(described.pose);
                    }
                    let [linear, angular] = self.cell.link_velocity(model_ref, link);
                    State {
                        pose: self.cell.link_pose(model_ref, link),
                        linear,
                        angular,
                    }
                };
                links.map(state).collect()
            })
            .collect()
    }

    /// Returns where the origin of a link is, world frame \[m\].
    pub fn position(&self, link: LinkRef) -> [f64; 3] {
        self.pose(link).position
    }

    /// Returns the velocity of a link's origin \[m/s\] and its rate of turn \[rad/s\], world frame.
    pub fn velocity(&self, link: LinkRef) -> [[f64; 3]; 2] {
        self.cell.link_velocity(link.model, link.link)
    }

    /// Gives a link a velocity \[m/s\] and a rate of turn \[rad/s\], world frame.
    pub fn set_velocity(&mut self, link: LinkRef, velocity: [[f64; 3]; 2]) {
        self.cell.set_link_velocity(link.model, link.link, velocity);
    }

    /// Has a force \[N\] act at the centre of mass of a link in the next step, as a system would.
    pub fn push(&mut self, link: LinkRef, force: [f64; 3]) {
        self.cell.add_load(link.model, link.link, force, [0.0; 3]);
    }

    /// Has a torque \[N m\] act on a link in the next step, as a system would.
    pub fn twist(&mut self, link: LinkRef, torque: [f64; 3]) {
        self.cell.add_load(link.model, link.link, [0.0; 3], torque);
    }

    /// Has a force or torque act along a joint in the next step, as a system would \[N or N m\].
    pub fn push_joint(&mut self, joint: JointRef, force: f64) {
        self.cell.push_joint(joint.model, joint.joint, 0, force);
    }

    /// Has a joint go at a velocity in the next step \[m/s or rad/s\].
    pub fn drive(&mut self, joint: JointRef, velocity: f64) {
        self.cell.drive_joint(joint.model, joint.joint, 0, velocity);
    }

    /// Returns the position of a joint \[m or rad\].
    pub fn joint_position(&self, joint: JointRef) -> f64 {
        self.cell.joint_position(joint.model, joint.joint, 0)
    }

    /// Returns the velocity of a joint \[m/s or rad/s\].
    pub fn joint_velocity(&self, joint: JointRef) -> f64 {
        self.cell.joint_velocity(joint.model, joint.joint, 0)
    }

    /// Advances by one step and returns the force that a joint transmitted in it, as a
    /// force-torque sensor reads it, world frame \[N\].
    ///
    /// # Panics
    /// Panics if the joint is a part of a loop.
    pub fn step_and_weigh(&mut self, joint: JointRef) -> [f64; 3] {
        let world = Arc::clone(&self.world);
        let branch = Branch::new(&world.models[joint.model.index], joint.joint);
        let branch = branch.expect("the joint is in no loop");
        let before = self.cell.momenta(joint.model, &branch);
        self.step();
        let origin = [0.0; 3];
        let load = self
            .cell
            .joint_load(joint.model, &branch, &before, origin, self.step_s);
        load[0]
    }

    /// Returns kinetic and potential energy of all that moves \[J\].
    pub fn energy(&self) -> f64 {
        let links = self.links();
        links.into_iter().map(|link| self.energy_of(link)).sum()
    }

    fn energy_of(&self, link: LinkRef) -> f64 {
        let inertial = &self.world.models[link.model.index].links[link.link].inertial;
        let pose = self.pose(link);
        let [linear, angular] = self.velocity(link);
        let arm = pose.rotate(inertial.pose.position);
        let center = add(pose.position, arm);
        let velocity = add(linear, cross(angular, arm));
        let own = pose.inverse().rotate(angular);
        let inertia = in_link_axes(inertial);
        let spin: f64 = (0..3).map(|row| own[row] * dot(inertia[row], own)).sum();
        let weight = inertial.mass * dot(self.world.gravity, center);
        0.5 * (inertial.mass * dot(velocity, velocity) + spin) - weight
    }

    fn model(&self, name: &str) -> ModelRef {
        let index = self.world.models.iter().position(|it| it.name == name);
        let index = index.expect("the world has the model");
        ModelRef::moving(PerformerId(index as u32), index)
    }
}

/// Returns the sum of two vectors.
pub fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

/// Returns the distance between two points.
pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    length(add(a, b.map(|value| -value)))
}

/// Returns the length of a vector.
pub fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| a[axis] * b[axis]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| {
        let [next, last] = [(axis + 1) % 3, (axis + 2) % 3];
        a[next] * b[last] - a[last] * b[next]
    })
}
